//! Reports in the store: the data each was asked for, then the document.

use jiff::{SignedDuration, Timestamp};
use sqlx::FromRow;

use super::{Store, StoreResult, millis, stamp};
use crate::contract::{Report, ReportFormat, ReportId, ReportStatus};

/// How long a report is kept.
const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

#[derive(FromRow)]
struct ReportRow {
    id: i64,
    format: String,
    status: String,
    name: String,
    created_at: i64,
    generated_at: Option<i64>,
    expires_at: i64,
}

impl From<ReportRow> for Report {
    fn from(row: ReportRow) -> Self {
        Self {
            id: row.id.into(),
            download_name: row.name.into(),
            status: ReportStatus::from(row.status.as_str()),
            format: ReportFormat::from(row.format.as_str()),
            generation_date: Some(stamp(row.generated_at.unwrap_or(row.created_at))),
            expiration_date: Some(stamp(row.expires_at)),
        }
    }
}

const SELECT: &str = "SELECT id, format, status, name, created_at, generated_at, expires_at FROM reports
    WHERE expires_at > ?1 AND (?2 IS NULL OR id = ?2) ORDER BY id";

/// A report to be made.
#[derive(Clone, Debug)]
pub struct ReportToMake {
    /// Its id.
    pub id: ReportId,
    /// What it is made as.
    pub format: ReportFormat,
    /// Its own copy of the data, as JSON.
    pub data: String,
    /// Who is told.
    pub webhook_url: Option<String>,
}

impl Store {
    /// Reports that have not expired.
    pub async fn reports(&self, now: Timestamp) -> StoreResult<Vec<Report>> {
        let rows: Vec<ReportRow> =
            sqlx::query_as(SELECT).bind(millis(now)).bind(None::<i64>).fetch_all(self.read()).await?;
        Ok(rows.into_iter().map(Report::from).collect())
    }

    /// One report that has not expired.
    pub async fn report(&self, id: ReportId, now: Timestamp) -> StoreResult<Option<Report>> {
        let row: Option<ReportRow> =
            sqlx::query_as(SELECT).bind(millis(now)).bind(id.0).fetch_optional(self.read()).await?;
        Ok(row.map(Report::from))
    }

    /// Queues a report. Its name carries its id, so `name` is asked once that is known.
    pub async fn add_report(
        &self,
        format: &ReportFormat,
        data: &str,
        webhook_url: Option<&str>,
        name: impl FnOnce(ReportId) -> String,
        now: Timestamp,
    ) -> StoreResult<ReportId> {
        let mut change = self.change().await?;
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO reports (format, status, created_at, expires_at, data, webhook_url)
             VALUES (?, 'waiting', ?, ?, ?, ?) RETURNING id",
        )
        .bind(format.as_str())
        .bind(millis(now))
        .bind(millis(now + KEPT))
        .bind(data)
        .bind(webhook_url)
        .fetch_one(&mut *change)
        .await?;
        sqlx::query("UPDATE reports SET name = ? WHERE id = ?")
            .bind(name(ReportId(id)))
            .bind(id)
            .execute(&mut *change)
            .await?;
        change.commit().await?;
        Ok(ReportId(id))
    }

    /// The oldest report that is not made yet.
    pub async fn next_report(&self) -> StoreResult<Option<ReportToMake>> {
        let row: Option<(i64, String, Option<String>, Option<String>)> = sqlx::query_as(
            "SELECT id, format, data, webhook_url FROM reports WHERE status = 'waiting' ORDER BY id LIMIT 1",
        )
        .fetch_optional(self.read())
        .await?;
        Ok(row.map(|(id, format, data, webhook_url)| ReportToMake {
            id: ReportId(id),
            format: ReportFormat::from(format.as_str()),
            data: data.unwrap_or_default(),
            webhook_url,
        }))
    }

    /// Puts the document in (none when there was nothing to say), or says that it failed; with it goes the
    /// notification, so that neither is ever there without the other.
    pub async fn finish_report(
        &self,
        report: &ReportToMake,
        content: Result<Option<&[u8]>, ()>,
        note: Option<&[u8]>,
        now: Timestamp,
    ) -> StoreResult<()> {
        let status = if content.is_ok() { ReportStatus::Finished } else { ReportStatus::Failed };
        let mut change = self.change().await?;
        let done =
            sqlx::query("UPDATE reports SET status = ?, content = ?, generated_at = ?, data = NULL WHERE id = ?")
                .bind(status.as_str())
                .bind(content.ok().flatten())
                .bind(millis(now))
                .bind(report.id.0)
                .execute(&mut *change)
                .await?;
        // Of a report that was deleted meanwhile nobody is told that it is there.
        if done.rows_affected() > 0
            && let (Some(url), Some(note)) = (&report.webhook_url, note)
        {
            let delivery = super::deliveries::NewDelivery {
                url,
                subject: &format!("report {}", report.id),
                content_type: "application/json",
                body: note,
            };
            super::deliveries::add(&mut change, &delivery, now).await?;
        }
        change.commit().await
    }

    /// The document of a finished report.
    pub async fn report_content(&self, id: ReportId) -> StoreResult<Option<Vec<u8>>> {
        let content: Option<Option<Vec<u8>>> = sqlx::query_scalar("SELECT content FROM reports WHERE id = ?")
            .bind(id.0)
            .fetch_optional(self.read())
            .await?;
        Ok(content.flatten())
    }

    /// Deletes a report; false when there is none.
    pub async fn delete_report(&self, id: ReportId, now: Timestamp) -> StoreResult<bool> {
        let mut change = self.change().await?;
        let done = sqlx::query("DELETE FROM reports WHERE id = ? AND expires_at > ?")
            .bind(id.0)
            .bind(millis(now))
            .execute(&mut *change)
            .await?;
        change.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    /// Deletes the reports that have expired.
    pub async fn purge_reports(&self, now: Timestamp) -> StoreResult<()> {
        let mut change = self.change().await?;
        let done =
            sqlx::query("DELETE FROM reports WHERE expires_at <= ?").bind(millis(now)).execute(&mut *change).await?;
        if done.rows_affected() > 0 {
            change.commit().await?;
        }
        Ok(())
    }
}
