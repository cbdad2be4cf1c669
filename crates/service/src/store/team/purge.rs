//! Deletion of all decisions and payloads of a workspace, so that no text of them remains in the
//! database file or in its log.

use jiff::Timestamp;

use super::push::lock_log;
use crate::store::{Store, StoreResult, millis, stamp};
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
            let batches = store.delete_shared(workspace).await?;
            let mut change = store.change().await?;
            let Some(head) = lock_log(&mut change, workspace).await? else {
                return Ok(None);
            };
            let mut rows = batches.map(|rows| rows as i64);
            // Rows that arrived meanwhile.
            for (rows, delete) in rows.iter_mut().zip([
                "DELETE FROM shared_events WHERE workspace_id = $1",
                "DELETE FROM shared_payloads WHERE workspace_id = $1",
            ]) {
                let deleted = sqlx::query(delete).bind(workspace.0);
                *rows += deleted.execute(&mut *change).await?.rows_affected() as i64;
            }
            let (epoch, [events, payloads]) = (head.epoch + 1, rows);
            sqlx::query(
                "UPDATE event_logs SET epoch = $2, last = 0, last_payload = 0, bytes = 0 WHERE workspace_id = $1",
            )
            .bind(workspace.0)
            .bind(epoch)
            .execute(&mut *change)
            .await?;
            sqlx::query(
                "INSERT INTO purges (workspace_id, epoch, key_name, at, events, payloads)
                 VALUES ($1, $2, $3, $4, $5, $6)",
            )
            .bind(workspace.0)
            .bind(epoch)
            .bind(&key)
            .bind(millis(now))
            .bind(events)
            .bind(payloads)
            .execute(&mut *change)
            .await?;
            change.commit().await?;
            store.checkpoints.empty_log().await;
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
}
