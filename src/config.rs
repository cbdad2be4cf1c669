//! Configuration: what was asked for (flags, environment, file, first-start answer), checked once.
//!
//! ```text
//!   flags > environment > profile of config.toml > answer of the first start  ─► Config ─► base URL, key, settings
//! ```
//!
//! A profile named by `--profile` is a wish of the command line: what it says goes before the environment.
//!
//! `$XDG_CONFIG_HOME/scandeck/config.toml` is read and never written by the program; what it remembers itself goes to
//! the state directory ([`state`]). A key that belongs to one base URL is never sent to another: the profile's and
//! the remembered key count only where their own base URL is used.

pub mod error;
pub mod file;
pub mod key;
pub mod state;

pub use state::FirstStartChoice;

use std::path::PathBuf;

pub use error::ConfigError;
pub use file::Profile;
pub use key::KeySource;
pub use state::{ServiceName, StateDir};

use crate::client::BaseUrl;
use crate::login::login;
use crate::oob::Network;

/// What the command line asks for.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// Base URL of the service.
    pub base_url: Option<String>,
    /// File with the API key.
    pub api_key_file: Option<PathBuf>,
    /// Profile of the configuration file.
    pub profile: Option<String>,
    /// Workspace to begin in, by name or id.
    pub workspace: Option<String>,
    /// Actions that leave the machine are off.
    pub read_only: bool,
    /// Plain http to other machines is allowed.
    pub insecure_http: bool,
    /// Another configuration file.
    pub config: Option<PathBuf>,
}

/// The environment, as data, so that tests can set it.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `SCANDECK_BASE_URL`.
    pub base_url: Option<String>,
    /// `SCANDECK_API_KEY`.
    pub api_key: Option<String>,
    /// `XDG_CONFIG_HOME`, or `~/.config`.
    pub config_home: PathBuf,
    /// `XDG_STATE_HOME`, or `~/.local/state`.
    pub state_home: PathBuf,
    /// `HOME`, for `~/` in paths.
    pub home: PathBuf,
    /// `login@host`: who decides where the configuration names nobody.
    pub login: String,
}

impl Environment {
    /// That of this process.
    pub fn of_process() -> Self {
        let text = |name| std::env::var(name).ok().filter(|text: &String| !text.trim().is_empty());
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let folder = |name, fallback: &str| {
            // A relative path in these variables is to be ignored (XDG base directory specification).
            let path = std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
            path.unwrap_or_else(|| home.join(fallback))
        };
        Self {
            base_url: text("SCANDECK_BASE_URL"),
            api_key: text("SCANDECK_API_KEY"),
            config_home: folder("XDG_CONFIG_HOME", ".config"),
            state_home: folder("XDG_STATE_HOME", ".local/state"),
            home,
            login: login(|name| std::env::var(name).ok()),
        }
    }

    /// The configuration file, where none is named.
    pub fn config_file(&self) -> PathBuf {
        self.config_home.join("scandeck/config.toml")
    }

    /// Where the program remembers.
    pub fn state_dir(&self) -> StateDir {
        StateDir::new(self.state_home.join("scandeck"))
    }
}

/// Which service to open.
#[derive(Clone, Debug)]
pub enum Connection {
    /// Nothing is configured: ask.
    Ask,
    /// The local service of this user.
    Here,
    /// A service at an address.
    At {
        /// Where.
        base: BaseUrl,
        /// Where its key comes from.
        key: KeySource,
    },
}

/// The checked configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// Which service to open.
    pub connection: Connection,
    /// What the header calls it.
    pub name: String,
    /// Workspace to begin in, by name or id.
    pub workspace: Option<String>,
    /// Actions that leave the machine are off.
    pub read_only: bool,
    /// Plain http to other machines is allowed.
    pub insecure_http: bool,
    /// Who decides: `user` of the file, else `login@host`.
    pub user: String,
    /// Addresses that captured requests of one's own come from.
    pub own_addresses: Vec<Network>,
    /// What stands for the workspace in fingerprints; empty unless the profile sets one.
    pub alias: String,
    /// The profile whose service this is.
    pub profile: Option<String>,
    /// Captured requests are kept so many days; for ever without it.
    pub keep_days: Option<u16>,
    /// Program and arguments that make a signal heard; none where it is empty.
    pub signal_command: Vec<String>,
}

impl Config {
    /// Puts everything together and checks it. No key is read yet.
    ///
    /// # Errors
    /// When the file cannot be read or says something unknown, a profile is missing, the base URL is none, or there
    /// is no key for it; each with what to do.
    pub fn load(flags: &Flags, environment: &Environment) -> Result<Self, ConfigError> {
        let path = flags.config.clone().unwrap_or_else(|| environment.config_file());
        let file = file::ConfigFile::read(&path, flags.config.is_some())?;
        let profile = file.profile(flags.profile.as_deref())?;
        let (profile_name, profile) = profile.unwrap_or_default();
        let insecure_http = flags.insecure_http || profile.insecure_http;
        let remembered = environment.state_dir().answer()?;
        let own = |text: &str| base(text, insecure_http);

        let profile_base = profile.base_url.as_deref().map(own).transpose()?;
        let own_service = flags.profile.is_some() && (profile.local || profile_base.is_some());
        let of_environment = environment.base_url.as_deref().filter(|_| !own_service);
        let named = flags.base_url.as_deref().or(of_environment).map(own).transpose()?;
        let remembered_base = match &remembered {
            Some(FirstStartChoice::Hosted { base_url }) => Some(base(base_url, true)?),
            _ => None,
        };
        let chosen =
            named.or_else(|| profile_base.clone()).or_else(|| remembered_base.clone().filter(|_| !profile.local));
        let connection = match chosen {
            None if profile.local || matches!(remembered, Some(FirstStartChoice::Here)) => Connection::Here,
            None => Connection::Ask,
            Some(base) => {
                let of_profile = profile_base.as_ref().is_none_or(|own| *own == base);
                let of_memory = remembered_base.as_ref() == Some(&base);
                let key = key::source(flags, environment, of_profile.then_some(&profile), of_memory)
                    .ok_or_else(|| ConfigError::no_key(&base))?;
                Connection::At { base, key }
            }
        };
        let of_profile = match &connection {
            Connection::At { base, .. } => profile_base.as_ref() == Some(base),
            Connection::Here | Connection::Ask => false,
        };
        let owner = profile_name.clone().filter(|_| of_profile);
        let name = match (&connection, profile_name) {
            // A profile's name over another service would name the wrong one in every prompt.
            (Connection::At { base, .. }, Some(_)) if profile_base.as_ref().is_some_and(|own| own != base) => {
                base.host().to_owned()
            }
            (_, Some(name)) => name,
            (Connection::At { base, .. }, None) => base.host().to_owned(),
            (Connection::Here | Connection::Ask, None) => "local".to_owned(),
        };
        Ok(Self {
            connection,
            name,
            workspace: flags.workspace.clone().or(profile.workspace),
            read_only: flags.read_only || profile.read_only,
            insecure_http,
            own_addresses: file.own_addresses,
            user: file.user.unwrap_or_else(|| environment.login.clone()),
            alias: profile.workspace_alias.unwrap_or_default(),
            profile: owner,
            keep_days: file.captures.keep_days,
            signal_command: file.signals.command(),
        })
    }

    /// What makes a signal heard, as the file says: all that it has to say about a demo, which brings its own service.
    ///
    /// # Errors
    /// When the file cannot be read or says something unknown.
    pub fn signal_command(environment: &Environment) -> Result<Vec<String>, ConfigError> {
        Ok(file::ConfigFile::read(&environment.config_file(), false)?.signals.command())
    }

    /// What names the service at an address among those of this user: its profile, else the address.
    pub fn service(&self, base: &BaseUrl) -> ServiceName {
        match &self.profile {
            Some(profile) => ServiceName::Profile(profile.clone()),
            None => ServiceName::At(base.to_string()),
        }
    }

    /// What names the service in question, whether it is there or not: the local one where none is named.
    pub fn service_named(&self) -> ServiceName {
        match &self.connection {
            Connection::At { base, .. } => self.service(base),
            Connection::Here | Connection::Ask => ServiceName::Local,
        }
    }
}

fn base(text: &str, insecure_http: bool) -> Result<BaseUrl, ConfigError> {
    BaseUrl::parse(text, insecure_http).map_err(|error| ConfigError::new(error.to_string(), error.hint()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;

    /// A home of its own with a configuration file.
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

    fn at(config: &Config) -> (&str, &KeySource) {
        match &config.connection {
            Connection::At { base, key } => (base.as_str(), key),
            other => panic!("{other:?}"),
        }
    }

    const TWO: &str = r#"
        default_profile = "prod"
        [profiles.prod]
        base_url = "https://prod.example.com"
        api_key_file = "~/prod.key"
        read_only = true
        [profiles.lab]
        base_url = "https://lab.example.com/api/v2/"
        api_key_command = "pass show lab"
        workspace = "Lab"
    "#;

    #[test]
    fn nothing_configured_asks_and_a_remembered_answer_does_not() {
        let (_home, environment) = home("");
        let flags = Flags::default();
        assert!(matches!(Config::load(&flags, &environment).unwrap().connection, Connection::Ask));
        environment.state_dir().remember(&FirstStartChoice::Here, None).unwrap();
        assert!(matches!(Config::load(&flags, &environment).unwrap().connection, Connection::Here));
        let key = "k1".to_owned().into();
        let answer = FirstStartChoice::Hosted { base_url: "https://a.example.com".into() };
        environment.state_dir().remember(&answer, Some(&key)).unwrap();
        let config = Config::load(&flags, &environment).unwrap();
        assert_eq!(at(&config).0, "https://a.example.com/api/v2");
        assert!(matches!(at(&config).1, KeySource::File(path) if path.starts_with(&environment.state_home)));
    }

    #[test]
    fn flags_go_before_environment_before_profile() {
        let (_home, mut environment) = home(TWO);
        let config = Config::load(&Flags::default(), &environment).unwrap();
        assert_eq!(
            (at(&config).0, config.name.as_str(), config.read_only),
            ("https://prod.example.com/api/v2", "prod", true)
        );
        let lab = Flags { profile: Some("lab".into()), ..Flags::default() };
        let config = Config::load(&lab, &environment).unwrap();
        assert_eq!(config.workspace.as_deref(), Some("Lab"));
        assert!(matches!(at(&config).1, KeySource::Command(words) if words == &["pass", "show", "lab"]));
        environment.base_url = Some("https://env.example.com".into());
        environment.api_key = Some("from-env".into());
        let config = Config::load(&Flags::default(), &environment).unwrap();
        assert_eq!((at(&config).0, config.name.as_str()), ("https://env.example.com/api/v2", "env.example.com"));
        assert!(matches!(at(&config).1, KeySource::Given(_)));
        let config = Config::load(&lab, &environment).unwrap();
        assert_eq!((at(&config).0, config.name.as_str()), ("https://lab.example.com/api/v2", "lab"), "named, so meant");
        assert!(matches!(at(&config).1, KeySource::Command(_)), "with its own key");
        let flag = Flags { base_url: Some("https://flag.example.com".into()), ..Flags::default() };
        assert_eq!(at(&Config::load(&flag, &environment).unwrap()).0, "https://flag.example.com/api/v2");
    }

    #[test]
    fn who_decides_and_where_it_is_kept_is_known() {
        let (_home, mut environment) = home(&format!("user = \"ann\"\nown_addresses = [\"10.0.0.0/8\"]\n{TWO}"));
        environment.login = "root@box".into();
        let config = Config::load(&Flags::default(), &environment).unwrap();
        let elsewhere = BaseUrl::parse("https://other.example.com", false).unwrap();
        assert_eq!((config.user.as_str(), config.service(&elsewhere)), ("ann", ServiceName::Profile("prod".into())));
        assert!(config.own_addresses[0].has("10.1.2.3".parse().unwrap()));
        let (_home, wrong) = home("own_addresses = [\"me\"]");
        assert!(Config::load(&Flags::default(), &wrong).unwrap_err().to_string().contains("is no address"));
        environment.base_url = Some("https://env.example.com".into());
        environment.api_key = Some("k".into());
        let config = Config::load(&Flags::default(), &environment).unwrap();
        let at = ServiceName::At("https://other.example.com/api/v2".into());
        assert_eq!(config.service(&elsewhere), at, "another service than the profile's");
        let (_home, mut environment) = home("");
        environment.login = "root@box".into();
        assert_eq!(Config::load(&Flags::default(), &environment).unwrap().user, "root@box");
    }

    #[test]
    fn a_key_is_never_sent_to_another_base_url_than_its_own() {
        let (_home, environment) = home(TWO);
        let flag = Flags { base_url: Some("https://other.example.com".into()), ..Flags::default() };
        let error = Config::load(&flag, &environment).unwrap_err();
        assert!(
            error.to_string().contains("other.example.com") && error.hint().contains("SCANDECK_API_KEY"),
            "{error}"
        );
    }

    #[test]
    fn a_mistake_in_the_file_is_told_with_file_and_line() {
        let (_home, environment) = home("[profiles.a]\nbase_url = \"https://a\"\nbase_ulr = 1\n");
        let error = Config::load(&Flags::default(), &environment).unwrap_err().to_string();
        assert!(error.contains("config.toml:3") && error.contains("base_ulr"), "{error}");
        let (_home, environment) = home(TWO);
        let flag = Flags { profile: Some("live".into()), ..Flags::default() };
        let error = Config::load(&flag, &environment).unwrap_err();
        assert!(error.to_string().contains("live") && error.hint().contains("lab, prod"), "{}", error.hint());
    }

    #[test]
    fn a_named_file_must_be_there_and_the_usual_one_need_not() {
        let (home, mut environment) = home("");
        environment.config_home = home.path().join("nowhere");
        assert!(Config::load(&Flags::default(), &environment).is_ok());
        let flag = Flags { config: Some(home.path().join("none.toml")), ..Flags::default() };
        assert!(Config::load(&flag, &environment).unwrap_err().to_string().contains("none.toml"));
    }

    #[tokio::test]
    async fn a_key_file_that_others_can_read_is_refused() {
        let (home, environment) = home(TWO);
        let file = home.path().join("prod.key");
        fs::write(&file, "secret-1\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let config = Config::load(&Flags::default(), &environment).unwrap();
        let error = at(&config).1.read().await.unwrap_err();
        assert!(error.hint().contains("chmod 600"), "{error} / {}", error.hint());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let key = at(&config).1.read().await.unwrap();
        assert_eq!(secrecy::ExposeSecret::expose_secret(&key), "secret-1");
        assert!(!format!("{key:?} {config:?}").contains("secret-1"));
    }

    #[tokio::test]
    async fn a_key_command_runs_without_a_shell_and_its_failure_is_told() {
        let words = |text: &[&str]| KeySource::Command(text.iter().map(|word| (*word).to_owned()).collect());
        let key = words(&["echo", "a;b$(c)"]).read().await.unwrap();
        assert_eq!(secrecy::ExposeSecret::expose_secret(&key), "a;b$(c)");
        assert!(words(&["false"]).read().await.unwrap_err().to_string().contains("exit status: 1"));
        assert!(words(&["true"]).read().await.unwrap_err().to_string().contains("printed nothing"));
        let missing = words(&["/nowhere/key-tool"]).read().await.unwrap_err();
        assert!(missing.to_string().contains("/nowhere/key-tool"), "{missing}");
    }

    #[test]
    fn the_remembered_key_is_closed_to_others() {
        let (_home, environment) = home("");
        let answer = FirstStartChoice::Hosted { base_url: "https://a.example.com".into() };
        environment.state_dir().remember(&answer, Some(&"k".to_owned().into())).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = environment.state_home.join("scandeck");
        assert_eq!((mode(&folder), mode(&folder.join("key"))), (0o700, 0o600));
    }
}
