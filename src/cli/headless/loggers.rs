//! `scandeck loggers`: list, show, create, captures, clear, delete.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::slice;

use clap::{Args, Subcommand};

use super::archive::ArchiveReader;
use super::logger::{self, Homed};
use super::print::stamp;
use super::{HeadlessSession, PrintTable, ServiceArgs};
use crate::contract::{Capture, CaptureId, Logger, LoggerId, Shared};
use crate::text;
use crate::text::plural;

/// `scandeck loggers …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  id=$(scandeck loggers create ssrf-shop --workspace 3)
  scandeck loggers show $id --json | jq -r .handler_url
  scandeck loggers captures ssrf-shop --since 112 --json
  scandeck loggers clear ssrf-shop --yes

What a logger captured is archived on this machine before it is cleared or deleted; when it cannot be, neither is done.
`scandeck api DELETE /http_loggers/ID/data` clears one without.")]
pub struct LoggersArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: LoggersCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum LoggersCommand {
    /// Every logger
    List,
    /// One
    Show {
        /// Its id or label
        #[arg(value_name = "ID|LABEL")]
        logger: String,
    },
    /// Makes one and prints its id
    Create {
        /// Unique
        label: String,
    },
    /// What it captured, oldest first
    Captures {
        /// Its id or label
        #[arg(value_name = "ID|LABEL")]
        logger: String,
        /// Only those after this one
        #[arg(long, value_name = "ID")]
        since: Option<CaptureId>,
    },
    /// Archives everything it captured here, then makes the service forget it
    Clear {
        /// Its id or label
        #[arg(value_name = "ID|LABEL")]
        logger: String,
        /// Do it
        #[arg(long)]
        yes: bool,
    },
    /// Archives everything it captured here, then deletes it
    Delete {
        /// Its id or label
        #[arg(value_name = "ID|LABEL")]
        logger: String,
        /// Do it
        #[arg(long)]
        yes: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// What the service refuses.
pub async fn run(args: LoggersArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    let (client, out) = (session.client()?, session.out);
    match args.command {
        LoggersCommand::List => {
            let all = client.list_loggers(session.workspace().await?).await?;
            out.list(&all, || table(&all))?;
        }
        LoggersCommand::Show { logger } => {
            let id = id(&session, &logger).await?;
            out.single(&client.get_logger(id).await?)?;
        }
        LoggersCommand::Create { label } => {
            session.may_change()?;
            let id = client.create_logger(&label, session.workspace().await?).await?;
            out.created("created_id", id.0)?;
        }
        LoggersCommand::Captures { logger, since } => {
            let id = id(&session, &logger).await?;
            let all = client.list_captures(id, since).await?;
            out.list(&all, || captures(&all))?;
        }
        LoggersCommand::Clear { logger, yes } => {
            let home = named(&session, &logger).await?;
            let (logger, requests) = (&home.1, captured(&home.1));
            session
                .may_delete(yes, &format!("{requests} of the logger {}, after archiving them here,", logger.label))?;
            let call = format!("DELETE /http_loggers/{}/data", logger.id);
            let emptied = ArchiveReader::empty(&session, slice::from_ref(&home), &call).await?;
            client.clear_captures(logger.id).await?;
            eprintln!("scandeck: cleared logger {}: {emptied}", text::clean(&logger.label));
        }
        LoggersCommand::Delete { logger, yes } => {
            let home = named(&session, &logger).await?;
            let (logger, requests) = (&home.1, captured(&home.1));
            session
                .may_delete(yes, &format!("the logger {} with {requests}, after archiving them here,", logger.label))?;
            let call = format!("DELETE /http_loggers/{}", logger.id);
            let emptied = ArchiveReader::empty(&session, slice::from_ref(&home), &call).await?;
            client.delete_logger(logger.id).await?;
            eprintln!("scandeck: deleted logger {}: {emptied}", text::clean(&logger.label));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Where only that is asked for; an id, which a number is here, needs no look at the lists.
async fn id(session: &HeadlessSession, named: &str) -> anyhow::Result<LoggerId> {
    match named.parse() {
        Ok(id) => Ok(id),
        Err(_) => Ok(self::named(session, named).await?.1.id),
    }
}

/// The logger of this id or label; also one of no workspace, where none is named.
async fn named(session: &HeadlessSession, named: &str) -> anyhow::Result<Homed> {
    let mut all = logger::all(session).await?;
    if session.workspace().await?.is_none() {
        let homed: BTreeSet<LoggerId> = all.iter().map(|(_, logger)| logger.id).collect();
        let every = session.client()?.list_loggers(None).await?.into_iter();
        all.extend(every.filter(|logger| !homed.contains(&logger.id)).map(|logger| (Shared::default(), logger)));
    }
    Ok(logger::only(&logger::called(&all, named), &all, named)?)
}

fn captured(logger: &Logger) -> String {
    plural(logger.num_requests.max(0) as usize, "captured request")
}

fn table(all: &[Logger]) -> PrintTable {
    let mut table = PrintTable::new(&["ID", "LABEL", "REQUESTS", "LEFT", "DAYS", "URL"]);
    for one in all {
        table.row([
            one.id.to_string(),
            one.label.to_string(),
            one.num_requests.to_string(),
            one.requests_left.to_string(),
            one.active_days.to_string(),
            one.handler_url.to_string(),
        ]);
    }
    table
}

fn captures(all: &[Capture]) -> PrintTable {
    let mut table = PrintTable::new(&["ID", "TIME", "METHOD", "FROM", "PATH", "QUERY", "USER AGENT"]);
    for one in all {
        table.row([
            one.id.to_string(),
            stamp(one.request_date),
            one.request_method.to_string(),
            one.ip_address.to_string(),
            one.path.as_deref().unwrap_or_default().to_owned(),
            one.url_params.to_string(),
            one.user_agent.to_string(),
        ]);
    }
    table
}
