//! DefectDojo generic findings import: JSON and CSV.

use scandeck_wire::contract::verdict::{ProposedVerdict, Reason, Verdict};
use scandeck_wire::contract::{Shared, lenient};
use serde::Deserialize;
use serde_json::Value;

use super::FormatReader;
use crate::entry::{CvssRating, EpssRating, ImportEntry};
use crate::evidence::{EntryEvidence, EvidenceItem};
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json::{self, JsonReader, JsonStep};
use crate::run::ImportRun;
use crate::table::{self, ImportRow};
use crate::target::{ImportTarget, TargetPlace};

pub const READER: &dyn FormatReader = &GenericReader;

struct GenericReader;

impl FormatReader for GenericReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let is_json = head.json().is_some_and(|json| {
            json.get("findings").is_some() && json.get("findings/*/title").is_some()
        });
        let is_table = head.has_columns(&["title", "severity", "description"]);
        is_json || is_table
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        match head.is_table() {
            true => table::each_row(input, |row| add(&csv_finding(row), run)),
            false => json::walk(input, &mut GenericJson { run }),
        }
    }
}

struct GenericJson<'a, 'b> {
    run: &'a mut ImportRun<'b>,
}

impl JsonReader for GenericJson<'_, '_> {
    fn step(&self, path: &str) -> JsonStep {
        match path {
            "findings" => JsonStep::Walk,
            "findings/*" | "name" | "type" => JsonStep::Take,
            _ => JsonStep::Skip,
        }
    }

    fn take(&mut self, path: &str, raw: &str) -> Result<(), ReadFault> {
        match path {
            "name" | "type" => {
                let name = json::scalar(raw);
                if !name.is_empty() {
                    self.run.summary.tool = name;
                }
                Ok(())
            }
            _ => match json::object::<GenericFinding>(raw) {
                Ok(finding) => add(&finding, self.run),
                Err(_) => {
                    self.run.skip(json::OTHER_SHAPE);
                    Ok(())
                }
            },
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GenericFinding {
    #[serde(deserialize_with = "lenient::text")]
    title: Shared,
    #[serde(deserialize_with = "lenient::text")]
    severity: Shared,
    #[serde(deserialize_with = "lenient::text")]
    description: Shared,
    #[serde(deserialize_with = "lenient::text")]
    impact: Shared,
    #[serde(deserialize_with = "lenient::text")]
    mitigation: Shared,
    #[serde(deserialize_with = "lenient::text")]
    steps_to_reproduce: Shared,
    #[serde(deserialize_with = "lenient::text")]
    references: Shared,
    #[serde(deserialize_with = "lenient::text")]
    date: Shared,
    #[serde(deserialize_with = "lenient::text")]
    cve: Shared,
    #[serde(deserialize_with = "lenient::texts")]
    vulnerability_ids: Vec<Shared>,
    #[serde(deserialize_with = "lenient::text")]
    cwe: Shared,
    #[serde(deserialize_with = "lenient::texts")]
    cwes: Vec<Shared>,
    #[serde(deserialize_with = "lenient::text")]
    cvssv3: Shared,
    #[serde(deserialize_with = "lenient::maybe_number")]
    cvssv3_score: Option<f64>,
    #[serde(deserialize_with = "lenient::text")]
    cvssv4: Shared,
    #[serde(deserialize_with = "lenient::maybe_number")]
    cvssv4_score: Option<f64>,
    #[serde(deserialize_with = "lenient::maybe_number")]
    epss_score: Option<f64>,
    #[serde(deserialize_with = "lenient::maybe_number")]
    epss_percentile: Option<f64>,
    #[serde(deserialize_with = "lenient::boolean")]
    known_exploited: bool,
    #[serde(deserialize_with = "lenient::texts")]
    tags: Vec<Shared>,
    /// A list, or a single endpoint.
    endpoints: Value,
    #[serde(deserialize_with = "lenient::text")]
    file_path: Shared,
    #[serde(deserialize_with = "lenient::text")]
    line: Shared,
    #[serde(deserialize_with = "lenient::text")]
    component_name: Shared,
    #[serde(deserialize_with = "lenient::text")]
    component_version: Shared,
    #[serde(deserialize_with = "lenient::text")]
    param: Shared,
    #[serde(deserialize_with = "lenient::text")]
    payload: Shared,
    #[serde(deserialize_with = "lenient::text")]
    service: Shared,
    #[serde(deserialize_with = "lenient::text")]
    unique_id_from_tool: Shared,
    #[serde(deserialize_with = "lenient::text")]
    vuln_id_from_tool: Shared,
    #[serde(deserialize_with = "lenient::boolean")]
    verified: bool,
    #[serde(deserialize_with = "lenient::boolean")]
    false_p: bool,
    #[serde(deserialize_with = "lenient::boolean")]
    duplicate: bool,
    #[serde(deserialize_with = "lenient::boolean")]
    risk_accepted: bool,
    #[serde(deserialize_with = "lenient::boolean")]
    out_of_scope: bool,
    #[serde(deserialize_with = "lenient::boolean")]
    is_mitigated: bool,
}

fn csv_finding(row: &ImportRow<'_>) -> GenericFinding {
    let text = |names: &[&str]| Shared::from(row.get(names));
    let is = |names: &[&str]| fields::is_true(row.get(names));
    let url = row.get(&["url", "endpoints"]);
    GenericFinding {
        title: text(&["title"]),
        severity: text(&["severity"]),
        description: text(&["description"]),
        impact: text(&["impact"]),
        mitigation: text(&["mitigation"]),
        steps_to_reproduce: text(&["steps_to_reproduce", "steps to reproduce"]),
        references: text(&["references"]),
        date: text(&["date"]),
        cve: text(&["cve"]),
        vulnerability_ids: vec![text(&[
            "vulnerability id",
            "vulnerability_id",
            "vulnerability_ids",
        ])],
        cwe: text(&["cweid", "cwe"]),
        cvssv3: text(&["cvssv3"]),
        cvssv3_score: fields::number(row.get(&["cvssv3_score"])),
        epss_score: fields::number(row.get(&["epss_score"])),
        epss_percentile: fields::number(row.get(&["epss_percentile"])),
        known_exploited: is(&["known_exploited"]),
        tags: row.get(&["tags"]).split(',').map(Shared::from).collect(),
        endpoints: match url {
            "" => Value::Null,
            url => Value::String(url.to_owned()),
        },
        file_path: text(&["file_path"]),
        component_name: text(&["component_name"]),
        component_version: text(&["component_version"]),
        unique_id_from_tool: text(&["unique_id_from_tool"]),
        vuln_id_from_tool: text(&["vuln_id_from_tool"]),
        verified: is(&["verified"]),
        false_p: is(&["falsepositive", "false_p"]),
        duplicate: is(&["duplicate"]),
        risk_accepted: is(&["riskaccepted", "risk_accepted"]),
        out_of_scope: is(&["outofscope", "out_of_scope"]),
        is_mitigated: is(&["ismitigated", "is_mitigated"]),
        ..GenericFinding::default()
    }
}

/// An entry for each target among the endpoints.
fn add(finding: &GenericFinding, run: &mut ImportRun<'_>) -> Result<(), ReadFault> {
    if finding.title.trim().is_empty() {
        run.skip("finding without a title");
        return Ok(());
    }
    run.extend_time(fields::time(&finding.date));
    let mut places: Vec<TargetPlace> = Vec::new();
    let endpoints = match &finding.endpoints {
        text @ Value::String(_) => std::slice::from_ref(text),
        other => json::elements(other),
    };
    for place in endpoints.iter().filter_map(place_of) {
        let is_new = |known: &TargetPlace| known.target.name != place.target.name;
        if places.iter().all(is_new) {
            places.push(place);
        }
    }
    if places.is_empty() {
        return run.add(finding.entry(None));
    }
    places
        .into_iter()
        .try_for_each(|place| run.add(finding.entry(Some(place))))
}

/// A URL, a host, or an object with both.
fn place_of(endpoint: &Value) -> Option<TargetPlace> {
    if let Some(text) = endpoint.as_str() {
        return TargetPlace::of_text(text);
    }
    let text = |name: &str| endpoint[name].as_str().unwrap_or_default();
    let port = match &endpoint["port"] {
        Value::String(text) => fields::port(text),
        number => fields::port(&number.to_string()),
    };
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let path = text("path").trim_start_matches('/');
    match text("protocol") {
        protocol @ ("http" | "https") => {
            TargetPlace::of_url(&format!("{protocol}://{}{port}/{path}", text("host")))
        }
        _ => TargetPlace::of_text(&format!("{}{port}/{path}", text("host"))),
    }
}

impl GenericFinding {
    fn entry(&self, place: Option<TargetPlace>) -> ImportEntry {
        let ids = std::iter::once(&self.cve).chain(&self.vulnerability_ids);
        let ids: Vec<&Shared> = ids.filter(|id| !id.trim().is_empty()).collect();
        let id = match self.vuln_id_from_tool.is_empty() {
            false => self.vuln_id_from_tool.to_string(),
            true => ids
                .first()
                .map_or_else(|| fields::slug(&self.title), |id| id.to_string()),
        };
        let cwes = std::iter::once(&self.cwe).chain(&self.cwes);
        let cvss = CvssRating::new(self.cvssv4_score, &self.cvssv4)
            .or_else(|| CvssRating::new(self.cvssv3_score, &self.cvssv3));
        let mut entry = ImportEntry {
            vuln_id: format!("generic:{id}"),
            risk: fields::risk_or_score(&self.severity, cvss.as_ref()),
            source_risk: self.severity.to_string(),
            title: self.title.to_string(),
            description: self.description.to_string(),
            impact: self.impact.to_string(),
            recommendation: self.mitigation.to_string(),
            test: "DefectDojo generic findings".to_owned(),
            evidence: self.evidence(place.as_ref()),
            cves: ids.iter().flat_map(|id| fields::cves(id)).collect(),
            cwes: cwes.flat_map(|cwe| fields::cwes(cwe)).collect(),
            cvss,
            epss: EpssRating::new(self.epss_score, self.epss_percentile),
            references: fields::links(&self.references),
            tags: self.tags.iter().map(|tag| tag.trim().to_owned()).collect(),
            is_confirmed: self.verified,
            is_known_exploited: self.known_exploited,
            proposed: self.proposed(),
            found_at: fields::time(&self.date),
            fingerprint: self.unique_id_from_tool.to_string(),
            ..ImportEntry::default()
        };
        entry.place.parameter = self.param.to_string();
        match place {
            Some(place) => {
                entry.place.path = place.path;
                entry.port = place.port;
                entry.protocol = String::from(if place.port.is_some() { "tcp" } else { "" });
                entry.service = place.scheme;
                entry.target = Some(place.target);
            }
            None => {
                entry.place.path = match self.file_path.is_empty() {
                    true => self.component_name.to_string(),
                    false => self.file_path.to_string(),
                };
                entry.target = ImportTarget::product(&self.service);
            }
        }
        entry
    }

    fn evidence(&self, place: Option<&TargetPlace>) -> EntryEvidence {
        let component = format!("{} {}", self.component_name, self.component_version);
        let rows = [
            ("File", self.file_path.to_string()),
            ("Line", self.line.to_string()),
            ("Component", component.trim().to_owned()),
            ("Payload", self.payload.to_string()),
            ("Steps", self.steps_to_reproduce.to_string()),
        ];
        let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
        let rows: Vec<(&str, String)> = rows.collect();
        match place {
            Some(place) => EntryEvidence::Items(vec![EvidenceItem {
                url: format!("{}{}", place.target.name, place.path),
                parameter: self.param.to_string(),
                details: lines(&rows),
                ..EvidenceItem::default()
            }]),
            None => EntryEvidence::text(lines(&rows)),
        }
    }

    fn proposed(&self) -> Option<ProposedVerdict> {
        let states = [
            (self.false_p, Verdict::FalsePositive, ""),
            (self.risk_accepted, Verdict::RiskAccepted, ""),
            (
                self.out_of_scope,
                Verdict::NotApplicable,
                Reason::OutOfScope.as_str(),
            ),
            (self.duplicate, Verdict::Duplicate, ""),
            (self.is_mitigated, Verdict::Fixed, "mitigated"),
        ];
        let state = states.into_iter().find(|(is_set, ..)| *is_set);
        state.map(|(_, verdict, reason)| ProposedVerdict::new(verdict, reason))
    }
}

fn lines(rows: &[(&str, String)]) -> String {
    let lines = rows.iter().map(|(name, value)| format!("{name}: {value}"));
    lines.collect::<Vec<_>>().join("\n")
}
