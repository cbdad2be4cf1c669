//! `scandeck`: the dashboard on the configured service, or with the first-start question.
//!
//! ```text
//!   flags, environment, file ─► Config ─► open ─► runtime::run ─► one line about running work
//!                                 └─ nothing configured: the dashboard asks, `open::connector` opens the chosen service
//! ```

use std::io::{IsTerminal, Write, stdin, stdout};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{demo, from_bundle, live_settings, open};
use crate::cli::error::CliError;
use scandeck_dashboard::config::{Config, Environment, Flags};
use scandeck_dashboard::input::Keymap;
use scandeck_dashboard::runtime;
use scandeck_dashboard::runtime::{Connector, DashboardExit, DashboardSettings, DashboardStart};
use scandeck_wire::text::plural;

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
        None => match open::open(&config, &environment)
            .await
            .map_err(CliError::from)?
        {
            Some(connected) => DashboardStart::On(Box::new(connected)),
            None => DashboardStart::Prompt(None),
        },
    };
    show(opening, open::connector(config, environment), settings).await
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
    demo::end(left.keep_alive).await?;
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
    use scandeck_dashboard::base::Session;

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
}
