//! Errors of a shared database file, with the next step for each.

use std::io;
use std::path::{Path, PathBuf};

use sqlx::error::DatabaseError;
use sqlx::migrate::MigrateError;

use crate::text::io_cause;

/// The next step if SQLite cannot open a file below the state directory because of its name.
pub const UTF8_REMEDY: &str = "set XDG_STATE_HOME to a directory whose path is UTF-8 text";

/// Why a shared database file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{contents} cannot be saved: {path}: {cause}", path = path.display(), cause = io_cause(source))]
    Unwritable {
        contents: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{path} needs a newer scandeck: schema {found}, supported {known}", path = path.display())]
    Newer {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    /// The file, or a page of it, is not a database.
    #[error("{path} is corrupt: {source}", path = path.display())]
    Broken { path: PathBuf, source: sqlx::Error },
    /// Another process held the lock longer than the timeout; nothing was changed.
    #[error("{path} is locked by another process", path = path.display())]
    Held { path: PathBuf },
    /// Any other error of SQLite.
    #[error("{path}: {reason}", path = path.display(), reason = reason(source))]
    Database { path: PathBuf, source: sqlx::Error },
    /// The file has no bytes, although a program has used it before.
    #[error("{path} is empty, but contained {contents} before", path = path.display())]
    Emptied {
        contents: &'static str,
        path: PathBuf,
    },
    #[error("{path} was replaced by another file", path = path.display())]
    Replaced { path: PathBuf },
    /// Writes wait for a file that can be opened only for reading.
    #[error("{path} is read-only", path = path.display())]
    ReadOnly { path: PathBuf },
    #[error("{path} is open in another dashboard or command", path = path.display())]
    InUse { path: PathBuf },
    #[error("reading was interrupted: {why}")]
    Interrupted { why: String },
}

impl StoreError {
    /// Classifies an error of SQLite about this file.
    pub fn of(path: &Path) -> impl Fn(sqlx::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| match code(&source) {
            // SQLITE_BUSY
            Some(5) => Self::Held { path: path.clone() },
            found if is_corruption(found) => Self::Broken {
                path: path.clone(),
                source,
            },
            _ => Self::Database {
                path: path.clone(),
                source,
            },
        }
    }

    /// Whether a later attempt can succeed: the disk is full or read-only, or another process holds
    /// the lock.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Held { .. }
                | Self::Database { .. }
                | Self::ReadOnly { .. }
                | Self::Unwritable { .. }
        )
    }

    /// Whether the disk has no room for the file or the index of its log.
    pub fn is_disk_full(&self) -> bool {
        match self {
            // SQLITE_FULL, SQLITE_IOERR_SHMSIZE
            Self::Database { source, .. } => matches!(extended_code(source), Some(13 | 4874)),
            Self::Unwritable { source, .. } => source.kind() == io::ErrorKind::StorageFull,
            _ => false,
        }
    }

    /// The cause in a few words, without the path.
    pub fn brief(&self) -> String {
        match self {
            Self::Database { source, .. } => reason(source),
            Self::Unwritable { source, .. } => io_cause(source),
            other => other.to_string(),
        }
    }

    /// The next step.
    pub fn hint(&self) -> String {
        match self {
            Self::Unwritable { contents, .. } => {
                format!(
                    "make it writable, or set XDG_STATE_HOME; until then {contents} are not saved"
                )
            }
            Self::Newer { .. } => "use the newer scandeck, or move the file away".to_owned(),
            Self::Broken { .. } => {
                "restart: the file is set aside, and readable rows are imported".to_owned()
            }
            Self::Emptied { .. } => {
                "restore it from a backup, or delete it to start with an empty one".to_owned()
            }
            Self::Held { .. } => "wait for the other process, or end it if it hangs".to_owned(),
            Self::Database { path, .. } if path.to_str().is_none() => UTF8_REMEDY.to_owned(),
            Self::Database { .. } | Self::ReadOnly { .. } => {
                "check disk space and permissions".to_owned()
            }
            Self::Replaced { .. } | Self::Interrupted { .. } => "restart".to_owned(),
            Self::InUse { .. } => "close it first".to_owned(),
        }
    }
}

/// Whether an error says that a file, or a page of it, is not a database.
pub fn is_corrupt(error: &anyhow::Error) -> bool {
    is_corruption(error.downcast_ref::<sqlx::Error>().and_then(code))
}

/// SQLITE_CORRUPT or SQLITE_NOTADB.
fn is_corruption(code: Option<i32>) -> bool {
    matches!(code, Some(11 | 26))
}

/// SQLite's own message, if it has one.
fn reason(error: &sqlx::Error) -> String {
    database_error(error).map_or_else(|| error.to_string(), |cause| cause.message().to_owned())
}

/// SQLite's primary result code.
fn code(error: &sqlx::Error) -> Option<i32> {
    extended_code(error).map(|code| code & 0xff)
}

fn extended_code(error: &sqlx::Error) -> Option<i32> {
    database_error(error)?.code()?.parse().ok()
}

/// The error of SQLite, also that of a migration: the first statement that reads a file is often
/// one of them.
fn database_error(error: &sqlx::Error) -> Option<&(dyn DatabaseError + 'static)> {
    match error {
        sqlx::Error::Migrate(migration) => match &**migration {
            MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _) => {
                database_error(cause)
            }
            _ => None,
        },
        other => other.as_database_error(),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    use sqlx::ConnectOptions;

    use super::*;
    use crate::sqlite::options;

    /// The error of SQLite about a file that is no database.
    async fn error_of(path: &Path) -> sqlx::Error {
        let reading = async {
            let mut connection = options(path).connect().await?;
            let query = sqlx::query("SELECT name FROM sqlite_schema");
            query.execute(&mut connection).await
        };
        reading.await.unwrap_err()
    }

    #[tokio::test]
    async fn error_of_a_migration_is_classified_by_its_cause() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("captures.db");
        fs::write(&path, "this file is no database").unwrap();
        let failed = error_of(&path).await;
        assert_eq!(code(&failed), Some(26), "{failed}");
        let migrations = [
            MigrateError::Execute(failed),
            MigrateError::ExecuteMigration(error_of(&path).await, 1),
        ];
        for migration in migrations {
            let error = StoreError::of(&path)(migration.into());
            assert!(matches!(error, StoreError::Broken { .. }), "{error}");
        }
        let other = StoreError::of(&path)(MigrateError::VersionMissing(1).into());
        assert!(other.to_string().contains("migration 1 was"), "{other}");
    }

    #[tokio::test]
    async fn full_disk_is_told_from_other_errors() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("captures.db");
        let mut connection = options(&path)
            .create_if_missing(true)
            .pragma("max_page_count", "1")
            .connect()
            .await
            .unwrap();
        let create = sqlx::query("CREATE TABLE a (b)");
        let refused = create.execute(&mut connection).await.unwrap_err();
        let full = StoreError::of(&path)(refused);
        assert!(full.is_disk_full(), "{full}");
        let unknown = sqlx::query("SELECT b FROM unknown");
        let failed = unknown.execute(&mut connection).await.unwrap_err();
        let other = StoreError::of(&path)(failed);
        assert!(!other.is_disk_full(), "{other}");
        let unwritable = |kind: io::ErrorKind| StoreError::Unwritable {
            contents: "captures",
            path: path.clone(),
            source: kind.into(),
        };
        assert!(unwritable(io::ErrorKind::StorageFull).is_disk_full());
        assert!(!unwritable(io::ErrorKind::PermissionDenied).is_disk_full());
    }

    #[tokio::test]
    async fn error_of_a_path_that_is_not_utf8_names_the_remedy() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join(OsStr::from_bytes(b"caf\xe9.db"));
        let error = StoreError::of(&path)(error_of(&path).await);
        assert!(error.to_string().contains("UTF-8"), "{error}");
        assert_eq!(error.hint(), UTF8_REMEDY);
    }
}
