//! The texts of a card: description, common evidence, previous decision; and the summary of the
//! review.

use crate::base::Tab;
use crate::data::ShownText;
use crate::findings::draw::detail::overview::{self as finding, section};
use crate::findings::draw::detail::{
    evidence as evidence_of, heading, indent, references, status, triage_version, unread_line,
    with_texts,
};
use crate::findings::review::draw::outcome_words;
use crate::input::Context;
use crate::input::action::{Action, DecideAction, ReviewAction};
use crate::list::FindingGroupBy;
use crate::model::{Alike, Before, Card, NOTHING, Review, ReviewFacts};
use crate::ui::{Cx, DetailText, format, words};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use scandeck_domain::triage::{Issue, IssueId};
use scandeck_wire::contract::{Evidence, Shared};
use scandeck_wire::text::{clean, start, width as width_of};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Most kinds of evidence in the overview.
const KINDS: usize = 60;
/// Most places per kind of evidence.
const PLACES: usize = 12;
/// Most findings that the overview lists.
const MEMBERS: usize = 100;
/// Columns between the parts of a line.
const GAP: &str = "   ";
/// Columns of the label of a kind.
const LABEL: usize = 10;
/// Rows of a card that its evidence leaves to the rest.
const OTHER_ROWS: usize = 30;

/// The text of a card or a group: that of a tab, or its overview.
pub(crate) fn of_members<'a>(
    cx: &Cx<'a>,
    tab: Tab,
    facts: &Arc<ReviewFacts>,
    first: &'a Issue,
    overview: impl FnOnce(&Cx<'a>, &ReviewFacts, u16) -> Vec<Line<'static>> + 'a,
) -> DetailText<'a> {
    let (cx, facts, version) = (cx.clone(), Arc::clone(facts), triage_version(cx));
    let made_from = vec![Arc::clone(&facts) as _];
    match tab {
        Tab::Evidence => {
            DetailText::new(made_from, move |_, width, _| evidence(&cx, &facts, width))
        }
        Tab::References => {
            let texts = cx.model.findings.shown.of(first);
            let lines = move |theme, _, _| {
                with_texts(theme, texts, |read| references::lines(theme, first, read))
            };
            DetailText::new(made_from, lines).with_version(version)
        }
        Tab::History => {
            DetailText::new(made_from, move |_, _, _| history(&cx, &facts)).with_version(version)
        }
        _ => DetailText::new(made_from, move |_, width, _| overview(&cx, &facts, width))
            .with_version(version),
    }
}

/// Impact, common evidence, recommendation, previous decision, findings, description.
pub(crate) fn overview(
    cx: &Cx<'_>,
    card: &Card,
    facts: &ReviewFacts,
    issue: &Issue,
    width: u16,
) -> Vec<Line<'static>> {
    if card.by.is_none() {
        let mut lines = finding::lines(cx, issue, width);
        before(cx, "Earlier decisions", facts, &mut lines);
        return lines;
    }
    let mut lines = Vec::new();
    class(cx, facts, issue, width, &mut lines);
    before(cx, "Earlier decisions", facts, &mut lines);
    members(cx, card.by, facts, width, &mut lines);
    if let (true, ShownText::Read(texts)) =
        (facts.is_one_class(), cx.model.findings.shown.of(issue))
    {
        if !texts.risk_description.trim().is_empty() {
            let name = match facts.has_different_names() {
                true => format!("Description of {}", clean(&issue.name)).into(),
                false => Cow::Borrowed("Description"),
            };
            section(cx.theme, name, &texts.vuln_description, &mut lines);
        }
        section(cx.theme, "Tested", &issue.test_description, &mut lines);
    }
    lines
}

/// The findings with their places, decisions and names. Outliers come first, with their first
/// different line.
fn members(
    cx: &Cx<'_>,
    by: Option<FindingGroupBy>,
    facts: &ReviewFacts,
    width: u16,
    lines: &mut Vec<Line<'static>>,
) {
    let all = facts.issues.len();
    let title = format!("Affected   {}", format::plural(all, "finding"));
    heading(cx.theme, title, lines);
    let rows = member_rows(cx, facts);
    // The title of the card names the target; places with different ports differ.
    let is_one_place =
        by == Some(FindingGroupBy::Target) && rows.iter().all(|row| row.place == rows[0].place);
    let widest = |column: fn(&MemberRow) -> &String| {
        let widths = rows.iter().map(|row| width_of(column(row)));
        widths.max().unwrap_or_default()
    };
    let place = if is_one_place {
        0
    } else {
        widest(|row| &row.place) + GAP.len()
    };
    let columns = MemberColumns {
        place,
        decision: widest(|row| &row.decision),
        width: width.into(),
    };
    lines.extend(rows.iter().map(|row| row.line(cx, columns)));
    if all > MEMBERS {
        let more = format!("  {} {} more", cx.theme.glyphs.ellipsis, all - MEMBERS);
        lines.push(words(more, cx.theme.dim()));
    }
}

/// A finding of a card.
struct MemberRow {
    place: String,
    decision: String,
    /// Empty if all findings have the same name.
    name: String,
    /// Its first different line of evidence.
    evidence: String,
}

/// Columns of the screen for the findings of a card.
#[derive(Clone, Copy)]
struct MemberColumns {
    /// 0 if the places are omitted.
    place: usize,
    decision: usize,
    width: usize,
}

/// The first findings of a card, outliers first.
fn member_rows(cx: &Cx<'_>, facts: &ReviewFacts) -> Vec<MemberRow> {
    let kinds = &facts.evidence.kinds;
    let kind_of: HashMap<IssueId, usize> = kinds
        .iter()
        .enumerate()
        .flat_map(|(at, kind)| kind.issues.iter().map(move |issue| (issue.id, at)))
        .collect();
    // Above, each line of a kind with one finding names its place.
    let is_above = kinds.len() < 2 || kinds.iter().all(|kind| kind.count == 1);
    let has_different_names = facts.has_different_names();
    let mut issues: Vec<&Issue> = facts.issues.iter().map(|issue| &**issue).collect();
    issues.sort_by_key(|issue| Reverse(kind_of.get(&issue.id).copied().unwrap_or(usize::MAX)));
    let row = |issue: &&Issue| {
        let kind = kind_of.get(&issue.id).filter(|_| !is_above);
        let evidence = kind.map(|&at| cx.shown(&clean(&kinds[at].line)).into_owned());
        let decision = cx.model.assessment(issue.id);
        let decision = decision.map(|it| status::assessment_words(cx, issue, it));
        let name = has_different_names.then(|| cx.shown(&clean(&issue.name)).into_owned());
        MemberRow {
            place: place(cx, facts, issue),
            decision: clean(&decision.unwrap_or_default()).into_owned(),
            name: name.unwrap_or_default(),
            evidence: evidence.unwrap_or_default(),
        }
    };
    issues.iter().take(MEMBERS).map(row).collect()
}

impl MemberRow {
    fn line(&self, cx: &Cx<'_>, columns: MemberColumns) -> Line<'static> {
        let pad = |text: &str, to: usize| " ".repeat(to.saturating_sub(width_of(text)));
        let place = match columns.place {
            0 => "  ".to_owned(),
            place => format!("  {}{}", self.place, pad(&self.place, place)),
        };
        let decision = format!(
            "{}{}{GAP}",
            self.decision,
            pad(&self.decision, columns.decision)
        );
        let parts = [self.name.as_str(), self.evidence.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let used = 2 + columns.place + columns.decision + GAP.len();
        let room = columns.width.saturating_sub(used).max(12);
        Line::from(vec![
            Span::raw(place),
            Span::styled(decision, cx.theme.dim()),
            Span::raw(cut(cx, &parts.join(GAP), room)),
        ])
    }
}

/// The description of a class with its common evidence; of several classes their names.
pub(crate) fn class(
    cx: &Cx<'_>,
    facts: &ReviewFacts,
    issue: &Issue,
    width: u16,
    lines: &mut Vec<Line<'static>>,
) {
    if !facts.is_one_class() {
        return kinds_of_finding(cx, facts, lines);
    }
    let shown = cx.model.findings.shown.of(issue);
    let texts = match &shown {
        ShownText::Read(read) => Arc::clone(read),
        unread => return lines.push(unread_line(cx.theme, unread)),
    };
    let why = if texts.risk_description.trim().is_empty() {
        &texts.vuln_description
    } else {
        &texts.risk_description
    };
    section(cx.theme, "Impact", why, lines);
    lines.extend(
        facts
            .evidence
            .unread
            .iter()
            .map(|unread| unread_line(cx.theme, unread)),
    );
    kinds(cx, facts, &texts.vuln_evidence, width, lines);
    section(cx.theme, "Recommendation", &texts.recommendation, lines);
}

/// The classes and their numbers of findings, if there are several. The description of one class
/// would be wrong.
fn kinds_of_finding(cx: &Cx<'_>, facts: &ReviewFacts, lines: &mut Vec<Line<'static>>) {
    let mut classes: BTreeMap<&Shared, (usize, &Issue)> = BTreeMap::new();
    for issue in &facts.issues {
        classes.entry(issue.class()).or_insert((0, issue)).0 += 1;
    }
    let mut classes: Vec<(usize, &Issue)> = classes.into_values().collect();
    classes.sort_by_key(|(count, issue)| (Reverse((issue.risk(), *count)), issue.name.clone()));
    heading(cx.theme, format!("{} classes", classes.len()), lines);
    for (count, issue) in classes {
        let mut line = Line::from(format!("{count:>6}  "));
        line.push_span(format::risk_span(cx.theme, issue.risk()));
        line.push_span(Span::raw(format!("  {}", clean(&issue.name))));
        lines.push(line);
    }
}

/// `Evidence   55 identical, 2 differ`, with the differences; if all are identical, the evidence of
/// one finding.
fn kinds(
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
fn place(cx: &Cx<'_>, facts: &ReviewFacts, issue: &Issue) -> String {
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
fn cut(cx: &Cx<'_>, line: &str, room: usize) -> String {
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

/// One example of each kind of evidence, in full.
pub(crate) fn evidence(cx: &Cx<'_>, facts: &ReviewFacts, width: u16) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    lines.extend(
        facts
            .evidence
            .unread
            .iter()
            .map(|unread| unread_line(cx.theme, unread)),
    );
    for kind in &facts.evidence.kinds {
        let place = target(cx, &kind.example);
        let alike = if kind.count > 1 {
            format!("{} identical, example: {place}", kind.count)
        } else {
            place
        };
        heading(cx.theme, alike, &mut lines);
        let example = cx.model.findings.shown.of(&kind.example);
        let width = width.saturating_sub(2);
        let evidence = with_texts(cx.theme, example, |read| {
            evidence_of::lines(cx.theme, &read.vuln_evidence, width, cx.model.mask())
        });
        lines.extend(evidence.into_iter().map(indent));
    }
    lines
}

/// The decisions on the findings, the latest first.
pub(crate) fn history(cx: &Cx<'_>, facts: &ReviewFacts) -> Vec<Line<'static>> {
    let state = &cx.model.findings.triage.state;
    let mut lines = Vec::new();
    for done in &facts.history {
        let undone = state.is_undone(done.batch);
        let style = if undone {
            cx.theme.dim()
        } else {
            cx.theme.text()
        };
        let what = cx.model.described(done.batch);
        let here = format::plural(done.count, "finding");
        let note = if undone { ", undone" } else { "" };
        let when = status::ago(cx, Some(done.at));
        lines.push(words(
            format!("{}  {when}{note}", clean(&done.who)),
            cx.theme.strong(),
        ));
        lines.push(words(
            format!("  {}; {here} in this group", clean(&what)),
            style,
        ));
    }
    if lines.is_empty() {
        lines.push(words("No decisions on these findings yet.", cx.theme.dim()));
    }
    lines
}

/// The decided and skipped cards.
pub(crate) fn summary(cx: &Cx<'_>, review: &Review) -> Vec<Line<'static>> {
    let outcome = review.outcome(&cx.model.findings.triage.state);
    let mut lines = vec![Line::default()];
    let (text, dim) = (cx.theme.text(), cx.theme.dim());
    match outcome.decided() {
        0 => lines.push(words("No decisions yet in this review.", text)),
        decided => {
            let title = format!(
                "{} of {} decided",
                decided,
                format::plural(review.len(), "card")
            );
            lines.push(words(title, cx.theme.strong()));
            lines.push(Line::default());
            lines.extend(
                outcome_words(&outcome)
                    .into_iter()
                    .map(|line| words(format!("  {line}"), text)),
            );
        }
    }
    lines.push(Line::default());
    let skipped = format::plural(outcome.skipped, "card");
    let mut add = |count: usize, sentence: String| {
        if count > 0 {
            lines.push(words(sentence, text));
        }
    };
    add(outcome.skipped, format!("{skipped} skipped"));
    let excluded = format::plural(outcome.out, "finding");
    add(
        outcome.out,
        format!("{excluded} excluded; the query is:undecided finds them in the list"),
    );
    add(
        outcome.decided_outside,
        format!(
            "{} decided outside this review",
            format::plural(outcome.decided_outside, "finding")
        ),
    );
    add(
        outcome.left,
        format!(
            "{} on cards without a decision",
            format::plural(outcome.left, "finding")
        ),
    );
    lines.push(Line::default());
    let end = cx
        .model
        .key_label(Context::Review, Action::Review(ReviewAction::End));
    let undo = cx
        .model
        .key_label(Context::Everywhere, Action::Decide(DecideAction::Undo));
    if review
        .first_undecided(&cx.model.findings.triage.state)
        .is_some()
    {
        let next = cx
            .model
            .key_label(Context::Review, Action::Review(ReviewAction::Skip));
        lines.push(words(
            format!("{next} shows the first undecided card."),
            dim,
        ));
    }
    let next = match outcome.decided() {
        0 => format!("{end} ends the review."),
        _ => format!("{end} ends the review and keeps the decisions; {undo} undoes them all."),
    };
    lines.push(words(next, dim));
    lines
}
