//! Cost of a stream of captures, of filters over captures, and of opening the archive.
//!
//! `cargo bench --bench captures`

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use criterion::{Criterion, criterion_group, criterion_main};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use scandeck::contract::{Capture, CaptureId, Shared, Stamp, Target, TargetId};
use scandeck::dashboard::base::plan::Snapshot;
use scandeck::dashboard::base::{CaptureRow, Effect, Now, Pane, Session, Size, Update};
use scandeck::dashboard::core::draw::draw_into;
use scandeck::dashboard::core::{Msg, update};
use scandeck::dashboard::data::OobNews;
use scandeck::dashboard::model::Model;
use scandeck::dashboard::ui::{Theme, ViewCache};
use scandeck::oob::{ArchivedCapture, Store, Token};
use scandeck::table::Table;

/// A dashboard with the captures pane focused, and its screen buffer.
struct CaptureBench {
    model: Model,
    cache: ViewCache,
    buffer: Buffer,
    /// The id of the next capture.
    next: i64,
    body: Shared,
}

/// A captured request from one of 50,000 addresses. A thousand of them arrive each second.
fn capture_row(id: i64, body: &Shared) -> CaptureRow {
    let (high, low) = (id % 50_000 / 250, id % 250);
    let capture = Capture {
        id: CaptureId(id),
        ip_address: format!("203.0.{high}.{low}").into(),
        request_method: "GET".into(),
        url_params: format!("t={}", Token::of(id as u64)).into(),
        http_headers: vec!["Host: probe".into(), "User-Agent: curl/8.5.0".into()],
        request_date: Some(Stamp(
            Timestamp::from_millisecond(1_700_000_000_000 + id).unwrap(),
        )),
        request_body_base64: body.clone(),
        ..Capture::default()
    };
    CaptureRow::new(
        &ArchivedCapture {
            capture: Arc::new(capture),
            ..ArchivedCapture::default()
        },
        Vec::new(),
    )
}

impl CaptureBench {
    /// A full capture list: 100,000 captures, or 128 MB of them.
    fn full(body: Shared) -> Self {
        let mut model = Model::new(
            Session::default(),
            Size {
                columns: 200,
                rows: 60,
            },
        );
        model.navigation.focus.pane = Pane::Captures;
        let (cache, buffer) = (ViewCache::new(Theme::default()), Buffer::empty(AREA));
        let mut app = Self {
            model,
            cache,
            buffer,
            next: 0,
            body,
        };
        app.receive(110_000);
        app.finish_query();
        app
    }

    fn receive(&mut self, count: i64) -> Vec<Effect> {
        self.next += count;
        let new = (self.next - count..self.next)
            .map(|id| capture_row(id, &self.body))
            .collect();
        self.send(Msg::Oob(OobNews::Captures { generation: 0, new }))
    }

    fn send(&mut self, msg: Msg) -> Vec<Effect> {
        let now = Now {
            mono: Duration::from_secs(1),
            wall: Timestamp::UNIX_EPOCH,
        };
        update(&mut self.model, now, msg)
    }

    fn key(&mut self, code: KeyCode) -> Vec<Effect> {
        self.send(Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    fn keys(&mut self, text: &str) {
        text.chars()
            .for_each(|letter| _ = self.key(KeyCode::Char(letter)));
        self.finish_query();
    }

    fn draw(&mut self) {
        self.buffer.reset();
        draw_into(&self.model, &mut self.buffer, AREA, &mut self.cache);
    }

    /// Types a filter, finishes the query after each key, and returns the duration of each step.
    fn step_durations(&mut self, typed: &str) -> Vec<Duration> {
        let (mut steps, mut letters) = (Vec::new(), typed.chars());
        loop {
            let started = Instant::now();
            match self.model.lists.captures.pending() {
                0 => match letters.next() {
                    Some(letter) => _ = self.key(KeyCode::Char(letter)),
                    None => return steps,
                },
                _ => _ = self.send(Msg::NextChunk),
            }
            self.draw();
            steps.push(started.elapsed());
        }
    }

    fn finish_query(&mut self) {
        while self.model.lists.captures.pending() > 0 {
            self.send(Msg::NextChunk);
        }
    }
}

const AREA: Rect = Rect::new(0, 0, 200, 60);

/// A batch of 100 captures into a full list: rows are built and the list is drawn. At 1,000
/// captures a second there are ten batches, and a key waits for at most one of them.
fn stream(criterion: &mut Criterion) {
    let mut app = CaptureBench::full("eHh4".into());
    let mut measure = |app: &mut CaptureBench, name: &str| {
        criterion.bench_function(name, |bench| {
            bench.iter(|| {
                app.receive(100);
                app.draw();
            });
        });
    };
    measure(&mut app, "add 100 captures to 100,000");
    app.keys("bs");
    measure(&mut app, "add 100 captures to 100,000 in 50,000 groups");
    app.keys("bn/body:x");
    app.key(KeyCode::Enter);
    measure(&mut app, "add 100 captures to 100,000 filtered by body");
    app.keys("/");
    (0..6).for_each(|_| _ = app.key(KeyCode::Backspace));
    app.key(KeyCode::Enter);
    app.finish_query();
    criterion.bench_function(
        "add 200 captures to 100,000, half of them three seconds late",
        |bench| {
            bench.iter(|| {
                // Of three consecutive captures, two are missing at first.
                app.next += 300;
                let (late, body) = (app.next - 3_300, app.body.clone());
                let new = (0..100).map(|at| capture_row(app.next - 300 + 3 * at, &body));
                let new = new
                    .chain((0..100).map(|at| capture_row(late + 3 * at + 1, &body)))
                    .collect();
                app.send(Msg::Oob(OobNews::Captures { generation: 0, new }));
                app.draw();
            });
        },
    );
}

/// Duration of a step while a filter is typed over a full list, with the query finished after each
/// key. A key waits for one step: p95 and maximum (the maximum depends on the load of the machine).
/// The first filter decodes every body, the second searches for host names in all fields.
fn typing(criterion: &mut Criterion) {
    let body = STANDARD
        .encode("<p>what a page sends</p> ".repeat(41))
        .as_str()
        .into();
    let mut app = CaptureBench::full(body);
    let targets = (0..20).map(|id| Target {
        id: TargetId(id),
        name: format!("t{id}.test").into(),
        ..Target::default()
    });
    let snapshot = Snapshot::Targets(Arc::new(Table::new(targets)));
    app.send(Msg::Update(Update {
        generation: 0,
        at: Stamp(Timestamp::UNIX_EPOCH),
        event: snapshot.into(),
    }));
    let held = app.model.data.captures.rows.len();
    for filter in ["/body:page", "/target:t1.test"] {
        for (which, share) in [("p95 step", 0.95), ("longest step", 1.0)] {
            criterion.bench_function(
                &format!("{which} while {filter} is typed over {held} captures of 1 kB"),
                |bench| {
                    bench.iter_custom(|times| {
                        let step = |_| {
                            let mut steps = app.step_durations(filter);
                            app.key(KeyCode::Esc);
                            app.finish_query();
                            steps.sort_unstable();
                            steps[((steps.len() - 1) as f64 * share) as usize]
                        };
                        (0..times).map(step).sum()
                    });
                },
            );
        }
    }
}

/// Opening an archive of 1,000,000 captures and reading the newest; the goal is less than 100 ms.
fn archive(criterion: &mut Criterion) {
    let temp = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut store = Store::open(temp.path()).await.unwrap().store;
        for thousand in 0..1_000 {
            let archived = |id: i64| {
                let date = Some(Stamp(Timestamp::from_second(1_700_000_000 + id).unwrap()));
                let capture = Capture {
                    id: CaptureId(id),
                    request_date: date,
                    ..Capture::default()
                };
                let workspace = if id % 10 == 0 { "Lab" } else { "Acme" };
                ArchivedCapture {
                    workspace: workspace.into(),
                    capture: Arc::new(capture),
                    ..ArchivedCapture::default()
                }
            };
            store
                .archive(
                    (thousand * 1_000..(thousand + 1) * 1_000)
                        .map(archived)
                        .collect(),
                )
                .await
                .unwrap();
        }
        store.close().await;
    });
    let mut group = criterion.benchmark_group("archive");
    group.sample_size(20);
    group.bench_function(
        "open an archive of 1,000,000 captures and read 2,000",
        |bench| {
            bench.iter(|| {
                runtime.block_on(async {
                    let mut store = Store::open(temp.path()).await.unwrap().store;
                    assert_eq!(store.newest().await.unwrap().len(), 1);
                    assert_eq!(
                        store
                            .captures("Acme", None, 2_000)
                            .await
                            .unwrap()
                            .captures
                            .len(),
                        2_000
                    );
                    store.close().await;
                });
            });
        },
    );
}

criterion_group!(benches, stream, typing, archive);
criterion_main!(benches);
