//! ZAP: the XML and JSON reports, with and without requests.
//!
//! An alert lists its instances. Instances of one parameter are one finding, because each cookie or
//! header has its own decision; instances that an attack proved also differ by path.

use std::collections::{BTreeMap, BTreeSet};

use scandeck_wire::contract::Risk;
use scandeck_wire::contract::verdict::{ProposedVerdict, Verdict};
use serde_json::Value;

use super::FormatReader;
use crate::coverage::ImportCoverage;
use crate::entry::{EntryPlace, ImportEntry};
use crate::evidence::{EntryEvidence, EvidenceItem};
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json::{self, JsonReader, JsonStep};
use crate::run::ImportRun;
use crate::target::{ImportTarget, TargetPlace};
use crate::xml::{XmlStep, XmlStream, XmlTree};

pub const READER: &dyn FormatReader = &ZapReader;

/// Findings that one alert becomes at most.
const MAX_GROUPS: usize = 1_000;
/// Instances of a finding that are kept.
const MAX_INSTANCES: usize = 200;

struct ZapReader;

impl FormatReader for ZapReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let is_json = head.json().is_some_and(|json| {
            let is_named = json.get("@programName") == Some("ZAP");
            let mut names = ["site/*/@name", "site/@name"].into_iter();
            is_named || names.any(|path| json.get(path).is_some())
        });
        is_json || head.xml("OWASPZAPReport").is_some()
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        match head.is_xml() {
            true => read_xml(input, run),
            false => {
                let mut reader = ZapJson {
                    run,
                    site: ZapSite::default(),
                    alert: ZapAlert::default(),
                };
                json::walk(input, &mut reader)
            }
        }
    }
}

fn read_xml(input: &mut ImportInput<'_>, run: &mut ImportRun<'_>) -> Result<(), ReadFault> {
    let mut xml = XmlStream::new(input);
    let mut site = ZapSite::default();
    loop {
        match xml.next()? {
            XmlStep::Start(tree) => match tree.name.as_str() {
                "OWASPZAPReport" => {
                    run.summary.version = tree.get("version").to_owned();
                    run.summary.ended = fields::time(tree.get("generated"));
                }
                "site" => site = ZapSite::new(tree.get("name"), run),
                "alertitem" => read_alert(&mut xml, run, &mut site)?,
                _ => {}
            },
            XmlStep::End(name) if name == "site" => std::mem::take(&mut site).finish(run),
            XmlStep::End(_) => {}
            XmlStep::Done => return Ok(()),
        }
    }
}

/// The instances come one by one, because requests and responses may be large.
fn read_alert(
    xml: &mut XmlStream<'_, '_>,
    run: &mut ImportRun<'_>,
    site: &mut ZapSite,
) -> Result<(), ReadFault> {
    let mut alert = ZapAlert::default();
    loop {
        match xml.next()? {
            XmlStep::Start(tree) => match tree.name.as_str() {
                "instances" => {}
                "instance" => alert.add_instance(xml_instance(&xml.whole(tree)?)),
                "tags" => {
                    let tree = xml.whole(tree)?;
                    alert
                        .tags
                        .extend(tree.all("tag").map(|tag| tag.at("tag").to_owned()));
                }
                _ => {
                    let tree = xml.whole(tree)?;
                    alert
                        .fields
                        .insert(tree.name.clone(), tree.text.trim().to_owned());
                }
            },
            XmlStep::End(name) if name == "alertitem" => return alert.finish(run, site),
            XmlStep::End(_) => {}
            XmlStep::Done => return Ok(()),
        }
    }
}

fn xml_instance(tree: &XmlTree) -> EvidenceItem {
    EvidenceItem {
        url: tree.at("uri").to_owned(),
        method: tree.at("method").to_owned(),
        parameter: tree.at("param").to_owned(),
        attack: tree.at("attack").to_owned(),
        matched: tree.at("evidence").to_owned(),
        details: tree.at("otherinfo").to_owned(),
        request: message(tree.at("requestheader"), tree.at("requestbody")),
        response: message(tree.at("responseheader"), tree.at("responsebody")),
    }
}

fn message(header: &str, body: &str) -> String {
    match (header.is_empty(), body.is_empty()) {
        (true, _) => body.to_owned(),
        (false, true) => header.to_owned(),
        (false, false) => format!("{header}\r\n\r\n{body}"),
    }
}

struct ZapJson<'a, 'b> {
    run: &'a mut ImportRun<'b>,
    site: ZapSite,
    alert: ZapAlert,
}

impl JsonReader for ZapJson<'_, '_> {
    fn step(&self, path: &str) -> JsonStep {
        match path {
            "site" | "site/*/alerts" | "site/*/alerts/*/instances" => JsonStep::List,
            "site/*" | "site/*/alerts/*" => JsonStep::Walk,
            "@version" | "@generated" | "created" | "site/*/@name" => JsonStep::Take,
            path if path.starts_with("site/*/alerts/*/") => JsonStep::Take,
            _ => JsonStep::Skip,
        }
    }

    fn first(&self, path: &str) -> &'static [&'static str] {
        match path {
            "site/*" => &["@name"],
            _ => &[],
        }
    }

    fn take(&mut self, path: &str, raw: &str) -> Result<(), ReadFault> {
        match path {
            "@version" => self.run.summary.version = json::scalar(raw),
            "@generated" | "created" => {
                let at = fields::time(&json::scalar(raw));
                self.run.summary.ended = at.or(self.run.summary.ended);
            }
            "site/*/@name" => self.site = ZapSite::new(&json::scalar(raw), self.run),
            "site/*/alerts/*/instances/*" => match json_instance(raw) {
                Some(instance) => self.alert.add_instance(instance),
                None => self.run.skip(json::OTHER_SHAPE),
            },
            "site/*/alerts/*/tags" => {
                let tags: Value = serde_json::from_str(raw).unwrap_or_default();
                let tags = json::elements(&tags).iter();
                let names = tags.filter_map(|tag| tag["tag"].as_str());
                self.alert.tags.extend(names.map(str::to_owned));
            }
            path => {
                let name = path.rsplit('/').next().unwrap_or_default();
                let text = json::scalar(raw);
                self.alert
                    .fields
                    .insert(name.to_owned(), text.trim().to_owned());
            }
        }
        Ok(())
    }

    fn leave(&mut self, path: &str) -> Result<(), ReadFault> {
        match path {
            "site/*/alerts/*" => std::mem::take(&mut self.alert).finish(self.run, &mut self.site),
            "site/*" => {
                std::mem::take(&mut self.site).finish(self.run);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn json_instance(raw: &str) -> Option<EvidenceItem> {
    let value: Value = serde_json::from_str(raw).ok().filter(Value::is_object)?;
    let text = |name: &str| value[name].as_str().unwrap_or_default().trim().to_owned();
    Some(EvidenceItem {
        url: text("uri"),
        method: text("method"),
        parameter: text("param"),
        attack: text("attack"),
        matched: text("evidence"),
        details: text("otherinfo"),
        request: message(&text("request-header"), &text("request-body")),
        response: message(&text("response-header"), &text("response-body")),
    })
}

#[derive(Default)]
struct ZapSite {
    target: Option<ImportTarget>,
    /// Rules with results: those that surely ran.
    rules: BTreeSet<String>,
}

impl ZapSite {
    fn new(name: &str, run: &mut ImportRun<'_>) -> Self {
        let target = TargetPlace::of_text(name).map(|place| place.target);
        if let Some(target) = &target {
            run.target(target);
        }
        Self {
            target,
            rules: BTreeSet::new(),
        }
    }

    fn finish(self, run: &mut ImportRun<'_>) {
        let Some(target) = self.target.filter(|_| !self.rules.is_empty()) else {
            return;
        };
        run.summary.coverage.push(ImportCoverage {
            targets: vec![target],
            checks: self.rules,
            ..ImportCoverage::default()
        });
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InstanceKey {
    parameter: String,
    /// Only of instances that an attack proved.
    path: String,
}

#[derive(Default)]
struct ZapAlert {
    fields: BTreeMap<String, String>,
    tags: Vec<String>,
    groups: BTreeMap<InstanceKey, Vec<EvidenceItem>>,
}

impl ZapAlert {
    fn get(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    fn add_instance(&mut self, item: EvidenceItem) {
        let path = match item.attack.is_empty() {
            true => String::new(),
            false => path_of(&item.url),
        };
        let mut key = InstanceKey {
            parameter: item.parameter.clone(),
            path,
        };
        if self.groups.len() >= MAX_GROUPS && !self.groups.contains_key(&key) {
            key = InstanceKey {
                parameter: String::new(),
                path: String::new(),
            };
        }
        let group = self.groups.entry(key).or_default();
        if group.len() < MAX_INSTANCES {
            group.push(item);
        }
    }

    fn finish(mut self, run: &mut ImportRun<'_>, site: &mut ZapSite) -> Result<(), ReadFault> {
        let id = rule_id(self.get("pluginid"), self.get("alertRef"));
        if id.is_empty() {
            run.skip("alert without a plugin id");
            return Ok(());
        }
        if self.groups.is_empty() {
            // Old reports have one place in the alert itself.
            self.add_instance(EvidenceItem {
                url: self.get("uri").to_owned(),
                method: self.get("method").to_owned(),
                parameter: self.get("param").to_owned(),
                attack: self.get("attack").to_owned(),
                matched: self.get("evidence").to_owned(),
                ..EvidenceItem::default()
            });
        }
        site.rules.insert(id.clone());
        for (key, items) in std::mem::take(&mut self.groups) {
            run.add(self.entry(&id, &key, items, site))?;
        }
        Ok(())
    }

    fn entry(
        &self,
        id: &str,
        key: &InstanceKey,
        items: Vec<EvidenceItem>,
        site: &ZapSite,
    ) -> ImportEntry {
        let first = items
            .first()
            .and_then(|item| TargetPlace::of_url(&item.url));
        let paths: BTreeSet<String> = items.iter().map(|item| path_of(&item.url)).collect();
        let path = match paths.len() {
            1 => paths.into_iter().next().unwrap_or_default(),
            _ => String::new(),
        };
        let title = [self.get("name"), self.get("alert")];
        let is_false_positive = self.get("confidence") == "0";
        let other = match items.iter().any(|item| !item.details.is_empty()) {
            true => String::new(),
            false => fields::plain(self.get("otherinfo")),
        };
        ImportEntry {
            vuln_id: id.to_owned(),
            risk: risk(self.get("riskcode"), self.get("riskdesc")),
            source_risk: match self.get("riskdesc") {
                "" => self.get("riskcode").to_owned(),
                words => words.to_owned(),
            },
            title: title
                .into_iter()
                .find(|title| !title.is_empty())
                .unwrap_or_default()
                .to_owned(),
            description: fields::paragraphs(&[&fields::plain(self.get("desc")), &other]),
            recommendation: fields::plain(self.get("solution")),
            test: format!("ZAP rule {}", id.trim_start_matches("zap:")),
            cves: self.tags.iter().flat_map(|tag| fields::cves(tag)).collect(),
            cwes: fields::cwes(self.get("cweid")),
            references: fields::links(&fields::plain(self.get("reference"))),
            port: first.as_ref().and_then(|place| place.port),
            protocol: String::from(if first.is_some() { "tcp" } else { "" }),
            service: first
                .as_ref()
                .map(|place| place.scheme.clone())
                .unwrap_or_default(),
            target: site.target.clone().or(first.map(|place| place.target)),
            tags: self.tags.clone(),
            place: EntryPlace {
                path,
                parameter: key.parameter.clone(),
            },
            is_confirmed: self.get("confidence") == "4",
            proposed: is_false_positive.then(|| ProposedVerdict::new(Verdict::FalsePositive, "")),
            evidence: EntryEvidence::Items(items),
            ..ImportEntry::default()
        }
    }
}

fn path_of(url: &str) -> String {
    TargetPlace::of_url(url)
        .map(|place| place.path)
        .unwrap_or_default()
}

/// Variants of a rule are different weaknesses. The first one has the name of the rule, because
/// old versions do not name variants.
fn rule_id(plugin: &str, variant: &str) -> String {
    let id = match variant.strip_suffix("-1").unwrap_or(variant) {
        "" => plugin,
        variant => variant,
    };
    match id.is_empty() {
        true => String::new(),
        false => format!("zap:{id}"),
    }
}

/// `words` has the risk and then the confidence, such as `High (Medium)`.
fn risk(code: &str, words: &str) -> Risk {
    let word = words.split_whitespace().next();
    match code {
        "3" => Risk::High,
        "2" => Risk::Medium,
        "1" => Risk::Low,
        "0" => Risk::Info,
        _ => word.and_then(fields::risk).unwrap_or(Risk::Info),
    }
}
