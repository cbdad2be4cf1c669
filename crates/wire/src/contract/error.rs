//! The error body of the service: `{"status": int, "message": string, "details"?: string}`, never
//! wrapped.

use serde::{Deserialize, Serialize};

use super::{Shared, lenient};

/// The body of an error response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorBody {
    /// The HTTP status code.
    #[serde(deserialize_with = "lenient::integer")]
    pub status: i64,
    /// The message for the user.
    pub message: Shared,
    /// Further information.
    #[serde(
        deserialize_with = "lenient::maybe_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub details: Option<Shared>,
}
