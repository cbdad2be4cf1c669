//! Workspaces in the store.

use super::deletion::DeletedNoun;
use super::sql::{SqlRow, sql};
use super::{Store, StoreResult, imports, is_duplicate, jobs, team, text};
use scandeck_wire::contract::{EditWorkspace, Workspace, WorkspaceId};

fn workspace_of(row: &SqlRow) -> StoreResult<Workspace> {
    Ok(Workspace {
        id: WorkspaceId(row.get("id")?),
        name: text(row, "name")?,
        description: text(row, "description")?,
        scan_count: row.get("scan_count")?,
        target_count: row.get("target_count")?,
    })
}

const SELECT: &str = "SELECT id, name, description,
    (SELECT count(*) FROM scans WHERE workspace_id = workspaces.id)
        - (SELECT count(*) FROM scans WHERE status = 'importing' AND workspace_id = workspaces.id) AS scan_count,
    (SELECT count(*) FROM targets WHERE workspace_id = workspaces.id) AS target_count
    FROM workspaces WHERE $1 IS NULL OR id = $1 ORDER BY id";

/// The result of a workspace edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspaceEdit {
    Done,
    NotFound,
    NameTaken,
}

/// Two names are equal when their keys are.
fn name_key(name: &str) -> String {
    name.trim().to_lowercase()
}

impl Store {
    pub async fn workspaces(&self) -> StoreResult<Vec<Workspace>> {
        sql(SELECT)
            .bind(None::<i64>)
            .all_as(self.read(), workspace_of)
            .await
    }

    pub async fn workspace(&self, id: WorkspaceId) -> StoreResult<Option<Workspace>> {
        sql(SELECT)
            .bind(id.0)
            .optional_as(self.read(), workspace_of)
            .await
    }

    /// Creates a workspace; returns `None` when the name is taken.
    pub async fn add_workspace(
        &self,
        name: &str,
        description: &str,
    ) -> StoreResult<Option<WorkspaceId>> {
        let mut change = self.change().await?;
        // Before the insertion, which would use up an id on PostgreSQL.
        let is_taken: bool = sql("SELECT EXISTS (SELECT 1 FROM workspaces WHERE name_key = $1)")
            .bind(name_key(name))
            .one(&mut change)
            .await?;
        if is_taken {
            return Ok(None);
        }
        let id: i64 = sql(
            "INSERT INTO workspaces (name, name_key, description) VALUES ($1, $2, $3) RETURNING id",
        )
        .bind(name.trim())
        .bind(name_key(name))
        .bind(description)
        .one(&mut change)
        .await?;
        change.commit().await?;
        Ok(Some(WorkspaceId(id)))
    }

    /// Changes name, description or both.
    pub async fn edit_workspace(
        &self,
        id: WorkspaceId,
        edit: &EditWorkspace,
    ) -> StoreResult<WorkspaceEdit> {
        let update = sql(
            "UPDATE workspaces SET name = coalesce($1, name), name_key = coalesce($2, name_key),
                description = coalesce($3, description) WHERE id = $4",
        )
        .bind(edit.name.as_deref().map(str::trim))
        .bind(edit.name.as_deref().map(name_key))
        .bind(edit.description.as_deref())
        .bind(id.0);
        match self.execute(update).await {
            Ok(0) => Ok(WorkspaceEdit::NotFound),
            Ok(_) => Ok(WorkspaceEdit::Done),
            Err(error) if is_duplicate(&error) => Ok(WorkspaceEdit::NameTaken),
            Err(error) => Err(error),
        }
    }

    /// Deletes a workspace with everything in it, in batches; false when it does not exist. From the
    /// decision on it receives no new scan, and its scans are stopped.
    pub async fn delete_workspace(&self, id: WorkspaceId) -> StoreResult<bool> {
        self.to_its_end(move |store| async move {
            let mut decision = store.change().await?;
            let exists: bool = sql("SELECT EXISTS (SELECT 1 FROM workspaces WHERE id = $1)")
                .bind(id.0)
                .one(&mut decision)
                .await?;
            if !exists {
                return Ok(false);
            }
            jobs::request_stops(&mut decision, id).await?;
            imports::end_claims(&mut decision, id).await?;
            // Members send everything again if the deletion is interrupted: their positions would
            // mean a log with holes.
            team::end_epoch(&mut decision, id).await?;
            let noun = DeletedNoun::Workspace(id);
            let row = store.begin_deletion(decision, noun).await?;
            let deleted = store.delete_workspace_with_rows(id).await;
            store.end_deletion(row, deleted).await
        })
        .await
    }

    async fn delete_workspace_with_rows(&self, id: WorkspaceId) -> StoreResult<u64> {
        const SCANS: &str = "SELECT id FROM scans WHERE workspace_id = $1";
        // Before the imports: their deletion changes each scan that names one of them. Imports that
        // remain after an interruption are claimed again.
        self.delete_scans(SCANS, id.0).await?;
        self.delete_captures("SELECT id FROM loggers WHERE workspace_id = $1", id.0)
            .await?;
        self.delete_reports_of(id).await?;
        self.delete_imports_of(id).await?;
        self.delete_purged(id).await?;
        // Those that were stopped with the decision.
        self.delete_scans(SCANS, id.0).await?;
        self.delete_unscanned_targets(id).await?;
        self.execute(sql("DELETE FROM workspaces WHERE id = $1").bind(id.0))
            .await
    }

    /// The workspace of requests that do not name one.
    pub async fn current_workspace(&self) -> StoreResult<WorkspaceId> {
        let id: String = sql("SELECT value FROM settings WHERE name = 'current_workspace'")
            .one(self.read())
            .await?;
        Ok(WorkspaceId(id.parse().unwrap_or(1)))
    }

    /// Selects the current workspace; false when it does not exist.
    pub async fn set_current_workspace(&self, id: WorkspaceId) -> StoreResult<bool> {
        let update = sql(
            "UPDATE settings SET value = $1 WHERE name = 'current_workspace'
                AND EXISTS (SELECT 1 FROM workspaces WHERE id = $2)",
        );
        let update = update.bind(id.to_string()).bind(id.0);
        Ok(self.execute(update).await? > 0)
    }
}
