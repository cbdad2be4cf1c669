//! Imports in the store: a file in parts, then its scans, which appear together.
//!
//! ```text
//!   add ─► parts ─► queue ─► claim ─► read ─► hidden scans, findings in batches ─► show, in one transaction
//!   receiving       waiting  running                │ lost claim, deleted target       finished
//!                                                   └─► undo ─► claimed again, or failed
//! ```
//!
//! The scans of a running import have the status `importing`, which no other query shows. An import
//! is claimed like a report: its claim ends with the process, and the next one deletes what the
//! earlier attempt has stored.

mod rows;
mod storing;
#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};

use super::sql::{ReadRow, SqlRow, sql};
use super::{Durability, Store, StoreResult, WriteTransaction, millis, stamp, text};
pub use rows::{FindingsToStore, UnscannedFinding};
use scandeck_wire::contract::import::{FileImport, ImportState, ImportedFile};
use scandeck_wire::contract::{ImportId, ScanId, WorkspaceId};
pub use storing::{FoundScan, ImportEnd, ImportRefusal, ScanToImport};

/// Imports that have not ended, of all workspaces.
pub const MOST_UNFINISHED: i64 = 200;

/// Attempts after which an import fails.
const TRIES: i64 = 5;

/// How long the parts of a file may arrive.
const RECEIVING: SignedDuration = SignedDuration::from_hours(1);

/// How long an import without scans is listed.
const RETENTION: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A file that was sent.
#[derive(Clone, Copy, Debug)]
pub struct ImportToAdd<'a> {
    pub workspace: WorkspaceId,
    pub file_name: &'a str,
    /// SHA-256, as hexadecimal digits.
    pub digest: &'a str,
    /// Replaces the targets of the file unless it is empty.
    pub target_name: &'a str,
    /// Empty if the format is recognised by the content.
    pub format: &'a str,
    pub is_complete: bool,
    /// Name of the key.
    pub imported_by: &'a str,
}

/// The result of adding an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedImport {
    New(ImportId),
    LimitReached,
    NoWorkspace,
}

/// An import that this process runs.
#[derive(Clone, Debug)]
pub struct QueuedImport {
    pub id: ImportId,
    /// No two claims of an import have the same number.
    attempt: i64,
    pub workspace: WorkspaceId,
    pub file_name: String,
    pub digest: String,
    /// Empty unless it replaces the targets of the file.
    pub target_name: String,
    /// Empty if the format is recognised by the content.
    pub format: String,
    pub is_complete: bool,
    pub imported_by: String,
}

#[cfg(test)]
impl QueuedImport {
    /// An import of a file with this name, which no store has.
    pub fn of_file(file_name: &str) -> Self {
        Self {
            id: ImportId(7),
            attempt: 1,
            workspace: WorkspaceId(1),
            file_name: file_name.to_owned(),
            digest: "ab".to_owned(),
            target_name: String::new(),
            format: String::new(),
            is_complete: false,
            imported_by: "anna".to_owned(),
        }
    }
}

impl QueuedImport {
    /// Whether the earlier attempts were interrupted too often.
    pub fn is_last_try(&self) -> bool {
        self.attempt > TRIES
    }
}

impl ReadRow for QueuedImport {
    fn read(row: &SqlRow) -> StoreResult<Self> {
        Ok(Self {
            id: ImportId(row.get("id")?),
            attempt: row.get("attempt")?,
            workspace: WorkspaceId(row.get("workspace_id")?),
            file_name: row.get("file_name")?,
            digest: row.get("digest")?,
            target_name: row.get("target_name")?,
            format: row.get("format")?,
            is_complete: row.get("is_complete")?,
            imported_by: row.get("imported_by")?,
        })
    }
}

/// The SHA-256 of an empty file.
const EMPTY_FILE: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

const SELECT: &str = "SELECT id, workspace_id, state, file_name, digest, imported_by, created_at, message, same_as, files
    FROM imports WHERE state <> 'receiving'";

fn import_of(row: &SqlRow) -> StoreResult<FileImport> {
    let state = ImportState::from(row.get::<&str>("state")?);
    let import = FileImport {
        id: ImportId(row.get("id")?),
        workspace_id: WorkspaceId(row.get("workspace_id")?),
        state,
        file_name: text(row, "file_name")?,
        digest: text(row, "digest")?,
        imported_by: text(row, "imported_by")?,
        created_at: Some(stamp(row.get("created_at")?)),
        message: text(row, "message")?,
        same_as: row.get::<Option<i64>>("same_as")?.map(ImportId),
        files: Vec::new(),
    };
    // Scans that nobody sees yet.
    let files = match import.has_ended() {
        true => files_of(row.get("files")?),
        false => Vec::new(),
    };
    Ok(FileImport { files, ..import })
}

fn files_of(json: &str) -> Vec<ImportedFile> {
    serde_json::from_str(json).unwrap_or_default()
}

impl Store {
    /// Adds an import, whose file follows in parts.
    pub async fn add_import(
        &self,
        new: &ImportToAdd<'_>,
        now: Timestamp,
    ) -> StoreResult<AddedImport> {
        let mut change = self.change().await?;
        let unfinished: i64 =
            sql("SELECT count(*) FROM imports WHERE state IN ('receiving', 'waiting', 'running')")
                .one(&mut change)
                .await?;
        if unfinished >= MOST_UNFINISHED {
            return Ok(AddedImport::LimitReached);
        }
        let id: Option<i64> = sql(
            "INSERT INTO imports (workspace_id, state, file_name, digest, target_name, format, is_complete, imported_by,
                created_at)
             SELECT id, 'receiving', $2, $3, $4, $5, $6, $7, $8 FROM workspaces WHERE id = $1
                AND NOT EXISTS (SELECT 1 FROM deletions WHERE workspace_id = $1) RETURNING id",
        )
        .bind(new.workspace.0)
        .bind(new.file_name)
        .bind(new.digest)
        .bind(new.target_name)
        .bind(new.format)
        .bind(new.is_complete)
        .bind(new.imported_by)
        .bind(millis(now))
        .optional(&mut change)
        .await?;
        let Some(id) = id else {
            return Ok(AddedImport::NoWorkspace);
        };
        change.commit().await?;
        Ok(AddedImport::New(ImportId(id)))
    }

    /// Adds a part of the file. The end of the file syncs it.
    pub async fn add_import_part(
        &self,
        id: ImportId,
        position: i64,
        bytes: &[u8],
    ) -> StoreResult<()> {
        let mut change = self.change_with(Durability::WithNext).await?;
        sql("INSERT INTO import_parts (import_id, position, bytes) VALUES ($1, $2, $3)")
            .bind(id.0)
            .bind(position)
            .bind(bytes)
            .execute(&mut change)
            .await?;
        change.commit().await
    }

    /// Queues an import whose file is complete; false when it was deleted.
    pub async fn queue_import(&self, id: ImportId) -> StoreResult<bool> {
        let update =
            sql("UPDATE imports SET state = 'waiting' WHERE id = $1 AND state = 'receiving'");
        Ok(self.execute(update.bind(id.0)).await? > 0)
    }

    /// The number of imports that wait or run.
    pub async fn unfinished_imports(&self) -> StoreResult<i64> {
        sql("SELECT count(*) FROM imports WHERE state IN ('waiting', 'running')")
            .one(self.read())
            .await
    }

    /// Imports, newest first.
    pub async fn imports(
        &self,
        workspace: Option<WorkspaceId>,
        limit: i64,
        offset: i64,
    ) -> StoreResult<Vec<FileImport>> {
        sql(SELECT)
            .push_condition("workspace_id =", workspace.map(|id| id.0))
            .push(" ORDER BY id DESC LIMIT ")
            .push_bind(limit)
            .push(" OFFSET ")
            .push_bind(offset)
            .all_as(self.read(), import_of)
            .await
    }

    pub async fn import(&self, id: ImportId) -> StoreResult<Option<FileImport>> {
        sql(SELECT)
            .push_condition("id =", Some(id.0))
            .optional_as(self.read(), import_of)
            .await
    }

    /// Claims the oldest import that waits, in a workspace that is not being deleted. One that this
    /// process has claimed before could not be stored.
    pub async fn claim_import(&self) -> StoreResult<Option<QueuedImport>> {
        const WAITING: &str = "SELECT id FROM imports
            WHERE state IN ('waiting', 'running') AND (owner IS NULL OR owner = $1)
                AND NOT EXISTS (SELECT 1 FROM deletions WHERE deletions.workspace_id = imports.workspace_id)
            ORDER BY id LIMIT 1";
        let claim = format!(
            "UPDATE imports SET owner = $1, attempt = attempt + 1, state = 'running' WHERE id = ({WAITING})
             RETURNING id, attempt, workspace_id, file_name, digest, target_name, format, is_complete, imported_by",
        );
        self.claim_waiting(WAITING, claim).await
    }

    /// The import that stored a scan, if one did.
    pub async fn import_of_scan(&self, scan: ScanId) -> StoreResult<Option<FileImport>> {
        sql(SELECT)
            .push(" AND id = (SELECT import_id FROM scans WHERE scans.id = ")
            .push_bind(scan.0)
            .push(")")
            .optional_as(self.read(), import_of)
            .await
    }

    /// The number of parts of the file of an import, and their bytes together.
    pub async fn import_size(&self, id: ImportId) -> StoreResult<(i64, i64)> {
        sql("SELECT count(*), CAST(coalesce(sum(octet_length(bytes)), 0) AS BIGINT) FROM import_parts WHERE import_id = $1")
            .bind(id.0)
            .one(self.read())
            .await
    }

    /// A part of the file of an import.
    ///
    /// # Errors
    /// Also when the file was deleted.
    pub async fn import_part(&self, id: ImportId, position: i64) -> StoreResult<Vec<u8>> {
        let bulk = self.bulk().await;
        sql("SELECT bytes FROM import_parts WHERE import_id = $1 AND position = $2")
            .bind(id.0)
            .bind(position)
            .one(bulk.read())
            .await
    }

    /// Deletes the file of an import that has ended.
    pub async fn delete_import_file(&self, import: &QueuedImport) -> StoreResult<()> {
        self.delete_import_parts("import_id = $1", &[import.id.0])
            .await
    }

    /// Deletes imports whose file did not arrive, old ones without scans, and files without scans.
    pub async fn purge_imports(&self, now: Timestamp) -> StoreResult<()> {
        self.delete_in_batches(
            "imports",
            "(state = 'receiving' AND created_at < $1)
                OR (state IN ('finished', 'failed') AND ended_at < $2
                    AND NOT EXISTS (SELECT 1 FROM scans WHERE scans.import_id = imports.id))",
            &[millis(now - RECEIVING), millis(now - RETENTION)],
        )
        .await?;
        self.sweep_import_parts().await
    }

    /// Deletes the imports of a workspace; the scans are deleted with it.
    pub(super) async fn delete_imports_of(&self, workspace: WorkspaceId) -> StoreResult<()> {
        self.execute(sql("DELETE FROM imports WHERE workspace_id = $1").bind(workspace.0))
            .await?;
        self.sweep_import_parts().await
    }

    /// Deletes the files of ended imports whose scans are all deleted.
    pub(super) async fn sweep_import_parts(&self) -> StoreResult<()> {
        self.delete_import_parts(
            "import_id NOT IN (SELECT id FROM imports WHERE state IN ('receiving', 'waiting', 'running')
                OR EXISTS (SELECT 1 FROM scans WHERE scans.import_id = imports.id))",
            &[],
        )
        .await
    }
}

/// Ends the claims of the imports of a workspace, which then store nothing more.
pub(super) async fn end_claims(
    change: &mut WriteTransaction,
    workspace: WorkspaceId,
) -> StoreResult<()> {
    sql("UPDATE imports SET owner = NULL WHERE workspace_id = $1 AND owner IS NOT NULL")
        .bind(workspace.0)
        .execute(change)
        .await
        .map(drop)
}

/// The earlier import that has stored the same file with the same choices, and still has scans.
/// Empty files are equal, but each is the result of another scan.
async fn earlier_import(
    change: &mut WriteTransaction,
    import: &QueuedImport,
) -> StoreResult<Option<ImportId>> {
    if import.digest == EMPTY_FILE {
        return Ok(None);
    }
    let earlier: Option<i64> = sql(
        "SELECT id FROM imports WHERE digest = $1 AND workspace_id = $2 AND target_name = $3 AND format = $4 AND id <> $5
            AND state = 'finished' AND EXISTS (SELECT 1 FROM scans WHERE scans.import_id = imports.id)
         ORDER BY id LIMIT 1",
    )
    .bind(&import.digest)
    .bind(import.workspace.0)
    .bind(&import.target_name)
    .bind(&import.format)
    .bind(import.id.0)
    .optional(change)
    .await?;
    Ok(earlier.map(ImportId))
}
