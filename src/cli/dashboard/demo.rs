//! `scandeck demo`: the temporary demo service, in the dashboard or as plain lines.

use std::any::Any;
use std::io::{IsTerminal, Write, stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, Subcommand};
use futures::FutureExt;
use tokio::signal::unix::{SignalKind, signal};

use super::{live_settings, screen};
use crate::cli::error::CliError;
use crate::demo::environment::{DemoEnvironment, Tempo, plain};
use scandeck_dashboard::base::Session;
use scandeck_dashboard::base::session::Playground;
use scandeck_dashboard::config::{Config, Environment};
use scandeck_dashboard::runtime;
use scandeck_dashboard::runtime::{
    Connected, ConnectionSource, DashboardSettings, DashboardStart, Memory,
};
use scandeck_domain::problem::Problem;
use scandeck_wire::login::login;

#[derive(Subcommand, Debug)]
pub enum DemoCommand {
    /// Try the dashboard on a temporary service with a practice target
    Demo(DemoArgs),
}

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck demo --plain --out ./reports")]
pub struct DemoArgs {
    /// Print plain lines instead of the dashboard; default without a terminal
    #[arg(long)]
    plain: bool,
    /// Directory for the reports; implies --plain [default: a new temporary directory]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the demo until the dashboard is closed, or to the end of the plain output.
///
/// # Errors
/// When the demo cannot be started, or a part of it fails.
pub async fn run(command: DemoCommand) -> anyhow::Result<ExitCode> {
    let DemoCommand::Demo(args) = command;
    let is_plain = args.plain || args.out.is_some();
    if is_plain || !stdout().is_terminal() || !stdin().is_terminal() {
        return run_plain(args.out).await;
    }
    let environment = Environment::of_process()?;
    runtime::log::begin(&environment.state_dir());
    let settings = DashboardSettings {
        started: None,
        live: live_settings::checked(Config::screen_of(None, &environment)?)
            .map_err(CliError::from)?,
        source: Some(live_settings::source(None, &environment)),
        background_file: Some(environment.state_dir().background_file()),
    };
    writeln!(
        stdout(),
        "scandeck demo: starting a temporary service on loopback"
    )?;
    let environment = DemoEnvironment::start(Tempo::Watched).await?;
    let opening = DashboardStart::On(Box::new(connected(environment)));
    // The demo has a service from the start, so the first-start question never appears.
    let connect =
        Arc::new(|_| async { Err(Problem::local("the demo has its own service")) }.boxed());
    screen::show(opening, connect, settings).await
}

async fn run_plain(out: Option<PathBuf>) -> anyhow::Result<ExitCode> {
    let out = match out {
        Some(out) => out,
        None => tempfile::Builder::new()
            .prefix("scandeck-reports-")
            .tempdir()
            .context("cannot create a temporary directory for the reports")?
            .keep(),
    };
    let environment = DemoEnvironment::start(Tempo::Plain).await?;
    let (mut terminate, mut interrupt) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    let mut lines = stdout();
    let result = tokio::select! {
        result = plain::run(&environment, &out, &mut lines) => result.map(|()| ExitCode::SUCCESS),
        _ = terminate.recv() => Ok(ExitCode::from(143)),
        _ = interrupt.recv() => Ok(ExitCode::from(130)),
    };
    environment.end().await?;
    result
}

/// Starts a demo for the dashboard.
///
/// # Errors
/// When it cannot be started.
pub async fn open() -> Result<Connected, Problem> {
    match DemoEnvironment::start(Tempo::Watched).await {
        Ok(environment) => Ok(connected(environment)),
        Err(error) => Err(Problem::local(format!("{error:#}"))),
    }
}

/// Ends the demo of a dashboard that showed one.
///
/// # Errors
/// When its service does not stop.
pub async fn end(keep_alive: Option<Box<dyn Any + Send>>) -> anyhow::Result<()> {
    match keep_alive.map(|environment| environment.downcast::<DemoEnvironment>()) {
        Some(Ok(environment)) => environment.end().await,
        Some(Err(_)) | None => Ok(()),
    }
}

/// The connection to a demo, which ends with the dashboard.
fn connected(environment: DemoEnvironment) -> Connected {
    let session = Session {
        name: "demo".to_owned(),
        base_url: environment.base_url.clone(),
        demo: true,
        practice: Some(Playground {
            control: environment.practice.control_url(),
            fetch: environment.practice.fetch_url(),
            script_file: environment.script_file().display().to_string(),
        }),
        workspace: Some(environment.workspace.to_string()),
        ..Session::default()
    };
    // In the directory of the demo, so that its decisions are deleted with it.
    let who = login(|name| std::env::var(name).ok());
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
