//! Payloads: URLs of a logger that were handed out to be planted, and where they went.

use serde::{Deserialize, Serialize};

use super::Token;
use crate::contract::{LoggerId, Shared, Stamp};
use crate::triage::Key;

/// A URL with a token, recorded when it was copied or written to a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Payload {
    pub token: Token,
    /// What was handed out, whole.
    pub url: Shared,
    pub logger: LoggerId,
    /// Label of the logger.
    pub label: Shared,
    /// Name of the workspace it was made in.
    pub workspace: Shared,
    /// When, by this machine's clock.
    #[serde(deserialize_with = "Stamp::maybe", serialize_with = "Stamp::as_text")]
    pub at: Option<Stamp>,
    /// The service's clock minus that one in seconds, where it was known: delays are told by the service's clock.
    pub offset: Option<i64>,
    pub who: Shared,
    /// Its line, where many were made at once; from 1.
    pub number: Option<i64>,
    /// The file of those many, or what they were made for.
    pub batch: Shared,
    /// Name of the target that was at hand.
    pub target: Shared,
    /// The finding that was at hand, and its name.
    pub finding: Option<Key>,
    pub finding_name: Shared,
    /// Where it was planted, as written afterwards: parameter or header.
    pub parameter: Shared,
    /// What was tried, such as `SSRF`.
    pub technique: Shared,
    pub note: Shared,
    /// Raised by every change: of two versions the later stands.
    pub version: i64,
}

/// How a token stands in the URL of a logger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// `…?t=TOKEN`: every service tells the query.
    #[default]
    Query,
    /// `…/TOKEN`, where the service records paths.
    Path,
}

impl Form {
    /// The URL of a logger with a token.
    pub fn url(self, handler_url: &str, token: Token) -> String {
        let base = handler_url.trim();
        match self {
            Self::Query if base.contains('?') => format!("{base}&t={token}"),
            Self::Query => format!("{base}?t={token}"),
            Self::Path => format!("{}/{token}", base.trim_end_matches('/')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_stands_in_query_or_path() {
        let token = Token::of(0);
        assert_eq!(Form::Query.url("http://h/l/x/", token), "http://h/l/x/?t=aaaaaaaaaaaa");
        assert_eq!(Form::Query.url("http://h/l?k=1", token), "http://h/l?k=1&t=aaaaaaaaaaaa");
        assert_eq!(Form::Path.url("http://h/l/x/", token), "http://h/l/x/aaaaaaaaaaaa");
    }

    #[test]
    fn a_payload_is_read_as_it_was_written_and_an_older_one_with_less_too() {
        let payload = Payload { token: Token::of(7), number: Some(3), ..Payload::default() };
        let json = serde_json::to_string(&payload).unwrap();
        assert_eq!(serde_json::from_str::<Payload>(&json).unwrap(), payload);
        let least: Payload = serde_json::from_str(r#"{"token":"aaaaaaaaaaah"}"#).unwrap();
        assert_eq!(least.token, payload.token);
    }
}
