//! The changes by imported scans at targets that were there before: findings that are new,
//! reappeared or absent.

use std::collections::BTreeSet;

use serde::Serialize;

use super::super::HeadlessSession;
use super::super::rows::FindingRows;
use super::stored_file::{SHOWN_SCANS, StoredFile};
use scandeck_domain::triage::{FindingFacts, ScanChanges};
use scandeck_wire::contract::import::ImportedScan;
use scandeck_wire::contract::{ScanId, TargetId};
use scandeck_wire::text::thousands;

/// Imported findings that are compared at most, because it needs all findings of their targets.
const MOST_COMPARED: i64 = 10_000;

/// The changes by a scan, compared with the scan before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ImportChanges {
    scan_id: ScanId,
    new: usize,
    reappeared: usize,
    absent: usize,
}

impl ImportChanges {
    fn new(scan_id: ScanId, changes: ScanChanges) -> Self {
        let ScanChanges {
            new,
            reappeared,
            absent,
        } = changes;
        Self {
            scan_id,
            new,
            reappeared,
            absent,
        }
    }

    /// `scan 12: 1 new, 3 absent`.
    pub fn words(&self) -> String {
        let counts = [
            (self.new, "new"),
            (self.reappeared, "reappeared"),
            (self.absent, "absent"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts
            .map(|(count, word)| format!("{} {word}", thousands(count as u64)))
            .collect();
        format!("scan {}: {}", self.scan_id, counts.join(", "))
    }
}

/// Adds the changes to files with scans of earlier targets. Only the last scan of a target and tool
/// has changes.
///
/// # Errors
/// Those of the service.
pub async fn compare(session: &HeadlessSession, files: &mut [StoredFile]) -> anyhow::Result<()> {
    let later = files.iter().flat_map(StoredFile::later_scans);
    let scans: Vec<ImportedScan> = later.take(SHOWN_SCANS).cloned().collect();
    let findings: i64 = scans.iter().map(|scan| scan.findings).sum();
    let Some(first) = scans.first().filter(|_| findings <= MOST_COMPARED) else {
        return Ok(());
    };
    let Some(workspace) = session.client()?.get_scan(first.id).await?.workspace_id else {
        return Ok(());
    };
    let targets: BTreeSet<TargetId> = scans.iter().map(|scan| scan.target_id).collect();
    let rows = FindingRows::load_targets(session, workspace, &targets).await?;
    let facts = FindingFacts::count(&rows.issues());
    for file in files {
        let changed = file.later_scans().filter_map(|scan| {
            let changes = facts.changes(scan.id)?;
            Some(ImportChanges::new(scan.id, changes))
        });
        file.changes = changed.collect();
    }
    Ok(())
}
