//! `scandeck workspaces`: list, show, create, edit, delete.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::archive::ArchiveReader;
use super::{HeadlessSession, PrintTable, ServiceArgs};
use crate::cli::advised::Advised;
use crate::contract::{EditWorkspace, NewWorkspace, WorkspaceId};
use crate::text;
use crate::text::plural;

/// `scandeck workspaces …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck workspaces list --json
  scandeck workspaces create \"Acme external\" --description \"statement of work 114\"")]
pub struct WorkspacesArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: WorkspacesCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum WorkspacesCommand {
    /// Every workspace
    List,
    /// One
    Show {
        /// Its id
        id: WorkspaceId,
    },
    /// Makes one and prints its id
    Create {
        /// What it is called
        name: String,
        /// What it is for
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Changes name or description
    Edit {
        /// Its id
        id: WorkspaceId,
        /// What it is called from now on
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
        /// What it is for
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Deletes one with all that belongs to it; what its loggers captured is archived here first
    Delete {
        /// Its id
        id: WorkspaceId,
        /// Do it
        #[arg(long)]
        yes: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// What the service refuses.
pub async fn run(args: WorkspacesArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    let client = session.client()?;
    match args.command {
        WorkspacesCommand::List => {
            let all = session.workspaces().await?;
            session.out.list(&all, || {
                let mut table = PrintTable::new(&["ID", "NAME", "TARGETS", "SCANS", "DESCRIPTION"]);
                for one in &all {
                    table.row([
                        one.id.to_string(),
                        one.name.to_string(),
                        one.target_count.to_string(),
                        one.scan_count.to_string(),
                        one.description.to_string(),
                    ]);
                }
                table
            })?;
        }
        WorkspacesCommand::Show { id } => session.out.single(&client.get_workspace(id).await?)?,
        WorkspacesCommand::Create { name, description } => {
            session.may_change()?;
            let id = client.create_workspace(&NewWorkspace { name, description }).await?;
            session.out.created("created_id", id.0)?;
        }
        WorkspacesCommand::Edit { id, name, description } => {
            session.may_change()?;
            if name.is_none() && description.is_none() {
                return Err(Advised::usage("nothing to change", "give --name, --description or both").into());
            }
            client.edit_workspace(id, &EditWorkspace { name, description }).await?;
        }
        WorkspacesCommand::Delete { id, yes } => {
            let one = client.get_workspace(id).await?;
            let counted = |count: i64, noun| plural(count.max(0) as usize, noun);
            let (targets, scans) = (counted(one.target_count, "target"), counted(one.scan_count, "scan"));
            session.may_delete(yes, &format!("the workspace {} with {targets} and {scans}", one.name))?;
            let its = client.list_loggers(Some(id)).await?.into_iter();
            let loggers: Vec<_> = its.map(|logger| (one.name.clone(), logger)).collect();
            let emptied = ArchiveReader::empty(&session, &loggers, &format!("DELETE /workspaces/{id}")).await?;
            client.delete_workspace(id).await?;
            eprintln!("scandeck: deleted workspace {}: {emptied}", text::clean(&one.name));
        }
    }
    Ok(ExitCode::SUCCESS)
}
