//! The address of a client behind a reverse proxy.
//!
//! Anyone can send `X-Forwarded-For`. Only a proxy that is configured by its network is believed,
//! and of its list only the part that such proxies added: the last address that is not one of them.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use ipnet::IpNet;

/// Networks of reverse proxies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    pub fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    pub fn contains(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        self.0.iter().any(|network| network.contains(&ip))
    }

    /// The client of a request that came from `peer`.
    pub fn client(&self, peer: SocketAddr, headers: &HeaderMap) -> SocketAddr {
        let lines = headers
            .get_all("x-forwarded-for")
            .iter()
            .filter_map(|line| line.to_str().ok());
        self.forwarded(peer, &lines.collect::<Vec<_>>().join(","))
    }

    /// The client of a request that came from `peer` with these values of `X-Forwarded-For`,
    /// separated by commas. The port of a forwarded client is unknown, and 0 here.
    pub fn forwarded(&self, peer: SocketAddr, lines: &str) -> SocketAddr {
        if !self.contains(peer.ip()) {
            return peer;
        }
        let mut client = peer;
        for part in lines.rsplit(',') {
            let Some(ip) = forwarded_ip(part.trim()) else {
                break;
            };
            client = SocketAddr::new(ip, 0);
            if !self.contains(ip) {
                break;
            }
        }
        client
    }
}

/// `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`.
fn forwarded_ip(text: &str) -> Option<IpAddr> {
    let address = text.parse::<SocketAddr>().map(|address| address.ip());
    address.ok().or_else(|| {
        text.trim_start_matches('[')
            .trim_end_matches(']')
            .parse()
            .ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwarded_address_is_used_from_trusted_proxies_only() {
        let proxies = TrustedProxies::new(vec!["10.0.0.0/8".parse().unwrap()]);
        let client = |peer: &str, lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("x-forwarded-for", line.parse().unwrap());
            }
            proxies
                .client(format!("{peer}:9").parse().unwrap(), &headers)
                .to_string()
        };
        for (peer, lines, expected) in [
            ("192.0.2.9", &["198.51.100.1"][..], "192.0.2.9:9"),
            ("10.0.0.1", &["198.51.100.1"], "198.51.100.1:0"),
            // The client itself sent the first address.
            (
                "10.0.0.1",
                &["127.0.0.1, 198.51.100.1, 10.0.0.2"],
                "198.51.100.1:0",
            ),
            (
                "10.0.0.1",
                &["127.0.0.1", "[2001:db8::1]:80"],
                "[2001:db8::1]:0",
            ),
            ("10.0.0.1", &["127.0.0.1, unknown"], "10.0.0.1:9"),
            ("10.0.0.1", &[], "10.0.0.1:9"),
            ("[::ffff:10.0.0.1]", &["198.51.100.1:77"], "198.51.100.1:0"),
        ] {
            assert_eq!(client(peer, lines), expected, "{peer} {lines:?}");
        }
    }
}
