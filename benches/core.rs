//! Cost of a key with 100,000 findings loaded, and of the tables that the poller builds off the UI
//! thread. The goal is at most 2.5 ms from a key of a filter to its exact result, and far less for
//! a cursor move.
//!
//! `cargo bench --bench core`

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use scandeck::contract::{
    Capture, Evidence, Finding, FindingId, Risk, Scan, ScanId, ScanStatus, Stamp, Target, TargetId,
    Workspace, WorkspaceId,
};
use scandeck::dashboard::base::plan::Snapshot;
use scandeck::dashboard::base::{Effect, Now, Pane, PollEvent, Session, Size, Update};
use scandeck::dashboard::core::{Msg, update};
use scandeck::dashboard::data::{StoredDecisions, TriageNews};
use scandeck::dashboard::list::view;
use scandeck::dashboard::model::Model;
use scandeck::oob::{Payload, PayloadBook, Token, UrlForm, mentions};
use scandeck::table::Table;
use scandeck::triage::{
    Change, CorrelationInput, Decision, Event, EventWriter, Store, Subject, TriageState, Verdict,
    correlate,
};

const FINDINGS: i64 = 100_000;
const TARGETS: i64 = 400;
const NAMES: [&str; 6] = [
    "Private key readable at /backup/s.key",
    "Git repository exposed at /.git/",
    "Directory listing at /download/",
    "TLS 1.0 and TLS 1.1 offered",
    "Content-Security-Policy missing",
    "Weak cookie attributes",
];

fn findings() -> Vec<Finding> {
    findings_of(FINDINGS)
}

fn findings_of(count: i64) -> Vec<Finding> {
    let finding = |id: i64| Finding {
        id: FindingId(id),
        name: NAMES[id as usize % NAMES.len()].into(),
        risk_level: Risk::from(id % 5),
        target_id: Some(TargetId(id % TARGETS)),
        task_id: Some(ScanId(id % 900)),
        port: 443,
        service: "https".into(),
        cwe: format!("CWE-{}", id % 900).into(),
        cve: if id % 3 == 0 {
            vec![format!("CVE-202{}-{}", id % 7, id % 5_000).into()]
        } else {
            Vec::new()
        },
        ..Finding::default()
    };
    (0..count).map(finding).collect()
}

fn send(model: &mut Model, msg: Msg) {
    longest(model, msg);
}

/// Handles a message and the answers to its effects. Returns the longest time for which the UI
/// thread was busy at once.
fn longest(model: &mut Model, msg: Msg) -> Duration {
    // Prompts ignore keys at first, so a second passes between two messages.
    let now = Now {
        mono: model.now.mono + Duration::from_secs(1),
        wall: jiff::Timestamp::UNIX_EPOCH,
    };
    let (mut messages, mut longest) = (vec![msg], Duration::ZERO);
    while let Some(msg) = messages.pop() {
        let started = Instant::now();
        let effects = update(model, now, msg);
        longest = longest.max(started.elapsed());
        messages.extend(effects.into_iter().filter_map(|effect| match effect {
            Effect::Correlate(generation, input) => {
                Some(Msg::Correlated(generation, Box::new(correlate(&input))))
            }
            Effect::View(job) => {
                let viewed = Some(Box::new(view(&job)));
                Some(Msg::Viewed(Box::new(job.key), viewed))
            }
            _ => None,
        }));
    }
    longest
}

fn feed(model: &mut Model, event: impl Into<PollEvent>) {
    let at = Stamp(jiff::Timestamp::UNIX_EPOCH);
    let generation = model.connection.generation;
    send(
        model,
        Msg::Update(Update {
            generation,
            at,
            event: event.into(),
        }),
    );
}

fn key(model: &mut Model, code: KeyCode) {
    send(model, Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
}

fn loaded() -> Model {
    loaded_with(FINDINGS)
}

fn loaded_with(count: i64) -> Model {
    let mut model = Model::new(
        Session::default(),
        Size {
            columns: 200,
            rows: 60,
        },
    );
    let workspace = Workspace {
        id: WorkspaceId(1),
        name: "Acme".into(),
        target_count: TARGETS,
        ..Workspace::default()
    };
    feed(
        &mut model,
        Snapshot::Workspaces(Arc::new(Table::new([workspace]))),
    );
    let target = |id| Target {
        id: TargetId(id),
        name: format!("host{id}.acme.test").into(),
        ..Target::default()
    };
    feed(
        &mut model,
        Snapshot::Targets(Arc::new(Table::new((0..TARGETS).map(target)))),
    );
    feed(
        &mut model,
        Snapshot::Findings(Arc::new(Table::new(findings_of(count)))),
    );
    model
}

fn keys(criterion: &mut Criterion) {
    let mut model = loaded();
    criterion.bench_function("move one row in 100,000 findings", |bench| {
        bench.iter(|| {
            key(&mut model, KeyCode::Char('j'));
            key(&mut model, KeyCode::Char('k'));
        });
    });
    for filter in ["g", "git", "git 443", "host39", "no such thing"] {
        let mut model = loaded();
        key(&mut model, KeyCode::Char('/'));
        filter
            .chars()
            .for_each(|letter| key(&mut model, KeyCode::Char(letter)));
        criterion.bench_function(
            &format!("filter 100,000 findings: one key added to or removed from {filter:?}"),
            |bench| {
                bench.iter_custom(|rounds| {
                    let started = Instant::now();
                    for _ in 0..rounds {
                        key(&mut model, KeyCode::Char('1'));
                        key(&mut model, KeyCode::Backspace);
                    }
                    started.elapsed() / 2
                });
            },
        );
    }
}

/// The last key of a query, from the text without it to the text with it.
fn queries(criterion: &mut Criterion) {
    let complete = "risk>=high target:host3* is:undecided cve:CVE-2024-1*";
    for typed in [
        "r",
        "risk>=h",
        "risk>=high",
        "risk>=high target:h",
        "risk>=high target:host3* is:undecide",
        complete,
    ] {
        let mut model = loaded();
        key(&mut model, KeyCode::Char('/'));
        typed
            .chars()
            .for_each(|letter| key(&mut model, KeyCode::Char(letter)));
        let last = typed.chars().last().unwrap();
        criterion.bench_function(
            &format!("query over 100,000 findings: the last key of {typed:?}"),
            |bench| {
                bench.iter_custom(|rounds| {
                    let mut spent = Duration::ZERO;
                    for _ in 0..rounds {
                        key(&mut model, KeyCode::Backspace);
                        let started = Instant::now();
                        key(&mut model, KeyCode::Char(last));
                        spent += started.elapsed();
                    }
                    spent
                });
            },
        );
    }
}

fn groups(criterion: &mut Criterion) {
    let mut model = loaded();
    let mut press = |keys: &str| {
        keys.chars()
            .for_each(|letter| key(&mut model, KeyCode::Char(letter)))
    };
    press("3");
    criterion.bench_function("group 100,000 by class", |bench| {
        bench.iter_custom(|rounds| {
            let mut spent = Duration::ZERO;
            for _ in 0..rounds {
                press("bb");
                let started = Instant::now();
                press("bc");
                spent += started.elapsed();
            }
            spent
        });
    });
}

/// The time for which the UI thread is busy at once after a key on as many findings as the
/// dashboard loads. Columns, orders and groups are built elsewhere, which is not measured. The goal
/// is at most 16 ms.
fn many(criterion: &mut Criterion) {
    let mut model = loaded_with(400_000);
    let mut group = criterion.benchmark_group("400,000 findings");
    group.sample_size(10);
    let keys = |model: &mut Model, keys: &str| {
        let code = |letter| match letter {
            '\n' => KeyCode::Enter,
            '\u{8}' => KeyCode::Backspace,
            letter => KeyCode::Char(letter),
        };
        let press = |letter| {
            longest(
                model,
                Msg::Key(KeyEvent::new(code(letter), KeyModifiers::NONE)),
            )
        };
        keys.chars().map(press).max().unwrap_or_default()
    };
    keys(&mut model, "3");
    let mut measure = |what: &str, before: &str, measured: &str| {
        group.bench_function(what, |bench| {
            bench.iter_custom(|rounds| {
                let round = |_| {
                    keys(&mut model, before);
                    keys(&mut model, measured)
                };
                (0..rounds).map(round).sum()
            });
        });
    };
    // Another grouping before, so that the groups are built again.
    measure("group by class", "bp", "bc");
    measure("group by port", "bc", "bp");
    measure("group by CWE", "bc", "bw");
    measure("ungroup", "bc", "bb");
    measure("mark all", "", "*");
    measure("invert marks", "", "!");
    measure("filter by target", "\u{8}", "/target:host3*\n");
    group.finish();
}

/// A verdict on 10,000 marked rows by keys, and its undo.
fn verdicts(criterion: &mut Criterion) {
    let mut model = loaded();
    let writer = Some(EventWriter {
        who: "ann".into(),
        instance: 1,
        ..EventWriter::default()
    });
    send(
        &mut model,
        Msg::Triage(TriageNews::Opened(Box::new(StoredDecisions {
            writer,
            ..StoredDecisions::default()
        }))),
    );
    model.set_query(Pane::Findings, "id<10000").unwrap();
    let mut press = |code: KeyCode| {
        let started = Instant::now();
        key(&mut model, code);
        started.elapsed()
    };
    let mut group = criterion.benchmark_group("verdicts");
    group.sample_size(10);
    for (what, decides) in [
        ("set the verdict of 10,000 findings", true),
        ("undo the verdict of 10,000 findings", false),
    ] {
        group.bench_function(what, |bench| {
            bench.iter_custom(|rounds| {
                let mut spent = Duration::ZERO;
                for _ in 0..rounds {
                    "vGvc"
                        .chars()
                        .for_each(|letter| _ = press(KeyCode::Char(letter)));
                    let (decided, undone) = (press(KeyCode::Enter), press(KeyCode::Char('u')));
                    spent += if decides { decided } else { undone };
                }
                spent
            });
        });
    }
    group.finish();
}

/// Alternates between two sort orders of three fields.
fn orders(criterion: &mut Criterion) {
    let mut model = loaded();
    let mut by = ["risk,target,-cve", "cwe,-risk,name"].into_iter().cycle();
    criterion.bench_function("sort 100,000 findings by three fields", |bench| {
        bench.iter(|| model.set_order(Pane::Findings, by.next().unwrap()).unwrap());
    });
}

fn tables(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tables");
    group.sample_size(10);
    group.bench_function(
        "build the table of 100,000 findings (off the UI thread)",
        |bench| {
            bench.iter_batched(
                findings,
                Table::<scandeck::triage::ListedFinding>::new::<Finding>,
                BatchSize::LargeInput,
            );
        },
    );
    let table = Arc::new(Table::new(findings()));
    let mut model = loaded();
    group.bench_function("receive a new table of 100,000 findings", |bench| {
        bench.iter(|| feed(&mut model, Snapshot::Findings(Arc::clone(&table))));
    });
    group.finish();
}

/// Two scans of each target, with a number and a date in the evidence that differ in every finding,
/// and 100,000 decisions.
fn decided() -> (CorrelationInput, Vec<Arc<Event>>) {
    let scan = |id: i64| Scan {
        id: ScanId(id),
        tool_id: 170,
        target_id: TargetId(id % TARGETS),
        status_name: ScanStatus::Finished,
        start_time: Stamp::parse(if id < TARGETS {
            "2026-11-20 10:00:00"
        } else {
            "2026-11-21 10:00:00"
        }),
        ..Scan::default()
    };
    let found = |id: i64| Finding {
        id: FindingId(id),
        vuln_id: format!("kind.{}", id / TARGETS / 2).into(),
        target_id: Some(TargetId(id % TARGETS)),
        task_id: Some(ScanId(id % (2 * TARGETS))),
        port: 443,
        vuln_evidence: Evidence::from_value(&serde_json::json!({"type": "text", "data": format!(
            "GET /item/{id}?q=1 HTTP/1.1\r\nHost: host.acme.test\r\n\r\nHTTP/1.1 200 OK\r\nDate: {id}\r\nServer: nginx\r\n"
        )})),
        ..Finding::default()
    };
    let target = |id| Target {
        id: TargetId(id),
        name: format!("host{id}.acme.test").into(),
        ..Target::default()
    };
    let mut input = CorrelationInput {
        findings: Arc::new(Table::new((0..FINDINGS).map(found))),
        scans: Arc::new(Table::new((0..2 * TARGETS).map(scan))),
        targets: Arc::new(Table::new((0..TARGETS).map(target))),
        ..CorrelationInput::default()
    };
    let rows = correlate(&input).issues;
    let mut writer = EventWriter {
        who: "ann".into(),
        instance: 1,
        ..EventWriter::default()
    };
    let event = |number: i64| {
        let issue = &rows.items()[number as usize % rows.len()];
        let decision = Decision {
            verdict: Verdict::Confirmed,
            ..Decision::default()
        };
        let (at, batch) = (Stamp(jiff::Timestamp::UNIX_EPOCH), writer.next());
        let subject = Subject::Finding(issue.identity.clone());
        Arc::new(writer.write(
            (at, number as u64),
            batch,
            vec![],
            subject,
            Change::Decide(decision),
        ))
    };
    let events: Vec<Arc<Event>> = (0..FINDINGS).map(event).collect();
    input.state = TriageState::from_events(events.iter().cloned());
    (input, events)
}

fn decisions(criterion: &mut Criterion) {
    let (input, events) = decided();
    let mut group = criterion.benchmark_group("decisions");
    group.sample_size(10);
    group.bench_function(
        "correlate 100,000 decided findings (off the UI thread)",
        |bench| {
            bench.iter(|| correlate(&input));
        },
    );
    group.bench_function("fold 100,000 events (off the UI thread)", |bench| {
        bench.iter(|| TriageState::from_events(events.iter().cloned()));
    });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let opened = || runtime.block_on(Store::open(directory.path())).unwrap();
    runtime.block_on(opened().store.record(&events)).unwrap();
    group.bench_function(
        "open a store of 100,000 events (off the UI thread)",
        |bench| {
            bench.iter(|| runtime.block_on(opened().store.close()));
        },
    );
    group.finish();
}

/// Requests of browsers and libraries. Every tenth contains a token of the book, and every
/// hundredth has it in base64.
fn captures(book: &PayloadBook) -> Vec<Capture> {
    let tokens: Vec<Token> = book.payloads().map(|payload| payload.token).collect();
    let capture = |id: usize| {
        let token = tokens[id * 7 % tokens.len()];
        let query = match id % 100 {
            0 => STANDARD.encode(UrlForm::Query.url("http://127.0.0.1:8081/l/x/", token)),
            number if number % 10 == 0 => format!("t={token}%2Flatest/meta-data&lang=en"),
            _ => {
                "page=3&sort=date&q=a%20longer%20question&session=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4"
                    .to_owned()
            }
        };
        let headers = [
            "Host: 127.0.0.1:8081",
            "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36",
            "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
            "Accept-Encoding: gzip, deflate, br",
            "Accept-Language: en-GB,en;q=0.5",
            "Cookie: session=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkFubiJ9.c2lnbmF0dXJl; theme=dark",
        ];
        let body = format!(
            r#"{{"number":{id},"url":"https://shop.acme.test/search?q=1","text":"{}"}}"#,
            "some words ".repeat(20)
        );
        Capture {
            url_params: query.into(),
            path: Some("/l/aaaaaaaaaaaaaaaaaaaaaa/".into()),
            http_headers: headers.map(Into::into).to_vec(),
            request_body_base64: STANDARD.encode(body).into(),
            ..Capture::default()
        }
    };
    (0..1_000).map(capture).collect()
}

/// The goal is at most 30 ms: 1,000 captures a second with 10,000 payloads then cost 3 % of one
/// core.
fn recognition(criterion: &mut Criterion) {
    let mut book = PayloadBook::default();
    let token = |number: u64| Token::of(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    book.take((1..=10_000).map(|number| {
        Arc::new(Payload {
            token: token(number),
            ..Payload::default()
        })
    }));
    let captures = captures(&book);
    let hits: usize = captures
        .iter()
        .map(|capture| mentions(capture, &book).len())
        .sum();
    assert_eq!(hits, 100);
    criterion.bench_function("recognise 10,000 tokens in 1,000 captures", |bench| {
        bench.iter(|| {
            captures
                .iter()
                .map(|capture| mentions(capture, &book).len())
                .sum::<usize>()
        });
    });
}

criterion_group!(
    benches,
    keys,
    queries,
    groups,
    many,
    verdicts,
    orders,
    tables,
    decisions,
    recognition
);
criterion_main!(benches);
