//! The long texts of findings, in [`text_files`](crate::text_files).
//!
//! ```text
//!   Finding ─► TextStore ─► StoredTexts: file and place ─► read when shown or searched
//! ```

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Deserializer;

use crate::text_files::{LONGEST, TextFile, TextFiles, TextPlace, damaged, digest};
use crate::triage::listed::{
    CommonFindingFields, EvidenceSummary, FindingOrigin, FindingTexts, ListedFinding,
};
use scandeck_wire::contract::{Evidence, Finding, Shared};

/// The number of recent evidence places, common fields and origins that later findings can share.
const MOST_KNOWN: usize = 1 << 14;

/// The place of the texts of a finding. Equal ones have equal texts.
#[derive(Clone, Debug)]
pub struct StoredTexts {
    file: Arc<TextFile>,
    prose: TextPlace,
    evidence: TextPlace,
    digest: u64,
}

impl PartialEq for StoredTexts {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl StoredTexts {
    pub(in crate::triage) fn digest(&self) -> u64 {
        self.digest
    }

    pub(in crate::triage) fn evidence_bytes(&self) -> usize {
        self.evidence.length()
    }

    /// Reads the texts.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self) -> io::Result<FindingTexts> {
        let prose = self.file.read(self.prose)?;
        let evidence = self.file.read(self.evidence)?;
        if digest((prose.as_slice(), evidence.as_slice())) != self.digest {
            return Err(damaged());
        }
        let (vuln_description, risk_description, recommendation, references) =
            serde_json::from_slice(&prose)?;
        let vuln_evidence = Evidence::deserialize(&mut Deserializer::from_slice(&evidence))?;
        Ok(FindingTexts {
            vuln_description,
            risk_description,
            recommendation,
            references,
            vuln_evidence,
        })
    }
}

/// Moves the long texts of findings into files.
#[derive(Debug)]
pub struct TextStore {
    files: TextFiles,
    places: HashSet<Shared>,
    /// Common fields by their digest.
    commons: HashMap<u64, Arc<CommonFindingFields>>,
    origins: HashMap<u64, Arc<FindingOrigin>>,
}

impl TextStore {
    /// A store with files in this directory, which exists or is created by the first text.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            files: TextFiles::new(directory),
            places: HashSet::new(),
            commons: HashMap::new(),
            origins: HashMap::new(),
        }
    }

    /// The row of a finding, with its texts in a file. If the row that is `known` of it is equal,
    /// it is that one. The texts can be read after [`flush`](Self::flush).
    ///
    /// Texts that cannot be written remain in memory.
    pub fn list(
        &mut self,
        finding: Finding,
        known: Option<&Arc<ListedFinding>>,
    ) -> Arc<ListedFinding> {
        let listed = ListedFinding::split(finding);
        self.move_texts(&listed, known).unwrap_or_else(|error| {
            tracing::warn!(%error, "texts of a finding not stored");
            Arc::new(listed)
        })
    }

    fn move_texts(
        &mut self,
        listed: &ListedFinding,
        known: Option<&Arc<ListedFinding>>,
    ) -> io::Result<Arc<ListedFinding>> {
        let Some(texts) = listed.held_texts() else {
            return Ok(Arc::new(listed.clone()));
        };
        let prose = (
            &texts.vuln_description,
            &texts.risk_description,
            &texts.recommendation,
            &texts.references,
        );
        let (prose, evidence) = (
            serde_json::to_vec(&prose)?,
            texts.vuln_evidence.as_json().as_bytes(),
        );
        if prose.len().max(evidence.len()) > LONGEST {
            return Ok(Arc::new(listed.clone()));
        }
        let digest = digest((prose.as_slice(), evidence));
        if let Some(row) = known.filter(|row| row.has_texts(digest) && listed.equals_but_texts(row))
        {
            return Ok(Arc::clone(row));
        }
        let file = self.files.file()?;
        let (prose, place) = (self.files.place(&prose), self.files.place(evidence));
        let stored = StoredTexts {
            file,
            prose,
            evidence: place,
            digest,
        };
        let summary = self.summary(texts);
        let (origin, common) = listed.shared_parts();
        let (origin, common) = (
            shared(&mut self.origins, origin),
            shared(&mut self.commons, common),
        );
        Ok(Arc::new(
            listed
                .clone()
                .with_shared(origin, common)
                .stored(stored, summary),
        ))
    }

    /// Writes what is waiting.
    ///
    /// # Errors
    /// When texts that were listed since the last call could not be written; their findings have to
    /// be listed again.
    pub fn flush(&mut self) -> io::Result<()> {
        self.files.flush()
    }

    /// The summary of texts. Equal places are one text.
    fn summary(&mut self, texts: &FindingTexts) -> EvidenceSummary {
        let mut summary = texts.summary();
        match self.places.get(&summary.place) {
            Some(known) => summary.place = known.clone(),
            None => {
                if self.places.len() >= MOST_KNOWN {
                    self.places.clear();
                }
                self.places.insert(summary.place.clone());
            }
        }
        summary
    }
}

/// The known value that is equal to this one, or this one, which is known from then on.
fn shared<T: Hash + PartialEq>(known: &mut HashMap<u64, Arc<T>>, value: &Arc<T>) -> Arc<T> {
    let digest = digest(value);
    if let Some(known) = known.get(&digest).filter(|known| *known == value) {
        return Arc::clone(known);
    }
    if known.len() >= MOST_KNOWN {
        known.clear();
    }
    known.insert(digest, Arc::clone(value));
    Arc::clone(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::{FindingId, Risk, ScanId};

    fn finding(id: i64, evidence: &str) -> Finding {
        Finding {
            id: FindingId(id),
            name: "Cookie".into(),
            vuln_description: "What it is.".into(),
            references: vec!["https://a.test".into()],
            vuln_evidence: Evidence::from_value(&evidence.into()),
            epss_score: Some(0.5),
            ..Finding::default()
        }
    }

    #[test]
    fn texts_round_trip_through_file() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = TextStore::new(directory.path().join("new"));
        let rows: Vec<_> = (1..=3)
            .map(|id| store.list(finding(id, &format!("line {id}")), None))
            .collect();
        store.flush().unwrap();
        for (row, id) in rows.iter().zip(1..) {
            assert!(row.held_texts().is_none());
            assert_eq!(row.whole().unwrap(), finding(id, &format!("line {id}")));
            assert_eq!((row.evidence_rows(), row.reference_count()), (1, 1));
        }
        assert_eq!(
            std::fs::read_dir(directory.path().join("new"))
                .unwrap()
                .count(),
            0,
            "the file has no name"
        );
    }

    #[test]
    fn equal_texts_are_written_once_and_an_equal_finding_keeps_its_row() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = TextStore::new(directory.path());
        let row = store.list(finding(1, "same"), None);
        store.flush().unwrap();
        let written = store.files.written();
        store.list(finding(2, "same"), None);
        assert!(Arc::ptr_eq(
            &store.list(finding(1, "same"), Some(&row)),
            &row
        ));
        assert!(!Arc::ptr_eq(
            &store.list(finding(1, "other"), Some(&row)),
            &row
        ));
        let renamed = Finding {
            name: "Other".into(),
            ..finding(1, "same")
        };
        assert!(!Arc::ptr_eq(&store.list(renamed, Some(&row)), &row));
        store.flush().unwrap();
        assert_eq!(store.files.written(), written + "\"other\"".len() as u64);
    }

    #[test]
    fn findings_share_their_common_fields() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = TextStore::new(directory.path());
        let first = store.list(finding(1, "one"), None);
        let second = store.list(
            Finding {
                name: "Other cookie".into(),
                ..finding(2, "two")
            },
            None,
        );
        assert!(Arc::ptr_eq(first.shared_parts().1, second.shared_parts().1));
        assert!(Arc::ptr_eq(first.shared_parts().0, second.shared_parts().0));
        let of_other_scan = Finding {
            task_id: Some(ScanId(7)),
            ..finding(4, "four")
        };
        assert_eq!(store.list(of_other_scan, None).task_id(), Some(ScanId(7)));
        let of_other_port = store.list(
            Finding {
                port: 8443,
                ..finding(5, "five")
            },
            None,
        );
        assert_eq!(
            (of_other_port.port(), first.port()),
            (8443, finding(1, "one").port)
        );
        let of_other_risk = store.list(
            Finding {
                risk_level: Risk::Critical,
                ..finding(6, "six")
            },
            None,
        );
        assert_eq!(
            (of_other_risk.risk_level, first.risk_level),
            (Risk::Critical, finding(1, "one").risk_level)
        );
        let scored = store.list(
            Finding {
                epss_score: Some(0.25),
                ..finding(3, "three")
            },
            None,
        );
        assert!(!Arc::ptr_eq(
            first.shared_parts().1,
            scored.shared_parts().1
        ));
        assert_eq!(
            (second.epss_score(), scored.epss_score()),
            (Some(0.5), Some(0.25))
        );
        assert!(second.bytes() < scored.bytes());
    }

    #[test]
    fn damaged_texts_are_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = TextStore::new(directory.path());
        let row = store.list(finding(1, "evidence"), None);
        assert!(row.texts().is_err(), "not written yet");
        store.flush().unwrap();
        store.files.file().unwrap().damage();
        assert_eq!(
            row.texts().unwrap_err().to_string(),
            "the file of texts is damaged"
        );
    }

    #[test]
    fn texts_in_full_files_remain_readable() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = TextStore::new(directory.path());
        store.files.file_bytes = 10;
        let rows: Vec<_> = (0..3)
            .map(|id| store.list(finding(id, &format!("{id}")), None))
            .collect();
        store.flush().unwrap();
        for (row, id) in rows.iter().zip(0..) {
            assert_eq!(row.whole().unwrap(), finding(id, &format!("{id}")));
        }
    }
}
