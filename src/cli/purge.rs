//! `scandeck purge`: deletes everything that is kept on this machine about a workspace, after naming it.
//!
//! ```text
//!   name ─► what is kept under it ─► told ─► the name typed once more, or --yes-delete NAME ─► gone
//! ```
//!
//! What the service has is not touched: `scandeck workspaces delete` does that.

use std::io::{IsTerminal, stderr, stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::advised::Advised;
use super::headless::decisions::{advised, archive, writable};
use super::headless::session::{Place, place};
use super::headless::{Output, ServiceArgs};
use crate::contract::Shared;
use crate::oob;
use crate::runtime::last_known::{self, Known};
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
    let directory = &place.memory.directory;
    let mut store = match directory.join("decisions.db").exists() {
        true => Some(writable(&place.memory).await?.0),
        false => None,
    };
    let mut archive = match oob::store::Store::exists(directory) {
        true => Some(archive(&place.memory).await?),
        false => None,
    };
    let workspace = found((store.as_mut(), archive.as_mut()), &place, named).await?;
    let kept = match &mut store {
        Some(store) => Some(store.kept_about(&workspace).await.map_err(advised)?),
        None => None,
    };
    let caught = match &mut archive {
        Some(archive) => {
            Some(archive.kept_about(&workspace).await.map_err(advised)?).filter(|caught| !caught.is_empty())
        }
        None => None,
    };
    let known = last_known::about(directory, &workspace).with_context(|| unreadable(directory))?;
    let files = files(&place, &workspace);
    let told = told(&workspace, (kept.as_ref(), caught.as_ref()), &known, &files);
    if !may(&workspace, &told, args.yes_delete.as_deref())? {
        return Err(Advised::new("that is another name: nothing was deleted", "type it as it stands there").into());
    }
    if let Some(archive) = archive {
        archive.purge(&workspace).await.map_err(advised)?;
    }
    if let Some(store) = store {
        store.purge(&workspace).await.map_err(advised)?;
    }
    for file in &files {
        std::fs::remove_file(file).with_context(|| format!("{} cannot be deleted", file.display()))?;
    }
    last_known::purge(directory, &workspace).context("the last known data cannot be deleted")?;
    Output::new(false).line(&format!("gone: {told}"));
    Ok(ExitCode::SUCCESS)
}

/// The workspace of this name, in any case, or of this id as last known, among those of which something is kept.
async fn found(
    (store, archive): (Option<&mut Store>, Option<&mut oob::store::Store>),
    place: &Place,
    named: &str,
) -> anyhow::Result<Shared> {
    let directory = &place.memory.directory;
    let mut all = match store {
        Some(store) => store.workspaces().await.map_err(advised)?,
        None => Vec::new(),
    };
    if let Some(archive) = archive {
        all.extend(archive.workspaces().await.map_err(advised)?);
    }
    all.extend(last_known::names(directory).with_context(|| unreadable(directory))?);
    all.sort();
    all.dedup();
    let alike = |one: &&Shared| one.trim().to_lowercase() == named.trim().to_lowercase();
    if let Some(one) = all.iter().find(|one| ***one == *named).or_else(|| all.iter().find(alike)) {
        return Ok(one.clone());
    }
    match last_known::about(directory, named).with_context(|| unreadable(directory))?.into_iter().next() {
        Some(Known::Lists(name)) => return Ok(name),
        Some(Known::Perhaps(_)) => return Ok(named.into()),
        None if place.memory.bundle_of(named).exists() => return Ok(named.into()),
        None => {}
    }
    let names: Vec<&str> = all.iter().map(|one| one.as_str()).filter(|one| !one.is_empty()).collect();
    let hint = match names.is_empty() {
        true => "nothing is kept about this service".to_owned(),
        false => format!("something is kept about: {}", names.join(", ")),
    };
    Err(Advised::new(format!("nothing is kept about {named:?}"), hint).into())
}

fn unreadable(directory: &Path) -> String {
    format!("{} cannot be read", directory.display())
}

/// Files beside the store that go too: a log does not tell about one workspace alone.
fn files(place: &Place, workspace: &str) -> Vec<PathBuf> {
    let log = place.state.log_file();
    let old = log.with_extension("log.old");
    [place.memory.bundle_of(workspace), log, old].into_iter().filter(|file| file.exists()).collect()
}

fn told(
    workspace: &str,
    (kept, caught): (Option<&Kept>, Option<&oob::store::Kept>),
    known: &[Known],
    files: &[PathBuf],
) -> String {
    let counts = |kept: &Kept| {
        let Kept { events, settings, seen, .. } = kept;
        format!("{events} events, {settings} settings, {seen} marks of seen findings")
    };
    let lists = known.iter().any(|one| matches!(one, Known::Lists(_))).then(|| "the last known data".to_owned());
    let caught_counts = caught.map(|caught| format!("{} captures, {} payloads", caught.captures, caught.payloads));
    let parts: Vec<String> = kept.map(counts).into_iter().chain(caught_counts).chain(lists).collect();
    let mut told = match parts.is_empty() {
        true => format!("what may be about {}", text::clean(workspace)),
        false => format!("{} of {}", parts.join(" and "), text::clean(workspace)),
    };
    let copies = kept.iter().flat_map(|kept| &kept.copies).chain(caught.iter().flat_map(|caught| &caught.copies));
    let copies = copies.chain(files).map(|file| file.display().to_string());
    let perhaps = known.iter().filter_map(|one| match one {
        Known::Perhaps(directory) => Some(format!("{}, which nobody can tell whose it is", directory.display())),
        Known::Lists(_) => None,
    });
    for all in copies.chain(perhaps) {
        told.push_str(&format!(", all of {all}"));
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
