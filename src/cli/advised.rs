//! Errors with what to do about them: the end of the program tells both, on two lines, and ends with their exit code.

use std::process::ExitCode;

use crate::client::{Error, Problem};
use crate::config::ConfigError;

/// Exit code of everything that went wrong and has no code of its own.
const FAILED: u8 = 1;
/// Exit code of a command that was typed wrongly, as the argument parser's own.
const USAGE: u8 = 2;

/// An error with what to do about it, which the end of the program tells on a second line.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct Advised {
    what: String,
    hint: Option<String>,
    code: u8,
}

impl Advised {
    /// What is wrong, and what to do.
    pub fn new(what: impl std::fmt::Display, hint: impl Into<String>) -> Self {
        Self { what: what.to_string(), hint: Some(hint.into()), code: FAILED }
    }

    /// The same for a command that makes no sense as it was typed.
    pub fn usage(what: impl std::fmt::Display, hint: impl Into<String>) -> Self {
        Self { code: USAGE, ..Self::new(what, hint) }
    }
}

/// What to do about an error, if anything in its chain knows.
pub fn hint_of(error: &anyhow::Error) -> Option<String> {
    let known = error.chain().find_map(|cause| match cause.downcast_ref::<Advised>() {
        Some(advised) => advised.hint.clone(),
        None => cause.downcast_ref::<Error>().map(Error::hint),
    });
    known.filter(|hint| !hint.trim().is_empty())
}

/// The exit code of an error.
pub fn code_of(error: &anyhow::Error) -> ExitCode {
    let own = error.chain().find_map(|cause| cause.downcast_ref::<Advised>().map(|advised| advised.code));
    ExitCode::from(own.unwrap_or(FAILED))
}

impl From<ConfigError> for Advised {
    fn from(error: ConfigError) -> Self {
        Self::new(&error, error.hint())
    }
}

impl From<Problem> for Advised {
    fn from(problem: Problem) -> Self {
        let details = problem.details.as_ref().map(|details| format!(" ({details})")).unwrap_or_default();
        Self { what: format!("{problem}{details}"), hint: problem.hint, code: FAILED }
    }
}
