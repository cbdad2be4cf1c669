//! Alerts on incoming requests: rules, waits, and how often they notify.

use crate::base::{AGAIN, Alert};
use scandeck_domain::oob::{Token, Wait};
use std::collections::BTreeMap;
use std::time::Duration;

/// Least time between two alerts.
pub(crate) const APART: Duration = Duration::from_secs(5);

/// Captures of up to this many seconds ago cause alerts: when their payload becomes known, and at
/// start.
pub(crate) const RECENT: i64 = 120;

/// The setting that stores the rules of a workspace, and its values.
pub const ALERT: &str = "alert";

pub(crate) const ON: &str = "on";

pub const OFF: &str = "off";

/// An alert rule: captures that match its query cause an alert, whoever sent them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertRule {
    pub query: String,
    pub off: bool,
}

#[derive(Clone, Debug, Default)]
pub struct AlertState {
    pub rules: Vec<AlertRule>,
    pub waits: Vec<Wait>,
    /// The last alert of each payload.
    pub(crate) notified: BTreeMap<Token, Duration>,
    /// The earliest time of the next alert.
    pub(crate) next: Duration,
    /// The first delayed alert, and the number of further ones.
    held: Option<(Alert, usize)>,
}

impl AlertState {
    /// Returns the alert if it may be sent now; otherwise delays or counts it.
    pub(crate) fn notify(&mut self, now: Duration, alert: Alert) -> Option<Alert> {
        if now >= self.next && self.held.is_none() {
            self.next = now + APART;
            return Some(alert);
        }
        match &mut self.held {
            Some((held, more)) => {
                *more += 1;
                if let (Some(all), Some(claim)) = (&mut held.claim, alert.claim) {
                    all.events.extend(claim.events);
                }
            }
            none => *none = Some((alert, 0)),
        }
        None
    }

    /// The delayed alert, if it may be sent now.
    pub(crate) fn due(&mut self, now: Duration) -> Option<Alert> {
        let (mut alert, more) = self.held.take_if(|_| now >= self.next)?;
        self.next = now + APART;
        alert.add_more(more);
        Some(alert)
    }

    /// Whether a payload may cause an alert now. If so, its next one has to wait.
    pub(crate) fn may_notify(&mut self, now: Duration, token: Token) -> bool {
        let may = self
            .notified
            .get(&token)
            .is_none_or(|last| now >= *last + AGAIN);
        if may {
            self.notified.insert(token, now);
        }
        may
    }

    /// The next time at which a delayed alert or a timeout is due.
    pub fn next(&self) -> Option<Duration> {
        let held = self.held.as_ref().map(|_| self.next);
        self.waits
            .iter()
            .filter_map(|wait| wait.until)
            .chain(held)
            .min()
    }

    /// The wait for a payload.
    pub fn wait(&self, token: Token) -> Option<&Wait> {
        self.waits.iter().find(|wait| wait.token == token)
    }
}
