//! What the stream of captures and their archive cost, against the goals of the project.
//!
//! `cargo bench --bench captures`

#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use scandeck::app::model::{Model, Pane, Session};
use scandeck::app::msg::{Msg, Now, OobNews};
use scandeck::app::screen::Size;
use scandeck::app::stream::{By, Caught};
use scandeck::app::update;
use scandeck::contract::{Capture, CaptureId, Stamp};
use scandeck::oob::store::Store;
use scandeck::oob::{Archived, Token};
use scandeck::view::{Theme, ViewCache, draw_into};

/// 1,000 captures a second into a full ring: a batch of 100 taken, its rows made, the list drawn. At 1,000 a second that
/// happens ten times, and a key waits for one of them at most.
fn stream(criterion: &mut Criterion) {
    let caught = |id: i64| {
        let capture = Capture {
            id: CaptureId(id),
            ip_address: "203.0.113.9".into(),
            request_method: "GET".into(),
            url_params: format!("t={}", Token::of(id as u64)).into(),
            http_headers: vec!["Host: probe".into(), "User-Agent: curl/8.5.0".into()],
            request_date: Some(Stamp(Timestamp::from_second(1_700_000_000 + id / 1_000).unwrap())),
            ..Capture::default()
        };
        Caught::new(&Archived { capture: Arc::new(capture), ..Archived::default() }, Arc::default())
    };
    let mut model = Model::new(Session::default(), Size { columns: 200, rows: 60 }).with_focus(Pane::Captures);
    let tell = |model: &mut Model, ids: std::ops::Range<i64>| {
        let news = OobNews::Captures { generation: 0, new: ids.map(caught).collect() };
        let now = Now { mono: Duration::from_secs(1), wall: Timestamp::UNIX_EPOCH };
        update(model, now, Msg::Oob(news));
    };
    tell(&mut model, 0..100_000);
    let (mut cache, mut next) = (ViewCache::new(Theme::default()), 100_000);
    let area = Rect::new(0, 0, 200, 60);
    let mut buffer = Buffer::empty(area);
    for grouped in [false, true] {
        let by = grouped.then_some(By::Source);
        model.lists.captures.group(&model.data.captures, by);
        let how = if grouped { ", grouped" } else { "" };
        criterion.bench_function(&format!("100 captures into 100,000{how}"), |bench| {
            bench.iter(|| {
                next += 100;
                tell(&mut model, next - 100..next);
                buffer.reset();
                draw_into(&model, &mut buffer, area, &mut cache);
            });
        });
    }
}

/// An archive of 1,000,000 captures shows its newest within some tens of milliseconds.
fn archive(criterion: &mut Criterion) {
    let temp = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut store = Store::open(temp.path()).await.unwrap().store;
        for thousand in 0..1_000 {
            let archived = |id: i64| {
                let date = Some(Stamp(Timestamp::from_second(1_700_000_000 + id).unwrap()));
                let capture = Capture { id: CaptureId(id), request_date: date, ..Capture::default() };
                let workspace = if id % 10 == 0 { "Lab" } else { "Acme" };
                Archived { workspace: workspace.into(), capture: Arc::new(capture), ..Archived::default() }
            };
            store.archive((thousand * 1_000..(thousand + 1) * 1_000).map(archived).collect()).await.unwrap();
        }
        store.close().await;
    });
    let mut group = criterion.benchmark_group("archive");
    group.sample_size(20);
    group.bench_function("open 1,000,000 captures, the newest 2,000", |bench| {
        bench.iter(|| {
            runtime.block_on(async {
                let mut store = Store::open(temp.path()).await.unwrap().store;
                assert_eq!(store.newest().await.unwrap().len(), 1);
                assert_eq!(store.captures("Acme", None, 2_000).await.unwrap().len(), 2_000);
                store.close().await;
            });
        });
    });
}

criterion_group!(benches, stream, archive);
criterion_main!(benches);
