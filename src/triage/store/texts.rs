//! The long texts of findings, in files of the cache directory.
//!
//! ```text
//!   Finding ─► TextStore: equal texts once, appended ─► StoredTexts: file and place ─► read when shown or searched
//! ```
//!
//! A file has no name: it is private, disappears with the last finding that refers to it, and at the latest with the
//! process. So nothing is left behind, and nothing of an earlier run has to be checked.

use std::collections::{HashMap, HashSet};
use std::fs::{DirBuilder, File};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use serde_json::Deserializer;

use crate::contract::{Evidence, Finding, Shared};
use crate::triage::listed::{EvidenceSummary, FindingTexts, ListedFinding};

/// A new file is begun after so many bytes, so that the texts of findings that are gone are freed.
const FILE_BYTES: u64 = 64 << 20;
/// Texts are written in blocks of about this size.
const BLOCK: usize = 1 << 18;
/// Equal texts among the last so many are written once.
const MOST_KNOWN: usize = 1 << 14;
/// Longer texts remain in memory.
const LONGEST: usize = 1 << 24;

/// The digests of this process.
static DIGEST: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A file with texts.
#[derive(Debug)]
pub struct TextFile(File);

/// The place of a text in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TextPlace {
    at: u32,
    length: u32,
}

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
    /// The digest of the texts.
    pub(in crate::triage) fn digest(&self) -> u64 {
        self.digest
    }

    /// Reads the texts.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self) -> io::Result<FindingTexts> {
        let prose = self.file.read(self.prose)?;
        let evidence = self.file.read(self.evidence)?;
        if digest(&prose, &evidence) != self.digest {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the file of texts is damaged"));
        }
        let (vuln_description, risk_description, recommendation, references) = serde_json::from_slice(&prose)?;
        let vuln_evidence = Evidence::deserialize(&mut Deserializer::from_slice(&evidence))?;
        Ok(FindingTexts { vuln_description, risk_description, recommendation, references, vuln_evidence })
    }
}

impl TextFile {
    fn read(&self, place: TextPlace) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; place.length as usize];
        self.0.read_exact_at(&mut bytes, place.at.into())?;
        Ok(bytes)
    }
}

fn digest(prose: &[u8], evidence: &[u8]) -> u64 {
    DIGEST.hash_one((prose, evidence))
}

/// Moves the long texts of findings into files.
#[derive(Debug)]
pub struct TextStore {
    directory: PathBuf,
    file: Option<Arc<TextFile>>,
    written: u64,
    /// A new file is begun after so many bytes: [`FILE_BYTES`] except in tests.
    file_bytes: u64,
    /// Texts that are not written yet.
    block: Vec<u8>,
    /// Why texts that were listed could not be written.
    lost: Option<io::Error>,
    known: HashMap<u64, TextPlace>,
    places: HashSet<Shared>,
}

impl TextStore {
    /// A store with files in this directory, which exists or is created by the first text.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            file: None,
            written: 0,
            file_bytes: FILE_BYTES,
            block: Vec::new(),
            lost: None,
            known: HashMap::new(),
            places: HashSet::new(),
        }
    }

    /// The row of a finding, with its texts in a file. If the row that is `known` of it is equal, it is that one. The
    /// texts can be read after [`flush`](Self::flush).
    ///
    /// Texts that cannot be written remain in memory.
    pub fn list(&mut self, finding: Finding, known: Option<&Arc<ListedFinding>>) -> Arc<ListedFinding> {
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
        let Some(texts) = listed.held_texts() else { return Ok(Arc::new(listed.clone())) };
        let prose = (&texts.vuln_description, &texts.risk_description, &texts.recommendation, &texts.references);
        let (prose, evidence) = (serde_json::to_vec(&prose)?, texts.vuln_evidence.as_json().as_bytes());
        if prose.len().max(evidence.len()) > LONGEST {
            return Ok(Arc::new(listed.clone()));
        }
        let digest = digest(&prose, evidence);
        if let Some(row) = known.filter(|row| row.has_texts(digest) && listed.equals_but_texts(row)) {
            return Ok(Arc::clone(row));
        }
        let file = self.file()?;
        let (prose, place) = (self.place(&prose), self.place(evidence));
        let stored = StoredTexts { file, prose, evidence: place, digest };
        let summary = self.summary(texts);
        Ok(Arc::new(listed.clone().stored(stored, summary)))
    }

    /// Writes what is waiting.
    ///
    /// # Errors
    /// When texts that were listed since the last call could not be written; their findings have to be listed again.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_block();
        self.lost.take().map_or(Ok(()), Err)
    }

    fn write_block(&mut self) {
        let Some(file) = &self.file else { return };
        match (&file.0).write_all(&self.block) {
            Ok(()) => self.written += self.block.len() as u64,
            Err(error) => {
                // Nobody knows how much was written, so the next text begins a new file.
                self.file = None;
                self.lost = Some(error);
            }
        }
        self.block.clear();
    }

    /// The present file, or a new one when it is full.
    fn file(&mut self) -> io::Result<Arc<TextFile>> {
        if self.written >= self.file_bytes {
            self.write_block();
            self.file = None;
        }
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        let file = Arc::new(TextFile(tempfile::tempfile_in(&self.directory)?));
        self.known.clear();
        (self.written, self.file) = (0, Some(Arc::clone(&file)));
        Ok(file)
    }

    /// The place of a text, which is written if it is not among the last ones.
    fn place(&mut self, text: &[u8]) -> TextPlace {
        let digest = DIGEST.hash_one(text);
        let length = text.len() as u32;
        if let Some(known) = self.known.get(&digest).filter(|known| known.length == length) {
            return *known;
        }
        let place = TextPlace { at: self.written as u32 + self.block.len() as u32, length };
        self.block.extend_from_slice(text);
        if self.block.len() >= BLOCK {
            self.write_block();
        }
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(digest, place);
        place
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::FindingId;

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
    fn texts_in_a_file_are_read_as_they_came() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = TextStore::new(directory.path().join("new"));
        let rows: Vec<_> = (1..=3).map(|id| store.list(finding(id, &format!("line {id}")), None)).collect();
        store.flush().unwrap();
        for (row, id) in rows.iter().zip(1..) {
            assert!(row.held_texts().is_none());
            assert_eq!(row.whole().unwrap(), finding(id, &format!("line {id}")));
            assert_eq!((row.evidence_rows(), row.reference_count()), (1, 1));
        }
        assert_eq!(std::fs::read_dir(directory.path().join("new")).unwrap().count(), 0, "the file has no name");
    }

    #[test]
    fn equal_texts_are_written_once_and_an_equal_finding_keeps_its_row() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = TextStore::new(directory.path());
        let row = store.list(finding(1, "same"), None);
        store.flush().unwrap();
        let written = store.written;
        store.list(finding(2, "same"), None);
        assert!(Arc::ptr_eq(&store.list(finding(1, "same"), Some(&row)), &row));
        assert!(!Arc::ptr_eq(&store.list(finding(1, "other"), Some(&row)), &row));
        let renamed = Finding { name: "Other".into(), ..finding(1, "same") };
        assert!(!Arc::ptr_eq(&store.list(renamed, Some(&row)), &row));
        store.flush().unwrap();
        assert_eq!(store.written, written + "\"other\"".len() as u64);
    }

    #[test]
    fn damaged_texts_are_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = TextStore::new(directory.path());
        let row = store.list(finding(1, "evidence"), None);
        assert!(row.texts().is_err(), "not written yet");
        store.flush().unwrap();
        let file = store.file.clone().unwrap();
        file.0.write_all_at(b"X", 4).unwrap();
        assert_eq!(row.texts().unwrap_err().to_string(), "the file of texts is damaged");
    }

    #[test]
    fn full_file_is_followed_by_another() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = TextStore::new(directory.path());
        store.file_bytes = 10;
        let mut files = Vec::new();
        for id in 0..3 {
            let row = store.list(finding(id, &format!("{id}")), None);
            store.flush().unwrap();
            assert_eq!(row.whole().unwrap(), finding(id, &format!("{id}")));
            files.push(store.file.clone().unwrap());
        }
        assert!(!Arc::ptr_eq(&files[0], &files[1]) && !Arc::ptr_eq(&files[1], &files[2]));
    }
}
