//! The columns of the findings, and the cells that the grouped list, the board and the review share.

use crate::ui::{
    Cx, ListColumn, TableColumn, Theme, UNICODE, cell, format, is_constant, sampled_items, widest,
    words,
};
use ratatui::text::{Line, Span};
use scandeck_domain::table::columns::finding;
use scandeck_domain::triage::{
    Assessment, Issue, IssueId, ListedFinding, Verdict, VerdictSource, tool_name,
};
use scandeck_wire::contract::Shared;
use scandeck_wire::text;
use std::borrow::Cow;

pub(crate) const COLUMNS: &[ListColumn<Issue>] = &[
    ListColumn::new(
        finding::RISK,
        TableColumn::fixed(format::RISK),
        |cx, issue, _| risk(cx, issue),
    ),
    ListColumn::<Issue>::new(
        PRESENCE,
        TableColumn::fixed(1).expendable(3),
        |cx, issue, _| presence(cx, issue),
    )
    .fit(|column, cx| column.gives_way_if(is_one_presence(cx), 3)),
    ListColumn::<Issue>::new(
        finding::NAME,
        TableColumn::flex(12, 3),
        |cx, issue, room| with_viewers(cx, issue, name(cx, issue), room.width()),
    )
    .fit(|column, cx| column.content(widest_name(cx), 0)),
    // The columns that appear with a decision are beside the names, which give their room: those to
    // the right keep their places.
    ListColumn::<Issue>::new(
        finding::ASSIGNEE,
        TableColumn::fixed(ASSIGNEE).expendable(5),
        |cx, issue, _| assignee(cx, issue.id),
    )
    .fit(|column, cx| fit_assignee(column, cx, shown(cx).map(|issue| issue.id))),
    ListColumn::<Issue>::new(
        finding::DUE,
        TableColumn::fixed(DUE).expendable(6).gives_way(),
        |cx, issue, _| due(cx, issue.id),
    )
    .fit(|column, cx| fit_due(column, cx, shown(cx).map(|issue| issue.id))),
    ListColumn::<Issue>::new(
        finding::DECISION,
        TableColumn::fixed(DECISION).expendable(2),
        |cx, issue, _| decision_cell(cx, issue, short_name),
    )
    .fit(|column, cx| fit_decision(column.below(full_decisions_from(cx)), cx, short_name)),
    ListColumn::<Issue>::new(
        finding::DECISION,
        TableColumn::fixed(DECISION).expendable(2),
        |cx, issue, _| decision_cell(cx, issue, Verdict::phrase),
    )
    .fit(|column, cx| fit_decision(column.from(full_decisions_from(cx)), cx, Verdict::phrase)),
    ListColumn::<Issue>::new(FLAGS, FLAGS_LAYOUT, |cx, issue, _| {
        flags(cx.theme, issue.in_cisa_catalog, issue.confirmed)
    })
    .fit(|column, cx| column.omitted(cx.facts.findings.has_no_flag())),
    ListColumn::<Issue>::new(
        finding::TARGET,
        TableColumn::flex(11, 1).at_most(WIDEST_TARGET),
        |cx, issue, _| target(cx, issue),
    )
    .fit(|column, cx| {
        // The scope beside the filter names the target.
        column
            .content(widest_target(cx), HOST_PORT)
            .gives_way_if(is_one_target(cx), 1)
            .omitted(cx.model.navigation.scope.target.is_some())
    }),
    ListColumn::<Issue>::new(
        finding::PORT,
        TableColumn::fixed(5).right().from(79),
        |cx, issue, _| port(cx, issue),
    )
    .fit(|column, cx| column.omitted(has_no_port(cx)).constant(is_one_port(cx))),
    // As the query field `age`: since the finding was seen first.
    ListColumn::<Issue>::new(
        "AGE",
        TableColumn::fixed(4)
            .right()
            .expendable(2)
            .below(FULL_TITLES),
        |cx, issue, _| first_seen(cx, issue),
    )
    .fit(|column, cx| column.gives_way_if(is_one_age(cx), 2)),
    ListColumn::<Issue>::new(
        "FIRST SEEN",
        TableColumn::fixed(FIRST_SEEN)
            .right()
            .expendable(2)
            .from(FULL_TITLES),
        |cx, issue, _| first_seen(cx, issue),
    )
    .fit(|column, cx| column.gives_way_if(is_one_age(cx), 2)),
    ListColumn::new(
        finding::LAST_SEEN,
        TableColumn::fixed(9).right().expendable(2).from(LAST_SEEN),
        |cx, issue, _| words(cx.age(issue.last_seen.get()), cx.theme.text()),
    ),
    ListColumn::<Issue>::new(
        finding::TOOL,
        TableColumn::fixed(TOOL).expendable(4).from(LAST_SEEN),
        |cx, issue, _| words(tool(cx, issue).unwrap_or_default(), cx.theme.text()),
    )
    .fit(|column, cx| column.omitted(is_constant(shown(cx).map(|issue| tool(cx, issue))))),
];

/// The title of the presence compared with the previous scan.
pub(crate) const PRESENCE: &str = UNICODE.change;
/// The title of the flags: in the KEV catalog, proven by the scanner.
pub(crate) const FLAGS: &str = "KP";
/// The column of the flags. Narrower tables need its room for names.
pub(crate) const FLAGS_LAYOUT: TableColumn = TableColumn::fixed(2).from(48);
/// Tables of fewer columns name the first sighting `AGE`, as queries do.
const FULL_TITLES: u16 = 100;
/// Tables with at least this number of columns show the last sighting and full decisions.
const LAST_SEEN: u16 = 130;
/// Columns of the longest short name of a tool.
const TOOL: u16 = 11;
/// Columns of the title of the first sighting.
const FIRST_SEEN: u16 = 10;
/// Greatest useful width of a target.
const WIDEST_TARGET: u16 = 28;
/// Columns of an IPv4 address and a port: `127.0.0.1:41555`.
pub(crate) const HOST_PORT: u16 = 15;
/// Columns of the title of decisions.
const DECISION: u16 = finding::DECISION.len() as u16;
/// The question mark or the ellipsis after a decision.
const MARK: usize = 1;

/// Columns of the name of a member beside *in review*.
const CLAIM: usize = 10;
/// Between a name and the members who look at it.
const VIEWER_GAP: &str = "  ";
/// Members are named where at least this number of columns is free.
const LEAST_VIEWER: usize = 3;
/// Columns of the title of assignees; longer names widen the column.
const ASSIGNEE: u16 = finding::ASSIGNEE.len() as u16;
/// Columns of the longest shown name of a member.
const WIDEST_MEMBER: u16 = 14;
/// Columns of a day: `2026-12-10`.
const DUE: u16 = 10;

/// The column of assignees, where one of the findings has an assignee.
pub(crate) fn fit_assignee(
    column: TableColumn,
    cx: &Cx<'_>,
    issues: impl Iterator<Item = IssueId>,
) -> TableColumn {
    let names = issues.map(|id| assignee(cx, id).width()).max().unwrap_or(0) as u16;
    column
        .at_least(names.clamp(ASSIGNEE, WIDEST_MEMBER))
        .omitted(names == 0)
}

/// The column of due dates, where one of the findings has a due date.
pub(crate) fn fit_due(
    column: TableColumn,
    cx: &Cx<'_>,
    mut issues: impl Iterator<Item = IssueId>,
) -> TableColumn {
    column.omitted(!issues.any(|id| due(cx, id).width() > 0))
}

/// Who works on a finding; the own name is bright.
pub(crate) fn assignee<'a>(cx: &Cx<'a>, id: IssueId) -> Line<'a> {
    let assessment = cx.model.assessment(id);
    match assessment.and_then(|known| known.assignee.as_ref()) {
        Some(member) if cx.model.is_own_name(member) => cell(member).style(cx.theme.strong()),
        Some(member) => cell(member),
        None => Line::default(),
    }
}

/// The due date of a finding, with a warning when it has passed.
pub(crate) fn due(cx: &Cx<'_>, id: IssueId) -> Line<'static> {
    let assessment = cx.model.assessment(id);
    match assessment.and_then(|known| Some((known.due?, known.is_overdue))) {
        Some((day, true)) => words(day.to_string(), cx.theme.warn()),
        Some((day, false)) => words(day.to_string(), cx.theme.text()),
        None => Line::default(),
    }
}

fn shown<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a Issue> + use<'a> {
    sampled_items::<Issue>(cx)
}

fn fit_decision(column: TableColumn, cx: &Cx<'_>, name: fn(Verdict) -> String) -> TableColumn {
    column
        .at_least(decision_width(cx, name))
        .constant(!shown(cx).any(|issue| has_decision(cx, issue)))
}

/// Columns of the widest decision. Each verdict with its mark has room, so that the next decision
/// does not widen the column.
fn decision_width(cx: &Cx<'_>, name: fn(Verdict) -> String) -> u16 {
    let verdicts = Verdict::ALL.map(|verdict| text::width(&name(verdict)) + MARK);
    let decisions = shown(cx).map(|issue| decision_cell(cx, issue, name).width());
    decisions.chain(verdicts).max().unwrap_or_default() as u16
}

/// The width of the table from which on full decisions fit without cutting a name; constant columns
/// give way to both. Each of the others has a blank before it.
fn full_decisions_from(cx: &Cx<'_>) -> u16 {
    let room = |is_shown: bool, columns: u16| if is_shown { columns + 1 } else { 0 };
    let others = format::RISK
        + room(!is_one_presence(cx), 1)
        + room(!cx.facts.findings.has_no_flag(), 2)
        + room(!has_no_port(cx) && !is_one_port(cx), 5)
        + room(!is_one_age(cx), FIRST_SEEN)
        + room(
            shown(cx).any(|issue| assignee(cx, issue.id).width() > 0),
            ASSIGNEE,
        )
        + room(shown(cx).any(|issue| due(cx, issue.id).width() > 0), DUE)
        + room(true, decision_width(cx, Verdict::phrase));
    let targets = widest_target(cx).min(WIDEST_TARGET.into());
    let names = u16::try_from(widest_name(cx) + targets + 2).unwrap_or(u16::MAX);
    names.saturating_add(others).min(LAST_SEEN)
}

/// The tool of the last scan that saw a finding.
fn tool(cx: &Cx<'_>, issue: &Issue) -> Option<String> {
    let scan = cx.scan(issue.task_id()?)?;
    Some(text::clean(&tool_name(scan)).into_owned())
}

fn is_one_presence(cx: &Cx<'_>) -> bool {
    is_constant(shown(cx).map(|issue| issue.presence))
}

fn is_one_target(cx: &Cx<'_>) -> bool {
    is_constant(shown(cx).map(|issue| (issue.target_id(), issue.target_name())))
}

fn is_one_port(cx: &Cx<'_>) -> bool {
    is_constant(shown(cx).map(|issue| issue.port()))
}

/// Whether no row has a port to show, or all findings have the same one.
fn has_no_port(cx: &Cx<'_>) -> bool {
    cx.facts.findings.is_one_port() || shown(cx).all(|issue| port(cx, issue).width() == 0)
}

fn widest_name(cx: &Cx<'_>) -> usize {
    widest(shown(cx).map(|issue| issue.name.as_str()))
}

/// Whether all shown findings were first seen within a minute, or within a tenth of the oldest age.
pub(crate) fn is_one_age(cx: &Cx<'_>) -> bool {
    let seen = || shown(cx).filter_map(|issue| Some(issue.first_seen.get()?.as_second()));
    let now = cx.model.service_now().as_second();
    let is_one = |(last, first): (i64, i64)| last - first < ((now - first) / 10).max(60);
    seen().count() > 1 && seen().max().zip(seen().min()).is_some_and(is_one)
}

/// Columns of the widest target of the shown findings.
pub(crate) fn widest_target(cx: &Cx<'_>) -> usize {
    let named = |issue: &Issue| cx.finding_target(issue).is_none();
    let names = shown(cx).filter(|issue| named(issue));
    let names = widest(names.filter_map(|issue| issue.target_name().as_deref()));
    let targets = shown(cx).filter_map(|issue| cx.finding_target(issue));
    cx.widest_target(targets).max(names)
}

/// Whether [`decision_cell`] has more than a dash.
pub(crate) fn has_decision(cx: &Cx<'_>, issue: &Issue) -> bool {
    let is_decided =
        |known: &Assessment| known.reopened.is_some() || known.source != VerdictSource::Nobody;
    cx.model.assessment(issue.id).is_some_and(is_decided) || has_offer(cx, issue)
}

/// Whether a decision on a finding can be reused.
fn has_offer(cx: &Cx<'_>, issue: &Issue) -> bool {
    let may_have = issue.earlier_decision().is_some() || issue.proposed.is_some();
    may_have && cx.model.offered_verdict(issue.id).is_some()
}

/// Whether a finding is put aside. A confirmed one still needs work, so it stays bright.
pub(crate) fn is_dismissed(cx: &Cx<'_>, id: IssueId) -> bool {
    let assessment = cx.model.assessment(id);
    assessment.is_some_and(Assessment::is_put_aside)
}

/// The risk as scanned; with a severity override both: `◆>MED`.
pub(crate) fn risk(cx: &Cx<'_>, issue: &Issue) -> Line<'static> {
    let theme = cx.theme;
    let overridden = cx
        .model
        .assessment(issue.id)
        .and_then(|known| known.severity);
    match overridden.filter(|&severity| severity != issue.risk_level) {
        None => Line::from(format::risk_span(theme, issue.risk_level)),
        Some(severity) => Line::from(vec![
            Span::styled(format::risk_glyph(theme, issue.risk_level), theme.dim()),
            Span::raw(">"),
            Span::styled(format::risk_word(severity), theme.risk(severity)),
        ]),
    }
}

pub(crate) fn presence(cx: &Cx<'_>, issue: &Issue) -> Line<'static> {
    words(cx.theme.presence_sign(issue.presence), cx.theme.text())
}

fn first_seen(cx: &Cx<'_>, issue: &Issue) -> Line<'static> {
    words(cx.age(issue.first_seen.get()), cx.theme.text())
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

/// A name, and in the columns that it leaves free the members who look at the finding.
pub(crate) fn with_viewers<'a>(
    cx: &Cx<'_>,
    issue: &Issue,
    mut name: Line<'a>,
    room: u16,
) -> Line<'a> {
    let viewers = cx.model.viewers_of(issue.key());
    let free = usize::from(room).saturating_sub(name.width() + VIEWER_GAP.len());
    if viewers.is_empty() || free < LEAST_VIEWER {
        return name;
    }
    let names: Vec<&str> = viewers.iter().map(|viewer| viewer.who.as_str()).collect();
    let names = text::clean(&names.join(", ")).into_owned();
    let names = text::start_with(&names, free, cx.theme.glyphs.ellipsis).into_owned();
    name.push_span(Span::raw(VIEWER_GAP));
    name.push_span(Span::styled(names, cx.theme.dim()));
    name
}

pub(crate) fn flags(theme: Theme, is_exploited: bool, is_proven: bool) -> Line<'static> {
    let exploited = if is_exploited { "K" } else { " " };
    let proven = if is_proven { "P" } else { " " };
    Line::from(vec![
        Span::styled(exploited, theme.bad()),
        Span::styled(proven, theme.strong()),
    ])
}

/// The name of a verdict in a narrow column.
pub(crate) fn short_name(verdict: Verdict) -> String {
    verdict.word().to_owned()
}

/// The decision on a finding; one that is offered for reuse has a question mark, and one that is
/// not on disk yet an ellipsis.
pub(crate) fn decision_cell<'a>(
    cx: &Cx<'a>,
    issue: &Issue,
    name: fn(Verdict) -> String,
) -> Line<'a> {
    let assessment = cx.model.assessment(issue.id);
    match cx.model.offered_verdict(issue.id) {
        Some(offered) => words(format!("{}?", name(offered)), cx.theme.warn()),
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
        (None, _) => {
            let mut decision = words(name(assessment.verdict), theme.text());
            if let Some(member) = claimed_by(cx, assessment) {
                let member = text::start_with(&text::clean(member), CLAIM, theme.glyphs.ellipsis)
                    .into_owned();
                let separator = theme.glyphs.separator;
                decision.push_span(Span::styled(format!(" {separator} {member}"), theme.text()));
            }
            decision
        }
    }
}

/// The other member of the team who has a finding in review.
pub(crate) fn claimed_by<'a>(cx: &Cx<'_>, assessment: &'a Assessment) -> Option<&'a Shared> {
    let is_claim = assessment.verdict == Verdict::InReview
        && assessment.reopened.is_none()
        && assessment.source == VerdictSource::Person;
    let by = assessment.who.as_ref().filter(|_| is_claim)?;
    (cx.model.has_team() && !cx.model.is_own_name(by)).then_some(by)
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
    match plain_target(cx, finding).ends_with(&format!(":{}", finding.port())) {
        true => Line::default(),
        false => number_of_port(finding),
    }
}

/// The port, where the finding has one.
pub(crate) fn number_of_port(finding: &ListedFinding) -> Line<'static> {
    match finding.port() {
        ..=0 => Line::default(),
        port => Line::from(port.min(99_999).to_string()),
    }
}
