//! The retest board: findings of a retest, or of two scans, with BEFORE, NOW and their decisions.

use crate::base::{Pane, ShownRows};
use crate::data::{Board, BoardRow};
use crate::findings::draw;
use crate::list::Group;
use crate::ui::{
    Cx, DetailPane, GridRow, ListPane, Slot, TableColumn, Theme, ViewCache, cell, columns_of,
    dimmed, draw_grouped, format, is_constant, pane_of, sampled_items, widest, words,
};
use ratatui::prelude::{Buffer, Line, Span, Style};
use scandeck_domain::triage::{Outcome, RetestStatus};
use scandeck_wire::text;

/// The columns, with the widths of their widest cells. Where names would be cut, columns of one
/// value give way.
fn columns(cx: &Cx<'_>) -> [TableColumn; 6] {
    let rows = || sampled_items::<BoardRow>(cx).map(|(_, row)| row);
    let unknown = widest(
        rows()
            .filter(|row| row.target.is_none())
            .map(|row| row.target_name.as_str()),
    );
    let targets = cx
        .widest_target(rows().filter_map(|row| row.target))
        .max(unknown);
    let before = widest(rows().map(|row| row.before.as_str())).max("BEFORE".len());
    let now = rows()
        .map(|row| now_cell(cx, row).width())
        .max()
        .unwrap_or(0);
    let decision = rows()
        .map(|row| decision_cell(cx, row).width())
        .max()
        .unwrap_or(0);
    let has_decision = rows().any(|row| is_decided_since(cx, row));
    let one_target = is_constant(rows().map(|row| (row.target, &row.target_name)));
    let one_before = is_constant(rows().map(|row| &row.before));
    [
        TableColumn::fixed("RISK", format::RISK),
        TableColumn::flex("FINDING", 12, 3).content(widest(rows().map(|row| row.name.as_str())), 0),
        TableColumn::flex("TARGET", 8, 1)
            .content(targets, draw::HOST_PORT)
            .at_most(28)
            .gives_way_if(one_target, 1),
        TableColumn::fixed("BEFORE", before.min(16) as u16).gives_way_if(one_before, 2),
        TableColumn::fixed("NOW", now.clamp("NOW".len(), 16) as u16).omitted(now == 0),
        TableColumn::fixed("DECISION", decision.max("DECISION".len()) as u16)
            .omitted(!has_decision),
    ]
}

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    let (remote, list) = (&cx.model.data.board, &cx.model.lists.board);
    let columns = columns_of::<BoardRow>(cx, cache, || columns(cx).to_vec());
    let pane = ListPane {
        columns: &columns,
        place: list
            .groups
            .is_on()
            .then(|| format::plural(list.rows.len(), "finding")),
        note: words(cx.model.board_words(), cx.theme.dim()),
        invitation: invitation(cx),
        ..pane_of::<BoardRow>(cx)
    };
    let style = cx.freshness(remote);
    draw_grouped::<BoardRow>(cx, buf, slot, cache, pane, |row, _| match row {
        GridRow::Header(group) => (header(cx, group), style),
        GridRow::Item { item, .. } => {
            match cx.model.assessment(item.id).is_some_and(draw::is_dismissed) {
                true => (
                    cells(cx, item)
                        .into_iter()
                        .map(|cell| dimmed(cx.theme, cell))
                        .collect(),
                    cx.theme.dim(),
                ),
                false => (cells(cx, item), style),
            }
        }
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

/// NOW of the group, its highest risk and the number of findings.
fn header<'a>(cx: &Cx<'a>, group: &Group) -> Vec<Line<'a>> {
    let theme = cx.theme;
    let items = cx
        .model
        .data
        .board
        .value()
        .map(|table| table.items())
        .unwrap_or_default();
    let rows = || {
        cx.model
            .lists
            .board
            .positions_in(group)
            .filter_map(|at| items.get(at as usize))
    };
    let Some((first, risk)) = rows().next().zip(rows().map(|row| row.risk).max()) else {
        return Vec::new();
    };
    let named = cx
        .model
        .findings
        .board
        .as_ref()
        .map_or("", |board| board.now_words(first.now));
    let header = Line::from(vec![
        Span::styled(
            format!("{} ", theme.glyphs.folds[usize::from(group.is_open)]),
            theme.key(),
        ),
        Span::styled(named, now_style(theme, first.now).patch(theme.strong())),
        Span::styled(
            format!("   {}", format::plural(group.rows.len(), "finding")),
            theme.dim(),
        ),
    ]);
    vec![Line::from(format::risk_span(theme, risk)), header]
}

fn cells<'a>(cx: &Cx<'a>, row: &'a BoardRow) -> Vec<Line<'a>> {
    let theme = cx.theme;
    let risk = Line::from(format::risk_span(theme, row.risk));
    let target = match row.target {
        Some(id) => Line::from(cx.short_target_name(id)),
        None => cell(&row.target_name),
    };
    let before = match row.before.as_str() {
        "" => words(theme.glyphs.dash, theme.dim()),
        before => Line::from(text::clean(before).into_owned()),
    };
    vec![
        risk,
        cell(&row.name),
        target,
        before,
        now_cell(cx, row),
        decision_cell(cx, row),
    ]
}

/// The present decision on the finding of a row.
fn decision_cell<'a>(cx: &Cx<'a>, row: &BoardRow) -> Line<'a> {
    let issue = cx
        .model
        .data
        .findings
        .value()
        .and_then(|table| table.get(row.id));
    let known = cx.model.assessment(row.id);
    issue.map_or_else(Line::default, |issue| {
        draw::decision_cell(cx, issue, known, draw::short_name)
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
