//! `scandeck workspaces`: list, show, create, edit, delete.

use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};

use super::archive::ClearArchive;
use super::{HeadlessSession, PrintTable, ServiceArgs};
use crate::cli::error::CliError;
use scandeck_domain::table::columns::workspace;
use scandeck_wire::contract::{EditWorkspace, NewWorkspace, Workspace, WorkspaceId};
use scandeck_wire::text;
use scandeck_wire::text::plural;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck workspaces create \"Acme external\" --description \"statement of work 114\"")]
pub struct WorkspacesArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: WorkspacesCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum WorkspacesCommand {
    /// List all workspaces
    #[command(after_help = "Example:\n  scandeck workspaces list --json")]
    List,
    /// Show one workspace
    #[command(after_help = "Example:\n  scandeck workspaces show 3")]
    Show {
        /// Workspace id
        id: WorkspaceId,
    },
    /// Create a workspace and print its id
    #[command(after_help = "Example:\n  scandeck workspaces create \"Acme external\"")]
    Create {
        /// Name
        name: String,
        /// Description
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Change name or description
    #[command(after_help = "Example:\n  scandeck workspaces edit 3 --name \"Acme internal\"")]
    Edit {
        /// Workspace id
        id: WorkspaceId,
        /// New name
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
        /// New description
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Archive all captures of a workspace on this machine, then delete the workspace with
    /// everything in it
    #[command(after_help = "Example:\n  scandeck workspaces delete 3 --yes")]
    Delete {
        /// Workspace id
        id: WorkspaceId,
        /// Confirm the deletion
        #[arg(long)]
        yes: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// Those of the service.
pub async fn run(args: WorkspacesArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    let client = session.client()?;
    match args.command {
        WorkspacesCommand::List => {
            let all = session.workspaces().await?;
            session.out.list(&all, || table(&all))?;
        }
        WorkspacesCommand::Show { id } => session.out.single(&client.get_workspace(id).await?)?,
        WorkspacesCommand::Create { name, description } => {
            session.require_writable()?;
            let id = client
                .create_workspace(&NewWorkspace { name, description })
                .await?;
            session.out.created("created_id", id.0)?;
        }
        WorkspacesCommand::Edit {
            id,
            name,
            description,
        } => {
            session.require_writable()?;
            if name.is_none() && description.is_none() {
                return Err(CliError::usage("no changes", "set --name or --description").into());
            }
            client
                .edit_workspace(id, &EditWorkspace { name, description })
                .await?;
        }
        WorkspacesCommand::Delete { id, yes } => delete(&session, id, yes).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Archives the captures of all loggers of a workspace, and deletes it.
async fn delete(session: &HeadlessSession, id: WorkspaceId, yes: bool) -> anyhow::Result<()> {
    let client = session.client()?;
    let one = client.get_workspace(id).await?;
    let counted = |count: i64, noun| plural(count.max(0) as usize, noun);
    let targets = counted(one.target_count, "target");
    let scans = counted(one.scan_count, "scan");
    let object = format!("workspace {} with {targets} and {scans}", one.name);
    session.confirm_delete(yes, &object)?;
    let name = text::clean(&one.name);
    let mut archive = ClearArchive::new(session);
    let deleted = client.archive_and_delete_workspace(&mut archive, &one);
    let counts = deleted
        .await
        .with_context(|| format!("workspace {name} not deleted"))?;
    archive.close().await;
    note!("scandeck: workspace {name} deleted: {counts}");
    Ok(())
}

fn table(all: &[Workspace]) -> PrintTable {
    let columns = [
        workspace::ID,
        workspace::NAME,
        workspace::TARGETS,
        workspace::SCANS,
        workspace::DESCRIPTION,
    ];
    PrintTable::of_noun(columns, all)
}
