//! Slows a scan down while the server refuses its rate (429, or 503 with `Retry-After`).
//!
//! ```text
//!   refusal ──► pause of all requests: Retry-After, or 0.5, 1, 2 s ──► half the rate from then on
//!      └─ MAX_REFUSALS pauses without an answer between them, or MAX_PAUSES in total: the scan sends nothing more
//! ```

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::http::{HttpPage, WebError};

/// Pauses in a row after which the scan stops sending.
const MAX_REFUSALS: u32 = 4;
/// Longest single pause.
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// Time of all pauses of a scan.
const MAX_PAUSES: Duration = Duration::from_secs(60);
/// The time between two requests after the first refusal; it doubles up to the second value.
const INTERVALS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

#[derive(Debug, Default)]
pub struct Throttle(Mutex<ThrottleState>);

#[derive(Debug, Default)]
struct ThrottleState {
    /// No request is sent before this time.
    next: Option<Instant>,
    /// End of the current pause: refusals before it belong to the pause.
    pause_end: Option<Instant>,
    interval: Duration,
    refusals: u32,
    paused: Duration,
}

impl Throttle {
    /// Waits until the next request is allowed.
    ///
    /// # Errors
    /// When the server refused too often.
    pub async fn wait(&self) -> Result<(), WebError> {
        let until = self.state().reserve(Instant::now());
        if let Some(until) = until {
            tokio::time::sleep_until(until).await;
        }
        match self.is_exhausted() {
            true => Err(WebError::RateLimited),
            false => Ok(()),
        }
    }

    /// Records an answer; true when it refuses the rate.
    pub fn is_refusal(&self, page: &HttpPage) -> bool {
        let retry_after = page
            .header("retry-after")
            .trim()
            .parse()
            .ok()
            .map(Duration::from_secs);
        let is_refusal = page.status == 429 || (page.status == 503 && retry_after.is_some());
        let mut state = self.state();
        match is_refusal {
            true => state.refuse(Instant::now(), retry_after),
            false => state.refusals = 0,
        }
        is_refusal
    }

    pub fn is_exhausted(&self) -> bool {
        let state = self.state();
        state.refusals >= MAX_REFUSALS || state.paused >= MAX_PAUSES
    }

    /// The rest of the current pause.
    pub fn pause_left(&self) -> Duration {
        let end = self.state().pause_end;
        end.map_or(Duration::ZERO, |end| {
            end.saturating_duration_since(Instant::now())
        })
    }

    fn state(&self) -> MutexGuard<'_, ThrottleState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ThrottleState {
    fn reserve(&mut self, now: Instant) -> Option<Instant> {
        let next = self.next?.max(now);
        self.next = Some(next + self.interval);
        Some(next)
    }

    fn refuse(&mut self, now: Instant, retry_after: Option<Duration>) {
        if self.pause_end.is_some_and(|end| now < end) {
            return;
        }
        self.refusals += 1;
        let pause =
            retry_after.unwrap_or(Duration::from_millis(250) * 2_u32.saturating_pow(self.refusals));
        let pause = pause
            .min(MAX_PAUSE)
            .min(MAX_PAUSES.saturating_sub(self.paused));
        self.paused += pause;
        self.interval = (self.interval * 2).clamp(INTERVALS.0, INTERVALS.1);
        (self.next, self.pause_end) = (Some(now + pause), Some(now + pause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn simultaneous_429_responses_cause_one_pause() {
        let (mut state, now) = (ThrottleState::default(), Instant::now());
        assert_eq!(state.reserve(now), None);
        state.refuse(now, Some(SECOND));
        state.refuse(now, Some(SECOND));
        assert_eq!((state.refusals, state.paused), (1, SECOND));
        assert_eq!(state.reserve(now), Some(now + SECOND));
        assert_eq!(
            state.reserve(now),
            Some(now + SECOND + INTERVALS.0),
            "half the rate after the pause"
        );
    }

    #[test]
    fn pauses_are_limited_together() {
        let (mut state, now) = (ThrottleState::default(), Instant::now());
        state.refuse(now, Some(Duration::from_secs(3600)));
        assert_eq!(state.paused, MAX_PAUSE);
        state.refuse(now + MAX_PAUSE, Some(Duration::from_secs(3600)));
        assert_eq!(state.paused, MAX_PAUSES);
        assert!(Throttle(Mutex::new(state)).is_exhausted());
    }
}
