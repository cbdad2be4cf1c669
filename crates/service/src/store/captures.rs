//! Requests that loggers recorded.
//!
//! They arrive in bursts, and each must be on disk before its response. Many are written in one
//! transaction, because a sync costs the same for one row as for a hundred.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use super::{Store, StoreResult, json_ids, stamp, text};
use scandeck_wire::contract::{Capture, CaptureId, LoggerId, Shared};

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

fn capture_of(row: SqliteRow) -> StoreResult<Capture> {
    let headers: Vec<Shared> = serde_json::from_str(row.try_get("headers")?).unwrap_or_default();
    let header = |name: &str| {
        let found = headers
            .iter()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| key.trim().eq_ignore_ascii_case(name));
        Shared::from(found.map(|(_, value)| value.trim()).unwrap_or_default())
    };
    let user_agent = header("user-agent");
    Ok(Capture {
        id: CaptureId(row.try_get("id")?),
        ip_address: text(&row, "ip_address")?,
        request_method: text(&row, "method")?,
        url_params: text(&row, "query")?,
        os: operating_system(&user_agent).into(),
        user_agent,
        request_body_type: header("content-type"),
        http_headers: headers,
        request_body_base64: STANDARD.encode(row.try_get::<&[u8], _>("body")?).into(),
        request_date: Some(stamp(row.try_get("received_at")?)),
        path: Some(text(&row, "path")?),
        http_version: Some(text(&row, "http_version")?),
        remote_port: Some(row.try_get("remote_port")?),
        raw_base64: row
            .try_get::<Option<&[u8]>, _>("raw")?
            .map(|raw| STANDARD.encode(raw).into()),
        problems: serde_json::from_str(row.try_get("problems")?).unwrap_or_default(),
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
        let _permit = self.bulk().await;
        sqlx::query_as(
            "SELECT id, length(body) + length(headers) + ifnull(length(raw), 0)
             FROM captures WHERE logger_id = ? AND id > ? ORDER BY id",
        )
        .bind(logger.0)
        .bind(since)
        .fetch_all(self.read())
        .await
    }

    /// Captures in the order of their ids; deleted ones are missing.
    pub async fn captures(&self, ids: &[i64]) -> StoreResult<Vec<Capture>> {
        let _permit = self.bulk().await;
        sqlx::query(
            "SELECT id, received_at, ip_address, remote_port, method, path, query, http_version, headers, body,
                raw, problems
             FROM captures WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
        )
        .bind(json_ids(ids))
        .try_map(capture_of)
        .fetch_all(self.read())
        .await
    }

    /// Records requests in one transaction. Returns false for a request whose logger is full or
    /// deleted.
    pub async fn record_captures(
        &self,
        captures: &[&NewCapture],
        quota: LoggerQuota,
    ) -> StoreResult<Vec<bool>> {
        let mut change = self.change().await?;
        let mut recorded = Vec::with_capacity(captures.len());
        for capture in captures {
            recorded.push(record(&mut change, capture, quota).await?);
        }
        change.commit().await?;
        Ok(recorded)
    }
}

async fn record(
    connection: &mut SqliteConnection,
    capture: &NewCapture,
    quota: LoggerQuota,
) -> StoreResult<bool> {
    let headers = serde_json::to_string(&capture.headers).unwrap_or_else(|_| "[]".to_owned());
    let problems = serde_json::to_string(&capture.problems).unwrap_or_else(|_| "[]".to_owned());
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
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    let counted = sqlx::query(
        "UPDATE loggers SET num_requests = num_requests + 1, body_bytes = body_bytes + ?1
         WHERE id = ?2 AND num_requests < ?3 AND body_bytes + ?1 <= ?4",
    )
    .bind(size)
    .bind(capture.logger.0)
    .bind(quota.requests)
    .bind(quota.bytes)
    .execute(&mut *connection)
    .await?;
    if counted.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query(
        "INSERT INTO captures (logger_id, received_at, ip_address, remote_port, method, path, query, http_version,
            headers, body, raw, problems) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(capture.logger.0)
    .bind(capture.received_at)
    .bind(&capture.ip_address)
    .bind(i64::from(capture.remote_port))
    .bind(&capture.method)
    .bind(&capture.path)
    .bind(&capture.query)
    .bind(&capture.http_version)
    .bind(&headers)
    .bind(&capture.body)
    .bind(capture.raw.as_deref())
    .bind(&problems)
    .execute(connection)
    .await?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::store::loggers::AddedLogger;
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
        let store = Store::open(&temp.path().join("scandeck.db"))
            .await
            .unwrap()
            .store;
        let added = store
            .add_logger(WorkspaceId(1), "a", "token", Timestamp::UNIX_EPOCH)
            .await
            .unwrap();
        let AddedLogger::New(logger) = added else {
            panic!("{added:?}")
        };
        (temp, store, logger)
    }

    #[tokio::test]
    async fn record_captures_on_full_disk_fails_and_keeps_recorded_captures() {
        let (_temp, store, logger) = store_with_logger().await;
        assert_eq!(
            store
                .record_captures(&[&capture(logger, 10)], QUOTA)
                .await
                .unwrap(),
            [true]
        );
        let pages: i64 = sqlx::query_scalar("PRAGMA page_count")
            .fetch_one(&store.write)
            .await
            .unwrap();
        let limit = |pages: i64| sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {pages}"));
        sqlx::query(limit(pages + 2))
            .execute(&store.write)
            .await
            .unwrap();
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
        sqlx::query(limit(1_000_000))
            .execute(&store.write)
            .await
            .unwrap();
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
