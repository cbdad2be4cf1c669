//! Pushes of members: the store adds new lines, and reports the result of each line.
//!
//! ```text
//!   log locked ─► purged rows deleted ─► known: is each line new? why not? ─► rows
//! ```
//!
//! A line may be sent again, because a client that received no answer repeats it: the first event
//! of an id remains, and the greatest version of a payload.

use std::fmt;

use super::LogHead;
use super::known::{KnownEvents, KnownPayloads, SortedPush};
use crate::store::sql::{SqlValue, sql};
use crate::store::{Store, StoreResult, WriteTransaction};
use scandeck_wire::contract::{Shared, WorkspaceId};

/// How far a clock or a version may be above the greatest one of the service: a hostile number near
/// the end of the range would leave none for the others.
pub const MOST_AHEAD: u64 = 1_000_000;

/// The most bytes of texts in the logs of a workspace, 1 GiB: a key must not fill the disk.
pub const MOST_LOG_BYTES: i64 = 1 << 30;

/// The workspace that a key writes to.
#[derive(Clone, Copy, Debug)]
pub struct LogAccess<'a> {
    pub workspace: WorkspaceId,
    /// The epoch that the client knows.
    pub epoch: i64,
    /// The name of the key.
    pub key: &'a str,
}

/// The instance that wrote an event, and the number of the event there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SharedEventId {
    pub instance: u64,
    pub number: u64,
}

impl fmt::Display for SharedEventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.instance, self.number)
    }
}

/// An event to store.
#[derive(Clone, Debug)]
pub struct EventToAdd {
    pub id: SharedEventId,
    pub clock: u64,
    pub json: String,
}

/// A payload to store.
#[derive(Clone, Debug)]
pub struct PayloadToAdd {
    pub token: Shared,
    pub version: u64,
    pub json: String,
}

/// The result of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Push {
    Done {
        /// The last position of the log.
        last: i64,
        /// In the order in which they were sent.
        lines: Vec<PushedLine>,
    },
    /// The workspace is in this epoch; nothing was stored.
    OtherEpoch(i64),
    /// The logs would have more than [`MOST_LOG_BYTES`]; nothing was stored.
    Full,
    NoWorkspace,
}

/// The result of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PushedLine {
    New,
    /// The same event, or this or a greater version of the payload, is stored.
    Known,
    /// Another workspace has it.
    OtherWorkspace,
    /// The events of its instance belong to this key, which is not revoked.
    OtherKey(String),
    /// More than [`MOST_AHEAD`] above this clock or version.
    TooFarAhead(u64),
}

impl Store {
    /// Stores new events.
    pub async fn push_events(&self, to: LogAccess<'_>, events: &[EventToAdd]) -> StoreResult<Push> {
        let mut change = self.change().await?;
        let head = match locked(&mut change, to).await? {
            Ok(head) => head,
            Err(refused) => return Ok(refused),
        };
        forget_purged_events(&mut change, events).await?;
        let known = KnownEvents::load(&mut change, events).await?;
        let SortedPush { new, lines, bytes } = known.sort(to, events);
        let last = head.last + new.len() as i64;
        if head.bytes + bytes > MOST_LOG_BYTES {
            return Ok(Push::Full);
        }
        if !new.is_empty() {
            add_events(&mut change, to, head.purged + head.last, &new).await?;
            let clock = new
                .iter()
                .map(|event| event.clock as i64)
                .max()
                .unwrap_or(0)
                .max(head.clock);
            sql(
                "UPDATE event_logs SET last = purged + $2, clock = $3, bytes = bytes + $4 WHERE workspace_id = $1",
            )
            .bind(to.workspace.0)
            .bind(last)
            .bind(clock)
            .bind(bytes)
            .execute(&mut change)
            .await?;
            change.commit().await?;
        }
        Ok(Push::Done { last, lines })
    }

    /// Stores payloads, each instead of its lesser version. Of two texts with one version, the
    /// greater one remains, on every machine.
    pub async fn push_payloads(
        &self,
        to: LogAccess<'_>,
        payloads: &[PayloadToAdd],
    ) -> StoreResult<Push> {
        let mut change = self.change().await?;
        let head = match locked(&mut change, to).await? {
            Ok(head) => head,
            Err(refused) => return Ok(refused),
        };
        forget_purged_payloads(&mut change, payloads).await?;
        let known = KnownPayloads::load(&mut change, payloads).await?;
        let SortedPush { new, lines, bytes } = known.sort(to, payloads);
        let last = head.last_payload + new.len() as i64;
        if head.bytes + bytes > MOST_LOG_BYTES {
            return Ok(Push::Full);
        }
        if !new.is_empty() {
            let before = head.purged_payload + head.last_payload;
            replace_payloads(&mut change, to, before, &new).await?;
            let version = new.iter().map(|payload| payload.version as i64).max();
            sql(
                "UPDATE event_logs SET last_payload = purged_payload + $2, bytes = bytes + $3,
                    version = CASE WHEN version < $4 THEN $4 ELSE version END
                 WHERE workspace_id = $1",
            )
            .bind(to.workspace.0)
            .bind(last)
            .bind(bytes)
            .bind(version)
            .execute(&mut change)
            .await?;
            change.commit().await?;
        }
        Ok(Push::Done { last, lines })
    }
}

/// The log of a workspace, locked in the epoch that the client knows.
async fn locked(
    change: &mut WriteTransaction,
    to: LogAccess<'_>,
) -> StoreResult<Result<LogHead, Push>> {
    Ok(match lock_log(change, to.workspace).await? {
        None => Err(Push::NoWorkspace),
        Some(head) if head.epoch != to.epoch => Err(Push::OtherEpoch(head.epoch)),
        Some(head) => Ok(head),
    })
}

/// Locks the log of a workspace until the end of the transaction, and adds its row; `None` when the
/// workspace does not exist or is being deleted.
///
/// The write transaction is the lock. Code that assigns positions locks the log first.
pub(super) async fn lock_log(
    change: &mut WriteTransaction,
    workspace: WorkspaceId,
) -> StoreResult<Option<LogHead>> {
    sql(
        "INSERT INTO event_logs (workspace_id) SELECT id FROM workspaces WHERE id = $1
            AND NOT EXISTS (SELECT 1 FROM deletions WHERE workspace_id = $1)
         ON CONFLICT (workspace_id) DO UPDATE SET epoch = event_logs.epoch
         RETURNING epoch, last - purged AS last, last_payload - purged_payload AS last_payload,
            clock, bytes, purged, purged_payload",
    )
    .bind(workspace.0)
    .optional(&mut *change)
    .await
}

/// Deletes those events of ended epochs that a purge has not reached: a member sends them again.
async fn forget_purged_events(
    change: &mut WriteTransaction,
    events: &[EventToAdd],
) -> StoreResult<()> {
    if events.is_empty() {
        return Ok(());
    }
    sql("DELETE FROM shared_events WHERE (instance, number) IN (")
        .push_rows(ids(events))
        .push(
            ") AND position <= (SELECT purged FROM event_logs
                WHERE event_logs.workspace_id = shared_events.workspace_id)",
        )
        .execute(&mut *change)
        .await
        .map(drop)
}

/// As [`forget_purged_events`].
async fn forget_purged_payloads(
    change: &mut WriteTransaction,
    payloads: &[PayloadToAdd],
) -> StoreResult<()> {
    sql("DELETE FROM shared_payloads WHERE token IN list($1)
            AND position <= (SELECT purged_payload FROM event_logs
                WHERE event_logs.workspace_id = shared_payloads.workspace_id)")
    .bind(tokens(payloads))
    .execute(&mut *change)
    .await
    .map(drop)
}

pub(super) fn ids(events: &[EventToAdd]) -> impl Iterator<Item = [SqlValue; 2]> {
    let ids = events.iter().map(|event| event.id.columns());
    ids.map(|columns| columns.map(SqlValue::from))
}

async fn add_events(
    change: &mut WriteTransaction,
    to: LogAccess<'_>,
    last: i64,
    events: &[&EventToAdd],
) -> StoreResult<()> {
    let rows = (last + 1..)
        .zip(events)
        .map(|(position, event)| -> [SqlValue; 6] {
            let [instance, number] = event.id.columns();
            [
                to.workspace.0.into(),
                position.into(),
                instance.into(),
                number.into(),
                to.key.into(),
                (&event.json).into(),
            ]
        });
    sql("INSERT INTO shared_events (workspace_id, position, instance, number, key_name, json) ")
        .push_rows(rows)
        .execute(change)
        .await?;
    Ok(())
}

pub(super) fn tokens<'a>(payloads: impl IntoIterator<Item = &'a PayloadToAdd>) -> SqlValue {
    let tokens = payloads.into_iter();
    SqlValue::Texts(tokens.map(|payload| payload.token.to_string()).collect())
}

/// Deletes the earlier versions, so that the new rows are the last ones of the table.
async fn replace_payloads(
    change: &mut WriteTransaction,
    to: LogAccess<'_>,
    last: i64,
    payloads: &[&PayloadToAdd],
) -> StoreResult<()> {
    sql("DELETE FROM shared_payloads WHERE token IN list($1)")
        .bind(tokens(payloads.iter().copied()))
        .execute(&mut *change)
        .await?;
    let rows = (last + 1..)
        .zip(payloads)
        .map(|(position, payload)| -> [SqlValue; 6] {
            [
                to.workspace.0.into(),
                position.into(),
                payload.token.as_str().into(),
                (payload.version as i64).into(),
                to.key.into(),
                (&payload.json).into(),
            ]
        });
    sql("INSERT INTO shared_payloads (workspace_id, position, token, version, key_name, json) ")
        .push_rows(rows)
        .execute(change)
        .await?;
    Ok(())
}

impl SharedEventId {
    /// As numbers with a sign, which the database knows.
    pub(super) fn columns(self) -> [i64; 2] {
        [self.instance as i64, self.number as i64]
    }

    pub(super) fn of([instance, number]: [i64; 2]) -> Self {
        Self {
            instance: instance as u64,
            number: number as u64,
        }
    }
}
