//! What a scan waits for while it sends requests: the server, a pause that the server demanded, or
//! its own rate.
//!
//! ```text
//!   request ──► own rate ──► paced     ┐
//!        └────► in flight ──► answered ┴─► every few seconds: the reason that took the most time, in words
//! ```

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// An answer after this time is slow enough to be named.
const SLOW: Duration = Duration::from_secs(1);
/// A rate above this one looks fast to people.
const FAST_RATE: u32 = 50;

#[derive(Debug, Default)]
pub struct RequestTimes(Mutex<TimesState>);

#[derive(Debug, Default)]
struct TimesState {
    /// The start of each request without an answer, by a number that grows.
    in_flight: BTreeMap<u64, Instant>,
    next: u64,
    /// Since the last reason.
    answers: u32,
    answer_time: Duration,
    paced: Duration,
}

impl RequestTimes {
    /// Records that a request is sent; returns its number.
    pub fn begin(&self, now: Instant) -> u64 {
        let mut state = self.state();
        state.next += 1;
        let number = state.next;
        state.in_flight.insert(number, now);
        number
    }

    /// Records the answer to a request, or its failure.
    pub fn end(&self, number: u64, now: Instant) {
        let mut state = self.state();
        if let Some(start) = state.in_flight.remove(&number) {
            state.answers += 1;
            state.answer_time += now - start;
        }
    }

    /// Records time in which the rate of the scan or of the host held a request back.
    pub fn add_pause(&self, time: Duration) {
        self.state().paced += time;
    }

    /// Why requests are few since the last call, if they are. `rate` is the rate of the scan,
    /// `pause` the rest of a pause that the server demanded.
    pub fn reason(&self, now: Instant, rate: u32, pause: Duration) -> Option<String> {
        let mut state = self.state();
        let oldest = state
            .in_flight
            .values()
            .next()
            .map_or(Duration::ZERO, |start| now - *start);
        let average = state
            .answer_time
            .checked_div(state.answers)
            .unwrap_or_default();
        let slowest = oldest.max(average);
        let is_paced = state.paced > state.answer_time;
        (state.answers, state.answer_time, state.paced) = (0, Duration::ZERO, Duration::ZERO);
        match () {
            () if !pause.is_zero() => Some(format!(
                "the server limits the rate, next request in {}",
                seconds(pause)
            )),
            () if slowest >= SLOW => Some(format!(
                "waiting for the server, {} per answer",
                seconds(slowest)
            )),
            () if is_paced && rate < FAST_RATE => {
                Some(format!("limited to {rate} requests per second"))
            }
            () => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, TimesState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64().round().max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn reason_is_what_takes_the_time() {
        let (times, start) = (RequestTimes::default(), Instant::now());
        assert_eq!(times.reason(start, 10, secs(0)), None);
        let first = times.begin(start);
        times.begin(start + secs(1));
        times.end(first, start + secs(12));
        let slow = Some("waiting for the server, 12 s per answer".to_owned());
        assert_eq!(times.reason(start + secs(12), 10, secs(0)), slow);
        // No answer at all: the oldest request counts.
        let slow = Some("waiting for the server, 19 s per answer".to_owned());
        assert_eq!(times.reason(start + secs(20), 10, secs(0)), slow);
        let pause = Some("the server limits the rate, next request in 8 s".to_owned());
        assert_eq!(times.reason(start + secs(20), 10, secs(8)), pause);
    }

    #[test]
    fn own_rate_is_named_if_it_holds_requests_back() {
        let (times, start) = (RequestTimes::default(), Instant::now());
        let paced = |rate: u32| {
            let number = times.begin(start);
            times.end(number, start + Duration::from_millis(30));
            times.add_pause(secs(2));
            times.reason(start, rate, secs(0))
        };
        assert_eq!(
            paced(10).as_deref(),
            Some("limited to 10 requests per second")
        );
        assert_eq!(paced(200), None, "fast enough");
    }
}
