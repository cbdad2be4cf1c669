//! What can go wrong between the dashboard and a service, by kind, with what to do next.
//!
//! An [`Error`] is data: it is cloned into the model, compared in tests and shown in one line. The service's own
//! words are kept beside the status, so that a form can show them at the field they are about.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use crate::contract::ErrorBody;

/// Longest message kept of an answer, in characters.
const MESSAGE_LIMIT: usize = 600;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// There is no service to ask.
    Absent,
    /// No connection, or it broke.
    Connect,
    /// No whole answer in time.
    Timeout,
    /// The connection was made, but not trusted.
    Tls,
    /// 401: the key is missing or wrong.
    Unauthorized,
    /// 403: plan, permission, or a target that may not be scanned.
    Forbidden,
    /// 404 (and 410): unknown, or not yours.
    NotFound,
    /// 409: it exists already, or is in use.
    Conflict,
    /// 400, 422 and other refusals of what was sent.
    Invalid,
    /// 406: there is no such form of it.
    NotAcceptable,
    /// 429.
    RateLimited {
        /// How long the service asks to wait; at most an hour is believed.
        retry_after: Option<Duration>,
    },
    /// 5xx.
    Server,
    /// Something answers there, but it is not this API: a page, a redirect, an unknown path.
    NotThisApi,
    /// The answer is larger than the limit; it was cut off and dropped.
    TooLarge,
    /// The answer is no JSON of the expected shape.
    Decode,
    /// Not sent: the last answer said that nothing is left of the rate budget.
    BudgetSpent {
        /// When it is refilled.
        until: Timestamp,
    },
}

/// A request that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What went wrong.
    pub kind: ErrorKind,
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// One line: the service's words where it had any, else ours.
    pub message: String,
    /// More words of the service.
    pub details: Option<String>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl AsRef<str>) -> Self {
        Self { kind, status: None, message: one_line(message.as_ref()), details: None }
    }

    /// Nothing tells where a service is.
    pub fn absent() -> Self {
        Self::new(ErrorKind::Absent, "no service is configured, and none runs here")
    }

    pub(super) fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// A refusal in the service's words.
    pub(super) fn refused(kind: ErrorKind, status: u16, body: &ErrorBody) -> Self {
        Self {
            kind,
            status: Some(status),
            message: one_line(&body.message),
            details: body.details.as_ref().filter(|text| !text.trim().is_empty()).map(|text| one_line(text)),
        }
    }

    /// Whether the same request may succeed a little later without anyone doing anything.
    pub fn is_passing(&self) -> bool {
        match self.kind {
            ErrorKind::Connect
            | ErrorKind::Timeout
            | ErrorKind::Server
            | ErrorKind::RateLimited { .. }
            | ErrorKind::BudgetSpent { .. } => true,
            ErrorKind::Absent
            | ErrorKind::Tls
            | ErrorKind::Unauthorized
            | ErrorKind::Forbidden
            | ErrorKind::NotFound
            | ErrorKind::Conflict
            | ErrorKind::Invalid
            | ErrorKind::NotAcceptable
            | ErrorKind::NotThisApi
            | ErrorKind::TooLarge
            | ErrorKind::Decode => false,
        }
    }

    /// What to do next, in a clause.
    pub fn hint(&self) -> String {
        let text = match &self.kind {
            ErrorKind::Absent => {
                "give --base-url with SCANDECK_API_KEY, or --profile, or start one with `scandeck serve`"
            }
            ErrorKind::Connect => "check that the service runs (`scandeck status`) and that the base URL is right",
            ErrorKind::Timeout => "the service or the network is slow; try again, or check the base URL",
            ErrorKind::Tls => {
                "check the base URL's scheme and host; a private authority must be in the system's trust store"
            }
            ErrorKind::Unauthorized => "check the API key: SCANDECK_API_KEY, api_key_command or the key file",
            ErrorKind::Forbidden => "the service does not allow this to you, or to anyone; its words say which",
            ErrorKind::NotFound => "it may have been deleted by someone else; refresh",
            ErrorKind::Conflict => "change the name, or wait until what uses it has ended",
            ErrorKind::Invalid => "correct what the service names and send it again",
            ErrorKind::NotAcceptable => "ask for another form of it",
            ErrorKind::RateLimited { retry_after: Some(wait) } => return format!("wait {} s", wait.as_secs().max(1)),
            ErrorKind::RateLimited { retry_after: None } => "wait a minute",
            ErrorKind::Server => "the service's own trouble; try again, and look into its log",
            ErrorKind::NotThisApi => "check the base URL: host, port, and what stands before /api/v2",
            ErrorKind::TooLarge => "narrow what is asked for: another workspace, or one scan's findings",
            ErrorKind::Decode => "check that the base URL is a service of this API in version 2",
            ErrorKind::BudgetSpent { until } => return format!("wait until {}", until.strftime("%H:%M:%S UTC")),
        };
        text.to_owned()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(status) = self.status {
            write!(f, "{status} ")?;
        }
        f.write_str(&self.message)?;
        match &self.details {
            Some(details) => write!(f, " ({details})"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {}

impl From<reqwest::Error> for Error {
    fn from(error: reqwest::Error) -> Self {
        // The URL is ours and known; repeating it in every cause only hides the cause.
        let error = error.without_url();
        let chain = causes(&error);
        let at_connect = error.is_connect();
        let kind = match () {
            () if speaks_of_tls(&chain) => ErrorKind::Tls,
            () if at_connect => ErrorKind::Connect,
            () if error.is_timeout() => ErrorKind::Timeout,
            () if error.is_decode() && is_corrupt(&chain) => ErrorKind::Decode,
            () => ErrorKind::Connect,
        };
        let lead = match kind {
            ErrorKind::Tls => "the TLS connection failed",
            ErrorKind::Timeout => return Self::new(ErrorKind::Timeout, "no answer in time"),
            ErrorKind::Decode => "the answer cannot be unpacked",
            _ if at_connect && error.is_timeout() => return Self::new(ErrorKind::Connect, "no connection in time"),
            _ if at_connect => "cannot connect",
            _ => "the connection broke",
        };
        Self::new(kind, format!("{lead}: {}", chain.rsplit(": ").next().unwrap_or(&chain)))
    }
}

/// reqwest hides rustls in its sources; its own types would make rustls a second direct dependency of this wing.
fn speaks_of_tls(chain: &str) -> bool {
    let chain = chain.to_ascii_lowercase();
    ["certificate", "tls", "handshake", "corrupt message", "no ca certificates"].iter().any(|word| chain.contains(word))
}

/// reqwest calls everything that goes wrong in a body a decoding error, a broken connection too.
fn is_corrupt(chain: &str) -> bool {
    let chain = chain.to_ascii_lowercase();
    ["gzip", "deflate", "corrupt"].iter().any(|word| chain.contains(word))
}

fn causes(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// Outside text in one line of bounded length without control characters.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    match line.char_indices().nth(MESSAGE_LIMIT) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_bounded_line_whatever_the_service_sent() {
        let body = ErrorBody {
            status: 409,
            message: format!("taken\x1b]52;c;x\x07\r\n{}", "a".repeat(5000)).as_str().into(),
            details: Some("by\tscan 4".into()),
        };
        let text = Error::refused(ErrorKind::Conflict, 409, &body).to_string();
        assert!(text.starts_with("409 taken ]52;c;x aaa") && text.ends_with("… (by scan 4)"), "{text}");
        assert!(!text.contains(char::is_control) && text.chars().count() < 700);
    }

    #[test]
    fn waiting_times_are_in_the_hint() {
        let limited = Error::new(ErrorKind::RateLimited { retry_after: Some(Duration::from_secs(7)) }, "slow down");
        assert_eq!(limited.hint(), "wait 7 s");
        assert!(limited.is_passing() && !Error::new(ErrorKind::Unauthorized, "no").is_passing());
    }
}
