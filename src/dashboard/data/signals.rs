//! What makes itself heard when a request comes in: rules, waits, and how often.

use crate::dashboard::base::Signal;
use crate::oob::Token;
use std::collections::BTreeMap;
use std::time::Duration;

/// Least time between two signals.
pub(crate) const APART: Duration = Duration::from_secs(5);

/// A payload is told again after so long.
pub(crate) const AGAIN: Duration = Duration::from_secs(60);

/// Captures are heard late for so many seconds: when their payload becomes known, and from before this began.
pub(crate) const RECENT: i64 = 120;

/// Longest text of a fact.
pub(crate) const LONGEST: usize = 1000;

/// Under which name each rule of a workspace is kept, and how it stands.
pub(crate) const ALERT: &str = "alert";

pub(crate) const ON: &str = "on";

pub(crate) const OFF: &str = "off";

/// A rule: what its query takes is heard, whoever sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// For captures.
    pub query: String,
    /// It is switched off.
    pub off: bool,
}

/// A payload that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Which.
    pub token: Token,
    /// Until when, on the monotonic clock.
    pub until: Option<Duration>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct AlertState {
    /// The rules of the workspace.
    pub alerts: Vec<Alert>,
    /// What is waited for.
    pub waits: Vec<Wait>,
    /// When each payload rang last.
    pub(crate) rung: BTreeMap<Token, Duration>,
    /// When the next signal may go out.
    pub(crate) next: Duration,
    /// The first that could not, and how many more.
    held: Option<(Signal, usize)>,
}

impl AlertState {
    /// The signal, if it may go out now; otherwise it is counted.
    pub(crate) fn ring(&mut self, now: Duration, signal: Signal) -> Option<Signal> {
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

    /// What was held back and may go out now.
    pub(crate) fn due(&mut self, now: Duration) -> Option<Signal> {
        let (mut signal, more) = self.held.take_if(|_| now >= self.next)?;
        self.next = now + APART;
        if more > 0 {
            signal.body.push_str(&format!(" and {more} more"));
            signal.facts.push(("more", more.to_string()));
        }
        Some(signal)
    }

    /// Whether a payload may ring; then it has.
    pub(crate) fn may_ring(&mut self, now: Duration, token: Token) -> bool {
        let may = self.rung.get(&token).is_none_or(|last| now >= *last + AGAIN);
        if may {
            self.rung.insert(token, now);
        }
        may
    }

    /// When something is due by itself.
    pub fn next(&self) -> Option<Duration> {
        let held = self.held.as_ref().map(|_| self.next);
        self.waits.iter().filter_map(|wait| wait.until).chain(held).min()
    }

    /// The wait for a payload.
    pub fn wait(&self, token: Token) -> Option<&Wait> {
        self.waits.iter().find(|wait| wait.token == token)
    }
}
