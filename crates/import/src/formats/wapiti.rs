//! wapiti: the XML and JSON reports.

use std::collections::BTreeMap;

use scandeck_wire::contract::{Risk, Shared, lenient};
use serde::Deserialize;
use serde_json::Value;

use super::FormatReader;
use crate::entry::{EntryPlace, ImportEntry};
use crate::evidence::{EntryEvidence, EvidenceItem};
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json::{self, JsonReader, JsonStep};
use crate::run::ImportRun;
use crate::target::TargetPlace;
use crate::xml::{XmlStep, XmlStream, XmlTree};

pub const READER: &dyn FormatReader = &WapitiReader;

/// Entries of a JSON report that wait for its target, which comes last.
const MAX_WAITING: usize = 100_000;

struct WapitiReader;

impl FormatReader for WapitiReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let is_xml = head
            .xml("report")
            .is_some_and(|report| report.get("type") == "security" && report.has("report_infos"));
        let is_json = head.json().is_some_and(|json| {
            json.get("classifications").is_some()
                && (json.get("vulnerabilities").is_some()
                    || json.get("classifications/Backup file/desc").is_some()
                    || json.get("classifications/SQL Injection/desc").is_some())
        });
        is_xml || is_json
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        if head.is_xml() {
            return read_xml(input, run);
        }
        let mut reader = WapitiJson {
            run,
            kinds: BTreeMap::new(),
            target: String::new(),
            waiting: Vec::new(),
        };
        json::walk(input, &mut reader)?;
        reader.add_waiting()
    }
}

/// A class of results.
#[derive(Clone, Debug, Default)]
struct WapitiKind {
    name: String,
    description: String,
    remedy: String,
    references: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WapitiHit {
    #[serde(deserialize_with = "lenient::text")]
    method: Shared,
    #[serde(deserialize_with = "lenient::text")]
    path: Shared,
    #[serde(deserialize_with = "lenient::text")]
    info: Shared,
    #[serde(deserialize_with = "lenient::text")]
    level: Shared,
    #[serde(deserialize_with = "lenient::text")]
    parameter: Shared,
    #[serde(deserialize_with = "lenient::text")]
    module: Shared,
    #[serde(deserialize_with = "lenient::text")]
    http_request: Shared,
    #[serde(deserialize_with = "lenient::text")]
    curl_command: Shared,
}

fn read_xml(input: &mut ImportInput<'_>, run: &mut ImportRun<'_>) -> Result<(), ReadFault> {
    let mut xml = XmlStream::new(input);
    let mut target = String::new();
    let mut kind = WapitiKind::default();
    loop {
        match xml.next()? {
            XmlStep::Start(tree) => match tree.name.as_str() {
                "info" => {
                    let info = xml.whole(tree)?;
                    set_info(info.get("name"), info.text.trim(), &mut target, run);
                }
                "vulnerability" | "anomaly" | "additional" => {
                    kind = WapitiKind {
                        name: tree.get("name").to_owned(),
                        ..WapitiKind::default()
                    };
                }
                "description" => kind.description = xml.whole(tree)?.text,
                "solution" => kind.remedy = xml.whole(tree)?.text,
                "reference" => kind.references.push(xml.whole(tree)?.at("url").to_owned()),
                "entry" => {
                    let hit = xml_hit(&xml.whole(tree)?);
                    run.add_or_skip(entry(&hit, &kind, &target))?;
                }
                _ => {}
            },
            XmlStep::End(_) => {}
            XmlStep::Done => return Ok(()),
        }
    }
}

fn xml_hit(tree: &XmlTree) -> WapitiHit {
    let text = |name: &str| Shared::from(tree.at(name));
    WapitiHit {
        method: text("method"),
        path: text("path"),
        info: text("info"),
        level: text("level"),
        parameter: text("parameter"),
        module: text("module"),
        http_request: text("http_request"),
        curl_command: text("curl_command"),
    }
}

fn set_info(name: &str, value: &str, target: &mut String, run: &mut ImportRun<'_>) {
    match name {
        "target" => value.clone_into(target),
        "generatorVersion" | "version" => {
            run.summary.version = value.trim_start_matches("Wapiti ").to_owned();
        }
        "dateOfScan" | "date" => run.summary.ended = fields::time(value),
        _ => {}
    }
}

struct WapitiJson<'a, 'b> {
    run: &'a mut ImportRun<'b>,
    kinds: BTreeMap<String, WapitiKind>,
    target: String,
    waiting: Vec<(String, WapitiHit)>,
}

impl JsonReader for WapitiJson<'_, '_> {
    fn step(&self, path: &str) -> JsonStep {
        let depth = path.matches('/').count();
        match path.split('/').next().unwrap_or_default() {
            "classifications" | "infos" if depth > 0 => JsonStep::Take,
            "classifications" | "infos" => JsonStep::Walk,
            "vulnerabilities" | "anomalies" | "additionals" => match path.ends_with("/*") {
                true => JsonStep::Take,
                false if depth == 0 => JsonStep::Walk,
                false => JsonStep::List,
            },
            _ => JsonStep::Skip,
        }
    }

    fn take(&mut self, path: &str, raw: &str) -> Result<(), ReadFault> {
        let (part, name) = path.split_once('/').unwrap_or((path, ""));
        match part {
            "infos" => set_info(name, &json::scalar(raw), &mut self.target, self.run),
            "classifications" => {
                let value: Value = serde_json::from_str(raw).unwrap_or_default();
                let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
                let links = value["ref"].as_object().into_iter().flatten();
                let kind = WapitiKind {
                    name: name.to_owned(),
                    description: text("desc"),
                    remedy: text("sol"),
                    references: links
                        .filter_map(|(_, url)| url.as_str().map(str::to_owned))
                        .collect(),
                };
                self.kinds.insert(name.to_owned(), kind);
            }
            _ => match json::object::<WapitiHit>(raw) {
                Ok(hit) => {
                    let name = name.trim_end_matches("/*").to_owned();
                    self.waiting.push((name, hit));
                    if self.waiting.len() >= MAX_WAITING {
                        self.add_waiting()?;
                    }
                }
                Err(_) => self.run.skip(json::OTHER_SHAPE),
            },
        }
        Ok(())
    }
}

impl WapitiJson<'_, '_> {
    fn add_waiting(&mut self) -> Result<(), ReadFault> {
        for (name, hit) in std::mem::take(&mut self.waiting) {
            let mut kind = self.kinds.get(&name).cloned().unwrap_or_default();
            kind.name = name;
            self.run.add_or_skip(entry(&hit, &kind, &self.target))?;
        }
        Ok(())
    }
}

fn entry(hit: &WapitiHit, kind: &WapitiKind, target: &str) -> Result<ImportEntry, &'static str> {
    if kind.name.is_empty() {
        return Err("entry without a class");
    }
    let place = TargetPlace::of_url(target).or_else(|| of_request(&hit.http_request));
    let place = place.ok_or("entry without a target")?;
    let path = hit.path.split(['?', '#']).next().unwrap_or_default();
    let url = match hit.path.starts_with("http") {
        true => hit.path.to_string(),
        false => format!("{}{}", place.target.name, hit.path),
    };
    let request = match hit.http_request.is_empty() {
        true => hit.curl_command.to_string(),
        false => hit.http_request.to_string(),
    };
    let words = kind.references.join(" ");
    Ok(ImportEntry {
        vuln_id: format!("wapiti:{}", fields::slug(&kind.name)),
        risk: risk(&hit.level),
        source_risk: hit.level.to_string(),
        title: kind.name.clone(),
        description: fields::paragraphs(&[&hit.info, &kind.description]),
        recommendation: kind.remedy.clone(),
        test: match hit.module.is_empty() {
            true => "wapiti".to_owned(),
            false => format!("wapiti module {}", hit.module),
        },
        cwes: cwes_of_links(&words),
        cves: fields::cves(&hit.info),
        references: kind.references.clone(),
        evidence: EntryEvidence::Items(vec![EvidenceItem {
            url,
            method: hit.method.to_string(),
            parameter: hit.parameter.to_string(),
            matched: hit.info.to_string(),
            request,
            ..EvidenceItem::default()
        }]),
        place: EntryPlace {
            path: path.to_owned(),
            parameter: hit.parameter.to_string(),
        },
        ..ImportEntry::at(place)
    })
}

/// The scheme of a request is not in its text.
fn of_request(request: &str) -> Option<TargetPlace> {
    let host = request
        .lines()
        .find_map(|line| line.strip_prefix("Host:"))?;
    TargetPlace::of_text(host.trim())
}

/// The numbers of addresses such as `https://cwe.mitre.org/data/definitions/530.html`.
fn cwes_of_links(words: &str) -> Vec<u32> {
    let parts = words.split("cwe.mitre.org/data/definitions/").skip(1);
    let numbers = parts.filter_map(|part| part.split('.').next()?.parse().ok());
    numbers.collect()
}

fn risk(level: &str) -> Risk {
    match level {
        "4" => Risk::Critical,
        "3" => Risk::High,
        "2" => Risk::Medium,
        "1" => Risk::Low,
        _ => Risk::Info,
    }
}
