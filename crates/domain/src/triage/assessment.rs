//! Assessment of a finding: decisions of people override rules, rules override the service status.

use jiff::civil::Date;

use super::event::{Decision, Event, Sighting};
use super::finding_state::{FindingState, RuleState};
use super::issue::{Assessment, Issue, ReopenCause, VerdictSource};
use super::state::TriageState;
use crate::finding::{Presence, Verdict};
use scandeck_wire::contract::{Shared, Stamp};

/// Increase of EPSS that requests a recheck.
const EPSS_RISE: f64 = 0.1;

/// The assessment of a finding. `rule` is the rule that matches it, `today` determines expiry.
pub fn assessment(
    issue: &Issue,
    rule: Option<&RuleState>,
    state: &TriageState,
    today: Date,
) -> Assessment {
    let finding_state = state.finding_state(issue.key());
    let person = finding_state.and_then(|finding_state| {
        finding_state
            .shown()
            .map(|(event, decision)| (finding_state, event, decision))
    });
    let mut assessment = match (person, rule) {
        (Some((finding_state, event, decision)), _) => {
            let assessment = decided(issue, event, decision, VerdictSource::Person, today);
            let conflict = finding_state.is_conflict().then_some(ReopenCause::Conflict);
            Assessment {
                reopened: conflict.or(assessment.reopened),
                ..assessment
            }
        }
        (None, Some(rule)) => decided(
            issue,
            &rule.event,
            &rule.decision,
            VerdictSource::Rule(rule.id),
            today,
        ),
        (None, None) => Assessment::default(),
    };
    apply_service_status(issue, &mut assessment);
    if let Some(finding_state) = finding_state {
        add(finding_state, &mut assessment, today);
    }
    assessment
}

/// The verdict of a service status; `None` for `open` and unknown ones.
pub fn verdict_of_status(status: &str) -> Option<Verdict> {
    match status
        .trim()
        .to_ascii_lowercase()
        .replace(' ', "_")
        .as_str()
    {
        "fixed" => Some(Verdict::Fixed),
        "accepted" => Some(Verdict::RiskAccepted),
        "ignored" => Some(Verdict::NotApplicable),
        "false_positive" => Some(Verdict::FalsePositive),
        _ => None,
    }
}

fn decided(
    issue: &Issue,
    event: &Event,
    decision: &Decision,
    source: VerdictSource,
    today: Date,
) -> Assessment {
    let seen = decision.seen.as_ref();
    let reopened = match decision.until {
        _ if decision.verdict == Verdict::Fixed && is_back(issue, event.at, seen) => {
            Some(ReopenCause::Regression)
        }
        Some(until) if until < today => Some(ReopenCause::Expired),
        _ => None,
    };
    Assessment {
        verdict: decision.verdict,
        source,
        reopened,
        recheck: decision.verdict.settles() && seen.is_some_and(|seen| has_risen(issue, seen)),
        reason: decision.reason,
        until: decision.until,
        at: Some(event.at),
        who: Some(event.who.clone()),
        duplicate_of: decision.duplicate_of,
        ..Assessment::default()
    }
}

/// True if a scan that started after the decision found it. Times of the service have no fractions.
fn is_back(issue: &Issue, decided: Stamp, seen: Option<&Sighting>) -> bool {
    let later_than_seen = match seen {
        Some(seen) if seen.scan.is_some() && seen.scan == issue.task_id() => false,
        Some(seen) => seen
            .started
            .is_none_or(|started| issue.last_seen.get() > Some(started)),
        None => true,
    };
    let after = issue
        .last_seen
        .get()
        .is_some_and(|started| started.as_second() >= decided.as_second());
    issue.manual().is_none() && issue.presence != Presence::Absent && after && later_than_seen
}

fn has_risen(issue: &Issue, seen: &Sighting) -> bool {
    let epss = issue
        .epss_score()
        .zip(seen.epss)
        .is_some_and(|(now, then)| now - then >= EPSS_RISE - f64::EPSILON);
    issue.risk_level > seen.risk || (issue.in_cisa_catalog && !seen.exploited) || epss
}

fn apply_service_status(issue: &Issue, assessment: &mut Assessment) {
    let status = issue.status.trim();
    if status.is_empty() || status.eq_ignore_ascii_case("open") {
        return;
    }
    let reported = verdict_of_status(status);
    match (reported, assessment.source) {
        (Some(verdict), VerdictSource::Nobody) => {
            (assessment.verdict, assessment.source) = (verdict, VerdictSource::Service)
        }
        (reported, _) if reported != Some(assessment.verdict) => {
            assessment.service = Some(Shared::from(status))
        }
        _ => {}
    }
}

fn add(finding_state: &FindingState, assessment: &mut Assessment, today: Date) {
    assessment.tags = finding_state.tags.clone();
    assessment.notes = finding_state.notes.len() as u32;
    assessment.severity = finding_state.severity;
    assessment.assignee.clone_from(&finding_state.assignee);
    assessment.due = finding_state.due;
    assessment.is_overdue =
        finding_state.due.is_some_and(|day| day < today) && !assessment.is_put_aside();
}
