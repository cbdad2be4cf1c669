//! `scandeck`: the dashboard on the configured service, or with the first-start question.
//!
//! ```text
//!   flags, environment, file ─► Config ─► key ─► client ─► check ─► runtime::run ─► one line about running work
//!                                 └─ nothing configured: the dashboard asks, `connector` opens the chosen service
//! ```
//!
//! An error before the screen opens is printed on two lines, cause and remedy, with exit code 1.

use super::error::CliError;
use super::{from_bundle, headless, live_settings};
use anyhow::Context;
use clap::Args;
use futures::FutureExt;
use scandeck_client::{BaseUrl, Client, ClientSettings, Error, ErrorKind, Problem};
use scandeck_dashboard::base::{ConnectionChoice, Session};
use scandeck_dashboard::config::{
    Config, ConfigError, Connection, Environment, FirstStartChoice, Flags, KeySource, ServiceName,
};
use scandeck_dashboard::input::Keymap;
use scandeck_dashboard::runtime;
use scandeck_dashboard::runtime::{
    Connected, ConnectionSource, Connector, DashboardExit, DashboardSettings, DashboardStart,
    Memory,
};
use scandeck_wire::text::plural;
use secrecy::SecretString;
use std::io::{IsTerminal, Write, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

#[derive(Args, Clone, Debug, Default)]
pub struct DashboardArgs {
    #[command(flatten)]
    flags: Flags,
    /// Show an imported bundle without a service; decisions are saved on this machine
    #[arg(long, value_name = "WORKSPACE", conflicts_with = "workspace")]
    from_bundle: Option<String>,
}

/// Shows the dashboard. The runtime was started at this time.
///
/// # Errors
/// When the output is not a terminal, the configuration is invalid, or the service is not usable.
pub async fn run(args: DashboardArgs, started: Instant) -> anyhow::Result<ExitCode> {
    if !stdin().is_terminal() || !stdout().is_terminal() {
        let hint = "run it in a terminal, or use a command such as `scandeck findings list`";
        return Err(CliError::new("the dashboard needs a terminal", hint).into());
    }
    // Parsed on another thread while the configuration is read.
    spawn_blocking(Keymap::builtin);
    let environment = Environment::of_process()?;
    runtime::log::begin(&environment.state_dir());
    let config = Config::load(&args.flags, &environment)?;
    let settings = DashboardSettings {
        started: Some(started),
        live: live_settings::checked(config.screen.clone()).map_err(CliError::from)?,
        source: Some(live_settings::source(
            args.flags.config.clone(),
            &environment,
        )),
        background_file: Some(environment.state_dir().background_file()),
    };
    let opening = match &args.from_bundle {
        Some(name) => DashboardStart::On(Box::new(from_bundle::open(&config, &environment, name)?)),
        None => match open(&config, &environment).await.map_err(CliError::from)? {
            Some(connected) => DashboardStart::On(Box::new(connected)),
            None => DashboardStart::Prompt(None),
        },
    };
    show(opening, connector(config, environment), settings).await
}

/// Shows the dashboard on a service, and prints at the end which work continues.
///
/// # Errors
/// When the terminal is not usable.
pub async fn show(
    opening: DashboardStart,
    connect: Connector,
    settings: DashboardSettings,
) -> anyhow::Result<ExitCode> {
    let shown = runtime::run(opening, connect, settings, CancellationToken::new()).await;
    let left = shown.context("cannot use the terminal")?;
    let summary = exit_summary(&left);
    #[cfg(feature = "service")]
    if let Some(Ok(environment)) = left
        .keep_alive
        .map(|environment| environment.downcast::<crate::demo::DemoEnvironment>())
    {
        environment.end().await?;
    }
    // The terminal may be closed already.
    let _ = writeln!(stdout(), "{summary}");
    if !left.is_saved {
        note!(
            "scandeck: the last decisions were not saved; see dashboard.log in the state directory"
        );
    }
    Ok(match left.signal {
        None if left.is_saved => ExitCode::SUCCESS,
        None => ExitCode::FAILURE,
        Some(signal) => ExitCode::from(128 + u8::try_from(signal).unwrap_or(0)),
    })
}

/// Opens the configured service; `None` if nothing is configured.
async fn open(config: &Config, environment: &Environment) -> Result<Option<Connected>, Problem> {
    match &config.connection {
        Connection::Prompt => Ok(None),
        Connection::Local => local(config, environment).await.map(Some),
        Connection::Remote { base, key } => {
            let settings = settings(base, key.read().await?, key);
            let memory = cached_memory(config, environment, &config.service_at(base), base);
            // With cached lists the screen opens at once and shows the state of the service itself.
            let client = match memory.has_cached_lists() {
                true => Client::new(settings)?,
                false => checked(settings).await?,
            };
            Ok(Some(connected(client, key, config, &config.name, memory)))
        }
    }
}

fn settings(base: &BaseUrl, key: SecretString, source: &KeySource) -> ClientSettings {
    ClientSettings::new(base.clone(), key).with_key_source(&source.to_string())
}

/// A client whose base URL and key were checked.
pub(super) async fn checked(settings: ClientSettings) -> Result<Client, Problem> {
    let shown = settings.base.to_string();
    let client = Client::new(settings)?;
    match client.list_workspaces().await {
        Ok(_) => Ok(client),
        Err(error) => Err(unusable(&shown, &error)),
    }
}

fn unusable(base: &str, error: &Error) -> Problem {
    let state = match error.kind {
        ErrorKind::Unauthorized => "API key rejected by",
        ErrorKind::NotThisApi | ErrorKind::Decode | ErrorKind::NotFound => "no scanning API v2 at",
        ErrorKind::Connect | ErrorKind::Timeout => "cannot connect to",
        // The cause names TLS or the certificate.
        ErrorKind::Tls => "",
        _ => "request failed at",
    };
    let hint = match error.kind {
        ErrorKind::NotFound => scandeck_client::NOT_THIS_API_HINT.to_owned(),
        _ => error.hint(),
    };
    let problem = Problem::from(error);
    // The state says the same.
    let cause = problem
        .message
        .strip_prefix("cannot connect: ")
        .unwrap_or(&problem.message);
    let cause = cause.replace(": the server does not implement the API v2", "");
    if error.kind == ErrorKind::Unauthorized {
        // The message of the service is the same fact in other words.
        return Problem {
            message: format!("{state} {base}"),
            hint: Some(hint),
            ..problem
        };
    }
    let hint = Some(hint).filter(|hint| !hint.is_empty());
    Problem {
        message: format!("{state} {base}: {cause}").trim_start().to_owned(),
        hint,
        ..problem
    }
}

fn cached_memory(
    config: &Config,
    environment: &Environment,
    service: &ServiceName,
    base: &BaseUrl,
) -> Memory {
    let cache = environment
        .state_dir()
        .cached_lists(service, &base.to_string());
    Memory {
        cache: Some(cache),
        ..headless::session::memory(environment, config, service)
    }
}

fn connected(
    client: Client,
    key: &KeySource,
    config: &Config,
    name: &str,
    memory: Memory,
) -> Connected {
    let session = Session {
        name: name.to_owned(),
        base_url: client.base().to_string(),
        service_flags: config.service_flags.clone(),
        read_only: config.read_only,
        colour: config.colour,
        reads_key_again: key.is_readable_again(),
        key_source: key.to_string(),
        workspace: config.workspace.clone(),
        alias: config.alias.as_str().into(),
        own_addresses: config.own_addresses.clone(),
        ..Session::default()
    };
    let (source, key) = (ConnectionSource::Service(client), Some(key.clone()));
    Connected {
        source,
        session,
        memory,
        key,
        service_dir: None,
        note: None,
        keep_alive: None,
    }
}

/// Opens the service that is chosen at the first start.
fn connector(config: Config, environment: Environment) -> Connector {
    let shared = Arc::new((config, environment));
    Arc::new(move |choice| {
        let shared = Arc::clone(&shared);
        async move {
            let (config, environment) = &*shared;
            match choice {
                ConnectionChoice::Here => {
                    let connected = local(config, environment).await?;
                    environment
                        .state_dir()
                        .remember(&FirstStartChoice::Here, None)?;
                    Ok(connected)
                }
                ConnectionChoice::Hosted { base_url, key } => {
                    let base = BaseUrl::parse(&base_url, config.insecure_http)
                        .map_err(ConfigError::from)?;
                    let key = SecretString::from(key.0.trim().to_owned());
                    let client = checked(ClientSettings::new(base.clone(), key.clone())).await?;
                    let choice = FirstStartChoice::Hosted {
                        base_url: base.to_string(),
                    };
                    environment.state_dir().remember(&choice, Some(&key))?;
                    let memory = cached_memory(
                        config,
                        environment,
                        &ServiceName::At(base.to_string()),
                        &base,
                    );
                    let stored = KeySource::File(environment.state_dir().key_file());
                    Ok(connected(client, &stored, config, base.host(), memory))
                }
                ConnectionChoice::Demo => demo().await,
            }
        }
        .boxed()
    })
}

#[cfg(feature = "service")]
async fn local(config: &Config, environment: &Environment) -> Result<Connected, Problem> {
    let service_dir = environment.state_dir().service_dir();
    let service = runtime::local::find_or_start(&service_dir)
        .await
        .map_err(|error| {
            Problem::local(format!("local service not connected: {error}")).with_hint(error.hint())
        })?;
    let memory = cached_memory(config, environment, &ServiceName::Local, &service.base);
    let client = checked(service.client_settings()).await?;
    let connected = connected(client, &service.key_source, config, "local", memory);
    let session = Session {
        starts_service: true,
        ..connected.session
    };
    Ok(Connected {
        session,
        service_dir: Some(service_dir),
        note: service.note,
        ..connected
    })
}

#[cfg(not(feature = "service"))]
async fn local(_: &Config, _: &Environment) -> Result<Connected, Problem> {
    Err(Problem::local("this build has no local service")
        .with_hint("set --base-url, or build with feature `service`"))
}

#[cfg(feature = "service")]
async fn demo() -> Result<Connected, Problem> {
    let environment = crate::demo::DemoEnvironment::start(crate::demo::Tempo::Watched).await;
    Ok(on_demo(
        environment.map_err(|error| Problem::local(format!("{error:#}")))?,
    ))
}

#[cfg(not(feature = "service"))]
async fn demo() -> Result<Connected, Problem> {
    Err(Problem::local("this build has no demo").with_hint("build with feature `service`"))
}

/// The connection to a demo, which ends with the dashboard.
#[cfg(feature = "service")]
pub fn on_demo(environment: crate::demo::DemoEnvironment) -> Connected {
    let session = Session {
        name: "demo".to_owned(),
        base_url: environment.base_url.clone(),
        demo: true,
        practice: Some(scandeck_dashboard::base::session::Playground {
            control: environment.practice.control_url(),
            fetch: environment.practice.fetch_url(),
            script_file: environment.script_file().display().to_string(),
        }),
        workspace: Some(environment.workspace.to_string()),
        ..Session::default()
    };
    // In the directory of the demo, so that its decisions are deleted with it.
    let who = scandeck_wire::login::login(|name| std::env::var(name).ok());
    let memory = Memory {
        directory: environment.memory(),
        cache: None,
        who,
        keep_days: None,
    };
    let source = ConnectionSource::Service(environment.client.clone());
    Connected {
        source,
        session,
        memory,
        key: None,
        service_dir: None,
        note: None,
        keep_alive: Some(Box::new(environment)),
    }
}

/// One line about the work that continues without the dashboard.
fn exit_summary(left: &DashboardExit) -> String {
    let Some(session) = &left.session else {
        return "nothing was started".to_owned();
    };
    if session.demo {
        return "demo ended; its data was deleted".to_owned();
    }
    if session.bundled {
        return "nothing was sent to a service".to_owned();
    }
    let (scans, loggers) = (
        counted(left.active_scans, "active scan"),
        counted(left.loggers, "logger"),
    );
    match session.name.as_str() {
        "local" => {
            format!(
                "the local service keeps running ({scans}, {loggers}); `scandeck stop` stops it"
            )
        }
        name => format!("the service {name} keeps running ({scans}, {loggers})"),
    }
}

fn counted(number: usize, noun: &str) -> String {
    if number == 0 {
        format!("no {noun}s")
    } else {
        plural(number, noun)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(name: &str, demo: bool, active_scans: usize, loggers: usize) -> DashboardExit {
        let session = Session {
            name: name.into(),
            base_url: "http://b/api/v2".into(),
            demo,
            ..Session::default()
        };
        DashboardExit {
            signal: None,
            session: Some(session),
            active_scans,
            loggers,
            is_saved: true,
            keep_alive: None,
        }
    }

    #[test]
    fn exit_summary_names_running_work() {
        let local = exit_summary(&left("local", false, 2, 1));
        assert!(
            local.contains("2 active scans, 1 logger") && local.contains("scandeck stop"),
            "{local}"
        );
        assert!(exit_summary(&left("prod", false, 0, 0)).contains("no active scans, no loggers"));
        assert!(exit_summary(&left("demo", true, 2, 1)).contains("deleted"));
        let mut bundled = left("bundle", false, 2, 0);
        bundled.session.as_mut().unwrap().bundled = true;
        assert!(exit_summary(&bundled).contains("nothing was sent"));
    }

    #[tokio::test]
    async fn unreachable_service_is_named_with_a_hint() {
        let base = BaseUrl::parse("http://127.0.0.1:1", false).unwrap();
        let problem = checked(ClientSettings::new(base, "k".to_owned().into()))
            .await
            .unwrap_err();
        assert!(
            problem
                .message
                .starts_with("cannot connect to http://127.0.0.1:1/api/v2: connection refused"),
            "{problem}"
        );
        assert!(problem.hint.is_some());
    }
}
