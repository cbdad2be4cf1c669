//! From what scans told to the rows that are shown: one a finding's identity, with what is said about it.
//!
//! ```text
//!   occurrences ─► identity ─► matched with what was decided ─► one Case an identity ─► presence ─► Stance
//!                  identity.rs  matching.rs                                              presence.rs  stance.rs, rules.rs
//! ```
//!
//! Runs off the UI thread whenever the findings, the ends of scans, the targets or the rules change.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::civil::Date;

use super::assessment::assessment;
use super::case::{Assessment, Case, Occurrence};
use super::event::EventId;
use super::finding_state::ManualFindingState;
use super::matching::{self, MatchedFinding};
use super::presence::Presences;
use super::state::TriageState;
use super::{identity, rules};
use crate::contract::{Evidence, Finding, FindingId, Scan, Shared, Stamp, Target, TargetId};
use crate::finding::{FindingKey, Presence};
use crate::query::source::column_of;
use crate::query::{ColumnBuilder, Field};
use crate::table::{Rows, Table};
use crate::triage::AssessedFinding;

/// Columns of decisions that are made with the rows: those that saved queries ask for most.
const READY: [Field; 2] = [Field::Decision, Field::Verdict];

/// What rows are made of. Comparing two compares what they refer to, not what that says.
#[derive(Clone, Debug, Default)]
pub struct CorrelationInput {
    /// Every occurrence.
    pub findings: Arc<Table<Finding>>,
    /// The scans that saw them.
    pub scans: Arc<Table<Scan>>,
    /// Names of targets.
    pub targets: Arc<Table<Target>>,
    /// What was decided.
    pub state: TriageState,
    /// Name of the workspace worked in; empty for all.
    pub workspace: Shared,
    /// What stands for the workspace in fingerprints; usually empty.
    pub alias: Shared,
    /// The day for what expires.
    pub today: Date,
    /// When the findings were read, by the service's clock.
    pub read: Option<Stamp>,
    /// Seconds since 1970: what ages in the queries of rules are counted from.
    pub now: i64,
}

impl PartialEq for CorrelationInput {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.findings, &other.findings)
            && Arc::ptr_eq(&self.scans, &other.scans)
            && Arc::ptr_eq(&self.targets, &other.targets)
            && self.state.clock() == other.state.clock()
            && (&self.workspace, &self.alias) == (&other.workspace, &other.alias)
            && (self.today, self.read) == (other.today, other.read)
    }
}

/// The rows, and what is said about each.
#[derive(Clone, Debug, Default)]
pub struct Correlated {
    /// One a finding.
    pub cases: Arc<Table<Case>>,
    /// Aligned with the table's items; rows about which nothing is said share one.
    pub assessments: Vec<Arc<Assessment>>,
    /// The rule that finds each row, aligned too; empty where there is no rule.
    pub rules: Vec<Option<EventId>>,
    /// What queries ask about decisions.
    pub columns: Vec<(Field, ColumnBuilder)>,
    /// When the findings that they were made from were read.
    pub read: Option<Stamp>,
    /// Of the state they were made from.
    pub clock: u64,
}

/// Makes the rows.
pub fn correlate(input: &CorrelationInput) -> Correlated {
    let presences = Presences::new(input);
    let rows = matching::rows(input);
    let cases = rows.into_iter().map(|row| case(input, &presences, row));
    let cases = Table::new(cases.chain(own(input)));
    let nothing = Arc::new(Assessment::default());
    let share =
        |assessment: Assessment| if assessment == *nothing { Arc::clone(&nothing) } else { Arc::new(assessment) };
    let mut assessments: Vec<Arc<Assessment>> =
        cases.items().iter().map(|case| share(assessment(case, None, &input.state, input.today))).collect();
    let rules = rules::deciding(input, &cases, &assessments);
    for ((assessment, case), rule) in assessments.iter_mut().zip(cases.items()).zip(&rules) {
        if rule.is_some() {
            *assessment = share(reassess(case, *rule, &input.state, input.today));
        }
    }
    let assessed = assessed(&cases, &assessments);
    let source = Rows { rows: &assessed, others: input, now: input.now };
    let columns = READY.map(|field| (field, column_of(field, &source))).into();
    Correlated { cases: Arc::new(cases), assessments, rules, columns, read: input.read, clock: input.state.clock() }
}

/// Each row with what is said about it.
pub(super) fn assessed<'a>(cases: &'a Table<Case>, assessments: &'a [Arc<Assessment>]) -> Vec<AssessedFinding<'a>> {
    cases.items().iter().zip(assessments).map(|(case, assessment)| AssessedFinding { case, assessment }).collect()
}

/// What is said about a row now; `rule` is the one that finds it.
pub fn reassess(case: &Case, rule: Option<EventId>, state: &TriageState, today: Date) -> Assessment {
    assessment(case, rule.and_then(|rule| state.rule(rule)).filter(|rule| !rule.off), state, today)
}

impl CorrelationInput {
    /// Whether what was made in a workspace shows in the one worked in.
    pub(super) fn concerns(&self, workspace: &str) -> bool {
        self.workspace.is_empty() || workspace.is_empty() || *workspace == *self.workspace
    }

    fn started(&self, finding: &Finding) -> Option<Stamp> {
        self.scans.get(finding.task_id?)?.start_time
    }
}

fn case(input: &CorrelationInput, presences: &Presences, row: MatchedFinding) -> Case {
    let presence = presences.of(&row);
    let occurrence = |&at: &usize| {
        let finding = Arc::clone(&input.findings.items()[at]);
        Occurrence { at: input.started(&finding), finding }
    };
    let latest = occurrence(&row.seen[row.seen.len() - 1]);
    let earlier: Box<[Occurrence]> =
        if row.seen.len() > 1 { row.seen.iter().rev().map(occurrence).collect() } else { Box::default() };
    let first_seen = earlier.iter().filter_map(|one| one.at).min().or(latest.at);
    Case {
        id: row.identity.key.into(),
        identity: row.identity,
        finding: latest.finding,
        earlier,
        presence,
        first_seen,
        last_seen: latest.at,
        offered: row.offered.map(Box::new),
        own: None,
    }
}

fn own(input: &CorrelationInput) -> impl Iterator<Item = Case> {
    let targets = input.targets.items().iter().map(|target| (identity::asset(&target.name), target.id));
    let targets: HashMap<Shared, TargetId> =
        if input.state.own().next().is_some() { targets.collect() } else { HashMap::new() };
    let all = input.state.own().filter(|own| !own.off && input.concerns(&own.event.workspace));
    all.map(move |own| own_case(input, own, &targets))
}

fn own_case(input: &CorrelationInput, own: &ManualFindingState, targets: &HashMap<Shared, TargetId>) -> Case {
    let identity = identity::of_manual(own.id, &own.finding, &input.alias);
    let finding = Finding {
        id: own_id(own.key),
        name: own.finding.name.clone(),
        risk_level: own.finding.risk,
        vuln_id: identity.class.clone(),
        vuln_description: own.finding.text.clone(),
        vuln_evidence: Evidence::from_value(&own.finding.evidence.as_str().into()),
        port: own.finding.port,
        protocol: if own.finding.port > 0 { "tcp".into() } else { Shared::default() },
        target_id: targets.get(&identity.asset).copied(),
        target_name: Some(own.finding.target.clone()),
        status: "open".into(),
        test_finished: true,
        ..Finding::default()
    };
    let made = input.state.event(own.id).map(|event| event.at);
    Case {
        id: own.key.into(),
        identity: Arc::new(identity),
        finding: Arc::new(finding),
        presence: Presence::Unchanged,
        first_seen: made,
        last_seen: made,
        own: Some(Box::new(own.id)),
        ..Case::default()
    }
}

/// An id that no service gives: negative.
fn own_id(key: FindingKey) -> FindingId {
    FindingId(-1 - super::case::CaseId::from(key).0)
}
