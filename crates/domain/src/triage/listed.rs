//! A finding of one scan as lists, filters, counts and fingerprints need it. Its long texts are
//! held with it, or are in a file ([`TextFile`](crate::text_files::TextFile)) and are read when
//! they are shown, searched or exported.
//!
//! ```text
//!   Finding ─► ListedFinding: short fields, digests of the evidence
//!                ├─ common: CommonFindingFields, equal in many findings and shared between them
//!                ├─ origin: target, port and scan, shared by the findings of a scan on that port
//!                └─ texts: FindingTexts in memory, or their place in a file
//! ```

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::change_detection::stable_words;
use super::identity::place_of;
use super::store::texts::StoredTexts;
use crate::table::IntoRow;
use scandeck_wire::contract::shared::{SharedPool, SharedTexts};
use scandeck_wire::contract::verdict::ProposedVerdict;
use scandeck_wire::contract::{
    Evidence, Finding, FindingId, Owasp, Risk, ScanId, Shared, TargetId,
};

/// The long texts of a finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FindingTexts {
    pub vuln_description: Shared,
    pub risk_description: Shared,
    pub recommendation: Shared,
    pub references: Vec<Shared>,
    pub vuln_evidence: Evidence,
}

/// A finding of one scan without its long texts. It dereferences to its common fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedFinding {
    pub id: FindingId,
    pub name: Shared,
    origin: Arc<FindingOrigin>,
    common: Arc<CommonFindingFields>,
    texts: TextSource,
}

/// The target, port and scan of a finding, which the findings of a scan on that port have in
/// common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FindingOrigin {
    target_id: Option<TargetId>,
    task_id: Option<ScanId>,
    target_name: Option<Shared>,
    port: i64,
}

/// The fields that all findings of one weakness usually have in common.
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct CommonFindingFields {
    pub risk_level: Risk,
    pub test_description: Shared,
    pub test_finished: bool,
    pub confirmed: bool,
    pub in_cisa_catalog: bool,
    pub verified: bool,
    pub cve: Box<[Shared]>,
    pub status: Shared,
    pub vuln_id: Shared,
    pub owasp: Owasp,
    pub cwe: Shared,
    pub protocol: Shared,
    pub service: Shared,
    /// The verdict that the file of an imported finding states.
    pub proposed: Option<Box<ProposedVerdict>>,
    scores: Scores,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Scores {
    epss: Option<f64>,
    percentile: Option<f64>,
    cvss: Option<f64>,
    cvssv3: Option<f64>,
    screenshots: Option<i64>,
}

impl Hash for Scores {
    fn hash<H: Hasher>(&self, to: &mut H) {
        [self.epss, self.percentile, self.cvss, self.cvssv3]
            .map(|score| score.map(f64::to_bits))
            .hash(to);
        self.screenshots.hash(to);
    }
}

impl Deref for ListedFinding {
    type Target = CommonFindingFields;
    fn deref(&self) -> &CommonFindingFields {
        &self.common
    }
}

/// Where the long texts are.
#[derive(Clone, Debug, PartialEq)]
enum TextSource {
    Held(Arc<FindingTexts>),
    Stored(StoredTexts, EvidenceSummary),
}

/// Fields of texts that are needed without reading their file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvidenceSummary {
    /// The names and places that the evidence contains, see [`place_of`].
    pub place: Shared,
    /// A digest of its words that do not vary between two scans.
    pub words: u64,
    /// The number of rows of a table; 1 for other evidence, 0 for none.
    pub rows: u32,
    /// The number of references.
    pub references: u32,
}

impl Default for TextSource {
    fn default() -> Self {
        Self::Held(Arc::default())
    }
}

impl FindingTexts {
    /// The part that remains in memory.
    pub fn summary(&self) -> EvidenceSummary {
        EvidenceSummary {
            place: place_of(&self.vuln_evidence),
            words: words(&self.vuln_evidence),
            rows: self.vuln_evidence.view().rows() as u32,
            references: self.references.len() as u32,
        }
    }
}

impl ListedFinding {
    /// Separates a finding from its long texts, which remain in memory.
    pub fn split(finding: Finding) -> Self {
        let scores = Scores {
            epss: finding.epss_score,
            percentile: finding.epss_percentile,
            cvss: finding.cvss,
            cvssv3: finding.cvssv3,
            screenshots: finding.screenshots,
        };
        let origin = FindingOrigin {
            target_id: finding.target_id,
            task_id: finding.task_id,
            target_name: finding.target_name,
            port: finding.port,
        };
        let texts = FindingTexts {
            vuln_description: finding.vuln_description,
            risk_description: finding.risk_description,
            recommendation: finding.recommendation,
            references: finding.references,
            vuln_evidence: finding.vuln_evidence,
        };
        let common = CommonFindingFields {
            risk_level: finding.risk_level,
            test_description: finding.test_description,
            test_finished: finding.test_finished,
            confirmed: finding.confirmed,
            in_cisa_catalog: finding.in_cisa_catalog,
            verified: finding.verified,
            cve: finding.cve.into(),
            status: finding.status,
            vuln_id: finding.vuln_id,
            owasp: finding.owasp,
            cwe: finding.cwe,
            protocol: finding.protocol,
            service: finding.service,
            proposed: finding.proposed,
            scores,
        };
        Self {
            id: finding.id,
            name: finding.name,
            origin: Arc::new(origin),
            common: Arc::new(common),
            texts: TextSource::Held(Arc::new(texts)),
        }
    }

    pub fn target_id(&self) -> Option<TargetId> {
        self.origin.target_id
    }

    /// Its scan.
    pub fn task_id(&self) -> Option<ScanId> {
        self.origin.task_id
    }

    /// The name of its target, if the service reports it.
    pub fn target_name(&self) -> &Option<Shared> {
        &self.origin.target_name
    }

    /// Its port; 0 if the service reports none.
    pub fn port(&self) -> i64 {
        self.origin.port
    }

    /// The fields that it can share with others.
    pub fn shared_parts(&self) -> (&Arc<FindingOrigin>, &Arc<CommonFindingFields>) {
        (&self.origin, &self.common)
    }

    /// This finding with equal, shared copies of its common fields.
    pub(super) fn with_shared(
        self,
        origin: Arc<FindingOrigin>,
        common: Arc<CommonFindingFields>,
    ) -> Self {
        Self {
            origin,
            common,
            ..self
        }
    }

    /// The texts, if they are in memory.
    pub fn held_texts(&self) -> Option<&Arc<FindingTexts>> {
        match &self.texts {
            TextSource::Held(texts) => Some(texts),
            TextSource::Stored(..) => None,
        }
    }

    /// The texts; those in a file are read.
    ///
    /// # Errors
    /// When the file cannot be read, or is damaged.
    pub fn texts(&self) -> io::Result<Arc<FindingTexts>> {
        match &self.texts {
            TextSource::Held(texts) => Ok(Arc::clone(texts)),
            TextSource::Stored(stored, _) => stored.read().map(Arc::new),
        }
    }

    /// The finding with its texts.
    ///
    /// # Errors
    /// When the texts cannot be read.
    pub fn whole(&self) -> io::Result<Finding> {
        Ok(self.with_texts(&*self.texts()?))
    }

    /// The finding with these texts.
    pub fn with_texts(&self, texts: &FindingTexts) -> Finding {
        let FindingTexts {
            vuln_description,
            risk_description,
            recommendation,
            references,
            vuln_evidence,
        } = texts.clone();
        let scores = self.scores;
        Finding {
            id: self.id,
            name: self.name.clone(),
            test_description: self.test_description.clone(),
            test_finished: self.test_finished,
            confirmed: self.confirmed,
            in_cisa_catalog: self.in_cisa_catalog,
            cve: self.cve.to_vec(),
            vuln_description,
            vuln_evidence,
            risk_description,
            risk_level: self.risk_level,
            status: self.status.clone(),
            recommendation,
            references,
            verified: self.verified,
            vuln_id: self.vuln_id.clone(),
            owasp: self.owasp.clone(),
            cwe: self.cwe.clone(),
            port: self.port(),
            protocol: self.protocol.clone(),
            service: self.service.clone(),
            target_id: self.target_id(),
            task_id: self.task_id(),
            target_name: self.target_name().clone(),
            epss_score: scores.epss,
            epss_percentile: scores.percentile,
            cvss: scores.cvss,
            cvssv3: scores.cvssv3,
            screenshots: scores.screenshots,
            proposed: self.proposed.clone(),
        }
    }

    /// The same finding with its texts in a file.
    pub fn stored(self, texts: StoredTexts, summary: EvidenceSummary) -> Self {
        Self {
            texts: TextSource::Stored(texts, summary),
            ..self
        }
    }

    /// Whether its texts are in a file and have this digest.
    pub(super) fn has_texts(&self, digest: u64) -> bool {
        matches!(&self.texts, TextSource::Stored(stored, _) if stored.digest() == digest)
    }

    /// Whether everything but the texts is equal.
    pub(super) fn equals_but_texts(&self, other: &Self) -> bool {
        Self {
            texts: other.texts.clone(),
            ..self.clone()
        } == *other
    }

    /// The names and places in the evidence; `known` answers for evidence in memory.
    pub(super) fn place<'a>(&'a self, known: impl FnOnce(&'a Evidence) -> Shared) -> Shared {
        match &self.texts {
            TextSource::Held(texts) => known(&texts.vuln_evidence),
            TextSource::Stored(_, summary) => summary.place.clone(),
        }
    }

    /// A digest of the words of the evidence that do not vary between two scans.
    pub(super) fn evidence_words(&self) -> u64 {
        match &self.texts {
            TextSource::Held(texts) => words(&texts.vuln_evidence),
            TextSource::Stored(_, summary) => summary.words,
        }
    }

    pub fn evidence_bytes(&self) -> usize {
        match &self.texts {
            TextSource::Held(texts) => texts.vuln_evidence.as_json().len(),
            TextSource::Stored(stored, _) => stored.evidence_bytes(),
        }
    }

    /// The number of rows of evidence; 1 for evidence that is no table, 0 for none.
    pub fn evidence_rows(&self) -> usize {
        match &self.texts {
            TextSource::Held(texts) => texts.vuln_evidence.view().rows(),
            TextSource::Stored(_, summary) => summary.rows as usize,
        }
    }

    /// The number of references and CVEs.
    pub fn reference_count(&self) -> usize {
        let references = match &self.texts {
            TextSource::Held(texts) => texts.references.len(),
            TextSource::Stored(_, summary) => summary.references as usize,
        };
        references + self.cve.len()
    }

    /// Approximate bytes in memory: own fields and a share of the common fields, without shared
    /// texts.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + (size_of::<CommonFindingFields>() + self.cve.len() * size_of::<Shared>())
                / Arc::strong_count(&self.common)
            + size_of::<FindingOrigin>() / Arc::strong_count(&self.origin)
            + match &self.texts {
                TextSource::Stored(..) => 0,
                TextSource::Held(texts) => {
                    let texts = &**texts;
                    size_of::<FindingTexts>()
                        + texts.vuln_evidence.as_json().len()
                        + [
                            &texts.vuln_description,
                            &texts.risk_description,
                            &texts.recommendation,
                        ]
                        .into_iter()
                        .chain(&texts.references)
                        .map(|text| text.len())
                        .sum::<usize>()
                }
            }
    }

    /// EPSS score, if reported.
    pub fn epss_score(&self) -> Option<f64> {
        self.scores.epss
    }

    /// EPSS percentile, if reported.
    pub fn epss_percentile(&self) -> Option<f64> {
        self.scores.percentile
    }

    /// CVSS score of version 2, if reported.
    pub fn cvss(&self) -> Option<f64> {
        self.scores.cvss
    }

    /// CVSS score of version 3, if reported.
    pub fn cvssv3(&self) -> Option<f64> {
        self.scores.cvssv3
    }

    /// Number of screenshots, if reported.
    pub fn screenshots(&self) -> Option<i64> {
        self.scores.screenshots
    }
}

fn words(evidence: &Evidence) -> u64 {
    let mut hasher = DefaultHasher::new();
    let compared = evidence.without_exchange();
    stable_words(compared.as_json()).for_each(|word| word.hash(&mut hasher));
    hasher.finish()
}

impl IntoRow<ListedFinding> for Finding {
    fn into_row(self) -> Arc<ListedFinding> {
        Arc::new(self.into())
    }
}

impl From<Finding> for ListedFinding {
    fn from(finding: Finding) -> Self {
        Self::split(finding)
    }
}

/// The texts of a finding that was just read; nothing else has them yet.
impl SharedTexts for ListedFinding {
    fn share_texts(&mut self, pool: &mut SharedPool) {
        pool.share(&mut self.name);
        if let Some(common) = Arc::get_mut(&mut self.common) {
            let texts = [
                &mut common.test_description,
                &mut common.status,
                &mut common.vuln_id,
                &mut common.owasp.owasp_2017,
                &mut common.owasp.owasp_2021,
                &mut common.owasp.owasp_2025,
                &mut common.cwe,
                &mut common.protocol,
                &mut common.service,
            ];
            let texts = texts.into_iter().chain(&mut common.cve);
            texts.for_each(|text| pool.share(text));
        }
        if let TextSource::Held(held) = &mut self.texts
            && let Some(held) = Arc::get_mut(held)
        {
            let texts = [
                &mut held.vuln_description,
                &mut held.risk_description,
                &mut held.recommendation,
            ];
            let texts = texts.into_iter().chain(&mut held.references);
            texts.for_each(|text| pool.share(text));
        }
    }
}

impl Serialize for ListedFinding {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.whole()
            .map_err(serde::ser::Error::custom)?
            .serialize(to)
    }
}

impl<'de> Deserialize<'de> for ListedFinding {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Finding::deserialize(from).map(Self::from)
    }
}
