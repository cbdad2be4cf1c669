//! Tool 90: paths of a site from a wordlist.
//!
//! ```text
//!   folder ──► made-up names with each extension: the answers for missing paths ──► words × extensions
//!                         another answer ──► finding; a folder is searched too, up to the recursion limit
//! ```
//!
//! Words that name an action (`delete`, `logout`) are not requested.

use std::collections::{HashSet, VecDeque};

use futures::{StreamExt, stream};
use serde_json::{Value, json};
use url::Url;

use super::shape::{self, AnswerShape};
use super::{report_coverage, start_page, words_of};
use crate::service::engine::coverage::{CheckCoverage, CheckedWeb, IncompleteTest, Obstacle, PROBES, ScanCoverage};
use crate::service::engine::http::{HttpPage, Web};
use crate::service::engine::kinds::{self, web};
use crate::service::engine::params::Authentication;
use crate::service::engine::params::tools::request_rate;
use crate::service::engine::run::ScanRun;
use crate::service::engine::website::links;
use crate::service::engine::{NewFinding, ScanOutcome, TestDone};
use crate::text::plural;

/// Number of concurrent requests.
const CONCURRENCY: usize = 8;
/// Words that count as one test.
const CHUNK: usize = 20;
/// Folders that are searched.
const MAX_FOLDERS: usize = 30;
/// Requests of one scan.
const MAX_REQUESTS: u32 = 100_000;

/// The parameters of a scan, as `check_params` stored them.
struct FuzzerParams {
    words: Vec<String>,
    /// Endings of names; the empty one is the name itself.
    extensions: Vec<String>,
    recursion: u64,
}

impl FuzzerParams {
    fn of(params: &Value) -> Self {
        let texts = |name: &str| -> Vec<String> {
            let all = params[name].as_array().into_iter().flatten();
            all.filter_map(|one| one.as_str().map(str::to_owned)).collect()
        };
        let words = words_of(params, include_str!("../../../../assets/wordlists/common-paths.txt"));
        let extensions = [String::new()].into_iter().chain(texts("extensions")).collect();
        Self { words, extensions, recursion: params["recursion_depth"].as_u64().unwrap_or(0) }
    }
}

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let params = FuzzerParams::of(&run.job.params);
    let tests = |folders: usize| (folders * params.words.len().div_ceil(CHUNK)) as u32 + 2;
    run.planned(tests(1)).await;
    let web = Web::new(run, request_rate(&run.job.params), Authentication::default(), MAX_REQUESTS);
    let first = start_page(run, &web).await?;

    let mut incomplete = None;
    let folder = first.url.path().rsplit_once('/').map_or("/", |(folder, _)| folder);
    let folder = format!("{}/", folder.trim_end_matches('/'));
    let mut folders = HashSet::from([folder.clone()]);
    let mut seen = HashSet::new();
    let (mut queue, mut all) = (VecDeque::from([(folder, 0)]), Vec::<Value>::new());
    while let Some((folder, depth)) = queue.pop_front() {
        let mut counts = CheckCoverage::default();
        let missing = missing_answers(&CheckedWeb::new(&web, &counts), &first.url, &folder, &params.extensions).await;
        for words in params.words.chunks(CHUNK) {
            let client = CheckedWeb::new(&web, &counts);
            let mut found = paths(&client, &first.url, &folder, words, &params.extensions, &missing).await;
            // `backup.zip` of the list is `backup` with an extension too.
            found.retain(|page| seen.insert(page.url.path().to_owned()));
            for page in &found {
                if let Some(sub) = sub_folder(page)
                    && depth < params.recursion
                    && folders.len() < MAX_FOLDERS
                    && folders.insert(sub.clone())
                {
                    queue.push_back((sub, depth + 1));
                    run.planned(tests(folders.len())).await;
                }
            }
            let findings: Vec<NewFinding> = found.iter().map(|page| finding(page, &first.url)).collect();
            all.extend(found.iter().map(|page| json!({"url": page.url.as_str(), "status": page.status})));
            let metadata = json!({"folder": folder, "words": words.len(), "findings": findings.len()});
            let test = TestDone::new("web.path", format!("Paths below {folder}"), metadata, findings);
            let missed = client.incomplete(&first, PROBES).await;
            run.tested(test.judged(missed.as_ref().map(IncompleteTest::cause))).await;
            incomplete = IncompleteTest::merged([incomplete, missed]);
            counts = CheckCoverage::default();
        }
    }
    let mut coverage = ScanCoverage::new(1);
    coverage.add("web.path", incomplete);
    let mut summary = format!(
        "{} in {}, {} found",
        plural(params.words.len(), "word"),
        plural(folders.len(), "folder"),
        plural(all.len(), "path")
    );
    run.output_findings(json!({"paths": all})).await;
    let port = first.url.port_or_known_default().unwrap_or_default();
    report_coverage(run, &coverage, port, first.url.scheme(), &mut summary).await;
    Ok(summary)
}

/// The answers for made-up names: with each extension, as a folder, and as a hidden file.
async fn missing_answers(client: &CheckedWeb<'_>, base: &Url, folder: &str, extensions: &[String]) -> Vec<AnswerShape> {
    let mut shapes = Vec::new();
    let endings = extensions.iter().map(|extension| ("", extension.as_str()));
    for (start, end) in endings.chain([("", "/"), (".", "")]) {
        for _ in 0..2 {
            let name = format!("{start}sd{:012x}{end}", rand::random::<u64>() >> 16);
            let Ok(url) = base.join(&format!("{folder}{name}")) else { continue };
            if let Ok(page) = client.probe(&url).await {
                shapes.push(AnswerShape::of(&page, name.trim_end_matches('/')));
            }
        }
    }
    shapes
}

/// The pages of these words that differ from those of made-up names.
async fn paths(
    client: &CheckedWeb<'_>,
    base: &Url,
    folder: &str,
    words: &[String],
    extensions: &[String],
    missing: &[AnswerShape],
) -> Vec<HttpPage> {
    let names = words.iter().flat_map(|word| extensions.iter().map(move |extension| format!("{word}{extension}")));
    let urls: Vec<(String, Url)> = names
        .filter_map(|name| {
            let name = name.trim_start_matches('/').to_owned();
            let url = base.join(&format!("{folder}{name}")).ok()?;
            // A word such as `//host` would lead elsewhere, and one such as `delete` might act.
            (url.origin() == base.origin() && links::is_safe_path(&url)).then_some((name, url))
        })
        .collect();
    let probed = stream::iter(urls).map(|(name, url)| async move { (name, client.probe(&url).await) });
    let answers: Vec<(String, _)> = probed.buffered(CONCURRENCY).collect().await;
    let exists = |(name, answer): (String, Result<HttpPage, _>)| {
        let page = answer.ok()?;
        let is_answer = !matches!(page.status, 400 | 404 | 405 | 410 | 414 | 429 | 500..);
        let shape = AnswerShape::of(&page, name.trim_end_matches('/'));
        (is_answer && !missing.iter().any(|one| shape.is_like(one))).then_some(page)
    };
    answers.into_iter().filter_map(exists).collect()
}

/// The folder that a page is or leads to: `/a` redirects to `/a/`.
fn sub_folder(page: &HttpPage) -> Option<String> {
    let path = page.url.path();
    if path.ends_with('/') {
        return Some(path.to_owned());
    }
    let to = page.redirect().filter(|to| to.origin() == page.url.origin())?;
    (to.path() == format!("{path}/")).then(|| to.path().to_owned())
}

fn finding(page: &HttpPage, start: &Url) -> NewFinding {
    let row = vec![
        format!("GET {}", page.url),
        page.status.to_string(),
        page.header("content-type").into_owned(),
        shape::label(page),
    ];
    let finding = web::PATH.finding();
    NewFinding {
        port: start.port_or_known_default().unwrap_or_default(),
        service: start.scheme().to_owned(),
        place: page.url.path().to_owned(),
        name: format!("{}: {}", finding.name, page.url.path()),
        // A refused path exists only probably.
        confirmed: Obstacle::of_page(page).is_none(),
        evidence: kinds::table(&["Request", "Status", "Type", "Title"], vec![row]),
        ..finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Tool;
    use crate::service::engine::hostile_tests::{ok, redirect, web};
    use crate::service::engine::testing::TestScan;

    #[tokio::test]
    async fn fuzzer_finds_paths_and_folders_and_no_soft_404() {
        for soft in [false, true] {
            let port = web(move |path, _| match path {
                "/" => ok("text/html", "<title>Home</title>"),
                "/admin" => redirect("/admin/"),
                "/admin/" => ok("text/html", "<title>Administration</title>"),
                "/admin/users.php" => ok("text/html", "<title>Users</title>"),
                missing if soft => ok("text/html", &format!("<title>Sorry</title><p>{missing} does not exist here")),
                _ => "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
            })
            .await;
            let params = json!({"extensions": [".php"], "recursion_depth": 1});
            let mut scan = TestScan::new(Tool::FUZZER, &format!("http://127.0.0.1:{port}/"), params);
            scan.job.params["words"] = json!(["admin", "users", "nothing-of-this-name", "x"]);
            let result = scan.run().await;
            result.check();
            let places: Vec<&str> = result.findings().map(|finding| finding.place.as_str()).collect();
            assert_eq!(places, ["/admin", "/admin/users.php"], "soft 404: {soft}");
        }
    }
}
