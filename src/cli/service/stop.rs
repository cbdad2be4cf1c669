//! `scandeck stop`: stops the local service; its running scans start again at the next start.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::DataDirArg;
use scandeck_service::{DataDir, Holder};

/// Limit for the shutdown of a service, which takes two seconds at most.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Interval between two looks at the lock.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Stops the service and waits for its end.
///
/// # Errors
/// When the service does not end or cannot be signalled.
pub async fn run(directory: DataDirArg) -> anyhow::Result<ExitCode> {
    let path = directory.path()?;
    let not_running = || {
        note!(
            "no local service is running with data directory {}",
            path.display()
        );
        Ok(ExitCode::SUCCESS)
    };
    let Some(dir) = directory.existing()? else {
        return not_running();
    };
    let info = match dir.holder()? {
        Holder::Nobody => return not_running(),
        Holder::Running(info) => {
            info.context("the service is starting or stopping; try again in a moment")?
        }
    };
    let pid = i32::try_from(info.pid)
        .ok()
        .and_then(Pid::from_raw)
        .context("service.json contains no process id")?;
    kill_process(pid, Signal::TERM).with_context(|| {
        format!(
            "cannot signal process {}; stop it as the user who started it",
            info.pid
        )
    })?;
    wait_for_end(&dir).await?;
    note!("stopped {}", info.base_url);
    Ok(ExitCode::SUCCESS)
}

async fn wait_for_end(dir: &DataDir) -> anyhow::Result<()> {
    let began = Instant::now();
    while !matches!(dir.holder()?, Holder::Nobody) {
        if began.elapsed() > TIMEOUT {
            bail!(
                "service still runs after {} s; `kill -9` loses no acknowledged data",
                TIMEOUT.as_secs()
            );
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Ok(())
}
