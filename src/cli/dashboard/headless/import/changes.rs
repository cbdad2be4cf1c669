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
use scandeck_wire::text::{plural, thousands};

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

/// Adds the changes to files with scans of earlier targets, as many as the limits allow. Only the
/// last scan of a target and tool has changes.
///
/// # Errors
/// Those of the service.
pub async fn compare(session: &HeadlessSession, files: &mut [StoredFile]) -> anyhow::Result<()> {
    let later: Vec<ImportedScan> = files
        .iter()
        .flat_map(StoredFile::later_scans)
        .cloned()
        .collect();
    let (scans, others) = later.split_at(comparable(&later));
    if let Some(words) = uncompared_words(others) {
        note!("{words}");
    }
    let Some(first) = scans.first() else {
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

/// The number of scans, from the first on, that are within the limits.
fn comparable(scans: &[ImportedScan]) -> usize {
    let mut findings = 0;
    let fits = |scan: &&ImportedScan| {
        findings += scan.findings;
        findings <= MOST_COMPARED
    };
    scans.iter().take(SHOWN_SCANS).take_while(fits).count()
}

/// Which scans are not compared, and what compares them.
fn uncompared_words(others: &[ImportedScan]) -> Option<String> {
    let first = others.first()?;
    let scans = plural(others.len(), "scan");
    let most = thousands(MOST_COMPARED.unsigned_abs());
    Some(format!(
        "{scans} not compared: the limit is {SHOWN_SCANS} scans with {most} findings; `scandeck scans diff {id}` compares one",
        id = first.id
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scans(findings: &[i64]) -> Vec<ImportedScan> {
        let scan = |(id, findings): (i64, &i64)| ImportedScan {
            id: ScanId(id),
            findings: *findings,
            ..ImportedScan::default()
        };
        (12..).zip(findings).map(scan).collect()
    }

    #[test]
    fn scans_beyond_a_limit_are_named_instead_of_compared() {
        assert_eq!(comparable(&scans(&[6_000, 4_000])), 2);
        assert_eq!(uncompared_words(&[]), None);
        assert_eq!(comparable(&scans(&[10_001])), 0);
        assert_eq!(comparable(&scans(&[0; 25])), 20);

        let later = scans(&[6_000, 4_000, 1]);
        let (compared, others) = later.split_at(comparable(&later));
        assert_eq!(compared.len(), 2);
        assert_eq!(
            uncompared_words(others).unwrap(),
            "1 scan not compared: the limit is 20 scans with 10,000 findings; `scandeck scans diff 14` compares one"
        );
    }
}
