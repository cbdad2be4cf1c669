//! `scandeck findings`: list, show.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::rows::Rows;
use super::{ServiceArgs, Session, Table};
use crate::cli::advised::Advised;
use crate::contract::FindingId;
use crate::export::{self, Row};
use crate::query::{Kind, Query};

/// `scandeck findings …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck findings list --query 'risk>=high is:undecided' --workspace \"Acme external\"
  scandeck findings list --all-scans --json
  scandeck findings show 4711

A row is one finding, whatever the number of scans that saw it; --all-scans shows every occurrence.")]
pub struct FindingsArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: FindingsCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum FindingsCommand {
    /// Findings, the worst first
    List {
        #[command(flatten)]
        which: Which,
        /// Every occurrence in every scan
        #[arg(long)]
        all_scans: bool,
    },
    /// One, with what was decided about it
    Show {
        /// Id at the service, of any occurrence, or fingerprint
        #[arg(value_name = "ID|FINGERPRINT")]
        id: String,
    },
}

/// Which findings.
#[derive(Args, Clone, Debug)]
pub struct Which {
    /// Only those that match, in the query language of the dashboard
    #[arg(long, value_name = "QUERY", value_parser = super::rows::query)]
    query: Option<Query>,
}

impl Which {
    /// The query.
    pub fn query(&self) -> Query {
        self.query.clone().unwrap_or_else(|| Query::everything(Kind::Findings))
    }
}

/// Runs the command.
///
/// # Errors
/// What the service refuses.
pub async fn run(args: FindingsArgs) -> anyhow::Result<ExitCode> {
    let session = Session::open(&args.service).await?;
    match args.command {
        FindingsCommand::List { which, all_scans } => {
            let mut rows = Rows::load(&session).await?;
            if all_scans {
                rows.spread();
            }
            let rows = rows.that(&which.query());
            let shown: Vec<_> = rows.iter().map(export::json::row).collect();
            session.out.list(&shown, || table(&rows))?;
        }
        FindingsCommand::Show { id } => show(&session, &id).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn show(session: &Session, id: &str) -> anyhow::Result<()> {
    let rows = Rows::load(session).await?;
    match rows.all.iter().find(|row| is_named(row, id)) {
        Some(row) => session.out.single(&export::json::row(row)),
        None => match id.parse::<FindingId>() {
            // One that no list tells may still be there.
            Ok(id) => session.out.single(&session.client.get_finding(id).await?),
            Err(_) => {
                Err(Advised::new(format!("there is no finding {id:?}"), "`scandeck findings list` shows them").into())
            }
        },
    }
}

/// Whether a row goes by this name: the id of one of its occurrences, or its fingerprint.
pub(super) fn is_named(row: &Row, name: &str) -> bool {
    match name.parse::<FindingId>() {
        Ok(id) => row.case.finding_ids().any(|one| one == id),
        Err(_) => row.case.key().to_string() == name.to_lowercase(),
    }
}

/// One row a finding.
pub(super) fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&["ID", "RISK", "TARGET", "PORT", "FINDING", "VERDICT", "NOW", "LAST SEEN"]);
    for row in rows {
        let (case, stance) = (&row.case, &row.stance);
        let risk = stance.severity.unwrap_or(case.risk_level);
        let again = if stance.again.is_some() { " (again open)" } else { "" };
        table.row([
            case.finding.id.to_string(),
            risk.to_string(),
            row.target.to_string(),
            if case.port > 0 { case.port.to_string() } else { String::new() },
            case.name.to_string(),
            format!("{}{again}", stance.verdict),
            case.presence.word().to_owned(),
            super::print::stamp(case.last_seen),
        ]);
    }
    table
}
