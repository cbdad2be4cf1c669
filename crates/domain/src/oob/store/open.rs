//! Opening of the archive, and rescue of a broken one.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use sqlx::Row;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteRow;

use super::{ArchivedCapture, KIND, RowRange, Store, StoreError, last_row};
use crate::oob::{Hit, Payload, PayloadBook};
use scandeck_wire::contract::Stamp;
use scandeck_wire::data_format::DataFormat;
use scandeck_wire::sqlite;
use scandeck_wire::sqlite::{BrokenFile, FileKind, Opening, OpeningLock, SharedFile};
use scandeck_wire::text::plural;

static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    sqlite::migrations(&[
        (
            "first",
            include_str!("../../../assets/migrations/oob/0001_first.sql"),
        ),
        (
            "team",
            include_str!("../../../assets/migrations/oob/0002_team.sql"),
        ),
    ])
});

#[derive(Debug)]
pub struct OpenedArchive {
    pub store: Store,
    /// The payload book, of every workspace: a target may call a logger of another one.
    pub book: PayloadBook,
    /// Messages for the user: rescue, migration, read-only file.
    pub notes: Vec<String>,
    /// The number of expired captures that were deleted.
    pub forgotten: u64,
}

impl Store {
    /// The format of the file.
    pub fn format() -> DataFormat {
        KIND.format(&MIGRATIONS)
    }

    /// Opens or makes the archive in a directory, which is made too, and reads the payload book.
    ///
    /// # Errors
    /// When there is none and none can be made, it is of a newer program, or SQLite refuses it for
    /// another reason than that it is broken.
    pub async fn open(directory: &Path) -> Result<OpenedArchive, StoreError> {
        sqlite::open(directory, &MIGRATIONS).await
    }

    /// Opens the archive for reading, because the disk is full; none when it cannot be read so.
    pub async fn open_on_full_disk(directory: &Path) -> Option<OpenedArchive> {
        sqlite::open_on_full_disk(directory).await
    }

    /// Opens the archive beside a program that has it open already. Nothing is read.
    ///
    /// # Errors
    /// When it cannot be written, or SQLite refuses it.
    pub async fn open_beside(directory: &Path) -> Result<Self, StoreError> {
        let Some(_lock) = OpeningLock::wait(directory, &KIND).await? else {
            let path = directory.join(KIND.name);
            return Err(StoreError::ReadOnly { path });
        };
        let (file, _) = SharedFile::open(directory, &KIND, &MIGRATIONS).await?;
        Ok(Self::of(file))
    }

    /// Opens the archive as [`open`](Self::open), and deletes captures from before `oldest` if it
    /// is writable.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and when the captures cannot be deleted.
    pub async fn open_retaining(
        directory: &Path,
        oldest: Option<Stamp>,
    ) -> Result<OpenedArchive, StoreError> {
        let mut opened = Self::open(directory).await?;
        if let Some(oldest) = oldest.filter(|_| opened.store.is_writable()) {
            opened.forgotten = opened.store.forget_before(oldest, &opened.book).await?;
        }
        Ok(opened)
    }
}

impl Opening for OpenedArchive {
    const KIND: FileKind = KIND;
    type Salvage = RescuedArchive;

    async fn read(file: SharedFile, notes: Vec<String>) -> Result<Self, StoreError> {
        let mut store = Store::of(file);
        store.file.watch_writes().await?;
        let failed = store.file.failed();
        let connection = &mut store.file.connection;
        store.last_capture = last_row("captures")
            .fetch_one(&mut *connection)
            .await
            .map_err(&failed)?;
        store.last_count = last_row("counts")
            .fetch_one(connection)
            .await
            .map_err(&failed)?;
        // Met here, a broken page is rescued.
        store.is_behind().await?;
        let mut book = PayloadBook::default();
        book.take(store.new_payloads().await?);
        Ok(Self {
            store,
            book,
            notes,
            forgotten: 0,
        })
    }

    async fn salvage(file: &mut BrokenFile) -> RescuedArchive {
        let payload = |row: &SqliteRow| serde_json::from_str(row.try_get("json").ok()?).ok();
        RescuedArchive {
            captures: file
                .rows("captures", |row| Some(ArchivedCapture::from_row(row)?.1))
                .await,
            payloads: file
                .rows("payloads", payload)
                .await
                .into_iter()
                .map(Arc::new)
                .collect(),
            hits: file
                .ordered_rows("hits", ["token", "logger"], Hit::from_row)
                .await
                .into_iter()
                .collect(),
        }
    }

    fn summary(left: &RescuedArchive) -> String {
        let (captures, payloads) = (
            plural(left.captures.len(), "capture"),
            plural(left.payloads.len(), "payload"),
        );
        format!(
            "{captures} and {payloads} with {}",
            plural(left.hits.len(), "hit")
        )
    }

    async fn import(&mut self, left: RescuedArchive) -> Result<(), StoreError> {
        self.store.archive(left.captures).await?;
        self.store.plant(&left.payloads).await?;
        self.store
            .insert_hits(&left.hits, RowRange::default())
            .await?;
        self.book.take(left.payloads);
        Ok(())
    }

    fn notes(&mut self) -> &mut Vec<String> {
        &mut self.notes
    }

    async fn close(self) {
        self.store.close().await;
    }
}

/// Readable rows of a broken file.
#[derive(Debug)]
pub struct RescuedArchive {
    captures: Vec<ArchivedCapture>,
    payloads: Vec<Arc<Payload>>,
    /// Those of captures that have left, too.
    hits: Vec<Hit>,
}
