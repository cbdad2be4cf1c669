//! The rate limit: each API key has a fixed window of one minute for each class of requests. Wrong
//! keys, and requests that need no key, have a window for each client.
//!
//! GET has the full limit; POST, PUT and DELETE half of it; scan output a quarter
//! (`hosted-service.md`, Rate limits). Windows are fixed instead of sliding, because clients read
//! `X-RateLimit-Reset` as one point in time. Nodes of one database count together
//! (`runs/key_windows.rs`): the windows of each node contain what the others have counted.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::{HeaderMap, HeaderValue, Method};
use jiff::Timestamp;

use crate::guards::windows::Window;
use crate::settings::RateLimit;
use crate::store::key_windows::KeyWindow;

const WINDOW: i64 = 60;
/// Health checks of one client in a minute: ten times what probes send.
pub const HEALTH_CHECKS: u32 = 600;
/// Clients that are counted.
const MAX_CLIENTS: usize = 4096;

/// A class of requests with its own window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// GET and HEAD.
    Read,
    /// All other methods.
    Write,
    /// `GET /scans/{id}/output`.
    Output,
}

impl Class {
    const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Output];

    fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Output => "output",
        }
    }

    pub fn of(method: &Method, path: &str) -> Self {
        match *method {
            Method::GET | Method::HEAD
                if path.starts_with("/api/v2/scans/") && path.ends_with("/output") =>
            {
                Self::Output
            }
            Method::GET | Method::HEAD => Self::Read,
            _ => Self::Write,
        }
    }

    fn share(self, limit: u32) -> u32 {
        match self {
            Self::Read => limit,
            Self::Write => limit / 2,
            Self::Output => limit / 4,
        }
    }
}

/// The rest of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyBudget {
    limit: u32,
    remaining: u32,
    /// Seconds since 1970 at which the window ends.
    reset: i64,
}

impl KeyBudget {
    /// Sets `X-RateLimit-Limit` and `X-RateLimit-Remaining`.
    pub fn set_headers(&self, headers: &mut HeaderMap) {
        headers.insert("x-ratelimit-limit", HeaderValue::from(self.limit));
        headers.insert("x-ratelimit-remaining", HeaderValue::from(self.remaining));
    }

    /// Sets the additional headers of a 429: `X-RateLimit-Reset` and `Retry-After`.
    pub fn set_reset_headers(&self, headers: &mut HeaderMap, now: Timestamp) {
        headers.insert("x-ratelimit-reset", HeaderValue::from(self.reset));
        headers.insert("retry-after", HeaderValue::from(self.seconds_left(now)));
    }

    /// Seconds until the window ends.
    pub fn seconds_left(&self, now: Timestamp) -> i64 {
        (self.reset - now.as_second()).max(1)
    }
}

/// Counts the requests of each key in its present windows, one for each class.
#[derive(Debug)]
pub struct Limiter {
    limit: RateLimit,
    windows: Mutex<HashMap<String, [Window; 3]>>,
}

impl Limiter {
    pub fn new(limit: RateLimit) -> Self {
        Self {
            limit,
            windows: Mutex::default(),
        }
    }

    /// The budget of a key that has sent nothing; `None` without a limit.
    pub fn unused(&self, class: Class, now: Timestamp) -> Option<KeyBudget> {
        let limit = self.limit_of(class)?;
        Some(KeyBudget {
            limit,
            remaining: limit,
            reset: now.as_second() + WINDOW,
        })
    }

    /// Counts one request of the key with this name. The second value is false when the limit is
    /// exceeded.
    pub fn take(&self, key: &str, class: Class, now: Timestamp) -> Option<(KeyBudget, bool)> {
        let limit = self.limit_of(class)?;
        let now = now.as_second();
        let mut windows = self.windows();
        if !windows.contains_key(key) {
            let is_present = |window: &Window| window.is_present(now, WINDOW);
            windows.retain(|_, of_key| of_key.iter().any(is_present));
        }
        let of_key = windows.entry(key.to_owned()).or_default();
        let window = &mut of_key[class as usize];
        if !window.is_present(now, WINDOW) {
            *window = Window::ending(now + WINDOW);
        }
        let within = window.total() < limit;
        if within {
            window.used += 1;
        }
        Some((
            KeyBudget {
                limit,
                remaining: limit.saturating_sub(window.total()),
                reset: window.ends,
            },
            within,
        ))
    }

    /// The present windows of this node.
    pub fn own_windows(&self, now: Timestamp) -> Vec<KeyWindow> {
        let now = now.as_second();
        let windows = self.windows();
        let of_all = windows.iter().flat_map(|(key, of_key)| {
            let of_classes = Class::ALL.into_iter().zip(of_key);
            of_classes.map(move |(class, window)| (key, class, window))
        });
        let present = of_all.filter(|(_, _, window)| window.is_present(now, WINDOW));
        present
            .map(|(key, class, window)| window.shared(key, class.as_str()))
            .collect()
    }

    /// Replaces what other nodes have counted.
    pub fn count_others(&self, others: &[KeyWindow], now: Timestamp) {
        let now = now.as_second();
        let mut windows = self.windows();
        for window in windows.values_mut().flatten() {
            window.others = 0;
        }
        for other in others {
            let class = Class::ALL
                .into_iter()
                .find(|class| class.as_str() == other.kind);
            let first = Window::ending(other.ends);
            if let Some(class) = class.filter(|_| first.is_present(now, WINDOW)) {
                let of_key = windows.entry(other.key.clone()).or_default();
                let window = &mut of_key[class as usize];
                if !window.is_present(now, WINDOW) {
                    *window = first;
                }
                window.count(other);
            }
        }
    }

    fn windows(&self) -> MutexGuard<'_, HashMap<String, [Window; 3]>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn limit_of(&self, class: Class) -> Option<u32> {
        match self.limit {
            RateLimit::PerMinute(limit) => Some(class.share(limit)),
            RateLimit::Off => None,
        }
    }
}

/// Counts requests of one kind for each client: those with a wrong key, so that guessing keys is
/// slow and fills no log, and those that need no key.
#[derive(Debug)]
pub struct ClientLimiter {
    limit: u32,
    windows: Mutex<HashMap<IpAddr, Window>>,
}

impl ClientLimiter {
    pub fn new(limit: u32) -> Self {
        Self {
            limit,
            windows: Mutex::default(),
        }
    }

    /// Whether the next request of this client exceeds the limit.
    pub fn is_exhausted(&self, client: IpAddr, now: Timestamp) -> bool {
        let windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows.get(&client).is_some_and(|window| {
            window.is_present(now.as_second(), WINDOW) && window.used >= self.limit
        })
    }

    /// Counts one request.
    ///
    /// # Errors
    /// The budget, without a request left, when the limit is exceeded.
    pub fn take(&self, client: IpAddr, now: Timestamp) -> Result<(), KeyBudget> {
        let now = now.as_second();
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MAX_CLIENTS {
            windows.retain(|_, window| window.ends > now);
        }
        if windows.len() >= MAX_CLIENTS {
            windows.clear();
        }
        let window = windows.entry(client).or_default();
        if !window.is_present(now, WINDOW) {
            *window = Window::ending(now + WINDOW);
        }
        window.used = window.used.saturating_add(1);
        match window.used > self.limit {
            true => Err(KeyBudget {
                limit: self.limit,
                remaining: 0,
                reset: window.ends,
            }),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limiter_counts_per_class_and_resets_in_a_new_window() {
        let limiter = Limiter::new(RateLimit::PerMinute(8));
        let at = |second| Timestamp::from_second(second).unwrap();
        let write = |second| limiter.take("ana", Class::Write, at(second)).unwrap();
        for left in [3, 2, 1, 0] {
            let (budget, within) = write(1000);
            assert_eq!((budget.limit, budget.remaining, within), (4, left, true));
        }
        let (budget, within) = write(1000);
        assert!(!within);
        let mut headers = HeaderMap::new();
        budget.set_reset_headers(&mut headers, at(1030));
        assert_eq!(
            (&headers["x-ratelimit-reset"], &headers["retry-after"]),
            (&HeaderValue::from(1060), &HeaderValue::from(30))
        );
        let (read, _) = limiter.take("ana", Class::Read, at(1000)).unwrap();
        assert_eq!(read.remaining, 7);
        assert_eq!(limiter.unused(Class::Output, at(1000)).unwrap().limit, 2);
        assert!(write(1060).1);
        assert_eq!(write(5).0.remaining, 3);
        let off = Limiter::new(RateLimit::Off);
        assert_eq!(off.take("ana", Class::Read, at(1000)), None);
    }

    #[test]
    fn each_key_has_its_own_window() {
        let limiter = Limiter::new(RateLimit::PerMinute(2));
        let at = |second| Timestamp::from_second(second).unwrap();
        let read = |key: &str, second| limiter.take(key, Class::Read, at(second)).unwrap();
        assert!(read("ana", 1000).1 && read("ana", 1000).1 && !read("ana", 1000).1);
        let (budget, within) = read("ben", 1030);
        assert_eq!((budget.remaining, budget.reset, within), (1, 1090, true));
        // Windows of keys that send nothing are not kept.
        read("eva", 1070);
        let known = limiter.windows.lock().unwrap();
        assert!(!known.contains_key("ana") && known.contains_key("ben"));
    }

    #[test]
    fn nodes_count_the_requests_of_a_key_together() {
        let [one, other] = [(); 2].map(|()| Limiter::new(RateLimit::PerMinute(3)));
        let at = |second| Timestamp::from_second(second).unwrap();
        let read = |node: &Limiter, second| node.take("ana", Class::Read, at(second)).unwrap();
        read(&one, 1000);
        read(&one, 1000);
        other.count_others(&one.own_windows(at(1001)), at(1001));
        let (budget, within) = read(&other, 1002);
        assert_eq!((budget.remaining, budget.reset, within), (0, 1060, true));
        assert!(!read(&other, 1003).1);
        // Each node reports only what it has counted itself.
        let own = other.own_windows(at(1003));
        assert_eq!(
            (own.len(), own[0].used, own[0].kind.as_str()),
            (1, 1, "read")
        );
        one.count_others(&own, at(1004));
        assert!(!read(&one, 1004).1);
        one.count_others(&[], at(1005));
        assert!(read(&one, 1005).1, "it was replaced");
        assert!(other.own_windows(at(1060)).is_empty());
        assert!(read(&other, 1060).1);
        assert!(other.take("ben", Class::Read, at(1060)).unwrap().1);
    }

    #[test]
    fn wrong_keys_are_counted_per_client_and_window() {
        let wrong_keys = ClientLimiter::new(2);
        let at = |second| Timestamp::from_second(second).unwrap();
        let client = |last: u32| IpAddr::from(std::net::Ipv4Addr::from(0x7f00_0000 + last));
        assert_eq!(
            [0, 1].map(|_| wrong_keys.take(client(1), at(1000))),
            [Ok(()); 2]
        );
        let refused = wrong_keys.take(client(1), at(1000)).unwrap_err();
        assert_eq!((refused.remaining, refused.seconds_left(at(1000))), (0, 60));
        assert!(
            wrong_keys.is_exhausted(client(1), at(1059))
                && !wrong_keys.is_exhausted(client(1), at(1060))
        );
        assert!(
            !wrong_keys.is_exhausted(client(1), at(5)),
            "the clock was set back"
        );
        assert_eq!(wrong_keys.take(client(2), at(1000)), Ok(()));
        assert!(!wrong_keys.is_exhausted(client(2), at(1000)));
        assert_eq!(wrong_keys.take(client(1), at(1060)), Ok(()));
        for other in 0..5000 {
            assert_eq!(wrong_keys.take(client(other + 10), at(1070)), Ok(()));
        }
        assert!(wrong_keys.windows.lock().unwrap().len() <= MAX_CLIENTS);
    }

    #[test]
    fn class_of_scan_output_is_output() {
        assert_eq!(
            Class::of(&Method::GET, "/api/v2/scans/7/output"),
            Class::Output
        );
        assert_eq!(Class::of(&Method::GET, "/api/v2/scans/7"), Class::Read);
        assert_eq!(
            Class::of(&Method::PUT, "/api/v2/workspaces/7"),
            Class::Write
        );
    }
}
