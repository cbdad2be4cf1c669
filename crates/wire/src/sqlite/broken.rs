//! A corrupt database file: renamed, never deleted, and read row by row.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use futures::TryStreamExt;
use sqlx::sqlite::SqliteRow;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::{SharedFile, StoreError, beside, free_name, options};

/// Row numbers to try when the table does not return its largest one.
const MAX_UNCOUNTED: i64 = 1_000_000;
/// Consecutive unreadable rows that end such a search.
const MAX_UNREADABLE: i64 = 20_000;

/// A corrupt file that was set aside.
pub struct BrokenFile {
    set_aside_as: PathBuf,
    connection: Option<SqliteConnection>,
}

impl BrokenFile {
    /// Renames the file and its log.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub async fn set_aside(file: &Path, contents: &'static str) -> Result<Self, StoreError> {
        let set_aside_as = free_name(file, "broken").unwrap_or_else(|| beside(file, ".broken"));
        rename(file, &set_aside_as).map_err(SharedFile::unwritable(contents, file))?;
        // SQLite refuses a file that is shorter than its header says, unless the schema is declared
        // writable.
        let options = options(&set_aside_as)
            .read_only(true)
            .pragma("writable_schema", "ON");
        let connection = options.connect().await.ok();
        Ok(Self {
            set_aside_as,
            connection,
        })
    }

    /// The readable rows of a table with a column `row` that numbers them.
    pub async fn rows<T>(&mut self, table: &str, read: impl Fn(&SqliteRow) -> Option<T>) -> Vec<T> {
        let Some(connection) = &mut self.connection else {
            return Vec::new();
        };
        let query = sqlx::AssertSqlSafe(format!("SELECT max(row) FROM {table}"));
        let known = sqlx::query_scalar(query)
            .fetch_one(&mut *connection)
            .await
            .ok();
        let (last, mut unreadable, mut found) = (known.unwrap_or(MAX_UNCOUNTED), 0, Vec::new());
        for number in 1..=last {
            let query = sqlx::AssertSqlSafe(format!("SELECT * FROM {table} WHERE row = ?"));
            let row = sqlx::query(query)
                .bind(number)
                .fetch_optional(&mut *connection)
                .await;
            match row.ok().flatten().as_ref().and_then(&read) {
                Some(value) => {
                    found.push(value);
                    unreadable = 0;
                }
                None if known.is_none() && unreadable > MAX_UNREADABLE => break,
                None => unreadable += 1,
            }
        }
        found
    }

    /// The readable rows of a table without row numbers: read from both ends up to the first error.
    pub async fn ordered_rows<T: Ord>(
        &mut self,
        table: &str,
        order: [&str; 2],
        read: impl Fn(&SqliteRow) -> Option<T>,
    ) -> BTreeSet<T> {
        let mut found = BTreeSet::new();
        let Some(connection) = &mut self.connection else {
            return found;
        };
        for direction in ["ASC", "DESC"] {
            let [first, second] = order.map(|column| format!("{column} {direction}"));
            let query =
                sqlx::AssertSqlSafe(format!("SELECT * FROM {table} ORDER BY {first}, {second}"));
            let mut rows = sqlx::query(query).fetch(&mut *connection);
            let is_complete = loop {
                match rows.try_next().await {
                    Ok(Some(row)) => found.extend(read(&row)),
                    Ok(None) => break true,
                    Err(_) => break false,
                }
            };
            if is_complete {
                break;
            }
        }
        found
    }

    /// Restores the file over the new one, which must be closed; the next opening tries again.
    pub async fn restore(mut self, file: &Path) {
        self.disconnect().await;
        let removed = ["-wal", "-shm", ""]
            .map(|ending| ignore_absence(fs::remove_file(beside(file, ending))));
        let restored = removed
            .into_iter()
            .collect::<io::Result<()>>()
            .and_then(|()| rename(&self.set_aside_as, file));
        if let Err(error) = restored {
            tracing::error!(path = %self.set_aside_as.display(), %error, "corrupt file not restored");
        }
    }

    /// Closes the file; returns a notice for the user.
    pub async fn close(mut self, file: &Path, why: &sqlx::Error, salvaged: &str) -> String {
        self.disconnect().await;
        let (file, set_aside_as) = (file.display(), self.set_aside_as.display());
        format!(
            "{file} was corrupt ({why}) and was renamed to {set_aside_as}; imported: {salvaged}"
        )
    }

    async fn disconnect(&mut self) {
        if let Some(connection) = self.connection.take() {
            let _ = connection.close().await;
        }
    }
}

/// Renames a database that SQLite cannot read, with its log, to the first free `*.bak-N`.
///
/// # Errors
/// When it cannot be renamed.
pub fn move_aside(file: &Path) -> io::Result<PathBuf> {
    let moved = free_name(file, "bak").unwrap_or_else(|| beside(file, ".bak"));
    rename(file, &moved)?;
    Ok(moved)
}

/// Renames a database with its log, the log first: a database without its log is complete, a log
/// without its database is useless.
fn rename(file: &Path, to: &Path) -> io::Result<()> {
    ["-wal", "-shm", ""]
        .into_iter()
        .try_for_each(|ending| ignore_absence(fs::rename(beside(file, ending), beside(to, ending))))
}

fn ignore_absence(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
