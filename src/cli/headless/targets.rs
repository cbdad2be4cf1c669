//! `scandeck targets`: list, show, add, delete.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::{HeadlessSession, PrintTable, ServiceArgs};
use crate::cli::advised::Advised;
use crate::client::TargetQuery;
use crate::contract::{NewTarget, Target, TargetId, TargetType};

/// `scandeck targets …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck targets add shop.acme.test --workspace \"Acme external\"
  scandeck targets list --type url --json")]
pub struct TargetsArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: TargetsCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum TargetsCommand {
    /// Every target
    List {
        /// Only of this form: hostname, ip_address, url
        #[arg(long = "type", value_name = "FORM", value_parser = form)]
        kind: Option<TargetType>,
    },
    /// One
    Show {
        /// Name or id
        #[arg(value_name = "NAME|ID")]
        target: String,
    },
    /// Adds host names, addresses or URLs and prints their ids
    Add {
        /// A host name, an IP address or a URL
        #[arg(required = true)]
        names: Vec<String>,
        /// What it is
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Deletes one with its scans and findings
    Delete {
        /// Name or id
        #[arg(value_name = "NAME|ID")]
        target: String,
        /// Do it
        #[arg(long)]
        yes: bool,
    },
}

fn form(text: &str) -> Result<TargetType, String> {
    TargetType::known(text).ok_or_else(|| "hostname, ip_address or url".to_owned())
}

/// Runs the command.
///
/// # Errors
/// What the service refuses.
pub async fn run(args: TargetsArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    match args.command {
        TargetsCommand::List { kind } => {
            let query = TargetQuery { workspace_id: session.workspace().await?, kind, ..TargetQuery::default() };
            let all = session.client()?.list_all_targets(&query).await?;
            session.out.list(&all, || table(&all))?;
        }
        TargetsCommand::Show { target } => session.out.single(&named(&session, &target).await?)?,
        TargetsCommand::Add { names, description } => {
            session.may_change()?;
            let workspace_id = session.workspace().await?;
            let mut made = Vec::new();
            for name in names {
                let new = NewTarget { name, description: description.clone(), workspace_id };
                let id = session.client()?.create_target(&new).await?;
                if !session.out.json {
                    session.out.created("created_id", id.0)?;
                }
                made.push(serde_json::json!({"created_id": id, "name": new.name}));
            }
            if session.out.json {
                session.out.value(&made)?;
            }
        }
        TargetsCommand::Delete { target, yes } => {
            let target = named(&session, &target).await?;
            session.may_delete(yes, &format!("the target {} with its scans and their findings", target.name))?;
            session.client()?.delete_target(target.id).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn table(all: &[Target]) -> PrintTable {
    let mut table = PrintTable::new(&["ID", "NAME", "TYPE", "WORKSPACE", "DESCRIPTION"]);
    for one in all {
        table.row([
            one.id.to_string(),
            one.name.to_string(),
            one.kind.to_string(),
            one.workspace_id.to_string(),
            one.description.to_string(),
        ]);
    }
    table
}

/// The target of this id or name.
///
/// # Errors
/// When there is none, or more than one of this name; and those of the calls.
pub(super) async fn named(session: &HeadlessSession, text: &str) -> anyhow::Result<Target> {
    if let Ok(id) = text.parse::<TargetId>() {
        return Ok(session.client()?.get_target(id).await?);
    }
    find(session, text).await?.ok_or_else(|| {
        Advised::new(format!("there is no target {text:?}"), "`scandeck targets list` shows them").into()
    })
}

/// The target of this name, if there is one.
pub(super) async fn find(session: &HeadlessSession, name: &str) -> anyhow::Result<Option<Target>> {
    let query = TargetQuery { workspace_id: session.workspace().await?, ..TargetQuery::default() };
    let mut all = session.client()?.list_all_targets(&query).await?;
    let wanted = crate::triage::identity::asset(name);
    all.retain(|target| &*target.name == name || crate::triage::identity::asset(&target.name) == wanted);
    match all.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        several => {
            let ids: Vec<String> = several.iter().map(|one| one.id.to_string()).collect();
            let hint = format!("name the workspace, or the id: {}", ids.join(", "));
            Err(Advised::new(format!("more than one target is called {name:?}"), hint).into())
        }
    }
}
