//! `scandeck findings`: list, show, explain, chain, link, prove, decide, export.

mod show;

use std::collections::{BTreeSet, HashMap};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use jiff::Timestamp;

use super::chain::{self, LinkArgs};
use super::decide::{self, DecideArgs};
use super::print::{cells, or_dash};
use super::prove::{self, ProveArgs};
use super::report_options::ReportOptionArgs;
use super::rows::FindingRows;
use super::save::Destination;
use super::{HeadlessSession, PrintTable, ServiceArgs, explain};
use crate::cli::error::CliError;
use scandeck_domain::export;
use scandeck_domain::export::{Export, ExportFile, ExportFormat, ExportRow, ReportFrame};
use scandeck_domain::query::{Query, QueryKind};
use scandeck_domain::table::columns::finding;
use scandeck_domain::triage::Presence;
use scandeck_wire::contract::{FindingId, Stamp};

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck findings list --query 'risk>=high is:undecided' --workspace \"Acme external\"")]
pub struct FindingsArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: FindingsCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum FindingsCommand {
    /// List findings by risk: one row per finding across all scans
    #[command(after_help = "Example:\n  scandeck findings list --all-scans --json")]
    List {
        #[command(flatten)]
        choice: FindingChoice,
        /// One row per occurrence in every scan
        #[arg(long)]
        all_scans: bool,
    },
    /// Show one finding with its decisions
    #[command(after_help = "Example:\n  scandeck findings show 4711")]
    Show {
        /// Id of any occurrence, or fingerprint
        #[arg(value_name = "ID|FINGERPRINT", allow_negative_numbers = true)]
        id: String,
    },
    /// Explain why a finding is new, changed, absent, reappeared or not retested
    #[command(after_help = "Example:\n  scandeck findings explain 4711 --json")]
    Explain {
        /// Id of any occurrence, or fingerprint
        #[arg(value_name = "ID|FINGERPRINT", allow_negative_numbers = true)]
        id: String,
    },
    /// Show how a finding is connected to captures, payloads, targets, services and keys
    #[command(after_help = "Examples:
  scandeck findings chain 4711
  scandeck findings chain service:shop.test:443 --json")]
    Chain {
        /// Id of any occurrence, fingerprint, or another object such as payload:TOKEN,
        /// target:NAME, service:HOST:PORT
        #[arg(value_name = "ID|FINGERPRINT|OBJECT", allow_negative_numbers = true)]
        id: String,
    },
    /// Link a finding with another object of chains, with a reason
    Link(LinkArgs),
    /// Send the request in the evidence again; exit code 3 if a finding is still there
    Prove(ProveArgs),
    /// Decide findings: verdict, reason, note, expiry date, severity, tags
    Decide(Box<DecideArgs>),
    /// Export findings with their decisions
    Export(Box<ExportArgs>),
}

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck findings export --query 'risk>=medium' --format sarif -o scandeck.sarif
  scandeck findings export --format pdf --template client.toml -o report.pdf")]
struct ExportArgs {
    #[command(flatten)]
    choice: FindingChoice,
    /// csv, markdown (hand-over), jsonl, defectdojo (Generic Findings Import), sarif (2.1.0), vex
    /// (CycloneDX 1.6), html, json, pdf, docx, xlsx (the report)
    #[arg(long, value_parser = ExportFormat::from_name)]
    format: ExportFormat,
    #[command(flatten)]
    to: Destination,
    #[command(flatten)]
    report: ReportOptionArgs,
}

/// Selects findings.
#[derive(Args, Clone, Debug)]
struct FindingChoice {
    /// Only findings that match this query (see docs/query.md)
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true, value_parser = |text: &str| super::query(text, QueryKind::Findings))]
    query: Option<Query>,
}

impl FindingChoice {
    fn query(&self) -> Query {
        self.query
            .clone()
            .unwrap_or_else(|| Query::everything(QueryKind::Findings))
    }
}

/// Runs the command.
///
/// # Errors
/// Those of the service.
pub async fn run(args: FindingsArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    match args.command {
        FindingsCommand::List { choice, all_scans } => {
            let mut rows = FindingRows::load(&session).await?;
            if all_scans {
                rows.expand_occurrences();
            }
            print(&session, &rows.matching(&choice.query()))?;
        }
        FindingsCommand::Show { id } => show::show(&session, &id).await?,
        FindingsCommand::Explain { id } => explain::run(&session, &id).await?,
        FindingsCommand::Chain { id } => chain::run(&session, &id).await?,
        FindingsCommand::Link(args) => chain::link(&session, args).await?,
        FindingsCommand::Prove(args) => return prove::run(&session, args).await,
        FindingsCommand::Decide(args) => return decide::run(&session, *args).await,
        FindingsCommand::Export(args) => write(&session, &args).await?,
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn print(session: &HeadlessSession, rows: &[ExportRow]) -> anyhow::Result<()> {
    let values: Vec<_> = rows.iter().map(export::json::row).collect();
    session.out.list(&values, || table(rows))
}

async fn write(session: &HeadlessSession, args: &ExportArgs) -> anyhow::Result<()> {
    args.report.check(args.format)?;
    let all = FindingRows::load(session).await?;
    let (targets, scans) = (all.target_names(), all.report_scans());
    let mut frame = args.report.frame(args.format, targets, scans)?;
    if frame.options.chains {
        frame.chains = chain::others(session, &all).await?;
    }
    let rows = all.matching(&args.choice.query());
    let file = exported(session, &args.choice.query(), &rows, args.format, &frame)?;
    let bytes = &file.bytes[..];
    // Excel needs the byte order mark in the files that it opens by their names; programs read it
    // as part of the first one.
    let content = if args.to.names_csv() {
        bytes
    } else {
        bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
    };
    args.to.write(session.out, content, &file.contents())
}

/// The rows with their decisions as a file.
pub(super) fn exported(
    session: &HeadlessSession,
    query: &Query,
    rows: &[ExportRow],
    format: ExportFormat,
    frame: &ReportFrame,
) -> anyhow::Result<ExportFile> {
    let workspaces: BTreeSet<&str> = rows.iter().map(|row| &*row.workspace).collect();
    let title = match workspaces.len() {
        1 => workspaces.into_iter().collect(),
        _ => session.config.name.clone(),
    };
    let export = Export {
        rows,
        title: &title,
        made: Stamp(Timestamp::now()),
        query: &query.to_string(),
        mask: None,
        frame: Some(frame),
    };
    Ok(export::write(format, &export)?)
}

pub(super) fn not_found(id: &str) -> CliError {
    CliError::new(
        format!("finding {id} not found"),
        "`scandeck findings list` lists findings",
    )
}

/// Whether a row has this name: the id of any occurrence, or the fingerprint.
pub(super) fn is_named(row: &ExportRow, name: &str) -> bool {
    match name.parse::<FindingId>() {
        Ok(id) => row.issue.finding_ids().any(|one| one == id),
        Err(_) => row.issue.key().to_string() == name.to_lowercase(),
    }
}

/// The named rows, each once, in the order of the names.
///
/// # Errors
/// When no row has one of the names.
pub(super) fn named<'a>(
    rows: &'a [ExportRow],
    names: &[String],
) -> Result<Vec<&'a ExportRow>, CliError> {
    let mut by_name: HashMap<String, usize> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        let ids = row.issue.finding_ids().map(|id| id.to_string());
        for name in ids.chain([row.issue.key().to_string()]) {
            by_name.entry(name).or_insert(at);
        }
    }
    let mut places = BTreeSet::new();
    let mut selected = Vec::new();
    for name in names {
        let written = match name.parse::<FindingId>() {
            Ok(id) => id.to_string(),
            Err(_) => name.to_lowercase(),
        };
        let place = *by_name.get(&written).ok_or_else(|| not_found(name))?;
        if places.insert(place) {
            selected.push(&rows[place]);
        }
    }
    Ok(selected)
}

pub(super) fn table(rows: &[ExportRow]) -> PrintTable {
    PrintTable::of(
        [
            finding::ID,
            finding::RISK,
            finding::TARGET,
            finding::PORT,
            finding::NAME,
            finding::DECISION,
            finding::PRESENCE,
            finding::LAST_SEEN,
        ],
        rows,
        |row| {
            let (issue, verdict) = (&row.issue, row.assessment.state());
            let (risk, last_seen) = (row.risk(), or_dash(issue.last_seen.get()));
            let presence = issue.presence_in(Presence::label);
            cells![
                issue.finding.id,
                risk,
                row.target,
                row.port(),
                issue.name,
                verdict,
                presence,
                last_seen
            ]
        },
    )
    .with_column(finding::TOOL, rows, |row| row.tool_name.to_string())
    .with_column(finding::ASSIGNEE, rows, |row| {
        row.assessment
            .assignee
            .as_deref()
            .unwrap_or_default()
            .to_owned()
    })
    .with_column(finding::DUE, rows, |row| {
        row.assessment
            .due
            .map(|day| day.to_string())
            .unwrap_or_default()
    })
}
