//! A file that any number of dashboards and commands write at once.
//!
//! ```text
//!   no file ─► made      older ─► copied to *.bak-N, migrated      newer ─► refused      cannot be written ─► only read
//! ```
//!
//! Openings take turns, so that two dashboards started at once neither migrate nor rescue twice. One connection reads and
//! writes, so SQLite's `data_version` moves exactly when somebody else has written; the files are looked at before it is
//! asked, which costs no wake-up of its thread.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::{StoreError, back_up, close_to_others, on_network, options, schema_number};

/// What a file is called.
#[derive(Debug)]
pub struct FileKind {
    /// Its name in the directory of the service.
    pub name: &'static str,
    /// What it keeps, for people.
    pub what: &'static str,
    /// The lock of openings, beside it.
    pub opening: &'static str,
    /// The lock that tells that it is in use, beside it.
    pub in_use: &'static str,
}

/// See the module.
#[derive(Debug)]
pub struct SharedFile {
    /// Reads and writes.
    pub connection: SqliteConnection,
    /// The database.
    pub path: PathBuf,
    /// Whether anything can be kept.
    pub writable: bool,
    what: &'static str,
    /// What others have written counts from here.
    data_version: i64,
    /// The files as they were when it was last asked.
    looks: Looks,
    /// Tells others that the file is in use.
    in_use: Option<File>,
}

/// What the file system tells without opening anything: inode of the database, and times and sizes of it and its log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Looks {
    inode: u64,
    files: [(i64, i64, u64); 2],
}

impl Looks {
    fn of(file: &Path) -> Self {
        let look = |path: &Path| fs::metadata(path).ok();
        let words = |found: Option<fs::Metadata>| {
            found.map(|found| (found.mtime(), found.mtime_nsec(), found.len())).unwrap_or_default()
        };
        let database = look(file);
        let inode = database.as_ref().map(MetadataExt::ino).unwrap_or_default();
        Self { inode, files: [words(database), words(look(&beside(file, "-wal")))] }
    }
}

/// A file that SQLite keeps beside the database.
pub fn beside(file: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", file.display()))
}

/// The turn to open a file; over when it is dropped.
#[derive(Debug)]
pub struct OpeningTurn {
    _lock: Option<File>,
}

impl OpeningTurn {
    /// Makes the directory, and waits until nobody else is opening the file; nothing where it can only be read.
    ///
    /// # Errors
    /// When there is no file and none can be made.
    pub async fn wait(directory: &Path, kind: &FileKind) -> Result<Option<Self>, StoreError> {
        let file = directory.join(kind.name);
        let lock = match make(directory, &file, kind) {
            Ok(lock) => lock,
            Err(_) if file.is_file() => return Ok(None),
            Err(source) => return Err(SharedFile::unwritable(kind.what, directory)(source)),
        };
        let waited = tokio::task::spawn_blocking(move || flock(&lock, FlockOperation::LockExclusive).map(|()| lock));
        // A file system without locks has no two dashboards either.
        let lock = waited.await.map_err(|error| StoreError::Interrupted { why: error.to_string() })?.ok();
        Ok(Some(Self { _lock: lock }))
    }
}

/// Makes the directory and the files that SQLite does not make closed to others; returns the lock of openings.
fn make(directory: &Path, file: &Path, kind: &FileKind) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let lock = lock_file(&directory.join(kind.opening))?;
    close_to_others(file)?;
    Ok(lock)
}

fn lock_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}

impl SharedFile {
    /// Opens or makes the file during one's turn, and what a person should know about that.
    ///
    /// # Errors
    /// When it is of a newer program, broken, or SQLite refuses it for another reason.
    pub async fn open(
        directory: &Path,
        kind: &FileKind,
        migrations: &Migrator,
    ) -> Result<(Self, Vec<String>), StoreError> {
        let path = directory.join(kind.name);
        let failed = StoreError::of(&path);
        let known = migrations.iter().map(|migration| migration.version).max().unwrap_or_default();
        let unwritable = Self::unwritable(kind.what, &path);
        close_to_others(&path).map_err(&unwritable)?;
        let found = schema_number(&path).map_err(&unwritable)?;
        if found > known {
            // Four bytes of rubbish are no number either.
            if is_database(&path) {
                return Err(StoreError::Newer { path, found, known });
            }
            let source = sqlx::Error::Protocol("it is no database".to_owned());
            return Err(StoreError::Broken { path, source });
        }
        let mut notes = Vec::new();
        if 0 < found && found < known {
            let backup = back_up(&path).await.map_err(|error| failed(broken_or(error)))?;
            let (what, backup) = (kind.what, backup.display());
            notes.push(format!("the {what} move from schema {found} to {known}; the old file is kept as {backup}"));
        }
        let journal = if on_network(&path) { SqliteJournalMode::Delete } else { SqliteJournalMode::Wal };
        let options = options(&path)
            .create_if_missing(true)
            .journal_mode(journal)
            .synchronous(SqliteSynchronous::Full)
            // What is purged must be gone from the file, not only from its index.
            .pragma("secure_delete", "ON");
        if found < known {
            migrate(migrations, options.clone()).await.map_err(&failed)?;
        }
        let mut connection = options.connect().await.map_err(&failed)?;
        if found < known {
            // The header of the file tells the schema number only once the log is in it.
            sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await.map_err(&failed)?;
        }
        let in_use = lock_file(&directory.join(kind.in_use)).ok();
        let in_use = in_use.filter(|lock| flock(lock, FlockOperation::NonBlockingLockShared).is_ok());
        let mut file = Self::of(connection, path, true, kind);
        file.in_use = in_use;
        Ok((file, notes))
    }

    /// The file is there and cannot be written: what it holds is shown.
    ///
    /// # Errors
    /// When SQLite refuses it.
    pub async fn open_read_only(directory: &Path, kind: &FileKind) -> Result<(Self, Vec<String>), StoreError> {
        let path = directory.join(kind.name);
        // Immutable: beside a file that cannot be written no index of its log can be made.
        let options = options(&path).read_only(true).immutable(true);
        let connection = options.connect().await.map_err(StoreError::of(&path))?;
        Ok((Self::of(connection, path, false, kind), Vec::new()))
    }

    fn of(connection: SqliteConnection, path: PathBuf, writable: bool, kind: &FileKind) -> Self {
        let looks = Looks::default();
        Self { connection, path, writable, what: kind.what, data_version: 0, looks, in_use: None }
    }

    /// Tells an error of SQLite.
    pub fn failed(&self) -> impl Fn(sqlx::Error) -> StoreError + use<> {
        StoreError::of(&self.path)
    }

    /// Tells that a file cannot be written.
    pub fn unwritable(what: &'static str, path: &Path) -> impl Fn(io::Error) -> StoreError + use<> {
        let path = path.to_owned();
        move |source| StoreError::Unwritable { what, path: path.clone(), source }
    }

    /// From here on [`others_wrote`](Self::others_wrote) tells; to be asked before the file is read, so that what is
    /// written between the two is read twice rather than never.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn begin_to_look(&mut self) -> Result<(), StoreError> {
        self.looks = Looks::of(&self.path);
        self.data_version = self.ask_data_version().await?;
        Ok(())
    }

    /// Whether somebody else wrote since this was last asked.
    ///
    /// # Errors
    /// When the file cannot be read, or is another than the one that was opened.
    pub async fn others_wrote(&mut self) -> Result<bool, StoreError> {
        let looks = Looks::of(&self.path);
        if looks == self.looks {
            return Ok(false);
        }
        if looks.inode != self.looks.inode {
            return Err(StoreError::Replaced { path: self.path.clone() });
        }
        let version = self.ask_data_version().await?;
        self.looks = looks;
        Ok(version != std::mem::replace(&mut self.data_version, version))
    }

    /// What others wrote could not be read: they count as having written.
    pub fn look_again(&mut self) {
        (self.looks.files, self.data_version) = (Default::default(), -1);
    }

    /// The count of what others have written, as it was last asked.
    pub fn data_version(&self) -> i64 {
        self.data_version
    }

    async fn ask_data_version(&mut self) -> Result<i64, StoreError> {
        let failed = self.failed();
        sqlx::query_scalar("PRAGMA data_version").fetch_one(&mut self.connection).await.map_err(failed)
    }

    /// Nobody else may have it open from now on: what they know they would write again.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while somebody has it open.
    pub fn take_alone(&self) -> Result<(), StoreError> {
        match &self.in_use {
            Some(lock) if flock(lock, FlockOperation::NonBlockingLockExclusive).is_err() => {
                Err(StoreError::InUse { path: self.path.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Deletes rows so that no byte of them stays: each text is a table and a condition on a workspace, `?1`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn wipe(&mut self, rows: &[&str], workspace: &str) -> Result<(), StoreError> {
        let failed = self.failed();
        let mut change = self.connection.begin_with("BEGIN IMMEDIATE").await.map_err(&failed)?;
        for rows in rows {
            let query = sqlx::AssertSqlSafe(format!("DELETE FROM {rows}"));
            sqlx::query(query).bind(workspace).execute(&mut *change).await.map_err(&failed)?;
        }
        change.commit().await.map_err(&failed)?;
        // The file is written anew without its free pages, then the log is emptied.
        for statement in ["VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"] {
            sqlx::query(statement).execute(&mut self.connection).await.map_err(&failed)?;
        }
        for copy in self.copies() {
            fs::remove_file(&copy).map_err(Self::unwritable(self.what, &copy))?;
        }
        Ok(())
    }

    /// How many rows there are, as in [`wipe`](Self::wipe).
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn count<const N: usize>(&mut self, rows: [&str; N], workspace: &str) -> Result<[i64; N], StoreError> {
        let mut counts = [0; N];
        for (count, rows) in counts.iter_mut().zip(rows) {
            let failed = self.failed();
            let query = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {rows}"));
            *count = sqlx::query_scalar(query).bind(workspace).fetch_one(&mut self.connection).await.map_err(failed)?;
        }
        Ok(counts)
    }

    /// Copies of the database beside it.
    pub fn copies(&self) -> Vec<PathBuf> {
        let (Some(directory), Some(name)) = (self.path.parent(), self.path.file_name()) else { return Vec::new() };
        let name = name.to_string_lossy();
        let is_copy = |path: &Path| {
            let other = path.file_name().unwrap_or_default().to_string_lossy();
            other.strip_prefix(&*name).is_some_and(|rest| rest.starts_with(".bak") || rest.starts_with(".broken"))
        };
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_copy(path)).collect();
        found.sort();
        found
    }

    /// Closes the file; what was kept is kept without it too.
    pub async fn close(self) {
        // The log goes into the database at the next opening otherwise.
        let _ = self.connection.close().await;
    }
}

/// Over a pool that is closed again: with a borrowed connection rustc cannot prove this future `Send`.
async fn migrate(migrations: &Migrator, options: SqliteConnectOptions) -> sqlx::Result<()> {
    let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await?;
    let migrated = migrations.run(&pool).await;
    pool.close().await;
    Ok(migrated?)
}

/// SQLite's error, where there is one in the chain.
fn broken_or(error: anyhow::Error) -> sqlx::Error {
    error.downcast().unwrap_or_else(|error| sqlx::Error::Protocol(format!("{error:#}")))
}

fn is_database(file: &Path) -> bool {
    let mut start = [0; 16];
    let read = File::open(file).and_then(|mut file| io::Read::read_exact(&mut file, &mut start));
    read.is_ok() && &start == b"SQLite format 3\0"
}
