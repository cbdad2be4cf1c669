//! The scope check: decides which targets the service may scan.
//!
//! ```text
//!   POST /targets ──► check_name(address) ─────────┐
//!   a scan resolves a host (engine/run.rs):        ├─► Ok, or a Refusal with a remedy
//!     resolve ──► check_ip(host, ip) ──────────────┘
//!     ──► its connections go to these addresses only
//! ```
//!
//! Loopback and this host are allowed, except at a worker; `allow_private` allows private and
//! link-local addresses; all other targets need an entry in the scope file
//! ([`scope`](crate::scope)), whose changes apply immediately. An entry for a name covers public
//! addresses only. A denial overrides everything. A cloud metadata address needs its own entry; a
//! range does not include it. With an unreadable scope file nothing is allowed.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use ipnet::IpNet;
use jiff::Timestamp;
use jiff::tz::TimeZone;

mod active;
mod networks;
mod places;
mod refusal;

use crate::net::address::Address;
use crate::scope::{Pattern, ScanScope, ScopeFile};
pub use active::ActiveUse;
use networks::{embedded_ipv4, is_private};
pub use networks::{is_public, is_this_host};
pub use refusal::Refusal;
use refusal::RefusalReason;

/// Metadata services of clouds, which give the credentials of a machine to every program on it.
const METADATA: &[IpAddr] = &[
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)), // AWS, Azure, GCP, DigitalOcean, OpenStack
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),   // AWS ECS
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),  // AWS EKS
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)), // Alibaba
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),     // Oracle
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),   // Azure host
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];

/// Whether this is the address of a metadata service.
pub fn is_metadata(pattern: &Pattern) -> bool {
    METADATA
        .iter()
        .any(|ip| *pattern == Pattern::Net(IpNet::from(*ip)))
}

#[derive(Clone, Debug, Default)]
pub struct ScopeCheckSettings {
    /// The scope file, which may be missing.
    pub scope_file: PathBuf,
    /// Allows private, unique local and link-local addresses (`--allow-private`).
    pub allow_private: bool,
    /// Allows active tools against targets with an active entry (`--allow-active`).
    pub allow_active: bool,
    /// What needs the permissions of active tools.
    pub active_use: ActiveUse,
    /// Allowed for the lifetime of this process (`--allow-target`).
    pub allow_targets: Vec<Pattern>,
    /// Refuses what an entry gives to the workers of a place: here, the same address can be another
    /// machine.
    pub only_here: bool,
    /// Loopback and this host need an entry too: they are not what the service means (a worker).
    pub only_listed: bool,
    /// Appended to the command of a remedy: ` --data-dir DIR`, or nothing for the default
    /// directory. Everybody with a key reads refusals, so they contain no path of this machine.
    pub command_suffix: &'static str,
}

/// Decides which targets may be scanned.
pub struct ScopeCheck {
    settings: ScopeCheckSettings,
    file: ScopeFile,
    host_name: Option<String>,
    cached: Mutex<Option<CachedScope>>,
    clock: fn() -> Timestamp,
}

/// The parsed scope, and the metadata of the file at that time.
struct CachedScope {
    stamp: Option<(SystemTime, u64, u64)>,
    scope: Result<Arc<ScanScope>, String>,
}

impl ScopeCheck {
    pub fn new(settings: ScopeCheckSettings) -> Self {
        let file = ScopeFile::new(&settings.scope_file);
        Self {
            settings,
            file,
            host_name: host_name(),
            cached: Mutex::new(None),
            clock: Timestamp::now,
        }
    }

    /// The file that it reads.
    pub fn file(&self) -> &ScopeFile {
        &self.file
    }

    /// Checks a target by its name, before name resolution.
    ///
    /// # Errors
    /// The refusal, as a message for the user.
    pub fn check_name(&self, address: &Address) -> Result<(), Refusal> {
        match address.ip() {
            Some(ip) => self.check_ip(&address.host(), ip),
            None => self.decide(&address.host(), None),
        }
    }

    /// Checks an address to which `host` was resolved.
    ///
    /// # Errors
    /// The refusal, as a message for the user.
    pub fn check_ip(&self, host: &str, ip: IpAddr) -> Result<(), Refusal> {
        self.decide(host, Some(embedded_ipv4(ip)))
    }

    /// Checks an address against the denials alone.
    ///
    /// # Errors
    /// The denial, or an unreadable scope file.
    pub fn check_denial(&self, host: &str, ip: IpAddr) -> Result<(), Refusal> {
        let ip = embedded_ipv4(ip);
        let scope = self
            .scope()
            .map_err(|error| self.refusal(host, Some(ip), RefusalReason::ScopeFile(error)))?;
        let denial = scope
            .deny
            .iter()
            .find(|entry| entry.target.covers_name(host) || entry.target.covers_ip(ip));
        denial.map_or(Ok(()), |entry| {
            Err(self.refusal(
                host,
                Some(ip),
                RefusalReason::Denied(Box::new(entry.clone())),
            ))
        })
    }

    fn decide(&self, host: &str, ip: Option<IpAddr>) -> Result<(), Refusal> {
        let host = plain_host(host);
        let scope = self
            .scope()
            .map_err(|error| self.refusal(&host, ip, RefusalReason::ScopeFile(error)))?;
        match self.reason_against(&scope, &host, ip) {
            None => Ok(()),
            Some(reason) => Err(self.refusal(&host, ip, reason)),
        }
    }

    fn reason_against(
        &self,
        scope: &ScanScope,
        host: &str,
        ip: Option<IpAddr>,
    ) -> Option<RefusalReason> {
        let covers = |pattern: &Pattern| {
            pattern.covers_name(host) || ip.is_some_and(|ip| pattern.covers_ip(ip))
        };
        if let Some(entry) = scope.deny.iter().find(|entry| covers(&entry.target)) {
            return Some(RefusalReason::Denied(Box::new(entry.clone())));
        }
        if self.settings.only_here
            && let Some(place) = self.place_in(scope, host, ip)
        {
            return Some(RefusalReason::OfPlace(place));
        }
        if let Some(ip) = ip {
            if ip.is_unspecified() || ip.is_multicast() || ip == IpAddr::V4(Ipv4Addr::BROADCAST) {
                return Some(RefusalReason::NoHost);
            }
            if METADATA.contains(&ip) {
                let exact = Pattern::Net(IpNet::from(ip));
                return self
                    .check_entries(scope, |pattern| *pattern == exact)
                    .err()
                    .map(|_| RefusalReason::Metadata);
            }
        }
        if self.is_allowed_by_default(host, ip) {
            return None;
        }
        match ip {
            // Whoever owns a name can make it resolve to any address.
            Some(ip) if !is_public(ip) => {
                let reason = self
                    .check_entries(scope, |pattern| pattern.covers_ip(ip))
                    .err()?;
                let is_listed = self
                    .check_entries(scope, |pattern| pattern.covers_name(host))
                    .is_ok();
                Some(if is_listed && reason == RefusalReason::NotListed {
                    RefusalReason::NotPublic
                } else {
                    reason
                })
            }
            _ => self.check_entries(scope, covers).err(),
        }
    }

    /// Whether a target needs no entry.
    fn is_allowed_by_default(&self, host: &str, ip: Option<IpAddr>) -> bool {
        if self.settings.only_listed {
            return self.settings.allow_private
                && ip.is_some_and(|ip| is_private(ip) && !is_this_host(ip));
        }
        match ip {
            Some(ip) if self.settings.allow_private && is_private(ip) => true,
            Some(ip) => {
                (self.is_local_name(host) || host.parse::<IpAddr>().is_ok()) && is_this_host(ip)
            }
            None => self.is_local_name(host),
        }
    }

    fn is_local_name(&self, host: &str) -> bool {
        host == "localhost"
            || host.ends_with(".localhost")
            || self.host_name.as_deref() == Some(host)
    }

    fn check_entries(
        &self,
        scope: &ScanScope,
        covers: impl Fn(&Pattern) -> bool,
    ) -> Result<(), RefusalReason> {
        if self.settings.allow_targets.iter().any(&covers) {
            return Ok(());
        }
        let today = (self.clock)().to_zoned(TimeZone::UTC).date();
        let mut expired = None;
        for entry in scope.allow.iter().filter(|entry| covers(&entry.target)) {
            match entry.until {
                Some(until) if until < today => expired = expired.max(Some(until)),
                _ => return Ok(()),
            }
        }
        Err(expired.map_or(RefusalReason::NotListed, RefusalReason::Expired))
    }

    fn scope(&self) -> Result<Arc<ScanScope>, String> {
        use std::os::unix::fs::MetadataExt;
        let stamp = fs::metadata(self.file.path())
            .ok()
            .and_then(|meta| Some((meta.modified().ok()?, meta.len(), meta.ino())));
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(current) = cached.as_ref().filter(|cached| cached.stamp == stamp) {
            return current.scope.clone();
        }
        let scope = self.file.load().map(Arc::new).map_err(|error| {
            tracing::error!(%error, "scope file not read; no scan can start");
            "the scope file cannot be read; the log of the service contains the cause".to_owned()
        });
        *cached = Some(CachedScope {
            stamp,
            scope: scope.clone(),
        });
        scope
    }

    fn refusal(&self, host: &str, ip: Option<IpAddr>, reason: RefusalReason) -> Refusal {
        let subject = match ip {
            Some(ip) if ip.to_string() != host => format!("{host} ({ip})"),
            _ => host.to_owned(),
        };
        // An entry for a name covers its public addresses only.
        let entry = match (&reason, ip) {
            (RefusalReason::Denied(entry), _) => entry.target.to_string(),
            (RefusalReason::DeniedByService(pattern), _) => pattern.to_string(),
            (RefusalReason::Metadata, Some(ip)) => ip.to_string(),
            (_, Some(ip)) if !is_public(ip) => ip.to_string(),
            _ => host.to_owned(),
        };
        let suffix = self.settings.command_suffix;
        let remedy = match &reason {
            RefusalReason::Denied(_) => {
                format!("`scandeck scope remove {entry}{suffix}` removes the denial")
            }
            RefusalReason::DeniedByService(_) => {
                format!("`scandeck scope remove {entry}` on its machine removes the denial")
            }
            RefusalReason::ScopeFile(_) => {
                "No scan can start until the scope file is fixed".to_owned()
            }
            RefusalReason::NoHost => "Use the address of one host".to_owned(),
            RefusalReason::OfPlace(_) => format!("a scan of {entry} runs there"),
            RefusalReason::NotActive { has_entry, .. } => self.active_remedy(&entry, *has_entry),
            _ => format!("`scandeck scope add {entry}{suffix}` permits it"),
        };
        Refusal {
            subject,
            reason,
            allowed: self.allowed(),
            remedy,
        }
    }

    fn allowed(&self) -> String {
        let mut all = Vec::new();
        if !self.settings.only_listed {
            all.push("loopback and this host".to_owned());
        }
        if self.settings.allow_private {
            all.push("private addresses".to_owned());
        }
        let scope = self.scope().unwrap_or_default();
        let today = (self.clock)().to_zoned(TimeZone::UTC).date();
        let listed = scope
            .allow
            .iter()
            .filter(|entry| entry.until.is_none_or(|until| until >= today));
        let patterns = self
            .settings
            .allow_targets
            .iter()
            .chain(listed.map(|entry| &entry.target));
        let patterns: Vec<String> = patterns.map(Pattern::to_string).collect();
        all.extend(patterns.iter().take(3).cloned());
        if patterns.len() > 3 {
            all.push(format!("{} more", patterns.len() - 3));
        }
        if all.is_empty() {
            all.push("nothing".to_owned());
        }
        all.join(", ")
    }
}

/// The host in the form of scope entries.
fn plain_host(host: &str) -> String {
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .trim_end_matches('.')
        .to_ascii_lowercase()
}

fn host_name() -> Option<String> {
    ["/proc/sys/kernel/hostname", "/etc/hostname"]
        .iter()
        .find_map(|path| fs::read_to_string(path).ok())
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub struct TestScopeCheck {
        _folder: tempfile::TempDir,
        pub scope_check: ScopeCheck,
    }

    pub fn scope_check(
        scope: &str,
        change: impl FnOnce(&mut ScopeCheckSettings),
    ) -> TestScopeCheck {
        let folder = tempfile::tempdir().unwrap();
        let scope_file = folder.path().join("scope.toml");
        if !scope.is_empty() {
            fs::write(&scope_file, scope).unwrap();
        }
        let mut settings = ScopeCheckSettings {
            scope_file,
            ..ScopeCheckSettings::default()
        };
        change(&mut settings);
        let mut scope_check = ScopeCheck::new(settings);
        scope_check.clock = || "2026-11-21T12:00:00Z".parse().unwrap();
        TestScopeCheck {
            _folder: folder,
            scope_check,
        }
    }

    fn refused(scope_check: &ScopeCheck, target: &str) -> Option<String> {
        scope_check
            .check_name(&Address::parse(target).unwrap())
            .err()
            .map(|refusal| refusal.to_string())
    }

    #[test]
    fn empty_scope_allows_only_this_machine() {
        let TestScopeCheck { scope_check, .. } = &scope_check("", |_| {});
        for allowed in [
            "127.0.0.1",
            "127.8.9.1",
            "::1",
            "http://localhost:8080/",
            "a.localhost",
            "[::ffff:127.0.0.1]",
        ] {
            assert_eq!(refused(scope_check, allowed), None, "{allowed}");
        }
        for denied in [
            "192.168.1.10",
            "8.8.8.8",
            "shop.acme.test",
            "2001:db8::1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
        ] {
            assert!(refused(scope_check, denied).is_some(), "{denied}");
        }
    }

    #[test]
    fn refusal_names_the_remedy() {
        let TestScopeCheck { scope_check, .. } =
            &scope_check("", |settings| settings.command_suffix = " --data-dir DIR");
        assert_eq!(
            refused(scope_check, "192.168.1.10").unwrap(),
            "192.168.1.10 is out of scope; `scandeck scope add 192.168.1.10 --data-dir DIR` permits it \
             (allowed: loopback and this host)"
        );
    }

    #[test]
    fn machine_of_a_worker_needs_an_entry() {
        let worker = |settings: &mut ScopeCheckSettings| {
            settings.only_listed = true;
            settings.allow_private = true;
        };
        let TestScopeCheck { scope_check, .. } = &scope_check("", worker);
        for denied in ["127.0.0.1", "::1", "http://localhost:8080/"] {
            let refusal = refused(scope_check, denied).expect(denied);
            assert!(
                refusal.contains("scandeck scope add")
                    && refusal.ends_with("(allowed: private addresses)"),
                "{refusal}"
            );
        }
        let TestScopeCheck { scope_check, .. } =
            &self::scope_check("allow = [{ target = '127.0.0.1' }]", worker);
        assert_eq!(refused(scope_check, "127.0.0.1"), None);
        assert!(refused(scope_check, "127.0.0.2").is_some());
    }

    #[test]
    fn refusal_contains_no_path() {
        let TestScopeCheck {
            scope_check,
            _folder: folder,
        } = &scope_check("allow = [", |_| ());
        let refusal = refused(scope_check, "127.0.0.1").unwrap();
        assert!(
            refusal.contains("scope file") && !refusal.contains(folder.path().to_str().unwrap()),
            "{refusal}"
        );
    }

    #[test]
    fn scope_entries_allow_deny_and_expire() {
        let TestScopeCheck { scope_check, .. } = &scope_check(
            r#"
            allow = [
                { target = "10.0.4.0/24", note = "SOW 114" },
                { target = "*.shop.acme.test", until = "2026-11-21" },
                { target = "old.acme.test", until = "2026-11-20" },
            ]
            deny = [{ target = "10.0.4.9", note = "printer", who = "ana@box" }]
            "#,
            |_| {},
        );
        assert_eq!(refused(scope_check, "10.0.4.7"), None);
        assert_eq!(refused(scope_check, "https://a.shop.acme.test/"), None);
        assert!(
            refused(scope_check, "10.0.5.7")
                .unwrap()
                .contains("allowed: loopback and this host, 10.0.4.0/24")
        );
        assert!(
            refused(scope_check, "old.acme.test")
                .unwrap()
                .contains("until 2026-11-20")
        );
        let denied = refused(scope_check, "10.0.4.9").unwrap();
        assert!(
            denied.contains("10.0.4.9, printer, ana@box")
                && denied.contains("scope remove 10.0.4.9"),
            "{denied}"
        );
    }

    #[test]
    fn denial_overrides_loopback_and_an_allowed_name_that_resolves_to_it() {
        let TestScopeCheck { scope_check, .. } = &scope_check(
            "allow = [{ target = 'a.test' }]\ndeny = [{ target = '127.0.0.5' }]",
            |_| {},
        );
        assert!(refused(scope_check, "127.0.0.5").is_some());
        assert!(
            scope_check
                .check_ip("a.test", "127.0.0.5".parse().unwrap())
                .is_err()
        );
        assert!(
            scope_check
                .check_ip("a.test", "192.0.2.1".parse().unwrap())
                .is_ok()
        );
        assert!(
            scope_check
                .check_ip("b.test", "192.0.2.1".parse().unwrap())
                .is_err()
        );
        let TestScopeCheck { scope_check, .. } =
            &self::scope_check("deny = [{ target = '*.a.test' }]", |_| {});
        assert!(
            refused(scope_check, "x.a.test")
                .unwrap()
                .contains("`scandeck scope remove *.a.test`")
        );
    }

    #[test]
    fn entry_of_a_name_covers_public_addresses_only() {
        let scope =
            "allow = [{ target = 'a.test' }, { target = '*.b.test' }, { target = '10.0.4.0/24' }]";
        let TestScopeCheck { scope_check, .. } = &scope_check(scope, |_| {});
        let check = |scope_check: &ScopeCheck, host: &str, ip: &str| {
            scope_check.check_ip(host, ip.parse().unwrap())
        };
        for ip in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.0.1",
            "169.254.1.1",
            "100.64.0.1",
            "::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "::ffff:10.1.2.3",
            "64:ff9b::a01:203",
            "198.18.0.1",
            "240.0.0.1",
        ] {
            for host in ["a.test", "x.b.test"] {
                let refusal = check(scope_check, host, ip).expect_err(ip).to_string();
                assert!(
                    refusal.contains("does not cover") && refusal.contains("scope add"),
                    "{refusal}"
                );
            }
        }
        let refusal = check(scope_check, "a.test", "10.1.2.3")
            .unwrap_err()
            .to_string();
        assert!(
            refusal.contains("`scandeck scope add 10.1.2.3` permits it"),
            "{refusal}"
        );
        for (host, ip) in [
            ("a.test", "192.0.2.1"),
            ("a.test", "10.0.4.7"),
            ("a.test", "2001:db8::1"),
            ("localhost", "::1"),
        ] {
            assert_eq!(check(scope_check, host, ip), Ok(()), "{host} {ip}");
        }
        let TestScopeCheck { scope_check, .. } =
            &self::scope_check(scope, |settings| settings.allow_private = true);
        for ip in ["127.0.0.1", "10.1.2.3", "169.254.1.1", "fe80::1", "fd12::1"] {
            assert_eq!(check(scope_check, "a.test", ip), Ok(()), "{ip}");
        }
        assert!(check(scope_check, "a.test", "169.254.169.254").is_err());
    }

    #[test]
    fn metadata_address_needs_its_own_entry() {
        let TestScopeCheck { scope_check, .. } = &scope_check(
            "allow = [{ target = '169.254.0.0/16' }, { target = 'a.test' }]",
            |_| {},
        );
        assert_eq!(refused(scope_check, "169.254.1.1"), None);
        for ip in [
            "169.254.169.254",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
        ] {
            assert!(
                scope_check.check_ip("a.test", ip.parse().unwrap()).is_err(),
                "{ip}"
            );
        }
        let TestScopeCheck { scope_check, .. } =
            &self::scope_check("allow = [{ target = '169.254.169.254' }]", |_| {});
        assert_eq!(refused(scope_check, "http://169.254.169.254/"), None);
    }

    #[test]
    fn flags_allow_private_addresses_and_single_targets() {
        let TestScopeCheck { scope_check, .. } = &scope_check("", |settings| {
            settings.allow_private = true;
            settings.allow_targets = vec!["shop.acme.test".parse().unwrap()];
        });
        for allowed in [
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "fd12::1",
            "shop.acme.test",
        ] {
            assert_eq!(refused(scope_check, allowed), None, "{allowed}");
        }
        assert!(
            refused(scope_check, "172.32.0.1").is_some()
                && refused(scope_check, "fd00:ec2::254").is_some()
        );
    }

    #[test]
    fn changed_scope_file_applies_and_invalid_file_allows_no_target() {
        let TestScopeCheck { scope_check, .. } = &scope_check("", |_| {});
        assert!(refused(scope_check, "192.0.2.1").is_some());
        fs::write(
            scope_check.file.path(),
            "allow = [{ target = '192.0.2.1' }]",
        )
        .unwrap();
        assert_eq!(refused(scope_check, "192.0.2.1"), None);
        fs::write(scope_check.file.path(), "allow = [{ target = ").unwrap();
        assert!(
            refused(scope_check, "127.0.0.1")
                .unwrap()
                .contains("the scope file is fixed")
        );
        fs::remove_file(scope_check.file.path()).unwrap();
        assert_eq!(refused(scope_check, "127.0.0.1"), None);
    }
}
