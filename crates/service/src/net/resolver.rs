//! Name resolution, which tests replace.
//!
//! A name can resolve to another address at any time. Callers therefore check every address, and
//! connect to the addresses that they have checked.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::net::lookup_host;
use tokio::time::timeout;

const TIMEOUT: Duration = Duration::from_secs(5);

/// Why a name has no addresses, with a message for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupError {
    /// The name does not exist, or has no address.
    Missing(String),
    /// No name server gave an answer, so the name may exist.
    Unanswered(String),
}

impl std::fmt::Display for LookupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Missing(why) | Self::Unanswered(why)) = self;
        f.write_str(why)
    }
}

/// Finds the addresses of names.
pub trait Resolver: Send + Sync + 'static {
    /// The addresses of a name.
    fn lookup(&self, name: String) -> BoxFuture<'static, Result<Vec<IpAddr>, LookupError>>;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn lookup(&self, name: String) -> BoxFuture<'static, Result<Vec<IpAddr>, LookupError>> {
        Box::pin(async move {
            match timeout(TIMEOUT, lookup_host((name.as_str(), 0))).await {
                Ok(Ok(found)) => Ok(found.map(|address| address.ip()).collect()),
                Ok(Err(error)) => Err(system_error(error.to_string())),
                Err(_) => Err(LookupError::Unanswered(format!(
                    "no response within {} s",
                    TIMEOUT.as_secs()
                ))),
            }
        })
    }
}

/// The error of the system's resolver, which has no code: glibc, macOS and musl report these texts
/// for EAI_NONAME and EAI_NODATA.
fn system_error(why: String) -> LookupError {
    const MISSING: [&str; 5] = [
        "Name or service not known",
        "No address associated",
        "nodename nor servname provided",
        "Name does not resolve",
        "Name has no usable address",
    ];
    if MISSING.iter().any(|words| why.contains(words)) {
        LookupError::Missing(why)
    } else {
        LookupError::Unanswered(why)
    }
}

/// All addresses of a host, IPv4 first, in the same order every time. `localhost` is always
/// loopback (RFC 6761 §6.3).
pub async fn addresses(resolver: &dyn Resolver, host: &str) -> Result<Vec<IpAddr>, String> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Ok(vec![ip]);
    }
    if bare == "localhost" || bare.ends_with(".localhost") {
        return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    let mut all = resolver
        .lookup(bare.to_owned())
        .await
        .map_err(|why| format!("{host} does not resolve: {why}"))?;
    // Scans of one host share its rate limit, which belongs to the first address.
    all.sort_by_key(|ip| (ip.is_ipv6(), *ip));
    all.dedup();
    match all.is_empty() {
        true => Err(format!("{host} does not resolve: it has no address")),
        false => Ok(all),
    }
}
