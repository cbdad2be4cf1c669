//! Exports against their published schemas, vendored under `tests/schemas`: rows with every
//! verdict, every presence, hostile texts and unusual targets. No schema is fetched.

mod manual;
mod odd;
pub mod readers;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use jiff::civil::date;
use jsonschema::{Retrieve, Uri, Validator};
use proptest::prelude::*;
use scandeck::contract::{Evidence, Finding, FindingId, Risk, ScanId, Shared, Stamp, TargetId};
use scandeck::export::{Export, ExportFormat, ExportRow, ReportFrame, write};
use scandeck::mask::{KnownNames, Mask, MaskedKind};
use scandeck::report::ReportOptions;
use scandeck::triage::{
    Assessment, Change, Decision, Event, EventId, EventWriter, FindingKey, Identity, Issue,
    Outcome, Presence, RareIssueData, Reason, ReopenCause, RetestResult, RetestStatus, Subject,
    TriageState, Verdict, VerdictSource,
};
use serde_json::{Value, json};

use crate::readback::readable;

/// The schemas, compiled once for all tests.
pub static SARIF: LazyLock<Validator> = LazyLock::new(|| validator("sarif-2.1.0.json"));
pub static VEX: LazyLock<Validator> = LazyLock::new(|| validator("cyclonedx-1.6.json"));
pub static DEFECT_DOJO: LazyLock<Validator> =
    LazyLock::new(|| validator("defectdojo-generic.json"));

static SCHEMAS: [(ExportFormat, &LazyLock<Validator>); 3] = [
    (ExportFormat::Sarif, &SARIF),
    (ExportFormat::Vex, &VEX),
    (ExportFormat::DefectDojo, &DEFECT_DOJO),
];

/// Text that attacks spreadsheets, browsers, Markdown renderers and terminals.
pub const HOSTILE: &str = "=cmd|' /C calc'!A0 | <script>x</script> [a](http://e.test) \x1b]52;c;eA==\x07 \u{202e}gpj\u{9b}31m \"";

pub fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/schemas")
        .join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Loads referenced schemas from the vendored files only.
struct VendoredSchemas;

impl Retrieve for VendoredSchemas {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        match uri.as_str() {
            "http://cyclonedx.org/schema/spdx.SNAPSHOT.schema.json" => Ok(schema("spdx.json")),
            "http://cyclonedx.org/schema/jsf-0.82.SNAPSHOT.schema.json" => {
                Ok(schema("jsf-0.82.json"))
            }
            other => Err(format!("{other} is not vendored").into()),
        }
    }
}

fn validator(name: &str) -> Validator {
    let mut schema = schema(name);
    // In the published schema of SARIF, the pattern of two fields is not a valid regular
    // expression. The export never writes these fields.
    for object in ["run", "toolComponent"] {
        if let Some(language) =
            schema.pointer_mut(&format!("/definitions/{object}/properties/language"))
        {
            language.as_object_mut().unwrap().remove("pattern");
        }
    }
    jsonschema::options()
        .should_validate_formats(true)
        .with_retriever(VendoredSchemas)
        .build(&schema)
        .unwrap()
}

/// Where a value breaks its schema.
pub fn errors(validator: &Validator, value: &Value) -> Vec<String> {
    // Most values break nothing, and that alone is found out faster.
    if validator.is_valid(value) {
        return Vec::new();
    }
    let errors = validator.iter_errors(value);
    errors
        .map(|error| format!("{error} at {}", error.instance_path()))
        .collect()
}

#[track_caller]
pub fn assert_valid(validator: &Validator, value: &Value) {
    let errors = errors(validator, value);
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

fn stamp(text: &str) -> Stamp {
    Stamp::parse(text).unwrap()
}

fn issue(number: i64, target: &str, name: &str, presence: Presence) -> Issue {
    let finding = Finding {
        id: FindingId(number),
        name: name.into(),
        vuln_description: HOSTILE.into(),
        recommendation: "Fix it".into(),
        risk_level: Risk::from(number % 5),
        vuln_id: format!("class-{}", number % 3).as_str().into(),
        cve: vec!["CVE-2024-1".into(), "CVE-2024-2".into()],
        cwe: "CWE-79".into(),
        port: 443,
        protocol: "tcp".into(),
        references: vec!["https://example.org/a".into(), "javascript:alert(1)".into()],
        vuln_evidence: Evidence::table(&["Request"], [vec!["=1+1 &lt;b&gt;".into()]]),
        target_id: Some(TargetId(1)),
        task_id: Some(ScanId(7)),
        ..Finding::default()
    };
    let identity = Identity {
        key: FindingKey(number as u128 + 1),
        f1: FindingKey(1000 + number as u128),
        asset: target.into(),
        class: finding.vuln_id.clone(),
        service: "tcp/443".into(),
        name: finding.name.clone(),
        ..Identity::default()
    };
    Issue {
        id: FindingKey(number as u128 + 1).into(),
        identity,
        finding: Arc::new(finding.into()),
        presence,
        first_seen: Some(stamp("2026-11-01 10:00:00")).into(),
        last_seen: Some(stamp("2026-11-20 10:00:00")).into(),
        ..Issue::default()
    }
}

fn row(number: i64, verdict: Verdict, again: Option<ReopenCause>) -> ExportRow {
    let targets = [
        "shop.test",
        "http://shop.test:8080/a b?q=<x>",
        "::1",
        "10.0.0.1",
        HOSTILE,
        "",
    ];
    let target = targets[number as usize % targets.len()];
    let presence = Presence::ALL[number as usize % Presence::ALL.len()];
    let name = if number == 3 { HOSTILE } else { "Weak cipher" };
    let issue = Arc::new(issue(number, target, name, presence));
    let decided = verdict != Verdict::Open;
    let assessment = Assessment {
        verdict,
        reopened: again,
        reason: verdict.reasons().first().copied(),
        until: (verdict == Verdict::RiskAccepted).then(|| date(2027, 1, 31)),
        at: decided.then(|| stamp("2026-11-21 09:00:00")),
        who: decided.then(|| "ada@box".into()),
        severity: (number == 1).then_some(Risk::High),
        tags: vec!["=tag".into()],
        duplicate_of: (verdict == Verdict::Duplicate).then_some(FindingKey(77)),
        ..Assessment::default()
    };
    let row = ExportRow::new(
        issue,
        assessment,
        &state(),
        target.into(),
        Some(170),
        "Acme <external>".into(),
    );
    ExportRow {
        retest: (number == 1).then(retested),
        ..row
    }
}

/// A retest that did not see the finding any more.
fn retested() -> RetestResult {
    let at = Some(stamp("2026-11-20 09:00:00"));
    RetestResult {
        at,
        before: "confirmed".into(),
        now: RetestStatus::Is(Outcome::Absent),
        scan: Some(ScanId(9)),
    }
}

/// The original of the duplicate is accepted, and finding 3 has a note.
fn state() -> TriageState {
    let mut writer = EventWriter {
        who: "ada@box".into(),
        instance: 7,
        ..EventWriter::default()
    };
    let mut write = |subject: u128, change: Change| -> Arc<Event> {
        let identity = Identity {
            key: FindingKey(subject),
            ..Identity::default()
        };
        let (at, batch) = (stamp("2026-11-21 09:00:00"), writer.next());
        Arc::new(writer.write(
            (at, 1),
            batch,
            Vec::<EventId>::new(),
            Subject::Finding(identity),
            change,
        ))
    };
    let accepted = Decision {
        verdict: Verdict::RiskAccepted,
        ..Decision::default()
    };
    let events = [
        write(77, Change::Decide(accepted)),
        write(4, Change::Note(Shared::from(HOSTILE))),
    ];
    TriageState::from_events(events)
}

/// A row for each verdict, then a decision that no longer holds for each reason.
fn rows() -> Vec<ExportRow> {
    let decided = Verdict::ALL.into_iter().map(|verdict| (verdict, None));
    let again = [
        (Verdict::Fixed, Some(ReopenCause::Regression)),
        (Verdict::RiskAccepted, Some(ReopenCause::Expired)),
        (Verdict::FalsePositive, Some(ReopenCause::Conflict)),
    ];
    decided
        .chain(again)
        .enumerate()
        .map(|(number, (verdict, again))| row(number as i64, verdict, again))
        .collect()
}

/// Reports with all findings and notes.
fn everything() -> ReportFrame {
    ReportFrame {
        options: ReportOptions::everything(),
        ..ReportFrame::default()
    }
}

fn bytes(format: ExportFormat, rows: &[ExportRow]) -> Vec<u8> {
    let generated = stamp("2026-11-21 12:00:00");
    write(
        format,
        &Export {
            rows,
            title: "Acme <external>",
            made: generated,
            query: "risk>=low",
            mask: None,
            frame: Some(&everything()),
        },
    )
    .unwrap()
    .bytes
}

fn text(format: ExportFormat) -> String {
    readable(format.as_str(), &bytes(format, &rows()))
}

fn document(format: ExportFormat) -> Value {
    serde_json::from_str(&text(format)).unwrap()
}

/// Position of the row with this verdict.
fn index_of(verdict: Verdict) -> usize {
    Verdict::ALL.iter().position(|one| *one == verdict).unwrap()
}

#[test]
fn sarif_matches_schema_and_maps_presence_and_suppressions() {
    let sarif = document(ExportFormat::Sarif);
    assert_valid(&SARIF, &sarif);
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let status = |at: usize| results[at]["suppressions"][0]["status"].clone();
    assert_eq!(status(index_of(Verdict::FalsePositive)), "accepted");
    assert_eq!(status(index_of(Verdict::InReview)), "underReview");
    assert_eq!(
        results[index_of(Verdict::Confirmed)]["suppressions"],
        json!([])
    );
    assert_eq!(
        status(9),
        "underReview",
        "an expired acceptance does not suppress"
    );
    let states: Vec<&str> = results
        .iter()
        .map(|one| one["baselineState"].as_str().unwrap())
        .collect();
    assert_eq!(
        states[..6],
        ["new", "unchanged", "updated", "new", "unchanged", "absent"]
    );
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    let ids: Vec<&str> = rules
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    let others = [
        "class-0/low",
        "class-1/medium",
        "class-2",
        "class-0",
        "class-1/info",
    ];
    let first = [
        "class-0/info",
        "class-1/high",
        "class-2/medium",
        "class-0/high",
        "class-1",
        "class-2/info",
    ];
    assert_eq!(
        ids,
        [first.as_slice(), &others].concat(),
        "one rule per class and risk"
    );
    let severities: Vec<&Value> = rules
        .iter()
        .map(|rule| &rule["properties"]["security-severity"])
        .collect();
    assert_eq!(
        severities[..3],
        [&json!("0.0"), &json!("8.0"), &json!("5.5")]
    );
    for result in results {
        assert_eq!(
            rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"],
            result["ruleId"]
        );
    }
}

/// The VEX entry of the first CVE of a row.
fn vex_entry(vex: &Value, at: usize) -> &Value {
    let reference = format!(
        "finding:{}:{}",
        rows()[at].issue.key(),
        rows()[at].workspace
    );
    let entries = vex["vulnerabilities"].as_array().unwrap();
    entries
        .iter()
        .find(|entry| entry["bom-ref"] == reference.as_str())
        .unwrap()
}

#[test]
fn vex_has_entry_with_source_per_cve_and_no_references() {
    let mut all = issue(1, "shop.test", "Apache", Presence::New);
    let mut finding = all.finding.whole().unwrap();
    finding.cve = ["CVE-2024-1", "CVE-2024-2", "CVE-2024-1", "CVE-2024-3"]
        .map(Into::into)
        .to_vec();
    all.finding = Arc::new(finding.clone().into());
    let mut none = issue(2, "shop.test", "No CVE", Presence::New);
    finding.cve.clear();
    none.finding = Arc::new(finding.into());
    let row = |issue: Issue| {
        let state = TriageState::default();
        ExportRow::new(
            Arc::new(issue),
            Assessment::default(),
            &state,
            "shop.test".into(),
            None,
            "Acme".into(),
        )
    };
    let vex: Value =
        serde_json::from_slice(&bytes(ExportFormat::Vex, &[row(all), row(none)])).unwrap();
    assert_valid(&VEX, &vex);
    let entries = vex["vulnerabilities"].as_array().unwrap();
    let ids: Vec<&str> = entries
        .iter()
        .map(|entry| entry["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["CVE-2024-1", "CVE-2024-2", "CVE-2024-3", "class-2"]);
    let sources: Vec<&Value> = entries
        .iter()
        .map(|entry| &entry["source"]["name"])
        .collect();
    assert_eq!(
        sources,
        [&json!("NVD"), &json!("NVD"), &json!("NVD"), &Value::Null]
    );
    let mut references: Vec<&str> = entries
        .iter()
        .map(|entry| entry["bom-ref"].as_str().unwrap())
        .collect();
    references.sort_unstable();
    references.dedup();
    assert_eq!(references.len(), entries.len(), "unique");
    assert!(
        entries
            .iter()
            .all(|entry| entry.get("references").is_none())
    );
    assert_eq!(entries[0]["analysis"], entries[2]["analysis"]);
}

#[test]
fn vex_matches_schema_and_maps_every_verdict() {
    let vex = document(ExportFormat::Vex);
    assert_valid(&VEX, &vex);
    let analysis = |at: usize| vex_entry(&vex, at)["analysis"].clone();
    for (verdict, state) in [
        (Verdict::Open, "in_triage"),
        (Verdict::InReview, "in_triage"),
        (Verdict::Confirmed, "exploitable"),
        (Verdict::FalsePositive, "false_positive"),
        (Verdict::RiskAccepted, "exploitable"),
        (Verdict::NotApplicable, "not_affected"),
        (Verdict::Fixed, "resolved"),
        (Verdict::Duplicate, "exploitable"),
    ] {
        assert_eq!(analysis(index_of(verdict))["state"], state, "{verdict}");
    }
    assert_eq!(
        analysis(index_of(Verdict::RiskAccepted))["response"],
        json!(["will_not_fix"])
    );
    assert_eq!(
        analysis(index_of(Verdict::Duplicate))["response"],
        json!(["will_not_fix"]),
        "response of the original"
    );
    assert_eq!(
        analysis(8)["state"],
        "in_triage",
        "a regression is not resolved"
    );
}

#[test]
fn defectdojo_matches_schema_and_maps_verdicts() {
    let file = document(ExportFormat::DefectDojo);
    assert_valid(&DEFECT_DOJO, &file);
    let finding = |verdict| file["findings"][index_of(verdict)].clone();
    assert_eq!(
        finding(Verdict::FalsePositive)["unique_id_from_tool"],
        rows()[3].issue.identity.f1.to_string()
    );
    assert_eq!(
        (
            &finding(Verdict::FalsePositive)["false_p"],
            &finding(Verdict::FalsePositive)["active"]
        ),
        (&json!(true), &json!(false))
    );
    assert_eq!(finding(Verdict::Fixed)["is_mitigated"], true);
    assert_eq!(
        (&file["findings"][1]["severity"], rows()[1].issue.risk_level),
        (&json!("High"), Risk::Low)
    );
}

/// A row of a finding on port 443 of this target.
fn row_on(target: &str) -> ExportRow {
    let issue = Arc::new(issue(1, target, "Weak cipher", Presence::New));
    ExportRow::new(
        issue,
        Assessment::default(),
        &TriageState::default(),
        target.into(),
        None,
        "Acme".into(),
    )
}

#[test]
fn target_is_endpoint_of_defectdojo_and_relative_uri_of_sarif() {
    for (target, endpoint, uri) in [
        (
            "https://shop.acme.test/",
            Some("https://shop.acme.test/"),
            "shop.acme.test",
        ),
        (
            "http://h.test:8080/a b?q=1",
            Some("http://h.test:8080/a%20b?q=1"),
            "h.test%3A8080/a%20b%3Fq%3D1",
        ),
        ("10.0.4.7", Some("tcp://10.0.4.7:443"), "10.0.4.7%3A443"),
        (
            "10.0.4.7:8443",
            Some("tcp://10.0.4.7:443"),
            "10.0.4.7%3A443",
        ),
        ("[::1]:8443", Some("tcp://[::1]:443"), "%5B%3A%3A1%5D%3A443"),
        (
            "bücher.example",
            Some("tcp://xn--bcher-kva.example:443"),
            "xn--bcher-kva.example%3A443",
        ),
        ("fe80::1%eth0", None, "fe80%3A%3A1%25eth0"),
        (
            "Office LAN (VLAN 12)",
            None,
            "Office%20LAN%20%28VLAN%2012%29",
        ),
        ("../x", None, "..%2Fx"),
        ("..", None, "unknown"),
        ("", None, "unknown"),
    ] {
        let rows = [row_on(target)];
        let file: Value = serde_json::from_slice(&bytes(ExportFormat::DefectDojo, &rows)).unwrap();
        let finding = &file["findings"][0];
        assert_eq!(
            finding["endpoints"],
            endpoint.map_or(Value::Null, |endpoint| json!([endpoint])),
            "{target}"
        );
        let is_named = finding["description"]
            .as_str()
            .unwrap()
            .ends_with(&format!("Target: {target}"));
        assert_eq!(
            is_named,
            endpoint.is_none() && !target.is_empty(),
            "{target}: {finding}"
        );
        let sarif: Value = serde_json::from_slice(&bytes(ExportFormat::Sarif, &rows)).unwrap();
        let result = &sarif["runs"][0]["results"][0];
        assert_eq!(
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], uri,
            "{target}"
        );
        let place = endpoint.unwrap_or(target);
        assert!(
            place.is_empty()
                || result["message"]["text"]
                    .as_str()
                    .unwrap()
                    .ends_with(&format!(" on {place}")),
            "{result}"
        );
        let logical = &result["locations"][0]["logicalLocations"];
        assert_eq!(
            logical[1]["name"],
            endpoint.map_or(Value::Null, Into::into),
            "{target}"
        );
    }
}

#[test]
fn rule_of_sarif_keeps_its_id_when_one_finding_has_another_risk() {
    let ids = |risks: &[Risk]| -> Vec<Value> {
        let mut rows: Vec<ExportRow> = risks.iter().map(|_| row_on("shop.test")).collect();
        rows.iter_mut()
            .zip(risks)
            .for_each(|(row, risk)| row.assessment.severity = Some(*risk));
        let sarif: Value = serde_json::from_slice(&bytes(ExportFormat::Sarif, &rows)).unwrap();
        sarif["runs"][0]["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|result| result["ruleId"].clone())
            .collect()
    };
    assert_eq!(ids(&[Risk::Low, Risk::Low]), ["class-1", "class-1"]);
    assert_eq!(
        ids(&[Risk::High, Risk::Low, Risk::Low]),
        ["class-1/high", "class-1", "class-1"]
    );
    assert_eq!(
        ids(&[Risk::Low, Risk::Low, Risk::Info]),
        ["class-1", "class-1", "class-1/info"]
    );
}

#[test]
fn long_description_of_a_rule_is_complete_in_its_help() {
    let mut row = row_on("shop.test");
    let mut finding = row.issue.finding.whole().unwrap();
    finding.vuln_description = "long ".repeat(500).as_str().into();
    Arc::make_mut(&mut row.issue).finding = Arc::new(finding.into());
    let sarif: Value = serde_json::from_slice(&bytes(ExportFormat::Sarif, &[row])).unwrap();
    let rule = &sarif["runs"][0]["tool"]["driver"]["rules"][0];
    assert!(
        rule["fullDescription"]["text"]
            .as_str()
            .unwrap()
            .ends_with('…'),
        "{rule}"
    );
    let help = rule["help"]["text"].as_str().unwrap();
    assert!(
        help.starts_with(&"long ".repeat(500)) && help.ends_with("\n\nFix it"),
        "{help}"
    );
}

#[test]
fn empty_export_matches_schema() {
    for (format, validator) in SCHEMAS {
        assert_valid(
            validator,
            &serde_json::from_slice(&bytes(format, &[])).unwrap(),
        );
    }
    for format in ExportFormat::ALL {
        readable(format.as_str(), &bytes(format, &[]));
    }
}

#[test]
fn csv_cells_never_start_a_formula() {
    let table = text(ExportFormat::Csv);
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), rows().len());
    for cell in records.iter().flatten() {
        assert!(
            !cell.starts_with(['=', '+', '-', '@', '\t', '\r']),
            "{cell:?}"
        );
    }
    assert!(table.contains("\"'=cmd|"));
}

#[test]
fn markdown_lists_decisions_open_findings_and_missing_reasons() {
    let mut without_reason = row(20, Verdict::FalsePositive, None);
    without_reason.assessment.reason = None;
    let all: Vec<ExportRow> = rows().into_iter().chain([without_reason]).collect();
    let text = String::from_utf8(bytes(ExportFormat::Markdown, &all)).unwrap();
    for expected in [
        "# Hand-over: Acme &lt;external>",
        "## Undecided: 5",
        "## Decided: 6, 1 more absent",
        "### false positive: 2",
        "not reproducible",
        "## Dismissed or accepted without reason or note: 1",
        "- ada@box: ",
        "high (scanner: low)",
    ] {
        assert!(text.contains(expected), "{expected}:\n{text}");
    }
    let links = text.matches("[a](").count();
    assert!(
        links > 0 && links == text.matches("\\[a](").count() && !text.contains("<script"),
        "{text}"
    );
}

#[test]
fn markdown_distinguishes_findings_of_one_target() {
    let at = |number: i64, path: &str| {
        let base = row(number, Verdict::Open, None);
        let url = format!("http://shop.test{path}");
        let finding = Finding {
            name: "Weak cipher".into(),
            vuln_evidence: Evidence::table(&["URL"], [vec![url]]),
            ..Finding::default()
        };
        let issue = Issue {
            finding: Arc::new(finding.into()),
            ..(*base.issue).clone()
        };
        ExportRow {
            issue: Arc::new(issue),
            ..base
        }
    };
    let rows = [at(1, "/a"), at(7, "/b"), at(2, "/c")];
    let text = String::from_utf8(bytes(ExportFormat::Markdown, &rows)).unwrap();
    for expected in ["Weak cipher, /a |", "Weak cipher, /b |", "Weak cipher |"] {
        assert_eq!(text.matches(expected).count(), 1, "{expected}:\n{text}");
    }
}

#[test]
fn jsonl_lines_keep_raw_values() {
    let text = text(ExportFormat::Jsonl);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (lines.len(), &lines[3]["name"]),
        (rows().len(), &json!(HOSTILE))
    );
    assert_eq!(
        (&lines[3]["notes"][0]["text"], &lines[3]["reason"]),
        (&json!(HOSTILE), &json!(Reason::NotReproducible.as_str()))
    );
}

#[test]
fn exports_contain_no_terminal_controls() {
    for format in ExportFormat::ALL
        .into_iter()
        .filter(|format| !matches!(format, ExportFormat::Html | ExportFormat::Json))
    {
        let is_control = |c: char| {
            (c.is_control() && !matches!(c, '\n' | '\r')) || matches!(c, '\u{202e}' | '\u{9b}')
        };
        assert!(!text(format).contains(is_control), "{}", format.as_str());
    }
}

#[test]
fn decision_of_a_rule_is_attributed_to_the_rule_in_texts() {
    let mut row = row(1, Verdict::NotApplicable, None);
    row.assessment.source = VerdictSource::Rule(EventId::default());
    let rows = [row];
    for format in [
        ExportFormat::Sarif,
        ExportFormat::Vex,
        ExportFormat::DefectDojo,
        ExportFormat::Html,
    ] {
        let written = readable(format.as_str(), &bytes(format, &rows));
        assert!(
            written.contains("by a rule of ada@box on 2026-11-21 09:00:00"),
            "{}: {written}",
            format.as_str()
        );
    }
    let table = readable("csv", &bytes(ExportFormat::Csv, &rows));
    assert!(
        table.contains(",\"ada@box\","),
        "columns keep their values: {table}"
    );
}

#[test]
fn report_shows_decisions_beside_scanner_results() {
    let page = text(ExportFormat::Html);
    assert!(
        page.contains("risk accepted") && page.contains("ada@box") && !page.contains("<script"),
        "{page}"
    );
    let groups = document(ExportFormat::Json);
    assert!(groups[0]["findings"][0]["decided"]["fingerprint"].is_string());
}

#[test]
fn retest_result_is_in_every_format_of_retested_findings_only() {
    let summary = "retest on 2026-11-20 09:00:00: absent (before: confirmed)";
    let retest = json!({"at": "2026-11-20 09:00:00", "before": "confirmed", "now": "not_seen", "scan_id": 9});
    let sarif = document(ExportFormat::Sarif);
    let properties = |at: usize| sarif["runs"][0]["results"][at]["properties"]["retest"].clone();
    assert_eq!(
        (properties(1), properties(2)),
        (retest.clone(), Value::Null)
    );
    let vex = document(ExportFormat::Vex);
    let properties_of = |at: usize| vex_entry(&vex, at)["properties"].clone();
    let property = |name: &str, value: &str| json!({"name": name, "value": value});
    let now = property("scandeck:retest_now", "not_seen");
    assert!(
        properties_of(1).as_array().unwrap().contains(&now)
            && !properties_of(2).to_string().contains("retest"),
        "{}",
        properties_of(1)
    );
    assert!(
        vex_entry(&vex, 1)["analysis"]["detail"]
            .as_str()
            .unwrap()
            .contains(summary),
        "{}",
        properties_of(1)
    );
    let file = document(ExportFormat::DefectDojo);
    assert!(
        file["findings"][1]["severity_justification"]
            .as_str()
            .unwrap()
            .contains(summary),
        "{}",
        file["findings"][1]
    );
    let lines = text(ExportFormat::Jsonl);
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&lines[1]["retest"], &lines[2]["retest"]),
        (&retest, &Value::Null)
    );
    let table = text(ExportFormat::Csv);
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let columns = reader.headers().unwrap().clone();
    let column = |name: &str| columns.iter().position(|one| one == name).unwrap();
    let retest = ["retest_before", "retest_now", "retested_at"].map(column);
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(
        retest.map(|at| &records[1][at]),
        ["confirmed", "not_seen", "2026-11-20 09:00:00"]
    );
    assert_eq!(retest.map(|at| &records[2][at]), ["", "", ""]);
    let page = text(ExportFormat::Html);
    assert_eq!(
        page.matches("<dt>Retest</dt><dd>absent").count(),
        1,
        "{page}"
    );
    let markdown = text(ExportFormat::Markdown);
    assert_eq!(markdown.matches(summary).count(), 1, "{markdown}");
    let groups = document(ExportFormat::Json);
    let mut findings = groups
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|group| group["findings"].as_array().unwrap());
    let retest = json!({"before": "confirmed", "now": "not seen", "at": "2026-11-20 09:00:00"});
    assert!(
        findings.any(|one| one["decided"]["retest"] == retest),
        "{groups}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn exports_of_arbitrary_text_match_schemas(name in any::<String>(), target in any::<String>(), class in any::<String>(), port in any::<i64>()) {
        let mut one = issue(2, &target, &name, Presence::New);
        let mut finding = one.finding.whole().unwrap();
        (finding.vuln_id, finding.port, finding.references) = (class.as_str().into(), port, vec![format!("https://{name}").into()]);
        one.identity = Identity { class: class.as_str().into(), ..one.identity.clone() };
        one.finding = Arc::new(finding.into());
        let row = ExportRow::new(Arc::new(one), Assessment::default(), &TriageState::default(), target.as_str().into(), None, name.as_str().into());
        for (format, validator) in SCHEMAS {
            let value = serde_json::from_slice(&bytes(format, std::slice::from_ref(&row))).unwrap();
            assert_valid(validator, &value);
        }
    }
}

#[test]
fn masked_exports_contain_no_names() {
    let mut names = KnownNames::default();
    rows().iter().for_each(|row| names.add_host(&row.target));
    names.add("Acme", MaskedKind::Workspace);
    let mask = Mask::default().with_names(names);
    let (rows, made) = (rows(), stamp("2026-11-21 12:00:00"));
    let everything = everything();
    for format in ExportFormat::ALL {
        let export = |mask| Export {
            rows: &rows,
            title: "Acme <external>",
            made,
            query: "",
            mask,
            frame: Some(&everything),
        };
        let read = |mask| {
            let file = write(format, &export(mask)).unwrap();
            readable(format.as_str(), &file.bytes).to_lowercase()
        };
        let (plain, masked) = (read(None), read(Some(&mask)));
        assert!(
            plain.contains("shop.test") && masked.contains("host-1"),
            "{format:?}"
        );
        for name in ["shop.test", "10.0.0.1", "acme", "ada@box"] {
            assert!(!masked.contains(name), "{name} in {format:?}: {masked}");
        }
    }
}
