//! A broken file: renamed, never deleted, and read row by row for what is left of it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use futures::TryStreamExt;
use sqlx::sqlite::SqliteRow;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::{SharedFile, StoreError, beside, free_name, options};

/// Rows looked for where the table does not tell how many it has.
const BLIND: i64 = 1_000_000;
/// Rows without an answer after which a blind search ends.
const PATIENCE: i64 = 20_000;

/// A file that was put aside.
pub struct Aside {
    kept_as: PathBuf,
    connection: Option<SqliteConnection>,
}

impl Aside {
    /// Puts the file and its log aside.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub async fn put(file: &Path, what: &'static str) -> Result<Self, StoreError> {
        let kept_as = free_name(file, "broken").unwrap_or_else(|| beside(file, ".broken"));
        rename(file, &kept_as).map_err(SharedFile::unwritable(what, file))?;
        let connection = options(&kept_as).read_only(true).connect().await.ok();
        Ok(Self { kept_as, connection })
    }

    /// What can be read of a table, whose rows are numbered by `row`.
    pub async fn rows<T>(&mut self, table: &str, read: impl Fn(&SqliteRow) -> Option<T>) -> Vec<T> {
        let Some(connection) = &mut self.connection else { return Vec::new() };
        let query = sqlx::AssertSqlSafe(format!("SELECT max(row) FROM {table}"));
        let known = sqlx::query_scalar(query).fetch_one(&mut *connection).await.ok();
        let (last, mut silent, mut found) = (known.unwrap_or(BLIND), 0, Vec::new());
        for row in 1..=last {
            let query = sqlx::AssertSqlSafe(format!("SELECT * FROM {table} WHERE row = ?"));
            let one = sqlx::query(query).bind(row).fetch_optional(&mut *connection).await;
            match one.ok().flatten().as_ref().and_then(&read) {
                Some(one) => {
                    found.push(one);
                    silent = 0;
                }
                None if known.is_none() && silent > PATIENCE => break,
                None => silent += 1,
            }
        }
        found
    }

    /// What can be read of a table whose rows have no number but an order: from both ends, as far as it goes.
    pub async fn ordered<T: Ord>(
        &mut self,
        table: &str,
        order: [&str; 2],
        read: impl Fn(&SqliteRow) -> Option<T>,
    ) -> BTreeSet<T> {
        let mut found = BTreeSet::new();
        let Some(connection) = &mut self.connection else { return found };
        for way in ["ASC", "DESC"] {
            let [first, second] = order;
            let query = sqlx::AssertSqlSafe(format!("SELECT * FROM {table} ORDER BY {first} {way}, {second} {way}"));
            let mut rows = sqlx::query(query).fetch(&mut *connection);
            let whole = loop {
                match rows.try_next().await {
                    Ok(Some(row)) => found.extend(read(&row)),
                    Ok(None) => break true,
                    Err(_) => break false,
                }
            };
            if whole {
                break;
            }
        }
        found
    }

    /// Puts it back in the place of what was begun instead, which must be closed: the next opening tries again.
    pub async fn back(self, file: &Path) {
        if let Some(connection) = self.connection {
            let _ = connection.close().await;
        }
        let begun = ["-wal", "-shm", ""].map(|ending| gone_already(fs::remove_file(beside(file, ending))));
        let back = begun.into_iter().collect::<io::Result<()>>().and_then(|()| rename(&self.kept_as, file));
        if let Err(error) = back {
            tracing::error!(path = %self.kept_as.display(), %error, "a broken file cannot be put back");
        }
    }

    /// Lets go of the file; a sentence about it for a person.
    pub async fn close(self, file: &Path, why: &sqlx::Error, read: &str) -> String {
        if let Some(connection) = self.connection {
            let _ = connection.close().await;
        }
        let (file, kept) = (file.display(), self.kept_as.display());
        format!("{file} was broken ({why}) and is kept as {kept}; {read} could be read from it")
    }
}

/// Renames a database with its log, the log first: a database without its log is whole, a log without its database is
/// nothing.
fn rename(file: &Path, to: &Path) -> io::Result<()> {
    ["-wal", "-shm", ""]
        .into_iter()
        .try_for_each(|ending| gone_already(fs::rename(beside(file, ending), beside(to, ending))))
}

fn gone_already(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
