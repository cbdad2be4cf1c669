//! Occurrences of tokens in captured requests.

use super::Token;
use scandeck_wire::contract::Shared;

/// A token found in a captured request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    pub token: Token,
    /// True if a payload has this token. Unknown tokens are reported only at the position of a
    /// payload token: in `t=` or as a path segment.
    pub known: bool,
    /// Position in the request.
    pub place: MentionPlace,
    /// Encodings around the token, outermost first, such as `url`, `base64`; empty if it was plain.
    pub wrapped: Vec<&'static str>,
    /// Text after the token in the same value, such as `/latest/meta-data`; sanitized.
    pub added: Shared,
}

/// Part of a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MentionPlace {
    /// A query parameter of this name.
    Query(Shared),
    Path,
    /// A header of this name.
    Header(Shared),
    Body,
}
