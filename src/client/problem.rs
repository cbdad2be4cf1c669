//! An error as both front ends show it: state, cause and next step.

use std::fmt;

use super::Error;

/// An error as data: comparable and cloneable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// HTTP status, if the service responded.
    pub status: Option<u16>,
    /// What happened, in one line; the message of the service if it sent one.
    pub message: String,
    /// More details.
    pub details: Option<String>,
    /// The next step.
    pub hint: Option<String>,
}

impl Problem {
    /// A failure on this machine.
    pub fn local(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
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

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let hint = Some(error.hint());
        Self { status: error.status, message: error.message, details: error.details, hint }
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        Self::from(error.clone())
    }
}
