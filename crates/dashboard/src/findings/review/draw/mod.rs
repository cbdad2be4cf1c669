//! A review on the screen: one card, or the summary.
//!
//! ```text
//!  REVIEW 12 of 34   11 decided: 4 confirmed, 7 false pos   288 findings left   the header
//!  · INFO    Content-Security-Policy missing     57 findings, 57 targets
//!  2 new · 55 unchanged   CWE-693  A05:2021   proven yes   EPSS –   KEV no
//!  ▌Overview▐  Evidence  Where 57  Refs 2  History 3
//!  …                                                                    texts, or the findings to exclude
//! ```

mod affected;
pub mod earlier;
pub mod evidence_kinds;
pub mod members;
pub mod text;

use crate::base::{Pane, RowRef, Tab};
use crate::findings::draw::{cells, detail as finding};
use crate::input::{Action, Context, DecideAction};
use crate::model::{Card, Review, ReviewFacts, ReviewOutcome, TABS};
use crate::ui::text::{draw_head, draw_position, draw_search_line, draw_text};
use crate::ui::{
    Cx, DetailPane, ViewCache, cut_line, draw_line, draw_lines, draw_sides, format, indented,
    joined, tab_line, take_top, words,
};
use ratatui::prelude::{Buffer, Line, Rect, Span};
use scandeck_domain::triage::{Issue, Presence, Verdict};
use scandeck_wire::text::clean;

/// `REVIEW 12 of 34   11 decided: 4 confirmed, 7 false pos   288 findings left`; with less room the
/// verdicts are short, then letters: `4c 7f`.
pub(crate) fn place(cx: &Cx<'_>, review: &Review, room: u16) -> Line<'static> {
    let theme = cx.theme;
    let outcome = review.outcome(&cx.model.findings.triage.state);
    let place = match review.card() {
        Some(_) => format!("REVIEW {} of {}", review.progress.at + 1, review.len()),
        None => format!("REVIEW summary, {}", format::plural(review.len(), "card")),
    };
    let decided = match outcome.decided() {
        0 => "none decided".to_owned(),
        decided => format!("{decided} decided"),
    };
    let named = |name: &dyn Fn(&Verdict) -> String| -> Vec<String> {
        outcome
            .verdicts
            .iter()
            .map(|(verdict, cards, _)| format!("{cards} {}", name(verdict)))
            .collect()
    };
    let (phrases, words) = (
        named(&|verdict| verdict.phrase()),
        named(&|verdict| verdict.word().to_owned()),
    );
    let out = if outcome.out > 0 {
        format!(", {} excluded", outcome.out)
    } else {
        String::new()
    };
    let left = format!("{} left{out}", format::plural(outcome.left, "finding"));
    let line = |decided: String| {
        let dim = |text| vec![Span::styled(text, theme.dim())];
        joined(
            [
                vec![Span::styled(place.clone(), theme.strong())],
                dim(decided),
                dim(left.clone()),
            ],
            "   ",
        )
    };
    let whole = [phrases.join(", "), words.join(", "), lettered(cx, &outcome)];
    let mut lines = whole
        .into_iter()
        .map(|named| line(format!("{decided}: {named}")));
    lines
        .find(|line| !words.is_empty() && line.width() <= usize::from(room))
        .unwrap_or_else(|| line(decided.clone()))
}

/// `4c 2a`: cards by the key of their verdict, for narrow screens.
fn lettered(cx: &Cx<'_>, outcome: &ReviewOutcome) -> String {
    let key = |given: Verdict| {
        let gives = |action: Action| {
            action
                .try_as_verdict()
                .is_some_and(|action| action.verdict().0 == given)
        };
        let mut entries = cx.model.keyboard.keymap.entries(Context::Review);
        let keys = entries.find_map(|entry| entry.keys.first().filter(|_| gives(entry.action)));
        keys.map_or_else(|| format!(" {}", given.word()), ToString::to_string)
    };
    let counts = outcome
        .verdicts
        .iter()
        .map(|(verdict, cards, _)| format!("{cards}{}", key(*verdict)));
    counts.collect::<Vec<_>>().join(" ")
}

/// Draws what is under the header.
pub(crate) fn draw<'a>(
    cx: &Cx<'a>,
    buf: &mut Buffer,
    area: Rect,
    review: &'a Review,
    cache: &mut ViewCache,
) {
    let Some(card) = review.card() else {
        return draw_lines(buf, indented(area), &text::summary(cx, review));
    };
    let facts = &review.facts;
    let Some(issue) = facts.issues.first() else {
        let message = words("None of these findings exists any more.", cx.theme.text());
        draw_line(buf, indented(area), &title(cx, card, facts, None));
        return draw_line(buf, indented(take_top(area, 2).1), &message);
    };
    let (area, tabs) = draw_headings(cx, buf, area, review, card, issue);
    if review.tab == Tab::Where {
        return members::draw(cx, buf, area, review, cache);
    }
    let area = draw_search_line(cx, buf, area);
    let detail = DetailPane {
        id: RowRef::Item(issue.id.0),
        head: Vec::new(),
        tabs: Vec::new(),
        text: text::of_members(cx, review.tab, facts, issue, move |cx, facts, width| {
            text::overview(cx, card, facts, issue, width)
        }),
    };
    let first = draw_text(
        cx,
        buf,
        indented(area),
        Pane::Findings,
        review.tab,
        detail,
        cache,
    );
    let (rows, lines) = (cache.measures.detail_rows, cache.measures.detail_lines);
    draw_position(cx, buf, tabs, review.tab, first, rows, lines);
}

/// Title, facts, tabs. Returns the area below them, and the line of the tabs.
fn draw_headings(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    review: &Review,
    card: &Card,
    issue: &Issue,
) -> (Rect, Rect) {
    let facts = &review.facts;
    let (first, rest) = take_top(area, 1);
    let count = Line::from(Span::styled(counted(cx, card, review), cx.theme.strong()));
    let first = indented(first);
    let room = usize::from(first.width).saturating_sub(count.width() + 1);
    let title = cut_line(
        title(cx, card, facts, Some(issue)),
        room,
        cx.theme.glyphs.ellipsis,
    );
    draw_sides(buf, first, &title, &count);
    let mut head = vec![kind_line(cx, facts, issue)];
    head.extend(note_line(cx, review));
    let (rest, _) = draw_head(buf, rest, &head);
    let (tabs, rest) = take_top(rest, 1);
    let at = TABS.iter().position(|&tab| tab == review.tab);
    draw_line(
        buf,
        tabs,
        &tab_line(cx.theme, &titles(facts, issue), at, tabs.width),
    );
    (take_top(rest, u16::from(rest.height > 6)).1, tabs)
}

/// The highest risk and the name.
fn title(cx: &Cx<'_>, card: &Card, facts: &ReviewFacts, issue: Option<&Issue>) -> Line<'static> {
    let own = |issue: &Issue| {
        cx.model
            .assessment(issue.id)
            .and_then(|assessment| assessment.severity)
    };
    let worst = facts
        .issues
        .iter()
        .map(|issue| own(issue).unwrap_or(issue.risk_level))
        .max();
    let mut line = Line::default();
    if let Some(risk) = worst {
        line.push_span(format::risk_span(cx.theme, risk));
        line.push_span(Span::raw("  "));
    }
    let target = issue
        .filter(|_| card.by == Some(crate::list::FindingGroupBy::Target))
        .and_then(|issue| cx.finding_target(issue));
    let name = target.map_or_else(
        || clean(&card.title).into_owned(),
        |id| cx.target_name(id).into_owned(),
    );
    line.push_span(Span::styled(name, cx.theme.strong()));
    line
}

/// `57 findings, 57 targets`, or the place of a single finding.
fn counted(cx: &Cx<'_>, card: &Card, review: &Review) -> String {
    let facts = &review.facts;
    match (card.by, facts.issues.first()) {
        (None, Some(issue)) => finding::place(cx, issue).unwrap_or_default(),
        _ => {
            let out = facts
                .issues
                .iter()
                .filter(|issue| review.is_out(issue.id))
                .count();
            let out = if out > 0 {
                format!(", {out} excluded")
            } else {
                String::new()
            };
            let targets = format::plural(facts.targets, "target");
            format!(
                "{}, {targets}{out}",
                format::plural(facts.issues.len(), "finding")
            )
        }
    }
}

/// `2 new · 55 unchanged   CWE-693  A05:2021   proven yes   EPSS 0.4%   KEV no`
fn kind_line(cx: &Cx<'_>, facts: &ReviewFacts, issue: &Issue) -> Line<'static> {
    let present = Presence::ALL
        .iter()
        .zip(facts.presence)
        .filter(|(_, count)| *count > 0);
    let present: Vec<String> = present
        .map(|(presence, count)| format!("{count} {}", presence.label()))
        .collect();
    // A card of a target or a port has several classes.
    let has_one_cwe = facts.issues.iter().all(|other| other.cwe == issue.cwe);
    let has_one_owasp = facts.issues.iter().all(|other| other.owasp == issue.owasp);
    let kinds = [
        has_one_cwe.then(|| issue.cwe.to_string()),
        has_one_owasp.then(|| issue.owasp.label()),
    ];
    let kinds = kinds.into_iter().flatten().filter(|kind| !kind.is_empty());
    let kinds: Vec<_> = kinds.map(|kind| clean(&kind).into_owned()).collect();
    let some =
        |has: fn(&Issue) -> bool| match facts.issues.iter().filter(|issue| has(issue)).count() {
            0 => "no".to_owned(),
            all if all == facts.issues.len() => "yes".to_owned(),
            some => some.to_string(),
        };
    let epss = facts
        .issues
        .iter()
        .filter_map(|issue| issue.epss_score())
        .reduce(f64::max);
    let epss = epss.map_or(String::new(), |score| {
        format!("   EPSS {:.1}%", score * 100.0)
    });
    let proven = format!(
        "proven {}{epss}   KEV {}",
        some(|issue| issue.confirmed),
        some(|issue| issue.in_cisa_catalog)
    );
    let mut parts = vec![
        present.join(&format!(" {} ", cx.theme.glyphs.separator)),
        kinds.join("  "),
        proven,
    ];
    parts.retain(|part| !part.is_empty());
    words(parts.join("   "), cx.theme.text())
}

/// The decision on this card, and findings that appeared or disappeared since the review started.
fn note_line(cx: &Cx<'_>, review: &Review) -> Option<Line<'static>> {
    let (theme, facts) = (cx.theme, &review.facts);
    let mut parts: Vec<Vec<Span<'static>>> = Vec::new();
    if let Some(decided) = review.decided(review.progress.at, &cx.model.findings.triage.state) {
        let verdict = decided.verdict.phrase();
        let text = format!(
            "decided: {verdict} on {}",
            format::plural(decided.count, "finding")
        );
        parts.push(vec![Span::styled(text, theme.good())]);
    } else if facts.issues.iter().any(|issue| {
        cx.model
            .assessment(issue.id)
            .is_some_and(|assessment| !assessment.is_undecided())
    }) {
        let decisions = finding::status::counted(
            facts
                .issues
                .iter()
                .map(|issue| cx.model.assessment(issue.id)),
        );
        let text = format!(
            "current: {}",
            decisions.join(&format!(" {} ", theme.glyphs.separator))
        );
        parts.push(vec![Span::styled(text, theme.warn())]);
    }
    if let Some(last) = facts.repeated_decision() {
        let key = cx
            .model
            .key_label(Context::Findings, Action::Decide(DecideAction::More));
        let (verdict, separator) = (last.verdict.phrase(), theme.glyphs.separator);
        let text = format!("last 3 decisions alike: {verdict} {separator} {key} makes a rule");
        parts.push(vec![Span::styled(text, theme.key())]);
    }
    parts.extend(offer_parts(cx, facts).map(|part| vec![part]));
    if facts.more > 0 {
        let more = format::plural(facts.more, "more finding");
        parts.push(vec![Span::styled(
            format!("{more} of this group, not on this card"),
            theme.warn(),
        )]);
    }
    if facts.absent > 0 {
        let absent = format::plural(facts.absent, "finding");
        parts.push(vec![Span::styled(
            format!("{absent} absent since the review started"),
            theme.warn(),
        )]);
    }
    parts.extend(team_parts(cx, facts).map(|part| vec![part]));
    (!parts.is_empty()).then(|| joined(parts, "   "))
}

/// The decisions that a key reuses on findings of the card.
fn offer_parts(cx: &Cx<'_>, facts: &ReviewFacts) -> impl Iterator<Item = Span<'static>> {
    let key = cx
        .model
        .keyboard
        .keymap
        .key_of(Context::Review, Action::Decide(DecideAction::ReuseOffered))
        .unwrap_or_default();
    let issues = || facts.issues.iter();
    let moved = issues().filter(|issue| cx.model.earlier_decision(issue.id).is_some());
    let proposed = issues().filter(|issue| cx.model.proposal(issue.id).is_some());
    let offers = [
        (
            moved.count(),
            format!("moved here from another port · {key} reuses the earlier decision"),
        ),
        (
            proposed.count(),
            format!("with a verdict of the imported file · {key} reuses it"),
        ),
    ];
    let style = cx.theme.warn();
    let offers = offers.into_iter().filter(|(count, _)| *count > 0);
    offers.map(move |(count, text)| {
        let findings = format::plural(count, "finding");
        Span::styled(format!("{findings} {text}"), style)
    })
}

/// Members who have findings of the card in review, are assigned to them, or look at them.
fn team_parts(cx: &Cx<'_>, facts: &ReviewFacts) -> impl Iterator<Item = Span<'static>> {
    let claimed = facts.issues.iter().find_map(|issue| {
        let by = cells::claimed_by(cx, cx.model.assessment(issue.id)?)?;
        let separator = cx.theme.glyphs.separator;
        Some(format!("in review {separator} {}", clean(by)))
    });
    let state = &cx.model.findings.triage.state;
    let plan = facts
        .issues
        .iter()
        .find_map(|issue| finding::overview::plan_words(state.finding_state(issue.key())?));
    let viewed = facts.issues.iter().find_map(|issue| {
        let words = finding::status::viewer_words(cx, issue, "");
        (!words.is_empty()).then_some(words)
    });
    let styled = |style| move |words: String| Span::styled(words, style);
    let claimed = claimed.map(styled(cx.theme.warn()));
    let plan = plan.map(styled(cx.theme.text()));
    let viewed = viewed.map(styled(cx.theme.dim()));
    [claimed, plan, viewed].into_iter().flatten()
}

fn titles(facts: &ReviewFacts, issue: &Issue) -> Vec<String> {
    vec![
        Tab::Overview.title().to_owned(),
        Tab::Evidence.title().to_owned(),
        Tab::Where.counted(facts.issues.len()),
        Tab::References.counted(issue.reference_count()),
        Tab::History.counted(facts.history.len()),
    ]
}

/// `confirmed   4 cards   12 findings`, a line per verdict.
fn outcome_words(outcome: &ReviewOutcome) -> Vec<String> {
    let line = |(verdict, cards, findings): &(Verdict, usize, usize)| {
        let cards = format::plural(*cards, "card");
        let findings = format::plural(*findings, "finding");
        format!("{:<16}{cards:>10}{findings:>16}", verdict.phrase())
    };
    outcome.verdicts.iter().map(line).collect()
}
