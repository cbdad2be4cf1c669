//! Findings in groups: headers with a summary, and the findings of unfolded groups.
//!
//! ```text
//!     RISK   Δ CLASS                               COUNT TARGETS STATUS
//!   ▸ ◆ CRIT + Readable private key                    3       2   3 new
//!   ▾ ▲ HIGH   Database dump readable                  4       4 –
//!     ▲ HIGH +   /db.sql                             api      9m –
//! ```
//!
//! The name of a header uses the blank columns before its count.

use crate::base::ShownRows;
use crate::findings::draw;
use crate::list::{FindingGroupBy, Group, GroupPlace, GroupSummary, sampled_places};
use crate::ui::{
    Cx, GridRow, ListPane, Slot, TableColumn, ViewCache, cell, columns_of, cut_line, dimmed,
    draw_grouped, format, is_constant, pane_of, sampled_items, words,
};
use ratatui::prelude::{Buffer, Line, Span, Style};
use scandeck_domain::triage::{Assessment, Issue, Presence, Verdict};
use scandeck_wire::text;
use std::borrow::Cow;

/// The columns, with the titles of the group column and of the counted attribute. A target that all
/// rows share gives way.
fn columns(cx: &Cx<'_>, by: FindingGroupBy) -> [TableColumn; 7] {
    let others = if by == FindingGroupBy::Target {
        "CLASSES"
    } else {
        "TARGETS"
    };
    let (names, targets) = widest(cx, by);
    // Findings have their age in the column of targets and classes.
    let repeats_others = match has_members(cx) {
        true => draw::is_one_age(cx),
        false => is_constant(
            sampled_headers(cx).map(|group| cx.model.lists.finding_groups.summary(group).others),
        ),
    };
    let mut summaries =
        sampled_headers(cx).map(|group| cx.model.lists.finding_groups.summary(group));
    let repeats_count =
        !has_decision(cx) && summaries.all(|it| it.decided == 0 && it.new == it.count);
    let of_headers =
        sampled_headers(cx).map(|group| cx.model.lists.finding_groups.summary(group).presence);
    let is_one_presence =
        is_constant(of_headers.chain(sampled_items::<Issue>(cx).map(|(_, issue)| issue.presence)));
    // The header of the group, or the scope beside the filter, names the target.
    let counts = match targets {
        0 => TableColumn::fixed("COUNT", COUNT),
        _ => {
            let one_target =
                is_constant(sampled_items::<Issue>(cx).map(|(_, issue)| &issue.identity.asset));
            let counts = TableColumn::flex("COUNT", COUNT, 1)
                .content(targets, draw::HOST_PORT)
                .at_most(28);
            counts.shrinks_if(one_target, COUNT)
        }
    };
    [
        TableColumn::fixed("", 1),
        TableColumn::fixed("RISK", format::RISK),
        TableColumn::fixed("Δ", 1).gives_way_if(is_one_presence, 4),
        TableColumn::flex(by.head(), 12, 7).content(names, 0),
        counts.right(),
        // The detail has the number too.
        TableColumn::fixed(others, 7)
            .expendable(1)
            .gives_way_if(repeats_others, 3),
        TableColumn::fixed("STATUS", status_width(cx))
            .omitted(!has_status(cx))
            .gives_way_if(repeats_count, 2),
    ]
}

/// The column of the name, before the one of the count.
const NAME: usize = 3;
/// Columns of the number of findings.
const COUNT: u16 = 5;
/// Columns of a zoomed list, and of a screen of five panes, that have room for whole verdicts.
const WIDE_LIST: u16 = 120;
const WIDE_SCREEN: u16 = 180;
/// Most decisions of a group that are compared in each frame, and most findings among which they
/// are.
const COMPARED: usize = 1_000;
const COMPARED_AMONG: usize = 10_000;

fn names_target(cx: &Cx<'_>, by: FindingGroupBy) -> bool {
    by != FindingGroupBy::Target && cx.model.navigation.scope.target.is_none()
}

/// The headers that decide about the columns.
fn sampled_headers<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a Group> + use<'a> {
    let list = &cx.model.lists.findings;
    let places = sampled_places(list.len(), list.at, cx.model.screen.size.rows.into());
    places.filter_map(|at| list.groups.header(at))
}

/// Whether the list is wide enough for whole words.
fn has_whole_words(cx: &Cx<'_>) -> bool {
    let columns = cx.model.screen.size.columns;
    columns >= WIDE_SCREEN || cx.model.navigation.focus.zoomed && columns >= WIDE_LIST
}

fn verdict_name(cx: &Cx<'_>) -> fn(Verdict) -> String {
    if has_whole_words(cx) {
        Verdict::phrase
    } else {
        draw::short_name
    }
}

/// Columns of the widest status of the sampled rows.
fn status_width(cx: &Cx<'_>) -> u16 {
    let items = sampled_items::<Issue>(cx).map(|(at, issue)| {
        let assessment = cx.model.assessment_at(at);
        draw::decision_cell(cx, issue, assessment, verdict_name(cx)).width()
    });
    let headers = sampled_headers(cx).map(|group| status(cx, group).width());
    items.chain(headers).max().unwrap_or(0).max("STATUS".len()) as u16
}

/// Whether the status of a sampled row is more than a dash.
fn has_status(cx: &Cx<'_>) -> bool {
    let groups = &cx.model.lists.finding_groups;
    let mut summaries = sampled_headers(cx).map(|group| groups.summary(group));
    summaries.any(|summary| {
        summary.decided > 0
            || summary.undecided == 0
            || summary.count == 0
            || !changes(summary).is_empty()
    }) || has_decision(cx)
}

/// Whether a sampled row is a finding of an unfolded group.
fn has_members(cx: &Cx<'_>) -> bool {
    let list = &cx.model.lists.findings;
    let mut places = sampled_places(list.len(), list.at, cx.model.screen.size.rows.into());
    places.any(|at| matches!(list.groups.at(at), Some(GroupPlace::Row(..))))
}

/// Whether a sampled finding has a decision.
fn has_decision(cx: &Cx<'_>) -> bool {
    sampled_items::<Issue>(cx).any(|(at, issue)| {
        let assessment = cx.model.assessment_at(at);
        draw::has_decision(cx, issue, assessment)
    })
}

/// Draws the findings in groups.
pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
    by: FindingGroupBy,
) -> ShownRows {
    let (remote, list, groups) = (
        &cx.model.data.findings,
        &cx.model.lists.findings,
        &cx.model.lists.finding_groups,
    );
    let total = list.in_scope;
    let counts = list
        .groups
        .iter()
        .map(|group| groups.summary(group).count as usize)
        .filter(|&count| count > 0);
    let (of_findings, of_groups) = counts.fold((0, 0), |(findings, groups), count| {
        (findings + count, groups + 1)
    });
    let columns = columns_of::<Issue>(cx, cache, || columns(cx, by).to_vec());
    let pane = ListPane {
        columns: &columns,
        note: draw::retained_note(cx),
        tabs: Some(draw::saved_tabs(cx, slot.area.width)),
        place: Some(sum((of_findings, of_groups), list.rows.len(), total, by)),
        ..pane_of::<Issue>(cx)
    };
    let style = cx.freshness(remote);
    draw_grouped::<Issue>(cx, buf, slot, cache, pane, |row, widths| match row {
        GridRow::Header(group) => {
            let style = if is_dismissed(cx, group) {
                cx.theme.dim()
            } else {
                style
            };
            (header(cx, by, group, widths), style)
        }
        GridRow::Item {
            item: issue,
            position,
            group,
        } => {
            let assessment = cx.model.assessment_at(position as usize);
            let title = group
                .and_then(|group| groups.name(group))
                .map_or("", |name| name.title.as_str());
            let mut cells = member(cx, by, issue, title, assessment, style);
            // The column gave way, or shows the number of targets only.
            if widths[NAME + 1] <= COUNT && cells[NAME + 1].width() > COUNT.into() {
                cells[NAME + 1] = Line::default();
            }
            match assessment.is_some_and(draw::is_dismissed) {
                true => (
                    cells
                        .into_iter()
                        .map(|cell| dimmed(cx.theme, cell))
                        .collect(),
                    cx.theme.dim(),
                ),
                false => (cells, style),
            }
        }
    })
}

/// `400 findings in 34 classes, 2 more absent, 12 hidden`. The group without a value is no CVE, so
/// other fields than class and target count groups.
fn sum(
    (counted, groups): (usize, usize),
    shown: usize,
    total: usize,
    by: FindingGroupBy,
) -> String {
    let number = |n: usize| format::thousands(n as u64);
    let groups = match by {
        FindingGroupBy::Class | FindingGroupBy::Target => format::plural(groups, by.word()),
        FindingGroupBy::Cve
        | FindingGroupBy::Cwe
        | FindingGroupBy::Owasp
        | FindingGroupBy::Port => format::plural(groups, "group"),
    };
    let hidden = format::and_hidden(total.saturating_sub(shown));
    let absent = if counted < shown {
        format!(", {} more absent", number(shown - counted))
    } else {
        String::new()
    };
    match shown {
        0 => String::new(),
        _ => format!(
            "{} in {groups}{absent}{hidden}",
            format::plural(counted, "finding")
        ),
    }
}

fn header<'a>(cx: &Cx<'a>, by: FindingGroupBy, group: &'a Group, widths: &[u16]) -> Vec<Line<'a>> {
    let (list, groups) = (&cx.model.lists.findings, &cx.model.lists.finding_groups);
    let items = cx
        .model
        .data
        .findings
        .value()
        .map(|table| table.items())
        .unwrap_or_default();
    let sample = list
        .positions_in(group)
        .next()
        .and_then(|at| items.get(at as usize));
    let name = match (by, sample.and_then(|issue| cx.finding_target(issue))) {
        (FindingGroupBy::Target, Some(target)) => Line::from(cx.short_target_name(target)),
        _ => groups
            .name(group)
            .map_or_else(Line::default, |name| cell(&name.title)),
    };
    let (text, summary) = (cx.theme.text(), groups.summary(group));
    let count = format::thousands(summary.count.into());
    let room = usize::from(widths[NAME] + 1 + widths[NAME + 1]).saturating_sub(count.len() + 1);
    // The mask does not recognise a name that is cut.
    let name = cx.shown_lines(vec![name]).pop().unwrap_or_default();
    let mut name = cut_line(name, room, cx.theme.glyphs.ellipsis);
    let blanks = room.saturating_sub(name.width()) + 1;
    name.push_span(Span::styled(format!("{:blanks$}{count}", ""), text));
    vec![
        words(
            cx.theme.glyphs.folds[usize::from(group.is_open)],
            cx.theme.key(),
        ),
        Line::from(format::risk_span(cx.theme, summary.risk)),
        words(cx.theme.presence_sign(summary.presence), text),
        name,
        Line::default(),
        words(format!("{:>7}", summary.others), text),
        status(cx, group),
    ]
}

/// The decision on a group, else how many of its findings are decided, else that none is present,
/// else how many are new and reappeared.
fn status<'a>(cx: &Cx<'a>, group: &'a Group) -> Line<'a> {
    let summary = cx.model.lists.finding_groups.summary(group);
    match changes(summary) {
        _ if is_decided(summary) => common_decision(cx, group),
        _ if summary.decided > 0 => {
            let of = if has_whole_words(cx) { " of " } else { "/" };
            words(
                format!("{}{of}{} decided", summary.decided, summary.count),
                cx.theme.text(),
            )
        }
        _ if summary.count == 0 => words("absent", cx.theme.dim()),
        changes if changes.is_empty() => words(cx.theme.glyphs.dash, cx.theme.dim()),
        changes => words(format!("  {changes}"), cx.theme.text()),
    }
}

/// `2 new, 1 reappeared`.
pub(super) fn changes(summary: GroupSummary) -> String {
    let counted = |(count, presence): (u32, Presence)| {
        (count > 0).then(|| format!("{} {}", format::count(count.into()), presence.label()))
    };
    let all = [
        (summary.new, Presence::New),
        (summary.reappeared, Presence::Reappeared),
    ];
    all.into_iter()
        .filter_map(counted)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Whether a group counts its present findings only, beside absent ones.
pub(super) fn counts_present(cx: &Cx<'_>, group: &Group) -> bool {
    let count = cx.model.lists.finding_groups.summary(group).count as usize;
    count > 0 && count < group.rows.len()
}

/// Whether each counted finding of a group is decided; of a group that counts none, each finding.
fn is_decided(summary: GroupSummary) -> bool {
    summary.undecided == 0 || summary.count > 0 && summary.decided == summary.count
}

/// The decisions on the counted findings of a group; of a group that counts none, on all. Of very
/// large groups only a part is read.
fn decisions<'a>(cx: &Cx<'a>, group: &'a Group) -> impl Iterator<Item = &'a Assessment> {
    let counts_present = counts_present(cx, group);
    let issues = cx
        .model
        .data
        .findings
        .value()
        .map(|table| table.items())
        .unwrap_or_default();
    let is_counted = move |&at: &u32| {
        !counts_present
            || issues
                .get(at as usize)
                .is_some_and(|issue| issue.is_present())
    };
    let all = cx
        .model
        .lists
        .findings
        .positions_in(group)
        .take(COMPARED_AMONG)
        .filter(is_counted);
    all.filter_map(|at| cx.model.assessment_at(at as usize))
        .take(COMPARED)
}

/// Whether all findings of a group are put aside.
fn is_dismissed(cx: &Cx<'_>, group: &Group) -> bool {
    let mut all = decisions(cx, group).peekable();
    is_decided(cx.model.lists.finding_groups.summary(group))
        && all.peek().is_some()
        && all.all(draw::is_dismissed)
}

/// The decision on all findings of a group, if they have the same one.
fn common_decision<'a>(cx: &Cx<'a>, group: &'a Group) -> Line<'a> {
    let mut all = decisions(cx, group);
    match all.next() {
        Some(first) if all.all(|other| other.verdict == first.verdict) => {
            draw::decision(cx, Some(first), verdict_name(cx))
        }
        _ => words("decided", cx.theme.dim()),
    }
}

fn member<'a>(
    cx: &Cx<'a>,
    by: FindingGroupBy,
    issue: &'a Issue,
    title: &str,
    assessment: Option<&'a Assessment>,
    style: Style,
) -> Vec<Line<'a>> {
    let (name, target) = name_and_target(cx, by, issue, title);
    vec![
        Line::default(),
        draw::risk(cx.theme, issue, assessment),
        words(cx.theme.presence_sign(issue.presence), cx.theme.text()),
        indented_name(name).patch_style(style),
        target,
        words(
            format!("{:>7}", cx.age(issue.first_seen.get())),
            cx.theme.text(),
        ),
        draw::decision_cell(cx, issue, assessment, verdict_name(cx)),
    ]
}

/// The name of a member without the title of its group, and its target. A name that equals the
/// title gives its place to the target.
fn name_and_target<'a>(
    cx: &Cx<'a>,
    by: FindingGroupBy,
    issue: &'a Issue,
    title: &str,
) -> (Line<'a>, Line<'a>) {
    let rest = rest_of(&issue.name, title);
    let target = names_target(cx, by).then(|| target(cx, by, issue));
    match (rest.is_empty(), target) {
        (true, Some(target)) => (target, Line::default()),
        (true, None) => (cell(&issue.name), Line::default()),
        (false, target) => (
            words(text::clean(&rest).into_owned(), Style::new()),
            target.unwrap_or_default(),
        ),
    }
}

/// The target of a member, without the port that the header of its group shows.
fn target<'a>(cx: &Cx<'a>, by: FindingGroupBy, issue: &'a Issue) -> Line<'a> {
    let target = draw::target(cx, issue);
    if by == FindingGroupBy::Port {
        without_port(target, issue.port())
    } else {
        target
    }
}

/// Columns of the widest name and of the widest target of the sampled rows; 0 where no row shows
/// its target.
fn widest(cx: &Cx<'_>, by: FindingGroupBy) -> (usize, usize) {
    let (list, groups) = (&cx.model.lists.findings, &cx.model.lists.finding_groups);
    let items = cx
        .model
        .data
        .findings
        .value()
        .map(|table| table.items())
        .unwrap_or_default();
    let places = sampled_places(list.len(), list.at, cx.model.screen.size.rows.into());
    let of_place = |at: usize| match list.groups.at(at)? {
        // The name of a header has the blank columns before its count too.
        GroupPlace::Header(group) => {
            Some((text::width(&groups.name(group)?.title).saturating_sub(2), 0))
        }
        GroupPlace::Row(group, _) => {
            let issue = items.get(list.positions_at(at).next()? as usize)?;
            let title = groups.name(group).map_or("", |name| name.title.as_str());
            let (name, target) = name_and_target(cx, by, issue, title);
            Some((indented_name(name).width(), target.width()))
        }
    };
    places
        .filter_map(of_place)
        .fold((0, 0), |most, row| (most.0.max(row.0), most.1.max(row.1)))
}

fn indented_name(mut name: Line<'_>) -> Line<'_> {
    name.spans.insert(0, Span::raw("  "));
    name
}

fn without_port(target: Line<'_>, port: i64) -> Line<'_> {
    let name: String = target
        .spans
        .iter()
        .map(|span| span.content.as_ref())
        .collect();
    match name.strip_suffix(&format!(":{port}")) {
        Some(host) => Line::from(host.to_owned()),
        None => target,
    }
}

/// The part of a name that the group header does not show; empty if the header shows the whole
/// name.
fn rest_of<'a>(name: &'a str, title: &str) -> Cow<'a, str> {
    let is_separator = |c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';' | '-');
    if let Some(rest) = name.strip_prefix(title) {
        let rest = rest.trim_start_matches(is_separator);
        return Cow::Borrowed(
            rest.strip_prefix("at ")
                .or(rest.strip_prefix("in "))
                .unwrap_or(rest),
        );
    }
    // `Open port: 443/tcp https` of the port `443/tcp`.
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric());
    match name.split_once(title).filter(|_| !title.is_empty()) {
        Some((before, after))
            if !is_word(before.chars().next_back()) && !is_word(after.chars().next()) =>
        {
            let after = after.trim_start();
            let before = if after.is_empty() {
                before.trim_end_matches(is_separator)
            } else {
                before
            };
            Cow::Owned(format!("{before}{after}"))
        }
        _ => Cow::Borrowed(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_omits_title_of_its_header() {
        for (name, title, rest) in [
            (
                "Database dump readable at /db.sql",
                "Database dump readable",
                "/db.sql",
            ),
            ("Directory listing", "Directory listing", ""),
            ("Open port: 443/tcp https", "443/tcp", "Open port: https"),
            (
                "Open port: 1443/tcp https",
                "443/tcp",
                "Open port: 1443/tcp https",
            ),
            (
                "Outdated nginx: CVE-2021-23017",
                "CVE-2021-23017",
                "Outdated nginx",
            ),
            ("Anything", "", "Anything"),
            ("Directory listing: two", "Directory listing", "two"),
            ("Open port", "443/tcp", "Open port"),
        ] {
            assert_eq!(rest_of(name, title), rest);
        }
    }
}
