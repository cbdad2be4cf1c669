//! Burp Suite: the XML report of issues.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use scandeck_wire::contract::Risk;
use scandeck_wire::contract::verdict::{ProposedVerdict, Verdict};

use super::FormatReader;
use crate::entry::{EntryPlace, ImportEntry};
use crate::evidence::{EntryEvidence, EvidenceItem};
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::run::ImportRun;
use crate::target::{ImportTarget, TargetPlace};
use crate::xml::{XmlStep, XmlStream, XmlTree};

pub const READER: &dyn FormatReader = &BurpReader;

/// The type of issues that an extension made: their name is their class.
const OF_EXTENSION: &str = "134217728";

struct BurpReader;

impl FormatReader for BurpReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let Some(issues) = head.xml("issues") else {
            return false;
        };
        !issues.get("burpVersion").is_empty() || issues.has("serialNumber")
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        _head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        let mut xml = XmlStream::new(input);
        loop {
            match xml.next()? {
                XmlStep::Start(tree) if tree.name == "issues" => {
                    run.summary.version = tree.get("burpVersion").to_owned();
                    run.summary.ended = fields::time(tree.get("exportTime"));
                }
                XmlStep::Start(tree) if tree.name == "issue" => {
                    let issue = xml.whole(tree)?;
                    run.add_or_skip(entry(&issue))?;
                }
                XmlStep::Start(_) | XmlStep::End(_) => {}
                XmlStep::Done => return Ok(()),
            }
        }
    }
}

fn entry(issue: &XmlTree) -> Result<ImportEntry, &'static str> {
    let (kind, name) = (issue.at("type"), issue.at("name"));
    if kind.is_empty() && name.is_empty() {
        return Err("issue without type and name");
    }
    let mut place = TargetPlace::of_text(issue.at("host")).ok_or("issue without a host")?;
    let address = issue
        .child("host")
        .and_then(|host| ImportTarget::of_host(host.get("ip")));
    let others = &mut place.target.others;
    others.extend(address.map(|address| address.name));
    let severity = issue.at("severity");
    let confidence = issue.at("confidence");
    let classes = issue.at("vulnerabilityClassifications");
    let references = fields::links(issue.at("references"));
    let detail = [issue.at("issueDetail"), issue.at("issueBackground")].map(fields::plain);
    let remedy = [
        issue.at("remediationDetail"),
        issue.at("remediationBackground"),
    ]
    .map(fields::plain);
    let parameter = parameter(issue.at("location"));
    let url = format!("{}{}", place.target.name, issue.at("path"));
    Ok(ImportEntry {
        vuln_id: match kind {
            "" | OF_EXTENSION => format!("burp:{}", fields::slug(name)),
            kind => format!("burp:{kind}"),
        },
        risk: fields::risk(severity).unwrap_or(Risk::Info),
        source_risk: match confidence {
            "" => severity.to_owned(),
            confidence => format!("{severity} ({confidence})"),
        },
        title: name.to_owned(),
        description: fields::paragraphs(&[&detail[0], &items(issue), &detail[1]]),
        recommendation: fields::paragraphs(&[&remedy[0], &remedy[1]]),
        test: format!("Burp issue type {kind}"),
        evidence: evidence(issue, &url, &parameter),
        cves: fields::cves(classes),
        cwes: fields::cwes_in(classes),
        references,
        place: EntryPlace {
            path: path(issue.at("path")),
            parameter,
        },
        is_confirmed: confidence == "Certain",
        proposed: is_false_positive(severity)
            .then(|| ProposedVerdict::new(Verdict::FalsePositive, "")),
        ..ImportEntry::at(place)
    })
}

fn is_false_positive(severity: &str) -> bool {
    severity.eq_ignore_ascii_case("false positive")
        || severity.eq_ignore_ascii_case("falsepositive")
}

fn items(issue: &XmlTree) -> String {
    let Some(items) = issue.child("issueDetailItems") else {
        return String::new();
    };
    let texts = items
        .all("issueDetailItem")
        .map(|item| fields::plain(&item.text));
    texts
        .map(|text| format!("- {text}"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn path(path: &str) -> String {
    path.split(['?', '#']).next().unwrap_or_default().to_owned()
}

/// The parameter of a location: `/search [q parameter]`.
fn parameter(location: &str) -> String {
    let Some((_, rest)) = location.rsplit_once(" [") else {
        return String::new();
    };
    let name = rest.trim_end_matches(']').trim();
    let kinds = [
        " parameter",
        " cookie",
        " HTTP header",
        " header",
        " JSON parameter",
    ];
    let name = kinds
        .iter()
        .find_map(|kind| name.strip_suffix(kind))
        .unwrap_or(name);
    name.to_owned()
}

fn evidence(issue: &XmlTree, url: &str, parameter: &str) -> EntryEvidence {
    let mut items: Vec<EvidenceItem> = Vec::new();
    let messages = ["requestresponse", "collaboratorEvent/requestresponse"];
    for holder in messages
        .into_iter()
        .filter_map(|path| parent_of(issue, path))
    {
        for pair in holder.all("requestresponse") {
            items.push(EvidenceItem {
                url: url.to_owned(),
                method: pair
                    .child("request")
                    .map_or("", |request| request.get("method"))
                    .to_owned(),
                parameter: parameter.to_owned(),
                request: message(pair.child("request")),
                response: message(pair.child("response")),
                ..EvidenceItem::default()
            });
        }
    }
    if items.is_empty() {
        items.push(EvidenceItem {
            url: url.to_owned(),
            parameter: parameter.to_owned(),
            ..EvidenceItem::default()
        });
    }
    EntryEvidence::Items(items)
}

fn parent_of<'a>(issue: &'a XmlTree, path: &str) -> Option<&'a XmlTree> {
    match path.rsplit_once('/') {
        Some((parent, _)) => issue.find(parent),
        None => Some(issue),
    }
}

fn message(tree: Option<&XmlTree>) -> String {
    let Some(tree) = tree else {
        return String::new();
    };
    if tree.get("base64") != "true" {
        return tree.text.trim().to_owned();
    }
    let packed: String = tree.text.split_whitespace().collect();
    match STANDARD.decode(packed.as_bytes()) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => tree.text.trim().to_owned(),
    }
}
