//! Runs a command of the configuration: no shell, the rows in variables and as JSON on standard
//! input, a process group of its own, limits of time and output.

use crate::base::CommandRun;
use rustix::process::{Pid, Signal, kill_process_group};
use scandeck_domain::problem::Problem;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::time::timeout;

/// Limit of a run.
const LIMIT: Duration = Duration::from_secs(60);
/// Most bytes of output, and of error output.
const MOST_OUTPUT: u64 = 1 << 20;

/// Kills the process group when dropped, unless the program has ended: the id could be that of
/// another group by then.
struct ProcessGroup(Option<Pid>);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // Fails when the group has ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Runs a command and returns its output.
///
/// # Errors
/// When it cannot be started, fails, takes too long, or prints too much.
pub async fn run(run: &CommandRun) -> Result<String, Problem> {
    run_within(run, LIMIT).await
}

async fn run_within(run: &CommandRun, limit: Duration) -> Result<String, Problem> {
    let Some((program, arguments)) = run.action.command().words.split_first() else {
        return Ok(String::new());
    };
    let failed = |why: String| Problem::local(why).with_hint("check [[commands]] in config.toml");
    let mut command = Command::new(program);
    // The command never gets a secret. Its colours would be shown as escape sequences.
    command
        .args(arguments)
        .env_remove("SCANDECK_API_KEY")
        .env_remove("SCANDECK_DATABASE_URL")
        .env("NO_COLOR", "1");
    if run.is_masked {
        command.env_remove("SCANDECK_BASE_URL");
    }
    command.envs(
        run.variables
            .iter()
            .map(|(name, value)| (format!("SCANDECK_{name}"), value)),
    );
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let mut child = command
        .spawn()
        .map_err(|error| failed(format!("{program} cannot be started: {error}")))?;
    // Declared after `child`, so that the group is killed before the child is reaped.
    let mut group = ProcessGroup(
        child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw),
    );
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A program that does not read its input has closed it.
            let _ = stdin.write_all(run.input.as_bytes()).await;
        }
        Ok(())
    };
    let work = async {
        let ((), output, errors) = tokio::try_join!(write, read(stdout), read(stderr))?;
        let status = child
            .wait()
            .await
            .map_err(|error| format!("{program}: exit status unknown: {error}"))?;
        group.0 = None;
        match status.success() {
            true => Ok(output + &errors),
            false => {
                let why = errors
                    .lines()
                    .next()
                    .map(|line| format!(": {line}"))
                    .unwrap_or_default();
                // A program that was killed has no exit code.
                let ended = status
                    .code()
                    .map_or_else(|| status.to_string(), |code| format!("exit code {code}"));
                Err(format!("{program} ended with {ended}{why}"))
            }
        }
    };
    let ended = timeout(limit, work).await;
    ended
        .unwrap_or_else(|_| Err(format!("{program} was stopped after {} s", limit.as_secs())))
        .map_err(failed)
}

/// Reads to the end.
async fn read(output: Option<impl AsyncRead + Unpin>) -> Result<String, String> {
    let Some(output) = output else {
        return Ok(String::new());
    };
    let mut bytes = Vec::new();
    let read = output.take(MOST_OUTPUT + 1).read_to_end(&mut bytes).await;
    read.map_err(|error| format!("output not read: {error}"))?;
    if bytes.len() as u64 > MOST_OUTPUT {
        return Err("stopped: more than 1 MB of output".to_owned());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::file::CommandSetting;
    use crate::input::CustomAction;

    fn command(words: &[&str]) -> CommandRun {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let action = CustomAction::new(&CommandSetting {
            words,
            ..CommandSetting::default()
        });
        CommandRun {
            action,
            variables: vec![("NAME", "$(id) `x`".to_owned())],
            input: "{\"items\":[]}\n".to_owned(),
            is_masked: false,
        }
    }

    #[tokio::test]
    async fn command_gets_variables_and_json_without_a_shell() {
        let output = run(&command(&[
            "sh",
            "-c",
            "printf '%s|' \"$SCANDECK_NAME\"; cat",
            "$SCANDECK_NAME",
        ]))
        .await;
        assert_eq!(output.unwrap(), "$(id) `x`|{\"items\":[]}\n");
        assert_eq!(
            run(&command(&["echo", "$SCANDECK_NAME;", "a b"]))
                .await
                .unwrap(),
            "$SCANDECK_NAME; a b\n"
        );
        let keys = run(&command(&[
            "sh",
            "-c",
            "env | grep -c SCANDECK_API_KEY || true",
        ]))
        .await
        .unwrap();
        assert_eq!(keys, "0\n");
    }

    #[tokio::test]
    async fn failed_command_is_a_problem_with_its_reason() {
        let failed = run(&command(&["sh", "-c", "echo no such ticket >&2; exit 3"]))
            .await
            .unwrap_err();
        assert!(
            failed
                .message
                .contains("ended with exit code 3: no such ticket")
                && failed.hint.is_some(),
            "{failed}"
        );
        assert!(
            run(&command(&["/nowhere/tool"]))
                .await
                .unwrap_err()
                .message
                .contains("cannot be started")
        );
    }

    #[tokio::test]
    async fn command_over_a_limit_is_stopped() {
        let flood = run(&command(&["sh", "-c", "yes & yes"])).await.unwrap_err();
        assert!(flood.message.contains("more than 1 MB"), "{flood}");
        let slow = run_within(&command(&["sh", "-c", "sleep 600 & wait"]), Duration::ZERO)
            .await
            .unwrap_err();
        assert!(slow.message.contains("stopped after 0 s"), "{slow}");
    }
}
