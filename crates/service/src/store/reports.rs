//! Reports in the store: first the request, then the document in parts.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::deliveries::{self, NewDelivery};
use super::sql::{ReadRow, SqlRow, per_engine, sql};
use super::{Store, StoreResult, millis, stamp, text};
use scandeck_wire::contract::{
    Report, ReportFormat, ReportId, ReportSource, ReportStatus, WorkspaceId,
};

/// How long a report is available.
const RETENTION: SignedDuration = SignedDuration::from_hours(30 * 24);

fn report_of(row: &SqlRow) -> StoreResult<Report> {
    Ok(Report {
        id: ReportId(row.get("id")?),
        download_name: text(row, "name")?,
        status: ReportStatus::from(row.get::<&str>("status")?),
        format: ReportFormat::from(row.get::<&str>("format")?),
        generation_date: Some(stamp(row.get("generated_at")?)),
        expiration_date: Some(stamp(row.get("expires_at")?)),
        workspace_id: row.get::<Option<i64>>("workspace_id")?.map(WorkspaceId),
    })
}

const SELECT: &str = "SELECT id, format, status, name, coalesce(generated_at, created_at) AS generated_at, expires_at,
    workspace_id FROM reports WHERE expires_at > $1 AND id = $2";

/// A report that this process renders.
#[derive(Clone, Debug)]
pub struct QueuedReport {
    pub id: i64,
    /// No two claims of a report have the same number.
    attempt: i64,
    pub format: String,
    /// The request, or the data that an earlier version gathered, as JSON.
    pub data: String,
    /// Receives a notification when the report is ready.
    pub webhook_url: Option<String>,
}

impl ReadRow for QueuedReport {
    fn read(row: &SqlRow) -> StoreResult<Self> {
        Ok(Self {
            id: row.get("id")?,
            attempt: row.get("attempt")?,
            format: row.get("format")?,
            data: row.get("data")?,
            webhook_url: row.get("webhook_url")?,
        })
    }
}

/// The resources of a requested report.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReportResources {
    /// Ids that do not exist, at most 20.
    pub missing: Vec<i64>,
    /// The first and the last of their workspaces.
    pub workspaces: BTreeSet<WorkspaceId>,
}

/// The first and the last id of each run of successive ids.
fn runs(ids: &BTreeSet<i64>) -> Vec<(i64, i64)> {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for id in ids {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*id) => *last = *id,
            _ => runs.push((*id, *id)),
        }
    }
    runs
}

impl Store {
    /// Looks up the resources of a report.
    pub async fn report_resources(
        &self,
        source: &ReportSource,
        ids: &[i64],
    ) -> StoreResult<ReportResources> {
        let table = if *source == ReportSource::Findings {
            "findings"
        } else {
            "scans"
        };
        let ids: BTreeSet<i64> = ids.iter().copied().collect();
        let runs = runs(&ids);
        let workspaces: i64 = sql("SELECT count(*) FROM workspaces")
            .one(self.read())
            .await?;
        // The index by workspace is a fraction of the table, but is searched once for each
        // workspace.
        let is_cheaper = runs
            .len()
            .saturating_mul(usize::try_from(workspaces).unwrap_or(usize::MAX))
            <= ids.len();
        let join = if is_cheaper {
            format!(
                "workspaces CROSS JOIN {table} INDEXED BY {table}_by_workspace ON workspace_id = workspaces.id AND"
            )
        } else {
            format!("{table} ON")
        };
        const FOUND: &str = "SELECT count(*), min(workspace_id), max(workspace_id) FROM";
        let found = per_engine(
            format!(
                "{FOUND} json_each($1) AS run
                 CROSS JOIN {join} {table}.id BETWEEN run.value ->> 0 AND run.value ->> 1"
            ),
            format!(
                "{FOUND} json_array_elements(CAST($1 AS json)) AS run JOIN {table}
                 ON {table}.id BETWEEN CAST(run.value ->> 0 AS BIGINT) AND CAST(run.value ->> 1 AS BIGINT)"
            ),
        );
        let bulk = self.bulk().await;
        let (count, first, last): (i64, Option<i64>, Option<i64>) =
            found.bind(json!(runs).to_string()).one(bulk.read()).await?;
        let mut resources = ReportResources {
            workspaces: first.into_iter().chain(last).map(WorkspaceId).collect(),
            ..ReportResources::default()
        };
        if count < i64::try_from(ids.len()).unwrap_or(i64::MAX) {
            let missing = per_engine(
                format!(
                    "SELECT value FROM json_each($1) WHERE value NOT IN (SELECT id FROM {table}) ORDER BY value LIMIT 20"
                ),
                format!(
                    "SELECT value FROM unnest($1) AS value
                     WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE id = value) ORDER BY value LIMIT 20"
                ),
            );
            let ids: Vec<i64> = ids.into_iter().collect();
            resources.missing = missing.bind_ids(&ids).all(bulk.read()).await?;
        }
        Ok(resources)
    }

    /// The ids of reports that have not expired.
    pub async fn report_ids(&self, now: Timestamp) -> StoreResult<Vec<i64>> {
        let bulk = self.bulk().await;
        sql("SELECT id FROM reports WHERE expires_at > $1 ORDER BY id")
            .bind(millis(now))
            .all(bulk.read())
            .await
    }

    /// Reports in the order of their ids. Deleted ones are missing.
    pub async fn reports(&self, ids: &[i64]) -> StoreResult<Vec<Report>> {
        let bulk = self.bulk().await;
        sql(
            "SELECT id, format, status, name, coalesce(generated_at, created_at) AS generated_at, expires_at, workspace_id
             FROM reports WHERE id IN list($1) ORDER BY id",
        )
        .bind_ids(ids)
        .all_as(bulk.read(), report_of).await
    }

    /// A report that has not expired.
    pub async fn report(&self, id: ReportId, now: Timestamp) -> StoreResult<Option<Report>> {
        sql(SELECT)
            .bind(millis(now))
            .bind(id.0)
            .optional_as(self.read(), report_of)
            .await
    }

    /// Queues a report. `name` builds its file name, which contains the new id.
    pub async fn add_report(
        &self,
        format: &ReportFormat,
        data: &str,
        webhook_url: Option<&str>,
        workspace: Option<WorkspaceId>,
        name: impl FnOnce(ReportId) -> String,
        now: Timestamp,
    ) -> StoreResult<ReportId> {
        let mut change = self.change().await?;
        let id: i64 = sql(
            "INSERT INTO reports (format, status, created_at, expires_at, data, webhook_url, workspace_id)
             VALUES ($1, 'waiting', $2, $3, $4, $5, (SELECT id FROM workspaces WHERE id = $6)) RETURNING id",
        )
        .bind(format.as_str())
        .bind(millis(now))
        .bind(millis(now + RETENTION))
        .bind(data)
        .bind(webhook_url)
        // None if the workspace was deleted since the resources were checked.
        .bind(workspace.map(|workspace| workspace.0))
        .one(&mut change)
        .await?;
        sql("UPDATE reports SET name = $1 WHERE id = $2")
            .bind(name(ReportId(id)))
            .bind(id)
            .execute(&mut change)
            .await?;
        change.commit().await?;
        Ok(ReportId(id))
    }

    /// Claims the oldest report that waits to be rendered. One that this process has claimed before
    /// could not be stored.
    pub async fn claim_report(&self) -> StoreResult<Option<QueuedReport>> {
        const WAITING: &str = "SELECT id FROM reports
            WHERE status = 'waiting' AND (owner IS NULL OR owner = $1) ORDER BY id LIMIT 1";
        let claim = format!(
            "UPDATE reports SET owner = $1, attempt = attempt + 1 WHERE id = ({WAITING})
             RETURNING id, attempt, format, coalesce(data, '') AS data, webhook_url",
        );
        self.claim_waiting(WAITING, claim).await
    }

    /// Adds a part of the document of a claimed report; false when the claim was lost. Nobody sees
    /// the part before the report is finished.
    pub async fn add_report_part(
        &self,
        report: &QueuedReport,
        position: i64,
        bytes: &[u8],
    ) -> StoreResult<bool> {
        // An earlier attempt adds nothing, so the parts of a report are those of one attempt.
        let insert = sql("INSERT INTO report_parts (report_id, position, bytes)
             SELECT id, $3, $4 FROM reports WHERE id = $1 AND attempt = $2 AND owner = $5")
        .bind(report.id)
        .bind(report.attempt)
        .bind(position)
        .bind(bytes)
        .bind(&self.node.id);
        Ok(self.execute(insert).await? > 0)
    }

    /// Ends a claimed report, and queues the notification in the same transaction, so that neither
    /// exists without the other. A report without parts is empty.
    pub async fn finish_report(
        &self,
        report: &QueuedReport,
        is_rendered: bool,
        notification: &[u8],
        now: Timestamp,
    ) -> StoreResult<()> {
        let status = if is_rendered {
            ReportStatus::Finished
        } else {
            ReportStatus::Failed
        };
        let mut change = self.change().await?;
        let done = sql(
            "UPDATE reports SET status = $3, generated_at = $4, data = NULL, owner = NULL
             WHERE id = $1 AND attempt = $2 AND owner = $5",
        )
        .bind(report.id)
        .bind(report.attempt)
        .bind(status.as_str())
        .bind(millis(now))
        .bind(&self.node.id)
        .execute(&mut change)
        .await?;
        // No notification for a report that was deleted, or claimed again, in the meantime.
        if done > 0
            && let Some(url) = &report.webhook_url
        {
            let subject = format!("report {}", report.id);
            let content_type = "application/json";
            let delivery = NewDelivery {
                url,
                subject: &subject,
                content_type,
                body: notification,
            };
            deliveries::add(&mut change, &delivery, now).await?;
        }
        change.commit().await
    }

    /// The number of parts of the document of a finished report, and their bytes together.
    pub async fn report_size(&self, id: ReportId) -> StoreResult<(i64, i64)> {
        sql("SELECT count(*), CAST(coalesce(sum(octet_length(bytes)), 0) AS BIGINT) FROM report_parts WHERE report_id = $1")
            .bind(id.0)
            .one(self.read())
            .await
    }

    /// A part of the document of a finished report.
    ///
    /// # Errors
    /// Also when the report was deleted.
    pub async fn report_part(&self, id: ReportId, position: i64) -> StoreResult<Vec<u8>> {
        let bulk = self.bulk().await;
        sql("SELECT bytes FROM report_parts WHERE report_id = $1 AND position = $2")
            .bind(id.0)
            .bind(position)
            .one(bulk.read())
            .await
    }

    /// Deletes a report; false when it does not exist.
    pub async fn delete_report(&self, id: ReportId, now: Timestamp) -> StoreResult<bool> {
        let delete = sql("DELETE FROM reports WHERE id = $1 AND expires_at > $2");
        Ok(self.execute(delete.bind(id.0).bind(millis(now))).await? > 0)
    }

    /// Deletes the reports of a workspace.
    pub(super) async fn delete_reports_of(&self, workspace: WorkspaceId) -> StoreResult<()> {
        self.execute(sql("DELETE FROM reports WHERE workspace_id = $1").bind(workspace.0))
            .await?;
        self.sweep_report_parts().await
    }

    /// Deletes expired reports, and the parts of deleted ones.
    pub async fn purge_reports(&self, now: Timestamp) -> StoreResult<()> {
        self.delete_in_batches("reports", "expires_at <= $1", &[millis(now)])
            .await?;
        self.sweep_report_parts().await
    }

    /// Deletes the oldest finished reports, so that the documents of all have at most `limit` bytes
    /// with a new one.
    pub async fn expire_reports(&self, new: u64, limit: i64) -> StoreResult<()> {
        let delete = sql(
            "DELETE FROM reports WHERE status <> 'waiting' AND id IN (
                SELECT id FROM (
                    SELECT id, sum(size) OVER (ORDER BY id DESC) AS newer_with_this FROM (
                        SELECT report_id AS id, sum(octet_length(bytes)) AS size FROM report_parts GROUP BY report_id
                    ) AS sizes) AS sums
                WHERE newer_with_this + $1 > $2)",
        );
        let new = i64::try_from(new).unwrap_or(i64::MAX / 2);
        let deleted = self.execute(delete.bind(new).bind(limit)).await?;
        if deleted > 0 {
            tracing::info!(
                reports = deleted,
                "oldest reports expired: the limit of all reports is {limit} bytes"
            );
            self.sweep_report_parts().await?;
        }
        Ok(())
    }

    /// Deletes the parts that earlier attempts of a claimed report have added.
    pub async fn delete_report_parts(&self, report: &QueuedReport) -> StoreResult<()> {
        self.delete_parts(
            "report_id = $1 AND EXISTS (SELECT 1 FROM reports WHERE id = report_id AND attempt = $2)",
            &[report.id, report.attempt],
        )
        .await
    }

    async fn sweep_report_parts(&self) -> StoreResult<()> {
        self.delete_parts("report_id NOT IN (SELECT id FROM reports)", &[])
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{open, silence, two_nodes};
    use super::*;

    #[test]
    fn runs_join_successive_ids() {
        assert_eq!(
            runs(&BTreeSet::from([7, 1, 2, 3, i64::MAX])),
            [(1, 3), (7, 7), (i64::MAX, i64::MAX)]
        );
    }

    #[tokio::test]
    async fn resources_are_found_by_runs_and_one_by_one() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let mut change = store.change().await.unwrap();
        for statement in [
            "INSERT INTO workspaces (id, name, name_key) VALUES (2, 'b', 'b'), (3, 'c', 'c')",
            "INSERT INTO targets (id, workspace_id, name, type) VALUES (1, 1, 'a', 'ip'), (2, 2, 'a', 'ip')",
            "INSERT INTO scans (id, workspace_id, target_id, tool_id, status, created_at, params, redirect_level,
                scan_original_url, vpn_scan, max_minutes)
             SELECT id, of, of, 70, 'finished', 0, '{}', 'same_domain', false, false, 5
                FROM (SELECT column1 AS id, CASE WHEN column1 > 10 THEN 2 ELSE 1 END AS of
                FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (13)) AS ids) AS scans",
        ] {
            sql(statement).execute(&mut change).await.unwrap();
        }
        change.commit().await.unwrap();
        let found = async |ids: &[i64]| {
            let found = store
                .report_resources(&ReportSource::Scans, ids)
                .await
                .unwrap();
            (
                found.missing,
                found
                    .workspaces
                    .into_iter()
                    .map(|id| id.0)
                    .collect::<Vec<_>>(),
            )
        };
        // One run of ten for three workspaces; the others have a run for each id.
        assert_eq!(
            found(&[10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1]).await,
            (vec![], vec![1])
        );
        assert_eq!(
            found(&(1..=14).collect::<Vec<_>>()).await,
            (vec![12, 14], vec![1, 2])
        );
        assert_eq!(found(&[13, 1]).await, (vec![], vec![1, 2]));
        assert_eq!(found(&[13, 99]).await, (vec![99], vec![2]));
    }

    #[tokio::test]
    async fn oldest_reports_expire_when_a_new_one_exceeds_the_limit() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let now = Timestamp::now();
        for _ in 0..5 {
            let add = store.add_report(
                &ReportFormat::Json,
                "{}",
                None,
                None,
                |id| id.to_string(),
                now,
            );
            let id = add.await.unwrap();
            if id.0 != 5 {
                let report = store.claim_report().await.unwrap().unwrap();
                store.add_report_part(&report, 0, &[0; 60]).await.unwrap();
                store.add_report_part(&report, 1, &[0; 40]).await.unwrap();
                store.finish_report(&report, true, b"", now).await.unwrap();
            }
        }
        store.expire_reports(200, 600).await.unwrap();
        assert_eq!(store.report_ids(now).await.unwrap(), [1, 2, 3, 4, 5]);
        store.expire_reports(201, 500).await.unwrap();
        assert_eq!(store.report_ids(now).await.unwrap(), [3, 4, 5]);
        assert_eq!(store.report_size(ReportId(1)).await.unwrap(), (0, 0));
        store.expire_reports(500, 500).await.unwrap();
        assert_eq!(
            store.report_ids(now).await.unwrap(),
            [5],
            "a waiting report has no document"
        );
    }

    #[tokio::test]
    async fn waiting_report_is_rendered_by_one_process() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        let now = Timestamp::now();
        for number in 1..=2 {
            let name = |id: ReportId| id.to_string();
            let add = one.add_report(&ReportFormat::Json, "{}", None, None, name, now);
            assert_eq!(add.await.unwrap().0, number);
        }
        let claimed = one.claim_report().await.unwrap().unwrap();
        assert_eq!(other.claim_report().await.unwrap().unwrap().id, 2);
        let third = open(&temp.path().join("one")).await;
        assert!(third.claim_report().await.unwrap().is_none());
        assert_eq!(claimed.id, 1);
    }

    #[tokio::test]
    async fn late_attempt_changes_no_report_of_a_newer_one() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        let now = Timestamp::now();
        let hook = Some("http://127.0.0.1/");
        let name = |id: ReportId| id.to_string();
        let add = one.add_report(&ReportFormat::Json, "{}", hook, None, name, now);
        let id = add.await.unwrap();
        let late = one.claim_report().await.unwrap().unwrap();
        assert!(one.add_report_part(&late, 0, b"late").await.unwrap());
        let later = now + SignedDuration::from_secs(16);
        other.register(now).await.unwrap();
        silence(&one, 16).await;
        assert!(other.beat(true, 0, later).await.unwrap().has_ended_nodes);
        assert!(!one.add_report_part(&late, 1, b"late").await.unwrap());
        let newer = other.claim_report().await.unwrap().unwrap();
        other.delete_report_parts(&newer).await.unwrap();
        assert!(other.add_report_part(&newer, 0, b"new").await.unwrap());

        one.delete_report_parts(&late).await.unwrap();
        assert!(!one.add_report_part(&late, 1, b"late").await.unwrap());
        one.finish_report(&late, false, b"late", later)
            .await
            .unwrap();
        assert!(one.next_delivery_at(&[]).await.unwrap().is_none());
        other
            .finish_report(&newer, true, b"new", later)
            .await
            .unwrap();
        let report = one.report(id, later).await.unwrap().unwrap();
        assert_eq!(report.status, ReportStatus::Finished);
        assert_eq!(one.report_size(id).await.unwrap(), (1, 3));
        let sent = other.claim_delivery(&[], later).await.unwrap().unwrap();
        assert_eq!(sent.body, b"new");
    }

    #[tokio::test]
    async fn parts_of_deleted_and_expired_reports_are_swept() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let now = Timestamp::now();
        let mut ids = Vec::new();
        for age in [0, 40 * 24, 0] {
            let made = now - SignedDuration::from_hours(age);
            let add = store.add_report(
                &ReportFormat::Json,
                "{}",
                None,
                None,
                |id| id.to_string(),
                made,
            );
            ids.push(add.await.unwrap());
            let report = store.claim_report().await.unwrap().unwrap();
            for position in 0..20 {
                let added = store.add_report_part(&report, position, b"part").await;
                assert!(added.unwrap());
            }
            store.finish_report(&report, true, b"", now).await.unwrap();
        }
        store.delete_report(ids[0], now).await.unwrap();
        store.purge_reports(now).await.unwrap();
        let sizes = [
            store.report_size(ids[0]).await,
            store.report_size(ids[1]).await,
            store.report_size(ids[2]).await,
        ];
        assert_eq!(sizes.map(Result::unwrap), [(0, 0), (0, 0), (20, 80)]);
        assert_eq!(store.report_part(ids[2], 19).await.unwrap(), b"part");
        assert!(store.report_part(ids[0], 0).await.is_err());
    }
}
