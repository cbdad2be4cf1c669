//! The demo without a screen: the same world in plain lines, ending by itself.
//!
//! Progress as it happens, then the findings, the captured requests, and a report in every format this service makes.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::DemoWorld;
use crate::client::{Download, FindingQuery, ScanQuery, TargetQuery};
use crate::contract::{
    CaptureId, Finding, GroupBy, NewReport, ReportFormat, ReportId, ReportSource, Scan, ScanId, TargetId, Tool,
};
use crate::text;

/// How often the service is asked.
const PACE: Duration = Duration::from_millis(300);
/// Scans that run longer are stopped, so that the demo ends in time for whoever waits.
const PATIENCE: Duration = Duration::from_secs(24);
/// Least progress between two lines of one scan, in percent.
const STEP: i64 = 20;

/// Runs the world to its end and writes what happens to `to`; reports go to `out`, which is made if missing.
///
/// # Errors
/// When the service cannot be asked, a file cannot be written, or a report is not made.
pub async fn run(world: &DemoWorld, out: &Path, to: &mut impl Write) -> Result<()> {
    introduce(world, to)?;
    let names = target_names(world).await?;
    let scans = watch(world, &names, to).await?;
    let query =
        FindingQuery { workspace_id: Some(world.workspace), group_duplicates: Some(true), ..Default::default() };
    let findings = world.client.list_findings(&query).await?;
    write_findings(&findings, &names, to)?;
    write_captures(world, to).await?;
    for path in write_reports(world, &scans, out).await? {
        writeln!(to, "report    {}", path.display())?;
    }
    Ok(())
}

fn introduce(world: &DemoWorld, to: &mut impl Write) -> io::Result<()> {
    writeln!(to, "scandeck demo: a throw-away world on loopback, gone when this ends")?;
    writeln!(to, "service   {}", world.base_url)?;
    writeln!(to, "key       {}", world.key_file().display())?;
    writeln!(to, "practice  {}  {}", world.practice.http_url(), world.practice.https_url())?;
    writeln!(
        to,
        "fetch     {}  (requests what it is given, from the demo's loggers alone)",
        world.practice.fetch_url()
    )?;
    writeln!(to, "control   {}  (lists the weaknesses; mend and break them there)", world.practice.control_url())?;
    writeln!(to)
}

async fn target_names(world: &DemoWorld) -> Result<HashMap<TargetId, String>> {
    let query = TargetQuery { workspace_id: Some(world.workspace), ..Default::default() };
    let targets = world.client.list_all_targets(&query).await?;
    Ok(targets.into_iter().map(|target| (target.id, text::clean(&target.name).into_owned())).collect())
}

/// Tells the progress of the scans until all have ended, and what the logger hears meanwhile.
async fn watch(world: &DemoWorld, names: &HashMap<TargetId, String>, to: &mut impl Write) -> Result<Vec<Scan>> {
    let started = Instant::now();
    let query = ScanQuery { workspace_id: Some(world.workspace), ..Default::default() };
    let mut told: HashMap<ScanId, (String, i64)> = HashMap::new();
    let mut heard: Option<CaptureId> = None;
    let mut stopping = false;
    loop {
        let mut scans = world.client.list_all_scans(&query).await?;
        scans.sort_by_key(|scan| scan.id);
        for scan in &scans {
            let last = told.get(&scan.id);
            let moved = last.is_none_or(|(status, progress)| {
                status != scan.status_name.as_str() || scan.progress - progress >= STEP
            });
            if moved {
                told.insert(scan.id, (scan.status_name.to_string(), scan.progress));
                write_progress(scan, names, to)?;
            }
        }
        for capture in world.client.list_captures(world.logger, heard).await? {
            heard = heard.max(Some(capture.id));
            writeln!(to, "capture   {} {}", capture.request_method, text::clean(&capture.url_params))?;
        }
        if scans.iter().all(Scan::has_ended) {
            return Ok(scans);
        }
        if started.elapsed() > PATIENCE && !stopping {
            stopping = true;
            for scan in scans.iter().filter(|scan| !scan.has_ended()) {
                writeln!(to, "scan #{}   still running after {} s: stopped", scan.id, PATIENCE.as_secs())?;
                world.client.stop_scan(scan.id).await?;
            }
        }
        tokio::time::sleep(PACE).await;
    }
}

fn write_progress(scan: &Scan, names: &HashMap<TargetId, String>, to: &mut impl Write) -> io::Result<()> {
    let target = names.get(&scan.target_id).map_or("?", String::as_str);
    let [critical, high, medium, low, info] = scan.result_summary.by_risk().map(Option::unwrap_or_default);
    writeln!(
        to,
        "scan #{}   {:<10} {:<28} {:>3}%  {:<9} {}/{} tests  critical {critical} high {high} medium {medium} low {low} info {info}",
        scan.id,
        Tool(scan.tool_id),
        target,
        scan.progress,
        scan.status_name,
        scan.num_finished_tests,
        scan.num_tests,
    )
}

fn write_findings(findings: &[Finding], names: &HashMap<TargetId, String>, to: &mut impl Write) -> io::Result<()> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by(|a, b| b.risk_level.cmp(&a.risk_level).then_with(|| a.name.cmp(&b.name)));
    writeln!(to, "\n{}\nRISK  {:<28}  PORT  FINDING", text::plural(sorted.len(), "finding"), "TARGET")?;
    for finding in sorted {
        let target = finding.target_id.and_then(|id| names.get(&id)).map_or("?", String::as_str);
        let risk = match finding.risk_level.level() {
            4 => "CRIT",
            3 => "HIGH",
            2 => "MED",
            1 => "LOW",
            _ => "INFO",
        };
        writeln!(to, "{risk:<4}  {target:<28} {:>5}  {}", finding.port, text::clean(&finding.name))?;
    }
    Ok(())
}

async fn write_captures(world: &DemoWorld, to: &mut impl Write) -> Result<()> {
    let captures = world.client.list_captures(world.logger, None).await?;
    writeln!(to, "\n{}", text::plural(captures.len(), "captured request"))?;
    for capture in captures {
        let at = capture.request_date.map(|at| at.to_string()).unwrap_or_default();
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

async fn write_reports(world: &DemoWorld, scans: &[Scan], out: &Path) -> Result<Vec<PathBuf>> {
    tokio::fs::create_dir_all(out).await.with_context(|| format!("{} cannot be made", out.display()))?;
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
        let id = world.client.create_report(&new).await?;
        paths.push(save(world, id, out).await?);
    }
    Ok(paths)
}

/// Waits for a report and writes it under its own name, never over another file.
async fn save(world: &DemoWorld, id: ReportId, out: &Path) -> Result<PathBuf> {
    let started = Instant::now();
    let file = loop {
        match world.client.download_report(id).await? {
            Download::Ready(file) => break file,
            Download::NoData => bail!("report {id} has no data"),
            Download::Pending if started.elapsed() > PATIENCE => bail!("report {id} was not made in time"),
            Download::Pending => tokio::time::sleep(PACE).await,
        }
    };
    let name = world.client.get_report(id).await?.download_name;
    let path = out.join(text::file_name(&name));
    let to =
        tokio::fs::File::create_new(&path).await.with_context(|| format!("{} cannot be written", path.display()))?;
    file.save_to(to).await?;
    Ok(path)
}
