//! Name resolution, which tests replace.
//!
//! A name can resolve to another address at any time. Callers therefore check every address, and connect to the addresses
//! that they have checked.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::net::lookup_host;
use tokio::time::timeout;

const TIMEOUT: Duration = Duration::from_secs(5);

/// Finds the addresses of names.
pub trait Resolver: Send + Sync + 'static {
    /// The addresses of a name; the error is a message for the user.
    fn lookup(&self, name: String) -> BoxFuture<'static, Result<Vec<IpAddr>, String>>;
}

/// The resolver of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn lookup(&self, name: String) -> BoxFuture<'static, Result<Vec<IpAddr>, String>> {
        Box::pin(async move {
            match timeout(TIMEOUT, lookup_host((name.as_str(), 0))).await {
                Ok(Ok(found)) => Ok(found.map(|address| address.ip()).collect()),
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err(format!("no response within {} s", TIMEOUT.as_secs())),
            }
        })
    }
}

/// All addresses of a host, IPv4 first, in the same order every time. `localhost` is always loopback (RFC 6761 §6.3).
pub async fn addresses(resolver: &dyn Resolver, host: &str) -> Result<Vec<IpAddr>, String> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Ok(vec![ip]);
    }
    if bare == "localhost" || bare.ends_with(".localhost") {
        return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    let mut all = resolver.lookup(bare.to_owned()).await.map_err(|why| format!("{host} does not resolve: {why}"))?;
    // Scans of one host share its rate limit, which belongs to the first address.
    all.sort_by_key(|ip| (ip.is_ipv6(), *ip));
    all.dedup();
    match all.is_empty() {
        true => Err(format!("{host} does not resolve: it has no address")),
        false => Ok(all),
    }
}
