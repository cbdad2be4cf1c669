//! A proof as it is stored: the request, both answers, and what they say.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{ExpectedAnswer, ProofAnswer, ProofOutcome, ProofReason, ProofRequest, judge};
use crate::finding::Verdict;
use scandeck_wire::contract::Shared;

/// The content of an event. Author and time are those of the event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FindingProof {
    pub method: Shared,
    pub url: Shared,
    /// The headers that were sent, each `Name: value`; credentials have no value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<Shared>,
    /// The answer in the evidence.
    pub then: ProofAnswer,
    /// The answer to the request; none if the target did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<ProofAnswer>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub problem: Shared,
    pub reason: ProofReason,
    /// SHA-256 of request and answer as they were, which are stored in part.
    pub digest: Shared,
}

impl FindingProof {
    /// Judges the answer to a request, or the problem that prevented it.
    pub fn new(
        request: &ProofRequest,
        expected: &ExpectedAnswer,
        received: Result<ProofAnswer, String>,
    ) -> Self {
        let is_anonymous = !request.left_out.is_empty();
        let (now, problem) = match received {
            Ok(answer) => (Some(answer), String::new()),
            Err(problem) => (None, problem),
        };
        let judged = now
            .as_ref()
            .map(|answer| judge(expected, answer, is_anonymous));
        let headers: Vec<Shared> = request
            .shown_headers()
            .into_iter()
            .map(Shared::from)
            .collect();
        Self {
            method: request.method.as_str().into(),
            url: request.url.as_str().into(),
            digest: digest(request, &headers, now.as_ref()).into(),
            headers,
            then: expected.answer.bounded(),
            now: now.map(|answer| answer.bounded()),
            problem: problem.into(),
            reason: judged.unwrap_or(ProofReason::Down),
        }
    }

    pub fn outcome(&self) -> ProofOutcome {
        self.reason.outcome()
    }

    /// The verdict that the outcome suggests.
    pub fn verdict(&self) -> Option<Verdict> {
        match self.outcome() {
            ProofOutcome::StillThere => Some(Verdict::Confirmed),
            ProofOutcome::Gone => Some(Verdict::Fixed),
            ProofOutcome::CannotTell => None,
        }
    }

    /// `gone: the target no longer has this address`
    pub fn phrase(&self) -> String {
        let reason = self.reason.reason();
        let words = format!("{}: {reason}", self.outcome().phrase());
        match self.problem.is_empty() {
            true => words,
            false => format!("{words} ({})", self.problem),
        }
    }

    /// The answer now in short, or why there is none.
    pub fn summary(&self) -> String {
        match &self.now {
            Some(answer) => answer.summary(),
            None => format!("no answer: {}", self.problem),
        }
    }

    pub fn json(&self) -> Value {
        json!({
            "outcome": self.outcome().as_str(),
            "reason": self.reason.as_str(),
            "because": self.reason.reason(),
            "request": {"method": self.method, "url": self.url, "headers": self.headers},
            "then": self.then,
            "now": self.now,
            "problem": self.problem,
            "digest": self.digest,
        })
    }
}

/// SHA-256 as hexadecimal digits.
fn digest(request: &ProofRequest, headers: &[Shared], answer: Option<&ProofAnswer>) -> String {
    let mut hash = Sha256::new();
    hash.update(request.to_string());
    for header in headers {
        hash.update("\n");
        hash.update(header.as_str());
    }
    if let Some(answer) = answer {
        let status = answer.status.unwrap_or_default();
        hash.update(format!("\n\n{status}\n{}", answer.text()));
    }
    let digits = hash.finalize();
    digits.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::{Evidence, Tool};

    fn planned() -> (ProofRequest, ExpectedAnswer) {
        let row = ["GET http://a.test/.env", "200"].map(str::to_owned);
        let evidence = Evidence::table(&["Request", "Status"], [Vec::from(row)]);
        let request = ProofRequest::plan(&evidence, Some(Tool::WEBSITE), &[]).unwrap();
        (request, ExpectedAnswer::of(&evidence))
    }

    #[test]
    fn proof_is_judged_and_round_trips() {
        let (request, expected) = planned();
        let answer = ProofAnswer::parse("HTTP/1.1 404 Not Found\nServer: nginx\n\nnone");
        let proof = FindingProof::new(&request, &expected, Ok(answer.clone()));
        assert_eq!(
            proof.phrase(),
            "gone: the target no longer has this address"
        );
        assert_eq!(proof.verdict(), Some(Verdict::Fixed));
        let text = serde_json::to_string(&proof).unwrap();
        assert_eq!(serde_json::from_str::<FindingProof>(&text).unwrap(), proof);
        let other = ProofAnswer {
            body: "gone".into(),
            ..answer
        };
        let other = FindingProof::new(&request, &expected, Ok(other));
        assert_ne!(other.digest, proof.digest);
    }

    #[test]
    fn proof_without_an_answer_names_the_problem() {
        let (request, expected) = planned();
        let proof = FindingProof::new(&request, &expected, Err("connection refused".to_owned()));
        assert_eq!(
            proof.phrase(),
            "cannot tell: the target does not answer (connection refused)"
        );
        assert_eq!((proof.verdict(), proof.now), (None, None));
    }
}
