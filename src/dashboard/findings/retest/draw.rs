//! The board: findings of a retest, or of two scans, with BEFORE and NOW.

use crate::dashboard::base::Pane;
use crate::dashboard::data::{Board, BoardRow};
use crate::dashboard::findings::draw;
use crate::dashboard::ui::context::{cell, words};
use crate::dashboard::ui::list::{draw_table, pane_of};
use crate::dashboard::ui::{Cx, DetailPane, ListPane, Slot, TableColumn, Theme, ViewCache, format};
use crate::text;
use crate::triage::{Outcome, RetestStatus, Verdict};
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

const COLUMNS: &[TableColumn] = &[
    TableColumn::fixed("RISK", format::RISK),
    TableColumn::flex("FINDING", 12, 3),
    TableColumn::flex("TARGET", 8, 1).at_most(28),
    TableColumn::fixed("BEFORE", 13),
    TableColumn::fixed("NOW", 12),
];

pub(crate) fn draw_list(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, cache: &mut ViewCache) -> u16 {
    let remote = &cx.model.data.board;
    let pane = ListPane {
        columns: COLUMNS,
        note: words(cx.model.board_words(), cx.theme.dim()),
        invitation: invitation(cx),
        ..pane_of(Pane::Board, remote)
    };
    draw_table(cx, buf, slot, cache, pane, (remote, &cx.model.lists.board), |row, _| cells(cx, row))
}

/// The detail of the selected finding, or of a head.
pub(crate) fn detail<'a>(cx: &Cx<'a>, cache: &mut ViewCache) -> Option<DetailPane<'a>> {
    match cx.model.board_case() {
        Some(id) => draw::detail::detail(cx, Pane::Board, id, &mut cache.pieces),
        None => draw::group_detail::on_board(cx, cache),
    }
}

fn invitation(cx: &Cx<'_>) -> String {
    match &cx.model.findings.board {
        Some(Board::Compare(..)) => "Neither scan told any finding.".to_owned(),
        _ => "Nothing was retested yet: s on findings starts the scans again that found them.".to_owned(),
    }
}

fn cells<'a>(cx: &Cx<'a>, row: &'a BoardRow) -> Vec<Line<'a>> {
    let theme = cx.theme;
    let risk = Line::from(format::risk_span(theme, row.risk));
    if let Some(count) = row.head {
        let named = cx.model.findings.board.as_ref().map_or("", |board| board.now_words(row.now));
        let head = Line::from(vec![
            Span::styled(named, now_style(theme, row.now).patch(theme.strong())),
            Span::styled(format!("   {}", format::plural(count, "finding")), theme.dim()),
        ]);
        return vec![risk, head, Line::default(), Line::default(), Line::default()];
    }
    let target = match row.target {
        Some(id) => Line::from(cx.short_target_name(id)),
        None => cell(&row.target_name),
    };
    let before = match row.before.as_str() {
        "" => words(theme.glyphs.dash, theme.dim()),
        before => Line::from(text::clean(before)),
    };
    vec![risk, cell(&row.name), target, before, now_cell(cx, row)]
}

/// What is known now; what was decided since stands beside it.
fn now_cell(cx: &Cx<'_>, row: &BoardRow) -> Line<'static> {
    let named = cx.model.findings.board.as_ref().map_or("", |board| board.now_words(row.now));
    let style = now_style(cx.theme, row.now);
    let fixed = cx
        .model
        .assessment(row.id)
        .is_some_and(|assessment| assessment.verdict == Verdict::Fixed && assessment.reopened.is_none());
    match row.now {
        RetestStatus::Running(id) => match cx.scan(id) {
            Some(scan) => words(format!("{named} {}%", scan.progress.clamp(0, 99)), style),
            None => words(named, style),
        },
        RetestStatus::Is(Outcome::Gone) if fixed => words(format!("{named} {}", cx.theme.glyphs.done), cx.theme.dim()),
        _ => words(named, style),
    }
}

fn now_style(theme: Theme, now: RetestStatus) -> Style {
    match now {
        RetestStatus::Is(Outcome::Gone) => theme.good(),
        RetestStatus::Is(Outcome::Same) => theme.text(),
        RetestStatus::Is(Outcome::New | Outcome::Changed) => theme.strong(),
        RetestStatus::Is(Outcome::CoveredLess) => theme.warn(),
        RetestStatus::Running(_) | RetestStatus::Reading => theme.active(),
        RetestStatus::Waiting => theme.dim(),
        RetestStatus::Failed | RetestStatus::Refused => theme.bad(),
    }
}
