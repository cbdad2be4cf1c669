//! The pace of port probes, which follows the host: faster while it responds at once, slower when
//! probes are lost.
//!
//! ```text
//!   64 responses, at most 1 of them late or lost ──► twice the rate, up to the highest one
//!   more than a tenth late or lost              ──► half the rate, down to the first one
//! ```
//!
//! Only private addresses get a higher rate. A firewall that drops packets looks like loss, so its
//! rate stays low.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Probes per second that a host on a private link may get.
const HIGHEST: u32 = 5000;
/// Responses after which the rate is judged.
const WINDOW: u32 = 64;
/// A response after this time follows a packet that was sent again.
const LATE: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub struct ProbePace {
    /// The first and the highest rate; unlimited if `None`.
    rates: Option<(u32, u32)>,
    state: Mutex<PaceState>,
}

#[derive(Debug)]
struct PaceState {
    per_second: u32,
    /// Nodes that share the rate.
    nodes: u32,
    next: Instant,
    responses: u32,
    losses: u32,
}

impl ProbePace {
    /// The pace for an address whose first rate is given; unlimited if `None`. The first probe waits
    /// until `begin`.
    pub fn new(ip: IpAddr, per_second: Option<u32>, begin: Instant) -> Self {
        let first = per_second.unwrap_or_default().max(1);
        let highest = if is_private(ip) {
            HIGHEST.max(first)
        } else {
            first
        };
        let state = PaceState {
            per_second: first,
            nodes: 1,
            next: begin,
            responses: 0,
            losses: 0,
        };
        Self {
            rates: per_second.map(|_| (first, highest)),
            state: Mutex::new(state),
        }
    }

    /// Waits until the next probe is allowed.
    pub async fn wait(&self) {
        if self.rates.is_some() {
            tokio::time::sleep_until(self.reserve(Instant::now())).await;
        }
    }

    fn reserve(&self, now: Instant) -> Instant {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let at = state.next.max(now);
        state.next = at + Duration::from_secs(1) * state.nodes / state.per_second;
        at
    }

    /// Divides the rate between this number of nodes.
    pub fn divide(&self, nodes: u32) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.nodes = nodes;
    }

    /// Records the time of a response, or a probe without one.
    pub fn record(&self, response: Option<Duration>) {
        let Some((first, highest)) = self.rates else {
            return;
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match response {
            Some(time) if time < LATE => state.responses += 1,
            _ => state.losses += 1,
        }
        if state.responses + state.losses < WINDOW {
            return;
        }
        if state.losses <= 1 {
            state.per_second = (state.per_second * 2).min(highest);
        } else if state.losses * 10 > WINDOW {
            state.per_second = (state.per_second / 2).max(first);
        }
        (state.responses, state.losses) = (0, 0);
    }
}

/// RFC 1918 and unique local addresses.
fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_private(),
        IpAddr::V6(ip) => ip.is_unique_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(ip: &str) -> ProbePace {
        ProbePace::new(ip.parse().unwrap(), Some(100), Instant::now())
    }

    fn rate(pace: &ProbePace) -> u32 {
        pace.state.lock().unwrap().per_second
    }

    fn record(pace: &ProbePace, windows: u32, lost: u32) {
        for probe in 0..windows * WINDOW {
            pace.record((probe % WINDOW >= lost).then_some(Duration::from_millis(2)));
        }
    }

    #[test]
    fn rate_rises_on_a_private_link_and_falls_with_loss() {
        let near = pace("10.0.0.7");
        record(&near, 3, 0);
        assert_eq!(rate(&near), 800);
        record(&near, 9, 1);
        assert_eq!(rate(&near), HIGHEST, "one lost packet of 64 is normal");
        record(&near, 1, 4);
        assert_eq!(rate(&near), HIGHEST);
        record(&near, 2, 20);
        assert_eq!(rate(&near), HIGHEST / 4);
        record(&near, 20, WINDOW);
        assert_eq!(rate(&near), 100, "a firewall that drops everything");
    }

    #[test]
    fn rate_elsewhere_is_constant() {
        let far = pace("192.0.2.7");
        record(&far, 9, 0);
        assert_eq!(rate(&far), 100);
        let local = ProbePace::new("127.0.0.1".parse().unwrap(), None, Instant::now());
        local.record(None);
        assert!(local.rates.is_none());
    }

    #[test]
    fn reserve_allows_no_bursts() {
        let pace = pace("10.0.0.7");
        let start = Instant::now() + Duration::from_secs(60);
        let slots: Vec<Duration> = (0..3).map(|_| pace.reserve(start) - start).collect();
        assert_eq!(slots, [0, 10, 20].map(Duration::from_millis));
        pace.divide(2);
        let later = start + Duration::from_secs(9);
        let slots: Vec<Duration> = (0..3).map(|_| pace.reserve(later) - later).collect();
        assert_eq!(slots, [0, 20, 40].map(Duration::from_millis));
    }
}
