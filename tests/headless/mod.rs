//! Headless commands: the real binary with the real service, read through pipes as a script does.

mod case;
mod doctor;
pub mod findings;
mod hits;
mod hunt;
mod import;
mod input_files;
mod keys;
mod nouns;
mod outputs;
mod prove;
mod scan_profiles;
mod scans;
mod schedules;
mod script;
mod shell;
mod stores;
mod triage;
mod version;
mod watch;
mod watched_schedules;

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use crate::service::TestService;

/// A service and an empty home directory.
pub struct CliFixture {
    pub service: TestService,
    pub home: TempDir,
}

/// The result of a command.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl CliFixture {
    pub async fn new() -> Self {
        Self {
            service: TestService::new().await,
            home: tempfile::tempdir().unwrap(),
        }
    }

    pub async fn run(&self, args: &[&str]) -> Ended {
        run(&mut self.command(args)).await
    }

    /// A command with base URL and key in its environment.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = command(self.home.path(), args);
        command
            .env("SCANDECK_BASE_URL", &self.service.base)
            .env("SCANDECK_API_KEY", &self.service.key);
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
    /// Asserts the exit code, words of standard error, and an empty standard output.
    #[track_caller]
    pub fn refused(&self, code: i32, words: &str) {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{self:?}");
        assert!(self.err.contains(words), "{words}: {self:?}");
    }
}

/// The program with this home and without any configuration of the machine.
pub fn command(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scandeck"));
    command
        .args(args)
        .stdin(Stdio::null())
        .current_dir(home)
        .env("HOME", home)
        .env("TZ", "UTC")
        .kill_on_drop(true);
    for name in [
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "SCANDECK_BASE_URL",
        "SCANDECK_API_KEY",
    ] {
        command.env_remove(name);
    }
    command
}

pub async fn run(command: &mut Command) -> Ended {
    let output = command.output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let ended = Ended {
        code: output.status.code().unwrap(),
        out: text(output.stdout),
        err: text(output.stderr),
    };
    // A captured request has the line ends of HTTP.
    for stream in [ended.out.replace("\r\n", "\n"), ended.err.clone()] {
        assert!(
            !stream.contains(|c: char| c.is_control() && c != '\n'),
            "control characters in a pipe: {stream:?}"
        );
    }
    ended
}
