//! The error body of the service: `{"status": int, "message": string, "details"?: string}`, never wrapped.

use serde::{Deserialize, Serialize};

use super::{Shared, lenient};

/// What the service says when it refuses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorBody {
    /// Repeats the HTTP status code.
    #[serde(deserialize_with = "lenient::integer")]
    pub status: i64,
    /// One sentence for a person.
    #[serde(deserialize_with = "lenient::text")]
    pub message: Shared,
    /// More, where there is more to say.
    #[serde(deserialize_with = "lenient::maybe_text", skip_serializing_if = "Option::is_none")]
    pub details: Option<Shared>,
}
