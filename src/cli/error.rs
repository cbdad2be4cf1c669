//! Errors of commands: message, hint and exit code.
//!
//! ```text
//!   error ─► causes on one line, hint on a second one ─► standard error; exit code 1 (2: usage)
//! ```

use std::fmt::Display;
use std::process::ExitCode;

use super::dashboard;
use scandeck_wire::text;

/// Exit code of errors without a code of their own.
const FAILED: u8 = 1;
/// Exit code of usage errors, as clap's.
const USAGE: u8 = 2;

/// An error with a hint, which is printed on a second line.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CliError {
    message: String,
    pub(super) hint: String,
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

    pub fn usage(message: impl Display, hint: impl Into<String>) -> Self {
        Self {
            code: USAGE,
            ..Self::new(message, hint)
        }
    }

    /// The error with another hint.
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: hint.into(),
            ..self
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

/// Prints the error with its causes and its hint.
pub fn report(error: &anyhow::Error) -> ExitCode {
    note!("{}", message(error));
    exit_code(error)
}

/// The error with its causes on one line, and its hint on a second line. Messages of the service
/// are sanitised.
fn message(error: &anyhow::Error) -> String {
    let hint = hint(error)
        .map(|hint| format!("\n  {hint}"))
        .unwrap_or_default();
    text::clean_text(&format!("scandeck: {}{hint}", with_causes(error))).into_owned()
}

/// The hint of the first error in the chain that has one.
pub fn hint(error: &anyhow::Error) -> Option<String> {
    let hint_of = |cause: &(dyn std::error::Error + 'static)| {
        cause
            .downcast_ref::<CliError>()
            .map(|error| error.hint.clone())
            .or_else(|| dashboard::hint_of(cause))
    };
    error
        .chain()
        .find_map(hint_of)
        .filter(|hint| !hint.trim().is_empty())
}

fn exit_code(error: &anyhow::Error) -> ExitCode {
    let code = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<CliError>().map(|error| error.code));
    ExitCode::from(code.unwrap_or(FAILED))
}

/// The messages of an error and its causes. Many messages contain their cause already, which is not
/// repeated.
pub fn with_causes(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        // Without the number of the operating system: `(os error 2)`.
        let cause = match cause.rsplit_once(" (os error ") {
            Some((text, number)) if number.ends_with(')') => match text.rsplit_once(": ") {
                Some((subject, cause)) => format!("{subject}: {}", cause.to_lowercase()),
                None => text.to_lowercase(),
            },
            _ => cause,
        };
        if !text.contains(&cause) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&cause);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn error_with_hint_prints_causes_and_hint_on_two_lines() {
        let error = anyhow::Result::<()>::Err(CliError::new("file not found", "create it").into());
        let error = error.context("cannot start").unwrap_err();
        assert_eq!(
            message(&error),
            "scandeck: cannot start: file not found\n  create it"
        );
        let denied = anyhow::anyhow!("cannot read /Srv/Key: Permission denied (os error 13)");
        assert_eq!(
            message(&denied),
            "scandeck: cannot read /Srv/Key: permission denied"
        );
        assert_eq!(message(&anyhow::anyhow!("plain")), "scandeck: plain");
        assert_eq!(
            message(&CliError::new("file not found", "").into()),
            "scandeck: file not found"
        );
    }

    #[test]
    fn cause_that_a_message_contains_is_printed_once() {
        let cause = std::io::Error::from(std::io::ErrorKind::AddrInUse);
        let expected = format!("scandeck: cannot listen: {cause}; choose another port");
        let error = anyhow::Error::from(cause)
            .context("cannot listen: address in use; choose another port");
        assert_eq!(message(&error), expected);
    }

    #[test]
    fn message_of_a_service_cannot_control_the_terminal() {
        let text = message(&CliError::new("\x1b]52;c;eA==\x07 exe\u{202e}gpj", "").into());
        assert!(
            !text.contains(char::is_control) && !text.contains('\u{202e}'),
            "{text:?}"
        );
    }
}
