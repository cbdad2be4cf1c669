//! The obstacles of a scan: answers that say nothing about the requested path.

use url::Url;

use crate::engine::body::BodyFault;
use crate::engine::firewall_page;
use crate::engine::http::{HttpPage, WebError};
use crate::engine::kinds::{FindingKind, coverage};

/// Why a test is incomplete: an answer that says nothing about the requested path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    Unauthorized,
    Forbidden,
    RateLimited,
    LoginWall,
    /// A page of a firewall, with any status.
    Firewall,
    ServerError,
    /// A status that HTTP does not define, such as 999.
    UnknownStatus,
    Timeout,
    Connection,
    /// The end of the body is missing; what arrived was judged.
    Cut,
    Undecodable,
    Budget,
    NameServer,
}

impl Obstacle {
    /// The obstacle in an answer, if any.
    pub fn of_page(page: &HttpPage) -> Option<Self> {
        match page.status {
            401 => Some(Self::Unauthorized),
            403 => Some(Self::Forbidden),
            429 => Some(Self::RateLimited),
            // 501 and 505 are complete answers to an unusual request.
            501 | 505 => None,
            500..=599 => Some(Self::ServerError),
            600.. => Some(Self::UnknownStatus),
            _ if firewall_page::is_firewall_page(page) => Some(Self::Firewall),
            _ => page
                .redirect()
                .filter(|to| is_login(to) && !is_login(&page.url))
                .map(|_| Self::LoginWall),
        }
    }

    pub(super) fn of_fault(fault: &BodyFault) -> Self {
        match fault {
            BodyFault::Cut(_) => Self::Cut,
            BodyFault::Undecodable(_) => Self::Undecodable,
        }
    }

    pub(super) fn of_error(error: &WebError) -> Option<Self> {
        match error {
            // The scope excludes the address, so nothing is missing.
            WebError::Refused(_) => None,
            WebError::Connect(_)
            | WebError::NotTls
            | WebError::Tls
            | WebError::Silent
            | WebError::Broken(_)
            | WebError::Malformed(_)
            | WebError::NotHttp(_)
            | WebError::Http2
            | WebError::Unresponsive => Some(Self::Connection),
            WebError::Timeout => Some(Self::Timeout),
            WebError::RateLimited => Some(Self::RateLimited),
            WebError::Budget => Some(Self::Budget),
            WebError::LoggedOut(_) => Some(Self::LoginWall),
        }
    }

    /// Whether a site may answer so for a single path that is not public.
    pub(super) fn may_be_normal(self) -> bool {
        matches!(self, Self::Unauthorized | Self::Forbidden | Self::LoginWall)
    }

    pub fn cause(self) -> &'static str {
        match self {
            Self::Unauthorized => "HTTP 401",
            Self::Forbidden => "HTTP 403",
            Self::RateLimited => "HTTP 429",
            Self::LoginWall => "redirected to the log-in page",
            Self::Firewall => "blocked by a firewall",
            Self::ServerError => "HTTP 5xx",
            Self::UnknownStatus => "HTTP status above 599",
            Self::Timeout => "no complete response before the timeout",
            Self::Connection => "connection failed or cut",
            Self::Cut => "response incomplete",
            Self::Undecodable => "body not decodable",
            Self::Budget => "budget of requests or bytes exhausted",
            Self::NameServer => "no answer from the name server",
        }
    }

    /// Whether the site refuses the request.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Unauthorized | Self::Forbidden | Self::Firewall)
    }

    pub(super) fn remedy(self) -> &'static str {
        match self {
            Self::Unauthorized | Self::LoginWall => {
                "Scan with credentials: set `tool_params.authentication`, such as {\"cookies\": \"sid=…\"} (scan form: Parameters as JSON)."
            }
            Self::Forbidden | Self::Firewall | Self::UnknownStatus => {
                "Allow the address or the User-Agent of the scanner in the web application firewall, and scan again."
            }
            Self::RateLimited => {
                "Lower `requests_per_second` of the scan, or raise the rate limit for the scanner."
            }
            Self::ServerError
            | Self::Timeout
            | Self::Connection
            | Self::Cut
            | Self::Undecodable => {
                "Check the health and the log of the server, lower `requests_per_second`, and scan again."
            }
            Self::Budget => "Start a deep scan, which may send more requests.",
            Self::NameServer => {
                "Check the name server of the service (`scandeck serve --dns-server`), and scan again."
            }
        }
    }

    /// Where the status code is defined, for causes that differ from the reference of their kind.
    pub(super) fn reference(self) -> Option<&'static str> {
        match self {
            Self::Unauthorized => {
                Some("https://www.rfc-editor.org/rfc/rfc9110#name-401-unauthorized")
            }
            Self::Forbidden => Some("https://www.rfc-editor.org/rfc/rfc9110#name-403-forbidden"),
            Self::RateLimited => Some("https://www.rfc-editor.org/rfc/rfc6585#section-4"),
            _ => None,
        }
    }

    /// The finding about tests with this obstacle. A refusal of single paths is not a block.
    pub(super) fn kind(self, is_blocked: bool) -> FindingKind {
        match self {
            Self::Unauthorized | Self::Forbidden | Self::RateLimited if is_blocked => {
                coverage::BLOCKED
            }
            Self::LoginWall => coverage::LOGIN_WALL,
            Self::Firewall => coverage::BLOCKED,
            Self::Unauthorized
            | Self::Forbidden
            | Self::RateLimited
            | Self::ServerError
            | Self::UnknownStatus
            | Self::Timeout
            | Self::Connection
            | Self::Cut
            | Self::Undecodable
            | Self::Budget
            | Self::NameServer => coverage::ERRORS,
        }
    }
}

/// Whether a URL is that of a log-in page, by the words of its host and path.
pub fn is_login(url: &Url) -> bool {
    const WORDS: &[&str] = &[
        "login",
        "logon",
        "signin",
        "sso",
        "saml",
        "oauth",
        "oauth2",
        "openid",
        "authorize",
        "auth",
    ];
    let host = url.host_str().unwrap_or_default();
    let in_host = host
        .split('.')
        .next()
        .is_some_and(|label| WORDS.contains(&label));
    let is_word = |segment: &str| {
        let name = segment
            .split('.')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        WORDS.contains(&name.replace(['-', '_'], "").as_str())
    };
    in_host
        || url
            .path_segments()
            .is_some_and(|mut segments| segments.any(is_word))
}
