//! The demo without a terminal: prints progress, findings and captured requests, and writes
//! reports, then ends.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};

use super::DemoEnvironment;
use scandeck_client::{Download, FindingQuery, ScanQuery, TargetQuery};
use scandeck_dashboard::runtime::NewFile;
use scandeck_service::errors::cause_of;
use scandeck_wire::contract::{
    CaptureId, Finding, GroupBy, NewReport, ReportFormat, ReportId, ReportSource, Scan, ScanId,
    TargetId, Tool,
};
use scandeck_wire::text;

const POLL_INTERVAL: Duration = Duration::from_millis(300);
/// Scans that run longer are stopped, so that the demo ends in time.
const TIME_LIMIT: Duration = Duration::from_secs(24);
/// Smallest progress between two lines of one scan, in percent.
const STEP: i64 = 20;

/// Runs the demo and writes its progress to `to` and its reports to the directory `out`, which is
/// created if missing.
///
/// # Errors
/// When the service does not respond, a file cannot be written, or a report fails.
pub async fn run(demo: &DemoEnvironment, out: &Path, to: &mut impl Write) -> Result<()> {
    tokio::fs::create_dir_all(out).await.map_err(|error| {
        anyhow!(
            "cannot create {}: {}; choose another directory with --out",
            out.display(),
            cause_of(&error)
        )
    })?;
    introduce(demo, to)?;
    let names = target_names(demo).await?;
    let scans = watch(demo, &names, to).await?;
    let query = FindingQuery {
        workspace_id: Some(demo.workspace),
        group_duplicates: Some(true),
        ..Default::default()
    };
    let findings = demo.client.list_findings(&query).await?;
    write_findings(&findings, &names, to)?;
    write_captures(demo, to).await?;
    for path in write_reports(demo, &scans, out).await? {
        writeln!(to, "report    {}", path.display())?;
    }
    Ok(())
}

fn introduce(demo: &DemoEnvironment, to: &mut impl Write) -> io::Result<()> {
    writeln!(
        to,
        "scandeck demo: a temporary service and practice target on loopback, deleted at the end"
    )?;
    writeln!(to, "service   {}", demo.base_url)?;
    writeln!(to, "key       {}", demo.key_file().display())?;
    writeln!(
        to,
        "practice  {}  {}",
        demo.practice.http_url(),
        demo.practice.https_url()
    )?;
    writeln!(
        to,
        "fetch     {}  (requests any URL of the demo's loggers)",
        demo.practice.fetch_url()
    )?;
    writeln!(
        to,
        "control   {}  (lists the weaknesses and switches them on and off)",
        demo.practice.control_url()
    )?;
    writeln!(
        to,
        "captures  scans make the practice target send requests to a logger"
    )?;
    writeln!(to)
}

async fn target_names(demo: &DemoEnvironment) -> Result<HashMap<TargetId, String>> {
    let query = TargetQuery {
        workspace_id: Some(demo.workspace),
        ..Default::default()
    };
    let targets = demo.client.list_all_targets(&query).await?;
    Ok(targets
        .into_iter()
        .map(|target| (target.id, text::clean(&target.name).into_owned()))
        .collect())
}

/// Prints the progress of the scans and new captured requests until all scans have ended.
async fn watch(
    demo: &DemoEnvironment,
    names: &HashMap<TargetId, String>,
    to: &mut impl Write,
) -> Result<Vec<Scan>> {
    let started = Instant::now();
    let query = ScanQuery {
        workspace_id: Some(demo.workspace),
        ..Default::default()
    };
    let mut printed: HashMap<ScanId, (String, i64)> = HashMap::new();
    let mut newest: Option<CaptureId> = None;
    let mut stopping = false;
    loop {
        let mut scans = demo.client.list_all_scans(&query).await?;
        scans.sort_by_key(|scan| scan.id);
        for scan in &scans {
            let last = printed.get(&scan.id);
            let has_progress = last.is_none_or(|(status, progress)| {
                status != scan.status_name.as_str() || scan.progress - progress >= STEP
            });
            if has_progress {
                printed.insert(scan.id, (scan.status_name.to_string(), scan.progress));
                write_progress(scan, names, to)?;
            }
        }
        for capture in demo.client.list_captures(demo.logger, newest).await? {
            newest = newest.max(Some(capture.id));
            writeln!(
                to,
                "capture   {} {}",
                capture.request_method,
                text::clean(&capture.url_params)
            )?;
        }
        if scans.iter().all(Scan::has_ended) {
            return Ok(scans);
        }
        if started.elapsed() > TIME_LIMIT && !stopping {
            stopping = true;
            for scan in scans.iter().filter(|scan| !scan.has_ended()) {
                writeln!(
                    to,
                    "scan #{}   stopped after {} s",
                    scan.id,
                    TIME_LIMIT.as_secs()
                )?;
                demo.client.stop_scan(scan.id).await?;
            }
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn write_progress(
    scan: &Scan,
    names: &HashMap<TargetId, String>,
    to: &mut impl Write,
) -> io::Result<()> {
    let target = names.get(&scan.target_id).map_or("?", String::as_str);
    let [critical, high, medium, low, info] =
        scan.result_summary.by_risk().map(Option::unwrap_or_default);
    writeln!(
        to,
        "scan #{}   {:<10} {:<28} {:>3}%  {:<9} {}/{} tests  critical {critical} high {high} medium {medium} low {low} info {info}",
        scan.id,
        Tool(scan.tool_id),
        target,
        scan.progress,
        scan.shown_status(),
        scan.num_finished_tests,
        scan.num_tests,
    )
}

fn write_findings(
    findings: &[Finding],
    names: &HashMap<TargetId, String>,
    to: &mut impl Write,
) -> io::Result<()> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by(|a, b| {
        b.risk_level
            .cmp(&a.risk_level)
            .then_with(|| a.name.cmp(&b.name))
    });
    writeln!(
        to,
        "\n{}\nRISK  {:<28}  PORT  FINDING",
        text::plural(sorted.len(), "finding"),
        "TARGET"
    )?;
    for finding in sorted {
        let target = finding
            .target_id
            .and_then(|id| names.get(&id))
            .map_or("?", String::as_str);
        let risk = match finding.risk_level.level() {
            4 => "CRIT",
            3 => "HIGH",
            2 => "MED",
            1 => "LOW",
            _ => "INFO",
        };
        writeln!(
            to,
            "{risk:<4}  {target:<28} {:>5}  {}",
            finding.port,
            text::clean(&finding.name)
        )?;
    }
    Ok(())
}

async fn write_captures(demo: &DemoEnvironment, to: &mut impl Write) -> Result<()> {
    let captures = demo.client.list_captures(demo.logger, None).await?;
    writeln!(to, "\n{}", text::plural(captures.len(), "captured request"))?;
    for capture in captures {
        let at = capture
            .request_date
            .map(|at| at.to_string())
            .unwrap_or_default();
        writeln!(
            to,
            "{at}  {:<5} {:<15} {}  {}",
            text::clean(&capture.request_method),
            text::clean(&capture.ip_address),
            text::clean(&capture.url_params),
            text::clean(&capture.user_agent),
        )?;
    }
    writeln!(to)?;
    Ok(())
}

async fn write_reports(demo: &DemoEnvironment, scans: &[Scan], out: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for format in [ReportFormat::Html, ReportFormat::Json, ReportFormat::Csv] {
        let new = NewReport {
            format,
            group_by: GroupBy::Target,
            source: ReportSource::Scans,
            resources: scans.iter().map(|scan| scan.id.0).collect(),
            filters: None,
            webhook_url: None,
        };
        let id = demo.client.create_report(&new).await?;
        paths.push(save(demo, id, out).await?);
    }
    Ok(paths)
}

/// Waits for a report and writes it under its own name, with a number if that exists.
async fn save(demo: &DemoEnvironment, id: ReportId, out: &Path) -> Result<PathBuf> {
    let started = Instant::now();
    let file = loop {
        match demo.client.download_report(id).await? {
            Download::Ready(file) => break file,
            Download::NoData => bail!("report {id} has no data"),
            Download::Pending if started.elapsed() > TIME_LIMIT => {
                bail!("report {id} was not ready in time")
            }
            Download::Pending => tokio::time::sleep(POLL_INTERVAL).await,
        }
    };
    let name = demo.client.get_report(id).await?.download_name;
    let new = NewFile::create(out, &name)?;
    file.save_to(new.writer()?).await?;
    Ok(new.keep())
}
