//! Mentions: where a captured request carries a token, and what the target made of it.

use super::Token;
use crate::contract::Shared;

/// A token in a captured request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Which.
    pub token: Token,
    /// It is in the payload book. One that is not stands where a payload's would: in `t=` or as a part of the path.
    pub known: bool,
    /// Where it stood.
    pub place: MentionPlace,
    /// How it was wrapped there, outermost first, such as `url`, `base64`; empty where it stood plainly.
    pub wrapped: Vec<&'static str>,
    /// What stood behind it in the same value and was not planted, such as `/latest/meta-data`; cleaned.
    pub added: Shared,
}

/// Where in a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MentionPlace {
    /// The query, under this name.
    Query(Shared),
    /// The path.
    Path,
    /// A header of this name.
    Header(Shared),
    /// The body.
    Body,
}
