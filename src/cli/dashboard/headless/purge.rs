//! `scandeck purge`: deletes all data about a workspace from this machine, after a confirmation
//! that names it.
//!
//! ```text
//!   name ─► data about it ─► summary ─► the name is typed again, or --yes-delete NAME ─► deleted
//! ```
//!
//! The data at the service remains; `scandeck workspaces delete` deletes it. Only the decisions that
//! a team shares are deleted there too, if the key has the role admin.

use std::io::{IsTerminal, stderr, stdin};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::session::{StoredService, stored_service};
use super::stored::Stores;
use super::{HeadlessSession, Output, ServiceArgs, stored};
use crate::cli::error::CliError;
use scandeck_client::{ClientResult, ErrorKind};
use scandeck_dashboard::runtime::{CachedWorkspace, cached_lists};
use scandeck_wire::contract::WorkspaceId;
use scandeck_wire::contract::team::{Member, Purged};
use scandeck_wire::text;
use scandeck_wire::text::plural;

#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Example:
  scandeck purge --workspace Acme --yes-delete Acme",
    override_usage = "scandeck purge [OPTIONS] --workspace <NAME>",
    mut_arg("workspace", |arg| arg.help("Workspace, by name"))
)]
pub struct PurgeArgs {
    /// Name of the workspace again, for scripts; without it, a prompt asks for the name
    #[arg(long, value_name = "NAME")]
    yes_delete: Option<String>,
    // Last, because its heading applies to all later arguments.
    #[command(flatten)]
    service: ServiceArgs,
}

/// Runs the command.
///
/// # Errors
/// When there is no data about the workspace, the deletion is not confirmed, another program uses a
/// store, or a file cannot be deleted.
pub async fn run(args: PurgeArgs) -> anyhow::Result<ExitCode> {
    let Some(name) = args.service.workspace.as_deref() else {
        return Err(CliError::usage("--workspace is missing", "add --workspace NAME").into());
    };
    let service = stored_service(&args.service)?;
    let mut stores = Stores::open(&service, true).await?;
    let names = stores.workspaces(&service).await?;
    // Lists of an unknown workspace or a bundle may exist for a name that no store contains.
    let has_files =
        !stored::cached(&service, name)?.is_empty() || service.memory.bundle_of(name).exists();
    let workspace = match stored::find(&names, &service, name)? {
        Some(name) => name,
        None if has_files => name.into(),
        None => return Err(stored::no_data(&names, name).into()),
    };
    let files = files(&service, &workspace);
    let shared = SharedDecisions::find(&args.service, &mut stores, &workspace).await?;
    let mut summary = PurgeSummary::of(
        &workspace,
        &mut stores,
        &stored::cached(&service, &workspace)?,
        &files,
    )
    .await?;
    let deletes_shared = shared.as_ref().is_some_and(SharedDecisions::can_delete);
    if deletes_shared {
        summary.parts.push(OF_TEAM.to_owned());
    }
    if !is_confirmed(&workspace, &summary, args.yes_delete.as_deref())? {
        let message = "name does not match: nothing was deleted";
        return Err(CliError::new(message, format!("the name is {}", workspace.trim())).into());
    }
    // First the service: when it fails, the command can be repeated.
    if let Some(shared) = shared {
        shared.delete(&workspace).await?;
    }
    delete(&service, &workspace, stores, &files).await?;
    Output::new(false).line(&format!("deleted: {}", summary.phrase()))?;
    Ok(ExitCode::SUCCESS)
}

/// Decisions that a team shares, in the summary.
const OF_TEAM: &str = "the decisions and payloads of the team at the service";

/// The decisions of a workspace that is shared with a team.
struct SharedDecisions {
    session: HeadlessSession,
    member: Member,
    id: WorkspaceId,
}

impl SharedDecisions {
    /// Requests nothing of the service unless the workspace is shared.
    async fn find(
        args: &ServiceArgs,
        stores: &mut Stores,
        workspace: &str,
    ) -> anyhow::Result<Option<Self>> {
        let Some(store) = &mut stores.decisions else {
            return Ok(None);
        };
        let mut logs = store.team_logs_of(workspace).await?;
        logs.retain(|log| log.is_shared);
        if logs.is_empty() {
            return Ok(None);
        }
        let session = HeadlessSession::open(args).await?;
        let member = async {
            session.client()?.list_workspaces().await?;
            session.member().await
        };
        let member = match member.await {
            Ok(Some(member)) => member,
            Ok(None) => return Ok(None),
            // The data on this machine can always be deleted.
            Err(error) => {
                note!("scandeck: the shared decisions remain at the service: {error:#}");
                return Ok(None);
            }
        };
        // The decisions of a database that was replaced went with it.
        let log = logs.into_iter().find(|log| log.service == member.service);
        let id = log.map(|log| log.id);
        Ok(id.map(|id| Self {
            session,
            member,
            id,
        }))
    }

    fn can_delete(&self) -> bool {
        *self.member.role == *"admin" && !self.session.config.read_only
    }

    /// Deletes the shared decisions, or names the role that can.
    async fn delete(self, workspace: &str) -> anyhow::Result<()> {
        if !self.can_delete() {
            let name = text::clean_for_print(workspace);
            note!("scandeck: the shared decisions of {name} remain at the service");
            note!("  to delete them, run this command with a key of the role admin");
            return Ok(());
        }
        let client = self.session.client()?;
        outcome(client.delete_shared_decisions(self.id).await, workspace)
    }
}

fn outcome(answer: ClientResult<Purged>, workspace: &str) -> anyhow::Result<()> {
    match answer {
        // They went with the workspace.
        Err(error) if error.kind == ErrorKind::NotFound => Ok(()),
        // It deletes on without the connection.
        Err(error) if error.kind == ErrorKind::Timeout => {
            let name = text::clean_for_print(workspace);
            let message = format!(
                "{error}: the service may still be deleting the shared decisions of {name}; \
                 nothing on this machine was deleted"
            );
            Err(CliError::new(message, "run the command again in a few minutes").into())
        }
        other => Ok(other.map(drop)?),
    }
}

async fn delete(
    service: &StoredService,
    workspace: &str,
    stores: Stores,
    files: &[PathBuf],
) -> anyhow::Result<()> {
    if let Some(archive) = stores.archive {
        archive.purge(workspace).await?;
    }
    if let Some(store) = stores.decisions {
        store.purge(workspace).await?;
    }
    for file in files {
        std::fs::remove_file(file).with_context(|| format!("cannot delete {}", file.display()))?;
    }
    cached_lists::purge(&service.memory.directory, workspace)
        .context("cannot delete the cached lists")?;
    Ok(())
}

/// Files that are deleted as a whole; a log does not separate workspaces.
fn files(service: &StoredService, workspace: &str) -> Vec<PathBuf> {
    let log = service.state.log_file();
    let old = log.with_extension("log.old");
    [service.memory.bundle_of(workspace), log, old]
        .into_iter()
        .filter(|file| file.symlink_metadata().is_ok())
        .collect()
}

/// The data to delete.
struct PurgeSummary {
    workspace: String,
    /// Such as `3 events`, `cached lists`.
    parts: Vec<String>,
    /// Files that are deleted as a whole.
    files: Vec<String>,
}

impl PurgeSummary {
    async fn of(
        workspace: &str,
        stores: &mut Stores,
        cached: &[CachedWorkspace],
        files: &[PathBuf],
    ) -> anyhow::Result<Self> {
        let (mut counts, mut copies) = (Vec::new(), Vec::new());
        if let Some(store) = &mut stores.decisions {
            let data = store.stored_rows(workspace).await?;
            counts.extend(data.counts);
            copies.extend(data.copies);
        }
        if let Some(archive) = &mut stores.archive {
            let data = archive.stored_rows(workspace).await?;
            counts.extend(data.counts);
            copies.extend(data.copies);
        }
        let counted =
            |(noun, count): (&str, i64)| (count > 0).then(|| plural(count as usize, noun));
        let mut parts: Vec<String> = counts.into_iter().filter_map(counted).collect();
        let mut files: Vec<String> = copies
            .iter()
            .chain(files)
            .map(|file| file.display().to_string())
            .collect();
        for one in cached {
            match one {
                CachedWorkspace::Lists(_) => parts.push("cached lists".to_owned()),
                CachedWorkspace::Perhaps(path) => {
                    files.push(format!("{} (unknown workspace)", path.display()))
                }
            }
        }
        Ok(Self {
            workspace: text::clean(workspace).into_owned(),
            parts,
            files,
        })
    }

    /// In one line.
    fn phrase(&self) -> String {
        let parts = if self.parts.is_empty() {
            "data".to_owned()
        } else {
            self.parts.join(", ")
        };
        let files = match &self.files[..] {
            [] => String::new(),
            [one] => format!(", and the file {one}"),
            several => format!(", and the files {}", several.join(", ")),
        };
        format!("{parts} of {}{files}", self.workspace)
    }

    /// One part per line.
    fn lines(&self) -> String {
        let parts = self.parts.iter().map(|part| format!("\n  {part}"));
        let files = self.files.iter().map(|file| format!("\n  the file {file}"));
        format!(
            "all data about {} on this machine:{}",
            self.workspace,
            parts.chain(files).collect::<String>()
        )
    }
}

/// Whether the user named the workspace again.
fn is_confirmed(
    workspace: &str,
    summary: &PurgeSummary,
    given: Option<&str>,
) -> anyhow::Result<bool> {
    let typed = match given {
        Some(given) => given.to_owned(),
        None if stdin().is_terminal() && stderr().is_terminal() => {
            eprint!(
                "This deletes {}\nType the name of the workspace to continue: ",
                summary.lines()
            );
            let mut line = String::new();
            stdin()
                .read_line(&mut line)
                .context("cannot read standard input")?;
            line
        }
        None => {
            let message = format!("not deleted: {}", summary.phrase());
            return Err(CliError::usage(message, "add --yes-delete NAME to confirm").into());
        }
    };
    Ok(typed.trim() == workspace.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_client::Error;

    #[test]
    fn service_that_does_not_answer_in_time_may_still_be_deleting() {
        let failed = |kind| outcome(Err(Error::new(kind, "no response")), "Acme");
        let error = failed(ErrorKind::Timeout).unwrap_err().to_string();
        assert!(error.contains("may still be deleting"), "{error}");
        assert!(failed(ErrorKind::NotFound).is_ok());
        let other = failed(ErrorKind::Connect).unwrap_err().to_string();
        assert!(!other.contains("deleting"), "{other}");
    }
}
