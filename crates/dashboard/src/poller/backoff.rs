//! Pauses of requests that fail: one per resource, growing from a second to a minute, until the
//! request succeeds.
//!
//! A failed request is never forgotten: what it reads is on the screen or decides later requests.
//! Jitter spreads the attempts of several failing resources, and of many dashboards.
//!
//! How long a 429 asks to wait is read in `client/clock.rs`; the second attempt of one call
//! is in `client/exchange.rs`.

use crate::poller::FetchSlot;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

const SHORTEST: Duration = Duration::from_secs(1);
/// Longest pause between two attempts, even if the service requests a longer one: its clock can be
/// wrong.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug)]
struct Pause {
    failures: u32,
    /// None when an attempt was requested.
    until: Option<Instant>,
}

/// The pauses by resource.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    pauses: BTreeMap<FetchSlot, Pause>,
}

impl Backoff {
    /// Notes a failure, and returns the pause before the next attempt: at least what the service
    /// requested.
    pub fn fail(&mut self, slot: FetchSlot, requested: Duration, now: Instant) -> Duration {
        let pause = self.pauses.entry(slot).or_insert(Pause {
            failures: 0,
            until: None,
        });
        let full = SHORTEST
            .saturating_mul(2u32.saturating_pow(pause.failures))
            .min(LONGEST);
        let wait = full
            .mul_f64(1.0 - rand::random::<f64>() / 4.0)
            .max(SHORTEST)
            .max(requested)
            .min(LONGEST);
        pause.failures = pause.failures.saturating_add(1);
        pause.until = Some(now + wait);
        wait
    }

    /// Notes a success; true when the resource was failing.
    pub fn succeed(&mut self, slot: FetchSlot) -> bool {
        self.pauses.remove(&slot).is_some()
    }

    /// Allows an attempt at once, requested by the user.
    pub fn try_now(&mut self, is_refreshed: impl Fn(FetchSlot) -> bool) {
        let requested = self
            .pauses
            .iter_mut()
            .filter(|(slot, _)| is_refreshed(**slot));
        requested.for_each(|(_, pause)| pause.until = None);
    }

    /// Whether the last request for the resource failed.
    pub fn is_failing(&self, slot: FetchSlot) -> bool {
        self.pauses.contains_key(&slot)
    }

    /// The end of the pause of a resource that fails.
    pub fn opens_at(&self, slot: FetchSlot) -> Option<Instant> {
        self.pauses.get(&slot).and_then(|pause| pause.until)
    }

    /// Whether a request for the resource can be sent now.
    pub fn is_open(&self, slot: FetchSlot, now: Instant) -> bool {
        self.opens_at(slot).is_none_or(|until| until <= now)
    }

    /// Forgets resources that no longer exist.
    pub fn retain(&mut self, exists: impl Fn(FetchSlot) -> bool) {
        self.pauses.retain(|slot, _| exists(*slot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_minute_and_end_with_success() {
        let (mut backoff, now) = (Backoff::default(), Instant::now());
        let mut full = SHORTEST;
        for _ in 0..40 {
            let wait = backoff.fail(FetchSlot::Part, Duration::ZERO, now);
            assert!(
                wait >= SHORTEST && wait >= full.mul_f64(0.75) && wait <= full,
                "{wait:?} {full:?}"
            );
            assert!(
                !backoff.is_open(FetchSlot::Part, now)
                    && backoff.is_open(FetchSlot::Part, now + wait)
            );
            full = (full * 2).min(LONGEST);
        }
        assert!(backoff.succeed(FetchSlot::Part) && !backoff.succeed(FetchSlot::Part));
        assert!(backoff.is_open(FetchSlot::Part, now));
    }
}
