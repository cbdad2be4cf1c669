//! Reachability of a logger URL, judged by its host: a target that cannot reach the URL produces no
//! hits.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

/// The hosts that can reach a logger URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reachability {
    /// A loopback address.
    Machine,
    /// A private or link-local address.
    Network,
    /// Anything else, by its host.
    Anywhere(String),
}

impl Reachability {
    /// The reachability of a URL; `None` if the URL is invalid.
    pub fn of(handler_url: &str) -> Option<Self> {
        let url = Url::parse(handler_url.trim()).ok()?;
        Some(match url.host()? {
            Host::Ipv4(ip) => of_address(ip.into()),
            Host::Ipv6(ip) => of_address(ip.into()),
            Host::Domain(name) if name == "localhost" || name.ends_with(".localhost") => {
                Self::Machine
            }
            Host::Domain(name)
                if [".local", ".internal", ".lan", ".home.arpa"]
                    .iter()
                    .any(|end| name.ends_with(end)) =>
            {
                Self::Network
            }
            Host::Domain(name) => Self::Anywhere(name.to_owned()),
        })
    }
}

fn of_address(ip: IpAddr) -> Reachability {
    let is_local = match ip {
        IpAddr::V4(ip) => ip.is_private() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unique_local() || ip.is_unicast_link_local(),
    };
    match ip {
        IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some() => ip
            .to_ipv4_mapped()
            .map_or(Reachability::Machine, |ip| of_address(ip.into())),
        _ if ip.is_loopback() || ip.is_unspecified() => Reachability::Machine,
        _ if is_local => Reachability::Network,
        _ => Reachability::Anywhere(ip.to_string()),
    }
}

impl fmt::Display for Reachability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine => f.write_str("from this machine only"),
            Self::Network => f.write_str("from this network"),
            Self::Anywhere(host) => write!(f, "from anywhere that reaches {host}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handler_host_determines_reachability() {
        for (url, expected) in [
            ("http://127.0.0.1:8766/l/x/", "from this machine only"),
            ("http://[::1]:1/", "from this machine only"),
            ("http://[::ffff:127.0.0.1]/", "from this machine only"),
            ("http://localhost/l", "from this machine only"),
            ("http://10.2.3.4/l", "from this network"),
            ("http://[fd00::1]/l", "from this network"),
            ("https://collector.lan/l", "from this network"),
            (
                "https://198.51.100.4/l",
                "from anywhere that reaches 198.51.100.4",
            ),
            (
                "https://x.logger.example/",
                "from anywhere that reaches x.logger.example",
            ),
        ] {
            assert_eq!(
                Reachability::of(url).unwrap().to_string(),
                expected,
                "{url}"
            );
        }
        assert_eq!(Reachability::of("no url"), None);
    }
}
