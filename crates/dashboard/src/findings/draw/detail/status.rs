//! Presence and decision of a finding as phrases.

use crate::input::{Action, Context, DecideAction, VerdictAction};
pub(crate) use crate::ui::ago;
use crate::ui::{Cx, format, key};
use ratatui::text::{Line, Span};
use scandeck_domain::triage::{
    Assessment, Decision, Event, Issue, Presence, ReopenCause, Verdict, VerdictSource,
};
use scandeck_wire::contract::Stamp;
use scandeck_wire::text;
use std::collections::BTreeMap;

/// `+ new in scan #118, first seen 2m ago   undecided`.
pub(crate) fn line(cx: &Cx<'_>, issue: &Issue) -> Line<'static> {
    let theme = cx.theme;
    let presence = match issue.presence {
        Presence::New | Presence::Reappeared => theme.strong(),
        Presence::NotRetested => theme.warn(),
        Presence::Absent => theme.dim(),
        Presence::Unchanged | Presence::Changed => theme.text(),
    };
    let assessment = cx.model.assessment(issue.id);
    let (words, style) = match assessment {
        Some(assessment) if assessment.reopened.is_some() => {
            (assessment_words(cx, issue, assessment), theme.warn())
        }
        Some(assessment) if assessment.source != VerdictSource::Nobody => {
            (assessment_words(cx, issue, assessment), theme.strong())
        }
        _ => ("undecided".to_owned(), theme.dim()),
    };
    let saving = if cx.model.findings.triage.is_saving(issue.key()) {
        "   saving"
    } else {
        ""
    };
    Line::from(vec![
        Span::styled(presence_words(cx, issue), presence),
        Span::raw("   "),
        Span::styled(text::clean(&words).into_owned(), style),
        Span::styled(saving, theme.dim()),
        Span::styled(viewer_words(cx, issue, "   "), theme.dim()),
    ])
}

/// Most names of members in a line; the others are counted.
const MOST_VIEWERS: usize = 3;

/// `bob is looking at this finding · 2m`, after a lead; empty if nobody is.
pub(crate) fn viewer_words(cx: &Cx<'_>, issue: &Issue, lead: &str) -> String {
    let viewers = cx.model.viewers_of(issue.key());
    let Some(longest) = viewers.iter().min_by_key(|viewer| viewer.since) else {
        return String::new();
    };
    let first = viewers.iter().take(MOST_VIEWERS);
    let names: Vec<&str> = first.map(|viewer| viewer.who.as_str()).collect();
    let mut names = text::clean(&names.join(", ")).into_owned();
    let more = viewers.len().saturating_sub(MOST_VIEWERS);
    if more > 0 {
        names.push_str(&format!(" and {more} more"));
    }
    let verb = if viewers.len() == 1 { "is" } else { "are" };
    let since = longest.since.map(|since| {
        let separator = cx.theme.glyphs.separator;
        format!(" {separator} {}", cx.age(Some(since)))
    });
    let since = since.unwrap_or_default();
    format!("{lead}{names} {verb} looking at this finding{since}")
}

/// `2 undecided`, `1 confirmed`: the decisions on some findings, undecided ones first.
pub(crate) fn counted<'s>(
    assessments: impl Iterator<Item = Option<&'s Assessment>>,
) -> Vec<String> {
    let (mut undecided, mut verdicts) = (0usize, BTreeMap::<Verdict, usize>::new());
    for assessment in assessments {
        match assessment.filter(|assessment| !assessment.is_undecided()) {
            Some(assessment) => *verdicts.entry(assessment.verdict).or_default() += 1,
            None => undecided += 1,
        }
    }
    let open =
        (undecided > 0).then(|| format!("{} undecided", format::thousands(undecided as u64)));
    let counts = verdicts.into_iter();
    let counts = counts.map(|(verdict, count)| {
        format!("{} {}", format::thousands(count as u64), verdict.phrase())
    });
    open.into_iter().chain(counts).collect()
}

/// `was on tcp/8443: false positive by anna 3d ago   = reuses the decision`, if the port of a
/// finding seems to have moved.
pub(crate) fn offer_line(cx: &Cx<'_>, issue: &Issue) -> Option<Line<'static>> {
    let before = cx.model.earlier_decision(issue.id)?;
    let (event, decision) = before.shown()?;
    let mut words = decision.verdict.phrase();
    if let Some(reason) = decision.reason {
        words.push_str(&format!(", {}", reason.phrase()));
    }
    let place = match &before.identity.service {
        service if *service == issue.identity.service => "elsewhere".to_owned(),
        service => format!("on {service}"),
    };
    let earlier = format!(
        "was {place}: {words} by {} {}",
        event.who,
        ago(cx, Some(event.at))
    );
    Some(with_reuse_key(cx, &earlier))
}

/// `the imported file says: false positive by anna: test shop   = reuses the decision`.
pub(crate) fn proposal_line(cx: &Cx<'_>, issue: &Issue) -> Option<Line<'static>> {
    let proposed = issue.proposed.as_deref()?;
    let stated = format!("the imported file says: {}", proposed.phrase());
    let is_offered = cx.model.proposal(issue.id).is_some() && issue.earlier_decision().is_none();
    Some(match is_offered {
        true => with_reuse_key(cx, &stated),
        false => Line::from(Span::styled(
            text::clean(&stated).into_owned(),
            cx.theme.dim(),
        )),
    })
}

fn with_reuse_key(cx: &Cx<'_>, offered: &str) -> Line<'static> {
    let key = key(
        cx,
        Context::Findings,
        Action::Decide(DecideAction::ReuseOffered),
    );
    Line::from(vec![
        Span::styled(text::clean(offered).into_owned(), cx.theme.warn()),
        Span::raw("   "),
        Span::styled(key, cx.theme.key()),
        Span::raw(" reuses the decision"),
    ])
}

/// The presence: `+ new in scan #118 Website, first seen 2m ago`.
pub(crate) fn presence_words(cx: &Cx<'_>, issue: &Issue) -> String {
    if issue.manual().is_some() {
        return format!("manual finding, {}", ago(cx, issue.first_seen.get()));
    }
    let scan = issue.task_id().map_or_else(
        || "a scan".to_owned(),
        |id| format!("scan {}", cx.scan_name(id)),
    );
    let first = ago(cx, issue.first_seen.get());
    let last = ago(cx, issue.last_seen.get());
    let sign = cx.theme.presence_sign(issue.presence);
    match issue.presence {
        Presence::New => format!("{sign} new in {scan}, first seen {first}"),
        Presence::Unchanged if issue.earlier.len() > 1 => {
            format!("unchanged in {scan}, first seen {first}")
        }
        Presence::Unchanged => format!("seen by {scan}, {first}"),
        Presence::Changed => format!("{sign} changed in {scan}, first seen {first}"),
        Presence::Reappeared => format!("{sign} reappeared in {scan}, first seen {first}"),
        Presence::NotRetested => {
            let reason = issue
                .retest_gap()
                .map_or_else(String::new, |gap| format!(": {}", gap.reason()));
            format!("{sign} not retested since {scan}, last seen {last}{reason}")
        }
        Presence::Absent => {
            let proof = issue.absent_in();
            let proof = proof.map(|by| {
                format!(
                    "not found by scan {}, started {}; ",
                    cx.scan_name(by.scan),
                    ago(cx, by.at.get())
                )
            });
            format!(
                "{sign} absent: {}last seen by {scan}, {last}",
                proof.unwrap_or_default()
            )
        }
    }
}

/// The decision of a person, a rule or the service:
/// `risk accepted until 2027-01-12 by anna, 3d ago: deferred`.
pub(crate) fn assessment_words(cx: &Cx<'_>, issue: &Issue, assessment: &Assessment) -> String {
    let decided = decided_words(cx, assessment);
    let mut words = match (assessment.reopened, assessment.source) {
        (Some(ReopenCause::Conflict), _) => format!("conflict: {}", sides(cx, issue)),
        (Some(ReopenCause::Regression), _) => format!("regression: {decided}"),
        (Some(ReopenCause::Expired), _) => format!("expired: {decided}"),
        (None, VerdictSource::Nobody) => "undecided".to_owned(),
        (None, _) => decided,
    };
    if assessment.recheck {
        words.push_str("; re-check: risk or exploitation increased");
    }
    if let Some(service) = assessment
        .service
        .as_ref()
        .filter(|_| assessment.source != VerdictSource::Service)
    {
        words.push_str(&format!("; at the service: {service}"));
    }
    words
}

fn decided_words(cx: &Cx<'_>, assessment: &Assessment) -> String {
    let mut words = assessment.verdict.phrase();
    if let Some(until) = assessment.until {
        words.push_str(&format!(" until {until}"));
    }
    let who = assessment.who.as_deref().unwrap_or("unknown");
    match assessment.source {
        VerdictSource::Service => words.push_str("·svc"),
        VerdictSource::Rule(_) => words.push_str(&format!(" by a rule of {who}")),
        VerdictSource::Person => words.push_str(&format!(" by {who}, {}", ago(cx, assessment.at))),
        VerdictSource::Nobody => {}
    }
    if let Some(reason) = assessment.reason {
        words.push_str(&format!(": {}", reason.phrase()));
    }
    words
}

/// Both sides of a conflict with their times in UTC, and the member who sent the decision of another
/// author: `anna fixed 14:02:10, kali@kali (sent by ben) false positive 14:02:11`.
fn sides(cx: &Cx<'_>, issue: &Issue) -> String {
    let Some(finding_state) = cx.model.findings.triage.state.finding_state(issue.key()) else {
        return String::new();
    };
    let today = cx.model.now.wall.strftime("%F").to_string();
    let at = |at: Stamp| match at.0.strftime("%F").to_string() == today {
        true => format::clock(cx.theme, Some(at)),
        false => at.to_string(),
    };
    // Two members can have the same `login@host`.
    let who = |event: &Event| match &event.sent_by {
        Some(sender) => format!("{} (sent by {sender})", event.who),
        None => event.who.to_string(),
    };
    let side = |event: &Event, decision: &Decision| {
        format!(
            "{} {} {}",
            who(event),
            decision.verdict.phrase(),
            at(event.at)
        )
    };
    let sides = finding_state
        .decisions()
        .map(|(event, decision)| side(event, decision));
    sides.collect::<Vec<_>>().join(", ")
}

/// The keys that settle a conflict.
pub(crate) fn conflict_line(cx: &Cx<'_>, issue: &Issue) -> Option<Line<'static>> {
    cx.model
        .assessment(issue.id)
        .filter(|assessment| assessment.reopened == Some(ReopenCause::Conflict))?;
    let verdicts = cx
        .model
        .keyboard
        .keymap
        .entries(Context::Findings)
        .filter(|entry| {
            entry
                .action
                .try_as_verdict()
                .is_some_and(|action| VerdictAction::MENU.contains(&action))
        });
    let keys: Vec<String> = verdicts
        .filter_map(|entry| Some(entry.keys.first()?.to_string()))
        .collect();
    Some(Line::from(vec![
        Span::raw("a verdict key settles it: "),
        Span::styled(keys.join(" "), cx.theme.key()),
    ]))
}
