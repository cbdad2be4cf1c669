//! Workspaces in the store.

use sqlx::FromRow;

use super::{Store, StoreResult, is_taken};
use crate::contract::{EditWorkspace, Workspace, WorkspaceId};

#[derive(FromRow)]
struct WorkspaceRow {
    id: i64,
    name: String,
    description: String,
    scan_count: i64,
    target_count: i64,
}

impl From<WorkspaceRow> for Workspace {
    fn from(row: WorkspaceRow) -> Self {
        Self {
            id: row.id.into(),
            name: row.name.into(),
            description: row.description.into(),
            scan_count: row.scan_count,
            target_count: row.target_count,
        }
    }
}

const SELECT: &str = "SELECT id, name, description,
    (SELECT count(*) FROM scans WHERE workspace_id = workspaces.id) AS scan_count,
    (SELECT count(*) FROM targets WHERE workspace_id = workspaces.id) AS target_count
    FROM workspaces WHERE ?1 IS NULL OR id = ?1 ORDER BY id";

/// What became of a change of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edited {
    /// Done.
    Done,
    /// There is no such workspace.
    Missing,
    /// Another one has the name.
    NameTaken,
}

/// Names are equal when they are after this.
fn key(name: &str) -> String {
    name.trim().to_lowercase()
}

impl Store {
    /// All workspaces.
    pub async fn workspaces(&self) -> StoreResult<Vec<Workspace>> {
        let rows: Vec<WorkspaceRow> = sqlx::query_as(SELECT).bind(None::<i64>).fetch_all(self.read()).await?;
        Ok(rows.into_iter().map(Workspace::from).collect())
    }

    /// One workspace.
    pub async fn workspace(&self, id: WorkspaceId) -> StoreResult<Option<Workspace>> {
        let row: Option<WorkspaceRow> = sqlx::query_as(SELECT).bind(id.0).fetch_optional(self.read()).await?;
        Ok(row.map(Workspace::from))
    }

    /// Makes a workspace; nothing when the name is taken.
    pub async fn add_workspace(&self, name: &str, description: &str) -> StoreResult<Option<WorkspaceId>> {
        let mut change = self.change().await?;
        let added =
            sqlx::query_scalar("INSERT INTO workspaces (name, name_key, description) VALUES (?, ?, ?) RETURNING id")
                .bind(name.trim())
                .bind(key(name))
                .bind(description)
                .fetch_one(&mut *change)
                .await;
        match added {
            Ok(id) => {
                change.commit().await?;
                Ok(Some(WorkspaceId(id)))
            }
            Err(error) if is_taken(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Changes name, description or both.
    pub async fn edit_workspace(&self, id: WorkspaceId, edit: &EditWorkspace) -> StoreResult<Edited> {
        let mut change = self.change().await?;
        let done = sqlx::query(
            "UPDATE workspaces SET name = coalesce(?, name), name_key = coalesce(?, name_key),
                description = coalesce(?, description) WHERE id = ?",
        )
        .bind(edit.name.as_deref().map(str::trim))
        .bind(edit.name.as_deref().map(key))
        .bind(&edit.description)
        .bind(id.0)
        .execute(&mut *change)
        .await;
        match done {
            Ok(done) if done.rows_affected() == 0 => Ok(Edited::Missing),
            Ok(_) => {
                change.commit().await?;
                Ok(Edited::Done)
            }
            Err(error) if is_taken(&error) => Ok(Edited::NameTaken),
            Err(error) => Err(error),
        }
    }

    /// Deletes a workspace with all that belongs to it; false when there is none.
    pub async fn delete_workspace(&self, id: WorkspaceId) -> StoreResult<bool> {
        let mut change = self.change().await?;
        let done = sqlx::query("DELETE FROM workspaces WHERE id = ?").bind(id.0).execute(&mut *change).await?;
        change.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    /// The workspace that requests without `workspace_id` mean.
    pub async fn current_workspace(&self) -> StoreResult<WorkspaceId> {
        let id: String = sqlx::query_scalar("SELECT value FROM settings WHERE name = 'current_workspace'")
            .fetch_one(self.read())
            .await?;
        Ok(WorkspaceId(id.parse().unwrap_or(1)))
    }

    /// Makes another workspace the current one; false when there is none with this id.
    pub async fn set_current_workspace(&self, id: WorkspaceId) -> StoreResult<bool> {
        if self.workspace(id).await?.is_none() {
            return Ok(false);
        }
        let mut change = self.change().await?;
        sqlx::query("UPDATE settings SET value = ? WHERE name = 'current_workspace'")
            .bind(id.to_string())
            .execute(&mut *change)
            .await?;
        change.commit().await?;
        Ok(true)
    }
}
