//! Findings: the table. The detail of one finding is in `detail`, group headers are in `groups` and
//! `group_detail`.

pub mod group_detail;
pub mod groups;

pub mod detail;

use crate::base::{Pane, ShownRows};
use crate::data::Saved;
use crate::input::{Action, AppAction, Context, ItemAction, ListAction, ViewAction};
use crate::ui::{
    Cx, DetailPane, ListPane, Slot, TableColumn, Theme, ViewCache, cell, columns_of, dimmed,
    draw_table, format, invite, is_constant, key, pane_of, sampled_items, tab_line, widest, words,
};
use ratatui::prelude::{Buffer, Line, Span};
use scandeck_domain::triage::{Assessment, Issue, IssueId, ListedFinding, Verdict, VerdictSource};
use scandeck_wire::text;
use std::borrow::Cow;

const COLUMNS: [TableColumn; 11] = [
    TableColumn::fixed("RISK", format::RISK),
    TableColumn::fixed("Δ", 1).expendable(3),
    TableColumn::flex("FINDING", 12, 3),
    // K: in the KEV catalog, P: proven by the scanner.
    TableColumn::fixed("KP", 2).from(79),
    TableColumn::flex("TARGET", 11, 1).at_most(WIDEST_TARGET),
    TableColumn::fixed("PORT", 5).right().from(79),
    TableColumn::fixed("AGE", 4)
        .right()
        .expendable(2)
        .below(FULL_TITLES),
    TableColumn::fixed("FIRST SEEN", 10)
        .right()
        .expendable(2)
        .from(FULL_TITLES),
    TableColumn::fixed("LAST SEEN", 9)
        .right()
        .expendable(2)
        .from(LAST_SEEN),
    TableColumn::fixed("DECISION", DECISION)
        .expendable(1)
        .below(LAST_SEEN),
    TableColumn::fixed("DECISION", DECISION)
        .expendable(1)
        .from(LAST_SEEN),
];

/// Tables of fewer columns name the first sighting `AGE`, as queries do.
const FULL_TITLES: u16 = 100;
/// Tables with at least this number of columns show the last sighting and full decisions.
const LAST_SEEN: u16 = 130;
/// Greatest useful width of a target.
const WIDEST_TARGET: u16 = 28;
/// Columns of an IPv4 address and a port: `127.0.0.1:41555`.
pub(crate) const HOST_PORT: u16 = 15;
/// Columns of the title `DECISION`; longer decisions widen the column.
const DECISION: u16 = 8;

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    if let (Some(by), Some(_)) = (
        cx.model.lists.finding_groups.by,
        cx.model.data.findings.value(),
    ) {
        return groups::draw_list(cx, buf, slot, cache, by);
    }
    let columns = columns_of::<Issue>(cx, cache, || columns(cx));
    let pane = ListPane {
        columns: &columns,
        note: retained_note(cx),
        invitation: invitation(cx),
        tabs: Some(saved_tabs(cx, slot.area.width)),
        place: place_with_absent(cx),
        ..pane_of::<Issue>(cx)
    };
    draw_table::<Issue>(cx, buf, slot, cache, pane, |finding, _| {
        let assessment = cx.model.assessment(finding.id);
        let cells = vec![
            risk(cx.theme, finding, assessment),
            words(cx.theme.presence_sign(finding.presence), cx.theme.text()),
            name(cx, finding),
            flags(cx.theme, finding),
            target(cx, finding),
            port(cx, finding),
            // As the query field `age`: since the finding was seen first.
            words(cx.age(finding.first_seen.get()), cx.theme.text()),
            words(cx.age(finding.first_seen.get()), cx.theme.text()),
            words(cx.age(finding.last_seen.get()), cx.theme.text()),
            decision_cell(cx, finding, assessment, short_name),
            decision_cell(cx, finding, assessment, Verdict::phrase),
        ];
        match assessment.is_some_and(is_dismissed) {
            true => cells
                .into_iter()
                .map(|cell| dimmed(cx.theme, cell))
                .collect(),
            false => cells,
        }
    })
}

/// `2 of 18, 7 absent` where nothing is hidden, because the tabs of the panes count present
/// findings.
fn place_with_absent(cx: &Cx<'_>) -> Option<String> {
    let (list, scope) = (&cx.model.lists.findings, &cx.model.navigation.scope);
    let table = cx
        .model
        .data
        .findings
        .value()
        .filter(|_| list.filter.is_empty() && scope.scan.is_none())?;
    let present = match scope.target {
        Some(target) => table.of_target(target).map_or([0; 5], |of| of.risks),
        None => table.risks(),
    };
    let absent = list
        .len()
        .saturating_sub(present.iter().sum::<u32>() as usize);
    let number = |count: usize| format::thousands(count as u64);
    (absent > 0).then(|| {
        format!(
            "{} of {}, {} absent",
            number(list.at + 1),
            number(list.len()),
            number(absent)
        )
    })
}

/// `2 decided · r hides them`: rows that the filter hides, but that remain until it is applied
/// again.
pub(crate) fn retained_note(cx: &Cx<'_>) -> Line<'static> {
    let list = &cx.model.lists.findings;
    if list.retained_only.is_empty() {
        return Line::default();
    }
    let is_decided = |id: &IssueId| {
        cx.model
            .assessment(*id)
            .is_some_and(|known| !known.is_undecided())
    };
    let (reason, them) = match (
        list.retained_only.iter().all(is_decided),
        list.retained_only.len(),
    ) {
        (true, 1) => ("decided", "it"),
        (true, _) => ("decided", "them"),
        (false, 1) => ("no longer matches", "it"),
        (false, _) => ("no longer match", "them"),
    };
    let refresh = key(cx, Context::Everywhere, Action::App(AppAction::Refresh));
    let note = format!(
        "{} {reason} {} {refresh} hides {them}",
        list.retained_only.len(),
        cx.theme.glyphs.separator
    );
    words(note, cx.theme.warn())
}

/// The columns for the shown findings.
fn columns(cx: &Cx<'_>) -> Vec<TableColumn> {
    let assessed =
        || sampled_items::<Issue>(cx).map(|(at, issue)| (issue, cx.model.assessment_at(at)));
    let has_decision = assessed().any(|(issue, assessment)| has_decision(cx, issue, assessment));
    let decisions = |name| {
        assessed()
            .map(move |(issue, known)| decision_cell(cx, issue, known, name).width())
            .max()
    };
    let decision_width = |name| decisions(name).unwrap_or(0).max(DECISION.into()) as u16;
    let is_one_port = is_constant(sampled_items::<Issue>(cx).map(|(_, issue)| issue.port()));
    let is_one_target = is_constant(
        sampled_items::<Issue>(cx).map(|(_, issue)| (issue.target_id(), issue.target_name())),
    );
    let is_one_age = is_one_age(cx);
    let is_one_presence = is_constant(sampled_items::<Issue>(cx).map(|(_, issue)| issue.presence));
    let has_no_port = sampled_items::<Issue>(cx).all(|(_, issue)| port(cx, issue).width() == 0);
    let names = widest(sampled_items::<Issue>(cx).map(|(_, issue)| issue.name.as_str()));
    let targets = widest_target(cx);
    let has_no_flag = cx.facts.findings.has_no_flag();
    let is_port_omitted = cx.facts.findings.is_one_port() || has_no_port;
    // From this width on full decisions fit without cutting a name; constant columns give way to
    // both. Each of the others has a blank before it.
    let shown = |is_shown: bool, columns: u16| if is_shown { columns + 1 } else { 0 };
    let others = format::RISK
        + shown(!is_one_presence, 1)
        + shown(!has_no_flag, 2)
        + shown(!is_port_omitted && !is_one_port, 5)
        + shown(!is_one_age, 10)
        + shown(true, decision_width(Verdict::phrase));
    let full = u16::try_from(names + targets.min(WIDEST_TARGET.into()) + 2).unwrap_or(u16::MAX);
    let full = full.saturating_add(others).min(LAST_SEEN);
    COLUMNS
        .map(|column| match column.title {
            "FINDING" => column.content(names, 0),
            "Δ" => column.gives_way_if(is_one_presence, 3),
            // The scope beside the filter names the target.
            "TARGET" => {
                let column = column
                    .content(targets, HOST_PORT)
                    .gives_way_if(is_one_target, 1);
                column.omitted(cx.model.navigation.scope.target.is_some())
            }
            "AGE" | "FIRST SEEN" => column.gives_way_if(is_one_age, 2),
            "KP" => column.omitted(has_no_flag),
            "PORT" => column.omitted(is_port_omitted).constant(is_one_port),
            "DECISION" => {
                let is_short = column.from < LAST_SEEN;
                let name = if is_short {
                    short_name
                } else {
                    Verdict::phrase
                };
                let column = if is_short {
                    column.below(full)
                } else {
                    column.from(full)
                };
                column
                    .at_least(decision_width(name))
                    .constant(!has_decision)
            }
            _ => column,
        })
        .to_vec()
}

/// Whether all shown findings were first seen within a minute, or within a tenth of the oldest age.
fn is_one_age(cx: &Cx<'_>) -> bool {
    let seen = || {
        sampled_items::<Issue>(cx)
            .filter_map(|(_, issue)| Some(issue.first_seen.get()?.as_second()))
    };
    let now = cx.model.service_now().as_second();
    let is_one = |(last, first): (i64, i64)| last - first < ((now - first) / 10).max(60);
    seen().count() > 1 && seen().max().zip(seen().min()).is_some_and(is_one)
}

/// Columns of the widest target of the shown findings.
pub(crate) fn widest_target(cx: &Cx<'_>) -> usize {
    let named = |issue: &Issue| cx.finding_target(issue).is_none();
    let names = sampled_items::<Issue>(cx).filter(|(_, issue)| named(issue));
    let names = widest(names.filter_map(|(_, issue)| issue.target_name().as_deref()));
    cx.widest_target(sampled_items::<Issue>(cx).filter_map(|(_, issue)| cx.finding_target(issue)))
        .max(names)
}

/// Whether [`decision_cell`] has more than a dash.
pub(crate) fn has_decision(cx: &Cx<'_>, issue: &Issue, assessment: Option<&Assessment>) -> bool {
    assessment
        .is_some_and(|known| known.reopened.is_some() || known.source != VerdictSource::Nobody)
        || issue.earlier_decision().is_some() && cx.model.earlier_decision(issue.id).is_some()
}

/// Whether a decision puts a finding aside. A confirmed one still needs work, so it stays bright.
pub(crate) fn is_dismissed(assessment: &Assessment) -> bool {
    !assessment.is_undecided() && assessment.verdict != Verdict::Confirmed
}

/// The text of the empty list: the next two keys, until there is a scan.
fn invitation(cx: &Cx<'_>) -> String {
    if cx.model.session.bundled {
        return "no findings in this bundle".to_owned();
    }
    let data = &cx.model.data;
    let targets = key(cx, Context::Everywhere, Action::View(ViewAction::Targets));
    let in_targets = |action| key(cx, Context::Targets, Action::Item(action));
    if data
        .targets
        .value()
        .is_some_and(|targets| targets.is_empty())
    {
        let new = in_targets(ItemAction::New);
        return invite(
            cx,
            "no targets yet",
            &format!("{targets} opens the targets, then {new} adds one"),
        );
    }
    if data.scans.value().is_some_and(|scans| scans.is_empty()) {
        let scan = in_targets(ItemAction::Scan);
        return invite(
            cx,
            "no scans yet",
            &format!("{targets} opens the targets, then {scan} scans one"),
        );
    }
    let scope = &cx.model.navigation.scope;
    let Some(of) = scope
        .scan
        .map(|_| "scan")
        .or(scope.target.map(|_| "target"))
    else {
        return "no findings yet · they appear here while scans run".to_owned();
    };
    let back = key(cx, Context::Lists, Action::List(ListAction::TakeBack));
    format!("this {of} has no findings · {back} shows those of others")
}

/// The detail of the selected finding, or of the selected group.
pub(crate) fn detail_of_row<'a>(cx: &Cx<'a>, cache: &mut ViewCache) -> Option<DetailPane<'a>> {
    match cx.model.lists.findings.header {
        Some(id) => group_detail::detail(cx, id, cache),
        None => detail::detail(cx, Pane::Findings, cx.model.lists.findings.selected?, cache),
    }
}

/// The risk as scanned; with a severity override both: `◆>MED`.
pub(crate) fn risk(theme: Theme, issue: &Issue, assessment: Option<&Assessment>) -> Line<'static> {
    match assessment
        .and_then(|assessment| assessment.severity)
        .filter(|&severity| severity != issue.risk_level)
    {
        None => Line::from(format::risk_span(theme, issue.risk_level)),
        Some(severity) => Line::from(vec![
            Span::styled(format::risk_glyph(theme, issue.risk_level), theme.dim()),
            Span::raw(">"),
            Span::styled(format::risk_word(severity), theme.risk(severity)),
        ]),
    }
}

/// The saved queries with their counts, and the name of the active one.
pub(crate) fn saved_tabs<'a>(cx: &Cx<'a>, width: u16) -> (Line<'a>, &'a str) {
    let tabs = &cx.model.settings.tabs;
    let chosen = tabs.chosen(&cx.model.lists.findings.filter);
    let title = |(at, saved): (usize, &Saved)| {
        // `12+` while the long texts of its query are being searched.
        let more = if tabs.partial.get(at) == Some(&true) {
            "+"
        } else {
            ""
        };
        let count = tabs
            .counts
            .get(at)
            .map(|count| format!(" {}{more}", format::count(*count as i64)));
        format!("{}{}", text::clean(&saved.name), count.unwrap_or_default())
    };
    let titles: Vec<String> = tabs.saved.iter().enumerate().map(title).collect();
    let name = chosen
        .and_then(|at| tabs.saved.get(at))
        .map(|saved| saved.name.as_str())
        .unwrap_or_default();
    (
        tab_line(cx.theme, &titles, chosen, width.saturating_sub(4)),
        name,
    )
}

/// Bold until its detail was seen.
fn name<'a>(cx: &Cx<'_>, issue: &'a Issue) -> Line<'a> {
    let name = cell(&issue.name);
    if cx.model.is_unread(issue.key()) {
        name.style(cx.theme.strong())
    } else {
        name
    }
}

fn flags(theme: Theme, finding: &ListedFinding) -> Line<'static> {
    let exploited = if finding.in_cisa_catalog { "K" } else { " " };
    let proven = if finding.confirmed { "P" } else { " " };
    Line::from(vec![
        Span::styled(exploited, theme.bad()),
        Span::styled(proven, theme.strong()),
    ])
}

/// The name of a verdict in a narrow column.
pub(crate) fn short_name(verdict: Verdict) -> String {
    verdict.word().to_owned()
}

/// The decision on a finding; an earlier decision that can be reused has a question mark, and one
/// that is not on disk yet an ellipsis.
pub(crate) fn decision_cell<'a>(
    cx: &Cx<'a>,
    issue: &Issue,
    assessment: Option<&'a Assessment>,
    name: fn(Verdict) -> String,
) -> Line<'a> {
    match cx
        .model
        .earlier_decision(issue.id)
        .and_then(|before| before.shown())
    {
        Some((_, offered)) => words(format!("{}?", name(offered.verdict)), cx.theme.warn()),
        None if cx.model.findings.triage.is_saving(issue.key()) => {
            saving(cx, decision(cx, assessment, name))
        }
        None => decision(cx, assessment, name),
    }
}

fn saving<'a>(cx: &Cx<'a>, decision: Line<'a>) -> Line<'a> {
    let words: String = decision
        .spans
        .iter()
        .map(|span| span.content.as_ref())
        .collect();
    self::words(
        format!("{words}{}", cx.theme.glyphs.ellipsis),
        cx.theme.dim(),
    )
}

/// The decision in a word, or the reason why it ended. Decisions of the service are marked.
pub(crate) fn decision<'a>(
    cx: &Cx<'a>,
    assessment: Option<&'a Assessment>,
    name: fn(Verdict) -> String,
) -> Line<'a> {
    let theme = cx.theme;
    let Some(assessment) = assessment else {
        return words(theme.glyphs.dash, theme.dim());
    };
    match (assessment.reopened, assessment.source) {
        (Some(cause), _) => words(cause.as_str(), theme.warn()),
        (None, VerdictSource::Nobody) => words(theme.glyphs.dash, theme.dim()),
        (None, VerdictSource::Service) => words(
            format!("{}{}svc", name(assessment.verdict), theme.glyphs.separator),
            theme.text(),
        ),
        (None, _) if assessment.recheck => words("re-check", theme.warn()),
        (None, _) if assessment.verdict == Verdict::Confirmed => {
            words(name(assessment.verdict), theme.strong())
        }
        (None, _) => words(name(assessment.verdict), theme.text()),
    }
}

/// The name of the target as text.
fn plain_target<'a>(cx: &Cx<'a>, finding: &'a ListedFinding) -> Cow<'a, str> {
    match cx.finding_target(finding) {
        Some(id) => cx.short_target_name(id),
        None => finding.target_name().as_deref().unwrap_or_default().into(),
    }
}

pub(crate) fn target<'a>(cx: &Cx<'a>, finding: &'a ListedFinding) -> Line<'a> {
    match (cx.finding_target(finding), finding.target_name()) {
        (Some(id), _) => Line::from(cx.short_target_name(id)),
        (None, Some(name)) => cell(name),
        (None, None) => words(cx.theme.glyphs.dash, cx.theme.dim()),
    }
}

/// The port, unless the target names it.
fn port(cx: &Cx<'_>, finding: &ListedFinding) -> Line<'static> {
    let is_named = || plain_target(cx, finding).ends_with(&format!(":{}", finding.port()));
    let is_shown = finding.port() > 0 && !is_named();
    Line::from(if is_shown {
        finding.port().min(99_999).to_string()
    } else {
        String::new()
    })
}

/// For layouts that have one line for the findings.
pub(crate) fn summary<'a>(cx: &Cx<'a>) -> Line<'a> {
    Line::from(format::risk_counts(
        cx.theme,
        cx.facts.risks.map(Some),
        "  ",
    ))
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn port_is_shown_only_where_the_target_does_not_name_it() {
        let mut app = TestDashboard::blank(100, 30);
        app.keys("3 z");
        let shown = |app: &mut TestDashboard, ports: [i64; 3]| {
            app.feed(Snapshot::Targets(table([
                target(1, "127.0.0.1:8300"),
                target(2, "shop.acme.test"),
            ])));
            let found = |at: usize, target: i64| Finding {
                port: ports[at],
                target_id: Some(TargetId(target)),
                ..finding(at as i64 + 1, target, "Banner", Risk::Info)
            };
            app.feed(Snapshot::Findings(table([
                found(0, 1),
                found(1, 1),
                found(2, 2),
            ])));
            app.frame()
                .into_iter()
                .filter(|line| line.contains("TARGET") || line.contains("Banner"))
                .collect::<Vec<_>>()
        };
        let lines = shown(&mut app, [8300, 9100, 443]);
        assert!(lines[0].contains("PORT"), "{lines:#?}");
        assert_eq!(
            lines.join("\n").matches("8300").count(),
            2,
            "once in each target: {lines:#?}"
        );
        assert!(
            lines.join("\n").contains(" 9100") && lines.join("\n").contains(" 443"),
            "{lines:#?}"
        );
        let lines = shown(&mut app, [8300, 8300, 0]);
        assert!(!lines[0].contains("PORT"), "{lines:#?}");
    }
}
