//! Tool 160: web sites that one address serves by name, from a wordlist.
//!
//! ```text
//!   address ──► Host: made-up names ──► the answers for unknown hosts ──► Host: word.domain ──► another answer
//!                                                                 also another one than a made-up name of now ──► finding
//! ```
//!
//! All requests go to the address of the target; no name of the list is resolved.

use futures::{StreamExt, stream};
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use url::Url;

use super::shape::{self, AnswerShape, MissingAnswers};
use super::{ToolCoverage, start_page, words_of};
use crate::engine::coverage::{CheckCoverage, CheckedWeb, PROBES};
use crate::engine::http::{HttpPage, Web};
use crate::engine::kinds::{self, web};
use crate::engine::params::Authentication;
use crate::engine::params::tools::request_rate;
use crate::engine::run::ScanRun;
use crate::engine::tools::target_refusal;
use crate::engine::{NewFinding, ScanOutcome};
use scandeck_wire::text::plural;

/// Number of concurrent requests.
const CONCURRENCY: usize = 8;
/// Made-up names of one comparison.
const CONTROLS: usize = 3;
/// Names that count as one test.
const CHUNK: usize = 20;
const MAX_REQUESTS: u32 = 100_000;

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let params = &run.job.params;
    if let Some(refusal) = target_refusal(run.job.tool, params, &run.address) {
        return Err(ScanOutcome::FailedToStart(refusal));
    }
    let domain = params["domain"]
        .as_str()
        .map_or_else(|| run.address.host(), str::to_owned);
    let words = words_of(
        params,
        include_str!("../../../assets/wordlists/common-subdomains.txt"),
    );
    // The target may be one of the names itself.
    let names: Vec<String> = words
        .iter()
        .map(|word| format!("{word}.{domain}"))
        .chain([domain.clone()])
        .collect();
    run.planned(names.len().div_ceil(CHUNK) as u32 + 2).await;
    let web = Web::new(
        run,
        request_rate(params),
        Authentication::default(),
        MAX_REQUESTS,
    );
    let first = start_page(run, &web).await?;
    let search = HostSearch {
        web: &web,
        first: &first,
        domain,
        unknown: MissingAnswers::default(),
        listed: Vec::new(),
        coverage: ToolCoverage::new(run, "web.virtual_host"),
    };
    Ok(search.run(run, &names).await)
}

/// A running search.
struct HostSearch<'a> {
    web: &'a Web<'a>,
    first: &'a HttpPage,
    domain: String,
    /// The answers for made-up names.
    unknown: MissingAnswers,
    /// The output of the tool.
    listed: Vec<Value>,
    coverage: ToolCoverage<'a>,
}

impl HostSearch<'_> {
    /// Reports all results; returns the summary.
    async fn run(mut self, run: &ScanRun<'_>, names: &[String]) -> String {
        // The first test counts the requests of the controls too.
        let mut counts = CheckCoverage::default();
        let controls = self.controls(&CheckedWeb::new(self.web, &counts)).await;
        self.unknown.add(controls);
        for chunk in names.chunks(CHUNK) {
            self.search(chunk, &CheckedWeb::new(self.web, &counts))
                .await;
            counts = CheckCoverage::default();
        }
        let summary = format!(
            "{} tried, {} found",
            plural(names.len(), "name"),
            plural(self.listed.len(), "virtual host")
        );
        let output = json!({"virtual_hosts": Value::Array(self.listed)});
        run.output_findings(output).await;
        let start = &self.first.url;
        let port = start.port_or_known_default().unwrap_or_default();
        self.coverage.end(port, start.scheme(), summary).await
    }

    async fn search(&mut self, names: &[String], client: &CheckedWeb<'_>) {
        let start = &self.first.url;
        let requests = stream::iter(names.to_vec()).map(|name| async move {
            let page = page_of(client, start, &name).await;
            (name, page)
        });
        let pages: Vec<_> = requests.buffered(CONCURRENCY).collect().await;
        let mut findings = Vec::new();
        for (name, answer) in pages {
            let Some(page) = answer else { continue };
            if self.is_found(&name, &page, client).await {
                self.listed.push(
                    json!({"hostname": name, "status": page.status, "title": shape::label(&page)}),
                );
                findings.push(finding(&name, &page));
            }
        }
        let metadata = json!({"names": names.len(), "findings": findings.len()});
        let missed = client.incomplete(self.first, PROBES).await;
        let description = format!("Names of {}", self.domain);
        self.coverage
            .report(description, metadata, findings, missed)
            .await;
    }

    /// Whether a page differs from those of made-up names.
    async fn is_found(&mut self, name: &str, page: &HttpPage, client: &CheckedWeb<'_>) -> bool {
        let answer = AnswerShape::of(page, name);
        // Without an answer for made-up names, nothing can be compared.
        if self.unknown.is_empty() || !exists(page) || self.unknown.covers(&answer) {
            return false;
        }
        // The server may have changed its answers meanwhile.
        let controls = self.controls(client).await;
        self.unknown.add(controls);
        !self.unknown.covers(&answer)
    }

    /// The answers for made-up names.
    async fn controls(&self, client: &CheckedWeb<'_>) -> Vec<AnswerShape> {
        let mut shapes = Vec::new();
        for _ in 0..CONTROLS {
            let name = format!("sd{:012x}.{}", rand::random::<u64>() >> 16, self.domain);
            let page = page_of(client, &self.first.url, &name).await;
            shapes.extend(page.map(|page| AnswerShape::of(&page, &name)));
        }
        shapes
    }
}

/// The start page of a host name at the address of the target.
async fn page_of(client: &CheckedWeb<'_>, start: &Url, name: &str) -> Option<HttpPage> {
    let host = match start.port() {
        Some(port) => format!("{name}:{port}"),
        None => name.to_owned(),
    };
    let mut url = start.clone();
    url.set_path("/");
    url.set_query(None);
    let headers =
        HeaderMap::from_iter([(reqwest::header::HOST, HeaderValue::from_str(&host).ok()?)]);
    client.send(Method::GET, &url, headers).await.ok()
}

/// Refusals of unknown names.
fn exists(page: &HttpPage) -> bool {
    !matches!(page.status, 400 | 404 | 410 | 421 | 429 | 500..)
}

fn finding(name: &str, page: &HttpPage) -> NewFinding {
    let row = vec![name.to_owned(), page.status.to_string(), shape::label(page)];
    let kind = web::VIRTUAL_HOST.finding();
    let finding = NewFinding {
        port: page.url.port_or_known_default().unwrap_or_default(),
        service: page.url.scheme().to_owned(),
        place: name.to_owned(),
        name: format!("{}: {name}", kind.name),
        confirmed: true,
        evidence: kinds::table(&["Host name", "Status", "Title"], vec![row]),
        ..kind
    };
    finding.proven_by(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::hostile_tests::{ok, redirect, web};
    use crate::engine::testing::TestScan;
    use scandeck_wire::contract::Tool;

    #[tokio::test]
    async fn hosts_with_their_own_site_are_found_and_defaults_are_not() {
        for wildcard in [false, true] {
            let port = web(move |_, head| {
                let host = head
                    .lines()
                    .find_map(|line| line.strip_prefix("host: "))
                    .unwrap_or_default();
                match host.split(['.', ':']).next() {
                    Some("admin") => ok("text/html", "<title>Administration</title><p>Log in"),
                    _ if wildcard => redirect(&format!("https://{host}/welcome")),
                    _ => ok("text/html", "<title>Default</title>"),
                }
            })
            .await;
            let params = json!({"domain": "acme.test"});
            let mut scan = TestScan::new(
                Tool::VIRTUAL_HOSTS,
                &format!("http://127.0.0.1:{port}/"),
                params,
            );
            scan.job.redirect_level = scandeck_wire::contract::RedirectLevel::None;
            scan.job.params["words"] = json!(["www", "admin", "mail"]);
            let result = scan.run().await;
            result.check();
            let places: Vec<&str> = result
                .findings()
                .map(|finding| finding.place.as_str())
                .collect();
            assert_eq!(places, ["admin.acme.test"], "wildcard: {wildcard}");
            let found = result.findings().next().unwrap().evidence.view();
            let exchange = found.shared_exchange().unwrap();
            let host = format!("\nhost: admin.acme.test:{port}\n");
            assert!(exchange.request.contains(&host), "{exchange:?}");
        }
    }
}
