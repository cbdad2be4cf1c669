//! Source of the API key: never a command-line argument, a log or a shell.

use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use secrecy::SecretString;
use tokio::process::Command;

use super::{ConfigError, Environment, Flags, Profile};
use scandeck_wire::input_files::{InputKind, read_text, secret_metadata};

const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

/// The secret and the setting of its command, for messages.
const KEY: &str = "API key";
const KEY_COMMAND: &str = "api_key_command";

#[derive(Clone, Debug)]
pub enum KeySource {
    /// From `SCANDECK_API_KEY`.
    Given(SecretString),
    /// Program and arguments of a command that prints the key.
    Command(Vec<String>),
    /// A file that only its owner may read.
    File(PathBuf),
}

/// The first source in the order of precedence. The caller passes the profile and the stored key
/// only when they belong to the base URL in use.
pub(super) fn source(
    flags: &Flags,
    environment: &Environment,
    profile: Option<&Profile>,
    has_stored_key: bool,
) -> Option<KeySource> {
    if let Some(file) = &flags.api_key_file {
        return Some(KeySource::File(file.clone()));
    }
    let of_profile = profile.and_then(|profile| of_profile(profile, environment));
    let of_environment = environment
        .api_key
        .as_ref()
        .map(|key| KeySource::Given(key.trim().to_owned().into()));
    let found = if flags.profile.is_some() {
        of_profile.or(of_environment)
    } else {
        of_environment.or(of_profile)
    };
    found.or_else(|| has_stored_key.then(|| KeySource::File(environment.state_dir().key_file())))
}

fn of_profile(profile: &Profile, environment: &Environment) -> Option<KeySource> {
    if let Some(words) = &profile.api_key_command {
        return Some(KeySource::Command(words.split()));
    }
    let file = profile.api_key_file.as_ref()?;
    Some(KeySource::File(match file.strip_prefix("~/") {
        Some(rest) => environment.home.join(rest),
        None => PathBuf::from(file),
    }))
}

impl KeySource {
    /// Reads the key. A command may use the terminal and has 10 s.
    ///
    /// # Errors
    /// When the key is missing, other users can read the file, or the command fails.
    pub async fn read(&self) -> Result<SecretString, ConfigError> {
        self.read_with(Stdio::inherit, Stdio::inherit).await
    }

    /// Reads the key while another program has the terminal: a command gets no input.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_again(&self) -> Result<SecretString, ConfigError> {
        self.read_with(Stdio::null, Stdio::null).await
    }

    /// Reads another secret from such a source, while another program has the terminal. `noun` and
    /// `setting` name it in errors.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_secret(
        &self,
        noun: &str,
        setting: &str,
    ) -> Result<SecretString, ConfigError> {
        match self {
            KeySource::Given(secret) => Ok(secret.clone()),
            KeySource::File(path) => from_file(path, noun),
            KeySource::Command(words) => {
                from_command(words, setting, Stdio::null(), Stdio::null()).await
            }
        }
    }

    async fn read_with(
        &self,
        stdin: fn() -> Stdio,
        stderr: fn() -> Stdio,
    ) -> Result<SecretString, ConfigError> {
        match self {
            KeySource::Given(key) => Ok(key.clone()),
            KeySource::File(path) => from_file(path, KEY),
            KeySource::Command(words) => from_command(words, KEY_COMMAND, stdin(), stderr()).await,
        }
    }

    /// Whether the key can be replaced while the program runs.
    pub fn is_readable_again(&self) -> bool {
        !matches!(self, KeySource::Given(_))
    }
}

/// The source for messages. Arguments of a command may be secret.
impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySource::Given(_) => f.write_str("SCANDECK_API_KEY"),
            KeySource::Command(words) => f.write_str(&command_name(words, KEY_COMMAND)),
            KeySource::File(path) => path.display().fmt(f),
        }
    }
}

/// A command for messages. Its arguments may be secret.
fn command_name(words: &[String], setting: &str) -> String {
    format!("{setting} `{}`", words.first().map_or("", String::as_str))
}

fn from_file(path: &Path, noun: &str) -> Result<SecretString, ConfigError> {
    let io = |error| ConfigError::io(&format!("read the {noun} in"), path, &error);
    let mode = secret_metadata(path).map_err(io)?.permissions().mode();
    if mode & 0o077 != 0 {
        let message = format!(
            "other users can read the {noun} in {} (mode {:04o})",
            path.display(),
            mode & 0o7777
        );
        return Err(ConfigError::new(
            message,
            format!("chmod 600 {}", path.display()),
        ));
    }
    let key = read_text(path, InputKind::Secret).map_err(io)?;
    parse(&key).ok_or_else(|| {
        let message = format!("{} contains no {noun}", path.display());
        let hint = match noun {
            KEY => "write the key into this file, on a line of its own",
            _ => "write it into this file, on a line of its own",
        };
        ConfigError::new(message, hint)
    })
}

async fn from_command(
    words: &[String],
    setting: &str,
    stdin: Stdio,
    stderr: Stdio,
) -> Result<SecretString, ConfigError> {
    let hint = "run it in a shell to see the error";
    let fail =
        |why: String| ConfigError::new(format!("{} {why}", command_name(words, setting)), hint);
    let Some((program, arguments)) = words.split_first() else {
        return Err(fail("is empty".into()));
    };
    let child = Command::new(program)
        .args(arguments)
        .stdin(stdin)
        .stderr(stderr)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| fail(format!("not started: {error}")))?;
    let output = match tokio::time::timeout(COMMAND_TIMEOUT, child.wait_with_output()).await {
        Ok(output) => output.map_err(|error| fail(format!("failed: {error}")))?,
        Err(_) => {
            return Err(fail(format!(
                "did not end within {} s",
                COMMAND_TIMEOUT.as_secs()
            )));
        }
    };
    if !output.status.success() {
        return Err(fail(format!("failed ({})", output.status)));
    }
    parse(&String::from_utf8_lossy(&output.stdout)).ok_or_else(|| fail("printed nothing".into()))
}

/// The first line, trimmed; `None` if it is empty.
fn parse(text: &str) -> Option<SecretString> {
    let key = text.lines().next().unwrap_or_default().trim();
    (!key.is_empty()).then(|| key.to_owned().into())
}
