//! Requests that loggers recorded.
//!
//! They arrive in bursts, and each must be on disk before its response. Many are written in one
//! transaction, because a sync costs the same for one row as for a hundred, and in three statements:
//!
//! ```text
//!   loggers locked, in the order of their ids ─► requests that fit into the quotas ─► counters
//! ```

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::sql::{SqlRow, SqlValue, sql};
use super::{Store, StoreResult, WriteTransaction, stamp, text};
use scandeck_wire::contract::{Capture, CaptureId, LoggerId, Shared};

/// The bytes of a capture that count for the quota of its logger; those of [`CaptureToAdd`].
pub(super) const CAPTURE_BYTES: &str =
    "octet_length(body) + octet_length(ip_address) + octet_length(method)
    + octet_length(path) + octet_length(query) + octet_length(http_version)
    + octet_length(headers) + coalesce(octet_length(raw), 0)";

/// The limits of one logger.
#[derive(Clone, Copy, Debug)]
pub struct LoggerQuota {
    pub requests: i64,
    /// Bytes of its captures, with their headers.
    pub bytes: i64,
}

/// A request to record.
#[derive(Clone, Debug)]
pub struct NewCapture {
    pub logger: LoggerId,
    /// Milliseconds since 1970.
    pub received_at: i64,
    pub ip_address: String,
    pub remote_port: u16,
    pub method: String,
    pub path: String,
    pub query: String,
    pub http_version: String,
    /// `Name: value` lines.
    pub headers: Vec<String>,
    pub body: Vec<u8>,
    /// The request as it arrived, if [`head`](Self::head) and body do not give it.
    pub raw: Option<Vec<u8>>,
    /// What is wrong with it.
    pub problems: Vec<String>,
}

impl NewCapture {
    /// The head of a well-formed request with these parts.
    pub fn head(&self) -> Vec<u8> {
        let mark = if self.query.is_empty() { "" } else { "?" };
        let mut head = format!(
            "{} {}{mark}{} {}\r\n",
            self.method, self.path, self.query, self.http_version
        );
        self.headers
            .iter()
            .for_each(|line| head.extend([line, "\r\n"]));
        head.push_str("\r\n");
        head.into_bytes()
    }
}

fn capture_of(row: &SqlRow) -> StoreResult<Capture> {
    let headers: Vec<Shared> = serde_json::from_str(row.get("headers")?).unwrap_or_default();
    let header = |name: &str| {
        let found = headers
            .iter()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| key.trim().eq_ignore_ascii_case(name));
        Shared::from(found.map(|(_, value)| value.trim()).unwrap_or_default())
    };
    let user_agent = header("user-agent");
    Ok(Capture {
        id: CaptureId(row.get("id")?),
        ip_address: text(row, "ip_address")?,
        request_method: text(row, "method")?,
        url_params: text(row, "query")?,
        os: operating_system(&user_agent).into(),
        user_agent,
        request_body_type: header("content-type"),
        http_headers: headers,
        request_body_base64: STANDARD.encode(row.get::<&[u8]>("body")?).into(),
        request_date: Some(stamp(row.get("received_at")?)),
        path: Some(text(row, "path")?),
        http_version: Some(text(row, "http_version")?),
        remote_port: Some(row.get("remote_port")?),
        raw_base64: row
            .get::<Option<&[u8]>>("raw")?
            .map(|raw| STANDARD.encode(raw).into()),
        problems: serde_json::from_str(row.get("problems")?).unwrap_or_default(),
    })
}

/// The operating system in a User-Agent; empty when there is none.
fn operating_system(user_agent: &str) -> &'static str {
    // Android also names Linux, and iPhones name Mac OS X: specific words come first.
    const SYSTEMS: [(&str, &str); 7] = [
        ("Android", "Android"),
        ("iPhone", "iOS"),
        ("iPad", "iOS"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ];
    SYSTEMS
        .iter()
        .find(|(word, _)| user_agent.contains(word))
        .map_or("", |(_, name)| name)
}

impl Store {
    /// Ids and sizes of the captures of a logger after the id `since`, in the order of their ids.
    pub async fn capture_sizes(
        &self,
        logger: LoggerId,
        since: i64,
    ) -> StoreResult<Vec<(i64, i64)>> {
        let bulk = self.bulk().await;
        sql(
            "SELECT id, CAST(octet_length(body) + octet_length(headers) + coalesce(octet_length(raw), 0) AS BIGINT)
             FROM captures WHERE logger_id = $1 AND id > $2 ORDER BY id",
        )
        .bind(logger.0)
        .bind(since)
        .all(bulk.read())
        .await
    }

    /// Captures in the order of their ids; deleted ones are missing.
    pub async fn captures(&self, ids: &[i64]) -> StoreResult<Vec<Capture>> {
        let bulk = self.bulk().await;
        sql(
            "SELECT id, received_at, ip_address, remote_port, method, path, query, http_version, headers, body,
                raw, problems
             FROM captures WHERE id IN list($1) ORDER BY id",
        )
        .bind_ids(ids)
        .all_as(bulk.read(), capture_of).await
    }

    /// Records requests in one transaction. Returns false for a request whose logger is full or
    /// deleted.
    ///
    /// Ids are given while the loggers are locked: a client that reads the captures after an id
    /// misses none.
    pub async fn record_captures(
        &self,
        captures: &[&NewCapture],
        quota: LoggerQuota,
    ) -> StoreResult<Vec<bool>> {
        let rows: Vec<CaptureToAdd<'_>> = captures.iter().copied().map(CaptureToAdd::new).collect();
        let mut loggers: Vec<i64> = captures.iter().map(|capture| capture.logger.0).collect();
        // Sorted, so that no two recorders wait for each other.
        loggers.sort_unstable();
        loggers.dedup();
        let mut change = self.change_beside().await?;
        let mut usage = lock_loggers(&mut change, &loggers).await?;
        let recorded: Vec<bool> = rows
            .iter()
            .map(|row| {
                let of_logger = usage.get_mut(&row.capture.logger.0);
                of_logger.is_some_and(|usage| usage.add(row.size, quota))
            })
            .collect();
        let fitting: Vec<&CaptureToAdd<'_>> = rows
            .iter()
            .zip(&recorded)
            .filter_map(|(row, fits)| fits.then_some(row))
            .collect();
        if !fitting.is_empty() {
            insert(&mut change, &fitting).await?;
            count(&mut change, &usage).await?;
            change.commit().await?;
        }
        Ok(recorded)
    }
}

/// A request to record, with its lists as JSON.
struct CaptureToAdd<'a> {
    capture: &'a NewCapture,
    headers: String,
    problems: String,
    /// The bytes that count for the quota.
    size: i64,
}

impl<'a> CaptureToAdd<'a> {
    fn new(capture: &'a NewCapture) -> Self {
        let json =
            |lines: &[String]| serde_json::to_string(lines).unwrap_or_else(|_| "[]".to_owned());
        let headers = json(&capture.headers);
        let texts = [
            &capture.ip_address,
            &capture.method,
            &capture.path,
            &capture.query,
            &capture.http_version,
            &headers,
        ];
        let raw = capture.raw.as_ref().map_or(0, Vec::len);
        let size = capture.body.len() + raw + texts.iter().map(|text| text.len()).sum::<usize>();
        Self {
            size: i64::try_from(size).unwrap_or(i64::MAX),
            problems: json(&capture.problems),
            capture,
            headers,
        }
    }
}

/// The counters of a locked logger, and what a transaction adds to them.
struct LoggerUsage {
    requests: i64,
    bytes: i64,
    new_requests: i64,
    new_bytes: i64,
}

impl LoggerUsage {
    /// Counts a request; false when it does not fit into the quota.
    fn add(&mut self, size: i64, quota: LoggerQuota) -> bool {
        let requests = self.requests + self.new_requests;
        let bytes = (self.bytes + self.new_bytes).saturating_add(size);
        let fits = requests < quota.requests && bytes <= quota.bytes;
        if fits {
            self.new_requests += 1;
            self.new_bytes += size;
        }
        fits
    }
}

/// Locks loggers, given in the order of their ids; deleted ones are missing.
///
/// On SQLite the write transaction is the lock. Whatever counts the captures of a logger locks it first.
async fn lock_loggers(
    change: &mut WriteTransaction,
    ids: &[i64],
) -> StoreResult<BTreeMap<i64, LoggerUsage>> {
    let rows: Vec<(i64, i64, i64)> = sql("SELECT id, num_requests, body_bytes FROM loggers
         WHERE id IN list($1) ORDER BY id FOR UPDATE")
    .bind_ids(ids)
    .all(&mut *change)
    .await?;
    let usage = |(id, requests, bytes)| {
        let usage = LoggerUsage {
            requests,
            bytes,
            new_requests: 0,
            new_bytes: 0,
        };
        (id, usage)
    };
    Ok(rows.into_iter().map(usage).collect())
}

async fn insert(change: &mut WriteTransaction, rows: &[&CaptureToAdd<'_>]) -> StoreResult<()> {
    let values = rows.iter().map(|row| -> [SqlValue; 12] {
        let capture = row.capture;
        [
            capture.logger.0.into(),
            capture.received_at.into(),
            (&capture.ip_address).into(),
            i64::from(capture.remote_port).into(),
            (&capture.method).into(),
            (&capture.path).into(),
            (&capture.query).into(),
            (&capture.http_version).into(),
            (&row.headers).into(),
            capture.body.as_slice().into(),
            capture.raw.clone().into(),
            (&row.problems).into(),
        ]
    });
    sql(
        "INSERT INTO captures (logger_id, received_at, ip_address, remote_port, method, path, query, http_version,
            headers, body, raw, problems) ",
    )
    .push_rows(values)
    .execute(change)
    .await?;
    Ok(())
}

/// Adds the new requests to the counters of their loggers.
async fn count(
    change: &mut WriteTransaction,
    usage: &BTreeMap<i64, LoggerUsage>,
) -> StoreResult<()> {
    let new = usage
        .iter()
        .filter(|(_, usage)| usage.new_requests > 0)
        .map(|(id, usage)| [*id, usage.new_requests, usage.new_bytes].map(SqlValue::from));
    sql("UPDATE loggers SET num_requests = num_requests + column2, body_bytes = body_bytes + column3 FROM (")
        .push_rows(new)
        .push(") AS new WHERE loggers.id = column1")
        .execute(change)
        .await?;
    Ok(())
}

impl Store {
    /// Sets the counters of the quota to the captures that exist; false when the logger does not
    /// exist.
    pub(super) async fn recount_captures(&self, id: LoggerId) -> StoreResult<bool> {
        let mut change = self.change().await?;
        if lock_loggers(&mut change, &[id.0]).await?.is_empty() {
            return Ok(false);
        }
        sql(format!(
            "UPDATE loggers SET (num_requests, body_bytes) = (
                SELECT count(*), coalesce(sum({CAPTURE_BYTES}), 0)
                FROM captures WHERE logger_id = $1) WHERE id = $1"
        ))
        .bind(id.0)
        .execute(&mut change)
        .await?;
        change.commit().await?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::store::loggers::AddedLogger;
    use crate::store::testing::{open, open_sqlite, two_nodes};
    use scandeck_wire::contract::WorkspaceId;

    const QUOTA: LoggerQuota = LoggerQuota {
        requests: 100,
        bytes: 1024 * 1024,
    };

    fn capture(logger: LoggerId, bytes: usize) -> NewCapture {
        NewCapture {
            logger,
            received_at: 0,
            ip_address: "127.0.0.1".into(),
            remote_port: 1,
            method: "GET".into(),
            path: "/".into(),
            query: String::new(),
            http_version: "HTTP/1.1".into(),
            headers: Vec::new(),
            body: vec![b'x'; bytes],
            raw: None,
            problems: Vec::new(),
        }
    }

    async fn store_with_logger() -> (tempfile::TempDir, Store, LoggerId) {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let logger = add_logger(&store).await;
        (temp, store, logger)
    }

    async fn add_logger(store: &Store) -> LoggerId {
        let added = store.add_logger(WorkspaceId(1), "a", "token", Timestamp::UNIX_EPOCH);
        match added.await.unwrap() {
            AddedLogger::New(logger) => logger,
            refused => panic!("{refused:?}"),
        }
    }

    #[tokio::test]
    async fn record_captures_on_full_disk_fails_and_keeps_recorded_captures() {
        let temp = tempfile::tempdir().unwrap();
        let store = open_sqlite(temp.path()).await;
        let logger = add_logger(&store).await;
        assert_eq!(
            store
                .record_captures(&[&capture(logger, 10)], QUOTA)
                .await
                .unwrap(),
            [true]
        );
        let write = &store.sqlite().write;
        let pages: i64 = sql("PRAGMA page_count").one(write).await.unwrap();
        let limit = |pages: i64| format!("PRAGMA max_page_count = {pages}");
        sql(limit(pages + 2)).execute(write).await.unwrap();
        let (small, large) = (capture(logger, 10), capture(logger, 100_000));
        assert!(
            store
                .record_captures(&[&small, &large], QUOTA)
                .await
                .is_err()
        );
        assert_eq!(
            store.capture_sizes(logger, 0).await.unwrap().len(),
            1,
            "a batch is recorded completely or not at all"
        );
        sql(limit(1_000_000)).execute(write).await.unwrap();
        assert_eq!(
            store
                .record_captures(&[&small, &large], QUOTA)
                .await
                .unwrap(),
            [true, true]
        );
        assert_eq!(store.logger(logger).await.unwrap().unwrap().num_requests, 3);
    }

    #[tokio::test]
    async fn record_captures_beyond_byte_quota_is_refused() {
        let (_temp, store, logger) = store_with_logger().await;
        let (large, small) = (capture(logger, 600_000), capture(logger, 0));
        assert_eq!(
            store
                .record_captures(&[&large, &large, &small], QUOTA)
                .await
                .unwrap(),
            [true, false, true]
        );
        let headers = NewCapture {
            headers: vec!["x: y".repeat(110_000)],
            ..capture(logger, 0)
        };
        assert_eq!(
            store
                .record_captures(&[&headers, &headers], QUOTA)
                .await
                .unwrap(),
            [true, false]
        );
        let raw = NewCapture {
            raw: Some(vec![0; 110_000]),
            ..capture(logger, 0)
        };
        assert_eq!(
            store.record_captures(&[&raw], QUOTA).await.unwrap(),
            [false],
            "raw bytes count"
        );
        let stored = store.logger(logger).await.unwrap().unwrap().stored_bytes;
        assert!((1_040_000..QUOTA.bytes).contains(&stored), "{stored}");
    }

    #[tokio::test]
    async fn batch_for_several_loggers_keeps_its_order_and_counts_each() {
        let (_temp, store, first) = store_with_logger().await;
        let added = store.add_logger(WorkspaceId(1), "b", "other", Timestamp::UNIX_EPOCH);
        let AddedLogger::New(second) = added.await.unwrap() else {
            panic!("a new logger")
        };
        let named = |logger, path: &str| NewCapture {
            path: path.into(),
            ..capture(logger, 10)
        };
        let batch = [
            named(second, "/1"),
            named(LoggerId(99), "/2"),
            named(first, "/3"),
            named(second, "/4"),
            named(second, "/5"),
        ];
        let quota = LoggerQuota {
            requests: 2,
            ..QUOTA
        };
        let batch: Vec<&NewCapture> = batch.iter().collect();
        let recorded = store.record_captures(&batch, quota).await.unwrap();
        assert_eq!(recorded, [true, false, true, true, false]);
        let captures = store.captures(&[1, 2, 3]).await.unwrap();
        let paths: Vec<_> = captures.iter().map(|one| one.path.as_deref()).collect();
        assert_eq!(paths, [Some("/1"), Some("/3"), Some("/4")]);
        for (logger, requests) in [(first, 1), (second, 2)] {
            let counted = store.logger(logger).await.unwrap().unwrap();
            assert_eq!(counted.num_requests, requests);
            assert!(store.recount_captures(logger).await.unwrap());
            let recounted = store.logger(logger).await.unwrap().unwrap();
            assert_eq!(recounted.num_requests, requests);
            assert_eq!(recounted.stored_bytes, counted.stored_bytes);
        }
        let commits = store.commits();
        let refused = store.record_captures(&[batch[0]], quota).await.unwrap();
        assert_eq!((refused, store.commits() - commits), (vec![false], 0));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn reader_after_an_id_misses_no_capture_of_two_recorders() {
        const BATCHES: usize = 40;
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        let mut loggers = Vec::new();
        for label in ["a", "b"] {
            let added = one.add_logger(WorkspaceId(1), label, label, Timestamp::UNIX_EPOCH);
            let AddedLogger::New(logger) = added.await.unwrap() else {
                panic!("a new logger")
            };
            loggers.push(logger);
        }
        let quota = LoggerQuota {
            requests: 10_000,
            ..QUOTA
        };
        let record = |store: &Store, mut loggers: Vec<LoggerId>| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..BATCHES {
                    loggers.reverse();
                    let batch: Vec<_> = loggers.iter().map(|id| capture(*id, 10)).collect();
                    let batch: Vec<_> = batch.iter().collect();
                    let recorded = store.record_captures(&batch, quota).await.unwrap();
                    assert_eq!(recorded, [true, true]);
                }
            })
        };
        let recorders = [
            record(&one, loggers.clone()),
            record(&other, loggers.iter().rev().copied().collect()),
        ];
        let mut seen = Vec::new();
        let mut is_last = false;
        while !is_last {
            is_last = recorders.iter().all(tokio::task::JoinHandle::is_finished);
            let since = seen.last().copied().unwrap_or_default();
            let new = one.capture_sizes(loggers[0], since).await.unwrap();
            seen.extend(new.iter().map(|(id, _)| *id));
            tokio::task::yield_now().await;
        }
        for recorder in recorders {
            recorder.await.unwrap();
        }
        assert_eq!(seen.len(), 2 * BATCHES);
        let counted = other.logger(loggers[0]).await.unwrap().unwrap();
        assert_eq!(counted.num_requests, 2 * BATCHES as i64);
    }

    #[tokio::test]
    async fn raw_bytes_and_problems_are_read_as_they_were_recorded() {
        let (_temp, store, logger) = store_with_logger().await;
        let odd = NewCapture {
            raw: Some(b"GET /\0\xff HTTP/1.1\r\nX: \0\r\n\r\n".to_vec()),
            problems: vec!["no Host header".into()],
            headers: vec!["User-Agent:curl".into()],
            ..capture(logger, 0)
        };
        store
            .record_captures(&[&odd, &capture(logger, 0)], QUOTA)
            .await
            .unwrap();
        let read = store.captures(&[1, 2]).await.unwrap();
        assert_eq!(
            STANDARD
                .decode(read[0].raw_base64.as_deref().unwrap())
                .unwrap(),
            odd.raw.unwrap()
        );
        assert_eq!(
            (read[0].problems[0].as_str(), read[0].user_agent.as_str()),
            ("no Host header", "curl")
        );
        assert_eq!((&read[1].raw_base64, read[1].problems.len()), (&None, 0));
    }

    #[test]
    fn user_agent_with_two_systems_yields_the_specific_one() {
        assert_eq!(
            operating_system("Mozilla/5.0 (Linux; Android 14)"),
            "Android"
        );
        assert_eq!(
            operating_system("Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X)"),
            "iOS"
        );
        assert_eq!(operating_system("curl/8.5"), "");
    }
}
