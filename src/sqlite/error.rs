//! What can be wrong with a shared file, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The directory cannot be made or written.
    #[error("{what} cannot be kept: {path}: {source}", path = path.display())]
    Unwritable {
        /// What is not kept.
        what: &'static str,
        /// What could not be made.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Made by a newer program.
    #[error("{path} was made by a newer scandeck: schema {found}, this one knows {known}", path = path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest this program knows.
        known: i64,
    },
    /// It, or a page of it, is no database.
    #[error("{path} is broken: {source}", path = path.display())]
    Broken {
        /// The database.
        path: PathBuf,
        /// SQLite's words.
        source: sqlx::Error,
    },
    /// Another program writes it, for longer than is waited for; nothing of what was asked for was done.
    #[error("{path} is held by another program", path = path.display())]
    Held {
        /// The database.
        path: PathBuf,
    },
    /// Anything else SQLite says.
    #[error("{path}: {source}", path = path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// SQLite's words.
        source: sqlx::Error,
    },
    /// Somebody put another file in its place.
    #[error("{path} is another file than the one that was opened", path = path.display())]
    Replaced {
        /// The database.
        path: PathBuf,
    },
    /// Somebody has it open.
    #[error("a dashboard or command is still open on {path}", path = path.display())]
    InUse {
        /// The database.
        path: PathBuf,
    },
    /// The work was given up half way.
    #[error("reading was interrupted: {why}")]
    Interrupted {
        /// Why.
        why: String,
    },
}

impl StoreError {
    /// Tells an error of SQLite, by the file it is about.
    pub fn of(path: &Path) -> impl Fn(sqlx::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| match code(&source) {
            // SQLITE_BUSY
            Some(5) => Self::Held { path: path.clone() },
            // SQLITE_CORRUPT, SQLITE_NOTADB
            Some(11 | 26) => Self::Broken { path: path.clone(), source },
            _ => Self::Database { path: path.clone(), source },
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Unwritable { what, .. } => {
                format!("make it writable, or set XDG_STATE_HOME; until then no {what} are kept")
            }
            Self::Newer { .. } => "use the newer scandeck, or move the file away".to_owned(),
            Self::Broken { .. } => "start again: the file is kept aside and what can be read is taken over".to_owned(),
            Self::Held { .. } => {
                "it goes on when that one has done; if it never does, look for a program that hangs".to_owned()
            }
            Self::Database { .. } => "look for a full disk or for permissions, then start again".to_owned(),
            Self::Replaced { .. } | Self::Interrupted { .. } => "start again".to_owned(),
            Self::InUse { .. } => "leave it first".to_owned(),
        }
    }
}

/// SQLite's primary result code.
fn code(error: &sqlx::Error) -> Option<i32> {
    let code = error.as_database_error()?.code()?;
    code.parse::<i32>().ok().map(|code| code & 0xff)
}
