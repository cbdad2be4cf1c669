//! Callbacks that are not delivered yet. A row is deleted after success or after the last attempt.

use jiff::{SignedDuration, Timestamp};

use super::sql::{ReadRow, SqlRow, sql};
use super::{Store, StoreResult, WriteTransaction, millis, nodes};
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

/// A delivery that this process sends.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub id: i64,
    pub url: String,
    pub subject: String,
    pub content_type: String,
    pub body: Vec<u8>,
    /// Failed attempts so far.
    pub tries: i64,
}

impl ReadRow for Delivery {
    fn read(row: &SqlRow) -> StoreResult<Self> {
        Ok(Self {
            id: row.get("id")?,
            url: row.get("url")?,
            subject: row.get("subject")?,
            content_type: row.get("content_type")?,
            body: row.get("body")?,
            tries: row.get("tries")?,
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
    /// Claims the next due delivery. `sending` are those that this process sends; the result of
    /// others that it has claimed could not be stored.
    pub async fn claim_delivery(
        &self,
        sending: &[i64],
        now: Timestamp,
    ) -> StoreResult<Option<Delivery>> {
        // Without the lock of writes: most polls find nothing.
        let due = self.next_delivery_at(sending).await?;
        // A later one was scheduled before the clock was set back. Clocks of nodes differ a little.
        let latest = millis(now + RETRY_DELAY * 2);
        if due.is_none_or(|at| (millis(now) + 1..=latest).contains(&at)) {
            return Ok(None);
        }
        let mut change = self.change().await?;
        if !nodes::renew(&mut change, &self.node).await? {
            return Ok(None);
        }
        let delivery = sql("UPDATE deliveries SET owner = $1 WHERE id = (
                SELECT id FROM deliveries WHERE (next_at <= $3 OR next_at > $4)
                    AND (owner IS NULL OR owner = $1) AND id NOT IN list($2)
                ORDER BY next_at, id LIMIT 1)
             RETURNING id, url, subject, content_type, body, tries")
        .bind(&self.node.id)
        .bind_ids(sending)
        .bind(millis(now))
        .bind(latest)
        .optional(&mut change)
        .await?;
        if delivery.is_some() {
            change.commit().await?;
        }
        Ok(delivery)
    }

    /// When the next delivery that this process may claim is due.
    pub async fn next_delivery_at(&self, sending: &[i64]) -> StoreResult<Option<i64>> {
        sql(
            "SELECT min(next_at) FROM deliveries WHERE (owner IS NULL OR owner = $1)
                AND id NOT IN list($2)",
        )
        .bind(&self.node.id)
        .bind_ids(sending)
        .one(self.read())
        .await
    }

    /// Schedules the next attempt after a failed one; false when it was the last one.
    pub async fn postpone_delivery(
        &self,
        delivery: &Delivery,
        now: Timestamp,
    ) -> StoreResult<bool> {
        let retry = delivery.tries + 1 < ATTEMPTS;
        // Without effect on the attempt of another process.
        let update = match retry {
            true => sql(
                "UPDATE deliveries SET tries = tries + 1, next_at = $3, owner = NULL
                 WHERE id = $1 AND owner = $2",
            ),
            false => sql("DELETE FROM deliveries WHERE id = $1 AND owner = $2"),
        };
        let update = update.bind(delivery.id).bind(&self.node.id);
        self.execute(update.bind(millis(now + RETRY_DELAY))).await?;
        Ok(retry)
    }

    pub async fn delete_delivery(&self, id: i64) -> StoreResult<()> {
        self.execute(sql("DELETE FROM deliveries WHERE id = $1").bind(id))
            .await
            .map(|_| ())
    }

    /// An ended scan whose report callback is not queued yet.
    pub async fn next_pending_callback(&self) -> StoreResult<Option<PendingCallback>> {
        let row: Option<(i64, String)> = sql(
            "SELECT id, callback FROM scans WHERE callback IS NOT NULL AND ended_at IS NOT NULL ORDER BY id LIMIT 1",
        )
        .optional(self.read())
        .await?;
        Ok(row.map(|(id, callback)| PendingCallback {
            scan: ScanId(id),
            callback: serde_json::from_str(&callback).unwrap_or_default(),
        }))
    }

    /// Queues the report callback of a scan, if there is a report to send, and removes it from the
    /// pending ones; without effect when another process did.
    pub async fn queue_callback(
        &self,
        scan: ScanId,
        delivery: Option<&NewDelivery<'_>>,
        now: Timestamp,
    ) -> StoreResult<()> {
        let mut change = self.change().await?;
        let taken = sql("UPDATE scans SET callback = NULL WHERE id = $1 AND callback IS NOT NULL")
            .bind(scan.0)
            .execute(&mut change)
            .await?;
        if taken == 0 {
            return Ok(());
        }
        if let Some(delivery) = delivery {
            add(&mut change, delivery, now).await?;
        }
        change.commit().await
    }
}

pub(super) async fn add(
    change: &mut WriteTransaction,
    delivery: &NewDelivery<'_>,
    now: Timestamp,
) -> StoreResult<()> {
    sql(
        "INSERT INTO deliveries (url, subject, content_type, body, next_at) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(delivery.url)
    .bind(delivery.subject)
    .bind(delivery.content_type)
    .bind(delivery.body)
    .bind(millis(now))
    .execute(change)
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{claim_scan, open, queue_scan, two_nodes};
    use super::*;
    use scandeck_wire::contract::ScanStatus;

    const DELIVERY: NewDelivery<'_> = NewDelivery {
        url: "http://127.0.0.1/",
        subject: "scan 1",
        content_type: "text/plain",
        body: b"body",
    };

    async fn add_delivery(store: &Store, now: Timestamp) {
        let mut change = store.change().await.unwrap();
        add(&mut change, &DELIVERY, now).await.unwrap();
        change.commit().await.unwrap();
    }

    #[tokio::test]
    async fn due_delivery_is_sent_by_one_process() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        let now = Timestamp::now();
        add_delivery(&one, now).await;
        let before = now - SignedDuration::from_millis(1);
        assert!(one.claim_delivery(&[], before).await.unwrap().is_none());
        let next = one.next_delivery_at(&[]).await.unwrap();
        assert_eq!(next, Some(millis(now)));
        let sent = one.claim_delivery(&[], now).await.unwrap().unwrap();
        assert!(other.claim_delivery(&[], now).await.unwrap().is_none());
        assert!(one.claim_delivery(&[sent.id], now).await.unwrap().is_none());
        assert_eq!(other.next_delivery_at(&[]).await.unwrap(), None);
        assert_eq!(one.next_delivery_at(&[sent.id]).await.unwrap(), None);

        assert!(one.postpone_delivery(&sent, now).await.unwrap());
        let later = now + RETRY_DELAY;
        let again = other.claim_delivery(&[], later).await.unwrap().unwrap();
        assert_eq!((again.id, again.tries), (sent.id, 1));
        one.postpone_delivery(&sent, later).await.unwrap();
        assert!(
            one.claim_delivery(&[], later + RETRY_DELAY)
                .await
                .unwrap()
                .is_none()
        );
        other.close().await;
        let third = one.claim_delivery(&[], later).await.unwrap().unwrap();
        assert_eq!(third.tries, 1, "the late result has no effect");
    }

    #[tokio::test]
    async fn delivery_does_not_wait_for_a_clock_that_was_set_back() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let now = Timestamp::now();
        add_delivery(&store, now).await;
        let failed = store.claim_delivery(&[], now).await.unwrap().unwrap();
        store.postpone_delivery(&failed, now).await.unwrap();
        let earlier = now - SignedDuration::from_hours(1);
        let again = store.claim_delivery(&[], earlier).await.unwrap();
        assert_eq!(again.map(|delivery| delivery.tries), Some(1));
    }

    #[tokio::test]
    async fn delivery_is_deleted_after_the_last_attempt() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let mut now = Timestamp::now();
        add_delivery(&store, now).await;
        for number in 1..=ATTEMPTS {
            let delivery = store.claim_delivery(&[], now).await.unwrap().unwrap();
            let retry = store.postpone_delivery(&delivery, now).await.unwrap();
            assert_eq!(retry, number < ATTEMPTS);
            now += RETRY_DELAY;
        }
        assert_eq!(store.next_delivery_at(&[]).await.unwrap(), None);
    }

    #[tokio::test]
    async fn callback_that_two_processes_render_is_queued_once() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        let now = Timestamp::now();
        let scan = queue_scan(&one, "a").await;
        let callback = "UPDATE scans SET callback = '{}'";
        one.execute(sql(callback)).await.unwrap();
        let attempt = claim_scan(&one, now).await.unwrap().attempt;
        let status = ScanStatus::Finished;
        one.finish(&attempt, &status, "", now).await.unwrap();
        for store in [&one, &other] {
            store
                .queue_callback(scan, Some(&DELIVERY), now)
                .await
                .unwrap();
        }
        assert!(other.next_pending_callback().await.unwrap().is_none());
        let first = other.claim_delivery(&[], now).await.unwrap().unwrap();
        let second = other.claim_delivery(&[first.id], now).await.unwrap();
        assert!(second.is_none(), "{second:?}");
    }
}
