//! Wordlists of the brute-force tools.

use serde::{Deserialize, Serialize};

use super::shared::SharedTexts;
use super::{Shared, WordlistId, lenient};

/// A wordlist without its words (`GET /wordlists/{id}/contents`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wordlist {
    pub id: WordlistId,
    pub name: Shared,
    pub description: Shared,
    #[serde(deserialize_with = "lenient::integer")]
    pub num_words: i64,
    /// Ships with the service and cannot be deleted.
    #[serde(deserialize_with = "lenient::boolean")]
    pub predefined: bool,
}

impl SharedTexts for Wordlist {}
