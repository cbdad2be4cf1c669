//! Opening of the store of decisions, and rescue of a broken one.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use sqlx::Row;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteRow;

use super::{Event, FindingKey, KIND, Store, StoreError};
use scandeck_wire::data_format::DataFormat;
use scandeck_wire::sqlite;
use scandeck_wire::sqlite::{BrokenFile, FileKind, Opening, OpeningLock, SharedFile};
use scandeck_wire::text::plural;

static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    sqlite::migrations(&[
        (
            "first",
            include_str!("../../../assets/migrations/triage/0001_first.sql"),
        ),
        (
            "team",
            include_str!("../../../assets/migrations/triage/0002_team.sql"),
        ),
        (
            "member",
            include_str!("../../../assets/migrations/triage/0003_member.sql"),
        ),
        (
            "marks",
            include_str!("../../../assets/migrations/triage/0004_marks.sql"),
        ),
        (
            "sender",
            include_str!("../../../assets/migrations/triage/0005_sender.sql"),
        ),
    ])
});

/// An opened store.
#[derive(Debug)]
pub struct OpenedDecisions {
    pub store: Store,
    /// Every event it held.
    pub events: Vec<Arc<Event>>,
    /// Messages for the user: rescue, migration, read-only file.
    pub notes: Vec<String>,
}

impl Store {
    /// The format of the file.
    pub fn format() -> DataFormat {
        KIND.format(&MIGRATIONS)
    }

    /// Opens or makes the file of decisions in a directory, which is made too, and reads its
    /// events.
    ///
    /// # Errors
    /// When there is none and none can be made, it is of a newer program, or SQLite refuses it for
    /// another reason than that it is broken.
    pub async fn open(directory: &Path) -> Result<OpenedDecisions, StoreError> {
        sqlite::open(directory, &MIGRATIONS).await
    }

    /// The same for a reader, which needs no room on the disk.
    ///
    /// # Errors
    /// As for [`Self::open`].
    pub async fn open_for_reading(directory: &Path) -> Result<OpenedDecisions, StoreError> {
        sqlite::open_for_reading(directory, &MIGRATIONS).await
    }

    /// Opens the file beside a program that has it open already. No event is read.
    ///
    /// # Errors
    /// When it cannot be written, or SQLite refuses it.
    pub async fn open_beside(directory: &Path) -> Result<Self, StoreError> {
        let Some(_lock) = OpeningLock::wait(directory, &KIND).await? else {
            let path = directory.join(KIND.name);
            return Err(StoreError::ReadOnly { path });
        };
        let (file, _) = SharedFile::open(directory, &KIND, &MIGRATIONS).await?;
        Ok(Self { file, last: 0 })
    }
}

impl Opening for OpenedDecisions {
    const KIND: FileKind = KIND;
    type Salvage = RescuedDecisions;

    /// Unreadable rows remain in the file.
    async fn read(file: SharedFile, mut notes: Vec<String>) -> Result<Self, StoreError> {
        let mut store = Store { file, last: 0 };
        store.check().await?;
        store.file.watch_writes().await?;
        let (events, unread) = store.read_events("").await?;
        if unread > 0 {
            let file = store.file.path.display();
            notes.push(format!(
                "{} in {file} cannot be read: ignored, but not deleted",
                plural(unread, "decision")
            ));
        }
        Ok(Self {
            store,
            events,
            notes,
        })
    }

    async fn salvage(file: &mut BrokenFile) -> RescuedDecisions {
        let event = |row: &SqliteRow| serde_json::from_str(row.try_get("json").ok()?).ok();
        let setting = |row: &SqliteRow| {
            Some((
                row.try_get("key").ok()?,
                row.try_get("workspace").ok()?,
                row.try_get("json").ok()?,
            ))
        };
        let mark = |row: &SqliteRow| {
            let key = row.try_get::<String, _>("key").ok()?;
            Some((row.try_get("workspace").ok()?, key.parse().ok()?))
        };
        let order = ["key", "workspace"];
        RescuedDecisions {
            events: file
                .rows("events", event)
                .await
                .into_iter()
                .map(Arc::new)
                .collect(),
            settings: file.ordered_rows("settings", order, setting).await,
            seen: file.ordered_rows("seen", order, mark).await,
        }
    }

    fn summary(left: &RescuedDecisions) -> String {
        let (events, settings, seen) = (left.events.len(), left.settings.len(), left.seen.len());
        let (decisions, settings) = (plural(events, "decision"), plural(settings, "setting"));
        format!("{decisions}, {settings} and {}", plural(seen, "seen mark"))
    }

    async fn import(&mut self, left: RescuedDecisions) -> Result<(), StoreError> {
        self.store.record(&left.events).await?;
        for (key, workspace, json) in &left.settings {
            self.store.put_setting(key, workspace, json).await?;
        }
        for marks in left
            .seen
            .iter()
            .collect::<Vec<_>>()
            .chunk_by(|a, b| a.0 == b.0)
        {
            let keys: Vec<FindingKey> = marks.iter().map(|(_, key)| *key).collect();
            self.store.mark_seen(&marks[0].0, &keys).await?;
        }
        self.events = left.events;
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
pub struct RescuedDecisions {
    events: Vec<Arc<Event>>,
    /// Name, workspace, JSON.
    settings: BTreeSet<(String, String, String)>,
    /// Workspace and key.
    seen: BTreeSet<(String, FindingKey)>,
}

impl Store {
    /// Checks every page now, so that a broken one is not found at a key press.
    async fn check(&mut self) -> Result<(), StoreError> {
        let failed = self.file.failed();
        let word: String = sqlx::query_scalar("PRAGMA quick_check(1)")
            .fetch_one(&mut self.file.connection)
            .await
            .map_err(failed)?;
        match word.as_str() {
            "ok" => Ok(()),
            _ => Err(StoreError::Broken {
                path: self.file.path.clone(),
                source: sqlx::Error::Protocol(word),
            }),
        }
    }
}
