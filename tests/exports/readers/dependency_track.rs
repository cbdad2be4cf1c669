//! Dependency-Track as a reader of CycloneDX VEX. Structure: the JSON schema of CycloneDX 1.6.
//! Matching: its documentation ("Policy-independent analysis", "Consuming VEX"): a vulnerability is
//! found by its id and the name of its source, and `affects` by the `bom-ref` of a component.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::exports::{VEX, errors};

pub fn refusals(file: &[u8]) -> Vec<String> {
    let document: Value = serde_json::from_slice(file).unwrap();
    let mut found = errors(&VEX, &document);
    let components = document["components"].as_array().unwrap();
    let mut references: BTreeSet<&str> = BTreeSet::new();
    let owned = |one: &'_ Value| one["bom-ref"].as_str().unwrap_or_default().to_owned();
    for one in components
        .iter()
        .chain(document["vulnerabilities"].as_array().unwrap())
    {
        let reference = one["bom-ref"].as_str().unwrap_or_default();
        if reference.is_empty() || !references.insert(reference) {
            found.push(format!("reference {reference:?} is empty or not unique"));
        }
    }
    let components: BTreeSet<String> = components.iter().map(owned).collect();
    for one in document["vulnerabilities"].as_array().unwrap() {
        let id = one["id"].as_str().unwrap_or_default();
        if id.trim().is_empty() {
            found.push("a vulnerability has no id".to_owned());
        }
        if id.starts_with("CVE-") && one["source"]["name"] != "NVD" {
            found.push(format!("{id} has no source"));
        }
        for affected in one["affects"].as_array().into_iter().flatten() {
            if !components.contains(affected["ref"].as_str().unwrap_or_default()) {
                found.push(format!(
                    "{id} affects {}, which is no component",
                    affected["ref"]
                ));
            }
        }
        if one["analysis"]["state"].is_null() {
            found.push(format!("{id} has no analysis"));
        }
    }
    found
}

#[test]
fn rules_refuse_cve_without_source_and_unknown_component() {
    let file = |source: Value, affected: &str| {
        serde_json::to_vec(&serde_json::json!({
            "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
            "components": [{"type": "application", "bom-ref": "target:a", "name": "a"}],
            "vulnerabilities": [{"bom-ref": "v", "id": "CVE-2024-1", "source": source, "affects": [{"ref": affected}], "analysis": {"state": "in_triage"}}],
        }))
        .unwrap()
    };
    let nvd = serde_json::json!({"name": "NVD"});
    assert_eq!(refusals(&file(nvd.clone(), "target:a")), [""; 0]);
    assert_eq!(refusals(&file(serde_json::json!({}), "target:a")).len(), 1);
    assert_eq!(refusals(&file(nvd, "target:b")).len(), 1);
}
