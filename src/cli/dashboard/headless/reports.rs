//! `scandeck reports`: list, show, create, download, delete.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand};
use serde_json::Value;

use super::save::{ExistingFile, OutputFile};
use super::watch::{pause, poll_delays};
use super::{HeadlessSession, PrintTable, ServiceArgs};
use crate::cli::error::CliError;
use scandeck_client::{Download, ReportFile};
use scandeck_dashboard::runtime::NewFile;
use scandeck_domain::table::columns::report;
use scandeck_wire::contract::{
    FindingId, GroupBy, NewReport, Report, ReportFilters, ReportFormat, ReportId, ReportSource,
    ReportStatus, ScanId,
};

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  id=$(scandeck reports create --format html --scan 12 --scan 14 --filter include_info=false)")]
pub struct ReportsArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: ReportsCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum ReportsCommand {
    /// List all reports
    #[command(after_help = "Example:\n  scandeck reports list --json")]
    List,
    /// Show one report
    #[command(after_help = "Example:\n  scandeck reports show 7")]
    Show {
        /// Report id
        id: ReportId,
    },
    /// Request a report from the service, without decisions, and print its id
    #[command(after_help = "Example:\n  scandeck reports create --format html --scan 12")]
    Create(CreateArgs),
    /// Download a report and print the path of the file
    #[command(after_help = "Example:\n  scandeck reports download 7 --wait -o shop.html")]
    Download {
        /// Report id
        id: ReportId,
        /// The file; `-` for standard output [default: a new file with the name of the report]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        existing: ExistingFile,
        /// Wait until the report is ready
        #[arg(long)]
        wait: bool,
    },
    /// Delete a report
    #[command(after_help = "Example:\n  scandeck reports delete 7 --yes")]
    Delete {
        /// Report id
        id: ReportId,
        /// Confirm the deletion
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Args, Clone, Debug)]
#[command(group = ArgGroup::new("source").required(true).args(["scan", "finding"]))]
struct CreateArgs {
    /// pdf, html, json, csv, xlsx, docx, if the service supports the format
    #[arg(long, value_parser = ReportFormat::known)]
    format: ReportFormat,
    /// target or vulnerability
    #[arg(long, default_value = "target", value_parser = GroupBy::known)]
    group_by: GroupBy,
    /// Findings of this scan; repeatable
    #[arg(long, value_name = "ID")]
    scan: Vec<ScanId>,
    /// This finding; repeatable
    #[arg(long, value_name = "ID")]
    finding: Vec<FindingId>,
    /// Filter of the content, such as include_info=false; repeatable: include_finding_history,
    /// include_all_targets, include_how_to_reproduce, include_false_positives, include_info,
    /// include_not_verified, include_ignored, include_accepted, include_fixed,
    /// include_tool_configuration
    #[arg(long, value_name = "NAME=BOOL")]
    filter: Vec<String>,
    /// URL that receives a JSON notification when the report is ready
    #[arg(long, value_name = "URL")]
    webhook_url: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// Those of the service, and when a file cannot be written.
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
            session.require_writable()?;
            let id = client.create_report(&new_report(create)?).await?;
            out.created("report_id", id.0)?;
        }
        ReportsCommand::Download {
            id,
            output,
            existing,
            wait,
        } => {
            let file = download(&session, id, wait).await?;
            match output {
                Some(path) if path.as_os_str() == "-" => {
                    file.save_to(tokio::io::stdout()).await?;
                }
                Some(path) => out.line(&save_as(file, path, existing).await?)?,
                None => out.line(&save_under_own_name(&session, id, file).await?)?,
            }
        }
        ReportsCommand::Delete { id, yes } => {
            let one = client.get_report(id).await?;
            session.confirm_delete(yes, &format!("report {}", one.download_name))?;
            client.delete_report(id).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn table(all: &[Report]) -> PrintTable {
    let columns = [
        report::ID,
        report::NAME,
        report::STATUS,
        report::FORMAT,
        report::CREATED,
        report::EXPIRES,
    ];
    PrintTable::of_noun(columns, all)
}

fn new_report(create: CreateArgs) -> anyhow::Result<NewReport> {
    let (source, resources) = match create.scan.is_empty() {
        false => (
            ReportSource::Scans,
            create.scan.iter().map(|id| id.0).collect(),
        ),
        true => (
            ReportSource::Findings,
            create.finding.iter().map(|id| id.0).collect(),
        ),
    };
    Ok(NewReport {
        format: create.format,
        group_by: create.group_by,
        source,
        resources,
        filters: filters(&create.filter)?,
        webhook_url: create.webhook_url,
    })
}

/// The default filters with the given changes; `None` without changes.
fn filters(changes: &[String]) -> anyhow::Result<Option<ReportFilters>> {
    if changes.is_empty() {
        return Ok(None);
    }
    let mut all = serde_json::to_value(ReportFilters::default())?;
    for change in changes {
        let (name, value) = change.split_once('=').unwrap_or((change, ""));
        match (all.get_mut(name), value.parse()) {
            (Some(filter), Ok(value)) => *filter = Value::Bool(value),
            _ => {
                let names = all.as_object().into_iter().flat_map(|all| all.keys());
                let names: Vec<&str> = names.map(String::as_str).collect();
                let hint = format!("use NAME=true or NAME=false; names: {}", names.join(", "));
                return Err(CliError::usage(format!("invalid --filter {change}"), hint).into());
            }
        }
    }
    Ok(Some(serde_json::from_value(all)?))
}

async fn download(
    session: &HeadlessSession,
    id: ReportId,
    wait: bool,
) -> anyhow::Result<ReportFile> {
    let mut delays = poll_delays(Duration::from_millis(200), Duration::from_secs(5));
    let failed = |message, hint| Err(CliError::new(message, hint).into());
    loop {
        match session.client()?.download_report(id).await? {
            Download::Ready(file) => return Ok(file),
            Download::NoData => {
                return failed(
                    "the report is empty",
                    "its scans have no findings that pass its filters",
                );
            }
            Download::Pending if !wait => {
                return Err(
                    CliError::new("the report is not ready", "wait for it with --wait").into(),
                );
            }
            Download::Pending => {}
        }
        // On some services a failed report remains pending.
        if session.client()?.get_report(id).await?.status == ReportStatus::Failed {
            return failed(
                "the report failed",
                "check its filters, and create it again",
            );
        }
        pause(&mut delays).await;
    }
}

/// Saves the report under the given path.
async fn save_as(
    file: ReportFile,
    path: PathBuf,
    existing: ExistingFile,
) -> anyhow::Result<String> {
    let output = OutputFile::open(&path, existing)?;
    file.save_to(tokio::fs::File::from_std(output.file().try_clone()?))
        .await?;
    output.keep()?;
    Ok(path.display().to_string())
}

/// Saves the report under its own name in the current directory.
async fn save_under_own_name(
    session: &HeadlessSession,
    id: ReportId,
    file: ReportFile,
) -> anyhow::Result<String> {
    let name = match &file.name {
        Some(name) => name.clone(),
        None => session
            .client()?
            .get_report(id)
            .await?
            .download_name
            .to_string(),
    };
    let new = NewFile::create(&NewFile::here()?, &name)?;
    file.save_to(new.writer()?).await?;
    Ok(new.keep().display().to_string())
}
