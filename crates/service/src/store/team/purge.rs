//! Deletion of all decisions and payloads of a workspace, so that no text of them remains in the
//! database file or in its log.
//!
//! ```text
//!   request ─► one transaction: new epoch, who and when ─► batches ─► log emptied ─► no longer purging
//!   start ─► logs that are purging ──────────────────────────┘
//! ```
//!
//! From the transaction on nobody reads the rows of the old epoch, so an interruption leaves no log
//! with holes.

use jiff::Timestamp;

use super::push::lock_log;
use crate::store::sql::sql;
use crate::store::{Store, StoreResult, WriteTransaction, millis, stamp};
use scandeck_wire::contract::WorkspaceId;
use scandeck_wire::contract::team::Purged;

impl Store {
    /// Deletes the events and payloads of a workspace; `None` when it does not exist. A new epoch
    /// begins: pushes from the old one are refused.
    pub async fn purge_log(
        &self,
        workspace: WorkspaceId,
        key: &str,
        now: Timestamp,
    ) -> StoreResult<Option<Purged>> {
        let key = key.to_owned();
        self.to_its_end(move |store| async move {
            let mut change = store.change().await?;
            let Some(epoch) = end_epoch(&mut change, workspace).await? else {
                return Ok(None);
            };
            let (events, payloads): (i64, i64) = sql(
                "INSERT INTO purges (workspace_id, epoch, key_name, at, events, payloads)
                 VALUES ($1, $2, $3, $4,
                    (SELECT count(*) FROM shared_events WHERE workspace_id = $1),
                    (SELECT count(*) FROM shared_payloads WHERE workspace_id = $1))
                 RETURNING events, payloads",
            )
            .bind(workspace.0)
            .bind(epoch)
            .bind(&key)
            .bind(millis(now))
            .one(&mut change)
            .await?;
            change.commit().await?;
            store.finish_purge(workspace, epoch).await?;
            Ok(Some(Purged {
                epoch,
                who: key.into(),
                at: Some(stamp(millis(now))),
                events,
                payloads,
            }))
        })
        .await
    }

    /// Continues the purges that were interrupted.
    pub async fn continue_purges(&self) -> StoreResult<()> {
        self.to_its_end(|store| async move {
            let logs: Vec<(i64, i64)> =
                sql("SELECT workspace_id, epoch FROM event_logs WHERE is_purging")
                    .all(store.read())
                    .await?;
            for (workspace, epoch) in logs {
                store.finish_purge(WorkspaceId(workspace), epoch).await?;
            }
            Ok(())
        })
        .await
    }

    /// Deletes the rows of the epochs before this one.
    async fn finish_purge(&self, workspace: WorkspaceId, epoch: i64) -> StoreResult<()> {
        self.delete_purged(workspace).await?;
        if !self.empty_log().await {
            // The next start tries again.
            return Ok(());
        }
        // Not if another purge began meanwhile.
        let finished =
            sql("UPDATE event_logs SET is_purging = false WHERE workspace_id = $1 AND epoch = $2");
        self.execute(finished.bind(workspace.0).bind(epoch))
            .await
            .map(drop)
    }
}

/// Begins an epoch without the rows before it, which are to be deleted; returns its number, `None`
/// when the workspace does not exist.
pub(in crate::store) async fn end_epoch(
    change: &mut WriteTransaction,
    workspace: WorkspaceId,
) -> StoreResult<Option<i64>> {
    if lock_log(change, workspace).await?.is_none() {
        return Ok(None);
    }
    let epoch = sql(
        "UPDATE event_logs SET epoch = epoch + 1, purged = last, purged_payload = last_payload,
            bytes = 0, is_purging = true
         WHERE workspace_id = $1 RETURNING epoch",
    );
    epoch.bind(workspace.0).one(&mut *change).await.map(Some)
}
