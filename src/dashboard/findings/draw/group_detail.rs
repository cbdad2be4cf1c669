//! The detail of a head: what the members of a group come to, what is alike and what differs, where they are, and the
//! decision before.
//!
//! ```text
//!   Content-Security-Policy missing
//!   · INFO    57 findings on 57 targets   2 new
//!
//!   Decisions     34 undecided · 12 false positive · 11 confirmed
//!   Scans         2 new · 55 same
//!   Where         shop 3, api 2, pay, … 12 more
//! ```

use crate::dashboard::base::{Pane, Tab};
use crate::dashboard::findings::draw::detail as finding;
use crate::dashboard::findings::draw::detail::{references, standing};
use crate::dashboard::findings::review::draw::text as card;
use crate::dashboard::list::{FindingGroup, FindingGroupBy};
use crate::dashboard::model::ReviewFacts;
use crate::dashboard::ui::context::{cell, words};
use crate::dashboard::ui::{Cx, DetailPane, DetailText, ViewCache, format};
use crate::table::Table;
use crate::triage::{Case, CaseId, Presence};
use ratatui::text::{Line, Span};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// So many members are held against each other.
const LOOKED_AT: usize = 500;
/// Places that are named.
const PLACES: usize = 12;

/// Of the head of a group of findings.
pub(crate) fn detail<'a>(cx: &Cx<'a>, id: CaseId, cache: &mut ViewCache) -> Option<DetailPane<'a>> {
    let groups = &cx.model.lists.groups;
    let (table, by, group) = (cx.model.data.findings.value()?, groups.by?, groups.head(id)?);
    let members = groups.members(group);
    let first = table.items().get(*members.first()? as usize)?;
    let head = head(cx, by, first, group);
    of_members(cx, Pane::Findings, (id, head), Cow::Borrowed(members), cache)
}

/// Of a head on the board.
pub(crate) fn on_board<'a>(cx: &Cx<'a>, cache: &mut ViewCache) -> Option<DetailPane<'a>> {
    let (id, table) = (cx.model.lists.board.selected?, cx.model.data.findings.value()?);
    let row = cx.model.data.board.value()?.get(id).filter(|row| row.head.is_some())?;
    let ids = cx.model.board_ids(&[id.0]);
    let members: Vec<u32> = ids.iter().filter_map(|&id| table.position(id)).map(|at| at as u32).collect();
    let now = cx.model.findings.board.as_ref().map_or("", |board| board.now_words(row.now));
    let mut counts = Line::from(format::risk_span(cx.theme, row.risk));
    counts.push_span(Span::raw(format!("   {}", format::plural(members.len(), "finding"))));
    let head = vec![words(now, cx.theme.strong()), counts];
    of_members(cx, Pane::Board, (id, head), Cow::Owned(members), cache)
}

fn of_members<'a>(
    cx: &Cx<'a>,
    pane: Pane,
    (id, head): (CaseId, Vec<Line<'static>>),
    members: Cow<'a, [u32]>,
    cache: &mut ViewCache,
) -> Option<DetailPane<'a>> {
    let table = cx.model.data.findings.value()?;
    let lists = &cx.model.lists;
    let rows = if pane == Pane::Board { &lists.board.rows } else { &lists.findings.rows };
    let facts = cache.head.of((id, table, rows, cx.model.findings.triage.state.len()), || {
        let cases = members.iter().take(LOOKED_AT).filter_map(|&at| table.items().get(at as usize).cloned());
        ReviewFacts::of_members(cases.collect(), &cx.model.findings.triage)
    });
    let first: &'a Arc<Case> = table.items().get(*members.first()? as usize)?;
    let number = |tab: Tab, number: usize| format!("{} {number}", tab.title());
    let tabs = vec![
        Tab::Overview.title().to_owned(),
        Tab::Evidence.title().to_owned(),
        number(Tab::References, first.references.len() + first.cve.len()),
        number(Tab::History, facts.history.len()),
    ];
    let (cx, made_from) = (cx.clone(), vec![Arc::clone(&facts) as _]);
    let version = finding::triage_version(&cx);
    let text = match cx.model.detail.tab(pane) {
        Tab::Evidence => DetailText::new(made_from, move |_, width, _| card::evidence(&cx, &facts, width)),
        Tab::References => DetailText::new(made_from, move |theme, _, _| references::lines(theme, first)),
        Tab::History => DetailText::new(made_from, move |_, _, _| card::history(&cx, &facts)).with_version(version),
        _ => {
            let overview = move |_, width, _| overview(&cx, table, &members, &facts, width);
            DetailText::new(made_from, overview).with_version(version)
        }
    };
    Some(DetailPane { id: id.0, head, tabs, text })
}

/// Its name; the worst risk, how many there are, and where.
fn head<'a>(cx: &Cx<'a>, by: FindingGroupBy, first: &Case, group: &FindingGroup) -> Vec<Line<'static>> {
    let name = match (by, cx.finding_target(first)) {
        (FindingGroupBy::Target, Some(target)) => cx.target_name(target).into_owned(),
        _ => cx.model.lists.groups.name(group).map_or_else(String::new, |name| cell(&name.title).to_string()),
    };
    let beside = if by == FindingGroupBy::Target { "kind" } else { "target" };
    let beside = format::plural(group.others as usize, beside);
    let on = if by == FindingGroupBy::Target { "of" } else { "on" };
    let mut counts = Line::from(format::risk_span(cx.theme, group.risk));
    counts.push_span(Span::raw(format!("   {} {on} {beside}", format::plural(group.count(), "finding"))));
    if group.new > 0 {
        counts.push_span(Span::styled(format!("   {} new", group.new), cx.theme.strong()));
    }
    vec![words(name, cx.theme.strong()), counts]
}

fn overview(cx: &Cx<'_>, table: &Table<Case>, members: &[u32], facts: &ReviewFacts, width: u16) -> Vec<Line<'static>> {
    let cases = || members.iter().filter_map(|&at| table.items().get(at as usize));
    let separator = format!(" {} ", cx.theme.glyphs.separator);
    let assessments = &cx.model.findings.triage.assessments;
    let decisions =
        standing::counted(members.iter().map(|&at| assessments.get(at as usize).map(|assessment| &**assessment)));
    let mut lines = vec![
        crate::dashboard::ui::labels::fact(cx.theme, "Decisions", decisions.join(&separator)),
        crate::dashboard::ui::labels::fact(
            cx.theme,
            "Scans",
            present(cases().map(|case| case.presence)).join(&separator),
        ),
        crate::dashboard::ui::labels::fact(cx.theme, "Where", places(cx, cases().map(|case| &**case))),
    ];
    let offered = cases().filter(|case| case.offered.is_some() && cx.model.offered(case.id).is_some()).count();
    if offered > 0 {
        let told = format!("{} moved here from another port", format::plural(offered, "finding"));
        lines.push(crate::dashboard::ui::labels::fact(cx.theme, "Offered", told));
    }
    if let Some(case) = facts.cases.first() {
        lines.push(Line::default());
        card::class(cx, facts, case, width, &mut lines);
        card::before(cx, "Last decision", facts, &mut lines);
    }
    lines
}

/// How many are new, the same, gone.
fn present(all: impl Iterator<Item = Presence>) -> Vec<String> {
    let mut counts: BTreeMap<Presence, usize> = BTreeMap::new();
    all.for_each(|presence| *counts.entry(presence).or_default() += 1);
    let told = |(presence, count): (Presence, usize)| {
        format!("{} {}", format::thousands(count as u64), presence.word()) //
    };
    counts.into_iter().map(told).collect()
}

/// The targets, those with the most first, and how many of the members each has.
fn places<'c>(cx: &Cx<'_>, cases: impl Iterator<Item = &'c Case>) -> String {
    let mut counts: HashMap<(Option<_>, &str), (usize, &Case)> = HashMap::new();
    for case in cases {
        counts.entry((case.target_id, case.identity.asset.as_str())).or_insert((0, case)).0 += 1;
    }
    let mut counts: Vec<(usize, &Case)> = counts.into_values().collect();
    counts.sort_by_key(|(count, case)| (Reverse(*count), case.identity.asset.clone()));
    let told = |(count, case): &(usize, &Case)| {
        let target = card::target(cx, case);
        if *count > 1 { format!("{target} {count}") } else { target }
    };
    let mut named: Vec<String> = counts.iter().take(PLACES).map(told).collect();
    if counts.len() > PLACES {
        named.push(format!("{} {} more", cx.theme.glyphs.ellipsis, counts.len() - PLACES));
    }
    named.join(", ")
}
