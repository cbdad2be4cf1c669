//! Copies a database file to PostgreSQL (`scandeck migrate`).
//!
//! ```text
//!   each table ─► pages in the order of its key ─► rows and the last key in one transaction ─► next page
//!   all copied ─► counts and digests of both databases are equal ─► ids continue after the last one
//! ```
//!
//! The last key is a row of `settings`, so an interrupted copy continues. Claims and versions are
//! not copied: claims end with their process, and versions are those of one database.

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::sql::{SqlRow, SqlValue, sql};
use super::{DatabaseError, Store, StoreResult, WriteTransaction, without_nul};
use ColumnKind::{Bytes, Flag, Number, Text};

/// Rows of a transaction.
const PAGE: i64 = 1000;
/// Bytes of values at which a page ends before.
const PAGE_BYTES: usize = 8 << 20;
/// The rows of `settings` that remember the progress begin with this.
const PROGRESS: &str = "migrated ";
/// The row of `settings` with the source of a copy that has not ended.
const SOURCE: &str = "migrated from";

#[derive(Clone, Copy, Debug)]
enum ColumnKind {
    Number,
    Flag,
    Text,
    Bytes,
}

/// A table to copy: its name, the number of columns of its key, and all columns, the key first.
struct CopiedTable {
    name: &'static str,
    key: usize,
    columns: &'static [(&'static str, ColumnKind)],
    /// Whether the key is an id that is never given twice.
    has_ids: bool,
}

/// A table whose key is an id.
const fn with_ids(
    name: &'static str,
    columns: &'static [(&'static str, ColumnKind)],
) -> CopiedTable {
    CopiedTable {
        name,
        key: 1,
        columns,
        has_ids: true,
    }
}

/// A table whose key is its first columns.
const fn with_key(
    name: &'static str,
    key: usize,
    columns: &'static [(&'static str, ColumnKind)],
) -> CopiedTable {
    CopiedTable {
        name,
        key,
        columns,
        has_ids: false,
    }
}

/// In an order in which no row refers to a later table.
const TABLES: [CopiedTable; 23] = [
    with_ids(
        "workspaces",
        &[
            ("id", Number),
            ("name", Text),
            ("name_key", Text),
            ("description", Text),
        ],
    ),
    with_ids(
        "targets",
        &[
            ("id", Number),
            ("workspace_id", Number),
            ("name", Text),
            ("type", Text),
            ("description", Text),
            ("tags", Text),
        ],
    ),
    with_ids(
        "imports",
        &[
            ("id", Number),
            ("workspace_id", Number),
            ("state", Text),
            ("file_name", Text),
            ("digest", Text),
            ("target_name", Text),
            ("format", Text),
            ("is_complete", Flag),
            ("imported_by", Text),
            ("created_at", Number),
            ("ended_at", Number),
            ("message", Text),
            ("same_as", Number),
            ("files", Text),
            ("attempt", Number),
        ],
    ),
    with_key(
        "import_parts",
        2,
        &[
            ("import_id", Number),
            ("position", Number),
            ("bytes", Bytes),
        ],
    ),
    with_ids(
        "scans",
        &[
            ("id", Number),
            ("workspace_id", Number),
            ("target_id", Number),
            ("tool_id", Number),
            ("status", Text),
            ("message", Text),
            ("planned", Number),
            ("finished", Number),
            ("risk0", Number),
            ("risk1", Number),
            ("risk2", Number),
            ("risk3", Number),
            ("risk4", Number),
            ("created_at", Number),
            ("started_at", Number),
            ("ended_at", Number),
            ("info", Text),
            ("params", Text),
            ("redirect_level", Text),
            ("scan_original_url", Flag),
            ("vpn_scan", Flag),
            ("max_minutes", Number),
            ("callback", Text),
            ("output_type", Text),
            ("output_data", Text),
            ("import_id", Number),
        ],
    ),
    with_ids(
        "schedules",
        &[
            ("id", Number),
            ("workspace_id", Number),
            ("name", Text),
            ("first_start", Text),
            ("every", Text),
            ("window_seconds", Number),
            ("all_targets", Flag),
            ("tag", Text),
            ("paused", Flag),
            ("created_by", Text),
            ("created_at", Number),
            ("done_at", Number),
            ("next_at", Number),
            ("starts", Number),
            ("last_start_at", Number),
            ("last_result", Text),
        ],
    ),
    with_key(
        "schedule_targets",
        2,
        &[("schedule_id", Number), ("target_id", Number)],
    ),
    with_key(
        "schedule_scans",
        2,
        &[
            ("schedule_id", Number),
            ("position", Number),
            ("tool_id", Number),
            ("params", Text),
            ("shown_params", Text),
            ("redirect_level", Text),
            ("scan_original_url", Flag),
            ("max_minutes", Number),
        ],
    ),
    with_key(
        "jobs",
        1,
        &[
            ("scan_id", Number),
            ("attempt", Number),
            ("tries", Number),
            ("stop_requested", Flag),
            ("service_ends", Number),
            ("params", Text),
            ("schedule_id", Number),
            ("place", Text),
            ("batch", Number),
        ],
    ),
    with_ids(
        "tests",
        &[
            ("id", Number),
            ("scan_id", Number),
            ("finding_id", Number),
            ("uid", Text),
            ("description", Text),
            ("metadata", Text),
            ("performed_at", Number),
            ("counted", Flag),
        ],
    ),
    with_ids(
        "raw_lines",
        &[("id", Number), ("scan_id", Number), ("line", Text)],
    ),
    with_ids(
        "findings",
        &[
            ("id", Number),
            ("scan_id", Number),
            ("target_id", Number),
            ("workspace_id", Number),
            ("vuln_id", Text),
            ("protocol", Text),
            ("port", Number),
            ("place", Text),
            ("risk", Number),
            ("status", Text),
            ("verified", Flag),
            ("body", Text),
        ],
    ),
    with_ids(
        "reports",
        &[
            ("id", Number),
            ("format", Text),
            ("status", Text),
            ("name", Text),
            ("created_at", Number),
            ("generated_at", Number),
            ("expires_at", Number),
            ("data", Text),
            ("webhook_url", Text),
            ("workspace_id", Number),
            ("attempt", Number),
        ],
    ),
    with_key(
        "report_parts",
        2,
        &[
            ("report_id", Number),
            ("position", Number),
            ("bytes", Bytes),
        ],
    ),
    with_ids(
        "wordlists",
        &[
            ("id", Number),
            ("name", Text),
            ("description", Text),
            ("num_words", Number),
            ("predefined", Flag),
            ("contents", Text),
        ],
    ),
    with_ids(
        "loggers",
        &[
            ("id", Number),
            ("workspace_id", Number),
            ("label", Text),
            ("token", Text),
            ("created_at", Number),
            ("num_requests", Number),
            ("body_bytes", Number),
        ],
    ),
    with_ids(
        "captures",
        &[
            ("id", Number),
            ("logger_id", Number),
            ("received_at", Number),
            ("ip_address", Text),
            ("remote_port", Number),
            ("method", Text),
            ("path", Text),
            ("query", Text),
            ("http_version", Text),
            ("headers", Text),
            ("body", Bytes),
            ("raw", Bytes),
            ("problems", Text),
        ],
    ),
    with_ids(
        "deliveries",
        &[
            ("id", Number),
            ("url", Text),
            ("subject", Text),
            ("content_type", Text),
            ("body", Bytes),
            ("tries", Number),
            ("next_at", Number),
        ],
    ),
    with_ids(
        "api_keys",
        &[
            ("id", Number),
            ("name", Text),
            ("role", Text),
            ("hash", Bytes),
            ("created_at", Number),
            ("created_by", Text),
            ("last_used_at", Number),
            ("place", Text),
        ],
    ),
    with_key(
        "event_logs",
        1,
        &[
            ("workspace_id", Number),
            ("epoch", Number),
            ("last", Number),
            ("last_payload", Number),
            ("clock", Number),
            ("bytes", Number),
            ("purged", Number),
            ("purged_payload", Number),
            ("is_purging", Flag),
            ("version", Number),
        ],
    ),
    with_key(
        "shared_events",
        2,
        &[
            ("workspace_id", Number),
            ("position", Number),
            ("instance", Number),
            ("number", Number),
            ("key_name", Text),
            ("json", Text),
        ],
    ),
    with_key(
        "shared_payloads",
        2,
        &[
            ("workspace_id", Number),
            ("position", Number),
            ("token", Text),
            ("version", Number),
            ("key_name", Text),
            ("json", Text),
        ],
    ),
    with_key(
        "purges",
        2,
        &[
            ("workspace_id", Number),
            ("epoch", Number),
            ("key_name", Text),
            ("at", Number),
            ("events", Number),
            ("payloads", Number),
        ],
    ),
];

/// Why a copy ended.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error(transparent)]
    Store(#[from] DatabaseError),
    #[error("the PostgreSQL database has data of another service; use an empty database")]
    NotEmpty,
    #[error("{table} has {} and {} after the copy, or other contents", rows(*found), rows(*expected))]
    Differs {
        table: &'static str,
        found: u64,
        expected: u64,
    },
}

fn rows(number: u64) -> String {
    scandeck_wire::text::plural(usize::try_from(number).unwrap_or(usize::MAX), "row")
}

/// A table that was copied and compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparedTable {
    pub name: &'static str,
    pub rows: u64,
}

impl Store {
    /// Whether a copy into this database has not ended.
    pub async fn is_partial_copy(&self) -> StoreResult<bool> {
        Ok(setting(self, SOURCE).await?.is_some())
    }

    /// Copies a database file into an empty PostgreSQL database, or continues a copy that was
    /// interrupted; then compares both.
    ///
    /// # Errors
    /// When the target has other data, a database fails, or a comparison does.
    pub async fn copy_to(&self, target: &Store) -> Result<Vec<ComparedTable>, CopyError> {
        begin(self, target).await?;
        let mut compared = Vec::new();
        for table in &TABLES {
            table.copy(self, target).await?;
        }
        for table in &TABLES {
            let (expected, found) = (table.digest(self).await?, table.digest(target).await?);
            if expected != found {
                return Err(CopyError::Differs {
                    table: table.name,
                    found: found.0,
                    expected: expected.0,
                });
            }
            compared.push(ComparedTable {
                name: table.name,
                rows: found.0,
            });
        }
        end(self, target).await?;
        Ok(compared)
    }
}

async fn setting(store: &Store, name: &str) -> StoreResult<Option<String>> {
    sql("SELECT value FROM settings WHERE name = $1")
        .bind(name)
        .optional(store.read())
        .await
}

async fn set(change: &mut WriteTransaction, name: &str, value: &str) -> StoreResult<()> {
    sql("INSERT INTO settings (name, value) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value")
    .bind(name)
    .bind(value)
    .execute(change)
    .await
    .map(drop)
}

/// Marks the target as a copy of this source, and removes what a new database has.
async fn begin(source: &Store, target: &Store) -> Result<(), CopyError> {
    let id = source.service_id().await?.to_string();
    match setting(target, SOURCE).await? {
        Some(known) if known == id => return Ok(()),
        Some(_) => return Err(CopyError::NotEmpty),
        None => {}
    }
    let is_used: bool = sql("SELECT EXISTS (SELECT 1 FROM targets) OR EXISTS (SELECT 1 FROM loggers)
            OR EXISTS (SELECT 1 FROM api_keys) OR EXISTS (SELECT 1 FROM workspaces WHERE id <> 1)
            OR EXISTS (SELECT 1 FROM wordlists WHERE NOT predefined) OR EXISTS (SELECT 1 FROM event_logs)")
    .one(target.read())
    .await?;
    if is_used {
        return Err(CopyError::NotEmpty);
    }
    add_months(source, target).await?;
    let mut change = target.change().await?;
    for statement in ["DELETE FROM workspaces", "DELETE FROM wordlists"] {
        sql(statement).execute(&mut change).await?;
    }
    set(&mut change, SOURCE, &id).await?;
    Ok(change.commit().await?)
}

/// Adds the tables for the months of the captures.
async fn add_months(source: &Store, target: &Store) -> StoreResult<()> {
    let times: Vec<i64> = sql("SELECT max(received_at) FROM captures
            GROUP BY strftime('%Y-%m', received_at / 1000, 'unixepoch')")
    .all(source.read())
    .await?;
    for time in times {
        // Captures of other times need no month.
        if let Ok(at) = Timestamp::from_millisecond(time) {
            target.add_months(at).await?;
        }
    }
    Ok(())
}

/// Copies the settings, and lets ids continue after the last one of the source.
async fn end(source: &Store, target: &Store) -> StoreResult<()> {
    let mut change = target.change().await?;
    for name in ["current_workspace", "service_id"] {
        if let Some(value) = setting(source, name).await? {
            set(&mut change, name, &value).await?;
        }
    }
    for table in TABLES.iter().filter(|table| table.has_ids) {
        let last: Option<i64> = sql("SELECT seq FROM sqlite_sequence WHERE name = $1")
            .bind(table.name)
            .optional(source.read())
            .await?;
        let largest: Option<i64> = sql(format!("SELECT max(id) FROM {}", table.name))
            .one(source.read())
            .await?;
        let sequence = match table.name {
            "captures" => "'captures_id'".to_owned(),
            name => format!("pg_get_serial_sequence('{name}', 'id')"),
        };
        if let Some(last) = last.max(largest) {
            sql(format!("SELECT setval({sequence}, $1)"))
                .bind(last.max(1))
                .execute(&mut change)
                .await?;
        }
    }
    for statement in [
        // The claims of a service that was killed are not copied.
        "UPDATE scans SET status = 'waiting', message = '' WHERE status = 'running'",
        "DELETE FROM settings WHERE name LIKE 'migrated %'",
    ] {
        sql(statement).execute(&mut change).await?;
    }
    change.commit().await
}

/// A row with its values, and their bytes.
struct CopiedRow {
    values: Vec<SqlValue>,
    bytes: usize,
}

impl CopiedTable {
    fn names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    async fn copy(&self, source: &Store, target: &Store) -> StoreResult<()> {
        let progress = format!("{PROGRESS}{}", self.name);
        let known = setting(target, &progress).await?;
        let mut after: Vec<i64> = known
            .and_then(|key| serde_json::from_str(&key).ok())
            .unwrap_or_else(|| vec![i64::MIN; self.key]);
        loop {
            let rows = self.page(source, &after).await?;
            let Some(last) = rows.last() else {
                return Ok(());
            };
            after = self.key_of(last);
            let mut insert = sql(format!(
                "INSERT INTO {} ({}) VALUES ",
                self.name,
                self.names()
            ));
            for (at, row) in rows.into_iter().enumerate() {
                insert = insert.push(if at == 0 { "(" } else { ", (" });
                for (column, value) in row.values.into_iter().enumerate() {
                    insert = insert.push(if column == 0 { "" } else { ", " });
                    insert = insert.push_bind(value);
                }
                insert = insert.push(")");
            }
            let mut change = target.change().await?;
            insert.execute(&mut change).await?;
            let key = serde_json::to_string(&after).unwrap_or_default();
            set(&mut change, &progress, &key).await?;
            change.commit().await?;
        }
    }

    /// The number of rows, and a digest of all of them.
    async fn digest(&self, store: &Store) -> StoreResult<(u64, [u8; 32])> {
        let (mut count, mut digest) = (0, Sha256::new());
        let mut after = vec![i64::MIN; self.key];
        loop {
            let rows = self.page(store, &after).await?;
            let Some(last) = rows.last() else {
                return Ok((count, digest.finalize().into()));
            };
            after = self.key_of(last);
            count += rows.len() as u64;
            for value in rows.iter().flat_map(|row| &row.values) {
                // The form for debugging is unambiguous.
                digest.update(format!("{value:?};"));
            }
        }
    }

    fn key_of(&self, row: &CopiedRow) -> Vec<i64> {
        let key = row.values.iter().take(self.key);
        key.map(|value| match value {
            SqlValue::Number(Some(number)) => *number,
            _ => i64::MIN,
        })
        .collect()
    }

    /// The rows after a key.
    async fn page(&self, store: &Store, after: &[i64]) -> StoreResult<Vec<CopiedRow>> {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let key = names[..self.key].join(", ");
        let parameters: Vec<String> = (1..=self.key).map(|number| format!("${number}")).collect();
        let mut page = sql(format!(
            "SELECT {} FROM {} WHERE ({key}) > ({}) ORDER BY {key} LIMIT {PAGE}",
            names.join(", "),
            self.name,
            parameters.join(", "),
        ));
        for number in after {
            page = page.bind(*number);
        }
        let (mut rows, mut bytes) = (Vec::new(), 0);
        let mut add = |row: &SqlRow| {
            let row = self.row(row)?;
            bytes += row.bytes;
            rows.push(row);
            Ok(bytes < PAGE_BYTES)
        };
        page.fetch(store.read(), &mut add).await?;
        Ok(rows)
    }

    fn row(&self, row: &SqlRow) -> StoreResult<CopiedRow> {
        let mut bytes = 0;
        let mut values = Vec::new();
        for (at, (_, kind)) in self.columns.iter().enumerate() {
            values.push(match kind {
                Number => SqlValue::Number(row.get(at)?),
                Flag => SqlValue::Flag(row.get(at)?),
                Text => {
                    let text: Option<&str> = row.get(at)?;
                    bytes += text.map_or(0, str::len);
                    // Earlier versions stored NUL.
                    SqlValue::from(text.map(without_nul))
                }
                Bytes => {
                    let value: Option<&[u8]> = row.get(at)?;
                    bytes += value.map_or(0, <[u8]>::len);
                    SqlValue::Bytes(value.map(<[u8]>::to_vec))
                }
            });
        }
        Ok(CopiedRow { values, bytes })
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::team::{EventToAdd, LogAccess, SharedEventId};
    use super::super::testing::{add_target, claim_scan, open, open_sqlite, queue_scan};
    use super::*;
    use scandeck_wire::contract::{ScanStatus, WorkspaceId};

    /// Tables that are not copied: what is counted again, what ends with a process, progress, and the
    /// schema.
    const LEFT_TABLES: [&str; 8] = [
        "_sqlx_migrations",
        "counts",
        "deletions",
        "nodes",
        "settings",
        "sqlite_sequence",
        "versions",
        "viewers",
    ];
    /// Columns that are not copied: claims of processes, also lost ones.
    const LEFT_COLUMNS: [&str; 2] = ["owner", "lost_by"];

    #[tokio::test]
    async fn every_column_is_copied_or_named_here() {
        let temp = tempfile::tempdir().unwrap();
        let store = open_sqlite(temp.path()).await;
        let columns: Vec<(String, String)> = sql("SELECT tables.name, columns.name
            FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
            WHERE tables.type = 'table'")
        .all(store.read())
        .await
        .unwrap();
        assert!(columns.len() > 100, "{columns:?}");
        for (table, column) in columns {
            let copied = TABLES.iter().find(|copied| copied.name == table);
            let is_copied = copied.is_some_and(|copied| {
                let mut names = copied.columns.iter().map(|(name, _)| *name);
                names.any(|name| name == column)
            });
            let is_left =
                LEFT_TABLES.contains(&table.as_str()) || LEFT_COLUMNS.contains(&column.as_str());
            assert!(is_copied != is_left, "{table}.{column}");
        }
    }

    /// Tests with `SCANDECK_TEST_DATABASE` only: there is no other target.
    #[tokio::test]
    async fn copy_is_equal_continues_after_an_interruption_and_refuses_other_data() {
        if std::env::var_os("SCANDECK_TEST_DATABASE").is_none() {
            return;
        }
        let temp = tempfile::tempdir().unwrap();
        let homes = ["file", "server", "used"].map(|name| temp.path().join(name));
        for home in &homes {
            std::fs::create_dir(home).unwrap();
        }
        let [source, target, used] = [
            open_sqlite(&homes[0]).await,
            open(&homes[1]).await,
            open(&homes[2]).await,
        ];
        let workspace = source.add_workspace("b", "").await.unwrap().unwrap();
        add_target(&source, workspace, "a").await;
        let scan = queue_scan(&source, "c").await;
        let now = Timestamp::now();
        source.register(now).await.unwrap();
        claim_scan(&source, now).await.unwrap();
        // More than a page.
        source
            .execute(
                sql("INSERT INTO raw_lines (scan_id, line) SELECT $1, 'nul ' || char(0) || value
                FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 2500)
                SELECT value FROM n)")
                .bind(scan.0),
            )
            .await
            .unwrap();
        let id = SharedEventId {
            instance: 7,
            number: 1,
        };
        let event = EventToAdd {
            id,
            clock: 1,
            json: r#"{"id":"a","who":"anna"}"#.to_owned(),
        };
        let to = LogAccess {
            workspace: WorkspaceId(1),
            key: "anna",
            epoch: 1,
        };
        source.push_events(to, &[event]).await.unwrap();
        source.purge_log(WorkspaceId(1), "anna", now).await.unwrap();

        // As after a kill: the first tables are copied, and one page of another.
        begin(&source, &target).await.unwrap();
        for table in &TABLES[..4] {
            table.copy(&source, &target).await.unwrap();
        }
        assert!(target.is_partial_copy().await.unwrap());
        let compared = source.copy_to(&target).await.unwrap();
        let rows = |name: &str| {
            let table = compared.iter().find(|table| table.name == name);
            table.map(|table| table.rows)
        };
        assert!(!target.is_partial_copy().await.unwrap());
        assert_eq!(rows("raw_lines"), Some(2_500));
        assert_eq!(rows("purges"), Some(1));
        let copied = target.scan(scan, now).await.unwrap().unwrap();
        assert_eq!(copied.status_name, ScanStatus::Waiting, "no node has it");
        assert_eq!(
            target.service_id().await.unwrap(),
            source.service_id().await.unwrap()
        );
        let head = target.log_head(WorkspaceId(1)).await.unwrap().unwrap();
        assert_eq!((head.epoch, head.purged), (2, 1));
        // Ids continue after those of the file.
        let next = target.add_workspace("c", "").await.unwrap().unwrap();
        assert_eq!(next.0, workspace.0 + 1);

        // It is complete, so it is no copy that could continue.
        let again = source.copy_to(&target).await.unwrap_err();
        assert!(matches!(again, CopyError::NotEmpty), "{again}");
        used.add_workspace("mine", "").await.unwrap().unwrap();
        let refused = source.copy_to(&used).await.unwrap_err();
        assert!(matches!(refused, CopyError::NotEmpty), "{refused}");
        for store in [source, target, used] {
            store.close().await;
        }
    }
}
