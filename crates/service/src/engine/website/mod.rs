//! Tool 170: weaknesses of a web site that are visible without changing it.
//!
//! ```text
//!   start page (redirect rules) ──► some pages of the site ──► concurrent checks ──► findings
//! ```
//!
//! The scan logs in before if its parameters have the steps for it. Checks only read (GET, HEAD,
//! OPTIONS); they never submit, inject, guess or change anything. Each
//! check is one test and returns at most one finding per kind and place; the affected pages are the
//! rows of its evidence.

use futures::future::BoxFuture;
use serde_json::json;

use super::coverage::{CoverageRule, ERROR_PAGES, PROBES};
use super::http::{MAX_BODY, Web};
use super::limits::ScanLimits;
use super::params::website::{CustomScan, GROUPS, Spider, WebsiteParams, WebsiteScanType};
use super::run::ScanRun;
use super::{NewFinding, ScanOutcome, kinds};

mod answers;
mod api_operations;
mod cms;
mod content;
mod cookies;
mod cors;
pub(super) mod crawl;
mod deployment;
mod exposed;
mod folders;
mod forms;
mod headers;
mod html;
pub(super) mod links;
mod listing;
mod progress;
mod recognize;
mod recognize_consoles;
mod recognize_services;
mod scan;
mod scripts;
pub(super) mod secrets;
mod site;
mod source_maps;
pub(super) mod start;
mod versions;
mod web_tokens;

use exposed::ExposedFiles;
use scan::SiteScan;
use site::Site;

/// Pages of a light scan.
const LIGHT_PAGES: usize = 12;
/// Steps of the crawl before checks that send requests: the crawl sends few of the requests of such
/// a scan, so the checks get the remaining [`crawl::STEPS`].
const SHORT_CRAWL: u32 = 2;

#[derive(Clone, Copy)]
struct Check {
    /// Stable name, as in `GET /scans/{id}/tests`.
    uid: &'static str,
    description: &'static str,
    kind: CheckKind,
}

const fn check(uid: &'static str, description: &'static str, kind: CheckKind) -> Check {
    Check {
        uid,
        description,
        kind,
    }
}

#[derive(Clone, Copy)]
enum CheckKind {
    /// Reads the fetched pages.
    Passive(for<'a> fn(&Site<'a>) -> Vec<NewFinding>),
    /// Sends further requests to known pages.
    Active(for<'a> fn(&'a Site<'a>) -> BoxFuture<'a, Vec<NewFinding>>),
    /// Requests paths that may exist.
    Discovery(for<'a> fn(&'a Site<'a>) -> BoxFuture<'a, Vec<NewFinding>>),
    /// Requests files that must not be public.
    Files(&'static ExposedFiles),
}

use CheckKind::{Active, Discovery, Files, Passive};

const CHECKS: &[Check] = &[
    check(
        "web.header.csp",
        "Content-Security-Policy of pages",
        Passive(headers::csp),
    ),
    check(
        "web.header.hsts",
        "Strict-Transport-Security of HTTPS responses",
        Passive(headers::hsts),
    ),
    check(
        "web.header.nosniff",
        "X-Content-Type-Options of responses",
        Passive(headers::nosniff),
    ),
    check(
        "web.header.referrer",
        "Referrer-Policy of pages",
        Passive(headers::referrer),
    ),
    check(
        "web.header.frames",
        "Protection of pages against framing",
        Passive(headers::frames),
    ),
    check(
        "web.cookie.secure",
        "Secure attribute of cookies",
        Passive(cookies::secure),
    ),
    check(
        "web.cookie.http_only",
        "HttpOnly attribute of cookies",
        Passive(cookies::http_only),
    ),
    check(
        "web.cookie.same_site",
        "SameSite attribute of cookies",
        Passive(cookies::same_site),
    ),
    check(
        "web.mixed_content",
        "Mixed content of HTTPS pages",
        Passive(content::mixed),
    ),
    check(
        "web.plain_http",
        "Availability over plain HTTP",
        Passive(content::plain_http),
    ),
    check(
        "web.form.password_plain",
        "Password forms over plain HTTP",
        Passive(forms::password_plain),
    ),
    check(
        "web.form.csrf",
        "CSRF tokens of forms",
        Passive(forms::csrf),
    ),
    check(
        "web.sri",
        "Subresource Integrity of other hosts' files",
        Passive(forms::integrity),
    ),
    check(
        "web.cache",
        "Caching of pages behind a log-in",
        Passive(forms::cache),
    ),
    check(
        "web.https_redirect",
        "Redirect of plain HTTP",
        Passive(forms::https_redirect),
    ),
    check(
        "web.default_page",
        "Default pages of server software",
        Passive(forms::default_page),
    ),
    check(
        "web.server.version",
        "Software versions in headers",
        Passive(versions::disclosed),
    ),
    check(
        "web.server.outdated",
        "Known vulnerabilities of versions in headers",
        Passive(versions::outdated),
    ),
    check(
        "web.javascript.outdated",
        "Known vulnerabilities of JavaScript libraries",
        Active(|site| Box::pin(scripts::outdated(site))),
    ),
    check(
        "web.secret",
        "Secrets in scripts and pages",
        Active(|site| Box::pin(scripts::secrets(site))),
    ),
    check(
        "web.cors",
        "CORS responses to foreign, null and look-alike origins",
        Active(|site| Box::pin(cors::check(site))),
    ),
    check(
        "web.method",
        "Allowed HTTP methods",
        Active(|site| Box::pin(answers::methods(site))),
    ),
    check(
        "web.error_page",
        "Internals in error pages",
        Active(|site| Box::pin(answers::error_pages(site))),
    ),
    check(
        "web.robots",
        "Sensitive paths in robots.txt",
        Discovery(|site| Box::pin(answers::robots(site))),
    ),
    check(
        "web.security_txt",
        "Contact in security.txt",
        Discovery(|site| Box::pin(answers::security_txt(site))),
    ),
    check(
        "web.listing",
        "Directory listings",
        Discovery(|site| Box::pin(listing::check(site))),
    ),
    check(
        "web.exposed.git",
        "Files of a Git repository",
        Files(&exposed::GIT),
    ),
    check(
        "web.exposed.svn",
        "Files of a Subversion working copy",
        Files(&exposed::SVN),
    ),
    check(
        "web.exposed.hg",
        "Files of a Mercurial repository",
        Files(&exposed::MERCURIAL),
    ),
    check(
        "web.exposed.env",
        "Environment files",
        Files(&exposed::ENVIRONMENT),
    ),
    check(
        "web.exposed.credentials",
        "Files with passwords or access keys",
        Files(&exposed::CREDENTIALS),
    ),
    check(
        "web.exposed.backup",
        "Archives and old copies of files",
        Files(&exposed::BACKUP),
    ),
    check(
        "web.exposed.database",
        "Database dumps and files",
        Files(&exposed::DATABASE),
    ),
    check(
        "web.exposed.private_key",
        "Private keys",
        Files(&exposed::PRIVATE_KEY),
    ),
    check(
        "web.exposed.cvs",
        "Files of a CVS working copy",
        Files(&exposed::CVS),
    ),
    check(
        "web.exposed.bzr",
        "Files of a Bazaar repository",
        Files(&exposed::BAZAAR),
    ),
    check(
        "web.exposed.settings",
        "Configuration files with secrets",
        Files(&exposed::SETTINGS),
    ),
    check(
        "web.exposed.copy",
        "Old copies of pages",
        Discovery(|site| Box::pin(exposed::copies(site))),
    ),
    check(
        "web.exposed.phpinfo",
        "Pages with phpinfo()",
        Files(&exposed::PHPINFO),
    ),
    check(
        "web.exposed.server_status",
        "Status pages of servers",
        Files(&exposed::SERVER_STATUS),
    ),
    check(
        "web.exposed.actuator",
        "Spring Boot Actuator",
        Files(&exposed::ACTUATOR),
    ),
    check(
        "web.exposed.heap_dump",
        "Heap dumps of Spring Boot",
        Files(&exposed::HEAP_DUMP),
    ),
    check(
        "web.console.node_red",
        "Access to Node-RED without log-in",
        Files(&exposed::NODE_RED),
    ),
    check(
        "web.console.jupyter",
        "Access to Jupyter without token",
        Files(&exposed::JUPYTER),
    ),
    check(
        "web.console.jenkins",
        "Access to the script console of Jenkins",
        Files(&exposed::JENKINS),
    ),
    check(
        "web.console.kibana",
        "Access to Kibana without log-in",
        Files(&exposed::KIBANA),
    ),
    check(
        "web.console.grafana",
        "Access to Grafana without log-in",
        Files(&exposed::GRAFANA),
    ),
    check(
        "web.console.phpmyadmin",
        "Access to phpMyAdmin without log-in",
        Files(&exposed::PHPMYADMIN),
    ),
    check(
        "web.cms.version",
        "Versions of content management systems",
        Discovery(|site| Box::pin(cms::versions(site))),
    ),
    check(
        "web.cms.users",
        "User list of WordPress",
        Files(&exposed::WORDPRESS_USERS),
    ),
    check(
        "web.cms.xmlrpc",
        "XML-RPC of WordPress",
        Discovery(|site| Box::pin(cms::xmlrpc(site))),
    ),
    check(
        "web.exposed.metrics",
        "Metrics for Prometheus",
        Files(&exposed::METRICS),
    ),
    check(
        "web.exposed.debug",
        "Debug pages and profiles",
        Files(&exposed::DEBUG),
    ),
    check(
        "web.exposed.api",
        "Descriptions of APIs",
        Files(&exposed::API_DESCRIPTION),
    ),
    check(
        "web.exposed.graphql",
        "GraphQL introspection",
        Files(&exposed::GRAPHQL),
    ),
    check(
        "web.exposed.ds_store",
        ".DS_Store files",
        Files(&exposed::DS_STORE),
    ),
    check(
        "web.exposed.deployment",
        "Deployment files",
        Files(&exposed::DEPLOYMENT),
    ),
    check(
        "web.exposed.manifest",
        "Lists of dependencies",
        Files(&exposed::MANIFEST),
    ),
    check("web.exposed.log", "Log files", Files(&exposed::LOG)),
    check(
        "web.exposed.editor",
        "Settings of editors",
        Files(&exposed::EDITOR),
    ),
    check(
        "web.exposed.web_inf",
        "Deployment descriptors of Java",
        Files(&exposed::WEB_INF),
    ),
    check(
        "web.cross_domain",
        "Cross-domain policies",
        Files(&exposed::CROSS_DOMAIN),
    ),
    check(
        "web.exposed.admin",
        "Admin log-in pages",
        Files(&exposed::ADMIN),
    ),
    check(
        "web.exposed.source_map",
        "Source maps of scripts",
        Discovery(|site| Box::pin(source_maps::check(site))),
    ),
];

impl Check {
    fn rule(&self) -> CoverageRule {
        if self.uid == "web.error_page" {
            ERROR_PAGES
        } else {
            PROBES
        }
    }

    /// Whether it reads the fetched pages.
    fn reads_pages(&self) -> bool {
        self.kind.is_passive()
            || matches!(self.uid, "web.cors" | "web.error_page")
            || self.reads_scripts()
    }

    /// Whether it reads the scripts of the site.
    fn reads_scripts(&self) -> bool {
        matches!(
            self.uid,
            "web.javascript.outdated" | "web.secret" | "web.exposed.source_map"
        )
    }

    fn reads_source_maps(&self) -> bool {
        matches!(self.uid, "web.secret" | "web.exposed.source_map")
    }

    /// Whether it requests names in the folders of the site.
    fn searches_folders(&self) -> bool {
        matches!(self.kind, Files(_)) || self.uid == "web.listing"
    }

    /// Whether a name of `only_tests` means this check: its own, the beginning of it up to a dot, or
    /// a kind of finding that it reports, which begins with it.
    fn is_named(&self, name: &str) -> bool {
        let rest = self.uid.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            || (name.starts_with(self.uid) && kinds::ids().any(|kind| kind == name))
    }

    /// Whether a name of `scan_type` custom means this check: `web.header.csp`, `header.csp` or
    /// `csp`.
    fn is_called(&self, name: &str) -> bool {
        self.uid == name
            || self
                .uid
                .strip_suffix(name)
                .is_some_and(|rest| rest.ends_with('.'))
    }
}

impl CheckKind {
    fn is_passive(self) -> bool {
        matches!(self, Passive(_))
    }

    /// The position of its group in [`GROUPS`].
    fn group(self) -> usize {
        match self {
            Active(_) => 0,
            Passive(_) => 1,
            Discovery(_) | Files(_) => 2,
        }
    }

    async fn run<'a>(self, site: &'a Site<'a>) -> Vec<NewFinding> {
        match self {
            Passive(run) => run(site),
            Active(run) | Discovery(run) => run(site).await,
            Files(files) => exposed::check(site, files).await,
        }
    }
}

/// The limits and the checks of a scan type.
struct ScanReach {
    is_deep: bool,
    pages: usize,
    script_bytes: usize,
    requests: u32,
    checks: Vec<Check>,
    spider: Spider,
}

impl ScanReach {
    /// `only` are names of checks: those alone, whatever the type selects.
    fn of(scan_type: WebsiteScanType, only: Option<&[String]>, limits: &ScanLimits) -> Self {
        let is_deep = !matches!(scan_type, WebsiteScanType::Light);
        let (pages, script_bytes, requests) = match is_deep {
            false => (LIGHT_PAGES, MAX_BODY, 1500),
            true => (limits.pages, limits.script_bytes, 20_000),
        };
        let custom = match scan_type {
            WebsiteScanType::Custom(custom) => custom,
            _ => CustomScan::default(),
        };
        let is_selected = |check: &&Check| match (only, &custom.checks[check.kind.group()]) {
            (Some(names), _) => names.iter().any(|name| check.is_named(name)),
            (None, None) => true,
            (None, Some(names)) => names.iter().any(|name| check.is_called(name)),
        };
        let mut checks: Vec<Check> = CHECKS.iter().filter(is_selected).copied().collect();
        // Those that take long begin first, so that the scan does not wait for one of them at its
        // end.
        checks.sort_by_key(|check| std::cmp::Reverse(check.kind.group()));
        checks.sort_by_key(|check| check.kind.is_passive());
        Self {
            is_deep,
            pages,
            script_bytes,
            requests,
            checks,
            spider: custom.spider,
        }
    }

    /// Whether no check sends requests.
    fn is_passive(&self) -> bool {
        self.checks.iter().all(|check| check.kind.is_passive())
    }

    fn crawl_steps(&self) -> u32 {
        if self.is_passive() {
            crawl::STEPS
        } else {
            SHORT_CRAWL
        }
    }

    /// The start page, the crawl, the checks and the coverage.
    fn planned(&self) -> u32 {
        self.checks.len() as u32 + crawl::STEPS + 2
    }
}

/// Whether a name of `only_tests` means a check.
pub fn is_test(name: &str) -> bool {
    CHECKS.iter().any(|check| check.is_named(name))
}

/// Refuses unknown names of active checks: otherwise an attack would seem to have been tested.
pub fn check_active(custom: &CustomScan) -> Result<(), String> {
    let [active, ..] = &custom.checks;
    let offered: Vec<Check> = CHECKS
        .iter()
        .filter(|check| check.kind.group() == 0)
        .copied()
        .collect();
    let is_offered = |name: &&String| offered.iter().any(|check| check.is_called(name));
    match active.iter().flatten().find(|name| !is_offered(name)) {
        None => Ok(()),
        Some(name) => Err(format!(
            "attack_active: unknown check `{}` (this service has no attacks); available: {}",
            name.chars().take(40).collect::<String>(),
            offered
                .iter()
                .map(|check| check.uid)
                .collect::<Vec<_>>()
                .join(", ")
        )),
    }
}

/// The part of a custom selection that this scanner ignores, as a line for the user.
fn unavailable(custom: &CustomScan) -> Option<String> {
    let mut missing = Vec::new();
    for (group, names) in GROUPS.iter().zip(&custom.checks) {
        let is_known = |name: &String| CHECKS.iter().any(|check| check.is_called(name));
        missing.extend(
            names
                .iter()
                .flatten()
                .filter(|name| !is_known(name))
                .map(|name| format!("unknown check `{name}` in `{group}`")),
        );
    }
    if custom.spider.approach == "spa" {
        missing.push("`spider.approach` spa (only links in HTML are followed)".to_owned());
    }
    (!missing.is_empty()).then(|| {
        let missing = missing.join(", ");
        format!(
            "Ignored: {missing}. GET /scans/{{id}}/tests of a finished light scan lists all checks."
        )
    })
}

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let stored = run.job.params.as_object().cloned().unwrap_or_default();
    let params = WebsiteParams::parse(&stored)
        .map_err(|error| ScanOutcome::FailedToStart(error.to_string()))?;
    let with_login = params.authentication.is_some();
    if let WebsiteScanType::Custom(custom) = &params.scan_type
        && let Some(line) = unavailable(custom)
    {
        run.info(line).await;
    }
    let only = params.only_tests.as_deref();
    let reach = ScanReach::of(params.scan_type, only, &run.settings.limits);
    let rate = params.requests_per_second;

    run.planned(reach.planned()).await;
    run.output_findings(json!({})).await;
    let web = Web::new(
        run,
        rate,
        params.authentication.unwrap_or_default(),
        reach.requests,
    );
    web.log_in().await.map_err(ScanOutcome::AuthFailed)?;
    tokio::select! {
        biased;
        ended = SiteScan::new(run, &web, &reach, with_login).run() => ended,
        never = web.report_requests() => match never {},
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SecretDigests;
    use crate::engine::hostile_tests::{ok, web, website};

    #[tokio::test]
    async fn scan_of_a_single_test_reports_it_alone() {
        let port = web(|_, _| ok("text/html", "<title>Shop</title>")).await;
        let only = json!({"only_tests": ["web.header.csp_missing"]});
        let result = website(port, only).run().await;
        result.check();
        let reported = result.tests.iter().map(|test| test.uid.as_str());
        let checks: Vec<&str> = reported.filter(|uid| is_test(uid)).collect();
        assert_eq!(checks, ["web.header.csp"]);
        let found: Vec<&NewFinding> = result.findings().collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].vuln_id, "web.header.csp_missing");
        let exchange = found[0].evidence.view().decoded().shared_exchange();
        let exchange = exchange.unwrap();
        let request = format!("GET / HTTP/1.1\nhost: 127.0.0.1:{port}\naccept: */*\n");
        assert!(exchange.request.starts_with(&request), "{exchange:?}");
        assert!(
            exchange.response.ends_with("<title>Shop</title>"),
            "{exchange:?}"
        );
    }

    #[tokio::test]
    async fn same_secret_has_the_same_digest_in_scripts_and_deployment_files() {
        let port = web(|path, _| match path {
            "/" => ok(
                "text/html",
                "<title>Shop</title><script>k = 'AKIAQ3EGRMTWZXCVBNM7'</script>",
            ),
            "/Dockerfile" => ok(
                "text/plain",
                "FROM debian\nRUN make\nENV ACCESS_KEY=AKIAQ3EGRMTWZXCVBNM7\n",
            ),
            _ => "HTTP/1.1 404 x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
        })
        .await;
        let kinds = ["web.secret", "web.exposed.deployment"];
        let mut begun = website(port, json!({"only_tests": kinds}));
        begun.job.secret_digests = SecretDigests::new(b"key".to_vec());
        let result = begun.run().await;
        result.check();
        let digest = |kind: &str| {
            let found = result.of(kind);
            let evidence = found[0].evidence.as_json();
            let (_, after) = evidence.split_once(") #").unwrap();
            after[..20].parse::<u64>().unwrap()
        };
        assert_eq!(digest(kinds[0]), digest(kinds[1]));
    }

    #[test]
    fn every_kind_of_a_website_has_one_check_and_names_it() {
        let others = ["web.path", "web.virtual_host"];
        let of_sites = kinds::ids().filter(|kind| kind.starts_with("web."));
        for kind in of_sites.filter(|kind| !others.contains(kind)) {
            let named: Vec<&str> = CHECKS
                .iter()
                .filter(|check| check.is_named(kind))
                .map(|check| check.uid)
                .collect();
            assert_eq!(named.len(), 1, "{kind}: {named:?}");
            assert!(kind.starts_with(named[0]), "coverage reads the name so");
        }
    }

    #[test]
    fn names_of_single_tests_are_checks_groups_and_kinds() {
        for name in ["web.header.csp", "web.header", "web.header.csp_missing"] {
            assert!(is_test(name), "{name}");
        }
        for name in ["", "web.header.c", "csp", "web.header.csp_", "web.path"] {
            assert!(!is_test(name), "{name}");
        }
        let only = ["web.cors".to_owned(), "web.header.csp_weak".to_owned()];
        let custom = CustomScan {
            checks: [const { Some(Vec::new()) }; 3],
            ..CustomScan::default()
        };
        let scan_type = WebsiteScanType::Custom(custom);
        let reach = ScanReach::of(scan_type, Some(&only), &ScanLimits::default());
        let uids: Vec<&str> = reach.checks.iter().map(|check| check.uid).collect();
        assert_eq!(uids, ["web.cors", "web.header.csp"]);
    }
}
