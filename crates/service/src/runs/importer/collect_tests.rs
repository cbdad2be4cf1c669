//! Small files, read into scans and rows.

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::collect::{Collected, Collection};
use super::rows::{ImportedRow, RowReader};
use crate::store::imports::{QueuedImport, ScanToImport};
use scandeck_wire::contract::{Stamp, Tool};

const NUCLEI: &[u8] = include_bytes!("../../../../import/tests/samples/nuclei.jsonl");
const NMAP: &[u8] = include_bytes!("../../../../import/tests/samples/nmap.xml");

fn now() -> Timestamp {
    "2026-11-29T12:00:00Z".parse().unwrap()
}

fn collect(import: &QueuedImport, contents: &[u8], limit: usize) -> anyhow::Result<Collected> {
    let dir = tempfile::tempdir().unwrap();
    let collection = Collection::new(dir.path(), import, limit, CancellationToken::new());
    collection.unwrap().read(contents, now())
}

fn rows(collected: Collected) -> Vec<ImportedRow> {
    let mut reader = RowReader::new(collected.rows);
    reader.next_batch(1000, usize::MAX).unwrap()
}

fn targets(collected: &Collected) -> Vec<&str> {
    let scans = collected.scans.iter();
    scans
        .map(|scan: &ScanToImport| scan.target.as_str())
        .collect()
}

#[test]
fn file_of_several_targets_becomes_a_scan_of_each() {
    let collected = collect(&QueuedImport::of_file("a.jsonl"), NUCLEI, 10).unwrap();
    assert_eq!(
        targets(&collected),
        ["https://shop.test/", "http://shop.test:8080/", "shop.test"]
    );
    let first = &collected.scans[0];
    assert_eq!((first.tool, first.by_risk), (Tool(10_002), [0, 0, 0, 0, 1]));
    assert_eq!(Stamp(first.started).to_string(), "2026-03-01 09:00:00");
    assert_eq!(first.origin.file, "a.jsonl");
    assert_eq!(first.origin.imported_by, "anna");
    assert!(first.origin.coverage.is_empty());
    let file = &collected.files[0];
    assert_eq!((file.targets, file.findings), (3, 3));
    assert_eq!(file.by_risk["critical"], 1);
    assert_eq!(file.by_risk["info"], 2);
    assert_eq!(file.skipped.len(), 4);
    assert_eq!(collected.file_of_scan, [0, 0, 0]);
    let rows = rows(collected);
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0].finding.vuln_id, "nuclei:CVE-2021-44228");
    assert_eq!(rows[0].finding.place, "/login");
    assert_eq!(rows[0].finding.port, 443);
    assert!(rows[0].finding.body.starts_with(r#"{"name":"Log4j"#));
}

#[test]
fn target_name_replaces_every_target_of_the_file() {
    let mut import = QueuedImport::of_file("a.jsonl");
    import.target_name = "198.51.100.1".to_owned();
    let collected = collect(&import, NUCLEI, 10).unwrap();
    assert_eq!(targets(&collected), ["198.51.100.1"]);
    assert_eq!(collected.scans[0].by_risk, [2, 0, 0, 0, 1]);
    assert!(rows(collected).iter().all(|row| row.scan == 0));
}

#[test]
fn scan_carries_the_coverage_of_its_target() {
    let collected = collect(&QueuedImport::of_file("a.xml"), NMAP, 10).unwrap();
    assert_eq!(targets(&collected), ["shop.test"]);
    let coverage = &collected.scans[0].origin.coverage;
    assert_eq!(coverage[0].ports, ["tcp/22", "tcp/80", "tcp/443-444"]);
    assert_eq!(coverage[0].checks, ["nmap:open-port"]);
}

#[test]
fn file_of_a_tool_that_did_not_end_its_tests_is_not_complete() {
    let mut import = QueuedImport::of_file("a.json");
    import.is_complete = true;
    let row = |id: &str, severity: &str| {
        format!(
            r#"{{"id":"{id}","ip":"a.test/192.0.2.1","port":"443","severity":"{severity}","finding":"x"}}"#
        )
    };
    for (severity, is_complete) in [("OK", true), ("WARN", false), ("FATAL", false)] {
        let file = format!("[{},{}]", row("service", "INFO"), row("SSLv2", severity));
        let collected = collect(&import, file.as_bytes(), 10).unwrap();
        let origin = &collected.scans[0].origin;
        assert_eq!(origin.complete, is_complete, "{severity}");
    }
}

#[test]
fn results_at_one_place_are_separate_and_repeated_ones_are_skipped() {
    let line = |name: &str| {
        format!(
            r#"{{"template-id":"tls","info":{{"name":"{name}","severity":"low"}},"type":"ssl","host":"a.test","matched-at":"a.test:443"}}"#
        )
    };
    let lines = [line("TLS 1.0"), line("TLS 1.1"), line("TLS 1.0")].join("\n");
    let collected = collect(&QueuedImport::of_file("a"), lines.as_bytes(), 10).unwrap();
    let skipped = &collected.files[0].skipped;
    assert_eq!((skipped.len(), skipped[0].count), (1, 1));
    let rows = rows(collected);
    let places: Vec<&str> = rows.iter().map(|row| row.finding.place.as_str()).collect();
    assert_eq!(places, ["", " #2"]);
}

#[test]
fn verdict_of_the_file_is_stored_with_the_finding() {
    let line = r#"{"vuln_id":"web.csp","name":"CSP","risk_level":1,"target_name":"a.test","fingerprint":"1","presence":"new","verdict":"false_positive","reason":"other","decided_by":"ann"}"#;
    let collected = collect(&QueuedImport::of_file("a"), line.as_bytes(), 10).unwrap();
    let rows = rows(collected);
    let body: serde_json::Value = serde_json::from_str(&rows[0].finding.body).unwrap();
    assert_eq!(
        body["proposed"],
        serde_json::json!({"verdict": "false_positive", "reason": "other", "by": "ann"})
    );
}

#[test]
fn results_without_a_target_are_counted() {
    let sarif = br#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"lint"}},"results":[
        {"ruleId":"a","message":{"text":"x"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/a.c"}}}]}]}]}"#;
    let collected = collect(&QueuedImport::of_file("a"), sarif, 10).unwrap();
    assert!(collected.scans.is_empty());
    let skipped = &collected.files[0].skipped[0];
    assert!(skipped.reason.contains("target name"), "{skipped:?}");
}

#[test]
fn too_many_targets_and_unknown_formats_are_errors() {
    let import = QueuedImport::of_file("a");
    let error = collect(&import, NUCLEI, 2).err().unwrap().to_string();
    assert!(error.contains("more than 2 targets"), "{error}");
    let error = collect(&import, b"hello", 2).err().unwrap().to_string();
    assert!(error.contains("not recognised"), "{error}");
}
