//! Opening the archive: one that is broken is put aside, and a new file takes what can be read of it.

use std::path::Path;
use std::sync::Arc;

use sqlx::Row;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteRow;

use super::{Archived, KIND, Rows, Store, StoreError, last_row};
use crate::oob::{Book, Hit, Payload};
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

pub(super) async fn read((file, notes): (SharedFile, Vec<String>)) -> Result<Opened, StoreError> {
    let mut store = Store { file, last_capture: 0, last_payload: 0, last_count: 0, keeps_hits: false };
    store.file.begin_to_look().await?;
    let failed = store.file.failed();
    let connection = &mut store.file.connection;
    let hits = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'hits')");
    store.keeps_hits = hits.fetch_one(&mut *connection).await.map_err(&failed)?;
    store.last_capture = last_row("captures").fetch_one(&mut *connection).await.map_err(&failed)?;
    if store.keeps_hits {
        store.last_count = last_row("counts").fetch_one(connection).await.map_err(&failed)?;
    }
    let mut book = Book::default();
    book.take(store.new_payloads().await?);
    Ok(Opened { store, book, notes })
}

/// What could be read of a broken file.
struct Left {
    captures: Vec<Archived>,
    payloads: Vec<Arc<Payload>>,
    /// Those of captures that have left, too.
    hits: Vec<Hit>,
}

impl Left {
    async fn of(aside: &mut Aside) -> Self {
        let payload = |row: &SqliteRow| serde_json::from_str(row.try_get("json").ok()?).ok();
        Self {
            captures: aside.rows("captures", |row| Some(Archived::from_row(row)?.1)).await,
            payloads: aside.rows("payloads", payload).await.into_iter().map(Arc::new).collect(),
            hits: aside.ordered("hits", ["token", "logger"], Hit::from_row).await.into_iter().collect(),
        }
    }

    async fn keep_in(&self, store: &mut Store) -> Result<(), StoreError> {
        store.archive(self.captures.clone()).await?;
        store.plant(&self.payloads).await?;
        store.keep_hits(&self.hits, Rows::default()).await
    }

    fn told(&self) -> String {
        let (captures, payloads) = (plural(self.captures.len(), "capture"), plural(self.payloads.len(), "payload"));
        format!("{captures} and {payloads} with {}", plural(self.hits.len(), "hit"))
    }
}

async fn rescued(
    directory: &Path,
    migrations: &Migrator,
    path: &Path,
    why: &sqlx::Error,
) -> Result<Opened, StoreError> {
    let mut aside = Aside::put(path, KIND.what).await?;
    let left = Left::of(&mut aside).await;
    match begun_with(&left, directory, migrations).await {
        Ok(mut opened) => {
            opened.notes.push(aside.close(path, why, &left.told()).await);
            opened.book.take(left.payloads);
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
async fn begun_with(left: &Left, directory: &Path, migrations: &Migrator) -> Result<Opened, StoreError> {
    let mut opened = opened(directory, migrations).await?;
    match left.keep_in(&mut opened.store).await {
        Ok(()) => Ok(opened),
        Err(error) => {
            opened.store.close().await;
            Err(error)
        }
    }
}
