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
use super::headless::decisions::{advised, archive, writable};
use super::headless::session::{ServicePlace, place};
use super::headless::{Output, ServiceArgs};
use super::kept::{self, unreadable};
use crate::dashboard::runtime::{CachedWorkspace, cached_lists};
use crate::triage::DecisionCounts;
use crate::{oob, text};

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
    let names = kept::names((store.as_mut(), archive.as_mut()), directory).await?;
    let workspace = match kept::called(&names, directory, named)? {
        Some(name) => name,
        None if may_be(&place, named)? => named.into(),
        None => return Err(kept::unknown(&names, named).into()),
    };
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
    let known = cached_lists::about(directory, &workspace).with_context(|| unreadable(directory))?;
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
    cached_lists::purge(directory, &workspace).context("the last known data cannot be deleted")?;
    Output::new(false).line(&format!("gone: {}", told.phrase()));
    Ok(ExitCode::SUCCESS)
}

/// Whether something may be kept about a workspace of which no name is: lists that nobody can tell whose they are, or a
/// bundle.
fn may_be(place: &ServicePlace, named: &str) -> anyhow::Result<bool> {
    let directory = &place.memory.directory;
    let known = cached_lists::about(directory, named).with_context(|| unreadable(directory))?;
    Ok(!known.is_empty() || place.memory.bundle_of(named).exists())
}

/// Files beside the store that go too: a log does not tell about one workspace alone.
fn files(place: &ServicePlace, workspace: &str) -> Vec<PathBuf> {
    let log = place.state.log_file();
    let old = log.with_extension("log.old");
    [place.memory.bundle_of(workspace), log, old].into_iter().filter(|file| file.exists()).collect()
}

/// What goes, in words.
struct PurgeSummary {
    /// `3 events`, `the last known data`.
    parts: Vec<String>,
    /// The workspace they are of.
    of: String,
    /// Files that go as a whole.
    all_of: Vec<String>,
}

impl PurgeSummary {
    /// As one phrase.
    fn phrase(&self) -> String {
        let all_of = self.all_of.iter().map(|file| format!(", all of {file}"));
        match self.parts.is_empty() {
            true => format!("what may be about {}{}", self.of, all_of.collect::<String>()),
            false => format!("{} of {}{}", self.parts.join(", "), self.of, all_of.collect::<String>()),
        }
    }

    /// For a person: a line each.
    fn lines(&self) -> String {
        let parts = self.parts.iter().map(|part| format!("\n  {part}"));
        let all_of = self.all_of.iter().map(|file| format!("\n  all of {file}"));
        format!("what this machine keeps of {}:{}", self.of, parts.chain(all_of).collect::<String>())
    }
}

fn told(
    workspace: &str,
    (kept, caught): (Option<&DecisionCounts>, Option<&oob::store::ArchivedCounts>),
    known: &[CachedWorkspace],
    files: &[PathBuf],
) -> PurgeSummary {
    let counted = |count: i64, [one, many]: [&str; 2]| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {many}")),
    };
    let seen = ["mark of a seen finding", "marks of seen findings"];
    let of_kept = kept
        .map(|kept| [(kept.events, ["event", "events"]), (kept.settings, ["setting", "settings"]), (kept.seen, seen)]);
    let of_caught = caught.map(|caught| {
        [
            (caught.captures, ["capture", "captures"]),
            (caught.payloads, ["payload", "payloads"]),
            (caught.hits, ["hit", "hits"]),
        ]
    });
    let counts = of_kept.into_iter().flatten().chain(of_caught.into_iter().flatten());
    let lists =
        known.iter().any(|one| matches!(one, CachedWorkspace::Lists(_))).then(|| "the last known data".to_owned());
    let copies = kept.iter().flat_map(|kept| &kept.copies).chain(caught.iter().flat_map(|caught| &caught.copies));
    let copies = copies.chain(files).map(|file| file.display().to_string());
    let perhaps = known.iter().filter_map(|one| match one {
        CachedWorkspace::Perhaps(directory) => {
            Some(format!("{}, which nobody can tell whose it is", directory.display()))
        }
        CachedWorkspace::Lists(_) => None,
    });
    PurgeSummary {
        parts: counts.filter_map(|(count, noun)| counted(count, noun)).chain(lists).collect(),
        of: text::clean(workspace).into_owned(),
        all_of: copies.chain(perhaps).collect(),
    }
}

/// Whether the name was said again.
fn may(workspace: &str, told: &PurgeSummary, said: Option<&str>) -> anyhow::Result<bool> {
    let typed = match said {
        Some(said) => said.to_owned(),
        None if stdin().is_terminal() && stderr().is_terminal() => {
            eprint!("This deletes for good {}\nType the name of the workspace to go on: ", told.lines());
            let mut line = String::new();
            stdin().read_line(&mut line).context("standard input cannot be read")?;
            line.trim_end_matches(['\n', '\r']).to_owned()
        }
        None => {
            let what = format!("this deletes for good: {}", told.phrase());
            return Err(Advised::usage(what, "say so with --yes-delete and the name").into());
        }
    };
    Ok(typed.trim() == workspace.trim())
}
