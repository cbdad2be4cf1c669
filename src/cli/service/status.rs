//! `scandeck status`: whether a local service runs, its addresses and its scans.

use std::process::ExitCode;

use super::DataDirArg;
use crate::cli::stdio;
use scandeck_service::{Activity, DataDir, Holder, ServiceInfo, activity};
use scandeck_wire::contract::node::{NodeState, with_unique_names};
use scandeck_wire::text::{clean, plural};

/// Columns of a label.
const LABEL: usize = 11;

/// Exit code while a service starts or stops: it has no address yet, and another one cannot start.
/// Lower codes have other meanings in other commands.
const NOT_READY: u8 = 5;

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
    let info = match dir.holder()? {
        Holder::Nobody => return not_running(),
        Holder::Running(None) => {
            note!("the service is starting or stopping; try again in a moment");
            return Ok(ExitCode::from(NOT_READY));
        }
        Holder::Running(Some(info)) => info,
    };
    let text = summary(&dir, &info, &activity(&dir, info.logger_days).await?);
    stdio::print_lines(&text, LABEL)?;
    Ok(ExitCode::SUCCESS)
}

fn summary(dir: &DataDir, info: &ServiceInfo, activity: &Activity) -> String {
    format!(
        "service    {}\nloggers    {}\npid        {}\ndirectory  {}\n{}scans      {} running, {} waiting\nrecording  {} {}\n{}",
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
        nodes(&activity.nodes),
    )
}

/// The processes that serve the database, if they are several: a line for each.
fn nodes(all: &[NodeState]) -> String {
    let line = |node: &NodeState| {
        let running = usize::try_from(node.running_scans).unwrap_or_default();
        format!(
            "node       {} ({}), {}, version {}, seen {}, clock {}\n",
            clean(&node.name),
            clean(&node.duties()),
            plural(running, "running scan"),
            clean(&node.version),
            node.seen(),
            node.clock(),
        )
    };
    match all.len() {
        0 | 1 => String::new(),
        _ => with_unique_names(all).iter().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_listed_when_there_are_several() {
        let node = |name: &str| NodeState {
            name: name.into(),
            roles: vec!["api".into(), "worker".into()],
            version: "1.2.3".into(),
            seconds_since_beat: 4,
            running_scans: 1,
            clock_ahead_ms: 250,
            ..NodeState::default()
        };
        assert_eq!(nodes(&[node("build7")]), "");
        let listed = nodes(&[node("build7"), node("build8")]);
        let first = "node       build7 (api,worker), 1 running scan, version 1.2.3, seen 4 s ago, clock +250 ms";
        assert_eq!(listed.lines().next(), Some(first));
        assert_eq!(listed.lines().count(), 2);
        let remote = NodeState {
            roles: vec!["worker".into()],
            place: Some("office".into()),
            ..node("pc1")
        };
        let listed = nodes(&[node("build7"), remote]);
        assert!(
            listed.contains("pc1 (worker at office), 1 running scan"),
            "{listed}"
        );
        let ids = ["6f0c11aa", "71bb22cc"].map(|id| NodeState {
            id: id.into(),
            ..node("build7")
        });
        let listed = nodes(&ids);
        assert!(
            listed.contains("build7 6f0c (") && listed.contains("build7 71bb ("),
            "{listed}"
        );
    }
}
