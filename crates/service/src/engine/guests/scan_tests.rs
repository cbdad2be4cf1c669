//! Guests as stand-ins: scripts that print what the documents of the programs show.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;
use tokio::sync::mpsc;

use super::guest_of;
use super::scan::scan_with;
use crate::engine::pace::Lanes;
use crate::engine::run::ScanRun;
use crate::engine::testing::TestScan;
use crate::engine::{NewFinding, ScanEvent, ScanOutcome, TestDone};
use crate::net::address::Address;
use scandeck_wire::contract::{Risk, Test, Tool};

/// The answer of a stand-in to the question for its version.
const HTTPX: &str = "case $1 in -version) echo '[INF] Current Version: v1.6.0' >&2; exit;; esac";
const TESTSSL: &str = "case $1 in --version) echo 'testssl 3.0.8 from https://x/'; exit;; esac
while [ $# -gt 0 ]; do [ \"$1\" = --jsonfile ] && file=$2; shift; done";

pub(super) struct StandIn {
    _dir: TempDir,
    pub(super) program: PathBuf,
}

/// A program of these lines. Another process writes it: Linux runs no file that is open for
/// writing, and a thread that starts a process copies the open files of all threads.
pub(super) fn stand_in(lines: &str) -> StandIn {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("guest");
    let write = r#"printf '%s\n' '#!/bin/sh' "$1" >"$2" && chmod 755 "$2""#;
    let written = Command::new("/bin/sh")
        .args(["-c", write, "sh", lines])
        .arg(&program)
        .status()
        .unwrap();
    assert!(written.success());
    StandIn { _dir: dir, program }
}

/// The outcome of a scan, and its events.
struct StandInResult {
    outcome: Result<String, ScanOutcome>,
    tests: Vec<TestDone>,
    raw: Vec<String>,
    info: Vec<String>,
}

impl StandInResult {
    fn findings(&self) -> Vec<&NewFinding> {
        self.tests.iter().flat_map(|test| &test.findings).collect()
    }

    /// The test that is the run.
    fn run(&self) -> &TestDone {
        self.tests.last().unwrap()
    }

    #[track_caller]
    fn failure(&self) -> &str {
        match &self.outcome {
            Err(ScanOutcome::FailedToStart(why)) => why,
            other => panic!("{other:?}"),
        }
    }
}

async fn scan(tool: Tool, target: &str, lines: &str) -> StandInResult {
    let stand_in = stand_in(lines);
    let test = TestScan::new(tool, target, json!({}));
    let (settings, lanes) = (test.engine_settings(), Lanes::new(16));
    let (events, mut received) = mpsc::channel(1000);
    let address = Address::parse(target).unwrap();
    let run = ScanRun::new(&test.job, address, &settings, &lanes, events);
    let (guest, _) = guest_of(tool).unwrap();
    let row = guest.row().scan.as_ref().unwrap();
    let outcome = scan_with(&run, guest, row, &stand_in.program).await;
    // Closes the channel.
    drop(run);
    let mut result = StandInResult {
        outcome,
        tests: Vec::new(),
        raw: Vec::new(),
        info: Vec::new(),
    };
    while let Some(event) = received.recv().await {
        match event {
            ScanEvent::Tested(done) => result.tests.push(done),
            ScanEvent::Raw(line) => result.raw.push(line),
            ScanEvent::Info(line) => result.info.push(line),
            ScanEvent::Planned(tests) => assert_eq!(tests, 1),
            ScanEvent::Step(_) | ScanEvent::Output(_) | ScanEvent::Learned(_) => {}
        }
    }
    result
}

#[tokio::test]
async fn lines_of_a_guest_become_findings() {
    let page = r#"echo '{"url":"http://127.0.0.1:1/login","input":"x","title":"Sign in","method":"GET","host":"127.0.0.1","status_code":200,"failed":false}'"#;
    let lines = [HTTPX, "echo a message", page].join("\n");
    let result = scan(Tool::HTTPX, "http://127.0.0.1:1/", &lines).await;
    assert_eq!(result.outcome, Ok("1 finding (httpx 1.6.0)".to_owned()));
    let findings = result.findings();
    assert_eq!(
        (findings[0].vuln_id.as_str(), findings[0].place.as_str()),
        ("httpx:page", "/login")
    );
    assert_eq!(
        (result.run().uid.as_str(), result.run().weight),
        ("guest.httpx", 1)
    );
    assert!(
        result.raw[0].contains("-u http://127.0.0.1:1/ ")
            && result.raw[0].contains("-http-proxy http://127.0.0.1:"),
        "{:?}",
        result.raw
    );
    assert_eq!(result.raw[1], "a message");
    assert_eq!(result.info, ["Scanned by httpx 1.6.0."]);
}

#[tokio::test]
async fn report_file_is_read_whatever_the_exit_status_is() {
    let rows = r#"echo '[{"id":"SSLv3","ip":"127.0.0.1/127.0.0.1","port":"1","severity":"CRITICAL","finding":"offered","cve":"CVE-2014-3566","cwe":"CWE-310"},
{"id":"TLS1_2","ip":"127.0.0.1/127.0.0.1","port":"1","severity":"OK","finding":"offered"},
{"id":"ROBOT","ip":"127.0.0.1/127.0.0.1","port":"1","severity":"WARN","finding":"not tested"}]' >"$file"; exit 3"#;
    let lines = [TESTSSL, rows].join("\n");
    let result = scan(Tool::TESTSSL, "https://127.0.0.1:1/", &lines).await;
    assert_eq!(
        result.outcome,
        Ok("1 finding (testssl.sh 3.0.8)".to_owned())
    );
    let findings = result.findings();
    assert_eq!(
        (
            findings[0].vuln_id.as_str(),
            findings[0].risk,
            findings[0].port
        ),
        ("testssl:SSLv3", Risk::Critical, 1)
    );
    assert_eq!(findings[0].cve, ["CVE-2014-3566"]);
    // A finding of this class is not retested.
    assert_eq!(findings[1].vuln_id, "coverage.errors");
    assert!(findings[1].evidence.as_json().contains("testssl:ROBOT"));
    assert!(
        result.info.iter().any(|line| line.contains("test passed")),
        "{:?}",
        result.info
    );
    assert!(
        result.raw.iter().any(|line| line.contains("TLS1_2")),
        "the report is in the raw log: {:?}",
        result.raw
    );
}

#[tokio::test]
async fn damaged_report_keeps_its_results_and_counts_as_no_test() {
    let rows = r#"echo '[{"id":"SSLv3","ip":"127.0.0.1","port":"1","severity":"HIGH","finding":"offered"},{"id":' >"$file""#;
    let lines = [TESTSSL, rows].join("\n");
    let result = scan(Tool::TESTSSL, "https://127.0.0.1:1/", &lines).await;
    let summary = result.outcome.as_ref().unwrap();
    assert!(
        summary.starts_with("1 finding (testssl.sh 3.0.8); incomplete: testssl.sh wrote a damaged"),
        "{summary}"
    );
    assert_eq!(result.findings().len(), 1);
    assert_eq!(result.run().weight, 0);
    assert_eq!(result.run().metadata[Test::JUDGED], false);
}

#[tokio::test]
async fn damaged_line_makes_the_run_incomplete() {
    let page = r#"echo '{"url":"http://127.0.0.1:1/","input":"x","title":"Home","method":"GET","host":"127.0.0.1","status_code":200,"failed":false}'"#;
    let cut = r#"echo '{"url":"http://127.0.0.1:1/a","inp'"#;
    let lines = [HTTPX, page, cut].join("\n");
    let result = scan(Tool::HTTPX, "http://127.0.0.1:1/", &lines).await;
    let summary = "1 finding (httpx 1.6.0); incomplete: httpx wrote 1 unreadable result";
    assert_eq!(result.outcome, Ok(summary.to_owned()));
    assert_eq!((result.findings().len(), result.run().weight), (1, 0));
    let alone = [HTTPX, cut].join("\n");
    let result = scan(Tool::HTTPX, "http://127.0.0.1:1/", &alone).await;
    let failure = result.failure();
    assert!(
        failure.starts_with("httpx wrote 1 unreadable result: {"),
        "{failure}"
    );
}

#[tokio::test]
async fn guest_without_results_fails_with_its_last_line() {
    let lines = [TESTSSL, "echo; echo 'Fatal error: no route' >&2; exit 246"].join("\n");
    let result = scan(Tool::TESTSSL, "https://127.0.0.1:1/", &lines).await;
    assert_eq!(
        result.failure(),
        "testssl.sh wrote no report: Fatal error: no route"
    );
    let lines = [HTTPX, "exit 2"].join("\n");
    let result = scan(Tool::HTTPX, "http://127.0.0.1:1/", &lines).await;
    assert_eq!(result.failure(), "httpx ended with an error");
}

#[tokio::test]
async fn other_program_of_the_same_name_is_refused() {
    let lines = "echo 'Usage: httpx [OPTIONS] URL 1.2' >&2; exit 2";
    let result = scan(Tool::HTTPX, "http://127.0.0.1:1/", lines).await;
    assert!(
        result
            .failure()
            .contains("reports no version of httpx: it is damaged or another program"),
        "{:?}",
        result.outcome
    );
}

#[tokio::test]
async fn active_guest_needs_permission_before_it_starts() {
    let scan = TestScan::new(Tool::WAPITI, "http://127.0.0.1:1/", json!({}));
    let ScanOutcome::FailedToStart(why) = scan.run().await.outcome else {
        panic!("an active tool ran")
    };
    assert!(
        why.starts_with("active tools may not scan 127.0.0.1: ")
            && why.contains("--allow-active")
            && why.contains("`scandeck scope add 127.0.0.1 --active`"),
        "{why}"
    );
}
