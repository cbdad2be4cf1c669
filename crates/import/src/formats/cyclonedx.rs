//! CycloneDX: the vulnerabilities of a bill of materials, in JSON and XML.
//!
//! A vulnerability is an entry for each component that it affects.

use std::collections::BTreeMap;

use scandeck_wire::contract::verdict::{ProposedVerdict, Verdict};
use scandeck_wire::contract::{Risk, Shared, lenient};
use serde::Deserialize;
use serde_json::Value;

use super::FormatReader;
use crate::entry::{CvssRating, ImportEntry};
use crate::evidence::EntryEvidence;
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json::{self, JsonReader, JsonStep};
use crate::package::{NamedPackage, linked_reference};
use crate::run::ImportRun;
use crate::target::ImportTarget;
use crate::xml::{XmlStep, XmlStream, XmlTree};

pub const READER: &dyn FormatReader = &CyclonedxReader;

const MAX_COMPONENTS: usize = 500_000;
const UNAFFECTED: &str = "unaffected";

struct CyclonedxReader;

impl FormatReader for CyclonedxReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let is_json = head.json().and_then(|json| json.get("bomFormat")) == Some("CycloneDX");
        let is_xml = head
            .xml("bom")
            .is_some_and(|bom| bom.get("xmlns").contains("cyclonedx"));
        is_json || is_xml
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
        let mut reader = CyclonedxJson {
            run,
            bom: CyclonedxBom::default(),
        };
        json::walk(input, &mut reader)?;
        let CyclonedxJson { run, bom } = reader;
        bom.add_waiting(run)
    }
}

/// The components by reference, and the vulnerabilities that wait for them.
#[derive(Default)]
struct CyclonedxBom {
    target: Option<ImportTarget>,
    components: BTreeMap<String, CyclonedxComponent>,
    waiting: Vec<CyclonedxVulnerability>,
}

#[derive(Clone, Debug, Default)]
struct CyclonedxComponent {
    name: String,
    version: String,
    /// A package URL; may be empty.
    purl: String,
}

#[derive(Default)]
struct CyclonedxVulnerability {
    id: String,
    source: String,
    description: String,
    detail: String,
    recommendation: String,
    ratings: Vec<CyclonedxRating>,
    cwes: Vec<u32>,
    links: Vec<String>,
    aliases: Vec<String>,
    affects: Vec<String>,
    /// The versions of every component are stated as unaffected.
    is_unaffected: bool,
    state: String,
    state_detail: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CyclonedxRating {
    #[serde(deserialize_with = "lenient::maybe_number")]
    score: Option<f64>,
    #[serde(deserialize_with = "lenient::text")]
    severity: Shared,
    #[serde(deserialize_with = "lenient::text")]
    method: Shared,
    #[serde(deserialize_with = "lenient::text")]
    vector: Shared,
}

struct CyclonedxJson<'a, 'b> {
    run: &'a mut ImportRun<'b>,
    bom: CyclonedxBom,
}

impl JsonReader for CyclonedxJson<'_, '_> {
    fn step(&self, path: &str) -> JsonStep {
        match path {
            "metadata" => JsonStep::Walk,
            "components" | "vulnerabilities" => JsonStep::List,
            "metadata/component" | "metadata/timestamp" | "metadata/tools" => JsonStep::Take,
            "components/*" | "vulnerabilities/*" => JsonStep::Take,
            _ => JsonStep::Skip,
        }
    }

    fn take(&mut self, path: &str, raw: &str) -> Result<(), ReadFault> {
        let Ok(value) = serde_json::from_str::<Value>(raw) else {
            self.run.skip(json::OTHER_SHAPE);
            return Ok(());
        };
        match path {
            "metadata/timestamp" => {
                self.run.summary.ended = fields::time(value.as_str().unwrap_or_default());
            }
            "metadata/tools" => {
                let tools = json::elements(value.get("components").unwrap_or(&value));
                if let Some(tool) = tools.first() {
                    let text = |name: &str| tool[name].as_str().unwrap_or_default();
                    set_tool(text("name"), text("version"), self.run);
                }
            }
            "metadata/component" => {
                self.bom.target = ImportTarget::product(value["name"].as_str().unwrap_or_default());
                self.bom.add_component(&value);
            }
            "components/*" => self.bom.add_component(&value),
            _ => match json_vulnerability(&value) {
                Some(one) => self.bom.waiting.push(one),
                None => self.run.skip("vulnerability without an id"),
            },
        }
        Ok(())
    }
}

fn set_tool(name: &str, version: &str, run: &mut ImportRun<'_>) {
    if !name.is_empty() {
        run.summary.tool = name.to_owned();
        run.summary.version = version.to_owned();
    }
}

fn json_vulnerability(value: &Value) -> Option<CyclonedxVulnerability> {
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let list = |name: &str| json::elements(&value[name]);
    if text("id").is_empty() {
        return None;
    }
    let link = |one: &Value| one["url"].as_str().map(str::to_owned);
    let mut links: Vec<String> = list("advisories").iter().filter_map(link).collect();
    links.extend(link(&value["source"]));
    let analysis = |name: &str| value["analysis"][name].as_str().unwrap_or_default();
    let affects = list("affects");
    let is_unaffected = !affects.is_empty() && affects.iter().all(is_unaffected_value);
    let ratings = list("ratings").iter();
    let numbers = list("cwes")
        .iter()
        .filter_map(|cwe| u32::try_from(cwe.as_u64()?).ok());
    Some(CyclonedxVulnerability {
        id: text("id"),
        source: value["source"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        description: text("description"),
        detail: text("detail"),
        recommendation: text("recommendation"),
        ratings: ratings
            .filter_map(|rating| CyclonedxRating::deserialize(rating).ok())
            .collect(),
        cwes: numbers.collect(),
        links,
        aliases: list("references")
            .iter()
            .filter_map(|one| one["id"].as_str().map(str::to_owned))
            .collect(),
        affects: affects
            .iter()
            .filter(|one| !is_unaffected_value(one))
            .filter_map(|one| one["ref"].as_str().map(str::to_owned))
            .collect(),
        is_unaffected,
        state: analysis("state").to_owned(),
        state_detail: fields::paragraphs(&[analysis("justification"), analysis("detail")]),
    })
}

/// Whether a component has versions, none of which has the vulnerability.
fn is_unaffected_value(affected: &Value) -> bool {
    let versions = json::elements(&affected["versions"]);
    !versions.is_empty() && versions.iter().all(|one| one["status"] == UNAFFECTED)
}

/// The same of XML.
fn is_unaffected_tree(affected: &XmlTree) -> bool {
    let Some(versions) = affected.child("versions") else {
        return false;
    };
    let mut states = versions
        .all("version")
        .map(|one| one.at("status"))
        .peekable();
    states.peek().is_some() && states.all(|state| state == UNAFFECTED)
}

fn xml_rating(tree: &XmlTree) -> CyclonedxRating {
    CyclonedxRating {
        // The extension for version 1.2 has the base score one level deeper.
        score: fields::number(tree.at("score")).or_else(|| fields::number(tree.at("score/base"))),
        severity: tree.at("severity").into(),
        method: tree.at("method").into(),
        vector: tree.at("vector").into(),
    }
}

/// The addresses of the advisories and of the source.
fn xml_links(tree: &XmlTree) -> Vec<String> {
    let advisories = tree.child("advisories").into_iter();
    let advisories = advisories.flat_map(|list| list.all("advisory"));
    let links = advisories.map(|one| match one.at("url") {
        "" => one.text.trim().to_owned(),
        url => url.to_owned(),
    });
    links.chain([tree.at("source/url").to_owned()]).collect()
}

fn read_xml(input: &mut ImportInput<'_>, run: &mut ImportRun<'_>) -> Result<(), ReadFault> {
    let mut xml = XmlStream::new(input);
    let mut bom = CyclonedxBom::default();
    loop {
        match xml.next()? {
            XmlStep::Start(tree) => match tree.name.as_str() {
                "metadata" => {
                    let metadata = xml.whole(tree)?;
                    run.summary.ended = fields::time(metadata.at("timestamp"));
                    let tool = ["tools/tool", "tools/components/component"];
                    if let Some(tool) = tool.iter().find_map(|path| metadata.find(path)) {
                        set_tool(tool.at("name"), tool.at("version"), run);
                    }
                    bom.target = ImportTarget::product(metadata.at("component/name"));
                }
                "component" => {
                    let component = xml.whole(tree)?;
                    bom.add_xml_component(&component, run);
                }
                "vulnerability" => {
                    let one = xml.whole(tree)?;
                    bom.add_xml_vulnerability(&one, "", run);
                }
                // References of components to each other are no vulnerabilities.
                "dependencies" => drop(xml.whole(tree)?),
                _ => {}
            },
            XmlStep::End(_) => {}
            XmlStep::Done => return bom.add_waiting(run),
        }
    }
}

impl CyclonedxBom {
    fn add_component(&mut self, value: &Value) {
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let component = CyclonedxComponent {
            name: joined(&text("group"), &text("name")),
            version: text("version"),
            purl: text("purl"),
        };
        self.insert(&text("bom-ref"), component);
        // The nesting of JSON has a limit of its own.
        for nested in json::elements(&value["components"]) {
            self.add_component(nested);
        }
    }

    fn insert(&mut self, reference: &str, component: CyclonedxComponent) {
        if self.components.len() >= MAX_COMPONENTS {
            return;
        }
        let purl = component.purl.clone();
        for key in [reference, &purl] {
            if !key.is_empty() {
                self.components.insert(key.to_owned(), component.clone());
            }
        }
    }

    fn add_xml_component(&mut self, tree: &XmlTree, run: &mut ImportRun<'_>) {
        let component = CyclonedxComponent {
            name: joined(tree.at("group"), tree.at("name")),
            version: tree.at("version").to_owned(),
            purl: tree.at("purl").to_owned(),
        };
        let reference = match tree.get("bom-ref") {
            "" => format!("{}@{}", component.name, component.version),
            reference => reference.to_owned(),
        };
        self.insert(&reference, component);
        for one in tree
            .child("vulnerabilities")
            .into_iter()
            .flat_map(|list| list.all("vulnerability"))
        {
            self.add_xml_vulnerability(one, &reference, run);
        }
        for one in tree
            .child("components")
            .into_iter()
            .flat_map(|list| list.all("component"))
        {
            self.add_xml_component(one, run);
        }
    }

    fn add_xml_vulnerability(&mut self, tree: &XmlTree, holder: &str, run: &mut ImportRun<'_>) {
        let id = tree.at("id");
        if id.is_empty() {
            run.skip("vulnerability without an id");
            return;
        }
        let list = |path: &str, name: &'static str| -> Vec<&XmlTree> {
            tree.find(path)
                .map(|list| list.all(name).collect())
                .unwrap_or_default()
        };
        let targets = list("affects", "target");
        let is_unaffected =
            !targets.is_empty() && targets.iter().all(|one| is_unaffected_tree(one));
        let mut affects: Vec<String> = targets
            .iter()
            .filter(|one| !is_unaffected_tree(one))
            .map(|one| one.at("ref").to_owned())
            .collect();
        let holder = match holder {
            "" => tree.get("ref"),
            holder => holder,
        };
        if !holder.is_empty() {
            affects.push(holder.to_owned());
        }
        let source = match tree.at("source/name") {
            "" => tree.child("source").map_or("", |source| source.get("name")),
            name => name,
        };
        let recommended = list("recommendations", "recommendation");
        let recommended: Vec<&str> = recommended.iter().map(|one| one.text.trim()).collect();
        self.waiting.push(CyclonedxVulnerability {
            id: id.to_owned(),
            source: source.to_owned(),
            description: tree.at("description").to_owned(),
            detail: tree.at("detail").to_owned(),
            recommendation: fields::paragraphs(&[
                tree.at("recommendation"),
                &recommended.join("\n"),
            ]),
            ratings: list("ratings", "rating")
                .into_iter()
                .map(xml_rating)
                .collect(),
            cwes: list("cwes", "cwe")
                .iter()
                .flat_map(|cwe| fields::cwes(&cwe.text))
                .collect(),
            links: xml_links(tree),
            aliases: list("references", "reference")
                .iter()
                .map(|one| one.at("id").to_owned())
                .collect(),
            affects,
            is_unaffected,
            state: tree.at("analysis/state").to_owned(),
            state_detail: fields::paragraphs(&[
                tree.at("analysis/justification"),
                tree.at("analysis/detail"),
            ]),
        });
    }

    fn add_waiting(self, run: &mut ImportRun<'_>) -> Result<(), ReadFault> {
        for one in &self.waiting {
            if one.is_unaffected {
                run.skip("versions are not affected");
                continue;
            }
            if one.affects.is_empty() {
                run.add(self.entry(one, &CyclonedxComponent::default()))?;
            }
            for reference in &one.affects {
                run.add(self.entry(one, &self.component(reference)))?;
            }
        }
        Ok(())
    }

    /// The component of a reference. A VEX document has none: its references name the package.
    fn component(&self, reference: &str) -> CyclonedxComponent {
        let linked = linked_reference(reference);
        let known = [reference, &linked]
            .into_iter()
            .find_map(|reference| self.components.get(reference));
        known.cloned().unwrap_or_else(|| {
            let package = NamedPackage::of_reference(&linked);
            CyclonedxComponent {
                name: package.name,
                version: package.version,
                purl: package.purl,
            }
        })
    }

    fn entry(&self, one: &CyclonedxVulnerability, component: &CyclonedxComponent) -> ImportEntry {
        let named = format!("{} {}", component.name, component.version);
        let named = named.trim();
        let rating = best(&one.ratings);
        let cvss = one
            .ratings
            .iter()
            .filter(|rating| rating.method.starts_with("CVSS"));
        let cvss = cvss.max_by(|a, b| a.method.cmp(&b.method));
        let cves = std::iter::once(&one.id).chain(&one.aliases);
        let rows = [
            ("Component", component.name.as_str()),
            ("Version", &component.version),
            ("Package", &component.purl),
            ("Source", &one.source),
        ];
        let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
        let mut entry = ImportEntry {
            vuln_id: format!("cyclonedx:{}", one.id),
            risk: rating.risk,
            source_risk: rating.word,
            title: match named {
                "" => one.id.clone(),
                named => format!("{} in {named}", one.id),
            },
            description: fields::paragraphs(&[&one.description, &one.detail]),
            recommendation: one.recommendation.clone(),
            test: format!("CycloneDX {}", one.source).trim().to_owned(),
            evidence: EntryEvidence::table(
                &["Detail", "Value"],
                rows.map(|(name, value)| vec![name.to_owned(), value.to_owned()])
                    .collect(),
            ),
            cves: cves.flat_map(|id| fields::cves(id)).collect(),
            cwes: one.cwes.clone(),
            cvss: cvss.and_then(|rating| CvssRating::new(rating.score, &rating.vector)),
            references: one.links.clone(),
            target: self.target.clone(),
            proposed: proposed(one),
            ..ImportEntry::default()
        };
        // Without its version, so that the finding remains when the component is updated.
        entry.place.path = component.name.clone();
        entry
    }
}

fn joined(group: &str, name: &str) -> String {
    match group {
        "" => name.to_owned(),
        group => format!("{group}/{name}"),
    }
}

struct BestRating {
    risk: Risk,
    word: String,
}

/// The highest severity; the score where no rating has a word.
fn best(ratings: &[CyclonedxRating]) -> BestRating {
    let rated = ratings.iter().filter_map(|rating| {
        let of_word = fields::risk(&rating.severity).filter(|_| &*rating.severity != "unknown");
        let risk = of_word.or_else(|| rating.score.map(fields::risk_of_cvss))?;
        let word = match (rating.severity.is_empty(), rating.score) {
            (true, Some(score)) => score.to_string(),
            _ => rating.severity.to_string(),
        };
        Some(BestRating { risk, word })
    });
    rated
        .max_by_key(|rating| rating.risk)
        .unwrap_or(BestRating {
            risk: Risk::Info,
            word: String::new(),
        })
}

/// States of an analysis that need no action: CycloneDX 1.6, "impactAnalysisState".
fn proposed(one: &CyclonedxVulnerability) -> Option<ProposedVerdict> {
    let verdict = match one.state.as_str() {
        "false_positive" => Verdict::FalsePositive,
        "not_affected" => Verdict::NotApplicable,
        "resolved" | "resolved_with_pedigree" => Verdict::Fixed,
        _ => return None,
    };
    Some(ProposedVerdict::new(verdict, &one.state_detail))
}
