//! Targets in the store. Callers pass canonical names.

use super::deletion::DeletedNoun;
use super::sql::{SqlRow, sql};
use super::{Store, StoreResult, WriteTransaction, text};
use scandeck_wire::contract::target_tags::{MOST_TAGS, TagChange};
use scandeck_wire::contract::{Shared, Target, TargetId, TargetType, WorkspaceId};

fn target_of(row: &SqlRow) -> StoreResult<Target> {
    Ok(Target {
        id: TargetId(row.get("id")?),
        name: text(row, "name")?,
        kind: TargetType::from(row.get::<&str>("type")?),
        description: text(row, "description")?,
        workspace_id: WorkspaceId(row.get("workspace_id")?),
        tags: tags_of(row)?,
    })
}

/// The tags of a target, sorted.
fn tags_of(row: &SqlRow) -> StoreResult<Vec<Shared>> {
    let tags: &str = row.get("tags")?;
    Ok(tags.split_whitespace().map(Shared::from).collect())
}

const SELECT: &str =
    "SELECT id, workspace_id, name, type, description, tags FROM targets WHERE true";

/// The filter of a target list.
#[derive(Clone, Debug, Default)]
pub struct TargetFilter {
    pub workspace: Option<WorkspaceId>,
    pub kind: Option<TargetType>,
    pub limit: i64,
    pub offset: i64,
}

#[derive(Clone, Debug)]
pub struct TargetToAdd<'a> {
    pub workspace: WorkspaceId,
    pub name: &'a str,
    pub kind: TargetType,
    pub description: &'a str,
}

/// The result of adding a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedTarget {
    New(TargetId),
    Existing(TargetId),
    LimitReached,
    NoWorkspace,
}

/// The result of a change of tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangedTags {
    /// The tags of the target now.
    Tags(Vec<Shared>),
    NotFound,
    LimitReached,
}

/// The result of deleting a target or a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    Done,
    NotFound,
    /// A scan is waiting or running.
    Active,
}

impl Store {
    /// Targets in the order of their ids.
    pub async fn targets(&self, filter: &TargetFilter) -> StoreResult<Vec<Target>> {
        sql(SELECT)
            .push_condition("workspace_id =", filter.workspace.map(|id| id.0))
            .push_condition("type =", filter.kind.as_ref().map(TargetType::as_str))
            .push(" ORDER BY id LIMIT ")
            .push_bind(filter.limit)
            .push(" OFFSET ")
            .push_bind(filter.offset)
            .all_as(self.read(), target_of)
            .await
    }

    pub async fn target(&self, id: TargetId) -> StoreResult<Option<Target>> {
        sql(SELECT)
            .push_condition("id =", Some(id.0))
            .optional_as(self.read(), target_of)
            .await
    }

    /// Adds a target unless it exists or the service has `limit` targets.
    pub async fn add_target(
        &self,
        target: &TargetToAdd<'_>,
        limit: usize,
    ) -> StoreResult<AddedTarget> {
        let mut change = self.change().await?;
        let added = add_target(&mut change, target, limit).await?;
        if matches!(added, AddedTarget::New(_)) {
            change.commit().await?;
        }
        Ok(added)
    }

    /// Changes the tags of a target, unless it then has too many.
    pub async fn change_target_tags(
        &self,
        id: TargetId,
        tag_change: &TagChange,
    ) -> StoreResult<ChangedTags> {
        let mut change = self.change().await?;
        let stored = sql("SELECT tags FROM targets WHERE id = $1 FOR UPDATE")
            .bind(id.0)
            .optional_as(&mut change, tags_of)
            .await?;
        let Some(stored) = stored else {
            return Ok(ChangedTags::NotFound);
        };
        let tags = tag_change.applied_to(&stored);
        if tags.len() > MOST_TAGS {
            return Ok(ChangedTags::LimitReached);
        }
        if tags != stored {
            sql("UPDATE targets SET tags = $1 WHERE id = $2")
                .bind(tags.join(" "))
                .bind(id.0)
                .execute(&mut change)
                .await?;
            change.commit().await?;
        }
        Ok(ChangedTags::Tags(tags))
    }

    /// Deletes a target and its scans, in batches, unless one of its scans is active. The decision
    /// is one transaction: from then on the target receives no new scan.
    pub async fn delete_target(&self, id: TargetId) -> StoreResult<Deletion> {
        self.to_its_end(move |store| async move {
            let mut decision = store.change().await?;
            let (exists, active): (bool, bool) = sql(
                "SELECT EXISTS (SELECT 1 FROM targets WHERE id = $1), EXISTS (SELECT 1 FROM jobs
                    JOIN scans ON scans.id = jobs.scan_id WHERE scans.target_id = $1)",
            )
            .bind(id.0)
            .one(&mut decision)
            .await?;
            match (exists, active) {
                (false, _) => return Ok(Deletion::NotFound),
                (true, true) => return Ok(Deletion::Active),
                (true, false) => {}
            }
            let noun = DeletedNoun::Target(id);
            let row = store.begin_deletion(decision, noun).await?;
            let deleted = store.delete_target_with_results(id).await;
            Ok(match store.end_deletion(row, deleted).await? {
                true => Deletion::Done,
                false => Deletion::NotFound,
            })
        })
        .await
    }

    async fn delete_target_with_results(&self, id: TargetId) -> StoreResult<u64> {
        self.delete_scans("SELECT id FROM scans WHERE target_id = $1", id.0)
            .await?;
        let deleted = self
            .execute(sql("DELETE FROM targets WHERE id = $1").bind(id.0))
            .await?;
        self.sweep_import_parts().await?;
        Ok(deleted)
    }
}

pub(super) async fn add_target(
    change: &mut WriteTransaction,
    target: &TargetToAdd<'_>,
    limit: usize,
) -> StoreResult<AddedTarget> {
    let workspace: Option<i64> = sql("SELECT id FROM workspaces WHERE id = $1
            AND NOT EXISTS (SELECT 1 FROM deletions WHERE workspace_id = $1)")
    .bind(target.workspace.0)
    .optional(&mut *change)
    .await?;
    if workspace.is_none() {
        return Ok(AddedTarget::NoWorkspace);
    }
    let existing: Option<i64> = sql("SELECT id FROM targets WHERE workspace_id = $1 AND name = $2")
        .bind(target.workspace.0)
        .bind(target.name)
        .optional(&mut *change)
        .await?;
    if let Some(id) = existing {
        return Ok(AddedTarget::Existing(TargetId(id)));
    }
    let count: i64 = sql("SELECT number FROM counts WHERE noun = 'targets'")
        .one(&mut *change)
        .await?;
    if usize::try_from(count).unwrap_or(usize::MAX) >= limit {
        return Ok(AddedTarget::LimitReached);
    }
    let id: i64 = sql(
        "INSERT INTO targets (workspace_id, name, type, description) VALUES ($1, $2, $3, $4) RETURNING id",
    )
    .bind(target.workspace.0)
    .bind(target.name)
    .bind(target.kind.as_str())
    .bind(target.description)
    .one(change)
    .await?;
    Ok(AddedTarget::New(TargetId(id)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{add_target, open};
    use super::*;

    #[tokio::test]
    async fn tags_are_added_removed_and_limited() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let target = add_target(&store, WorkspaceId(1), "a").await;
        let change = async |words: &[&str]| {
            let change = TagChange::parse(words.iter().copied()).unwrap();
            store.change_target_tags(target, &change).await.unwrap()
        };
        let tags =
            |tags: &[&str]| ChangedTags::Tags(tags.iter().map(|tag| Shared::from(*tag)).collect());
        assert_eq!(change(&["prod", "web"]).await, tags(&["prod", "web"]));
        assert_eq!(change(&["-web", "api"]).await, tags(&["api", "prod"]));
        let stored = store.target(target).await.unwrap().unwrap();
        assert_eq!(stored.tags, ["api", "prod"]);
        let names: Vec<String> = (0..MOST_TAGS).map(|number| format!("t{number}")).collect();
        let many: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(change(&many).await, ChangedTags::LimitReached);
        assert_eq!(change(&[]).await, tags(&["api", "prod"]));
        let nothing = TagChange::default();
        let missing = store.change_target_tags(TargetId(99), &nothing);
        assert_eq!(missing.await.unwrap(), ChangedTags::NotFound);
    }

    #[tokio::test]
    async fn number_of_targets_follows_additions_deletions_and_deleted_workspaces() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let other = store.add_workspace("b", "").await.unwrap().unwrap();
        let first = add_target(&store, WorkspaceId(1), "a").await;
        for name in ["a", "b", "c"] {
            add_target(&store, other, name).await;
        }
        let add = async |name| {
            let target = TargetToAdd {
                workspace: WorkspaceId(1),
                name,
                kind: TargetType::Hostname,
                description: "",
            };
            store.add_target(&target, 4).await.unwrap()
        };
        assert_eq!(add("d").await, AddedTarget::LimitReached);
        assert_eq!(add("a").await, AddedTarget::Existing(first));
        store.delete_target(first).await.unwrap();
        assert!(matches!(add("d").await, AddedTarget::New(_)));
        assert_eq!(add("e").await, AddedTarget::LimitReached);
        assert!(store.delete_workspace(other).await.unwrap());
        for name in ["e", "f", "g"] {
            assert!(matches!(add(name).await, AddedTarget::New(_)));
        }
        assert_eq!(add("h").await, AddedTarget::LimitReached);
    }
}
