//! Decisions and payloads that a team shares: a log of events and one of payloads for each
//! workspace.
//!
//! ```text
//!   push ──► log locked ─► new rows, at the next positions ─► a client that reads after a position misses none
//!   purge ─► a new epoch and who began it, in one transaction ─► rows of the old one deleted in batches
//! ```
//!
//! Positions of the tables go on in a new epoch, so that its rows differ from those that are still
//! to be deleted; clients see positions from 1.
//!
//! Texts remain as they arrived. Of an event the store knows its id and its clock, of a payload its
//! token and its version; only clients interpret the rest.

mod known;
mod purge;
mod push;
#[cfg(test)]
mod tests;
mod viewers;

use std::path::Path;

use jiff::Timestamp;
use serde_json::value::RawValue;

pub(super) use purge::end_epoch;
pub use push::{
    EventToAdd, LogAccess, MOST_AHEAD, MOST_LOG_BYTES, PayloadToAdd, Push, PushedLine,
    SharedEventId,
};
pub use viewers::DashboardView;

use super::sql::{Executor, ReadRow, SqlRow, sql};
use super::{DatabaseError, Store, StoreResult, stamp};
use crate::errors::StartError;
use scandeck_wire::contract::team::{EventPage, PayloadPage, Purged, StoredEvent, StoredPayload};
use scandeck_wire::contract::{Shared, WorkspaceId};

/// Bytes of texts at which a page ends before its limit.
const PAGE_BYTES: usize = 1 << 20;

/// The state of the log of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LogHead {
    pub epoch: i64,
    /// The last positions of events and of payloads.
    pub last: i64,
    pub last_payload: i64,
    /// The greatest clock of an event.
    pub clock: i64,
    /// The bytes of all texts.
    pub bytes: i64,
    /// Rows of the tables up to these positions are purged; those of the epoch follow them.
    pub purged: i64,
    pub purged_payload: i64,
}

impl ReadRow for LogHead {
    fn read(row: &SqlRow) -> StoreResult<Self> {
        Ok(Self {
            epoch: row.get("epoch")?,
            last: row.get("last")?,
            last_payload: row.get("last_payload")?,
            clock: row.get("clock")?,
            bytes: row.get("bytes")?,
            purged: row.get("purged")?,
            purged_payload: row.get("purged_payload")?,
        })
    }
}

impl Store {
    /// The random id of this database.
    pub async fn service_id(&self) -> StoreResult<Shared> {
        let id: String = sql("SELECT value FROM settings WHERE name = 'service_id'")
            .one(self.read())
            .await?;
        Ok(id.into())
    }

    /// The state of a log; `None` when the workspace does not exist.
    pub async fn log_head(&self, workspace: WorkspaceId) -> StoreResult<Option<LogHead>> {
        head(self.read(), workspace).await
    }

    /// Events after a position, without viewers; `None` when the workspace does not exist.
    pub async fn event_page(
        &self,
        workspace: WorkspaceId,
        after: i64,
        limit: i64,
    ) -> StoreResult<Option<EventPage>> {
        // A purge in between would give the epoch of one log and the rows of another.
        let mut snapshot = self.snapshot().await?;
        let Some(head) = head(&mut snapshot, workspace).await? else {
            return Ok(None);
        };
        const EVENTS: &str = "SELECT position, key_name, json FROM shared_events
            WHERE workspace_id = $1 AND position > $2 ORDER BY position LIMIT $3";
        let range = LogRange {
            workspace,
            purged: head.purged,
            after,
            limit,
        };
        let events = range.read(&mut snapshot, EVENTS).await?;
        let event = |row: SharedRow| StoredEvent {
            position: row.position,
            key: row.key,
            event: row.json,
        };
        Ok(Some(EventPage {
            epoch: head.epoch,
            last: head.last,
            last_payload: head.last_payload,
            events: events.into_iter().map(event).collect(),
            viewers: Vec::new(),
            purged: last_purge(&mut snapshot, workspace).await?,
        }))
    }

    /// Payloads after a position; `None` when the workspace does not exist.
    pub async fn payload_page(
        &self,
        workspace: WorkspaceId,
        after: i64,
        limit: i64,
    ) -> StoreResult<Option<PayloadPage>> {
        let mut snapshot = self.snapshot().await?;
        let Some(head) = head(&mut snapshot, workspace).await? else {
            return Ok(None);
        };
        const PAYLOADS: &str = "SELECT position, key_name, json FROM shared_payloads
            WHERE workspace_id = $1 AND position > $2 ORDER BY position LIMIT $3";
        let range = LogRange {
            workspace,
            purged: head.purged_payload,
            after,
            limit,
        };
        let payloads = range.read(&mut snapshot, PAYLOADS).await?;
        let payload = |row: SharedRow| StoredPayload {
            position: row.position,
            key: row.key,
            payload: row.json,
        };
        Ok(Some(PayloadPage {
            epoch: head.epoch,
            last: head.last_payload,
            payloads: payloads.into_iter().map(payload).collect(),
        }))
    }

    /// Begins an epoch in each log of a restored database, of this schema or an older one: positions
    /// after those of the backup are given again. The number is larger than one of an epoch that
    /// began after the backup.
    ///
    /// # Errors
    /// [`StartError::Database`] when the file cannot be opened, [`StartError::Store`] when it cannot
    /// be written.
    pub async fn begin_epochs(file: &Path, now: Timestamp) -> Result<(), StartError> {
        let store = Self::open_as_it_is(file).await?;
        let ready = match store.new_epochs(now).await {
            Ok(()) => store.delete_nodes().await,
            failed => failed,
        };
        store.close().await;
        ready.map_err(StartError::Store)
    }

    async fn new_epochs(&self, now: Timestamp) -> StoreResult<()> {
        let has_logs: bool =
            sql("SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'event_logs')")
                .one(self.read())
                .await?;
        if has_logs {
            let begin = sql(
                "INSERT INTO event_logs (workspace_id, epoch) SELECT id, $1 FROM workspaces WHERE true
                 ON CONFLICT (workspace_id) DO UPDATE SET epoch = max(event_logs.epoch + 1, excluded.epoch)",
            );
            self.execute(begin.bind(now.as_second())).await?;
        }
        Ok(())
    }
}

async fn head(on: impl Into<Executor<'_>>, workspace: WorkspaceId) -> StoreResult<Option<LogHead>> {
    sql(
        "SELECT coalesce(epoch, 1) AS epoch, coalesce(last - purged, 0) AS last,
            coalesce(last_payload - purged_payload, 0) AS last_payload, coalesce(clock, 0) AS clock,
            coalesce(bytes, 0) AS bytes, coalesce(purged, 0) AS purged,
            coalesce(purged_payload, 0) AS purged_payload
         FROM workspaces LEFT JOIN event_logs ON workspace_id = id WHERE id = $1",
    )
    .bind(workspace.0)
    .optional(on)
    .await
}

/// A row of either log.
struct SharedRow {
    position: i64,
    key: Shared,
    json: Box<RawValue>,
}

/// Rows of either log after a position of the epoch.
struct LogRange {
    workspace: WorkspaceId,
    /// The position of the table before the first one of the epoch.
    purged: i64,
    after: i64,
    limit: i64,
}

impl LogRange {
    async fn read(
        &self,
        on: impl Into<Executor<'_>>,
        text: &'static str,
    ) -> StoreResult<Vec<SharedRow>> {
        let (mut page, mut bytes) = (Vec::new(), 0);
        let mut add = |row: &SqlRow| {
            let (position, key, json) = <(i64, String, String)>::read(row)?;
            bytes += json.len();
            let json = RawValue::from_string(json)
                .map_err(|error| DatabaseError::Decode(Box::new(error)))?;
            page.push(SharedRow {
                position: position - self.purged,
                key: key.into(),
                json,
            });
            Ok(bytes < PAGE_BYTES)
        };
        let rows = sql(text)
            .bind(self.workspace.0)
            .bind(self.purged.saturating_add(self.after))
            .bind(self.limit);
        rows.fetch(on.into(), &mut add).await?;
        Ok(page)
    }
}

async fn last_purge(
    on: impl Into<Executor<'_>>,
    workspace: WorkspaceId,
) -> StoreResult<Option<Purged>> {
    let row: Option<(i64, String, i64, i64, i64)> =
        sql("SELECT epoch, key_name, at, events, payloads FROM purges
         WHERE workspace_id = $1 ORDER BY epoch DESC LIMIT 1")
        .bind(workspace.0)
        .optional(on)
        .await?;
    Ok(row.map(|(epoch, who, at, events, payloads)| Purged {
        epoch,
        who: who.into(),
        at: Some(stamp(at)),
        events,
        payloads,
    }))
}
