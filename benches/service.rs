//! Throughput, latency and memory of `scandeck serve` with 100,000 findings, over HTTP on loopback.
//! Prints a table of figures for a database file, with a server of PostgreSQL another one, and has
//! no limits.
//!
//! ```text
//!   scripted scans ─► data directory ─► `scandeck serve` ─► lists · 304 · captures · reports · one large list · idle
//!         └─► results stored per second
//!   50 keys ─► five lists each ─► a service in this process, beside four running scans of another workspace
//!   1, 2, 4, 8 nodes in this process ─► claim and end the scans of one queue
//! ```
//!
//! `cargo bench --bench service` (three minutes), and both tables:
//! `SCANDECK_FSYNC=on .ci/postgres cargo bench --bench service`

#![allow(clippy::unwrap_used, clippy::expect_used, dead_code)]

#[path = "../tests/service/database.rs"]
mod database;
#[path = "../tests/service/runner.rs"]
mod runner;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use reqwest::{Client, RequestBuilder};
use scandeck::contract::{Evidence, Risk};
use scandeck::service::engine::NewFinding;
use scandeck::service::keys::{Role, add_key};
use scandeck::service::{NodeRole, Parts, RateLimit, Running, Settings, start_with};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use database::{data_dir, database_of, database_url, use_file};
use runner::{ScriptedRunner, finding, tested};

/// Scans with this many findings each: 100,000 findings.
const BIG_SCANS: usize = 20;
const FINDINGS_PER_SCAN: usize = 5_000;
/// Connections that request lists at the same time, and the duration of each measurement.
const CLIENTS: usize = 4;
const DURATION: Duration = Duration::from_secs(5);
/// Captures per second, and their duration.
const CAPTURES_PER_SECOND: u64 = 1_000;
const STREAM: Duration = Duration::from_secs(10);
/// Loggers that many senders fill as fast as they can, and the requests to each.
const FILLED_LOGGERS: usize = 8;
const REQUESTS_PER_LOGGER: usize = 5_000;
const SENDERS: usize = 64;
/// Keys of a team, each of which polls five lists of a workspace this often, and for how long.
const TEAM: usize = 50;
const POLL: Duration = Duration::from_secs(2);
const POLLED: Duration = Duration::from_secs(20);
/// Findings of the report.
const REPORTED: usize = 500;
/// Requests of one sender to one logger, each after the answer to the one before.
const SINGLE_CAPTURES: usize = 1_000;
/// Numbers of nodes that claim the scans of a queue, and these scans.
const NODES: [usize; 4] = [1, 2, 4, 8];
const QUEUED: usize = 1_000;

#[tokio::main]
async fn main() {
    // `cargo test --benches` requests the list of tests, which is empty.
    if std::env::args().any(|argument| argument == "--list" || argument == "--test") {
        return;
    }
    println!("database file");
    measure(BenchDatabase::File).await;
    if std::env::var_os("SCANDECK_TEST_DATABASE").is_some() {
        println!("\nPostgreSQL");
        measure(BenchDatabase::Server).await;
    }
}

/// The database of a table of figures.
#[derive(Clone, Copy, PartialEq)]
enum BenchDatabase {
    File,
    /// The one of `SCANDECK_TEST_DATABASE`.
    Server,
}

impl BenchDatabase {
    /// A data directory whose services use this database.
    fn directory(self) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        if self == Self::File {
            use_file(dir.path());
        }
        dir
    }
}

async fn measure(database: BenchDatabase) {
    let dir = database.directory();
    let scans = fill(dir.path()).await;
    print_figure(
        "results, 5,000 findings at a time",
        format!("{:.0} findings per second", scans.results_per_second),
    );
    let service = Service::start(dir.path());
    tokio::time::sleep(Duration::from_secs(2)).await;

    print_figure("idle", service.idle().await);
    let findings = format!("/findings?task_id={}", scans.hundred);
    print_figure(
        "100 findings, 4 clients",
        service.load(|| service.get(&findings)).await,
    );
    print_figure(
        "100 scans, 4 clients",
        service.load(|| service.get("/scans?limit=100")).await,
    );
    let etag = service.get(&findings).send().await.unwrap().headers()["etag"].clone();
    let unchanged = || service.get(&findings).header("if-none-match", etag.clone());
    assert_eq!(unchanged().send().await.unwrap().status(), 304);
    print_figure(
        "100 findings unchanged (304), 4 clients",
        service.load(unchanged).await,
    );
    print_figure("captures at 1,000/s", service.captures("stream").await);
    print_figure(
        "captures, one sender",
        service.capture_rate(1, 1, SINGLE_CAPTURES).await,
    );
    let requests = FILLED_LOGGERS * REQUESTS_PER_LOGGER;
    print_figure(
        &format!("captures, {SENDERS} senders, {FILLED_LOGGERS} loggers"),
        service
            .capture_rate(SENDERS, FILLED_LOGGERS, requests)
            .await,
    );
    for format in ["pdf", "xlsx", "html"] {
        print_figure(
            &format!("{format} report of {REPORTED} findings"),
            service.report(format, &[scans.reported]).await,
        );
    }
    print_figure(
        &format!("{TEAM} keys that poll 5 lists, 4 scans elsewhere"),
        team(database).await,
    );
    for nodes in NODES {
        print_figure(
            &format!("claims of scans without results, {nodes} nodes"),
            claims(database, nodes).await,
        );
    }
    // These last, since the peak of the process never falls.
    let before = service.memory("VmRSS");
    print_figure("100,000 findings", service.large_list().await);
    let peak = service.memory("VmHWM");
    print_figure(
        "memory for 100,000 findings",
        format!("{before} MB before, peak {peak} MB"),
    );
    let (captures, report) = futures::join!(
        service.captures("stream-beside-report"),
        service.report("json", &scans.big)
    );
    print_figure("captures at 1,000/s beside a report", captures);
    print_figure("json report of 100,000 findings", report);
    print_figure(
        "memory with this report",
        format!("peak {} MB", service.memory("VmHWM")),
    );
}

/// Polls of a team with a key for each person, at the usual rate limit, beside running scans of
/// another workspace.
async fn team(database: BenchDatabase) -> String {
    let dir = database.directory();
    let shutdown = CancellationToken::new();
    let parts = scripted(&ScriptedRunner::default());
    let service = start_with(settings(dir.path()), shutdown.clone(), parts);
    let service = service.await.unwrap();
    let admin = Api::of(&service);
    let other = admin.post("/workspaces", json!({"name": "other"})).await;
    let workspace = &other["data"]["created_id"];
    for number in 1..=4 {
        let target = format!("127.0.0.{number}");
        let body = json!({"tool_id": 70, "target_name": target, "workspace_id": workspace});
        admin.post("/scans", body).await;
    }
    let keys = data_dir(dir.path());
    let mut people = Vec::new();
    for number in 0..TEAM {
        let name = format!("p{number}");
        let added = add_key(&keys, &name, Role::Read, "bench");
        people.push(Api {
            base: admin.base.clone(),
            key: added.await.unwrap().unwrap(),
            http: admin.http.clone(),
        });
    }
    let polls = futures::future::join_all(people.iter().map(poll_lists)).await;
    shutdown.cancel();
    service.stopped().await.unwrap();
    let mut statuses = BTreeMap::<u16, usize>::new();
    let mut times = Vec::new();
    for (status, elapsed) in polls.into_iter().flatten() {
        *statuses.entry(status).or_default() += 1;
        times.push(elapsed);
    }
    times.sort_unstable();
    let unchanged = statuses.get(&304).copied().unwrap_or_default() * 1000 / times.len();
    let slow = times[times.len() * 99 / 100];
    format!(
        "{}.{} % 304, {statuses:?}, p99 {slow:.1?}",
        unchanged / 10,
        unchanged % 10
    )
}

/// The status and the time of each poll of five lists, without the first of each list.
async fn poll_lists(api: &Api) -> Vec<(u16, Duration)> {
    const LISTS: [&str; 5] = [
        "/scans?workspace_id=1",
        "/targets?workspace_id=1",
        "/findings?workspace_id=1",
        "/http_loggers?workspace_id=1",
        "/reports",
    ];
    let mut tags = LISTS.map(|_| String::new());
    let mut polls = Vec::new();
    let mut interval = tokio::time::interval(POLL);
    let started = Instant::now();
    while started.elapsed() < POLLED {
        interval.tick().await;
        for (list, tag) in LISTS.iter().zip(&mut tags) {
            let is_first = tag.is_empty();
            let began = Instant::now();
            let request = api.get(list).header("if-none-match", &*tag);
            let response = request.send().await.unwrap();
            if !is_first {
                polls.push((response.status().as_u16(), began.elapsed()));
            }
            if let Some(new) = response.headers().get("etag") {
                *tag = new.to_str().unwrap().to_owned();
            }
        }
    }
    polls
}

/// The claims of a queue by this many nodes, from the first claim to the last. Each scan ends at
/// once, which is another transaction.
async fn claims(database: BenchDatabase, nodes: usize) -> String {
    let dir = database.directory();
    let runner = ScriptedRunner::default();
    runner.finish_scans(QUEUED);
    let shutdown = CancellationToken::new();
    let mut first = settings(dir.path());
    first.roles = [NodeRole::Api, NodeRole::Logger].into();
    first.rate_limit = RateLimit::Off;
    let service = start_with(first, shutdown.clone(), scripted(&runner));
    let service = service.await.unwrap();
    let api = Api::of(&service);
    futures::stream::iter(0..QUEUED)
        .map(|number| {
            let target = format!("127.0.{}.{}", number / 250, number % 250 + 1);
            api.post("/scans", json!({"tool_id": 70, "target_name": target}))
        })
        .buffer_unordered(CLIENTS)
        .for_each(|created| async move { assert!(created["data"]["created_id"].is_i64()) })
        .await;
    let workers = (0..nodes).map(|number| {
        let mut worker = worker_settings(dir.path(), number);
        worker.logger_url = Some(service.logger_base.clone());
        let started = start_with(worker, shutdown.clone(), scripted(&runner));
        async move { started.await.expect("a node of the same keys starts") }
    });
    let (started, each_second) = futures::join!(
        futures::future::join_all(workers),
        claims_each_second(&runner)
    );
    shutdown.cancel();
    for worker in started {
        worker.stopped().await.unwrap();
    }
    service.stopped().await.unwrap();
    format!("{each_second:.0} per second")
}

async fn claims_each_second(runner: &ScriptedRunner) -> f64 {
    until_claimed(runner, 1).await;
    let (started_at, before) = (Instant::now(), runner.jobs().len());
    until_claimed(runner, QUEUED).await;
    (QUEUED - before) as f64 / started_at.elapsed().as_secs_f64()
}

async fn until_claimed(runner: &ScriptedRunner, scans: usize) {
    while runner.jobs().len() < scans {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Settings of another node on the database of a service with this data directory.
fn worker_settings(dir: &Path, number: usize) -> Settings {
    let home = dir.join(format!("node-{number}"));
    std::fs::create_dir(&home).unwrap();
    std::os::unix::fs::symlink(dir.join("scandeck.db"), home.join("scandeck.db")).unwrap();
    std::fs::copy(dir.join("callback.key"), home.join("callback.key")).unwrap();
    let mut worker = Settings::new(home).with_free_ports();
    worker.database = database_of(dir);
    worker.secrets_key_file = Some(dir.join("secrets.key"));
    worker.roles = [NodeRole::Worker].into();
    worker
}

fn settings(dir: &Path) -> Settings {
    let mut settings = Settings::new(dir).with_free_ports();
    settings.database = database_of(dir);
    settings
}

fn scripted(runner: &ScriptedRunner) -> Parts {
    Parts {
        runner: Some(Arc::new(runner.clone())),
        ..Parts::default()
    }
}

/// Ids of the scans with 100 findings, with those of the small reports, and of the largest ones.
struct FilledScans {
    hundred: i64,
    reported: i64,
    big: Vec<i64>,
    /// Findings of the largest scans, from the request for each to its end.
    results_per_second: f64,
}

/// Runs scripted scans in this data directory.
async fn fill(dir: &Path) -> FilledScans {
    let runner = ScriptedRunner::default();
    let mut unlimited = settings(dir);
    unlimited.rate_limit = RateLimit::Off;
    let shutdown = CancellationToken::new();
    let service = start_with(unlimited, shutdown.clone(), scripted(&runner));
    let service = service.await.unwrap();
    let api = Api::of(&service);
    let scan = async |number: usize, findings: usize| {
        runner.set_events(vec![tested(
            "web",
            1,
            (0..findings).map(|index| distinct(number, index)).collect(),
        )]);
        runner.finish_scans(1);
        let target = format!("127.0.{}.{}", number / 250, number % 250 + 1);
        let body = json!({"tool_id": 70, "target_name": target});
        let created = api.post("/scans", body).await;
        let id = created["data"]["created_id"].as_i64().unwrap();
        while api.value(&format!("/scans/{id}")).await["data"]["status_name"] != "finished" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        id
    };
    let mut big = Vec::new();
    let started_at = Instant::now();
    for number in 0..BIG_SCANS {
        big.push(scan(number, FINDINGS_PER_SCAN).await);
    }
    let findings = (BIG_SCANS * FINDINGS_PER_SCAN) as f64;
    let results_per_second = findings / started_at.elapsed().as_secs_f64();
    let reported = scan(BIG_SCANS, REPORTED).await;
    let mut hundred = 0;
    for number in 0..100 {
        hundred = scan(BIG_SCANS + 1 + number, 100).await;
    }
    shutdown.cancel();
    service.stopped().await.unwrap();
    FilledScans {
        hundred,
        reported,
        big,
        results_per_second,
    }
}

/// A finding with texts of its own, as long as those of real scanners.
fn distinct(scan: usize, index: usize) -> NewFinding {
    let text = |topic: &str| format!("{topic} of finding {index} in scan {scan}. ").repeat(6);
    let rows = (0..3).map(|row| vec![format!("/path/{scan}/{index}/{row}"), "200 OK".to_owned()]);
    NewFinding {
        vuln_description: text("Description"),
        risk_description: text("Risk"),
        recommendation: text("Recommendation"),
        evidence: Evidence::table(&["URL", "Response"], rows),
        ..finding(
            &format!("web.kind.{}", index % 40),
            Risk::from((index % 5) as i64),
            &format!("/{index}"),
        )
    }
}

/// Requests with the API key.
struct Api {
    base: String,
    key: String,
    http: Client,
}

impl Api {
    fn of(service: &Running) -> Self {
        Self {
            base: service.base_url.to_string(),
            key: service.api_key.clone(),
            http: Client::new(),
        }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.http
            .get(format!("{}{path}", self.base))
            .bearer_auth(&self.key)
    }

    async fn value(&self, path: &str) -> Value {
        self.get(path).send().await.unwrap().json().await.unwrap()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let request = self
            .http
            .post(format!("{}{path}", self.base))
            .bearer_auth(&self.key)
            .json(&body);
        request.send().await.unwrap().json().await.unwrap()
    }
}

/// The program, serving a data directory.
struct Service {
    api: Api,
    child: Child,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Service {
    fn start(dir: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scandeck"));
        if let Some(url) = database_url(dir) {
            command.env("SCANDECK_DATABASE_URL", url);
        }
        let mut child = command
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--logger-listen",
                "127.0.0.1:0",
                "--rate-limit",
                "off",
            ])
            .arg("--data-dir")
            .arg(dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let base = line.trim().rsplit(' ').next().unwrap().to_owned();
        let key = std::fs::read_to_string(dir.join("key"))
            .unwrap()
            .trim()
            .to_owned();
        Self {
            api: Api {
                base,
                key,
                http: Client::new(),
            },
            child,
        }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.api.get(path)
    }

    /// Requests as fast as a few clients can.
    async fn load(&self, request: impl Fn() -> RequestBuilder) -> String {
        let started_at = Instant::now();
        let client = async |_| {
            let mut times = Vec::new();
            while started_at.elapsed() < DURATION {
                let sent_at = Instant::now();
                request().send().await.unwrap().bytes().await.unwrap();
                times.push(sent_at.elapsed());
            }
            times
        };
        let times = futures::future::join_all((0..CLIENTS).map(client))
            .await
            .concat();
        format!(
            "{:.0} per second, {}",
            times.len() as f64 / started_at.elapsed().as_secs_f64(),
            quantiles(times)
        )
    }

    /// Creates a logger and returns its URL.
    async fn logger(&self, label: &str) -> String {
        let created = self
            .api
            .post("/http_loggers", json!({"label": label}))
            .await;
        let id = created["data"]["created_id"].as_i64().unwrap();
        self.api.value(&format!("/http_loggers/{id}")).await["data"]["handler_url"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Requests to several loggers as fast as the senders can.
    async fn capture_rate(&self, senders: usize, loggers: usize, number: usize) -> String {
        let mut urls = Vec::new();
        for logger in 0..loggers {
            urls.push(self.logger(&format!("rate-{senders}-{logger}")).await);
        }
        let started_at = Instant::now();
        let times: Vec<Duration> = futures::stream::iter(0..number)
            .map(|index| {
                let request = self.api.http.get(&urls[index % urls.len()]);
                async move {
                    let sent_at = Instant::now();
                    let answer = request.send().await.unwrap();
                    assert_eq!(answer.status(), 200);
                    sent_at.elapsed()
                }
            })
            .buffer_unordered(senders)
            .collect()
            .await;
        let each_second = number as f64 / started_at.elapsed().as_secs_f64();
        format!("{each_second:.0} per second, {}", quantiles(times))
    }

    /// Requests to a logger at fixed times, whether earlier ones are answered or not.
    async fn captures(&self, label: &str) -> String {
        let number = CAPTURES_PER_SECOND * STREAM.as_secs();
        let url = self.logger(label).await;
        let started_at = Instant::now();
        let times: Vec<Option<Duration>> = futures::stream::iter(0..number)
            .map(|index| {
                let (request, due) = (
                    self.api.http.get(format!("{url}?n={index}")),
                    started_at + STREAM.mul_f64(index as f64 / number as f64),
                );
                async move {
                    tokio::time::sleep_until(due.into()).await;
                    let answer = request
                        .send()
                        .await
                        .ok()
                        .filter(|answer| answer.status().is_success());
                    answer.map(|_| due.elapsed())
                }
            })
            .buffer_unordered(number as usize)
            .collect()
            .await;
        let answered: Vec<Duration> = times.into_iter().flatten().collect();
        format!(
            "{} of {number} answered, {}",
            answered.len(),
            quantiles(answered)
        )
    }

    /// The time from the request for a report to its end.
    async fn report(&self, format: &str, scans: &[i64]) -> String {
        let started_at = Instant::now();
        let body =
            json!({"format": format, "group_by": "target", "source": "scans", "resources": scans});
        let created = self.api.post("/reports", body).await;
        let Some(id) = created["data"]["report_id"].as_i64() else {
            return format!("refused: {}", created["message"]);
        };
        let ordered = started_at.elapsed();
        loop {
            let status = self.api.value(&format!("/reports/{id}")).await["data"]["status"].clone();
            if status != "waiting" {
                return format!(
                    "ordered in {}, {} after {}",
                    ms(ordered),
                    status.as_str().unwrap(),
                    ms(started_at.elapsed())
                );
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn large_list(&self) -> String {
        let started_at = Instant::now();
        let mut body = self.get("/findings").send().await.unwrap().bytes_stream();
        let (mut first, mut bytes) = (None, 0);
        while let Some(chunk) = body.next().await {
            first.get_or_insert_with(|| started_at.elapsed());
            bytes += chunk.unwrap().len();
        }
        let (first, total) = (ms(first.unwrap_or_default()), ms(started_at.elapsed()));
        format!("first byte {first}, {} MB in {total}", bytes >> 20)
    }

    /// Memory and wake-ups without any request.
    async fn idle(&self) -> String {
        let (seconds, before) = (10, self.wakeups());
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let each = (self.wakeups() - before) as f64 / seconds as f64;
        format!("{} MB resident, {each:.1} wake-ups/s", self.memory("VmRSS"))
    }

    /// A line of `/proc/PID/status` in MB.
    fn memory(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        number_in(&status, name).unwrap() / 1024
    }

    /// Voluntary context switches of all threads.
    fn wakeups(&self) -> u64 {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let status =
            |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("status")).ok();
        tasks
            .flatten()
            .filter_map(status)
            .filter_map(|status| number_in(&status, "voluntary_ctxt_switches"))
            .sum()
    }
}

fn number_in(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn print_figure(name: &str, value: impl std::fmt::Display) {
    println!("{name:<48} {value}");
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// Median and 99th percentile.
fn quantiles(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: f64| {
        times
            .get(((times.len().max(1) - 1) as f64 * share) as usize)
            .copied()
            .map(ms)
            .unwrap_or_default()
    };
    format!("p50 {}, p99 {}", at(0.5), at(0.99))
}
