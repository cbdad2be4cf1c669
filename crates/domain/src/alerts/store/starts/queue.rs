//! The scans of schedules that wait until their target is free.

use jiff::Timestamp;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::{LEASE, ScheduleStarts};
use scandeck_wire::contract::{NewScan, TargetId};
use scandeck_wire::sqlite::StoreError;

/// A scan that waits until its target is free.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingScan {
    id: i64,
    pub schedule: String,
    pub target: TargetId,
    pub scan: NewScan,
}

impl ScheduleStarts {
    /// The waiting scans, the first one first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn queued(&mut self) -> Result<Vec<WaitingScan>, StoreError> {
        let failed = StoreError::of(&self.file.path);
        let rows = sqlx::query("SELECT id, schedule, target, scan FROM queued_scans ORDER BY id")
            .fetch_all(&mut self.file.connection)
            .await;
        let read = |row: &SqliteRow| -> sqlx::Result<WaitingScan> {
            Ok(WaitingScan {
                id: row.try_get(0)?,
                schedule: row.try_get(1)?,
                target: TargetId(row.try_get(2)?),
                scan: serde_json::from_str(row.try_get(3)?).unwrap_or_default(),
            })
        };
        let queued = rows.and_then(|rows| rows.iter().map(read).collect());
        queued.map_err(failed)
    }

    /// Takes a scan out of the queue, before it is started: a process that ends meanwhile never
    /// starts it a second time. False when another process took it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn take(&mut self, queued: &WaitingScan, now: Timestamp) -> Result<bool, StoreError> {
        let failed = StoreError::of(&self.file.path);
        self.remove(queued, now).await.map_err(failed)
    }

    async fn remove(&mut self, queued: &WaitingScan, now: Timestamp) -> sqlx::Result<bool> {
        let removed = sqlx::query("DELETE FROM queued_scans WHERE id = ?")
            .bind(queued.id)
            .execute(&mut self.file.connection)
            .await?;
        // The requests of many scans take longer than a lease.
        sqlx::query("UPDATE schedule_lease SET until = ? WHERE holder = ?")
            .bind(now.as_second() + LEASE)
            .bind(self.holder)
            .execute(&mut self.file.connection)
            .await?;
        Ok(removed.rows_affected() > 0)
    }

    /// Puts a scan that certainly was not started back to its place in the queue.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn put_back(&mut self, queued: &WaitingScan) -> Result<(), StoreError> {
        let failed = StoreError::of(&self.file.path);
        let insert = "INSERT INTO queued_scans (id, schedule, target, scan) VALUES (?, ?, ?, ?)";
        let inserted = sqlx::query(insert)
            .bind(queued.id)
            .bind(&queued.schedule)
            .bind(queued.target.0)
            .bind(serde_json::to_string(&queued.scan).unwrap_or_default())
            .execute(&mut self.file.connection)
            .await;
        inserted.map(drop).map_err(failed)
    }
}
