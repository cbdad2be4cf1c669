//! The type of text that was cleaned for people.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::ops::Deref;

/// Text that a terminal draws and that does nothing else there. Characters were replaced in it, so
/// it is not what arrived: it has no way into JSON (no `Serialize`), shell words and files (no
/// bytes). What a program reads is made of the original text, by a writer that escapes in its own
/// language: [`quoted`](super::quoted), [`escaped_json`](super::escaped_json).
///
/// ```compile_fail
/// let shown = scandeck::text::clean("two\nlines");
/// let _ = serde_json::to_string(&shown);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayText<'a>(Cow<'a, str>);

impl<'a> DisplayText<'a> {
    pub(super) fn new(cleaned: impl Into<Cow<'a, str>>) -> Self {
        Self(cleaned.into())
    }

    /// The text for a screen, a message or a page.
    pub fn into_owned(self) -> String {
        self.0.into_owned()
    }

    /// Whether cleaning changed nothing, so that the text is also what arrived.
    pub fn is_unchanged(&self, original: &str) -> bool {
        self.0 == original
    }
}

impl Deref for DisplayText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Display for DisplayText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'a> From<DisplayText<'a>> for Cow<'a, str> {
    fn from(text: DisplayText<'a>) -> Self {
        text.0
    }
}

impl PartialEq<&str> for DisplayText<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == **other
    }
}
