//! How fast a scan goes, by where its target is (`service.md`, Rails).
//!
//! ```text
//!                 requests/s   connections   port probes
//!   this machine      200           32        256 in flight
//!   elsewhere          10            5        100 a second
//! ```
//!
//! Elsewhere the limits are a host's, whatever the number of scans it is under: they share its [`HostLane`]. On this
//! machine each scan has a lane of its own.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::service::rails::is_this_host;

/// Limits of one scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// HTTP requests a second.
    pub requests_per_second: u32,
    /// HTTP connections at a time.
    pub connections: usize,
    /// Port probes a second; none means as fast as they are answered.
    pub probes_per_second: Option<u32>,
    /// Port probes at a time.
    pub probes_in_flight: usize,
    /// How long a connection may take to be accepted.
    pub connect_timeout: Duration,
}

impl Limits {
    /// The limits for a target at this address.
    pub fn of(ip: IpAddr) -> Self {
        if is_this_host(ip) {
            Self {
                requests_per_second: 200,
                connections: 32,
                probes_per_second: None,
                probes_in_flight: 256.min(descriptors() / 4).max(8),
                connect_timeout: Duration::from_secs(1),
            }
        } else {
            Self {
                requests_per_second: 10,
                connections: 5,
                probes_per_second: Some(100),
                probes_in_flight: 256.min(descriptors() / 4).max(8),
                connect_timeout: Duration::from_secs(3),
            }
        }
    }
}

/// What the scans of one host share.
#[derive(Debug)]
pub struct HostLane {
    /// The limits it was made with.
    pub limits: Limits,
    /// Turns for HTTP requests.
    pub requests: RequestPace,
    /// Turns for port probes.
    pub probes: RequestPace,
    /// HTTP connections.
    pub connections: Semaphore,
}

impl HostLane {
    fn new(limits: Limits) -> Self {
        Self {
            limits,
            requests: RequestPace::new(Some(limits.requests_per_second)),
            probes: RequestPace::new(limits.probes_per_second),
            connections: Semaphore::new(limits.connections),
        }
    }
}

/// The lanes in use.
#[derive(Debug, Default)]
pub struct Lanes(Mutex<HashMap<IpAddr, Weak<HostLane>>>);

impl Lanes {
    /// The lane of a host; it lasts as long as somebody holds it.
    pub fn of(&self, ip: IpAddr) -> Arc<HostLane> {
        if is_this_host(ip) {
            return Arc::new(HostLane::new(Limits::of(ip)));
        }
        let mut lanes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lane) = lanes.get(&ip).and_then(Weak::upgrade) {
            return lane;
        }
        lanes.retain(|_, lane| lane.strong_count() > 0);
        let lane = Arc::new(HostLane::new(Limits::of(ip)));
        lanes.insert(ip, Arc::downgrade(&lane));
        lane
    }
}

/// File descriptors this process may have.
fn descriptors() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.and_then(|n| usize::try_from(n).ok()).unwrap_or(4096)
}

/// Hands out turns at a steady rate.
#[derive(Debug)]
pub struct RequestPace {
    interval: Duration,
    next: Mutex<Instant>,
}

impl RequestPace {
    /// Turns at this rate a second; without one every turn comes at once.
    pub fn new(per_second: Option<u32>) -> Self {
        let interval = per_second.map_or(Duration::ZERO, |rate| Duration::from_secs(1) / rate.max(1));
        Self { interval, next: Mutex::new(Instant::now()) }
    }

    /// Waits for the next turn.
    pub async fn turn(&self) {
        if self.interval.is_zero() {
            return;
        }
        tokio::time::sleep_until(self.take(Instant::now())).await;
    }

    /// When the next turn is, seen from `now`.
    fn take(&self, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let at = (*next).max(now);
        *next = at + self.interval;
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scans_of_one_host_elsewhere_share_its_lane() {
        let lanes = Lanes::default();
        let [here, there, other] = ["127.0.0.1", "192.0.2.1", "192.0.2.2"].map(|ip| lanes.of(ip.parse().unwrap()));
        assert_eq!((here.limits.requests_per_second, there.limits.requests_per_second), (200, 10));
        assert!(Arc::ptr_eq(&there, &lanes.of("192.0.2.1".parse().unwrap())) && !Arc::ptr_eq(&there, &other));
        assert!(!Arc::ptr_eq(&here, &lanes.of("127.0.0.1".parse().unwrap())));
        drop((there, other));
        lanes.of("192.0.2.3".parse().unwrap());
        assert_eq!(lanes.0.lock().unwrap().len(), 1, "lanes nobody uses are forgotten");
    }

    #[test]
    fn turns_come_at_the_rate_and_unused_ones_are_not_saved_up() {
        let pace = RequestPace::new(Some(10));
        let start = Instant::now() + Duration::from_secs(60);
        let turns: Vec<Duration> = (0..4).map(|_| pace.take(start) - start).collect();
        assert_eq!(turns, [0, 100, 200, 300].map(Duration::from_millis));
        let later = start + Duration::from_secs(9);
        assert_eq!((pace.take(later), pace.take(later)), (later, later + Duration::from_millis(100)));
    }
}
