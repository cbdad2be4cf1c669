//! The target that a result belongs to, in canonical form: lower-case host, no default port, no
//! path, no user info.

use std::borrow::Cow;
use std::net::IpAddr;

use url::{Host, Url};

/// A target: a website, or a machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImportTarget {
    /// `https://shop.test`, `shop.test`, `192.0.2.1` or the name of a product.
    pub name: String,
    pub kind: ImportTargetKind,
    /// Other names and addresses of the machine in the file.
    pub others: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImportTargetKind {
    Url,
    Host,
    Address,
    /// Software, such as the subject of a bill of materials.
    Product,
}

/// A place in a URL, host or address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetPlace {
    pub target: ImportTarget,
    pub port: Option<u16>,
    /// The scheme of a URL.
    pub scheme: String,
    /// Path without query; empty without a URL.
    pub path: String,
}

impl ImportTarget {
    fn new(name: String, kind: ImportTargetKind) -> Self {
        Self {
            name,
            kind,
            others: Vec::new(),
        }
    }

    /// Software; none without a name.
    pub fn product(name: &str) -> Option<Self> {
        let name = name.trim();
        (!name.is_empty()).then(|| Self::new(name.to_owned(), ImportTargetKind::Product))
    }

    /// A host name or address.
    pub fn of_host(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches('.');
        let bare = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'));
        let address = bare.unwrap_or(text).split('%').next().unwrap_or_default();
        if let Ok(address) = address.parse::<IpAddr>() {
            return Some(Self::new(address.to_string(), ImportTargetKind::Address));
        }
        let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        if text.is_empty() || text.len() > 253 || !text.chars().all(is_plain) {
            return None;
        }
        match Host::parse(text) {
            Ok(Host::Domain(name)) => Some(Self::new(name, ImportTargetKind::Host)),
            Ok(Host::Ipv4(address)) => {
                Some(Self::new(address.to_string(), ImportTargetKind::Address))
            }
            // Names with underscores exist although the DNS forbids them for hosts.
            _ => Some(Self::new(text.to_lowercase(), ImportTargetKind::Host)),
        }
    }

    /// The first text that names a host, with the others as its other names.
    pub fn of_hosts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut all: Vec<Self> = texts.into_iter().filter_map(Self::of_host).collect();
        // A name over an address.
        let first = all
            .iter()
            .position(|one| one.kind == ImportTargetKind::Host);
        if all.is_empty() {
            return None;
        }
        let mut target = all.remove(first.unwrap_or_default());
        target.others = all.into_iter().map(|other| other.name).collect();
        target.others.retain(|other| *other != target.name);
        target.others.dedup();
        Some(target)
    }
}

impl TargetPlace {
    /// A web address: `https://shop.test:8443/cart?id=1`.
    pub fn of_url(text: &str) -> Option<Self> {
        let url = Url::parse(&without_zone(text.trim())).ok()?;
        let host = url.host()?;
        let scheme = url.scheme().to_owned();
        let port = url.port_or_known_default();
        if !matches!(url.scheme(), "http" | "https" | "ws" | "wss") {
            let mut place = Self::of_machine(&host.to_string())?;
            place.port = url.port();
            place.scheme = scheme;
            return Some(place);
        }
        let shown_port = url
            .port()
            .map(|port| format!(":{port}"))
            .unwrap_or_default();
        let name = format!("{scheme}://{host}{shown_port}");
        Some(Self {
            target: ImportTarget::new(name, ImportTargetKind::Url),
            port,
            scheme,
            path: url.path().to_owned(),
        })
    }

    /// `shop.test`, `shop.test:22`, `[::1]:443` or `192.0.2.1`.
    pub fn of_machine(text: &str) -> Option<Self> {
        let text = text.trim();
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if host.ends_with(']') || !host.contains(':') => {
                match port.parse::<u16>() {
                    Ok(port) => (host, Some(port)),
                    Err(_) => (text, None),
                }
            }
            _ => (text, None),
        };
        Some(Self {
            target: ImportTarget::of_host(host)?,
            port: port.filter(|port| *port > 0),
            scheme: String::new(),
            path: String::new(),
        })
    }

    /// A URL, else a host with an optional port and path.
    pub fn of_text(text: &str) -> Option<Self> {
        if text.contains("://") {
            return Self::of_url(text);
        }
        let text = text.trim();
        let (host, path) = text.split_once('/').unwrap_or((text, ""));
        let mut place = Self::of_machine(host)?;
        if text.len() > host.len() {
            place.path = format!("/{}", path.split(['?', '#']).next().unwrap_or_default());
        }
        Some(place)
    }
}

/// A URL without the zone of its IPv6 address, `%25eth0` or `%eth0`, which has no meaning on
/// another machine (RFC 6874).
fn without_zone(url: &str) -> Cow<'_, str> {
    let Some((before, host)) = url.split_once("://[") else {
        return Cow::Borrowed(url);
    };
    match host.split_once(']') {
        Some((address, rest)) if address.contains('%') => {
            let address = address.split('%').next().unwrap_or_default();
            Cow::Owned(format!("{before}://[{address}]{rest}"))
        }
        _ => Cow::Borrowed(url),
    }
}
