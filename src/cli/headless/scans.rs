//! `scandeck scans`: list, show, start, watch, stop, delete, output, raw, tests, diff.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::print::{count, stamp};
use super::start::StartArgs;
use super::{HeadlessSession, PrintTable, ServiceArgs, diff, start, targets, watch};
use crate::cli::advised::Advised;
use crate::client::{Interval, ScanQuery, TargetQuery, TestQuery};
use crate::contract::{ResourceType, Scan, ScanId, ScanStatus, Shared, Stamp, TargetId, Test, Tool};
use std::collections::HashMap;

/// `scandeck scans …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck scans start --tool 170 --target shop.acme.test --wait --fail-on 'risk>=high is:undecided'
  scandeck scans list --status running --json
  scandeck scans watch 12 14

Exit codes: 0 done; 1 an error; 2 typed wrongly; 3 --fail-on found something; 4 a scan that was waited for ended
without finishing (stopped, timed out, …).")]
pub struct ScansArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: ScansCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum ScansCommand {
    /// Scans, the newest first
    List(ListArgs),
    /// One
    Show {
        /// Its id
        id: ScanId,
    },
    /// Starts one and prints its id
    Start(Box<StartArgs>),
    /// Waits until these have ended; without ids, until all that are under way have
    Watch {
        /// Their ids
        ids: Vec<ScanId>,
    },
    /// Stops it for good
    Stop {
        /// Their ids
        #[arg(required = true)]
        ids: Vec<ScanId>,
    },
    /// Deletes one with its findings
    Delete {
        /// Its id
        id: ScanId,
        /// Do it
        #[arg(long)]
        yes: bool,
    },
    /// What a later scan saw of what an earlier one told: new, gone, changed, covered less
    Diff {
        /// One scan
        id: ScanId,
        /// The other [default: the finished one before it, of the same target and tool]
        other: Option<ScanId>,
        /// Also what is the same
        #[arg(long)]
        all: bool,
    },
    /// What its tool made of it, as JSON
    Output {
        /// Its id
        id: ScanId,
        /// As a PDF document, where the service makes one
        #[arg(long, requires = "output")]
        pdf: bool,
        /// The file for it
        #[arg(short, long, value_name = "FILE", requires = "pdf")]
        output: Option<PathBuf>,
    },
    /// What its tool wrote, line by line
    Raw {
        /// Its id
        id: ScanId,
    },
    /// Its tests
    Tests {
        /// Its id
        id: ScanId,
        /// `finding`: only tests that led to one; `scan`: only those that did not
        #[arg(long, value_name = "KIND",
              value_parser = |text: &str| ResourceType::known(text).ok_or("scan or finding"))]
        resource_type: Option<ResourceType>,
        /// Only of this scan or finding, as --resource-type says
        #[arg(long, value_name = "ID", requires = "resource_type")]
        resource_id: Option<i64>,
    },
}

#[derive(Args, Clone, Debug)]
struct ListArgs {
    /// Only of this tool
    #[arg(long, value_name = "ID")]
    tool: Option<i64>,
    /// Only of this target
    #[arg(long, value_name = "NAME|ID")]
    target: Option<String>,
    /// Only in this state, such as running, finished, "failed to start"
    #[arg(long, value_name = "STATUS",
          value_parser = |text: &str| ScanStatus::known(text).ok_or_else(statuses))]
    status: Option<ScanStatus>,
    /// Only those that started then or later (UTC)
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<Stamp>,
    /// Only those that started then or earlier (UTC)
    #[arg(long, value_name = "TIME", value_parser = time)]
    to: Option<Stamp>,
}

fn statuses() -> String {
    ScanStatus::KNOWN.iter().map(ScanStatus::as_str).collect::<Vec<_>>().join(", ")
}

fn time(text: &str) -> Result<Stamp, String> {
    let day = || Stamp::parse(&format!("{text} 00:00:00"));
    Stamp::parse(text).or_else(day).ok_or_else(|| "write it 2026-11-21 or \"2026-11-21 13:00:00\"".to_owned())
}

/// A scan with the names of what it refers to.
#[derive(Debug, Serialize)]
pub(super) struct NamedScan<'a> {
    #[serde(flatten)]
    scan: &'a Scan,
    tool_name: Option<&'static str>,
    target_name: Option<Shared>,
}

impl<'a> NamedScan<'a> {
    /// With the name of its target, where that is known.
    pub fn new(scan: &'a Scan, target_name: Option<Shared>) -> Self {
        Self { scan, tool_name: Tool(scan.tool_id).name(), target_name }
    }
}

/// Runs the command.
///
/// # Errors
/// What the service refuses.
pub async fn run(args: ScansArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    let (client, out) = (session.client()?, session.out);
    match args.command {
        ScansCommand::List(which) => list(&session, which).await?,
        ScansCommand::Show { id } => show(&session, &client.get_scan(id).await?).await?,
        ScansCommand::Start(new) => return start::run(&session, *new).await,
        ScansCommand::Watch { ids } => return watched(&session, ids).await,
        ScansCommand::Stop { ids } => {
            session.may_change()?;
            for id in ids {
                client.stop_scan(id).await?;
            }
        }
        ScansCommand::Delete { id, yes } => {
            let scan = client.get_scan(id).await?;
            session.may_delete(
                yes,
                &format!("scan {id} ({}, {}) with its findings", Tool(scan.tool_id), scan.status_name),
            )?;
            client.delete_scan(id).await?;
        }
        ScansCommand::Diff { id, other, all } => diff::run(&session, id, other, all).await?,
        ScansCommand::Output { id, output: Some(path), .. } => {
            let pdf = client.scan_output_pdf(id).await?;
            super::save::over(&path, &pdf)?;
            out.line(&path.display().to_string());
        }
        ScansCommand::Output { id, .. } => out.value(&client.scan_output(id).await?)?,
        ScansCommand::Raw { id } => {
            let lines = client.scan_raw(id).await?;
            if out.json {
                out.value(&lines)?;
            } else {
                out.outside(lines.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes());
            }
        }
        ScansCommand::Tests { id, resource_type, resource_id } => {
            let all = client.list_tests(id, &TestQuery { resource_type, resource_id }).await?;
            out.list(&all, || tests(&all))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(session: &HeadlessSession, which: ListArgs) -> anyhow::Result<()> {
    let target_id = match &which.target {
        Some(target) => Some(targets::named(session, target).await?.id),
        None => None,
    };
    let asked = ScanQuery {
        tool: which.tool.map(Tool),
        target_id,
        status: which.status,
        start_time: (which.from.is_some() || which.to.is_some()).then_some(Interval { from: which.from, to: which.to }),
        ..ScanQuery::default()
    };
    let scans = of_workspaces(session, &asked).await?;
    let names = target_names(session).await?;
    let named: Vec<NamedScan> =
        scans.iter().map(|scan| NamedScan::new(scan, names.get(&scan.target_id).cloned())).collect();
    session.out.list(&named, || table(&named))
}

/// Scans of every workspace in question, the newest first: without a workspace the service tells those of the one last
/// chosen in a browser.
pub(super) async fn of_workspaces(session: &HeadlessSession, asked: &ScanQuery) -> anyhow::Result<Vec<Scan>> {
    let mut scans = Vec::new();
    for workspace in session.workspaces().await? {
        let query = ScanQuery { workspace_id: Some(workspace.id), ..asked.clone() };
        scans.extend(session.client()?.list_all_scans(&query).await?);
    }
    scans.sort_by_key(|scan| std::cmp::Reverse(scan.id));
    scans.dedup_by_key(|scan| scan.id);
    Ok(scans)
}

async fn target_names(session: &HeadlessSession) -> anyhow::Result<HashMap<TargetId, Shared>> {
    let all = session.client()?.list_all_targets(&TargetQuery::default()).await?;
    Ok(all.into_iter().map(|target| (target.id, target.name)).collect())
}

/// One scan with the names of what it refers to.
pub(super) async fn show(session: &HeadlessSession, scan: &Scan) -> anyhow::Result<()> {
    // A target that is gone does not hide the scan.
    let target = session.client()?.get_target(scan.target_id).await.ok();
    session.out.single(&NamedScan::new(scan, target.map(|target| target.name)))
}

async fn watched(session: &HeadlessSession, mut ids: Vec<ScanId>) -> anyhow::Result<ExitCode> {
    if ids.is_empty() {
        let all = of_workspaces(session, &ScanQuery::default()).await?;
        ids = all.iter().filter(|scan| scan.is_active()).map(|scan| scan.id).collect();
    }
    if ids.is_empty() {
        return Err(Advised::new("no scan is under way", "name the scans to watch").into());
    }
    let scans = watch::until_ended(session, &ids).await?;
    if session.out.json {
        session.out.value(&scans.iter().map(|scan| NamedScan::new(scan, None)).collect::<Vec<_>>())?;
    }
    Ok(watch::code(&scans))
}

fn table(all: &[NamedScan]) -> PrintTable {
    let mut table = PrintTable::new(&["ID", "TOOL", "TARGET", "STATUS", "DONE", "STARTED", "C", "H", "M", "L", "I"]);
    for NamedScan { scan, target_name, .. } in all {
        let [critical, high, medium, low, info] = scan.result_summary.by_risk().map(count);
        table.row([
            scan.id.to_string(),
            Tool(scan.tool_id).to_string(),
            target_name.as_ref().map_or_else(|| scan.target_id.to_string(), ToString::to_string),
            scan.status_name.to_string(),
            format!("{}%", scan.progress),
            stamp(scan.start_time),
            critical,
            high,
            medium,
            low,
            info,
        ]);
    }
    table
}

fn tests(all: &[Test]) -> PrintTable {
    let mut table = PrintTable::new(&["ID", "WHEN", "FOUND", "TEST", "DESCRIPTION"]);
    for one in all {
        let found = match one.resource_type {
            ResourceType::Finding => one.resource_id.to_string(),
            _ => "–".to_owned(),
        };
        table.row([
            one.id.to_string(),
            stamp(one.performed_at),
            found,
            one.uid.to_string(),
            one.description.to_string(),
        ]);
    }
    table
}
