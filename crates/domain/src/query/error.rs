//! Parse errors: position, reason and hint.

use std::ops::Range;

/// Parse error of a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}{}", .hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
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
        Self {
            at,
            reason: reason.into(),
            hint: None,
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Longest text that is compared with names.
const LONGEST: usize = 40;

/// The hint of a misspelled name.
pub fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

/// The nearest name: a prefix match, or at most two edits away; of at most three letters, one.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    if typed.len() > LONGEST {
        return None;
    }
    let most = if typed.len() > 3 { 2 } else { 1 };
    let far = |name: &str| match name.starts_with(&typed) {
        true => 0,
        // `newer` for `new`.
        false if name.len() >= 3 && typed.starts_with(name) => 1,
        false => strsim::levenshtein(&typed, name),
    };
    names
        .map(|name| (far(name), name))
        .filter(|(far, name)| *far <= most.min(name.len() / 2))
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_name_suggests_nearest() {
        let names = || ["verdict", "risk", "port", "reason"].into_iter();
        assert_eq!(nearest("verdcit", names()), Some("verdict"));
        assert_eq!(nearest("Ris", names()), Some("risk"));
        assert_eq!(nearest("foo", ["tool"].into_iter()), None);
        assert_eq!(nearest("https", names()), None);
        assert_eq!(nearest("newer", ["new", "known"].into_iter()), Some("new"));
    }
}
