//! The entry of a result and its rule.

use std::collections::BTreeMap;

use scandeck_wire::contract::verdict::{ProposedVerdict, Verdict};
use scandeck_wire::contract::{Risk, Shared};
use serde_json::Value;

use super::{SarifLocation, SarifResult, SarifRule, SarifRun, SarifSuppression, position};
use crate::entry::{CvssRating, EntryPlace, ImportEntry};
use crate::evidence::{EntryEvidence, EvidenceItem};
use crate::fields;
use crate::target::TargetPlace;

impl SarifRun {
    fn rule(&self, result: &SarifResult) -> SarifRule {
        let Some(tool) = &self.tool else {
            return SarifRule::default();
        };
        let component = match position(result.rule.tool_component.index) {
            Some(index) => tool.extensions.get(index),
            None => Some(&tool.driver),
        };
        let index = position(result.rule.index).or(position(result.rule_index));
        let by_index = component
            .zip(index)
            .and_then(|(component, at)| component.rules.get(at));
        let id = match result.rule_id.is_empty() {
            true => &result.rule.id,
            false => &result.rule_id,
        };
        let all = std::iter::once(&tool.driver).chain(&tool.extensions);
        let mut rules = all.flat_map(|component| &component.rules);
        // A hierarchical id such as CA1000/1 belongs to the rule CA1000.
        let parent = id.rsplit_once('/').map_or("", |(parent, _)| parent);
        let found = by_index.filter(|rule| id.is_empty() || rule.id == *id || *rule.id == *parent);
        let found = found.or_else(|| rules.find(|rule| !id.is_empty() && rule.id == *id));
        found.cloned().unwrap_or_default()
    }

    pub(super) fn entry(&self, result: SarifResult) -> Result<ImportEntry, &'static str> {
        if let Some(why) = why_no_finding(&result) {
            return Err(why);
        }
        let rule = self.rule(&result);
        let message = self.message(&result, &rule);
        let id = rule_id(&result, &rule, &message)?;
        let tool = self.tool.as_ref().map_or("sarif", |tool| &tool.driver.name);
        let titles = [&*rule.short_description.text, &*rule.name, &*message];
        // A name that only repeats the id says less than the message.
        let title = titles
            .into_iter()
            .find(|title| !title.is_empty() && *title != id);
        let score = severity(&rule, &result);
        let words = words(&result, &rule);
        let full = &rule.full_description.text;
        let help = help(&rule);
        let mut references = fields::links(&rule.help_uri);
        references.extend(help.map(|text| fields::links(text)).unwrap_or_default());
        let score_number = score.as_deref().and_then(fields::number);
        Ok(ImportEntry {
            vuln_id: format!("{}:{id}", fields::slug(tool)),
            risk: risk(&result, &rule, score.as_deref()),
            source_risk: score.unwrap_or_else(|| level(&result, &rule).to_owned()),
            title: title.unwrap_or(&id).to_owned(),
            description: fields::paragraphs(&[
                &message,
                match **full == *message {
                    true => "",
                    false => full,
                },
            ]),
            recommendation: help.map(Shared::to_string).unwrap_or_default(),
            test: format!("{tool} rule {id}"),
            cves: words
                .iter()
                .chain([&id])
                .flat_map(|word| fields::cves(word))
                .collect(),
            cwes: words
                .iter()
                .flat_map(|word| fields::cwes_in(&word.replace("cwe/", "")))
                .collect(),
            cvss: CvssRating::new(score_number, ""),
            references,
            tags: tags(&rule),
            proposed: proposed(&result),
            fingerprint: fingerprint(&result),
            evidence: self.evidence(&result),
            ..self.placed(&result)
        })
    }

    /// An entry at the address that the result names, or in its file.
    fn placed(&self, result: &SarifResult) -> ImportEntry {
        match self.place(result) {
            Some(place) => ImportEntry::at(place),
            None => ImportEntry {
                target: self.target.clone(),
                place: self.file(result),
                ..ImportEntry::default()
            },
        }
    }

    fn message(&self, result: &SarifResult, rule: &SarifRule) -> String {
        let message = &result.message;
        let mut text = match message.text.is_empty() {
            false => message.text.to_string(),
            true => rule
                .message_strings
                .get(&*message.id)
                .and_then(|text| text["text"].as_str())
                .unwrap_or_default()
                .to_owned(),
        };
        for (at, argument) in message.arguments.iter().enumerate().take(20) {
            text = text.replace(&format!("{{{at}}}"), argument);
        }
        text
    }

    fn uri<'a>(&'a self, location: &'a SarifLocation) -> &'a str {
        let artifact = &location.physical_location.artifact_location;
        let index = position(artifact.index);
        match artifact.uri.is_empty() {
            false => &artifact.uri,
            true => index
                .and_then(|index| self.artifacts.get(index))
                .map_or("", String::as_str),
        }
    }

    /// Of results that a web scanner wrote.
    fn place(&self, result: &SarifResult) -> Option<TargetPlace> {
        let uris = result.locations.iter().map(|location| self.uri(location));
        let mut all = std::iter::once(&*result.web_request.target).chain(uris);
        let is_web = |uri: &&str| uri.starts_with("http://") || uri.starts_with("https://");
        all.find(is_web).and_then(TargetPlace::of_url)
    }

    fn file(&self, result: &SarifResult) -> EntryPlace {
        let Some(location) = result.locations.first() else {
            return EntryPlace::default();
        };
        let logical = location.logical_locations.first();
        let name = logical.map(|one| match one.fully_qualified_name.is_empty() {
            true => one.name.to_string(),
            false => one.fully_qualified_name.to_string(),
        });
        EntryPlace {
            path: self.uri(location).trim_start_matches("file://").to_owned(),
            parameter: name.unwrap_or_default(),
        }
    }

    fn evidence(&self, result: &SarifResult) -> EntryEvidence {
        let request = &result.web_request;
        if !request.target.is_empty() {
            let headers = |headers: &BTreeMap<String, Value>| {
                let line = |(name, value): (&String, &Value)| {
                    format!("{name}: {}\r\n", value.as_str().unwrap_or_default())
                };
                headers.iter().map(line).collect::<String>()
            };
            let response = &result.web_response;
            let status = response
                .status_code
                .map(|code| format!("HTTP/1.1 {code}\r\n"));
            return EntryEvidence::Items(vec![EvidenceItem {
                url: request.target.to_string(),
                method: request.method.to_string(),
                request: format!(
                    "{} {} HTTP/1.1\r\n{}\r\n{}",
                    request.method,
                    request.target,
                    headers(&request.headers),
                    request.body.text,
                ),
                response: match status {
                    Some(status) => {
                        format!(
                            "{status}{}\r\n{}",
                            headers(&response.headers),
                            response.body.text
                        )
                    }
                    None => String::new(),
                },
                ..Default::default()
            }]);
        }
        let row = |location: &SarifLocation| {
            let region = &location.physical_location.region;
            let line = region
                .start_line
                .map(|line| line.to_string())
                .unwrap_or_default();
            let code = region.snippet.text.trim_end().to_owned();
            vec![self.uri(location).to_owned(), line, code]
        };
        let rows = result.locations.iter().take(200).map(row);
        let rows = rows.filter(|row| row.iter().any(|cell| !cell.is_empty()));
        EntryEvidence::table(&["File", "Line", "Code"], rows.collect())
    }
}

fn why_no_finding(result: &SarifResult) -> Option<&'static str> {
    match (&*result.kind, &*result.baseline_state) {
        ("pass", _) => Some("check passed"),
        ("notApplicable", _) => Some("check does not apply"),
        (_, "absent") => Some("absent since the run that the file is compared with"),
        _ => None,
    }
}

/// The id of the rule; without a rule, one of the message.
fn rule_id(result: &SarifResult, rule: &SarifRule, message: &str) -> Result<String, &'static str> {
    let ids = [&result.rule_id, &result.rule.id, &rule.id];
    match ids.into_iter().find(|id| !id.is_empty()) {
        Some(id) => Ok(id.to_string()),
        None if message.is_empty() => Err("result without a rule and a message"),
        None => Ok(fields::slug(message)),
    }
}

/// Texts that name CVEs and CWEs.
fn words(result: &SarifResult, rule: &SarifRule) -> Vec<String> {
    let maps = [&rule.properties, &result.properties].into_iter();
    let properties = maps.flat_map(|map| map.values().map(Value::to_string));
    let related = rule.relationships.iter();
    let related = related.map(|related| related.target.id.to_string());
    properties.chain(related).collect()
}

/// The help of a rule, if it does not only repeat the description.
fn help(rule: &SarifRule) -> Option<&Shared> {
    let full = &rule.full_description.text;
    let mut texts = [&rule.help.text, &rule.help.markdown].into_iter();
    texts.find(|text| !text.is_empty() && **text != **full)
}

/// A score or word beside the level.
fn severity(rule: &SarifRule, result: &SarifResult) -> Option<String> {
    let maps = [&result.properties, &rule.properties];
    let value = maps
        .into_iter()
        .find_map(|map| map.get("security-severity"))?;
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    (!text.is_empty()).then_some(text)
}

fn level<'a>(result: &'a SarifResult, rule: &'a SarifRule) -> &'a str {
    let levels = [&*result.level, &*rule.default_configuration.level];
    match &*result.kind {
        "" | "fail" => levels
            .into_iter()
            .find(|level| !level.is_empty())
            .unwrap_or("warning"),
        // Only a failed check has a level: SARIF 2.1.0, section 3.27.10.
        _ => "none",
    }
}

fn risk(result: &SarifResult, rule: &SarifRule, severity: Option<&str>) -> Risk {
    let of_severity = severity.and_then(|severity| match fields::number(severity) {
        Some(score) => Some(fields::risk_of_cvss(score)),
        None => fields::risk(severity),
    });
    of_severity.unwrap_or(match level(result, rule) {
        "error" => Risk::High,
        "warning" => Risk::Medium,
        "note" => Risk::Low,
        _ => Risk::Info,
    })
}

fn tags(rule: &SarifRule) -> Vec<String> {
    let tags = rule.properties.get("tags").and_then(Value::as_array);
    let texts = tags.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

/// A suppression holds unless it waits for review or was rejected: SARIF 2.1.0, section 3.35.3.
///
/// Without a verdict the risk counts as accepted, unless the justification says otherwise.
fn proposed(result: &SarifResult) -> Option<ProposedVerdict> {
    let suppressions = &result.suppressions;
    let is_refused = |one: &SarifSuppression| matches!(&*one.status, "rejected" | "underReview");
    if suppressions.is_empty() || suppressions.iter().any(is_refused) {
        return None;
    }
    let first = suppressions.first()?;
    let decision = &first.properties;
    let stated = Verdict::named(&decision.verdict);
    if let Some(verdict) = stated.filter(|verdict| verdict.dismisses()) {
        let reason = match decision.reason.is_empty() {
            true => &first.justification,
            false => &decision.reason,
        };
        return Some(ProposedVerdict::new(verdict, reason));
    }
    let verdict = match says_false_positive(&first.justification) {
        true => Verdict::FalsePositive,
        false => Verdict::RiskAccepted,
    };
    let reason = match (&*first.kind, first.justification.is_empty()) {
        (_, false) => &*first.justification,
        ("inSource", true) => "suppressed in the source",
        (_, true) => "suppressed",
    };
    Some(ProposedVerdict::new(verdict, reason))
}

/// Whether a justification calls the result a false positive, and does not deny it.
fn says_false_positive(justification: &str) -> bool {
    let text = justification.to_lowercase().replace('-', " ");
    let Some((before, _)) = text.split_once("false positive") else {
        return false;
    };
    let mut words = before.split_whitespace().rev();
    let last = words.find(|word| !matches!(*word, "a" | "the"));
    last.is_none_or(|word| !matches!(word, "not" | "no") && !word.ends_with("n't"))
}

fn fingerprint(result: &SarifResult) -> String {
    let maps = [&result.fingerprints, &result.partial_fingerprints];
    let first = maps.into_iter().flat_map(BTreeMap::iter).next();
    let text = first.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()));
    text.unwrap_or_default()
}
