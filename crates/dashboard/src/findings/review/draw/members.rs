//! The tab Where of a card: its findings, and those that are excluded from the decision.

use crate::findings::draw as findings;
use crate::model::Review;
use crate::ui::{
    Cx, GUTTER, TableColumn, TableRow, ViewCache, cell, draw_header_row, draw_rows, format,
    is_constant, take_top, widths, window, words,
};
use ratatui::prelude::{Buffer, Line, Rect};
use scandeck_domain::triage::Issue;
use std::sync::Arc;

const COLUMNS: [TableColumn; 7] = [
    TableColumn::fixed("", 8),
    TableColumn::fixed("RISK", format::RISK),
    TableColumn::fixed("Δ", 1),
    TableColumn::flex("TARGET", 10, 1),
    TableColumn::fixed("PORT", 5).right(),
    TableColumn::flex("FINDING", 10, 2).from(60),
    TableColumn::fixed("DECISION", 12).expendable(1),
];

pub(crate) fn draw<'a>(
    cx: &Cx<'a>,
    buf: &mut Buffer,
    area: Rect,
    review: &'a Review,
    cache: &mut ViewCache,
) {
    let issues = &review.facts.issues;
    let columns = &columns(review);
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
            cells: cells(cx, issue, out),
            style,
            marked: false,
            selected: at == review.row,
        }
    };
    let shown = issues.iter().enumerate().skip(first).take(height).map(row);
    draw_rows(buf, area, cx.theme, columns, &room, true, (0..).zip(shown));
}

/// A name that all findings share, and an empty first column, give their room to the targets.
fn columns(review: &Review) -> [TableColumn; 7] {
    let issues = &review.facts.issues;
    let has_excluded = issues.iter().any(|issue| review.is_out(issue.id));
    let is_one_name = is_constant(issues.iter().map(|issue| &issue.name));
    COLUMNS.map(|column| match column.title {
        "" => column.omitted(!has_excluded),
        "FINDING" => column.omitted(is_one_name),
        _ => column,
    })
}

fn cells<'a>(cx: &Cx<'a>, issue: &'a Issue, out: bool) -> Vec<Line<'a>> {
    vec![
        if out {
            words("excluded", cx.theme.warn())
        } else {
            Line::default()
        },
        findings::risk(cx.theme, issue, cx.model.assessment(issue.id)),
        words(cx.theme.presence_sign(issue.presence), cx.theme.text()),
        findings::target(cx, issue),
        Line::from(if issue.port() > 0 {
            issue.port().min(99_999).to_string()
        } else {
            String::new()
        }),
        cell(&issue.name),
        findings::decision_cell(
            cx,
            issue,
            cx.model.assessment(issue.id),
            findings::short_name,
        ),
    ]
}
