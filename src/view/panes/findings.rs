//! Findings: the table to work through. One finding is in `finding/`.

use ratatui::buffer::Buffer;
use ratatui::text::{Line, Span};

use super::list::{ListPane, draw_table, pane_of};
use crate::app::model::Pane;
use crate::app::tabs::Saved;
use crate::contract::Finding;
use crate::text;
use crate::triage::case::{Again, Source};
use crate::triage::{Case, CaseId, Stance};
use crate::view::cache::Anchor;
use crate::view::context::{Cx, cell, words};
use crate::view::format;
use crate::view::layout::Slot;
use crate::view::theme::Theme;
use crate::view::widgets::table::Column;
use crate::view::widgets::tabs::tab_line;

const COLUMNS: &[Column] = &[
    Column::fixed("RISK", format::RISK),
    Column::fixed("Δ", 1).expendable(3),
    Column::flex("FINDING", 12, 3),
    // K: known to be exploited, P: proven by the scanner.
    Column::fixed("KP", 2).from(79),
    Column::flex("TARGET", 9, 1).at_most(28),
    Column::fixed("PORT", 5).right().from(79),
    Column::fixed("AGE", 4).right().expendable(2),
    Column::fixed("DECISION", DECISION).expendable(1),
];

/// Columns of what is decided: the longest word is `accepted·svc`.
const DECISION: u16 = 12;

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
        let stance = cx.model.stance(finding.id);
        let cells = vec![
            risk(cx.theme, finding, stance),
            words(cx.theme.presence_sign(finding.presence), cx.theme.text()),
            name(cx, finding),
            flags(cx.theme, finding),
            target(cx, finding),
            port(finding),
            words(cx.age(finding.task_id.and_then(|id| cx.scan(id)?.start_time)), cx.theme.text()),
            said(cx, finding, stance),
        ];
        match stance.is_some_and(|stance| !stance.is_undecided()) {
            true => cells.into_iter().map(|cell| dimmed(cx.theme, cell)).collect(),
            false => cells,
        }
    })
}

/// A decided row steps back, whatever its colours are.
fn dimmed<'a>(theme: Theme, cell: Line<'a>) -> Line<'a> {
    let spans = cell.spans.into_iter().map(|span| Span::styled(span.content, theme.dim()));
    Line::from(spans.collect::<Vec<_>>())
}

/// The risk as scanned; with a severity of one's own both: `◆>MED`.
pub(super) fn risk(theme: Theme, case: &Case, stance: Option<&Stance>) -> Line<'static> {
    match stance.and_then(|stance| stance.severity).filter(|&own| own != case.risk_level) {
        None => Line::from(format::risk_span(theme, case.risk_level)),
        Some(own) => Line::from(vec![
            Span::styled(format::risk_glyph(theme, case.risk_level), theme.dim()),
            Span::raw(">"),
            Span::styled(format::risk_word(own), theme.risk(own)),
        ]),
    }
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

/// What is decided about a row; what is only offered stands there as a question.
pub(super) fn said<'a>(cx: &Cx<'a>, case: &Case, stance: Option<&'a Stance>) -> Line<'a> {
    match cx.model.offered(case.id).and_then(|before| before.shown()) {
        Some((_, offered)) => words(format!("{}?", offered.verdict.word()), cx.theme.warn()),
        None => decision(cx, stance),
    }
}

/// What is decided, in a word: also why it holds no more, and whose it is where it is the service's.
pub(super) fn decision<'a>(cx: &Cx<'a>, stance: Option<&'a Stance>) -> Line<'a> {
    let theme = cx.theme;
    let Some(stance) = stance else { return words(theme.glyphs.dash, theme.dim()) };
    match (stance.again, stance.source) {
        (Some(Again::Conflict), _) => words("conflict", theme.warn()),
        (Some(Again::Regression), _) => words("was fixed", theme.warn()),
        (Some(Again::Expired), _) => words("expired", theme.warn()),
        (None, Source::Nobody) => words(theme.glyphs.dash, theme.dim()),
        (None, Source::Service) => {
            words(format!("{}{}svc", stance.verdict.word(), theme.glyphs.separator), theme.text())
        }
        (None, _) if stance.recheck => words("re-check", theme.warn()),
        (None, _) => words(stance.verdict.word(), theme.text()),
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
