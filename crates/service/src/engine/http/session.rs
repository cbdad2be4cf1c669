//! The credentials that a scan sends, and what is known of its session.

use std::sync::{MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use reqwest::header::{HeaderName, HeaderValue};
use tokio::sync::Mutex;

/// How often the session is checked without a reason.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);
/// How long a check is trusted that passed although an answer looked as if the session had ended:
/// several paths may not be for this user.
const TRUSTED: Duration = Duration::from_secs(2);

/// The credentials of a scan, and its session.
pub(super) struct ScanSession {
    sent: std::sync::Mutex<SentHeaders>,
    /// The number of log-ins; locked during one.
    pub logins: Mutex<u32>,
    checks: std::sync::Mutex<SessionChecks>,
    /// Why the scan is no longer logged in.
    ended: OnceLock<String>,
}

/// The times of the last checks.
#[derive(Clone, Copy, Default)]
struct SessionChecks {
    last: Option<Instant>,
    /// The last one that passed although an answer looked as if the session had ended.
    confirmed: Option<Instant>,
}

#[derive(Clone, Default)]
struct SentHeaders {
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Increases with each log-in.
    number: u32,
}

impl ScanSession {
    /// A scan without a log-in sends these headers from the beginning.
    pub fn new(headers: Vec<(HeaderName, HeaderValue)>) -> Self {
        let sent = SentHeaders { headers, number: 0 };
        Self {
            sent: std::sync::Mutex::new(sent),
            logins: Mutex::new(0),
            checks: std::sync::Mutex::default(),
            ended: OnceLock::new(),
        }
    }

    /// The headers of each request to the target.
    pub fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.headers.clone()
    }

    /// Differs after each log-in.
    pub fn number(&self) -> u32 {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.number
    }

    /// Why the scan is no longer logged in, if it is not.
    pub fn end(&self) -> Option<&String> {
        self.ended.get()
    }

    /// Replaces the headers after a log-in.
    pub fn begin(&self, headers: Vec<(HeaderName, HeaderValue)>) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let number = sent.number + 1;
        *sent = SentHeaders { headers, number };
    }

    /// Records that nothing more can be sent.
    pub fn give_up(&self, why: String) {
        // The first reason counts.
        let _ = self.ended.set(why);
    }

    fn checks(&self) -> MutexGuard<'_, SessionChecks> {
        self.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a check.
    pub fn record_check(&self) {
        self.checks().last = Some(Instant::now());
    }

    /// Records that the session holds although an answer looks as if it had ended.
    pub fn confirm(&self) {
        self.checks().confirmed = Some(Instant::now());
    }

    /// Whether the session must be checked after an answer.
    pub fn is_check_due(&self, looks_ended: bool) -> bool {
        let SessionChecks { last, confirmed } = *self.checks();
        let (before, time) = match looks_ended {
            true => (confirmed, TRUSTED),
            false => (last, CHECK_INTERVAL),
        };
        before.is_none_or(|before| before.elapsed() > time)
    }
}
