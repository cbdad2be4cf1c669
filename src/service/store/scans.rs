//! Scans in the store: what clients read of them, and how they are made and deleted.
//!
//! What a worker writes while a scan runs is in [`super::jobs`].

use jiff::Timestamp;
use serde_json::Value;
use sqlx::{FromRow, QueryBuilder, Sqlite};

use super::targets::{Added, Deleted, TargetToAdd, add_target};
use super::{Store, StoreResult, json, millis, stamp};
use crate::contract::{
    RedirectLevel, ReportCallback, ResultSummary, Risk, Scan, ScanId, ScanOutput, ScanStatus, TargetId, WorkspaceId,
};

#[derive(FromRow)]
struct ScanRow {
    id: i64,
    workspace_id: i64,
    target_id: i64,
    tool_id: i64,
    status: String,
    message: String,
    planned: i64,
    finished: i64,
    risk0: i64,
    risk1: i64,
    risk2: i64,
    risk3: i64,
    risk4: i64,
    started_at: Option<i64>,
    ended_at: Option<i64>,
    info: String,
    params: String,
    scan_original_url: bool,
    vpn_scan: bool,
}

const SELECT: &str = "SELECT id, workspace_id, target_id, tool_id, status, message, planned, finished,
    risk0, risk1, risk2, risk3, risk4, started_at, ended_at, info, params, scan_original_url, vpn_scan
    FROM scans WHERE 1";

impl ScanRow {
    fn into_scan(self, now: Timestamp) -> Scan {
        let status = ScanStatus::from(self.status.as_str());
        let until = self.ended_at.unwrap_or_else(|| millis(now));
        Scan {
            progress: progress(&status, self.finished, self.planned),
            result_summary: self.summary(),
            id: self.id.into(),
            tool_id: self.tool_id,
            target_id: self.target_id.into(),
            status_name: status,
            vpn_scan: self.vpn_scan,
            start_time: self.started_at.map(stamp),
            end_time: self.ended_at.map(stamp),
            duration: self.started_at.map_or(0, |start| (until - start).max(0) / 1000),
            num_tests: self.planned,
            num_finished_tests: self.finished,
            status_message: self.message.into(),
            info_text_lines: serde_json::from_str(&self.info).unwrap_or_default(),
            workspace_id: Some(self.workspace_id.into()),
            scan_original_url: self.scan_original_url,
            tool_params: Some(json(&self.params)),
        }
    }

    fn summary(&self) -> ResultSummary {
        let counts = [self.risk4, self.risk3, self.risk2, self.risk1, self.risk0];
        let parts = Risk::DOWN.iter().zip(counts).filter(|(_, count)| *count > 0);
        let text = parts.map(|(risk, count)| format!("{count} {risk}")).collect::<Vec<_>>().join(", ");
        let [critical, high, medium, low, info] = counts.map(Some);
        let text = if text.is_empty() { "no findings".into() } else { text.into() };
        ResultSummary { text, critical, high, medium, low, info }
    }
}

/// 100 only when everything was done; below it until then, however many tests have ended.
fn progress(status: &ScanStatus, finished: i64, planned: i64) -> i64 {
    match status {
        ScanStatus::Finished => 100,
        _ if planned <= 0 => 0,
        _ => (finished * 100 / planned).clamp(0, 99),
    }
}

/// Which scans are listed.
#[derive(Clone, Debug, Default)]
pub struct ScanFilter {
    pub workspace: Option<WorkspaceId>,
    pub target: Option<TargetId>,
    pub tool: Option<i64>,
    pub status: Option<ScanStatus>,
    /// Started at or after; a waiting scan counts by when it was made.
    pub from: Option<Timestamp>,
    /// Started at or before.
    pub to: Option<Timestamp>,
    pub limit: i64,
    pub offset: i64,
}

/// What a new scan runs against.
#[derive(Clone, Debug)]
pub enum ScanTarget<'a> {
    /// A target that is there.
    Known(TargetId),
    /// A target that is made unless it is there, and how many targets there may be.
    Named(TargetToAdd<'a>, usize),
}

/// A scan to be queued.
#[derive(Clone, Debug)]
pub struct ScanToAdd {
    pub tool: i64,
    /// With secrets; kept until the scan has ended.
    pub params: Value,
    /// The same with secrets replaced; what clients see.
    pub shown_params: Value,
    pub redirect_level: RedirectLevel,
    pub scan_original_url: bool,
    pub vpn_scan: bool,
    pub max_minutes: i64,
    pub callback: Option<ReportCallback>,
}

impl Store {
    /// Scans, newest first.
    pub async fn scans(&self, filter: &ScanFilter, now: Timestamp) -> StoreResult<Vec<Scan>> {
        let mut query = QueryBuilder::<Sqlite>::new(SELECT);
        if let Some(workspace) = filter.workspace {
            query.push(" AND workspace_id = ").push_bind(workspace.0);
        }
        if let Some(target) = filter.target {
            query.push(" AND target_id = ").push_bind(target.0);
        }
        if let Some(tool) = filter.tool {
            query.push(" AND tool_id = ").push_bind(tool);
        }
        if let Some(status) = &filter.status {
            query.push(" AND status = ").push_bind(status.as_str().to_owned());
        }
        // To the second, as the wire shows it: the end of an interval includes the scan shown with that stamp.
        if let Some(from) = filter.from {
            query.push(" AND coalesce(started_at, created_at) / 1000 >= ").push_bind(from.as_second());
        }
        if let Some(to) = filter.to {
            query.push(" AND coalesce(started_at, created_at) / 1000 <= ").push_bind(to.as_second());
        }
        query.push(" ORDER BY id DESC LIMIT ").push_bind(filter.limit).push(" OFFSET ").push_bind(filter.offset);
        let rows: Vec<ScanRow> = query.build_query_as().fetch_all(self.read()).await?;
        Ok(rows.into_iter().map(|row| row.into_scan(now)).collect())
    }

    /// One scan.
    pub async fn scan(&self, id: ScanId, now: Timestamp) -> StoreResult<Option<Scan>> {
        let mut query = QueryBuilder::<Sqlite>::new(SELECT);
        query.push(" AND id = ").push_bind(id.0);
        let row: Option<ScanRow> = query.build_query_as().fetch_optional(self.read()).await?;
        Ok(row.map(|row| row.into_scan(now)))
    }

    /// Queues a scan, and makes its target where it is only named, in one transaction.
    ///
    /// The inner error says why there is no target to scan; [`Added::Known`] then means a target id that is gone.
    pub async fn add_scan(
        &self,
        target: ScanTarget<'_>,
        scan: &ScanToAdd,
        now: Timestamp,
    ) -> StoreResult<Result<(ScanId, TargetId), Added>> {
        let mut change = self.change().await?;
        let target = match target {
            ScanTarget::Known(id) => id,
            ScanTarget::Named(target, most) => match add_target(&mut change, &target, most).await? {
                Added::New(id) | Added::Known(id) => id,
                refused => return Ok(Err(refused)),
            },
        };
        let id: Option<i64> = sqlx::query_scalar(
            "INSERT INTO scans (workspace_id, target_id, tool_id, status, created_at, params, redirect_level,
                scan_original_url, vpn_scan, max_minutes, callback)
             SELECT workspace_id, id, ?, 'waiting', ?, ?, ?, ?, ?, ?, ? FROM targets WHERE id = ? RETURNING id",
        )
        .bind(scan.tool)
        .bind(millis(now))
        .bind(scan.shown_params.to_string())
        .bind(scan.redirect_level.as_str())
        .bind(scan.scan_original_url)
        .bind(scan.vpn_scan)
        .bind(scan.max_minutes)
        .bind(scan.callback.as_ref().and_then(|callback| serde_json::to_string(callback).ok()))
        .bind(target.0)
        .fetch_optional(&mut *change)
        .await?;
        let Some(id) = id else { return Ok(Err(Added::Known(target))) };
        sqlx::query("INSERT INTO jobs (scan_id, params) VALUES (?, ?)")
            .bind(id)
            .bind(scan.params.to_string())
            .execute(&mut *change)
            .await?;
        change.commit().await?;
        Ok(Ok((ScanId(id), target)))
    }

    /// Deletes a scan that has ended.
    pub async fn delete_scan(&self, id: ScanId) -> StoreResult<Deleted> {
        let mut change = self.change().await?;
        let active: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs WHERE scan_id = ?")
            .bind(id.0)
            .fetch_one(&mut *change)
            .await?;
        if active > 0 {
            return Ok(Deleted::Active);
        }
        let done = sqlx::query("DELETE FROM scans WHERE id = ?").bind(id.0).execute(&mut *change).await?;
        change.commit().await?;
        Ok(if done.rows_affected() == 0 { Deleted::Missing } else { Deleted::Done })
    }

    /// The output of a scan as known so far; its type is empty before there is any.
    pub async fn scan_output(&self, id: ScanId) -> StoreResult<Option<ScanOutput>> {
        let row: Option<(String, String)> = sqlx::query_as("SELECT output_type, output_data FROM scans WHERE id = ?")
            .bind(id.0)
            .fetch_optional(self.read())
            .await?;
        Ok(row.map(|(kind, data)| ScanOutput { output_type: kind.into(), output_data: json(&data) }))
    }

    /// The raw log of a scan.
    pub async fn raw_lines(&self, id: ScanId) -> StoreResult<Vec<String>> {
        sqlx::query_scalar("SELECT line FROM raw_lines WHERE scan_id = ? ORDER BY id")
            .bind(id.0)
            .fetch_all(self.read())
            .await
    }

    /// How many scans are waiting or running.
    pub async fn active_scans(&self) -> StoreResult<i64> {
        sqlx::query_scalar("SELECT count(*) FROM jobs").fetch_one(self.read()).await
    }

    /// How many scans are being worked on.
    pub async fn running_scans(&self) -> StoreResult<i64> {
        sqlx::query_scalar("SELECT count(*) FROM jobs WHERE owner IS NOT NULL").fetch_one(self.read()).await
    }
}
