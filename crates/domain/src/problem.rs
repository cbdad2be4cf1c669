//! An error as both front ends show it: state, cause and next step.

use std::fmt;

use scandeck_wire::contract::Stamp;

/// An error as data: comparable and cloneable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// HTTP status, if the service responded.
    pub status: Option<u16>,
    /// The problem in one line; the message of the service if it sent one.
    pub message: String,
    /// More details.
    pub details: Option<String>,
    /// The next step.
    pub hint: Option<String>,
    /// State and cause in a few words.
    pub brief: Box<str>,
    /// When the request is repeated, if it is.
    pub retry_at: Option<Stamp>,
    /// Whether nothing listens at the address of the service.
    pub is_refused: bool,
    /// Whether the service may have carried out the request.
    pub is_outcome_unknown: bool,
}

impl Problem {
    /// A failure on this machine.
    pub fn local(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }

    /// State and cause in a few words.
    pub fn brief(&self) -> &str {
        if self.brief.is_empty() {
            &self.message
        } else {
            &self.brief
        }
    }

    /// The same problem with a next step.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.status {
            Some(status) => write!(f, " ({status})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}
