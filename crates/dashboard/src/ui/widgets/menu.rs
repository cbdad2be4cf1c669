//! The keys that can follow the first keys of a sequence, in a strip over the last rows.

use crate::base::Pane;
use crate::input::KeyHint;
use crate::input::action::{Action, GroupAction};
use crate::ui::{Cx, draw_head, draw_line, row_of, sheet, take_top};
use ratatui::prelude::{Buffer, Line, Rect, Span};
use ratatui::widgets::{Clear, Widget};
use scandeck_wire::text;

pub(crate) fn draw_menu(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    name: &str,
    mut hints: Vec<KeyHint>,
) {
    let theme = cx.theme;
    // Without a retest, no board opens.
    let model = cx.model;
    let is_retested = model.navigation.focus.pane == Pane::Board
        || model.retest_of(&model.workspace_name()).is_some();
    hints.retain(|hint| is_retested || hint.action != Action::Group(GroupAction::Now));
    let widest = hints
        .iter()
        .map(|hint| text::width(&hint.key) + 1 + text::width(hint.label))
        .max()
        .unwrap_or(0)
        + 3;
    let per_line = (usize::from(area.width.saturating_sub(2)) / widest.max(1)).max(1);
    let rows = hints.len().div_ceil(per_line) as u16 + 1;
    let spot = sheet(area, rows);
    Clear.render(spot, buf);
    let (head, rest) = take_top(spot, 1);
    draw_head(buf, head, theme, name);
    for (y, row) in hints.chunks(per_line).enumerate() {
        let mut line = Line::default();
        for hint in row {
            let used = text::width(&hint.key) + 1 + text::width(hint.label);
            let is_off = model.off(hint.action).is_some();
            let (key, word) = if is_off {
                (theme.dim(), theme.dim())
            } else {
                (theme.key(), theme.text())
            };
            line.push_span(Span::raw(" "));
            line.push_span(Span::styled(hint.key.clone(), key));
            line.push_span(Span::styled(
                format!(" {}{}", hint.label, " ".repeat(widest - used - 1)),
                word,
            ));
        }
        draw_line(buf, row_of(rest, y as u16), &line);
    }
}
