//! Files of an earlier version keep working: see `tests/fixtures/0.1.0/README.md`.
//!
//! The tests run the real binary and the service on a copy of the fixture. Only [`config`],
//! [`names`], [`range`] and the start of the service below import modules of the crate.

mod bundle;
mod config;
mod files;
mod keys;
mod names;
mod newer;
mod range;
mod rescan;
mod service;
mod state;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use scandeck::service::{Parts, start_with};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use crate::headless::{Ended, command, run};
use crate::service::{TestService, settings};

/// Base URL of the loggers when the fixture was made.
const LOGGER_BASE: &str = "http://127.0.0.1:18469/";
/// Address of the service when the fixture was made; nothing listens there now.
const SERVICE_BASE: &str = "http://127.0.0.1:18470";

/// Path of a file of the fixture.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/0.1.0")
        .join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(fixture(name)).unwrap()
}

fn expected(noun: &str) -> Value {
    serde_json::from_str(&text(&format!("expected/{noun}.json"))).unwrap()
}

/// A home directory, with or without the data of the fixture.
struct Home {
    dir: TempDir,
}

impl Home {
    /// A home without any data.
    fn empty() -> Self {
        let home = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        home.connect(SERVICE_BASE, "no key");
        home
    }

    /// A home with copies of the state directory and the service's database.
    fn with_fixture() -> Self {
        let home = Self::empty();
        copy(&fixture("state"), &home.path().join("state/scandeck"));
        copy(&fixture("service"), &home.service_dir());
        home
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn service_dir(&self) -> PathBuf {
        self.path().join("service")
    }

    /// Writes a configuration whose default profile `practice` uses the service at this address.
    fn connect(&self, base: &str, key: &str) {
        let (key_file, directory) = (self.path().join("key"), self.path().join("config/scandeck"));
        fs::create_dir_all(&directory).unwrap();
        fs::write(&key_file, key).unwrap();
        fs::set_permissions(&key_file, fs::Permissions::from_mode(0o600)).unwrap();
        let key_file = key_file.display();
        let profile =
            format!("[profiles.practice]\nbase_url = \"{base}\"\napi_key_file = \"{key_file}\"\n");
        fs::write(
            directory.join("config.toml"),
            format!("default_profile = \"practice\"\nuser = \"ann\"\n{profile}"),
        )
        .unwrap();
    }

    /// Starts the current service on the copied database, and connects the profile to it.
    async fn serve(&self) -> TestService {
        let stop = CancellationToken::new();
        let mut settings = settings(&self.service_dir());
        // The loggers of the fixture must not expire.
        settings.logger_days = 3650;
        let running = start_with(settings, stop.clone(), Parts::default())
            .await
            .unwrap();
        let service = TestService::of(running, stop);
        self.connect(&service.base, &service.key);
        service
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(self.path(), arguments);
        command
            .env("XDG_CONFIG_HOME", self.path().join("config"))
            .env("XDG_STATE_HOME", self.path().join("state"));
        // Requests to loopback must ignore the proxy variables.
        command
            .env("HTTP_PROXY", "http://127.0.0.1:9")
            .env("http_proxy", "http://127.0.0.1:9");
        command
    }

    async fn run(&self, arguments: &[&str]) -> Ended {
        run(&mut self.command(arguments)).await
    }

    /// Runs a command that must succeed, and returns its standard output.
    async fn output(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments).await;
        assert_eq!(ended.code, 0, "{arguments:?}: {ended:?}");
        ended.out
    }

    /// Runs a command with `--json` and parses its output.
    async fn json(&self, arguments: &[&str]) -> Value {
        let out = self.output(&[arguments, &["--json"]].concat()).await;
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"))
    }

    /// The lines of a bundle that the current version writes.
    async fn bundle_lines(&self) -> BTreeSet<String> {
        self.output(&[
            "bundle",
            "--workspace",
            "Practice range",
            "-o",
            "now.bundle",
        ])
        .await;
        bundle_lines(&fs::read_to_string(self.path().join("now.bundle")).unwrap())
    }
}

/// The lines of a bundle without the manifest and the time of the last visit.
fn bundle_lines(bundle: &str) -> BTreeSet<String> {
    let lines = bundle
        .lines()
        .filter(|line| !line.starts_with(r#"{"manifest""#) && !line.contains(r#""looked""#));
    lines
        .map(|line| serde_json::from_str::<Value>(line).unwrap().to_string())
        .collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
}

/// Differences between two JSON values, except in these fields and in fields that only the actual
/// value has.
fn differences(expected: &Value, actual: &Value, except: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    compare(expected, actual, except, "", &mut found);
    found
}

fn compare(expected: &Value, actual: &Value, except: &[&str], at: &str, found: &mut Vec<String>) {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            for (name, value) in expected
                .iter()
                .filter(|(name, _)| !except.contains(&name.as_str()))
            {
                let other = actual.get(name).unwrap_or(&Value::Null);
                compare(value, other, except, &format!("{at}.{name}"), found);
            }
        }
        (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
            for (number, (value, other)) in expected.iter().zip(actual).enumerate() {
                compare(value, other, except, &format!("{at}[{number}]"), found);
            }
        }
        _ if expected == actual => {}
        _ => found.push(format!("{at}: expected {expected}, found {actual}")),
    }
}
