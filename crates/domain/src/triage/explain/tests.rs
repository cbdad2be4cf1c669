//! Explanations: each reason once, and the lines that name what it is based on.

use std::collections::BTreeSet;

use serde_json::json;

use super::{LineTone, PresenceExplanation, SettlingStep, lines};
use crate::finding::{PresenceReason, RetestGap, Verdict};
use crate::proof::{FindingProof, ProofReason};
use crate::triage::event::{Baseline, Change, Decision, ManualFinding, Subject};
use crate::triage::testing::TriageFixture;
use scandeck_wire::contract::{Evidence, ResultSummary, Risk, Scan, ScanId, ScanStatus};

/// The explanations of all rows.
fn explained(fixture: &TriageFixture) -> Vec<PresenceExplanation> {
    let rows = fixture.rows();
    let each = rows.issues.items().iter().zip(rows.assessments.iter());
    each.map(|(issue, assessment)| {
        let state = rows.earlier.state();
        rows.earlier.explain(issue, assessment, state, &|finding| {
            finding.texts().map_err(|error| error.to_string())
        })
    })
    .collect()
}

/// Two scans, the second changed, of which these found the finding.
fn two_scans(found: &[i64], change_second: impl Fn(&mut Scan)) -> TriageFixture {
    let mut fixture = TriageFixture::new();
    fixture.scan(1);
    change_second(fixture.scan(2));
    for &scan in found {
        fixture.found(scan, "web.exposed.git", "");
    }
    fixture
}

fn only(fixture: &TriageFixture) -> PresenceExplanation {
    let mut all = explained(fixture);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn printed(explanation: &PresenceExplanation) -> Vec<String> {
    let step = |step: SettlingStep| Some(format!("{step:?}"));
    let lines = lines(explanation, step);
    lines.iter().map(|line| line.printed()).collect()
}

fn with_baseline(mut fixture: TriageFixture, baseline: Baseline) -> TriageFixture {
    fixture
        .ann
        .does(Subject::Workspace, Change::Baseline(Some(baseline)));
    fixture
}

/// Two imported files that state nothing about their tests.
fn of_files() -> TriageFixture {
    let mut fixture = TriageFixture::new();
    for number in [1, 2] {
        let scan = fixture.scan(number);
        scan.tool_id = 10_002;
        let file = format!("{number}.jsonl");
        scan.tool_params = Some(json!({"import": {"tool": "nuclei", "file": file}}));
        scan.result_summary = ResultSummary {
            critical: Some(0),
            high: Some(i64::from(number == 1)),
            medium: Some(0),
            low: Some(0),
            info: Some(0),
            ..ResultSummary::default()
        };
    }
    fixture.found(1, "nuclei:a", "");
    fixture
}

fn with_params(params: serde_json::Value) -> TriageFixture {
    two_scans(&[1], move |scan| scan.tool_params = Some(params.clone()))
}

fn with_status(status: &ScanStatus) -> TriageFixture {
    two_scans(&[1], |scan| scan.status_name = status.clone())
}

/// The second scan lists the test as incomplete.
fn incomplete(kind: &str) -> TriageFixture {
    let mut fixture = two_scans(&[1], |_| ());
    let row = ["HTTP 403", "9 of 9", "web.exposed.git"].map(str::to_owned);
    fixture.found(2, kind, "").vuln_evidence =
        Evidence::table(&["Cause", "Requests", "Incomplete tests"], [Vec::from(row)]);
    fixture
}

/// Two equal findings in each scan; the second one of the first scan is decided.
fn ambiguous() -> TriageFixture {
    let mut fixture = two_scans(&[1, 1], |_| ());
    fixture.decide(Verdict::Confirmed);
    fixture.found(2, "web.exposed.git", "");
    fixture.found(2, "web.exposed.git", "");
    fixture
}

fn with_manual() -> TriageFixture {
    let mut fixture = TriageFixture::new();
    let id = fixture.ann.writer.next();
    let manual = ManualFinding {
        name: "Weak password".into(),
        target: "shop.test".into(),
        ..ManualFinding::default()
    };
    fixture
        .ann
        .does(Subject::Manual(id), Change::Manual(Box::new(manual)));
    fixture
}

/// A history for each reason.
fn histories() -> Vec<TriageFixture> {
    let day = Baseline::Day("2026-11-01".parse().unwrap());
    let scan = |id: i64| Baseline::Scans(vec![ScanId(id)]);
    let mut again = two_scans(&[1], |_| ());
    again.scan(3);
    again.found(3, "web.exposed.git", "");
    let mut riskier = two_scans(&[1, 2], |_| ());
    riskier.findings[1].risk_level = Risk::High;
    let other_tool = two_scans(&[1, 2], |scan| scan.tool_id = 70);
    let mut unlisted = TriageFixture::new();
    unlisted.found(9, "web.exposed.git", "");
    let mut all = vec![
        two_scans(&[1], |scan| scan.status_name = ScanStatus::Running),
        two_scans(&[2], |_| ()),
        two_scans(&[1, 2], |_| ()),
        two_scans(&[1], |_| ()),
        two_scans(&[1, 2], |scan| scan.status_name = ScanStatus::Stopped),
        with_baseline(two_scans(&[2], |_| ()), scan(1)),
        with_baseline(two_scans(&[2], |_| ()), day),
        with_baseline(two_scans(&[1, 2], |_| ()), scan(2)),
        again,
        riskier,
        other_tool,
        unlisted,
        with_manual(),
        two_scans(&[1], |scan| scan.num_finished_tests = 39),
        two_scans(&[1], |scan| scan.scan_original_url = true),
        ambiguous(),
        of_files(),
    ];
    all.extend(
        [
            ScanStatus::Stopped,
            ScanStatus::TimedOut,
            ScanStatus::Aborted,
        ]
        .iter()
        .map(with_status),
    );
    all.extend(
        [
            json!({"scan_type": "deep"}),
            json!({"scan_type": "light", "port_list": [80]}),
            json!({"scan_type": "light", "discovery": []}),
            json!({"scan_type": "light", "spider": {"depth": 1}}),
            json!({"scan_type": "light", "wordlist_id": 3}),
            json!({"scan_type": "light", "authentication": "•••"}),
            json!({"scan_type": "light", "check_alive": true}),
        ]
        .map(with_params),
    );
    let kinds = ["coverage.blocked", "coverage.login_wall", "coverage.errors"];
    all.extend(kinds.map(incomplete));
    all
}

#[test]
fn every_reason_has_a_history_and_an_explanation() {
    let mut reasons = BTreeSet::new();
    for fixture in histories() {
        for explanation in explained(&fixture) {
            reasons.insert(explanation.reason);
            let lines = printed(&explanation);
            assert!(
                lines[0].starts_with("Because   ")
                    && lines[0].contains(explanation.reason.reason()),
                "{lines:#?}"
            );
            let is_tested = !explanation.steps.is_empty();
            let is_scanned = !matches!(
                explanation.reason,
                PresenceReason::Manual | PresenceReason::UnknownScan
            );
            assert_eq!(is_tested, is_scanned, "{lines:#?}");
            let value = explanation.json();
            assert_eq!(value["reason"], explanation.reason.as_str());
        }
    }
    let missing: Vec<PresenceReason> = PresenceReason::all()
        .filter(|reason| !reasons.contains(reason))
        .collect();
    assert_eq!(missing, []);
}

#[test]
fn imported_scan_is_opened_and_not_repeated() {
    let explanation = only(&of_files());
    assert_eq!(explanation.steps, [SettlingStep::OpenScan(ScanId(2))]);
    let lines = printed(&explanation);
    let files = "          import: was 1.jsonl, now 2.jsonl";
    assert!(lines.iter().any(|line| line == files), "{lines:#?}");
}

#[test]
fn other_ports_name_the_port_and_both_lists() {
    let mut fixture = two_scans(&[1], |scan| {
        scan.tool_params = Some(json!({"scan_type": "custom", "port_list": [80, 8080]}));
    });
    fixture.scans[0].tool_params = Some(json!({"scan_type": "custom", "port_list": [443]}));
    let explanation = only(&fixture);
    assert_eq!(
        explanation.reason,
        PresenceReason::NotRetested(RetestGap::Ports)
    );
    assert_eq!(
        printed(&explanation),
        [
            "Because   not retested: the later scan used other ports",
            "Scans     #1     2026-11-21 01:00:00  found it         Website, finished",
            "          #2     2026-11-21 02:00:00  did not test it  Website, finished",
            "Test      web.exposed.git has no result in scan #2",
            "          port 443: was tested, now not tested",
            "          port_list: was [443], now [80,8080]",
            "Evidence  not compared: the later scan has none",
            "Decision  undecided",
            "Next      Retest(ScanId(1))",
            "          OpenScan(ScanId(2))",
        ]
    );
}

#[test]
fn blocked_test_names_cause_and_requests() {
    let all = explained(&incomplete("coverage.blocked"));
    let is_blocked =
        |one: &&PresenceExplanation| one.reason == PresenceReason::NotRetested(RetestGap::Blocked);
    let lines = printed(all.iter().find(is_blocked).unwrap());
    for line in ["          cause: HTTP 403", "          requests: 9 of 9"] {
        assert!(lines.iter().any(|one| one == line), "{lines:#?}");
    }
}

#[test]
fn scan_that_timed_out_names_its_limit_and_tests() {
    let fixture = two_scans(&[1], |scan| {
        scan.status_name = ScanStatus::TimedOut;
        (scan.num_finished_tests, scan.max_scan_time) = (12, Some(240));
    });
    let lines = printed(&only(&fixture));
    for line in [
        "          status: was finished, now timed out",
        "          finished tests: was 40 of 40, now 12 of 40",
        "          time limit: 240 min",
    ] {
        assert!(lines.iter().any(|one| one == line), "{lines:#?}");
    }
}

#[test]
fn changed_evidence_is_a_difference_of_its_parts() {
    let mut fixture = two_scans(&[1, 2], |_| ());
    for (finding, server) in fixture.findings.iter_mut().zip(["nginx", "apache"]) {
        let answer = format!("HTTP/1.1 200 OK\nServer: {server}");
        finding.vuln_evidence = Evidence::from_value(&json!(answer));
    }
    let explanation = only(&fixture);
    assert_eq!(explanation.reason, PresenceReason::OtherEvidence);
    let tones: Vec<(String, LineTone)> = lines(&explanation, |_| None)
        .into_iter()
        .filter(|line| matches!(line.tone, LineTone::Then | LineTone::Beside))
        .map(|line| (line.text, line.tone))
        .collect();
    assert_eq!(
        tones,
        [
            ("- Server: nginx".to_owned(), LineTone::Then),
            ("+ Server: apache".to_owned(), LineTone::Beside),
        ]
    );
    let compare = SettlingStep::Compare {
        before: ScanId(1),
        after: ScanId(2),
    };
    assert_eq!(explanation.steps[0], compare);
}

#[test]
fn decision_names_its_author_and_a_rule_its_query() {
    let mut fixture = two_scans(&[1], |_| ());
    let decided = |fixture: &TriageFixture| {
        let lines = printed(&only(fixture));
        let at = lines.iter().position(|line| line.starts_with("Decision"));
        lines[at.unwrap()..].join("\n")
    };
    let id = fixture.ann.writer.next();
    fixture.ann.does(
        Subject::Rule(id),
        Change::Rule {
            query: "port:443".into(),
            decision: Decision {
                verdict: Verdict::RiskAccepted,
                ..Decision::default()
            },
        },
    );
    let by_rule = decided(&fixture);
    assert!(
        by_rule.starts_with("Decision  risk accepted by a rule of ann, 2026-11-21 12:01:00")
            && by_rule.contains("rule: port:443"),
        "{by_rule}"
    );
    fixture.decide(Verdict::Confirmed);
    let by_person = decided(&fixture);
    assert!(
        by_person.starts_with("Decision  confirmed by ann, 2026-11-21 00:00:00"),
        "{by_person}"
    );
}

#[test]
fn last_proof_is_explained_until_it_is_undone() {
    let mut fixture = two_scans(&[1], |_| ());
    let rows = fixture.rows();
    let identity = rows.issues.items()[0].identity.clone();
    for reason in [ProofReason::MatchedText, ProofReason::NotFound] {
        let proof = FindingProof {
            method: "GET".into(),
            url: "http://shop.test/.git/HEAD".into(),
            reason,
            ..FindingProof::default()
        };
        let change = Change::Proof(Box::new(proof));
        fixture.ann.does(Subject::Finding(identity.clone()), change);
    }
    let explanation = only(&fixture);
    assert_eq!(explanation.json()["proof"]["outcome"], "gone");
    assert_eq!(explanation.steps[0], SettlingStep::Fix);
    let line =
        "Proof     gone: the target answers 404 or 410 for this URL, by ann, 2026-11-21 12:02:00";
    let lines = printed(&explanation);
    assert!(lines.iter().any(|one| one == line), "{lines:#?}");
    let batch = fixture.ann.state.last_done("ann").unwrap();
    fixture.ann.undoes(batch);
    let explanation = only(&fixture);
    assert_eq!(explanation.json()["proof"]["outcome"], "still_there");
    assert_eq!(explanation.steps[0], SettlingStep::Confirm);
    fixture.scan(13);
    let after_scan = only(&fixture);
    assert_eq!(after_scan.json()["proof"]["outcome"], "still_there");
    assert!(!after_scan.steps.contains(&SettlingStep::Confirm));
}

#[test]
fn baseline_names_its_author() {
    let fixture = with_baseline(two_scans(&[2], |_| ()), Baseline::Scans(vec![ScanId(1)]));
    let lines = printed(&only(&fixture));
    let expected = "Decision  baseline scan #1, set by ann, 2026-11-21 12:01:00";
    assert!(lines.iter().any(|line| line == expected), "{lines:#?}");
}

#[test]
fn text_of_the_outside_is_cleaned_and_cut() {
    let fixture = two_scans(&[1], |scan| {
        scan.status_name = ScanStatus::Aborted;
        scan.status_message = format!("\u{1b}[31m{}", "x".repeat(500)).as_str().into();
    });
    let lines = printed(&only(&fixture));
    let cause = lines.iter().find(|line| line.contains("cause: ")).unwrap();
    assert!(
        !cause.contains('\u{1b}') && cause.ends_with("(cut)"),
        "{cause}"
    );
    assert!(cause.len() < 300, "{cause}");
}
