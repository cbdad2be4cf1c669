//! Which lines of a push the database has already, and so the result of each line.

use std::collections::HashMap;

use super::push::{
    EventToAdd, LogAccess, MOST_AHEAD, PayloadToAdd, PushedLine, SharedEventId, ids, tokens,
};
use crate::store::sql::{per_engine, sql};
use crate::store::{StoreResult, WriteTransaction};
use scandeck_wire::contract::Shared;

/// The lines of a push: those to add, in their order, and the result of each.
pub(super) struct SortedPush<'a, T> {
    pub new: Vec<&'a T>,
    pub lines: Vec<PushedLine>,
    /// By how much the texts of the log grow.
    pub bytes: i64,
}

pub(super) struct KnownEvents {
    /// The workspace of each stored event.
    workspaces: HashMap<SharedEventId, i64>,
    /// The key of each instance that has one.
    owners: HashMap<u64, String>,
    greatest_clock: u64,
}

impl KnownEvents {
    pub async fn load(change: &mut WriteTransaction, events: &[EventToAdd]) -> StoreResult<Self> {
        Ok(Self {
            workspaces: stored_events(change, events).await?,
            owners: owners(change, events).await?,
            greatest_clock: greatest(change, CLOCK).await?,
        })
    }

    pub fn sort<'a>(
        mut self,
        to: LogAccess<'_>,
        events: &'a [EventToAdd],
    ) -> SortedPush<'a, EventToAdd> {
        let (mut new, mut lines, mut bytes) = (Vec::new(), Vec::new(), 0);
        for event in events {
            let workspace = self.workspaces.get(&event.id).copied();
            let line = match (workspace, self.owners.get(&event.id.instance)) {
                (Some(id), _) if id == to.workspace.0 => PushedLine::Known,
                (Some(_), _) => PushedLine::OtherWorkspace,
                (None, Some(owner)) if owner != to.key => PushedLine::OtherKey(owner.clone()),
                (None, _) if event.clock > self.greatest_clock + MOST_AHEAD => {
                    PushedLine::TooFarAhead(self.greatest_clock)
                }
                (None, _) => {
                    self.workspaces.insert(event.id, to.workspace.0);
                    bytes += event.json.len() as i64;
                    new.push(event);
                    PushedLine::New
                }
            };
            lines.push(line);
        }
        SortedPush { new, lines, bytes }
    }
}

pub(super) struct KnownPayloads {
    by_token: HashMap<Shared, KnownPayload>,
    greatest_version: u64,
}

/// A payload that is stored, or will be.
struct KnownPayload {
    workspace: i64,
    version: u64,
    json: String,
}

impl KnownPayload {
    fn is_before(&self, payload: &PayloadToAdd) -> bool {
        (payload.version, payload.json.as_str()) > (self.version, self.json.as_str())
    }
}

impl KnownPayloads {
    pub async fn load(
        change: &mut WriteTransaction,
        payloads: &[PayloadToAdd],
    ) -> StoreResult<Self> {
        Ok(Self {
            by_token: stored_payloads(change, payloads).await?,
            greatest_version: greatest(change, VERSION).await?,
        })
    }

    /// Of several versions in one push only the last is added.
    pub fn sort<'a>(
        mut self,
        to: LogAccess<'_>,
        payloads: &'a [PayloadToAdd],
    ) -> SortedPush<'a, PayloadToAdd> {
        let (mut new, mut lines, mut bytes) = (HashMap::new(), Vec::new(), 0);
        for (at, payload) in payloads.iter().enumerate() {
            let line = match self.by_token.get(&payload.token) {
                Some(known) if known.workspace != to.workspace.0 => PushedLine::OtherWorkspace,
                _ if payload.version > self.greatest_version + MOST_AHEAD => {
                    PushedLine::TooFarAhead(self.greatest_version)
                }
                Some(known) if !known.is_before(payload) => PushedLine::Known,
                known => {
                    let freed = known.map_or(0, |earlier| earlier.json.len());
                    bytes += payload.json.len() as i64 - freed as i64;
                    let added = KnownPayload {
                        workspace: to.workspace.0,
                        version: payload.version,
                        json: payload.json.clone(),
                    };
                    self.by_token.insert(payload.token.clone(), added);
                    new.insert(&payload.token, at);
                    PushedLine::New
                }
            };
            lines.push(line);
        }
        let mut indices: Vec<usize> = new.into_values().collect();
        indices.sort_unstable();
        SortedPush {
            new: indices.into_iter().map(|at| &payloads[at]).collect(),
            lines,
            bytes,
        }
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
