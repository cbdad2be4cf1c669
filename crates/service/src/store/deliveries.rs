//! Callbacks that are not delivered yet. A row is deleted after success or after the last attempt.

use jiff::{SignedDuration, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Row, SqliteConnection};

use super::{Store, StoreResult, millis};
use scandeck_wire::contract::{ReportCallback, ScanId};

/// Attempts per delivery (`hosted-service.md`, Callbacks).
pub const ATTEMPTS: i64 = 5;

/// Time between two attempts.
pub const RETRY_DELAY: SignedDuration = SignedDuration::from_secs(3);

/// A delivery to queue.
#[derive(Clone, Copy, Debug)]
pub struct NewDelivery<'a> {
    pub url: &'a str,
    /// The scan or report it is about: `scan 7`, `report 3`.
    pub subject: &'a str,
    pub content_type: &'a str,
    pub body: &'a [u8],
}

/// A queued delivery.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub id: i64,
    pub url: String,
    pub subject: String,
    pub content_type: String,
    pub body: Vec<u8>,
    /// Failed attempts so far.
    pub tries: i64,
    /// Milliseconds since 1970.
    pub next_at: i64,
}

impl FromRow<'_, SqliteRow> for Delivery {
    fn from_row(row: &SqliteRow) -> StoreResult<Self> {
        Ok(Self {
            id: row.try_get("id")?,
            url: row.try_get("url")?,
            subject: row.try_get("subject")?,
            content_type: row.try_get("content_type")?,
            body: row.try_get("body")?,
            tries: row.try_get("tries")?,
            next_at: row.try_get("next_at")?,
        })
    }
}

/// An ended scan whose report callback is not queued yet.
#[derive(Clone, Debug)]
pub struct PendingCallback {
    pub scan: ScanId,
    pub callback: ReportCallback,
}

impl Store {
    /// The next delivery, due or not, except those in `sending`.
    pub async fn next_delivery(&self, sending: &[i64]) -> StoreResult<Option<Delivery>> {
        sqlx::query_as(
            "SELECT id, url, subject, content_type, body, tries, next_at FROM deliveries
             WHERE id NOT IN (SELECT value FROM json_each(?)) ORDER BY next_at, id LIMIT 1",
        )
        .bind(serde_json::to_string(sending).unwrap_or_else(|_| "[]".to_owned()))
        .fetch_optional(self.read())
        .await
    }

    /// Schedules the next attempt after a failed one; false when it was the last one.
    pub async fn postpone_delivery(
        &self,
        delivery: &Delivery,
        now: Timestamp,
    ) -> StoreResult<bool> {
        if delivery.tries + 1 >= ATTEMPTS {
            self.delete_delivery(delivery.id).await?;
            return Ok(false);
        }
        let update =
            sqlx::query("UPDATE deliveries SET tries = tries + 1, next_at = ? WHERE id = ?");
        self.execute(update.bind(millis(now + RETRY_DELAY)).bind(delivery.id))
            .await?;
        Ok(true)
    }

    pub async fn delete_delivery(&self, id: i64) -> StoreResult<()> {
        self.execute(sqlx::query("DELETE FROM deliveries WHERE id = ?").bind(id))
            .await
            .map(|_| ())
    }

    /// An ended scan whose report callback is not queued yet.
    pub async fn next_pending_callback(&self) -> StoreResult<Option<PendingCallback>> {
        let row: Option<(i64, String)> = sqlx::query_as(
            "SELECT id, callback FROM scans WHERE callback IS NOT NULL AND ended_at IS NOT NULL ORDER BY id LIMIT 1",
        )
        .fetch_optional(self.read())
        .await?;
        Ok(row.map(|(id, callback)| PendingCallback {
            scan: ScanId(id),
            callback: serde_json::from_str(&callback).unwrap_or_default(),
        }))
    }

    /// Queues the report callback of a scan, if there is a report to send, and removes it from the
    /// pending ones.
    pub async fn queue_callback(
        &self,
        scan: ScanId,
        delivery: Option<&NewDelivery<'_>>,
        now: Timestamp,
    ) -> StoreResult<()> {
        let mut change = self.change().await?;
        sqlx::query("UPDATE scans SET callback = NULL WHERE id = ?")
            .bind(scan.0)
            .execute(&mut *change)
            .await?;
        if let Some(delivery) = delivery {
            add(&mut change, delivery, now).await?;
        }
        change.commit().await
    }
}

pub(super) async fn add(
    connection: &mut SqliteConnection,
    delivery: &NewDelivery<'_>,
    now: Timestamp,
) -> StoreResult<()> {
    sqlx::query(
        "INSERT INTO deliveries (url, subject, content_type, body, next_at) VALUES (?, ?, ?, ?, ?)",
    )
    .bind(delivery.url)
    .bind(delivery.subject)
    .bind(delivery.content_type)
    .bind(delivery.body)
    .bind(millis(now))
    .execute(connection)
    .await?;
    Ok(())
}
