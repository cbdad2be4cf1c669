//! Opening the archive: one that is broken is put aside, and a new file takes what can be read of it.

use std::path::Path;
use std::sync::Arc;

use sqlx::Row;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteRow;

use super::{Archived, KIND, Store, StoreError};
use crate::oob::{Book, Payload};
use crate::sqlite::{Aside, SharedFile, Turn};
use crate::text::plural;

static MIGRATIONS: Migrator = sqlx::migrate!("assets/migrations/oob");

/// An opened archive.
#[derive(Debug)]
pub struct Opened {
    /// The archive.
    pub store: Store,
    /// The payload book, of every workspace: a target may call a logger of another one.
    pub book: Book,
    /// What a person should know, a sentence each: a rescue, a migration, that nothing can be kept.
    pub notes: Vec<String>,
}

impl Store {
    /// Opens or makes the archive in a directory, which is made too, and reads the payload book.
    ///
    /// # Errors
    /// When there is none and none can be made, it is of a newer program, or SQLite refuses it for another reason than
    /// that it is broken.
    pub async fn open(directory: &Path) -> Result<Opened, StoreError> {
        open_with(directory, &MIGRATIONS).await
    }
}

pub(super) async fn open_with(directory: &Path, migrations: &Migrator) -> Result<Opened, StoreError> {
    let Some(turn) = Turn::wait(directory, &KIND).await? else {
        let mut opened = read(SharedFile::open_read_only(directory, &KIND).await?).await?;
        let file = opened.store.path().display();
        opened.notes.push(format!("{file} cannot be written: captures and payloads are not kept"));
        return Ok(opened);
    };
    let opened = match opened(directory, migrations).await {
        Err(StoreError::Broken { path, source }) => rescued(directory, migrations, &path, &source).await,
        other => other,
    };
    drop(turn);
    opened
}

async fn opened(directory: &Path, migrations: &Migrator) -> Result<Opened, StoreError> {
    read(SharedFile::open(directory, &KIND, migrations).await?).await
}

async fn read((file, notes): (SharedFile, Vec<String>)) -> Result<Opened, StoreError> {
    let mut store = Store { file, last_capture: 0, last_payload: 0 };
    store.file.begin_to_look().await?;
    let failed = store.file.failed();
    let last = sqlx::query_scalar("SELECT coalesce(max(row), 0) FROM captures");
    store.last_capture = last.fetch_one(&mut store.file.connection).await.map_err(failed)?;
    let mut book = Book::default();
    book.take(store.new_payloads().await?);
    Ok(Opened { store, book, notes })
}

async fn rescued(
    directory: &Path,
    migrations: &Migrator,
    path: &Path,
    why: &sqlx::Error,
) -> Result<Opened, StoreError> {
    let mut aside = Aside::put(path, KIND.what).await?;
    let captures = aside.rows("captures", |row| Some(Archived::from_row(row)?.1)).await;
    let payload = |row: &SqliteRow| serde_json::from_str(row.try_get("json").ok()?).ok();
    let payloads: Vec<Arc<Payload>> = aside.rows("payloads", payload).await.into_iter().map(Arc::new).collect();
    let read = format!("{} and {}", plural(captures.len(), "capture"), plural(payloads.len(), "payload"));
    match begun_with(captures, payloads, directory, migrations).await {
        Ok(mut opened) => {
            opened.notes.push(aside.close(path, why, &read).await);
            Ok(opened)
        }
        // An empty file in its place would look as if nothing had ever come.
        Err(error) => {
            aside.back(path).await;
            Err(error)
        }
    }
}

/// A new file with what is left of the old one; closed again where that cannot be kept.
async fn begun_with(
    captures: Vec<Archived>,
    payloads: Vec<Arc<Payload>>,
    directory: &Path,
    migrations: &Migrator,
) -> Result<Opened, StoreError> {
    let mut opened = opened(directory, migrations).await?;
    let kept = match opened.store.archive(captures).await {
        Ok(_) => opened.store.plant(&payloads).await,
        Err(error) => Err(error),
    };
    match kept {
        Ok(_) => {
            opened.book.take(payloads);
            Ok(opened)
        }
        Err(error) => {
            opened.store.close().await;
            Err(error)
        }
    }
}
