//! Payloads: URLs with a token, and where they were placed.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Token;
use crate::finding::FindingKey;
use scandeck_wire::contract::{LoggerId, Shared, Stamp};

/// A URL with a token, stored when it was copied or written to a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Payload {
    pub token: Token,
    /// Complete URL.
    pub url: Shared,
    pub logger: LoggerId,
    /// Label of the logger.
    pub label: Shared,
    /// Name of the workspace.
    pub workspace: Shared,
    /// Creation time by this machine's clock.
    #[serde(deserialize_with = "Stamp::maybe", serialize_with = "Stamp::as_text")]
    pub at: Option<Stamp>,
    /// Service clock minus this clock in seconds, if known: delays are measured by the service
    /// clock.
    pub offset: Option<i64>,
    pub who: Shared,
    /// Line number in a batch, from 1.
    pub number: Option<i64>,
    /// File or purpose of the batch.
    pub batch: Shared,
    /// Name of the selected target.
    pub target: Shared,
    /// The finding to which it was bound, and the name of the finding.
    pub finding: Option<FindingKey>,
    pub finding_name: Shared,
    /// Parameter or header in which it was placed, as entered later.
    pub parameter: Shared,
    /// Technique under test, such as `SSRF`.
    pub technique: Shared,
    pub note: Shared,
    /// Increased by every change: the later version wins, see [`Payload::replaces`].
    pub version: i64,
}

/// Time from a payload to a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delay {
    /// In seconds.
    pub seconds: i64,
    /// True if both clocks are known; otherwise the value is approximate.
    pub exact: bool,
}

/// JSON with sorted keys in one line; a text that is not JSON as it is.
pub(super) fn canonical(json: &str) -> String {
    match serde_json::from_str::<Value>(json) {
        Ok(value) => line(value),
        Err(_) => json.to_owned(),
    }
}

fn line(mut value: Value) -> String {
    value.sort_all_objects();
    value.to_string()
}

impl Payload {
    /// The payload as JSON with sorted keys, in one line.
    pub fn line(&self) -> String {
        line(serde_json::to_value(self).unwrap_or_default())
    }

    /// Whether this version wins against another one of the same token. Of two versions with the
    /// same number, written by two people offline, the content decides, so that every machine
    /// chooses the same.
    pub fn replaces(&self, other: &Self) -> bool {
        match self.version.cmp(&other.version) {
            Ordering::Equal => self.line() >= other.line(),
            order => order.is_gt(),
        }
    }

    /// Time from creation to a request by the service clock. `offset` is the present clock
    /// difference, used if none was stored at creation.
    pub fn delay(&self, arrived: Option<Stamp>, offset: Option<i64>) -> Option<Delay> {
        let known = self.offset.or(offset);
        let seconds = arrived?.as_second() - self.at?.as_second() - known.unwrap_or(0);
        // Both times have a resolution of one second.
        Some(Delay {
            seconds: seconds.max(0),
            exact: known.is_some(),
        })
    }

    /// Location as far as entered: `q · shop.test`, or `#17 urls.txt · q` for a line of the batch.
    pub fn place(&self) -> String {
        self.place_of(&self.parameter)
    }

    /// As [`Self::place`]; without a parameter, the first line of the note distinguishes payloads.
    pub fn place_or_note(&self) -> String {
        let note = self
            .note
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default()
            .trim();
        self.place_of(if self.parameter.is_empty() {
            note
        } else {
            &self.parameter
        })
    }

    fn place_of(&self, parameter: &str) -> String {
        let line = self
            .number
            .filter(|_| !self.batch.is_empty())
            .map(|number| format!("#{number} {}", self.batch));
        let parts = [
            line.as_deref().unwrap_or_default(),
            parameter,
            self.target.as_str(),
        ];
        parts
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" · ")
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = [(86_400, 'd'), (3_600, 'h'), (60, 'm')]
            .into_iter()
            .find(|(length, _)| self.seconds >= 2 * length);
        let (length, unit) = unit.unwrap_or((1, 's'));
        let about = if self.exact { "" } else { "~" };
        write!(f, "{about}+{}{unit}", self.seconds / length)
    }
}

/// Position of the token in the URL of a logger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UrlForm {
    /// `…?t=TOKEN`: every service records the query.
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
    fn payload_url_places_token_in_query_or_path() {
        let token = Token::of(0);
        assert_eq!(
            UrlForm::Query.url("http://h/l/x/", token),
            "http://h/l/x/?t=aaaaaaaaaaaa"
        );
        assert_eq!(
            UrlForm::Query.url("http://h/l?k=1", token),
            "http://h/l?k=1&t=aaaaaaaaaaaa"
        );
        assert_eq!(
            UrlForm::Path.url("http://h/l/x/", token),
            "http://h/l/x/aaaaaaaaaaaa"
        );
    }

    #[test]
    fn delay_uses_service_clock() {
        let at = Stamp::parse("2026-11-21 14:00:00");
        let arrived = Stamp::parse("2026-11-21 14:05:30");
        let payload = Payload {
            at,
            ..Payload::default()
        };
        let shown = |payload: &Payload, offset| payload.delay(arrived, offset).unwrap().to_string();
        assert_eq!(shown(&payload, None), "~+5m");
        assert_eq!(shown(&payload, Some(300)), "+30s");
        assert_eq!(
            shown(
                &Payload {
                    offset: Some(320),
                    ..payload.clone()
                },
                Some(0)
            ),
            "+10s"
        );
        assert_eq!(
            shown(
                &Payload {
                    offset: Some(900),
                    ..payload.clone()
                },
                None
            ),
            "+0s"
        );
        assert_eq!(payload.delay(None, None), None);
    }

    #[test]
    fn payload_place_joins_known_parts() {
        let payload = Payload {
            parameter: "q".into(),
            target: "shop.test".into(),
            ..Payload::default()
        };
        assert_eq!(payload.place(), "q · shop.test");
        let line = Payload {
            number: Some(17),
            batch: "urls.txt".into(),
            ..Payload::default()
        };
        assert_eq!(
            Payload {
                parameter: "q".into(),
                ..line.clone()
            }
            .place(),
            "#17 urls.txt · q"
        );
        let noted = Payload {
            note: "\nsecond try\nafter the fix".into(),
            target: "shop.test".into(),
            ..Payload::default()
        };
        assert_eq!(
            (noted.place(), noted.place_or_note()),
            ("shop.test".to_owned(), "second try · shop.test".to_owned())
        );
        assert_eq!(
            Payload {
                parameter: "q".into(),
                ..noted
            }
            .place_or_note(),
            "q · shop.test"
        );
        assert_eq!(
            (line.place(), Payload::default().place()),
            ("#17 urls.txt".to_owned(), String::new())
        );
    }

    #[test]
    fn payload_json_round_trips_and_accepts_missing_fields() {
        let payload = Payload {
            token: Token::of(7),
            number: Some(3),
            ..Payload::default()
        };
        let json = serde_json::to_string(&payload).unwrap();
        assert_eq!(serde_json::from_str::<Payload>(&json).unwrap(), payload);
        let least: Payload = serde_json::from_str(r#"{"token":"aaaaaaaaaaah"}"#).unwrap();
        assert_eq!(least.token, payload.token);
    }
}
