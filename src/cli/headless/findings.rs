//! `scandeck findings`: list, show, decide, export.

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use jiff::Timestamp;

use super::decide::{self, DecideArgs};
use super::rows::FindingRows;
use super::save::Destination;
use super::{HeadlessSession, PrintTable, ServiceArgs};
use crate::cli::advised::Advised;
use crate::contract::{FindingId, Stamp};
use crate::export;
use crate::export::{Export, ExportFormat, ExportRow};
use crate::query::{Query, QueryKind};
use crate::text::plural;

/// `scandeck findings …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck findings list --query 'risk>=high is:undecided' --workspace \"Acme external\"
  scandeck findings list --all-scans --json
  scandeck findings show 4711
  scandeck findings decide 4711 4712 --verdict false_positive --reason not_reproducible
  scandeck findings export --format sarif -o scandeck.sarif

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
        which: FindingChoice,
        /// Every occurrence in every scan
        #[arg(long)]
        all_scans: bool,
    },
    /// One, with what was decided about it
    Show {
        /// Id at the service, of any occurrence, or fingerprint
        #[arg(value_name = "ID|FINGERPRINT", allow_negative_numbers = true)]
        id: String,
    },
    /// Says what a person says about findings: verdict, reason, note, severity, tags
    Decide(Box<DecideArgs>),
    /// Writes them with what was decided, for other tools and for people
    Export(ExportArgs),
}

/// Options of `scandeck findings export`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck findings export --format markdown -o hand-over.md
  scandeck findings export --query 'risk>=medium' --format sarif > scandeck.sarif

csv           a row a finding; cells that start a formula are neutralised
markdown      a hand-over: what is left, what was decided by whom, what has no reason
jsonl         one object a finding, as `list --json` has it
defectdojo    Generic Findings Import
sarif         SARIF 2.1.0, with baselineState and suppressions
vex           CycloneDX 1.6
html, json    the report, with the decisions")]
struct ExportArgs {
    #[command(flatten)]
    which: FindingChoice,
    /// csv, markdown, jsonl, defectdojo, sarif, vex, html, json
    #[arg(long, value_parser = format)]
    format: ExportFormat,
    #[command(flatten)]
    to: Destination,
}

fn format(text: &str) -> Result<ExportFormat, String> {
    ExportFormat::named(text).ok_or_else(|| ExportFormat::ALL.map(ExportFormat::as_str).join(", "))
}

/// Which findings.
#[derive(Args, Clone, Debug)]
pub struct FindingChoice {
    /// Only those that match, in the query language of the dashboard
    #[arg(long, value_name = "QUERY", value_parser = super::rows::query)]
    query: Option<Query>,
}

impl FindingChoice {
    /// The query.
    pub fn query(&self) -> Query {
        self.query.clone().unwrap_or_else(|| Query::everything(QueryKind::Findings))
    }
}

/// Runs the command.
///
/// # Errors
/// What the service refuses.
pub async fn run(args: FindingsArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    match args.command {
        FindingsCommand::List { which, all_scans } => {
            let mut rows = FindingRows::load(&session).await?;
            if all_scans {
                rows.spread();
            }
            let rows = rows.that(&which.query());
            let shown: Vec<_> = rows.iter().map(export::json::row).collect();
            session.out.list(&shown, || table(&rows))?;
        }
        FindingsCommand::Show { id } => show(&session, &id).await?,
        FindingsCommand::Decide(args) => return decide::run(&session, *args).await,
        FindingsCommand::Export(args) => write(&session, &args).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn write(session: &HeadlessSession, args: &ExportArgs) -> anyhow::Result<()> {
    let query = args.which.query();
    let rows = FindingRows::load(session).await?.that(&query);
    let workspaces: BTreeSet<&str> = rows.iter().map(|row| &*row.workspace).collect();
    let title = match workspaces.len() {
        1 => workspaces.into_iter().collect(),
        _ => session.name.clone(),
    };
    let export = Export { rows: &rows, title: &title, made: Stamp(Timestamp::now()), query: &query.to_string() };
    let bytes = export::write(args.format, &export)?;
    args.to.write(session.out, &bytes, &plural(rows.len(), "finding"))
}

async fn show(session: &HeadlessSession, id: &str) -> anyhow::Result<()> {
    let rows = FindingRows::load(session).await?;
    match rows.all.iter().find(|row| is_named(row, id)) {
        Some(row) => session.out.single(&export::json::row(row)),
        None => match id.parse::<FindingId>() {
            // One that no list tells may still be there.
            Ok(id) => session.out.single(&session.client()?.get_finding(id).await?),
            Err(_) => {
                Err(Advised::new(format!("there is no finding {id:?}"), "`scandeck findings list` shows them").into())
            }
        },
    }
}

/// Whether a row goes by this name: the id of one of its occurrences, or its fingerprint.
pub(super) fn is_named(row: &ExportRow, name: &str) -> bool {
    match name.parse::<FindingId>() {
        Ok(id) => row.case.finding_ids().any(|one| one == id),
        Err(_) => row.case.key().to_string() == name.to_lowercase(),
    }
}

/// One row a finding.
pub(super) fn table(rows: &[ExportRow]) -> PrintTable {
    let mut table = PrintTable::new(&["ID", "RISK", "TARGET", "PORT", "FINDING", "VERDICT", "NOW", "LAST SEEN"]);
    for row in rows {
        let (case, assessment) = (&row.case, &row.assessment);
        let risk = assessment.severity.unwrap_or(case.risk_level);
        let again = if assessment.reopened.is_some() { " (again open)" } else { "" };
        table.row([
            case.finding.id.to_string(),
            risk.to_string(),
            row.target.to_string(),
            if case.port > 0 { case.port.to_string() } else { String::new() },
            case.name.to_string(),
            format!("{}{again}", assessment.verdict),
            case.presence.word().to_owned(),
            super::print::stamp(case.last_seen),
        ]);
    }
    table
}
