//! `scandeck purge`: deletes everything that is kept on this machine about a workspace, after naming it.
//!
//! ```text
//!   name ─► what is kept under it ─► told ─► the name typed once more, or --yes-delete NAME ─► gone
//! ```
//!
//! What the service has is not touched: `scandeck workspaces delete` does that.

use std::io::{IsTerminal, stderr, stdin};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::advised::Advised;
use super::headless::decisions::{advised, writable};
use super::headless::session::{Place, place};
use super::headless::{Output, ServiceArgs};
use crate::contract::Shared;
use crate::runtime::last_known;
use crate::text;
use crate::triage::store::Store;
use crate::triage::store::purge::Kept;

/// `scandeck purge …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck purge --workspace \"Acme external\"
  scandeck purge --workspace Acme --yes-delete Acme

Without --yes-delete it only tells what would go, or asks for the name on a terminal. What the service has stays.")]
pub struct PurgeArgs {
    #[command(flatten)]
    service: ServiceArgs,
    /// The name once more: delete without asking
    #[arg(long, value_name = "NAME")]
    yes_delete: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// When nothing is kept about the workspace, the name was not said again, somebody has the store open, or a file cannot
/// be written.
pub async fn run(args: PurgeArgs) -> anyhow::Result<ExitCode> {
    let Some(named) = args.service.workspace.as_deref() else {
        return Err(Advised::usage("which workspace?", "name it with --workspace").into());
    };
    let place = place(&args.service)?;
    if !place.memory.directory.join("decisions.db").exists() {
        return Err(
            Advised::new(format!("nothing is kept about {named:?}"), "nothing is kept about this service").into()
        );
    }
    let (mut store, _) = writable(&place.memory).await?;
    let workspace = found(&mut store, named).await?;
    let kept = store.kept_about(&workspace).await.map_err(advised)?;
    let files = files(&place, &workspace);
    let told = told(&workspace, &kept, &files);
    if !may(&workspace, &told, args.yes_delete.as_deref())? {
        return Err(Advised::new("that is another name: nothing was deleted", "type it as it stands there").into());
    }
    store.purge(&workspace).await.map_err(advised)?;
    for file in &files {
        std::fs::remove_file(file).with_context(|| format!("{} cannot be deleted", file.display()))?;
    }
    last_known::purge(&place.memory.directory, &workspace).context("the last known data cannot be deleted")?;
    Output::new(false).line(&format!("gone: {told}"));
    Ok(ExitCode::SUCCESS)
}

/// The workspace of this name, in any case, among those of which something is kept.
async fn found(store: &mut Store, named: &str) -> anyhow::Result<Shared> {
    let all = store.workspaces().await.map_err(advised)?;
    let alike = |one: &&Shared| one.trim().to_lowercase() == named.trim().to_lowercase();
    let exact = all.iter().find(|one| ***one == *named);
    match exact.or_else(|| all.iter().find(alike)) {
        Some(one) => Ok(one.clone()),
        None => {
            let names: Vec<&str> = all.iter().map(|one| one.as_str()).filter(|one| !one.is_empty()).collect();
            let hint = format!("something is kept about: {}", names.join(", "));
            Err(Advised::new(format!("nothing is kept about {named:?}"), hint).into())
        }
    }
}

/// Files beside the store that go too: a log does not tell about one workspace alone.
fn files(place: &Place, workspace: &str) -> Vec<PathBuf> {
    let log = place.state.log_file();
    let old = log.with_extension("log.old");
    [place.memory.bundle_of(workspace), log, old].into_iter().filter(|file| file.exists()).collect()
}

fn told(workspace: &str, kept: &Kept, files: &[PathBuf]) -> String {
    let mut told = format!(
        "{} events, {} settings, {} marks of seen findings and the last known data of {}",
        kept.events,
        kept.settings,
        kept.seen,
        text::clean(workspace)
    );
    for file in kept.copies.iter().chain(files) {
        told.push_str(&format!(", all of {}", file.display()));
    }
    told
}

/// Whether the name was said again.
fn may(workspace: &str, told: &str, said: Option<&str>) -> anyhow::Result<bool> {
    let typed = match said {
        Some(said) => said.to_owned(),
        None if stdin().is_terminal() && stderr().is_terminal() => {
            eprint!("This deletes for good: {told}.\nType the name of the workspace to go on: ");
            let mut line = String::new();
            stdin().read_line(&mut line).context("standard input cannot be read")?;
            line.trim_end_matches(['\n', '\r']).to_owned()
        }
        None => {
            let what = format!("this deletes for good: {told}");
            return Err(Advised::usage(what, "say so with --yes-delete and the name").into());
        }
    };
    Ok(typed.trim() == workspace.trim())
}
