//! The panes: which file draws what, their names, and what they share.
//!
//! Each pane's file has its columns, the cells of a row, and its detail. How a list or a detail is framed, scrolled and
//! filtered is in [`list`] and [`detail`], once for all.

mod board;
mod capture;
mod captures;
mod detail;
mod finding;
mod findings;
mod group_detail;
mod groups;
pub(super) mod list;
mod loggers;
mod payloads;
mod query_help;
mod reports;
pub(super) mod review;
mod scans;
mod targets;
mod wordlists;
mod workspaces;

use ratatui::buffer::Buffer;
use ratatui::text::{Line, Span};

use super::cache::ViewCache;
use super::context::Cx;
use super::layout::{Part, Slot};
use super::widgets::lines::draw_sides;
use crate::app::model::Pane;
use crate::input::{Action, Context};

/// Draws a slot. What it measured goes into the cache.
pub(super) fn draw_slot(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, cache: &mut ViewCache) {
    match slot.part {
        Part::List => {
            let rows = draw_list(cx, buf, slot, cache);
            if slot.pane == cx.model.focus.pane {
                cache.measures.list_rows = rows;
                cache.measures.row = cx.model.row_id(slot.pane).filter(|_| rows > 0);
            }
        }
        Part::Detail => {
            match cx.model.reviewing() {
                Some(review) => review::draw(cx, buf, slot.area, review, cache),
                None => detail::draw_detail(cx, buf, slot, cache),
            }
            if cx.model.focus.in_detail {
                cache.measures.row = cx.model.row_id(slot.pane);
            }
        }
        Part::Line => draw_summary(cx, buf, slot),
    }
}

fn draw_list(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, cache: &mut ViewCache) -> u16 {
    let anchors = &mut cache.anchors;
    match slot.pane {
        Pane::Workspaces => workspaces::draw_list(cx, buf, slot, &mut anchors.workspaces),
        Pane::Targets => targets::draw_list(cx, buf, slot, &mut anchors.targets),
        Pane::Findings if groups::are_shown(cx) => groups::draw_list(cx, buf, slot, &mut anchors.findings),
        Pane::Findings => findings::draw_list(cx, buf, slot, &mut anchors.findings),
        Pane::Scans => scans::draw_list(cx, buf, slot, &mut anchors.scans),
        Pane::Captures => captures::draw_list(cx, buf, slot, &mut anchors.captures),
        Pane::Loggers => loggers::draw_list(cx, buf, slot, &mut anchors.loggers),
        Pane::Reports => reports::draw_list(cx, buf, slot, &mut anchors.reports),
        Pane::Wordlists => wordlists::draw_list(cx, buf, slot, &mut anchors.wordlists),
        Pane::Payloads => payloads::draw_list(cx, buf, slot, &mut anchors.payloads),
        Pane::Board => board::draw_list(cx, buf, slot, &mut anchors.board),
    }
}

/// The detail of the selected row of a pane, if there is one.
fn detail_of<'a>(cx: &Cx<'a>, pane: Pane, cache: &mut ViewCache) -> Option<detail::DetailPane<'a>> {
    match pane {
        Pane::Workspaces => None,
        Pane::Targets => targets::detail(cx),
        Pane::Findings if groups::on_head(cx).is_some() => group_detail::detail(cx, groups::on_head(cx)?, cache),
        Pane::Findings => finding::detail(cx, pane, cx.model.lists.findings.selected?, &mut cache.pieces),
        Pane::Board if cx.model.board_case().is_none() => group_detail::on_board(cx, cache),
        Pane::Board => finding::detail(cx, pane, cx.model.board_case()?, &mut cache.pieces),
        Pane::Scans => scans::detail(cx),
        Pane::Captures => capture::detail(cx),
        Pane::Loggers => loggers::detail(cx),
        Pane::Reports => reports::detail(cx),
        Pane::Wordlists => wordlists::detail(cx),
        Pane::Payloads => payloads::detail(cx),
    }
}

/// A pane in one line: `─ 4 scans ── ▶ 3 running  ✗ 1 failed ───`.
fn draw_summary(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot) {
    let theme = cx.theme;
    let summary = match slot.pane {
        Pane::Findings => findings::summary(cx),
        Pane::Scans => scans::summary(cx),
        Pane::Captures | Pane::Loggers => captures::summary(cx),
        Pane::Workspaces | Pane::Targets | Pane::Reports | Pane::Wordlists | Pane::Board | Pane::Payloads => {
            Line::default()
        }
    };
    let rule = theme.glyphs.rule;
    let mut line = Line::from(Span::styled(format!("{rule} "), theme.dim()));
    line.push_span(Span::styled(numbered(slot.pane), theme.strong()));
    line.push_span(Span::styled(format!(" {rule}{rule} "), theme.dim()));
    line.extend(summary.spans);
    line.push_span(Span::raw(" "));
    let rest = usize::from(slot.area.width).saturating_sub(line.width());
    line.push_span(Span::styled(rule.repeat(rest), theme.dim()));
    draw_sides(buf, slot.area, &line, &Line::default());
}

/// The key that goes to a pane, with its name: `3 Findings`.
pub(super) fn numbered(pane: Pane) -> String {
    let number = match pane {
        Pane::Workspaces => 1,
        Pane::Targets => 2,
        Pane::Findings => 3,
        Pane::Scans => 4,
        Pane::Captures | Pane::Loggers => 5,
        Pane::Reports => 6,
        Pane::Wordlists => 7,
        Pane::Board | Pane::Payloads => return pane.title().to_owned(),
    };
    format!("{number} {}", pane.title())
}

/// The key of an action in a pane as printed, for sentences: the pane's own, else that of all lists.
pub(super) fn key(cx: &Cx<'_>, context: Context, action: Action) -> String {
    let known = [context, Context::Lists, Context::Everywhere].into_iter();
    let key = known.filter_map(|context| cx.model.keymap.key_of(context, action)).next();
    key.unwrap_or_else(|| format!("({})", action.name()))
}

/// What narrows a pane beside its filter: `target:shop`.
fn chips(cx: &Cx<'_>, pane: Pane) -> Vec<String> {
    let scope = &cx.model.scope;
    let target = || scope.target.map(|id| format!("target:{}", cx.short_target_name(id)));
    let scan = || scope.scan.map(|id| format!("scan:{}", cx.scan_name(id)));
    let logger = || scope.logger.map(|id| format!("logger:{}{}", cx.logger_name(id), captures::left(cx, id)));
    let all = match pane {
        Pane::Findings => vec![target(), scan()],
        Pane::Scans => vec![target()],
        Pane::Captures => vec![logger()],
        Pane::Board => vec![board::about(cx)],
        Pane::Workspaces | Pane::Targets | Pane::Loggers | Pane::Reports | Pane::Wordlists | Pane::Payloads => {
            Vec::new()
        }
    };
    all.into_iter().flatten().collect()
}

/// A name with its value, for heads and summaries.
fn fact(theme: super::theme::Theme, name: &'static str, value: impl Into<String>) -> Line<'static> {
    Line::from(vec![Span::styled(format!("{name:<14}"), theme.dim()), Span::raw(value.into())])
}
