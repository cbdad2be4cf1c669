//! The history of a finding: decisions, and the results of earlier scans.
//!
//! ```text
//!   Decisions           2026-11-20 14:05  anna   risk accepted until 2027-01-12, deferred
//!                       2026-11-20 14:02  ben    false positive                          undone
//!   Scans               #121 Website      1m ago - not found
//!                       #118 Website      2m ago ◆ critical   evidence changed
//!                       #111 Website      3d ago ▲ high
//! ```

use crate::dashboard::findings::draw::detail::{heading, indent, status};
use crate::dashboard::ui::{Cx, Theme, format, words};
use crate::text;
use crate::triage::compare::{differences, occurrences};
use crate::triage::{Change, Decision, Event, Issue, Presence, VerdictSource};
use ratatui::prelude::{Line, Span, Style};
use std::sync::Arc;

pub(crate) fn lines(cx: &Cx<'_>, issue: &Issue) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    decisions(cx, issue, &mut lines);
    if issue.manual().is_none() {
        scans(cx, issue, &mut lines);
    }
    lines
}

/// The events, the newest first.
fn decisions(cx: &Cx<'_>, issue: &Issue, lines: &mut Vec<Line<'static>>) {
    let state = &cx.model.findings.triage.state;
    let events = state.history(issue.key());
    heading(cx.theme, "Decisions", lines);
    let rule = cx.model.assessment(issue.id).and_then(|assessment| match assessment.source {
        VerdictSource::Rule(id) => state.rule(id),
        _ => None,
    });
    if events.is_empty() && rule.is_none() {
        lines.push(words("  no decisions yet", cx.theme.dim()));
    }
    let conflict = state.finding_state(issue.key()).is_some_and(|finding_state| finding_state.is_conflict());
    let heads = state.heads(issue.key());
    let of_rule = rule.map(|rule| &rule.event);
    let widest = events.iter().chain(of_rule).map(|event| text::width(&text::clean(&event.who))).max().unwrap_or(0);
    // The rule is in force, whatever was undone later.
    lines.extend(of_rule.into_iter().flat_map(|event| event_lines(cx.theme, event, widest, cx.theme.text(), "")));
    for event in events.iter().rev() {
        let undone = state.is_undone(event.batch);
        let note = match () {
            () if undone => "   undone",
            () if conflict && heads.contains(&event.id) => "   in conflict",
            () => "",
        };
        let style = if undone { cx.theme.undone() } else { cx.theme.text() };
        lines.extend(event_lines(cx.theme, event, widest, style, note));
    }
}

fn event_lines(
    theme: Theme,
    event: &Arc<Event>,
    widest: usize,
    style: Style,
    note: &'static str,
) -> Vec<Line<'static>> {
    let who = text::clean(&event.who).into_owned();
    let pad = " ".repeat(widest.saturating_sub(text::width(&who)));
    let at = event.at.0.strftime("%Y-%m-%d %H:%M");
    let change = change_words(&event.change);
    let mut change = change.split('\n');
    let first = text::clean(change.next().unwrap_or_default()).into_owned();
    let mut lines = vec![Line::from(vec![
        Span::styled(format!("  {at}  "), theme.dim()),
        Span::styled(format!("{who}{pad}  "), style),
        Span::styled(first, style),
        Span::styled(note, theme.warn()),
    ])];
    lines.extend(change.map(|line| words(format!("    {}", text::clean(line)), style)));
    lines
}

/// The scan that proved its absence and those that reported the finding, the latest first, with the differences from the
/// previous scan.
fn scans(cx: &Cx<'_>, issue: &Issue, lines: &mut Vec<Line<'static>>) {
    heading(cx.theme, "Scans", lines);
    if let Some(proof) = issue.absent_in() {
        let scan = cx.scan_name(proof.scan);
        lines.push(indent(Line::from(vec![
            Span::raw(format!("{scan:<18} ")),
            Span::styled(format!("{:>9}  ", status::ago(cx, proof.at.get())), cx.theme.dim()),
            Span::styled(format!("{} not found", cx.theme.presence_sign(Presence::Absent)), cx.theme.good()),
        ])));
    }
    let all: Vec<_> = occurrences(issue).collect();
    for (at, finding) in all.iter().enumerate() {
        let scan = finding.task_id().map_or_else(|| "a scan".to_owned(), |id| cx.scan_name(id));
        let started = finding.task_id().and_then(|id| cx.scan(id)?.start_time);
        let risk = finding.risk_level;
        let mut line = Line::from(vec![
            Span::raw(format!("{scan:<18} ")),
            Span::styled(format!("{:>9}  ", status::ago(cx, started)), cx.theme.dim()),
            Span::styled(format!("{} {risk:<8}", format::risk_glyph(cx.theme, risk)), cx.theme.risk(risk)),
        ]);
        if let Some(before) = all.get(at + 1) {
            let differs = differences(before, finding);
            let differs = if differs.is_empty() { "unchanged".to_owned() } else { differs.join(", ") };
            line.push_span(Span::styled(format!("  {differs}"), cx.theme.dim()));
        }
        lines.push(indent(line));
    }
}

/// The change of an event as a phrase. Notes keep their lines.
fn change_words(change: &Change) -> String {
    match change {
        Change::Decide(decision) => decision_words(decision),
        Change::Note(note) => format!("note: {}", note.trim()),
        Change::Tag { add, remove } => {
            let signed = |sign: char| move |tag: &crate::contract::Shared| format!("{sign}{tag}");
            let all: Vec<String> = add.iter().map(signed('+')).chain(remove.iter().map(signed('-'))).collect();
            format!("tags: {}", all.join(" "))
        }
        Change::Severity(Some(risk)) => format!("severity: {risk}"),
        Change::Severity(None) => "severity: as scanned".to_owned(),
        Change::Inherit(_) => "earlier decision reused".to_owned(),
        Change::Rule { query, decision } => format!("rule {query}: {}", decision_words(decision)),
        Change::Off(true) => "turned off".to_owned(),
        Change::Off(false) => "turned on".to_owned(),
        Change::Manual(own) => format!("manual finding: {}, {}", own.name, own.risk),
        Change::Baseline(_) => "baseline".to_owned(),
        Change::Undo => "undo".to_owned(),
        Change::Redo => "redo".to_owned(),
    }
}

fn decision_words(decision: &Decision) -> String {
    let mut words = decision.verdict.phrase();
    if let Some(until) = decision.until {
        words.push_str(&format!(" until {until}"));
    }
    if let Some(reason) = decision.reason {
        words.push_str(&format!(", {}", reason.phrase()));
    }
    words
}
