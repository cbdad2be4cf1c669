//! The bytes that a step in a list writes to the terminal: two rows, and the detail once the
//! selection rests.

use std::cell::Cell;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use scandeck::contract::Finding;
use scandeck::dashboard::base::plan::Snapshot;
use scandeck::dashboard::core::{Msg, draw::draw};
use scandeck::dashboard::model::Model;
use scandeck::dashboard::ui::{Theme, ViewCache};
use scandeck::table::Table;

use super::fixtures;

/// Counts what is written.
struct Counter(Rc<Cell<usize>>);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.set(self.0.get() + bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Findings with long names, more than fit on the screen.
fn model() -> Model {
    let mut model = fixtures::populated(200, 60);
    let of = fixtures::findings();
    let findings = (0..1_000).map(|id| Finding {
        id: (1_000 + id).into(),
        name: format!("Header missing in the response of page number {id}").into(),
        ..of[id as usize % of.len()].clone()
    });
    fixtures::learn(
        &mut model,
        80_000,
        Snapshot::Findings(Arc::new(Table::new(findings))),
    );
    fixtures::press(&mut model, "3 g g");
    model
}

/// The bytes of the frames of eleven steps, and of the frame in which the detail follows.
fn walked(model: &mut Model) -> (usize, usize) {
    let written = Rc::new(Cell::new(0));
    let viewport = Viewport::Fixed(Rect::new(0, 0, 200, 60));
    let backend = CrosstermBackend::new(Counter(Rc::clone(&written)));
    let mut terminal = Terminal::with_options(backend, TerminalOptions { viewport }).unwrap();
    let mut cache = ViewCache::new(Theme::default());
    let mut frame = |model: &mut Model| {
        written.set(0);
        terminal
            .draw(|frame| draw(model, frame, &mut cache))
            .unwrap();
        model.drawn(model.now.mono, cache.measures());
        written.get()
    };
    frame(model);
    let mut most = 0;
    for _ in 0..11 {
        let mono = (model.now.mono + Duration::from_millis(10)).as_millis() as u64;
        fixtures::send(
            model,
            mono,
            Msg::Key(KeyEvent::new(KeyCode::Char('j'), KeyModifiers::NONE)),
        );
        most = most.max(frame(model));
    }
    let follows = model
        .screen
        .detail
        .follows_at()
        .map_or(0, |at| at.as_millis() as u64);
    fixtures::send(model, follows, Msg::Wake);
    (most, frame(model))
}

#[test]
fn step_writes_two_rows_and_detail_follows() {
    let mut model = model();
    let (step, detail) = walked(&mut model);
    assert!(step <= 500, "five panes: {step} bytes");
    assert!(detail > 100, "the detail follows in {detail} bytes");
    fixtures::press(&mut model, "z");
    let (step, _) = walked(&mut model);
    assert!(step <= 250, "zoomed: {step} bytes");
}
