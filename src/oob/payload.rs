//! Payloads: URLs of a logger that were handed out to be planted, and where they went.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Token;
use crate::contract::{LoggerId, Shared, Stamp};
use crate::finding::FindingKey;

/// A URL with a token, recorded when it was copied or written to a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
    pub finding: Option<FindingKey>,
    pub finding_name: Shared,
    /// Where it was planted, as written afterwards: parameter or header.
    pub parameter: Shared,
    /// What was tried, such as `SSRF`.
    pub technique: Shared,
    pub note: Shared,
    /// Raised by every change: of two versions the later stands.
    pub version: i64,
}

/// From a payload to a request that it brought in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delay {
    /// In seconds.
    pub seconds: i64,
    /// Both clocks are known; otherwise it is about so much.
    pub exact: bool,
}

impl Payload {
    /// How long after it was made a request came, by the service's clock. `offset` is that clock minus this machine's
    /// as known now; the one that was known when it was made goes before.
    pub fn delay(&self, came: Option<Stamp>, offset: Option<i64>) -> Option<Delay> {
        let known = self.offset.or(offset);
        let seconds = came?.as_second() - self.at?.as_second() - known.unwrap_or(0);
        // Both are told to the second.
        Some(Delay { seconds: seconds.max(0), exact: known.is_some() })
    }

    /// Where it was put, as far as it was written: `q · shop.test`; the line of its batch first, `#17 urls.txt · q`, since
    /// that is what the lines of a batch differ in.
    pub fn place(&self) -> String {
        let line = self.number.map(|number| format!("#{number} {}", self.batch)).unwrap_or_default();
        let parts = [line.trim(), self.parameter.as_str(), self.target.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = [(86_400, 'd'), (3_600, 'h'), (60, 'm')].into_iter().find(|(length, _)| self.seconds >= 2 * length);
        let (length, unit) = unit.unwrap_or((1, 's'));
        let about = if self.exact { "" } else { "~" };
        write!(f, "{about}+{}{unit}", self.seconds / length)
    }
}

/// How a token stands in the URL of a logger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UrlForm {
    /// `…?t=TOKEN`: every service tells the query.
    #[default]
    Query,
    /// `…/TOKEN`, where the service records paths.
    Path,
}

impl UrlForm {
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
        assert_eq!(UrlForm::Query.url("http://h/l/x/", token), "http://h/l/x/?t=aaaaaaaaaaaa");
        assert_eq!(UrlForm::Query.url("http://h/l?k=1", token), "http://h/l?k=1&t=aaaaaaaaaaaa");
        assert_eq!(UrlForm::Path.url("http://h/l/x/", token), "http://h/l/x/aaaaaaaaaaaa");
    }

    #[test]
    fn a_delay_is_told_by_the_clock_of_the_service() {
        let at = Stamp::parse("2026-11-21 14:00:00");
        let came = Stamp::parse("2026-11-21 14:05:30");
        let payload = Payload { at, ..Payload::default() };
        let told = |payload: &Payload, offset| payload.delay(came, offset).unwrap().to_string();
        assert_eq!(told(&payload, None), "~+5m");
        assert_eq!(told(&payload, Some(300)), "+30s");
        assert_eq!(told(&Payload { offset: Some(320), ..payload.clone() }, Some(0)), "+10s");
        assert_eq!(told(&Payload { offset: Some(900), ..payload.clone() }, None), "+0s");
        assert_eq!(payload.delay(None, None), None);
    }

    #[test]
    fn a_place_is_as_much_as_was_written() {
        let payload = Payload { parameter: "q".into(), target: "shop.test".into(), ..Payload::default() };
        assert_eq!(payload.place(), "q · shop.test");
        let line = Payload { number: Some(17), batch: "urls.txt".into(), ..Payload::default() };
        assert_eq!(Payload { parameter: "q".into(), ..line.clone() }.place(), "#17 urls.txt · q");
        assert_eq!((line.place(), Payload::default().place()), ("#17 urls.txt".to_owned(), String::new()));
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
