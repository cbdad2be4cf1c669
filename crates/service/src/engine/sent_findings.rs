//! Findings as a worker sends them to its service: beside the fields that clients see, their place
//! and their scores.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{FindingScores, NewFinding};

#[derive(Serialize)]
struct SentFinding<'a> {
    finding: &'a NewFinding,
    place: &'a str,
    scores: FindingScores,
}

#[derive(Deserialize)]
struct ReceivedFinding {
    finding: NewFinding,
    place: String,
    scores: FindingScores,
}

/// Writes findings.
///
/// # Errors
/// When a finding has no JSON form.
pub fn serialize<S: Serializer>(findings: &[NewFinding], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(findings.iter().map(|finding| SentFinding {
        finding,
        place: &finding.place,
        scores: finding.scores,
    }))
}

/// Reads findings.
///
/// # Errors
/// When the text has another form.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<NewFinding>, D::Error> {
    let received: Vec<ReceivedFinding> = Vec::deserialize(from)?;
    let finding = |one: ReceivedFinding| NewFinding {
        place: one.place,
        scores: one.scores,
        ..one.finding
    };
    Ok(received.into_iter().map(finding).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::TestDone;
    use super::*;
    use scandeck_wire::contract::{Evidence, Risk};

    #[test]
    fn sent_finding_has_its_place_scores_and_evidence() {
        let scores = FindingScores {
            cvss: Some(7.5),
            ..FindingScores::default()
        };
        let finding = NewFinding {
            vuln_id: "web.a".to_owned(),
            risk: Risk::High,
            port: 443,
            evidence: Evidence::table(&["Port"], [vec!["443".to_owned()]]),
            scores,
            place: "GET /a".to_owned(),
            ..NewFinding::default()
        };
        let test = TestDone::new("web.a", "a test", json!({"n": 1}), vec![finding]);
        let sent = serde_json::to_vec(&test).unwrap();
        let received: TestDone = serde_json::from_slice(&sent).unwrap();
        assert_eq!(format!("{received:?}"), format!("{test:?}"));
        assert_eq!(received.findings[0].scores, scores);
    }
}
