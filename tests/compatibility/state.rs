//! The state directory of an earlier version.

use serde_json::Value;

use super::{Home, bundle_lines, differences, expected, text};

#[tokio::test(flavor = "multi_thread")]
async fn state_directory_opened_keeps_every_decision() {
    let home = Home::with_fixture();
    let service = home.serve().await;
    let findings = home.json(&["findings", "list"]).await;
    let risk = |finding: &Value| {
        finding["severity"]
            .as_i64()
            .or(finding["risk_level"].as_i64())
            .unwrap()
    };
    assert!(
        findings
            .as_array()
            .unwrap()
            .is_sorted_by_key(|finding| -risk(finding)),
        "the highest risk is first"
    );
    assert_eq!(
        differences(
            &by_fingerprint(expected("findings")),
            &by_fingerprint(findings),
            &[]
        ),
        [""; 0]
    );
    assert_eq!(
        home.output(&["triage", "export"]).await,
        text("expected/events.jsonl")
    );
    service.stop().await;
}

fn by_fingerprint(findings: Value) -> Value {
    let Value::Array(mut findings) = findings else {
        panic!("no list: {findings}")
    };
    findings.sort_by_key(|finding| finding["fingerprint"].as_str().unwrap().to_owned());
    Value::Array(findings)
}

#[tokio::test(flavor = "multi_thread")]
async fn state_directory_opened_keeps_payloads_hits_and_captures() {
    let home = Home::with_fixture();
    // The service is not reachable; the commands read the archive.
    for noun in ["payloads", "captures"] {
        let ended = home.run(&[noun, "list", "--json"]).await;
        assert_eq!(ended.code, 0, "{noun}: {ended:?}");
        let actual: Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(
            differences(&expected(noun), &actual, &[]),
            [""; 0],
            "{noun}"
        );
    }
}

/// A bundle has a line for each saved query, alert, review and other setting.
#[tokio::test(flavor = "multi_thread")]
async fn state_directory_opened_keeps_every_line_of_a_bundle() {
    let home = Home::with_fixture();
    let service = home.serve().await;
    let (before, now) = (
        bundle_lines(&text("practice.bundle")),
        home.bundle_lines().await,
    );
    let parse = |line: &String| serde_json::from_str::<Value>(line).unwrap();
    // A newer version may add fields to a line.
    let is_kept = |line: &String| {
        now.iter()
            .any(|other| differences(&parse(line), &parse(other), &[]).is_empty())
    };
    let lost: Vec<&String> = before
        .difference(&now)
        .filter(|line| !is_kept(line))
        .collect();
    assert!(
        before.len() > 300 && lost.is_empty(),
        "{} of {} lines are lost: {lost:#?}",
        lost.len(),
        before.len()
    );
    service.stop().await;
}
