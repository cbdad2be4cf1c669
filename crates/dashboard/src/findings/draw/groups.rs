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
use crate::findings::draw::{self, cells, seen_by};
use crate::list::{FindingGroupBy, Group, GroupPlace, GroupSummary, sampled_places};
use crate::ui::{
    Cx, GridRow, ListColumn, ListPane, Room, Slot, TableColumn, ViewCache, cell, cut_line,
    draw_columns_dimming, format, is_constant, pane_of, sampled_items, words,
};
use ratatui::prelude::{Buffer, Line, Span, Style};
use scandeck_domain::table::columns::finding;
use scandeck_domain::triage::{Assessment, Issue, Presence, Verdict};
use scandeck_wire::text;
use std::borrow::Cow;

/// The cells of a finding under the header of its group.
const COLUMNS: &[ListColumn<Issue>] = &[
    ListColumn::<Issue>::new("", TableColumn::fixed(1), |_, _, _| Line::default()).header(
        |cx, group, _| {
            let fold = cx.theme.glyphs.folds[usize::from(group.is_open)];
            words(fold, cx.theme.key())
        },
    ),
    ListColumn::<Issue>::new(
        finding::RISK,
        TableColumn::fixed(format::RISK),
        |cx, issue, _| cells::risk(cx, issue),
    )
    .header(|cx, group, _| Line::from(format::risk_span(cx.theme, summary_of(cx, group).risk))),
    ListColumn::<Issue>::new(cells::PRESENCE, TableColumn::fixed(1), |cx, issue, _| {
        cells::presence(cx, issue)
    })
    .fit(|column, cx| column.gives_way_if(is_one_presence(cx), 4))
    .header(|cx, group, _| {
        let sign = cx.theme.presence_sign(summary_of(cx, group).presence);
        words(sign, cx.theme.text())
    }),
    ListColumn::<Issue>::new(cells::FLAGS, cells::FLAGS_LAYOUT, |cx, issue, _| {
        cells::flags(cx.theme, issue.in_cisa_catalog, issue.confirmed)
    })
    .fit(|column, cx| column.omitted(cx.facts.findings.has_no_flag()))
    .header(|cx, group, _| {
        let summary = summary_of(cx, group);
        cells::flags(cx.theme, summary.has_exploited, summary.has_proven)
    }),
    // Its header has the count of the next column too.
    ListColumn::<Issue>::new(
        finding::NAME,
        TableColumn::flex(12, 7),
        |cx, issue, room| {
            let name = indented_name(name_and_target(cx, issue, title(cx, room)).0);
            cells::with_viewers(cx, issue, name, room.width())
        },
    )
    .fit(|column, cx| {
        let title = grouped_by(cx).map_or(finding::NAME, FindingGroupBy::head);
        column.titled(title).content(widest(cx).0, 0)
    })
    .header(|cx, group, room| header_name(cx, group, room.width_with_next())),
    ListColumn::<Issue>::new(
        "COUNT",
        TableColumn::fixed(COUNT).right(),
        |cx, issue, room| {
            let (_, target) = name_and_target(cx, issue, title(cx, room));
            // The column gave way, or shows the number of targets only.
            match room.width() <= COUNT && target.width() > COUNT.into() {
                true => Line::default(),
                false => target,
            }
        },
    )
    .fit(fit_count),
    // Findings have their age in the column of targets and classes.
    ListColumn::<Issue>::new(
        "TARGETS",
        TableColumn::fixed(7).expendable(1),
        |cx, issue, _| {
            if is_by_weakness(cx) {
                return words(seen_by::words(cx, [issue]), cx.theme.text());
            }
            let age = cx.age(issue.first_seen.get());
            words(format!("{age:>7}"), cx.theme.text())
        },
    )
    .fit(fit_others)
    .header(|cx, group, _| {
        if is_by_weakness(cx) {
            return words(seen_by::words(cx, members(cx, group)), cx.theme.strong());
        }
        words(
            format!("{:>7}", summary_of(cx, group).others),
            cx.theme.text(),
        )
    }),
    ListColumn::<Issue>::new("STATUS", TableColumn::fixed(STATUS), |cx, issue, _| {
        cells::decision_cell(cx, issue, verdict_name(cx))
    })
    .fit(|column, cx| {
        column
            .at_least(status_width(cx))
            .omitted(!has_status(cx))
            .gives_way_if(repeats_count(cx), 2)
    })
    .header(status),
];

/// Columns of the number of findings.
const COUNT: u16 = 5;
/// Columns of the title of the decisions.
const STATUS: u16 = 6;
/// Columns of the title of the tools, and of the most tools that are shown.
const SEEN_BY: u16 = 7;
const MOST_SEEN_BY: u16 = 28;
/// Columns of a zoomed list, and of a screen of five panes, that have room for whole verdicts.
const WIDE_LIST: u16 = 120;
const WIDE_SCREEN: u16 = 180;
/// Most decisions of a group that are compared in each frame, and most findings among which they
/// are.
const COMPARED: usize = 1_000;
const COMPARED_AMONG: usize = 10_000;

/// The attribute of the groups.
fn grouped_by(cx: &Cx<'_>) -> Option<FindingGroupBy> {
    cx.model.lists.finding_groups.by
}

fn is_by_weakness(cx: &Cx<'_>) -> bool {
    grouped_by(cx) == Some(FindingGroupBy::Weakness)
}

/// The findings of a group. Of very large groups only a part is read.
fn members<'c>(cx: &'c Cx<'_>, group: &'c Group) -> impl Iterator<Item = &'c Issue> {
    let items = cx.model.items::<Issue>();
    let positions = cx.model.lists.findings.positions_in(group).take(COMPARED);
    positions.filter_map(|at| items.get(at as usize).map(|issue| &**issue))
}

/// The host after the name of a weakness, which is on one host.
fn host_of_weakness(cx: &Cx<'_>, group: &Group) -> Option<Span<'static>> {
    if !is_by_weakness(cx) || !names_target(cx) {
        return None;
    }
    let target = cx.finding_target(members(cx, group).next()?)?;
    let name = format!("  {}", cx.short_target_name(target));
    Some(Span::styled(name, cx.theme.dim()))
}

fn summary_of(cx: &Cx<'_>, group: &Group) -> GroupSummary {
    cx.model.lists.finding_groups.summary(group)
}

/// The name of the group of a row.
fn title<'a>(cx: &Cx<'a>, room: Room<'_>) -> &'a str {
    let groups = &cx.model.lists.finding_groups;
    let name = room.group.and_then(|group| groups.name(group));
    name.map_or("", |name| name.title.as_str())
}

/// The number of findings, which needs few columns, and the targets of findings. A target that all
/// rows share gives way.
fn fit_count(column: TableColumn, cx: &Cx<'_>) -> TableColumn {
    // Without targets the header of the group, or the scope beside the filter, names the target.
    let (_, targets) = widest(cx);
    if targets == 0 {
        return column;
    }
    let is_one_target = is_constant(sampled_items::<Issue>(cx).map(|issue| &issue.identity.asset));
    TableColumn::flex(COUNT, 1)
        .titled(column.title)
        .content(targets, cells::HOST_PORT)
        .at_most(28)
        .shrinks_if(is_one_target, COUNT)
        .right()
}

/// The number of targets, or of classes of a target. The detail has the number too. Of weaknesses
/// the tools that saw them.
fn fit_others(column: TableColumn, cx: &Cx<'_>) -> TableColumn {
    if is_by_weakness(cx) {
        let of_headers = sampled_headers(cx).map(|group| seen_by::words(cx, members(cx, group)));
        let widest = of_headers.map(|tools| text::width(&tools)).max();
        return TableColumn::flex(SEEN_BY, 1)
            .titled("SEEN BY")
            .content(widest.unwrap_or_default(), SEEN_BY)
            .at_most(MOST_SEEN_BY);
    }
    let title = match grouped_by(cx) {
        Some(FindingGroupBy::Target) => "CLASSES",
        _ => column.title,
    };
    let repeats = match has_members(cx) {
        true => cells::is_one_age(cx),
        false => is_constant(sampled_headers(cx).map(|group| summary_of(cx, group).others)),
    };
    column.titled(title).gives_way_if(repeats, 3)
}

fn is_one_presence(cx: &Cx<'_>) -> bool {
    let of_headers = sampled_headers(cx).map(|group| summary_of(cx, group).presence);
    is_constant(of_headers.chain(sampled_items::<Issue>(cx).map(|issue| issue.presence)))
}

/// Whether the status of each group is its number of findings: all are new and undecided.
fn repeats_count(cx: &Cx<'_>) -> bool {
    let mut summaries = sampled_headers(cx).map(|group| summary_of(cx, group));
    !has_decision(cx) && summaries.all(|it| it.decided == 0 && it.new == it.count)
}

fn names_target(cx: &Cx<'_>) -> bool {
    grouped_by(cx) != Some(FindingGroupBy::Target) && cx.model.navigation.scope.target.is_none()
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
        cells::short_name
    }
}

/// Columns of the widest status of the sampled rows.
fn status_width(cx: &Cx<'_>) -> u16 {
    let name = verdict_name(cx);
    let items =
        sampled_items::<Issue>(cx).map(|issue| cells::decision_cell(cx, issue, name).width());
    let headers = sampled_headers(cx).map(|group| status(cx, group, Room::default()).width());
    items.chain(headers).max().unwrap_or(0).max(STATUS.into()) as u16
}

/// Whether the status of a sampled row is more than a dash.
fn has_status(cx: &Cx<'_>) -> bool {
    let mut summaries = sampled_headers(cx).map(|group| summary_of(cx, group));
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
    sampled_items::<Issue>(cx).any(|issue| cells::has_decision(cx, issue))
}

/// Draws the findings in groups.
pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
    by: FindingGroupBy,
) -> ShownRows {
    let list = &cx.model.lists.findings;
    let total = list.in_scope;
    let counts = list.groups.iter().map(|group| summary_of(cx, group).count);
    let counts = counts.filter(|&count| count > 0);
    let (of_findings, of_groups) = counts.fold((0, 0), |(findings, groups), count| {
        (findings + count as usize, groups + 1)
    });
    let pane = ListPane {
        note: draw::retained_note(cx),
        tabs: Some(draw::saved_tabs(cx, slot.area.width)),
        place: Some(sum((of_findings, of_groups), list.rows.len(), total, by)),
        ..pane_of::<Issue>(cx)
    };
    draw_columns_dimming(cx, buf, slot, cache, pane, COLUMNS, |row| match row {
        GridRow::Header(group) => is_dismissed(cx, group),
        GridRow::Item { item, .. } => cells::is_dismissed(cx, item.id),
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
        FindingGroupBy::Class | FindingGroupBy::Target | FindingGroupBy::Weakness => {
            format::plural(groups, by.word())
        }
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

/// The name of a group, and at the end of its room the number of findings.
fn header_name<'a>(cx: &Cx<'a>, group: &'a Group, room: u16) -> Line<'a> {
    let (list, groups) = (&cx.model.lists.findings, &cx.model.lists.finding_groups);
    let items = cx.model.items::<Issue>();
    let sample = list
        .positions_in(group)
        .next()
        .and_then(|at| items.get(at as usize));
    let name = match (
        grouped_by(cx),
        sample.and_then(|issue| cx.finding_target(issue)),
    ) {
        (Some(FindingGroupBy::Target), Some(target)) => Line::from(cx.short_target_name(target)),
        _ => {
            let mut title = groups
                .name(group)
                .map_or_else(Line::default, |name| cell(&name.title));
            title.spans.extend(host_of_weakness(cx, group));
            title
        }
    };
    let count = format::thousands(summary_of(cx, group).count.into());
    let room = usize::from(room).saturating_sub(count.len() + 1);
    // The mask does not recognise a name that is cut.
    let name = cx.shown_lines(vec![name]).pop().unwrap_or_default();
    let mut name = cut_line(name, room, cx.theme.glyphs.ellipsis);
    let blanks = room.saturating_sub(name.width()) + 1;
    let count = format!("{:blanks$}{count}", "");
    name.push_span(Span::styled(count, cx.theme.text()));
    name
}

/// The decision on a group, else how many of its findings are decided, else that none is present,
/// else how many are new and reappeared.
fn status<'a>(cx: &Cx<'a>, group: &'a Group, _: Room<'_>) -> Line<'a> {
    let summary = summary_of(cx, group);
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
    let count = summary_of(cx, group).count as usize;
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
    let issues = cx.model.items::<Issue>();
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
    is_decided(summary_of(cx, group)) && all.peek().is_some() && all.all(Assessment::is_put_aside)
}

/// The decision on all findings of a group, if they have the same one.
fn common_decision<'a>(cx: &Cx<'a>, group: &'a Group) -> Line<'a> {
    let mut all = decisions(cx, group);
    match all.next() {
        Some(first) if all.all(|other| other.verdict == first.verdict) => {
            cells::decision(cx, Some(first), verdict_name(cx))
        }
        _ => words("decided", cx.theme.dim()),
    }
}

/// The name of a member without the title of its group, and its target. A name that equals the
/// title gives its place to the target.
fn name_and_target<'a>(cx: &Cx<'a>, issue: &'a Issue, title: &str) -> (Line<'a>, Line<'a>) {
    let rest = rest_of(&issue.name, title);
    let target = names_target(cx).then(|| target(cx, issue));
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
fn target<'a>(cx: &Cx<'a>, issue: &'a Issue) -> Line<'a> {
    let target = cells::target(cx, issue);
    if grouped_by(cx) == Some(FindingGroupBy::Port) {
        without_port(target, issue.port())
    } else {
        target
    }
}

/// Columns of the widest name and of the widest target of the sampled rows; 0 where no row shows
/// its target.
fn widest(cx: &Cx<'_>) -> (usize, usize) {
    let (list, groups) = (&cx.model.lists.findings, &cx.model.lists.finding_groups);
    let items = cx.model.items::<Issue>();
    let places = sampled_places(list.len(), list.at, cx.model.screen.size.rows.into());
    let of_place = |at: usize| match list.groups.at(at)? {
        // The name of a header has the blank columns before its count too.
        GroupPlace::Header(group) => {
            let host = host_of_weakness(cx, group).map_or(0, |host| host.width());
            let name = text::width(&groups.name(group)?.title) + host;
            Some((name.saturating_sub(2), 0))
        }
        GroupPlace::Row(group, _) => {
            let issue = items.get(list.positions_at(at).next()? as usize)?;
            let title = groups.name(group).map_or("", |name| name.title.as_str());
            let (name, target) = name_and_target(cx, issue, title);
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
            // `Log4Shell (CVE-2021-44228)` of `CVE-2021-44228`.
            let (before, after) = match (before.strip_suffix('('), after.strip_prefix(')')) {
                (Some(before), Some(after)) => (before, after),
                _ => (before, after),
            };
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
            ("Log4Shell (CVE-2021-44228)", "CVE-2021-44228", "Log4Shell"),
            (
                "Log4Shell (CVE-2021-44228) in a header",
                "CVE-2021-44228",
                "Log4Shell in a header",
            ),
            ("Anything", "", "Anything"),
            ("Directory listing: two", "Directory listing", "two"),
            ("Open port", "443/tcp", "Open port"),
        ] {
            assert_eq!(rest_of(name, title), rest);
        }
    }
}
