//! Tools 310 and 500: the technologies of a site, or the firewall in front of it, each with its
//! proof.
//!
//! ```text
//!   start page, pages that it links to ──► technologies ──► name, version, proof
//!                                               └─ without version ──► public document of the product
//! ```
//!
//! Only ordinary pages are requested, and documents in which a found product states its version. No
//! attack is sent to provoke a firewall, so a silent one remains unknown.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use url::Url;

use super::{ToolCoverage, start_page};
use crate::engine::coverage::{CheckCoverage, CheckedWeb, PAGES};
use crate::engine::http::{HttpPage, Web};
use crate::engine::kinds::{self, FindingKind, recon as kind};
use crate::engine::params::Authentication;
use crate::engine::params::tools::request_rate;
use crate::engine::params::website::Spider;
use crate::engine::run::ScanRun;
use crate::engine::technologies::{self, FIREWALL, FoundTechnology};
use crate::engine::website::{crawl, start};
use crate::engine::{NewFinding, ScanOutcome, blocking};
use scandeck_wire::text::plural;

/// Pages that are read.
const MAX_PAGES: usize = 8;
const MAX_REQUESTS: u32 = 60;

/// Runs tool 310.
pub async fn recon(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let counted = |count: usize| match count {
        1 => "1 technology recognised".to_owned(),
        count => format!("{count} technologies recognised"),
    };
    scan(
        run,
        kind::TECHNOLOGY,
        |category| category != FIREWALL,
        counted,
    )
    .await
}

/// Runs tool 500.
pub async fn firewall(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let counted = |count: usize| match count {
        0 => "no firewall recognised in ordinary responses".to_owned(),
        count => format!("{} recognised", plural(count, "firewall")),
    };
    scan(
        run,
        kind::FIREWALL,
        |category| category == FIREWALL,
        counted,
    )
    .await
}

async fn scan(
    run: &ScanRun<'_>,
    kind: FindingKind,
    is_wanted: fn(&str) -> bool,
    counted: fn(usize) -> String,
) -> Result<String, ScanOutcome> {
    run.planned(crawl::STEPS + 3).await;
    let web = Web::new(
        run,
        request_rate(&run.job.params),
        Authentication::default(),
        MAX_REQUESTS,
    );
    let first = start_page(run, &web).await?;

    let counts = CheckCoverage::default();
    counts.record(&Ok(first.clone()));
    let client = CheckedWeb::new(&web, &counts);
    let pages = read_pages(run, &client, &first).await;
    let pages_read = pages.len();
    let mut found = blocking::run(move |stop| technologies::find(&pages, is_wanted, stop)).await;
    read_versions(&web, &first.url, &mut found).await;
    run.output_findings(json!({"technologies": listed(&found)}))
        .await;
    let findings: Vec<NewFinding> = found
        .into_iter()
        .map(|(name, one)| finding(kind, &first, name, one))
        .collect();
    let summary = format!(
        "{} read, {}",
        plural(pages_read, "page"),
        counted(findings.len())
    );
    let metadata = json!({"findings": findings.len()});
    let missed = client.incomplete(&first, PAGES).await;
    let mut coverage = ToolCoverage::new(run, kind.id());
    coverage
        .report("Technologies", metadata, findings, missed)
        .await;
    let port = first.url.port_or_known_default().unwrap_or_default();
    Ok(coverage.end(port, first.url.scheme(), summary).await)
}

/// The output of the tool.
fn listed(found: &BTreeMap<String, FoundTechnology>) -> Vec<Value> {
    found
        .iter()
        .map(|(name, one)| json!({"name": name, "version": one.version, "category": one.category, "proof": one.proof}))
        .collect()
}

/// Reads missing versions from public documents of the products; the requests count for no test.
async fn read_versions(web: &Web<'_>, first: &Url, found: &mut BTreeMap<String, FoundTechnology>) {
    let aside = CheckCoverage::default();
    let folders: Vec<Url> = start::base_folders(first)
        .into_iter()
        .filter_map(|folder| first.join(&folder).ok())
        .collect();
    technologies::read_versions(&CheckedWeb::new(web, &aside), &folders, found).await;
}

/// The start page and some pages that it links to.
async fn read_pages(
    run: &ScanRun<'_>,
    client: &CheckedWeb<'_>,
    first: &HttpPage,
) -> Vec<Arc<HttpPage>> {
    let mut progress = crawl::CrawlProgress::new(run, MAX_PAGES, crawl::STEPS);
    let spider = Spider::default();
    let crawled = crawl::crawl(client, first, MAX_PAGES, &spider, &mut progress).await;
    progress.end(crawled.pages.len()).await;
    crawled.pages
}

fn finding(
    kind: FindingKind,
    start: &HttpPage,
    name: String,
    found: FoundTechnology,
) -> NewFinding {
    let label = if found.version.is_empty() {
        name.clone()
    } else {
        format!("{name} {}", found.version)
    };
    let row = vec![name.clone(), found.version, found.category, found.proof];
    let texts = kind.finding();
    let finding = NewFinding {
        port: start.url.port_or_known_default().unwrap_or_default(),
        service: start.url.scheme().to_owned(),
        place: name,
        name: format!("{}: {label}", texts.name),
        confirmed: true,
        evidence: kinds::table(&["Technology", "Version", "Category", "Proof"], vec![row]),
        ..texts
    };
    finding.proven_by(&found.page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::hostile_tests::{ok, web};
    use crate::engine::testing::TestScan;
    use scandeck_wire::contract::Tool;

    #[tokio::test]
    async fn recon_and_firewall_report_their_technologies_with_proof() {
        let port = web(|path, _| match path {
            "/" => ok(
                "text/html",
                "<meta name=\"generator\" content=\"WordPress 6.4.2\"><a href=/a>a</a>",
            )
            .replacen("\r\n", "\r\nserver: cloudflare\r\n", 1),
            _ => ok("text/html", "<script src=/js/jquery-3.7.1.min.js></script>"),
        })
        .await;
        let target = format!("http://127.0.0.1:{port}/");
        for (tool, expected) in [
            (
                Tool::RECON,
                vec![("WordPress", "6.4.2"), ("jQuery", "3.7.1")],
            ),
            (Tool::FIREWALL, vec![("Cloudflare", "")]),
        ] {
            let result = TestScan::new(tool, &target, json!({})).run().await;
            result.check();
            let output = result.output.unwrap().output_data;
            let listed = output["technologies"].as_array().unwrap().iter();
            let listed: Vec<_> = listed
                .map(|one| {
                    (
                        one["name"].as_str().unwrap(),
                        one["version"].as_str().unwrap(),
                    )
                })
                .collect();
            assert_eq!(listed, expected);
            assert!(
                result
                    .tests
                    .iter()
                    .flat_map(|test| &test.findings)
                    .all(|finding| finding.confirmed)
            );
        }
    }

    #[tokio::test]
    async fn plain_site_has_no_firewall() {
        let port = web(|_, _| ok("text/html", "<p>Cloudflare is a firewall")).await;
        let result = TestScan::new(
            Tool::FIREWALL,
            &format!("http://127.0.0.1:{port}/"),
            json!({}),
        )
        .run()
        .await;
        result.check();
        assert_eq!(result.findings().count(), 0);
        let why = "1 page read, no firewall recognised in ordinary responses";
        assert_eq!(result.outcome, ScanOutcome::Finished(why.into()));
    }
}
