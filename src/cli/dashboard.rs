//! `scandeck`: the dashboard on the configured service, or with the first-start question.
//!
//! ```text
//!   flags, environment, file ─► Config ─► key ─► client ─► check ─► runtime::run ─► one line about what goes on
//!                                 └─ nothing configured: the dashboard asks, `connect` carries the answer out
//! ```
//!
//! Whatever is wrong before the screen opens is said in two lines, what and what to do, with exit code 1.

use super::advised::Advised;
use super::from_bundle;
use crate::client::{BaseUrl, Client, ClientSettings, Error, ErrorKind, Problem};
use crate::config::{Config, ConfigError, Connection, Environment, FirstStartChoice, Flags, ServiceName};
use crate::dashboard::base::{ConnectionChoice, Session};
use crate::dashboard::runtime;
use crate::dashboard::runtime::{Connected, ConnectionSource, Connector, DashboardExit, DashboardStart, Memory};
use crate::text::plural;
use anyhow::Context;
use clap::Args;
use futures::FutureExt;
use secrecy::SecretString;
use std::io::{IsTerminal, Write, stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Options of the dashboard.
#[derive(Args, Clone, Debug, Default)]
pub struct DashboardArgs {
    /// Base URL of the service, with or without /api/v2 [env: SCANDECK_BASE_URL]
    ///
    /// Its key comes from SCANDECK_API_KEY, the profile or --api-key-file, never from the command line.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// File with the API key, readable by its owner only
    #[arg(long, value_name = "FILE")]
    pub api_key_file: Option<PathBuf>,
    /// Profile of the configuration file
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Workspace to begin in, by name or id
    #[arg(long, value_name = "NAME|ID")]
    pub workspace: Option<String>,
    /// Show what the bundle of this workspace told, without a service; decisions made there are kept
    #[arg(long, value_name = "WORKSPACE", conflicts_with = "workspace")]
    pub from_bundle: Option<String>,
    /// Turn every action off that changes something
    #[arg(long)]
    pub read_only: bool,
    /// Allow plain http to other machines; the key travels in the clear
    #[arg(long)]
    pub insecure_http: bool,
    /// Configuration file [default: $XDG_CONFIG_HOME/scandeck/config.toml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Shows the dashboard.
///
/// # Errors
/// When the output is no terminal, the configuration is wrong, or the service cannot be used.
pub async fn run(args: DashboardArgs) -> anyhow::Result<ExitCode> {
    if !stdin().is_terminal() || !stdout().is_terminal() {
        let hint = "run it in one; `scandeck demo --plain` shows the same in plain lines";
        return Err(Advised::new("the dashboard needs a terminal", hint).into());
    }
    let environment = Environment::of_process();
    runtime::log::begin(&environment.state_dir());
    let flags = Flags {
        base_url: args.base_url,
        api_key_file: args.api_key_file,
        profile: args.profile,
        workspace: args.workspace,
        read_only: args.read_only,
        insecure_http: args.insecure_http,
        config: args.config,
    };
    let config = Config::load(&flags, &environment).map_err(Advised::from)?;
    let opening = match &args.from_bundle {
        Some(name) => DashboardStart::On(Box::new(from_bundle::open(&config, &environment, name)?)),
        None => match open(&config, &environment).await.map_err(Advised::from)? {
            Some(connected) => DashboardStart::On(Box::new(connected)),
            None => DashboardStart::Ask(None),
        },
    };
    let notify_command = config.signal_command.clone();
    show(opening, connector(config, environment), notify_command).await
}

/// Shows the dashboard on a service, and says at the end what goes on.
///
/// # Errors
/// When the terminal cannot be taken over.
pub async fn show(
    opening: DashboardStart,
    connect: Connector,
    notify_command: Vec<String>,
) -> anyhow::Result<ExitCode> {
    let shown = runtime::run(opening, connect, notify_command, CancellationToken::new()).await;
    let mut left = shown.context("the terminal cannot be used")?;
    let goes_on = farewell(&left);
    end_world(left.keep_alive.take()).await?;
    // The terminal may be gone; then nobody reads this.
    let _ = writeln!(stdout(), "{goes_on}");
    Ok(match left.signal {
        None => ExitCode::SUCCESS,
        Some(signal) => ExitCode::from(128 + u8::try_from(signal).unwrap_or(0)),
    })
}

/// The service the configuration names, or nothing when it names none.
async fn open(config: &Config, environment: &Environment) -> Result<Option<Connected>, Problem> {
    match &config.connection {
        Connection::Ask => Ok(None),
        Connection::Local => local(config, environment).await.map(Some),
        Connection::Remote { base, key } => {
            let key = key.read().await.map_err(|error| config_problem(&error))?;
            let memory = memory(config, environment, &config.service_at(base), base);
            // Where something is known, it is shown at once; the screen tells what is wrong with the service.
            let client = match memory.has_cached_lists() {
                true => Client::new(ClientSettings::new(base.clone(), key))?,
                false => checked(base.clone(), key).await?,
            };
            Ok(Some(connected(client, config, &config.name, memory)))
        }
    }
}

/// A client whose address and key are good.
pub(super) async fn checked(base: BaseUrl, key: SecretString) -> Result<Client, Problem> {
    let shown = base.to_string();
    let client = Client::new(ClientSettings::new(base, key))?;
    // Many services answer a path they do not know with a 404 in JSON; only this API lists workspaces there too.
    let checking = async {
        client.check().await?;
        client.list_workspaces().await
    };
    match checking.await {
        Ok(_) => Ok(client),
        Err(error) => Err(unusable(&shown, &error)),
    }
}

/// What is wrong with a service, by name.
fn unusable(base: &str, error: &Error) -> Problem {
    let what = match error.kind {
        ErrorKind::Unauthorized => "the API key is not accepted by",
        ErrorKind::NotThisApi | ErrorKind::Decode | ErrorKind::NotFound => "this is not the API:",
        ErrorKind::Connect | ErrorKind::Timeout => "no connection to",
        ErrorKind::Tls => "no trusted connection to",
        _ => "there is trouble with",
    };
    let hint = match error.kind {
        ErrorKind::NotFound => "check the base URL: host, port, and what stands before /api/v2".to_owned(),
        _ => error.hint(),
    };
    let problem = Problem::from(error);
    Problem { message: format!("{what} {base}: {}", problem.message), hint: Some(hint), ..problem }
}

fn memory(config: &Config, environment: &Environment, service: &ServiceName, base: &BaseUrl) -> Memory {
    let state = environment.state_dir();
    Memory {
        directory: state.of_service(service),
        cache: Some(state.cached_lists(service, &base.to_string())),
        who: config.user.clone(),
        keep_days: config.keep_days,
    }
}

fn connected(client: Client, config: &Config, name: &str, memory: Memory) -> Connected {
    let session = Session {
        name: name.to_owned(),
        base_url: client.base().to_string(),
        read_only: config.read_only,
        workspace: config.workspace.clone(),
        alias: config.alias.as_str().into(),
        own_addresses: config.own_addresses.clone(),
        ..Session::default()
    };
    Connected { source: ConnectionSource::Service(client), session, memory, note: None, keep_alive: None }
}

/// Carries out the answers to the first-start question.
fn connector(config: Config, environment: Environment) -> Connector {
    let shared = Arc::new((config, environment));
    Arc::new(move |choice| {
        let shared = Arc::clone(&shared);
        async move {
            let (config, environment) = &*shared;
            match choice {
                ConnectionChoice::Here => {
                    let connected = local(config, environment).await?;
                    remember(environment, &FirstStartChoice::Here, None)?;
                    Ok(connected)
                }
                ConnectionChoice::Hosted { base_url, key } => {
                    let base = BaseUrl::parse(&base_url, config.insecure_http)
                        .map_err(|error| Problem::local(error.to_string()).with_hint(error.hint()))?;
                    let key = SecretString::from(key.0.trim().to_owned());
                    let client = checked(base.clone(), key.clone()).await?;
                    remember(environment, &FirstStartChoice::Hosted { base_url: base.to_string() }, Some(&key))?;
                    let name = base.host().to_owned();
                    let memory = memory(config, environment, &ServiceName::At(base.to_string()), &base);
                    Ok(connected(client, config, &name, memory))
                }
                ConnectionChoice::Demo => world().await,
            }
        }
        .boxed()
    })
}

fn remember(environment: &Environment, answer: &FirstStartChoice, key: Option<&SecretString>) -> Result<(), Problem> {
    environment.state_dir().remember(answer, key).map_err(|error| config_problem(&error))
}

fn config_problem(error: &ConfigError) -> Problem {
    Problem::local(error.to_string()).with_hint(error.hint())
}

#[cfg(feature = "service")]
async fn local(config: &Config, environment: &Environment) -> Result<Connected, Problem> {
    let service = runtime::local::find_or_start(&environment.state_dir().service_dir())
        .await
        .map_err(|error| Problem::local(error.to_string()).with_hint(error.hint()))?;
    let memory = memory(config, environment, &ServiceName::Local, &service.base);
    let client = checked(service.base, service.key).await?;
    Ok(Connected { note: service.note, ..connected(client, config, "local", memory) })
}

#[cfg(not(feature = "service"))]
async fn local(_: &Config, _: &Environment) -> Result<Connected, Problem> {
    Err(Problem::local("this program was built without the local service")
        .with_hint("give --base-url, or build it with the feature `service`"))
}

#[cfg(feature = "service")]
async fn world() -> Result<Connected, Problem> {
    let world = crate::demo::DemoWorld::start(crate::demo::Tempo::Watched)
        .await
        .map_err(|error| Problem::local(format!("{error:#}")))?;
    Ok(on_world(world))
}

#[cfg(not(feature = "service"))]
async fn world() -> Result<Connected, Problem> {
    Err(Problem::local("this program was built without the demo").with_hint("build it with the feature `service`"))
}

/// The dashboard's view of a demo's world, which ends with the dashboard.
#[cfg(feature = "service")]
pub fn on_world(world: crate::demo::DemoWorld) -> Connected {
    let session = Session {
        name: "demo".to_owned(),
        base_url: world.base_url.clone(),
        demo: true,
        practice: Some(crate::dashboard::base::session::Playground {
            control: world.practice.control_url(),
            fetch: world.practice.fetch_url(),
            script_file: world.script_file().display().to_string(),
        }),
        workspace: Some(world.workspace.to_string()),
        ..Session::default()
    };
    // Beside the world's own data: what is decided about it ends with it.
    let who = Environment::of_process().login;
    let memory = Memory { directory: world.memory(), cache: None, who, keep_days: None };
    let source = ConnectionSource::Service(world.client.clone());
    Connected { source, session, memory, note: None, keep_alive: Some(Box::new(world)) }
}

/// Ends the demo's world, if that is what was kept.
#[cfg(feature = "service")]
async fn end_world(keep_alive: Option<Box<dyn std::any::Any + Send>>) -> anyhow::Result<()> {
    match keep_alive.map(|world| world.downcast::<crate::demo::DemoWorld>()) {
        Some(Ok(world)) => world.end().await,
        _ => Ok(()),
    }
}

#[cfg(not(feature = "service"))]
async fn end_world(_: Option<Box<dyn std::any::Any + Send>>) -> anyhow::Result<()> {
    Ok(())
}

/// One line about what goes on without the dashboard.
fn farewell(left: &DashboardExit) -> String {
    let Some(session) = &left.session else { return "nothing was started".to_owned() };
    if session.demo {
        return "the demo's world is gone, and nothing of it was kept".to_owned();
    }
    if session.bundled {
        return "nothing was asked of a service; what was decided is kept".to_owned();
    }
    let scans = counted(left.active_scans, "scan");
    let loggers = counted(left.loggers, "logger");
    match session.name.as_str() {
        "local" => format!(
            "the local service goes on with {scans} under way and {loggers} (`scandeck status`, `scandeck stop`)"
        ),
        name => format!("{name} goes on with {scans} under way and {loggers}"),
    }
}

fn counted(number: usize, what: &str) -> String {
    if number == 0 { format!("no {what}") } else { plural(number, what) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(name: &str, demo: bool, active_scans: usize, loggers: usize) -> DashboardExit {
        let session = Session { name: name.into(), base_url: "http://b/api/v2".into(), demo, ..Session::default() };
        DashboardExit { signal: None, session: Some(session), active_scans, loggers, keep_alive: None }
    }

    #[test]
    fn the_last_line_says_what_goes_on() {
        let local = farewell(&left("local", false, 2, 1));
        assert!(local.contains("2 scans under way and 1 logger") && local.contains("scandeck stop"), "{local}");
        assert!(farewell(&left("prod", false, 0, 0)).contains("no scan under way and no logger"));
        assert!(farewell(&left("demo", true, 2, 1)).contains("gone"));
        let mut bundled = left("bundle", false, 2, 0);
        bundled.session.as_mut().unwrap().bundled = true;
        assert!(farewell(&bundled).contains("what was decided is kept"));
    }

    #[tokio::test]
    async fn what_is_wrong_with_a_service_is_told_by_name() {
        let refused = BaseUrl::parse("http://127.0.0.1:1", false).unwrap();
        let problem = checked(refused, "k".to_owned().into()).await.unwrap_err();
        assert!(problem.message.contains("no connection to http://127.0.0.1:1/api/v2"), "{problem}");
        assert!(problem.hint.is_some());
    }
}
