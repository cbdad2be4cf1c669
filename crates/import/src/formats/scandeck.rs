//! scandeck: the JSON lines of `scandeck findings export --format jsonl`, without loss.

use scandeck_wire::contract::verdict::{ProposedVerdict, Verdict};
use scandeck_wire::contract::{Finding, Shared, Stamp, lenient};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::FormatReader;
use crate::entry::{CvssRating, EpssRating, ImportEntry};
use crate::fields;
use crate::head::FileHead;
use crate::input::{ImportInput, ReadFault};
use crate::json;
use crate::run::ImportRun;
use crate::target::TargetPlace;

pub const READER: &dyn FormatReader = &ScandeckReader;

/// Classes of findings about the scan itself.
const COVERAGE: &str = "coverage.";

struct ScandeckReader;

impl FormatReader for ScandeckReader {
    fn recognises(&self, head: &FileHead) -> bool {
        head.has_keys(&[
            "vuln_id",
            "risk_level",
            "fingerprint",
            "presence",
            "verdict",
        ])
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
            |raw: Box<RawValue>, run| {
                // Flattened, the evidence would not remain as it was written.
                let finding = serde_json::from_str::<Finding>(raw.get());
                let line = serde_json::from_str::<ScandeckLine>(raw.get());
                let (Ok(finding), Ok(line)) = (finding, line) else {
                    run.skip(json::OTHER_SHAPE);
                    return Ok(());
                };
                run.extend_time(Stamp::parse(&line.last_seen));
                run.add_or_skip(line.entry(finding))
            },
        )
    }
}

/// What the export adds to the finding.
#[derive(Deserialize)]
struct ScandeckLine {
    #[serde(default, deserialize_with = "lenient::text")]
    fingerprint: Shared,
    #[serde(default, deserialize_with = "lenient::text")]
    presence: Shared,
    #[serde(default, deserialize_with = "lenient::text")]
    last_seen: Shared,
    #[serde(default, deserialize_with = "lenient::text")]
    verdict: Shared,
    #[serde(default, deserialize_with = "lenient::text")]
    reason: Shared,
    #[serde(default, deserialize_with = "lenient::text")]
    decided_by: Shared,
    #[serde(default, deserialize_with = "lenient::texts")]
    tags: Vec<Shared>,
}

impl ScandeckLine {
    fn entry(self, finding: Finding) -> Result<ImportEntry, &'static str> {
        let proposed = self.proposed(&finding);
        if finding.vuln_id.is_empty() && finding.name.is_empty() {
            return Err("finding without a class and a name");
        }
        if finding.vuln_id.starts_with(COVERAGE) {
            return Err("finding about the scan itself");
        }
        if &*self.presence == "absent" {
            return Err("absent in the last scan of the export");
        }
        let target = finding.target_name.as_ref();
        let place = target.and_then(|name| TargetPlace::of_text(name));
        let target = match place {
            Some(place) => Some(place.target),
            None => target.and_then(|name| crate::target::ImportTarget::product(name)),
        };
        let texts = |all: &[Shared]| all.iter().map(Shared::to_string).collect();
        Ok(ImportEntry {
            vuln_id: finding.vuln_id.to_string(),
            risk: finding.risk_level,
            source_risk: finding.risk_level.to_string(),
            title: finding.name.to_string(),
            description: finding.vuln_description.to_string(),
            impact: finding.risk_description.to_string(),
            recommendation: finding.recommendation.to_string(),
            test: finding.test_description.to_string(),
            cves: texts(&finding.cve),
            cwes: fields::cwes(&finding.cwe),
            cvss: CvssRating::new(finding.cvssv3.or(finding.cvss), ""),
            epss: finding
                .epss_score
                .and_then(|score| EpssRating::new(Some(score), finding.epss_percentile)),
            references: texts(&finding.references),
            port: u16::try_from(finding.port).ok().filter(|port| *port > 0),
            protocol: finding.protocol.to_string(),
            service: finding.service.to_string(),
            tags: texts(&self.tags),
            is_confirmed: finding.confirmed,
            is_known_exploited: finding.in_cisa_catalog,
            found_at: Stamp::parse(&self.last_seen),
            fingerprint: self.fingerprint.to_string(),
            target,
            proposed,
            own: Some(Box::new(finding)),
            ..ImportEntry::default()
        })
    }

    /// The decision of the export, which is proposed and not made. Without one, what an earlier file
    /// proposed.
    fn proposed(&self, finding: &Finding) -> Option<ProposedVerdict> {
        let decided = Verdict::named(&self.verdict).filter(|verdict| verdict.settles());
        let Some(verdict) = decided else {
            return finding.proposed.as_deref().cloned();
        };
        verdict.dismisses().then(|| ProposedVerdict {
            verdict,
            reason: self.reason.clone(),
            by: self.decided_by.clone(),
        })
    }
}
