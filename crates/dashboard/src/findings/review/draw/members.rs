//! The tab Where of a card: its findings, and those that are excluded from the decision.

use crate::findings::draw::cells;
use crate::model::Review;
use crate::ui::{
    Cx, GUTTER, ListColumn, Room, TableColumn, TableRow, ViewCache, cell, cells as cells_of,
    draw_header_row, draw_rows, format, is_constant, layouts, take_top, widths, window, words,
};
use ratatui::prelude::{Buffer, Line, Rect};
use scandeck_domain::table::columns::finding;
use scandeck_domain::triage::Issue;
use std::sync::Arc;

/// A name that all findings share, and an empty first column, give their room to the targets.
const COLUMNS: &[ListColumn<Issue>] = &[
    ListColumn::<Issue>::new("", TableColumn::fixed(8), |cx, issue, _| {
        match is_out(cx, issue) {
            true => words("excluded", cx.theme.warn()),
            false => Line::default(),
        }
    })
    .fit(|column, cx| column.omitted(!issues_of_card(cx).any(|issue| is_out(cx, issue)))),
    ListColumn::new(
        finding::RISK,
        TableColumn::fixed(format::RISK),
        |cx, issue, _| cells::risk(cx, issue),
    ),
    ListColumn::new(cells::PRESENCE, TableColumn::fixed(1), |cx, issue, _| {
        cells::presence(cx, issue)
    }),
    ListColumn::new(finding::TARGET, TableColumn::flex(10, 1), |cx, issue, _| {
        cells::target(cx, issue)
    }),
    ListColumn::new(
        finding::PORT,
        TableColumn::fixed(5).right(),
        |_, issue, _| cells::number_of_port(issue),
    ),
    ListColumn::<Issue>::new(
        finding::NAME,
        TableColumn::flex(10, 2).from(60),
        |_, issue, _| cell(&issue.name),
    )
    .fit(|column, cx| column.omitted(is_constant(issues_of_card(cx).map(|issue| &issue.name)))),
    ListColumn::new(
        finding::DECISION,
        TableColumn::fixed(12).expendable(1),
        |cx, issue, _| cells::decision_cell(cx, issue, cells::short_name),
    ),
];

/// The findings of the card.
fn issues_of_card<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a Issue> + use<'a> {
    let review = cx.model.reviewing();
    let issues = review.map(|review| review.facts.issues.iter());
    issues.into_iter().flatten().map(|issue| &**issue)
}

/// Whether a finding is excluded from the decision.
fn is_out(cx: &Cx<'_>, issue: &Issue) -> bool {
    let review = cx.model.reviewing();
    review.is_some_and(|review| review.is_out(issue.id))
}

pub(crate) fn draw<'a>(
    cx: &Cx<'a>,
    buf: &mut Buffer,
    area: Rect,
    review: &'a Review,
    cache: &mut ViewCache,
) {
    let issues = &review.facts.issues;
    let columns = &layouts(COLUMNS, cx);
    let room = widths(columns, area.width.saturating_sub(GUTTER));
    let (header, area) = take_top(area, u16::from(area.height > 2));
    draw_header_row(buf, header, cx.theme, columns, &room);
    let height = usize::from(area.height);
    cache.measures.detail_rows = area.height;
    let first = window(
        review.row.saturating_sub(height / 2),
        review.row,
        issues.len(),
        height,
    );
    let row = |(at, issue): (usize, &'a Arc<Issue>)| {
        let out = review.is_out(issue.id);
        let style = if out { cx.theme.dim() } else { cx.theme.text() };
        TableRow {
            cells: cells_of(COLUMNS, cx, issue, Room::of(&room)),
            style,
            marked: false,
            selected: at == review.row,
        }
    };
    let shown = issues.iter().enumerate().skip(first).take(height).map(row);
    draw_rows(buf, area, cx.theme, columns, &room, true, (0..).zip(shown));
}
