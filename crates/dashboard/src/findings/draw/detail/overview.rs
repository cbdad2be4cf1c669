//! The overview: notes, impact, evidence in a few lines, other targets, recommendation.

use crate::data::ShownText;
use crate::findings::draw::detail::{evidence, heading, indent, status, unread_line};
use crate::findings::draw::seen_by;
use crate::ui::{Cx, Theme, format, import_words, plain, words};
use ratatui::text::{Line, Span};
use scandeck_domain::query::Field;
use scandeck_domain::triage::{FindingState, Issue};
use scandeck_wire::contract::{Evidence, Risk, ScanStatus};
use scandeck_wire::text;
use std::borrow::Cow;
use std::sync::Arc;

/// Lines of evidence that it shows.
pub(crate) const EXCERPT: usize = 8;
/// Other places that it names.
const ELSEWHERE: usize = 8;

pub(crate) fn lines(cx: &Cx<'_>, issue: &Issue, width: u16) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let shown = cx.model.findings.shown.of(issue);
    notes(cx, issue, &mut lines);
    let texts = match &shown {
        ShownText::Read(read) => Arc::clone(read),
        unread => {
            lines.push(unread_line(cx.theme, unread));
            Arc::default()
        }
    };
    section(cx.theme, "Impact", &texts.risk_description, &mut lines);
    section(cx.theme, "Description", &texts.vuln_description, &mut lines);
    excerpt(cx, issue, &texts.vuln_evidence, width, &mut lines);
    also_on(cx, issue, &mut lines);
    section(
        cx.theme,
        "Recommendation",
        &texts.recommendation,
        &mut lines,
    );
    section(cx.theme, "Tested", &issue.test_description, &mut lines);
    if issue.risk_level == Risk::Info && issue.vuln_id.starts_with("NONVULN") {
        lines.push(words("Tested; nothing found.", cx.theme.dim()));
    }
    from(cx, issue, &mut lines);
    lines
}

/// Notes, tags, and what it duplicates.
fn notes(cx: &Cx<'_>, issue: &Issue, lines: &mut Vec<Line<'static>>) {
    let state = &cx.model.findings.triage.state;
    let Some(finding_state) = state.finding_state(issue.key()) else {
        return;
    };
    for note in &finding_state.notes {
        if let scandeck_domain::triage::Change::Note(text) = &note.change {
            let when = status::ago(cx, Some(note.at));
            heading(
                cx.theme,
                format!("Note by {}, {when}", text::clean(&note.who)),
                lines,
            );
            lines.extend(plain(&text::clean_text(text.trim()), cx.theme.text()));
        }
    }
    if let Some(plan) = plan_words(finding_state) {
        pair(cx.theme, "Plan", plan, lines);
    }
    let tags: Vec<_> = finding_state
        .tags
        .iter()
        .map(|tag| text::clean(tag).into_owned())
        .collect();
    if !tags.is_empty() {
        pair(cx.theme, "Tags", tags.join(" "), lines);
    }
    let other = finding_state
        .shown()
        .and_then(|(_, decision)| decision.duplicate_of);
    if let Some(other) = other {
        let named = state
            .finding_state(other)
            .map(|other| other.identity.name.clone());
        let table = cx.model.data.findings.value();
        let named = named
            .or_else(|| Some(table?.get(other.into())?.name.clone()))
            .unwrap_or_default();
        pair(
            cx.theme,
            "Duplicate of",
            text::clean(&named).into_owned(),
            lines,
        );
    }
}

/// `assigned to anna, due 2026-12-10`.
pub(crate) fn plan_words(finding_state: &FindingState) -> Option<String> {
    let assignee = finding_state.assignee.as_ref();
    let assignee = assignee.map(|member| format!("assigned to {}", text::clean(member)));
    let due = finding_state.due.map(|day| format!("due {day}"));
    let parts: Vec<String> = assignee.into_iter().chain(due).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The beginning of the evidence. That of an absent finding is of the last scan that found it.
fn excerpt(
    cx: &Cx<'_>,
    issue: &Issue,
    given: &Evidence,
    width: u16,
    lines: &mut Vec<Line<'static>>,
) {
    let rows = given.view().rows();
    if rows == 0 {
        return;
    }
    let of = match issue.task_id().filter(|_| !issue.is_present()) {
        Some(scan) => format!(" of scan {}", cx.scan_name(scan)),
        None => String::new(),
    };
    let count = if rows > 1 {
        format!("   {rows} rows")
    } else {
        String::new()
    };
    heading(cx.theme, format!("Evidence{of}{count}"), lines);
    first_lines(cx, (given, EXCERPT), width, lines);
}

/// The first lines of the evidence, and how many follow.
pub(crate) fn first_lines(
    cx: &Cx<'_>,
    (given, shown): (&Evidence, usize),
    width: u16,
    lines: &mut Vec<Line<'static>>,
) {
    let evidence = evidence::lines(cx.theme, given, width.saturating_sub(2), cx.model.mask());
    let more = evidence.len().saturating_sub(shown);
    lines.extend(evidence.into_iter().take(shown).map(indent));
    if more > 0 {
        let more = format!(
            "  {} {}",
            cx.theme.glyphs.ellipsis,
            format::plural(more, "more line")
        );
        lines.push(words(more, cx.theme.dim()));
    }
}

/// Findings of the same class elsewhere, with their decisions.
fn also_on(cx: &Cx<'_>, issue: &Issue, lines: &mut Vec<Line<'static>>) {
    let model = cx.model;
    let Some(table) = model.data.findings.value() else {
        return;
    };
    // The text is made with each key. A column of classes is read faster than 100,000 findings.
    let (count, others) = match (table.position(issue.id), table.column(Field::Class)) {
        (Some(at), Some(classes)) => classes.same_as(at, ELSEWHERE),
        _ => return,
    };
    if count == 0 {
        return;
    }
    heading(cx.theme, "Also on", lines);
    let named: Vec<(&Issue, String)> = others
        .iter()
        .map(|&at| (&*table.items()[at], elsewhere(cx, &table.items()[at])))
        .collect();
    let widest = named
        .iter()
        .map(|(_, name)| text::width(name))
        .max()
        .unwrap_or(0);
    for (other, name) in &named {
        let decision = model.assessment(other.id);
        let decision = decision.map_or_else(String::new, |assessment| {
            status::assessment_words(cx, other, assessment)
        });
        let pad = " ".repeat(widest - text::width(name));
        let decision = Span::styled(text::clean(&decision).into_owned(), cx.theme.dim());
        lines.push(Line::from(vec![
            Span::raw(format!("  {name}{pad}   ")),
            decision,
        ]));
    }
    if count > others.len() {
        let more = format!(
            "  {} {} more",
            cx.theme.glyphs.ellipsis,
            count - others.len()
        );
        lines.push(words(more, cx.theme.dim()));
    }
}

/// `shop.test:443`
pub(crate) fn elsewhere(cx: &Cx<'_>, other: &Issue) -> String {
    let target = match (cx.finding_target(other), other.target_name()) {
        (Some(id), _) => cx.short_target_name(id).into_owned(),
        (None, Some(name)) => text::clean(name).into_owned(),
        (None, None) => cx.theme.glyphs.dash.to_owned(),
    };
    with_port(target, other.port())
}

/// The name of a URL's target may have the port already, and a path after it.
fn with_port(target: String, port: i64) -> String {
    let (host, path) = target
        .split_once('/')
        .map_or((target.as_str(), None), |(host, path)| (host, Some(path)));
    match path {
        _ if port <= 0 || host.ends_with(&format!(":{port}")) => target,
        None => format!("{target}:{port}"),
        Some(_) => format!("{target}, port {port}"),
    }
}

/// The latest scan that reported the finding, and the tools if several did.
fn from(cx: &Cx<'_>, issue: &Issue, lines: &mut Vec<Line<'static>>) {
    let Some(id) = issue.task_id() else { return };
    let mut from = format!("scan {}", cx.scan_name(id));
    let imported = cx.scan(id).and_then(|scan| import_words(cx, scan));
    match (cx.scan(id), imported) {
        (_, Some(imported)) => from.push_str(&format!(", {imported}")),
        (Some(scan), None) if scan.status_name == ScanStatus::Finished => {
            from.push_str(&format!(", started {}", status::ago(cx, scan.start_time)));
        }
        (Some(scan), None) => {
            from.push_str(&format!(
                ", {}, started {}",
                text::clean(scan.status_name.as_str()),
                status::ago(cx, scan.start_time)
            ));
        }
        (None, None) => {}
    }
    pair(cx.theme, "From", from, lines);
    let tools = seen_by::tools(cx, [issue]);
    if tools.len() > 1 {
        pair(cx.theme, "Seen by", tools.join(", "), lines);
    }
}

/// `Tags   a b`, apart from what is above.
fn pair(theme: Theme, name: &'static str, value: String, lines: &mut Vec<Line<'static>>) {
    heading(theme, name, lines);
    if let Some(line) = lines.last_mut() {
        line.push_span(Span::raw(format!("   {value}")));
    }
}

pub(crate) fn section(
    theme: Theme,
    name: impl Into<Cow<'static, str>>,
    outside: &str,
    lines: &mut Vec<Line<'static>>,
) {
    if !outside.trim().is_empty() {
        heading(theme, name, lines);
        lines.extend(plain(
            text::clean_text(outside.trim()).as_ref(),
            theme.text(),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_is_shown_once_and_never_behind_a_path() {
        for (target, port, shown) in [
            ("shop.test", 443, "shop.test:443"),
            ("shop.test", 0, "shop.test"),
            ("shop.test:8443", 8443, "shop.test:8443"),
            ("127.0.0.1:8000/app1", 8000, "127.0.0.1:8000/app1"),
            ("shop.test/app1", 443, "shop.test/app1, port 443"),
        ] {
            assert_eq!(with_port(target.to_owned(), port), shown);
        }
    }
}
