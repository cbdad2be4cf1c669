//! The box of a pop-up, and lines or a list in one.

use crate::list::PopUpList;
use crate::ui::{
    Cx, Edges, Theme, draw_frame, draw_line, draw_lines, popup, row_of, wide_popup, words,
};
use ratatui::prelude::{Buffer, Line, Rect, Span};
use ratatui::widgets::{Clear, Widget};
use scandeck_wire::text;

/// Clears an area and frames it. Small pop-ups have no frame, so that it takes no room from their
/// content.
pub(crate) fn draw_box(
    buf: &mut Buffer,
    area: Rect,
    theme: Theme,
    title: &str,
    below: Line<'_>,
) -> Rect {
    Clear.render(area, buf);
    let title = words(format!(" {title} "), theme.title(true));
    if area.width < 30 || area.height < 5 {
        return area;
    }
    let inner = draw_frame(
        buf,
        area,
        theme,
        true,
        Edges {
            title,
            below,
            ..Edges::default()
        },
    );
    Rect {
        x: inner.x + 1,
        width: inner.width.saturating_sub(2),
        ..inner
    }
}

/// Columns and rows of the frame, and the blanks inside it.
const FRAME: (u16, u16) = (4, 2);

/// Wrapped lines in a box over the panes, which is as high as they need.
pub(crate) struct LineBox<'a> {
    pub title: &'a str,
    /// The note in the lower edge.
    pub below: Line<'a>,
    pub lines: &'a [Line<'static>],
    /// The first line that is shown.
    pub first: usize,
}

impl LineBox<'_> {
    /// The most room of lines in an area.
    pub(crate) fn room(area: Rect) -> Rect {
        let most = wide_popup(area, area.height.saturating_sub(2));
        Rect {
            width: most.width.saturating_sub(FRAME.0),
            height: most.height.saturating_sub(FRAME.1),
            ..most
        }
    }

    /// Draws the box. Returns the area inside.
    pub(crate) fn draw(self, buf: &mut Buffer, area: Rect, theme: Theme) -> Rect {
        let height = (self.lines.len() as u16).saturating_add(FRAME.1);
        let spot = wide_popup(area, height);
        let inner = draw_box(buf, spot, theme, self.title, self.below);
        draw_lines(buf, inner, &self.lines[self.first..]);
        inner
    }
}

/// `─ decide 2 findings ─────`: the title of a strip over the lower rows.
pub(crate) fn draw_head(buf: &mut Buffer, area: Rect, theme: Theme, title: &str) {
    let rule = theme.glyphs.rule;
    let fill = usize::from(area.width).saturating_sub(text::width(title) + 3);
    let parts = vec![
        Span::styled(format!("{rule} "), theme.border(true)),
        Span::styled(title, theme.title(true)),
        Span::styled(format!(" {}", rule.repeat(fill)), theme.border(true)),
    ];
    draw_line(buf, area, &Line::from(parts));
}

/// The appearance of a pop-up with a list.
pub(crate) struct PopUp {
    /// The title before the number of rows.
    pub title: &'static str,
    /// The note in the lower edge.
    pub note: &'static str,
    /// Greatest width.
    pub columns: u16,
    /// Lines beside the rows, with the frame.
    pub lines: u16,
    /// Lines below the rows, inside the frame.
    pub below: u16,
}

impl PopUp {
    /// Draws the pop-up with its rows; `spans` returns the content of a row for a width. Returns
    /// the area inside.
    pub(crate) fn draw<T>(
        &self,
        cx: &Cx<'_>,
        buf: &mut Buffer,
        area: Rect,
        (list, rows): (PopUpList, &[T]),
        spans: impl Fn(&T, u16) -> Vec<Span<'static>>,
    ) -> Rect {
        let spot = popup(
            area,
            self.columns.min(area.width),
            rows.len() as u16 + self.lines,
        );
        let title = format!("{} {}", self.title, rows.len());
        let inner = draw_box(
            buf,
            spot,
            cx.theme,
            &title,
            words(self.note, cx.theme.dim()),
        );
        let shown = usize::from(inner.height.saturating_sub(self.below)).max(1);
        for (y, (at, row)) in rows
            .iter()
            .enumerate()
            .skip(list.first(shown))
            .take(shown)
            .enumerate()
        {
            let bar = if at == list.at {
                cx.theme.glyphs.selected
            } else {
                " "
            };
            let mut line = Line::from(Span::styled(bar, cx.theme.key()));
            line.extend(spans(row, inner.width));
            draw_line(buf, row_of(inner, y as u16), &line);
        }
        inner
    }
}
