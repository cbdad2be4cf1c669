//! From which place a target is scanned: the place of the first valid scope entry that covers it.
//! The denials of the service hold there too.

use std::net::IpAddr;

use ipnet::IpNet;
use jiff::tz::TimeZone;

use super::networks::embedded_ipv4;
use super::{METADATA, Refusal, RefusalReason, ScopeCheck, plain_host};
use crate::net::address::Address;
use crate::place::WorkerPlace;
use crate::scope::{Pattern, ScanScope, ScopeEntry};

impl ScopeCheck {
    /// The place that scans a target; `None` for the service itself. A name belongs to the place of
    /// its own entry: its addresses are known to the worker only.
    pub fn place_of(&self, address: &Address) -> Option<WorkerPlace> {
        let (host, ip) = (plain_host(&address.host()), address.ip().map(embedded_ipv4));
        let scope = self.scope().ok()?;
        self.place_in(&scope, &host, ip)
    }

    /// The place of a host, or of an address to which it was resolved.
    pub(super) fn place_in(
        &self,
        scope: &ScanScope,
        host: &str,
        ip: Option<IpAddr>,
    ) -> Option<WorkerPlace> {
        let covers_ip = |pattern: &Pattern, ip: IpAddr| match METADATA.contains(&ip) {
            true => *pattern == Pattern::Net(IpNet::from(ip)),
            false => pattern.covers_ip(ip),
        };
        let covers = |pattern: &Pattern| {
            pattern.covers_name(host) || ip.is_some_and(|ip| covers_ip(pattern, ip))
        };
        let mut entries = scope.allow.iter().filter(|entry| self.is_valid(entry));
        entries.find_map(|entry| entry.place.clone().filter(|_| covers(&entry.target)))
    }

    /// The places that scope entries name.
    pub fn places(&self) -> Vec<WorkerPlace> {
        let scope = self.scope().unwrap_or_default();
        let entries = scope.allow.iter().filter(|entry| self.is_valid(entry));
        entries.filter_map(|entry| entry.place.clone()).collect()
    }

    /// The denials of this scope, for the workers of places.
    ///
    /// # Errors
    /// When the scope file cannot be read.
    pub fn denials(&self) -> Result<Vec<Pattern>, String> {
        let scope = self.scope()?;
        Ok(scope
            .deny
            .iter()
            .map(|entry| entry.target.clone())
            .collect())
    }

    /// Checks an address that a worker resolved against the denials of its service.
    ///
    /// # Errors
    /// The denial, as a message for the user.
    pub fn check_service_denials(
        &self,
        denials: &[Pattern],
        host: &str,
        ip: IpAddr,
    ) -> Result<(), Refusal> {
        let (host, ip) = (plain_host(host), embedded_ipv4(ip));
        let covers = |pattern: &&Pattern| pattern.covers_name(&host) || pattern.covers_ip(ip);
        denials.iter().find(covers).map_or(Ok(()), |pattern| {
            let reason = RefusalReason::DeniedByService(pattern.clone());
            Err(self.refusal(&host, Some(ip), reason))
        })
    }

    /// Whether an entry has not expired.
    fn is_valid(&self, entry: &ScopeEntry) -> bool {
        let today = (self.clock)().to_zoned(TimeZone::UTC).date();
        entry.until.is_none_or(|until| until >= today)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{TestScopeCheck, scope_check};
    use super::*;

    #[test]
    fn target_is_scanned_from_the_place_of_its_entry() {
        let scope = "allow = [
            { target = 'old.corp.test', place = 'lab', until = '2026-11-20' },
            { target = '10.0.4.0/24', place = 'office' },
            { target = '*.corp.test', place = 'office' },
            { target = '127.0.0.0/8', place = 'lab' },
            { target = 'b.test' },
        ]";
        let TestScopeCheck { scope_check, .. } = &scope_check(scope, |_| ());
        for (target, place) in [
            ("10.0.4.7", Some("office")),
            ("http://db.corp.test:8080/", Some("office")),
            ("old.corp.test", Some("office")),
            ("127.0.0.1", Some("lab")),
            ("b.test", None),
            ("10.0.5.7", None),
        ] {
            let address = Address::parse(target).unwrap();
            let found = scope_check.place_of(&address);
            assert_eq!(found.as_ref().map(WorkerPlace::as_str), place, "{target}");
        }
    }

    #[test]
    fn engine_of_the_service_may_not_reach_what_belongs_to_a_place() {
        let scope = "allow = [
            { target = '10.0.0.0/8' },
            { target = '10.0.4.0/24', place = 'office' },
            { target = '*.corp.test', place = 'office' },
            { target = '192.0.2.7', place = 'office' },
            { target = 'b.test' },
        ]";
        let TestScopeCheck { scope_check, .. } =
            &scope_check(scope, |settings| settings.only_here = true);
        let check = |host: &str, ip: &str| scope_check.check_ip(host, ip.parse().unwrap());
        for (host, ip) in [
            ("b.test", "10.0.4.7"),
            ("b.test", "192.0.2.7"),
            ("db.corp.test", "192.0.2.1"),
            ("10.0.4.7", "10.0.4.7"),
        ] {
            let refusal = check(host, ip).expect_err(host).to_string();
            assert!(
                refusal.contains("from the place `office` only"),
                "{refusal}"
            );
        }
        for (host, ip) in [("b.test", "192.0.2.1"), ("b.test", "10.0.5.7")] {
            assert_eq!(check(host, ip), Ok(()), "{host} {ip}");
        }
    }

    #[test]
    fn denials_of_the_service_cover_names_and_addresses_that_a_worker_meets() {
        let scope = "deny = [{ target = '*.hr.test' }, { target = '10.0.4.1' }]";
        let service = scope_check(scope, |_| ());
        let denials = service.scope_check.denials().unwrap();
        let worker = scope_check("", |_| ());
        let check = |host: &str, ip: &str| {
            let worker = &worker.scope_check;
            worker.check_service_denials(&denials, host, ip.parse().unwrap())
        };
        for (host, ip) in [
            ("A.hr.test", "192.0.2.1"),
            ("b.test", "10.0.4.1"),
            ("b.test", "::ffff:10.0.4.1"),
        ] {
            let refusal = check(host, ip).expect_err(host).to_string();
            assert!(
                refusal.contains("denied by the scope of the service"),
                "{refusal}"
            );
        }
        assert_eq!(check("b.test", "10.0.4.2"), Ok(()));
    }
}
