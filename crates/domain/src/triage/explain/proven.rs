//! The last proof of a finding, and the steps that it leaves.

use super::{ReadTexts, SettlingStep};
use crate::finding::Verdict;
use crate::proof::{FindingProof, ProofOutcome, ProofRequest};
use crate::triage::issue::{Assessment, Issue};
use crate::triage::state::TriageState;
use scandeck_wire::contract::{Scan, Shared, Stamp, Tool};

/// A request of the evidence that was sent again.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedProof {
    pub proof: FindingProof,
    pub who: Shared,
    pub at: Stamp,
}

impl ExplainedProof {
    /// The last proof of an issue.
    pub fn last(issue: &Issue, state: &TriageState) -> Option<Self> {
        let decided = state.finding_state(issue.key())?;
        let (event, proof) = decided.proven().next_back()?;
        Some(Self {
            proof: proof.clone(),
            who: event.who.clone(),
            at: event.at,
        })
    }

    /// `gone: the target answers 404 or 410 for this URL, by anna, 2026-11-20 14:06:00`
    pub fn phrase(&self) -> String {
        format!("{}, by {}, {}", self.proof.phrase(), self.who, self.at)
    }

    /// The decision that the proof suggests, unless somebody decided since.
    pub(super) fn step(&self, assessment: &Assessment) -> Option<SettlingStep> {
        let is_later = assessment.at.is_none_or(|decided| decided <= self.at);
        let current = assessment.verdict;
        match self.proof.outcome() {
            ProofOutcome::StillThere if is_later && current != Verdict::Confirmed => {
                let is_open = assessment.is_undecided() || current == Verdict::Fixed;
                is_open.then_some(SettlingStep::Confirm)
            }
            ProofOutcome::Gone if is_later && current != Verdict::Fixed => {
                let is_open = assessment.is_undecided() || current == Verdict::Confirmed;
                is_open.then_some(SettlingStep::Fix)
            }
            _ => None,
        }
    }
}

/// The step for a finding that no proof has settled: the request in its evidence, or its scan if
/// the proof cannot tell.
pub(super) fn unproven_step(
    issue: &Issue,
    current: Option<&ExplainedProof>,
    found_by: Option<&Scan>,
    can_repeat: bool,
    read: &ReadTexts<'_>,
) -> Option<SettlingStep> {
    match current.map(|proven| proven.proof.outcome()) {
        None => has_request(issue, found_by, read).then_some(SettlingStep::Prove),
        Some(ProofOutcome::CannotTell) => found_by
            .filter(|_| can_repeat)
            .map(|scan| SettlingStep::Retest(scan.id)),
        Some(ProofOutcome::StillThere | ProofOutcome::Gone) => None,
    }
}

/// Whether the evidence has a request that may be sent again.
fn has_request(issue: &Issue, found_by: Option<&Scan>, read: &ReadTexts<'_>) -> bool {
    let tool = found_by.map(|scan| Tool(scan.tool_id));
    read(&issue.finding)
        .is_ok_and(|texts| ProofRequest::plan(&texts.vuln_evidence, tool, &[]).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::ProofReason;
    use crate::triage::event::{Change, Subject};
    use crate::triage::listed::ListedFinding;
    use crate::triage::testing::TriageFixture;
    use scandeck_wire::contract::{Evidence, ScanId};

    fn steps(fixture: &TriageFixture) -> Vec<SettlingStep> {
        let rows = fixture.rows();
        let (issue, assessment) = (&rows.issues.items()[0], &rows.assessments[0]);
        let read = |finding: &ListedFinding| finding.texts().map_err(|error| error.to_string());
        let explanation = rows
            .earlier
            .explain(issue, assessment, rows.earlier.state(), &read);
        explanation.steps
    }

    #[test]
    fn request_can_be_sent_and_a_doubt_leads_to_the_retest() {
        let mut fixture = TriageFixture::new();
        fixture.scan(1);
        let row = ["GET http://shop.test/.git/HEAD", "200"].map(str::to_owned);
        fixture.found(1, "web.exposed.git", "").vuln_evidence =
            Evidence::table(&["Request", "Status"], [Vec::from(row)]);
        let open = SettlingStep::OpenScan(ScanId(1));
        assert_eq!(steps(&fixture), [open, SettlingStep::Prove]);
        let identity = fixture.rows().issues.items()[0].identity.clone();
        for (reason, expected) in [
            (
                ProofReason::Redirects,
                [open, SettlingStep::Retest(ScanId(1))],
            ),
            (ProofReason::NotFound, [SettlingStep::Fix, open]),
        ] {
            let proof = FindingProof {
                reason,
                ..FindingProof::default()
            };
            let change = Change::Proof(Box::new(proof));
            fixture.ann.does(Subject::Finding(identity.clone()), change);
            assert_eq!(steps(&fixture), expected, "{reason:?}");
        }
    }
}
