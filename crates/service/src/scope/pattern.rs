//! The pattern of a scope entry: a name, the names below one, or a network.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::LazyLock;

use ipnet::IpNet;
use publicsuffix::{List, Psl};
use thiserror::Error;
use url::Host;

use crate::net::address::{check_dns_name, is_address_range};
use scandeck_wire::contract::serde_as_text;

/// Domains of providers with names of many owners below them that are no public suffixes
/// themselves.
const SHARED_DOMAINS: &[&str] = &[
    "amazonaws.com",
    "amazonaws.com.cn",
    "windows.net",
    "core.windows.net",
    "wordpress.com",
];

/// The shortest prefixes of an allowance; a shorter one is a mistake, or a scan of the internet.
const MIN_PREFIX_V4: u8 = 8;
const MIN_PREFIX_V6: u8 = 32;

static PUBLIC_SUFFIXES: LazyLock<List> = LazyLock::new(|| {
    let rules = include_str!("../../assets/engine/public_suffixes.txt");
    rules.parse().unwrap_or_default()
});

/// The targets of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Exactly this DNS name.
    Name(String),
    /// Every name below this one, written `*.name`; not the name itself.
    Below(String),
    /// An address or a range of addresses.
    Net(IpNet),
}

/// Why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{given}` {why}")]
pub struct PatternError {
    given: String,
    why: String,
}

impl Pattern {
    /// Whether it covers this name; address patterns cover no names.
    pub fn covers_name(&self, name: &str) -> bool {
        match self {
            Pattern::Name(exact) => exact == name,
            Pattern::Below(parent) => name
                .strip_suffix(parent.as_str())
                .is_some_and(|rest| rest.ends_with('.')),
            Pattern::Net(_) => false,
        }
    }

    /// Whether it covers this address; name patterns cover no addresses.
    pub fn covers_ip(&self, ip: IpAddr) -> bool {
        matches!(self, Pattern::Net(net) if net.contains(&ip))
    }

    /// Whether it covers all targets of another pattern.
    pub fn covers(&self, other: &Pattern) -> bool {
        match (self, other) {
            (_, Pattern::Name(name)) => self.covers_name(name),
            (Pattern::Below(_), Pattern::Below(name)) => self == other || self.covers_name(name),
            (Pattern::Net(net), Pattern::Net(inner)) => net.contains(inner),
            (Pattern::Name(_) | Pattern::Net(_), _) | (Pattern::Below(_), Pattern::Net(_)) => false,
        }
    }

    /// Checks that the owner of one entry can own all its targets.
    ///
    /// # Errors
    /// When the network is too wide, or the names below the suffix belong to many owners.
    pub fn check_allowance(&self) -> Result<(), PatternError> {
        let why = match self {
            Pattern::Net(net) if is_too_wide(net) => {
                "is too wide: the widest networks are /8 (IPv4) and /32 (IPv6)"
            }
            Pattern::Below(name) if is_shared(name) => {
                "is refused: names below this suffix belong to many owners; add each domain separately"
            }
            _ => return Ok(()),
        };
        Err(PatternError {
            given: self.to_string(),
            why: why.to_owned(),
        })
    }

    /// Parses the pattern of an allowance.
    ///
    /// # Errors
    /// When the text is no pattern, or [`Pattern::check_allowance`] refuses it.
    pub fn allowance(text: &str) -> Result<Self, PatternError> {
        let pattern: Self = text.parse()?;
        // The error shows the network as typed: 10.0.0.0/4 is stored as 0.0.0.0/4.
        pattern.check_allowance().map_err(|error| PatternError {
            given: text.trim().to_owned(),
            ..error
        })?;
        Ok(pattern)
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    /// An address, a CIDR range, a name, or `*.` and a name with at least two labels.
    fn from_str(text: &str) -> Result<Self, PatternError> {
        let text = text.trim();
        let fail = |why: &str| {
            Err(PatternError {
                given: text.to_owned(),
                why: format!("is not a scope entry: {why}"),
            })
        };
        if let Ok(ip) = text
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse::<IpAddr>()
        {
            return Ok(Pattern::Net(ip.into()));
        }
        if text.contains("://") {
            return fail("use the host only, without http:// and path");
        }
        if text.contains('/') {
            return match text.parse::<IpNet>() {
                Ok(net) => Ok(Pattern::Net(net.trunc())),
                Err(_) => fail("a network has the form 10.0.4.0/24"),
            };
        }
        if is_address_range(text) {
            return fail("address ranges are not supported; use a network such as 10.0.4.0/28");
        }
        if has_port(text) {
            return fail("use the host only, without a port");
        }
        let (below, name) = match text.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, text),
        };
        let Some(Host::Domain(name)) = Host::parse(name).ok().filter(|_| !name.contains('*'))
        else {
            return fail("use a name, *.name, an address or a network such as 10.0.4.0/24");
        };
        let name = name.strip_suffix('.').unwrap_or(&name).to_owned();
        if let Err(why) = check_dns_name(&name) {
            return fail(why);
        }
        Ok(if below {
            Pattern::Below(name)
        } else {
            Pattern::Name(name)
        })
    }
}

/// Whether the text is a host with a port: `shop.acme.test:443` or `[::1]:443`.
fn has_port(text: &str) -> bool {
    let port = text
        .rsplit_once(':')
        .filter(|(host, _)| host.ends_with(']') || !host.contains(':'));
    port.is_some_and(|(host, port)| {
        !host.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_too_wide(net: &IpNet) -> bool {
    net.prefix_len()
        < if net.addr().is_ipv4() {
            MIN_PREFIX_V4
        } else {
            MIN_PREFIX_V6
        }
}

/// Whether the names below this one belong to many owners: a public suffix (publicsuffix.org), or
/// the parent of one.
fn is_shared(name: &str) -> bool {
    let is_suffix = |name: &str| {
        let suffix = PUBLIC_SUFFIXES.suffix(name.as_bytes());
        suffix.is_some_and(|suffix| suffix == name)
    };
    // Rules such as `*.compute.amazonaws.com` make every name below a suffix.
    is_suffix(name) || is_suffix(&format!("any.{name}")) || SHARED_DOMAINS.contains(&name)
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Name(name) => f.write_str(name),
            Pattern::Below(name) => write!(f, "*.{name}"),
            Pattern::Net(net) if net.prefix_len() == net.max_prefix_len() => net.addr().fmt(f),
            Pattern::Net(net) => net.fmt(f),
        }
    }
}

serde_as_text!(Pattern);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_covers_narrower_patterns() {
        let covers = |outer: &str, inner: &str| {
            outer
                .parse::<Pattern>()
                .unwrap()
                .covers(&inner.parse().unwrap())
        };
        for (outer, inner) in [
            ("a.test", "a.test"),
            ("*.a.test", "b.a.test"),
            ("*.a.test", "*.b.a.test"),
            ("10.0.4.0/24", "10.0.4.9"),
        ] {
            assert!(covers(outer, inner), "{outer} {inner}");
        }
        for (outer, inner) in [
            ("*.a.test", "a.test"),
            ("a.test", "*.a.test"),
            ("10.0.4.9", "10.0.4.0/24"),
        ] {
            assert!(!covers(outer, inner), "{outer} {inner}");
        }
    }

    #[test]
    fn pattern_accepts_names_wildcards_and_ranges() {
        for (given, expected) in [
            ("Shop.Acme.TEST.", "shop.acme.test"),
            ("*.shop.acme.test", "*.shop.acme.test"),
            ("*.acme.test", "*.acme.test"),
            ("10.0.4.7", "10.0.4.7"),
            ("10.0.4.7/24", "10.0.4.0/24"),
            ("[::1]", "::1"),
            ("2001:db8::/32", "2001:db8::/32"),
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("10-5.test", "10-5.test"),
            ("*.example.gov.au", "*.example.gov.au"),
            ("*.shop.s3.amazonaws.com", "*.shop.s3.amazonaws.com"),
        ] {
            assert_eq!(Pattern::allowance(given).unwrap().to_string(), expected);
        }
        for (given, why) in [
            ("*", "use a name"),
            ("*.test", "many owners"),
            ("*.co.uk", "many owners"),
            ("*.github.io", "many owners"),
            ("*.gov.au", "many owners"),
            ("*.s3.amazonaws.com", "many owners"),
            ("*.amazonaws.com", "many owners"),
            ("*.compute.amazonaws.com", "many owners"),
            ("*.blob.core.windows.net", "many owners"),
            ("*.xn--p1ai", "many owners"),
            ("*.ck", "many owners"),
            ("a.*.test", "use a name"),
            ("0.0.0.0/0", "is too wide"),
            ("10.0.0.0/4", "`10.0.0.0/4` is too wide"),
            ("::/0", "is too wide"),
            ("2001::/31", "/32 (IPv6)"),
            (
                "10.0.4.5-10",
                "address ranges are not supported; use a network",
            ),
            ("10.0.4.5-10.0.4.9", "address ranges"),
            ("10.0.4-5.1", "address ranges"),
            ("10.0.4.*", "address ranges"),
            ("10.0.4.1,7", "address ranges"),
            ("shop.acme.test:443", "without a port"),
            ("[::1]:443", "without a port"),
            ("10.0.0.0/33", "10.0.4.0/24"),
            ("http://a.test/", "without http://"),
            ("", "use a name"),
        ] {
            let error = Pattern::allowance(given).expect_err(given).to_string();
            assert!(error.contains(why), "{given}: {error}");
        }
    }

    #[test]
    fn wildcard_below_a_suffix_of_many_owners_is_refused() {
        let all = "co.uk org.uk ac.uk gov.uk me.uk com.au net.au org.au co.nz co.jp ne.jp or.jp co.kr co.in co.za \
                   com.br com.ar com.mx com.cn com.hk com.tw com.sg com.tr com.ua com.pl co.il co.id co.th com.my \
                   com.vn com.ph com.sa com.eg com.ng github.io gitlab.io pages.dev workers.dev vercel.app netlify.app \
                   herokuapp.com azurewebsites.net cloudapp.net cloudfront.net amazonaws.com appspot.com web.app \
                   firebaseapp.com blogspot.com wordpress.com fly.dev onrender.com ngrok.io duckdns.org";
        let accepted: Vec<&str> = all
            .split_whitespace()
            .filter(|suffix| Pattern::allowance(&format!("*.{suffix}")).is_ok())
            .collect();
        assert_eq!(accepted, [""; 0]);
    }

    #[test]
    fn wildcard_covers_only_names_below_it() {
        let below: Pattern = "*.shop.acme.test".parse().unwrap();
        assert!(below.covers_name("a.shop.acme.test") && below.covers_name("a.b.shop.acme.test"));
        assert!(!below.covers_name("shop.acme.test") && !below.covers_name("evilshop.acme.test"));
    }
}
