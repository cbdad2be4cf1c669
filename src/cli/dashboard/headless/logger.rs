//! The logger that a command names by id or label.

use std::collections::BTreeSet;

use super::HeadlessSession;
use crate::cli::error::CliError;
use scandeck_wire::contract::{Logger, Shared};

/// A logger with the name of its workspace.
pub type WorkspaceLogger = (Shared, Logger);

/// The loggers of the selected workspaces.
///
/// # Errors
/// Those of the service.
pub async fn all(session: &HeadlessSession) -> anyhow::Result<Vec<WorkspaceLogger>> {
    let mut all = Vec::new();
    for workspace in session.workspaces().await? {
        let loggers = session.client()?.list_loggers(Some(workspace.id)).await?;
        all.extend(
            loggers
                .into_iter()
                .map(|logger| (workspace.name.clone(), logger)),
        );
    }
    Ok(all)
}

/// The loggers with this id, or else with this label. One that is listed in several workspaces is
/// returned once.
pub fn named(all: &[WorkspaceLogger], name: &str) -> Vec<WorkspaceLogger> {
    let matching = |is: &dyn Fn(&Logger) -> bool| {
        let mut ids = BTreeSet::new();
        all.iter()
            .filter(|(_, logger)| is(logger) && ids.insert(logger.id))
            .cloned()
            .collect()
    };
    let by_id: Vec<WorkspaceLogger> = matching(&|logger| logger.id.to_string() == name);
    if by_id.is_empty() {
        matching(&|logger| *logger.label == *name)
    } else {
        by_id
    }
}

/// The only logger of those with this name.
///
/// # Errors
/// When there is none, or more than one.
pub fn single(
    found: &[WorkspaceLogger],
    all: &[WorkspaceLogger],
    name: &str,
) -> Result<WorkspaceLogger, CliError> {
    match found {
        [one] => Ok(one.clone()),
        [] if all.is_empty() => {
            let hint = "`scandeck loggers create LABEL` creates a logger";
            Err(CliError::new(format!("logger {name:?} not found"), hint))
        }
        [] => Err(CliError::not_found(
            "logger",
            name,
            all.iter().map(|(_, logger)| logger.label.as_str()),
        )),
        several => {
            let id = |(workspace, logger): &WorkspaceLogger| format!("{} ({workspace})", logger.id);
            let ids: Vec<String> = several.iter().map(id).collect();
            let hint = format!("name one by its id: {}", ids.join(", "));
            Err(CliError::usage(
                format!("several loggers have the label {name:?}"),
                hint,
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::LoggerId;

    #[test]
    fn logger_listed_in_two_workspaces_can_be_named() {
        let logger = |workspace: &str, id: i64| {
            (
                Shared::from(workspace),
                Logger {
                    id: LoggerId(id),
                    label: "hunt".into(),
                    ..Logger::default()
                },
            )
        };
        let all = [logger("acme", 7), logger("lab", 7)];
        for name in ["7", "hunt"] {
            assert_eq!(
                single(&named(&all, name), &all, name).unwrap().0.as_str(),
                "acme",
                "{name}"
            );
        }
        let all = [logger("acme", 7), logger("lab", 8)];
        let error = single(&named(&all, "hunt"), &all, "hunt").unwrap_err();
        assert!(error.to_string().contains("several loggers"), "{error}");
    }
}
