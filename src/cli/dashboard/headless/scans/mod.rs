//! `scandeck scans`: list, show, start, watch, stop, delete, output, raw, tests, diff.

mod list;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::print::{cells, or_dash};
use super::save::{self, ExistingFile};
use super::start::StartArgs;
use super::{HeadlessSession, Output, PrintTable, ServiceArgs, diff, id, start, watch};
use crate::cli::error::CliError;
use scandeck_client::{ScanQuery, TestQuery};
use scandeck_wire::contract::{INCOMPLETE, ResourceType, Scan, ScanId, Shared, Test, Tool};
use scandeck_wire::text;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck scans start --tool 170 --target shop.acme.test --fail-on 'risk>=high is:undecided'")]
pub struct ScansArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: ScansCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum ScansCommand {
    /// List scans, newest first
    #[command(after_help = "Example:\n  scandeck scans list --status running --json")]
    List(list::ListArgs),
    /// Show one scan
    #[command(after_help = "Example:\n  scandeck scans show 12")]
    Show {
        /// Scan id
        id: ScanId,
    },
    /// Start a scan and print its id
    Start(Box<StartArgs>),
    /// Wait until scans have ended; without ids, all active scans
    #[command(after_help = "Example:\n  scandeck scans watch 12 14")]
    Watch {
        /// Scan ids
        ids: Vec<ScanId>,
    },
    /// Stop scans; a stopped scan cannot be resumed
    #[command(after_help = "Example:\n  scandeck scans stop 12")]
    Stop {
        /// Scan ids
        #[arg(required = true)]
        ids: Vec<ScanId>,
    },
    /// Delete a scan with its findings
    #[command(after_help = "Example:\n  scandeck scans delete 12 --yes")]
    Delete {
        /// Scan id
        id: ScanId,
        /// Confirm the deletion
        #[arg(long)]
        yes: bool,
    },
    /// Compare the findings of two scans: new, absent, changed, not retested; with --all also
    /// unchanged
    #[command(after_help = "Example:\n  scandeck scans diff 14 12")]
    Diff {
        /// Scan id
        id: ScanId,
        /// Other scan [default: the previous finished scan of the same target and tool]
        other: Option<ScanId>,
        /// Include unchanged findings
        #[arg(long)]
        all: bool,
    },
    /// Print the output of a scan as JSON, or save it as PDF
    #[command(after_help = "Example:\n  scandeck scans output 12 --pdf -o scan.pdf")]
    Output {
        /// Scan id
        id: ScanId,
        /// Save as PDF, if the service supports it
        #[arg(long, requires = "output")]
        pdf: bool,
        /// Write the PDF to this file
        #[arg(short, long, value_name = "FILE", requires = "pdf")]
        output: Option<PathBuf>,
        #[command(flatten)]
        existing: ExistingFile,
    },
    /// Print the raw log of a scan
    #[command(after_help = "Example:\n  scandeck scans raw 12")]
    Raw {
        /// Scan id
        id: ScanId,
        /// On a terminal, print control characters unchanged
        #[arg(long)]
        raw: bool,
    },
    /// List the tests of a scan
    #[command(after_help = "Example:\n  scandeck scans tests 12 --resource-type finding")]
    Tests {
        /// Scan id
        id: ScanId,
        /// `finding`: only tests that reported a finding; `scan`: only the other tests
        #[arg(long, value_name = "KIND", value_parser = ResourceType::known)]
        resource_type: Option<ResourceType>,
        /// Only tests of the scan or finding with this id; --resource-type selects which
        #[arg(long, value_name = "ID", value_parser = id, requires = "resource_type")]
        resource_id: Option<i64>,
    },
}

/// A scan with the names of its tool and target.
#[derive(Debug, Serialize)]
pub(super) struct NamedScan<'a> {
    #[serde(flatten)]
    scan: &'a Scan,
    tool_name: Option<&'static str>,
    target_name: Option<Shared>,
    /// Finished, but some tests have no result.
    incomplete: bool,
}

/// A test, and whether it ended without a result.
#[derive(Debug, Serialize)]
struct ListedTest<'a> {
    #[serde(flatten)]
    test: &'a Test,
    incomplete: bool,
}

impl<'a> NamedScan<'a> {
    pub fn new(scan: &'a Scan, target_name: Option<Shared>) -> Self {
        Self {
            scan,
            tool_name: Tool(scan.tool_id).name(),
            target_name,
            incomplete: scan.is_incomplete(),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// Those of the service.
pub async fn run(args: ScansArgs) -> anyhow::Result<ExitCode> {
    let session = &HeadlessSession::open(&args.service).await?;
    let (client, out) = (session.client()?, session.out);
    match args.command {
        ScansCommand::List(args) => list::run(session, args).await?,
        ScansCommand::Show { id } => show(session, &client.get_scan(id).await?).await?,
        ScansCommand::Start(new) => return start::run(session, *new).await,
        ScansCommand::Watch { ids } => return watch_all(session, ids).await,
        ScansCommand::Stop { ids } => stop(session, &ids).await?,
        ScansCommand::Delete { id, yes } => delete(session, id, yes).await?,
        ScansCommand::Diff { id, other, all } => diff::run(session, id, other, all).await?,
        ScansCommand::Output {
            id,
            output: Some(path),
            existing,
            ..
        } => {
            let pdf = client.scan_output_pdf(id).await?;
            save::write(&path, &pdf, existing)?;
            out.line(&path.display().to_string())?;
        }
        ScansCommand::Output { id, .. } => out.value(&client.scan_output(id).await?)?,
        ScansCommand::Raw { id, raw } => print_raw(out.with_raw(raw), &client.scan_raw(id).await?)?,
        ScansCommand::Tests {
            id,
            resource_type,
            resource_id,
        } => {
            let query = TestQuery {
                resource_type,
                resource_id,
            };
            print_tests(out, &client.list_tests(id, &query).await?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print_raw(out: Output, lines: &[String]) -> anyhow::Result<()> {
    if out.json {
        return out.value(&lines);
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    out.outside(text.as_bytes())
}

/// Stops the active ones of these scans.
async fn stop(session: &HeadlessSession, ids: &[ScanId]) -> anyhow::Result<()> {
    session.require_writable()?;
    let client = session.client()?;
    let mut ended = Vec::new();
    for &id in ids {
        match client.get_scan(id).await?.is_active() {
            true => client.stop_scan(id).await?,
            false => ended.push(id.to_string()),
        }
    }
    let message = match &ended[..] {
        [] => return Ok(()),
        [one] => format!("scan {one} has already ended"),
        several => format!("scans {} have already ended", several.join(", ")),
    };
    Err(CliError::new(message, "").into())
}

async fn delete(session: &HeadlessSession, id: ScanId, yes: bool) -> anyhow::Result<()> {
    let client = session.client()?;
    let scan = client.get_scan(id).await?;
    let (tool, status) = (Tool(scan.tool_id), scan.status_name);
    session.confirm_delete(
        yes,
        &format!("scan {id} ({tool}, {status}) with its findings"),
    )?;
    client.delete_scan(id).await?;
    Ok(())
}

/// Labels of the fields whose names do not say what they hold.
const LABELS: &[(&str, &str)] = &[
    ("end_time", "Ended"),
    ("info_text_lines", "Notes"),
    ("max_scan_time", "Time limit (minutes)"),
    ("num_finished_tests", "Finished tests"),
    ("num_tests", "Tests"),
    ("result_summary", "Findings"),
    ("scan_original_url", "Original URL"),
    ("start_time", "Started"),
    ("status_message", "Message"),
    ("status_name", "Status"),
    ("target_name", "Target"),
    ("tool_name", "Tool"),
    ("tool_params", "Parameters"),
    ("vpn_profile_uuid", "VPN profile"),
    ("vpn_scan", "VPN"),
];

async fn show(session: &HeadlessSession, scan: &Scan) -> anyhow::Result<()> {
    // The target may be deleted already.
    let target = session.client()?.get_target(scan.target_id).await.ok();
    let mut shown = serde_json::json!(NamedScan::new(scan, target.map(|target| target.name)));
    if !session.out.json {
        shown["status_name"] = scan.shown_status().into();
        if let Some(fields) = shown.as_object_mut() {
            // The status shows it.
            fields.remove("incomplete");
            if let Some(place) = scan.place() {
                fields.remove("vpn_scan");
                fields.insert("place".to_owned(), place.into());
            }
        }
        shown["duration"] = text::long_duration(scan.duration).into();
        shown["result_summary"] = watch::found(scan).into();
    }
    session.out.labelled(&shown, LABELS)
}

async fn watch_all(session: &HeadlessSession, mut ids: Vec<ScanId>) -> anyhow::Result<ExitCode> {
    if ids.is_empty() {
        let all = list::scans(session, &ScanQuery::default()).await?;
        ids = all
            .iter()
            .filter(|scan| scan.is_active())
            .map(|scan| scan.id)
            .collect();
    }
    if ids.is_empty() {
        return Err(CliError::new("no active scans", "add the ids of the scans to watch").into());
    }
    let scans = watch::until_ended(session, &ids).await?;
    if session.out.json {
        session.out.value(
            &scans
                .iter()
                .map(|scan| NamedScan::new(scan, None))
                .collect::<Vec<_>>(),
        )?;
    }
    Ok(watch::code(&scans))
}

fn print_tests(out: Output, all: &[Test]) -> anyhow::Result<()> {
    let listed = |test| ListedTest {
        test,
        incomplete: Test::is_incomplete(test),
    };
    let all: Vec<ListedTest> = all.iter().map(listed).collect();
    out.list(&all, || tests(&all))
}

fn tests(all: &[ListedTest]) -> PrintTable {
    PrintTable::of(
        ["ID", "TIME", "STATUS", "FINDING", "TEST", "DESCRIPTION"],
        all,
        |ListedTest { test, incomplete }| {
            let finding =
                Some(test.resource_id).filter(|_| test.resource_type == ResourceType::Finding);
            let status = match (*incomplete, test.incomplete_cause()) {
                (false, _) => "done".to_owned(),
                (true, "") => INCOMPLETE.to_owned(),
                (true, cause) => format!("{INCOMPLETE}: {cause}"),
            };
            cells![
                test.id,
                or_dash(test.performed_at),
                status,
                or_dash(finding),
                test.uid,
                test.description
            ]
        },
    )
}
