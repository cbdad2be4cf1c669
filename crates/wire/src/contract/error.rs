//! The error body of the service: `{"status": int, "message": string, "details"?: string}`, never
//! wrapped.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Shared, lenient};

/// The body of an error response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Error")]
pub struct ErrorBody {
    /// The status code of the response.
    #[serde(deserialize_with = "lenient::integer")]
    pub status: i64,
    /// The error, for the user.
    pub message: Shared,
    /// The remedy, or further information.
    #[serde(
        deserialize_with = "lenient::maybe_text",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Shared")]
    pub details: Option<Shared>,
}
