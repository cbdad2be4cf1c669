//! An error as both front ends show it: what happened, in whose words, and what to do next.

use std::fmt;
use std::time::Duration;

use super::{Error, ErrorKind};

/// An error as data: comparable, cloneable, without its machinery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The kind of failure, which decides what the screen does about it.
    pub kind: ProblemKind,
    /// HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// One line: what happened. The service's own words where it gave some.
    pub message: String,
    /// More, where there is more to say.
    pub details: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
}

/// Kinds of failure that the screen tells apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProblemKind {
    /// No connection, or it broke.
    Connection,
    /// No answer in time.
    Timeout,
    /// The key is missing or wrong.
    Unauthorized,
    /// Not allowed with this key, plan or scope.
    Forbidden,
    /// Does not exist, or not for this key.
    NotFound,
    /// Contradicts what there is.
    Conflict,
    /// The service did not accept what was sent; belongs to a form.
    Refused,
    /// Too many requests; the service names the pause.
    RateLimited {
        /// How long to wait.
        wait: Option<Duration>,
    },
    /// The service failed.
    Server,
    /// The answer cannot be read as this API's.
    Unreadable,
    /// Something on this machine: a file, the terminal, a program.
    #[default]
    Local,
}

impl Problem {
    /// A failure on this machine.
    pub fn local(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// The same with advice.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(status) = self.status {
            write!(f, " ({status})")?;
        }
        Ok(())
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        let kind = match error.kind {
            ErrorKind::Absent | ErrorKind::Connect | ErrorKind::Tls => ProblemKind::Connection,
            ErrorKind::Timeout => ProblemKind::Timeout,
            ErrorKind::Unauthorized => ProblemKind::Unauthorized,
            ErrorKind::Forbidden => ProblemKind::Forbidden,
            ErrorKind::NotFound => ProblemKind::NotFound,
            ErrorKind::Conflict => ProblemKind::Conflict,
            ErrorKind::Invalid | ErrorKind::NotAcceptable => ProblemKind::Refused,
            ErrorKind::RateLimited { retry_after } => ProblemKind::RateLimited { wait: retry_after },
            ErrorKind::BudgetSpent { .. } => ProblemKind::RateLimited { wait: None },
            ErrorKind::Server => ProblemKind::Server,
            ErrorKind::NotThisApi | ErrorKind::TooLarge | ErrorKind::Decode => ProblemKind::Unreadable,
        };
        Problem {
            kind,
            status: error.status,
            message: error.message.clone(),
            details: error.details.clone(),
            hint: Some(error.hint()),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}
