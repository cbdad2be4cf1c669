//! The logger that a command names, by id or label.

use super::HeadlessSession;
use crate::cli::advised::Advised;
use crate::contract::{Logger, Shared};

/// A logger with the name of its workspace.
pub type Homed = (Shared, Logger);

/// The loggers of the workspaces in question.
///
/// # Errors
/// What the service refuses.
pub async fn all(session: &HeadlessSession) -> anyhow::Result<Vec<Homed>> {
    let mut all = Vec::new();
    for workspace in session.workspaces().await? {
        let its = session.client()?.list_loggers(Some(workspace.id)).await?;
        all.extend(its.into_iter().map(|logger| (workspace.name.clone(), logger)));
    }
    Ok(all)
}

/// Those of this id, else of this label.
pub fn called(all: &[Homed], named: &str) -> Vec<Homed> {
    let of = |is: &dyn Fn(&Logger) -> bool| all.iter().filter(|(_, logger)| is(logger)).cloned().collect::<Vec<_>>();
    let by_id = of(&|logger| logger.id.to_string() == named);
    if by_id.is_empty() { of(&|logger| *logger.label == *named) } else { by_id }
}

/// The only one of those that are called so.
///
/// # Errors
/// When there is none, or more than one.
pub fn only(called: &[Homed], all: &[Homed], named: &str) -> Result<Homed, Advised> {
    match called {
        [one] => Ok(one.clone()),
        [] => {
            let labels: Vec<&str> = all.iter().map(|(_, logger)| logger.label.as_str()).collect();
            let hint = match labels.is_empty() {
                true => "`scandeck loggers create LABEL` makes one".to_owned(),
                false => format!("there are: {}", labels.join(", ")),
            };
            Err(Advised::new(format!("there is no logger {named:?}"), hint))
        }
        several => {
            let ids: Vec<String> =
                several.iter().map(|(workspace, logger)| format!("{} ({workspace})", logger.id)).collect();
            let hint = format!("say which by its id: {}", ids.join(", "));
            Err(Advised::usage(format!("several loggers are called {named:?}"), hint))
        }
    }
}
