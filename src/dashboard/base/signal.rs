//! What is signalled to the user when a request comes in.

/// Something to be heard. All its texts passed the door of [`crate::text`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signal {
    /// In a few words.
    pub title: String,
    /// In one line.
    pub body: String,
    /// What is known, by name: `token`, `logger`, `from` …
    pub facts: Vec<(&'static str, String)>,
}
