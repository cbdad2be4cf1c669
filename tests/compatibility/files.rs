//! Files of an earlier version that commands read again: a sealed case, and exports of findings.

use serde_json::json;

use super::{Home, fixture, text};

/// Digest of the last entry, as the program that made the case printed it.
const SEAL: &str = include_str!("../fixtures/0.1.0/practice.case.seal");

#[tokio::test(flavor = "multi_thread")]
async fn sealed_case_is_verified_and_shown() {
    let home = Home::empty();
    let file = fixture("practice.case");
    let file = file.to_str().unwrap();
    home.output(&["case", "verify", file, "--seal", SEAL.trim()])
        .await;
    let entries = home.json(&["case", "show", file]).await;
    let entries = entries.as_array().unwrap();
    for kind in [
        "case", "scan", "finding", "decision", "payload", "capture", "page",
    ] {
        assert!(entries.iter().any(|entry| entry["kind"] == kind), "{kind}");
    }
}

/// An absent finding is skipped with its reason, or imported from a format without presence.
#[tokio::test(flavor = "multi_thread")]
async fn exported_findings_are_imported() {
    let home = Home::with_fixture();
    let service = home.serve().await;
    let exported = text("exports/findings.jsonl").lines().count();
    for (name, format) in [
        ("findings.jsonl", "scandeck"),
        ("findings.sarif", "sarif"),
        ("findings.defectdojo", "generic"),
    ] {
        let file = fixture("exports").join(name);
        let preview = home
            .json(&["import", "--dry-run", file.to_str().unwrap()])
            .await;
        let file = &preview["files"][0];
        assert_eq!(
            (&file["format"], &file["tool"]),
            (&json!(format), &json!("scandeck")),
            "{file}"
        );
        let skipped = file["skipped"].as_array().unwrap();
        let skipped: u64 = skipped.iter().filter_map(|one| one["count"].as_u64()).sum();
        let findings = file["findings"].as_u64().unwrap();
        assert_eq!(findings + skipped, exported as u64, "{file}");
    }
    service.stop().await;
}
