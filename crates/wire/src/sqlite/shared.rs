//! A database file that several dashboards and commands write concurrently.
//!
//! ```text
//!   no file ─► created     older ─► copied to *.bak-N, migrated     newer ─► refused     not writable ─► read-only
//! ```
//!
//! Only one process opens the file at a time, so that two dashboards do not migrate or salvage it
//! twice. One connection reads and writes, so SQLite's `data_version` changes exactly when another
//! process has written. File times are compared before it is queried, because this does not wake
//! the thread of the connection.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FlockOperation, access, flock, statvfs};
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{ConnectOptions, Connection, Sqlite, SqliteConnection, Transaction};

use super::{
    StoreError, back_up, make_private, migrating_options, newest, options, private_options,
    schema_version,
};
use crate::data_format::DataFormat;
use crate::input_files::open_regular;

/// Free bytes that opening a file for writing needs besides copies of it: the index of the log, and
/// new rows.
const LEAST_ROOM: u64 = 4 << 20;

/// The names of a file and its locks.
#[derive(Debug)]
pub struct FileKind {
    /// The file name in the directory of the service.
    pub name: &'static str,
    /// Its contents, a plural noun for messages.
    pub contents: &'static str,
    /// The lock file held while it is opened.
    pub opening: &'static str,
    /// The lock file held while it is open.
    pub in_use: &'static str,
}

impl FileKind {
    /// The format of a file that these migrations make.
    pub fn format(&self, migrations: &Migrator) -> DataFormat {
        DataFormat {
            name: self.contents,
            number: newest(migrations),
            file: Some(self.name),
        }
    }
}

/// A table with a condition on a workspace, `?1`, and the noun of its rows if users count them.
/// Rows that others refer to come first.
pub type WorkspaceRows = (Option<&'static str>, &'static str);

/// Stored rows about a workspace.
#[derive(Debug)]
pub struct StoredRows {
    /// Nouns with the number of their rows.
    pub counts: Vec<(&'static str, i64)>,
    /// Backups before migrations and broken files: they are deleted whole, whatever workspaces they
    /// contain.
    pub copies: Vec<PathBuf>,
}

/// An open database file.
#[derive(Debug)]
pub struct SharedFile {
    pub connection: SqliteConnection,
    pub path: PathBuf,
    pub writable: bool,
    /// Opened for reading, because the disk has no room for the log.
    pub on_full_disk: bool,
    contents: &'static str,
    /// SQLite's `data_version` at the last query.
    data_version: i64,
    /// The file metadata at the last query.
    stat: FileStat,
    /// Held while the file is open.
    in_use: Option<File>,
}

/// The inode of the database, and times and sizes of it and its log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FileStat {
    inode: u64,
    files: [(i64, i64, u64); 2],
}

impl FileStat {
    fn of(file: &Path) -> Self {
        let times = |stat: &fs::Metadata| (stat.mtime(), stat.mtime_nsec(), stat.len());
        let [database, log] = [
            fs::metadata(file).ok(),
            fs::metadata(beside(file, "-wal")).ok(),
        ];
        let files = [&database, &log].map(|stat| stat.as_ref().map(times).unwrap_or_default());
        Self {
            inode: database.map(|stat| stat.ino()).unwrap_or_default(),
            files,
        }
    }
}

/// The database path with another ending, such as that of its log.
pub fn beside(file: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", file.display()))
}

/// The lock held while a file is opened; released when dropped.
#[derive(Debug)]
pub struct OpeningLock {
    _lock: Option<File>,
}

impl OpeningLock {
    /// Creates the directory and waits until no other process is opening the file; `None` when the
    /// file is read-only.
    ///
    /// # Errors
    /// When the file does not exist and cannot be created.
    pub async fn wait(directory: &Path, kind: &FileKind) -> Result<Option<Self>, StoreError> {
        let file = directory.join(kind.name);
        // Once opened, a file is never empty again: something else has cut it.
        if fs::metadata(&file).is_ok_and(|found| found.len() == 0)
            && directory.join(kind.in_use).exists()
        {
            return Err(StoreError::Emptied {
                contents: kind.contents,
                path: file,
            });
        }
        let lock = match make(directory, &file, kind) {
            Ok(lock) => lock,
            Err(_) if file.is_file() => return Ok(None),
            Err(source) => return Err(SharedFile::unwritable(kind.contents, &file)(source)),
        };
        let waited = tokio::task::spawn_blocking(move || {
            flock(&lock, FlockOperation::LockExclusive).map(|()| lock)
        });
        // On a file system without locks, concurrent dashboards are not supported.
        let lock = waited
            .await
            .map_err(|error| StoreError::Interrupted {
                why: error.to_string(),
            })?
            .ok();
        Ok(Some(Self { _lock: lock }))
    }
}

/// Creates the directory and the database file, private to the user; returns the lock file.
fn make(directory: &Path, file: &Path, kind: &FileKind) -> io::Result<File> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let lock = lock_file(&directory.join(kind.opening))?;
    make_private(file)?;
    Ok(lock)
}

fn lock_file(path: &Path) -> io::Result<File> {
    open_regular(
        path,
        OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600),
    )
}

/// The error of a file whose schema is newer than that of this program. The version of a file that
/// is not a database means nothing.
fn unknown_schema(path: PathBuf, found: i64, known: i64) -> StoreError {
    if is_database(&path) {
        return StoreError::Newer { path, found, known };
    }
    let source = sqlx::Error::Protocol("not a database".to_owned());
    StoreError::Broken { path, source }
}

/// The schema of a file, at most `known`; 0 of a file without one. `contents` is a plural noun.
///
/// # Errors
/// When a newer program made the file, or it cannot be read.
pub fn known_schema(path: &Path, contents: &'static str, known: i64) -> Result<i64, StoreError> {
    let found = schema_version(path).map_err(SharedFile::unwritable(contents, path))?;
    match found > known {
        true => Err(unknown_schema(path.to_owned(), found, known)),
        false => Ok(found),
    }
}

impl SharedFile {
    /// Opens or creates the file, with notices for the user. The caller holds the [`OpeningLock`].
    ///
    /// # Errors
    /// When it was made by a newer program, is corrupt, or SQLite refuses it for another reason.
    pub async fn open(
        directory: &Path,
        kind: &FileKind,
        migrations: &Migrator,
    ) -> Result<(Self, Vec<String>), StoreError> {
        let path = directory.join(kind.name);
        let failed = StoreError::of(&path);
        let known = newest(migrations);
        make_private(&path).map_err(Self::unwritable(kind.contents, &path))?;
        let found = known_schema(&path, kind.contents, known)?;
        let mut notes = Vec::new();
        if 0 < found && found < known {
            let backup = back_up(&path)
                .await
                .map_err(|error| failed(sqlx_error(error)))?;
            let (contents, backup) = (kind.contents, backup.display());
            notes.push(format!(
                "{contents} migrated from schema {found} to {known}; backup: {backup}"
            ));
        }
        if found < known {
            migrate(migrations, migrating_options(&path))
                .await
                .map_err(&failed)?;
        }
        let options = private_options(&path);
        let mut connection = options.connect().await.map_err(&failed)?;
        if found < known {
            // The header of the file contains the schema version only after a checkpoint.
            sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
                .execute(&mut connection)
                .await
                .map_err(&failed)?;
        }
        let in_use = lock_file(&directory.join(kind.in_use)).ok();
        let in_use =
            in_use.filter(|lock| flock(lock, FlockOperation::NonBlockingLockShared).is_ok());
        let mut file = Self::of(connection, path, true, kind);
        file.in_use = in_use;
        Ok((file, notes))
    }

    /// Opens an existing file that cannot be written.
    ///
    /// # Errors
    /// When SQLite refuses it.
    pub async fn open_read_only(
        directory: &Path,
        kind: &FileKind,
    ) -> Result<(Self, Vec<String>), StoreError> {
        let path = directory.join(kind.name);
        // Immutable: SQLite cannot create the index of the log in a read-only directory.
        let options = options(&path).read_only(true).immutable(true);
        let connection = options.connect().await.map_err(StoreError::of(&path))?;
        Ok((Self::of(connection, path, false, kind), Vec::new()))
    }

    /// Whether a file that was opened for reading could be opened for writing now.
    pub fn has_become_writable(&self) -> bool {
        let is_writable = |path: &Path| access(path, Access::WRITE_OK).is_ok();
        !self.writable
            && is_writable(&self.path)
            && self.path.parent().is_some_and(is_writable)
            && (!self.on_full_disk || has_room(&self.path, room_to_open(&self.path)))
    }

    fn of(connection: SqliteConnection, path: PathBuf, writable: bool, kind: &FileKind) -> Self {
        let stat = FileStat::default();
        Self {
            connection,
            path,
            writable,
            on_full_disk: false,
            contents: kind.contents,
            data_version: 0,
            stat,
            in_use: None,
        }
    }

    /// Converts errors of SQLite about this file.
    pub fn failed(&self) -> impl Fn(sqlx::Error) -> StoreError + use<> {
        StoreError::of(&self.path)
    }

    /// Converts errors of the file system.
    pub fn unwritable(
        contents: &'static str,
        path: &Path,
    ) -> impl Fn(io::Error) -> StoreError + use<> {
        let path = path.to_owned();
        move |source| StoreError::Unwritable {
            contents,
            path: path.clone(),
            source,
        }
    }

    /// Begins a write transaction. The lock is taken at once: one that is requested only at the
    /// first write is not waited for.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn begin(&mut self) -> Result<Transaction<'_, Sqlite>, StoreError> {
        // The rollback of a dropped transaction may still be waiting.
        if self.connection.is_in_transaction() && self.connection.ping().await.is_ok() {
            self.reconnect_if_stuck().await?;
        }
        let failed = self.failed();
        self.connection
            .begin_with("BEGIN IMMEDIATE")
            .await
            .map_err(failed)
    }

    /// After a full disk, SQLite has rolled back a transaction that the connection still counts as
    /// open.
    async fn reconnect_if_stuck(&mut self) -> Result<(), StoreError> {
        if self.connection.is_in_transaction() {
            let new = private_options(&self.path)
                .connect()
                .await
                .map_err(self.failed())?;
            let _ = std::mem::replace(&mut self.connection, new).close().await;
            self.invalidate();
        }
        Ok(())
    }

    /// Begins the detection of writes by others. Callers read the file afterwards: a row that is
    /// written in between is then read twice rather than never.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn watch_writes(&mut self) -> Result<(), StoreError> {
        self.stat = FileStat::of(&self.path);
        self.data_version = self.query_data_version().await?;
        Ok(())
    }

    /// Whether another process wrote since the last call.
    ///
    /// # Errors
    /// When the file cannot be read, or was replaced by another one.
    pub async fn has_foreign_writes(&mut self) -> Result<bool, StoreError> {
        let stat = FileStat::of(&self.path);
        if stat == self.stat {
            return Ok(false);
        }
        if stat.inode != self.stat.inode {
            return Err(StoreError::Replaced {
                path: self.path.clone(),
            });
        }
        let version = self.query_data_version().await?;
        self.stat = stat;
        Ok(version != std::mem::replace(&mut self.data_version, version))
    }

    /// Makes the next [`has_foreign_writes`](Self::has_foreign_writes) return true, after a failed
    /// read.
    pub fn invalidate(&mut self) {
        (self.stat.files, self.data_version) = (Default::default(), -1);
    }

    /// SQLite's `data_version` at the last query.
    pub fn data_version(&self) -> i64 {
        self.data_version
    }

    async fn query_data_version(&mut self) -> Result<i64, StoreError> {
        let failed = self.failed();
        sqlx::query_scalar("PRAGMA data_version")
            .fetch_one(&mut self.connection)
            .await
            .map_err(failed)
    }

    /// Prevents other processes from opening the file: they would write deleted rows again.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while another process has it open.
    fn lock_exclusively(&self) -> Result<(), StoreError> {
        match &self.in_use {
            Some(lock) if flock(lock, FlockOperation::NonBlockingLockExclusive).is_err() => {
                Err(StoreError::InUse {
                    path: self.path.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Deletes everything about a workspace, without a trace in the file. No other instance may
    /// have the file open, because it would write its data again.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while another instance has it open; an error when the file cannot be
    /// written.
    pub async fn purge(
        mut self,
        tables: &[WorkspaceRows],
        workspace: &str,
    ) -> Result<(), StoreError> {
        self.lock_exclusively()?;
        let failed = self.failed();
        let mut change = self.begin().await?;
        for (_, rows) in tables.iter().rev() {
            let query = sqlx::AssertSqlSafe(format!("DELETE FROM {rows}"));
            sqlx::query(query)
                .bind(workspace)
                .execute(&mut *change)
                .await
                .map_err(&failed)?;
        }
        change.commit().await.map_err(&failed)?;
        // Rewrites the file without free pages, then empties the log.
        for statement in ["VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"] {
            sqlx::query(statement)
                .execute(&mut self.connection)
                .await
                .map_err(&failed)?;
        }
        for copy in self.copies() {
            fs::remove_file(&copy).map_err(Self::unwritable(self.contents, &copy))?;
        }
        self.close().await;
        Ok(())
    }

    /// Counts everything about a workspace.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn stored_rows(
        &mut self,
        tables: &[WorkspaceRows],
        workspace: &str,
    ) -> Result<StoredRows, StoreError> {
        let mut counts = Vec::new();
        for (noun, rows) in tables {
            let query = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {rows}"));
            let query = sqlx::query_scalar(query).bind(workspace);
            let count: i64 = query
                .fetch_one(&mut self.connection)
                .await
                .map_err(self.failed())?;
            counts.extend(noun.map(|noun| (noun, count)));
        }
        Ok(StoredRows {
            counts,
            copies: self.copies(),
        })
    }

    /// Backups and set-aside files next to the database.
    pub fn copies(&self) -> Vec<PathBuf> {
        let (Some(directory), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Vec::new();
        };
        let name = name.to_string_lossy();
        let is_copy = |path: &Path| {
            let other = path.file_name().unwrap_or_default().to_string_lossy();
            other
                .strip_prefix(&*name)
                .is_some_and(|rest| rest.starts_with(".bak") || rest.starts_with(".broken"))
        };
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| is_copy(path))
            .collect();
        found.sort();
        found
    }

    pub async fn close(self) {
        // On failure, SQLite moves the log into the database at the next opening.
        let _ = self.connection.close().await;
    }
}

/// Uses a pool, because rustc cannot prove this future `Send` with a borrowed connection.
async fn migrate(migrations: &Migrator, options: SqliteConnectOptions) -> sqlx::Result<()> {
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .connect_with(options)
        .await?;
    let migrated = migrations.run(&pool).await;
    pool.close().await;
    Ok(migrated?)
}

/// Free bytes that opening a file for writing can need: a migration copies the file first, and its
/// log can become as large. With less, the file would be opened in vain again and again.
fn room_to_open(file: &Path) -> u64 {
    let size = fs::metadata(file).map_or(0, |found| found.len());
    LEAST_ROOM.saturating_add(size.saturating_mul(2))
}

/// Whether the file system of the file has so many free bytes.
fn has_room(file: &Path, bytes: u64) -> bool {
    let free = statvfs(file).map(|stat| stat.f_bavail.saturating_mul(stat.f_frsize));
    free.is_ok_and(|free| free >= bytes)
}

fn sqlx_error(error: anyhow::Error) -> sqlx::Error {
    error
        .downcast()
        .unwrap_or_else(|error| sqlx::Error::Protocol(format!("{error:#}")))
}

fn is_database(file: &Path) -> bool {
    let mut start = [0; 16];
    let file = open_regular(file, OpenOptions::new().read(true));
    let read = file.and_then(|mut file| io::Read::read_exact(&mut file, &mut start));
    read.is_ok() && &start == b"SQLite format 3\0"
}

#[cfg(test)]
mod tests {
    use super::super::migrations;
    use super::*;

    const KIND: FileKind = FileKind {
        name: "a.db",
        contents: "rows",
        opening: "a.opening",
        in_use: "a.in-use",
    };

    #[tokio::test]
    async fn writes_after_migrations_are_synced() {
        let temp = tempfile::tempdir().unwrap();
        let first = "CREATE TABLE a (id INTEGER PRIMARY KEY); PRAGMA user_version = 1;";
        let migrator = migrations(&[("first", first)]);
        let lock = OpeningLock::wait(temp.path(), &KIND).await.unwrap();
        assert!(lock.is_some());
        let opened = SharedFile::open(temp.path(), &KIND, &migrator).await;
        let (mut file, _) = opened.unwrap();
        let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous")
            .fetch_one(&mut file.connection)
            .await
            .unwrap();
        assert_eq!(synchronous, 2, "FULL");
    }

    #[test]
    fn room_to_open_a_file_includes_copies_for_a_migration() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("decisions.db");
        assert_eq!(room_to_open(&file), LEAST_ROOM);
        fs::write(&file, [0u8; 100]).unwrap();
        assert_eq!(room_to_open(&file), LEAST_ROOM + 200);
    }

    #[test]
    fn room_of_a_file_system_is_compared() {
        let temp = tempfile::tempdir().unwrap();
        assert!(has_room(temp.path(), 0));
        assert!(!has_room(temp.path(), u64::MAX));
        assert!(!has_room(&temp.path().join("missing"), 0));
    }
}
