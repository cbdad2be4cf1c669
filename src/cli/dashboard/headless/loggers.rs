//! `scandeck loggers`: list, show, create, captures, clear, delete.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};

use super::archive::ClearArchive;
use super::logger::{self, WorkspaceLogger};
use super::print::{cells, or_dash};
use super::{HeadlessSession, PrintTable, ServiceArgs};
use scandeck_domain::table::columns::{capture, logger as column};
use scandeck_wire::contract::{Capture, CaptureId, Logger, LoggerId, Shared};
use scandeck_wire::text;
use scandeck_wire::text::plural;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  id=$(scandeck loggers create ssrf-shop --workspace 3)")]
pub struct LoggersArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: LoggersCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum LoggersCommand {
    /// List all loggers
    #[command(after_help = "Example:\n  scandeck loggers list --json")]
    List,
    /// Show one logger
    #[command(
        after_help = "Example:\n  scandeck loggers show ssrf-shop --json | jq -r .handler_url"
    )]
    Show {
        /// Id or label
        #[arg(value_name = "ID|LABEL")]
        logger: String,
    },
    /// Create a logger and print its id
    #[command(after_help = "Example:\n  scandeck loggers create ssrf-shop")]
    Create {
        /// Unique label
        label: String,
    },
    /// List the captured requests of a logger, oldest first
    #[command(after_help = "Example:\n  scandeck loggers captures ssrf-shop --since 112 --json")]
    Captures {
        /// Id or label
        #[arg(value_name = "ID|LABEL")]
        logger: String,
        /// Only captures after the one with this id
        #[arg(long, value_name = "ID")]
        since: Option<CaptureId>,
    },
    /// Archive all captures of a logger on this machine, then delete them at the service
    #[command(after_help = "Example:\n  scandeck loggers clear ssrf-shop --yes")]
    Clear(RemoveArgs),
    /// Archive all captures of a logger on this machine, then delete the logger
    #[command(after_help = "Example:\n  scandeck loggers delete ssrf-shop --yes")]
    Delete(RemoveArgs),
}

#[derive(Args, Clone, Debug)]
struct RemoveArgs {
    /// Id or label
    #[arg(value_name = "ID|LABEL")]
    logger: String,
    /// Confirm the deletion
    #[arg(long)]
    yes: bool,
}

/// Runs the command.
///
/// # Errors
/// Those of the service.
pub async fn run(args: LoggersArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    let (client, out) = (session.client()?, session.out);
    match args.command {
        LoggersCommand::List => {
            let all = client.list_loggers(session.workspace_id().await?).await?;
            out.list(&all, || table(&all))?;
        }
        LoggersCommand::Show { logger } => {
            let id = find_id(&session, &logger).await?;
            out.single(&client.get_logger(id).await?)?;
        }
        LoggersCommand::Create { label } => {
            session.require_writable()?;
            let id = client
                .create_logger(&label, session.workspace_id().await?)
                .await?;
            out.created("created_id", id.0)?;
        }
        LoggersCommand::Captures { logger, since } => {
            let id = find_id(&session, &logger).await?;
            let all = client.list_captures(id, since).await?;
            out.list(&all, || captures(&all))?;
        }
        LoggersCommand::Clear(args) => remove(&session, args, true).await?,
        LoggersCommand::Delete(args) => remove(&session, args, false).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Clears or deletes a logger after archiving its captures.
async fn remove(
    session: &HeadlessSession,
    args: RemoveArgs,
    only_captures: bool,
) -> anyhow::Result<()> {
    let (workspace, logger) = find(session, &args.logger).await?;
    let client = session.client()?;
    let done = if only_captures { "cleared" } else { "deleted" };
    let requests = plural(logger.num_requests.max(0) as usize, "capture");
    let first = if logger.num_requests > 0 {
        "; they would be archived first"
    } else {
        ""
    };
    let label = text::clean(&logger.label);
    session.confirm(
        args.yes,
        format!("not {done}: logger \"{label}\" with {requests}{first}"),
    )?;
    let mut archive = ClearArchive::new(session);
    let removed = match only_captures {
        true => {
            client
                .archive_and_clear(&mut archive, &workspace, &logger)
                .await
        }
        false => {
            client
                .archive_and_delete_logger(&mut archive, &workspace, &logger)
                .await
        }
    };
    let counts = removed.with_context(|| format!("logger \"{label}\" not {done}"))?;
    archive.close().await;
    note!("logger {label} {done}, {counts}");
    Ok(())
}

/// The id of a logger. A number is an id, so it needs no call.
async fn find_id(session: &HeadlessSession, name: &str) -> anyhow::Result<LoggerId> {
    match name.parse() {
        Ok(id) => Ok(id),
        Err(_) => Ok(find(session, name).await?.1.id),
    }
}

/// The logger with this id or label; also one without a workspace, unless a workspace is selected.
async fn find(session: &HeadlessSession, name: &str) -> anyhow::Result<WorkspaceLogger> {
    let mut all = logger::all(session).await?;
    if session.workspace_id().await?.is_none() {
        let listed: BTreeSet<LoggerId> = all.iter().map(|(_, logger)| logger.id).collect();
        let every = session.client()?.list_loggers(None).await?.into_iter();
        all.extend(
            every
                .filter(|logger| !listed.contains(&logger.id))
                .map(|logger| (Shared::default(), logger)),
        );
    }
    Ok(logger::single(&logger::named(&all, name), &all, name)?)
}

fn table(all: &[Logger]) -> PrintTable {
    let columns = [
        column::ID,
        column::LABEL,
        column::RECEIVED,
        column::LEFT,
        column::DAYS_LEFT,
        column::URL,
    ];
    PrintTable::of_noun(columns, all)
}

fn captures(all: &[Capture]) -> PrintTable {
    PrintTable::of(
        [
            capture::ID,
            capture::TIME,
            capture::METHOD,
            capture::FROM,
            "PATH",
            "QUERY",
            "USER AGENT",
        ],
        all,
        |one| {
            let path = one.path.as_deref().unwrap_or_default();
            let time = or_dash(one.request_date);
            cells![
                one.id,
                time,
                one.request_method,
                one.ip_address,
                path,
                one.url_params,
                one.user_agent
            ]
        },
    )
}
