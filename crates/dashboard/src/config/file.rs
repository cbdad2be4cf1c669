//! `config.toml`: settings and profiles by name. Unknown keys are errors with file and line.
//!
//! ```toml
//! default_profile = "prod"
//!
//! [profiles.prod]
//! base_url = "https://api.example.com"
//! api_key_command = ["pass", "show", "scandeck"]   # or api_key_file = "~/keys/prod", mode 0600
//! workspace = "Acme external"                      # name or id
//! read_only = true
//! ```

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::ConfigError;
use super::alerts::{AlertPlan, AlertSettings};
use super::scan_profiles::{ProfileScan, ScanProfile};
use super::schedules::{ScheduleSettings, WatchedSchedule};
use super::toml_error::TomlProblem;
use scandeck_domain::oob::Network;
use scandeck_wire::input_files::{InputKind, read_text};

/// The remedy for an empty command.
pub(super) const NAME_A_PROGRAM: &str = "name a program, or remove the line";

/// The parsed file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConfigFile {
    default_profile: Option<String>,
    /// The person in the events of triage.
    pub user: Option<String>,
    /// Source addresses of the analyst's own requests.
    pub own_addresses: Vec<Network>,
    /// Whether the dashboard uses the mouse.
    pub mouse: bool,
    /// The theme of the dashboard, with its place in the file.
    theme: Option<Spanned<String>>,
    pub captures: Captures,
    alerts: AlertSettings,
    /// Keys by context and action; each value with its place in the file.
    keys: BTreeMap<String, BTreeMap<String, Spanned<KeyTexts>>>,
    commands: Vec<Spanned<CommandEntry>>,
    profiles: BTreeMap<String, Spanned<Profile>>,
    #[serde(rename = "scan_profiles")]
    scan_sets: BTreeMap<String, Vec<Spanned<ProfileScan>>>,
    #[serde(rename = "schedules")]
    schedule_tables: BTreeMap<String, Spanned<ScheduleSettings>>,
    /// The schedules by name.
    #[serde(skip)]
    pub schedules: Vec<WatchedSchedule>,
    /// The scan profiles by name.
    #[serde(skip)]
    pub scan_profiles: Vec<ScanProfile>,
    /// The named theme with its line.
    #[serde(skip)]
    pub theme_setting: Option<(usize, String)>,
    /// The settings of `[keys]`, in the order of the file.
    #[serde(skip)]
    pub key_settings: Vec<KeySetting>,
    /// The entries of `[[commands]]`, in the order of the file.
    #[serde(skip)]
    pub command_settings: Vec<CommandSetting>,
    /// The checked settings of `[alerts]`.
    #[serde(skip)]
    pub alert_plan: AlertPlan,
    #[serde(skip)]
    pub path: String,
}

/// A line of `[keys.CONTEXT]`: the keys of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySetting {
    pub line: usize,
    pub context: String,
    pub action: String,
    /// None unbinds the action.
    pub keys: Vec<String>,
}

/// A `[[commands]]` entry.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommandEntry {
    /// For menus, notices and `:run`; default: the command itself.
    name: String,
    key: Option<KeyTexts>,
    /// A context of `[keys]`.
    pub context: String,
    /// Program and arguments; started without a shell.
    command: Option<CommandWords>,
    pub output: CommandOutput,
    /// Whether it changes something outside; such commands are off in a read-only session.
    pub changes: bool,
}

impl Default for CommandEntry {
    fn default() -> Self {
        let (name, context) = (String::new(), "lists".to_owned());
        Self {
            name,
            key: None,
            context,
            command: None,
            output: CommandOutput::Text,
            changes: true,
        }
    }
}

/// The place of the output of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandOutput {
    /// A text over the panes.
    #[default]
    Text,
    /// A notice at the end.
    Background,
}

/// A `[[commands]]` entry with its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandSetting {
    pub line: usize,
    pub name: String,
    pub keys: Vec<String>,
    pub context: String,
    /// Program and arguments.
    pub words: Vec<String>,
    pub output: CommandOutput,
    pub changes: bool,
}

/// One key, or a list of keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a key or a list of keys")]
enum KeyTexts {
    One(String),
    Several(Vec<String>),
}

impl KeyTexts {
    fn all(&self) -> Vec<String> {
        match self {
            KeyTexts::One(key) => vec![key.clone()],
            KeyTexts::Several(keys) => keys.clone(),
        }
    }
}

/// Retention of captured requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Captures {
    /// Older captures are deleted when the archive is opened; `None` keeps all.
    pub keep_days: Option<u16>,
}

/// A service and the settings for it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// With or without `/api/v2`.
    pub base_url: Option<String>,
    /// The local service of this user instead of a base URL.
    pub local: bool,
    /// A program that prints the key; started without a shell.
    pub api_key_command: Option<CommandWords>,
    /// A file with the key, mode 0600.
    pub api_key_file: Option<String>,
    /// The first workspace, by name or id.
    pub workspace: Option<String>,
    /// Replaces the workspace in fingerprints, for decisions that are shared between services.
    pub workspace_alias: Option<String>,
    /// Turns off every action that changes the service.
    pub read_only: bool,
    /// Allows plain http to other machines.
    pub insecure_http: bool,
    /// Marks the name of the service in the header and in questions.
    pub colour: Option<ProfileColour>,
}

/// The colour of a profile, by which an analyst recognises the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProfileColour {
    Red,
    Yellow,
    Green,
    Cyan,
    Blue,
    Magenta,
}

/// A command: a list of words, or one string that is split at spaces.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a program, or a list such as [\"notify-send\", \"scandeck\"]"
)]
pub enum CommandWords {
    List(Vec<String>),
    Line(String),
}

impl CommandWords {
    pub fn split(&self) -> Vec<String> {
        match self {
            CommandWords::List(words) => words.clone(),
            CommandWords::Line(line) => line.split_whitespace().map(str::to_owned).collect(),
        }
    }
}

impl ConfigFile {
    /// Reads the file. A missing file is an empty one, unless the user named it.
    ///
    /// # Errors
    /// When the file is unreadable, is not TOML, or has unknown keys.
    pub fn read(path: &Path, is_named: bool) -> Result<Self, ConfigError> {
        let text = match read_text(path, InputKind::Settings) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound && !is_named => {
                return Self::default().check("");
            }
            Err(error) => return Err(ConfigError::io("read", path, &error)),
        };
        let mut file: Self = toml::from_str(&text).map_err(|error| {
            let TomlProblem {
                line,
                message,
                hint,
            } = TomlProblem::new(&text, &error);
            ConfigError::new(format!("{}:{line}: {message}", path.display()), hint)
        })?;
        file.path = path.display().to_string();
        file.theme_setting = file
            .theme
            .as_ref()
            .map(|theme| (line_of(&text, theme.span().start), theme.get_ref().clone()));
        file.key_settings = file.key_settings(&text);
        file.command_settings = file
            .commands
            .iter()
            .map(|entry| command_setting(entry, &text))
            .collect();
        file.scan_profiles = file.scan_profiles(&text)?;
        file.schedules = file.schedules(&text)?;
        file.check(&text)
    }

    fn scan_profiles(&self, text: &str) -> Result<Vec<ScanProfile>, ConfigError> {
        let mut all = Vec::new();
        for (name, entries) in &self.scan_sets {
            if entries.is_empty() {
                let message = format!("{}: scan profile {name} has no scan", self.path);
                let hint = format!("add [[scan_profiles.{name}]] with a tool");
                return Err(ConfigError::new(message, hint));
            }
            let scan = |entry: &Spanned<ProfileScan>| {
                entry.get_ref().to_scan().map_err(|invalid| {
                    let line = line_of(text, entry.span().start);
                    let message = format!("{}:{line}: {}", self.path, invalid.cause);
                    ConfigError::new(message, invalid.remedy)
                })
            };
            all.push(ScanProfile {
                name: name.clone(),
                scans: entries.iter().map(scan).collect::<Result<_, _>>()?,
            });
        }
        Ok(all)
    }

    fn schedules(&self, text: &str) -> Result<Vec<WatchedSchedule>, ConfigError> {
        let mut all = Vec::new();
        for (name, table) in &self.schedule_tables {
            let settings = table.get_ref();
            let is_unknown = |profile: &&String| !self.profiles.contains_key(*profile);
            let schedule = match settings.profile.as_ref().filter(is_unknown) {
                Some(profile) => Err(ConfigError::new(
                    format!("profile {profile} of schedule {name} not found"),
                    format!("add [profiles.{profile}], or remove the line"),
                )),
                None => settings.checked(name, &self.scan_profiles),
            };
            all.push(schedule.map_err(|error| {
                let line = line_of(text, table.span().start);
                ConfigError::new(format!("{}:{line}: {error}", self.path), error.hint())
            })?);
        }
        Ok(all)
    }

    fn key_settings(&self, text: &str) -> Vec<KeySetting> {
        let of_context = |(context, actions): (&String, &BTreeMap<String, Spanned<KeyTexts>>)| {
            let setting = |(action, value): (&String, &Spanned<KeyTexts>)| {
                let keys = value.get_ref().all();
                let line = line_of(text, value.span().start);
                KeySetting {
                    line,
                    context: context.clone(),
                    action: action.clone(),
                    keys,
                }
            };
            actions.iter().map(setting).collect::<Vec<_>>()
        };
        let mut all: Vec<KeySetting> = self.keys.iter().flat_map(of_context).collect();
        all.sort_by_key(|setting| setting.line);
        all
    }

    fn check(mut self, text: &str) -> Result<Self, ConfigError> {
        let invalid = |byte: usize, why: String, hint: &str| {
            ConfigError::new(
                format!("{}:{}: {why}", self.path, line_of(text, byte)),
                hint,
            )
        };
        let at = |byte: usize, why: String, hint: &str| Err(invalid(byte, why, hint));
        let alert_plan = self.alerts.plan(invalid)?;
        for (name, profile) in &self.profiles {
            let start = profile.span().start;
            let profile = profile.get_ref();
            if profile.local && profile.base_url.is_some() {
                return at(
                    start,
                    format!("profile {name} has both local and base_url"),
                    "remove one of them",
                );
            }
            if profile
                .api_key_command
                .as_ref()
                .is_some_and(|command| command.split().is_empty())
            {
                return at(
                    start,
                    format!("api_key_command of profile {name} is empty"),
                    NAME_A_PROGRAM,
                );
            }
        }
        self.alert_plan = alert_plan;
        Ok(self)
    }

    /// The settings that only a new start uses, with their values.
    pub fn fixed_settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("default_profile", format!("{:?}", self.default_profile)),
            ("user", format!("{:?}", self.user)),
            ("own_addresses", format!("{:?}", self.own_addresses)),
            ("[captures]", format!("{:?}", self.captures)),
            // Without their places in the file.
            (
                "[profiles]",
                format!(
                    "{:?}",
                    self.profiles
                        .iter()
                        .map(|(name, one)| (name, one.get_ref()))
                        .collect::<Vec<_>>()
                ),
            ),
        ]
    }

    pub fn profile_names(&self) -> impl Iterator<Item = &str> {
        self.profiles.keys().map(String::as_str)
    }

    /// The profile of this name, or the default profile.
    ///
    /// # Errors
    /// When a named profile does not exist.
    pub fn profile(
        &self,
        name: Option<&str>,
    ) -> Result<Option<(Option<String>, Profile)>, ConfigError> {
        let Some(name) = name.or(self.default_profile.as_deref()) else {
            return Ok(None);
        };
        if let Some(profile) = self.profiles.get(name) {
            return Ok(Some((Some(name.to_owned()), profile.get_ref().clone())));
        }
        let names: Vec<&str> = self.profile_names().collect();
        let hint = match names.as_slice() {
            [] => format!("add [profiles.{name}] to the configuration file"),
            names => format!("use one of these profiles: {}", names.join(", ")),
        };
        Err(ConfigError::new(
            format!("profile {name:?} not found"),
            hint,
        ))
    }
}

fn command_setting(entry: &Spanned<CommandEntry>, text: &str) -> CommandSetting {
    let CommandEntry {
        name,
        key,
        context,
        command,
        output,
        changes,
    } = entry.get_ref().clone();
    CommandSetting {
        line: line_of(text, entry.span().start),
        name,
        keys: key.map(|keys| keys.all()).unwrap_or_default(),
        context,
        words: command.map(|words| words.split()).unwrap_or_default(),
        output,
        changes,
    }
}

/// The number of the line with this byte.
fn line_of(text: &str, byte: usize) -> usize {
    text[..byte].matches('\n').count() + 1
}
