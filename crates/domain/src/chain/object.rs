//! The ends of a link: a finding, a payload, a capture, a service, a key or a target. Each has one
//! stable name, such as `service:shop.test:443`.

use std::fmt;
use std::str::FromStr;

use crate::finding::FindingKey;
use crate::oob::Token;
use scandeck_wire::contract::{CaptureId, LoggerId, Shared, serde_as_text};

/// An end of a link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChainObject {
    Finding(FindingKey),
    Payload(Token),
    Capture {
        logger: LoggerId,
        id: CaptureId,
    },
    Service(ServiceAddress),
    /// The fingerprint of a key or certificate, with its kind: `sha256:3f9a…`; or the digest of a
    /// secret: `secret:0602…`.
    Key(Shared),
    /// A target by name, or a host that is no target yet.
    Target(Shared),
}

/// A port of a host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServiceAddress {
    /// In lower case; an IPv6 address without brackets.
    pub host: Shared,
    pub port: u16,
}

impl ChainObject {
    /// The noun of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Finding(_) => "finding",
            Self::Payload(_) => "payload",
            Self::Capture { .. } => "capture",
            Self::Service(_) => "service",
            Self::Key(_) => "key",
            Self::Target(_) => "target",
        }
    }
}

impl fmt::Display for ServiceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl FromStr for ServiceAddress {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once(':').and_then(|(host, port)| {
            let host = host.trim_matches(['[', ']']);
            Some(Self {
                host: Some(host).filter(|host| !host.is_empty())?.into(),
                port: port.parse().ok()?,
            })
        });
        parts.ok_or_else(|| format!("invalid service {text:?}: use HOST:PORT"))
    }
}

impl fmt::Display for ChainObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.kind())?;
        match self {
            Self::Finding(key) => write!(f, "{key}"),
            Self::Payload(token) => write!(f, "{token}"),
            Self::Capture { logger, id } => write!(f, "{logger}/{id}"),
            Self::Service(address) => write!(f, "{address}"),
            Self::Key(name) | Self::Target(name) => write!(f, "{name}"),
        }
    }
}

impl FromStr for ChainObject {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, name) = text.split_once(':').unwrap_or((text, ""));
        let object = match kind {
            "finding" => name.parse().ok().map(Self::Finding),
            "payload" => name.parse().ok().map(Self::Payload),
            "capture" => capture(name),
            "service" => name.parse().ok().map(Self::Service),
            "key" if !name.is_empty() => Some(Self::Key(name.into())),
            "target" if !name.is_empty() => Some(Self::Target(name.into())),
            _ => None,
        };
        object.ok_or_else(|| {
            format!(
                "{text:?} is no object of a chain: use finding:FINGERPRINT, payload:TOKEN, \
                 capture:LOGGER/ID, service:HOST:PORT, key:FINGERPRINT or target:NAME"
            )
        })
    }
}

fn capture(name: &str) -> Option<ChainObject> {
    let (logger, id) = name.split_once('/')?;
    Some(ChainObject::Capture {
        logger: logger.parse().ok()?,
        id: id.parse().ok()?,
    })
}

serde_as_text!(ChainObject);
