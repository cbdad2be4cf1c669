//! The view held against models: what each size shows, that no size and no text breaks it.

mod bytes;
mod capture;
mod decided;
pub mod fixtures;
mod hostile;
mod nodes;
mod payloads;
mod plots;
mod properties;
mod snapshots;
mod team;
mod why;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use scandeck::dashboard::base::Size;
use scandeck::dashboard::core::draw::draw_into;
use scandeck::dashboard::model::Model;
use scandeck::dashboard::ui::{Theme, ViewCache};

/// A frame of a model, drawn twice: the second time with the memory of the first, as on a real
/// screen.
fn drawn(model: &mut Model, cache: &mut ViewCache) -> Buffer {
    let mut buffer = blank_buffer(model);
    draw_measured(model, &mut buffer, cache);
    buffer.reset();
    draw_measured(model, &mut buffer, cache);
    buffer
}

/// A buffer of the size of the screen.
fn blank_buffer(model: &Model) -> Buffer {
    let Size { columns, rows } = model.screen.size;
    Buffer::empty(Rect::new(0, 0, columns, rows))
}

/// Draws a frame into a blank buffer, as the program does, and gives the model what it measured.
fn draw_measured(model: &mut Model, buffer: &mut Buffer, cache: &mut ViewCache) {
    let area = buffer.area;
    draw_into(model, buffer, area, cache);
    model.drawn(model.now.mono, cache.measures());
}

/// The screen as lines of text, without trailing spaces.
fn text(model: &mut Model, theme: Theme) -> String {
    let buffer = drawn(model, &mut ViewCache::new(theme));
    lines(&buffer).join("\n")
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let area = buffer.area;
    (area.top()..area.bottom())
        .map(|y| {
            let mut line = String::new();
            let mut skip = 0;
            for x in area.left()..area.right() {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                let symbol = buffer[(x, y)].symbol();
                skip = scandeck::text::width(symbol).saturating_sub(1);
                line.push_str(symbol);
            }
            line.trim_end().to_owned()
        })
        .collect()
}
