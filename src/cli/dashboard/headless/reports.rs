//! `scandeck reports`: list, show, create, download, delete.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand};
use serde_json::Value;

use super::findings::{exported, is_named, not_found};
use super::report_options::ReportOptionArgs;
use super::rows::FindingRows;
use super::save::{self, ExistingFile, OutputFile};
use super::watch::{pause, poll_delays};
use super::{HeadlessSession, PrintTable, ServiceArgs, chain};
use crate::cli::error::CliError;
use scandeck_client::{Download, ReportFile};
use scandeck_dashboard::runtime::NewFile;
use scandeck_domain::export::{ExportFormat, ExportRow};
use scandeck_domain::query::{Query, QueryKind};
use scandeck_domain::table::columns::report;
use scandeck_report::{ChapterKind, ReportScan};
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
    /// Create a report: by the service, without decisions, or on this machine
    ///
    /// Without report options the service makes the report, with a chapter for each target or class,
    /// and the command prints its id. The service knows no decisions, templates and verdicts: with
    /// another report option or with --output, this machine makes the report from the same findings
    /// with their decisions, as `scandeck findings export` does, and the command prints the path of
    /// the file.
    #[command(after_help = "Example:
  scandeck reports create --format html --scan 12
  scandeck reports create --format pdf --scan 12 --template client.toml -o report.pdf")]
    Create(Box<CreateArgs>),
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

/// The service and this machine have different defaults.
const GROUP_BY: &str = "Chapters [default: target; class in a report made on this machine]";

#[derive(Args, Clone, Debug)]
#[command(
    group = ArgGroup::new("source").required(true).args(["scan", "finding"]),
    mut_arg("group_by", |arg| arg.help(GROUP_BY))
)]
struct CreateArgs {
    /// pdf, html, json, csv, xlsx, docx, if the service supports the format
    #[arg(long, value_parser = ReportFormat::known)]
    format: ReportFormat,
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
    /// Make the report on this machine and write it to this file; `-` for standard output [default
    /// with report options: a new file]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    existing: ExistingFile,
    #[command(flatten)]
    report: ReportOptionArgs,
}

impl CreateArgs {
    /// Whether this machine makes the report.
    fn is_local(&self) -> bool {
        self.output.is_some() || self.report.is_local()
    }

    /// The same findings, as a query.
    fn query(&self) -> anyhow::Result<Query> {
        let (field, ids): (&str, Vec<String>) = match self.scan.is_empty() {
            false => ("scan", self.scan.iter().map(ToString::to_string).collect()),
            true => ("id", self.finding.iter().map(ToString::to_string).collect()),
        };
        let text = format!("{field}:{}", ids.join(","));
        Query::parse(&text, QueryKind::Findings).map_err(|error| anyhow::anyhow!("{error}"))
    }
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
        ReportsCommand::Create(create) if create.is_local() => write(&session, &create).await?,
        ReportsCommand::Create(create) => {
            session.require_writable()?;
            let id = client.create_report(&new_report(*create)?).await?;
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
        group_by: match create.report.group_by() {
            Some(ChapterKind::Class) => GroupBy::Vulnerability,
            _ => GroupBy::Target,
        },
        source,
        resources,
        filters: filters(&create.filter)?,
        webhook_url: create.webhook_url,
    })
}

/// Writes a report with decisions.
async fn write(session: &HeadlessSession, create: &CreateArgs) -> anyhow::Result<()> {
    refuse_options_of_service(create)?;
    let format = ExportFormat::from_name(create.format.as_str())
        .map_err(|problem| CliError::usage(problem, "choose another --format"))?;
    create.report.check(format)?;
    let query = create.query()?;
    let all = FindingRows::load(session).await?;
    let rows = all.matching(&query);
    let is_found = |id: &&FindingId| rows.iter().any(|row| is_named(row, &id.to_string()));
    if let Some(missing) = create.finding.iter().find(|id| !is_found(id)) {
        return Err(not_found(&missing.to_string()).into());
    }
    let scans = scans_of_report(create, &all, &rows)?;
    let targets: BTreeSet<String> = scans.iter().map(|scanned| scanned.target.clone()).collect();
    let mut frame = create
        .report
        .frame(format, targets.into_iter().collect(), scans)?;
    if frame.options.chains {
        frame.chains = chain::others(session, &all).await?;
    }
    let file = exported(session, &query, &rows, format, &frame)?;
    let path = match &create.output {
        Some(path) if path.as_os_str() == "-" => return session.out.outside(&file.bytes),
        Some(path) => {
            save::write(path, &file.bytes, create.existing)?;
            path.display().to_string()
        }
        None => save::numbered_file(&format!("report.{}", format.ending()), &file.bytes)?,
    };
    note!(
        "{} with decisions written: this machine made the report",
        file.contents()
    );
    session.out.line(&path)
}

fn refuse_options_of_service(create: &CreateArgs) -> Result<(), CliError> {
    let of_service = [
        ("--filter", !create.filter.is_empty()),
        ("--webhook-url", create.webhook_url.is_some()),
    ];
    let Some((option, _)) = of_service.iter().find(|(_, is_given)| *is_given) else {
        return Ok(());
    };
    let message = format!("{option} is for reports of the service; this machine makes this one");
    let hint = "use --verdicts, --include and --exclude, or remove the report options";
    Err(CliError::usage(message, hint))
}

/// The named scans, or those that found the findings of the report.
fn scans_of_report(
    create: &CreateArgs,
    all: &FindingRows,
    rows: &[ExportRow],
) -> Result<Vec<ReportScan>, CliError> {
    let found_by: BTreeSet<ScanId> = match create.scan.is_empty() {
        true => rows.iter().filter_map(|row| row.issue.task_id()).collect(),
        false => create.scan.iter().copied().collect(),
    };
    let mut scans = all.report_scans();
    scans.retain(|scanned| found_by.contains(&scanned.scan.id));
    let is_listed = |id: &&ScanId| scans.iter().any(|scanned| scanned.scan.id == **id);
    match create.scan.iter().find(|id| !is_listed(id)) {
        Some(missing) => {
            let hint = "`scandeck scans list` lists scans";
            Err(CliError::new(format!("scan {missing} not found"), hint))
        }
        None => Ok(scans),
    }
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
