//! Why a text is no query: where, for what reason, and what to write instead.

use std::fmt;
use std::ops::Range;

/// Why a text is no query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Bytes of the text that it is about; empty at its end where something is missing.
    pub at: Range<usize>,
    /// One sentence without a full stop.
    pub reason: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl ParseError {
    /// An error about a place.
    pub fn new(at: Range<usize>, reason: impl Into<String>) -> Self {
        Self { at, reason: reason.into(), hint: None }
    }

    /// The same with what to write instead.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

impl std::error::Error for ParseError {}

/// The name that is nearest to what was typed: its beginning, or at most two letters away.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let far = |name: &str| if name.starts_with(&typed) { 0 } else { distance(&typed, name) };
    names.map(|name| (far(name), name)).filter(|(far, name)| *far <= 2.min(name.len() / 2)).min().map(|(_, name)| name)
}

/// How many letters must be put in, taken out or exchanged to make one text of the other.
fn distance(a: &str, b: &str) -> usize {
    if a.len() > 40 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (row, letter) in a.chars().enumerate() {
        let mut present = vec![row + 1];
        for (column, other) in b.iter().enumerate() {
            let kept = above[column] + usize::from(letter != *other);
            present.push(kept.min(above[column + 1] + 1).min(present[column] + 1));
        }
        above = present;
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_name_and_nonsense_finds_none() {
        let names = || ["verdict", "risk", "port", "reason"].into_iter();
        assert_eq!(nearest("verdcit", names()), Some("verdict"));
        assert_eq!(nearest("Ris", names()), Some("risk"));
        assert_eq!(nearest("https", names()), None);
    }
}
