//! WPScan: the JSON report.

use scandeck_wire::contract::{Risk, Shared, lenient};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::FormatReader;
use crate::entry::{CvssRating, ImportEntry};
use crate::evidence::EntryEvidence;
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json::{self, JsonReader, JsonStep};
use crate::run::ImportRun;
use crate::target::{ImportTarget, TargetPlace};

pub const READER: &dyn FormatReader = &WpscanReader;

const ABORTED: &str = "the scan was aborted before its end";

struct WpscanReader;

impl FormatReader for WpscanReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let is_banner = head.json().is_some_and(|json| {
            json.get("banner/description")
                .is_some_and(|text| text.contains("WordPress"))
        });
        is_banner
            || head.has_keys(&["target_url", "interesting_findings"])
            || head.has_keys(&["banner", "scan_aborted"])
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        _head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        let mut reader = WpscanJson {
            run,
            place: None,
            ip: String::new(),
        };
        json::walk(input, &mut reader)
    }
}

struct WpscanJson<'a, 'b> {
    run: &'a mut ImportRun<'b>,
    place: Option<TargetPlace>,
    ip: String,
}

/// WordPress, a plugin or a theme.
#[derive(Default, Deserialize)]
#[serde(default)]
struct WpscanSoftware {
    #[serde(deserialize_with = "lenient::text")]
    location: Shared,
    /// Of WordPress itself.
    #[serde(deserialize_with = "lenient::text")]
    number: Shared,
    #[serde(deserialize_with = "lenient::object")]
    version: WpscanVersion,
    vulnerabilities: Vec<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WpscanVersion {
    #[serde(deserialize_with = "lenient::text")]
    number: Shared,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WpscanVulnerability {
    #[serde(deserialize_with = "lenient::text")]
    title: Shared,
    #[serde(deserialize_with = "lenient::text")]
    fixed_in: Shared,
    #[serde(deserialize_with = "lenient::object")]
    references: Map<String, Value>,
    #[serde(deserialize_with = "lenient::object")]
    cvss: WpscanCvss,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WpscanCvss {
    #[serde(deserialize_with = "lenient::maybe_number")]
    score: Option<f64>,
    #[serde(deserialize_with = "lenient::text")]
    vector: Shared,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WpscanFinding {
    #[serde(deserialize_with = "lenient::text")]
    url: Shared,
    #[serde(deserialize_with = "lenient::text")]
    to_s: Shared,
    #[serde(rename = "type", deserialize_with = "lenient::text")]
    kind: Shared,
    #[serde(deserialize_with = "lenient::text")]
    found_by: Shared,
    #[serde(deserialize_with = "lenient::text")]
    confidence: Shared,
    #[serde(deserialize_with = "lenient::object")]
    references: Map<String, Value>,
    #[serde(deserialize_with = "lenient::texts")]
    interesting_entries: Vec<Shared>,
}

impl JsonReader for WpscanJson<'_, '_> {
    fn step(&self, path: &str) -> JsonStep {
        match path {
            "banner" | "interesting_findings" | "plugins" | "themes" => JsonStep::Walk,
            "banner/version" | "start_time" | "stop_time" | "target_url" | "target_ip" => {
                JsonStep::Take
            }
            "interesting_findings/*" | "version" | "main_theme" | "scan_aborted" => JsonStep::Take,
            path if path.starts_with("plugins/") || path.starts_with("themes/") => JsonStep::Take,
            _ => JsonStep::Skip,
        }
    }

    fn first(&self, path: &str) -> &'static [&'static str] {
        match path {
            "" => &["target_url", "target_ip"],
            _ => &[],
        }
    }

    fn take(&mut self, path: &str, raw: &str) -> Result<(), ReadFault> {
        let scalar = || json::scalar(raw);
        match path {
            "banner/version" => self.run.summary.version = scalar(),
            "start_time" => self.run.summary.started = fields::time(&scalar()),
            "stop_time" => self.run.summary.ended = fields::time(&scalar()),
            "target_ip" => self.ip = scalar(),
            "target_url" => self.place = TargetPlace::of_url(&scalar()),
            "interesting_findings/*" => return self.add_finding(raw),
            // The other members are read: it has the results before.
            "scan_aborted" if raw != "null" => {
                self.run.summary.damage = Some(ABORTED.to_owned());
            }
            _ if raw == "null" => {}
            "version" => return self.add_software("WordPress", raw),
            path => {
                let name = path.replacen('/', " ", 1);
                let name = name
                    .replace("plugins ", "plugin ")
                    .replace("themes ", "theme ");
                return self.add_software(&name.replace("main_theme", "theme"), raw);
            }
        }
        Ok(())
    }
}

impl WpscanJson<'_, '_> {
    fn at(&self, path: String) -> ImportEntry {
        let placed = self.place.clone().map(|mut place| {
            let address = ImportTarget::of_host(&self.ip).map(|address| address.name);
            place.target.others.extend(address);
            ImportEntry::at(place)
        });
        let mut entry = placed.unwrap_or_default();
        entry.place.path = path;
        entry
    }

    fn add_finding(&mut self, raw: &str) -> Result<(), ReadFault> {
        let Ok(finding) = json::object::<WpscanFinding>(raw) else {
            self.run.skip(json::OTHER_SHAPE);
            return Ok(());
        };
        if finding.to_s.is_empty() && finding.kind.is_empty() {
            self.run.skip("finding without a text");
            return Ok(());
        }
        let path = TargetPlace::of_url(&finding.url)
            .map(|place| place.path)
            .unwrap_or_default();
        let rows = finding
            .interesting_entries
            .iter()
            .map(|entry| vec![entry.to_string()]);
        let kind = match finding.kind.is_empty() {
            true => fields::slug(&finding.to_s),
            false => finding.kind.to_string(),
        };
        let entry = ImportEntry {
            vuln_id: format!("wpscan:{kind}"),
            risk: Risk::Info,
            source_risk: match finding.confidence.is_empty() {
                true => String::new(),
                false => format!("confidence {}", finding.confidence),
            },
            title: finding.to_s.to_string(),
            description: finding.to_s.to_string(),
            test: format!("WPScan: {}", finding.found_by),
            evidence: EntryEvidence::table(&["Entry"], rows.collect()),
            references: links(&finding.references),
            cves: cves(&finding.references),
            ..self.at(path)
        };
        self.run.add(entry)
    }

    fn add_software(&mut self, name: &str, raw: &str) -> Result<(), ReadFault> {
        let Ok(software) = json::object::<WpscanSoftware>(raw) else {
            self.run.skip(json::OTHER_SHAPE);
            return Ok(());
        };
        let version = match software.number.is_empty() {
            true => &software.version.number,
            false => &software.number,
        };
        let path = TargetPlace::of_url(&software.location).map(|place| place.path);
        for value in software.vulnerabilities {
            let Ok(one) = WpscanVulnerability::deserialize(value) else {
                self.run.skip(json::OTHER_SHAPE);
                continue;
            };
            if one.title.is_empty() {
                self.run.skip("vulnerability without a title");
                continue;
            }
            let entry = self.vulnerability(&one, name, version, path.clone().unwrap_or_default());
            self.run.add(entry)?;
        }
        Ok(())
    }

    fn vulnerability(
        &self,
        one: &WpscanVulnerability,
        name: &str,
        version: &str,
        path: String,
    ) -> ImportEntry {
        let cves = cves(&one.references);
        let database = texts(&one.references, "wpvulndb").into_iter().next();
        let id = database.or_else(|| cves.first().cloned());
        let fixed = match one.fixed_in.is_empty() {
            true => String::new(),
            false => format!("Update to version {} or newer.", one.fixed_in),
        };
        let rows = [
            ("Software", name),
            ("Version", version),
            ("Fixed in", &one.fixed_in),
        ];
        let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
        ImportEntry {
            vuln_id: format!("wpscan:{}", id.unwrap_or_else(|| fields::slug(&one.title))),
            // A weakness without a rating is neither harmless nor surely serious.
            risk: one.cvss.score.map_or(Risk::Medium, fields::risk_of_cvss),
            source_risk: one
                .cvss
                .score
                .map(|score| score.to_string())
                .unwrap_or_default(),
            title: one.title.to_string(),
            description: format!(
                "The installed version of the {name} is listed for this weakness."
            ),
            recommendation: fixed,
            test: "WPScan vulnerability database".to_owned(),
            evidence: EntryEvidence::table(
                &["Detail", "Value"],
                rows.map(|(key, value)| vec![key.to_owned(), value.to_owned()])
                    .collect(),
            ),
            references: links(&one.references),
            cvss: CvssRating::new(one.cvss.score, &one.cvss.vector),
            cves,
            ..self.at(path)
        }
    }
}

fn texts(references: &Map<String, Value>, kind: &str) -> Vec<String> {
    let values = references
        .get(kind)
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    values
        .filter_map(|value| value.as_str().map(str::to_owned))
        .collect()
}

/// The report has their numbers alone: `2017-8295`.
fn cves(references: &Map<String, Value>) -> Vec<String> {
    let all = texts(references, "cve").into_iter();
    all.flat_map(|cve| fields::cves(&format!("CVE-{}", cve.trim_start_matches("CVE-"))))
        .collect()
}

fn links(references: &Map<String, Value>) -> Vec<String> {
    let mut all = texts(references, "url");
    let database = texts(references, "wpvulndb").into_iter();
    all.extend(database.map(|id| format!("https://wpscan.com/vulnerability/{id}")));
    all
}
