//! Small tools beside the website scanner: recon (310), WAF detector (500), URL fuzzer (90),
//! virtual hosts (160), subdomains (20) and ping (240).
//!
//! They share the HTTP client, the redirect rules of the start page, and the report of what could
//! not be judged.

pub mod fuzzer;
pub mod ping;
pub mod recon;
mod shape;
pub mod subdomains;
pub mod virtual_hosts;

use serde_json::{Value, json};

use super::coverage::{IncompleteTest, ScanCoverage};
use super::http::{HttpPage, Web};
use super::run::ScanRun;
use super::website::start;
use super::{NewFinding, ScanOutcome, TestDone};

/// Finds the start page by the redirect rules of the scan, and reports it as the first test.
async fn start_page(run: &ScanRun<'_>, web: &Web<'_>) -> Result<HttpPage, ScanOutcome> {
    run.output_findings(json!({})).await;
    let first = start::find(run, web).await?;
    let metadata = json!({"url": first.url.as_str(), "status": first.status});
    run.tested(TestDone::new(
        "web.start",
        "Start page",
        metadata,
        Vec::new(),
    ))
    .await;
    Ok(first)
}

/// The one kind of test that a tool repeats, and what of it could not be judged.
struct ToolCoverage<'a> {
    run: &'a ScanRun<'a>,
    /// The uid of the tests.
    uid: &'static str,
    incomplete: Option<IncompleteTest>,
}

impl<'a> ToolCoverage<'a> {
    fn new(run: &'a ScanRun<'a>, uid: &'static str) -> Self {
        Self {
            run,
            uid,
            incomplete: None,
        }
    }

    /// Reports a test with `missed`, the reason why it is incomplete.
    async fn report(
        &mut self,
        description: impl Into<String>,
        metadata: Value,
        findings: Vec<NewFinding>,
        missed: Option<IncompleteTest>,
    ) {
        let cause = missed.as_ref().map(IncompleteTest::cause);
        let test = TestDone::new(self.uid, description, metadata, findings);
        self.run.tested(test.judged(cause)).await;
        self.incomplete = IncompleteTest::merged([self.incomplete.take(), missed]);
    }

    /// Reports what could not be judged as the last test of the scan, and adds it to the summary.
    async fn end(self, port: u16, service: &str, summary: String) -> String {
        let mut coverage = ScanCoverage::new(1);
        coverage.add(self.uid, "", self.incomplete);
        let findings = coverage.findings(port, service);
        let test = TestDone::new("coverage", "Coverage of the scan", Value::Null, findings);
        self.run.tested(test).await;
        match coverage.summary() {
            Some(why) => format!("{summary}; {why}"),
            None => summary,
        }
    }
}

/// The words that `POST /scans` stored, or those of a list that ships with the service.
pub fn words_of(params: &Value, list: &str) -> Vec<String> {
    let stored = params["words"].as_array().into_iter().flatten();
    let words: Vec<String> = stored
        .filter_map(|word| word.as_str().map(str::to_owned))
        .collect();
    if !words.is_empty() {
        return words;
    }
    list.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}
