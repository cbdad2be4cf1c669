//! The words of a word list, and the two lists that ship with the service.
//!
//! A file holds a word a line; blank lines, lines that begin with `#`, and repeated words do not count.

use std::collections::HashSet;

/// Lists that ship with the service: name, description, file.
pub const SHIPPED: &[(&str, &str, &str)] = &[
    (
        "Common paths",
        "Paths that web sites often have, written for scandeck",
        include_str!("../../assets/wordlists/common-paths.txt"),
    ),
    (
        "Common subdomains",
        "Names that hosts of a domain often have, written for scandeck",
        include_str!("../../assets/wordlists/common-subdomains.txt"),
    ),
];

/// The words of a list, each once, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordlistWords {
    text: String,
    count: i64,
}

impl WordlistWords {
    /// Reads a file.
    pub fn parse(file: &str) -> Self {
        let mut seen = HashSet::new();
        let lines = file.trim_start_matches('\u{feff}').lines().map(str::trim);
        let words: Vec<&str> =
            lines.filter(|line| !line.is_empty() && !line.starts_with('#') && seen.insert(*line)).collect();
        Self { text: words.join("\n"), count: i64::try_from(words.len()).unwrap_or(i64::MAX) }
    }

    /// The words joined by newlines.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many there are.
    pub fn count(&self) -> i64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_comments_and_duplicates_do_not_count() {
        let words = WordlistWords::parse("\u{feff}# a list\r\nadmin\r\n\r\n  login \nadmin\n#x\n");
        assert_eq!((words.text(), words.count()), ("admin\nlogin", 2));
    }

    #[test]
    fn the_shipped_lists_have_words() {
        for (name, _, file) in SHIPPED {
            assert!(WordlistWords::parse(file).count() > 50, "{name}");
        }
    }
}
