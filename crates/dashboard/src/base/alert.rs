//! An alert to the user about a captured request.

/// An alert. All its texts are sanitised by [`scandeck_wire::text`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alert {
    /// In a few words.
    pub title: String,
    /// In one line.
    pub body: String,
    /// Facts by name: `token`, `logger`, `from` …
    pub fields: Vec<(&'static str, String)>,
}
