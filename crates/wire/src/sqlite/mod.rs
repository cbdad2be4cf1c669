//! Rules for every SQLite file: private to the user, schema version read before SQLite opens it,
//! backup before a migration, journal mode by file system.
//!
//! Both wings use this module for their stores. The files of the dashboard are `shared` with other
//! dashboards and commands.

mod broken;
mod error;
mod opening;
mod shared;
mod unsent;

use std::fs::{OpenOptions, Permissions};
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqlSafeStr};

use crate::input_files::open_regular;

pub use self::{
    broken::{BrokenFile, move_aside},
    error::{StoreError, UTF8_REMEDY, is_corrupt},
    opening::{Opening, open, open_for_reading, open_on_full_disk},
    shared::{FileKind, OpeningLock, SharedFile, StoredRows, WorkspaceRows, beside, known_schema},
    unsent::{RefusedRows, UnsentRow},
};

/// The migrations of a kind of file, each with its name and its SQL. The first has number 1.
pub fn migrations(all: &[(&'static str, &'static str)]) -> Migrator {
    let numbered = (1..).zip(all);
    let migration = |(number, (name, sql)): (i64, &(&'static str, &'static str))| {
        Migration::new(
            number,
            (*name).into(),
            MigrationType::Simple,
            sql.into_sql_str(),
            false,
        )
    };
    Migrator::with_migrations(numbered.map(migration).collect())
}

/// The greatest number of migrations: the schema that they make.
pub fn newest(migrations: &Migrator) -> i64 {
    let numbers = migrations.iter().map(|migration| migration.version);
    numbers.max().unwrap_or_default()
}

/// Options of every connection: a timeout for locks of other processes, no statement log.
pub fn options(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(file)
        .busy_timeout(Duration::from_secs(5))
        .disable_statement_logging()
}

/// Options of a writing connection.
pub fn private_options(file: &Path) -> SqliteConnectOptions {
    options(file)
        .create_if_missing(true)
        .journal_mode(if is_on_network(file) {
            SqliteJournalMode::Delete
        } else {
            SqliteJournalMode::Wal
        })
        .synchronous(SqliteSynchronous::Full)
        // Deleted secrets must disappear from the file, not only from its index.
        .pragma("secure_delete", "ON")
}

/// Options of a connection for migrations: the checkpoint after them syncs them together, and not
/// each commit.
pub fn migrating_options(file: &Path) -> SqliteConnectOptions {
    let options = private_options(file);
    match is_on_network(file) {
        // A rollback journal that is not synced could damage the database.
        true => options,
        false => options.synchronous(SqliteSynchronous::Normal),
    }
}

/// Whether there is an entry of this name: a link to a file that is missing counts, because its
/// data are elsewhere.
///
/// # Errors
/// When the directory cannot be read.
pub fn is_present(file: &Path) -> std::io::Result<bool> {
    match file.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Creates the file with mode 0600 before SQLite does; SQLite copies the mode to its log and index
/// files. Anything but a regular file in its place is an error: opening a named pipe would wait for
/// its other end, and a new file behind a link would hide the data that the link meant.
pub fn make_private(file: &Path) -> std::io::Result<()> {
    match file.metadata() {
        Ok(found) if !found.is_file() => return Err(std::io::Error::other("not a regular file")),
        Err(error) if file.is_symlink() => {
            let cause = crate::text::io_cause(&error);
            let why = format!(
                "a link that leads nowhere ({cause}); restore its file, or remove the link"
            );
            return Err(std::io::Error::new(error.kind(), why));
        }
        _ => {}
    }
    let opened = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(file)?;
    opened.set_permissions(Permissions::from_mode(0o600))
}

/// `user_version` of the header (bytes 60 to 63, big-endian; the file format of SQLite, §1.3); 0
/// without a file.
pub fn schema_version(file: &Path) -> std::io::Result<i64> {
    let mut header = [0; 64];
    match open_regular(file, OpenOptions::new().read(true))
        .and_then(|mut file| file.read_exact(&mut header))
    {
        Ok(()) => Ok(i64::from(u32::from_be_bytes([
            header[60], header[61], header[62], header[63],
        ]))),
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::UnexpectedEof
            ) =>
        {
            Ok(0)
        }
        Err(error) => Err(error),
    }
}

/// Whether the file begins as a SQLite database does (the file format of SQLite, §1.3).
///
/// # Errors
/// When it cannot be read.
pub fn is_database(file: &Path) -> std::io::Result<bool> {
    let mut magic = [0; 16];
    match open_regular(file, OpenOptions::new().read(true))
        .and_then(|mut file| file.read_exact(&mut magic))
    {
        Ok(()) => Ok(&magic == b"SQLite format 3\0"),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Copies the database and its log to the first free `*.bak-N`, which only its owner can read.
pub async fn back_up(file: &Path) -> anyhow::Result<PathBuf> {
    let backup = free_name(file, "bak").context("no free name for the backup")?;
    // SQLite would create the file with the mode that the umask allows. It writes into an empty
    // file too.
    make_private(&backup)?;
    if let Err(error) = copy(file, &backup).await {
        let _ = std::fs::remove_file(&backup);
        return Err(error);
    }
    Ok(backup)
}

/// Copies the database and its log to a new file, also while another process writes.
///
/// # Errors
/// When the database cannot be read, or the file cannot be written.
pub async fn copy(file: &Path, to: &Path) -> anyhow::Result<()> {
    let mut connection = options(file).connect().await?;
    sqlx::query("VACUUM INTO ?")
        .bind(to.display().to_string())
        .execute(&mut connection)
        .await?;
    connection.close().await?;
    Ok(())
}

/// Checks that a database is complete.
///
/// # Errors
/// When it cannot be read, or is damaged.
pub async fn check(file: &Path) -> anyhow::Result<()> {
    let mut connection = options(file)
        .read_only(true)
        .immutable(true)
        .connect()
        .await?;
    let found: String = sqlx::query_scalar("PRAGMA integrity_check(1)")
        .fetch_one(&mut connection)
        .await?;
    connection.close().await?;
    anyhow::ensure!(found == "ok", "{} is damaged: {found}", file.display());
    Ok(())
}

/// Moves the log of a database that nobody uses into its file.
///
/// # Errors
/// When the database cannot be written.
pub async fn merge_log(file: &Path) -> anyhow::Result<()> {
    let mut connection = private_options(file).connect().await?;
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(&mut connection)
        .await?;
    connection.close().await?;
    Ok(())
}

/// Executes a statement that no store has, as another program would.
pub async fn execute(file: &Path, statement: &'static str) -> sqlx::Result<()> {
    let mut connection = options(file).connect().await?;
    sqlx::query(statement)
        .execute(&mut connection)
        .await
        .map(drop)
}

/// NFS, SMB, CIFS, 9P, AFS and FUSE do not share memory between hosts, which the write-ahead log
/// needs.
pub fn is_on_network(file: &Path) -> bool {
    const MAGIC: [i64; 7] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x0102_1997,
        0x5346_414f,
        0x6573_5546,
    ];
    let Some(directory) = file.parent() else {
        return false;
    };
    #[allow(clippy::unnecessary_cast)] // the type of `f_type` differs between platforms
    rustix::fs::statfs(directory).is_ok_and(|found| MAGIC.contains(&(found.f_type as i64)))
}

/// The first free `FILE.WORD-N`. A link is not free, wherever it points.
pub fn free_name(file: &Path, word: &str) -> Option<PathBuf> {
    let mut names =
        (1..1000).map(|number| PathBuf::from(format!("{}.{word}-{number}", file.display())));
    names.find(|path| path.symlink_metadata().is_err())
}
