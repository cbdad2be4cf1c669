//! The schema of a PostgreSQL database: its migrations, and the programs that work with it.
//!
//! ```text
//!   the database is older ─► does each live node work with the new schema? ─► migrated, or refused
//!   the database is newer ─► does this program work with it? ─► opened as it is, or refused
//! ```
//!
//! So nodes can be upgraded one after the other: the first new one migrates the database, and the
//! others continue to use it. The database says which programs can: `schema_works_with` of the
//! settings is the oldest schema of a program that works with `schema`.

use std::time::Duration;

use anyhow::{Context, anyhow};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection};
use tokio::time::{sleep, timeout};

use super::{Unavailability, WRITE_LOCK, unavailability};
use crate::store::DatabaseError;
use scandeck_wire::text::clean;

/// `pg_advisory_xact_lock` of migrations; an arbitrary number.
const MIGRATION_LOCK: i64 = 0x7363_616e_6d69_6772;

/// The longest migration.
const MIGRATION_LIMIT: Duration = Duration::from_secs(3600);

/// The longest wait of a migration for another lock. Statements of other nodes wait behind it, and
/// give up later.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// How often a migration that waited for too long is tried, with a pause in between.
const TRIES: usize = 30;
const PAUSE: Duration = Duration::from_secs(1);

/// The server looks each second whether this process lives. Otherwise it ends the statement of a
/// dead process first, such as an index of hours, and keeps all locks. Some systems cannot look.
const END_WITH_PROCESS: &str = "DO $$ BEGIN SET LOCAL client_connection_check_interval = '1s';
        EXCEPTION WHEN invalid_parameter_value THEN NULL; END $$";

/// A file of `assets/migrations/postgres`.
#[derive(Clone, Copy, Debug)]
pub(super) struct PostgresMigration {
    pub sql: &'static str,
    /// The oldest schema whose programs work with the database after this migration.
    pub works_with: usize,
}

const fn migration(works_with: usize, sql: &'static str) -> PostgresMigration {
    PostgresMigration { sql, works_with }
}

/// The files of `assets/migrations/postgres`; the number of a schema is the place of its file.
pub(super) const MIGRATIONS: [PostgresMigration; 10] = [
    migration(
        1,
        include_str!("../../../assets/migrations/postgres/0001_first.sql"),
    ),
    migration(
        2,
        include_str!("../../../assets/migrations/postgres/0002_schedules.sql"),
    ),
    migration(
        3,
        include_str!("../../../assets/migrations/postgres/0003_imports.sql"),
    ),
    migration(
        4,
        include_str!("../../../assets/migrations/postgres/0004_leases.sql"),
    ),
    migration(
        5,
        include_str!("../../../assets/migrations/postgres/0005_target_tags.sql"),
    ),
    migration(
        6,
        include_str!("../../../assets/migrations/postgres/0006_places.sql"),
    ),
    migration(
        7,
        include_str!("../../../assets/migrations/postgres/0007_shared.sql"),
    ),
    migration(
        8,
        include_str!("../../../assets/migrations/postgres/0008_queues.sql"),
    ),
    migration(
        9,
        include_str!("../../../assets/migrations/postgres/0009_finding_ids.sql"),
    ),
    migration(
        9,
        include_str!("../../../assets/migrations/postgres/0010_node_schemas.sql"),
    ),
];

/// The schema of a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PostgresSchema {
    /// 0 for a database without tables.
    pub number: usize,
    /// The oldest schema of a program that works with it.
    pub works_with: usize,
}

impl PostgresSchema {
    /// The schema after these migrations: a program works with it if it works with each of them.
    fn after(migrations: &[PostgresMigration]) -> Self {
        let works_with = migrations.iter().map(|one| one.works_with).max();
        Self {
            number: migrations.len(),
            works_with: works_with.unwrap_or_default(),
        }
    }

    /// Whether programs of this schema do not work with it.
    pub fn excludes(self, program: usize) -> bool {
        self.works_with > program
    }

    /// Reads the schema of a database.
    pub async fn read(connection: &mut PgConnection) -> anyhow::Result<Self> {
        // A pooler may give each transaction another connection, and a statement has two messages.
        let mut transaction = connection.begin().await?;
        let has_settings: bool = sqlx::query_scalar("SELECT to_regclass('settings') IS NOT NULL")
            .persistent(false)
            .fetch_one(&mut *transaction)
            .await?;
        if !has_settings {
            return Ok(Self::default());
        }
        let (stored, works_with): (Option<String>, Option<String>) = sqlx::query_as(
            "SELECT (SELECT value FROM settings WHERE name = 'schema'),
                (SELECT value FROM settings WHERE name = 'schema_works_with')",
        )
        .persistent(false)
        .fetch_one(&mut *transaction)
        .await?;
        let parse = |text: Option<String>| -> Option<usize> { text?.parse().ok() };
        let number = parse(stored)
            .ok_or_else(|| anyhow!("it has tables of another program; use an empty database"))?;
        Ok(Self {
            number,
            // Earlier programs do not store it.
            works_with: parse(works_with).unwrap_or(number),
        })
    }
}

/// Why a database was not migrated: live nodes do not work with the new schema.
#[derive(Debug)]
pub(super) struct OlderNodes {
    /// The schema of the database.
    pub found: usize,
    /// Each with its version.
    pub nodes: Vec<String>,
}

/// Brings an older database to the schema of these migrations, for a node of this home; returns the
/// schema that it had.
pub(super) async fn migrate(
    connection: &mut PgConnection,
    migrations: &[PostgresMigration],
    home: &str,
) -> anyhow::Result<Result<PostgresSchema, OlderNodes>> {
    let run = async {
        for _ in 1..TRIES {
            match migrate_once(connection, migrations, home).await {
                Err(error) if is_busy(&error) => {
                    tracing::warn!(%error, "the database is in use, such as by a backup, and not migrated yet; tried again");
                    sleep(PAUSE).await;
                }
                done => return done,
            }
        }
        migrate_once(connection, migrations, home).await
    };
    timeout(MIGRATION_LIMIT, run)
        .await
        .context("the migration did not end within an hour")?
        .map_err(|error| {
            let reason = rolled_back(&error);
            error.context(reason)
        })
}

/// The message of a migration that failed, with the remedy if the user lacks a right.
fn rolled_back(error: &anyhow::Error) -> &'static str {
    let failed = error.downcast_ref::<DatabaseError>();
    let code = failed.and_then(|cause| cause.as_database_error()?.code());
    match code.as_deref() {
        // insufficient_privilege
        Some("42501") => {
            "the migration was rolled back: the user must own the database and its tables \
             (ALTER DATABASE NAME OWNER TO USER)"
        }
        _ => "the migration failed and was rolled back",
    }
}

/// Whether other statements had the lock of a table for too long, such as those of a backup.
fn is_busy(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<DatabaseError>();
    cause.and_then(unavailability) == Some(Unavailability::Busy)
}

async fn migrate_once(
    connection: &mut PgConnection,
    migrations: &[PostgresMigration],
    home: &str,
) -> anyhow::Result<Result<PostgresSchema, OlderNodes>> {
    let mut transaction = connection.begin().await?;
    let lock = format!(
        "SET LOCAL statement_timeout = 0; {END_WITH_PROCESS};
         SELECT pg_advisory_xact_lock({MIGRATION_LOCK}); SET LOCAL lock_timeout = {}",
        LOCK_WAIT.as_millis()
    );
    sqlx::raw_sql(AssertSqlSafe(lock))
        .execute(&mut *transaction)
        .await?;
    let found = PostgresSchema::read(&mut transaction).await?;
    if found.number >= migrations.len() {
        return Ok(Ok(found));
    }
    // No node adds its row meanwhile, and only beats and reads have locks that a migration needs.
    let writes = format!("SELECT pg_advisory_xact_lock({WRITE_LOCK})");
    sqlx::raw_sql(AssertSqlSafe(writes))
        .execute(&mut *transaction)
        .await?;
    let schema = PostgresSchema::after(migrations);
    if found.number > 0 {
        if let Some(older) = older_nodes(&mut transaction, found, schema, home).await? {
            return Ok(Err(older));
        }
        let (from, to) = (found.number, schema.number);
        tracing::info!(from, to, "migrating the schema of the database");
    }
    for PostgresMigration { sql, .. } in &migrations[found.number..] {
        sqlx::raw_sql(*sql).execute(&mut *transaction).await?;
    }
    for (name, number) in [
        ("schema", schema.number),
        ("schema_works_with", schema.works_with),
    ] {
        sqlx::query(
            "INSERT INTO settings (name, value) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        )
        .bind(name)
        .bind(number.to_string())
        .persistent(false)
        .execute(&mut *transaction)
        .await?;
    }
    // A silent node may have sent a beat meanwhile. From here on, a beat waits for the new schema.
    sqlx::raw_sql("LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE")
        .execute(&mut *transaction)
        .await?;
    if let Some(older) = older_nodes(&mut transaction, found, schema, home).await? {
        return Ok(Err(older));
    }
    transaction.commit().await?;
    Ok(Ok(found))
}

/// The live nodes that a new schema excludes, if there are any. Earlier processes of this home have
/// ended, and workers that use the API do not use the database.
async fn older_nodes(
    connection: &mut PgConnection,
    found: PostgresSchema,
    schema: PostgresSchema,
    home: &str,
) -> anyhow::Result<Option<OlderNodes>> {
    // As JSON: older schemas have fewer columns, and their nodes have the schema of the database.
    let nodes: Vec<(String, String)> = sqlx::query_as(
        "SELECT coalesce(nullif(node ->> 'name', ''), node ->> 'home'), coalesce(node ->> 'version', '')
         FROM (SELECT to_jsonb(nodes) AS node FROM nodes) AS live
         WHERE node ->> 'home' <> $1 AND coalesce(node ->> 'place', '') = ''
            AND coalesce(CAST(node ->> 'schema' AS BIGINT), $2) < $3
            AND abs(CAST(node ->> 'beat_at' AS BIGINT) - CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT))
                < coalesce(CAST(node ->> 'lease' AS BIGINT), 15000)
         ORDER BY 1, 2",
    )
    .bind(home)
    .bind(found.number as i64)
    .bind(schema.works_with as i64)
    .persistent(false)
    .fetch_all(connection)
    .await?;
    let shown = |(name, version): &(String, String)| match version.as_str() {
        "" => clean(name).to_string(),
        known => format!("{} (version {})", clean(name), clean(known)),
    };
    let older = || OlderNodes {
        found: found.number,
        nodes: nodes.iter().map(shown).collect(),
    };
    Ok((!nodes.is_empty()).then(older))
}
