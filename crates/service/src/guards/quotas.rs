//! Quotas: how many loggers, reports and scans an API key may create in an hour.
//!
//! Nodes of one database count together, as for the rate limit.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use jiff::Timestamp;

use crate::errors::ApiError;
use crate::guards::keys::{KeyIdentity, Role};
use crate::guards::windows::Window;
use crate::store::key_windows::KeyWindow;

/// The length of a window, in seconds.
const HOUR: i64 = 60 * 60;

/// What a key creates within its quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuotaNoun {
    Logger,
    Report,
    Scan,
}

impl QuotaNoun {
    const ALL: [Self; 3] = [Self::Logger, Self::Report, Self::Scan];

    fn plural(self) -> &'static str {
        match self {
            Self::Logger => "loggers",
            Self::Report => "reports",
            Self::Scan => "scans",
        }
    }
}

/// Loggers, and as many reports and scans, that one key may create in an hour, by its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyQuotas {
    pub triage: u32,
    pub scan: u32,
}

impl Default for KeyQuotas {
    fn default() -> Self {
        Self {
            triage: 100,
            scan: 1000,
        }
    }
}

impl KeyQuotas {
    /// The quota of a role and its flag; `None` without a quota.
    fn of(self, role: Role) -> Option<(u32, &'static str)> {
        match role {
            Role::Worker | Role::Read | Role::Triage => Some((self.triage, "--triage-quota")),
            Role::Scan => Some((self.scan, "--scan-quota")),
            Role::Admin => None,
        }
    }
}

/// Counts what each key creates. On a database file, the counts start again with the service.
#[derive(Debug)]
pub struct KeyUsage {
    quotas: KeyQuotas,
    windows: Mutex<HashMap<(String, QuotaNoun), Window>>,
}

impl KeyUsage {
    pub fn new(quotas: KeyQuotas) -> Self {
        Self {
            quotas,
            windows: Mutex::default(),
        }
    }

    /// Reserves one creation, which counts once it is [`created`](ReservedCreation::created).
    ///
    /// # Errors
    /// 429 with the limit and the remedy when the quota of the key is used up; 403 without a quota
    /// that waiting renews.
    pub fn reserve(
        &self,
        identity: &KeyIdentity,
        noun: QuotaNoun,
        now: Timestamp,
    ) -> Result<ReservedCreation<'_>, ApiError> {
        let KeyIdentity { name, role, .. } = identity;
        let Some((quota, flag)) = self.quotas.of(*role) else {
            return Ok(ReservedCreation {
                usage: self,
                key: None,
            });
        };
        let now = now.as_second();
        let mut windows = self.windows();
        windows.retain(|_, window| window.is_present(now, HOUR));
        let key = (name.clone(), noun);
        let first = Window::ending(now + HOUR);
        let window = windows.entry(key.clone()).or_insert(first);
        if window.total() < quota {
            window.used += 1;
            return Ok(ReservedCreation {
                usage: self,
                key: Some(key),
            });
        }
        let remedy =
            format!("start the service with a larger `{flag}`, the quota of the role `{role}`");
        let error = format!(
            "the API key `{name}` has created {quota} {} within an hour",
            noun.plural()
        );
        if quota == 0 {
            return Err(ApiError::forbidden(error).with_details(remedy));
        }
        let seconds = window.ends - now;
        let details = format!("retry in {} min, or {remedy}", (seconds + 59) / 60);
        Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, error)
            .with_details(details)
            .with_retry_after(seconds))
    }

    /// The present windows of this node.
    pub fn own_windows(&self, now: Timestamp) -> Vec<KeyWindow> {
        let now = now.as_second();
        let windows = self.windows();
        let present = windows
            .iter()
            .filter(|(_, window)| window.is_present(now, HOUR));
        present
            .map(|((key, noun), window)| window.shared(key, noun.plural()))
            .collect()
    }

    /// Replaces what other nodes have counted.
    pub fn count_others(&self, others: &[KeyWindow], now: Timestamp) {
        let now = now.as_second();
        let mut windows = self.windows();
        windows.retain(|_, window| window.is_present(now, HOUR));
        for window in windows.values_mut() {
            window.others = 0;
        }
        for other in others {
            let noun = QuotaNoun::ALL
                .into_iter()
                .find(|noun| noun.plural() == other.kind);
            let first = Window::ending(other.ends);
            if let Some(noun) = noun.filter(|_| first.is_present(now, HOUR)) {
                let key = (other.key.clone(), noun);
                windows.entry(key).or_insert(first).count(other);
            }
        }
    }

    fn windows(&self) -> MutexGuard<'_, HashMap<(String, QuotaNoun), Window>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One creation within the quota of its key. Dropped before it is [`created`](Self::created), it
/// does not count.
#[derive(Debug)]
pub struct ReservedCreation<'a> {
    usage: &'a KeyUsage,
    /// `None` without a quota.
    key: Option<(String, QuotaNoun)>,
}

impl ReservedCreation<'_> {
    pub fn created(mut self) {
        self.key = None;
    }
}

impl Drop for ReservedCreation<'_> {
    fn drop(&mut self) {
        if let Some(key) = &self.key
            && let Some(window) = self.usage.windows().get_mut(key)
        {
            window.used = window.used.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_usage_counts_per_key_noun_and_hour() {
        let usage = KeyUsage::new(KeyQuotas { triage: 2, scan: 3 });
        let at = |second| Timestamp::from_second(second).unwrap();
        let take = |name: &str, role, noun, second| {
            let identity = KeyIdentity {
                name: name.to_owned(),
                role,
                place: None,
            };
            let reserved = usage.reserve(&identity, noun, at(second));
            reserved
                .map(ReservedCreation::created)
                .map_err(|error| (error.message, error.details.unwrap()))
        };
        let take_all = |name: &str, role, noun| {
            (0..10)
                .filter(|_| take(name, role, noun, 1000).is_ok())
                .count()
        };
        assert_eq!(take_all("guest", Role::Triage, QuotaNoun::Logger), 2);
        assert_eq!(take_all("guest", Role::Triage, QuotaNoun::Report), 2);
        assert_eq!(take_all("other", Role::Triage, QuotaNoun::Logger), 2);
        let ci = KeyIdentity {
            name: "ci".to_owned(),
            role: Role::Scan,
            place: None,
        };
        for _ in 0..10 {
            assert!(
                usage.reserve(&ci, QuotaNoun::Logger, at(1000)).is_ok(),
                "nothing was created"
            );
        }
        assert_eq!(take_all("ci", Role::Scan, QuotaNoun::Logger), 3);
        assert_eq!(take_all("ci", Role::Scan, QuotaNoun::Scan), 3);
        assert_eq!(take_all("key file", Role::Admin, QuotaNoun::Scan), 10);
        let refused = usage.reserve(&ci, QuotaNoun::Scan, at(1030)).unwrap_err();
        assert_eq!(
            (refused.status, refused.retry_after),
            (StatusCode::TOO_MANY_REQUESTS, Some(3570))
        );
        let none = KeyUsage::new(KeyQuotas { triage: 0, scan: 0 });
        let refused = none.reserve(&ci, QuotaNoun::Scan, at(1030)).unwrap_err();
        assert_eq!(
            (refused.status, refused.retry_after),
            (StatusCode::FORBIDDEN, None),
            "waiting does not help"
        );
        let (message, details) = take("guest", Role::Triage, QuotaNoun::Logger, 1030).unwrap_err();
        assert_eq!(
            message,
            "the API key `guest` has created 2 loggers within an hour"
        );
        assert!(
            details.starts_with("retry in 60 min") && details.contains("--triage-quota"),
            "{details}"
        );
        assert!(take("guest", Role::Triage, QuotaNoun::Logger, 4600).is_ok());
        // The clock was set back.
        assert!(take("other", Role::Triage, QuotaNoun::Logger, 5).is_ok());
        assert_eq!(usage.windows.lock().unwrap().len(), 1);
    }

    #[test]
    fn nodes_count_the_creations_of_a_key_together() {
        let [one, other] = [(); 2].map(|()| KeyUsage::new(KeyQuotas { triage: 2, scan: 3 }));
        let at = |second| Timestamp::from_second(second).unwrap();
        let identity = KeyIdentity {
            name: "ci".to_owned(),
            role: Role::Triage,
            place: None,
        };
        let create = |node: &KeyUsage, noun| {
            let reserved = node.reserve(&identity, noun, at(1000));
            reserved.map(ReservedCreation::created).is_ok()
        };
        assert!(create(&one, QuotaNoun::Report));
        other.count_others(&one.own_windows(at(1000)), at(1000));
        assert!(create(&other, QuotaNoun::Report) && !create(&other, QuotaNoun::Report));
        assert!(create(&other, QuotaNoun::Logger), "another window");
        assert_eq!(other.own_windows(at(1000)).len(), 2);
        other.count_others(&[], at(1001));
        assert!(create(&other, QuotaNoun::Report));
    }
}
