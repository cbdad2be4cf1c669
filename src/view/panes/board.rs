//! The board: findings of a retest, or of two scans, with BEFORE and NOW.

use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::list::{ListPane, draw_table, pane_of};
use crate::app::board::{Board, BoardRow};
use crate::app::model::Pane;
use crate::app::retest::Now;
use crate::contract::Tool;
use crate::text;
use crate::triage::compare::Outcome;
use crate::triage::{CaseId, Verdict};
use crate::view::cache::Anchor;
use crate::view::context::{Cx, cell, words};
use crate::view::format;
use crate::view::layout::Slot;
use crate::view::theme::Theme;
use crate::view::widgets::table::Column;

const COLUMNS: &[Column] = &[
    Column::fixed("RISK", format::RISK),
    Column::flex("FINDING", 12, 3),
    Column::flex("TARGET", 8, 1).at_most(28),
    Column::fixed("BEFORE", 13),
    Column::fixed("NOW", 12),
];

pub(super) fn draw_list(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, anchor: &mut Anchor<CaseId>) -> u16 {
    let remote = &cx.model.data.board;
    let pane = ListPane {
        columns: COLUMNS,
        note: words(cx.model.board_words(), cx.theme.dim()),
        invitation: invitation(cx),
        ..pane_of(Pane::Board, remote)
    };
    draw_table(cx, buf, slot, anchor, pane, (remote, &cx.model.lists.board), |row, _| cells(cx, row))
}

fn invitation(cx: &Cx<'_>) -> String {
    match &cx.model.board {
        Some(Board::Compare(..)) => "Neither scan told any finding.".to_owned(),
        _ => "Nothing was retested yet: s on findings starts the scans again that found them.".to_owned(),
    }
}

fn cells<'a>(cx: &Cx<'a>, row: &'a BoardRow) -> Vec<Line<'a>> {
    let theme = cx.theme;
    let risk = Line::from(format::risk_span(theme, row.risk));
    if let Some(count) = row.head {
        let named = cx.model.board.as_ref().map_or("", |board| board.now_words(row.now));
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
    let named = cx.model.board.as_ref().map_or("", |board| board.now_words(row.now));
    let style = now_style(cx.theme, row.now);
    let fixed =
        cx.model.stance(row.id).is_some_and(|stance| stance.verdict == Verdict::Fixed && stance.again.is_none());
    match row.now {
        Now::Running(id) => match cx.scan(id) {
            Some(scan) => words(format!("{named} {}%", scan.progress.clamp(0, 99)), style),
            None => words(named, style),
        },
        Now::Is(Outcome::Gone) if fixed => words(format!("{named} {}", cx.theme.glyphs.done), cx.theme.dim()),
        _ => words(named, style),
    }
}

fn now_style(theme: Theme, now: Now) -> Style {
    match now {
        Now::Is(Outcome::Gone) => theme.good(),
        Now::Is(Outcome::Same) => theme.text(),
        Now::Is(Outcome::New | Outcome::Changed) => theme.strong(),
        Now::Is(Outcome::CoveredLess) => theme.warn(),
        Now::Running(_) | Now::Reading => theme.active(),
        Now::Waiting => theme.dim(),
        Now::Failed | Now::Refused => theme.bad(),
    }
}

/// What the board is about: `retest 2m ago`, `#111 › #118 Website of api`.
pub(super) fn about(cx: &Cx<'_>) -> Option<String> {
    match cx.model.board.as_ref()? {
        Board::Retest(retest) => Some(format!("retest {}", super::finding::standing::ago(cx, retest.at))),
        Board::Compare(before, after) => {
            let scan = cx.scan(*after);
            let of = scan.map(|scan| format!(" {} of {}", Tool(scan.tool_id), cx.short_target_name(scan.target_id)));
            Some(format!("#{before} {} #{after}{}", cx.theme.glyphs.path, of.unwrap_or_default()))
        }
    }
}
