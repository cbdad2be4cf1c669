//! The rows that a report can cover: marked rows, else those of the typed query, else all.

use crate::base::Pane;
use crate::data::BoardRow;
use crate::forms::IdSet;
use crate::model::Model;
use scandeck_domain::export::report;
use scandeck_domain::triage::{Assessment, IssueId};
use scandeck_report::ReportTraits;
use scandeck_wire::contract::ReportSource;
use std::collections::BTreeMap;

/// The sets of rows that a report can cover, the most likely one first.
pub(crate) fn report_sets(model: &mut Model) -> Vec<IdSet> {
    let panes = [
        (Pane::Findings, ReportSource::Findings),
        (Pane::Scans, ReportSource::Scans),
    ];
    let mut sets = Vec::new();
    for (pane, source) in panes {
        for ReportRows { words, ids } in rows_to_report(model, pane) {
            sets.push(id_set(model, words, source.clone(), ids));
        }
    }
    if model.navigation.focus.pane == Pane::Scans {
        sets.sort_by_key(|set| set.source != ReportSource::Scans);
    }
    sets
}

/// Rows that a report can cover, and what the form calls them.
struct ReportRows {
    words: &'static str,
    ids: Vec<i64>,
}

/// The rows of one pane that a report can cover, the most likely ones first.
fn rows_to_report(model: &mut Model, pane: Pane) -> Vec<ReportRows> {
    let focus = model.navigation.focus.pane;
    let rows = |words, ids| ReportRows { words, ids };
    let mut sets = Vec::new();
    if pane == Pane::Findings && focus == Pane::Board {
        if has_marks(model, Pane::Board) {
            let marked = model.cursor(Pane::Board).chosen();
            sets.push(rows("marked on the board", marked.ids));
        }
        let board = model.items::<BoardRow>();
        sets.push(rows(
            "on the board",
            board.iter().map(|row| row.id.0).collect(),
        ));
    }
    let is_from_here = pane == focus;
    let has_marked = has_marks(model, pane);
    let chosen = match is_from_here && !has_marked {
        true => model.chosen(pane),
        false => model.cursor(pane).chosen(),
    };
    let words = if has_marked { "marked" } else { "selected" };
    let is_marked = has_marked && !chosen.ids.is_empty();
    let selected = rows(words, chosen.ids.clone());
    let shown = rows("all shown", model.cursor(pane).shown_ids());
    let all = rows("without filter", ids_without_filter(model, pane, &shown));
    let ordered = match (pane, is_from_here) {
        _ if is_marked => [selected, shown, all],
        (Pane::Scans, true) => [selected, shown, all],
        (_, true) if !has_query_of_tab(model) => [shown, selected, all],
        // The query of a tab was not typed, and a filter in another view is not on the screen.
        _ => [all, shown, selected],
    };
    sets.extend(ordered.into_iter().filter(|set| !set.ids.is_empty()));
    if !chosen.hidden.is_empty() {
        sets.push(rows("all marked", [chosen.ids, chosen.hidden].concat()));
    }
    sets
}

/// Whether rows are marked one by one, or as a range. A group header marks none.
fn has_marks(model: &mut Model, pane: Pane) -> bool {
    let cursor = model.cursor(pane);
    cursor.marked().0 > 0 || cursor.range().is_some()
}

/// Whether the filter of the findings is that of a tab, such as the undecided ones only.
fn has_query_of_tab(model: &Model) -> bool {
    model.settings.tabs.is_plain(&model.lists.findings.filter)
}

/// The findings of the scope if the filter hides some of them: it usually shows the undecided ones
/// only.
fn ids_without_filter(model: &Model, pane: Pane, shown: &ReportRows) -> Vec<i64> {
    if pane != Pane::Findings {
        return Vec::new();
    }
    let in_scope = model.findings_in_scope();
    match in_scope.len() == shown.ids.len() {
        true => Vec::new(),
        false => in_scope,
    }
}

/// Rows as a set that a report can cover. Ids of manual findings are negative, and unknown to the
/// service.
pub(crate) fn id_set(model: &Model, words: &str, source: ReportSource, ids: Vec<i64>) -> IdSet {
    let pane = if source == ReportSource::Findings {
        Pane::Findings
    } else {
        Pane::Scans
    };
    let issues: Vec<IssueId> = if pane == Pane::Findings {
        ids.iter().map(|&id| IssueId(id)).collect()
    } else {
        Vec::new()
    };
    let ids = ids
        .into_iter()
        .map(|id| model.service_id(pane, id))
        .filter(|&id| id >= 0)
        .collect();
    IdSet {
        label: words.to_owned(),
        source,
        traits: traits(model, &issues),
        issues,
        ids,
    }
}

/// How many of these findings have the same traits.
fn traits(model: &Model, issues: &[IssueId]) -> BTreeMap<ReportTraits, usize> {
    let mut counts = BTreeMap::new();
    let Some(table) = model.data.findings.value() else {
        return counts;
    };
    let undecided = Assessment::default();
    for issue in issues.iter().filter_map(|&id| table.get(id)) {
        let assessment = model.assessment(issue.id).unwrap_or(&undecided);
        *counts.entry(report::traits(issue, assessment)).or_default() += 1;
    }
    counts
}
