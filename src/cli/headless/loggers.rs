//! `scandeck loggers`: list, show, create, captures, clear, delete.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::print::stamp;
use super::{ServiceArgs, Session, Table};
use crate::contract::{Capture, CaptureId, Logger, LoggerId};
use crate::text::plural;

/// `scandeck loggers …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  id=$(scandeck loggers create ssrf-shop --workspace 3)
  scandeck loggers show $id --json | jq -r .handler_url
  scandeck loggers captures $id --since 112 --json")]
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
        /// Its id
        id: LoggerId,
    },
    /// Makes one and prints its id
    Create {
        /// Unique
        label: String,
    },
    /// What it captured, oldest first
    Captures {
        /// Its id
        id: LoggerId,
        /// Only those after this one
        #[arg(long, value_name = "ID")]
        since: Option<CaptureId>,
    },
    /// Deletes everything it captured
    Clear {
        /// Its id
        id: LoggerId,
        /// Do it
        #[arg(long)]
        yes: bool,
    },
    /// Deletes it with everything it captured
    Delete {
        /// Its id
        id: LoggerId,
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
    let session = Session::open(&args.service).await?;
    let (client, out) = (session.client()?, session.out);
    match args.command {
        LoggersCommand::List => {
            let all = client.list_loggers(session.workspace().await?).await?;
            out.list(&all, || table(&all))?;
        }
        LoggersCommand::Show { id } => out.single(&client.get_logger(id).await?)?,
        LoggersCommand::Create { label } => {
            session.may_change()?;
            let id = client.create_logger(&label, session.workspace().await?).await?;
            out.created("created_id", id.0)?;
        }
        LoggersCommand::Captures { id, since } => {
            let all = client.list_captures(id, since).await?;
            out.list(&all, || captures(&all))?;
        }
        LoggersCommand::Clear { id, yes } => {
            let one = client.get_logger(id).await?;
            session.may_delete(yes, &format!("{} of the logger {}", captured(&one), one.label))?;
            client.clear_captures(id).await?;
        }
        LoggersCommand::Delete { id, yes } => {
            let one = client.get_logger(id).await?;
            session.may_delete(yes, &format!("the logger {} with {}", one.label, captured(&one)))?;
            client.delete_logger(id).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn captured(logger: &Logger) -> String {
    plural(logger.num_requests.max(0) as usize, "captured request")
}

fn table(all: &[Logger]) -> Table {
    let mut table = Table::new(&["ID", "LABEL", "REQUESTS", "LEFT", "DAYS", "URL"]);
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

fn captures(all: &[Capture]) -> Table {
    let mut table = Table::new(&["ID", "TIME", "METHOD", "FROM", "PATH", "QUERY", "USER AGENT"]);
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
