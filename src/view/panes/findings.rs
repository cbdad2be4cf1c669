//! Findings: the table to work through, and one finding with its evidence and references.

use ratatui::buffer::Buffer;
use ratatui::text::{Line, Span};

use super::detail::{DetailPane, DetailText};
use super::list::{ListPane, draw_table, pane_of};
use crate::app::detail::Tab;
use crate::app::model::Pane;
use crate::contract::finding::EvidenceView;
use crate::contract::{Finding, Risk};
use crate::text;
use crate::triage::CaseId;
use crate::view::cache::Anchor;
use crate::view::context::{Cx, cell, words};
use crate::view::format;
use crate::view::layout::Slot;
use crate::view::theme::Theme;
use crate::view::widgets::grid::grid_lines;
use crate::view::widgets::table::Column;
use crate::view::widgets::tree::tree_lines;
use crate::view::widgets::wrap::plain;

const COLUMNS: &[Column] = &[
    Column::fixed("RISK", format::RISK),
    Column::flex("FINDING", 12, 3),
    // K: known to be exploited, P: proven by the scanner.
    Column::fixed("KP", 2).from(56),
    Column::flex("TARGET", 9, 1).at_most(28),
    Column::fixed("PORT", 5).right().from(70),
    Column::fixed("AGE", 5).right(),
];

/// Lines of evidence that the overview shows.
const EXCERPT: usize = 8;

pub(super) fn draw_list(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, anchor: &mut Anchor<CaseId>) -> u16 {
    let remote = &cx.model.data.findings;
    let list = &cx.model.lists.findings;
    let pane = ListPane {
        columns: COLUMNS,
        invitation: "No findings yet: they appear here while scans run.".to_owned(),
        ..pane_of(Pane::Findings, remote)
    };
    draw_table(cx, buf, slot, anchor, pane, (remote, list), |finding, _| {
        vec![
            Line::from(format::risk_span(cx.theme, finding.risk_level)),
            cell(&finding.name),
            flags(cx.theme, finding),
            target(cx, finding),
            port(finding),
            words(cx.age(finding.task_id.and_then(|id| cx.scan(id)?.start_time)), cx.theme.text()),
        ]
    })
}

fn flags(theme: Theme, finding: &Finding) -> Line<'static> {
    let exploited = if finding.in_cisa_catalog { "K" } else { " " };
    let proven = if finding.confirmed { "P" } else { " " };
    Line::from(vec![Span::styled(exploited, theme.bad()), Span::styled(proven, theme.strong())])
}

fn target<'a>(cx: &Cx<'a>, finding: &'a Finding) -> Line<'a> {
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

pub(super) fn detail<'a>(cx: &Cx<'a>) -> Option<DetailPane<'a>> {
    let table = cx.model.data.findings.value()?;
    let finding = table.get(cx.model.lists.findings.selected?)?;
    let tab = cx.model.detail.tab(Pane::Findings);
    let tabs = vec![
        Tab::Overview.title().to_owned(),
        Tab::Evidence.title().to_owned(),
        format!("{} {}", Tab::References.title(), finding.references.len() + finding.cve.len()),
    ];
    let text = DetailText::new(vec![table.clone()], move |theme, width, _| match tab {
        Tab::Evidence => evidence_lines(theme, finding, width),
        Tab::References => reference_lines(theme, finding),
        _ => overview_lines(theme, finding, width),
    });
    Some(DetailPane { id: finding.id.0, head: head_lines(cx, finding), tabs, text })
}

fn head_lines(cx: &Cx<'_>, finding: &Finding) -> Vec<Line<'static>> {
    let theme = cx.theme;
    let risk = finding.risk_level;
    let mut facts = vec![Span::styled(
        format!("{} {}", format::risk_glyph(theme, risk), risk.as_str().to_uppercase()),
        theme.risk(risk),
    )];
    let mut tell = |text: String| facts.push(Span::raw(format!("   {text}")));
    if finding.confirmed {
        tell("proven by the scanner".to_owned());
    }
    if finding.in_cisa_catalog {
        tell("known to be exploited".to_owned());
    }
    if finding.verified {
        tell("verified by a person".to_owned());
    }
    if let Some(score) = finding.cvssv3.or(finding.cvss) {
        tell(format!("CVSS {score:.1}"));
    }
    if let Some(score) = finding.epss_score {
        tell(format!("EPSS {:.1}%", score * 100.0));
    }
    vec![words(text::clean(&finding.name).into_owned(), theme.strong()), Line::from(facts), place_line(cx, finding)]
}

/// Where it is, what kind it is, and which scan found it.
fn place_line(cx: &Cx<'_>, finding: &Finding) -> Line<'static> {
    let mut parts = Vec::new();
    let named = finding.target_name.as_deref().map(|name| text::clean(name).into_owned());
    parts.extend(cx.finding_target(finding).map(|id| cx.target_name(id).into_owned()).or(named));
    if finding.port > 0 {
        let (protocol, service) = (text::clean(&finding.protocol), text::clean(&finding.service));
        let slash = if protocol.is_empty() { "" } else { "/" };
        parts.push(format!("{}{slash}{protocol} {service}", finding.port).trim_end().to_owned());
    }
    for kind in [&finding.cwe, &finding.owasp.owasp_2021] {
        if !kind.is_empty() {
            parts.push(text::clean(kind).into_owned());
        }
    }
    if let Some(id) = finding.task_id {
        let age = cx.age(cx.scan(id).and_then(|scan| scan.start_time));
        parts.push(format!("scan {}, {age} ago", cx.scan_name(id)));
    }
    if !finding.status.is_empty() {
        parts.push(text::clean(&finding.status).into_owned());
    }
    Line::from(Span::styled(parts.join("   "), cx.theme.text()))
}

fn overview_lines(theme: Theme, finding: &Finding, width: u16) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    section(theme, "Why it matters", &finding.risk_description, &mut lines);
    section(theme, "What it is", &finding.vuln_description, &mut lines);
    let evidence = evidence_lines(theme, finding, width.saturating_sub(2));
    if !finding_has_no_evidence(finding) {
        heading(theme, "Evidence", &mut lines);
        let more = evidence.len().saturating_sub(EXCERPT);
        lines.extend(evidence.into_iter().take(EXCERPT).map(indent));
        if more > 0 {
            lines
                .push(words(format!("  {} {}", theme.glyphs.ellipsis, format::plural(more, "more line")), theme.dim()));
        }
    }
    section(theme, "Fix", &finding.recommendation, &mut lines);
    section(theme, "Tested", &finding.test_description, &mut lines);
    if finding.risk_level == Risk::Info && finding.vuln_id.starts_with("NONVULN") {
        lines.push(words("Tested, and nothing was found.", theme.dim()));
    }
    lines
}

fn finding_has_no_evidence(finding: &Finding) -> bool {
    finding.vuln_evidence.view() == EvidenceView::Nothing
}

fn heading(theme: Theme, name: &'static str, lines: &mut Vec<Line<'static>>) {
    if !lines.is_empty() {
        lines.push(Line::default());
    }
    lines.push(words(name, theme.strong()));
}

fn section(theme: Theme, name: &'static str, outside: &str, lines: &mut Vec<Line<'static>>) {
    if !outside.trim().is_empty() {
        heading(theme, name, lines);
        lines.extend(plain(text::clean_text(outside.trim()).as_ref(), theme.text()));
    }
}

fn indent(mut line: Line<'static>) -> Line<'static> {
    line.spans.insert(0, Span::raw("  "));
    line
}

/// Evidence as a table, a text or a tree; cells of tables come HTML-encoded.
fn evidence_lines(theme: Theme, finding: &Finding, width: u16) -> Vec<Line<'static>> {
    let cells = |row: Vec<String>| -> Vec<String> {
        row.iter().map(|cell| text::clean_text(&text::decode_entities(cell)).into_owned()).collect()
    };
    match finding.vuln_evidence.view() {
        EvidenceView::Nothing => vec![words("The service sent no evidence.", theme.dim())],
        EvidenceView::Text(words) => plain(&text::clean_text(&words), theme.text()),
        EvidenceView::Table { headers, rows } => {
            let rows: Vec<Vec<String>> = rows.into_iter().map(cells).collect();
            grid_lines(theme, &cells(headers), &rows, width)
        }
        EvidenceView::Tree(value) => tree_lines(theme, &value),
    }
}

fn reference_lines(theme: Theme, finding: &Finding) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> = Vec::new();
    let mut list = |name: &'static str, all: Vec<&str>| {
        let all: Vec<&str> = all.into_iter().filter(|item| !item.is_empty()).collect();
        if !all.is_empty() {
            heading(theme, name, &mut lines);
            lines.extend(all.into_iter().map(|item| words(text::clean(item).into_owned(), theme.text())));
        }
    };
    list("CVE", finding.cve.iter().map(|cve| cve.as_str()).collect());
    list("CWE", vec![&finding.cwe]);
    let owasp = &finding.owasp;
    list("OWASP", vec![&owasp.owasp_2025, &owasp.owasp_2021, &owasp.owasp_2017]);
    list("References", finding.references.iter().map(|reference| reference.as_str()).collect());
    list("Kind", vec![&finding.vuln_id]);
    if lines.is_empty() {
        lines.push(words("No references.", theme.dim()));
    }
    lines
}
