//! The phases of a website scan, in the order of their requests.
//!
//! ```text
//!   start page ─► control path ─► pages ─► scripts ─► operations of the API, source maps, folders ─► CrawledSite
//!                                                                                                      │
//!   summary ◄─ coverage ◄─ findings ◄───────────────────────────────────────────── concurrent checks ◄─┘
//! ```

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use serde_json::json;
use url::Url;

use super::crawl::{self, Crawl, CrawlProgress};
use super::progress::{ChecksProgress, expected_requests};
use super::scripts::{self, FetchedScripts};
use super::site::{CrawledSite, Site};
use super::{Check, ScanReach, answers, api_operations, html, source_maps, start};
use crate::engine::coverage::{
    CheckCoverage, CheckedWeb, ControlPath, IncompleteTest, Obstacle, PAGES, ReachedLimit, SCRIPTS,
    ScanCoverage, is_login,
};
use crate::engine::http::{HttpPage, REPORT_INTERVAL, Web};
use crate::engine::run::ScanRun;
use crate::engine::{NewFinding, ScanOutcome, TestDone, blocking};
use scandeck_wire::text::plural;

/// Time for reading the page for a missing name.
const MISSING_PAGE_TIME: Duration = Duration::from_millis(500);
/// Number of concurrent checks.
const CONCURRENCY: usize = 6;

/// A running scan of one site.
pub struct SiteScan<'a> {
    run: &'a ScanRun<'a>,
    web: &'a Web<'a>,
    reach: &'a ScanReach,
    with_login: bool,
    coverage: ScanCoverage,
    /// Findings of all tests so far.
    findings: usize,
}

/// The answers to requests that several checks share.
#[derive(Default)]
struct SharedCoverage {
    pages: CheckCoverage,
    scripts: CheckCoverage,
    /// Answers that count for no test.
    aside: CheckCoverage,
}

/// Why checks that read the pages or the scripts are incomplete.
struct MissedInputs {
    pages: Option<IncompleteTest>,
    scripts: Option<IncompleteTest>,
}

/// The result of one check.
struct EndedCheck {
    /// Its position in the checks of the scan.
    position: usize,
    check: Check,
    findings: Vec<NewFinding>,
    incomplete: Option<IncompleteTest>,
    /// Requests, and how many of them were refused.
    refusals: (u32, u32),
}

impl<'a> SiteScan<'a> {
    pub fn new(
        run: &'a ScanRun<'a>,
        web: &'a Web<'a>,
        reach: &'a ScanReach,
        with_login: bool,
    ) -> Self {
        Self {
            run,
            web,
            reach,
            with_login,
            coverage: ScanCoverage::new(reach.planned()),
            findings: 0,
        }
    }

    pub async fn run(mut self) -> Result<String, ScanOutcome> {
        let start = self.open_start_page().await?;
        let counts = SharedCoverage::default();
        let control = self.read_control(&start, &counts).await;
        let site = self.read_site(start, &counts).await;
        let missed = self.missed_inputs(&site, &counts).await;
        self.run_checks(&site, control.as_ref(), &missed).await;
        self.report_coverage(&site).await;
        Ok(self.summarize(&site).await)
    }

    async fn open_start_page(&self) -> Result<HttpPage, ScanOutcome> {
        let start = start::find(self.run, self.web).await?;
        if self.with_login && matches!(start.status, 401 | 403) {
            return Err(self.rejected_login(&start));
        }
        let is_elsewhere = |text: &&String| {
            start
                .url
                .join(text)
                .is_ok_and(|url| url.origin() != start.url.origin())
        };
        let included = &self.reach.spider.include_urls;
        for url in included.iter().filter(is_elsewhere) {
            let line = format!("`include_urls`: {url} is not on the target and was skipped.");
            self.run.info(line).await;
        }
        let metadata = json!({"url": start.url.as_str(), "status": start.status});
        let test = TestDone::new("web.start", "Start page", metadata, Vec::new());
        self.run.tested(test).await;
        Ok(start)
    }

    fn rejected_login(&self, start: &HttpPage) -> ScanOutcome {
        let (url, status) = (&start.url, start.status);
        ScanOutcome::AuthFailed(match self.web.is_home(url) {
            true => format!("{url} rejected the credentials of the scan ({status})"),
            false => format!(
                "{url} responds with {status} and receives no credentials, because it is not the target: use this URL \
                 as the target"
            ),
        })
    }

    /// The answer for a path that no site has, if checks compare their answers with it.
    async fn read_control(&self, start: &HttpPage, counts: &SharedCoverage) -> Option<ControlPath> {
        if self.reach.is_passive() || Obstacle::of_page(start).is_some() {
            return None;
        }
        ControlPath::read(&CheckedWeb::new(self.web, &counts.aside), &start.url).await
    }

    /// Reads pages and scripts, and the paths that they name.
    async fn read_site(&mut self, start: HttpPage, counts: &SharedCoverage) -> CrawledSite {
        let aside = CheckedWeb::new(self.web, &counts.aside);
        let mut crawled = self.crawl(&start, counts).await;
        let scripts = self.fetch_scripts(&start.url, &crawled, counts).await;
        if self.reach.is_deep {
            let endpoints = scripts::endpoints(&scripts).await;
            crawled.read_endpoints(&aside, endpoints).await;
        }
        let operations = api_operations::read(&aside, &mut crawled, &start.url, self.reach).await;
        if let Some(limit) = operations {
            self.report_limit(limit).await;
        }
        let mut site = CrawledSite::new(start, crawled);
        site.scripts = scripts;
        site.is_deep = self.reach.is_deep;
        site.with_login = self.with_login;
        self.read_for_checks(&aside, &mut site).await;
        site.plain_side = start::plain_side(self.run, self.web, &site.start.url).await;
        if let Some(line) = folders_line(&site) {
            self.run.info(line).await;
        }
        site
    }

    async fn crawl(&self, start: &HttpPage, counts: &SharedCoverage) -> Crawl {
        let (web, reach) = (self.web, self.reach);
        let is_login_target = self.run.address.url().is_some_and(is_login);
        if is_login(&start.url) && !is_login_target {
            web.set_walled();
        }
        let client = CheckedWeb::new(web, &counts.pages);
        let mut progress = CrawlProgress::new(self.run, reach.pages, reach.crawl_steps());
        let crawled = crawl::crawl(&client, start, reach.pages, &reach.spider, &mut progress).await;
        web.cut(|cuts| cuts.pages += crawled.cut_pages);
        progress.end(crawled.pages.len()).await;
        crawled
    }

    async fn fetch_scripts(
        &mut self,
        start: &Url,
        crawled: &Crawl,
        counts: &SharedCoverage,
    ) -> Vec<Arc<HttpPage>> {
        let reach = self.reach;
        let client = CheckedWeb::new(self.web, &counts.scripts);
        let limits = (reach.pages, reach.script_bytes);
        let fetched = scripts::fetch(&client, start, &crawled.contents, limits).await;
        for limit in reached_limits(crawled, &fetched, reach) {
            self.report_limit(limit).await;
        }
        self.web.cut(|cuts| {
            cuts.unread_pages += crawled.unread_pages;
            cuts.scripts += fetched.cut;
            cuts.unread_scripts += fetched.found.saturating_sub(reach.pages);
        });
        fetched.scripts
    }

    async fn report_limit(&mut self, limit: ReachedLimit) {
        self.run.info(limit.line(self.reach.is_deep)).await;
        self.coverage.add_limit(limit);
    }

    /// Reads source maps and folders for the checks that use them.
    async fn read_for_checks(&self, aside: &CheckedWeb<'_>, site: &mut CrawledSite) {
        let reach = self.reach;
        if reach.checks.iter().any(Check::reads_source_maps) {
            // Each of these checks counts the answers.
            site.source_maps = source_maps::fetch(aside, &site.scripts, reach.script_bytes).await;
        }
        if reach.checks.iter().any(Check::searches_folders) {
            let folders = answers::robots_folders(aside, &site.start.url).await;
            site.file_folders.extend(folders.iter().cloned());
            site.folders.extend(folders);
            site.has_missing_page = has_missing_page(aside, site).await;
        }
    }

    /// The pages count together: a passive check sees all of them.
    async fn missed_inputs(&mut self, site: &CrawledSite, counts: &SharedCoverage) -> MissedInputs {
        if self.web.is_walled() {
            counts.pages.record_login_wall();
        }
        counts.pages.record(&Ok(site.start.clone()));
        let aside = CheckedWeb::new(self.web, &counts.aside);
        if site.hides_pages() && is_refused(&aside, site).await {
            self.web.set_walled();
        }
        let pages = CheckedWeb::new(self.web, &counts.pages);
        let scripts = CheckedWeb::new(self.web, &counts.scripts);
        let missed = MissedInputs {
            pages: pages.incomplete(&site.start, PAGES).await,
            scripts: scripts.incomplete(&site.start, SCRIPTS).await,
        };
        self.coverage.count(pages.refusals());
        missed
    }

    async fn run_checks(
        &mut self,
        site: &CrawledSite,
        control: Option<&ControlPath>,
        missed: &MissedInputs,
    ) {
        let (run, web, selected) = (self.run, self.web, &self.reach.checks);
        let counts: Vec<CheckCoverage> =
            selected.iter().map(|_| CheckCoverage::default()).collect();
        let mut progress = self.checks_progress(site, &counts);
        let run_check = |position: usize| {
            let client = CheckedWeb::new(web, &counts[position]).with_control(control);
            run_check(position, selected[position], client, site)
        };
        let mut checks = stream::iter(0..selected.len())
            .map(run_check)
            .buffer_unordered(CONCURRENCY);
        let mut interval = tokio::time::interval(REPORT_INTERVAL);
        loop {
            let next = tokio::select! {
                next = checks.next() => next,
                _ = interval.tick() => {
                    report_steps(run, progress.take()).await;
                    continue;
                }
            };
            let Some(ended) = next else {
                break;
            };
            let weight = progress.end(ended.position);
            self.report_check(site, missed, ended, weight).await;
        }
        report_steps(run, progress.take()).await;
    }

    fn checks_progress<'c>(
        &self,
        site: &CrawledSite,
        counts: &'c [CheckCoverage],
    ) -> ChecksProgress<'c> {
        let checks = &self.reach.checks;
        let expected = checks.iter().map(|check| expected_requests(check, site));
        let steps = checks.len() as u32 + crawl::STEPS - self.reach.crawl_steps();
        ChecksProgress::new(steps, expected, counts)
    }

    async fn report_check(
        &mut self,
        site: &CrawledSite,
        missed: &MissedInputs,
        ended: EndedCheck,
        weight: u32,
    ) {
        let check = ended.check;
        self.findings += ended.findings.len();
        self.coverage.count(ended.refusals);
        let pages = missed.pages.clone().filter(|_| check.reads_pages());
        let scripts = missed.scripts.clone().filter(|_| check.reads_scripts());
        let incomplete = IncompleteTest::merged([pages, scripts, ended.incomplete]);
        let cause = incomplete.as_ref().map(IncompleteTest::cause);
        self.coverage.add(check.uid, check.description, incomplete);
        let metadata = json!({"start": site.start.url.as_str(), "findings": ended.findings.len()});
        let test = TestDone::new(check.uid, check.description, metadata, ended.findings);
        let test = test.judged(cause);
        self.run.tested(TestDone { weight, ..test }).await;
    }

    async fn report_coverage(&mut self, site: &CrawledSite) {
        let findings = self.coverage.findings(site.port(), site.start.url.scheme());
        self.findings += findings.len();
        let metadata = json!({"findings": findings.len()});
        let test = TestDone::new("coverage", "Coverage of the scan", metadata, findings);
        self.run.tested(test).await;
    }

    async fn summarize(&self, site: &CrawledSite) -> String {
        let (run, shortfall) = (self.run, self.web.shortfall());
        let findings = plural(self.findings, "finding");
        let mut summary = format!("{}, {findings}", site.pages_read());
        if let Some(line) = self.coverage.note() {
            let early = shortfall
                .as_ref()
                .map(|why| format!(" The scan stopped its requests: {why}."));
            run.info(format!("{line}{}", early.unwrap_or_default()))
                .await;
        }
        match (self.coverage.summary(), shortfall) {
            (Some(incomplete), _) => summary.push_str(&format!("; {incomplete}")),
            (None, Some(why)) => {
                run.info(format!("Some tests are incomplete: {why}.")).await;
                summary.push_str(&format!("; some tests incomplete ({why})"));
            }
            (None, None) => {}
        }
        summary
    }
}

async fn run_check(
    position: usize,
    check: Check,
    client: CheckedWeb<'_>,
    site: &CrawledSite,
) -> EndedCheck {
    let findings = check.kind.run(&Site::new(client, site)).await;
    EndedCheck {
        position,
        check,
        findings,
        incomplete: client.incomplete(&site.start, check.rule()).await,
        refusals: client.refusals(),
    }
}

/// The limits that ended the reading of pages and scripts.
fn reached_limits(
    crawled: &Crawl,
    fetched: &FetchedScripts,
    reach: &ScanReach,
) -> Vec<ReachedLimit> {
    let read = crawled.pages.len();
    let scripts = fetched.found.min(reach.pages);
    let whole = fetched.scripts.len() - fetched.cut;
    [
        ReachedLimit {
            what: "known pages",
            read,
            found: read + crawled.unread_pages,
        },
        ReachedLimit {
            what: "scripts",
            read: scripts,
            found: fetched.found,
        },
        ReachedLimit {
            what: "complete scripts",
            read: whole,
            found: fetched.scripts.len(),
        },
    ]
    .into_iter()
    .filter(|limit| limit.read < limit.found)
    .collect()
}

/// Whether the answer for a missing name is a page of the site: it links to other paths of it.
async fn has_missing_page(aside: &CheckedWeb<'_>, site: &CrawledSite) -> bool {
    let Some(url) = site.at(&format!("/{}", site.nonsense)) else {
        return false;
    };
    let Ok(page) = aside.get(&url).await else {
        return false;
    };
    let contents = blocking::run(move |stop| html::read(&page, MISSING_PAGE_TIME, stop)).await;
    let mut links = contents.links.iter();
    links.any(|link| link.origin() == url.origin() && !["/", url.path()].contains(&link.path()))
}

/// How many of the folders a deep scan searches, if not all.
fn folders_line(site: &CrawledSite) -> Option<String> {
    let base = site.base_folders();
    let all = site
        .folders
        .iter()
        .filter(|folder| !base.contains(folder))
        .count();
    let searched = site.searched_folders().len();
    (site.is_deep && searched < all).then(|| {
        format!(
            "Exposed files are searched in {searched} of {}: few of those that look alike.",
            plural(all, "folder")
        )
    })
}

/// Reports the steps of checks that have not ended.
async fn report_steps(run: &ScanRun<'_>, weight: u32) {
    if weight > 0 {
        let test = TestDone::new(
            "web.requests",
            "Requests of running checks",
            json!({}),
            Vec::new(),
        );
        run.tested(TestDone { weight, ..test }).await;
    }
}

/// Whether the site also refuses a path that does not exist.
async fn is_refused(web: &CheckedWeb<'_>, site: &CrawledSite) -> bool {
    let Some(url) = site.at(&format!("/{}", site.nonsense)) else {
        return false;
    };
    web.get(&url)
        .await
        .is_ok_and(|page| Obstacle::of_page(&page).is_some_and(Obstacle::is_refusal))
}
