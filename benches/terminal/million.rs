//! A service with 1,000,000 findings of 20,000 scans of 10,000 targets, made while they are sent,
//! and an archive with 1,000,000 captures.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use jiff::Timestamp;
use scandeck::contract::{Capture, CaptureId, LoggerId, Stamp};
use scandeck::oob::{ArchivedCapture, Store};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::moving::{finding, findings, host};

pub const TARGETS: usize = 10_000;
const SCANS_OF_TARGET: usize = 2;
/// Captures of one write to the archive.
const BATCH: i64 = 1_000;

/// The service. Each scan has the same number of findings.
#[derive(Clone, Copy)]
pub struct Million {
    of_scan: usize,
}

#[derive(Deserialize)]
struct ListQuery {
    task_id: Option<usize>,
    status: Option<String>,
    page: Option<usize>,
    limit: Option<usize>,
}

impl Million {
    /// Serves about so many findings. Returns the base URL.
    pub async fn serve(findings: usize) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/api/v2", listener.local_addr().unwrap());
        let state = Self {
            of_scan: findings.div_ceil(TARGETS * SCANS_OF_TARGET),
        };
        let router = Router::new()
            .route("/api/v2/{*path}", get(answer))
            .with_state(state);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        base
    }

    fn scan(self, id: usize) -> Value {
        // The scans of a target are of different tools, so that none proves the absence of what
        // another found.
        let (tool, count) = ([170, 450][id % 2], self.of_scan);
        json!({
            "id": id, "tool_id": tool, "target_id": target_of(id), "workspace_id": 1, "status_name": "finished",
            "progress": 100, "start_time": "2026-11-20 10:00:00", "end_time": "2026-11-20 11:00:00",
            "num_tests": 100, "num_finished_tests": 100,
            "result_summary": {"critical": 0, "high": count / 5, "medium": count / 3, "low": 0, "info": count - count / 5 - count / 3},
        })
    }
}

fn target_of(scan: usize) -> usize {
    scan.div_ceil(SCANS_OF_TARGET)
}

async fn answer(
    State(service): State<Million>,
    Path(path): Path<String>,
    Query(query): Query<ListQuery>,
) -> Response {
    let page = |count: usize, of: &dyn Fn(usize) -> Value| -> Value {
        let (limit, page) = (query.limit.unwrap_or(count), query.page.unwrap_or(1));
        (1..=count)
            .skip((page - 1) * limit)
            .take(limit)
            .map(of)
            .collect()
    };
    let scans = TARGETS * SCANS_OF_TARGET;
    let data = match path.trim_matches('/') {
        "workspaces" => {
            json!([{"id": 1, "name": "Large", "scan_count": scans, "target_count": TARGETS}])
        }
        "targets" => page(
            TARGETS,
            &|id| json!({"id": id, "name": host(id), "workspace_id": 1}),
        ),
        "scans" if query.status.is_none() => page(scans, &|id| service.scan(id)),
        "findings" => {
            let first = query.task_id.map_or(0, |scan| (scan - 1) * service.of_scan);
            let count = query
                .task_id
                .map_or(scans * service.of_scan, |_| service.of_scan);
            let text_of = move |number: usize| {
                let scan = number / service.of_scan + 1;
                finding(number, scan, target_of(scan)).to_string()
            };
            return findings((first..first + count).collect(), text_of);
        }
        "scans" | "http_loggers" | "reports" | "wordlists" => json!([]),
        _ => return (StatusCode::NOT_FOUND, Json(json!({"message": "not found"}))).into_response(),
    };
    Json(json!({"data": data})).into_response()
}

/// Writes captures into the archive of the only service that a dashboard of this home knows.
pub async fn archive_captures(home: &FilePath, count: i64) {
    let mut services = std::fs::read_dir(home.join("scandeck/of")).unwrap();
    let mut store = Store::open(&services.next().unwrap().unwrap().path())
        .await
        .unwrap()
        .store;
    for first in (0..count).step_by(BATCH as usize) {
        store
            .archive((first..first + BATCH).map(archived).collect())
            .await
            .unwrap();
    }
    store.close().await;
}

fn archived(number: i64) -> ArchivedCapture {
    let capture = Capture {
        id: CaptureId(number + 1),
        ip_address: format!("203.0.{}.{}", number / 250 % 200, number % 250).into(),
        request_method: "GET".into(),
        url_params: format!("n={number}").into(),
        http_headers: vec![
            "Host: probe.large.test".into(),
            "User-Agent: curl/8.5.0".into(),
        ],
        request_date: Some(Stamp(
            Timestamp::from_second(1_700_000_000 + number).unwrap(),
        )),
        ..Capture::default()
    };
    ArchivedCapture {
        workspace: "Large".into(),
        logger: LoggerId(1),
        label: "probe".into(),
        capture: Arc::new(capture),
        ..ArchivedCapture::default()
    }
}
