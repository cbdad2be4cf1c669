//! Targets in the store. Names are canonical before they come here.

use sqlx::{FromRow, QueryBuilder, SqliteConnection};

use super::{Store, StoreResult};
use crate::contract::{Target, TargetId, TargetType, WorkspaceId};

#[derive(FromRow)]
struct TargetRow {
    id: i64,
    workspace_id: i64,
    name: String,
    r#type: String,
    description: String,
}

impl From<TargetRow> for Target {
    fn from(row: TargetRow) -> Self {
        Self {
            id: row.id.into(),
            name: row.name.into(),
            kind: TargetType::from(row.r#type.as_str()),
            description: row.description.into(),
            workspace_id: row.workspace_id.into(),
        }
    }
}

/// Which targets are listed.
#[derive(Clone, Debug, Default)]
pub struct TargetFilter {
    pub workspace: Option<WorkspaceId>,
    pub kind: Option<TargetType>,
    pub limit: i64,
    pub offset: i64,
}

/// A target to be made.
#[derive(Clone, Debug)]
pub struct TargetToAdd<'a> {
    pub workspace: WorkspaceId,
    pub name: &'a str,
    pub kind: TargetType,
    pub description: &'a str,
}

/// What became of a new target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// Made.
    New(TargetId),
    /// It was there already.
    Known(TargetId),
    /// The service keeps as many as it may.
    TooMany,
    /// There is no such workspace.
    NoWorkspace,
}

/// What became of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// Done.
    Done,
    /// There is no such thing.
    Missing,
    /// A scan is waiting or running.
    Active,
}

impl Store {
    /// Targets by id.
    pub async fn targets(&self, filter: &TargetFilter) -> StoreResult<Vec<Target>> {
        let mut query = QueryBuilder::new("SELECT id, workspace_id, name, type, description FROM targets WHERE 1");
        if let Some(workspace) = filter.workspace {
            query.push(" AND workspace_id = ").push_bind(workspace.0);
        }
        if let Some(kind) = &filter.kind {
            query.push(" AND type = ").push_bind(kind.as_str().to_owned());
        }
        query.push(" ORDER BY id LIMIT ").push_bind(filter.limit).push(" OFFSET ").push_bind(filter.offset);
        let rows: Vec<TargetRow> = query.build_query_as().fetch_all(self.read()).await?;
        Ok(rows.into_iter().map(Target::from).collect())
    }

    /// One target.
    pub async fn target(&self, id: TargetId) -> StoreResult<Option<Target>> {
        let row: Option<TargetRow> =
            sqlx::query_as("SELECT id, workspace_id, name, type, description FROM targets WHERE id = ?")
                .bind(id.0)
                .fetch_optional(self.read())
                .await?;
        Ok(row.map(Target::from))
    }

    /// Makes a target unless it is there, or `most` are.
    pub async fn add_target(&self, target: &TargetToAdd<'_>, most: usize) -> StoreResult<Added> {
        let mut change = self.change().await?;
        let added = add_target(&mut change, target, most).await?;
        if matches!(added, Added::New(_)) {
            change.commit().await?;
        }
        Ok(added)
    }

    /// Deletes a target with its scans.
    pub async fn delete_target(&self, id: TargetId) -> StoreResult<Deleted> {
        let mut change = self.change().await?;
        let active: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM jobs JOIN scans ON scans.id = jobs.scan_id WHERE scans.target_id = ?",
        )
        .bind(id.0)
        .fetch_one(&mut *change)
        .await?;
        if active > 0 {
            return Ok(Deleted::Active);
        }
        let done = sqlx::query("DELETE FROM targets WHERE id = ?").bind(id.0).execute(&mut *change).await?;
        change.commit().await?;
        Ok(if done.rows_affected() == 0 { Deleted::Missing } else { Deleted::Done })
    }
}

pub(super) async fn add_target(
    connection: &mut SqliteConnection,
    target: &TargetToAdd<'_>,
    most: usize,
) -> StoreResult<Added> {
    let workspace: Option<i64> = sqlx::query_scalar("SELECT id FROM workspaces WHERE id = ?")
        .bind(target.workspace.0)
        .fetch_optional(&mut *connection)
        .await?;
    if workspace.is_none() {
        return Ok(Added::NoWorkspace);
    }
    let known: Option<i64> = sqlx::query_scalar("SELECT id FROM targets WHERE workspace_id = ? AND name = ?")
        .bind(target.workspace.0)
        .bind(target.name)
        .fetch_optional(&mut *connection)
        .await?;
    if let Some(id) = known {
        return Ok(Added::Known(TargetId(id)));
    }
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM targets").fetch_one(&mut *connection).await?;
    if usize::try_from(count).unwrap_or(usize::MAX) >= most {
        return Ok(Added::TooMany);
    }
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO targets (workspace_id, name, type, description) VALUES (?, ?, ?, ?) RETURNING id",
    )
    .bind(target.workspace.0)
    .bind(target.name)
    .bind(target.kind.as_str())
    .bind(target.description)
    .fetch_one(connection)
    .await?;
    Ok(Added::New(TargetId(id)))
}
