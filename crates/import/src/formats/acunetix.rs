//! Acunetix: the XML report, and the JSON report of Acunetix 360 (Invicti).

use serde_json::Value;

use super::FormatReader;
use crate::entry::{CvssRating, EntryPlace, ImportEntry};
use crate::evidence::{EntryEvidence, EvidenceItem};
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json::{self, JsonReader, JsonStep};
use crate::run::ImportRun;
use crate::target::TargetPlace;
use crate::xml::{XmlStep, XmlStream, XmlTree};
use scandeck_wire::contract::verdict::{ProposedVerdict, Verdict};

pub const READER: &dyn FormatReader = &AcunetixReader;

const ABORTED: &str = "the scan was aborted before its end";

struct AcunetixReader;

impl FormatReader for AcunetixReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let is_json = head.has_keys(&["Vulnerabilities", "Target"])
            || head
                .json()
                .is_some_and(|json| json.get("Target/ScanId").is_some());
        is_json || head.xml("ScanGroup").is_some()
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        match head.is_xml() {
            true => read_xml(input, run),
            false => json::walk(
                input,
                &mut AcunetixJson {
                    run,
                    target: String::new(),
                },
            ),
        }
    }
}

fn read_xml(input: &mut ImportInput<'_>, run: &mut ImportRun<'_>) -> Result<(), ReadFault> {
    let mut xml = XmlStream::new(input);
    let mut start = String::new();
    loop {
        match xml.next()? {
            XmlStep::Start(tree) => match tree.name.as_str() {
                "StartURL" => start = xml.whole(tree)?.text.trim().to_owned(),
                "StartTime" => run.summary.started = fields::time(&xml.whole(tree)?.text),
                "FinishTime" => run.summary.ended = fields::time(&xml.whole(tree)?.text),
                "Aborted" => {
                    let is_aborted = fields::is_true(&xml.whole(tree)?.text);
                    run.summary.damage = is_aborted.then(|| ABORTED.to_owned());
                }
                // The start may be a name alone; the crawler knows its scheme.
                "Crawler" if !start.contains("://") => start = tree.get("StartUrl").to_owned(),
                "ReportItem" => {
                    let item = xml.whole(tree)?;
                    run.add_or_skip(xml_entry(&item, &start))?;
                }
                _ => {}
            },
            XmlStep::End(_) => {}
            XmlStep::Done => return Ok(()),
        }
    }
}

fn xml_entry(item: &XmlTree, start: &str) -> Result<ImportEntry, &'static str> {
    let name = item.at("Name");
    if name.is_empty() {
        return Err("item without a name");
    }
    let place = TargetPlace::of_text(start).ok_or("item without a target")?;
    let affects = item.at("Affects");
    let path = affects.split(['?', '#']).next().unwrap_or_default();
    let parameter = match item.at("Parameter") {
        "<empty>" => "",
        parameter => parameter,
    };
    let texts = |list: &str, name: &'static str| -> Vec<String> {
        let list = item.child(list);
        list.map(|list| {
            list.all(name)
                .map(|tree| tree.text.trim().to_owned())
                .collect()
        })
        .unwrap_or_default()
    };
    let cves = texts("CVEList", "CVE");
    let references = item.child("References").map(|list| {
        list.all("Reference")
            .map(|one| one.at("URL").to_owned())
            .collect::<Vec<_>>()
    });
    let rating = |path: &str| {
        let cvss = item.child(path)?;
        CvssRating::new(fields::number(cvss.at("Score")), cvss.at("Descriptor"))
    };
    let rated = rating("CVSS3").or_else(|| rating("CVSS"));
    Ok(ImportEntry {
        // The module is more stable than the name, but has several names.
        vuln_id: format!("acunetix:{}", fields::slug(name)),
        risk: fields::risk_or_score(item.at("Severity"), rated.as_ref()),
        source_risk: item.at("Severity").to_owned(),
        title: name.to_owned(),
        description: fields::paragraphs(&[
            &fields::plain(item.at("Description")),
            &fields::plain(item.at("DetailedInformation")),
        ]),
        impact: fields::plain(item.at("Impact")),
        recommendation: fields::plain(item.at("Recommendation")),
        test: format!("Acunetix {}", item.at("ModuleName")),
        cves: cves.iter().flat_map(|cve| fields::cves(cve)).collect(),
        cwes: texts("CWEList", "CWE")
            .iter()
            .flat_map(|cwe| fields::cwes(cwe))
            .collect(),
        cvss: rated,
        references: references.unwrap_or_default(),
        evidence: EntryEvidence::Items(vec![EvidenceItem {
            url: url(&place, affects),
            parameter: parameter.to_owned(),
            matched: fields::plain(item.at("Details")),
            request: item.at("TechnicalDetails/Request").to_owned(),
            response: item.at("TechnicalDetails/Response").to_owned(),
            ..EvidenceItem::default()
        }]),
        tags: vec![item.at("Type").to_owned()],
        place: EntryPlace {
            path: path.to_owned(),
            parameter: parameter.to_owned(),
        },
        proposed: fields::is_true(item.at("IsFalsePositive"))
            .then(|| ProposedVerdict::new(Verdict::FalsePositive, "")),
        ..ImportEntry::at(place)
    })
}

fn url(place: &TargetPlace, affects: &str) -> String {
    match affects.contains("://") {
        true => affects.to_owned(),
        false => format!("{}/{}", place.target.name, affects.trim_start_matches('/')),
    }
}

struct AcunetixJson<'a, 'b> {
    run: &'a mut ImportRun<'b>,
    target: String,
}

impl JsonReader for AcunetixJson<'_, '_> {
    fn step(&self, path: &str) -> JsonStep {
        match path {
            "Target" => JsonStep::Walk,
            "Vulnerabilities" => JsonStep::List,
            "Target/Url" | "Target/Initiated" | "Generated" | "Vulnerabilities/*" => JsonStep::Take,
            _ => JsonStep::Skip,
        }
    }

    fn first(&self, path: &str) -> &'static [&'static str] {
        match path {
            "" => &["Target"],
            _ => &[],
        }
    }

    fn take(&mut self, path: &str, raw: &str) -> Result<(), ReadFault> {
        match path {
            "Target/Url" => self.target = json::scalar(raw),
            "Target/Initiated" => self.run.summary.started = fields::time(&json::scalar(raw)),
            "Generated" => self.run.summary.ended = fields::time(&json::scalar(raw)),
            _ => match serde_json::from_str::<Value>(raw) {
                Ok(value) if value.is_object() => {
                    return self.run.add_or_skip(json_entry(&value, &self.target));
                }
                _ => self.run.skip(json::OTHER_SHAPE),
            },
        }
        Ok(())
    }
}

fn json_entry(value: &Value, target: &str) -> Result<ImportEntry, &'static str> {
    let text = |name: &str| value[name].as_str().unwrap_or_default();
    let (kind, name) = (text("Type"), text("Name"));
    if kind.is_empty() && name.is_empty() {
        return Err("item without a name");
    }
    let place = TargetPlace::of_url(text("Url")).or_else(|| TargetPlace::of_url(target));
    let place = place.ok_or("item without a target")?;
    let classes = &value["Classification"];
    let class = |name: &str| classes[name].as_str().unwrap_or_default();
    let cvss = match &classes["Cvss31"] {
        Value::Null => &classes["Cvss"],
        cvss => cvss,
    };
    let base = &cvss["BaseScore"]["Value"];
    let score = base.as_f64().or_else(|| fields::number(base.as_str()?));
    let rating = CvssRating::new(score, cvss["Vector"].as_str().unwrap_or_default());
    let mut entry = ImportEntry {
        vuln_id: match kind {
            "" => format!("acunetix:{}", fields::slug(name)),
            kind => format!("acunetix:{kind}"),
        },
        risk: fields::risk_or_score(text("Severity"), rating.as_ref()),
        source_risk: text("Severity").to_owned(),
        title: name.to_owned(),
        description: fields::plain(text("Description")),
        impact: fields::plain(text("Impact")),
        recommendation: fields::paragraphs(&[
            &fields::plain(text("RemedialActions")),
            &fields::plain(text("RemedialProcedure")),
        ]),
        test: format!("Acunetix 360 {kind}"),
        cwes: fields::cwes(class("Cwe")),
        cvss: rating,
        references: fields::links(text("ExternalReferences")),
        fingerprint: text("LookupId").to_owned(),
        is_confirmed: value["Confirmed"].as_bool().unwrap_or_default(),
        found_at: fields::time(text("LastSeenDate")),
        proposed: proposed(text("State")),
        ..ImportEntry::at(place)
    };
    let item = evidence(value);
    entry.place.parameter.clone_from(&item.parameter);
    entry.evidence = EntryEvidence::Items(vec![item]);
    Ok(entry)
}

fn evidence(value: &Value) -> EvidenceItem {
    let text = |one: &Value| one.as_str().unwrap_or_default().to_owned();
    let request = &value["HttpRequest"];
    let parameter = json::elements(&request["Parameters"]).first();
    let extra = json::elements(&value["ExtraInformation"]).iter();
    let extra = extra.map(|row| format!("{}: {}", text(&row["Name"]), text(&row["Value"])));
    EvidenceItem {
        url: text(&value["Url"]),
        method: text(&request["Method"]),
        parameter: parameter.map_or_else(String::new, |first| text(&first["Name"])),
        matched: fields::plain(value["ProofOfConcept"].as_str().unwrap_or_default()),
        details: extra.collect::<Vec<_>>().join("\n"),
        request: text(&request["Content"]),
        response: text(&value["HttpResponse"]["Content"]),
        ..EvidenceItem::default()
    }
}

/// `Present, AcceptedRisk`.
fn proposed(state: &str) -> Option<ProposedVerdict> {
    let known = [
        ("FalsePositive", Verdict::FalsePositive, ""),
        ("AcceptedRisk", Verdict::RiskAccepted, ""),
        ("Ignored", Verdict::NotApplicable, "ignored"),
    ];
    let stated = known.into_iter().find(|(word, ..)| state.contains(word));
    stated.map(|(_, verdict, reason)| ProposedVerdict::new(verdict, reason))
}
