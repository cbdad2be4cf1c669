//! A generated workspace behind real HTTP: 60 targets, a scan each, 400 findings in 34 classes. It
//! can be scanned again: every scan and finding gets a new id, evidence other dates and request
//! ids, and a few findings are new. Its logger has as many captures as is wanted.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;
use jiff::Timestamp;
use scandeck::contract::{
    Evidence, Finding, FindingId, ResultSummary, Risk, Scan, ScanId, ScanStatus, Stamp, Target,
    TargetId, Workspace, WorkspaceId,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::busy_logger::BusyLogger;

pub const FINDINGS: usize = 400;
pub const CLASSES: usize = 34;
const TARGETS: i64 = 60;

/// How many findings each class has, the worst risks first; together [`FINDINGS`].
const COUNTS: [usize; CLASSES] = [
    2, 1, 1, 3, 21, 4, 6, 2, 1, 5, 30, 28, 24, 12, 9, 7, 3, 2, 41, 11, 5, 4, 26, 3, 2, 1, 44, 40,
    33, 16, 8, 3, 1, 1,
];

/// Present data of the service.
#[derive(Default)]
struct ServiceData {
    scans: Vec<Scan>,
    findings: Vec<Finding>,
}

/// The service; it ends with the test.
pub struct Generated {
    pub base: String,
    pub busy_logger: Arc<BusyLogger>,
    data: Arc<Mutex<ServiceData>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Generated {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Generated {
    /// Scanned once: 400 findings.
    pub async fn new() -> Self {
        Self::with(FINDINGS).await
    }

    /// Scanned once, with any number of findings: above 400 the same on more ports.
    pub async fn with(findings: usize) -> Self {
        let (data, busy_logger) = (
            Arc::new(Mutex::new(ServiceData::default())),
            Arc::new(BusyLogger::default()),
        );
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/api/v2", listener.local_addr().unwrap());
        let state = (Arc::clone(&data), Arc::clone(&busy_logger));
        let router = Router::new()
            .route("/api/v2/{*path}", get(answer))
            .with_state(state);
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let generated = Self {
            base,
            busy_logger,
            data,
            task,
        };
        generated.scan(0, findings);
        generated
    }

    /// Scans every target once more, some hours later. Of the findings the first `keep` are seen
    /// again.
    pub fn scan(&self, round: i64, keep: usize) {
        let mut data = self.data.lock().unwrap();
        data.scans
            .extend((1..=TARGETS).map(|target| scan(round, target)));
        let found = (0..keep).map(|number| finding(round, number));
        data.findings.extend(found);
    }

    /// A finding that no earlier round saw.
    pub fn find_new(&self, round: i64, target: i64) {
        let name = "Backup archive readable";
        let new = Finding {
            id: FindingId(round * 1_000_000 + 900_000 + target),
            name: name.into(),
            vuln_id: "GEN-BACKUP".into(),
            ..finding(round, (target - 1) as usize)
        };
        let new = Finding {
            target_id: Some(TargetId(target)),
            task_id: Some(ScanId(round * 100 + target)),
            ..new
        };
        self.data.lock().unwrap().findings.push(new);
    }
}

/// When a round's scans start: the first two hours ago, the next in an hour, so that it is later
/// than what a person decides in the test.
fn stamp(round: i64, minutes: i64) -> Stamp {
    let begin = Timestamp::now().as_second() - 2 * 3_600;
    Stamp(Timestamp::from_second(begin + round * 3 * 3_600 + minutes * 60).unwrap())
}

fn scan(round: i64, target: i64) -> Scan {
    Scan {
        id: ScanId(round * 100 + target),
        tool_id: 170,
        target_id: TargetId(target),
        status_name: ScanStatus::Finished,
        progress: 100,
        start_time: Some(stamp(round, target)),
        end_time: Some(stamp(round, target + 5)),
        duration: 300,
        num_tests: 30,
        num_finished_tests: 30,
        result_summary: ResultSummary {
            text: "done".into(),
            ..ResultSummary::default()
        },
        tool_params: Some(json!({"scan_type": "light"})),
        workspace_id: Some(WorkspaceId(1)),
        ..Scan::default()
    }
}

/// The class of a finding, and which of that class it is.
fn class_of(number: usize) -> (usize, usize) {
    let mut left = number;
    for (class, &count) in COUNTS.iter().enumerate() {
        if left < count {
            return (class, left);
        }
        left -= count;
    }
    unreachable!("there are {FINDINGS} findings")
}

fn risk_of(class: usize) -> Risk {
    match class {
        0..=1 => Risk::Critical,
        2..=9 => Risk::High,
        10..=17 => Risk::Medium,
        18..=25 => Risk::Low,
        _ => Risk::Info,
    }
}

fn finding(round: i64, number: usize) -> Finding {
    let (class, member) = class_of(number % FINDINGS);
    let target = (member as i64 + class as i64 * 7) % TARGETS + 1;
    let evidence = format!(
        "GET /path{class} HTTP/1.1\r\nHost: host{target}.gen.test\r\n\r\nHTTP/1.1 200 OK\r\nDate: {}\r\nX-Request-Id: {:016x}\r\n\r\nkind {class}",
        stamp(round, number as i64).0,
        (round as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number as u64,
    );
    Finding {
        id: FindingId(round * 1_000_000 + number as i64 + 1),
        name: format!("Weakness of kind {class:02}").into(),
        vuln_id: format!("GEN-{class:02}").into(),
        vuln_description: format!("What kind {class:02} means.").into(),
        risk_description: "It can be used.".into(),
        recommendation: "Fix it.".into(),
        risk_level: risk_of(class),
        vuln_evidence: Evidence::from_value(&json!({"type": "text", "data": evidence})),
        status: "open".into(),
        test_finished: true,
        cwe: format!("CWE-{}", 100 + class).into(),
        port: 443 + (number / FINDINGS) as i64,
        protocol: "tcp".into(),
        service: "https".into(),
        target_id: Some(TargetId(target)),
        task_id: Some(ScanId(round * 100 + target)),
        ..Finding::default()
    }
}

#[derive(Deserialize)]
struct ListQuery {
    task_id: Option<i64>,
    status: Option<String>,
    page: Option<i64>,
    since_id: Option<i64>,
}

async fn answer(
    State((data, busy_logger)): State<(Arc<Mutex<ServiceData>>, Arc<BusyLogger>)>,
    Path(path): Path<String>,
    Query(query): Query<ListQuery>,
) -> axum::response::Response {
    if let Some(answer) = busy_logger.answer(&path, query.since_id) {
        return answer;
    }
    let data = data.lock().unwrap();
    let first_page = query.page.unwrap_or(1) == 1;
    let data: Value = match path.trim_matches('/') {
        "workspaces" => json!([Workspace {
            id: WorkspaceId(1),
            name: "Generated".into(),
            scan_count: data.scans.len() as i64,
            target_count: TARGETS,
            ..Workspace::default()
        }]),
        "targets" if first_page => json!((1..=TARGETS).map(target).collect::<Vec<_>>()),
        "scans" if first_page => {
            let matches = |scan: &&Scan| {
                query
                    .status
                    .as_deref()
                    .is_none_or(|status| scan.status_name.as_str() == status)
            };
            json!(data.scans.iter().filter(matches).collect::<Vec<_>>())
        }
        "findings" => {
            let matches = |finding: &&Finding| {
                query
                    .task_id
                    .is_none_or(|scan| finding.task_id == Some(ScanId(scan)))
            };
            json!(data.findings.iter().filter(matches).collect::<Vec<_>>())
        }
        "targets" | "scans" | "http_loggers" | "reports" | "wordlists" => json!([]),
        _ => {
            let body = json!({"status": 404, "message": "not found"});
            return (StatusCode::NOT_FOUND, axum::Json(body)).into_response();
        }
    };
    axum::Json(json!({"data": data})).into_response()
}

fn target(id: i64) -> Target {
    Target {
        id: TargetId(id),
        name: format!("host{id}.gen.test").into(),
        workspace_id: WorkspaceId(1),
        ..Target::default()
    }
}
