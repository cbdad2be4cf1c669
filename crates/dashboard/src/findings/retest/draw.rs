//! The retest board: findings of a retest, or of two scans, with BEFORE, NOW and their decisions.

use crate::base::{Pane, ShownRows};
use crate::data::{Board, BoardRow};
use crate::findings::draw::{self, cells};
use crate::list::Group;
use crate::ui::{
    Cx, DetailPane, DrawnPane, GridRow, ListColumn, ListPane, PaneDrawing, Room, Slot, TableColumn,
    Theme, ViewCache, cell, draw_columns_dimming, format, is_constant, pane_of, sampled_items,
    widest, words,
};
use ratatui::prelude::{Buffer, Line, Span, Style};
use scandeck_domain::table::columns::finding;
use scandeck_domain::triage::{Outcome, RetestStatus};
use scandeck_wire::text;

/// Where names would be cut, columns of one value give way.
const COLUMNS: &[ListColumn<BoardRow>] = &[
    ListColumn::<BoardRow>::new(
        finding::RISK,
        TableColumn::fixed(format::RISK),
        |cx, row, _| Line::from(format::risk_span(cx.theme, row.risk)),
    )
    .header(|cx, group, _| {
        let risk = rows_of(cx, group).map(|row| row.risk).max();
        risk.map_or_else(Line::default, |risk| {
            Line::from(format::risk_span(cx.theme, risk))
        })
    }),
    ListColumn::<BoardRow>::new(finding::NAME, TableColumn::flex(12, 3), |_, row, _| {
        cell(&row.name)
    })
    .fit(|column, cx| column.content(widest(shown(cx).map(|row| row.name.as_str())), 0))
    .header(group_name),
    ListColumn::<BoardRow>::new(
        finding::TARGET,
        TableColumn::flex(8, 1).at_most(28),
        |cx, row, _| match row.target {
            Some(id) => Line::from(cx.short_target_name(id)),
            None => cell(&row.target_name),
        },
    )
    .fit(fit_target),
    ListColumn::<BoardRow>::new("BEFORE", TableColumn::fixed(BEFORE), |cx, row, _| match row
        .before
        .as_str()
    {
        "" => words(cx.theme.glyphs.dash, cx.theme.dim()),
        before => Line::from(text::clean(before).into_owned()),
    })
    .fit(|column, cx| {
        let before = widest(shown(cx).map(|row| row.before.as_str()));
        let is_one = is_constant(shown(cx).map(|row| &row.before));
        column
            .at_least(width_of_state(before, BEFORE))
            .gives_way_if(is_one, 2)
    }),
    ListColumn::<BoardRow>::new("NOW", TableColumn::fixed(NOW), |cx, row, _| {
        now_cell(cx, row)
    })
    .fit(|column, cx| {
        let now = shown(cx).map(|row| now_cell(cx, row).width());
        let now = now.max().unwrap_or(0);
        column.at_least(width_of_state(now, NOW)).omitted(now == 0)
    }),
    ListColumn::<BoardRow>::new(
        finding::ASSIGNEE,
        TableColumn::fixed(finding::ASSIGNEE.len() as u16).expendable(3),
        |cx, row, _| cells::assignee(cx, row.id),
    )
    .fit(|column, cx| cells::fit_assignee(column, cx, shown(cx).map(|row| row.id))),
    ListColumn::<BoardRow>::new(
        finding::DUE,
        TableColumn::fixed(10).expendable(4),
        |cx, row, _| cells::due(cx, row.id),
    )
    .fit(|column, cx| cells::fit_due(column, cx, shown(cx).map(|row| row.id))),
    ListColumn::<BoardRow>::new(
        finding::DECISION,
        TableColumn::fixed(DECISION),
        |cx, row, _| decision_cell(cx, row),
    )
    .fit(|column, cx| {
        let decisions = shown(cx).map(|row| decision_cell(cx, row).width());
        let is_decided = shown(cx).any(|row| is_decided_since(cx, row));
        column
            .at_least(DECISION.max(decisions.max().unwrap_or(0) as u16))
            .omitted(!is_decided)
    }),
];

/// Columns of the titles.
const BEFORE: u16 = 6;
const NOW: u16 = 3;
const DECISION: u16 = finding::DECISION.len() as u16;
/// Columns of the widest state before and now.
const WIDEST_STATE: u16 = 16;

fn shown<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a BoardRow> + use<'a> {
    sampled_items::<BoardRow>(cx)
}

/// The width of a column of states with this widest one.
fn width_of_state(widest: usize, title: u16) -> u16 {
    widest.clamp(title.into(), WIDEST_STATE.into()) as u16
}

fn fit_target(column: TableColumn, cx: &Cx<'_>) -> TableColumn {
    let unknown = shown(cx).filter(|row| row.target.is_none());
    let unknown = widest(unknown.map(|row| row.target_name.as_str()));
    let targets = cx.widest_target(shown(cx).filter_map(|row| row.target));
    let is_one = is_constant(shown(cx).map(|row| (row.target, &row.target_name)));
    column
        .content(targets.max(unknown), cells::HOST_PORT)
        .gives_way_if(is_one, 1)
}

impl DrawnPane for BoardRow {
    const DRAWING: PaneDrawing = PaneDrawing::new(draw_list, detail);
}

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    let list = &cx.model.lists.board;
    let pane = ListPane {
        place: list
            .groups
            .is_on()
            .then(|| format::plural(list.rows.len(), "finding")),
        note: words(cx.model.board_words(), cx.theme.dim()),
        invitation: invitation(cx),
        ..pane_of::<BoardRow>(cx)
    };
    draw_columns_dimming(cx, buf, slot, cache, pane, COLUMNS, |row| match row {
        GridRow::Item { item, .. } => cells::is_dismissed(cx, item.id),
        GridRow::Header(_) => false,
    })
}

/// The detail of the selected finding, or of the selected group.
pub(crate) fn detail<'a>(cx: &Cx<'a>, cache: &mut ViewCache) -> Option<DetailPane<'a>> {
    match cx.model.lists.board.selected {
        Some(id) => draw::detail::detail(cx, Pane::Board, id, cache),
        None => draw::group_detail::on_board(cx, cache),
    }
}

fn invitation(cx: &Cx<'_>) -> String {
    match &cx.model.findings.board {
        Some(Board::Compare(..)) => "neither scan has findings".to_owned(),
        _ => "no retest yet · retest findings in the list of findings".to_owned(),
    }
}

/// The rows of a group.
fn rows_of<'a>(cx: &Cx<'a>, group: &'a Group) -> impl Iterator<Item = &'a BoardRow> + use<'a> {
    let rows = cx.model.data.board.value().map(|table| table.items());
    let rows = rows.unwrap_or_default();
    let positions = cx.model.lists.board.positions_in(group);
    positions.filter_map(|at| rows.get(at as usize).map(|row| &**row))
}

/// NOW of the group and the number of findings.
fn group_name<'a>(cx: &Cx<'a>, group: &'a Group, _: Room<'_>) -> Line<'a> {
    let theme = cx.theme;
    let Some(first) = rows_of(cx, group).next() else {
        return Line::default();
    };
    let board = cx.model.findings.board.as_ref();
    let named = board.map_or("", |board| board.now_words(first.now));
    Line::from(vec![
        Span::styled(
            format!("{} ", theme.glyphs.folds[usize::from(group.is_open)]),
            theme.key(),
        ),
        Span::styled(named, now_style(theme, first.now).patch(theme.strong())),
        Span::styled(
            format!("   {}", format::plural(group.rows.len(), "finding")),
            theme.dim(),
        ),
    ])
}

/// The present decision on the finding of a row.
fn decision_cell<'a>(cx: &Cx<'a>, row: &BoardRow) -> Line<'a> {
    let issue = cx
        .model
        .data
        .findings
        .value()
        .and_then(|table| table.get(row.id));
    issue.map_or_else(Line::default, |issue| {
        cells::decision_cell(cx, issue, cells::short_name)
    })
}

/// Whether the finding of a row is decided otherwise than BEFORE. Of a comparison, whose BEFORE is
/// a risk: whether it is decided.
fn is_decided_since(cx: &Cx<'_>, row: &BoardRow) -> bool {
    let decided = cx
        .model
        .assessment(row.id)
        .filter(|known| !known.is_undecided());
    decided.is_some_and(|known| known.verdict.phrase() != row.before.as_str())
}

/// The result of the retest. In groups the header names it.
fn now_cell(cx: &Cx<'_>, row: &BoardRow) -> Line<'static> {
    let is_grouped = cx.model.lists.board.groups.is_on();
    let board = cx.model.findings.board.as_ref().filter(|_| !is_grouped);
    let named = board.map_or("", |board| board.now_words(row.now));
    let with = |more: &str| format!("{named} {more}").trim_start().to_owned();
    let style = now_style(cx.theme, row.now);
    match row.now {
        RetestStatus::Running(id) => match cx.scan(id) {
            Some(scan) => words(with(&format!("{}%", scan.progress.clamp(0, 99))), style),
            None => words(named, style),
        },
        _ => words(named, style),
    }
}

fn now_style(theme: Theme, now: RetestStatus) -> Style {
    match now {
        RetestStatus::Is(Outcome::Absent) => theme.good(),
        RetestStatus::Is(Outcome::Same) => theme.text(),
        RetestStatus::Is(Outcome::New | Outcome::Changed) => theme.strong(),
        RetestStatus::Is(Outcome::CoveredLess) => theme.warn(),
        RetestStatus::Running(_) | RetestStatus::Reading => theme.active(),
        RetestStatus::Waiting => theme.dim(),
        RetestStatus::Failed | RetestStatus::Refused => theme.bad(),
    }
}
