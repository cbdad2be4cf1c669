//! Frames around panes: title left, a note right, a note in the lower edge. Heavy where the keys go.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::symbols::border;
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Widget};

use crate::view::theme::Theme;

const PLAIN_ASCII: border::Set<'static> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};
const HEAVY_ASCII: border::Set<'static> =
    border::Set { vertical_left: "#", vertical_right: "#", horizontal_top: "=", horizontal_bottom: "=", ..PLAIN_ASCII };

/// What stands in the edges of a frame.
#[derive(Default)]
pub struct Edges<'a> {
    /// Upper left.
    pub title: Line<'a>,
    /// Upper right.
    pub note: Line<'a>,
    /// Lower right.
    pub below: Line<'a>,
}

/// Draws the frame and returns what is inside. A note that would meet the title is left out.
pub fn draw_frame(buf: &mut Buffer, area: Rect, theme: Theme, focused: bool, edges: Edges<'_>) -> Rect {
    let set = match (theme.glyphs.boxes, focused) {
        (true, true) => border::THICK,
        (true, false) => border::ROUNDED,
        (false, true) => HEAVY_ASCII,
        (false, false) => PLAIN_ASCII,
    };
    let mut block = Block::new()
        .borders(Borders::ALL)
        .border_set(set)
        .border_style(theme.border(focused))
        .title_top(edges.title.clone());
    let room = (area.width as usize).saturating_sub(4 + edges.title.width());
    if edges.note.width() <= room && edges.note.width() > 0 {
        block = block.title_top(edges.note.right_aligned());
    }
    if edges.below.width() > 0 && edges.below.width() + 4 <= area.width as usize {
        block = block.title_bottom(edges.below.right_aligned());
    }
    let inner = block.inner(area);
    block.render(area, buf);
    inner
}
