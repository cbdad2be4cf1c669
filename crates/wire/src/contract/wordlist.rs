//! Wordlists of the brute-force tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::SharedTexts;
use super::{Shared, WordlistId, lenient};

/// A wordlist without its words, which `GET /wordlists/{id}/contents` sends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Wordlist {
    pub id: WordlistId,
    /// Name of the wordlist.
    pub name: Shared,
    /// May be empty.
    pub description: Shared,
    /// Number of words.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub num_words: i64,
    /// Comes with the service and cannot be deleted.
    #[serde(deserialize_with = "lenient::boolean")]
    pub predefined: bool,
}

impl SharedTexts for Wordlist {}
