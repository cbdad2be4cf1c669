//! Tools that are guests: the guest scans alone, and its report is read as an imported file is.
//!
//! ```text
//!   parameters ──► fixed arguments ──► guest ──lines──► raw log ──► findings while it runs
//!   target ──► proxy, or address ────────┘  └──file───► raw log ──► findings at its end
//! ```
//!
//! A run is one test. A run that is incomplete does not count as one, so a later scan does not take
//! its missing findings for fixed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use tokio::sync::mpsc;

use super::arguments::{GuestTarget, REPORT, WORDS};
use super::findings::{GuestFindings, GuestReading};
use super::place::GuestPlace;
use super::process::{GuestEnd, GuestLimits, GuestOutput, run_in, shown_command};
use super::proxy::GuestProxy;
use super::raw_text::{parts, without_passwords};
use super::table::{GuestReport, GuestScan, GuestWay};
use super::version::{installed_version, refusal};
use super::{Guest, guest_of, missing};
use crate::engine::blocking;
use crate::engine::params::tools::request_rate;
use crate::engine::run::ScanRun;
use crate::engine::small_tools::words_of;
use crate::engine::tools::unknown_tool_message;
use crate::engine::{NewFinding, ScanOutcome, TestDone, kinds};
use scandeck_wire::text::plural;

/// The scan itself ends at its `max_scan_time`. Programs in Go reserve much address space.
const LIMITS: GuestLimits = GuestLimits {
    time: Duration::from_secs(24 * 3600),
    output: 32 << 20,
    memory: 8 << 30,
    file: 32 << 20,
};

/// Why a run is incomplete whose target accepted no connection.
const NOTHING_REACHED: &str = "reached nothing of the target by its proxy";

/// Characters of a line that the scan shows as its current step.
const MAX_STEP: usize = 100;
/// Characters of the last line in the reason of a failure.
const MAX_LAST: usize = 300;

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let tool = run.job.tool;
    let unknown = || failed(unknown_tool_message(tool.0));
    let (guest, _) = guest_of(tool).ok_or_else(unknown)?;
    let scan = guest.row().scan.as_ref().ok_or_else(unknown)?;
    match guest.find() {
        Some(program) => scan_with(run, guest, scan, &program).await,
        None => Err(failed(missing(tool).unwrap_or_default())),
    }
}

/// Runs the scan with a program.
pub(super) async fn scan_with(
    run: &ScanRun<'_>,
    guest: Guest,
    scan: &GuestScan,
    program: &Path,
) -> Result<String, ScanOutcome> {
    run.planned(1).await;
    run.output_findings(json!({})).await;
    let version = installed_version(guest, program).await.map_err(failed)?;
    if let Some(why) = refusal(guest, &version) {
        return Err(failed(why));
    }
    let directory = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
    let guest_run = GuestRun {
        run,
        guest,
        scan,
        program,
        version,
        directory: Arc::new(directory),
    };
    guest_run.scan().await
}

pub(super) fn failed(why: String) -> ScanOutcome {
    ScanOutcome::FailedToStart(why)
}

struct GuestRun<'a> {
    run: &'a ScanRun<'a>,
    guest: Guest,
    scan: &'a GuestScan,
    program: &'a Path,
    version: String,
    directory: Arc<TempDir>,
}

/// Why the results of a run are incomplete, and what it reported.
struct GuestResult {
    findings: usize,
    problem: Option<String>,
}

impl GuestRun<'_> {
    async fn scan(&self) -> Result<String, ScanOutcome> {
        let host = self.run.address.host();
        let place = GuestPlace::of(self.run, self.scan.way, &host).await?;
        let proxy = match self.scan.way {
            GuestWay::Website => place.proxy(self.run, &host).await?,
            GuestWay::Address | GuestWay::Domain => None,
        };
        let proxy_url = match &proxy {
            Some(proxy) => proxy.url().map_err(|error| failed(error.to_string()))?,
            None => String::new(),
        };
        let arguments = self.arguments(&host, &place, &proxy_url)?;
        let line = format!("Scanned by {} {}.", self.guest.program(), self.version);
        self.run.info(line).await;
        let serve = async {
            match &proxy {
                Some(proxy) => proxy.serve().await,
                None => std::future::pending().await,
            }
        };
        let mut result = tokio::select! {
            result = self.execute(&arguments) => result?,
            never = serve => match never {},
        };
        if proxy.as_ref().is_some_and(GuestProxy::has_missed) {
            if result.findings == 0 {
                let program = self.guest.program();
                let why = format!("{program} {NOTHING_REACHED}; check that the target is up");
                return Err(failed(why));
            }
            let why = || NOTHING_REACHED.to_owned();
            result.problem.get_or_insert_with(why);
        }
        self.report_run(&result).await;
        Ok(self.summary(&result))
    }

    fn arguments(
        &self,
        host: &str,
        place: &GuestPlace,
        proxy: &str,
    ) -> Result<Vec<String>, ScanOutcome> {
        let params = &self.run.job.params;
        let ip = place.addresses.first().copied();
        let limits = ip.map(|ip| self.run.lanes.of(ip).limits);
        let of_lane = limits.map_or(1, |limits| limits.requests_per_second);
        if self.guest == Guest::Ffuf {
            self.write_words()
                .map_err(|error| failed(error.to_string()))?;
        }
        let target = GuestTarget {
            params,
            host,
            ip,
            port: place.port,
            url: &place.url,
            proxy,
            directory: self.directory.path(),
            rate: request_rate(params).unwrap_or(of_lane),
            connections: limits.map_or(1, |limits| limits.connections),
        };
        (self.scan.arguments)(&target).map_err(failed)
    }

    /// Writes the words that the guest tries.
    fn write_words(&self) -> io::Result<()> {
        let list = include_str!("../../../assets/wordlists/common-paths.txt");
        let words = words_of(&self.run.job.params, list).join("\n");
        fs::write(self.directory.path().join(WORDS), words)
    }

    /// Runs the guest, and reports its findings.
    async fn execute(&self, arguments: &[String]) -> Result<GuestResult, ScanOutcome> {
        self.run.raw(shown_command(self.program, arguments)).await;
        let mut findings = GuestFindings::new(self.scan.format, self.run.settings.limits);
        let mut unreadable: usize = 0;
        let (sender, mut lines) = mpsc::channel::<String>(64);
        let read = async {
            while let Some(line) = lines.recv().await {
                self.raw(&line).await;
                self.step(&line).await;
                if self.scan.report == GuestReport::Lines && line.starts_with('{') {
                    let stop = blocking::StopFlag::default();
                    let reading = findings.read(line.as_bytes(), LIMITS.file, &stop);
                    unreadable += usize::from(reading.is_unreadable(&line));
                    self.report_findings(reading).await;
                }
            }
        };
        let (output, ()) = tokio::join!(
            run_in(&self.directory, self.program, arguments, LIMITS, sender),
            read
        );
        let output = output.map_err(failed)?;
        for line in output.errors.lines() {
            self.raw(&format!("{}: {line}", self.guest.program())).await;
        }
        let ended = output.end.problem().map(str::to_owned);
        let damage =
            (unreadable > 0).then(|| format!("wrote {}", plural(unreadable, "unreadable result")));
        let (count, problem) = match self.scan.report {
            GuestReport::Lines => (findings.count(), ended.or(damage)),
            GuestReport::File => self.read_report(findings, &output).await,
        };
        match problem {
            Some(problem) if count == 0 => Err(failed(self.failure(&problem, &output))),
            problem => Ok(GuestResult {
                findings: count,
                problem,
            }),
        }
    }

    /// Shows what a guest prints about its progress.
    async fn step(&self, line: &str) {
        let line = line.trim();
        if self.scan.report == GuestReport::File && !line.is_empty() {
            let short: String = line.chars().take(MAX_STEP).collect();
            self.run.step(without_passwords(&short)).await;
        }
    }

    async fn raw(&self, line: &str) {
        for part in parts(line) {
            self.run.raw(without_passwords(part)).await;
        }
    }

    /// Reads the report file; returns the number of findings, and why they are incomplete. The exit
    /// status of some guests counts what they found.
    async fn read_report(
        &self,
        mut findings: GuestFindings,
        output: &GuestOutput,
    ) -> (usize, Option<String>) {
        let path = self.directory.path().join(REPORT);
        let (raw, wrote) = (report_lines(&path).await, path.exists());
        for line in &raw {
            self.raw(line).await;
        }
        let (reading, count) = blocking::run(move |stop| {
            let reading = match File::open(&path) {
                Ok(file) => findings.read(file, LIMITS.file, stop),
                Err(error) => GuestReading {
                    damage: Some(error.to_string()),
                    ..GuestReading::default()
                },
            };
            (reading, findings.count())
        })
        .await;
        let damage = reading.damage.clone().map(|damage| match wrote {
            true => format!("wrote a damaged report: {damage}"),
            false => "wrote no report".to_owned(),
        });
        let is_cut = matches!(output.end, GuestEnd::TimeLimit | GuestEnd::OutputLimit);
        let has_failed = output.end == GuestEnd::Failure && count == 0;
        self.report_findings(reading).await;
        let ended = output.end.problem().filter(|_| is_cut || has_failed);
        (count, damage.or(ended.map(str::to_owned)))
    }

    async fn report_findings(&self, reading: GuestReading) {
        self.run.cut(|cuts| cuts.findings += reading.dropped);
        for skipped in reading.skipped {
            // Each line of a report names its own.
            if self.scan.report == GuestReport::File {
                self.run.info(format!("Skipped: {skipped}.")).await;
            }
        }
        let program = self.guest.program();
        let uncompleted: Vec<String> = reading.uncompleted.into_iter().collect();
        let coverage = (!uncompleted.is_empty()).then(|| coverage_finding(program, &uncompleted));
        let findings = reading.findings.into_iter().chain(coverage);
        self.run
            .tested_all(findings.map(finding_test).collect())
            .await;
    }

    /// Reports the run as the one test of the scan.
    async fn report_run(&self, result: &GuestResult) {
        let program = self.guest.program();
        let metadata = json!({"program": program, "version": self.version});
        let uid = format!("guest.{program}");
        let test = TestDone::new(uid, format!("Run of {program}"), metadata, Vec::new());
        let cause = result
            .problem
            .as_ref()
            .map(|why| format!("{program} {why}"));
        let weight = u32::from(cause.is_none());
        if let Some(cause) = &cause {
            self.run
                .info(format!("The results are incomplete: {cause}."))
                .await;
        }
        let test = test.judged(cause);
        self.run.tested(TestDone { weight, ..test }).await;
    }

    fn summary(&self, result: &GuestResult) -> String {
        let (program, version) = (self.guest.program(), &self.version);
        let found = plural(result.findings, "finding");
        match &result.problem {
            None => format!("{found} ({program} {version})"),
            Some(why) => format!("{found} ({program} {version}); incomplete: {program} {why}"),
        }
    }

    /// Why a run has no results, with the last line that the guest printed.
    fn failure(&self, problem: &str, output: &GuestOutput) -> String {
        let printed = output.errors.lines().chain(output.text.lines());
        let last = printed.map(str::trim).rfind(|line| !line.is_empty());
        let program = self.guest.program();
        match last {
            Some(last) => {
                let short: String = last.chars().take(MAX_LAST).collect();
                format!("{program} {problem}: {short}")
            }
            None => format!("{program} {problem}"),
        }
    }
}

/// The test of one finding, which does not count as a test: the number of findings changes.
fn finding_test(finding: NewFinding) -> TestDone {
    let (uid, name) = (finding.vuln_id.clone(), finding.name.clone());
    TestDone {
        weight: 0,
        ..TestDone::new(uid, name, json!({"port": finding.port}), vec![finding])
    }
}

/// The finding about tests that the guest did not complete: earlier findings of these classes are
/// not retested.
fn coverage_finding(program: &str, classes: &[String]) -> NewFinding {
    let cause = format!("{program} did not complete them");
    let rows = vec![vec![cause, String::new(), classes.join(", ")]];
    NewFinding {
        vuln_description: format!("{program} did not complete some of its tests."),
        evidence: kinds::table(kinds::COVERAGE_HEADERS, rows),
        confirmed: true,
        ..kinds::coverage::ERRORS.finding()
    }
}

/// The lines of a report for the raw log.
async fn report_lines(path: &Path) -> Vec<String> {
    let path: PathBuf = path.to_owned();
    blocking::run(move |_| {
        let bytes = fs::read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        text.lines().map(str::to_owned).collect()
    })
    .await
}
