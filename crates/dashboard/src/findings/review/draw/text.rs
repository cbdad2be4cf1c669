//! The texts of a card: description, common evidence, previous decision; and the summary of the
//! review.

use crate::base::Tab;
use crate::data::ShownText;
use crate::findings::draw::detail::overview::{self as finding, section};
use crate::findings::draw::detail::{
    evidence as evidence_of, heading, indent, references, status, triage_version, unread_line,
    with_texts,
};
use crate::findings::review::draw::affected::members;
use crate::findings::review::draw::earlier::before;
use crate::findings::review::draw::evidence_kinds::{kinds, target};
use crate::findings::review::draw::outcome_words;
use crate::input::Context;
use crate::input::action::{Action, DecideAction, ReviewAction};
use crate::model::{Card, Review, ReviewFacts};
use crate::ui::{Cx, DetailText, format, words};
use ratatui::text::{Line, Span};
use scandeck_domain::triage::Issue;
use scandeck_wire::contract::Shared;
use scandeck_wire::text::clean;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

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
