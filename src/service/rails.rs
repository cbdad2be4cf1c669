//! The rails: what this service agrees to scan.
//!
//! ```text
//!   POST /targets ──► check_name(address) ─┐
//!   scan start, each redirect:             ├─► Ok, or a Refusal that ends with the remedy
//!     resolve ──► check_ip(host, ip) ──────┘
//! ```
//!
//! Loopback and this host are open; `allow_private` opens RFC 1918 and ULA; everything else needs an entry of the
//! scope file ([`scope`](super::scope)), which is read live. A denial wins over all of them. A cloud's metadata
//! address needs an entry of its own, a range does not open it. A scope file that cannot be read closes everything.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use ipnet::IpNet;
use jiff::Timestamp;
use jiff::tz::TimeZone;

mod refusal;

use super::address::Address;
use super::scope::{Pattern, ScanScope, ScopeFile};
pub use refusal::Refusal;
use refusal::RefusalReason;

/// Where clouds answer any program on a machine with that machine's credentials.
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

/// What the rails are made from.
#[derive(Clone, Debug, Default)]
pub struct RailsSettings {
    /// The scope file; it need not exist.
    pub scope_file: PathBuf,
    /// Opens RFC 1918 and unique local addresses (`--allow-private`).
    pub allow_private: bool,
    /// Opened for the life of this process (`--allow-target`).
    pub allow_targets: Vec<Pattern>,
    /// Appended to the command of a remedy, such as ` --data-dir /srv/scandeck`; empty for the default folder.
    pub command_suffix: String,
}

/// Decides what may be scanned.
pub struct Rails {
    settings: RailsSettings,
    file: ScopeFile,
    own_name: Option<String>,
    cached: Mutex<Option<CachedScope>>,
    clock: fn() -> Timestamp,
}

/// The scope as last read, with what tells that the file has changed since.
struct CachedScope {
    stamp: Option<(SystemTime, u64, u64)>,
    scope: Result<Arc<ScanScope>, String>,
}

impl Rails {
    /// Rails that read the scope file at each check, when it has changed.
    pub fn new(settings: RailsSettings) -> Self {
        let file = ScopeFile::new(&settings.scope_file);
        Self { settings, file, own_name: own_name(), cached: Mutex::new(None), clock: Timestamp::now }
    }

    /// Whether a target may be made or scanned, as far as its name tells.
    ///
    /// # Errors
    /// The refusal, whose text is for the user.
    pub fn check_name(&self, address: &Address) -> Result<(), Refusal> {
        match address.ip() {
            Some(ip) => self.check_ip(&address.host(), ip),
            None => self.decide(&address.host(), None),
        }
    }

    /// Whether `ip`, to which `host` was resolved, may be connected to.
    ///
    /// # Errors
    /// The refusal, whose text is for the user.
    pub fn check_ip(&self, host: &str, ip: IpAddr) -> Result<(), Refusal> {
        self.decide(host, Some(unmapped(ip)))
    }

    fn decide(&self, host: &str, ip: Option<IpAddr>) -> Result<(), Refusal> {
        let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase();
        let scope = self.scope().map_err(|error| self.refusal(&host, ip, RefusalReason::ScopeFile(error)))?;
        match self.reason_against(&scope, &host, ip) {
            None => Ok(()),
            Some(reason) => Err(self.refusal(&host, ip, reason)),
        }
    }

    fn reason_against(&self, scope: &ScanScope, host: &str, ip: Option<IpAddr>) -> Option<RefusalReason> {
        let covers = |pattern: &Pattern| pattern.covers_name(host) || ip.is_some_and(|ip| pattern.covers_ip(ip));
        if let Some(entry) = scope.deny.iter().find(|entry| covers(&entry.target)) {
            return Some(RefusalReason::Denied(Box::new(entry.clone())));
        }
        if let Some(ip) = ip {
            if ip.is_unspecified() || ip.is_multicast() || ip == IpAddr::V4(Ipv4Addr::BROADCAST) {
                return Some(RefusalReason::NoHost);
            }
            if METADATA.contains(&ip) {
                let alone = Pattern::Net(IpNet::from(ip));
                return match self.opened(scope, |pattern| *pattern == alone) {
                    Ok(()) => None,
                    Err(_) => Some(RefusalReason::Metadata),
                };
            }
        }
        if self.is_open(host, ip) {
            return None;
        }
        self.opened(scope, covers).err()
    }

    /// Open without any entry.
    fn is_open(&self, host: &str, ip: Option<IpAddr>) -> bool {
        match ip {
            Some(ip) => (self.settings.allow_private && is_private(ip)) || is_this_host(ip),
            None => host == "localhost" || host.ends_with(".localhost") || self.own_name.as_deref() == Some(host),
        }
    }

    fn opened(&self, scope: &ScanScope, covers: impl Fn(&Pattern) -> bool) -> Result<(), RefusalReason> {
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
        let stamp =
            fs::metadata(self.file.path()).ok().and_then(|meta| Some((meta.modified().ok()?, meta.len(), meta.ino())));
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cached.as_ref().filter(|known| known.stamp == stamp) {
            return known.scope.clone();
        }
        let scope = self.file.load().map(Arc::new).map_err(|error| error.to_string());
        *cached = Some(CachedScope { stamp, scope: scope.clone() });
        scope
    }

    fn refusal(&self, host: &str, ip: Option<IpAddr>, reason: RefusalReason) -> Refusal {
        let subject = match ip {
            Some(ip) if ip.to_string() != host => format!("{host} ({ip})"),
            _ => host.to_owned(),
        };
        // An entry for the name covers its addresses, but never a metadata address.
        let entry = match (&reason, ip) {
            (RefusalReason::Denied(entry), _) => entry.target.to_string(),
            (RefusalReason::Metadata, Some(ip)) => ip.to_string(),
            _ => host.to_owned(),
        };
        let suffix = &self.settings.command_suffix;
        let remedy = match &reason {
            RefusalReason::Denied(_) => format!("To take the denial back: `scandeck scope remove {entry}{suffix}`"),
            RefusalReason::ScopeFile(_) => {
                format!("Nothing is scanned until {} is put right", self.file.path().display())
            }
            RefusalReason::NoHost => "Give the address of one host".to_owned(),
            _ => format!("To add it: `scandeck scope add {entry}{suffix}`"),
        };
        Refusal { subject, reason, allowed: self.allowed(), remedy }
    }

    fn allowed(&self) -> String {
        let mut all = vec!["loopback".to_owned()];
        if self.settings.allow_private {
            all.push("private addresses".to_owned());
        }
        let scope = self.scope().unwrap_or_default();
        let today = (self.clock)().to_zoned(TimeZone::UTC).date();
        let listed = scope.allow.iter().filter(|entry| entry.until.is_none_or(|until| until >= today));
        let patterns = self.settings.allow_targets.iter().chain(listed.map(|entry| &entry.target));
        let patterns: Vec<String> = patterns.map(Pattern::to_string).collect();
        all.extend(patterns.iter().take(3).cloned());
        if patterns.len() > 3 {
            all.push(format!("{} more", patterns.len() - 3));
        }
        all.join(", ")
    }
}

/// IPv4 inside IPv6 (mapped, or through NAT64) is judged as the IPv4 address it reaches.
fn unmapped(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = ip else { return ip };
    if let Some(v4) = v6.to_ipv4_mapped() {
        return IpAddr::V4(v4);
    }
    match v6.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let [a, b] = high.to_be_bytes();
            let [c, d] = low.to_be_bytes();
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        }
        _ => ip,
    }
}

fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_private(),
        IpAddr::V6(ip) => ip.is_unique_local(),
    }
}

/// Whether connecting there meets this machine: loopback, or an address the kernel would reach from itself.
pub fn is_this_host(ip: IpAddr) -> bool {
    let any: SocketAddr = match ip {
        _ if ip.is_loopback() => return true,
        IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    // Connecting a datagram socket sends nothing; it only asks for the route.
    let local = || -> std::io::Result<SocketAddr> {
        let socket = UdpSocket::bind(any)?;
        socket.connect((ip, 9))?;
        socket.local_addr()
    };
    local().is_ok_and(|local| local.ip() == ip)
}

fn own_name() -> Option<String> {
    ["/proc/sys/kernel/hostname", "/etc/hostname"]
        .iter()
        .find_map(|path| fs::read_to_string(path).ok())
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        _folder: tempfile::TempDir,
        rails: Rails,
    }

    fn rails(scope: &str, change: impl FnOnce(&mut RailsSettings)) -> World {
        let folder = tempfile::tempdir().unwrap();
        let scope_file = folder.path().join("scope.toml");
        if !scope.is_empty() {
            fs::write(&scope_file, scope).unwrap();
        }
        let mut settings = RailsSettings { scope_file, ..RailsSettings::default() };
        change(&mut settings);
        let mut rails = Rails::new(settings);
        rails.clock = || "2026-11-21T12:00:00Z".parse().unwrap();
        World { _folder: folder, rails }
    }

    fn refused(rails: &Rails, target: &str) -> Option<String> {
        rails.check_name(&Address::parse(target).unwrap()).err().map(|refusal| refusal.to_string())
    }

    #[test]
    fn without_a_scope_only_this_machine_is_open() {
        let World { rails, .. } = &rails("", |_| {});
        for open in ["127.0.0.1", "127.8.9.1", "::1", "http://localhost:8080/", "a.localhost", "[::ffff:127.0.0.1]"] {
            assert_eq!(refused(rails, open), None, "{open}");
        }
        for shut in
            ["192.168.1.10", "8.8.8.8", "shop.acme.test", "2001:db8::1", "0.0.0.0", "255.255.255.255", "224.0.0.1"]
        {
            assert!(refused(rails, shut).is_some(), "{shut}");
        }
    }

    #[test]
    fn a_refusal_ends_with_the_remedy() {
        let World { rails, .. } = &rails("", |settings| settings.command_suffix = " --data-dir /srv/sd".into());
        assert_eq!(
            refused(rails, "192.168.1.10").unwrap(),
            "192.168.1.10 is not in scope; allowed here: loopback. To add it: `scandeck scope add 192.168.1.10 \
             --data-dir /srv/sd`; scan only what you may"
        );
    }

    #[test]
    fn the_scope_opens_denies_and_expires() {
        let World { rails, .. } = &rails(
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
        assert_eq!(refused(rails, "10.0.4.7"), None);
        assert_eq!(refused(rails, "https://a.shop.acme.test/"), None);
        assert!(refused(rails, "10.0.5.7").unwrap().contains("allowed here: loopback, 10.0.4.0/24"));
        assert!(refused(rails, "old.acme.test").unwrap().contains("until 2026-11-20"));
        let denied = refused(rails, "10.0.4.9").unwrap();
        assert!(denied.contains("10.0.4.9, printer, ana@box") && denied.contains("scope remove 10.0.4.9"), "{denied}");
    }

    #[test]
    fn a_denial_wins_over_loopback_and_over_a_listed_name_that_resolves_into_it() {
        let World { rails, .. } = &rails("allow = [{ target = 'a.test' }]\ndeny = [{ target = '127.0.0.5' }]", |_| {});
        assert!(refused(rails, "127.0.0.5").is_some());
        assert!(rails.check_ip("a.test", "127.0.0.5".parse().unwrap()).is_err());
        assert!(rails.check_ip("a.test", "192.0.2.1".parse().unwrap()).is_ok());
        assert!(rails.check_ip("b.test", "192.0.2.1".parse().unwrap()).is_err());
        let World { rails, .. } = &self::rails("deny = [{ target = '*.a.test' }]", |_| {});
        assert!(refused(rails, "x.a.test").unwrap().contains("`scandeck scope remove *.a.test`"));
    }

    #[test]
    fn metadata_needs_an_entry_of_its_own() {
        let World { rails, .. } = &rails("allow = [{ target = '169.254.0.0/16' }, { target = 'a.test' }]", |_| {});
        assert_eq!(refused(rails, "169.254.1.1"), None);
        for ip in ["169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe"] {
            assert!(rails.check_ip("a.test", ip.parse().unwrap()).is_err(), "{ip}");
        }
        let World { rails, .. } = &self::rails("allow = [{ target = '169.254.169.254' }]", |_| {});
        assert_eq!(refused(rails, "http://169.254.169.254/"), None);
    }

    #[test]
    fn flags_open_private_addresses_and_single_targets() {
        let World { rails, .. } = &rails("", |settings| {
            settings.allow_private = true;
            settings.allow_targets = vec!["shop.acme.test".parse().unwrap()];
        });
        for open in ["10.1.2.3", "172.16.0.1", "192.168.1.1", "fd12::1", "shop.acme.test"] {
            assert_eq!(refused(rails, open), None, "{open}");
        }
        assert!(refused(rails, "172.32.0.1").is_some() && refused(rails, "fd00:ec2::254").is_some());
    }

    #[test]
    fn the_file_is_read_live_and_a_broken_one_closes_everything() {
        let World { rails, .. } = &rails("", |_| {});
        assert!(refused(rails, "192.0.2.1").is_some());
        fs::write(rails.file.path(), "allow = [{ target = '192.0.2.1' }]").unwrap();
        assert_eq!(refused(rails, "192.0.2.1"), None);
        fs::write(rails.file.path(), "allow = [{ target = ").unwrap();
        assert!(refused(rails, "127.0.0.1").unwrap().contains("scope.toml is put right"));
        fs::remove_file(rails.file.path()).unwrap();
        assert_eq!(refused(rails, "127.0.0.1"), None);
    }
}
