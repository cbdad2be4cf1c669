//! The words of a wordlist, and the two lists that ship with the service.
//!
//! A file contains one word per line; blank lines, `#` comments and duplicates are skipped.

use std::collections::HashSet;

/// A list that ships with the service.
pub struct PredefinedWordlist {
    pub name: &'static str,
    pub description: &'static str,
    pub file: &'static str,
}

pub const PREDEFINED: &[PredefinedWordlist] = &[
    PredefinedWordlist {
        name: "Common paths",
        description: "Common paths of websites, written for scandeck",
        file: include_str!("../assets/wordlists/common-paths.txt"),
    },
    PredefinedWordlist {
        name: "Common subdomains",
        description: "Common host names of a domain, written for scandeck",
        file: include_str!("../assets/wordlists/common-subdomains.txt"),
    },
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
        for list in PREDEFINED {
            assert!(
                WordlistWords::parse(list.file).count() > 50,
                "{}",
                list.name
            );
        }
    }
}
