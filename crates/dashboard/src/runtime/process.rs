//! Running a program with a text on its standard input, for the clipboard and for alerts.

use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

/// Runs a command without output and waits for its end.
///
/// # Errors
/// The end of the command, as a phrase that follows its name.
pub(crate) async fn run_with_input(
    mut command: Command,
    input: &[u8],
    limit: Duration,
) -> Result<(), String> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut child = command
        .spawn()
        .map_err(|error| format!("cannot be started: {error}"))?;
    let work = async {
        if let Some(mut stdin) = child.stdin.take() {
            // A program that does not read its input has closed it.
            let _ = stdin.write_all(input).await;
        }
        child.wait().await
    };
    match timeout(limit, work).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("ended with {status}")),
        Ok(Err(error)) => Err(format!("ended, exit status unknown: {error}")),
        Err(_) => Err(format!("was stopped after {} s", limit.as_secs())),
    }
}
