//! Scans in the store: the data that clients read, queueing and deletion.
//!
//! The writes of a running scan are in [`super::jobs`].

use jiff::Timestamp;
use serde_json::Value;

use super::deletion::is_deleting;
use super::jobs::json_lines;
use super::sql::{SqlRow, sql};
use super::targets::{AddedTarget, Deletion, TargetToAdd, add_target};
use super::{Store, StoreResult, WriteTransaction, json, millis, stamp, text};
use scandeck_wire::contract::node::place_note;
use scandeck_wire::contract::{
    RedirectLevel, ReportCallback, ResultSummary, Risk, Scan, ScanId, ScanStatus, TargetId,
    WorkspaceId,
};

const SELECT: &str = "SELECT id, workspace_id, target_id, tool_id, status, message, planned, finished,
    risk0, risk1, risk2, risk3, risk4, started_at, ended_at, info, params, scan_original_url, vpn_scan, max_minutes
    FROM scans WHERE status <> 'importing'";

fn scan_of(row: &SqlRow, now: Timestamp) -> StoreResult<Scan> {
    let status = ScanStatus::from(row.get::<&str>("status")?);
    let (planned, finished) = (row.get("planned")?, row.get("finished")?);
    let (started, ended): (Option<i64>, Option<i64>) =
        (row.get("started_at")?, row.get("ended_at")?);
    // A scan that waits again has the start of its results, which clients order by it.
    let is_waiting = status == ScanStatus::Waiting;
    let until = ended.unwrap_or_else(|| millis(now));
    Ok(Scan {
        progress: progress(&status, finished, planned),
        result_summary: summary(row)?,
        id: ScanId(row.get("id")?),
        tool_id: row.get("tool_id")?,
        target_id: TargetId(row.get("target_id")?),
        status_name: status,
        vpn_scan: row.get("vpn_scan")?,
        start_time: started.map(stamp),
        end_time: ended.map(stamp),
        duration: match started {
            Some(start) if !is_waiting => (until - start).max(0) / 1000,
            _ => 0,
        },
        num_tests: planned,
        num_finished_tests: finished,
        status_message: text(row, "message")?,
        info_text_lines: serde_json::from_str(row.get("info")?).unwrap_or_default(),
        workspace_id: Some(WorkspaceId(row.get("workspace_id")?)),
        scan_original_url: row.get("scan_original_url")?,
        max_scan_time: row.get("max_minutes")?,
        tool_params: Some(json(row.get("params")?)),
    })
}

fn summary(row: &SqlRow) -> StoreResult<ResultSummary> {
    let mut counts = [0_i64; 5];
    for (count, column) in counts
        .iter_mut()
        .zip(["risk4", "risk3", "risk2", "risk1", "risk0"])
    {
        *count = row.get(column)?;
    }
    let parts = Risk::DOWN
        .iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0);
    let text = parts
        .map(|(risk, count)| format!("{count} {risk}"))
        .collect::<Vec<_>>()
        .join(", ");
    let [critical, high, medium, low, info] = counts.map(Some);
    let text = if text.is_empty() {
        "no findings".into()
    } else {
        text.into()
    };
    Ok(ResultSummary {
        text,
        critical,
        high,
        medium,
        low,
        info,
    })
}

/// 100 for a finished scan only, even if all tests of a running one have ended.
fn progress(status: &ScanStatus, finished: i64, planned: i64) -> i64 {
    match status {
        ScanStatus::Finished => 100,
        _ if planned <= 0 => 0,
        _ => (finished * 100 / planned).clamp(0, 99),
    }
}

/// The filter of a scan list.
#[derive(Clone, Debug, Default)]
pub struct ScanFilter {
    pub workspace: Option<WorkspaceId>,
    pub target: Option<TargetId>,
    pub tool: Option<i64>,
    pub status: Option<ScanStatus>,
    /// Earliest start; before the first one, the time of the creation counts.
    pub from: Option<Timestamp>,
    /// Latest start.
    pub to: Option<Timestamp>,
    pub limit: i64,
    pub offset: i64,
}

/// The target of a new scan.
#[derive(Clone, Debug)]
pub enum ScanTarget<'a> {
    Existing(TargetId),
    /// A target that is added unless it exists, and the largest number of targets.
    Named(TargetToAdd<'a>, usize),
}

/// A scan to queue.
#[derive(Clone, Debug)]
pub struct ScanToAdd {
    pub tool: i64,
    /// With secrets, which are encrypted; deleted when the scan has ended.
    pub params: Value,
    /// With secrets replaced, as clients receive them.
    pub shown_params: Value,
    pub redirect_level: RedirectLevel,
    pub scan_original_url: bool,
    /// The place whose workers run it: empty for the service itself. `None` before the scope has
    /// decided it, which counts as empty.
    pub place: Option<String>,
    pub max_minutes: i64,
    pub callback: Option<ReportCallback>,
}

impl Store {
    /// Scans, newest first.
    pub async fn scans(&self, filter: &ScanFilter, now: Timestamp) -> StoreResult<Vec<Scan>> {
        // In seconds, as clients receive times: an interval includes the scan that starts in its
        // last second.
        const START: &str = "coalesce(started_at, created_at) / 1000";
        sql(SELECT)
            .push_condition("workspace_id =", filter.workspace.map(|id| id.0))
            .push_condition("target_id =", filter.target.map(|id| id.0))
            .push_condition("tool_id =", filter.tool)
            .push_condition("status =", filter.status.as_ref().map(ScanStatus::as_str))
            .push_condition(&format!("{START} >="), filter.from.map(|at| at.as_second()))
            .push_condition(&format!("{START} <="), filter.to.map(|at| at.as_second()))
            .push(" ORDER BY id DESC LIMIT ")
            .push_bind(filter.limit)
            .push(" OFFSET ")
            .push_bind(filter.offset)
            .all_as(self.read(), |row| scan_of(row, now))
            .await
    }

    pub async fn scan(&self, id: ScanId, now: Timestamp) -> StoreResult<Option<Scan>> {
        sql(SELECT)
            .push_condition("id =", Some(id.0))
            .optional_as(self.read(), |row| scan_of(row, now))
            .await
    }

    /// Scans in the order of their ids; deleted ones are missing.
    pub async fn scans_by_id(&self, ids: &[i64], now: Timestamp) -> StoreResult<Vec<Scan>> {
        sql(SELECT)
            .push(" AND id IN list($1) ORDER BY id")
            .bind_ids(ids)
            .all_as(self.read(), |row| scan_of(row, now))
            .await
    }

    /// Queues a scan and adds its target if necessary, in one transaction.
    ///
    /// The inner error explains the missing target; [`AddedTarget::Existing`] then means a target
    /// that does not exist or is being deleted.
    pub async fn add_scan(
        &self,
        target: ScanTarget<'_>,
        scan: &ScanToAdd,
        now: Timestamp,
    ) -> StoreResult<Result<(ScanId, TargetId), AddedTarget>> {
        let mut change = self.change().await?;
        let target = match target {
            ScanTarget::Existing(id) => id,
            ScanTarget::Named(target, limit) => {
                match add_target(&mut change, &target, limit).await? {
                    AddedTarget::New(id) | AddedTarget::Existing(id) => id,
                    refused => return Ok(Err(refused)),
                }
            }
        };
        if is_deleting(&mut change, target).await? {
            return Ok(Err(AddedTarget::Existing(target)));
        }
        let Some(id) = insert_scan(&mut change, target, scan, now).await? else {
            return Ok(Err(AddedTarget::Existing(target)));
        };
        change.commit().await?;
        Ok(Ok((id, target)))
    }

    /// Deletes a scan that has ended, in batches. A scan that has ended never becomes active again.
    pub async fn delete_scan(&self, id: ScanId) -> StoreResult<Deletion> {
        self.to_its_end(|store| async move {
            let (exists, active): (bool, bool) = sql(
                "SELECT EXISTS (SELECT 1 FROM scans WHERE id = $1 AND status <> 'importing'),
                    EXISTS (SELECT 1 FROM jobs WHERE scan_id = $1)",
            )
            .bind(id.0)
            .one(store.read())
            .await?;
            match (exists, active) {
                (false, _) => return Ok(Deletion::NotFound),
                (true, true) => return Ok(Deletion::Active),
                (true, false) => {}
            }
            store.delete_results(&[id.0]).await?;
            let deleted = store
                .execute(sql("DELETE FROM scans WHERE id = $1").bind(id.0))
                .await?;
            store.sweep_import_parts().await?;
            Ok(if deleted == 0 {
                Deletion::NotFound
            } else {
                Deletion::Done
            })
        })
        .await
    }

    /// The output of a scan so far; its type is empty before the first output.
    ///
    /// The data is the stored JSON text, which is sent without parsing it.
    pub async fn scan_output(&self, id: ScanId) -> StoreResult<Option<(String, String)>> {
        let bulk = self.bulk().await;
        sql("SELECT output_type, output_data FROM scans WHERE id = $1 AND status <> 'importing'")
            .bind(id.0)
            .optional(bulk.read())
            .await
    }

    /// The ids of the lines of a raw log.
    pub async fn raw_line_ids(&self, id: ScanId) -> StoreResult<Vec<i64>> {
        let bulk = self.bulk().await;
        sql("SELECT id FROM raw_lines WHERE scan_id = $1 ORDER BY id")
            .bind(id.0)
            .all(bulk.read())
            .await
    }

    /// Lines of a raw log.
    pub async fn raw_lines(&self, ids: &[i64]) -> StoreResult<Vec<String>> {
        let bulk = self.bulk().await;
        sql("SELECT line FROM raw_lines WHERE id IN list($1) ORDER BY id")
            .bind_ids(ids)
            .all(bulk.read())
            .await
    }

    /// The number of waiting and running scans.
    pub async fn active_scans(&self) -> StoreResult<i64> {
        sql("SELECT count(*) FROM jobs").one(self.read()).await
    }

    /// The ids of the scans with a worker.
    pub async fn running_scan_ids(&self) -> StoreResult<Vec<i64>> {
        sql("SELECT scan_id FROM jobs WHERE owner IS NOT NULL")
            .all(self.read())
            .await
    }

    /// Ids and targets of the given scans that have ended with a message that begins with `cause`.
    pub async fn ended_scans(&self, ids: &[i64], cause: &str) -> StoreResult<Vec<(i64, String)>> {
        sql(
            "SELECT scans.id, targets.name FROM scans JOIN targets ON targets.id = target_id
             WHERE scans.id IN list($1) AND ended_at IS NOT NULL
                AND substr(message, 1, length($2)) = $2 ORDER BY scans.id",
        )
        .bind_ids(ids)
        .bind(cause)
        .all(self.read())
        .await
    }

    /// The number of scans with a worker.
    pub async fn running_scans(&self) -> StoreResult<i64> {
        sql("SELECT count(*) FROM jobs WHERE owner IS NOT NULL")
            .one(self.read())
            .await
    }
}

/// Queues a scan; `None` when the target does not exist.
pub(super) async fn insert_scan(
    change: &mut WriteTransaction,
    target: TargetId,
    scan: &ScanToAdd,
    now: Timestamp,
) -> StoreResult<Option<ScanId>> {
    let place = scan.place.as_deref().unwrap_or_default();
    let notes: Vec<String> = match place {
        "" => Vec::new(),
        named => vec![place_note(named)],
    };
    let id: Option<i64> = sql(
        "INSERT INTO scans (workspace_id, target_id, tool_id, status, created_at, params, redirect_level,
            scan_original_url, vpn_scan, max_minutes, callback, info)
         SELECT workspace_id, id, $1, 'waiting', $2, $3, $4, $5, $6, $7, $8, $9 FROM targets WHERE id = $10 RETURNING id",
    )
    .bind(scan.tool)
    .bind(millis(now))
    .bind(scan.shown_params.to_string())
    .bind(scan.redirect_level.as_str())
    .bind(scan.scan_original_url)
    .bind(!place.is_empty())
    .bind(scan.max_minutes)
    .bind(scan.callback.as_ref().and_then(|callback| serde_json::to_string(callback).ok()))
    .bind(json_lines(&notes))
    .bind(target.0)
    .optional(&mut *change)
    .await?;
    let Some(id) = id else {
        return Ok(None);
    };
    sql("INSERT INTO jobs (scan_id, params, place) VALUES ($1, $2, $3)")
        .bind(id)
        .bind(scan.params.to_string())
        .bind(place)
        .execute(&mut *change)
        .await?;
    Ok(Some(ScanId(id)))
}
