//! Alerts on incoming requests: rules, waits, and how often they notify.

use crate::base::Signal;
use scandeck_domain::oob::Token;
use std::collections::BTreeMap;
use std::time::Duration;

/// Least time between two signals.
pub(crate) const APART: Duration = Duration::from_secs(5);

/// Least time between two signals for one payload.
pub(crate) const AGAIN: Duration = Duration::from_secs(60);

/// Captures of up to this many seconds ago cause signals: when their payload becomes known, and at
/// start.
pub(crate) const RECENT: i64 = 120;

/// Longest text of a fact of a signal.
pub(crate) const LONGEST: usize = 1000;

/// The setting that stores the rules of a workspace, and its values.
pub(crate) const ALERT: &str = "alert";

pub(crate) const ON: &str = "on";

pub(crate) const OFF: &str = "off";

/// An alert rule: captures that match its query cause a signal, whoever sent them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub query: String,
    pub off: bool,
}

/// A wait for a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub token: Token,
    /// The timeout, on the monotonic clock.
    pub until: Option<Duration>,
}

#[derive(Debug, Default)]
pub struct AlertState {
    pub alerts: Vec<Alert>,
    pub waits: Vec<Wait>,
    /// The last signal of each payload.
    pub(crate) notified: BTreeMap<Token, Duration>,
    /// The earliest time of the next signal.
    pub(crate) next: Duration,
    /// The first delayed signal, and the number of further ones.
    held: Option<(Signal, usize)>,
}

impl AlertState {
    /// Returns the signal if it may be sent now; otherwise delays or counts it.
    pub(crate) fn notify(&mut self, now: Duration, signal: Signal) -> Option<Signal> {
        if now >= self.next && self.held.is_none() {
            self.next = now + APART;
            return Some(signal);
        }
        match &mut self.held {
            Some((_, more)) => *more += 1,
            none => *none = Some((signal, 0)),
        }
        None
    }

    /// The delayed signal, if it may be sent now.
    pub(crate) fn due(&mut self, now: Duration) -> Option<Signal> {
        let (mut signal, more) = self.held.take_if(|_| now >= self.next)?;
        self.next = now + APART;
        if more > 0 {
            signal.body.push_str(&format!(" and {more} more"));
            signal.fields.push(("more", more.to_string()));
        }
        Some(signal)
    }

    /// Whether a payload may cause a signal now. If so, its next one has to wait.
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

    /// The next time at which a delayed signal or a timeout is due.
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
