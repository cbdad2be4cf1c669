//! The last proof of a finding, and the steps that it leaves.

use super::parts::{ComparedValue, EvidencePart, add_text, compare_parts};
use super::{ReadTexts, SettlingStep};
use crate::finding::Verdict;
use crate::proof::{FindingProof, ProofAnswer, ProofOutcome, ProofRequest};
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

    /// The headers and lines of the body that differ in both answers, without those that differ in
    /// any two. What one of the answers does not have, or not completely, is not compared.
    pub(super) fn changes(&self) -> Vec<ComparedValue> {
        let Some(now) = &self.proof.now else {
            return Vec::new();
        };
        let then = &self.proof.then;
        let of_headers = match then.headers.is_empty() {
            true => Vec::new(),
            false => compare_parts(header_parts(then), header_parts(now)).0,
        };
        let is_whole = |answer: &ProofAnswer| !answer.body.is_empty() && !answer.is_cut;
        let of_bodies = match is_whole(then) && is_whole(now) {
            true => compare_parts(body_parts(then), body_parts(now)).0,
            false => Vec::new(),
        };
        [of_headers, of_bodies].concat()
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

fn header_parts(answer: &ProofAnswer) -> Vec<EvidencePart> {
    let part = |(name, value): (&str, &str)| (name.to_lowercase(), value.to_owned());
    answer.steady_values().map(part).collect()
}

fn body_parts(answer: &ProofAnswer) -> Vec<EvidencePart> {
    let mut parts = Vec::new();
    add_text("", &answer.body, &mut parts);
    parts
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

    /// `name: then > now` of each difference.
    fn changes(then: &str, now: &str) -> Vec<String> {
        let explained = ExplainedProof {
            proof: FindingProof {
                then: ProofAnswer::parse(then),
                now: Some(ProofAnswer::parse(now)),
                ..FindingProof::default()
            },
            who: "ann".into(),
            at: Stamp::default(),
        };
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let all = explained.changes();
        let words = all
            .iter()
            .map(|one| format!("{}: {} > {}", one.name, shown(&one.then), shown(&one.now)));
        words.collect()
    }

    #[test]
    fn answers_differ_in_headers_and_lines_but_not_in_dates_and_nonces() {
        let then = "HTTP/1.1 200 OK\nServer: nginx\nDate: Mon, 02 Nov 2026 10:00:00 GMT\n\n\
            <p>hello</p>\n<p>SQL error</p>\n<i nonce=0123456789abcdef>";
        let now = "HTTP/1.1 200 OK\nserver: apache\ndate: Tue, 03 Nov 2026 11:00:00 GMT\n\
            connection: close\n\n<p>hello</p>\n<p>fine</p>\n<i nonce=fedcba9876543210>";
        let of_headers = "server: nginx > apache";
        let expected = [of_headers, ": <p>SQL error</p> > -", ": - > <p>fine</p>"];
        assert_eq!(changes(then, now), expected);
        assert_eq!(changes(&format!("{then}…"), now), [of_headers], "cut");
        let body = "<p>hello</p>";
        assert!(changes(body, now).iter().all(|one| one.starts_with(": ")));
        assert!(changes(then, then).is_empty());
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
