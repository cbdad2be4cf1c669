//! Running a program with a text on its standard input, for the clipboard and for alerts.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

/// Why a program did not end well, as a phrase that follows its name.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    #[error("cannot be started: {0}")]
    NotStarted(io::Error),
    #[error("ended with {0}")]
    Failed(ExitStatus),
    #[error("ended, exit status unknown: {0}")]
    Unknown(io::Error),
    #[error("was stopped after {} s", .0.as_secs())]
    Stopped(Duration),
}

impl ProgramError {
    /// Whether it may have done its work.
    pub fn is_outcome_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_) | Self::Stopped(_))
    }
}

/// Runs a command without output and waits for its end.
///
/// # Errors
/// When it cannot be started, fails, or takes too long.
pub(crate) async fn run_with_input(
    mut command: Command,
    input: &[u8],
    limit: Duration,
) -> Result<(), ProgramError> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut child = command.spawn().map_err(ProgramError::NotStarted)?;
    let work = async {
        if let Some(mut stdin) = child.stdin.take() {
            // A program that does not read its input has closed it.
            let _ = stdin.write_all(input).await;
        }
        child.wait().await
    };
    match timeout(limit, work).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(ProgramError::Failed(status)),
        Ok(Err(error)) => Err(ProgramError::Unknown(error)),
        Err(_) => Err(ProgramError::Stopped(limit)),
    }
}
