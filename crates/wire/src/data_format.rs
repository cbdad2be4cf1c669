//! The formats of stored data, each with its number.
//!
//! ```text
//!   number of the data    smaller, equal ─► read, written with the number of the program     greater ─► refused untouched
//! ```

/// Data that later versions read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataFormat {
    /// The contents, for people: `decisions`.
    pub name: &'static str,
    /// The number that is written, and the greatest that is read.
    pub number: i64,
    /// The name of the SQLite file, whose header has the number.
    pub file: Option<&'static str>,
}
