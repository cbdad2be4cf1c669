//! Callbacks that have still to be delivered. A row goes when its delivery succeeded or the tries are used up.

use jiff::{SignedDuration, Timestamp};
use sqlx::{FromRow, SqliteConnection};

use super::{Store, StoreResult, millis};
use crate::contract::{ReportCallback, ScanId};

/// Tries of one delivery (`hosted-service.md`, Callbacks).
pub const TRIES: i64 = 5;

/// Time between two tries.
pub const PAUSE: SignedDuration = SignedDuration::from_secs(3);

/// A delivery to be queued.
#[derive(Clone, Copy, Debug)]
pub struct NewDelivery<'a> {
    pub url: &'a str,
    /// What it is about: `scan 7`, `report 3`.
    pub subject: &'a str,
    pub content_type: &'a str,
    pub body: &'a [u8],
}

/// A delivery that is due or will be.
#[derive(Clone, Debug, FromRow)]
pub struct Delivery {
    pub id: i64,
    pub url: String,
    pub subject: String,
    pub content_type: String,
    pub body: Vec<u8>,
    /// Failed tries so far.
    pub tries: i64,
    /// Milliseconds since 1970.
    pub next_at: i64,
}

/// A scan that has ended and whose report nobody has queued yet.
#[derive(Clone, Debug)]
pub struct Owed {
    /// The scan.
    pub scan: ScanId,
    /// What was asked for.
    pub callback: ReportCallback,
}

impl Store {
    /// The delivery whose turn is next, due or not, but for those that are `busy`.
    pub async fn next_delivery(&self, busy: &[i64]) -> StoreResult<Option<Delivery>> {
        sqlx::query_as(
            "SELECT id, url, subject, content_type, body, tries, next_at FROM deliveries
             WHERE id NOT IN (SELECT value FROM json_each(?)) ORDER BY next_at, id LIMIT 1",
        )
        .bind(serde_json::to_string(busy).unwrap_or_else(|_| "[]".to_owned()))
        .fetch_optional(self.read())
        .await
    }

    /// Notes a failed try; gives false when it was the last one.
    pub async fn put_off(&self, delivery: &Delivery, now: Timestamp) -> StoreResult<bool> {
        if delivery.tries + 1 >= TRIES {
            self.forget_delivery(delivery.id).await?;
            return Ok(false);
        }
        let mut change = self.change().await?;
        sqlx::query("UPDATE deliveries SET tries = tries + 1, next_at = ? WHERE id = ?")
            .bind(millis(now + PAUSE))
            .bind(delivery.id)
            .execute(&mut *change)
            .await?;
        change.commit().await?;
        Ok(true)
    }

    /// Takes a delivery out of the queue.
    pub async fn forget_delivery(&self, id: i64) -> StoreResult<()> {
        let mut change = self.change().await?;
        sqlx::query("DELETE FROM deliveries WHERE id = ?").bind(id).execute(&mut *change).await?;
        change.commit().await
    }

    /// An ended scan whose report is still to be queued.
    pub async fn next_owed(&self) -> StoreResult<Option<Owed>> {
        let row: Option<(i64, String)> = sqlx::query_as(
            "SELECT id, callback FROM scans WHERE callback IS NOT NULL AND ended_at IS NOT NULL ORDER BY id LIMIT 1",
        )
        .fetch_optional(self.read())
        .await?;
        let owed = |(id, callback): (i64, String)| Owed {
            scan: ScanId(id),
            callback: serde_json::from_str(&callback).unwrap_or_default(),
        };
        Ok(row.map(owed))
    }

    /// Queues the report of a scan, if there is one to send; the scan owes nothing from then on.
    pub async fn settle(&self, scan: ScanId, delivery: Option<&NewDelivery<'_>>, now: Timestamp) -> StoreResult<()> {
        let mut change = self.change().await?;
        sqlx::query("UPDATE scans SET callback = NULL WHERE id = ?").bind(scan.0).execute(&mut *change).await?;
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
    sqlx::query("INSERT INTO deliveries (url, subject, content_type, body, next_at) VALUES (?, ?, ?, ?, ?)")
        .bind(delivery.url)
        .bind(delivery.subject)
        .bind(delivery.content_type)
        .bind(delivery.body)
        .bind(millis(now))
        .execute(connection)
        .await?;
    Ok(())
}
