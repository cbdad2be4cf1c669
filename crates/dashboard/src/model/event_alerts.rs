//! Alerts about findings, scans and decisions.
//!
//! ```text
//!   new data ─► AlertSource, rules ─► Effect::ClaimAlert ─► sent by another process? ─► Msg::AlertClaimed ─► Effect::Alert
//!   Msg::AlertFailed ─► Effect::RetryAlert ─► due, and not sent by another process ─► Msg::AlertDue ─► Effect::Alert
//! ```
//!
//! Each event is handled once. Whether this dashboard sends it is decided by the file of sent
//! alerts, which it shares with other dashboards and `scandeck watch`.

use crate::base::{Alert, AlertRequest, Effect, Pane, Tone};
use crate::data::AlertInputs;
use crate::model::Model;
use scandeck_domain::alerts::{AlertRoutes, AlertSource, EventAlert, EventRule};
use scandeck_domain::problem::Problem;
use scandeck_domain::table::Remote;
use scandeck_domain::triage::AssessedFinding;
use scandeck_wire::contract::Stamp;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Model {
    /// Looks for events in data that changed since the last look.
    pub(crate) fn find_event_alerts(&mut self, effects: &mut Vec<Effect>) {
        let plan = Arc::clone(&self.settings.live.alerts);
        if plan.rules.is_empty() || self.session.bundled {
            return;
        }
        self.begin_alerts(effects);
        if !self.is_data_whole() {
            return;
        }
        let looked = AlertInputs {
            findings: self.data.revision(Pane::Findings),
            correlations: self.findings.triage.correlations,
            arrivals: self.findings.triage.arrivals,
            today: self.today(),
        };
        if self.event_alerts.looked.replace(looked) == Some(looked) {
            return;
        }
        let alerts = self.event_alerts_by(&plan.rules);
        let clock_offset = self.connection.clock_offset.unwrap_or(0);
        for alert in alerts {
            for event in &alert.events {
                self.event_alerts.handle(&alert.rule, event);
            }
            let request = AlertRequest {
                alert,
                clock_offset,
            };
            effects.push(Effect::ClaimAlert(Box::new(request)));
        }
    }

    /// Begins the file of sent alerts by the clock of the service, which its first response reports.
    fn begin_alerts(&mut self, effects: &mut Vec<Effect>) {
        let offset = self.connection.clock_offset;
        if self.event_alerts.has_begun || offset.is_none() && !self.is_data_whole() {
            return;
        }
        self.event_alerts.has_begun = true;
        let clock_offset = offset.unwrap_or(0);
        effects.push(Effect::BeginAlerts { clock_offset });
    }

    /// Whether findings and scans are those of the service, and belong together. Cached lists are
    /// not news.
    fn is_data_whole(&self) -> bool {
        let is_current = matches!(self.data.scans, Remote::Fresh { .. })
            && matches!(self.data.findings, Remote::Fresh { .. });
        let is_settled = !self.data.unread_scans.is_reading && !self.findings.triage.is_correlating;
        is_current && is_settled && !self.findings.view.has_next()
    }

    fn event_alerts_by(&self, rules: &[Arc<EventRule>]) -> Vec<EventAlert> {
        let (Some(findings), Some(scans)) = (self.data.findings.value(), self.data.scans.value())
        else {
            return Vec::new();
        };
        let assessments = self.findings.triage.assessments.iter();
        let assessed = findings.items().iter().zip(assessments);
        let earlier_name = self.connection.team.earlier_name.clone();
        let source = AlertSource {
            findings: assessed
                .map(|(issue, assessment)| AssessedFinding { issue, assessment })
                .collect(),
            scans,
            lists: self.list_context(),
            own_names: [Some(self.own_name()), earlier_name]
                .into_iter()
                .flatten()
                .collect(),
            today: self.today(),
            now: Stamp(self.service_now()),
            owed: BTreeSet::new(),
        };
        source.alerts(rules, |rule, key| self.event_alerts.is_handled(rule, key))
    }

    /// Shows that an alert did not arrive, and when it is sent again.
    pub(crate) fn handle_alert_failed(
        &mut self,
        problem: &Problem,
        again: Option<Box<Alert>>,
        effects: &mut Vec<Effect>,
    ) {
        self.notify_problem("alert not delivered", problem);
        effects.extend(again.map(Effect::RetryAlert));
    }

    /// Sends an alert whose events nobody else sends on these channels.
    pub(crate) fn handle_alert_claimed(
        &mut self,
        claimed: &EventAlert,
        routes: AlertRoutes,
        effects: &mut Vec<Effect>,
    ) {
        let is_shown = routes.is_shown();
        let alert = Alert::of_events(claimed, routes);
        if is_shown {
            let tone = match claimed.kind.is_alarm() {
                true => Tone::Bad,
                false => Tone::Plain,
            };
            let text = format!("{}: {}", alert.title, alert.body);
            let now = self.now.mono;
            self.overlay.notices.notify_until_seen(now, tone, text);
        }
        effects.push(Effect::Alert(Box::new(alert)));
    }
}
