//! Addresses of targets: three forms, each with one canonical spelling.
//!
//! ```text
//!   "HTTP://Shop.Acme.TEST:80"  ─parse─►  url         http://shop.acme.test/
//!   "[::1]"                     ─parse─►  ip_address  ::1
//!   "Bücher.example."           ─parse─►  hostname    xn--bcher-kva.example
//! ```
//!
//! Targets with equal canonical names are the same target. [`scope_check`](crate::scope_check)
//! decides whether it may be scanned.

use std::net::IpAddr;

use thiserror::Error;
use url::{Host, Url};

use scandeck_wire::contract::TargetType;

/// The longest accepted address, in bytes.
pub const MAX_LENGTH: usize = 2048;
/// The longest DNS name, in bytes of its A-label form (RFC 1035 §2.3.4).
const MAX_NAME: usize = 253;

/// A target's address in canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    canonical: String,
    host: Host<String>,
    url: Option<Url>,
}

/// Why a text is not the address of a target; the message includes a valid form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AddressError {
    #[error(
        "a target is a host name (shop.example.com), an IP address (192.0.2.7, ::1) or a URL (https://shop.example.com/)"
    )]
    Empty,
    #[error("the name of a target has at most {MAX_LENGTH} bytes")]
    TooLong,
    #[error("`{given}` has no scheme: use {scheme}://{suggestion}")]
    NeedsScheme {
        given: String,
        scheme: &'static str,
        suggestion: String,
    },
    #[error("`{0}` is {1}: use one address per target")]
    Several(String, &'static str),
    #[error("only http and https URLs are supported, not `{0}:`")]
    Scheme(String),
    #[error(
        "remove user name and password from the URL: pass them to the scan as `authentication`"
    )]
    UserInfo,
    #[error("remove the #fragment from the URL: servers never receive it")]
    Fragment,
    #[error("`{name}` is not a target ({why}): use a host name, an IP address or a URL")]
    Form { name: String, why: String },
}

impl AddressError {
    /// The error for a tool that only uses TLS.
    pub fn over_tls(self) -> Self {
        match self {
            Self::NeedsScheme {
                given, suggestion, ..
            } => Self::NeedsScheme {
                given,
                scheme: "https",
                suggestion,
            },
            other => other,
        }
    }
}

impl Address {
    /// Parses a name, an address or a URL.
    ///
    /// # Errors
    /// Suggests the form that was probably meant.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(AddressError::Empty);
        }
        if text.len() > MAX_LENGTH {
            return Err(AddressError::TooLong);
        }
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(invalid(text, "it contains a space or a control character"));
        }
        match text.split_once("://") {
            Some((scheme, rest)) => parse_url(text, scheme, rest),
            None => parse_host(text),
        }
    }

    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    pub fn kind(&self) -> TargetType {
        match (&self.url, &self.host) {
            (Some(_), _) => TargetType::Url,
            (None, Host::Domain(_)) => TargetType::Hostname,
            (None, _) => TargetType::IpAddress,
        }
    }

    /// The host of the URL, or the name or address itself; IPv6 without brackets.
    pub fn host(&self) -> String {
        match &self.host {
            Host::Domain(name) => name.clone(),
            Host::Ipv4(ip) => ip.to_string(),
            Host::Ipv6(ip) => ip.to_string(),
        }
    }

    /// The IP address, if the host is one.
    pub fn ip(&self) -> Option<IpAddr> {
        match &self.host {
            Host::Domain(_) => None,
            Host::Ipv4(ip) => Some(IpAddr::V4(*ip)),
            Host::Ipv6(ip) => Some(IpAddr::V6(*ip)),
        }
    }

    pub fn url(&self) -> Option<&Url> {
        self.url.as_ref()
    }

    /// The explicit or default port of the URL.
    pub fn port(&self) -> Option<u16> {
        self.url.as_ref().and_then(Url::port_or_known_default)
    }

    /// The URL of the target, or `scheme://host/`.
    pub fn url_with(&self, scheme: &str) -> Option<Url> {
        match &self.url {
            Some(url) => Some(url.clone()),
            None => Url::parse(&format!("{scheme}://{}/", self.host)).ok(),
        }
    }
}

fn parse_url(text: &str, scheme: &str, rest: &str) -> Result<Address, AddressError> {
    let scheme = scheme.to_ascii_lowercase();
    if scheme != "http" && scheme != "https" {
        return Err(AddressError::Scheme(scheme));
    }
    if rest.is_empty() || rest.starts_with(['/', '\\', '?', '#']) {
        return Err(invalid(text, "the host is missing"));
    }
    let mut url = Url::parse(text).map_err(|error| invalid(text, &error.to_string()))?;
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(AddressError::UserInfo);
    }
    if url.fragment().is_some() {
        return Err(AddressError::Fragment);
    }
    if url.port() == Some(0) {
        return Err(invalid(text, "port 0 is not a port"));
    }
    let host = checked_host(text, url.host().map(|host| host.to_owned()))?;
    url.set_host(Some(&host.to_string()))
        .map_err(|error| invalid(text, &error.to_string()))?;
    Ok(Address {
        canonical: url.to_string(),
        host,
        url: Some(url),
    })
}

fn parse_host(text: &str) -> Result<Address, AddressError> {
    if let Ok(ip) = text
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<IpAddr>()
        && (text.starts_with('[') == text.ends_with(']'))
        && (ip.is_ipv6() || !text.starts_with('['))
    {
        let host = match ip {
            IpAddr::V4(ip) => Host::Ipv4(ip),
            IpAddr::V6(ip) => Host::Ipv6(ip),
        };
        return Ok(Address {
            canonical: ip.to_string(),
            host,
            url: None,
        });
    }
    let is_network =
        |(ip, bits): (&str, &str)| ip.parse::<IpAddr>().is_ok() && bits.parse::<u8>().is_ok();
    if text.split_once('/').is_some_and(is_network) {
        return Err(AddressError::Several(text.to_owned(), "a network"));
    }
    if is_address_range(text) {
        return Err(AddressError::Several(text.to_owned(), "an address range"));
    }
    if let Some(suggestion) = missing_scheme(text) {
        return Err(AddressError::NeedsScheme {
            given: text.to_owned(),
            scheme: "http",
            suggestion,
        });
    }
    let host = checked_host(text, Host::parse(text).ok())?;
    match &host {
        Host::Domain(name) => Ok(Address {
            canonical: name.clone(),
            host,
            url: None,
        }),
        // "127.1" or "0x7f000001": some programs accept them, but most users mistyped them.
        _ => Err(invalid(text, "an IPv4 address has four decimal numbers")),
    }
}

/// Suggests a URL for `host:port` and `host/path`.
fn missing_scheme(text: &str) -> Option<String> {
    if !text.contains([':', '/']) || text.contains('@') {
        return None;
    }
    let guess = Url::parse(&format!("http://{text}")).ok()?;
    let host = guess.host()?;
    (guess.fragment().is_none() && !text.starts_with(['/', ':'])).then(|| {
        let port = guess
            .port()
            .map(|port| format!(":{port}"))
            .unwrap_or_default();
        format!("{host}{port}{}", guess.path())
    })
}

/// A host without trailing dot whose name is a valid DNS name.
fn checked_host(text: &str, host: Option<Host<String>>) -> Result<Host<String>, AddressError> {
    match host {
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(&name).to_ascii_lowercase();
            check_dns_name(&name).map_err(|why| invalid(text, why))?;
            Ok(Host::Domain(name))
        }
        Some(ip) => Ok(ip),
        None => Err(invalid(text, "it is neither a name nor an address")),
    }
}

/// Rules for a name in A-label form (RFC 1035 §2.3.1); underscores are accepted because existing
/// names contain them.
pub(crate) fn check_dns_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("the name is empty");
    }
    if name.len() > MAX_NAME {
        return Err("a DNS name has at most 253 bytes");
    }
    for label in name.split('.') {
        if label.is_empty() {
            return Err("it has an empty label between dots");
        }
        if label.len() > 63 {
            return Err("a label of a DNS name has at most 63 bytes");
        }
        if label.starts_with('-') || label.ends_with('-') {
            return Err("a label begins or ends with a hyphen");
        }
        if !label
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        {
            return Err("a DNS name has only letters, digits, hyphens and dots");
        }
    }
    Ok(())
}

/// Whether the text is a range of IPv4 addresses as nmap writes it: `10.0.4.5-10`, `10.0.4.*`,
/// `10.0.4.1,7`. The URL parser would take the first form for a name.
pub(crate) fn is_address_range(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
        && text.contains(['-', '*', ','])
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b".-*,".contains(&byte))
}

fn invalid(name: &str, why: &str) -> AddressError {
    let name: String = name.chars().filter(|c| !c.is_control()).take(120).collect();
    AddressError::Form {
        name,
        why: why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_yields_one_canonical_spelling_per_form() {
        for (given, canonical, kind, host) in [
            (
                "HTTP://Shop.Acme.TEST:80",
                "http://shop.acme.test/",
                TargetType::Url,
                "shop.acme.test",
            ),
            (
                "https://shop.acme.test:443/a?b=1",
                "https://shop.acme.test/a?b=1",
                TargetType::Url,
                "shop.acme.test",
            ),
            (
                "https://shop.acme.test.:8443/",
                "https://shop.acme.test:8443/",
                TargetType::Url,
                "shop.acme.test",
            ),
            (
                "http://[::1]:8080",
                "http://[::1]:8080/",
                TargetType::Url,
                "::1",
            ),
            (
                "http://0x7f.1/",
                "http://127.0.0.1/",
                TargetType::Url,
                "127.0.0.1",
            ),
            (
                " 127.0.0.1 ",
                "127.0.0.1",
                TargetType::IpAddress,
                "127.0.0.1",
            ),
            ("[::1]", "::1", TargetType::IpAddress, "::1"),
            (
                "2001:DB8::0:1",
                "2001:db8::1",
                TargetType::IpAddress,
                "2001:db8::1",
            ),
            ("LocalHost", "localhost", TargetType::Hostname, "localhost"),
            (
                "Bücher.example.",
                "xn--bcher-kva.example",
                TargetType::Hostname,
                "xn--bcher-kva.example",
            ),
            (
                "a_b.example",
                "a_b.example",
                TargetType::Hostname,
                "a_b.example",
            ),
        ] {
            let address = Address::parse(given).unwrap_or_else(|error| panic!("{given}: {error}"));
            assert_eq!(
                (address.canonical(), address.kind(), address.host().as_str()),
                (canonical, kind, host)
            );
            assert_eq!(
                Address::parse(canonical).as_ref(),
                Ok(&address),
                "{canonical} is canonical"
            );
        }
    }

    #[test]
    fn parse_of_invalid_text_suggests_a_form() {
        for (given, message) in [
            ("", "a host name"),
            (
                "localhost:8080",
                "`localhost:8080` has no scheme: use http://localhost:8080/",
            ),
            (
                "127.0.0.1:1",
                "`127.0.0.1:1` has no scheme: use http://127.0.0.1:1/",
            ),
            (
                "10.0.4.5-10",
                "`10.0.4.5-10` is an address range: use one address per target",
            ),
            ("shop.acme.test/login", "use http://shop.acme.test/login"),
            ("[::1]:80", "use http://[::1]/"),
            (
                "10.0.0.0/8",
                "`10.0.0.0/8` is a network: use one address per target",
            ),
            ("ftp://shop.acme.test", "only http and https"),
            ("http://ana:secret@shop.acme.test/", "authentication"),
            ("http://@shop.acme.test/", "authentication"),
            ("http://shop.acme.test/#top", "#fragment"),
            ("http:///etc/passwd", "host is missing"),
            ("http://shop.acme.test:0/", "port 0"),
            ("http://shop.acme.test:99999/", "port"),
            ("shop acme", "a space"),
            ("shop\u{1b}[2J", "control"),
            ("1.2.3", "four decimal numbers"),
            ("1.2.3.999", "neither a name nor an address"),
            ("-a.example", "hyphen"),
            ("a..example", "empty label"),
            ("[127.0.0.1]", "neither"),
            ("fe80::1%eth0", "neither"),
            (&"a.".repeat(140), "253"),
            (&format!("{}.example", "a".repeat(64)), "63"),
            (&"x".repeat(3000), "2048"),
        ] {
            let error = Address::parse(given).expect_err(given).to_string();
            assert!(error.contains(message), "{given}: {error}");
        }
    }

    #[test]
    fn error_about_url_with_password_hides_the_password() {
        let error = Address::parse("http://ana:secret@shop.acme.test/")
            .unwrap_err()
            .to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}
