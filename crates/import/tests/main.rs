//! Reads the project's own small files of every format, as they are and damaged.

#![allow(clippy::unwrap_used)]

mod almost;
mod formats;
mod hostile;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use scandeck_import::{ImportEntry, ImportLimits, ImportSummary};

/// The entries and the summary of a file.
struct Imported {
    entries: Vec<ImportEntry>,
    summary: ImportSummary,
}

impl Imported {
    fn ids(&self) -> Vec<&str> {
        self.entries
            .iter()
            .map(|entry| entry.vuln_id.as_str())
            .collect()
    }

    /// The only entry of a class.
    #[track_caller]
    fn entry(&self, vuln_id: &str) -> &ImportEntry {
        let mut found = self.entries.iter().filter(|entry| entry.vuln_id == vuln_id);
        let first = found
            .next()
            .unwrap_or_else(|| panic!("{vuln_id} in {:?}", self.ids()));
        assert!(found.next().is_none(), "several {vuln_id}");
        first
    }

    fn skipped(&self) -> Vec<(&str, u64)> {
        let skipped = self.summary.skipped.iter();
        skipped
            .map(|one| (one.reason.as_str(), one.count))
            .collect()
    }
}

fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

fn sample(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    std::fs::read(folder.join(name)).unwrap()
}

fn import(bytes: &[u8]) -> Imported {
    let mut entries = Vec::new();
    let mut sink = |entry: ImportEntry| {
        entries.push(entry);
        ControlFlow::Continue(())
    };
    let summaries =
        scandeck_import::read(bytes, None, &ImportLimits::default(), &mut sink).unwrap();
    let [summary] = summaries.try_into().unwrap();
    assert_eq!(summary.entries, entries.len() as u64);
    Imported { entries, summary }
}

fn import_sample(name: &str) -> Imported {
    import(&sample(name))
}
