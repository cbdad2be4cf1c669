//! `scandeck stop`: ends the local service; what it was scanning goes on with the next start.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};

use super::data_dir::DataDirArg;
use crate::service::{DataDir, Holder};

/// How long a service may take to end; it needs two seconds at most.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often the lock is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Flags of `scandeck stop`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck stop

Scans that run are not lost: they go on with the next start.")]
pub struct StopArgs {
    #[command(flatten)]
    directory: DataDirArg,
}

/// Ends the service and waits for its end.
///
/// # Errors
/// When it does not end, or cannot be told to.
pub async fn run(args: StopArgs) -> anyhow::Result<ExitCode> {
    let nobody = || {
        eprintln!("no service runs on {}", args.directory.path().display());
        Ok(ExitCode::SUCCESS)
    };
    let Some(dir) = args.directory.existing()? else { return nobody() };
    let info = match dir.holder()? {
        Holder::Nobody => return nobody(),
        Holder::Running(info) => info.context("the service is just starting; try again in a moment")?,
    };
    let pid = i32::try_from(info.pid).ok().and_then(Pid::from_raw).context("service.json names no process")?;
    kill_process(pid, Signal::TERM)
        .with_context(|| format!("process {} cannot be told to end; end it as the user who started it", info.pid))?;
    wait_for_end(&dir).await?;
    eprintln!("stopped {}", info.base_url);
    Ok(ExitCode::SUCCESS)
}

async fn wait_for_end(dir: &DataDir) -> anyhow::Result<()> {
    let begin = Instant::now();
    while !matches!(dir.holder()?, Holder::Nobody) {
        if begin.elapsed() > PATIENCE {
            bail!(
                "the service still runs after {} s; `kill -9` loses nothing that it has acknowledged",
                PATIENCE.as_secs()
            );
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}
