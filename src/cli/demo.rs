//! `scandeck demo`: the temporary demo service, in the dashboard or as plain lines.

use std::io::{IsTerminal, Write, stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use futures::FutureExt;
use tokio::signal::unix::{SignalKind, signal};

use super::error::CliError;
use super::{dashboard, live_settings};
use crate::demo::{DemoEnvironment, Tempo, plain};
use scandeck_dashboard::config::{Config, Environment};
use scandeck_dashboard::runtime;
use scandeck_dashboard::runtime::{DashboardSettings, DashboardStart};
use scandeck_domain::problem::Problem;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck demo --plain --out ./reports")]
pub struct DemoArgs {
    /// Print plain lines instead of the dashboard; default without a terminal
    #[arg(long)]
    plain: bool,
    /// Directory for the reports of --plain [default: a new temporary directory, which is kept]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the demo until the dashboard is closed, or to the end of the plain output.
///
/// # Errors
/// When the demo cannot be started, or a part of it fails.
pub async fn run(args: DemoArgs) -> anyhow::Result<ExitCode> {
    if args.plain || !stdout().is_terminal() || !stdin().is_terminal() {
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
    let opening = DashboardStart::On(Box::new(dashboard::on_demo(
        DemoEnvironment::start(Tempo::Watched).await?,
    )));
    // The demo has a service from the start, so the first-start question never appears.
    let connect =
        Arc::new(|_| async { Err(Problem::local("the demo has its own service")) }.boxed());
    dashboard::show(opening, connect, settings).await
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
