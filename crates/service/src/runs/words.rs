//! The words of a wordlist, and the two lists that ship with the service.
//!
//! A file contains one word per line; blank lines, `#` comments and duplicates are skipped.

use std::collections::HashSet;

use crate::store::scans::ScanToAdd;
use crate::store::{Store, StoreResult};
use scandeck_wire::contract::WordlistId;

/// The predefined lists: name, description, file.
pub const PREDEFINED: &[(&str, &str, &str)] = &[
    (
        "Common paths",
        "Common paths of websites, written for scandeck",
        include_str!("../../assets/wordlists/common-paths.txt"),
    ),
    (
        "Common subdomains",
        "Common host names of a domain, written for scandeck",
        include_str!("../../assets/wordlists/common-subdomains.txt"),
    ),
];

/// The words of a list in their order, without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordlistWords {
    text: String,
    count: i64,
}

impl WordlistWords {
    pub fn parse(file: &str) -> Self {
        let mut seen = HashSet::new();
        let lines = file.trim_start_matches('\u{feff}').lines().map(str::trim);
        let words: Vec<&str> = lines
            .filter(|line| !line.is_empty() && !line.starts_with('#') && seen.insert(*line))
            .collect();
        Self {
            text: words.join("\n"),
            count: i64::try_from(words.len()).unwrap_or(i64::MAX),
        }
    }

    /// The words joined by newlines.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn count(&self) -> i64 {
        self.count
    }
}

/// Adds the words of `wordlist_id`: a scan uses the words that the list has now. Clients see the id
/// only. The inner error is the reason of a refusal.
pub async fn add_words(store: &Store, scan: &mut ScanToAdd) -> StoreResult<Result<(), String>> {
    let Some(id) = scan.shown_params["wordlist_id"].as_i64() else {
        return Ok(Ok(()));
    };
    let refusal = |why: &str| Ok(Err(format!("tool_params.wordlist_id: wordlist {id} {why}")));
    let Some(words) = store.words(WordlistId(id)).await? else {
        return refusal("does not exist");
    };
    let words: Vec<&str> = words
        .lines()
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() {
        return refusal("has no words");
    }
    scan.params["words"] = words.into();
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_comments_and_duplicates_are_skipped() {
        let words = WordlistWords::parse("\u{feff}# a list\r\nadmin\r\n\r\n  login \nadmin\n#x\n");
        assert_eq!((words.text(), words.count()), ("admin\nlogin", 2));
    }

    #[test]
    fn predefined_lists_have_words() {
        for (name, _, file) in PREDEFINED {
            assert!(WordlistWords::parse(file).count() > 50, "{name}");
        }
    }
}
