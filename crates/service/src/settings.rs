//! Settings of a service: addresses, directories, limits. Callers validate them.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;
use rustls::pki_types::CertificateDer;
use url::Url;

use crate::engine::ScanLimits;
use crate::guards::quotas::KeyQuotas;
use crate::net::connections::ConnectionLimits;
use crate::net::tls::TlsFiles;
use crate::store::DatabaseAddress;
use crate::store::nodes::LEASE;
use scandeck_report::ReportTemplate;
use scandeck_wire::contract::{WorkspaceId, named_enum};

named_enum! {
    /// A part of the service that a node provides.
    NodeRole {
        /// The API.
        Api "api",
        /// Records the requests to HTTP loggers.
        Logger "logger",
        /// Scans, and starts schedules, reports, imports and callbacks.
        Worker "worker",
    }
}

/// Settings of one service.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Contains the database unless another one is named, the key, the scope file, `service.json` and the lock.
    pub data_dir: PathBuf,
    /// The PostgreSQL database; without it the database is a file of the data directory.
    pub database: Option<DatabaseAddress>,
    /// What this node provides; other nodes of the database provide the rest.
    pub roles: BTreeSet<NodeRole>,
    /// How long the claims of this node last without a beat.
    pub lease: Duration,
    /// Address of the API; port 0 selects a free port.
    pub listen: SocketAddr,
    /// Address of the loggers; port 0 selects a free port.
    pub logger_listen: SocketAddr,
    /// Address of the metrics; there are none without.
    pub metrics_listen: Option<SocketAddr>,
    /// Size of the audit log at which a new file begins, in bytes.
    pub audit_bytes: u64,
    /// Prefers the ports of the last service, and uses free ports when they are in use.
    pub any_port: bool,
    /// Certificate and key of the API listener; it speaks plain HTTP without.
    pub tls: Option<TlsFiles>,
    /// Certificate and key of the logger listener.
    pub logger_tls: Option<TlsFiles>,
    /// Networks of reverse proxies, whose `X-Forwarded-For` is used. Without TLS only they and this
    /// machine may connect.
    pub behind_proxy: Vec<IpNet>,
    /// Whether other machines may use the API over plain HTTP.
    pub insecure_http: bool,
    /// Names that clients may use in the Host header besides addresses and `localhost`.
    pub allow_hosts: Vec<String>,
    /// Networks that callbacks may reach although they are not public.
    pub allow_callbacks: Vec<IpNet>,
    /// Public base of `handler_url` when the loggers are behind a proxy or tunnel.
    pub logger_url: Option<Url>,
    /// The file with the API key; by default `key` in the data directory. Created (0600) when
    /// missing.
    pub api_key_file: Option<PathBuf>,
    /// The file with the key that encrypts the credentials of scans; by default `secrets.key` in
    /// the data directory. Nodes that share a database share it. Created (0600) when missing.
    pub secrets_key_file: Option<PathBuf>,
    /// Names and networks in scope in addition to the scope file.
    pub allow_targets: Vec<String>,
    /// Whether RFC 1918 and unique local addresses are in scope.
    pub allow_private: bool,
    /// Whether active tools, which send attacks, may run against targets whose scope entry has
    /// `active`.
    pub allow_active: bool,
    pub rate_limit: RateLimit,
    /// Largest number of targets; further ones are refused with 403.
    pub max_targets: usize,
    /// Concurrent scans; further ones wait.
    pub scans_at_once: usize,
    /// Limits of the results of each scan.
    pub scan_limits: ScanLimits,
    /// The name server of scans; the resolver of the system by default.
    pub dns_server: Option<SocketAddr>,
    /// Limits of the connections of each listener.
    pub connections: ConnectionLimits,
    /// Requests with a wrong key from one address in a minute; further ones receive 429.
    pub wrong_keys: u32,
    /// Loggers and reports that a key may create.
    pub key_quotas: KeyQuotas,
    /// Largest number of loggers; a key with the role `triage` may use half of them. Further ones
    /// are refused with 403.
    pub max_loggers: usize,
    /// Bytes of all reports; the oldest expire first.
    pub report_bytes: i64,
    /// The texts of the reports that the service makes; callbacks have its options too.
    pub report_template: ReportTemplate,
    /// Bytes that one logger records, with headers and bodies, before it responds with 410.
    pub logger_bytes: i64,
    /// Requests that one logger records before it responds with 410.
    pub logger_quota: i64,
    /// Days that one logger records before it responds with 410.
    pub logger_days: i64,
    /// Past months whose captures are kept, besides the current month; `None` keeps all.
    pub capture_months: Option<u16>,
    /// Selects the current workspace.
    pub current_workspace: Option<WorkspaceId>,
    /// Stops the service after this time without a scan, a recording logger or a client.
    pub idle_exit: Option<Duration>,
    /// Certificates that the TLS checks trust in addition to those of the system.
    pub trust_anchors: Vec<CertificateDer<'static>>,
}

impl Settings {
    /// The defaults of `scandeck serve`.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            database: None,
            roles: NodeRole::ALL.into(),
            lease: LEASE,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8765)),
            logger_listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8766)),
            metrics_listen: None,
            audit_bytes: 10 * 1024 * 1024,
            any_port: false,
            tls: None,
            logger_tls: None,
            behind_proxy: Vec::new(),
            insecure_http: false,
            allow_hosts: Vec::new(),
            allow_callbacks: Vec::new(),
            logger_url: None,
            api_key_file: None,
            secrets_key_file: None,
            allow_targets: Vec::new(),
            allow_private: false,
            allow_active: false,
            rate_limit: RateLimit::PerMinute(3000),
            max_targets: 10_000,
            scans_at_once: 4,
            scan_limits: ScanLimits::default(),
            dns_server: None,
            connections: ConnectionLimits::default(),
            wrong_keys: 60,
            key_quotas: KeyQuotas::default(),
            max_loggers: 1000,
            report_bytes: 1024 * 1024 * 1024,
            report_template: ReportTemplate::default(),
            logger_bytes: 64 * 1024 * 1024,
            logger_quota: 10_000,
            logger_days: 30,
            capture_months: None,
            current_workspace: None,
            idle_exit: None,
            trust_anchors: Vec::new(),
        }
    }

    /// Uses free ports of 127.0.0.1 for both listeners.
    pub fn with_free_ports(mut self) -> Self {
        self.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        self.logger_listen = self.listen;
        self
    }
}

/// Requests per minute: GET has the full limit; POST, PUT and DELETE half of it; scan output a
/// quarter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimit {
    /// No limit, and no rate headers.
    Off,
    /// At least 4, so that every class of requests is possible.
    PerMinute(u32),
}

impl RateLimit {
    /// The limit of the hosted service: 250 GET requests per minute.
    pub const HOSTED: RateLimit = RateLimit::PerMinute(250);
}

impl std::str::FromStr for RateLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "off" => Ok(Self::Off),
            "hosted" => Ok(Self::HOSTED),
            number => match number.parse() {
                Ok(limit @ 4..) => Ok(Self::PerMinute(limit)),
                _ => Err("use `off`, `hosted`, or at least 4 requests per minute".to_owned()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_limit_accepts_three_forms() {
        assert_eq!("off".parse(), Ok(RateLimit::Off));
        assert_eq!("hosted".parse(), Ok(RateLimit::PerMinute(250)));
        assert_eq!("3000".parse(), Ok(RateLimit::PerMinute(3000)));
        assert!("0".parse::<RateLimit>().is_err());
        assert!("many".parse::<RateLimit>().is_err());
    }
}
