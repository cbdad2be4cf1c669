//! The findings in the output of a guest, read by the readers of imported files.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::ops::ControlFlow;

use serde::de::IgnoredAny;

use crate::engine::blocking::StopFlag;
use crate::engine::{FindingScores, NewFinding, ScanLimits};
use scandeck_import::{ImportEntry, ImportLimits, read};
use scandeck_wire::contract::{Finding, Shared};

/// Bytes of one result.
const MAX_ENTRY: u64 = 4 << 20;

/// Reads one report, or its lines.
pub struct GuestFindings {
    /// Name of the format in the table of formats.
    format: &'static str,
    limits: ScanLimits,
    hasher: RandomState,
    /// The findings so far.
    seen: HashSet<u64>,
    /// The findings of each place, which is unique in a scan.
    places: HashMap<FindingGroup, u32>,
}

/// A duplicate group of a scan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FindingGroup {
    vuln_id: String,
    port: u16,
    place: String,
}

/// What a report, or a line of it, contained.
#[derive(Debug, Default)]
pub struct GuestReading {
    pub findings: Vec<NewFinding>,
    /// Findings beyond the limits.
    pub dropped: usize,
    /// Why results were skipped, with their numbers.
    pub skipped: Vec<String>,
    /// Beginnings of classes whose tests the guest did not complete.
    pub uncompleted: BTreeSet<String>,
    /// Why the report was not read to its end.
    pub damage: Option<String>,
}

impl GuestReading {
    /// Whether the line of this reading is no whole result: it is damaged or too long.
    pub fn is_unreadable(&self, line: &str) -> bool {
        let is_long = u64::try_from(line.len()).is_ok_and(|length| length > MAX_ENTRY);
        is_long || self.damage.is_some() || serde_json::from_str::<IgnoredAny>(line).is_err()
    }
}

impl GuestFindings {
    pub fn new(format: &'static str, limits: ScanLimits) -> Self {
        Self {
            format,
            limits,
            hasher: RandomState::new(),
            seen: HashSet::new(),
            places: HashMap::new(),
        }
    }

    /// The findings so far.
    pub fn count(&self) -> usize {
        self.seen.len()
    }

    /// Reads a report, or a line of it, until `stop` is set.
    pub fn read(&mut self, report: impl Read, most: u64, stop: &StopFlag) -> GuestReading {
        let limits = ImportLimits {
            bytes: most,
            entry_bytes: MAX_ENTRY,
            ..ImportLimits::default()
        };
        let format = self.format;
        let mut reading = GuestReading::default();
        let mut sink = |entry: ImportEntry| {
            self.add(entry, &mut reading);
            match stop.is_set() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let summaries = match read(report, Some(format), &limits, &mut sink) {
            Ok(summaries) => summaries,
            Err(error) => {
                reading.damage = Some(error.to_string());
                return reading;
            }
        };
        for summary in summaries {
            let skipped = summary.skipped.iter();
            reading
                .skipped
                .extend(skipped.map(|one| format!("{}: {}", one.reason, one.count)));
            reading.uncompleted.extend(summary.uncompleted);
            reading.damage = reading.damage.or(summary.damage);
        }
        reading
    }

    fn add(&mut self, entry: ImportEntry, reading: &mut GuestReading) {
        if self.seen.len() >= self.limits.findings {
            reading.dropped += 1;
            return;
        }
        let mut finding = new_finding(entry);
        let contents = serde_json::to_string(&finding).unwrap_or_default();
        // The place is not in the JSON of a finding.
        let whole = self.hasher.hash_one((&contents, &finding.place));
        if !self.seen.insert(whole) {
            return;
        }
        self.separate(&mut finding);
        reading.findings.push(finding);
    }

    /// Numbers the place of a finding with other contents than an earlier one at the same place.
    fn separate(&mut self, finding: &mut NewFinding) {
        let place = finding.place.clone();
        let mut number = 1;
        loop {
            let group = FindingGroup {
                vuln_id: finding.vuln_id.clone(),
                port: finding.port,
                place: finding.place.clone(),
            };
            let Some(last) = self.places.get_mut(&group) else {
                self.places.insert(group, 1);
                return;
            };
            number = (*last).max(number) + 1;
            *last = number;
            finding.place = format!("{place} #{number}");
        }
    }
}

/// The finding of a result; its target is the one of the scan.
fn new_finding(entry: ImportEntry) -> NewFinding {
    let place = format!("{} {}", entry.place.path, entry.place.parameter);
    let finding: Finding = entry.into_finding();
    let texts = |list: &[Shared]| list.iter().map(Shared::to_string).collect();
    // PostgreSQL stores no NUL.
    let without_nul = |text: &Shared| text.replace('\0', "");
    NewFinding {
        vuln_id: without_nul(&finding.vuln_id),
        name: finding.name.to_string(),
        risk: finding.risk_level,
        confirmed: finding.confirmed,
        in_cisa_catalog: finding.in_cisa_catalog,
        cve: texts(&finding.cve),
        test_description: finding.test_description.to_string(),
        vuln_description: finding.vuln_description.to_string(),
        risk_description: finding.risk_description.to_string(),
        recommendation: finding.recommendation.to_string(),
        references: texts(&finding.references),
        owasp: finding.owasp,
        cwe: finding.cwe.to_string(),
        port: u16::try_from(finding.port).unwrap_or_default(),
        protocol: without_nul(&finding.protocol),
        service: finding.service.to_string(),
        evidence: finding.vuln_evidence,
        scores: FindingScores {
            cvss: finding.cvss,
            cvssv3: finding.cvssv3,
            epss_score: finding.epss_score,
            epss_percentile: finding.epss_percentile,
        },
        place: place.trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::Risk;

    fn line(name: &str, at: &str) -> String {
        format!(
            r#"{{"template-id":"tls","info":{{"name":"{name}","severity":"high","classification":{{"cvss-score":7.5}}}},"type":"http","host":"http://a.test/","matched-at":"http://a.test{at}"}}"#
        )
    }

    #[test]
    fn lines_become_findings_with_places_of_their_own() {
        let mut findings = GuestFindings::new("nuclei", ScanLimits::default());
        let mut places = Vec::new();
        for text in [
            line("One", "/x"),
            line("Two", "/x"),
            line("One", "/x"),
            line("Three", "/x"),
            line("One", "/y"),
        ] {
            let reading = findings.read(text.as_bytes(), 1 << 20, &StopFlag::default());
            assert_eq!(reading.damage, None);
            places.extend(reading.findings.into_iter().map(|finding| finding.place));
        }
        assert_eq!(places, ["/x", "/x #2", "/x #3", "/y"]);
        assert_eq!(findings.count(), 4);
        let text = line("Four", "/z");
        let reading = findings.read(text.as_bytes(), 1 << 20, &StopFlag::default());
        let finding = &reading.findings[0];
        assert_eq!(
            (finding.vuln_id.as_str(), finding.risk, finding.port),
            ("nuclei:tls", Risk::High, 80)
        );
        assert_eq!(finding.scores.cvss, Some(7.5));
        assert!(finding.evidence.as_json().contains("http://a.test/z"));
    }

    #[test]
    fn findings_beyond_the_limit_are_counted_and_damage_is_reported() {
        let limits = ScanLimits {
            findings: 1,
            ..ScanLimits::default()
        };
        let mut findings = GuestFindings::new("nuclei", limits);
        let text = [line("One", "/x"), line("Two", "/y")].join("\n");
        let reading = findings.read(text.as_bytes(), 1 << 20, &StopFlag::default());
        assert_eq!((reading.findings.len(), reading.dropped), (1, 1));
        let mut findings = GuestFindings::new("wapiti", ScanLimits::default());
        let reading = findings.read(&b"{\"classifications\": {"[..], 99, &StopFlag::default());
        assert!(reading.damage.is_some(), "{reading:?}");
    }
}
