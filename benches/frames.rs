//! Cost of a frame: each pane with 100 and with 100,000 rows, at 200×60. The goal is 0.5 ms for any
//! number of rows.
//!
//! `cargo bench --bench frames`

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../tests/view/fixtures.rs"]
mod fixtures;

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use scandeck::contract::Evidence;
use scandeck::dashboard::base::Pane;
use scandeck::dashboard::base::plan::Snapshot;
use scandeck::dashboard::core::draw::draw_into;
use scandeck::dashboard::model::Model;
use scandeck::dashboard::ui::{Theme, ViewCache};
use scandeck::table::Table;

const SIZE: (u16, u16) = (200, 60);
const ROWS: [i64; 2] = [100, 100_000];

/// The items repeated up to the number of rows, each with a new id.
fn many<T: Clone>(of: Vec<T>, rows: i64, with_id: impl Fn(T, i64) -> T) -> Vec<T> {
    (1..=rows)
        .map(|id| with_id(of[id as usize % of.len()].clone(), id))
        .collect()
}

fn filled(rows: i64) -> Model {
    let mut model = fixtures::populated(SIZE.0, SIZE.1);
    let workspaces = many(fixtures::workspaces(), rows, |item, id| {
        scandeck::contract::Workspace {
            id: id.into(),
            ..item
        }
    });
    let targets = many(fixtures::targets(), rows, |item, id| {
        scandeck::contract::Target {
            id: id.into(),
            name: format!("host-{id}.acme.test").into(),
            ..item
        }
    });
    let scans = many(fixtures::scans(false), rows, |item, id| {
        scandeck::contract::Scan {
            id: id.into(),
            ..item
        }
    });
    let findings = many(fixtures::findings(), rows, |item, id| {
        scandeck::contract::Finding {
            id: id.into(),
            ..item
        }
    });
    let loggers = many(fixtures::loggers(), rows, |item, id| {
        scandeck::contract::Logger {
            id: id.into(),
            ..item
        }
    });
    let captures = many(fixtures::captures(1), rows, |item, id| {
        scandeck::contract::Capture {
            id: (1_000 + id).into(),
            ..item
        }
    });
    let reports = many(fixtures::reports(), rows, |item, id| {
        scandeck::contract::Report {
            id: id.into(),
            ..item
        }
    });
    let wordlists = many(fixtures::wordlists(), rows, |item, id| {
        scandeck::contract::Wordlist {
            id: id.into(),
            ..item
        }
    });
    for snapshot in [
        Snapshot::Workspaces(Arc::new(Table::new(workspaces))),
        Snapshot::Targets(Arc::new(Table::new(targets))),
        Snapshot::Scans(Arc::new(Table::new(scans))),
        Snapshot::Findings(Arc::new(Table::new(findings))),
        Snapshot::Loggers(Arc::new(Table::new(loggers))),
        Snapshot::Reports(Arc::new(Table::new(reports))),
        Snapshot::Wordlists(Arc::new(Table::new(wordlists))),
    ] {
        fixtures::learn(&mut model, 80_000, snapshot);
    }
    fixtures::receive_captures(&mut model, 80_000, 1, captures);
    model
}

fn frames(c: &mut Criterion) {
    let mut group = c.benchmark_group("frame");
    let area = Rect::new(0, 0, SIZE.0, SIZE.1);
    for rows in ROWS {
        let mut model = filled(rows);
        for pane in Pane::ALL {
            model.navigation.focus.pane = pane;
            // The focused pane alone on the screen, and all five side by side.
            for (how, zoomed) in [("zoomed", true), ("wide", false)] {
                model.navigation.focus.zoomed = zoomed;
                let mut cache = ViewCache::new(Theme::default());
                let mut buffer = Buffer::empty(area);
                group.bench_function(
                    BenchmarkId::new(format!("{}, {how}", pane.title()), rows),
                    |b| {
                        b.iter(|| {
                            buffer.reset();
                            draw_into(&model, &mut buffer, area, &mut cache);
                        });
                    },
                );
            }
        }
    }
    group.finish();
}

/// A detail with 1 MB of text: the first frame wraps the text, later frames reuse the lines.
fn long_text(c: &mut Criterion) {
    let mut model = filled(100);
    let body = "A line of evidence that the detail pane wraps to its width. ".repeat(20_000);
    let mut findings = fixtures::findings();
    findings[0].vuln_evidence =
        Evidence::from_value(&serde_json::json!({"type": "text", "data": body}));
    fixtures::learn(
        &mut model,
        81_000,
        Snapshot::Findings(Arc::new(Table::new(findings))),
    );
    model.navigation.focus.pane = Pane::Findings;
    fixtures::press(&mut model, "g g enter >");
    let area = Rect::new(0, 0, SIZE.0, SIZE.1);
    let mut buffer = Buffer::empty(area);
    let mut cache = ViewCache::new(Theme::default());
    c.bench_function("later frame of a detail with 1 MB", |b| {
        b.iter(|| {
            buffer.reset();
            draw_into(&model, &mut buffer, area, &mut cache);
        });
    });
    c.bench_function("first frame of a detail with 1 MB", |b| {
        b.iter(|| {
            buffer.reset();
            draw_into(
                &model,
                &mut buffer,
                area,
                &mut ViewCache::new(Theme::default()),
            );
        });
    });
}

criterion_group!(benches, frames, long_text);
criterion_main!(benches);
