//! `scandeck case`: a workspace, or some findings, as a sealed timeline in one file, for a
//! colleague, a customer or a court.
//!
//! ```text
//!   new: Bundle, reports ─► events ─► seal ─► FILE, seal on standard output
//!   show, verify: FILE ─► verify ─► entries, seal
//! ```

mod reports;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::json;

use super::findings::named;
use super::rows::FindingRows;
use super::save::{self, ExistingFile};
use super::{HeadlessSession, Output, PrintTable, ServiceArgs, bundle};
use crate::cli::error::CliError;
use scandeck_domain::case::{
    CaseEntry, CaseFault, CaseMaker, CaseReports, CaseSelection, MissingReports, VerifiedCase,
    case_events, seal, verify,
};
use scandeck_wire::contract::Stamp;
use scandeck_wire::input_files::{InputKind, read};

#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck case new --workspace \"Acme external\" -o acme.case
  scandeck case new --workspace \"Acme external\" --finding 4711 -o 4711.case
  scandeck case verify acme.case")]
pub struct CaseArgs {
    #[command(subcommand)]
    command: CaseCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum CaseCommand {
    /// Write the timeline of a workspace, or of some findings, to a case file, and print its seal
    New(Box<NewCaseArgs>),
    /// List the entries of a case file that is whole
    #[command(after_help = "Example:\n  scandeck case show acme.case")]
    Show {
        /// The case file
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Verify a case file; exit code 1 if an entry does not fit
    #[command(
        after_help = "Example:\n  scandeck case verify acme.case --seal \"$(cat acme.seal)\""
    )]
    Verify {
        /// The case file
        file: PathBuf,
        /// The seal that `case new` printed
        #[arg(long, value_name = "DIGEST")]
        seal: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Example:
  scandeck case new --workspace \"Acme external\" -o acme.case",
    override_usage = "scandeck case new --workspace <NAME|ID> [--finding <ID>]... --output <FILE>",
    mut_arg("workspace", |arg| arg.help("Workspace, by name or id"))
)]
struct NewCaseArgs {
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Only this finding with its scans, decisions, payloads and captures; repeatable
    #[arg(
        long = "finding",
        value_name = "ID|FINGERPRINT",
        allow_negative_numbers = true
    )]
    findings: Vec<String>,
    /// Replace names, addresses and tokens by stand-ins; the file says so
    #[arg(long)]
    mask: bool,
    #[command(flatten)]
    existing: ExistingFile,
    // Last, because its heading applies to all later arguments.
    #[command(flatten)]
    service: ServiceArgs,
}

/// Runs the command.
///
/// # Errors
/// When there is no data about the workspace, a file cannot be read or written, or an entry does
/// not fit.
pub async fn run(args: CaseArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        CaseCommand::New(args) => new(*args).await?,
        CaseCommand::Show { file, json } => show(&whole(&file)?, json)?,
        CaseCommand::Verify { file, seal, json } => {
            let case = whole(&file)?;
            require_seal(&case, seal.as_deref())?;
            report(&case, json)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn new(args: NewCaseArgs) -> anyhow::Result<()> {
    let mut bundle = bundle::gather(&args.service).await?;
    let selection = match args.findings.is_empty() {
        true => None,
        false => Some(select(&args).await?),
    };
    if let Some(selection) = &selection {
        bundle = selection.of(bundle);
    }
    let maker = CaseMaker {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        is_masked: args.mask,
        findings: selection.as_ref().map(CaseSelection::len),
    };
    let reports = match &selection {
        Some(_) => CaseReports::without(MissingReports::ScansUnknown),
        None if bundle.manifest.reached => reports::fetch(&args.service).await,
        None => CaseReports::without(MissingReports::NotListed),
    };
    let events = case_events(&bundle, &reports, &maker);
    // The first event is the case itself, with the stand-in of a masked workspace.
    let title = events.first().map(|event| event.text.clone());
    let made = Stamp(jiff::Timestamp::now());
    let sealed = seal(&title.unwrap_or_default(), events, made)?;
    save::write(&args.output, &sealed.file, args.existing)?;
    let entries = entries_words(sealed.entries);
    note!("{} written: {entries}; its seal:", args.output.display());
    let out = Output::new(args.service.json);
    match out.json {
        true => out.value(&json!({"seal": sealed.seal, "entries": sealed.entries})),
        false => out.line(&sealed.seal),
    }
}

/// The named findings.
async fn select(args: &NewCaseArgs) -> anyhow::Result<CaseSelection> {
    let session = HeadlessSession::open(&args.service).await?;
    let rows = FindingRows::load(&session).await?;
    let mut selection = CaseSelection::default();
    let hint = "`scandeck findings list --workspace NAME` lists findings of a workspace";
    let found = named(&rows.all, &args.findings).map_err(|error| error.with_hint(hint))?;
    for row in found {
        selection.add(&row.issue, &row.assessment);
    }
    Ok(selection)
}

/// The case in a file.
fn whole(file: &std::path::Path) -> anyhow::Result<VerifiedCase> {
    let shown = file.display();
    let bytes = read(file, InputKind::Bundle).with_context(|| format!("cannot read {shown}"))?;
    let case = verify(&bytes).map_err(|fault| {
        let message = format!("{shown}: {fault}");
        let remedy = match fault {
            CaseFault::Newer(_) => "update scandeck",
            _ => "the file was changed or is damaged: ask the sender for a new copy",
        };
        CliError::new(message, remedy)
    })?;
    Ok(case)
}

fn require_seal(case: &VerifiedCase, expected: Option<&str>) -> Result<(), CliError> {
    let is_expected = |seal: &str| seal.trim().eq_ignore_ascii_case(&case.seal);
    match expected {
        Some(seal) if !is_expected(seal) => Err(CliError::new(
            format!("the entries fit together, but the seal is {}", case.seal),
            "this is another case, or it was made again after a change",
        )),
        _ => Ok(()),
    }
}

fn report(case: &VerifiedCase, json: bool) -> anyhow::Result<()> {
    let out = Output::new(json);
    match json {
        true => out.value(&json!({"seal": case.seal, "entries": case.entries.len()})),
        false => {
            let entries = entries_words(case.entries.len());
            out.line(&format!("{entries} fit together; seal {}", case.seal))
        }
    }
}

fn show(case: &VerifiedCase, json: bool) -> anyhow::Result<()> {
    let out = Output::new(json);
    out.list(&case.entries, || table(&case.entries))
}

fn table(entries: &[CaseEntry]) -> PrintTable {
    let header = ["ENTRY", "TIME", "AUTHOR", "KIND", "WHAT"];
    PrintTable::of(header, entries, |entry| {
        [
            entry.number.to_string(),
            entry.at.map_or_else(|| "-".to_owned(), |at| at.to_string()),
            entry.author.to_string(),
            entry.kind.to_string(),
            entry.text.clone(),
        ]
    })
}

fn entries_words(count: usize) -> String {
    match count {
        1 => "1 entry".to_owned(),
        count => format!("{count} entries"),
    }
}
