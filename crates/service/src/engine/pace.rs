//! Rate limits of scans, by the location of the target.
//!
//! ```text
//!                 requests/s   connections   port probes
//!   this machine      200           32        256 in flight
//!   elsewhere          10            5        100 a second; a private address more while it responds (probe_pace)
//! ```
//!
//! Slowing down when a target answers 429 or `Retry-After` is in `throttle`.
//!
//! All scans of a remote host share its [`HostLane`], so the limits hold per host. On this machine
//! each scan has its own lane.
//!
//! Nodes of one database divide the limits of a host (`runs/lanes.rs`). A new lane waits until all
//! of them have counted it, so their sum is within the limits from the first request on.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::probe_pace::ProbePace;
use crate::scope_check::is_this_host;

/// Port probes that are possible at the same time, however few descriptors there are.
const MIN_PROBES: usize = 16;

/// Limits of one scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// HTTP requests per second.
    pub requests_per_second: u32,
    /// Concurrent HTTP connections.
    pub connections: usize,
    /// Port probes per second; unlimited if `None`.
    pub probes_per_second: Option<u32>,
    /// Concurrent port probes.
    pub probes_in_flight: usize,
    pub connect_timeout: Duration,
}

/// HTTP requests per second for a target on this machine, and elsewhere.
pub const fn requests_per_second(is_local: bool) -> u32 {
    if is_local { 200 } else { 10 }
}

impl Limits {
    /// The limits for a target at this address.
    pub fn of(ip: IpAddr) -> Self {
        let is_local = is_this_host(ip);
        Self {
            requests_per_second: requests_per_second(is_local),
            connections: if is_local { 32 } else { 5 },
            probes_per_second: (!is_local).then_some(100),
            probes_in_flight: 256,
            connect_timeout: Duration::from_secs(if is_local { 1 } else { 3 }),
        }
    }
}

/// The rate limits of one host.
#[derive(Debug)]
pub struct HostLane {
    pub limits: Limits,
    pub requests: RequestPace,
    pub probes: ProbePace,
    pub connections: Semaphore,
    /// Permits of `connections`, free ones and others.
    permits: Mutex<usize>,
}

impl HostLane {
    /// The lane of a host, whose first request or probe waits until `begin`.
    fn new(ip: IpAddr, limits: Limits, begin: Instant) -> Self {
        Self {
            limits,
            requests: RequestPace::beginning(Some(limits.requests_per_second), begin),
            probes: ProbePace::new(ip, limits.probes_per_second, begin),
            connections: Semaphore::new(limits.connections),
            permits: Mutex::new(limits.connections),
        }
    }

    /// Divides the limits between this number of nodes.
    fn divide(&self, nodes: u32) {
        let nodes = nodes.max(1);
        self.requests.nodes.store(nodes, Ordering::Relaxed);
        self.probes.divide(nodes);
        let wanted = (self.limits.connections / nodes as usize).max(1);
        let mut permits = self.permits.lock().unwrap_or_else(PoisonError::into_inner);
        if *permits < wanted {
            self.connections.add_permits(wanted - *permits);
            *permits = wanted;
        } else {
            // Open connections remain; the next call takes their permits.
            *permits -= self.connections.forget_permits(*permits - wanted);
        }
    }
}

/// The lanes of all running scans.
#[derive(Debug)]
pub struct Lanes {
    hosts: Mutex<HashMap<IpAddr, Weak<HostLane>>>,
    /// One permit for each port probe of all scans.
    pub descriptors: Semaphore,
    /// How long a new lane waits for the other nodes.
    wait: Duration,
}

impl Lanes {
    /// Lanes that share this number of descriptors.
    pub fn new(descriptors: usize) -> Self {
        Self::waiting(descriptors, Duration::ZERO)
    }

    /// The same, whose new lanes wait until other nodes have counted them.
    pub fn waiting(descriptors: usize, wait: Duration) -> Self {
        Self {
            hosts: Mutex::default(),
            descriptors: Semaphore::new(descriptors.max(MIN_PROBES)),
            wait,
        }
    }

    /// The lane of a host; it is removed when its last scan ends.
    pub fn of(&self, ip: IpAddr) -> Arc<HostLane> {
        if is_this_host(ip) {
            return Arc::new(HostLane::new(ip, Limits::of(ip), Instant::now()));
        }
        let mut lanes = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lane) = lanes.get(&ip).and_then(Weak::upgrade) {
            return lane;
        }
        lanes.retain(|_, lane| lane.strong_count() > 0);
        let begin = Instant::now() + self.wait;
        let lane = Arc::new(HostLane::new(ip, Limits::of(ip), begin));
        lanes.insert(ip, Arc::downgrade(&lane));
        lane
    }

    /// The remote hosts of running scans.
    pub fn hosts(&self) -> Vec<IpAddr> {
        let lanes = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let used = lanes.iter().filter(|(_, lane)| lane.strong_count() > 0);
        used.map(|(ip, _)| *ip).collect()
    }

    /// Divides the limits of a host between this number of nodes.
    pub fn divide(&self, ip: IpAddr, nodes: u32) {
        let lanes = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lane) = lanes.get(&ip).and_then(Weak::upgrade) {
            lane.divide(nodes);
        }
    }
}

/// A rate limit without bursts.
#[derive(Debug)]
pub struct RequestPace {
    interval: Duration,
    next: Mutex<Instant>,
    /// Nodes that share the rate.
    nodes: AtomicU32,
}

impl RequestPace {
    /// This rate per second; unlimited if `None`.
    pub fn new(per_second: Option<u32>) -> Self {
        Self::beginning(per_second, Instant::now())
    }

    /// The same, whose first request waits until `begin`.
    fn beginning(per_second: Option<u32>, begin: Instant) -> Self {
        let interval =
            per_second.map_or(Duration::ZERO, |rate| Duration::from_secs(1) / rate.max(1));
        Self {
            interval,
            next: Mutex::new(begin),
            nodes: AtomicU32::new(1),
        }
    }

    /// Waits until the next request is allowed.
    pub async fn wait(&self) {
        if self.interval.is_zero() {
            return;
        }
        tokio::time::sleep_until(self.reserve(Instant::now())).await;
    }

    /// Reserves the next time slot.
    fn reserve(&self, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let at = (*next).max(now);
        *next = at + self.interval * self.nodes.load(Ordering::Relaxed);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scans_of_remote_host_share_its_lane() {
        let lanes = Lanes::new(1);
        let [here, there, other] =
            ["127.0.0.1", "192.0.2.1", "192.0.2.2"].map(|ip| lanes.of(ip.parse().unwrap()));
        assert_eq!(
            (
                here.limits.requests_per_second,
                there.limits.requests_per_second
            ),
            (200, 10)
        );
        assert!(
            Arc::ptr_eq(&there, &lanes.of("192.0.2.1".parse().unwrap()))
                && !Arc::ptr_eq(&there, &other)
        );
        assert!(!Arc::ptr_eq(&here, &lanes.of("127.0.0.1".parse().unwrap())));
        drop((there, other));
        lanes.of("192.0.2.3".parse().unwrap());
        assert_eq!(
            lanes.hosts.lock().unwrap().len(),
            1,
            "unused lanes are removed"
        );
    }

    #[test]
    fn divided_lane_sends_its_part() {
        let lanes = Lanes::new(1);
        let ip = "192.0.2.1".parse().unwrap();
        let lane = lanes.of(ip);
        let free = || lane.connections.available_permits();
        let step = |start: Instant| {
            lane.requests.reserve(start);
            lane.requests.reserve(start) - start
        };
        let start = Instant::now() + Duration::from_secs(60);
        assert_eq!((free(), step(start)), (5, Duration::from_millis(100)));
        let [first, second] = [0, 1].map(|_| lane.connections.try_acquire().unwrap());
        lanes.divide(ip, 3);
        let later = start + Duration::from_secs(60);
        assert_eq!((free(), step(later)), (0, Duration::from_millis(300)));
        drop(first);
        lanes.divide(ip, 3);
        assert_eq!(free(), 0, "the open one is the part of this node");
        drop(second);
        lanes.divide(ip, 1);
        assert_eq!(free(), 5);
        assert_eq!(lanes.hosts(), [ip]);
        drop(lane);
        assert!(lanes.hosts().is_empty());
        lanes.divide(ip, 2);
    }

    #[test]
    fn lane_of_several_nodes_waits_for_them() {
        let wait = Duration::from_secs(60);
        let lanes = Lanes::waiting(1, wait);
        let before = Instant::now();
        let lane = lanes.of("192.0.2.1".parse().unwrap());
        assert!(lane.requests.reserve(before) >= before + wait);
        let here = lanes.of("127.0.0.1".parse().unwrap());
        assert!(here.requests.reserve(before) < before + wait);
    }

    #[test]
    fn reserve_keeps_the_rate_and_allows_no_bursts() {
        let pace = RequestPace::new(Some(10));
        let start = Instant::now() + Duration::from_secs(60);
        let slots: Vec<Duration> = (0..4).map(|_| pace.reserve(start) - start).collect();
        assert_eq!(slots, [0, 100, 200, 300].map(Duration::from_millis));
        let later = start + Duration::from_secs(9);
        assert_eq!(
            (pace.reserve(later), pace.reserve(later)),
            (later, later + Duration::from_millis(100))
        );
    }
}
