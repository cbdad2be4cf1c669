//! A proof as it is stored: the request, both answers, and what they say.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::answer::{MOST_HEADER, MOST_HEADERS, start};
use super::{ExpectedAnswer, ProofAnswer, ProofOutcome, ProofReason, ProofRequest, judge};
use crate::finding::Verdict;
use scandeck_wire::contract::Shared;

/// Most bytes of a stored URL.
const MOST_URL: usize = 2000;
/// Most bytes of a stored problem.
const MOST_PROBLEM: usize = 300;

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
        let headers = request.shown_headers();
        // The evidence keeps no body that may hold secrets, and none that belongs to a user.
        let keeps_body = !expected.answer.body.is_empty() && request.credentials.is_empty();
        let stored = |answer: &ProofAnswer| match keeps_body {
            true => answer.bounded(),
            false => answer.bounded().without_body(),
        };
        let shown = |text: &String| Shared::from(start(text, MOST_HEADER));
        Self {
            method: request.method.as_str().into(),
            url: start(&request.shown_url(), MOST_URL).into(),
            digest: digest(request, &headers, now.as_ref()).into(),
            headers: headers.iter().take(MOST_HEADERS).map(shown).collect(),
            then: stored(&expected.answer),
            now: now.as_ref().map(stored),
            problem: start(&problem, MOST_PROBLEM).into(),
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

    /// `gone: the target answers 404 or 410 for this URL`
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
fn digest(request: &ProofRequest, headers: &[String], answer: Option<&ProofAnswer>) -> String {
    let mut hash = Sha256::new();
    hash.update(request.to_string());
    for header in headers {
        hash.update("\n");
        hash.update(header);
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
            "gone: the target answers 404 or 410 for this URL"
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
    fn proof_keeps_a_body_only_if_the_evidence_does_and_no_credentials_were_sent() {
        let page = "HTTP/1.1 200 OK\n\nhello";
        let message = "GET /a HTTP/1.1\nCookie: sid=1";
        for (response, send, is_kept) in [
            (page, vec![], true),
            (page, vec!["Cookie".to_owned()], false),
            (
                "HTTP/1.1 200 OK\n\n[body not kept: it may hold secrets]",
                vec![],
                false,
            ),
            ("", vec![], false),
        ] {
            let row = ["http://a.test/a", message, response].map(str::to_owned);
            let evidence = Evidence::table(&["URL", "Request", "Response"], [Vec::from(row)]);
            let request = ProofRequest::plan(&evidence, Some(Tool::WEBSITE), &send).unwrap();
            let expected = ExpectedAnswer::of(&evidence);
            let proof = FindingProof::new(&request, &expected, Ok(ProofAnswer::parse(page)));
            assert_eq!(!proof.now.unwrap().body.is_empty(), is_kept, "{response}");
            assert_eq!(!proof.then.body.is_empty(), is_kept, "{response}");
        }
    }

    #[test]
    fn stored_texts_are_bounded() {
        let long = "a".repeat(10_000);
        let message = format!("GET /{long} HTTP/1.1\nX-Long: {long}");
        let row = ["http://a.test/".to_owned(), message];
        let evidence = Evidence::table(&["URL", "Request"], [Vec::from(row)]);
        let request = ProofRequest::plan(&evidence, Some(Tool::WEBSITE), &[]).unwrap();
        let proof = FindingProof::new(&request, &ExpectedAnswer::of(&evidence), Err(long));
        assert_eq!(
            (proof.url.len(), proof.problem.len()),
            (MOST_URL, MOST_PROBLEM)
        );
        assert!(proof.headers.iter().all(|line| line.len() <= MOST_HEADER));
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
