//! Findings: the table to work through. One finding is in `finding/`.

use ratatui::buffer::Buffer;
use ratatui::text::{Line, Span};

use super::list::{ListPane, draw_table, pane_of};
use crate::app::model::Pane;
use crate::app::tabs::Saved;
use crate::contract::Finding;
use crate::text;
use crate::triage::{Case, CaseId, Stance, Verdict};
use crate::view::cache::Anchor;
use crate::view::context::{Cx, cell, words};
use crate::view::format;
use crate::view::layout::Slot;
use crate::view::theme::Theme;
use crate::view::widgets::table::Column;
use crate::view::widgets::tabs::tab_line;

const COLUMNS: &[Column] = &[
    Column::fixed("RISK", format::RISK),
    Column::flex("FINDING", 12, 3),
    // K: known to be exploited, P: proven by the scanner.
    Column::fixed("KP", 2).from(56),
    Column::flex("TARGET", 9, 1).at_most(28),
    Column::fixed("PORT", 5).right().from(70),
    Column::fixed("AGE", 5).right(),
];

pub(super) fn draw_list(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, anchor: &mut Anchor<CaseId>) -> u16 {
    let remote = &cx.model.data.findings;
    let list = &cx.model.lists.findings;
    let pane = ListPane {
        columns: COLUMNS,
        invitation: "No findings yet: they appear here while scans run.".to_owned(),
        tabs: Some(saved_tabs(cx, slot.area.width)),
        ..pane_of(Pane::Findings, remote)
    };
    draw_table(cx, buf, slot, anchor, pane, (remote, list), |finding, _| {
        vec![
            Line::from(format::risk_span(cx.theme, finding.risk_level)),
            name(cx, finding),
            flags(cx.theme, finding),
            target(cx, finding),
            port(finding),
            words(cx.age(finding.task_id.and_then(|id| cx.scan(id)?.start_time)), cx.theme.text()),
        ]
    })
}

/// The saved queries with their counts, and the name of the one in use.
pub(super) fn saved_tabs<'a>(cx: &Cx<'a>, width: u16) -> (Line<'a>, &'a str) {
    let tabs = &cx.model.tabs;
    let chosen = tabs.chosen(&cx.model.lists.findings.filter);
    let title = |(at, saved): (usize, &Saved)| {
        let count = tabs.counts.get(at).map(|count| format!(" {}", format::count(*count as i64)));
        format!("{}{}", text::clean(&saved.name), count.unwrap_or_default())
    };
    let titles: Vec<String> = tabs.saved.iter().enumerate().map(title).collect();
    let name = chosen.and_then(|at| tabs.saved.get(at)).map(|saved| saved.name.as_str()).unwrap_or_default();
    (tab_line(cx.theme, &titles, chosen, width.saturating_sub(4)), name)
}

/// Bold until its detail was seen.
fn name<'a>(cx: &Cx<'_>, case: &'a Case) -> Line<'a> {
    let name = cell(&case.name);
    if cx.model.is_unread(case.key()) { name.style(cx.theme.strong()) } else { name }
}

fn flags(theme: Theme, finding: &Finding) -> Line<'static> {
    let exploited = if finding.in_cisa_catalog { "K" } else { " " };
    let proven = if finding.confirmed { "P" } else { " " };
    Line::from(vec![Span::styled(exploited, theme.bad()), Span::styled(proven, theme.strong())])
}

/// What is decided, in a word.
pub(super) fn decision<'a>(cx: &Cx<'a>, stance: Option<&'a Stance>) -> Line<'a> {
    match stance.filter(|stance| stance.verdict != Verdict::Open) {
        Some(stance) => words(stance.verdict.word(), cx.theme.text()),
        None => words(cx.theme.glyphs.dash, cx.theme.dim()),
    }
}

pub(super) fn target<'a>(cx: &Cx<'a>, finding: &'a Finding) -> Line<'a> {
    match (cx.finding_target(finding), &finding.target_name) {
        (Some(id), _) => Line::from(cx.short_target_name(id)),
        (None, Some(name)) => cell(name),
        (None, None) => words(cx.theme.glyphs.dash, cx.theme.dim()),
    }
}

fn port(finding: &Finding) -> Line<'static> {
    Line::from(if finding.port > 0 { finding.port.min(99_999).to_string() } else { String::new() })
}

/// For layouts that have one line for the findings.
pub(super) fn summary<'a>(cx: &Cx<'a>) -> Line<'a> {
    Line::from(format::risk_counts(cx.theme, cx.facts.risks().map(Some), "  "))
}
