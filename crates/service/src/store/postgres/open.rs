//! Opening a PostgreSQL database: address, version of the server, migrations.
//!
//! ```text
//!   URL (file 0600, or environment) ─► connection ─► version 14 or newer? UTF-8? ─► migrations in one
//!   transaction, under a lock: of several services that start, one migrates ─► pools
//!   of a command: ─► connection ─► tables of a schema that this program works with? ─► pools
//! ```
//!
//! No message contains the URL: it has the password.

use std::cmp;
use std::env::VarError;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, anyhow, ensure};
use jiff::Timestamp;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use sqlx::{ConnectOptions, Connection};
use tokio::time::timeout;
use url::{Host, Url};

use super::migrations::{MIGRATIONS, OlderNodes, PostgresMigration, PostgresSchema, migrate};
use super::{ACQUIRE_LIMIT, BULK_ACQUIRE_LIMIT, CONNECT_LIMIT, CONNECTIONS, PostgresPool};
use crate::errors::StartError;
use crate::store::bulk::BULK_READS;
use crate::store::{DatabaseError, OpenedStore, PostgresEngine, ServiceNode, Store, StoreEngine};
use scandeck_wire::input_files::{InputKind, read_text, secret_metadata};
use scandeck_wire::login::name_in_password_file;

/// The oldest server: `server_version_num`.
const OLDEST_SERVER: i64 = 140_000;

/// The environment variable with the URL of the database.
pub const DATABASE_VARIABLE: &str = "SCANDECK_DATABASE_URL";

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
                "the variable {DATABASE_VARIABLE} is not UTF-8 text; set it to UTF-8 text, or unset it"
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
        let mut parsed = Url::parse(url).map_err(|error| invalid(&error.to_string()))?;
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
        if !has_user(&parsed)
            && let Some(user) = default_user()
        {
            parsed.query_pairs_mut().append_pair("user", &user);
        }
        // The error of sqlx may quote the URL.
        let options = PgConnectOptions::from_str(parsed.as_str())
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
        connection.map_err(|error| match error.as_database_error() {
            // The error of sqlx names a line of the server's source.
            Some(refusal) => anyhow!("the server refuses the connection: {}", refusal.message()),
            None => error.into(),
        })
    }

    /// Connects as a service does, and changes nothing; returns the version of the server.
    ///
    /// # Errors
    /// When a service could not use the database, or would migrate it.
    pub async fn check(&self) -> Result<String, StartError> {
        let check = async {
            let mut connection = self.connect().await?;
            let version = check_server(&mut connection).await?;
            let found = PostgresSchema::read(&mut connection).await?;
            let _ = connection.close().await;
            anyhow::Ok((version, found))
        };
        let (version, found) = check.await.map_err(|source| self.failed(source))?;
        if found.number > 0 {
            self.check_schema(found)?;
        }
        Ok(version)
    }

    /// Reads the schema of the database.
    async fn schema(&self) -> Result<PostgresSchema, StartError> {
        let read = async {
            let mut connection = self.connect().await?;
            let found = PostgresSchema::read(&mut connection).await?;
            let _ = connection.close().await;
            anyhow::Ok(found)
        };
        read.await.map_err(|source| self.failed(source))
    }

    /// Checks that this program works with a schema as it is.
    fn check_schema(&self, found: PostgresSchema) -> Result<(), StartError> {
        let known = MIGRATIONS.len();
        if found.number < known {
            return Err(StartError::OlderSchema {
                path: self.database(),
                found: found.number as i64,
                known: known as i64,
            });
        }
        match found.excludes(known) {
            true => Err(self.newer(found, known)),
            false => Ok(()),
        }
    }

    fn newer(&self, found: PostgresSchema, known: usize) -> StartError {
        StartError::Newer {
            path: self.database(),
            found: found.number as i64,
            known: known as i64,
        }
    }

    fn older_nodes(&self, older: OlderNodes, known: usize) -> StartError {
        StartError::OlderNodes {
            path: self.database(),
            found: older.found as i64,
            known: known as i64,
            nodes: older.nodes.join(", "),
        }
    }

    /// The database in messages about its schema.
    pub(crate) fn database(&self) -> PathBuf {
        format!("the database of {self}").into()
    }

    fn failed(&self, source: anyhow::Error) -> StartError {
        StartError::Database {
            path: format!("of {self}").into(),
            source,
        }
    }
}

/// Whether a URL or the environment names the user of the database.
fn has_user(url: &Url) -> bool {
    !url.username().is_empty()
        || url.query_pairs().any(|(name, _)| name == "user")
        || std::env::var_os("PGUSER").is_some()
}

/// The user of a URL without one, as in the programs of PostgreSQL: the one who runs the process.
fn default_user() -> Option<String> {
    name_in_password_file().or_else(|| std::env::var("USER").ok())
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

    /// Opens a PostgreSQL database, and migrates an older one. `dir` is the data directory, whose
    /// lock the service holds.
    ///
    /// # Errors
    /// [`StartError::Newer`] for a schema that this program does not work with,
    /// [`StartError::OlderNodes`] when live nodes do not work with the schema of this program,
    /// [`StartError::Database`] when the database cannot be used.
    pub async fn open_postgres(
        address: &DatabaseAddress,
        dir: &Path,
    ) -> Result<OpenedStore, StartError> {
        Self::open_postgres_with(address, dir, &MIGRATIONS).await
    }

    /// The same for a program with these migrations.
    pub(super) async fn open_postgres_with(
        address: &DatabaseAddress,
        dir: &Path,
        migrations: &[PostgresMigration],
    ) -> Result<OpenedStore, StartError> {
        let failed = |source| address.failed(source);
        let node = ServiceNode::of_directory(dir);
        let mut connection = address.connect().await.map_err(failed)?;
        check_server(&mut connection).await.map_err(failed)?;
        let migrated = migrate(&mut connection, migrations, &node.home)
            .await
            .map_err(failed)?;
        let _ = connection.close().await;
        let known = migrations.len();
        let found = migrated.map_err(|older| address.older_nodes(older, known))?;
        if found.excludes(known) {
            return Err(address.newer(found, known));
        }
        let store = Self::of_postgres(address, node, known);
        let added = store.add_months(Timestamp::now()).await;
        let notes = schema_note(address, found.number, known)
            .into_iter()
            .chain(added.err().map(months_note))
            .collect();
        Ok(OpenedStore { store, notes })
    }

    /// Opens a PostgreSQL database that a service may use, without a migration.
    ///
    /// # Errors
    /// [`StartError::OlderSchema`] for an older schema, [`StartError::Newer`] for one that this
    /// program does not work with, [`StartError::Database`] when the database cannot be used.
    pub async fn open_postgres_beside(
        address: &DatabaseAddress,
        dir: &Path,
    ) -> Result<Self, StartError> {
        address.check_schema(address.schema().await?)?;
        let node = ServiceNode::of_directory(dir);
        Ok(Self::of_postgres(address, node, MIGRATIONS.len()))
    }

    /// The same, but an empty database gets its tables.
    ///
    /// # Errors
    /// The errors of [`Store::open_postgres_beside`].
    pub async fn open_postgres_as_it_is(
        address: &DatabaseAddress,
        dir: &Path,
    ) -> Result<Self, StartError> {
        match address.schema().await?.number {
            0 => Ok(Self::open_postgres(address, dir).await?.store),
            _ => Self::open_postgres_beside(address, dir).await,
        }
    }

    fn of_postgres(address: &DatabaseAddress, node: ServiceNode, schema: usize) -> Self {
        let pool = |connections, acquire_limit| {
            PostgresPool::new(address.options.clone(), connections, acquire_limit)
        };
        let engine = PostgresEngine {
            read: pool(CONNECTIONS, ACQUIRE_LIMIT),
            bulk: pool(BULK_READS as usize, BULK_ACQUIRE_LIMIT),
            write: pool(CONNECTIONS, ACQUIRE_LIMIT),
            schema: schema as i64,
        };
        Self::new(StoreEngine::Postgres(engine), node)
    }
}

/// A notice for the log when the tables of captures could not be added.
fn months_note(error: DatabaseError) -> String {
    format!(
        "no table for the captures of this month or the next one was added: {error}; captures are recorded nevertheless, \
         and the service tries again each hour. If a backup or another long transaction uses the database, wait for its end"
    )
}

/// A notice for the log when a database had another schema than this program.
fn schema_note(address: &DatabaseAddress, found: usize, known: usize) -> Option<String> {
    match found.cmp(&known) {
        cmp::Ordering::Less if found > 0 => Some(format!(
            "database of {address} migrated from schema {found} to {known}"
        )),
        cmp::Ordering::Greater => Some(format!(
            "database of {address} has schema {found} of a newer version; this version has {known} and works with it"
        )),
        cmp::Ordering::Less | cmp::Ordering::Equal => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_without_user_means_the_user_of_the_process() {
        let user = |url: &str| {
            let address = DatabaseAddress::parse(url, "test".to_owned()).unwrap();
            address.options.get_username().to_owned()
        };
        let expected = std::env::var("PGUSER").ok().or_else(default_user).unwrap();
        for url in [
            "postgres://localhost/scandeck?host=/var/run/postgresql",
            "postgres:///scandeck?host=/var/run/postgresql",
        ] {
            assert_eq!(user(url), expected, "{url}");
        }
        assert_eq!(user("postgres://ann:a%26b@localhost/scandeck"), "ann");
        assert_eq!(user("postgres://localhost/scandeck?user=ann"), "ann");
    }

    #[test]
    fn variable_that_is_not_text_is_no_missing_variable() {
        let has_address = |found| DatabaseAddress::of_variable(found).map(|one| one.is_some());
        assert!(!has_address(Err(VarError::NotPresent)).unwrap());
        assert!(!has_address(Ok(String::new())).unwrap());
        let error = has_address(Err(VarError::NotUnicode("\u{fffd}".into()))).unwrap_err();
        assert!(error.to_string().contains(DATABASE_VARIABLE), "{error}");
    }
}
