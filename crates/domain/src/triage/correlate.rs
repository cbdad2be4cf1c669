//! Correlation of occurrences into issues with assessments.
//!
//! ```text
//!   occurrences ─► identity ─► matched with decisions ─► one Issue per identity ─► presence ─► Assessment
//!                  identity/    matching.rs                               presence.rs    assessment.rs, rules.rs
//! ```
//!
//! Runs off the UI thread whenever findings, scan ends, targets or rules change. Issues of assets
//! that did not change since the earlier correlation are its issues (`changed_assets.rs`); a
//! property test compares the result with that of a correlation without an earlier one.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use jiff::civil::Date;

use super::assessment::assessment;
use super::changed_assets::changed_assets;
use super::compare::occurrences;
use super::event::{EventId, Identity};
use super::facts::FindingFacts;
use super::finding_state::ManualFindingState;
use super::issue::{Assessment, Assessments, Issue, Occurrence, RareIssueData};
use super::listed::ListedFinding;
use super::matching::{self, Assets, MatchedFinding};
use super::presence::{PresenceResult, Presences, ReadTimes};
use super::scan_index::ScanIndex;
use super::state::TriageState;
use super::timeline::TimelineEntry;
use super::{identity, rules};
use crate::finding::{FindingKey, Presence, PresenceReason};
use crate::query::source::column_from;
use crate::query::{ColumnBuilder, Field};
use crate::table::{Row, Table};
use crate::triage::AssessedFinding;
use scandeck_wire::contract::{
    Evidence, Finding, FindingId, Risk, Scan, ScanId, Shared, Stamp, Target, TargetId,
};

/// Decision columns built with the issues: those that saved queries test most.
const READY: [Field; 2] = [Field::Decision, Field::Verdict];

/// Input of the correlation. Equality compares references, not contents.
#[derive(Clone, Debug, Default)]
pub struct CorrelationInput {
    /// All occurrences.
    pub findings: Arc<Table<ListedFinding>>,
    pub scans: Arc<Table<Scan>>,
    pub targets: Arc<Table<Target>>,
    /// Decisions.
    pub state: TriageState,
    /// Current workspace; empty for all.
    pub workspace: Shared,
    /// Alias of the workspace in fingerprints; usually empty.
    pub alias: Shared,
    /// Present day, for expiry.
    pub today: Date,
    /// When the findings were fetched.
    pub read: ReadTimes,
    /// Scans whose findings were not fetched. They prove no absence.
    pub unread: Arc<BTreeSet<ScanId>>,
    /// Present time in seconds since 1970, for ages in rule queries.
    pub now: i64,
    /// Fields of long texts that are being searched: their columns are built with the rows.
    pub searched: Vec<Field>,
    /// The last correlation, if there was one.
    pub earlier: Option<Arc<EarlierCorrelation>>,
}

/// The inputs of a correlation, and its result without rules.
#[derive(Debug, Default)]
pub struct EarlierCorrelation {
    pub(super) input: CorrelationInput,
    pub(super) issues: Arc<Table<Issue>>,
    facts: Arc<FindingFacts>,
    /// The assessments that are not `undecided`, without rules, with their positions in ascending
    /// order.
    assessed: Vec<(u32, Arc<Assessment>)>,
    rules: Vec<Option<EventId>>,
    /// The assessment that undecided issues share.
    undecided: Arc<Assessment>,
    /// The scans by target and tool.
    pub(super) scans: Arc<ScanIndex>,
    /// The findings that have equal siblings, by their keys; matched when one of them is explained.
    siblings: OnceLock<HashMap<FindingKey, MatchedFinding>>,
}

impl PartialEq for CorrelationInput {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.findings, &other.findings)
            && Arc::ptr_eq(&self.scans, &other.scans)
            && Arc::ptr_eq(&self.targets, &other.targets)
            && self.state.clock() == other.state.clock()
            && (&self.workspace, &self.alias) == (&other.workspace, &other.alias)
            && (self.today, &self.read, &self.unread) == (other.today, &other.read, &other.unread)
    }
}

/// Issues with their assessments.
#[derive(Clone, Debug, Default)]
pub struct Correlated {
    /// One issue per finding.
    pub issues: Arc<Table<Issue>>,
    /// Assessments by position; undecided issues share one.
    pub assessments: Arc<Assessments>,
    /// Matching rule by position; empty if no rule matches.
    pub rules: Vec<Option<EventId>>,
    /// Counts over the issues.
    pub facts: Arc<FindingFacts>,
    /// Prepared decision columns.
    pub columns: Vec<(Field, ColumnBuilder)>,
    /// When the findings were fetched.
    pub read: ReadTimes,
    /// Clock of the state used.
    pub clock: u64,
    /// The results that the next correlation reuses.
    pub earlier: Arc<EarlierCorrelation>,
}

/// Builds the issues.
///
/// ```text
///   findings, scans ─► issues ─► assessments ─► rules ─► assessments by rule ─► decision columns
/// ```
///
/// Each step takes over what the earlier correlation had, where its input is the same.
pub fn correlate(input: &CorrelationInput) -> Correlated {
    let earlier = input.earlier.as_deref();
    let known = earlier.and_then(|earlier| {
        let changed = changed_assets(earlier, input)?;
        Some(KnownIssues { earlier, changed })
    });
    let scans = match earlier.filter(|earlier| earlier.has_scans_of(input)) {
        Some(earlier) => Arc::clone(&earlier.scans),
        None => Arc::new(ScanIndex::new(input)),
    };
    let mut issues = issues(input, &scans, known.as_ref());
    let has_same_issues = |earlier: &&EarlierCorrelation| Arc::ptr_eq(&earlier.issues, &issues);
    let same = earlier.filter(has_same_issues);
    let undecided = earlier
        .map(|earlier| Arc::clone(&earlier.undecided))
        .unwrap_or_default();
    let mut assessments = assess(input, &issues, known.as_ref(), &undecided);
    let rules = rules::deciding(input, &issues, &assessments);
    let assessed = decided(&assessments, &undecided);
    let facts = match same {
        Some(earlier) => Arc::clone(&earlier.facts),
        None => Arc::new(FindingFacts::count(&issues)),
    };
    if same.is_some_and(|earlier| !earlier.decides(input, &assessed, &rules)) {
        issues = Arc::new(issues.renewed());
    }
    for &field in &input.searched {
        _ = issues.column(field);
    }
    apply(input, &issues, &rules, &undecided, &mut assessments);
    let columns = decision_columns(input, &issues, &assessments);
    let next_earlier = EarlierCorrelation {
        input: CorrelationInput {
            earlier: None,
            ..input.clone()
        },
        issues: Arc::clone(&issues),
        facts: Arc::clone(&facts),
        assessed,
        rules: rules.clone(),
        undecided,
        scans,
        siblings: OnceLock::new(),
    };
    Correlated {
        issues,
        assessments: Arc::new(assessments.into()),
        rules,
        facts,
        columns,
        read: input.read.clone(),
        clock: input.state.clock(),
        earlier: Arc::new(next_earlier),
    }
}

/// Assessments by position, before rules.
fn assess(
    input: &CorrelationInput,
    issues: &Table<Issue>,
    known: Option<&KnownIssues<'_>>,
    undecided: &Arc<Assessment>,
) -> Vec<Arc<Assessment>> {
    let assess = |issue: &Arc<Issue>| match known.and_then(|known| known.assessment(issue)) {
        Some(same) => Arc::clone(same),
        None => shared(
            assessment(issue, None, &input.state, input.today),
            undecided,
        ),
    };
    issues.items().iter().map(assess).collect()
}

/// The assessments other than the one of undecided issues, with their positions.
fn decided(
    assessments: &[Arc<Assessment>],
    undecided: &Arc<Assessment>,
) -> Vec<(u32, Arc<Assessment>)> {
    (0_u32..)
        .zip(assessments)
        .filter(|(_, assessment)| !Arc::ptr_eq(assessment, undecided))
        .map(|(at, assessment)| (at, Arc::clone(assessment)))
        .collect()
}

/// Assesses the issues again that a rule matches.
fn apply(
    input: &CorrelationInput,
    issues: &Table<Issue>,
    rules: &[Option<EventId>],
    undecided: &Arc<Assessment>,
    assessments: &mut [Arc<Assessment>],
) {
    for (at, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.is_some()) {
        let reassessed = reassess(&issues.items()[at], *rule, &input.state, input.today);
        assessments[at] = shared(reassessed, undecided);
    }
}

/// Undecided issues share one assessment.
fn shared(assessment: Assessment, undecided: &Arc<Assessment>) -> Arc<Assessment> {
    if assessment == **undecided {
        Arc::clone(undecided)
    } else {
        Arc::new(assessment)
    }
}

/// The columns of the decisions, which every list of findings shows.
fn decision_columns(
    input: &CorrelationInput,
    issues: &Table<Issue>,
    assessments: &[Arc<Assessment>],
) -> Vec<(Field, ColumnBuilder)> {
    let column = |field: Field| {
        let write = |row: usize, to: &mut ColumnBuilder| {
            let (issue, assessment) = (&issues.items()[row], &assessments[row]);
            AssessedFinding { issue, assessment }.write_field(field, input, to);
        };
        (field, column_from(field, issues.len(), write))
    };
    READY.map(column).into()
}

/// The issues of an earlier correlation, of which those of changed assets are made again.
struct KnownIssues<'a> {
    earlier: &'a EarlierCorrelation,
    changed: HashSet<Shared>,
}

impl KnownIssues<'_> {
    fn is_current(&self, issue: &Issue) -> bool {
        issue.manual().is_none() && !self.changed.contains(&issue.identity.asset)
    }

    /// The assessment of an issue that did not change.
    fn assessment(&self, issue: &Arc<Issue>) -> Option<&Arc<Assessment>> {
        let at = self
            .earlier
            .issues
            .position(issue.id)
            .filter(|_| self.is_current(issue))?;
        Some(self.earlier.assessment(at))
    }

    /// The known issue, if it is equal. It must not hold findings that are equal to new ones: both
    /// would be in memory.
    fn reuse(&self, issue: Issue) -> Arc<Issue> {
        let same = |(a, b): (&Occurrence, &Occurrence)| Arc::ptr_eq(&a.finding, &b.finding);
        let has_same_findings = |known: &Issue| {
            (issue.manual().is_some() || Arc::ptr_eq(&known.finding, &issue.finding))
                && known.earlier.iter().zip(&issue.earlier).all(same)
        };
        match self
            .earlier
            .issues
            .get(issue.id)
            .filter(|known| has_same_findings(known) && ***known == issue)
        {
            Some(known) => Arc::clone(known),
            None => Arc::new(issue),
        }
    }

    /// The positions of the findings of changed assets.
    fn changed_findings(&self, input: &CorrelationInput) -> Vec<usize> {
        if self.changed.is_empty() {
            return Vec::new();
        }
        let mut assets = Assets::new(input);
        let findings = input.findings.items().iter().enumerate();
        findings
            .filter(|(_, finding)| self.changed.contains(&assets.of(finding)))
            .map(|(at, _)| at)
            .collect()
    }

    /// The issues that did not change, with these among them.
    fn merge(&self, changed: Vec<Arc<Issue>>) -> Vec<Arc<Issue>> {
        let same = self
            .earlier
            .issues
            .items()
            .iter()
            .filter(|issue| self.is_current(issue));
        let mut issues = Vec::with_capacity(self.earlier.issues.len() + changed.len());
        let mut changed = changed.into_iter().peekable();
        for issue in same {
            while let Some(next) = changed.next_if(|next| place(next) < place(issue)) {
                issues.push(next);
            }
            issues.push(Arc::clone(issue));
        }
        issues.extend(changed);
        issues
    }
}

impl EarlierCorrelation {
    /// The scans of an issue in order of time, latest first, also those that did not report it.
    pub fn timeline(&self, issue: &Issue) -> Vec<TimelineEntry> {
        self.scans.timeline(&self.input, issue)
    }

    /// Why an issue has its presence, with the scans that were compared.
    pub fn presence_of(&self, issue: &Issue) -> PresenceResult {
        if issue.manual().is_some() {
            return PresenceResult {
                reason: PresenceReason::Manual,
                ..PresenceResult::default()
            };
        }
        let row = self.matched(issue);
        let scans = row.seen.iter().chain(&row.stand_ins);
        let scans = scans.filter_map(|&at| self.input.findings.items()[at].task_id());
        let series = scans.filter_map(|scan| Some(self.scans.place(scan)?.0));
        Presences::of_series(&self.input, &self.scans, series).of(&row)
    }

    /// The occurrences of an issue.
    fn matched(&self, issue: &Issue) -> MatchedFinding {
        if has_siblings(&issue.identity)
            && let Some(row) = self.siblings().get(&issue.key())
        {
            return row.clone();
        }
        let mut seen: Vec<usize> = occurrences(issue)
            .filter_map(|finding| self.input.findings.position(finding.id))
            .collect();
        seen.reverse();
        MatchedFinding {
            identity: Arc::new(issue.identity.clone()),
            seen,
            stand_ins: Vec::new(),
            lost: false,
            earlier_decision: None,
        }
    }

    /// The findings that have equal siblings. Which findings of other scans stand in for one of
    /// them is known only after those of its asset were matched: once, because a report explains
    /// all.
    fn siblings(&self) -> &HashMap<FindingKey, MatchedFinding> {
        self.siblings.get_or_init(|| {
            let issues = self.issues.items().iter();
            let of_siblings = issues.filter(|issue| has_siblings(&issue.identity));
            let assets: HashSet<&Shared> = of_siblings.map(|issue| &issue.identity.asset).collect();
            matching::of_assets(&self.input, &assets)
                .into_iter()
                .filter(|row| has_siblings(&row.identity))
                .map(|row| (row.identity.key, row))
                .collect()
        })
    }

    /// Whether scans and findings are the same.
    fn has_scans_of(&self, input: &CorrelationInput) -> bool {
        Arc::ptr_eq(&self.input.findings, &input.findings)
            && Arc::ptr_eq(&self.input.scans, &input.scans)
            && (&self.input.read, &self.input.unread) == (&input.read, &input.unread)
    }

    fn assessment(&self, at: usize) -> &Arc<Assessment> {
        let known = self
            .assessed
            .binary_search_by_key(&at, |(of, _)| *of as usize);
        known.map_or(&self.undecided, |index| &self.assessed[index].1)
    }

    /// Whether its decisions are these ones.
    fn decides(
        &self,
        input: &CorrelationInput,
        assessed: &[(u32, Arc<Assessment>)],
        rules: &[Option<EventId>],
    ) -> bool {
        self.assessed == assessed
            && self.rules == rules
            && self.input.state.rules() == input.state.rules()
    }
}

/// Whether it is one of several equal findings of a scan.
fn has_siblings(identity: &Identity) -> bool {
    identity.ordinal > 0
}

/// All issues, ordered by the first scan that found them.
fn issues(
    input: &CorrelationInput,
    scans: &ScanIndex,
    known: Option<&KnownIssues<'_>>,
) -> Arc<Table<Issue>> {
    let positions = known.map_or_else(
        || (0..input.findings.len()).collect(),
        |known| known.changed_findings(input),
    );
    let reuse = |issue: Issue| match known {
        Some(known) => known.reuse(issue),
        None => Arc::new(issue),
    };
    let mut issues: Vec<Arc<Issue>> = Vec::new();
    if !positions.is_empty() {
        let presences = Presences::new(input, scans);
        issues.reserve_exact(positions.len());
        for batch in matching::batches(input, positions) {
            let rows = matching::rows(input, &batch);
            issues.extend(
                rows.into_iter()
                    .map(|row| reuse(issue(input, &presences, row))),
            );
        }
        // The issues of a batch are ordered already, so keys are computed rarely. Stored keys would
        // need much memory.
        issues.sort_by_key(|issue| place(issue));
    }
    let Some(known) = known else {
        return Arc::new(Table::new(
            issues.into_iter().chain(manual_issues(input).map(Arc::new)),
        ));
    };
    let mut issues = known.merge(issues);
    issues.extend(manual_issues(input).map(reuse));
    Table::following(&known.earlier.issues, issues, &input.searched)
}

/// The first scan that found an issue, and the finding of that scan.
fn place(issue: &Issue) -> (Option<Stamp>, Option<ScanId>, FindingId) {
    let (at, first) = issue
        .earlier
        .last()
        .map_or((issue.last_seen.get(), &issue.finding), |one| {
            (one.at, &one.finding)
        });
    (at, first.task_id(), first.id)
}

/// Pairs each issue with its assessment.
pub(super) fn assessed<'a>(
    issues: &'a Table<Issue>,
    assessments: &'a [Arc<Assessment>],
) -> Vec<AssessedFinding<'a>> {
    issues
        .items()
        .iter()
        .zip(assessments)
        .map(|(issue, assessment)| AssessedFinding { issue, assessment })
        .collect()
}

/// Recomputes the assessment of an issue; `rule` is the rule that matches it.
pub fn reassess(
    issue: &Issue,
    rule: Option<EventId>,
    state: &TriageState,
    today: Date,
) -> Assessment {
    assessment(
        issue,
        rule.and_then(|rule| state.rule(rule))
            .filter(|rule| !rule.off),
        state,
        today,
    )
}

impl CorrelationInput {
    /// True if data of this workspace is shown in the current one.
    pub(super) fn concerns(&self, workspace: &str) -> bool {
        self.workspace.is_empty() || workspace.is_empty() || *workspace == *self.workspace
    }

    fn started(&self, finding: &ListedFinding) -> Option<Stamp> {
        self.scans.get(finding.task_id()?)?.start_time
    }
}

fn issue(input: &CorrelationInput, presences: &Presences, row: MatchedFinding) -> Issue {
    let result = presences.of(&row);
    let occurrence = |&at: &usize| {
        let finding = Arc::clone(&input.findings.items()[at]);
        Occurrence {
            at: input.started(&finding),
            finding,
        }
    };
    let latest = occurrence(&row.seen[row.seen.len() - 1]);
    let earlier: Box<[Occurrence]> = if row.seen.len() > 1 {
        row.seen.iter().rev().map(occurrence).collect()
    } else {
        Box::default()
    };
    let severity = severity(input, row.identity.key);
    let rare = RareIssueData {
        absent_in: result.absent_in,
        earlier_decision: row.earlier_decision.map(Box::new),
        manual: None,
    };
    let first_seen = earlier.iter().filter_map(|one| one.at).min().or(latest.at);
    Issue {
        id: row.identity.key.into(),
        identity: Arc::unwrap_or_clone(row.identity),
        finding: latest.finding,
        earlier,
        severity,
        presence: result.reason.presence(),
        reason: result.reason,
        first_seen: first_seen.into(),
        last_seen: latest.at.into(),
        rare: rare.boxed(),
    }
}

fn severity(input: &CorrelationInput, key: FindingKey) -> Option<Risk> {
    input.state.finding_state(key)?.severity
}

fn manual_issues(input: &CorrelationInput) -> impl Iterator<Item = Issue> {
    let targets = input
        .targets
        .items()
        .iter()
        .map(|target| (identity::asset(&target.name), target.id));
    let targets: HashMap<Shared, TargetId> = if input.state.manual_findings().next().is_some() {
        targets.collect()
    } else {
        HashMap::new()
    };
    let all = input
        .state
        .manual_findings()
        .filter(|manual| !manual.off && input.concerns(&manual.event.workspace));
    all.map(move |manual| manual_issue(input, manual, &targets))
}

fn manual_issue(
    input: &CorrelationInput,
    manual: &ManualFindingState,
    targets: &HashMap<Shared, TargetId>,
) -> Issue {
    let identity = identity::of_manual(manual.id, &manual.finding, &input.alias);
    let finding = Finding {
        id: manual_id(manual.key),
        name: manual.finding.name.clone(),
        risk_level: manual.finding.risk,
        vuln_id: identity.class.clone(),
        vuln_description: manual.finding.text.clone(),
        vuln_evidence: Evidence::from_value(&manual.finding.evidence.as_str().into()),
        recommendation: manual.finding.recommendation.clone(),
        cwe: manual.finding.cwe.clone(),
        cvssv3: manual.finding.cvss,
        references: manual.finding.references.clone(),
        port: manual.finding.port,
        protocol: if manual.finding.port > 0 {
            "tcp".into()
        } else {
            Shared::default()
        },
        target_id: targets.get(&identity.asset).copied(),
        target_name: Some(manual.finding.target.clone()),
        status: "open".into(),
        test_finished: true,
        ..Finding::default()
    };
    let made = input.state.event(manual.id).map(|event| event.at);
    Issue {
        id: manual.key.into(),
        identity,
        finding: Arc::new(finding.into()),
        severity: severity(input, manual.key),
        presence: Presence::Unchanged,
        reason: PresenceReason::Manual,
        first_seen: made.into(),
        last_seen: made.into(),
        rare: RareIssueData {
            manual: Some(Box::new(manual.id)),
            ..RareIssueData::default()
        }
        .boxed(),
        ..Issue::default()
    }
}

/// A negative id, which no service assigns.
fn manual_id(key: FindingKey) -> FindingId {
    FindingId(-1 - super::issue::IssueId::from(key).0)
}
