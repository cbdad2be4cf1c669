//! The processes that serve the database (nodes), and the end of their claims.
//!
//! ```text
//!   register ─► row of the node ─► beat every 5 s ─► row deleted at a clean stop: its claims end
//!                    │
//!                    └─ no beat for 15 s ─► row deleted by another node: its claims end
//!                       started again in its directory ─► the same at once
//! ```
//!
//! A claim is a column `owner` of a scan, report, import, callback or deletion, with a foreign key
//! that ends it when the row of the node is deleted: no claim outlives its node, and no statement
//! can forget one. Its scans wait again (`delete_rows`).
//!
//! Whether a claim has ended is decided by the clock of the database alone. A node that cannot beat
//! ends its scans before, by a clock of its own ([`crate::runs::lease`]).

mod claims;
mod lost;
mod remote;
mod renewal;
mod schema;
mod shared_keys;
#[cfg(test)]
mod tests;

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::timeout;

pub(super) use lost::delete_rows;
use lost::{end_nodes, forgive_attempts};
pub(super) use remote::worker_home;
pub use remote::{ClaimedTarget, WorkerReport};
pub use shared_keys::SharedKey;
use shared_keys::other_key;

use super::sql::{Executor, SqlRow, per_engine, sql};
use super::{DatabaseError, Store, StoreEngine, StoreResult, WriteTransaction, jobs, stamp, text};
use crate::place::WorkerPlace;
use scandeck_wire::contract::Shared;
use scandeck_wire::contract::node::NodeState;
use scandeck_wire::login::login;

/// How long the claims of a silent node last.
pub const LEASE: Duration = Duration::from_secs(15);

/// The part of a lease in which a beat beside other writes ends the claims of silent nodes.
const JUDGING: u32 = 5;

/// This process.
#[derive(Clone, Debug)]
pub(super) struct ServiceNode {
    /// Random: a process that starts again does not own what it left.
    pub id: String,
    /// The directory of the database, or the data directory with its machine. A service holds its
    /// lock, so other nodes of it have ended.
    pub home: String,
    pub details: NodeDetails,
}

/// What a node reports of itself.
#[derive(Clone, Debug)]
pub struct NodeDetails {
    /// The name of its machine.
    pub name: String,
    /// Such as `api,logger,worker`.
    pub roles: String,
    /// The version of the program.
    pub version: String,
    /// The fingerprint of the key that encrypts the credentials of scans.
    pub secrets_key: String,
    /// The fingerprint of the key that signs callbacks.
    pub callback_key: String,
    /// The place of a worker that uses the API; empty for a process with a database.
    pub place: String,
    /// How long its claims last without a beat.
    pub lease: Duration,
}

impl Default for NodeDetails {
    fn default() -> Self {
        Self {
            name: String::new(),
            roles: String::new(),
            version: String::new(),
            secrets_key: String::new(),
            callback_key: String::new(),
            place: String::new(),
            lease: LEASE,
        }
    }
}

/// The result of a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeRegistration {
    Done,
    /// A live node has another key.
    OtherKey {
        key: SharedKey,
        name: String,
    },
    /// A newer program has migrated the database to this schema since it was opened.
    NewerSchema(i64),
}

/// The result of a beat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeBeat {
    /// Another node had ended the claims of this one.
    pub is_lost: bool,
    /// The claims of other nodes were ended.
    pub has_ended_nodes: bool,
    /// Other nodes serve the database too.
    pub has_others: bool,
}

impl ServiceNode {
    /// The node of a database file.
    pub fn new(database: &Path) -> Self {
        let home = database.parent().unwrap_or(Path::new("."));
        Self::with_home(home.canonicalize().unwrap_or_else(|_| home.to_owned()), "")
    }

    /// The node of a data directory, whose database may have nodes on other machines.
    pub fn of_directory(dir: &Path) -> Self {
        let home = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        let host = login(|name| std::env::var(name).ok());
        // Machines of one image may share their name, but not the id of their last start.
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        // Containers of one machine may have its name, and directories of the same path.
        let directory = std::fs::metadata(&home).map(|home| (home.dev(), home.ino()));
        let (device, inode) = directory.unwrap_or_default();
        Self::with_home(home, &format!("{host} {} {device} {inode}:", boot.trim()))
    }

    fn with_home(home: PathBuf, machine: &str) -> Self {
        Self {
            id: format!("{:016x}", rand::random::<u64>()),
            home: format!("{machine}{}", home.display()),
            details: NodeDetails::default(),
        }
    }

    /// How long its claims last without a beat, in milliseconds.
    fn lease(&self) -> i64 {
        i64::try_from(self.details.lease.as_millis()).unwrap_or(i64::MAX)
    }
}

impl Store {
    /// The store of a node with these details.
    pub fn of_node(self, details: NodeDetails) -> Self {
        let node = ServiceNode {
            details,
            ..ServiceNode::clone(&self.node)
        };
        Self {
            node: node.into(),
            ..self
        }
    }

    /// At the start of the service: adds the row of this node, and queues the scans of earlier
    /// processes of its directory again, or ends them. Changes nothing if a live node has another
    /// key, or this program does not work with the schema.
    pub async fn register(&self, now: Timestamp) -> StoreResult<NodeRegistration> {
        let mut change = self.change().await?;
        let earlier: Vec<String> = sql("SELECT id FROM nodes WHERE id <> $1 AND home = $2")
            .bind(&self.node.id)
            .bind(&self.node.home)
            .all(&mut change)
            .await?;
        end_nodes(&mut change, &earlier).await?;
        let time = database_time(&mut change).await?;
        if let Some((key, name)) = other_key(&mut change, &self.node, time).await? {
            return Ok(NodeRegistration::OtherKey { key, name });
        }
        if let Some(found) = self.newer_schema(&mut change).await? {
            return Ok(NodeRegistration::NewerSchema(found));
        }
        join(&mut change, &self.node).await?;
        self.store_schema(&mut change).await?;
        jobs::end_lost(&mut change, now).await?;
        change.commit().await?;
        Ok(NodeRegistration::Done)
    }

    /// Renews the claims of this node, and ends those of silent nodes if `may_judge`: after a beat
    /// of this process within its lease. `clock_ahead` is by how many milliseconds the clock of
    /// this machine is ahead of that of the database.
    pub async fn beat(
        &self,
        may_judge: bool,
        clock_ahead: i64,
        now: Timestamp,
    ) -> StoreResult<NodeBeat> {
        if self.may_rest().await? {
            return Ok(NodeBeat::default());
        }
        let Some(renewed) = self.renew_beside(clock_ahead).await? else {
            return self.full_beat(may_judge, None, clock_ahead, now).await;
        };
        let beat = NodeBeat {
            has_others: renewed.has_others,
            ..NodeBeat::default()
        };
        if !(may_judge && renewed.is_regular && renewed.has_silent_nodes) {
            return Ok(beat);
        }
        // The claims of this node are renewed: its lease must not wait for other writes.
        let judging = self.full_beat(true, Some(true), clock_ahead, now);
        let in_time = timeout(self.node.details.lease / JUDGING, judging).await;
        let judged = in_time.unwrap_or_else(|_| Err(DatabaseError::Io(ErrorKind::TimedOut.into())));
        Ok(judged.unwrap_or_else(|error| {
            tracing::warn!(%error, "claims of silent nodes not ended; the next beat tries again");
            beat
        }))
    }

    /// The beat in a write transaction. `is_regular`: the last beat was within the lease, if known.
    async fn full_beat(
        &self,
        may_judge: bool,
        is_regular: Option<bool>,
        clock_ahead: i64,
        now: Timestamp,
    ) -> StoreResult<NodeBeat> {
        // Synced: after a crash of the database, claims must not end before the lease of this node.
        let mut change = self.change().await?;
        let time = database_time(&mut change).await?;
        let last: Option<i64> = sql("SELECT beat_at FROM nodes WHERE id = $1 FOR UPDATE")
            .bind(&self.node.id)
            .optional(&mut change)
            .await?;
        self.refuse_newer_schema(&mut change).await?;
        join(&mut change, &self.node).await?;
        self.store_schema(&mut change).await?;
        sql("UPDATE nodes SET clock_ahead = $2 WHERE id = $1")
            .bind(&self.node.id)
            .bind(clock_ahead)
            .execute(&mut change)
            .await?;
        // While the database was away, the others could not beat either; after its clock was set,
        // they have not beaten yet.
        let is_regular = is_regular
            .unwrap_or_else(|| last.is_some_and(|last| (time - last).abs() < self.node.lease()));
        let silent = match may_judge && is_regular {
            true => silent_nodes(&mut change, &self.node, time).await?,
            false => Vec::new(),
        };
        if !silent.is_empty() {
            end_nodes(&mut change, &silent).await?;
            jobs::end_lost(&mut change, now).await?;
        }
        if last.is_none() {
            forgive_attempts(&mut change, &self.node.id).await?;
        }
        let has_others: bool = sql("SELECT EXISTS (SELECT 1 FROM nodes WHERE id <> $1)")
            .bind(&self.node.id)
            .one(&mut change)
            .await?;
        change.commit().await?;
        Ok(NodeBeat {
            is_lost: last.is_none(),
            has_ended_nodes: !silent.is_empty(),
            has_others,
        })
    }

    /// Whether the beat may be left out: on a file, a node that is alone and has no claims can lose
    /// none, and an idle laptop writes nothing.
    async fn may_rest(&self) -> StoreResult<bool> {
        if matches!(self.engine, StoreEngine::Postgres(_)) {
            return Ok(false);
        }
        let (is_alone, has_claims): (bool, bool) = sql("SELECT count(*) = 1 AND min(id) = $1,
                EXISTS (SELECT 1 FROM jobs WHERE owner = $1)
                OR EXISTS (SELECT 1 FROM deletions WHERE owner = $1)
                OR EXISTS (SELECT 1 FROM deliveries WHERE owner = $1)
                OR EXISTS (SELECT 1 FROM reports WHERE owner = $1)
                OR EXISTS (SELECT 1 FROM imports WHERE owner = $1)
             FROM nodes")
        .bind(&self.node.id)
        .one(self.read())
        .await?;
        Ok(is_alone && !has_claims)
    }

    /// Ends the claims of this node.
    pub async fn leave(&self) -> StoreResult<()> {
        let has_row: bool = sql("SELECT EXISTS (SELECT 1 FROM nodes WHERE id = $1)")
            .bind(&self.node.id)
            .one(self.read())
            .await?;
        if has_row {
            let mut change = self.change().await?;
            delete_rows(&mut change, std::slice::from_ref(&self.node.id)).await?;
            change.commit().await?;
        }
        Ok(())
    }

    /// In a restored copy: ends the claims of the processes that served the original.
    pub(super) async fn delete_nodes(&self) -> StoreResult<()> {
        let has_nodes: bool =
            sql("SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'nodes')")
                .one(self.read())
                .await?;
        if has_nodes {
            let mut change = self.change().await?;
            let nodes: Vec<String> = sql("SELECT id FROM nodes").all(&mut change).await?;
            delete_rows(&mut change, &nodes).await?;
            change.commit().await?;
        }
        Ok(())
    }

    /// The nodes that serve the database, the oldest first.
    pub async fn nodes(&self) -> StoreResult<Vec<NodeState>> {
        let now = self.time().await?.as_millisecond();
        sql(
            "SELECT id, name, roles, version, started_at, beat_at, clock_ahead, place,
                (SELECT count(*) FROM jobs WHERE owner = nodes.id) AS running
             FROM nodes ORDER BY started_at, id",
        )
        .all_as(self.read(), |row| {
            let mut node = node_of(row, now)?;
            if *node.id == *self.node.id {
                // It may rest, and it answers.
                node.seconds_since_beat = 0;
            }
            Ok(node)
        })
        .await
    }

    /// The time of the database.
    pub async fn time(&self) -> StoreResult<Timestamp> {
        let millis = database_time(self.read()).await?;
        Timestamp::from_millisecond(millis).map_err(|error| DatabaseError::Decode(error.into()))
    }
}

fn node_of(row: &SqlRow, now: i64) -> StoreResult<NodeState> {
    let beat_at: i64 = row.get("beat_at")?;
    let roles: &str = row.get("roles")?;
    let place: Option<WorkerPlace> = row.get::<&str>("place")?.parse().ok();
    let names = roles.split(',').filter(|role| !role.is_empty());
    Ok(NodeState {
        id: text(row, "id")?,
        name: text(row, "name")?,
        roles: names.map(Shared::from).collect(),
        version: text(row, "version")?,
        started_at: Some(stamp(row.get("started_at")?)),
        seconds_since_beat: (now - beat_at).max(0) / 1000,
        running_scans: row.get("running")?,
        clock_ahead_ms: row.get("clock_ahead")?,
        vpn_profile_uuid: place.as_ref().map(|place| place.profile_uuid().into()),
        place: place.map(|place| place.as_str().into()),
    })
}

/// The time of the database, in milliseconds since 1970.
async fn database_time(on: impl Into<Executor<'_>>) -> StoreResult<i64> {
    per_engine(
        "SELECT CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)",
        "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
    )
    .one(on)
    .await
}

/// Renews the row of this node before a claim in the same transaction. False if another node has
/// deleted it: then the node claims nothing before its next beat.
pub(super) async fn renew(change: &mut WriteTransaction, node: &ServiceNode) -> StoreResult<bool> {
    let now = database_time(&mut *change).await?;
    let renewed = sql("UPDATE nodes SET beat_at = $2 WHERE id = $1")
        .bind(&node.id)
        .bind(now)
        .execute(change)
        .await?;
    Ok(renewed > 0)
}

/// Adds the row of this node, or renews it.
async fn join(change: &mut WriteTransaction, node: &ServiceNode) -> StoreResult<()> {
    let details = &node.details;
    let now = database_time(&mut *change).await?;
    sql(
        "INSERT INTO nodes (id, home, name, roles, version, secrets_key, lease, started_at, beat_at, place,
            callback_key)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10)
         ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at",
    )
    .bind(&node.id)
    .bind(&node.home)
    .bind(&details.name)
    .bind(&details.roles)
    .bind(&details.version)
    .bind(&details.secrets_key)
    .bind(node.lease())
    .bind(now)
    .bind(&details.place)
    .bind(&details.callback_key)
    .execute(change)
    .await?;
    Ok(())
}

/// The nodes whose claims have ended by this time of the database.
async fn silent_nodes(
    change: &mut WriteTransaction,
    node: &ServiceNode,
    time: i64,
) -> StoreResult<Vec<String>> {
    // A beat of the future is from before the clock was set back. Locked: a node that beats now is
    // not silent, or it finds no row.
    sql("SELECT id FROM nodes WHERE id <> $1 AND abs(beat_at - $2) >= lease FOR UPDATE")
        .bind(&node.id)
        .bind(time)
        .all(change)
        .await
}
