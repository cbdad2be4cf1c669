//! Why a finding is new, changed, absent, reappeared or not retested, with everything that the
//! reason is based on. Computed on demand for one finding.
//!
//! ```text
//!   EarlierCorrelation::presence_of ─► reason, compared scans ─┐
//!   parameters, coverage of the scans ─► test_run.rs ──────────┼─► PresenceExplanation ─┬─► lines.rs: people
//!   evidence then and now ─► parts.rs ─────────────────────────┤                        └─► json.rs: programs
//!   decisions, rule, baseline, proof ──────────────────────────┘
//! ```

mod json;
mod lines;
mod parts;
mod proven;
mod test_run;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::civil::Date;

use super::correlate::EarlierCorrelation;
use super::event::{Baseline, Decision, Event};
use super::imported::is_imported;
use super::issue::{Assessment, Issue, ReopenCause, VerdictSource};
use super::listed::{FindingTexts, ListedFinding};
use super::presence::ComparedScans;
use super::state::TriageState;
use crate::finding::{
    FindingKey, Presence, PresenceReason, Reason, RetestGap, Verdict, named_enum,
};
use scandeck_wire::contract::{FindingId, Scan, ScanId, Shared, Stamp, Tool};

pub use lines::{ExplanationLine, LineTone, lines};
pub use parts::{ComparedValue, EvidenceComparison};
pub use proven::ExplainedProof;
use proven::unproven_step;
pub use test_run::ExplainedTest;

named_enum! {
    /// What a scan says about an explained finding.
    ScanRole {
        Found "found",
        FoundBefore "found_before",
        NotFound "not_found",
        NotTested "not_tested",
        Baseline "baseline",
    }
}

/// Why a finding has its presence.
#[derive(Clone, Debug, PartialEq)]
pub struct PresenceExplanation {
    pub finding: FindingId,
    pub key: FindingKey,
    pub name: Shared,
    pub reason: PresenceReason,
    /// The scans that were compared, oldest first.
    pub scans: Vec<ExplainedScan>,
    /// The test in the scan that the reason is about.
    pub test: Option<ExplainedTest>,
    pub evidence: EvidenceComparison,
    /// The pinned baseline of the workspace, if the reason is about it.
    pub baseline: Option<ExplainedBaseline>,
    /// The decisions in force; several are a conflict.
    pub decisions: Vec<ExplainedDecision>,
    /// Why the decision no longer holds.
    pub reopened: Option<ReopenCause>,
    /// The last proof.
    pub proof: Option<ExplainedProof>,
    /// The steps that settle it, the best first.
    pub steps: Vec<SettlingStep>,
}

/// A compared scan.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedScan {
    pub id: ScanId,
    /// Unknown if the scan is not listed.
    pub tool: Option<Tool>,
    pub status: Shared,
    pub at: Option<Stamp>,
    pub role: ScanRole,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedBaseline {
    pub baseline: Baseline,
    pub who: Shared,
    pub at: Stamp,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedDecision {
    pub verdict: Verdict,
    pub source: VerdictSource,
    /// Unknown for a status of the service.
    pub who: Option<Shared>,
    pub at: Option<Stamp>,
    /// The query of the rule that decides.
    pub rule: Option<Shared>,
    pub reason: Option<Reason>,
    pub until: Option<Date>,
}

/// A step that settles an open question about a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettlingStep {
    /// Confirm it: the last proof shows that it is still there.
    Confirm,
    /// Mark it as fixed: the last proof shows that it is gone.
    Fix,
    /// Send the request in its evidence again.
    Prove,
    /// Repeat the scan that found it, with its parameters.
    Retest(ScanId),
    /// Look at the tests of a scan.
    OpenScan(ScanId),
    /// Compare an earlier scan with a later one.
    Compare { before: ScanId, after: ScanId },
}

/// Reads the long texts of a finding; the error is shown.
pub type ReadTexts<'a> = dyn Fn(&ListedFinding) -> Result<Arc<FindingTexts>, String> + 'a;

impl EarlierCorrelation {
    /// The findings whose texts an explanation needs: the latest, and the earlier one.
    pub fn explained_findings(&self, issue: &Issue) -> Vec<Arc<ListedFinding>> {
        let compared = self.presence_of(issue).compared;
        let positions = compared.now.into_iter().chain(compared.then);
        positions
            .map(|at| Arc::clone(&self.input.findings.items()[at]))
            .collect()
    }

    /// The decisions when the rows were made.
    pub fn state(&self) -> &TriageState {
        &self.input.state
    }

    /// Why an issue has its presence, with the decisions of `state`.
    pub fn explain(
        &self,
        issue: &Issue,
        assessment: &Assessment,
        state: &TriageState,
        read: &ReadTexts<'_>,
    ) -> PresenceExplanation {
        let result = self.presence_of(issue);
        let (reason, compared) = (result.reason, result.compared);
        let scan = |id: ScanId| self.scans.scan(id).map(|scan| &**scan);
        let [found_by, with] = [compared.found_by, compared.with].map(|id| id.and_then(scan));
        let proof = ExplainedProof::last(issue, state);
        // A later scan knows more than the proof.
        let is_current = |proven: &&ExplainedProof| {
            let mut scans = [found_by, with].into_iter().flatten();
            scans.all(|scan| scan.start_time.is_none_or(|start| start <= proven.at))
        };
        let current = proof.as_ref().filter(is_current);
        let decide = current.and_then(|proven| proven.step(assessment));
        let can_repeat = !found_by.is_some_and(is_imported);
        let unproven = unproven_step(issue, current, found_by, can_repeat, read);
        let mut all: Vec<SettlingStep> = decide.into_iter().collect();
        all.extend(steps(reason, compared, can_repeat));
        if let Some(step) = unproven
            && !all.contains(&step)
        {
            all.push(step);
        }
        PresenceExplanation {
            finding: issue.finding.id,
            key: issue.key(),
            name: issue.name.clone(),
            reason,
            scans: self.explained_scans(reason, compared),
            test: found_by.and_then(|found_by| {
                ExplainedTest::of(issue, reason, (found_by, with), &self.scans.tests)
            }),
            evidence: self.evidence(reason, compared, read),
            baseline: self.explained_baseline(reason),
            decisions: decisions(issue, assessment, state),
            reopened: assessment.reopened,
            proof,
            steps: all,
        }
    }

    fn explained_scans(
        &self,
        reason: PresenceReason,
        compared: ComparedScans,
    ) -> Vec<ExplainedScan> {
        let scan_of = |at: usize| self.input.findings.items()[at].task_id();
        let then = compared.then.and_then(scan_of);
        let with = match reason.presence() {
            Presence::NotRetested => ScanRole::NotTested,
            _ if reason == PresenceReason::InBaseline => ScanRole::Baseline,
            _ => ScanRole::NotFound,
        };
        let all = [
            (then, ScanRole::FoundBefore),
            (compared.found_by, ScanRole::Found),
            (compared.with, with),
        ];
        let mut scans: Vec<ExplainedScan> = Vec::new();
        for (id, role) in all {
            let Some(id) = id else { continue };
            if scans.iter().all(|known| known.id != id) {
                scans.push(self.explained_scan(id, role));
            }
        }
        scans.sort_by_key(|scan| (scan.at.is_none(), scan.at, scan.id));
        scans
    }

    fn explained_scan(&self, id: ScanId, role: ScanRole) -> ExplainedScan {
        let scan: Option<&Scan> = self.scans.scan(id).map(|scan| &**scan);
        ExplainedScan {
            id,
            tool: scan.map(|scan| Tool(scan.tool_id)),
            status: scan.map_or("not listed", Scan::shown_status).into(),
            at: scan.and_then(|scan| scan.start_time),
            role,
        }
    }

    /// The evidence of the earlier finding beside that of the latest. An absent finding has none
    /// now, and a new one had none before.
    fn evidence(
        &self,
        reason: PresenceReason,
        compared: ComparedScans,
        read: &ReadTexts<'_>,
    ) -> EvidenceComparison {
        let finding = |at: Option<usize>| at.map(|at| &*self.input.findings.items()[at]);
        let (then, now) = match reason.presence() {
            Presence::Absent => (finding(compared.now), None),
            Presence::NotRetested => return EvidenceComparison::default(),
            _ => (finding(compared.then), finding(compared.now)),
        };
        match (then, now) {
            (None, Some(_)) if compared.with.is_none() => EvidenceComparison::default(),
            (then, now) => EvidenceComparison::between(then, now, read),
        }
    }

    fn explained_baseline(&self, reason: PresenceReason) -> Option<ExplainedBaseline> {
        let is_about_it = matches!(
            reason,
            PresenceReason::InBaseline
                | PresenceReason::NotInBaseline
                | PresenceReason::NoScanInBaseline
        );
        let event = self.input.state.baseline_event(&self.input.workspace);
        let event = event.filter(|_| is_about_it)?;
        let baseline = self.input.state.baseline(&self.input.workspace)?;
        Some(ExplainedBaseline {
            baseline: baseline.clone(),
            who: event.who.clone(),
            at: event.at,
        })
    }
}

/// The decisions in force: those of people, else that of a rule or of the service.
fn decisions(
    issue: &Issue,
    assessment: &Assessment,
    state: &TriageState,
) -> Vec<ExplainedDecision> {
    let of = |event: &Event, decision: &Decision, rule: Option<Shared>| ExplainedDecision {
        verdict: decision.verdict,
        source: assessment.source,
        who: Some(event.who.clone()),
        at: Some(event.at),
        rule,
        reason: decision.reason,
        until: decision.until,
    };
    match assessment.source {
        VerdictSource::Nobody => Vec::new(),
        VerdictSource::Person => {
            let decided = state.finding_state(issue.key()).into_iter();
            decided
                .flat_map(|decided| decided.decisions())
                .map(|(event, decision)| of(event, decision, None))
                .collect()
        }
        VerdictSource::Rule(id) => {
            let rule = state.rule(id).into_iter();
            rule.map(|rule| of(&rule.event, &rule.decision, Some(rule.query.clone())))
                .collect()
        }
        VerdictSource::Service => vec![ExplainedDecision {
            verdict: assessment.verdict,
            source: assessment.source,
            who: None,
            at: None,
            rule: None,
            reason: None,
            until: None,
        }],
    }
}

/// The next steps; `can_repeat`: the service can run the scan that found it again.
fn steps(reason: PresenceReason, compared: ComparedScans, can_repeat: bool) -> Vec<SettlingStep> {
    let (found_by, with) = (compared.found_by, compared.with);
    let retest = found_by.filter(|_| can_repeat).map(SettlingStep::Retest);
    let open = |scan: Option<ScanId>| scan.map(SettlingStep::OpenScan);
    let compare = found_by
        .zip(with)
        .filter(|(after, before)| after != before)
        .map(|(after, before)| SettlingStep::Compare { before, after });
    let steps = match reason {
        PresenceReason::Manual | PresenceReason::UnknownScan => [None, None],
        PresenceReason::NotRetested(RetestGap::Ambiguous) => [retest, open(found_by)],
        PresenceReason::NotRetested(_) | PresenceReason::NotFoundAgain => [retest, open(with)],
        PresenceReason::OtherEvidence | PresenceReason::SameEvidence => [compare, open(found_by)],
        PresenceReason::FoundAgain => [open(with), retest],
        PresenceReason::IncompleteEvidence => [retest, open(found_by)],
        PresenceReason::FirstScan
        | PresenceReason::NotFoundBefore
        | PresenceReason::NotInBaseline
        | PresenceReason::NoScanInBaseline
        | PresenceReason::InBaseline
        | PresenceReason::FoundByOtherTool => [open(found_by), compare],
    };
    steps.into_iter().flatten().collect()
}

impl ExplainedBaseline {
    /// `scans #3, #4`, or a day.
    pub fn pinned(&self) -> String {
        match &self.baseline {
            Baseline::Day(day) => day.to_string(),
            Baseline::Scans(scans) => {
                let ids: Vec<String> = scans.iter().map(|id| format!("#{id}")).collect();
                let noun = if ids.len() == 1 { "scan" } else { "scans" };
                format!("{noun} {}", ids.join(", "))
            }
        }
    }
}
