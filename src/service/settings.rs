//! What whoever runs the service decides: addresses, directories, limits. Checked where it is read, trusted here.
//!
//! `scandeck serve` fills this from its flags, `scandeck demo` for a world of its own, tests for one request.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use url::Url;

use crate::contract::WorkspaceId;

/// Settings of one service.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Holds the database, the key, the scope file, `service.json` and the lock.
    pub data_dir: PathBuf,
    /// Where the API listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Where the loggers listen; port 0 takes a free one.
    pub logger_listen: SocketAddr,
    /// Prefers the ports of last time, and takes free ones where the wanted ones are busy.
    pub any_port: bool,
    /// Public base of `handler_url` when a proxy or tunnel stands in front of the loggers.
    pub logger_url: Option<Url>,
    /// The file with the API key; `key` in the data directory when absent. Made (0600) when missing.
    pub api_key_file: Option<PathBuf>,
    /// Names and networks that may be scanned besides those of the scope file.
    pub allow_targets: Vec<String>,
    /// Whether RFC 1918 and unique local addresses may be scanned.
    pub allow_private: bool,
    /// How many requests a client may send.
    pub rate_limit: RateLimit,
    /// Targets the service keeps; the next one is refused with 403.
    pub max_targets: usize,
    /// Scans worked on at the same time; the others wait.
    pub scans_at_once: usize,
    /// Requests one logger records before it answers 410.
    pub logger_quota: i64,
    /// Days one logger records before it answers 410.
    pub logger_days: i64,
    /// Changes which workspace is the current one.
    pub current_workspace: Option<WorkspaceId>,
    /// Ends the service after this long with no scan, no live logger and no client.
    pub idle_exit: Option<Duration>,
    /// Certificates that the TLS checks trust besides the public ones.
    pub trust_anchors: Vec<CertificateDer<'static>>,
}

impl Settings {
    /// The defaults of `scandeck serve`, kept in `data_dir`.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8765)),
            logger_listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8766)),
            any_port: false,
            logger_url: None,
            api_key_file: None,
            allow_targets: Vec::new(),
            allow_private: false,
            rate_limit: RateLimit::PerMinute(3000),
            max_targets: 10_000,
            scans_at_once: 4,
            logger_quota: 10_000,
            logger_days: 30,
            current_workspace: None,
            idle_exit: None,
            trust_anchors: Vec::new(),
        }
    }

    /// The same with free ports of 127.0.0.1 for both listeners.
    pub fn with_free_ports(mut self) -> Self {
        self.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        self.logger_listen = self.listen;
        self
    }
}

/// Requests a minute that one key may send: GET as many, POST, PUT and DELETE half, scan output a quarter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimit {
    /// No limit, and no rate headers.
    Off,
    /// At least 4, so that every class of requests has a budget.
    PerMinute(u32),
}

impl RateLimit {
    /// The hosted service's: 250 GET a minute.
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
                _ => Err("write `off`, `hosted`, or a number of requests a minute from 4".to_owned()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_limit_is_read_in_three_forms() {
        assert_eq!("off".parse(), Ok(RateLimit::Off));
        assert_eq!("hosted".parse(), Ok(RateLimit::PerMinute(250)));
        assert_eq!("3000".parse(), Ok(RateLimit::PerMinute(3000)));
        assert!("0".parse::<RateLimit>().is_err());
        assert!("many".parse::<RateLimit>().is_err());
    }
}
