//! Workers that use the API instead of the database: each has a row among the nodes, which the
//! service writes for it.
//!
//! ```text
//!   beat of a worker ─► row with its key and place ─► lease: 15 s, or 120 s for the only one of a place
//! ```
//!
//! A lease never ends in the database before it ends at the worker: a shorter one is stored only
//! when the worker reports that it follows it.

use std::time::Duration;

use jiff::Timestamp;

use super::super::jobs::{self, Attempt};
use super::super::sql::{SqlRow, sql};
use super::super::{Store, StoreResult};
use super::{LEASE, NodeDetails, ServiceNode, database_time, join};
use crate::place::WorkerPlace;
use scandeck_wire::contract::{ScanId, ScanStatus};

/// By how much longer the lease of the only worker of a place is: no other worker waits for its
/// scans, and a cut of the network must not end them.
const ONLY_WORKER: u32 = 8;

/// What a worker reports of itself.
#[derive(Clone, Debug)]
pub struct WorkerReport {
    /// Random: a process that starts again has another one.
    pub id: String,
    /// The name of its API key.
    pub key: String,
    pub place: WorkerPlace,
    /// The name of its machine.
    pub name: String,
    pub version: String,
    /// The lease that it follows; none before its first beat.
    pub lease: Duration,
}

/// The result of a beat of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerRenewal {
    /// The lease that the worker follows from now on.
    pub lease: Duration,
    /// Its claims had ended.
    pub is_lost: bool,
    /// A scan of its place waits.
    pub has_waiting: bool,
}

/// The column `home` of the workers of a key.
pub fn worker_home(key: &str) -> String {
    format!("worker {key}")
}

impl Store {
    /// Renews the claims of a worker, or adds it. `lease` is that of the service. `None` when the
    /// key was revoked, or the id belongs to another node.
    pub async fn worker_beat(
        &self,
        report: &WorkerReport,
        lease: Duration,
    ) -> StoreResult<Option<WorkerRenewal>> {
        let mut change = self.change().await?;
        let home = worker_home(&report.key);
        let stored: Option<String> = sql("SELECT home FROM nodes WHERE id = $1 FOR UPDATE")
            .bind(&report.id)
            .optional(&mut change)
            .await?;
        // The service knows revoked keys for up to a second.
        let has_key: bool = sql("SELECT EXISTS (SELECT 1 FROM api_keys WHERE name = $1)")
            .bind(&report.key)
            .one(&mut change)
            .await?;
        if !has_key || stored.as_ref().is_some_and(|stored| *stored != home) {
            return Ok(None);
        }
        let place = report.place.as_str();
        let has_others: bool =
            sql("SELECT EXISTS (SELECT 1 FROM nodes WHERE id <> $1 AND place = $2)")
                .bind(&report.id)
                .bind(place)
                .one(&mut change)
                .await?;
        let lease = match has_others {
            true => lease,
            false => lease * ONLY_WORKER,
        };
        let node = ServiceNode {
            id: report.id.clone(),
            home,
            details: NodeDetails {
                name: report.name.clone(),
                roles: "worker".to_owned(),
                version: report.version.clone(),
                secrets_key: String::new(),
                place: place.to_owned(),
                lease: lease.max(report.lease),
            },
        };
        join(&mut change, &node).await?;
        sql("UPDATE nodes SET lease = $2 WHERE id = $1")
            .bind(&node.id)
            .bind(node.lease())
            .execute(&mut change)
            .await?;
        let has_waiting: bool =
            sql("SELECT EXISTS (SELECT 1 FROM jobs WHERE owner IS NULL AND place = $1)")
                .bind(place)
                .one(&mut change)
                .await?;
        change.commit().await?;
        Ok(Some(WorkerRenewal {
            lease,
            is_lost: stored.is_none(),
            has_waiting,
        }))
    }

    /// The store as a worker of this key uses it; `None` for a worker without a beat.
    pub async fn of_worker(&self, id: &str, key: &str) -> StoreResult<Option<Self>> {
        let home = worker_home(key);
        let details =
            sql("SELECT name, roles, version, place, lease FROM nodes WHERE id = $1 AND home = $2")
                .bind(id)
                .bind(&home)
                .optional_as(self.read(), details_of)
                .await?;
        let store = |details| Self {
            node: ServiceNode {
                id: id.to_owned(),
                home,
                details,
            }
            .into(),
            ..self.clone()
        };
        Ok(details.map(store))
    }

    /// The attempts that this node has claimed, with the names of their targets.
    pub async fn claimed_targets(&self) -> StoreResult<Vec<(Attempt, String)>> {
        let rows: Vec<(i64, i64, String)> = sql("SELECT scan_id, attempt, targets.name FROM jobs
                JOIN scans ON scans.id = scan_id JOIN targets ON targets.id = target_id
             WHERE owner = $1")
        .bind(&self.node.id)
        .all(self.read())
        .await?;
        let attempt = |(scan, number, target)| {
            let scan = ScanId(scan);
            (Attempt { scan, number }, target)
        };
        Ok(rows.into_iter().map(attempt).collect())
    }

    /// The places for which scans wait, and that have no worker.
    pub async fn unreachable_places(&self) -> StoreResult<Vec<String>> {
        sql(
            "SELECT DISTINCT place FROM jobs WHERE owner IS NULL AND place <> ''
                AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.place = jobs.place)",
        )
        .all(self.read())
        .await
    }

    /// Ends the scans that wait for a place, unless it has a worker now. Returns their number.
    pub async fn end_unreachable(&self, place: &str, now: Timestamp) -> StoreResult<usize> {
        let mut change = self.change().await?;
        let scans: Vec<i64> = sql("SELECT scan_id FROM jobs WHERE owner IS NULL AND place = $1
                AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.place = jobs.place)")
        .bind(place)
        .all(&mut change)
        .await?;
        let message = format!(
            "no worker of the place {place} is connected; `scandeck worker --place {place}` starts one there"
        );
        for scan in &scans {
            let status = ScanStatus::VpnConnectionError;
            jobs::end(&mut change, ScanId(*scan), &status, &message, now).await?;
        }
        change.commit().await?;
        Ok(scans.len())
    }
}

fn details_of(row: &SqlRow) -> StoreResult<NodeDetails> {
    let lease: i64 = row.get("lease")?;
    Ok(NodeDetails {
        name: row.get("name")?,
        roles: row.get("roles")?,
        version: row.get("version")?,
        secrets_key: String::new(),
        place: row.get("place")?,
        lease: u64::try_from(lease).map_or(LEASE, Duration::from_millis),
    })
}
