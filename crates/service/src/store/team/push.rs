//! Pushes of members: the store adds new lines, and reports the result of each line.
//!
//! A line may be sent again, because a client that received no answer repeats it: the first event
//! of an id remains, and the greatest version of a payload.

use std::collections::HashMap;
use std::fmt;

use super::LogHead;
use crate::store::sql::{SqlValue, per_engine, sql};
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
        let mut stored = stored_events(&mut change, events).await?;
        let owners = owners(&mut change, events).await?;
        let greatest = greatest(&mut change, CLOCK).await?;
        let (mut new, mut lines) = (Vec::new(), Vec::new());
        for event in events {
            let line = match (stored.get(&event.id), owners.get(&event.id.instance)) {
                (Some(workspace), _) if *workspace == to.workspace.0 => PushedLine::Known,
                (Some(_), _) => PushedLine::OtherWorkspace,
                (None, Some(owner)) if owner != to.key => PushedLine::OtherKey(owner.clone()),
                (None, _) if event.clock > greatest + MOST_AHEAD => {
                    PushedLine::TooFarAhead(greatest)
                }
                (None, _) => {
                    stored.insert(event.id, to.workspace.0);
                    new.push(event);
                    PushedLine::New
                }
            };
            lines.push(line);
        }
        let last = head.last + new.len() as i64;
        let bytes = new.iter().map(|event| event.json.len() as i64).sum::<i64>();
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
        let mut stored = stored_payloads(&mut change, payloads).await?;
        let greatest = greatest(&mut change, VERSION).await?;
        let (mut new, mut lines, mut bytes) = (HashMap::new(), Vec::new(), 0);
        for (at, payload) in payloads.iter().enumerate() {
            let known = stored.get(&payload.token);
            let is_later = |known: &KnownPayload| {
                (payload.version, payload.json.as_str()) > (known.version, known.json.as_str())
            };
            let line = match known {
                Some(known) if known.workspace != to.workspace.0 => PushedLine::OtherWorkspace,
                _ if payload.version > greatest + MOST_AHEAD => PushedLine::TooFarAhead(greatest),
                Some(known) if !is_later(known) => PushedLine::Known,
                _ => {
                    let freed = known.map_or(0, |known| known.json.len());
                    bytes += payload.json.len() as i64 - freed as i64;
                    let known = KnownPayload {
                        workspace: to.workspace.0,
                        version: payload.version,
                        json: payload.json.clone(),
                    };
                    stored.insert(payload.token.clone(), known);
                    new.insert(&payload.token, at);
                    PushedLine::New
                }
            };
            lines.push(line);
        }
        let mut new: Vec<usize> = new.into_values().collect();
        new.sort_unstable();
        let new: Vec<&PayloadToAdd> = new.into_iter().map(|at| &payloads[at]).collect();
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

const CLOCK: &str = "SELECT coalesce(max(clock), 0) FROM event_logs";
const VERSION: &str = "SELECT coalesce(max(version), 0) FROM event_logs";

/// The greatest clock or version of all workspaces: a client has one clock for all of them, so the
/// limit of one workspace must not refuse what another made it count.
async fn greatest(change: &mut WriteTransaction, text: &'static str) -> StoreResult<u64> {
    let greatest: i64 = sql(text).one(&mut *change).await?;
    Ok(greatest.unsigned_abs())
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

fn ids(events: &[EventToAdd]) -> impl Iterator<Item = [SqlValue; 2]> {
    let ids = events.iter().map(|event| event.id.columns());
    ids.map(|columns| columns.map(SqlValue::from))
}

/// The workspaces of those events that are stored.
async fn stored_events(
    change: &mut WriteTransaction,
    events: &[EventToAdd],
) -> StoreResult<HashMap<SharedEventId, i64>> {
    let rows: Vec<(i64, i64, i64)> = match events {
        [] => Vec::new(),
        _ => {
            sql("SELECT instance, number, workspace_id FROM (")
                .push_rows(ids(events))
                .push(") AS sent JOIN shared_events ON instance = column1 AND number = column2")
                .all(change)
                .await?
        }
    };
    let stored = |(instance, number, workspace)| (SharedEventId::of([instance, number]), workspace);
    Ok(rows.into_iter().map(stored).collect())
}

/// The keys of those instances that have events which the key signed.
///
/// Others send events of an instance too: imported history, and everything after a purge or a
/// restored backup. Whoever is first then must not own the dashboard of a colleague. A revoked key
/// owns nothing: the next one that signs an event of the instance owns it.
async fn owners(
    change: &mut WriteTransaction,
    events: &[EventToAdd],
) -> StoreResult<HashMap<u64, String>> {
    let mut instances: Vec<i64> = events.iter().map(|event| event.id.columns()[0]).collect();
    instances.sort_unstable();
    instances.dedup();
    let rows: Vec<(i64, Option<String>)> = per_engine(
        "SELECT value, (SELECT key_name FROM shared_events JOIN event_logs USING (workspace_id)
            WHERE instance = value AND json ->> 'who' = key_name AND position > purged
                AND key_name IN (SELECT name FROM api_keys)
            ORDER BY number DESC LIMIT 1)
         FROM json_each($1)",
        "SELECT value, (SELECT key_name FROM shared_events JOIN event_logs USING (workspace_id)
            WHERE instance = value AND who = key_name AND position > purged
                AND key_name IN (SELECT name FROM api_keys)
            ORDER BY number DESC LIMIT 1)
         FROM unnest($1) AS value",
    )
    .bind_ids(&instances)
    .all(change)
    .await?;
    let owner = |(instance, key): (i64, Option<String>)| Some((instance as u64, key?));
    Ok(rows.into_iter().filter_map(owner).collect())
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

/// A payload that is stored, or will be.
struct KnownPayload {
    workspace: i64,
    version: u64,
    json: String,
}

async fn stored_payloads(
    change: &mut WriteTransaction,
    payloads: &[PayloadToAdd],
) -> StoreResult<HashMap<Shared, KnownPayload>> {
    let rows: Vec<(String, i64, i64, String)> = sql(
        "SELECT token, workspace_id, version, json FROM shared_payloads
         WHERE token IN list($1)",
    )
    .bind(tokens(payloads))
    .all(&mut *change)
    .await?;
    let stored = |(token, workspace, version, json): (String, i64, i64, String)| {
        let known = KnownPayload {
            workspace,
            version: version.unsigned_abs(),
            json,
        };
        (token.into(), known)
    };
    Ok(rows.into_iter().map(stored).collect())
}

fn tokens<'a>(payloads: impl IntoIterator<Item = &'a PayloadToAdd>) -> SqlValue {
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
    fn columns(self) -> [i64; 2] {
        [self.instance as i64, self.number as i64]
    }

    fn of([instance, number]: [i64; 2]) -> Self {
        Self {
            instance: instance as u64,
            number: number as u64,
        }
    }
}
