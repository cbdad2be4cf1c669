//! Opening a PostgreSQL database: address, version of the server, migrations.
//!
//! ```text
//!   URL (file 0600, or environment) ─► connection ─► version 14 or newer? UTF-8? ─► migrations in one
//!   transaction, under a lock: of several services that start, one migrates ─► pools
//! ```
//!
//! No message contains the URL: it has the password.

use std::env::VarError;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use jiff::Timestamp;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use sqlx::{ConnectOptions, Connection};
use tokio::time::timeout;
use url::{Host, Url};

use super::{CONNECT_LIMIT, PostgresPool};
use crate::errors::StartError;
use crate::store::sql::sql;
use crate::store::{
    OpenedStore, PostgresEngine, ServiceNode, Store, StoreEngine, StoreResult, millis,
};
use scandeck_wire::input_files::{InputKind, read_text, secret_metadata};

/// The files of `assets/migrations/postgres`; the number of a schema is the place of its file.
pub(super) const MIGRATIONS: [&str; 9] = [
    include_str!("../../../assets/migrations/postgres/0001_first.sql"),
    include_str!("../../../assets/migrations/postgres/0002_schedules.sql"),
    include_str!("../../../assets/migrations/postgres/0003_imports.sql"),
    include_str!("../../../assets/migrations/postgres/0004_leases.sql"),
    include_str!("../../../assets/migrations/postgres/0005_target_tags.sql"),
    include_str!("../../../assets/migrations/postgres/0006_places.sql"),
    include_str!("../../../assets/migrations/postgres/0007_shared.sql"),
    include_str!("../../../assets/migrations/postgres/0008_queues.sql"),
    include_str!("../../../assets/migrations/postgres/0009_finding_ids.sql"),
];

/// The oldest server: `server_version_num`.
const OLDEST_SERVER: i64 = 140_000;

/// The environment variable with the URL of the database.
pub const DATABASE_VARIABLE: &str = "SCANDECK_DATABASE_URL";

/// `pg_advisory_xact_lock` of migrations; an arbitrary number.
const MIGRATION_LOCK: i64 = 0x7363_616e_6d69_6772;

/// The longest migration.
const MIGRATION_LIMIT: Duration = Duration::from_secs(3600);

/// The parameters of a URL.
const PARAMETERS: [&str; 11] = [
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
];

/// The address of a PostgreSQL database. [`fmt::Debug`] hides it, because it has a password.
#[derive(Clone)]
pub struct DatabaseAddress {
    options: PgConnectOptions,
    /// The file or variable that has the URL, for messages.
    origin: String,
    file: Option<PathBuf>,
}

impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DatabaseAddress")
            .field(&self.origin)
            .finish()
    }
}

impl fmt::Display for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)
    }
}

impl DatabaseAddress {
    /// The address in a file, which only its owner may read; otherwise that of
    /// `SCANDECK_DATABASE_URL`. `None` without both: the database is in the data directory.
    ///
    /// # Errors
    /// When the file cannot be read or others can read it, or the URL is invalid.
    pub fn find(file: Option<&Path>) -> Result<Option<Self>, StartError> {
        if let Some(file) = file {
            return Self::read(file).map(Some);
        }
        Self::of_variable(std::env::var(DATABASE_VARIABLE))
    }

    /// A variable that cannot be read is an error: without it the service would use another
    /// database.
    fn of_variable(found: Result<String, VarError>) -> Result<Option<Self>, StartError> {
        match found {
            Ok(url) if !url.is_empty() => {
                Self::parse(&url, format!("the variable {DATABASE_VARIABLE}")).map(Some)
            }
            Ok(_) | Err(VarError::NotPresent) => Ok(None),
            Err(VarError::NotUnicode(_)) => Err(StartError::Settings(format!(
                "the variable {DATABASE_VARIABLE} is not UTF-8 text; set it again, or unset it"
            ))),
        }
    }

    /// The address in a file, which only its owner may read.
    ///
    /// # Errors
    /// When the file cannot be read or others can read it, or the URL is invalid.
    pub fn read(file: &Path) -> Result<Self, StartError> {
        let unreadable = |cause: &dyn fmt::Display| {
            StartError::Settings(format!(
                "cannot use the database file {}: {cause}",
                file.display()
            ))
        };
        let found =
            secret_metadata(file).map_err(|error| unreadable(&crate::errors::cause_of(&error)))?;
        let mode = found.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            let shown = file.display();
            return Err(unreadable(&format!(
                "other users can read it (mode {mode:04o}), and it has the password: `chmod 600 {shown}`"
            )));
        }
        let text = read_text(file, InputKind::Secret)
            .map_err(|error| unreadable(&crate::errors::cause_of(&error)))?;
        let address = Self::parse(text.trim(), file.display().to_string())?;
        Ok(Self {
            file: file.canonicalize().ok(),
            ..address
        })
    }

    /// The file that the address was read from.
    pub fn file(&self) -> Option<PathBuf> {
        self.file.clone()
    }

    /// The address of a URL.
    ///
    /// # Errors
    /// When the URL is invalid; the message does not contain it.
    pub fn parse(url: &str, origin: String) -> Result<Self, StartError> {
        let invalid = |cause: &str| {
            StartError::Settings(format!(
                "{origin} has no usable URL: {cause}; use postgres://USER:PASSWORD@HOST/DATABASE"
            ))
        };
        let parsed = Url::parse(url).map_err(|error| invalid(&error.to_string()))?;
        if !matches!(parsed.scheme(), "postgres" | "postgresql") {
            return Err(invalid("it does not begin with postgres://"));
        }
        let mut names = parsed.query_pairs().map(|(name, _)| name);
        if !names.all(|name| PARAMETERS.contains(&name.as_ref())) {
            // Its name may be a part of a password that has these characters unescaped.
            let known = PARAMETERS.join(", ");
            return Err(invalid(&format!(
                "it has an unknown parameter (known are {known}; write & and ? in a password as %26 and %3F)"
            )));
        }
        // The error of sqlx may quote the URL.
        let options = PgConnectOptions::from_str(url)
            .map_err(|_| invalid("a parameter has an invalid value"))?;
        let has_mode = parsed.query_pairs().any(|(name, _)| name == "sslmode")
            || std::env::var_os("PGSSLMODE").is_some();
        let options = match (has_mode, is_local(&options)) {
            (true, _) => options,
            (false, true) => options.ssl_mode(PgSslMode::Prefer),
            (false, false) => options.ssl_mode(PgSslMode::VerifyFull),
        };
        Ok(Self {
            options: options
                .application_name("scandeck")
                // Poolers refuse it, or keep it for another client.
                .extra_float_digits(None)
                .statement_cache_capacity(0)
                .disable_statement_logging(),
            origin,
            file: None,
        })
    }

    async fn connect(&self) -> anyhow::Result<PgConnection> {
        let connection = timeout(CONNECT_LIMIT, PgConnection::connect_with(&self.options));
        let connection = connection.await.context("the server does not respond")?;
        Ok(connection?)
    }

    /// Connects as a service does, and changes nothing; returns the version of the server.
    ///
    /// # Errors
    /// When a service could not use the database.
    pub async fn check(&self) -> Result<String, StartError> {
        let check = async {
            let mut connection = self.connect().await?;
            let version = check_server(&mut connection).await?;
            let found = schema(&mut connection).await?;
            let _ = connection.close().await;
            anyhow::Ok((version, found))
        };
        let (version, found) = check.await.map_err(|source| self.failed(source))?;
        match found > MIGRATIONS.len() {
            true => Err(self.newer(found)),
            false => Ok(version),
        }
    }

    fn newer(&self, found: usize) -> StartError {
        StartError::Newer {
            path: self.database(),
            found: found as i64,
            known: Store::postgres_schema(),
        }
    }

    /// The database in messages about its schema.
    fn database(&self) -> PathBuf {
        format!("the database of {self}").into()
    }

    fn failed(&self, source: anyhow::Error) -> StartError {
        StartError::Database {
            path: PathBuf::from(&self.origin),
            source,
        }
    }
}

/// Whether the server is on this machine.
fn is_local(options: &PgConnectOptions) -> bool {
    let host = options.get_host();
    options.get_socket().is_some()
        || host.starts_with('/')
        || match Host::parse(host) {
            Ok(Host::Domain(name)) => name == "localhost",
            Ok(Host::Ipv4(address)) => address.is_loopback(),
            Ok(Host::Ipv6(address)) => address.is_loopback(),
            Err(_) => host
                .parse()
                .is_ok_and(|address: std::net::IpAddr| address.is_loopback()),
        }
}

impl Store {
    /// The schema of this program in PostgreSQL.
    pub fn postgres_schema() -> i64 {
        MIGRATIONS.len() as i64
    }

    /// Opens a PostgreSQL database, and migrates it. `dir` is the data directory, whose lock the
    /// service holds.
    ///
    /// # Errors
    /// [`StartError::Newer`] for an unknown schema, [`StartError::Database`] when the database cannot
    /// be used.
    pub async fn open_postgres(
        address: &DatabaseAddress,
        dir: &Path,
    ) -> Result<OpenedStore, StartError> {
        let failed = |source| address.failed(source);
        let mut connection = address.connect().await.map_err(failed)?;
        check_server(&mut connection).await.map_err(failed)?;
        let found = migrate(&mut connection).await.map_err(failed)?;
        let _ = connection.close().await;
        let known = MIGRATIONS.len();
        if found > known {
            return Err(address.newer(found));
        }
        let migrated = (1..known)
            .contains(&found)
            .then(|| format!("database of {address} migrated from schema {found} to {known}"));
        let notes = migrated.into_iter().collect();
        let store = Self::of_postgres(address, dir);
        store
            .keep_months(Timestamp::now())
            .await
            .map_err(StartError::Store)?;
        Ok(OpenedStore { store, notes })
    }

    /// Opens a PostgreSQL database that a service may use; the schema must be that of this program.
    ///
    /// # Errors
    /// [`StartError::OtherSchema`] for another schema, [`StartError::Database`] when the database
    /// cannot be used.
    pub async fn open_postgres_beside(
        address: &DatabaseAddress,
        dir: &Path,
    ) -> Result<Self, StartError> {
        let failed = |source| address.failed(source);
        let mut connection = address.connect().await.map_err(failed)?;
        let found = schema(&mut connection).await.map_err(failed)?;
        let _ = connection.close().await;
        match found == MIGRATIONS.len() {
            true => Ok(Self::of_postgres(address, dir)),
            false => Err(StartError::OtherSchema {
                path: address.database(),
                found: found as i64,
                known: Self::postgres_schema(),
            }),
        }
    }

    fn of_postgres(address: &DatabaseAddress, dir: &Path) -> Self {
        let engine = PostgresEngine {
            read: PostgresPool::new(address.options.clone()),
            write: PostgresPool::new(address.options.clone()),
            months_kept: Arc::new(AtomicI64::new(i64::MIN)),
        };
        Self::new(
            StoreEngine::Postgres(engine),
            ServiceNode::of_directory(dir),
        )
    }

    /// Once a day, adds the tables of captures for this month and the next one, and drops empty ones
    /// of earlier months. SQLite has one table.
    pub async fn keep_months(&self, now: Timestamp) -> StoreResult<()> {
        const DAY: i64 = 86_400_000;
        let StoreEngine::Postgres(engine) = &self.engine else {
            return Ok(());
        };
        let day = millis(now).div_euclid(DAY);
        if engine.months_kept.load(Ordering::Relaxed) == day {
            return Ok(());
        }
        let mut change = self.change().await?;
        sql("SELECT keep_months($1)")
            .bind(millis(now))
            .execute(&mut change)
            .await?;
        change.commit().await?;
        engine.months_kept.store(day, Ordering::Relaxed);
        Ok(())
    }
}

/// Checks that a server can be used; returns its version.
async fn check_server(connection: &mut PgConnection) -> anyhow::Result<String> {
    // A pooler may give each transaction another connection, and a statement has two messages.
    let mut transaction = connection.begin().await?;
    let (version, number, encoding): (String, String, String) = sqlx::query_as(
        "SELECT current_setting('server_version'), current_setting('server_version_num'),
            current_setting('server_encoding')",
    )
    .persistent(false)
    .fetch_one(&mut *transaction)
    .await?;
    ensure!(
        number.parse().unwrap_or(0) >= OLDEST_SERVER,
        "the server is PostgreSQL {version}; use {} or newer",
        OLDEST_SERVER / 10_000
    );
    ensure!(
        encoding == "UTF8",
        "the encoding of the database is {encoding}; create it with ENCODING 'UTF8'"
    );
    Ok(version)
}

/// The schema of a database; 0 for an empty one.
async fn schema(connection: &mut PgConnection) -> anyhow::Result<usize> {
    let mut transaction = connection.begin().await?;
    let has_settings: bool = sqlx::query_scalar("SELECT to_regclass('settings') IS NOT NULL")
        .persistent(false)
        .fetch_one(&mut *transaction)
        .await?;
    if !has_settings {
        return Ok(0);
    }
    let schema: Option<String> =
        sqlx::query_scalar("SELECT value FROM settings WHERE name = 'schema'")
            .persistent(false)
            .fetch_optional(&mut *transaction)
            .await?;
    schema
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| anyhow!("it has tables of another program; use an empty database"))
}

/// Brings an older database to the schema of this program; returns the schema that it had.
async fn migrate(connection: &mut PgConnection) -> anyhow::Result<usize> {
    let run = async {
        let mut transaction = connection.begin().await?;
        let lock = format!(
            "SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(lock))
            .execute(&mut *transaction)
            .await?;
        let found = schema(&mut transaction).await?;
        if found >= MIGRATIONS.len() {
            return Ok(found);
        }
        for migration in &MIGRATIONS[found..] {
            sqlx::raw_sql(*migration).execute(&mut *transaction).await?;
        }
        sqlx::query(
            "INSERT INTO settings (name, value) VALUES ('schema', $1)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        )
        .bind(MIGRATIONS.len().to_string())
        .persistent(false)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        anyhow::Ok(found)
    };
    timeout(MIGRATION_LIMIT, run)
        .await
        .context("the migration did not end in an hour")?
        .context("the migration failed and was rolled back")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_that_is_not_text_is_no_missing_variable() {
        let has_address = |found| DatabaseAddress::of_variable(found).map(|one| one.is_some());
        assert!(!has_address(Err(VarError::NotPresent)).unwrap());
        assert!(!has_address(Ok(String::new())).unwrap());
        let error = has_address(Err(VarError::NotUnicode("\u{fffd}".into()))).unwrap_err();
        assert!(error.to_string().contains(DATABASE_VARIABLE), "{error}");
    }
}
