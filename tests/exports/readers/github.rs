//! GitHub code scanning as a reader of SARIF: its documentation "SARIF support for code scanning"
//! and "SARIF results exceed limits"; a file with two runs of one tool and category is refused
//! since 2025. Relative references: RFC 3986 §4.2.

use std::collections::BTreeSet;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use url::Url;

use crate::exports::{SARIF, errors};

/// Largest upload, compressed by gzip, in bytes.
const UPLOAD: usize = 10_000_000;
/// Lists and their most items.
const LIMITS: [(&str, usize); 3] = [
    ("/results", 25_000),
    ("/tool/driver/rules", 25_000),
    ("/tool/extensions", 100),
];
const RUNS: usize = 20;
const TAGS: usize = 20;
const LOCATIONS: usize = 1_000;
const DESCRIPTION: usize = 1_024;

pub fn refusals(file: &[u8]) -> Vec<String> {
    let document: Value = serde_json::from_slice(file).unwrap();
    let mut found = errors(&SARIF, &document);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(file).unwrap();
    if encoder.finish().unwrap().len() > UPLOAD {
        found.push("the upload is too large".to_owned());
    }
    let runs = document["runs"].as_array().unwrap();
    if runs.len() > RUNS {
        found.push(format!("{} runs", runs.len()));
    }
    let mut categories = BTreeSet::new();
    for run in runs {
        let id = run["automationDetails"]["id"].as_str().unwrap_or_default();
        let category = id.rsplit_once('/').map_or(id, |(category, _)| category);
        if !categories.insert((run["tool"]["driver"]["name"].as_str(), category)) {
            found.push(format!("two runs of category {category:?}"));
        }
        for (list, most) in LIMITS {
            let length = run
                .pointer(list)
                .and_then(Value::as_array)
                .map_or(0, Vec::len);
            if length > most {
                found.push(format!("{list} has {length} items"));
            }
        }
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        rules.iter().for_each(|rule| check_rule(rule, &mut found));
        run["results"]
            .as_array()
            .unwrap()
            .iter()
            .for_each(|result| check_result(result, rules, &mut found));
    }
    found
}

fn check_rule(rule: &Value, found: &mut Vec<String>) {
    let id = rule["id"].as_str().unwrap_or_default();
    if id.trim().is_empty() {
        found.push("a rule has no id".to_owned());
    }
    for (name, most) in [
        ("shortDescription", DESCRIPTION),
        ("fullDescription", DESCRIPTION),
        ("help", usize::MAX),
    ] {
        let length = rule[name]["text"]
            .as_str()
            .unwrap_or_default()
            .chars()
            .count();
        if length == 0 || length > most {
            found.push(format!("{name} of rule {id} has {length} characters"));
        }
    }
    let severity = rule["properties"]["security-severity"]
        .as_str()
        .and_then(|text| text.parse::<f64>().ok());
    if !severity.is_some_and(|severity| (0.0..=10.0).contains(&severity)) {
        found.push(format!(
            "severity of rule {id} is {}",
            rule["properties"]["security-severity"]
        ));
    }
    if rule["properties"]["tags"]
        .as_array()
        .is_some_and(|tags| tags.len() > TAGS)
    {
        found.push(format!("rule {id} has too many tags"));
    }
}

fn check_result(result: &Value, rules: &[Value], found: &mut Vec<String>) {
    let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
    let id = result["ruleId"].as_str().unwrap_or_default();
    if rule["id"] != id {
        found.push(format!("result of rule {id} names rule {}", rule["id"]));
    }
    if result["properties"]["security-severity"] != rule["properties"]["security-severity"] {
        found.push(format!(
            "a result of rule {id} has another severity than the rule"
        ));
    }
    if result["message"]["text"]
        .as_str()
        .is_none_or(|text| text.trim().is_empty())
    {
        found.push(format!("a result of rule {id} has no message"));
    }
    if result["partialFingerprints"]["primaryLocationLineHash"]
        .as_str()
        .is_none_or(str::is_empty)
    {
        found.push(format!("a result of rule {id} has no fingerprint"));
    }
    let locations = result["locations"].as_array().unwrap();
    if !(1..=LOCATIONS).contains(&locations.len()) {
        found.push(format!(
            "a result of rule {id} has {} locations",
            locations.len()
        ));
    }
    for location in locations {
        let uri = location["physicalLocation"]["artifactLocation"]["uri"]
            .as_str()
            .unwrap_or_default();
        if !is_path_below_root(uri) {
            found.push(format!("{uri:?} is no relative path"));
        }
        if location["physicalLocation"]["region"]["startLine"]
            .as_u64()
            .is_none_or(|line| line == 0)
        {
            found.push(format!("{uri:?} has no line"));
        }
    }
}

/// Whether a URI is a relative path of a file in a repository.
fn is_path_below_root(uri: &str) -> bool {
    let first = uri.split('/').next().unwrap_or_default();
    let root = Url::parse("file:///repository/").unwrap();
    let file = root.join(uri).ok();
    let is_inside = file.is_some_and(|file| {
        file.path().len() > root.path().len() && file.path().starts_with(root.path())
    });
    !first.is_empty()
        && !first.contains(':')
        && !uri.contains(['?', '#', '\\'])
        && !uri.ends_with('/')
        && is_inside
}

#[test]
fn rules_refuse_what_code_scanning_refuses() {
    let file = |uri: &str, severity: Value, line: Value| {
        let rule = json!({"id": "r", "shortDescription": {"text": "s"}, "fullDescription": {"text": "f"}, "help": {"text": "h"}, "properties": {"security-severity": severity}});
        let result = json!({
            "ruleId": "r", "ruleIndex": 0, "message": {"text": "m"}, "partialFingerprints": {"primaryLocationLineHash": "a:1"},
            "properties": {"security-severity": severity},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}}],
        });
        let run = json!({"tool": {"driver": {"name": "t", "rules": [rule]}}, "results": [result]});
        refusals(&serde_json::to_vec(&json!({"version": "2.1.0", "runs": [run]})).unwrap())
    };
    assert_eq!(file("shop.test/a", json!("5.0"), json!(1)), [""; 0]);
    for uri in [
        "https://shop.test/",
        "tcp://10.0.4.7:443",
        "10.0.4.7:443",
        "../x",
        "..",
        "",
        "/x",
        "a?b",
        "a/",
    ] {
        assert!(!file(uri, json!("5.0"), json!(1)).is_empty(), "{uri}");
    }
    assert_eq!(file("a", json!("11"), json!(1)).len(), 1);
    assert!(!file("a", json!("5.0"), json!(0)).is_empty());
}
