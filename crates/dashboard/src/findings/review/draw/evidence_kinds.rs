//! How the evidence of the findings of a card differs.

use crate::findings::draw::detail::heading;
use crate::findings::draw::detail::overview as finding;
use crate::model::{Alike, NOTHING, ReviewFacts};
use crate::ui::{Cx, format, words};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use scandeck_domain::triage::Issue;
use scandeck_wire::contract::Evidence;
use scandeck_wire::text::{clean, start, width as width_of};

/// Most kinds of evidence in the overview.
const KINDS: usize = 60;
/// Most places per kind of evidence.
const PLACES: usize = 12;
/// Columns between the parts of a line.
pub(super) const GAP: &str = "   ";
/// Columns of the label of a kind.
const LABEL: usize = 10;
/// Rows of a card that its evidence leaves to the rest.
const OTHER_ROWS: usize = 30;

/// `Evidence   55 identical, 2 differ`, with the differences; if all are identical, the evidence of
/// one finding.
pub(super) fn kinds(
    cx: &Cx<'_>,
    facts: &ReviewFacts,
    of_first: &Evidence,
    width: u16,
    lines: &mut Vec<Line<'static>>,
) {
    let evidence = &facts.evidence;
    let Some(most) = evidence.kinds.first() else {
        return;
    };
    let is_one_kind = evidence.looked_at == most.count;
    if is_one_kind && most.line == NOTHING {
        return;
    }
    heading(
        cx.theme,
        format!("Evidence{}", counted(cx, facts, most)),
        lines,
    );
    if is_one_kind {
        // Tall screens have room for more than an excerpt.
        let shown = usize::from(cx.model.screen.size.rows)
            .saturating_sub(OTHER_ROWS)
            .max(finding::EXCERPT);
        return finding::first_lines(cx, (of_first, shown), width, lines);
    }
    let width = usize::from(width);
    for (at, line) in rows_of(&evidence.common, None, width).iter().enumerate() {
        let label = if at == 0 { "common" } else { "" };
        lines.push(own_line(cx, label, line, width, cx.theme.dim()));
    }
    // Rare kinds first: they decide whether one verdict fits all.
    let hidden = evidence.kinds.len().saturating_sub(KINDS);
    for (at, kind) in evidence.kinds.iter().enumerate().rev().skip(hidden) {
        let label = match (evidence.kinds.len(), kind.count) {
            (2, _) if at == 0 && most.count > 1 => "identical".to_owned(),
            (2, _) | (_, 1) => "differs".to_owned(),
            (_, count) => format!("{}{count}", cx.theme.glyphs.times),
        };
        one_kind(cx, &label, kind, &places(cx, facts, kind), width, lines);
    }
    if hidden > 0 {
        let more = format!(
            "  {} {}",
            cx.theme.glyphs.ellipsis,
            format::plural(hidden, "more kind")
        );
        lines.push(words(more, cx.theme.dim()));
    }
}

/// `   55 identical, 2 differ`: how the evidence of the findings differs from the most common one.
fn counted(cx: &Cx<'_>, facts: &ReviewFacts, most: &Alike) -> String {
    let evidence = &facts.evidence;
    let differ = evidence.looked_at - most.count;
    // Hosts, times and ids may differ.
    let example = facts.issues.first().map(|issue| target(cx, issue));
    let example = example.unwrap_or_default();
    let mut counts = match (evidence.kinds.len(), most.count) {
        (1, 1) => String::new(),
        (1, 2) => format!("   both identical, example: {example}"),
        (1, all) => format!("   all {all} identical, example: {example}"),
        (_, 1) => format!("   all {} findings differ", differ + 1),
        (2, alike) => format!(
            "   {alike} identical, {differ} {}",
            if differ == 1 { "differs" } else { "differ" }
        ),
        (variants, alike) => format!(
            "   {variants} variants, the most common in {}",
            format::plural(alike, "finding")
        ),
    };
    if evidence.looked_at < facts.issues.len() {
        counts.push_str(&format!(", in the first {} findings", evidence.looked_at));
    }
    counts
}

/// The own lines of a kind of evidence, with its places in the first one.
fn one_kind(
    cx: &Cx<'_>,
    label: &str,
    kind: &Alike,
    places: &str,
    width: usize,
    lines: &mut Vec<Line<'static>>,
) {
    let shown = kind.own.iter().position(|line| *line == kind.line);
    let others = kind.own.iter().enumerate();
    let others = others.filter(|(at, _)| Some(*at) != shown);
    let own = std::iter::once(&kind.line).chain(others.map(|(_, line)| line));
    let own: Vec<String> = own.cloned().collect();
    let own = rows_of(&own, Some(places), width);
    lines.push(kind_line(cx, label, &own[0], places, width));
    let text = |line: &String| own_line(cx, "", line, width, cx.theme.text());
    lines.extend(own[1..].iter().map(text));
    if kind.hidden > 0 {
        let more = format!(
            "{} {}",
            cx.theme.glyphs.ellipsis,
            format::plural(kind.hidden, "more line")
        );
        lines.push(own_line(cx, "", &more, width, cx.theme.dim()));
    }
}

/// Lines of evidence side by side where they fit, before the places of a kind.
fn rows_of(lines: &[String], places: Option<&str>, width: usize) -> Vec<String> {
    let room = width.saturating_sub(
        2 + LABEL + places.map_or(0, |places| GAP.len() + width_of(places).min(width / 2)),
    );
    let one = lines.join(GAP);
    if lines.len() > 1 && width_of(&one) <= room {
        vec![one]
    } else {
        lines.to_vec()
    }
}

/// A line of evidence without a place.
fn own_line(
    cx: &Cx<'_>,
    label: &'static str,
    line: &str,
    width: usize,
    style: Style,
) -> Line<'static> {
    let room = width.saturating_sub(2 + LABEL).max(12);
    let line = cut(cx, &cx.shown(&clean(line)), room);
    Line::from(vec![
        Span::styled(format!("  {label:<LABEL$}"), cx.theme.dim()),
        Span::styled(line, style),
    ])
}

/// The first places of a kind.
fn places(cx: &Cx<'_>, facts: &ReviewFacts, kind: &Alike) -> String {
    let mut places: Vec<String> = kind
        .issues
        .iter()
        .take(PLACES)
        .map(|issue| place(cx, facts, issue))
        .collect();
    places.dedup();
    if kind.count > PLACES {
        places.push(cx.theme.glyphs.ellipsis.to_string());
    }
    places.join(", ")
}

/// The target of a finding, with its port if the findings have different ones.
pub(super) fn place(cx: &Cx<'_>, facts: &ReviewFacts, issue: &Issue) -> String {
    let has_ports = facts
        .issues
        .iter()
        .any(|other| other.port() != issue.port());
    if has_ports {
        finding::elsewhere(cx, issue)
    } else {
        target(cx, issue)
    }
}

fn kind_line(cx: &Cx<'_>, label: &str, line: &str, places: &str, width: usize) -> Line<'static> {
    let line = clean(line);
    let (line, free) = (
        cx.shown(&line),
        width.saturating_sub(2 + LABEL + GAP.len()).max(24),
    );
    // Places take at most half of the row if the evidence needs the rest.
    let places = cut(
        cx,
        places,
        free.saturating_sub(width_of(&line)).max(free / 2),
    );
    let room = free - width_of(&places);
    let line = cut(cx, &line, room);
    let pad = " ".repeat(room.saturating_sub(width_of(&line)));
    Line::from(vec![
        Span::styled(format!("  {label:<LABEL$}"), cx.theme.dim()),
        Span::styled(format!("{line}{pad}{GAP}"), cx.theme.text()),
        Span::styled(places, cx.theme.dim()),
    ])
}

/// A line that fits, with one ellipsis where it is cut.
pub(super) fn cut(cx: &Cx<'_>, line: &str, room: usize) -> String {
    if width_of(line) <= room {
        return line.to_owned();
    }
    let ellipsis = cx.theme.glyphs.ellipsis;
    format!(
        "{}{ellipsis}",
        start(line, room - 1).trim_end_matches(ellipsis)
    )
}

pub(crate) fn target(cx: &Cx<'_>, issue: &Issue) -> String {
    match (cx.finding_target(issue), issue.target_name()) {
        (Some(id), _) => cx.short_target_name(id).into_owned(),
        (None, Some(name)) => clean(name).into_owned(),
        (None, None) => clean(&issue.identity.asset).into_owned(),
    }
}
