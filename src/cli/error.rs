//! Errors of commands: message, hint and exit code.

use std::fmt::Display;
use std::process::ExitCode;

use scandeck_client::{Error, Problem};
use scandeck_dashboard::config::ConfigError;
use scandeck_domain::triage::StoreError;

/// Exit code of errors without a code of their own.
const FAILED: u8 = 1;
/// Exit code of usage errors, as clap's.
const USAGE: u8 = 2;

/// An error with a hint, which is printed on a second line.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CliError {
    message: String,
    hint: String,
    code: u8,
}

impl CliError {
    pub fn new(message: impl Display, hint: impl Into<String>) -> Self {
        Self {
            message: message.to_string(),
            hint: hint.into(),
            code: FAILED,
        }
    }

    /// A usage error.
    pub fn usage(message: impl Display, hint: impl Into<String>) -> Self {
        Self {
            code: USAGE,
            ..Self::new(message, hint)
        }
    }

    /// The error of a name that does not exist, with the names that do.
    pub fn not_found<N: AsRef<str>>(
        noun: &str,
        name: &str,
        others: impl IntoIterator<Item = N>,
    ) -> Self {
        let others: Vec<String> = others
            .into_iter()
            .map(|one| one.as_ref().to_owned())
            .collect();
        let hint = match others.is_empty() {
            true => format!("there are no {noun}s"),
            false => format!("{noun}s: {}", others.join(", ")),
        };
        Self::new(format!("{noun} {name:?} not found"), hint)
    }
}

/// The hint of the first error in the chain that has one.
pub fn hint(error: &anyhow::Error) -> Option<String> {
    let hints = error.chain().filter_map(|cause| {
        let of_cli = || {
            cause
                .downcast_ref::<CliError>()
                .map(|error| error.hint.clone())
        };
        let of_client = || cause.downcast_ref::<Error>().map(Error::hint);
        let of_store = || cause.downcast_ref::<StoreError>().map(StoreError::hint);
        let of_config = || {
            cause
                .downcast_ref::<ConfigError>()
                .map(|error| error.hint().to_owned())
        };
        let of_problem = || {
            cause
                .downcast_ref::<Problem>()
                .and_then(|problem| problem.hint.clone())
        };
        of_cli()
            .or_else(of_client)
            .or_else(of_store)
            .or_else(of_config)
            .or_else(of_problem)
    });
    hints
        .into_iter()
        .next()
        .filter(|hint| !hint.trim().is_empty())
}

/// The exit code of an error.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    let code = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<CliError>().map(|error| error.code));
    ExitCode::from(code.unwrap_or(FAILED))
}

impl From<CliError> for Problem {
    fn from(error: CliError) -> Self {
        Self::local(error.message).with_hint(error.hint)
    }
}

impl From<Problem> for CliError {
    fn from(problem: Problem) -> Self {
        let details = problem
            .details
            .as_ref()
            .map(|details| format!(" ({details})"))
            .unwrap_or_default();
        Self::new(
            format!("{problem}{details}"),
            problem.hint.unwrap_or_default(),
        )
    }
}
