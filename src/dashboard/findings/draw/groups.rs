//! Findings in groups: a head with what its members come to, and the members of unfolded ones below it.
//!
//! ```text
//!     RISK   Δ CLASS                       COUNT      TARGETS NEW
//!   ▸ ◆ CRIT + Readable private key            3            2   3
//!   ▾ ▲ HIGH   Database dump readable          4            4   0
//!     ▲ HIGH +   /db.sql                   api            9m –
//! ```

use crate::dashboard::base::Pane;
use crate::dashboard::list::{FindingGroup, FindingGroupBy, GroupRow as Place};
use crate::dashboard::ui::context::{cell, words};
use crate::dashboard::ui::list::{draw_list as draw_any_list, filled, pane_of, view_of};
use crate::dashboard::ui::{Cx, ListPane, Slot, TableColumn, TableRow, ViewCache, format};
use crate::table::Table;
use crate::text;
use crate::triage::{Assessment, Case, CaseId};
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::Line;

/// The columns, with what is grouped by and what is counted beside the findings in their heads.
const fn columns(by: &'static str, others: &'static str) -> [TableColumn; 7] {
    [
        TableColumn::fixed("", 1),
        TableColumn::fixed("RISK", format::RISK),
        TableColumn::fixed("Δ", 1),
        TableColumn::flex(by, 12, 7),
        TableColumn::flex("COUNT", 10, 1).at_most(28),
        TableColumn::fixed(others, 7),
        TableColumn::fixed("NEW", 9).expendable(1),
    ]
}

static BY_CLASS: [TableColumn; 7] = columns("CLASS", "TARGETS");
static BY_TARGET: [TableColumn; 7] = columns("TARGET", "CLASSES");
static BY_CVE: [TableColumn; 7] = columns("CVE", "TARGETS");
static BY_CWE: [TableColumn; 7] = columns("CWE", "TARGETS");
static BY_OWASP: [TableColumn; 7] = columns("OWASP", "TARGETS");
static BY_PORT: [TableColumn; 7] = columns("PORT", "TARGETS");

/// Whether the findings are in groups, and known.
pub(crate) fn are_shown(cx: &Cx<'_>) -> bool {
    cx.model.lists.groups.by.is_some() && cx.model.data.findings.value().is_some()
}

/// The head under the cursor.
pub(crate) fn on_head(cx: &Cx<'_>) -> Option<CaseId> {
    cx.model.lists.findings.selected.filter(|id| are_shown(cx) && id.0 < 0)
}

pub(crate) fn draw_list(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, cache: &mut ViewCache) -> u16 {
    let (remote, list, groups) = (&cx.model.data.findings, &cx.model.lists.findings, &cx.model.lists.groups);
    let (Some(table), Some(by)) = (remote.value(), groups.by) else { return 0 };
    let pane = ListPane {
        columns: match by {
            FindingGroupBy::Class => &BY_CLASS,
            FindingGroupBy::Target => &BY_TARGET,
            FindingGroupBy::Cve => &BY_CVE,
            FindingGroupBy::Cwe => &BY_CWE,
            FindingGroupBy::Owasp => &BY_OWASP,
            FindingGroupBy::Port => &BY_PORT,
        },
        tabs: Some(crate::dashboard::findings::draw::saved_tabs(cx, slot.area.width)),
        ..pane_of(Pane::Findings, remote)
    };
    let pane = ListPane {
        shown: groups.rows.len(),
        place: Some(sum(list.rows.len(), groups.all().len(), table.len(), by)),
        ..filled(pane, table, list)
    };
    let style = cx.freshness(remote);
    let range = list.range_from.and_then(|from| groups.place(table, from));
    let range = range.map(|from| from.min(list.at)..=from.max(list.at));
    let row = |at: usize, _: &[u16]| {
        let in_range = range.as_ref().is_some_and(|range| range.contains(&at));
        let selected = at == list.at;
        match *groups.rows.get(at)? {
            Place::Head(number) => {
                let group = groups.all().get(number as usize)?;
                let style = if group.undecided == 0 { cx.theme.dim() } else { style };
                let marked = in_range || is_marked(cx, table, group);
                Some(TableRow { cells: head(cx, by, table, group), style, marked, selected })
            }
            Place::Case(position) => {
                let case = table.items().get(position as usize)?;
                let assessment =
                    cx.model.findings.triage.assessments.get(position as usize).map(|assessment| &**assessment);
                let style = if assessment.is_some_and(|assessment| !assessment.is_undecided()) {
                    cx.theme.dim()
                } else {
                    style
                };
                let marked = in_range || list.marks.contains(&case.id);
                let head = groups.head_of(position).and_then(|id| groups.head(id));
                let title = head.and_then(|head| groups.name(head)).map_or("", |name| name.title.as_str());
                Some(TableRow { cells: member(cx, case, title, assessment, style), style, marked, selected })
            }
        }
    };
    let resolve = |height| {
        cache.anchors.of(Pane::Findings).resolve_rows(
            view_of(cx, list, 1 + by as u8),
            (list.at, groups.rows.len(), height),
            |at| groups.id_at(table, at).map(i64::from),
            |id| groups.place(table, CaseId(id)),
        )
    };
    draw_any_list(cx, buf, slot, &pane, resolve, row)
}

/// `400 in 34 classes, 12 hidden`
fn sum(shown: usize, groups: usize, total: usize, by: FindingGroupBy) -> String {
    let number = |n: usize| format::thousands(n as u64);
    let noun = if groups == 1 { by.word() } else { by.plural() };
    let hidden = if shown < total { format!(", {} hidden", number(total - shown)) } else { String::new() };
    match shown {
        0 => String::new(),
        _ => format!("{} in {} {noun}{hidden}", number(shown), number(groups)),
    }
}

/// All its members are. One that is not is mostly found at once; marks of more than the group end the search early.
fn is_marked(cx: &Cx<'_>, table: &Table<Case>, group: &FindingGroup) -> bool {
    let list = &cx.model.lists.findings;
    let members = cx.model.lists.groups.members(group);
    list.marks.len() >= members.len() && members.iter().all(|&at| list.marks.contains(&table.items()[at as usize].id))
}

fn head<'a>(cx: &Cx<'a>, by: FindingGroupBy, table: &'a Table<Case>, group: &FindingGroup) -> Vec<Line<'a>> {
    let groups = &cx.model.lists.groups;
    let sample = groups.members(group).first().and_then(|&at| table.items().get(at as usize));
    let name = match (by, sample.and_then(|case| cx.finding_target(case))) {
        (FindingGroupBy::Target, Some(target)) => Line::from(cx.short_target_name(target)),
        _ => groups.name(group).map_or_else(Line::default, |name| cell(&name.title)),
    };
    let text = cx.theme.text();
    vec![
        words(cx.theme.glyphs.folds[usize::from(group.open)], cx.theme.key()),
        Line::from(format::risk_span(cx.theme, group.risk)),
        words(cx.theme.presence_sign(group.presence), text),
        name,
        words(format!("{:>5}", format::thousands(group.count() as u64)), text),
        words(format!("{:>7}", group.others), text),
        match group.undecided {
            0 => agreed(cx, group),
            _ => words(format!("{:>3}", group.new), text),
        },
    ]
}

/// What stands about all members of a group, where that is one thing.
fn agreed<'a>(cx: &Cx<'a>, group: &FindingGroup) -> Line<'a> {
    let assessments = &cx.model.findings.triage.assessments;
    let mut all = cx.model.lists.groups.members(group).iter().map(|&at| assessments.get(at as usize));
    let first = all.next().flatten();
    // Members that differ are mostly found at once; of very many only some are looked at.
    match first {
        Some(first)
            if all
                .take(1_000)
                .all(|assessment| assessment.is_some_and(|assessment| assessment.verdict == first.verdict)) =>
        {
            crate::dashboard::findings::draw::decision(cx, Some(first))
        }
        _ => words("decided", cx.theme.dim()),
    }
}

fn member<'a>(
    cx: &Cx<'a>,
    case: &'a Case,
    title: &str,
    assessment: Option<&'a Assessment>,
    style: Style,
) -> Vec<Line<'a>> {
    let name = text::clean(rest_of(&case.name, title)).into_owned();
    let seen = case.task_id.and_then(|id| cx.scan(id)?.start_time);
    vec![
        Line::default(),
        Line::from(format::risk_span(cx.theme, case.risk_level)),
        words(cx.theme.presence_sign(case.presence), cx.theme.text()),
        words(format!("  {name}"), style),
        crate::dashboard::findings::draw::target(cx, case),
        words(format!("{:>7}", cx.age(seen)), cx.theme.text()),
        crate::dashboard::findings::draw::said(cx, case, assessment),
    ]
}

/// What a member's name says that its head does not; all of it where that is nothing.
fn rest_of<'a>(name: &'a str, title: &str) -> &'a str {
    let rest = name.strip_prefix(title).unwrap_or(name);
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';' | '-'));
    let rest = rest.strip_prefix("at ").or(rest.strip_prefix("in ")).unwrap_or(rest);
    if rest.is_empty() { name } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_says_what_its_head_does_not() {
        for (name, title, rest) in [
            ("Database dump readable at /db.sql", "Database dump readable", "/db.sql"),
            ("Directory listing", "Directory listing", "Directory listing"),
            ("Directory listing: two", "Directory listing", "two"),
            ("Open port", "443/tcp", "Open port"),
        ] {
            assert_eq!(rest_of(name, title), rest);
        }
    }
}
