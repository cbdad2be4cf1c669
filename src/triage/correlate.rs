//! Correlation of occurrences into issues with assessments.
//!
//! ```text
//!   occurrences ─► identity ─► matched with decisions ─► one Issue per identity ─► presence ─► Assessment
//!                  identity.rs  matching.rs                                               presence.rs  stance.rs, rules.rs
//! ```
//!
//! Runs off the UI thread whenever findings, scan ends, targets or rules change.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::civil::Date;

use super::assessment::assessment;
use super::event::EventId;
use super::finding_state::ManualFindingState;
use super::issue::{Assessment, Issue, Occurrence};
use super::listed::ListedFinding;
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

/// Decision columns built with the issues: those that saved queries test most.
const READY: [Field; 2] = [Field::Decision, Field::Verdict];

/// Input of the correlation. Equality compares references, not contents.
#[derive(Clone, Debug, Default)]
pub struct CorrelationInput {
    /// All occurrences.
    pub findings: Arc<Table<ListedFinding>>,
    /// Scans.
    pub scans: Arc<Table<Scan>>,
    /// Targets.
    pub targets: Arc<Table<Target>>,
    /// Decisions.
    pub state: TriageState,
    /// Current workspace; empty for all.
    pub workspace: Shared,
    /// Alias of the workspace in fingerprints; usually empty.
    pub alias: Shared,
    /// Present day, for expiry.
    pub today: Date,
    /// Time when the findings were fetched, by the service's clock.
    pub read: Option<Stamp>,
    /// Present time in seconds since 1970, for ages in rule queries.
    pub now: i64,
    /// Fields of long texts that are being searched: their columns are built with the rows.
    pub searched: Vec<Field>,
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

/// Cases with their assessments.
#[derive(Clone, Debug, Default)]
pub struct Correlated {
    /// One issue per finding.
    pub issues: Arc<Table<Issue>>,
    /// Assessments by position; undecided issues share one.
    pub assessments: Vec<Arc<Assessment>>,
    /// Matching rule by position; empty if no rule matches.
    pub rules: Vec<Option<EventId>>,
    /// Prepared decision columns.
    pub columns: Vec<(Field, ColumnBuilder)>,
    /// Time when the findings were fetched.
    pub read: Option<Stamp>,
    /// Clock of the state used.
    pub clock: u64,
}

/// Builds the issues.
pub fn correlate(input: &CorrelationInput) -> Correlated {
    let presences = Presences::new(input);
    let rows = matching::rows(input);
    let issues = rows.into_iter().map(|row| issue(input, &presences, row));
    let issues = Table::new(issues.chain(own(input)));
    input.searched.iter().for_each(|&field| _ = issues.column(field));
    let nothing = Arc::new(Assessment::default());
    let share =
        |assessment: Assessment| if assessment == *nothing { Arc::clone(&nothing) } else { Arc::new(assessment) };
    let mut assessments: Vec<Arc<Assessment>> =
        issues.items().iter().map(|issue| share(assessment(issue, None, &input.state, input.today))).collect();
    let rules = rules::deciding(input, &issues, &assessments);
    for ((assessment, issue), rule) in assessments.iter_mut().zip(issues.items()).zip(&rules) {
        if rule.is_some() {
            *assessment = share(reassess(issue, *rule, &input.state, input.today));
        }
    }
    let assessed = assessed(&issues, &assessments);
    let source = Rows { rows: &assessed, others: input, now: input.now };
    let columns = READY.map(|field| (field, column_of(field, &source))).into();
    Correlated { issues: Arc::new(issues), assessments, rules, columns, read: input.read, clock: input.state.clock() }
}

/// Pairs each issue with its assessment.
pub(super) fn assessed<'a>(issues: &'a Table<Issue>, assessments: &'a [Arc<Assessment>]) -> Vec<AssessedFinding<'a>> {
    issues.items().iter().zip(assessments).map(|(issue, assessment)| AssessedFinding { issue, assessment }).collect()
}

/// Recomputes the assessment of an issue; `rule` is the rule that matches it.
pub fn reassess(issue: &Issue, rule: Option<EventId>, state: &TriageState, today: Date) -> Assessment {
    assessment(issue, rule.and_then(|rule| state.rule(rule)).filter(|rule| !rule.off), state, today)
}

impl CorrelationInput {
    /// True if data of this workspace is shown in the current one.
    pub(super) fn concerns(&self, workspace: &str) -> bool {
        self.workspace.is_empty() || workspace.is_empty() || *workspace == *self.workspace
    }

    fn started(&self, finding: &ListedFinding) -> Option<Stamp> {
        self.scans.get(finding.task_id?)?.start_time
    }
}

fn issue(input: &CorrelationInput, presences: &Presences, row: MatchedFinding) -> Issue {
    let (presence, retest_gap) = presences.of(&row);
    let occurrence = |&at: &usize| {
        let finding = Arc::clone(&input.findings.items()[at]);
        Occurrence { at: input.started(&finding), finding }
    };
    let latest = occurrence(&row.seen[row.seen.len() - 1]);
    let earlier: Box<[Occurrence]> =
        if row.seen.len() > 1 { row.seen.iter().rev().map(occurrence).collect() } else { Box::default() };
    let first_seen = earlier.iter().filter_map(|one| one.at).min().or(latest.at);
    Issue {
        id: row.identity.key.into(),
        identity: row.identity,
        finding: latest.finding,
        earlier,
        presence,
        retest_gap,
        first_seen,
        last_seen: latest.at,
        earlier_decision: row.earlier_decision.map(Box::new),
        own: None,
    }
}

fn own(input: &CorrelationInput) -> impl Iterator<Item = Issue> {
    let targets = input.targets.items().iter().map(|target| (identity::asset(&target.name), target.id));
    let targets: HashMap<Shared, TargetId> =
        if input.state.own().next().is_some() { targets.collect() } else { HashMap::new() };
    let all = input.state.own().filter(|own| !own.off && input.concerns(&own.event.workspace));
    all.map(move |own| own_issue(input, own, &targets))
}

fn own_issue(input: &CorrelationInput, own: &ManualFindingState, targets: &HashMap<Shared, TargetId>) -> Issue {
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
    Issue {
        id: own.key.into(),
        identity: Arc::new(identity),
        finding: finding.into(),
        presence: Presence::Unchanged,
        retest_gap: None,
        first_seen: made,
        last_seen: made,
        own: Some(Box::new(own.id)),
        ..Issue::default()
    }
}

/// A negative id, which no service assigns.
fn own_id(key: FindingKey) -> FindingId {
    FindingId(-1 - super::issue::IssueId::from(key).0)
}
