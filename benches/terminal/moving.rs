//! A service of which four scans move: distinct findings with long texts (133 MB of JSON for
//! 100,000), made while they are sent. Each moving scan makes progress every second and finds
//! something every ten seconds.

use std::convert::Infallible;
use std::fmt::Write;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use futures::stream;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::faults::FaultSwitch;

const TARGETS: usize = 60;
/// The last so many scans move.
const MOVING: usize = 4;
const SEVERITIES: [i64; 10] = [4, 3, 3, 2, 2, 2, 1, 1, 0, 0];
/// Findings in one chunk of a response.
const CHUNK: usize = 500;
const WORDS: [&str; 16] = [
    "header",
    "cookie",
    "response",
    "certificate",
    "directory",
    "parameter",
    "session",
    "server",
    "library",
    "version",
    "redirect",
    "origin",
    "token",
    "backup",
    "handshake",
    "policy",
];

/// The service.
#[derive(Clone)]
pub struct Moving {
    findings: usize,
    started: Instant,
    faults: FaultSwitch,
}

impl Moving {
    /// Serves so many findings, or broken answers. Returns the base URL.
    pub async fn serve(findings: usize, faults: FaultSwitch) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/api/v2", listener.local_addr().unwrap());
        let state = Self {
            findings,
            started: Instant::now(),
            faults,
        };
        let router = Router::new()
            .route("/api/v2/{*path}", get(answer))
            .with_state(state);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        base
    }

    /// The seconds since the start, and the findings that each moving scan has added.
    fn moved(&self) -> (usize, usize) {
        let seconds = self.started.elapsed().as_secs() as usize;
        (seconds, seconds / 10)
    }

    fn scan(&self, id: usize) -> Value {
        let ((seconds, added), is_moving) = (self.moved(), id > TARGETS - MOVING);
        let (status, progress) = if is_moving {
            ("running", (5 + seconds / 10).min(99))
        } else {
            ("finished", 100)
        };
        let tests = if is_moving {
            (seconds + id).min(7_999)
        } else {
            8_000
        };
        let own = self.findings / TARGETS + if is_moving { added } else { 0 };
        json!({
            "id": id, "tool_id": 170, "target_id": id, "workspace_id": 1, "status_name": status, "progress": progress,
            "start_time": "2026-11-20 10:00:00", "end_time": (!is_moving).then_some("2026-11-20 11:00:00"),
            "num_tests": 8_000, "num_finished_tests": tests,
            "result_summary": {"high": own / 5, "medium": own / 3, "low": own / 5, "info": own - own / 5 * 2 - own / 3},
        })
    }

    /// The numbers of the findings of a scan, or of all; those that moving scans added come last.
    fn numbers(&self, scan: Option<usize>) -> Vec<usize> {
        let added = self.moved().1;
        let scans = TARGETS - MOVING + 1..=TARGETS;
        let news = scans
            .flat_map(|scan| (0..added).map(move |at| self.findings + at * TARGETS + scan - 1));
        let is_of = |number: &usize| scan.is_none_or(|scan| number % TARGETS + 1 == scan);
        let first = self.findings.next_multiple_of(TARGETS) - self.findings;
        (0..self.findings)
            .chain(news.map(|number| number + first))
            .filter(is_of)
            .collect()
    }
}

#[derive(Deserialize)]
struct ListQuery {
    task_id: Option<usize>,
    status: Option<String>,
    page: Option<i64>,
}

async fn answer(
    State(service): State<Moving>,
    Path(path): Path<String>,
    Query(query): Query<ListQuery>,
) -> Response {
    let first_page = query.page.unwrap_or(1) == 1;
    let data = match path.trim_matches('/') {
        "workspaces" => {
            json!([{"id": 1, "name": "Large", "scan_count": TARGETS, "target_count": TARGETS}])
        }
        "targets" if first_page => (1..=TARGETS)
            .map(|id| json!({"id": id, "name": host(id), "workspace_id": 1}))
            .collect(),
        "scans" if first_page => {
            let scans = (1..=TARGETS).map(|id| service.scan(id));
            let is_requested = |scan: &Value| {
                query
                    .status
                    .as_deref()
                    .is_none_or(|status| scan["status_name"] == *status)
            };
            scans.filter(is_requested).collect()
        }
        "findings" => {
            let numbers = || service.numbers(query.task_id);
            return service
                .faults
                .answer(&numbers)
                .unwrap_or_else(|| findings(numbers(), text_of));
        }
        "targets" | "scans" | "http_loggers" | "reports" | "wordlists" => json!([]),
        path => match path.strip_prefix("scans/").and_then(|id| id.parse().ok()) {
            Some(id) => service.scan(id),
            None => {
                return (StatusCode::NOT_FOUND, Json(json!({"message": "not found"})))
                    .into_response();
            }
        },
    };
    Json(json!({"data": data})).into_response()
}

/// Sends findings in chunks, so that neither side holds all of them.
pub fn findings(
    numbers: Vec<usize>,
    text_of: impl Fn(usize) -> String + Send + 'static,
) -> Response {
    let chunks: Vec<Vec<usize>> = numbers.chunks(CHUNK).map(<[usize]>::to_vec).collect();
    let last = chunks.len();
    let made = chunks.into_iter().enumerate().map(move |(at, numbers)| {
        let mut text = String::from(if at == 0 { "{\"data\":[" } else { "," });
        let all: Vec<String> = numbers.into_iter().map(&text_of).collect();
        text.push_str(&all.join(","));
        text.push_str(if at + 1 == last { "]}" } else { "" });
        Ok::<_, Infallible>(text)
    });
    let body = if last == 0 {
        Body::from("{\"data\":[]}")
    } else {
        Body::from_stream(stream::iter(made))
    };
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

pub fn host(target: usize) -> String {
    format!("host{target}.large.test")
}

/// Words that differ for each finding.
fn words(number: usize, count: usize) -> String {
    let mut text = String::new();
    let mut state = number as u64;
    for at in 0..count {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let word = WORDS[(state >> 60) as usize];
        let _ = write!(
            text,
            "{word}{}",
            if at % 9 == 8 {
                format!(" {number}. ")
            } else {
                " ".to_owned()
            }
        );
    }
    text
}

fn name(number: usize) -> String {
    format!(
        "Weakness {number:06} in the {} of the site",
        WORDS[number % WORDS.len()]
    )
}

/// A finding of 1.3 kB as text.
pub fn text_of(number: usize) -> String {
    let target = number % TARGETS + 1;
    finding(number, target, target).to_string()
}

/// A finding of 1.3 kB, of this scan and target.
pub fn finding(number: usize, scan: usize, target: usize) -> Value {
    let evidence = format!(
        "GET /page/{number}/{} HTTP/1.1\r\nHost: {}\r\n\r\nHTTP/1.1 200 OK\r\nX-Page: {number}\r\n\r\n{}",
        WORDS[number / 7 % WORDS.len()],
        host(target),
        words(number * 5 + 1, 22),
    );
    json!({
        "id": number + 1, "name": name(number), "vuln_id": format!("LARGE-{:03}", number % 400),
        "vuln_description": words(number * 5 + 2, 28), "risk_description": words(number * 5 + 3, 18),
        "recommendation": words(number * 5 + 4, 22), "references": [format!("https://reference.test/{number}")],
        "vuln_evidence": {"type": "text", "data": evidence}, "risk_level": SEVERITIES[number % SEVERITIES.len()],
        "status": "open", "test_finished": true, "cwe": format!("CWE-{}", 100 + number % 300),
        "port": 443 + number / 6_000, "protocol": "tcp", "service": "https", "target_id": target, "task_id": scan,
    })
}

/// The same findings as CSV, for csvlens.
pub fn write_csv(findings: usize, path: &std::path::Path) {
    let mut text =
        String::from("risk,name,target,port,description,risk_description,recommendation\n");
    for number in 0..findings {
        let texts = [2, 3, 4]
            .map(|which| words(number * 5 + which, 24))
            .join(",");
        let (risk, host) = (
            SEVERITIES[number % SEVERITIES.len()],
            host(number % TARGETS + 1),
        );
        let _ = writeln!(text, "{risk},{},{host},443,{texts}", name(number));
    }
    std::fs::write(path, text).unwrap();
}
