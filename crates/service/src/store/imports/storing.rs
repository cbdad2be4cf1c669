//! The scans and findings of a running import.

use std::collections::HashSet;

use jiff::Timestamp;
use serde_json::json;

use super::super::deletion::is_deleting;
use super::super::sql::sql;
use super::super::targets::{AddedTarget, TargetToAdd, add_target};
use super::super::{Durability, Store, StoreResult, WriteTransaction, millis, without_nul};
use super::rows::{FindingsToStore, UnscannedFinding, insert, insert_all};
use super::{QueuedImport, earlier_import, files_of};
use crate::engine::FINDING_LIST;
use scandeck_wire::contract::import::{ImportOrigin, ImportedFile, ImportedScan, TestedClasses};
use scandeck_wire::contract::{
    FindingId, ImportId, RedirectLevel, ScanId, TargetId, TargetType, Tool, WorkspaceId,
};

/// Most bytes of the coverage of a scan: lists of scans contain it.
const MOST_COVERAGE: usize = 8 * 1024;

/// A scan of an import.
#[derive(Clone, Debug)]
pub struct ScanToImport {
    /// Canonical.
    pub target: String,
    pub kind: TargetType,
    pub tool: Tool,
    pub started: Timestamp,
    pub ended: Timestamp,
    pub origin: ImportOrigin,
    /// Findings of each risk, from info to critical.
    pub by_risk: [i64; 5],
}

/// A scan whose findings are stored with it.
#[derive(Clone, Debug)]
pub struct FoundScan {
    pub scan: ScanToImport,
    pub findings: Vec<UnscannedFinding>,
}

/// Why the scans of an import cannot be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportRefusal {
    #[error("the workspace was deleted during the import")]
    NoWorkspace,
    #[error("the target {0} was deleted during the import; import the file again")]
    TargetDeleted(String),
    #[error(
        "the limit of {0} targets is reached; delete targets, or restart the service with a larger --max-targets"
    )]
    TargetLimit(usize),
}

/// The end of storing an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportEnd {
    Shown,
    /// Another import has stored the same file meanwhile.
    SameAs(ImportId),
    /// A target or the workspace was deleted, or the claim was lost.
    Lost,
}

impl Store {
    /// The earlier import of the same file.
    pub async fn earlier_import(&self, import: &QueuedImport) -> StoreResult<Option<ImportId>> {
        earlier_import(&mut self.change().await?, import).await
    }

    /// Adds the targets and the hidden scans of an import, which `files` refers to by position.
    /// Returns the scans in the order of `scans`.
    pub async fn add_imported_scans(
        &self,
        import: &QueuedImport,
        scans: &[ScanToImport],
        target_limit: usize,
        now: Timestamp,
    ) -> StoreResult<Result<Vec<ImportedScan>, ImportRefusal>> {
        let mut change = self.change().await?;
        if !self.is_importing(&mut change, import).await? {
            return Ok(Err(ImportRefusal::NoWorkspace));
        }
        let mut added = Vec::new();
        for scan in scans {
            let target = imported_target(&mut change, import.workspace, scan, target_limit).await?;
            let target = match target {
                Ok(target) => target,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let id = insert_scan(&mut change, &target, scan, Some(import.id), now).await?;
            added.push(ImportedScan {
                id,
                target_id: target.id,
                target_name: scan.target.as_str().into(),
                findings: scan.by_risk.iter().sum(),
                is_new_target: target.is_new,
            });
        }
        // Before the end, for the undo of an interrupted import.
        let known = [ImportedFile {
            scans: added.clone(),
            ..ImportedFile::default()
        }];
        sql("UPDATE imports SET files = $1 WHERE id = $2")
            .bind(json!(known).to_string())
            .bind(import.id.0)
            .execute(&mut change)
            .await?;
        change.commit().await?;
        Ok(Ok(added))
    }

    /// Adds findings to hidden scans; false when one of the `scans` of the import is gone, or the
    /// claim.
    pub async fn add_imported_findings(
        &self,
        import: &QueuedImport,
        scans: usize,
        findings: Vec<FindingsToStore>,
    ) -> StoreResult<bool> {
        let mut change = self.change_with(Durability::WithNext).await?;
        if !self.has_scans(&mut change, import, scans).await? {
            return Ok(false);
        }
        insert_all(&mut change, import.workspace, findings).await?;
        change.commit().await?;
        Ok(true)
    }

    /// Shows the scans of an import, and ends it.
    pub async fn show_import(
        &self,
        import: &QueuedImport,
        scans: usize,
        files: &[ImportedFile],
        message: &str,
        now: Timestamp,
    ) -> StoreResult<ImportEnd> {
        let mut change = self.change().await?;
        if !self.has_scans(&mut change, import, scans).await? {
            return Ok(ImportEnd::Lost);
        }
        if let Some(earlier) = earlier_import(&mut change, import).await? {
            return Ok(ImportEnd::SameAs(earlier));
        }
        sql("UPDATE scans SET status = 'finished' WHERE import_id = $1 AND status = 'importing'")
            .bind(import.id.0)
            .execute(&mut change)
            .await?;
        let end = ImportResult {
            state: "finished",
            message,
            same_as: None,
            files,
        };
        self.end(&mut change, import, &end, now).await?;
        change.commit().await?;
        Ok(ImportEnd::Shown)
    }

    /// Ends an import that changes nothing: its file was imported before.
    pub async fn end_repeated_import(
        &self,
        import: &QueuedImport,
        earlier: ImportId,
        now: Timestamp,
    ) -> StoreResult<()> {
        let end = ImportResult {
            state: "finished",
            message: &format!("already imported as import {earlier}"),
            same_as: Some(earlier.0),
            files: &[],
        };
        self.end_alone(import, &end, now).await
    }

    /// Ends an import that failed. Its scans are undone before.
    pub async fn fail_import(
        &self,
        import: &QueuedImport,
        message: &str,
        files: &[ImportedFile],
        now: Timestamp,
    ) -> StoreResult<()> {
        let end = ImportResult {
            state: "failed",
            message,
            same_as: None,
            files,
        };
        self.end_alone(import, &end, now).await
    }

    /// Deletes the hidden scans that this or an earlier attempt has stored, and the targets that
    /// were added for them. Without effect when the claim was lost: the scans may be those of a
    /// later attempt.
    pub async fn undo_import(&self, import: &QueuedImport) -> StoreResult<()> {
        let files: Option<String> = sql("SELECT files FROM imports
             WHERE id = $1 AND attempt = $2 AND owner = $3 AND files <> '[]'")
        .bind(import.id.0)
        .bind(import.attempt)
        .bind(&self.node.id)
        .optional(self.read())
        .await?;
        let Some(files) = files else {
            return Ok(());
        };
        self.delete_scans(
            "SELECT id FROM scans WHERE import_id = $1 AND status = 'importing'",
            import.id.0,
        )
        .await?;
        let files = files_of(&files);
        let scans = files.iter().flat_map(|file| &file.scans);
        let new: HashSet<i64> = scans
            .filter(|scan| scan.is_new_target)
            .map(|scan| scan.target_id.0)
            .collect();
        let new: Vec<i64> = new.into_iter().collect();
        let mut change = self.change().await?;
        if !self.is_importing(&mut change, import).await? {
            return Ok(());
        }
        sql("DELETE FROM targets WHERE id IN list($1)
                AND NOT EXISTS (SELECT 1 FROM scans WHERE scans.target_id = targets.id)")
        .bind_ids(&new)
        .execute(&mut change)
        .await?;
        sql("UPDATE imports SET files = '[]' WHERE id = $1")
            .bind(import.id.0)
            .execute(&mut change)
            .await?;
        change.commit().await
    }

    /// Stores finished scans with their findings at once, without a file; returns the ids of the
    /// findings by scan.
    pub async fn add_found(
        &self,
        workspace: WorkspaceId,
        scans: &[FoundScan],
        target_limit: usize,
        now: Timestamp,
    ) -> StoreResult<Result<Vec<Vec<FindingId>>, ImportRefusal>> {
        let mut change = self.change().await?;
        let mut ids = Vec::new();
        for FoundScan { scan, findings } in scans {
            let target = imported_target(&mut change, workspace, scan, target_limit).await?;
            let target = match target {
                Ok(target) => target,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let id = insert_scan(&mut change, &target, scan, None, now).await?;
            let mut of_this = Vec::new();
            for finding in findings.iter().cloned() {
                of_this.push(insert(&mut change, workspace, id, target.id, finding).await?);
            }
            ids.push(of_this);
            sql("UPDATE scans SET status = 'finished' WHERE id = $1")
                .bind(id.0)
                .execute(&mut change)
                .await?;
        }
        change.commit().await?;
        Ok(Ok(ids))
    }

    /// Whether this process still has the claim of an import.
    async fn is_importing(
        &self,
        change: &mut WriteTransaction,
        import: &QueuedImport,
    ) -> StoreResult<bool> {
        sql("SELECT EXISTS (SELECT 1 FROM imports WHERE id = $1 AND attempt = $2 AND owner = $3)")
            .bind(import.id.0)
            .bind(import.attempt)
            .bind(&self.node.id)
            .one(change)
            .await
    }

    /// Whether this process has the claim of an import, and all its scans are still there.
    async fn has_scans(
        &self,
        change: &mut WriteTransaction,
        import: &QueuedImport,
        expected: usize,
    ) -> StoreResult<bool> {
        if !self.is_importing(change, import).await? {
            return Ok(false);
        }
        let count: i64 =
            sql("SELECT count(*) FROM scans WHERE import_id = $1 AND status = 'importing'")
                .bind(import.id.0)
                .one(change)
                .await?;
        Ok(usize::try_from(count) == Ok(expected))
    }

    async fn end_alone(
        &self,
        import: &QueuedImport,
        end: &ImportResult<'_>,
        now: Timestamp,
    ) -> StoreResult<()> {
        let mut change = self.change().await?;
        self.end(&mut change, import, end, now).await?;
        change.commit().await
    }

    async fn end(
        &self,
        change: &mut WriteTransaction,
        import: &QueuedImport,
        end: &ImportResult<'_>,
        now: Timestamp,
    ) -> StoreResult<()> {
        sql(
            "UPDATE imports SET state = $4, message = $5, same_as = $6, files = $7, ended_at = $8, owner = NULL
             WHERE id = $1 AND attempt = $2 AND owner = $3",
        )
        .bind(import.id.0)
        .bind(import.attempt)
        .bind(&self.node.id)
        .bind(end.state)
        .bind(without_nul(end.message))
        .bind(end.same_as)
        .bind(json!(end.files).to_string())
        .bind(millis(now))
        .execute(change)
        .await
        .map(drop)
    }
}

/// The end of an import, as it is stored.
struct ImportResult<'a> {
    state: &'static str,
    message: &'a str,
    same_as: Option<i64>,
    files: &'a [ImportedFile],
}

struct ScannedTarget {
    id: TargetId,
    is_new: bool,
}

/// The target of a scan, which is added unless it exists.
async fn imported_target(
    change: &mut WriteTransaction,
    workspace: WorkspaceId,
    scan: &ScanToImport,
    limit: usize,
) -> StoreResult<Result<ScannedTarget, ImportRefusal>> {
    let target = TargetToAdd {
        workspace,
        name: &scan.target,
        kind: scan.kind.clone(),
        description: "",
    };
    let (id, is_new) = match add_target(&mut *change, &target, limit).await? {
        AddedTarget::New(id) => (id, true),
        AddedTarget::Existing(id) => (id, false),
        AddedTarget::LimitReached => return Ok(Err(ImportRefusal::TargetLimit(limit))),
        AddedTarget::NoWorkspace => return Ok(Err(ImportRefusal::NoWorkspace)),
    };
    if is_deleting(change, id).await? {
        return Ok(Err(ImportRefusal::TargetDeleted(scan.target.clone())));
    }
    Ok(Ok(ScannedTarget { id, is_new }))
}

/// Adds a hidden scan.
async fn insert_scan(
    change: &mut WriteTransaction,
    target: &ScannedTarget,
    scan: &ScanToImport,
    import: Option<ImportId>,
    now: Timestamp,
) -> StoreResult<ScanId> {
    let origin = bounded(&mut *change, target, scan).await?;
    let message = match origin.file.is_empty() {
        true => format!("imported from {}", origin.tool),
        false => format!("imported from {}", origin.file),
    };
    let id: i64 = sql(
        "INSERT INTO scans (workspace_id, target_id, tool_id, status, message, created_at, started_at, ended_at, params,
            redirect_level, scan_original_url, vpn_scan, max_minutes, output_type, risk0, risk1, risk2, risk3, risk4,
            import_id)
         SELECT workspace_id, id, $1, 'importing', $2, $3, $4, $5, $6, $7, false, false, 0, $8, $9, $10, $11, $12, $13, $14
         FROM targets WHERE id = $15 RETURNING id",
    )
    .bind(scan.tool.0)
    .bind(without_nul(&message))
    .bind(millis(now))
    .bind(millis(scan.started))
    .bind(millis(scan.ended))
    .bind(json!({ ImportOrigin::FIELD: &origin }).to_string())
    .bind(RedirectLevel::SameDomain.as_str())
    .bind(FINDING_LIST)
    .bind(scan.by_risk[0])
    .bind(scan.by_risk[1])
    .bind(scan.by_risk[2])
    .bind(scan.by_risk[3])
    .bind(scan.by_risk[4])
    .bind(import.map(|import| import.0))
    .bind(target.id.0)
    .one(change)
    .await?;
    Ok(ScanId(id))
}

/// The origin with a coverage that lists of scans can contain. Of many tested classes only those
/// matter that the earlier scans of the series have found; a coverage that is still too large
/// counts as none.
async fn bounded(
    change: &mut WriteTransaction,
    target: &ScannedTarget,
    scan: &ScanToImport,
) -> StoreResult<ImportOrigin> {
    let mut origin = scan.origin.clone();
    if size(&origin.coverage) > MOST_COVERAGE {
        let found: Vec<String> = sql("SELECT DISTINCT vuln_id FROM findings WHERE target_id = $1
                AND scan_id IN (SELECT id FROM scans WHERE target_id = $1 AND tool_id = $2)")
        .bind(target.id.0)
        .bind(scan.tool.0)
        .all(change)
        .await?;
        let found: HashSet<String> = found.into_iter().collect();
        for tested in &mut origin.coverage {
            tested.checks.retain(|check| found.contains(&**check));
        }
        if size(&origin.coverage) > MOST_COVERAGE {
            origin.coverage.clear();
        }
    }
    Ok(origin)
}

fn size(coverage: &[TestedClasses]) -> usize {
    let texts = |tested: &TestedClasses| {
        let lists = [
            &tested.ports,
            &tested.checks,
            &tested.prefixes,
            &tested.without,
        ];
        let texts = lists.into_iter().flatten();
        texts.map(|text| text.len() + 3).sum::<usize>()
    };
    coverage.iter().map(texts).sum()
}
