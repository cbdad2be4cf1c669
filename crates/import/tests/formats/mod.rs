//! What each format becomes.

mod first;
mod lists;
mod others;
mod risks;

use scandeck_import::{EntryEvidence, EvidenceItem, ImportEntry, ImportTargetKind};

use crate::import_sample;

fn target(entry: &ImportEntry) -> &str {
    entry.target.as_ref().map_or("", |target| &target.name)
}

/// The proposed verdict in words; empty without one.
fn proposed(entry: &ImportEntry) -> String {
    let proposed = entry.proposed.as_ref();
    proposed.map_or_else(String::new, |proposed| proposed.phrase())
}

fn items(entry: &ImportEntry) -> &[EvidenceItem] {
    match &entry.evidence {
        EntryEvidence::Items(items) => items,
        other => panic!("{other:?}"),
    }
}
