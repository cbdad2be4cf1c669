//! The events in the present data.
//!
//! ```text
//!   findings, assessments, scans ─► candidates of a kind ─► query of the rule ─► AlertEvent
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::civil::Date;

use super::{ALERT_WINDOW, AlertEvent, AlertKind, EXPIRES_SOON, EventAlert, EventRule};
use crate::finding::{Presence, Verdict};
use crate::query::QueryKind;
use crate::table::{OtherLists, Rows, Table};
use crate::triage::{AssessedFinding, Assessment, Issue, ListContext, ReopenCause, VerdictSource};
use scandeck_wire::contract::{Risk, Scan, ScanId, Shared, Stamp, Tool};

/// The class of an open port.
const OPEN_PORT: &str = "port.open";

/// The class of the finding about a scan that the target blocked.
const BLOCKED: &str = "coverage.blocked";

/// The data that events are found in.
pub struct AlertSource<'a> {
    pub findings: Vec<AssessedFinding<'a>>,
    pub scans: &'a Table<Scan>,
    /// Names of targets and workspaces.
    pub lists: ListContext<'a>,
    /// The names of the user: their own decisions are no events.
    pub own_names: Vec<Shared>,
    /// The local day.
    pub today: Date,
    /// The clock of the service.
    pub now: Stamp,
    /// The keys of events that wait for another attempt, however old they are.
    pub owed: BTreeSet<String>,
}

/// A finding with an event, before a query was tested.
#[derive(Clone, Copy)]
struct FindingCandidate<'a> {
    finding: AssessedFinding<'a>,
    occasion: Occasion,
    /// When it happened; none for an event of the day.
    at: Option<Stamp>,
}

/// What happened to a finding.
#[derive(Clone, Copy)]
enum Occasion {
    New,
    /// It was fixed by a decision, and found again.
    FixedIsBack,
    /// It was absent, and found again in this scan.
    AbsentIsBack(ScanId),
    Decided,
    /// A decision was valid until this day.
    Expired(Date),
    ExpiresSoon(Date),
    /// An open port is absent since this time.
    ServiceGone(Option<Stamp>),
}

impl FindingCandidate<'_> {
    /// The key of the event. It is made last: most candidates match no query, or are known.
    fn key(&self) -> String {
        let AssessedFinding { issue, assessment } = self.finding;
        let id = issue.key();
        match self.occasion {
            Occasion::New => format!("finding:{id}"),
            // One alert for each time that it was fixed, however many scans find it.
            Occasion::FixedIsBack => format!("regression:{id}:{}", stamp(assessment.at)),
            Occasion::AbsentIsBack(scan) => format!("regression:{id}:scan {scan}"),
            Occasion::Decided => format!("decision:{id}:{}", stamp(self.at)),
            Occasion::Expired(until) => format!("acceptance:{id}:{until}:expired"),
            Occasion::ExpiresSoon(until) => format!("acceptance:{id}:{until}"),
            Occasion::ServiceGone(since) => format!("service_gone:{id}:{}", stamp(since)),
        }
    }

    fn title(&self) -> String {
        let AssessedFinding { issue, assessment } = self.finding;
        let noun = match assessment.verdict {
            Verdict::RiskAccepted => "acceptance",
            _ => "decision",
        };
        match self.occasion {
            Occasion::New => finding_title(issue),
            Occasion::FixedIsBack => "was fixed, is back".to_owned(),
            Occasion::AbsentIsBack(_) => "was absent, is back".to_owned(),
            Occasion::Decided => "decision of a colleague".to_owned(),
            Occasion::Expired(_) => format!("{noun} expired"),
            Occasion::ExpiresSoon(_) => format!("{noun} expires soon"),
            Occasion::ServiceGone(_) => "service gone".to_owned(),
        }
    }
}

impl AlertSource<'_> {
    /// The alerts of each rule. `is_known` names keys of events that this process has handled.
    pub fn alerts(
        &self,
        rules: &[Arc<EventRule>],
        is_known: impl Fn(&EventRule, &str) -> bool,
    ) -> Vec<EventAlert> {
        let mut alerts = Vec::new();
        for kind in AlertKind::ALL {
            let wanting = rules.iter().filter(|rule| rule.kinds.contains(&kind));
            let wanting: Vec<&Arc<EventRule>> = wanting.collect();
            if wanting.is_empty() {
                continue;
            }
            let found = match kind.list() {
                QueryKind::Scans => self.scan_events(kind, &wanting, &is_known),
                _ => self.finding_events(kind, &wanting, &is_known),
            };
            for (rule, mut events) in wanting.into_iter().zip(found) {
                // The worst first, then the latest.
                events.sort_by_key(|event| std::cmp::Reverse((event.risk, event.at)));
                if !events.is_empty() {
                    let rule = Arc::clone(rule);
                    alerts.push(EventAlert { rule, kind, events });
                }
            }
        }
        alerts
    }

    /// The events of a kind of findings, for each rule.
    fn finding_events(
        &self,
        kind: AlertKind,
        rules: &[&Arc<EventRule>],
        is_known: &impl Fn(&EventRule, &str) -> bool,
    ) -> Vec<Vec<AlertEvent>> {
        let findings = self.findings.iter();
        let candidates: Vec<FindingCandidate> = findings
            .filter_map(|finding| self.candidate(kind, *finding))
            .filter(|candidate| self.is_due(candidate.at, || candidate.key()))
            .collect();
        let rows: Vec<AssessedFinding> = candidates.iter().map(|one| one.finding).collect();
        let source = Rows {
            rows: &rows,
            others: &self.lists,
            now: self.now.as_second(),
        };
        let events = |rule: &&Arc<EventRule>| {
            let matching = rule.query(QueryKind::Findings).matches(&source);
            let found = matching.rows().map(|row| &candidates[row]);
            let keyed = found.map(|found| (found, found.key()));
            let unknown = keyed.filter(|(_, key)| !is_known(rule, key));
            unknown
                .map(|(found, key)| self.finding_event(kind, found, key))
                .collect()
        };
        rules.iter().map(events).collect()
    }

    /// The event of a kind about a finding, if there is one.
    fn candidate<'a>(
        &self,
        kind: AlertKind,
        finding: AssessedFinding<'a>,
    ) -> Option<FindingCandidate<'a>> {
        let AssessedFinding { issue, assessment } = finding;
        if issue.manual().is_some() && !matches!(kind, AlertKind::Decision | AlertKind::Acceptance)
        {
            return None;
        }
        let (occasion, at) = match kind {
            AlertKind::Finding => {
                let is_new = issue.presence == Presence::New && !assessment.is_put_aside();
                let is_back = assessment.reopened == Some(ReopenCause::Regression);
                (is_new && !is_back).then(|| (Occasion::New, self.seen(issue)))?
            }
            AlertKind::Regression => (regression(issue, assessment)?, self.seen(issue)),
            AlertKind::Decision => {
                let who = assessment.who.as_ref()?;
                let is_person = assessment.source == VerdictSource::Person;
                let is_other = is_person && !self.own_names.contains(who);
                let at = assessment.at.filter(|_| is_other)?;
                (Occasion::Decided, Some(at))
            }
            AlertKind::Acceptance => (self.acceptance(issue, assessment)?, None),
            AlertKind::ServiceGone => {
                let proof = issue
                    .absent_in()
                    .filter(|_| &**issue.class() == OPEN_PORT)?;
                let since = proof.since.get();
                // A long scan is new when it ends.
                let at = match proof.at == proof.since {
                    true => self.end_of(proof.scan),
                    false => since,
                };
                (Occasion::ServiceGone(since), at.or(since))
            }
            AlertKind::ScanFailed | AlertKind::ScanBlocked | AlertKind::ScanEnded => return None,
        };
        Some(FindingCandidate {
            finding,
            occasion,
            at,
        })
    }

    /// A decision that expires soon, or expired yesterday or today.
    fn acceptance(&self, issue: &Issue, assessment: &Assessment) -> Option<Occasion> {
        let until = assessment.until.filter(|_| issue.is_present())?;
        let days = (until - self.today).get_days();
        let is_expired = assessment.reopened == Some(ReopenCause::Expired);
        match i64::from(days) {
            -1 if is_expired => Some(Occasion::Expired(until)),
            0..=EXPIRES_SOON if !assessment.is_undecided() => Some(Occasion::ExpiresSoon(until)),
            _ => None,
        }
    }

    fn finding_event(
        &self,
        kind: AlertKind,
        candidate: &FindingCandidate,
        key: String,
    ) -> AlertEvent {
        let AssessedFinding { issue, assessment } = candidate.finding;
        let target = self.target(issue);
        let risk = issue.risk();
        let until = assessment.until.map(|day| day.to_string());
        let who = assessment.who.as_deref().unwrap_or_default();
        let verdict = assessment.verdict.phrase();
        let service = Some(&*issue.identity.service).filter(|service| *service != "-");
        let place = [Some(&*target), service];
        let place = place.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let what = format!("{}: {}, {place}", risk.as_str(), issue.name);
        let body = match kind {
            // The title of a new finding has its risk.
            AlertKind::Finding => format!("{}, {place}", issue.name),
            AlertKind::Decision => format!("{who}: {verdict}, {}, {place}", issue.name),
            AlertKind::Acceptance => {
                format!("{what}, until {}", until.as_deref().unwrap_or_default())
            }
            AlertKind::Regression if assessment.at.is_some() => {
                let day = assessment.at.map(|at| at.local_day().to_string());
                let day = day.unwrap_or_default();
                format!("{what}, {verdict} by {who} on {day}")
            }
            AlertKind::ServiceGone => place,
            _ => what,
        };
        let text = |value: Option<String>| value.unwrap_or_default();
        let workspace = issue
            .target_id()
            .and_then(|id| self.lists.workspace_name(id));
        let fields = vec![
            ("workspace", text(workspace.map(ToString::to_string))),
            ("target", target),
            ("finding", issue.finding.id.to_string()),
            ("fingerprint", issue.key().to_string()),
            ("name", issue.name.to_string()),
            ("class", issue.class().to_string()),
            ("risk", risk.as_str().to_owned()),
            ("kev", issue.in_cisa_catalog.to_string()),
            ("service", service.unwrap_or_default().to_owned()),
            ("scan", text(issue.task_id().map(|id| id.to_string()))),
            ("presence", issue.presence.as_str().to_owned()),
            ("verdict", assessment.verdict.as_str().to_owned()),
            ("by", who.to_owned()),
            ("until", text(until)),
            ("time", text(candidate.at.map(|at| at.to_string()))),
        ];
        let event = AlertEvent {
            kind,
            key,
            at: candidate.at,
            risk: Some(risk),
            title: candidate.title(),
            body,
            fields,
        };
        event.cleaned()
    }

    /// The events of a kind of scans, for each rule.
    fn scan_events(
        &self,
        kind: AlertKind,
        rules: &[&Arc<EventRule>],
        is_known: &impl Fn(&EventRule, &str) -> bool,
    ) -> Vec<Vec<AlertEvent>> {
        let blocked = self.blocked_scans(kind);
        let is_of_kind = |scan: &&Arc<Scan>| match kind {
            AlertKind::ScanFailed => scan.status_name.is_failure(),
            AlertKind::ScanBlocked => blocked.contains(&scan.id),
            _ => !scan.status_name.is_failure(),
        };
        let scans = self.scans.items().iter();
        let ended = scans.filter(|scan| scan.has_ended() && scan.end_time.is_some());
        let scans: Vec<Scan> = ended
            .filter(|scan| self.is_due(scan.end_time, || scan_key(kind, scan)))
            .filter(is_of_kind)
            .map(|scan| Scan::clone(scan))
            .collect();
        let source = Rows {
            rows: &scans,
            others: &self.lists,
            now: self.now.as_second(),
        };
        let events = |rule: &&Arc<EventRule>| {
            let matching = rule.query(QueryKind::Scans).matches(&source);
            let found = matching.rows().map(|row| &scans[row]);
            let unknown = found.filter(|scan| !is_known(rule, &scan_key(kind, scan)));
            unknown.map(|scan| self.scan_event(kind, scan)).collect()
        };
        rules.iter().map(events).collect()
    }

    /// The scans that the target blocked, as their findings say.
    fn blocked_scans(&self, kind: AlertKind) -> BTreeSet<ScanId> {
        if kind != AlertKind::ScanBlocked {
            return BTreeSet::new();
        }
        let findings = self.findings.iter();
        let blocked = findings.filter(|finding| &**finding.issue.class() == BLOCKED);
        blocked.flat_map(|finding| finding.issue.scans()).collect()
    }

    fn scan_event(&self, kind: AlertKind, scan: &Scan) -> AlertEvent {
        let target = self.lists.target_name(scan.target_id);
        let target = target.map(ToString::to_string).unwrap_or_default();
        let tool = Tool(scan.tool_id).full_name();
        let risks = scan.result_summary.by_risk().into_iter().zip(Risk::DOWN);
        let counts: Vec<String> = risks
            .filter_map(|(count, risk)| Some((count.filter(|count| *count > 0)?, risk)))
            .map(|(count, risk)| format!("{count} {}", risk.as_str()))
            .collect();
        let counts = counts.join(", ");
        let status = scan.shown_status();
        let parts = [&tool, &target, status, &scan.status_message, &counts];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        let workspace = self.lists.workspace_name(scan.target_id);
        let end = scan.end_time.map(|at| at.to_string());
        let fields = vec![
            (
                "workspace",
                workspace.map(ToString::to_string).unwrap_or_default(),
            ),
            ("target", target.clone()),
            ("scan", scan.id.to_string()),
            ("tool", tool.clone()),
            ("status", status.to_owned()),
            ("message", scan.status_message.to_string()),
            ("found", counts.clone()),
            ("time", end.unwrap_or_default()),
        ];
        let title = match kind {
            AlertKind::ScanFailed => "scan failed",
            AlertKind::ScanBlocked => "scan blocked by the target",
            _ => "scan ended",
        };
        let event = AlertEvent {
            kind,
            key: scan_key(kind, scan),
            at: scan.end_time,
            risk: None,
            title: title.to_owned(),
            body: parts.collect::<Vec<_>>().join(", "),
            fields,
        };
        event.cleaned()
    }

    fn target(&self, issue: &Issue) -> String {
        let listed = issue.target_id().and_then(|id| self.lists.target_name(id));
        let named = listed.or(issue.target_name().as_ref());
        named.unwrap_or(&issue.identity.asset).to_string()
    }

    /// When the last scan that found an issue ended; now while it runs.
    fn seen(&self, issue: &Issue) -> Option<Stamp> {
        let end = issue.task_id().map(|scan| self.end_of(scan));
        end.map_or_else(|| issue.last_seen.get(), |end| end.or(Some(self.now)))
    }

    fn end_of(&self, scan: ScanId) -> Option<Stamp> {
        self.scans.get(scan)?.end_time
    }

    /// Whether an event is not too old, or waits for another attempt.
    fn is_due(&self, at: Option<Stamp>, key: impl FnOnce() -> String) -> bool {
        let is_recent = |at: Stamp| at.as_second() >= self.now.as_second() - ALERT_WINDOW;
        at.is_none_or(is_recent) || !self.owed.is_empty() && self.owed.contains(&key())
    }
}

/// A finding that was fixed by a decision, or absent in a scan, and was found again.
fn regression(issue: &Issue, assessment: &Assessment) -> Option<Occasion> {
    if assessment.reopened == Some(ReopenCause::Regression) {
        return Some(Occasion::FixedIsBack);
    }
    let is_back = issue.presence == Presence::Reappeared && !assessment.is_put_aside();
    let scan = issue.task_id().filter(|_| is_back)?;
    Some(Occasion::AbsentIsBack(scan))
}

fn scan_key(kind: AlertKind, scan: &Scan) -> String {
    format!("{kind}:{}:{}", scan.id, stamp(scan.end_time))
}

/// `new critical finding`, and whether it is known to be exploited.
fn finding_title(issue: &Issue) -> String {
    let exploited = match issue.in_cisa_catalog {
        true => ", known exploited (KEV)",
        false => "",
    };
    format!("new {} finding{exploited}", issue.risk().as_str())
}

/// A time in a key.
fn stamp(at: Option<Stamp>) -> String {
    at.map(|at| at.as_second().to_string()).unwrap_or_default()
}
