//! SARIF 2.1.0: one rule per class and risk, one result per finding. `baselineState` is the
//! presence, `suppressions` are the decisions (OASIS SARIF 2.1.0 §3.27.23, §3.27.24, §3.35).
//!
//! The files keep the limits of GitHub code scanning ("SARIF support for code scanning" in its
//! documentation): relative URIs, the severity on the rule, a line, texts of 1,024 characters, and
//! the numbers below. It recognises an alert by its rule and `primaryLocationLineHash`.

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::row::links;
use super::{Export, ExportError, ExportRow, cut, json as plain, without_empty};
use crate::triage::{FindingTexts, Issue, Presence, ReopenCause, Verdict};
use scandeck_report::evidence_cell;
use scandeck_wire::contract::Risk;
use scandeck_wire::text::thousands;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Most results of a run; each has at most one rule of its own, so a run also has no more rules.
const RESULTS: usize = 25_000;
/// Most runs of a file.
const RUNS: usize = 20;
/// Most tags of a rule.
const TAGS: usize = 20;
/// Longest description of a rule, in characters.
const DESCRIPTION: usize = 1_024;
/// Largest compressed file, in bytes.
const COMPRESSED: usize = 10_000_000;

pub(super) fn document(export: &Export<'_>) -> Result<Value, ExportError> {
    require_room(export.rows.len())?;
    Ok(json!({"$schema": SCHEMA, "version": "2.1.0", "runs": runs(export, RESULTS)?}))
}

/// Fails when a file has no room for these findings.
fn require_room(findings: usize) -> Result<(), ExportError> {
    let most = RESULTS * RUNS;
    if findings <= most {
        return Ok(());
    }
    let [results, most, findings] = [RESULTS, most, findings].map(|count| thousands(count as u64));
    let message = format!(
        "a SARIF file holds at most {most} findings ({RUNS} runs of {results}), not {findings}"
    );
    Err(ExportError::Limit(message))
}

/// Runs of at most `most` results. There is always one: without a run, a reader would not close the
/// alerts of earlier files.
fn runs(export: &Export<'_>, most: usize) -> io::Result<Vec<Value>> {
    let usual = usual_risks(export.rows);
    let first = &export.rows[..export.rows.len().min(most)];
    let others = export.rows.chunks(most).skip(1);
    [first]
        .into_iter()
        .chain(others)
        .zip(1..)
        .map(|(rows, number)| run(export, rows, number, &usual))
        .collect()
}

/// Fails when the compressed file is larger than readers accept.
pub(super) fn check_size(file: &[u8]) -> Result<(), ExportError> {
    check_compressed(file, COMPRESSED)
}

/// `most` is in bytes.
fn check_compressed(file: &[u8], most: usize) -> Result<(), ExportError> {
    // A file that is not larger than the limit does not become larger.
    if file.len() <= most {
        return Ok(());
    }
    let mut compressed = GzEncoder::new(ByteCount(0), Compression::default());
    compressed.write_all(file)?;
    match compressed.finish()? {
        ByteCount(bytes) if bytes > most => {
            let (bytes, limit) = (bytes.div_ceil(1_000_000), most / 1_000_000);
            Err(ExportError::Limit(format!(
                "a SARIF file has at most {limit} MB when compressed, not {bytes}"
            )))
        }
        _ => Ok(()),
    }
}

/// Counts the bytes that are written.
struct ByteCount(usize);

impl Write for ByteCount {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A run with its number, which is part of its category from the second one on: the categories of a
/// file differ.
fn run(
    export: &Export<'_>,
    rows: &[ExportRow],
    number: usize,
    usual: &HashMap<&str, Risk>,
) -> io::Result<Value> {
    let mut rules = RunRules::default();
    let result = |row: &ExportRow| {
        let texts = row.issue.texts()?;
        let id = rule_id(row, usual);
        let index = rules.index_of(&id, row, &texts);
        Ok(result(row, &texts, &id, index))
    };
    let results: Vec<Value> = rows.iter().map(result).collect::<io::Result<_>>()?;
    let part = if number > 1 {
        format!("{number}/")
    } else {
        String::new()
    };
    Ok(json!({
        "tool": {"driver": {
            "name": "scandeck",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules.all,
        }},
        "automationDetails": {"id": format!("scandeck/{}/{part}", export.title)},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }))
}

/// The most frequent risk of each class; the highest of several.
fn usual_risks(rows: &[ExportRow]) -> HashMap<&str, Risk> {
    let mut counts: HashMap<&str, [usize; 5]> = HashMap::new();
    for row in rows {
        counts.entry(row.class()).or_default()[row.risk().level() as usize] += 1;
    }
    let usual = |counts: [usize; 5]| {
        Risk::DOWN
            .into_iter()
            .rev()
            .max_by_key(|risk| counts[risk.level() as usize])
            .unwrap_or(Risk::Info)
    };
    counts
        .into_iter()
        .map(|(class, counts)| (class, usual(counts)))
        .collect()
}

/// The class, with the risk if it is not the usual one of the class. A single finding with another
/// risk changes no other rule, so readers recognise the other findings.
fn rule_id(row: &ExportRow, usual: &HashMap<&str, Risk>) -> String {
    let (class, risk) = (row.class(), row.risk());
    if usual.get(class) == Some(&risk) {
        class.to_owned()
    } else {
        format!("{class}/{risk}")
    }
}

/// One rule per class and risk, in the order of the rows; the first finding of a rule describes it.
#[derive(Default)]
struct RunRules {
    all: Vec<Value>,
    indexes: HashMap<String, usize>,
}

impl RunRules {
    fn index_of(&mut self, id: &str, row: &ExportRow, texts: &FindingTexts) -> usize {
        if let Some(index) = self.indexes.get(id) {
            return *index;
        }
        self.all.push(rule(id, row, texts));
        self.indexes.insert(id.to_owned(), self.all.len() - 1);
        self.all.len() - 1
    }
}

fn rule(id: &str, row: &ExportRow, texts: &FindingTexts) -> Value {
    let issue = &row.issue;
    let mut tags = vec!["security".to_owned()];
    tags.extend(
        row.cwes()
            .iter()
            .map(|cwe| format!("external/cwe/cwe-{cwe}"))
            .take(TAGS - 1),
    );
    // The text of a manual finding describes that finding, not its class, so it belongs to the
    // result.
    let description = if issue.manual().is_some() {
        ""
    } else {
        &texts.vuln_description
    };
    without_empty(json!({
        "id": id,
        "shortDescription": text(&cut(&issue.name, DESCRIPTION)),
        "fullDescription": text(&cut(first_text([description, &issue.name]), DESCRIPTION)),
        "defaultConfiguration": {"level": level(row.risk())},
        "help": text(&help(description, &texts.recommendation, &issue.name)),
        "helpUri": links(texts).first(),
        "properties": {"security-severity": severity(row.risk()), "tags": tags},
    }))
}

/// The recommendation, behind a description that is too long for its field.
fn help(description: &str, recommendation: &str, name: &str) -> String {
    if cut(description, DESCRIPTION) == description {
        first_text([recommendation, name]).to_owned()
    } else {
        format!("{description}\n\n{recommendation}")
            .trim_end()
            .to_owned()
    }
}

/// The first text that is not blank.
fn first_text<const N: usize>(texts: [&str; N]) -> &str {
    texts
        .into_iter()
        .find(|text| !text.trim().is_empty())
        .unwrap_or_default()
}

fn text(text: &str) -> Value {
    json!({"text": if text.trim().is_empty() { "-" } else { text }})
}

/// The name and the address; for a manual finding also its texts.
fn message(row: &ExportRow, texts: &FindingTexts) -> String {
    let issue = &row.issue;
    let place = row
        .address()
        .unwrap_or_else(|| row.target.trim().to_owned());
    let name = first_text([&issue.name, row.class()]);
    let mut parts = vec![if place.is_empty() {
        name.to_owned()
    } else {
        format!("{name} on {place}")
    }];
    if issue.manual().is_some() {
        parts.extend([
            texts.vuln_description.to_string(),
            evidence_cell(&texts.vuln_evidence),
            texts.recommendation.to_string(),
        ]);
    }
    parts.retain(|part| !part.trim().is_empty());
    parts.join("\n\n")
}

/// The address, or else the name of the target, as a relative URI (RFC 3986 §4.2): readers expect a
/// file of a repository and refuse schemes.
fn relative_uri(row: &ExportRow) -> String {
    let address = row.address();
    let (path, keeps_slashes) = match address
        .as_deref()
        .and_then(|address| address.split_once("://"))
    {
        Some((_, behind_scheme)) => (behind_scheme.trim_end_matches('/'), true),
        None => (row.target.trim(), false),
    };
    // A segment of dots would be another directory.
    let path = if path.bytes().all(|byte| byte == b'.') {
        "unknown"
    } else {
        path
    };
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'/' if keeps_slashes => uri.push('/'),
            // An address has percent-encoded parts already.
            b'%' if keeps_slashes => uri.push('%'),
            byte if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                uri.push(char::from(byte))
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The asset, with the service if there is one.
fn asset(issue: &Issue) -> String {
    match &*issue.identity.service {
        "" | "-" => issue.identity.asset.to_string(),
        service => format!("{} {service}", issue.identity.asset),
    }
}

fn result(row: &ExportRow, texts: &FindingTexts, rule: &str, index: usize) -> Value {
    let issue = &row.issue;
    let named = json!({"name": row.target, "fullyQualifiedName": asset(issue), "kind": "resource"});
    let addressed = row
        .address()
        .map(|address| json!({"name": address, "kind": "resource"}));
    let resources: Vec<Value> = [named].into_iter().chain(addressed).collect();
    json!({
        "ruleId": rule,
        "ruleIndex": index,
        "level": level(row.risk()),
        "message": text(&message(row, texts)),
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": relative_uri(row)}, "region": {"startLine": 1}},
            "logicalLocations": resources,
        }],
        "occurrenceCount": issue.finding_ids().count(),
        "partialFingerprints": {
            "primaryLocationLineHash": format!("{}:1", issue.key()),
            "scandeckF1/v1": issue.identity.f1,
            "scandeckKey/v1": issue.key(),
        },
        "baselineState": baseline(issue.presence),
        "suppressions": suppressions(row),
        "rank": rank(row.risk()),
        "properties": {
            "security-severity": severity(row.risk()),
            "verdict": row.assessment.verdict.as_str(),
            "undecided": row.assessment.is_undecided(),
            "again": row.assessment.reopened.map(ReopenCause::as_str),
            "presence": issue.presence_in(Presence::as_str),
            "retest": plain::retest(row),
            "scannerRisk": issue.risk_level.as_str(),
            "cve": issue.cve,
            "tags": row.tags(),
            "findingId": issue.finding.id,
        },
    })
}

/// SARIF has four states. A finding that the earlier run lacks is new, also a reappeared one; a
/// finding that was not retested is unchanged.
fn baseline(presence: Presence) -> &'static str {
    match presence {
        Presence::New | Presence::Reappeared => "new",
        Presence::Unchanged | Presence::NotRetested => "unchanged",
        Presence::Changed => "updated",
        Presence::Absent => "absent",
    }
}

/// Always an array: if one result of a run has suppressions, all must. An empty array means not
/// suppressed.
fn suppressions(row: &ExportRow) -> Value {
    let verdict = row.assessment.verdict;
    let status = match verdict {
        Verdict::FalsePositive
        | Verdict::NotApplicable
        | Verdict::RiskAccepted
        | Verdict::Duplicate => {
            // A decision that is no longer valid waits for a review.
            if row.assessment.reopened.is_some() {
                "underReview"
            } else {
                "accepted"
            }
        }
        Verdict::InReview => "underReview",
        Verdict::Open | Verdict::Confirmed | Verdict::Fixed => return json!([]),
    };
    json!([{
        "kind": "external",
        "status": status,
        "justification": row.justification(),
        "properties": {"verdict": verdict.as_str(), "reason": row.assessment.reason.map(|reason| reason.as_str())},
    }])
}

fn level(risk: Risk) -> &'static str {
    match risk {
        Risk::Critical | Risk::High => "error",
        Risk::Medium => "warning",
        Risk::Low | Risk::Info => "note",
    }
}

/// The rank of SARIF, 0 to 100.
fn rank(risk: Risk) -> f64 {
    risk.level() as f64 * 25.0
}

/// A number in the range that SARIF readers assign to each severity.
fn severity(risk: Risk) -> &'static str {
    match risk {
        Risk::Critical => "9.5",
        Risk::High => "8.0",
        Risk::Medium => "5.5",
        Risk::Low => "2.0",
        Risk::Info => "0.0",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::triage::{Assessment, TriageState};
    use scandeck_wire::contract::Stamp;

    #[test]
    fn many_findings_are_split_into_runs_of_different_categories() {
        let row = || {
            let (issue, state) = (Arc::new(Issue::default()), TriageState::default());
            ExportRow::new(
                issue,
                Assessment::default(),
                &state,
                "shop.test".into(),
                None,
                "Acme".into(),
            )
        };
        let made = Stamp::parse("2026-11-21 12:00:00").unwrap();
        let split = |count: usize| -> Vec<(usize, Value)> {
            let rows: Vec<ExportRow> = (0..count).map(|_| row()).collect();
            let export = Export {
                rows: &rows,
                title: "Acme",
                made,
                query: "",
                mask: None,
                frame: None,
            };
            let run = |run: &Value| {
                (
                    run["results"].as_array().unwrap().len(),
                    run["automationDetails"]["id"].clone(),
                )
            };
            runs(&export, 2).unwrap().iter().map(run).collect()
        };
        let id = |part: &str| json!(format!("scandeck/Acme/{part}"));
        assert_eq!(split(0), [(0, id(""))]);
        assert_eq!(split(5), [(2, id("")), (2, id("2/")), (1, id("3/"))]);
    }

    #[test]
    fn too_many_findings_are_an_error_with_the_limit() {
        require_room(500_000).unwrap();
        assert_eq!(
            require_room(500_001).unwrap_err().to_string(),
            "a SARIF file holds at most 500,000 findings (20 runs of 25,000), not 500,001; export fewer findings with a query"
        );
    }

    #[test]
    fn file_that_is_too_large_when_compressed_is_an_error() {
        const MOST: usize = 1_000_000;
        check_compressed(&vec![0; 3 * MOST], MOST).unwrap();
        let mut state = 1u64;
        // Bytes that do not become fewer.
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        };
        let file: Vec<u8> = (0..MOST + 1000).map(|_| random()).collect();
        check_size(&file).unwrap();
        let error = check_compressed(&file, MOST).unwrap_err().to_string();
        assert!(
            error.starts_with("a SARIF file has at most 1 MB when compressed, not 2;"),
            "{error}"
        );
    }
}
