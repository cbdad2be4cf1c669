//! Earlier decisions on the class of a card.

use crate::findings::draw::detail::{heading, status};
use crate::model::{Before, ReviewFacts};
use crate::ui::{Cx, format, words};
use ratatui::text::Line;
use scandeck_wire::contract::Shared;
use scandeck_wire::text::{clean, start};

/// The previous decisions on this class with their reasons, and whether they have expired. After
/// equal decisions it counts the findings of a rule, which the head of a card offers. Nothing for
/// several classes.
pub(crate) fn before(
    cx: &Cx<'_>,
    name: &'static str,
    facts: &ReviewFacts,
    lines: &mut Vec<Line<'static>>,
) {
    if facts.earlier.is_empty() || !facts.is_one_class() {
        return;
    }
    heading(cx.theme, name, lines);
    if let (Some(_), Some(rule)) = (facts.repeated_decision(), facts.rule) {
        let (findings, targets) = (
            format::plural(rule.findings, "finding"),
            format::plural(rule.targets, "target"),
        );
        let kept = match rule.decided {
            0 => String::new(),
            1 => "; 1 finding keeps its manual decision".to_owned(),
            decided => format!(
                "; {} keep their manual decision",
                format::plural(decided, "finding")
            ),
        };
        lines.push(words(
            format!("  a rule would match {findings} on {targets} now{kept}"),
            cx.theme.text(),
        ));
    }
    for equal in equal_decisions(&facts.earlier) {
        let Some(&latest) = equal.first() else {
            continue;
        };
        let findings = format::plural(equal.iter().map(|before| before.count).sum(), "finding");
        let times = if equal.len() > 1 {
            format!(" in {} decisions", equal.len())
        } else {
            String::new()
        };
        lines.push(words(
            format!("  {}, on {findings}{times}", decision(latest)),
            cx.theme.text(),
        ));
        let people = distinct(equal.iter().map(|before| &before.who));
        let workspaces = distinct(equal.iter().map(|before| &before.workspace));
        let place = if workspaces.is_empty() {
            String::new()
        } else {
            format!(" in {workspaces}")
        };
        let (last, when) = (
            if equal.len() > 1 { "last " } else { "" },
            status::ago(cx, Some(latest.at)),
        );
        let mut origin = format!("  by {people}{place}, {last}{when}");
        if let Some(until) = latest.until.filter(|&until| until < cx.model.today()) {
            origin.push_str(&format!("; expired on {until}"));
        }
        lines.push(words(origin, cx.theme.dim()));
    }
}

/// Decisions with the same verdict, reason, note and end together, in the order of the latest of
/// each.
fn equal_decisions(earlier: &[Before]) -> Vec<Vec<&Before>> {
    let mut groups: Vec<Vec<&Before>> = Vec::new();
    let content = |before: &Before| {
        (
            before.verdict,
            before.reason,
            before.note.clone(),
            before.until,
        )
    };
    for before in earlier {
        match groups
            .iter_mut()
            .find(|group| content(group[0]) == content(before))
        {
            Some(group) => group.push(before),
            None => groups.push(vec![before]),
        }
    }
    groups
}

/// The different names, in their order.
fn distinct<'a>(names: impl Iterator<Item = &'a Shared>) -> String {
    let mut seen: Vec<String> = Vec::new();
    for name in names
        .filter(|name| !name.is_empty())
        .map(|name| clean(name).into_owned())
    {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen.join(", ")
}

/// `risk accepted: deferred, "WAF project", until 2026-11-08`
fn decision(before: &Before) -> String {
    let mut decision = before.verdict.phrase();
    if let Some(reason) = before.reason {
        decision.push_str(&format!(": {}", reason.phrase()));
    }
    if let Some(note) = &before.note {
        decision.push_str(&format!(", \"{}\"", clean(start(note.trim(), 80).as_ref())));
    }
    if let Some(until) = before.until {
        decision.push_str(&format!(", until {until}"));
    }
    decision
}
