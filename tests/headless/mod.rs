//! The commands without a screen: the real binary on the real service, read as a script reads it, through pipes.

pub mod findings;
mod hits;
mod hunt;
mod nouns;
mod scans;
mod script;
mod triage;

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use crate::service::TestService;

/// A service, and a person's home that knows nothing.
pub struct Desk {
    pub world: TestService,
    pub home: TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Desk {
    pub async fn new() -> Self {
        Self { world: TestService::new().await, home: tempfile::tempdir().unwrap() }
    }

    /// Runs a command to its end.
    pub async fn run(&self, args: &[&str]) -> Ended {
        run(&mut self.command(args)).await
    }

    /// A command with address and key in its environment.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = command(self.home.path(), args);
        command.env("SCANDECK_BASE_URL", &self.world.base).env("SCANDECK_API_KEY", &self.world.key);
        command
    }

    /// Runs a command that must succeed.
    pub async fn does(&self, args: &[&str]) -> String {
        let ended = self.run(args).await;
        assert_eq!(ended.code, 0, "{args:?}: {ended:?}");
        ended.out
    }

    /// Runs a command that must succeed and reads its JSON.
    pub async fn json(&self, args: &[&str]) -> Value {
        let out = self.does(&[args, &["--json"]].concat()).await;
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{args:?}: {error}: {out}"))
    }
}

impl Ended {
    /// Asserts exit code, what is said on standard error, and that nothing stands on standard output.
    #[track_caller]
    pub fn refused(&self, code: i32, words: &str) {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{self:?}");
        assert!(self.err.contains(words), "{words}: {self:?}");
    }
}

/// The program with a home of its own and nothing else of this machine's configuration.
pub fn command(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scandeck"));
    command.args(args).stdin(Stdio::null()).current_dir(home).env("HOME", home).env("TZ", "UTC").kill_on_drop(true);
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "SCANDECK_BASE_URL", "SCANDECK_API_KEY"] {
        command.env_remove(name);
    }
    command
}

pub async fn run(command: &mut Command) -> Ended {
    let output = command.output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let ended = Ended { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) };
    for stream in [&ended.out, &ended.err] {
        assert!(!stream.contains(|c: char| c.is_control() && c != '\n'), "controls in a pipe: {stream:?}");
    }
    ended
}
