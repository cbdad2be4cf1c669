//! Sample data for drawing, sent to a model as the poller sends it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::Timestamp;
use scandeck::client::calls::{ApiCall, CallEnd, SentBody};
use scandeck::contract::schedule::ScanSchedule;
use scandeck::contract::{
    Capture, Evidence, Finding, Logger, LoggerId, NewScan, Owasp, Report, ReportFormat,
    ReportStatus, ResultSummary, Risk, Scan, ScanId, ScanOutput, ScanStatus, Stamp, Target,
    TargetType, Test, Wordlist, Workspace,
};
use scandeck::dashboard::base::plan::Snapshot;
use scandeck::dashboard::base::{
    CaptureRow, Effect, Link, Now, PartData, PollBudget, PollEvent, Session, Size, Update,
};
use scandeck::dashboard::core::{Msg, update};
use scandeck::dashboard::data::{OobNews, RecordedCalls};
use scandeck::dashboard::model::Model;
use scandeck::oob::ArchivedCapture;
use scandeck::table::Table;
use scandeck::triage::correlate;
use serde_json::json;

/// When it all happens.
pub const NOW: i64 = 1_800_000_000;

pub fn ago(seconds: i64) -> Stamp {
    Stamp(Timestamp::from_second(NOW - seconds).unwrap())
}

pub fn send(model: &mut Model, mono: u64, msg: Msg) {
    let now = Now {
        mono: Duration::from_millis(mono),
        wall: Timestamp::from_second(NOW).unwrap(),
    };
    let mut effects = update(model, now, msg);
    // Rows are made as the runtime does it, at once.
    while let Some(at) = effects
        .iter()
        .position(|effect| matches!(effect, Effect::Correlate(..)))
    {
        if let Effect::Correlate(generation, input) = effects.remove(at) {
            effects.extend(update(
                model,
                now,
                Msg::Correlated(generation, Box::new(correlate(&input))),
            ));
        }
    }
}

pub fn learn(model: &mut Model, mono: u64, event: impl Into<PollEvent>) {
    let generation = model.connection.generation;
    send(
        model,
        mono,
        Msg::Update(Update {
            generation,
            at: ago(2),
            event: event.into(),
        }),
    );
}

/// Captures of a logger come from the archive.
pub fn receive_captures(model: &mut Model, mono: u64, logger: i64, captures: Vec<Capture>) {
    let archived = |capture| ArchivedCapture {
        workspace: "Acme external".into(),
        logger: LoggerId(logger),
        label: if logger == 1 {
            "blind-ssrf"
        } else {
            "xss-probe"
        }
        .into(),
        handler_url: format!("http://127.0.0.1:8766/l/{logger}/").into(),
        seen_at: ago(2),
        capture: Arc::new(capture),
    };
    let new = captures
        .into_iter()
        .map(|capture| CaptureRow::new(&archived(capture), Vec::new()))
        .collect();
    send(
        model,
        mono,
        Msg::Oob(OobNews::Captures {
            generation: model.connection.generation,
            new,
        }),
    );
}

/// Presses keys, 300 ms apart, so that the detail follows: `"4 j enter"`.
pub fn press(model: &mut Model, keys: &str) {
    let mut mono = model.now.mono.as_millis() as u64;
    for key in keys.split_whitespace() {
        let (code, modifiers) = match key {
            "enter" => (KeyCode::Enter, KeyModifiers::NONE),
            "esc" => (KeyCode::Esc, KeyModifiers::NONE),
            "space" => (KeyCode::Char(' '), KeyModifiers::NONE),
            "tab" => (KeyCode::Tab, KeyModifiers::NONE),
            other => (
                KeyCode::Char(other.chars().next().unwrap()),
                KeyModifiers::NONE,
            ),
        };
        mono += 300;
        send(model, mono, Msg::Key(KeyEvent::new(code, modifiers)));
        if let Some(at) = model.screen.detail.follows_at() {
            send(model, at.as_millis() as u64, Msg::Wake);
        }
    }
}

pub fn blank(columns: u16, rows: u16) -> Model {
    let session = Session {
        name: "local".into(),
        base_url: "http://127.0.0.1:8765/api/v2".into(),
        ..Session::default()
    };
    Model::new(session, Size { columns, rows })
}

/// Acme external: a dozen targets, scans in every state, findings of every risk, captures of two
/// loggers.
pub fn populated(columns: u16, rows: u16) -> Model {
    // Each test gets a copy. The lock is for text inputs, which threads cannot share.
    static FILLED: LazyLock<Mutex<HashMap<(u16, u16), Model>>> = LazyLock::new(Mutex::default);
    let mut models = FILLED.lock().unwrap();
    let model = models.entry((columns, rows));
    model.or_insert_with(|| filled(columns, rows)).clone()
}

fn filled(columns: u16, rows: u16) -> Model {
    let mut model = blank(columns, rows);
    learn(&mut model, 0, PollEvent::ClockOffset(0));
    learn(&mut model, 0, PollEvent::Link(Link::Live { at: ago(2) }));
    learn(
        &mut model,
        0,
        Snapshot::Workspaces(Arc::new(Table::new(workspaces()))),
    );
    learn(
        &mut model,
        0,
        Snapshot::Targets(Arc::new(Table::new(targets()))),
    );
    // Two advances with time between, so that speeds and failures are known.
    let begun = |scan: Scan| Scan {
        num_finished_tests: (scan.num_finished_tests - 1).max(0),
        ..scan
    };
    learn(
        &mut model,
        0,
        Snapshot::Scans(Arc::new(Table::new(scans(true).into_iter().map(begun)))),
    );
    learn(
        &mut model,
        0,
        Snapshot::Scans(Arc::new(Table::new(scans(true)))),
    );
    learn(
        &mut model,
        50_000,
        Snapshot::Scans(Arc::new(Table::new(scans(false)))),
    );
    learn(
        &mut model,
        50_000,
        Snapshot::Findings(Arc::new(Table::new(findings()))),
    );
    learn(
        &mut model,
        50_000,
        Snapshot::Loggers(Arc::new(Table::new(loggers()))),
    );
    for logger in [1, 2] {
        receive_captures(&mut model, 50_000, logger, captures(logger));
    }
    learn(
        &mut model,
        50_000,
        Snapshot::Reports(Arc::new(Table::new(reports()))),
    );
    learn(
        &mut model,
        50_000,
        Snapshot::Wordlists(Arc::new(Table::new(wordlists()))),
    );
    learn(
        &mut model,
        50_000,
        Snapshot::Schedules(Arc::new(Table::new(schedules()))),
    );
    receive_calls(&mut model, 50_000, calls());
    let mut after = model.now.mono.as_millis() as u64;
    after += 20_000;
    send(&mut model, after, Msg::Wake);
    model
}

pub fn workspaces() -> Vec<Workspace> {
    let workspace = |id: i64, name: &str, about: &str, targets, scans| Workspace {
        id: id.into(),
        name: name.into(),
        description: about.into(),
        target_count: targets,
        scan_count: scans,
    };
    vec![
        workspace(
            1,
            "Acme external",
            "What can be reached from outside",
            13,
            61,
        ),
        workspace(2, "Internal lab", "", 240, 12_400),
        workspace(3, "Release gate", "Every build before it ships", 3, 118),
    ]
}

const TARGETS: [&str; 13] = [
    "shop",
    "api",
    "pay",
    "vpn",
    "mail",
    "static",
    "auth",
    "cdn",
    "admin",
    "status",
    "git",
    "docs",
    "quarterly-reports",
];

pub fn targets() -> Vec<Target> {
    let target = |(i, name): (usize, &str)| Target {
        id: (i as i64 + 1).into(),
        name: format!("{name}.acme.test").as_str().into(),
        kind: TargetType::Hostname,
        description: if i == 0 {
            "The web shop, behind the CDN.".into()
        } else {
            "".into()
        },
        workspace_id: 1.into(),
        tags: match i {
            1 => vec!["prod".into(), "web".into()],
            _ => Vec::new(),
        },
    };
    TARGETS.into_iter().enumerate().map(target).collect()
}

fn scan(id: i64, tool: i64, target: i64, status: ScanStatus) -> Scan {
    Scan {
        id: id.into(),
        tool_id: tool,
        target_id: target.into(),
        status_name: status,
        workspace_id: Some(1.into()),
        start_time: Some(ago(600)),
        ..Scan::default()
    }
}

fn running(id: i64, tool: i64, target: i64, done: i64, all: i64, found: [i64; 5]) -> Scan {
    Scan {
        progress: done * 100 / all,
        num_tests: all,
        num_finished_tests: done,
        result_summary: summary(found),
        ..scan(id, tool, target, ScanStatus::Running)
    }
}

fn summary([critical, high, medium, low, info]: [i64; 5]) -> ResultSummary {
    ResultSummary {
        text: "".into(),
        critical: Some(critical),
        high: Some(high),
        medium: Some(medium),
        low: Some(low),
        info: Some(info),
    }
}

/// Scans in every state; `before` some time ago, when two that failed were still running.
pub fn scans(before: bool) -> Vec<Scan> {
    let failed = |id, tool, target, status: ScanStatus, words: &str| {
        let status = if before { ScanStatus::Running } else { status };
        Scan {
            status_message: words.into(),
            end_time: Some(ago(540)),
            ..scan(id, tool, target, status)
        }
    };
    let step = i64::from(!before);
    vec![
        failed(
            118,
            90,
            9,
            ScanStatus::ConnectionError,
            "connection refused on 8443",
        ),
        failed(117, 450, 9, ScanStatus::FailedToStart, "no route to host"),
        Scan {
            start_time: Some(ago(1_200)),
            ..running(116, 70, 5, 8_500, 65_535, [0, 0, 0, 0, 2])
        },
        running(115, 170, 1, 100 + 22 * step, 200, [1, 4, 9, 0, 3]),
        running(114, 170, 3, 30 + 6 * step, 200, [1, 6, 0, 0, 0]),
        running(113, 450, 11, 10 + 11 * step, 32, [0, 0, 2, 0, 0]),
        scan(112, 170, 6, ScanStatus::Waiting),
        Scan {
            progress: 100,
            end_time: Some(ago(540)),
            duration: 61,
            num_tests: 32,
            num_finished_tests: 32,
            result_summary: summary([0, 2, 9, 3, 1]),
            status_message: "All tests ended.".into(),
            tool_params: Some(json!({"scan_type": "light"})),
            ..scan(111, 450, 2, ScanStatus::Finished)
        },
        Scan {
            end_time: Some(ago(7_200)),
            ..scan(110, 70, 4, ScanStatus::Stopped)
        },
        Scan {
            end_time: Some(ago(90_000)),
            ..scan(109, 9_999, 12, ScanStatus::Other("paused by quota".into()))
        },
    ]
}

pub fn findings() -> Vec<Finding> {
    let all: [(i64, &str, i64, i64, i64, bool); 14] = [
        (4, "Private key at /backup/s.key", 1, 443, 115, true),
        (4, "Readable secret in /config.json", 3, 8_443, 114, false),
        (3, "Git repository exposed at /.git/", 1, 443, 115, true),
        (3, "/.env readable", 2, 443, 111, false),
        (3, "Database dump /db.sql, 1.9 MB", 2, 443, 111, true),
        (
            3,
            "Source repository at /.hg readable with the whole history of the payment service",
            3,
            8_080,
            114,
            false,
        ),
        (2, "Directory listing at /download/", 1, 443, 115, false),
        (2, "TLS 1.0 and TLS 1.1 offered", 11, 443, 113, false),
        (2, "Weak DH group offered (1024 bit)", 4, 443, 110, false),
        (2, "Certificate expired 3 d ago", 7, 443, 111, true),
        (1, "Weak cookie attributes", 1, 443, 115, false),
        (1, "robots.txt names private paths", 1, 443, 115, false),
        (0, "Technology seen: nginx", 1, 443, 115, false),
        (0, "Open port", 5, 22, 116, true),
    ];
    let finding = |(i, (risk, name, target, port, scan, proven)): (
        usize,
        (i64, &str, i64, i64, i64, bool),
    )| Finding {
        id: (500 - i as i64).into(),
        name: name.into(),
        risk_level: Risk::from(risk),
        target_id: Some(target.into()),
        task_id: Some(scan.into()),
        port,
        protocol: "tcp".into(),
        service: "https".into(),
        confirmed: proven,
        in_cisa_catalog: i == 5,
        status: "open".into(),
        ..Finding::default()
    };
    let mut all: Vec<Finding> = all.into_iter().enumerate().map(finding).collect();
    all[0] = detailed(all[0].clone());
    all
}

/// A finding with every field that a service can report.
fn detailed(finding: Finding) -> Finding {
    Finding {
        vuln_description: "The file /backup/s.key is served to anyone who asks for it.".into(),
        risk_description: "The private key of a certificate can be read by anyone. Whoever takes it can pose as the \
                           site, and read what was recorded where forward secrecy was off."
            .into(),
        recommendation: "Take it off the web root; replace the key.".into(),
        vuln_evidence: Evidence::table(
            &["Request", "Response"],
            [vec!["GET /backup/s.key HTTP/1.1".into(), "HTTP/1.1 200\n-----BEGIN PRIVATE KEY&#45;&#45;".into()]],
        ),
        references: vec!["https://cwe.mitre.org/data/definitions/538.html".into()],
        cve: vec!["CVE-2024-0001".into()],
        cvssv3: Some(9.1),
        epss_score: Some(0.42),
        cwe: "CWE-538".into(),
        owasp: Owasp { owasp_2021: "A01:2021".into(), ..Owasp::default() },
        vuln_id: "WEB-BACKUP-KEY".into(),
        ..finding
    }
}

pub fn loggers() -> Vec<Logger> {
    let logger = |id: i64, label: &str, captured, left, days| Logger {
        id: id.into(),
        label: label.into(),
        handler_url: format!("http://127.0.0.1:8766/l/{label}-9ab1/")
            .as_str()
            .into(),
        active_days: days,
        num_requests: captured,
        requests_left: left,
    };
    vec![
        logger(1, "blind-ssrf", 4, 963, 13),
        logger(2, "xss.callback", 2, 0, 0),
    ]
}

pub fn captures(logger: i64) -> Vec<Capture> {
    let capture =
        |id: i64, seconds: i64, method: &str, query: &str, body: &str, from: &str| Capture {
            id: (logger * 100 + id).into(),
            ip_address: from.into(),
            request_method: method.into(),
            url_params: query.into(),
            user_agent: "curl/8.5.0".into(),
            http_headers: vec![
                "Host: 127.0.0.1".into(),
                "User-Agent: curl/8.5.0".into(),
                "Accept: */*".into(),
            ],
            request_body_type: if body.is_empty() {
                "".into()
            } else {
                "application/json".into()
            },
            request_body_base64: body.into(),
            request_date: Some(ago(seconds)),
            path: Some("/latest/meta-data".into()),
            http_version: Some("HTTP/1.1".into()),
            remote_port: Some(51_312),
            ..Capture::default()
        };
    match logger {
        1 => vec![
            capture(1, 400, "GET", "", "", "192.0.2.44"),
            capture(
                2,
                300,
                "POST",
                "t=9ab1",
                "eyJ1c2VyIjoiYWRtaW4iLCJpZHMiOlsxLDJdfQ==",
                "198.51.100.4",
            ),
            capture(3, 200, "GET", "t=k7f2%2Flatest&x=1", "", "203.0.113.9"),
            capture(4, 90, "GET", "t=k7f2", "", "2001:db8:85a3::8a2e:370:7334"),
        ],
        _ => vec![
            capture(1, 250, "PROPFIND", "cookie=abc", "", "203.0.113.9"),
            capture(2, 60, "POST", "", "AAEC//79", "203.0.113.9"),
        ],
    }
}

pub fn reports() -> Vec<Report> {
    let report = |id: i64, name: &str, format, status, made: Option<Stamp>| Report {
        id: id.into(),
        download_name: name.into(),
        status,
        format,
        generation_date: made,
        expiration_date: Some(ago(-86_400 * 29)),
        ..Report::default()
    };
    vec![
        report(
            3,
            "acme-external-by-target.html",
            ReportFormat::Html,
            ReportStatus::Waiting,
            None,
        ),
        report(
            2,
            "acme-external.json",
            ReportFormat::Json,
            ReportStatus::Finished,
            Some(ago(3_000)),
        ),
        report(
            1,
            "release-gate.csv",
            ReportFormat::Csv,
            ReportStatus::Failed,
            Some(ago(90_000)),
        ),
    ]
}

/// The runtime reports calls to the activity view.
pub fn receive_calls(model: &mut Model, mono: u64, calls: Vec<ApiCall>) {
    let table = Arc::new(Table::new(calls));
    let budget = Some(PollBudget {
        limit: 250,
        remaining: 231,
        reset: None,
    });
    let recorded = RecordedCalls {
        table,
        budget,
        memory: Some(84_100_000),
    };
    send(model, mono, Msg::Calls(Box::new(recorded)));
}

pub fn calls() -> Vec<ApiCall> {
    let call =
        |id: i64, method: &str, path: &str, end: Option<(u64, Option<u16>, u64, &str)>| ApiCall {
            id: id.into(),
            started: Some(ago(9 - id)),
            method: method.into(),
            path: path.into(),
            end: end.map(|(milliseconds, status, bytes, error)| CallEnd {
                milliseconds,
                status,
                bytes,
                error: Some(error)
                    .filter(|error| !error.is_empty())
                    .map(Into::into),
            }),
            ..ApiCall::default()
        };
    let text = r#"{"tool_id":170,"target_id":7,"tool_params":{"scan_type":"deep"}}"#;
    let body = SentBody {
        content_type: "application/json",
        text: Some(text.into()),
    };
    let refused =
        "the target is outside of the scope file (add it with `scandeck serve scope add`)";
    vec![
        call(1, "GET", "/workspaces", Some((12, Some(200), 512, ""))),
        call(
            2,
            "GET",
            "/findings?workspace_id=1&limit=1000&page=1",
            Some((1_432, Some(200), 1_912_000, "")),
        ),
        ApiCall {
            body: Some(body),
            ..call(3, "POST", "/scans", Some((31, Some(403), 0, refused)))
        },
        ApiCall {
            retries: 2,
            ..call(
                4,
                "GET",
                "/scans/118/output",
                Some((30_004, None, 0, "no response in time")),
            )
        },
        call(5, "GET", "/scans?workspace_id=1&limit=1000&page=1", None),
        call(6, "GET", "/http_loggers", None),
    ]
}

pub fn wordlists() -> Vec<Wordlist> {
    let list = |id: i64, name: &str, about: &str, words, predefined| Wordlist {
        id: id.into(),
        name: name.into(),
        description: about.into(),
        num_words: words,
        predefined,
    };
    vec![
        list(
            1,
            "common paths",
            "Files and directories that servers forget",
            412,
            true,
        ),
        list(2, "our-products", "Imported", 1_200_000, false),
    ]
}

pub fn schedules() -> Vec<ScanSchedule> {
    let nightly = ScanSchedule {
        id: 1.into(),
        workspace_id: 1.into(),
        name: "web".into(),
        every: "1d".into(),
        first_start: "2026-11-01 02:00".into(),
        window: "6h".into(),
        time_zone: "Europe/Berlin".into(),
        target_ids: Some(vec![1.into(), 2.into()]),
        tag: None,
        scans: vec![
            NewScan {
                tool_id: 170,
                ..NewScan::default()
            },
            NewScan {
                tool_id: 450,
                ..NewScan::default()
            },
        ],
        is_paused: false,
        next_start: Some(ago(-7_200)),
        last_start: Some(ago(79_200)),
        last_result: "4 scans queued".into(),
        starts: 20,
        created_by: "ann".into(),
    };
    let paused = ScanSchedule {
        id: 2.into(),
        name: "all ports".into(),
        every: "1mo".into(),
        target_ids: None,
        is_paused: true,
        next_start: None,
        ..nightly.clone()
    };
    vec![nightly, paused]
}

/// Tests and output of a scan, as they are read when its detail is open.
pub fn parts(model: &mut Model, scan: ScanId) {
    let test = |id: i64, words: &str, kind: &str| Test {
        id: id.into(),
        description: words.into(),
        resource_type: kind.into(),
        performed_at: Some(ago(30)),
        ..Test::default()
    };
    let tests = vec![
        test(1, "Looked for exposed repositories", "finding"),
        test(2, "Looked for robots.txt", "scan"),
    ];
    let output = ScanOutput {
        output_type: "port_scanner".into(),
        output_data: json!({"ip_address": "127.0.0.1", "ports": [{"number": 80, "state": "open"}]}),
    };
    learn(
        model,
        71_000,
        PollEvent::ScanPart(scan, PartData::Tests(Arc::new(tests))),
    );
    learn(
        model,
        71_000,
        PollEvent::ScanPart(scan, PartData::Output(Arc::new(output))),
    );
    learn(
        model,
        71_000,
        PollEvent::ScanPart(
            scan,
            PartData::Raw(Arc::new(vec!["starting".into(), "80/tcp open".into()])),
        ),
    );
}
