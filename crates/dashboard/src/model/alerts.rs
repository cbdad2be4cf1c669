//! Alerts: notifications about incoming requests.
//!
//! ```text
//!   new captures ─► known payload? alert rule? waited for? ─► CaptureAlert ─► one in 5 s, the rest counted ─► Effect::Alert
//! ```
//!
//! A payload causes at most one alert a minute. Requests of bots and of the analyst's addresses
//! cause one only if an alert rule matches them.

use crate::base::{AlertReason, CaptureAlert, CaptureKey, CaptureRow, Effect, Tone};
use crate::data::{ALERT, AlertRule, OFF, ON, RECENT};
use crate::model::Model;
use scandeck_domain::oob::source::is_own;
use scandeck_domain::oob::{Agent, Mention, Payload, Token, Wait};
use scandeck_domain::query::{Query, QueryKind};
use scandeck_domain::table::{RecognizedCapture, Rows};
use scandeck_wire::contract::Capture;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Model {
    /// Sends alerts for new captures, and counts their hits if there is no archive that does it.
    pub(crate) fn notify_of_captures(&mut self, new: &[CaptureRow], effects: &mut Vec<Effect>) {
        let new: Vec<&CaptureRow> = new
            .iter()
            .filter(|captured| self.data.captures.row_of(captured.id()).is_none())
            .collect();
        let alerts = self.alerted(&new);
        let mut any = false;
        for (captured, alert) in new.into_iter().zip(alerts) {
            let mut is_hit = false;
            for token in captured.tokens() {
                if !self.captures.oob.writable {
                    self.captures
                        .payloads
                        .hit(token, captured.capture.request_date);
                }
                is_hit |= self.notify_of_hit(token, captured, alert.as_deref(), effects);
            }
            if let Some(query) = alert.filter(|_| !is_hit && !self.is_old(&captured.capture)) {
                self.alert(AlertReason::Rule(&query), captured, None, effects);
            }
            any |= is_hit;
        }
        if any {
            self.payloads_changed();
        }
    }

    /// Whether the sender is a bot or the analyst.
    pub(crate) fn is_quiet(&self, capture: &Capture) -> bool {
        Agent::of(&capture.user_agent).is_some() || is_own(capture, self.own_addresses())
    }

    /// Whether a capture is from before the dashboard started. It is counted, but causes no alert.
    fn is_old(&self, capture: &Capture) -> bool {
        let began = self.service_now().as_second() - self.now.mono.as_secs() as i64;
        capture
            .request_date
            .is_some_and(|date| date.as_second() < began - RECENT)
    }

    /// Notifies of a capture with the token of a payload. Returns whether the payload book has the
    /// token.
    fn notify_of_hit(
        &mut self,
        token: Token,
        captured: &CaptureRow,
        alert: Option<&str>,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let Some(payload) = self.captures.oob.book.get(token).cloned() else {
            return false;
        };
        let (quiet, old) = (
            self.is_quiet(&captured.capture),
            self.is_old(&captured.capture),
        );
        *self
            .captures
            .payloads
            .unseen
            .entry(captured.logger)
            .or_default() += u64::from(!quiet);
        let awaited = !quiet && !old && self.end_wait(token);
        let why = match alert {
            _ if awaited => AlertReason::Awaited,
            _ if old => return true,
            Some(query) => AlertReason::Rule(query),
            None if quiet => return true,
            None => AlertReason::Payload,
        };
        if self.captures.alerts.may_notify(self.now.mono, token) || awaited {
            self.alert(why, captured, Some(&payload), effects);
        }
        true
    }

    /// Notifies of recent captures whose tokens became known when the payload book changed.
    pub(crate) fn notify_of_recognized(
        &mut self,
        changed: &[(CaptureKey, Arc<[Mention]>)],
        effects: &mut Vec<Effect>,
    ) {
        let ids: BTreeSet<CaptureKey> = changed.iter().map(|(id, _)| *id).collect();
        let recent = self.service_now().as_second() - RECENT;
        let is_recent = |captured: &&CaptureRow| {
            captured
                .capture
                .request_date
                .is_none_or(|date| date.as_second() >= recent)
        };
        let of = self
            .data
            .captures
            .rows
            .iter()
            .rev()
            .take_while(is_recent)
            .filter(|captured| ids.contains(&captured.id()));
        // A clone is cheap: captures share their texts.
        let found: Vec<CaptureRow> = of.cloned().collect();
        for captured in found.iter().rev() {
            for token in captured.tokens() {
                self.notify_of_hit(token, captured, None, effects);
            }
        }
    }

    /// Sends delayed alerts and ends waits that timed out.
    pub(crate) fn tend_alerts(&mut self, effects: &mut Vec<Effect>) {
        let now = self.now.mono;
        effects.extend(
            self.captures
                .alerts
                .due(now)
                .map(|alert| Effect::Alert(Box::new(alert))),
        );
        let over = |wait: &Wait| wait.until.is_some_and(|until| now >= until);
        let ended: Vec<Wait> = self
            .captures
            .alerts
            .waits
            .iter()
            .copied()
            .filter(over)
            .collect();
        self.captures.alerts.waits.retain(|wait| !over(wait));
        if !ended.is_empty() {
            self.payloads_changed();
        }
        for wait in ended {
            self.notify(
                Tone::Bad,
                format!("payload {}: no request before the timeout", wait.token),
            );
        }
    }

    /// Ends the wait for a payload. Returns whether there was one.
    fn end_wait(&mut self, token: Token) -> bool {
        let before = self.captures.alerts.waits.len();
        self.captures
            .alerts
            .waits
            .retain(|wait| wait.token != token);
        self.captures.alerts.waits.len() < before
    }

    /// For each capture the alert rule that matches it.
    fn alerted(&self, new: &[&CaptureRow]) -> Vec<Option<String>> {
        let mut matches = vec![None; new.len()];
        let on: Vec<&AlertRule> = self
            .captures
            .alerts
            .rules
            .iter()
            .filter(|alert| !alert.off)
            .collect();
        if on.is_empty() || new.is_empty() {
            return matches;
        }
        let list_context = self.list_context();
        let rows: Vec<RecognizedCapture<'_>> = new
            .iter()
            .map(|captured| captured.recognized(None))
            .collect();
        let source = Rows {
            rows: &rows,
            others: &list_context,
            now: self.service_now().as_second(),
        };
        for alert in on {
            let Ok(query) = Query::parse(&alert.query, QueryKind::Captures) else {
                continue;
            };
            for row in query.matches(&source).rows() {
                matches[row].get_or_insert_with(|| alert.query.clone());
            }
        }
        matches
    }

    fn alert(
        &mut self,
        reason: AlertReason<'_>,
        captured: &CaptureRow,
        payload: Option<&Payload>,
        effects: &mut Vec<Effect>,
    ) {
        let workspace = self.workspace_name();
        let about = CaptureAlert {
            capture: &captured.capture,
            logger: captured.logger,
            label: &captured.label,
            workspace: &workspace,
            reason,
            payload,
            clock_offset: self.connection.clock_offset,
        };
        let alert = about.alert();
        let text = format!("{}: {}", alert.title, alert.body);
        self.overlay
            .notices
            .notify_until_seen(self.now.mono, Tone::Good, text);
        let sent = self.captures.alerts.notify(self.now.mono, alert);
        effects.extend(sent.map(|alert| Effect::Alert(Box::new(alert))));
    }

    /// Loads the alert rules of the current workspace.
    pub(crate) fn load_alerts(&mut self) {
        let workspace = self.workspace_name();
        let stored = self.settings_of(ALERT, &workspace).into_iter();
        self.captures.alerts.rules = stored
            .map(|(query, state)| AlertRule {
                query,
                off: state == OFF,
            })
            .collect();
    }

    /// Stores an alert rule as on or off; none deletes it.
    pub(crate) fn keep_alert(&mut self, query: &str, off: Option<bool>, effects: &mut Vec<Effect>) {
        let workspace = self.workspace_name();
        let state = off.map(|off| if off { OFF } else { ON });
        self.remember_one((ALERT, query), workspace, state, effects);
        self.load_alerts();
    }
}
