//! Whether active tools, which send attacks, may scan a target: whoever runs the service allows
//! them (`--allow-active`), and an `active` entry of the scope file covers the target. A proof that
//! may carry a payload needs the same permissions.
//!
//! This is in addition to the scope check itself. Loopback and this host need an entry too.

use std::net::IpAddr;

use ipnet::IpNet;
use jiff::tz::TimeZone;

use super::networks::{embedded_ipv4, is_public, is_this_host};
use super::{METADATA, Refusal, RefusalReason, ScopeCheck, plain_host};
use crate::net::address::Address;
use crate::scope::{Pattern, ScanScope};

/// What needs an active entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ActiveUse {
    /// Scans of active tools, which the service runs.
    #[default]
    Scans,
    /// Proofs that may carry a payload, which a person sends.
    Proofs,
}

impl ActiveUse {
    /// The beginning of a refusal, before the target.
    pub(super) fn refused(self) -> &'static str {
        match self {
            Self::Scans => "active tools may not scan",
            Self::Proofs => "the request may carry a payload, which may not be sent to",
        }
    }

    fn without_flag(self) -> &'static str {
        match self {
            Self::Scans => "the service was started without `--allow-active`",
            Self::Proofs => "scandeck was started without `--allow-active`",
        }
    }
}

impl ScopeCheck {
    /// Checks a target by its name, before name resolution.
    ///
    /// # Errors
    /// The refusal, as a message for the user.
    pub fn check_active_name(&self, address: &Address) -> Result<(), Refusal> {
        self.decide_active(&address.host(), address.ip())
    }

    /// Checks an address to which `host` was resolved.
    ///
    /// # Errors
    /// The refusal, as a message for the user.
    pub fn check_active_ip(&self, host: &str, ip: IpAddr) -> Result<(), Refusal> {
        self.decide_active(host, Some(ip))
    }

    fn decide_active(&self, host: &str, ip: Option<IpAddr>) -> Result<(), Refusal> {
        let (host, ip) = (plain_host(host), ip.map(embedded_ipv4));
        let scope = self
            .scope()
            .map_err(|error| self.refusal(&host, ip, RefusalReason::ScopeFile(error)))?;
        let has_entry = self.has_active_entry(&scope, &host, ip);
        match self.settings.allow_active && has_entry {
            true => Ok(()),
            false => {
                let of = self.settings.active_use;
                Err(self.refusal(&host, ip, RefusalReason::NotActive { of, has_entry }))
            }
        }
    }

    /// Whether a valid entry with `active` covers the target. An entry for a name covers no private
    /// address, also where these need no entry, and a range no metadata address.
    fn has_active_entry(&self, scope: &ScanScope, host: &str, ip: Option<IpAddr>) -> bool {
        let covers = |pattern: &Pattern| match ip {
            None => pattern.covers_name(host),
            Some(ip) if METADATA.contains(&ip) => *pattern == Pattern::Net(IpNet::from(ip)),
            Some(ip) if is_public(ip) || (self.is_local_name(host) && is_this_host(ip)) => {
                pattern.covers_name(host) || pattern.covers_ip(ip)
            }
            Some(ip) => pattern.covers_ip(ip),
        };
        let today = (self.clock)().to_zoned(TimeZone::UTC).date();
        scope.allow.iter().any(|entry| {
            entry.active && entry.until.is_none_or(|until| until >= today) && covers(&entry.target)
        })
    }

    /// The sentences about what is missing.
    pub(super) fn active_remedy(&self, entry: &str, has_entry: bool) -> String {
        let suffix = self.settings.command_suffix;
        let service = (!self.settings.allow_active)
            .then(|| self.settings.active_use.without_flag().to_owned());
        let scope = (!has_entry).then(|| {
            format!(
                "no scope entry with `active` covers it (`scandeck scope add {entry} --active{suffix}` adds one)"
            )
        });
        let lacks: Vec<String> = service.into_iter().chain(scope).collect();
        lacks.join(", and ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{TestScopeCheck, scope_check};
    use super::*;

    const SCOPE: &str = "allow = [
        { target = 'a.test', active = true },
        { target = 'b.test' },
        { target = 'old.test', active = true, until = '2026-11-20' },
        { target = '10.0.4.0/24', active = true },
        { target = '169.254.0.0/16', active = true },
        { target = '169.254.169.254' },
        { target = 'localhost', active = true },
    ]";

    fn refused(scope_check: &ScopeCheck, target: &str) -> Option<String> {
        let address = Address::parse(target).unwrap();
        let refusal = scope_check.check_active_name(&address).err();
        refusal.map(|refusal| refusal.to_string())
    }

    #[test]
    fn active_tools_need_the_flag_of_the_service_and_an_active_entry() {
        let TestScopeCheck { scope_check, .. } =
            &scope_check(SCOPE, |settings| settings.allow_active = true);
        for allowed in ["https://a.test/", "10.0.4.7", "localhost"] {
            assert_eq!(refused(scope_check, allowed), None, "{allowed}");
        }
        for (denied, entry) in [
            ("b.test", "b.test"),
            ("old.test", "old.test"),
            ("127.0.0.1", "127.0.0.1"),
            ("10.0.5.7", "10.0.5.7"),
            ("169.254.169.254", "169.254.169.254"),
        ] {
            assert_eq!(
                refused(scope_check, denied).unwrap(),
                format!(
                    "active tools may not scan {denied}: no scope entry with `active` covers it \
                     (`scandeck scope add {entry} --active` adds one)"
                )
            );
        }
    }

    #[test]
    fn refusal_names_each_missing_permission() {
        let TestScopeCheck { scope_check, .. } = &scope_check(SCOPE, |_| ());
        assert_eq!(
            refused(scope_check, "a.test").unwrap(),
            "active tools may not scan a.test: the service was started without `--allow-active`"
        );
        let both = refused(scope_check, "b.test").unwrap();
        assert!(
            both.contains("without `--allow-active`, and no scope entry"),
            "{both}"
        );
    }

    #[test]
    fn refusal_of_a_proof_says_which_permission_is_missing() {
        let words = |allow_active: bool, target: &str| {
            let TestScopeCheck { scope_check, .. } = &scope_check(SCOPE, |settings| {
                settings.allow_active = allow_active;
                settings.active_use = ActiveUse::Proofs;
            });
            refused(scope_check, target).unwrap_or_default()
        };
        assert_eq!(words(true, "a.test"), "");
        assert_eq!(
            words(false, "a.test"),
            "the request may carry a payload, which may not be sent to a.test: \
             scandeck was started without `--allow-active`"
        );
        let no_entry = words(true, "b.test");
        assert!(
            !no_entry.contains("without") && no_entry.contains("scope add b.test --active"),
            "{no_entry}"
        );
        let both = words(false, "b.test");
        assert!(
            both.contains("`--allow-active`, and no scope entry"),
            "{both}"
        );
    }

    #[test]
    fn active_entry_of_a_name_covers_public_addresses_only() {
        let TestScopeCheck { scope_check, .. } =
            &scope_check(SCOPE, |settings| settings.allow_active = true);
        let check = |host: &str, ip: &str| scope_check.check_active_ip(host, ip.parse().unwrap());
        for (host, ip) in [
            ("a.test", "192.0.2.1"),
            ("a.test", "10.0.4.7"),
            ("localhost", "127.0.0.1"),
        ] {
            assert_eq!(check(host, ip), Ok(()), "{host} {ip}");
        }
        let refusal = check("a.test", "10.0.5.7").unwrap_err().to_string();
        assert!(
            refusal.contains("a.test (10.0.5.7)")
                && refusal.contains("scope add 10.0.5.7 --active"),
            "{refusal}"
        );
    }

    #[test]
    fn allowed_private_addresses_need_an_active_entry_of_their_own() {
        let TestScopeCheck { scope_check, .. } = &scope_check(SCOPE, |settings| {
            settings.allow_active = true;
            settings.allow_private = true;
        });
        let check = |host: &str, ip: &str| scope_check.check_active_ip(host, ip.parse().unwrap());
        for (host, ip) in [
            ("a.test", "192.0.2.1"),
            ("a.test", "10.0.4.7"),
            ("localhost", "127.0.0.1"),
        ] {
            assert_eq!(check(host, ip), Ok(()), "{host} {ip}");
        }
        for ip in ["127.0.0.1", "::1", "10.0.5.7", "192.168.1.1", "fe80::1"] {
            assert!(check("a.test", ip).is_err(), "{ip}");
        }
    }

    #[test]
    fn unreadable_scope_file_permits_no_active_tool() {
        let TestScopeCheck { scope_check, .. } =
            &scope_check("allow = [", |settings| settings.allow_active = true);
        assert!(
            refused(scope_check, "a.test")
                .unwrap()
                .contains("scope file")
        );
    }
}
