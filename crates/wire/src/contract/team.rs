//! Decisions that a team shares through a service: an extension beside the API v2.
//!
//! ```text
//!   GET  /scandeck/v1/me                             owner of the key           Member
//!   GET  /scandeck/v1/workspaces/{id}/events         events after a position    EventPage
//!   POST /scandeck/v1/workspaces/{id}/events         own decisions, JSON lines  StoredLines
//!   GET  /scandeck/v1/workspaces/{id}/payloads       payloads after a position  PayloadPage
//!   POST /scandeck/v1/workspaces/{id}/payloads       own payloads, JSON lines   StoredLines
//!   DELETE /scandeck/v1/workspaces/{id}/events       deletes both               Purged
//! ```
//!
//! A service announces the extension by the header [`TEAM_HEADER`] in lists of workspaces, and by
//! `"x-scandeck": {"team": 1}` in its OpenAPI document. It stores events and payloads as the
//! client wrote them and gives each a position; only clients interpret their contents.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::{Shared, Stamp};

/// The version of the extension that this program speaks.
pub const TEAM_VERSION: i64 = 1;

/// The root of its paths, beside that of the API v2.
pub const TEAM_ROOT: &str = "/scandeck/v1";

/// Names the version of the extension in every list of workspaces, so that its discovery costs no
/// request.
pub const TEAM_HEADER: &str = "x-scandeck-team";

/// The most lines and bytes of one POST, and the most rows of one page.
pub const MOST_LINES: usize = 1_000;
pub const MOST_BODY_BYTES: usize = 1 << 20;

/// The owner of an API key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Member {
    /// Name of the key: the author of decisions. Empty for the key file, whose decisions remain on
    /// the machine.
    pub name: Shared,
    /// `read`, `triage`, `scan` or `admin`.
    pub role: Shared,
    /// Drawn at random when the database of the service was made.
    pub service: Shared,
}

/// Events behind a position, and who looks at what.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EventPage {
    pub epoch: i64,
    /// Position of the last event and payload of the workspace.
    pub last: i64,
    pub last_payload: i64,
    /// In the order of their positions.
    #[serde(deserialize_with = "readable")]
    pub events: Vec<StoredEvent>,
    /// Other members who polled within the last 30 s, by name.
    pub viewers: Vec<Viewer>,
    /// The last purge of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purged: Option<Purged>,
}

/// An event with its position.
#[derive(Debug, Serialize, Deserialize)]
pub struct StoredEvent {
    /// Grows within a workspace and an epoch; from 1.
    pub position: i64,
    /// Name of the key that sent it.
    pub key: Shared,
    /// As the client wrote it.
    pub event: Box<RawValue>,
}

/// Payloads behind a position; a changed payload gets a new one.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PayloadPage {
    pub epoch: i64,
    pub last: i64,
    #[serde(deserialize_with = "readable")]
    pub payloads: Vec<StoredPayload>,
}

/// A payload with its position.
#[derive(Debug, Serialize, Deserialize)]
pub struct StoredPayload {
    pub position: i64,
    /// Name of the key that sent it.
    pub key: Shared,
    pub payload: Box<RawValue>,
}

/// A member whose dashboard has the workspace open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Viewer {
    /// Name of the key.
    pub who: Shared,
    /// Key of the finding on the screen; none if it is another list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<Shared>,
    /// Since when it is the same finding.
    #[serde(deserialize_with = "Stamp::maybe", serialize_with = "Stamp::as_text")]
    pub since: Option<Stamp>,
}

/// The result of a POST. The rest is stored although some lines were refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredLines {
    pub epoch: i64,
    /// Position of the last row of the workspace.
    pub last: i64,
    /// New rows.
    pub stored: i64,
    /// Rows that were there already.
    pub known: i64,
    pub refused: Vec<RefusedLine>,
}

/// A line that was not stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RefusedLine {
    /// Id of the event or token of the payload; empty if the line has none.
    pub id: Shared,
    pub reason: Shared,
}

/// A deletion of all decisions and payloads of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Purged {
    /// The epoch that began with it.
    pub epoch: i64,
    /// Name of the key.
    pub who: Shared,
    #[serde(deserialize_with = "Stamp::maybe", serialize_with = "Stamp::as_text")]
    pub at: Option<Stamp>,
    /// Deleted rows.
    pub events: i64,
    pub payloads: i64,
}

/// Drops rows of a shape that only a newer program knows, and keeps the others.
fn readable<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let rows = Vec::<Box<RawValue>>::deserialize(from)?;
    let texts = rows.iter().map(|row| row.get());
    Ok(texts
        .filter_map(|text| serde_json::from_str(text).ok())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_row_does_not_lose_the_rest_of_a_page() {
        let page: EventPage = serde_json::from_str(
            r#"{"epoch":2,"last":9,"new":[],"events":[{"position":"x"},7,
            {"position":8,"key":"anna","event":{"id": "a-1", "b": 1.50}}]}"#,
        )
        .unwrap();
        let [row] = &page.events[..] else {
            panic!("{page:?}")
        };
        assert_eq!((page.epoch, page.last, row.position), (2, 9, 8));
        assert_eq!(
            row.event.get(),
            r#"{"id": "a-1", "b": 1.50}"#,
            "as it arrived"
        );
    }
}
