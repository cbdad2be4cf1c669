//! The list of rules: whether each is on, its verdict, its query, how many findings it decides now, and whose it is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::draw_box;
use crate::app::decide::rules::{Edit, RulesBox};
use crate::text;
use crate::triage::RuleState;
use crate::view::context::{Cx, words};
use crate::view::format;
use crate::view::layout::popup;
use crate::view::widgets::input::input_spans_in;
use crate::view::widgets::lines::{draw_line, row_of};

/// Columns of the list.
const COLUMNS: u16 = 92;

pub(super) fn draw_rules(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, shown: &RulesBox) {
    let rules = cx.model.rules();
    let spot = popup(area, COLUMNS.min(area.width), rules.len() as u16 + 5);
    let title = format!("Rules {}", rules.len());
    let inner = draw_box(buf, spot, cx.theme, &title, words(" a person's decision beats a rule ", cx.theme.dim()));
    let rows = usize::from(inner.height.saturating_sub(2)).max(1);
    let first = (shown.at + 1).saturating_sub(rows);
    for (y, (at, rule)) in rules.iter().enumerate().skip(first).take(rows).enumerate() {
        draw_line(buf, row_of(inner, y as u16), &rule_line(cx, rule, at == shown.at, inner.width));
    }
    if let Some(edit) = &shown.edit {
        let [query, finds] = edit_lines(cx, edit, inner.width);
        draw_line(buf, row_of(inner, inner.height.saturating_sub(2)), &query);
        draw_line(buf, row_of(inner, inner.height.saturating_sub(1)), &finds);
    }
}

fn rule_line(cx: &Cx<'_>, rule: &RuleState, selected: bool, width: u16) -> Line<'static> {
    let theme = cx.theme;
    let decides = cx.model.triage.rules.iter().filter(|&&of| of == Some(rule.id)).count();
    let tail = match rule.off {
        true => format!("off  {}", text::clean(&rule.event.who)),
        false => format!("{decides} now  {}", text::clean(&rule.event.who)),
    };
    let tail = text::start(&tail, usize::from(width / 3)).into_owned();
    let verdict = format!("{:<10}", rule.decision.verdict.word());
    let room = usize::from(width).saturating_sub(text::width(&verdict) + text::width(&tail) + 4);
    let query = text::start(&text::clean(&rule.query), room).into_owned();
    let gap = " ".repeat(room.saturating_sub(text::width(&query)) + 1);
    let style = if rule.off { theme.dim() } else { theme.text() };
    Line::from(vec![
        Span::styled(if selected { theme.glyphs.selected } else { " " }, theme.key()),
        Span::styled(format!(" {verdict}"), if rule.off { style } else { theme.strong() }),
        Span::styled(format!("{query}{gap}{tail}"), style),
    ])
}

fn edit_lines(cx: &Cx<'_>, edit: &Edit, width: u16) -> [Line<'static>; 2] {
    let mut query = Line::from(Span::styled("query: ", cx.theme.key()));
    query.extend(input_spans_in(cx.theme, &edit.input, width.saturating_sub(8)));
    let finds = match &edit.finds {
        Ok(count) => words(format!("finds {}", format::plural(*count, "finding")), cx.theme.dim()),
        Err(error) => words(text::start(&text::clean(error), usize::from(width)).into_owned(), cx.theme.bad()),
    };
    [query, finds]
}
