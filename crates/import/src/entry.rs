//! One result of a file, in the words of findings.

use scandeck_wire::contract::verdict::ProposedVerdict;
use scandeck_wire::contract::{Finding, Owasp, Risk, Shared, Stamp};

use crate::evidence::{EntryEvidence, shorten};
use crate::target::{ImportTarget, TargetPlace};

const MAX_TITLE: usize = 500;
const MAX_TEXT: usize = 64 * 1024;
const MAX_WORD: usize = 1_000;
const MAX_LIST: usize = 200;

/// A result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportEntry {
    /// The class, stable across versions of the tool: `nuclei:CVE-2021-44228`.
    pub vuln_id: String,
    pub risk: Risk,
    /// The tool's own word or number for the risk.
    pub source_risk: String,
    pub title: String,
    pub description: String,
    /// The possible consequences.
    pub impact: String,
    pub recommendation: String,
    /// The check that reported the result.
    pub test: String,
    pub evidence: EntryEvidence,
    pub cves: Vec<String>,
    pub cwes: Vec<u32>,
    pub cvss: Option<CvssRating>,
    pub epss: Option<EpssRating>,
    pub references: Vec<String>,
    /// None if the file names no target, such as the results of a code scanner.
    pub target: Option<ImportTarget>,
    pub port: Option<u16>,
    /// `tcp`, `udp`, or empty.
    pub protocol: String,
    /// The protocol of the service on the port, such as `https`.
    pub service: String,
    pub tags: Vec<String>,
    pub place: EntryPlace,
    /// The tool proved the result, or is certain of it.
    pub is_confirmed: bool,
    /// The CVE is in the CISA catalog of known exploited vulnerabilities.
    pub is_known_exploited: bool,
    /// The result is a false positive, accepted or otherwise suppressed in the source.
    pub proposed: Option<ProposedVerdict>,
    pub found_at: Option<Stamp>,
    /// The tool's own stable identity of the result; may be empty.
    pub fingerprint: String,
    /// The finding as scandeck exported it, with every field.
    pub own: Option<Box<Finding>>,
}

/// Where on the target the result is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryPlace {
    /// Path of a URL, or a file with its line; may be empty.
    pub path: String,
    /// Parameter, cookie or header, or the check of an audit; may be empty.
    pub parameter: String,
}

/// A CVSS rating of any version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CvssRating {
    pub score: Option<f64>,
    /// May be empty.
    pub vector: String,
}

/// The probability that the CVE is exploited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EpssRating {
    /// 0 to 1.
    pub score: f64,
    /// 0 to 1.
    pub percentile: Option<f64>,
}

impl CvssRating {
    /// A rating with a score from 0 to 10 or a vector; none without both.
    pub fn new(score: Option<f64>, vector: &str) -> Option<Self> {
        let score = score.filter(|score| (0.0..=10.0).contains(score));
        let vector = vector.trim();
        (score.is_some() || !vector.is_empty()).then(|| Self {
            score,
            vector: vector.to_owned(),
        })
    }

    /// Whether the vector names version 3 or 4.
    pub fn is_v3(&self) -> bool {
        self.vector.starts_with("CVSS:3") || self.vector.starts_with("CVSS:4")
    }
}

impl EpssRating {
    /// None if the score is no probability.
    pub fn new(score: Option<f64>, percentile: Option<f64>) -> Option<Self> {
        let is_probability = |value: &f64| (0.0..=1.0).contains(value);
        Some(Self {
            score: score.filter(is_probability)?,
            percentile: percentile.filter(is_probability),
        })
    }
}

impl ImportEntry {
    /// An entry at a place that answers over TCP, such as a page.
    pub(crate) fn at(place: TargetPlace) -> Self {
        Self {
            target: Some(place.target),
            port: place.port,
            protocol: "tcp".to_owned(),
            service: place.scheme,
            place: EntryPlace {
                path: place.path,
                parameter: String::new(),
            },
            ..Self::default()
        }
    }

    /// Shortens texts and lists that are longer than a finding may have, and fills an empty title.
    pub(crate) fn bound(&mut self) {
        if self.title.trim().is_empty() {
            self.title.clone_from(&self.vuln_id);
        }
        let texts = [
            (&mut self.title, MAX_TITLE),
            (&mut self.vuln_id, MAX_TITLE),
            (&mut self.source_risk, MAX_WORD),
            (&mut self.test, MAX_WORD),
            (&mut self.fingerprint, MAX_WORD),
            (&mut self.service, MAX_WORD),
            (&mut self.protocol, MAX_WORD),
            (&mut self.place.path, MAX_WORD),
            (&mut self.place.parameter, MAX_WORD),
            (&mut self.description, MAX_TEXT),
            (&mut self.impact, MAX_TEXT),
            (&mut self.recommendation, MAX_TEXT),
        ];
        for (text, most) in texts {
            tidy(text, most);
        }
        self.title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        for list in [&mut self.cves, &mut self.references, &mut self.tags] {
            for text in list.iter_mut() {
                tidy(text, MAX_WORD);
            }
            keep_distinct(list);
        }
        keep_distinct(&mut self.cwes);
        if let Some(proposed) = &mut self.proposed {
            for text in [&mut proposed.reason, &mut proposed.by] {
                let mut short = text.to_string();
                tidy(&mut short, MAX_WORD);
                *text = short.into();
            }
        }
        self.evidence.bound();
    }

    /// The finding to store, without ids and scan.
    pub fn into_finding(self) -> Finding {
        let proposed = self.proposed.map(Box::new);
        if let Some(own) = self.own {
            return Finding { proposed, ..*own };
        }
        let score = self.cvss.as_ref().and_then(|cvss| cvss.score);
        let is_v3 = self.cvss.as_ref().is_some_and(CvssRating::is_v3);
        let cwes: Vec<String> = self.cwes.iter().map(|cwe| format!("CWE-{cwe}")).collect();
        let shared = |all: Vec<String>| all.into_iter().map(Shared::from).collect();
        Finding {
            name: self.title.into(),
            test_description: self.test.into(),
            test_finished: true,
            confirmed: self.is_confirmed,
            in_cisa_catalog: self.is_known_exploited,
            cve: shared(self.cves),
            vuln_description: self.description.into(),
            vuln_evidence: self.evidence.into_wire(),
            risk_description: self.impact.into(),
            risk_level: self.risk,
            status: "open".into(),
            recommendation: self.recommendation.into(),
            references: shared(self.references),
            vuln_id: self.vuln_id.into(),
            owasp: Owasp::default(),
            cwe: cwes.join(", ").into(),
            port: self.port.map_or(0, i64::from),
            protocol: self.protocol.into(),
            service: self.service.into(),
            target_name: self.target.map(|target| target.name.into()),
            epss_score: self.epss.map(|epss| epss.score),
            epss_percentile: self.epss.and_then(|epss| epss.percentile),
            cvss: score.filter(|_| !is_v3),
            cvssv3: score.filter(|_| is_v3),
            proposed,
            ..Finding::default()
        }
    }
}

fn tidy(text: &mut String, most: usize) {
    if text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace) {
        *text = text.trim().to_owned();
    }
    shorten(text, most);
}

fn keep_distinct<T: PartialEq + Default>(list: &mut Vec<T>) {
    let mut kept: Vec<T> = Vec::with_capacity(list.len().min(MAX_LIST));
    for item in std::mem::take(list) {
        if kept.len() < MAX_LIST && item != T::default() && !kept.contains(&item) {
            kept.push(item);
        }
    }
    *list = kept;
}
