//! Frames for tests of keys and of the mouse that depend on places on the screen.

use super::{ViewCache, draw_into, paged_text};
use crate::base::{Measures, Size};
use crate::model::Model;
use ratatui::prelude::{Buffer, Rect};

/// Frames, each drawn with the memory of the last one.
#[derive(Default)]
pub(crate) struct TestFrames {
    cache: ViewCache,
    last: Buffer,
}

impl TestFrames {
    /// The lines of a frame, and what it measured.
    pub fn frame(&mut self, model: &Model) -> (Vec<String>, Measures) {
        let Size { columns, rows } = model.screen.size;
        let buffer = self.draw(model);
        let line = |y| (0..columns).map(|x| buffer[(x, y)].symbol()).collect();
        ((0..rows).map(line).collect(), self.measures())
    }

    /// The cells of a frame.
    pub fn draw(&mut self, model: &Model) -> Buffer {
        let Size { columns, rows } = model.screen.size;
        let area = Rect::new(0, 0, columns, rows);
        self.last = Buffer::empty(area);
        draw_into(model, &mut self.last, area, &mut self.cache);
        self.last.clone()
    }

    pub fn measures(&self) -> Measures {
        self.cache.measures()
    }

    /// The text of the detail for a pager.
    pub fn paged(&mut self, model: &Model) -> Option<String> {
        paged_text(model, &mut self.cache)
    }
}
