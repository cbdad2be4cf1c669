//! Configuration: flags, environment, file and choice made on first start, checked once.
//!
//! ```text
//!   flags > environment > profile of config.toml > choice made on first start  ─► Config ─► base URL, key, settings
//! ```
//!
//! A profile named by `--profile` is part of the command line, so it precedes the environment.
//!
//! The program reads `$XDG_CONFIG_HOME/scandeck/config.toml` and never writes it; its own data is
//! in the state directory ([`state`]). A key is never sent to another base URL: the keys of the
//! profile and of the first start are used only with their own base URL.

pub mod alerts;
pub mod environment;
pub mod error;
pub mod file;
pub mod key;
pub mod scan_profiles;
pub mod schedules;
pub mod state;
pub mod themes;
pub mod toml_error;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use alerts::{AlertPlan, Webhook, WebhookFormat};
pub use environment::Environment;
pub use error::ConfigError;
pub use file::{CommandSetting, KeySetting, Profile, ProfileColour};
pub use key::KeySource;
pub use scan_profiles::ScanProfile;
pub use schedules::WatchedSchedule;
pub use state::{FirstStartChoice, ServiceName, StateDir};
pub use themes::ThemeFile;
pub use toml_error::TomlProblem;

use scandeck_client::BaseUrl;
use scandeck_domain::oob::Network;

/// The flags of the dashboard that are settings.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Flags {
    /// Base URL of the service, with or without /api/v2 [env: SCANDECK_BASE_URL]
    ///
    /// The API key comes from SCANDECK_API_KEY, the profile or --api-key-file, never from the
    /// command line.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// File with the API key, readable by its owner only
    #[arg(long, value_name = "FILE")]
    pub api_key_file: Option<PathBuf>,
    /// Profile of the configuration file
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Workspace to open, by name or id
    #[arg(long, value_name = "NAME|ID")]
    pub workspace: Option<String>,
    /// Turn off every action that changes the service, and new payloads
    #[arg(long)]
    pub read_only: bool,
    /// Allow proofs of requests that may carry a payload, to targets whose scope entry has `active`
    #[arg(long)]
    pub allow_active: bool,
    /// Allow plain http to other machines; sends the key in clear text
    #[arg(long)]
    pub insecure_http: bool,
    /// Configuration file [default: $XDG_CONFIG_HOME/scandeck/config.toml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// The service to open.
#[derive(Clone, Debug)]
pub enum Connection {
    /// Nothing is configured: the dashboard asks.
    Prompt,
    /// The local service of this user.
    Local,
    /// A service at a base URL.
    Remote { base: BaseUrl, key: KeySource },
}

/// The checked configuration.
#[derive(Clone, Debug)]
pub struct Config {
    pub connection: Connection,
    /// The name of the service in the header.
    pub name: String,
    /// The first workspace, by name or id.
    pub workspace: Option<String>,
    /// Whether actions that change the service are off.
    pub read_only: bool,
    /// Whether proofs may carry a payload.
    pub allow_active: bool,
    /// Whether plain http to other machines is allowed.
    pub insecure_http: bool,
    /// The colour of the service in the header and in questions.
    pub colour: Option<ProfileColour>,
    /// The person: `user` of the file, or else `login@host`.
    pub user: String,
    /// Source addresses of the analyst's own requests.
    pub own_addresses: Vec<Network>,
    /// Replaces the workspace in fingerprints; empty unless the profile sets it.
    pub alias: String,
    /// The profile of the service.
    pub profile: Option<String>,
    /// The flags by which another command finds the same service, without its base URL.
    pub service_flags: Vec<String>,
    /// Days that captured requests are kept; `None` keeps all.
    pub keep_days: Option<u16>,
    /// The schedules of `scandeck watch --schedules` at this service.
    pub schedules: Vec<WatchedSchedule>,
    /// The settings that do not depend on the service.
    pub screen: ScreenSettings,
}

/// The settings that do not depend on the service: they hold in the demo too, and change while the
/// dashboard runs.
#[derive(Clone, Debug, Default)]
pub struct ScreenSettings {
    /// The channels and rules of alerts.
    pub alerts: Arc<AlertPlan>,
    /// Changed keys of the dashboard.
    pub keys: KeySettings,
    /// Whether the dashboard uses the mouse.
    pub mouse: bool,
    /// The named theme with its line. It is checked by the dashboard.
    pub theme: Option<(usize, String)>,
    pub themes: Vec<ThemeFile>,
    pub scan_profiles: Vec<ScanProfile>,
    /// The other settings, which only a new start uses, with their values.
    pub fixed: Vec<(&'static str, String)>,
}

impl ScreenSettings {
    fn new(file: file::ConfigFile, path: &Path, home: &Path) -> Self {
        let fixed = file.fixed_settings();
        Self {
            alerts: Arc::new(file.alert_plan.at_home(home)),
            mouse: file.mouse,
            fixed,
            theme: file.theme_setting,
            themes: themes::beside(path),
            scan_profiles: file.scan_profiles,
            keys: KeySettings {
                file: file.path,
                all: file.key_settings,
                commands: file.command_settings,
            },
        }
    }
}

/// Changed keys and commands, and their file for messages. They are checked by the dashboard, which
/// knows contexts and actions.
#[derive(Clone, Debug, Default)]
pub struct KeySettings {
    pub file: String,
    pub all: Vec<KeySetting>,
    pub commands: Vec<CommandSetting>,
}

impl Flags {
    /// The flags by which another command finds the same service. Never a key, only the path of its
    /// file.
    fn of_service(&self, profile: Option<&str>) -> Vec<String> {
        let path = |path: &PathBuf| {
            std::path::absolute(path)
                .unwrap_or_else(|_| path.clone())
                .display()
                .to_string()
        };
        let valued = [
            ("--config", self.config.as_ref().map(path)),
            ("--profile", profile.map(str::to_owned)),
            ("--api-key-file", self.api_key_file.as_ref().map(path)),
        ];
        let mut words: Vec<String> = valued
            .into_iter()
            .filter_map(|(flag, value)| Some([flag.to_owned(), value?]))
            .flatten()
            .collect();
        words.extend(self.insecure_http.then(|| "--insecure-http".to_owned()));
        words
    }
}

impl Config {
    /// Merges and checks all sources. The key is not read yet.
    ///
    /// # Errors
    /// When the file is unreadable or has unknown keys, a profile or key is missing, or a base URL
    /// is invalid.
    pub fn load(flags: &Flags, environment: &Environment) -> Result<Self, ConfigError> {
        let path = flags
            .config
            .clone()
            .unwrap_or_else(|| environment.config_file());
        let file = file::ConfigFile::read(&path, flags.config.is_some())?;
        let profile = file.profile(flags.profile.as_deref())?;
        let (profile_name, profile) = profile.unwrap_or_default();
        let insecure_http = flags.insecure_http || profile.insecure_http;
        let bases = BaseUrls::of(flags, environment, &profile, insecure_http)?;
        let connection = bases.connection(flags, environment, &profile)?;
        let base_of_profile = bases.profile.as_ref();
        let is_of_profile = match &connection {
            Connection::Remote { base, .. } => base_of_profile == Some(base),
            Connection::Local | Connection::Prompt => false,
        };
        let owner = profile_name.clone().filter(|_| is_of_profile);
        // The local service does not depend on a profile: repeat a profile only if it was given as
        // a flag.
        let named_profile = match &connection {
            Connection::Remote { .. } => owner.as_deref(),
            Connection::Local | Connection::Prompt => flags.profile.as_deref(),
        };
        let service_flags = flags.of_service(named_profile);
        // A colour must not mark another service either.
        let is_marked =
            owner.is_some() || (profile.local && matches!(connection, Connection::Local));
        let colour = profile.colour.filter(|_| is_marked);
        let name = shown_name(&connection, profile_name, base_of_profile);
        let mut schedules = file.schedules.clone();
        schedules.retain(|schedule| schedule.profile.is_none() || schedule.profile == owner);
        Ok(Self {
            connection,
            name,
            workspace: flags.workspace.clone().or(profile.workspace),
            read_only: flags.read_only || profile.read_only,
            allow_active: flags.allow_active,
            insecure_http,
            colour,
            own_addresses: file.own_addresses.clone(),
            user: file
                .user
                .clone()
                .unwrap_or_else(|| environment.login.clone()),
            alias: profile.workspace_alias.unwrap_or_default(),
            profile: owner,
            service_flags,
            keep_days: file.captures.keep_days,
            schedules,
            screen: ScreenSettings::new(file, &path, &environment.home),
        })
    }

    /// The settings of a file, or of the default one, that do not depend on the service.
    ///
    /// # Errors
    /// When the file is unreadable or has unknown keys.
    pub fn screen_of(
        file: Option<&Path>,
        environment: &Environment,
    ) -> Result<ScreenSettings, ConfigError> {
        let path = file.map_or_else(|| environment.config_file(), Path::to_owned);
        Ok(ScreenSettings::new(
            file::ConfigFile::read(&path, file.is_some())?,
            &path,
            &environment.home,
        ))
    }

    /// The changed keys of a file, or of the default one.
    ///
    /// # Errors
    /// When the file is unreadable or has unknown keys.
    pub fn keys_of(
        file: Option<&Path>,
        environment: &Environment,
    ) -> Result<KeySettings, ConfigError> {
        Ok(Self::screen_of(file, environment)?.keys)
    }

    /// The name of the service at a base URL: its profile, or else the base URL.
    pub fn service_at(&self, base: &BaseUrl) -> ServiceName {
        match &self.profile {
            Some(profile) => ServiceName::Profile(profile.clone()),
            None => ServiceName::At(base.to_string()),
        }
    }

    /// The name of the configured service; the local one if nothing is configured.
    pub fn service(&self) -> ServiceName {
        match &self.connection {
            Connection::Remote { base, .. } => self.service_at(base),
            Connection::Local | Connection::Prompt => ServiceName::Local,
        }
    }
}

/// The name of the service on the screen. That of a profile must not be shown for another service.
fn shown_name(
    connection: &Connection,
    profile: Option<String>,
    base_of_profile: Option<&BaseUrl>,
) -> String {
    match (connection, profile) {
        (Connection::Remote { base, .. }, Some(_))
            if base_of_profile.is_some_and(|own| own != base) =>
        {
            base.host().to_owned()
        }
        (_, Some(name)) => name,
        (Connection::Remote { base, .. }, None) => base.host().to_owned(),
        (Connection::Local | Connection::Prompt, None) => "local".to_owned(),
    }
}

/// The base URLs by their sources.
struct BaseUrls {
    /// Of the flag, or of the environment.
    named: Option<BaseUrl>,
    profile: Option<BaseUrl>,
    /// Of the answer to the first-start question.
    stored: Option<BaseUrl>,
    /// The answer was the local service.
    stored_local: bool,
}

impl BaseUrls {
    fn of(
        flags: &Flags,
        environment: &Environment,
        profile: &Profile,
        insecure_http: bool,
    ) -> Result<Self, ConfigError> {
        let stored = environment.state_dir().answer()?;
        let parse = |text: &str| BaseUrl::parse(text, insecure_http);
        let of_profile = profile.base_url.as_deref().map(parse).transpose()?;
        let profile_names_service =
            flags.profile.is_some() && (profile.local || of_profile.is_some());
        let of_environment = environment
            .base_url
            .as_deref()
            .filter(|_| !profile_names_service);
        let named = flags.base_url.as_deref().or(of_environment);
        Ok(Self {
            named: named.map(parse).transpose()?,
            profile: of_profile,
            stored_local: matches!(stored, Some(FirstStartChoice::Here)),
            stored: match stored {
                Some(FirstStartChoice::Hosted { base_url }) => {
                    Some(BaseUrl::parse(&base_url, true)?)
                }
                _ => None,
            },
        })
    }

    /// The service of the first source that names one, with its key.
    fn connection(
        &self,
        flags: &Flags,
        environment: &Environment,
        profile: &Profile,
    ) -> Result<Connection, ConfigError> {
        let stored = self.stored.as_ref().filter(|_| !profile.local);
        let Some(base) = self.named.as_ref().or(self.profile.as_ref()).or(stored) else {
            return Ok(if profile.local || self.stored_local {
                Connection::Local
            } else {
                Connection::Prompt
            });
        };
        let is_of_profile = self.profile.as_ref().is_none_or(|own| own == base);
        let is_stored = self.stored.as_ref() == Some(base);
        let key = key::source(
            flags,
            environment,
            is_of_profile.then_some(profile),
            is_stored,
        );
        Ok(Connection::Remote {
            base: base.clone(),
            key: key.ok_or_else(|| ConfigError::no_key(base))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;

    /// A temporary home with a configuration file.
    fn home(config: &str) -> (tempfile::TempDir, Environment) {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::create_dir_all(at("config/scandeck")).unwrap();
        fs::write(at("config/scandeck/config.toml"), config).unwrap();
        let environment = Environment {
            config_home: at("config"),
            state_home: at("state"),
            home: home.path().to_owned(),
            ..Environment::default()
        };
        (home, environment)
    }

    fn at(config: &Config) -> (String, &KeySource) {
        match &config.connection {
            Connection::Remote { base, key } => (base.to_string(), key),
            other => panic!("{other:?}"),
        }
    }

    const TWO: &str = r#"
        default_profile = "prod"
        [profiles.prod]
        base_url = "https://prod.example.com"
        api_key_file = "~/prod.key"
        read_only = true
        colour = "red"
        [profiles.lab]
        base_url = "https://lab.example.com/api/v2/"
        api_key_command = "pass show lab"
        workspace = "Lab"
    "#;

    #[test]
    fn stored_choice_replaces_the_first_start_question() {
        let (_home, environment) = home("");
        let flags = Flags::default();
        assert!(matches!(
            Config::load(&flags, &environment).unwrap().connection,
            Connection::Prompt
        ));
        environment
            .state_dir()
            .remember(&FirstStartChoice::Here, None)
            .unwrap();
        assert!(matches!(
            Config::load(&flags, &environment).unwrap().connection,
            Connection::Local
        ));
        let key = "k1".to_owned().into();
        let answer = FirstStartChoice::Hosted {
            base_url: "https://a.example.com".into(),
        };
        environment
            .state_dir()
            .remember(&answer, Some(&key))
            .unwrap();
        let config = Config::load(&flags, &environment).unwrap();
        assert_eq!(at(&config).0, "https://a.example.com/api/v2");
        assert!(
            matches!(at(&config).1, KeySource::File(path) if path.starts_with(&environment.state_home))
        );
    }

    #[test]
    fn flags_precede_environment_and_profile() {
        let (_home, mut environment) = home(TWO);
        let config = Config::load(&Flags::default(), &environment).unwrap();
        assert_eq!(
            (
                at(&config).0.as_str(),
                config.name.as_str(),
                config.read_only
            ),
            ("https://prod.example.com/api/v2", "prod", true)
        );
        assert_eq!(config.colour, Some(ProfileColour::Red));
        let lab = Flags {
            profile: Some("lab".into()),
            ..Flags::default()
        };
        let config = Config::load(&lab, &environment).unwrap();
        assert_eq!(config.workspace.as_deref(), Some("Lab"));
        assert!(
            matches!(at(&config).1, KeySource::Command(words) if words == &["pass", "show", "lab"])
        );
        environment.base_url = Some("https://env.example.com".into());
        environment.api_key = Some("from-env".into());
        let config = Config::load(&Flags::default(), &environment).unwrap();
        assert_eq!(
            (at(&config).0.as_str(), config.name.as_str()),
            ("https://env.example.com/api/v2", "env.example.com")
        );
        assert_eq!(
            config.colour, None,
            "the colour of the profile does not mark another service"
        );
        assert!(matches!(at(&config).1, KeySource::Given(_)));
        let config = Config::load(&lab, &environment).unwrap();
        assert_eq!(
            (at(&config).0.as_str(), config.name.as_str()),
            ("https://lab.example.com/api/v2", "lab"),
            "--profile precedes the environment"
        );
        assert!(
            matches!(at(&config).1, KeySource::Command(_)),
            "with its own key"
        );
        assert_eq!(config.service_flags, ["--profile", "lab"]);
        let flag = Flags {
            base_url: Some("https://flag.example.com".into()),
            api_key_file: Some("/k".into()),
            ..Flags::default()
        };
        let config = Config::load(&flag, &environment).unwrap();
        assert_eq!(at(&config).0, "https://flag.example.com/api/v2");
        assert_eq!(
            config.service_flags,
            ["--api-key-file", "/k"],
            "the profile is of another service"
        );
    }

    #[test]
    fn user_and_service_name_come_from_file_or_environment() {
        let (_home, mut environment) = home(&format!(
            "user = \"ann\"\nown_addresses = [\"10.0.0.0/8\"]\n{TWO}"
        ));
        environment.login = "root@box".into();
        let config = Config::load(&Flags::default(), &environment).unwrap();
        let elsewhere = BaseUrl::parse("https://other.example.com", false).unwrap();
        assert_eq!(
            (config.user.as_str(), config.service_at(&elsewhere)),
            ("ann", ServiceName::Profile("prod".into()))
        );
        assert!(config.own_addresses[0].has("10.1.2.3".parse().unwrap()));
        let (_home, wrong) = home("own_addresses = [\"me\"]");
        assert!(
            Config::load(&Flags::default(), &wrong)
                .unwrap_err()
                .to_string()
                .contains("invalid address")
        );
        environment.base_url = Some("https://env.example.com".into());
        environment.api_key = Some("k".into());
        let config = Config::load(&Flags::default(), &environment).unwrap();
        let at = ServiceName::At("https://other.example.com/api/v2".into());
        assert_eq!(
            config.service_at(&elsewhere),
            at,
            "not the service of the profile"
        );
        let (_home, mut environment) = home("");
        environment.login = "root@box".into();
        assert_eq!(
            Config::load(&Flags::default(), &environment).unwrap().user,
            "root@box"
        );
    }

    #[test]
    fn key_of_a_profile_is_not_used_for_another_base_url() {
        let (_home, environment) = home(TWO);
        let flag = Flags {
            base_url: Some("https://other.example.com".into()),
            ..Flags::default()
        };
        let error = Config::load(&flag, &environment).unwrap_err();
        assert!(
            error.to_string().contains("other.example.com")
                && error.hint().contains("SCANDECK_API_KEY"),
            "{error}"
        );
    }

    #[test]
    fn unknown_key_is_an_error_with_file_and_line() {
        let (_home, environment) = home("[profiles.a]\nbase_url = \"https://a\"\nbase_ulr = 1\n");
        let error = Config::load(&Flags::default(), &environment)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("config.toml:3") && error.contains("base_ulr"),
            "{error}"
        );
        let (_home, environment) = home(TWO);
        let flag = Flags {
            profile: Some("live".into()),
            ..Flags::default()
        };
        let error = Config::load(&flag, &environment).unwrap_err();
        assert!(
            error.to_string().contains("live") && error.hint().contains("lab, prod"),
            "{}",
            error.hint()
        );
    }

    #[test]
    fn only_a_named_file_must_exist() {
        let (home, mut environment) = home("");
        environment.config_home = home.path().join("nowhere");
        assert!(Config::load(&Flags::default(), &environment).is_ok());
        let flag = Flags {
            config: Some(home.path().join("none.toml")),
            ..Flags::default()
        };
        assert!(
            Config::load(&flag, &environment)
                .unwrap_err()
                .to_string()
                .contains("none.toml")
        );
    }

    #[tokio::test]
    async fn key_file_readable_by_others_is_rejected() {
        let (home, environment) = home(TWO);
        let file = home.path().join("prod.key");
        fs::write(&file, "secret-1\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let config = Config::load(&Flags::default(), &environment).unwrap();
        let error = at(&config).1.read().await.unwrap_err();
        assert!(
            error.hint().contains("chmod 600"),
            "{error} / {}",
            error.hint()
        );
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let key = at(&config).1.read().await.unwrap();
        assert_eq!(secrecy::ExposeSecret::expose_secret(&key), "secret-1");
        assert!(!format!("{key:?} {config:?}").contains("secret-1"));
    }

    #[tokio::test]
    async fn key_command_runs_without_a_shell_and_reports_failure() {
        let words = |text: &[&str]| {
            KeySource::Command(text.iter().map(|word| (*word).to_owned()).collect())
        };
        let key = words(&["echo", "a;b$(c)"]).read().await.unwrap();
        assert_eq!(secrecy::ExposeSecret::expose_secret(&key), "a;b$(c)");
        assert!(
            words(&["false"])
                .read()
                .await
                .unwrap_err()
                .to_string()
                .contains("exit status: 1")
        );
        assert!(
            words(&["true"])
                .read()
                .await
                .unwrap_err()
                .to_string()
                .contains("printed nothing")
        );
        let missing = words(&["/nowhere/key-tool"]).read().await.unwrap_err();
        assert!(
            missing.to_string().contains("/nowhere/key-tool"),
            "{missing}"
        );
        for program in ["false", "true", "/nowhere/key-tool"] {
            let error = words(&[program, "--token", "s3cret"])
                .read()
                .await
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(program) && !error.contains("s3cret"),
                "{error}"
            );
        }
    }

    #[tokio::test]
    async fn key_source_is_named_without_key_and_read_again() {
        let command = KeySource::Command(["echo", "secret-1"].map(str::to_owned).into());
        assert_eq!(command.to_string(), "api_key_command `echo`");
        let given = KeySource::Given("secret-1".to_owned().into());
        assert_eq!(
            (given.to_string().as_str(), given.is_readable_again()),
            ("SCANDECK_API_KEY", false)
        );
        let (home, _environment) = home("");
        let path = home.path().join("key");
        let file = KeySource::File(path.clone());
        assert_eq!(file.to_string(), path.display().to_string());
        for key in ["secret-1", "secret-2"] {
            fs::write(&path, key).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            assert_eq!(
                secrecy::ExposeSecret::expose_secret(&file.read_again().await.unwrap()),
                key
            );
        }
        let talks = KeySource::Command(
            ["sh", "-c", "read key; echo x$key"]
                .map(str::to_owned)
                .into(),
        );
        let read = talks.read_again().await.unwrap();
        assert_eq!(
            secrecy::ExposeSecret::expose_secret(&read),
            "x",
            "the keys are those of the dashboard"
        );
    }

    #[test]
    fn stored_key_is_readable_by_its_owner_only() {
        let (_home, environment) = home("");
        let answer = FirstStartChoice::Hosted {
            base_url: "https://a.example.com".into(),
        };
        environment
            .state_dir()
            .remember(&answer, Some(&"k".to_owned().into()))
            .unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = environment.state_home.join("scandeck");
        assert_eq!((mode(&folder), mode(&folder.join("key"))), (0o700, 0o600));
    }
}
