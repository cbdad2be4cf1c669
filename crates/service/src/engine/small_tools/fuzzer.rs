//! Tool 90: paths of a site from a wordlist.
//!
//! ```text
//!   folder ──► made-up names with each extension: the answers for missing paths ──► words × extensions
//!                         another answer ──► made-up names of the same form, at the same time ──► still another answer
//!                                                      finding; a folder is searched too, up to the recursion limit
//! ```
//!
//! The second comparison finds servers that answer some forms of names in their own way (`.ht*`,
//! `*.php`, `/api/*`), and those that began to refuse the scan. Words that name an action
//! (`delete`, `logout`) are not requested.

use std::collections::{HashSet, VecDeque};

use futures::{StreamExt, stream};
use serde_json::{Value, json};
use url::Url;

use super::shape::{self, AnswerShape, MissingAnswers};
use super::{ToolCoverage, start_page, words_of};
use crate::engine::coverage::{CheckCoverage, CheckedWeb, Obstacle, PROBES};
use crate::engine::http::{HttpPage, Web};
use crate::engine::kinds::{self, web};
use crate::engine::params::Authentication;
use crate::engine::params::tools::request_rate;
use crate::engine::run::ScanRun;
use crate::engine::website::links;
use crate::engine::{NewFinding, ScanOutcome};
use scandeck_wire::text::plural;

/// Number of concurrent requests.
const CONCURRENCY: usize = 8;
/// Words that count as one test.
const CHUNK: usize = 20;
/// Folders that are searched.
const MAX_FOLDERS: usize = 30;
/// Made-up names of each form.
const CONTROLS: usize = 3;
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
            all.filter_map(|one| one.as_str().map(str::to_owned))
                .collect()
        };
        let words = words_of(
            params,
            include_str!("../../../assets/wordlists/common-paths.txt"),
        );
        let extensions = [String::new()]
            .into_iter()
            .chain(texts("extensions"))
            .collect();
        Self {
            words,
            extensions,
            recursion: params["recursion_depth"].as_u64().unwrap_or(0),
        }
    }

    /// The planned tests of this number of folders.
    fn tests(&self, folders: usize) -> u32 {
        (folders * self.words.len().div_ceil(CHUNK)) as u32 + 2
    }
}

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let params = FuzzerParams::of(&run.job.params);
    run.planned(params.tests(1)).await;
    let web = Web::new(
        run,
        request_rate(&run.job.params),
        Authentication::default(),
        MAX_REQUESTS,
    );
    let first = start_page(run, &web).await?;
    let search = PathSearch {
        run,
        web: &web,
        first: &first,
        params: &params,
        queue: VecDeque::new(),
        folders: HashSet::new(),
        seen: HashSet::new(),
        listed: Vec::new(),
        unlisted: 0,
        coverage: ToolCoverage::new(run, "web.path"),
    };
    Ok(search.run().await)
}

/// A running search.
struct PathSearch<'a> {
    run: &'a ScanRun<'a>,
    web: &'a Web<'a>,
    first: &'a HttpPage,
    params: &'a FuzzerParams,
    queue: VecDeque<QueuedFolder>,
    /// All folders that were in the queue.
    folders: HashSet<String>,
    /// The paths that were found.
    seen: HashSet<String>,
    /// The output of the tool.
    listed: Vec<Value>,
    /// Paths that are answered like made-up names of the same form.
    unlisted: usize,
    coverage: ToolCoverage<'a>,
}

struct QueuedFolder {
    path: String,
    /// Folders between the first one and this one.
    depth: u64,
}

impl<'a> PathSearch<'a> {
    async fn run(mut self) -> String {
        let path = self.first.url.path();
        let folder = path.rsplit_once('/').map_or("/", |(folder, _)| folder);
        let first = format!("{}/", folder.trim_end_matches('/'));
        self.folders.insert(first.clone());
        self.queue.push_back(QueuedFolder {
            path: first,
            depth: 0,
        });
        while let Some(folder) = self.queue.pop_front() {
            self.search(&folder).await;
        }
        self.report().await
    }

    async fn search(&mut self, folder: &QueuedFolder) {
        let params = self.params;
        // The first test of a folder counts the requests of the controls too.
        let mut counts = CheckCoverage::default();
        let mut missing = self.probe(folder, &counts).missing_answers().await;
        for words in params.words.chunks(CHUNK) {
            let probe = self.probe(folder, &counts);
            let found = self.find(&probe, words, &mut missing).await;
            self.queue_folders(&found, folder.depth).await;
            self.report_words(&probe, words.len(), &found).await;
            counts = CheckCoverage::default();
        }
    }

    fn probe<'b>(&self, folder: &'b QueuedFolder, counts: &'b CheckCoverage) -> FolderProbe<'b>
    where
        'a: 'b,
    {
        FolderProbe {
            client: CheckedWeb::new(self.web, counts),
            base: &self.first.url,
            folder: &folder.path,
            extensions: &self.params.extensions,
        }
    }

    /// The pages of these words that exist and were not found before.
    async fn find(
        &mut self,
        probe: &FolderProbe<'_>,
        words: &[String],
        missing: &mut MissingAnswers,
    ) -> Vec<HttpPage> {
        let mut found = Vec::new();
        for (name, page) in probe.answers(words).await {
            if !may_exist(&page) || missing.covers(&shape_of(&page, &name)) {
                continue;
            }
            match probe.is_confirmed(&name, &page, missing).await {
                true => found.push(page),
                false => self.unlisted += 1,
            }
        }
        // `backup.zip` of the list is `backup` with an extension too.
        found.retain(|page| self.seen.insert(page.url.path().to_owned()));
        found
    }

    /// Queues the folders among the pages, up to the limits of the scan.
    async fn queue_folders(&mut self, found: &[HttpPage], depth: u64) {
        for path in found.iter().filter_map(sub_folder) {
            if depth < self.params.recursion
                && self.folders.len() < MAX_FOLDERS
                && self.folders.insert(path.clone())
            {
                let depth = depth + 1;
                self.queue.push_back(QueuedFolder { path, depth });
                let tests = self.params.tests(self.folders.len());
                self.run.planned(tests).await;
            }
        }
    }

    async fn report_words(&mut self, probe: &FolderProbe<'_>, words: usize, found: &[HttpPage]) {
        let first = self.first;
        let findings: Vec<NewFinding> =
            found.iter().map(|page| finding(page, &first.url)).collect();
        let listed = |page: &HttpPage| json!({"url": page.url.as_str(), "status": page.status});
        self.listed.extend(found.iter().map(listed));
        let folder = probe.folder;
        let metadata = json!({"folder": folder, "words": words, "findings": findings.len()});
        let missed = probe.client.incomplete(first, PROBES).await;
        let description = format!("Paths below {folder}");
        self.coverage
            .report(description, metadata, findings, missed)
            .await;
    }

    /// Reports the output and the coverage; returns the summary.
    async fn report(self) -> String {
        if self.unlisted > 0 {
            let paths = plural(self.unlisted, "path");
            let line = format!(
                "Not listed: {paths} with the same answer as made-up names of the same form."
            );
            self.run.info(line).await;
        }
        let summary = format!(
            "{} in {}, {} found",
            plural(self.params.words.len(), "word"),
            plural(self.folders.len(), "folder"),
            plural(self.listed.len(), "path")
        );
        let output = json!({"paths": self.listed});
        self.run.output_findings(output).await;
        let start = &self.first.url;
        let port = start.port_or_known_default().unwrap_or_default();
        self.coverage.end(port, start.scheme(), summary).await
    }
}

/// The requests for names in one folder.
struct FolderProbe<'a> {
    client: CheckedWeb<'a>,
    base: &'a Url,
    folder: &'a str,
    extensions: &'a [String],
}

impl FolderProbe<'_> {
    /// The answers for made-up names: with each extension, as a folder, and as a hidden file.
    async fn missing_answers(&self) -> MissingAnswers {
        let mut missing = MissingAnswers::default();
        let endings = self.extensions.iter().map(|extension| ("", &extension[..]));
        for (start, end) in endings.chain([("", "/"), (".", "")]) {
            let names = (0..CONTROLS).map(|_| format!("{start}{}{end}", made_up()));
            missing.add(self.shapes(names.collect()).await);
        }
        missing
    }

    fn url(&self, name: &str) -> Option<Url> {
        self.base.join(&format!("{}{name}", self.folder)).ok()
    }

    async fn shapes(&self, names: Vec<String>) -> Vec<AnswerShape> {
        let mut shapes = Vec::new();
        for name in names {
            let Some(url) = self.url(&name) else {
                continue;
            };
            if let Ok(page) = self.client.probe(&url).await {
                shapes.push(shape_of(&page, &name));
            }
        }
        shapes
    }

    /// The pages of these words.
    async fn answers(&self, words: &[String]) -> Vec<(String, HttpPage)> {
        let names = words.iter().flat_map(|word| {
            let extensions = self.extensions.iter();
            extensions.map(move |extension| format!("{word}{extension}"))
        });
        let urls: Vec<(String, Url)> = names
            .filter_map(|written| {
                let name = written.trim_start_matches('/').to_owned();
                let url = self.url(&name)?;
                // A word such as `//host` would lead elsewhere, and one such as `delete` might act.
                (url.origin() == self.base.origin() && links::is_safe_path(&url))
                    .then_some((name, url))
            })
            .collect();
        let client = &self.client;
        let answers: Vec<(String, _)> = stream::iter(urls)
            .map(|(name, url)| async move { (name, client.probe(&url).await) })
            .buffered(CONCURRENCY)
            .collect()
            .await;
        answers
            .into_iter()
            .filter_map(|(name, answer)| Some((name, answer.ok()?)))
            .collect()
    }

    /// Whether a page still differs from made-up names of the same form, and whether its error is
    /// lasting.
    async fn is_confirmed(
        &self,
        name: &str,
        page: &HttpPage,
        missing: &mut MissingAnswers,
    ) -> bool {
        let controls = self.shapes(siblings(name)).await;
        if controls.is_empty() {
            return false;
        }
        missing.add(controls);
        if missing.covers(&shape_of(page, name)) {
            return false;
        }
        let is_same = |again: HttpPage| again.status == page.status;
        page.status < 500 || self.client.probe(&page.url).await.is_ok_and(is_same)
    }
}

fn shape_of(page: &HttpPage, name: &str) -> AnswerShape {
    AnswerShape::of(page, name.trim_end_matches('/'))
}

/// Random letters and digits that no server has a file for.
fn made_up() -> String {
    format!("sd{:012x}", rand::random::<u64>() >> 16)
}

/// Whether a status can mean that a path exists: an error of the server or a refused method does,
/// too.
fn may_exist(page: &HttpPage) -> bool {
    !matches!(page.status, 400 | 404 | 410 | 414 | 429)
}

/// Made-up names of the form of a name: folder, mark at the start and extension stay. Servers have
/// rules for hidden names that begin in some way, so the last one continues such a name.
fn siblings(name: &str) -> Vec<String> {
    let (path, slash) = name
        .strip_suffix('/')
        .map_or((name, ""), |path| (path, "/"));
    let (parent, last) = path.split_at(path.rfind('/').map_or(0, |at| at + 1));
    let (mark, rest) = last.split_at(last.find(char::is_alphanumeric).unwrap_or(last.len()));
    let (stem, extension) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    let mut names: Vec<String> = (0..CONTROLS - 1)
        .map(|_| format!("{parent}{mark}{}{extension}{slash}", made_up()))
        .collect();
    if !mark.is_empty() {
        names.push(format!(
            "{parent}{mark}{stem}{}{extension}{slash}",
            made_up()
        ));
    }
    names
}

/// The folder that a page is or leads to: `/a` redirects to `/a/`.
fn sub_folder(page: &HttpPage) -> Option<String> {
    let path = page.url.path();
    if path.ends_with('/') {
        return Some(path.to_owned());
    }
    let to = page
        .redirect()
        .filter(|to| to.origin() == page.url.origin())?;
    (to.path() == format!("{path}/")).then(|| to.path().to_owned())
}

fn finding(page: &HttpPage, start: &Url) -> NewFinding {
    let row = vec![
        format!("GET {}", page.url),
        page.status.to_string(),
        page.header("content-type").into_owned(),
        shape::label(page),
    ];
    let kind = web::PATH.finding();
    let finding = NewFinding {
        port: start.port_or_known_default().unwrap_or_default(),
        service: start.scheme().to_owned(),
        place: page.url.path().to_owned(),
        name: format!("{}: {}", kind.name, page.url.path()),
        // A refused path exists only probably.
        confirmed: Obstacle::of_page(page).is_none(),
        evidence: kinds::table(&["Request", "Status", "Type", "Title"], vec![row]),
        ..kind
    };
    finding.proven_by(page)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::engine::hostile_tests::{ok, redirect, web};
    use crate::engine::testing::TestScan;
    use scandeck_wire::contract::Tool;

    #[tokio::test]
    async fn fuzzer_finds_paths_and_folders_and_no_soft_404() {
        for soft in [false, true] {
            let port = web(move |path, _| match path {
                "/" => ok("text/html", "<title>Home</title>"),
                "/admin" => redirect("/admin/"),
                "/admin/" => ok("text/html", "<title>Administration</title>"),
                "/admin/users.php" => ok("text/html", "<title>Users</title>"),
                missing if soft => ok(
                    "text/html",
                    &format!("<title>Sorry</title><p>{missing} does not exist here"),
                ),
                _ => "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                    .to_owned(),
            })
            .await;
            let params = json!({"extensions": [".php"], "recursion_depth": 1});
            let mut scan =
                TestScan::new(Tool::FUZZER, &format!("http://127.0.0.1:{port}/"), params);
            scan.job.params["words"] = json!(["admin", "users", "nothing-of-this-name", "x"]);
            let result = scan.run().await;
            result.check();
            let places: Vec<&str> = result
                .findings()
                .map(|finding| finding.place.as_str())
                .collect();
            assert_eq!(places, ["/admin", "/admin/users.php"], "soft 404: {soft}");
            for finding in result.findings() {
                let exchange = finding.evidence.view().shared_exchange().unwrap();
                let line = format!("GET {} HTTP/1.1\n", finding.place);
                assert!(exchange.request.starts_with(&line), "{exchange:?}");
            }
        }
    }

    /// The places that a scan of this server finds with some words.
    async fn places(
        answer: impl Fn(&str, usize) -> String + Send + Sync + 'static,
    ) -> (Vec<String>, Vec<String>) {
        let count = AtomicUsize::new(0);
        let port = web(move |path, _| match path {
            "/" => ok("text/html", "<title>Home</title>"),
            path => answer(path, count.fetch_add(1, Ordering::Relaxed)),
        })
        .await;
        let mut scan = TestScan::new(
            Tool::FUZZER,
            &format!("http://127.0.0.1:{port}/"),
            json!({}),
        );
        let words = [
            "admin",
            "login",
            "report",
            "a",
            "qa",
            "api/v1",
            ".env",
            ".htaccess",
            "index.php",
            "old.zip",
            "!x",
        ];
        scan.job.params["words"] = json!(words);
        let result = scan.run().await;
        result.check();
        let places = result
            .findings()
            .map(|finding| finding.place.clone())
            .collect();
        (places, result.info)
    }

    fn missing() -> String {
        "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned()
    }

    fn status(line: &str) -> String {
        format!("HTTP/1.1 {line}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    }

    #[tokio::test]
    async fn answers_that_random_names_get_too_are_no_paths() {
        type Server = fn(&str, usize) -> String;
        let servers: [(&str, Server); 9] = [
            ("random word in the title", |_, count| {
                ok(
                    "text/html",
                    &format!(
                        "<title>Word{} of the day</title><p>{}",
                        count * 7919,
                        "text ".repeat(count % 7)
                    ),
                )
            }),
            ("ffuf 353, redirect to a random address", |_, count| {
                redirect(&format!("/error/{}", count * 7919))
            }),
            ("redirect to the log-in", |path, _| {
                redirect(&format!("/login?return={}", &path[1..]))
            }),
            ("redirect to the log-in, encoded", |path, _| {
                redirect(&format!("/login?next={}", path.replace('/', "%2F")))
            }),
            (
                "feroxbuster 335, slash after every name",
                |path, _| match path.ends_with('/') {
                    true => missing(),
                    false => redirect(&format!("{path}/")),
                },
            ),
            ("hidden names are refused", |path, _| {
                match path.starts_with("/.") {
                    true => status("403 Forbidden"),
                    false => missing(),
                }
            }),
            (
                "feroxbuster 1304, names of server files are refused",
                |path, _| match path.starts_with("/.ht") || path.starts_with("/.env") {
                    true => status("403 Forbidden"),
                    false => missing(),
                },
            ),
            (
                "ffuf 776, rules for extensions, folders and marks",
                |path, _| match path {
                    path if path.ends_with(".php") => {
                        ok("text/html", "<p>No input file specified.")
                    }
                    path if path.starts_with("/api/") => ok("application/json", "{}"),
                    path if path.starts_with("/!") => redirect("/home"),
                    _ => missing(),
                },
            ),
            ("refuses after some requests", |_, count| {
                if count > 12 {
                    status("403 Forbidden")
                } else {
                    missing()
                }
            }),
        ];
        for (kind, server) in servers {
            let (places, _) = places(server).await;
            assert_eq!(places, [""; 0], "{kind}");
        }
    }

    #[tokio::test]
    async fn path_whose_answer_differs_is_found_whatever_its_status() {
        let (found, info) = places(|path, count| match path {
            "/login" => status("405 Method Not Allowed"),
            "/report" => status("500 Internal Server Error"),
            "/admin" => status("401 Unauthorized"),
            // An error of the moment.
            "/old.zip" if count < 100 && count % 2 == 0 => status("502 Bad Gateway"),
            ".env" | "/index.php" => ok("text/html", "<title>Index</title>"),
            path if path.starts_with("/api/") => ok("application/json", "{}"),
            _ => missing(),
        })
        .await;
        let found: Vec<&str> = found
            .iter()
            .map(String::as_str)
            .filter(|place| *place != "/old.zip")
            .collect();
        assert_eq!(found, ["/admin", "/login", "/report", "/index.php"]);
        assert!(
            info.iter().any(|line| line.starts_with("Not listed: ")),
            "{info:?}"
        );
    }

    #[test]
    fn siblings_have_the_form_of_the_name() {
        for (name, starts, end) in [
            ("admin", vec!["sd", "sd"], ""),
            ("api/v1/", vec!["api/sd", "api/sd"], "/"),
            ("a.tar.gz", vec!["sd", "sd"], ".tar.gz"),
            (".env", vec![".sd", ".sd", ".envsd"], ""),
            (".git/HEAD", vec![".git/sd", ".git/sd"], ""),
        ] {
            let made = siblings(name);
            assert_eq!(made.len(), starts.len(), "{name}");
            for (sibling, start) in made.iter().zip(starts) {
                assert!(
                    sibling.starts_with(start) && sibling.ends_with(end) && sibling != name,
                    "{name}: {sibling}"
                );
            }
        }
    }
}
