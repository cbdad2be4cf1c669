//! `scandeck status`: whether a local service runs, where, and what it is doing.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;

use super::data_dir::DataDirArg;
use crate::service::{Activity, DataDir, Holder, ServiceInfo, activity};

/// Flags of `scandeck status`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck status

Ends with 0 when a service runs and with 1 when none does.")]
pub struct StatusArgs {
    #[command(flatten)]
    directory: DataDirArg,
}

/// Prints the state of the service.
///
/// # Errors
/// When the directory or the database cannot be read.
pub async fn run(args: StatusArgs) -> anyhow::Result<ExitCode> {
    let nobody = || {
        eprintln!("no service runs on {}; `scandeck serve` starts one", args.directory.path().display());
        Ok(ExitCode::FAILURE)
    };
    let Some(dir) = args.directory.existing()? else { return nobody() };
    let text = match dir.holder()? {
        Holder::Nobody => return nobody(),
        Holder::Running(None) => "a service is just starting\n".to_owned(),
        Holder::Running(Some(info)) => told(&dir, &info, &activity(&dir, info.logger_days).await?),
    };
    // Who closed our output has read enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(ExitCode::SUCCESS)
}

fn told(dir: &DataDir, info: &ServiceInfo, activity: &Activity) -> String {
    format!(
        "service    {}\nloggers    {}\nprocess    {}\ndirectory  {}\nscans      {} running, {} waiting\nlistening  {} {}\n",
        info.base_url,
        info.logger_url,
        info.pid,
        dir.path().display(),
        activity.running,
        activity.waiting,
        activity.loggers,
        if activity.loggers == 1 { "logger" } else { "loggers" },
    )
}
