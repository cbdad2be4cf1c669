//! Help for a query while it is typed: its error, its completions, or the number of rows that each
//! part hides; and the explanation of an empty list.

use crate::model::{Line as Typed, LinePurpose, Modal};
use crate::ui::{
    Cx, ListPane, Theme, draw_line, draw_sides, format, indented, marked_spans, row_of, words, wrap,
};
use ratatui::prelude::{Buffer, Line, Rect, Span};
use scandeck_domain::query::{ClauseEffect, Completion, ParseError};
use scandeck_wire::text;

/// Columns of the typed text beside the reason why it is invalid, with the columns between them.
const LEAST_TYPED: usize = 24;
/// Most parts of a query that are explained.
const PARTS: usize = 6;

/// The line in which the filter of a pane is being typed.
pub(crate) fn typed<'a>(cx: &Cx<'a>, pane: &ListPane<'_>) -> Option<&'a Typed> {
    match cx.model.overlay.modals.last() {
        Some(Modal::Line(typed)) if typed.purpose == LinePurpose::Filter(pane.pane) => Some(typed),
        _ => None,
    }
}

/// The error of the typed text. A value that the completions offer is not typed yet, so it is no
/// error.
pub(crate) fn shown_error(typed: &Typed) -> Option<&ParseError> {
    typed
        .help
        .error
        .as_ref()
        .filter(|error| !error.at.is_empty() || typed.help.offers.all.is_empty())
}

/// The reason why the typed query is invalid.
fn reason(theme: Theme, typed: &Typed) -> Option<String> {
    shown_error(typed).map(|error| {
        format!(
            "{} {}",
            theme.glyphs.failed,
            text::clean(&error.to_string())
        )
    })
}

/// The reason, if a line with this width has room for it beside the typed text.
pub(crate) fn error_beside(theme: Theme, typed: &Typed, columns: u16) -> Option<String> {
    reason(theme, typed).filter(|reason| text::width(reason) + LEAST_TYPED <= usize::from(columns))
}

/// The lines of the reason directly below the typed text, where there is no room beside it.
pub(crate) fn error_below(cx: &Cx<'_>, pane: &ListPane<'_>, columns: u16) -> Vec<Line<'static>> {
    let typed = typed(cx, pane).filter(|typed| error_beside(cx.theme, typed, columns).is_none());
    let reason = typed.and_then(|typed| reason(cx.theme, typed));
    reason.map_or_else(Vec::new, |reason| {
        wrap(vec![words(reason, cx.theme.bad())], columns)
    })
}

/// The typed text around the cursor, with its error marked.
pub(crate) fn typed_spans(theme: Theme, typed: &Typed, columns: u16) -> Vec<Span<'static>> {
    marked_spans(
        theme,
        &typed.input,
        shown_error(typed).map(|error| error.at.clone()),
        columns,
    )
}

/// Draws the help over the last rows of the list while its filter is typed, or over the first rows
/// where the selected row is among the last. `selected` is its position on the screen.
pub(crate) fn draw_help(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    pane: &ListPane<'_>,
    selected: usize,
) {
    let Some(typed) = typed(cx, pane) else { return };
    let (theme, help) = (cx.theme, &typed.help);
    let rows: Vec<HelpRow> = if !help.offers.all.is_empty() {
        offered_rows(theme, typed)
    } else if help.error.is_some() {
        return;
    } else {
        let hiding = pane.why.iter().filter(|why| why.hides > 0).take(PARTS);
        hiding
            .map(|why| (words(hidden_by(why), theme.text()), Line::default()))
            .collect()
    };
    let count = rows.len().min(usize::from(area.height / 2));
    let last = usize::from(area.height) - count;
    let top = if selected < last { last } else { 0 };
    // The last row counts those without room; the chosen completion is always visible.
    let is_counted = rows.len() > count && count > 1 && !help.offers.all.is_empty();
    let shown = if is_counted { count - 1 } else { count };
    let skipped = help
        .offers
        .at
        .map_or(0, |at| (at + 1).saturating_sub(shown));
    let more = format!(" {} {} more", theme.glyphs.ellipsis, rows.len() - shown);
    let more = (shown < count).then(|| (words(more, theme.dim()), Line::default()));
    for (y, (left, right)) in rows
        .into_iter()
        .skip(skipped)
        .take(shown)
        .chain(more)
        .enumerate()
    {
        let row = row_of(area, (top + y) as u16);
        draw_line(
            buf,
            row,
            &words(" ".repeat(usize::from(row.width)), theme.text()),
        );
        draw_sides(buf, indented(row), &left, &right);
    }
}

/// The left and the right side of a row.
type HelpRow = (Line<'static>, Line<'static>);

/// The completions with their notes; the chosen one is marked.
fn offered_rows(theme: Theme, typed: &Typed) -> Vec<HelpRow> {
    let offers = &typed.help.offers;
    let row = |(at, offer): (usize, &Completion)| {
        let (mark, style) = if offers.at == Some(at) {
            (theme.glyphs.selected, theme.strong())
        } else {
            (" ", theme.text())
        };
        (
            words(format!("{mark}{}", text::clean(&offer.text)), style),
            words(text::clean(&offer.note).into_owned(), theme.dim()),
        )
    };
    offers.all.iter().enumerate().map(row).collect()
}

/// `risk>=high hides 12 rows`.
fn hidden_by(why: &ClauseEffect) -> String {
    format!(
        "{} hides {}",
        text::clean(&why.part),
        format::plural(why.hides, "row")
    )
}

/// For an empty list: the parts of its query without which it would have rows.
pub(crate) fn why_lines(cx: &Cx<'_>, why: &[ClauseEffect]) -> Vec<Line<'static>> {
    let alone = why.iter().filter(|why| why.hides > 0).take(PARTS);
    let line = |why: &ClauseEffect| {
        format!(
            "remove {} to show {}",
            text::clean(&why.part),
            format::plural(why.hides, "row")
        )
    };
    alone.map(|why| words(line(why), cx.theme.text())).collect()
}
