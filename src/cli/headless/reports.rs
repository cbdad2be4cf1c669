//! `scandeck reports`: list, show, create, download, delete.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{ArgGroup, Args, Subcommand};
use serde_json::{Map, Value};

use super::print::stamp;
use super::watch::WatchPace;
use super::{HeadlessSession, PrintTable, ServiceArgs, save};
use crate::cli::advised::Advised;
use crate::client::{Download, ReportFile};
use crate::contract::{
    FindingId, GroupBy, NewReport, Report, ReportFilters, ReportFormat, ReportId, ReportSource, ReportStatus, ScanId,
};
use crate::dashboard::runtime::NewFile;

/// `scandeck reports …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  id=$(scandeck reports create --format html --scan 12 --scan 14 --filter include_info=false)
  scandeck reports download $id --wait -o shop.html

The service makes these; they know nothing of decisions. `scandeck findings export` does.")]
pub struct ReportsArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: ReportsCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum ReportsCommand {
    /// Every report
    List,
    /// One
    Show {
        /// Its id
        id: ReportId,
    },
    /// Asks for one and prints its id
    Create(CreateArgs),
    /// Saves one, and prints where
    Download {
        /// Its id
        id: ReportId,
        /// The file; `-` is standard output [default: its own name, here, over nothing]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Wait until it is made
        #[arg(long)]
        wait: bool,
    },
    /// Deletes one
    Delete {
        /// Its id
        id: ReportId,
        /// Do it
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Args, Clone, Debug)]
#[command(group = ArgGroup::new("source").required(true).args(["scan", "finding"]))]
struct CreateArgs {
    /// pdf, html, json, csv, xlsx, docx, as the service makes them
    #[arg(long, value_parser = |text: &str| known(ReportFormat::known(text), "pdf, html, json, csv, xlsx or docx"))]
    format: ReportFormat,
    /// target or vulnerability
    #[arg(long, default_value = "target",
          value_parser = |text: &str| known(GroupBy::known(text), "target or vulnerability"))]
    group_by: GroupBy,
    /// About the findings of this scan; may be said again
    #[arg(long, value_name = "ID")]
    scan: Vec<ScanId>,
    /// About this finding; may be said again
    #[arg(long, value_name = "ID")]
    finding: Vec<FindingId>,
    /// What it shows and leaves out, such as include_info=false
    #[arg(long, value_name = "NAME=BOOL")]
    filter: Vec<String>,
    /// Told when it is ready
    #[arg(long, value_name = "URL")]
    webhook_url: Option<String>,
}

fn known<T>(value: Option<T>, names: &str) -> Result<T, String> {
    value.ok_or_else(|| names.to_owned())
}

/// Runs the command.
///
/// # Errors
/// What the service refuses, and files that cannot be written.
pub async fn run(args: ReportsArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    let (client, out) = (session.client()?, session.out);
    match args.command {
        ReportsCommand::List => {
            let all = client.list_reports().await?;
            out.list(&all, || table(&all))?;
        }
        ReportsCommand::Show { id } => out.single(&client.get_report(id).await?)?,
        ReportsCommand::Create(create) => {
            session.may_change()?;
            let id = client.create_report(&new(create)?).await?;
            out.created("report_id", id.0)?;
        }
        ReportsCommand::Download { id, output, wait } => {
            let file = ready(&session, id, wait).await?;
            match output {
                Some(path) if path.as_os_str() == "-" => {
                    file.save_to(tokio::io::stdout()).await?;
                }
                Some(path) => out.line(&over(file, path).await?),
                None => out.line(&beside(&session, id, file).await?),
            }
        }
        ReportsCommand::Delete { id, yes } => {
            let one = client.get_report(id).await?;
            session.may_delete(yes, &format!("the report {}", one.download_name))?;
            client.delete_report(id).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn table(all: &[Report]) -> PrintTable {
    let mut table = PrintTable::new(&["ID", "NAME", "STATUS", "FORMAT", "MADE", "EXPIRES"]);
    for one in all {
        table.row([
            one.id.to_string(),
            one.download_name.to_string(),
            one.status.to_string(),
            one.format.to_string(),
            stamp(one.generation_date),
            stamp(one.expiration_date),
        ]);
    }
    table
}

fn new(create: CreateArgs) -> anyhow::Result<NewReport> {
    let of_scans = !create.scan.is_empty();
    Ok(NewReport {
        format: create.format,
        group_by: create.group_by,
        source: if of_scans { ReportSource::Scans } else { ReportSource::Findings },
        resources: match of_scans {
            true => create.scan.iter().map(|id| id.0).collect(),
            false => create.finding.iter().map(|id| id.0).collect(),
        },
        filters: filters(&create.filter)?,
        webhook_url: create.webhook_url,
    })
}

/// The defaults with what was said otherwise; nothing when nothing was.
fn filters(said: &[String]) -> anyhow::Result<Option<ReportFilters>> {
    if said.is_empty() {
        return Ok(None);
    }
    let Value::Object(mut all) = serde_json::to_value(ReportFilters::default())? else { return Ok(None) };
    for pair in said {
        let names = || names(&all);
        let usage = || Advised::usage(format!("--filter {pair} is no filter"), format!("there are: {}", names()));
        let (name, value) = pair.split_once('=').ok_or_else(usage)?;
        let value: bool = value.parse().map_err(|_| usage())?;
        let usage = usage();
        *all.get_mut(name).ok_or(usage)? = Value::Bool(value);
    }
    Ok(Some(serde_json::from_value(Value::Object(all))?))
}

fn names(all: &Map<String, Value>) -> String {
    all.keys().map(|name| format!("{name}=true|false")).collect::<Vec<_>>().join(", ")
}

/// The file, once it is made.
async fn ready(session: &HeadlessSession, id: ReportId, wait: bool) -> anyhow::Result<ReportFile> {
    let mut pace = WatchPace::new(Duration::from_millis(200), Duration::from_secs(5));
    loop {
        match session.client()?.download_report(id).await? {
            Download::Ready(file) => return Ok(file),
            Download::NoData => {
                return Err(
                    Advised::new("there is no data for this report", "look at its filters, and make it again").into()
                );
            }
            Download::Pending if !wait => {
                return Err(Advised::new("the report is still being made", "wait for it with --wait").into());
            }
            Download::Pending => {}
        }
        // A report that failed stays pending on some services.
        if session.client()?.get_report(id).await?.status == ReportStatus::Failed {
            return Err(Advised::new("the report could not be made", "look at its filters, and make it again").into());
        }
        pace.next().await;
    }
}

/// Saves under a name that was given, over what may be there, whole or not at all.
async fn over(file: ReportFile, path: PathBuf) -> anyhow::Result<String> {
    let part = save::beside(&path)?;
    let cannot = || format!("cannot write {}", path.display());
    let to = part.reopen().with_context(cannot)?;
    file.save_to(tokio::fs::File::from_std(to)).await?;
    part.persist(&path).with_context(cannot)?;
    Ok(path.display().to_string())
}

/// Saves under the report's own name in the current directory.
async fn beside(session: &HeadlessSession, id: ReportId, file: ReportFile) -> anyhow::Result<String> {
    let name = match &file.name {
        Some(name) => name.clone(),
        None => session.client()?.get_report(id).await?.download_name.to_string(),
    };
    let new = NewFile::create(&NewFile::here().map_err(Advised::from)?, &name).map_err(Advised::from)?;
    file.save_to(new.writer().map_err(Advised::from)?).await?;
    Ok(new.keep().display().to_string())
}
