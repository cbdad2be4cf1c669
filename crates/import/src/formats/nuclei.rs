//! nuclei: JSON lines and JSON, versions 2 and 3.

use scandeck_wire::contract::{Shared, lenient};
use serde::Deserialize;

use super::FormatReader;
use crate::entry::{CvssRating, EpssRating, ImportEntry};
use crate::evidence::{EntryEvidence, EvidenceItem};
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json;
use crate::run::ImportRun;
use crate::target::{ImportTarget, TargetPlace};

pub const READER: &dyn FormatReader = &NucleiReader;

struct NucleiReader;

impl FormatReader for NucleiReader {
    fn recognises(&self, head: &FileHead) -> bool {
        let has_template = head.has_keys(&["template-id"]) || head.has_keys(&["templateID"]);
        has_template && head.has_keys(&["info"])
    }

    fn read(
        &self,
        input: &mut ImportInput<'_>,
        head: &FileHead,
        run: &mut ImportRun<'_>,
    ) -> Result<(), ReadFault> {
        json::each_object(
            input,
            head.is_json_lines(),
            run,
            |result: NucleiResult, run| {
                run.extend_time(fields::time(&result.timestamp));
                run.add_or_skip(result.entry())
            },
        )
    }
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct NucleiResult {
    #[serde(
        rename = "template-id",
        alias = "templateID",
        deserialize_with = "lenient::text"
    )]
    template: Shared,
    #[serde(rename = "template-url", deserialize_with = "lenient::text")]
    template_url: Shared,
    #[serde(deserialize_with = "lenient::object")]
    info: NucleiInfo,
    #[serde(
        rename = "matcher-name",
        alias = "matcher_name",
        deserialize_with = "lenient::text"
    )]
    matcher: Shared,
    #[serde(rename = "extractor-name", deserialize_with = "lenient::text")]
    extractor: Shared,
    #[serde(rename = "matcher-status", deserialize_with = "lenient_status")]
    is_unmatched: bool,
    #[serde(rename = "type", deserialize_with = "lenient::text")]
    kind: Shared,
    #[serde(deserialize_with = "lenient::text")]
    host: Shared,
    #[serde(
        rename = "matched-at",
        alias = "matched",
        deserialize_with = "lenient::text"
    )]
    matched_at: Shared,
    #[serde(
        rename = "extracted-results",
        alias = "extracted_results",
        deserialize_with = "lenient::texts"
    )]
    extracted: Vec<Shared>,
    #[serde(rename = "fuzzing_parameter", deserialize_with = "lenient::text")]
    parameter: Shared,
    #[serde(deserialize_with = "lenient::text")]
    request: Shared,
    #[serde(deserialize_with = "lenient::text")]
    response: Shared,
    #[serde(rename = "curl-command", deserialize_with = "lenient::text")]
    curl: Shared,
    #[serde(deserialize_with = "lenient::text")]
    ip: Shared,
    #[serde(deserialize_with = "lenient::text")]
    timestamp: Shared,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NucleiInfo {
    #[serde(deserialize_with = "lenient::text")]
    name: Shared,
    #[serde(deserialize_with = "lenient::texts")]
    tags: Vec<Shared>,
    #[serde(deserialize_with = "lenient::text")]
    description: Shared,
    #[serde(deserialize_with = "lenient::text")]
    impact: Shared,
    #[serde(deserialize_with = "lenient::text")]
    remediation: Shared,
    #[serde(deserialize_with = "lenient::texts")]
    reference: Vec<Shared>,
    #[serde(deserialize_with = "lenient::text")]
    severity: Shared,
    #[serde(deserialize_with = "lenient::object")]
    classification: NucleiClassification,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct NucleiClassification {
    #[serde(deserialize_with = "lenient::texts")]
    cve_id: Vec<Shared>,
    #[serde(deserialize_with = "lenient::texts")]
    cwe_id: Vec<Shared>,
    #[serde(deserialize_with = "lenient::text")]
    cvss_metrics: Shared,
    #[serde(deserialize_with = "lenient::maybe_number")]
    cvss_score: Option<f64>,
    #[serde(deserialize_with = "lenient::maybe_number")]
    epss_score: Option<f64>,
    #[serde(deserialize_with = "lenient::maybe_number")]
    epss_percentile: Option<f64>,
}

/// Old versions do not write the field: only an explicit `false` is a check that did not match.
fn lenient_status<'de, D: serde::Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Ok(&*lenient::text(from)? == "false")
}

impl NucleiResult {
    fn entry(self) -> Result<ImportEntry, &'static str> {
        let template = self.template.trim();
        if template.is_empty() {
            return Err("no template id");
        }
        let has_place = !self.matched_at.is_empty() || !self.host.is_empty();
        if !has_place {
            return Err("no host");
        }
        if self.is_unmatched {
            return Err("check did not match (matcher status false)");
        }
        let info = &self.info;
        let matcher = [&self.matcher, &self.extractor]
            .into_iter()
            .find(|name| !name.is_empty());
        let is_cve = template.to_ascii_uppercase().starts_with("CVE-");
        let matcher = matcher.filter(|_| !is_cve);
        let words = info.tags.iter().flat_map(|tags| tags.split(','));
        let tags: Vec<String> = words.map(|tag| tag.trim().to_owned()).collect();
        let classification = &info.classification;
        let cvss = CvssRating::new(classification.cvss_score, &classification.cvss_metrics);
        let mut entry = ImportEntry {
            vuln_id: match matcher {
                Some(matcher) => format!("nuclei:{template}:{matcher}"),
                None => format!("nuclei:{template}"),
            },
            risk: fields::risk_or_score(&info.severity, cvss.as_ref()),
            source_risk: info.severity.to_string(),
            title: match matcher {
                Some(matcher) => format!("{} ({matcher})", info.name),
                None => info.name.to_string(),
            },
            description: info.description.to_string(),
            impact: info.impact.to_string(),
            recommendation: info.remediation.to_string(),
            test: format!("nuclei template {template}"),
            evidence: self.evidence(),
            cves: self.cves(template),
            cwes: classification
                .cwe_id
                .iter()
                .flat_map(|cwe| fields::cwes(cwe))
                .collect(),
            cvss,
            epss: EpssRating::new(classification.epss_score, classification.epss_percentile),
            references: self.references(),
            // The templates of nuclei have this tag if the CVE is in the CISA catalog.
            is_known_exploited: tags.iter().any(|tag| tag == "kev"),
            tags,
            found_at: fields::time(&self.timestamp),
            ..ImportEntry::default()
        };
        entry.place.parameter = self.parameter.to_string();
        if let Some(place) = self.place() {
            self.put_at(&mut entry, place);
        }
        Ok(entry)
    }

    fn references(&self) -> Vec<String> {
        let texts = self.info.reference.iter().chain([&self.template_url]);
        texts.flat_map(|text| fields::links(text)).collect()
    }

    fn cves(&self, template: &str) -> Vec<String> {
        let ids = self.info.classification.cve_id.iter();
        let of_ids = ids.flat_map(|id| fields::cves(id));
        of_ids.chain(fields::cves(template)).collect()
    }

    fn put_at(&self, entry: &mut ImportEntry, place: TargetPlace) {
        let is_web = !place.path.is_empty();
        let has_connection = matches!(
            &*self.kind,
            "http" | "headless" | "network" | "tcp" | "ssl" | "javascript" | "websocket"
        );
        entry.place.path = place.path;
        entry.port = place.port.filter(|_| has_connection || is_web);
        entry.protocol = String::from(if entry.port.is_some() { "tcp" } else { "" });
        entry.service = place.scheme;
        let mut target = place.target;
        if let Some(address) = ImportTarget::of_host(&self.ip)
            && address.name != target.name
        {
            target.others.push(address.name);
        }
        entry.target = Some(target);
    }

    fn place(&self) -> Option<TargetPlace> {
        if matches!(&*self.kind, "file" | "code") {
            return TargetPlace::of_text(&self.host);
        }
        let found = TargetPlace::of_text(&self.matched_at);
        found.or_else(|| TargetPlace::of_text(&self.host))
    }

    fn evidence(&self) -> EntryEvidence {
        let extracted: Vec<&str> = self.extracted.iter().map(|text| text.trim()).collect();
        let request = match self.request.is_empty() {
            true => self.curl.to_string(),
            false => self.request.to_string(),
        };
        EntryEvidence::Items(vec![EvidenceItem {
            url: self.matched_at.to_string(),
            parameter: self.parameter.to_string(),
            matched: extracted.join("\n"),
            request,
            response: self.response.to_string(),
            ..EvidenceItem::default()
        }])
    }
}
