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
use serde_json::Value;

use super::super::jobs::{self, Attempt};
use super::super::sql::{SqlRow, sql};
use super::super::{Store, StoreResult, json};
use super::lost::forgive_attempts;
use super::{LEASE, NodeDetails, ServiceNode, join};
use crate::place::WorkerPlace;
use scandeck_wire::contract::{ScanId, ScanStatus, Tool};

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

/// A scan that a worker has claimed, as far as the scope of the service needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedTarget {
    pub attempt: Attempt,
    /// Name of the target.
    pub target: String,
    pub tool: Tool,
    /// The parameters without credentials.
    pub params: Value,
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
        let longest = lease * ONLY_WORKER;
        let lease = if has_others { lease } else { longest };
        let node = ServiceNode {
            id: report.id.clone(),
            home,
            details: NodeDetails {
                name: report.name.clone(),
                roles: "worker".to_owned(),
                version: report.version.clone(),
                secrets_key: String::new(),
                callback_key: String::new(),
                place: place.to_owned(),
                lease: lease.max(report.lease.min(longest)),
            },
        };
        join(&mut change, &node).await?;
        sql("UPDATE nodes SET lease = $2 WHERE id = $1")
            .bind(&node.id)
            .bind(node.lease())
            .execute(&mut change)
            .await?;
        if stored.is_none() {
            forgive_attempts(&mut change, &node.id).await?;
        }
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

    /// The scans that this node has claimed.
    pub async fn claimed_targets(&self) -> StoreResult<Vec<ClaimedTarget>> {
        let rows: Vec<(i64, i64, String, i64, String)> = sql(
            "SELECT scan_id, attempt, targets.name, tool_id, scans.params FROM jobs
                JOIN scans ON scans.id = scan_id JOIN targets ON targets.id = target_id
             WHERE owner = $1",
        )
        .bind(&self.node.id)
        .all(self.read())
        .await?;
        let claimed = |(scan, number, target, tool, params): (_, _, _, _, String)| ClaimedTarget {
            attempt: Attempt {
                scan: ScanId(scan),
                number,
            },
            target,
            tool: Tool(tool),
            params: json(&params),
        };
        Ok(rows.into_iter().map(claimed).collect())
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

    /// Ends the scans that wait for a place, unless it has a worker now; one that lost its worker
    /// after a stop ends as stopped. Returns their number.
    pub async fn end_unreachable(&self, place: &str, now: Timestamp) -> StoreResult<usize> {
        let mut change = self.change().await?;
        let scans: Vec<(i64, bool)> = sql(
            "SELECT scan_id, stop_requested FROM jobs WHERE owner IS NULL AND place = $1
                AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.place = jobs.place)",
        )
        .bind(place)
        .all(&mut change)
        .await?;
        let message = format!(
            "no worker of the place {place} is connected; `scandeck worker --place {place}` starts one there"
        );
        for (scan, is_stopped) in &scans {
            let (status, why) = match is_stopped {
                true => (ScanStatus::Stopped, jobs::STOPPED_BY_USER),
                false => (ScanStatus::VpnConnectionError, message.as_str()),
            };
            jobs::end(&mut change, ScanId(*scan), &status, why, now).await?;
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
        callback_key: String::new(),
        place: row.get("place")?,
        lease: u64::try_from(lease).map_or(LEASE, Duration::from_millis),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::jobs::{QueuePoll, ScanUpdate};
    use super::super::super::keys::KeyUse;
    use super::super::super::scans::{ScanTarget, ScanToAdd};
    use super::super::super::testing::{add_target, claim_scan, new_scan, open, silence};
    use super::*;
    use crate::guards::keys::Role;
    use scandeck_wire::contract::WorkspaceId;

    fn report(id: &str, key: &str) -> WorkerReport {
        WorkerReport {
            id: id.to_owned(),
            key: key.to_owned(),
            place: "office".parse().unwrap(),
            name: "pc1".to_owned(),
            version: "1.2.3".to_owned(),
            lease: Duration::ZERO,
        }
    }

    async fn add_key(store: &Store, name: &str) {
        let place = "office".parse().unwrap();
        let key_use = KeyUse {
            role: Role::Worker,
            place: Some(&place),
        };
        let mut hash = [0; 32];
        hash[..name.len()].copy_from_slice(name.as_bytes());
        let added = store.add_key(name, key_use, hash, "ana@box", Timestamp::now());
        assert!(added.await.unwrap());
    }

    async fn beat(store: &Store, report: &WorkerReport) -> Option<WorkerRenewal> {
        store.worker_beat(report, LEASE).await.unwrap()
    }

    async fn queue_placed_scan(store: &Store) -> ScanId {
        let target = add_target(store, WorkspaceId(1), "10.0.4.7").await;
        let scan = ScanToAdd {
            place: Some("office".to_owned()),
            ..new_scan()
        };
        let target = ScanTarget::Existing(target);
        let added = store.add_scan(target, &scan, Timestamp::now()).await;
        added.unwrap().unwrap().0
    }

    #[tokio::test]
    async fn lease_of_a_worker_ends_in_the_database_after_that_of_the_worker() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        add_key(&store, "w1").await;
        let stored = async || -> i64 {
            let lease = sql("SELECT lease FROM nodes WHERE id = 'a'");
            lease.one(store.read()).await.unwrap()
        };
        let mut one = report("a", "w1");
        let only = beat(&store, &one).await.unwrap();
        assert_eq!((only.lease, only.is_lost), (LEASE * ONLY_WORKER, true));
        assert_eq!(stored().await, 120_000);
        one.lease = only.lease;
        assert!(beat(&store, &report("b", "w1")).await.is_some());

        let shorter = beat(&store, &one).await.unwrap();
        assert_eq!((shorter.lease, shorter.is_lost), (LEASE, false));
        assert_eq!(stored().await, 120_000, "the worker still follows it");
        one.lease = shorter.lease;
        beat(&store, &one).await.unwrap();
        assert_eq!(stored().await, 15_000);
    }

    #[tokio::test]
    async fn scan_of_a_place_is_claimed_by_its_workers_until_their_key_is_revoked() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        add_key(&store, "w1").await;
        let scan = queue_placed_scan(&store).await;
        let now = Timestamp::now();
        let queued = store.scan(scan, now).await.unwrap().unwrap();
        assert_eq!(queued.place(), Some("office"), "before a worker runs it");
        assert!(claim_scan(&store, now).await.is_none(), "not here");
        assert!(store.of_worker("a", "w1").await.unwrap().is_none());
        assert!(beat(&store, &report("a", "w1")).await.unwrap().has_waiting);
        assert_eq!(beat(&store, &report("a", "w2")).await, None, "another key");
        let worker = store.of_worker("a", "w1").await.unwrap().unwrap();
        let claim = claim_scan(&worker, now).await.unwrap();
        assert_eq!(claim.attempt.scan, scan);
        let running = store.scan(scan, now).await.unwrap().unwrap();
        assert!(running.info_text_lines.is_empty(), "its worker adds a note");
        let claimed = worker.claimed_targets().await.unwrap();
        let expected = ClaimedTarget {
            attempt: claim.attempt.clone(),
            target: "10.0.4.7".to_owned(),
            tool: Tool::PORTS,
            params: serde_json::json!({}),
        };
        assert_eq!(claimed, [expected]);

        let update = ScanUpdate {
            number: 3,
            raw: vec!["GET / 200".to_owned()],
            ..ScanUpdate::default()
        };
        for _ in 0..2 {
            let recorded = worker.record(&claim.attempt, &update, now).await;
            assert!(recorded.unwrap());
        }
        let lines = store.raw_line_ids(scan).await.unwrap();
        assert_eq!(lines.len(), 1, "sent twice, stored once");

        assert!(store.delete_key("w1").await.unwrap());
        let recorded = worker.record(&claim.attempt, &update, now).await;
        assert!(!recorded.unwrap(), "the claim has ended");
        let waiting = store.scan(scan, now).await.unwrap().unwrap();
        assert_eq!(waiting.status_name, ScanStatus::Waiting);
        assert_eq!(beat(&store, &report("a", "w1")).await, None);
        assert_eq!(store.unreachable_places().await.unwrap(), ["office"]);
    }

    #[tokio::test]
    async fn scans_of_a_place_end_when_its_last_worker_is_silent() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let now = Timestamp::now();
        store.register(now).await.unwrap();
        add_key(&store, "w1").await;
        let scan = queue_placed_scan(&store).await;
        beat(&store, &report("a", "w1")).await.unwrap();
        assert!(store.unreachable_places().await.unwrap().is_empty());
        assert_eq!(store.end_unreachable("office", now).await.unwrap(), 0);

        let worker = store.of_worker("a", "w1").await.unwrap().unwrap();
        silence(&worker, 121).await;
        assert!(store.beat(true, 0, now).await.unwrap().has_ended_nodes);
        assert_eq!(store.end_unreachable("office", now).await.unwrap(), 1);
        let ended = store.scan(scan, now).await.unwrap().unwrap();
        assert_eq!(ended.status_name, ScanStatus::VpnConnectionError);
        let polled = worker.claim(&[], now).await.unwrap();
        assert!(matches!(polled, QueuePoll::Empty));
    }
}
