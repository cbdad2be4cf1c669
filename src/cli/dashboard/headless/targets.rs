//! `scandeck targets`: list, show, add, tag, delete.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::{HeadlessSession, PrintTable, ServiceArgs, of_earlier_version};
use crate::cli::error::CliError;
use scandeck_client::TargetQuery;
use scandeck_domain::table::columns::target;
use scandeck_domain::triage::identity::asset;
use scandeck_wire::contract::target_tags::{TagChange, TargetTags, tags_text};
use scandeck_wire::contract::{NewTarget, Target, TargetId, TargetType};

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck targets add shop.acme.test --workspace \"Acme external\"")]
pub struct TargetsArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: TargetsCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum TargetsCommand {
    /// List all targets
    #[command(after_help = "Example:\n  scandeck targets list --type url --json")]
    List {
        /// Only of this type: hostname, ip_address, url
        #[arg(long = "type", value_name = "TYPE", value_parser = TargetType::known)]
        kind: Option<TargetType>,
    },
    /// Show one target
    #[command(after_help = "Example:\n  scandeck targets show shop.acme.test")]
    Show {
        /// Name or id
        #[arg(value_name = "NAME|ID")]
        target: String,
    },
    /// Add targets and print their ids
    #[command(after_help = "Example:\n  scandeck targets add 10.0.4.7 https://shop.acme.test/")]
    Add {
        /// Host name, IP address or URL
        #[arg(required = true)]
        names: Vec<String>,
        /// Description
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Add tags to a target or remove them, and print its tags
    #[command(after_help = "Examples:
  scandeck targets tag shop.acme.test +prod -old
  scandeck targets tag --workspace \"Acme external\" shop.acme.test web")]
    Tag {
        /// Name or id
        #[arg(value_name = "NAME|ID")]
        target: String,
        /// +TAG adds a tag, -TAG removes one; flags go before the target
        #[arg(value_name = "+TAG|-TAG", required = true, allow_hyphen_values = true)]
        changes: Vec<String>,
    },
    /// Delete a target with its scans and findings
    #[command(after_help = "Example:\n  scandeck targets delete shop.acme.test --yes")]
    Delete {
        /// Name or id
        #[arg(value_name = "NAME|ID")]
        target: String,
        /// Confirm the deletion
        #[arg(long)]
        yes: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// Those of the service.
pub async fn run(args: TargetsArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    match args.command {
        TargetsCommand::List { kind } => {
            let query = TargetQuery {
                workspace_id: session.workspace_id().await?,
                kind,
                ..TargetQuery::default()
            };
            let all = session.client()?.list_all_targets(&query).await?;
            session.out.list(&all, || table(&all))?;
        }
        TargetsCommand::Show { target } => session.out.single(&get(&session, &target).await?)?,
        TargetsCommand::Add { names, description } => {
            session.require_writable()?;
            let workspace_id = session.workspace_id().await?;
            let mut added = Vec::new();
            for name in names {
                let new = NewTarget {
                    name,
                    description: description.clone(),
                    workspace_id,
                };
                let id = session.client()?.create_target(&new).await?;
                if !session.out.json {
                    session.out.created("created_id", id.0)?;
                }
                added.push(serde_json::json!({"created_id": id, "name": new.name}));
            }
            if session.out.json {
                session.out.value(&added)?;
            }
        }
        TargetsCommand::Tag { target, changes } => tag(&session, &target, &changes).await?,
        TargetsCommand::Delete { target, yes } => {
            let target = get(&session, &target).await?;
            session.confirm_delete(
                yes,
                &format!("target {} with its scans and their findings", target.name),
            )?;
            session.client()?.delete_target(target.id).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn tag(session: &HeadlessSession, name: &str, words: &[String]) -> anyhow::Result<()> {
    session.require_writable()?;
    let change = TagChange::parse(words.iter().map(String::as_str))
        .map_err(|message| CliError::usage(message, "flags go before the target"))?;
    session.require_extension("tags").await?;
    let target = get(session, name).await?;
    let changed = session.client()?.change_target_tags(target.id, &change);
    let tags = changed
        .await
        .map_err(|error| of_earlier_version(error.into(), "tags"))?;
    match session.out.json {
        true => session.out.value(&TargetTags {
            target_id: target.id,
            tags,
        }),
        false => session.out.line(&tags_text(&tags)),
    }
}

fn table(all: &[Target]) -> PrintTable {
    let columns = [
        target::ID,
        target::NAME,
        target::TYPE,
        target::WORKSPACE,
        target::TAGS,
        target::DESCRIPTION,
    ];
    PrintTable::of_noun(columns, all)
}

/// The target with this id or name.
///
/// # Errors
/// When there is none, or more than one with this name; and those of the service.
pub(super) async fn get(session: &HeadlessSession, text: &str) -> anyhow::Result<Target> {
    if let Ok(id) = text.parse::<TargetId>() {
        return Ok(session.client()?.get_target(id).await?);
    }
    let not_found = || {
        CliError::new(
            format!("target {text:?} not found"),
            "`scandeck targets list` lists targets",
        )
    };
    Ok(find(session, text).await?.ok_or_else(not_found)?)
}

/// The target with this name, if there is one.
pub(super) async fn find(session: &HeadlessSession, name: &str) -> anyhow::Result<Option<Target>> {
    let query = TargetQuery {
        workspace_id: session.workspace_id().await?,
        ..TargetQuery::default()
    };
    let mut all = session.client()?.list_all_targets(&query).await?;
    all.retain(|target| &*target.name == name || asset(&target.name) == asset(name));
    if all.len() > 1 {
        let ids: Vec<String> = all.iter().map(|one| one.id.to_string()).collect();
        let hint = format!("name the workspace, or the id: {}", ids.join(", "));
        return Err(CliError::new(format!("several targets have the name {name:?}"), hint).into());
    }
    Ok(all.pop())
}
