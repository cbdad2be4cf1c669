//! Parse errors: position, reason and hint.

use std::fmt;
use std::ops::Range;

/// Parse error of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Byte range of the error; empty at the end if something is missing.
    pub at: Range<usize>,
    /// Reason, without a full stop.
    pub reason: String,
    /// Suggested correction.
    pub hint: Option<String>,
}

impl ParseError {
    /// An error at a position.
    pub fn new(at: Range<usize>, reason: impl Into<String>) -> Self {
        Self { at, reason: reason.into(), hint: None }
    }

    /// Adds a hint.
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

/// The nearest name: a prefix match, or at most two edits away.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let far = |name: &str| if name.starts_with(&typed) { 0 } else { distance(&typed, name) };
    names.map(|name| (far(name), name)).filter(|(far, name)| *far <= 2.min(name.len() / 2)).min().map(|(_, name)| name)
}

/// Edit distance of two texts.
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
    fn misspelled_name_suggests_nearest() {
        let names = || ["verdict", "risk", "port", "reason"].into_iter();
        assert_eq!(nearest("verdcit", names()), Some("verdict"));
        assert_eq!(nearest("Ris", names()), Some("risk"));
        assert_eq!(nearest("https", names()), None);
    }
}
