//! The Generic Findings Import of DefectDojo. Names and required fields:
//! `dojo/tools/generic/json_parser.py`; lengths: the columns in `dojo/models.py`; tags:
//! `tag_validator` in `dojo/validators.py`; endpoints: `Endpoint.from_uri`, which parses a host
//! strictly. One value that does not fit aborts the import of the whole file.

use serde_json::Value;
use url::{Host, Url};

use crate::exports::{DEFECT_DOJO, errors, schema};

/// Fields and the longest text of their column, in characters.
const LENGTHS: [(&str, usize); 5] = [
    ("title", 511),
    ("service", 200),
    ("vuln_id_from_tool", 500),
    ("unique_id_from_tool", 500),
    ("severity", 200),
];

pub fn refusals(file: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(file).unwrap();
    let document: Value = serde_json::from_str(text).unwrap();
    let mut found = errors(&DEFECT_DOJO, &document);
    if text.contains("\\u0000") || text.contains('\0') {
        found.push("U+0000, which PostgreSQL cannot store".to_owned());
    }
    if document["name"]
        .as_str()
        .is_some_and(|name| name.chars().count() > 255)
    {
        found.push("name of the test is too long".to_owned());
    }
    for finding in document["findings"].as_array().unwrap() {
        check(finding, &mut found);
    }
    found
}

fn check(finding: &Value, found: &mut Vec<String>) {
    let texts = |name: &str| {
        finding[name]
            .as_array()
            .into_iter()
            .flatten()
            .map(|text| text.as_str().unwrap())
    };
    for (name, most) in LENGTHS {
        let length = finding[name].as_str().unwrap_or_default().chars().count();
        if length > most {
            found.push(format!("{name} has {length} characters, more than {most}"));
        }
    }
    for required in ["title", "severity", "description"] {
        if finding[required]
            .as_str()
            .is_none_or(|text| text.trim().is_empty())
        {
            found.push(format!("{required} is empty"));
        }
    }
    for name in ["date", "mitigated"] {
        // Years of Python: 1 to 9999.
        if let Some(date) = finding[name].as_str()
            && (!date.starts_with(|c: char| c.is_ascii_digit()) || date.starts_with("0000-"))
        {
            found.push(format!("{name} is {date}"));
        }
    }
    for id in
        texts("vulnerability_ids").filter(|id| id.trim().is_empty() || id.chars().count() > 50)
    {
        found.push(format!("vulnerability id {id:?}"));
    }
    for tag in texts("tags") {
        if tag.is_empty()
            || tag.chars().count() > 255
            || tag.contains([' ', ',', '"', '\'', '\n', '\t'])
        {
            found.push(format!("tag {tag:?}"));
        }
    }
    if finding["cwe"]
        .as_u64()
        .is_some_and(|cwe| cwe > i32::MAX as u64)
    {
        found.push(format!("cwe {} is no 32-bit number", finding["cwe"]));
    }
    for endpoint in texts("endpoints") {
        found.extend(
            endpoint_refusal(endpoint).map(|reason| format!("endpoint {endpoint}: {reason}")),
        );
    }
}

/// Why the host of an endpoint is refused.
fn endpoint_refusal(endpoint: &str) -> Option<String> {
    if !endpoint.is_ascii() || !endpoint.contains("://") {
        return Some("not a URI in ASCII".to_owned());
    }
    // The parser reads web addresses more strictly than others.
    let rest = endpoint.split_once("://")?.1;
    let url = match Url::parse(&format!("http://{rest}")) {
        Ok(url) => url,
        Err(error) => return Some(error.to_string()),
    };
    match url.host() {
        Some(Host::Domain(name))
            if name.len() > 253
                || name
                    .trim_end_matches('.')
                    .split('.')
                    .any(|label| !(1..64).contains(&label.len())) =>
        {
            Some("no host name".to_owned())
        }
        Some(_)
            if rest
                .split(['/', '?'])
                .next()
                .unwrap_or_default()
                .contains('%') =>
        {
            Some("encoded host".to_owned())
        }
        Some(_) => None,
        None => Some("no host".to_owned()),
    }
}

#[test]
fn rules_refuse_what_the_import_refuses() {
    let finding = |fields: Value| {
        let mut finding = serde_json::json!({"title": "t", "severity": "High", "description": "d"});
        finding
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        refusals(&serde_json::to_vec(&serde_json::json!({"findings": [finding]})).unwrap())
    };
    assert_eq!(finding(serde_json::json!({})), [""; 0]);
    for fields in [
        serde_json::json!({"title": "a\0b"}),
        serde_json::json!({"title": "x".repeat(512)}),
        serde_json::json!({"service": "x".repeat(201)}),
        serde_json::json!({"tags": ["a b"]}),
        serde_json::json!({"vulnerability_ids": ["x".repeat(51)]}),
        serde_json::json!({"endpoints": ["target:Office+LAN+(VLAN+12)"]}),
        serde_json::json!({"endpoints": ["tcp://[fe80::1%25eth0]:443"]}),
        serde_json::json!({"endpoints": ["tcp://bücher.example"]}),
        serde_json::json!({"date": "-0044-03-15"}),
        serde_json::json!({"cwe": 5_000_000_000u64}),
        serde_json::json!({"unknown": 1}),
    ] {
        assert!(!finding(fields.clone()).is_empty(), "{fields}");
    }
    assert!(schema("defectdojo-generic.json").is_object());
}
