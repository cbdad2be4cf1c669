//! `scandeck status`: whether a local service runs, its addresses and its scans.

use std::process::ExitCode;

use super::DataDirArg;
use crate::cli::stdio;
use scandeck_service::{Activity, DataDir, Holder, ServiceInfo, activity};

/// Prints the state of the service.
///
/// # Errors
/// When the directory or the database is unreadable.
pub async fn run(directory: DataDirArg) -> anyhow::Result<ExitCode> {
    let path = directory.path()?;
    let not_running = || {
        let path = path.display();
        note!(
            "no local service is running with data directory {path}; `scandeck serve` starts one"
        );
        Ok(ExitCode::FAILURE)
    };
    let Some(dir) = directory.existing()? else {
        return not_running();
    };
    let text = match dir.holder()? {
        Holder::Nobody => return not_running(),
        Holder::Running(None) => "the service is starting or stopping\n".to_owned(),
        Holder::Running(Some(info)) => {
            summary(&dir, &info, &activity(&dir, info.logger_days).await?)
        }
    };
    stdio::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn summary(dir: &DataDir, info: &ServiceInfo, activity: &Activity) -> String {
    format!(
        "service    {}\nloggers    {}\npid        {}\ndirectory  {}\n{}scans      {} running, {} waiting\nrecording  {} {}\n",
        info.base_url,
        info.logger_url,
        info.pid,
        dir.path().display(),
        dir.postgres().map_or_else(String::new, |address| format!(
            "database   PostgreSQL, address in {address}\n"
        )),
        activity.running,
        activity.waiting,
        activity.loggers,
        if activity.loggers == 1 {
            "logger"
        } else {
            "loggers"
        },
    )
}
