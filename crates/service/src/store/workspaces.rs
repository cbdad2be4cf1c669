//! Workspaces in the store.

use jiff::Timestamp;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::deletion::DeletedNoun;
use super::{Store, StoreResult, is_duplicate, jobs, team, text};
use scandeck_wire::contract::{EditWorkspace, Workspace, WorkspaceId};

fn workspace_of(row: SqliteRow) -> StoreResult<Workspace> {
    Ok(Workspace {
        id: WorkspaceId(row.try_get("id")?),
        name: text(&row, "name")?,
        description: text(&row, "description")?,
        scan_count: row.try_get("scan_count")?,
        target_count: row.try_get("target_count")?,
    })
}

const SELECT: &str = "SELECT id, name, description,
    (SELECT count(*) FROM scans WHERE workspace_id = workspaces.id) AS scan_count,
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
        sqlx::query(SELECT)
            .bind(None::<i64>)
            .try_map(workspace_of)
            .fetch_all(self.read())
            .await
    }

    pub async fn workspace(&self, id: WorkspaceId) -> StoreResult<Option<Workspace>> {
        sqlx::query(SELECT)
            .bind(id.0)
            .try_map(workspace_of)
            .fetch_optional(self.read())
            .await
    }

    /// Creates a workspace; returns `None` when the name is taken.
    pub async fn add_workspace(
        &self,
        name: &str,
        description: &str,
    ) -> StoreResult<Option<WorkspaceId>> {
        let mut change = self.change().await?;
        let added = sqlx::query_scalar(
            "INSERT INTO workspaces (name, name_key, description) VALUES ($1, $2, $3) RETURNING id",
        )
        .bind(name.trim())
        .bind(name_key(name))
        .bind(description)
        .fetch_one(&mut *change)
        .await;
        match added {
            Ok(id) => {
                change.commit().await?;
                Ok(Some(WorkspaceId(id)))
            }
            Err(error) if is_duplicate(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Changes name, description or both.
    pub async fn edit_workspace(
        &self,
        id: WorkspaceId,
        edit: &EditWorkspace,
    ) -> StoreResult<WorkspaceEdit> {
        let update = sqlx::query(
            "UPDATE workspaces SET name = coalesce($1, name), name_key = coalesce($2, name_key),
                description = coalesce($3, description) WHERE id = $4",
        )
        .bind(edit.name.as_deref().map(str::trim))
        .bind(edit.name.as_deref().map(name_key))
        .bind(&edit.description)
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
    pub async fn delete_workspace(&self, id: WorkspaceId, now: Timestamp) -> StoreResult<bool> {
        self.to_its_end(move |store| async move {
            let mut decision = store.change().await?;
            let exists: bool =
                sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM workspaces WHERE id = $1)")
                    .bind(id.0)
                    .fetch_one(&mut *decision)
                    .await?;
            if !exists {
                return Ok(false);
            }
            jobs::request_stops(&mut decision, id).await?;
            // Members send everything again if the deletion is interrupted: their positions would
            // mean a log with holes.
            team::end_epoch(&mut decision, id).await?;
            let noun = DeletedNoun::Workspace(id);
            let row = store.begin_deletion(decision, noun, now).await?;
            let deleted = store.delete_workspace_with_rows(id).await;
            store.end_deletion(row, deleted).await
        })
        .await
    }

    async fn delete_workspace_with_rows(&self, id: WorkspaceId) -> StoreResult<u64> {
        self.delete_results("SELECT id FROM scans WHERE workspace_id = $1", id.0)
            .await?;
        self.delete_captures("SELECT id FROM loggers WHERE workspace_id = $1", id.0)
            .await?;
        self.delete_reports_of(id).await?;
        self.delete_purged(id).await?;
        self.execute(sqlx::query("DELETE FROM workspaces WHERE id = $1").bind(id.0))
            .await
    }

    /// The workspace of requests that do not name one.
    pub async fn current_workspace(&self) -> StoreResult<WorkspaceId> {
        let id: String =
            sqlx::query_scalar("SELECT value FROM settings WHERE name = 'current_workspace'")
                .fetch_one(self.read())
                .await?;
        Ok(WorkspaceId(id.parse().unwrap_or(1)))
    }

    /// Selects the current workspace; false when it does not exist.
    pub async fn set_current_workspace(&self, id: WorkspaceId) -> StoreResult<bool> {
        let update = sqlx::query(
            "UPDATE settings SET value = $1 WHERE name = 'current_workspace'
                AND EXISTS (SELECT 1 FROM workspaces WHERE id = $1)",
        );
        Ok(self.execute(update.bind(id.to_string())).await? > 0)
    }
}
