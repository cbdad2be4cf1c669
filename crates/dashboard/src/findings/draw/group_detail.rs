//! The detail of a group: decisions, presence and targets of its findings, the evidence they share,
//! and the previous decision on the class.
//!
//! ```text
//!   Content-Security-Policy missing
//!   · INFO    57 findings on 57 targets   2 new
//!
//!   Decisions     34 undecided · 12 false positive · 11 confirmed
//!   Presence      2 new · 55 unchanged
//!   Affected      shop 3, api 2, pay, … 12 more
//! ```

use crate::base::{GroupId, Pane, RowRef, Tab};
use crate::findings::draw::detail::status;
use crate::findings::draw::groups::{changes, counts_present};
use crate::findings::draw::seen_by;
use crate::findings::review::draw::earlier::before;
use crate::findings::review::draw::evidence_kinds::target;
use crate::findings::review::draw::text as card;
use crate::list::{FindingGroupBy, Group};
use crate::model::{LOOKED_AT, ReviewFacts};
use crate::ui::{ById, Cx, DetailPane, Theme, ViewCache, cell, fact, format, words};
use ratatui::text::{Line, Span};
use scandeck_domain::finding::RetestGap;
use scandeck_domain::table::Table;
use scandeck_domain::triage::{Issue, Presence};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Most targets that are named.
const PLACES: usize = 12;

/// The findings of a group.
struct Members {
    /// Their positions in the table.
    positions: Vec<u32>,
    /// Whether the counts leave absent findings out.
    counts_present: bool,
}

impl Members {
    fn issues<'t>(&'t self, table: &'t Table<Issue>) -> impl Iterator<Item = &'t Issue> {
        let all = self.positions.iter();
        all.filter_map(move |&at| table.items().get(at as usize).map(|issue| &**issue))
    }

    /// The positions of the findings that the counts cover.
    fn counted<'t>(&'t self, table: &'t Table<Issue>) -> impl Iterator<Item = u32> {
        let is_counted = move |at: &u32| {
            let issue = table.items().get(*at as usize);
            !self.counts_present || issue.is_some_and(|issue| issue.is_present())
        };
        self.positions.iter().copied().filter(is_counted)
    }
}

/// The detail of a group of findings.
pub(crate) fn detail<'a>(
    cx: &Cx<'a>,
    id: GroupId,
    cache: &mut ViewCache,
) -> Option<DetailPane<'a>> {
    let (list, by) = (&cx.model.lists.findings, cx.model.lists.finding_groups.by?);
    let (table, group) = (cx.model.data.findings.value()?, list.groups.get(id)?);
    let members = Members {
        positions: list.positions_in(group).collect(),
        counts_present: counts_present(cx, group),
    };
    let first = table.items().get(*members.positions.first()? as usize)?;
    let lines = head(cx, by, first, group);
    of_members(cx, Pane::Findings, id, lines, members, cache)
}

/// The detail of a group of the retest board.
pub(crate) fn on_board<'a>(cx: &Cx<'a>, cache: &mut ViewCache) -> Option<DetailPane<'a>> {
    let list = &cx.model.lists.board;
    let (table, rows) = (
        cx.model.data.findings.value()?,
        cx.model.data.board.value()?.items(),
    );
    let group = list.groups.get(list.header?)?;
    let rows = || {
        list.positions_in(group)
            .filter_map(|at| rows.get(at as usize))
    };
    let positions = rows().filter_map(|row| table.position(row.id));
    let members = Members {
        positions: positions.map(|at| at as u32).collect(),
        counts_present: false,
    };
    let (now, risk) = (rows().next()?.now, rows().map(|row| row.risk).max()?);
    let board = cx.model.findings.board.as_ref();
    let name = board.map_or("", |board| board.now_words(now));
    let mut counts = Line::from(format::risk_span(cx.theme, risk));
    counts.push_span(Span::raw(format!(
        "   {}",
        format::plural(members.positions.len(), "finding")
    )));
    let head = vec![words(name, cx.theme.strong()), counts];
    of_members(cx, Pane::Board, group.id, head, members, cache)
}

fn of_members<'a>(
    cx: &Cx<'a>,
    pane: Pane,
    id: GroupId,
    head: Vec<Line<'static>>,
    members: Members,
    cache: &mut ViewCache,
) -> Option<DetailPane<'a>> {
    let table = cx.model.data.findings.value()?;
    let lists = &cx.model.lists;
    let rows = if pane == Pane::Board {
        &lists.board.rows
    } else {
        &lists.findings.rows
    };
    let (events, shown) = (
        cx.model.findings.triage.state.len(),
        &cx.model.findings.shown,
    );
    let key = (
        id,
        ById::new(table),
        ById::new(rows),
        (events, shown.revision),
    );
    let facts = cache.group.get(key, || {
        let counted = members.counted(table);
        let issues = counted.filter_map(|at| table.items().get(at as usize));
        let issues = issues.take(LOOKED_AT).cloned();
        Arc::new(ReviewFacts::of_members(
            issues.collect(),
            &cx.model.findings.triage,
            shown,
        ))
    });
    let first: &'a Arc<Issue> = table.items().get(*members.positions.first()? as usize)?;
    let tabs = vec![
        Tab::Overview.title().to_owned(),
        Tab::Evidence.title().to_owned(),
        Tab::References.counted(first.reference_count()),
        Tab::History.counted(facts.history.len()),
    ];
    let overview =
        move |cx: &Cx<'_>, facts: &ReviewFacts, width| overview(cx, table, &members, facts, width);
    let text = card::of_members(cx, cx.model.detail.tab(pane), &facts, first, overview);
    Some(DetailPane {
        id: RowRef::Group(id),
        head,
        tabs,
        text,
    })
}

/// The name; the highest risk and the counts.
fn head<'a>(cx: &Cx<'a>, by: FindingGroupBy, first: &Issue, group: &Group) -> Vec<Line<'static>> {
    let summary = cx.model.lists.finding_groups.summary(group);
    let name = match (by, cx.finding_target(first)) {
        (FindingGroupBy::Target, Some(target)) => cx.target_name(target).into_owned(),
        _ => cx
            .model
            .lists
            .finding_groups
            .name(group)
            .map_or_else(String::new, |name| cell(&name.title).to_string()),
    };
    let beside = if by == FindingGroupBy::Target {
        "class"
    } else {
        "target"
    };
    let beside = format::plural(summary.others as usize, beside);
    let on = if by == FindingGroupBy::Target {
        "of"
    } else {
        "on"
    };
    let mut counts = Line::from(format::risk_span(cx.theme, summary.risk));
    let absent = group.rows.len().saturating_sub(summary.count as usize);
    let counted = match (summary.count, absent) {
        (0, 1..) => format::plural(absent, "absent finding"),
        (count, _) => format!(
            "{} {on} {beside}",
            format::plural(count as usize, "finding")
        ),
    };
    let more = if counts_present(cx, group) {
        format!(", {absent} more absent")
    } else {
        String::new()
    };
    counts.push_span(Span::raw(format!("   {counted}{more}")));
    counts.push_span(Span::styled(
        format!("   {}", changes(summary)),
        cx.theme.strong(),
    ));
    vec![words(name, cx.theme.strong()), counts]
}

/// `Seen by  nuclei, ZAP` of a CVE or weakness that several tools reported.
fn tools_line<'a>(cx: &Cx<'_>, issues: impl Iterator<Item = &'a Issue>) -> Option<Line<'static>> {
    let by = cx.model.lists.finding_groups.by?;
    if !matches!(by, FindingGroupBy::Cve | FindingGroupBy::Weakness) {
        return None;
    }
    let tools = seen_by::tools(cx, issues);
    (tools.len() > 1).then(|| fact(cx.theme, "Seen by", tools.join(", ")))
}

fn overview(
    cx: &Cx<'_>,
    table: &Table<Issue>,
    members: &Members,
    facts: &ReviewFacts,
    width: u16,
) -> Vec<Line<'static>> {
    let theme = cx.theme;
    let issues = || members.issues(table);
    let separator = format!(" {} ", theme.glyphs.separator);
    let counted = members.counted(table);
    let decisions = status::counted(counted.map(|at| cx.model.assessment_at(at as usize)));
    let presences = present(issues().map(|issue| issue.presence));
    let has_present = issues().any(|issue| issue.is_present());
    let affected = issues().filter(|issue| issue.is_present() || !has_present);
    let mut lines = vec![
        fact(theme, "Decisions", decisions.join(&separator)),
        fact(theme, "Presence", presences.join(&separator)),
        fact(theme, "Affected", places(cx, affected)),
    ];
    lines.extend(tools_line(cx, issues()));
    lines.extend(gaps_line(theme, issues()));
    lines.extend(reusable_line(cx, issues()));
    lines.extend(proposed_line(cx, issues()));
    if let Some(issue) = facts.issues.first() {
        card::class(cx, facts, issue, width, &mut lines);
        before(cx, "Last decision", facts, &mut lines);
    }
    lines
}

/// Why a later scan would not have found findings again.
fn gaps_line<'a>(theme: Theme, issues: impl Iterator<Item = &'a Issue>) -> Option<Line<'static>> {
    let gaps: BTreeSet<&str> = issues
        .filter_map(|issue| issue.retest_gap())
        .map(RetestGap::reason)
        .collect();
    let reasons: Vec<&str> = gaps.into_iter().collect();
    (!reasons.is_empty()).then(|| fact(theme, "Not retested", reasons.join("; ")))
}

/// The findings with a decision on another port.
fn reusable_line<'a>(
    cx: &Cx<'_>,
    issues: impl Iterator<Item = &'a Issue>,
) -> Option<Line<'static>> {
    let is_reusable = |issue: &&Issue| {
        issue.earlier_decision().is_some() && cx.model.earlier_decision(issue.id).is_some()
    };
    let found = issues.filter(is_reusable).count();
    (found > 0).then(|| {
        let moved = format::plural(found, "finding");
        let stated = format!("{moved} moved here from another port");
        fact(cx.theme, "Reusable", stated)
    })
}

/// The findings whose imported file has a verdict.
fn proposed_line<'a>(
    cx: &Cx<'_>,
    issues: impl Iterator<Item = &'a Issue>,
) -> Option<Line<'static>> {
    let is_proposed = |issue: &&Issue| cx.model.proposal(issue.id).is_some();
    let found = issues.filter(is_proposed).count();
    (found > 0).then(|| {
        let proposed = format::plural(found, "finding");
        let stated = format!("{proposed} with a verdict of the imported file");
        fact(cx.theme, "Proposed", stated)
    })
}

/// The number of findings per presence.
fn present(all: impl Iterator<Item = Presence>) -> Vec<String> {
    let mut counts: BTreeMap<Presence, usize> = BTreeMap::new();
    all.for_each(|presence| *counts.entry(presence).or_default() += 1);
    counts
        .into_iter()
        .map(|(presence, count)| {
            format!("{} {}", format::thousands(count as u64), presence.label())
        })
        .collect()
}

/// The targets with the most findings first, and the number of findings of each.
fn places<'c>(cx: &Cx<'_>, issues: impl Iterator<Item = &'c Issue>) -> String {
    let mut counts: HashMap<(Option<_>, &str), (usize, &Issue)> = HashMap::new();
    for issue in issues {
        counts
            .entry((issue.target_id(), issue.identity.asset.as_str()))
            .or_insert((0, issue))
            .0 += 1;
    }
    let mut counts: Vec<(usize, &Issue)> = counts.into_values().collect();
    counts.sort_by_key(|(count, issue)| (Reverse(*count), issue.identity.asset.clone()));
    let counted = |(count, issue): &(usize, &Issue)| {
        let target = target(cx, issue);
        if *count > 1 {
            format!("{target} {count}")
        } else {
            target
        }
    };
    let mut named: Vec<String> = counts.iter().take(PLACES).map(counted).collect();
    if counts.len() > PLACES {
        named.push(format!(
            "{} {} more",
            cx.theme.glyphs.ellipsis,
            counts.len() - PLACES
        ));
    }
    named.join(", ")
}
