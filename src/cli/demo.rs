//! `scandeck demo`: the throw-away world, in the dashboard, or in plain lines where there is no terminal.

use std::io::{IsTerminal, Write, stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use futures::FutureExt;
use tokio::signal::unix::{SignalKind, signal};

use super::advised::Advised;
use super::dashboard;
use crate::client::Problem;
use crate::config::{Config, Environment};
use crate::dashboard::runtime;
use crate::dashboard::runtime::DashboardStart;
use crate::demo::{DemoWorld, Tempo, plain};

/// Options of `scandeck demo`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck demo
  scandeck demo --plain --out ./reports

Everything in it is real, on loopback only, and gone at the end; only the reports of --plain stay. The practice target's
weaknesses are mended and broken at its control address, and its page /fetch requests addresses of the demo's loggers, to
practise out-of-band: the help (?) names both. Of the configuration file only [signals] counts here.")]
pub struct DemoArgs {
    /// Plain lines instead of the dashboard; so too when the output is no terminal
    #[arg(long)]
    plain: bool,
    /// Directory for the reports of --plain [default: a new temporary one, which stays]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the world until it is left, or in plain lines to its end.
///
/// # Errors
/// When the world cannot be started, or a part of it fails.
pub async fn run(args: DemoArgs) -> anyhow::Result<ExitCode> {
    if args.plain || !stdout().is_terminal() || !stdin().is_terminal() {
        return run_plain(args.out).await;
    }
    let environment = Environment::of_process();
    runtime::log::begin(&environment.state_dir());
    let notify_command = Config::signal_command(&environment).map_err(Advised::from)?;
    writeln!(stdout(), "scandeck demo: starting a throw-away world on loopback")?;
    let opening = DashboardStart::On(Box::new(dashboard::on_world(DemoWorld::start(Tempo::Watched).await?)));
    // The world is there from the start, so the first-start question never comes.
    let connect = Arc::new(|_| async { Err(Problem::local("the demo has its own service")) }.boxed());
    dashboard::show(opening, connect, notify_command).await
}

async fn run_plain(out: Option<PathBuf>) -> anyhow::Result<ExitCode> {
    let out = match out {
        Some(out) => out,
        None => tempfile::Builder::new()
            .prefix("scandeck-reports-")
            .tempdir()
            .context("no temporary directory for the reports")?
            .keep(),
    };
    let world = DemoWorld::start(Tempo::Plain).await?;
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let result = {
        let mut lines = stdout();
        tokio::select! {
            result = plain::run(&world, &out, &mut lines) => result.map(|()| ExitCode::SUCCESS),
            _ = terminate.recv() => Ok(ExitCode::from(143)),
            _ = interrupt.recv() => Ok(ExitCode::from(130)),
        }
    };
    world.end().await?;
    result
}
