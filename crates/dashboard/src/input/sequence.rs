//! Keys in a row: `g`, `gx`, `space r`.

use crate::input::KeyChord;
use std::fmt;

/// One key, or several that are pressed one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeySequence(Vec<KeyChord>);

impl KeySequence {
    /// Nobody remembers more.
    const LONGEST: usize = 4;

    /// Parses keys with blanks between them; at most four.
    pub fn parse(text: &str) -> Option<Self> {
        let keys: Vec<KeyChord> = text
            .split_whitespace()
            .map(KeyChord::parse)
            .collect::<Option<_>>()?;
        (1..=Self::LONGEST)
            .contains(&keys.len())
            .then_some(Self(keys))
    }

    pub fn keys(&self) -> &[KeyChord] {
        &self.0
    }

    /// Keys as written in the configuration, with blanks between them.
    pub fn setting(&self) -> String {
        let keys: Vec<String> = self.0.iter().map(KeyChord::to_string).collect();
        keys.join(" ")
    }

    /// Whether it begins with these keys, or is these keys.
    pub fn starts_with(&self, keys: &[KeyChord]) -> bool {
        self.0.starts_with(keys)
    }
}

impl From<Vec<KeyChord>> for KeySequence {
    fn from(keys: Vec<KeyChord>) -> Self {
        Self(keys)
    }
}

/// Keys as printed: characters without blanks, as in `gx`; with a longer name among them with
/// blanks, as in `space r`.
pub fn printed<'keys>(keys: impl IntoIterator<Item = &'keys KeyChord>) -> String {
    let keys: Vec<String> = keys.into_iter().map(KeyChord::to_string).collect();
    keys.join(if keys.iter().all(|key| key.chars().count() == 1) {
        ""
    } else {
        " "
    })
}

impl fmt::Display for KeySequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printed(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_is_printed_as_short_as_it_stays_readable() {
        for (text, printed) in [
            ("g", "g"),
            ("g x", "gx"),
            ("space r", "space r"),
            ("ctrl-w +", "ctrl-w +"),
        ] {
            assert_eq!(
                KeySequence::parse(text)
                    .map(|keys| keys.to_string())
                    .as_deref(),
                Some(printed)
            );
        }
        for text in ["", "  ", "gx", "a b c d e"] {
            assert_eq!(KeySequence::parse(text), None, "{text:?}");
        }
    }
}
