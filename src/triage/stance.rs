//! What a row says about its decision: a person's before a rule's before the service's, and whether it still holds.

use jiff::civil::Date;

use super::case::{Again, Case, Stance, VerdictSource};
use super::event::{Decision, Event, Sighting};
use super::standing::{RuleState, Standing};
use super::state::State;
use crate::contract::{Shared, Stamp};
use crate::finding::{Presence, Verdict};

/// A rise of EPSS that asks for another look.
const EPSS_RISE: f64 = 0.1;

/// What a row says now. `rule` is the one that finds it, if any; `today` decides what has expired.
pub fn stance(case: &Case, rule: Option<&RuleState>, state: &State, today: Date) -> Stance {
    let standing = state.standing(case.key());
    let person = standing.and_then(|standing| standing.shown().map(|(event, decision)| (standing, event, decision)));
    let mut stance = match (person, rule) {
        (Some((standing, event, decision)), _) => {
            let stance = decided(case, event, decision, VerdictSource::Person, today);
            let conflict = standing.is_conflict().then_some(Again::Conflict);
            Stance { again: conflict.or(stance.again), ..stance }
        }
        (None, Some(rule)) => decided(case, &rule.event, &rule.decision, VerdictSource::Rule(rule.id), today),
        (None, None) => Stance::default(),
    };
    told_by_service(case, &mut stance);
    if let Some(standing) = standing {
        add(standing, &mut stance);
    }
    stance
}

/// The verdict that a status of the service stands for; `open` and unknown ones for none.
pub fn verdict_of_status(status: &str) -> Option<Verdict> {
    match status.trim().to_ascii_lowercase().replace(' ', "_").as_str() {
        "fixed" => Some(Verdict::Fixed),
        "accepted" => Some(Verdict::RiskAccepted),
        "ignored" => Some(Verdict::NotApplicable),
        "false_positive" => Some(Verdict::FalsePositive),
        _ => None,
    }
}

fn decided(case: &Case, event: &Event, decision: &Decision, source: VerdictSource, today: Date) -> Stance {
    let seen = decision.seen.as_ref();
    let again = match decision.until {
        _ if decision.verdict == Verdict::Fixed && is_back(case, event.at, seen) => Some(Again::Regression),
        Some(until) if until < today => Some(Again::Expired),
        _ => None,
    };
    Stance {
        verdict: decision.verdict,
        source,
        again,
        recheck: decision.verdict.settles() && seen.is_some_and(|seen| has_risen(case, seen)),
        reason: decision.reason,
        until: decision.until,
        at: Some(event.at),
        who: Some(event.who.clone()),
        duplicate_of: decision.duplicate_of,
        ..Stance::default()
    }
}

/// A scan that started after the decision saw it. Stamps of the service have no parts of a second.
fn is_back(case: &Case, decided: Stamp, seen: Option<&Sighting>) -> bool {
    let later_than_seen = match seen {
        Some(seen) if seen.scan.is_some() && seen.scan == case.task_id => false,
        Some(seen) => seen.started.is_none_or(|started| case.last_seen > Some(started)),
        None => true,
    };
    let after = case.last_seen.is_some_and(|started| started.as_second() >= decided.as_second());
    case.own.is_none() && case.presence != Presence::Absent && after && later_than_seen
}

fn has_risen(case: &Case, seen: &Sighting) -> bool {
    let epss = case.epss_score.zip(seen.epss).is_some_and(|(now, then)| now - then >= EPSS_RISE - f64::EPSILON);
    case.risk_level > seen.risk || (case.in_cisa_catalog && !seen.exploited) || epss
}

fn told_by_service(case: &Case, stance: &mut Stance) {
    let status = case.status.trim();
    if status.is_empty() || status.eq_ignore_ascii_case("open") {
        return;
    }
    let told = verdict_of_status(status);
    match (told, stance.source) {
        (Some(verdict), VerdictSource::Nobody) => (stance.verdict, stance.source) = (verdict, VerdictSource::Service),
        (told, _) if told != Some(stance.verdict) => stance.service = Some(Shared::from(status)),
        _ => {}
    }
}

fn add(standing: &Standing, stance: &mut Stance) {
    stance.tags = standing.tags.clone();
    stance.notes = standing.notes.len() as u32;
    stance.severity = standing.severity;
}
