//! The first key of a two-key sequence.

use crate::dashboard::input::Context;

/// The first key of a two-key sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// `g`
    Go,
    /// `y`
    Copy,
    /// `y p`
    Shape,
    /// `b`
    Group,
}

impl Prefix {
    /// Where the second key is looked up.
    pub fn context(self) -> Context {
        match self {
            Self::Go => Context::Go,
            Self::Copy => Context::Copy,
            Self::Shape => Context::Shape,
            Self::Group => Context::Group,
        }
    }
}
