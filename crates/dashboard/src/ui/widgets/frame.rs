//! Frames around panes: title left, a note right, a note in the lower edge. The focused pane has a
//! heavy frame.

use crate::ui::{Theme, draw_line, width_of};
use ratatui::prelude::{Buffer, Line, Rect, Style};
use ratatui::symbols::border;
use ratatui::widgets::Block;

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
const HEAVY_ASCII: border::Set<'static> = border::Set {
    vertical_left: "#",
    vertical_right: "#",
    horizontal_top: "=",
    horizontal_bottom: "=",
    ..PLAIN_ASCII
};

/// The texts in the edges of a frame.
#[derive(Default)]
pub struct Edges<'a> {
    /// Upper left.
    pub title: Line<'a>,
    /// Upper right.
    pub note: Line<'a>,
    /// Lower right.
    pub below: Line<'a>,
}

/// Draws the frame and returns the area inside. A note that would overlap the title is omitted.
pub fn draw_frame(
    buf: &mut Buffer,
    area: Rect,
    theme: Theme,
    focused: bool,
    edges: Edges<'_>,
) -> Rect {
    let set = match (theme.glyphs.boxes, focused) {
        (true, true) => border::THICK,
        (true, false) => border::ROUNDED,
        (false, true) => HEAVY_ASCII,
        (false, false) => PLAIN_ASCII,
    };
    let inner = Block::bordered().inner(area);
    draw_border(buf, area.intersection(buf.area), set, theme.border(focused));
    let edge = Rect {
        height: area.height.min(1),
        ..inner
    };
    draw_line(buf, Rect { y: area.y, ..edge }, &edges.title);
    let (title, note, below) = (
        width_of(&edges.title),
        width_of(&edges.note),
        width_of(&edges.below),
    );
    if note <= usize::from(area.width).saturating_sub(4 + title) {
        draw_right(buf, Rect { y: area.y, ..edge }, &edges.note);
    }
    if below + 4 <= usize::from(area.width) {
        draw_right(
            buf,
            Rect {
                y: area.bottom().saturating_sub(1),
                ..edge
            },
            &edges.below,
        );
    }
    inner
}

fn draw_right(buf: &mut Buffer, area: Rect, line: &Line<'_>) {
    let width = area.width.min(width_of(line) as u16);
    draw_line(
        buf,
        Rect {
            x: area.right() - width,
            width,
            ..area
        },
        line,
    );
}

/// Draws the border alone: the block of ratatui would also style the area inside.
fn draw_border(buf: &mut Buffer, area: Rect, set: border::Set<'_>, style: Style) {
    if area.is_empty() {
        return;
    }
    let (left, right, top, bottom) = (area.left(), area.right() - 1, area.top(), area.bottom() - 1);
    let mut put = |x, y, symbol: &str| _ = buf[(x, y)].set_symbol(symbol).set_style(style);
    for y in top..=bottom {
        put(left, y, set.vertical_left);
        put(right, y, set.vertical_right);
    }
    for x in left..=right {
        put(x, top, set.horizontal_top);
        put(x, bottom, set.horizontal_bottom);
    }
    put(left, top, set.top_left);
    put(right, top, set.top_right);
    put(left, bottom, set.bottom_left);
    put(right, bottom, set.bottom_right);
}
