//! The file of sent alerts: each event is sent once on each channel, by whichever dashboard or
//! command is first.
//!
//! ```text
//!   alerts.db    first_use, sent (channel, key), quiet (channel, rule, kind)
//! ```
//!
//! The schema is SQLite's `user_version`; a file of a newer program is refused before SQLite opens it.
//! Nothing is sent about what happened before the file was made: a new user would otherwise hear of
//! everything at once.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection, Row};

use super::EventAlert;
use scandeck_wire::contract::Stamp;
use scandeck_wire::data_format::DataFormat;
use scandeck_wire::sqlite::{StoreError, known_schema, make_private, private_options};

const FILE: &str = "alerts.db";

const CONTENTS: &str = "sent alerts";

/// Seconds after which a sent alert is forgotten: its event is too old by then.
const FORGOTTEN: i64 = 90 * 24 * 3600;

/// Attempts to open a file that another process holds, and the pause before the next one.
const RETRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// The number of the schema. Files of version 0.1.0 have 0.
const SCHEMA_NUMBER: i64 = 1;

const SCHEMA: [&str; 4] = [
    "CREATE TABLE IF NOT EXISTS first_use (at INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS sent (channel TEXT NOT NULL, key TEXT NOT NULL, \
     at INTEGER NOT NULL, PRIMARY KEY (channel, key)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS quiet (channel TEXT NOT NULL, rule TEXT NOT NULL, \
     until INTEGER NOT NULL, PRIMARY KEY (channel, rule)) WITHOUT ROWID",
    "PRAGMA user_version = 1",
];

/// The open file.
#[derive(Debug)]
pub struct SentAlerts {
    path: PathBuf,
    connection: SqliteConnection,
}

/// The events of an alert that may be sent.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimedEvents {
    /// These, now, by this process only; may be none.
    Now(EventAlert),
    /// After so much quiet time.
    After(Duration),
}

impl SentAlerts {
    /// The format of the file.
    pub fn format() -> DataFormat {
        DataFormat {
            name: CONTENTS,
            number: SCHEMA_NUMBER,
            file: Some(FILE),
        }
    }

    /// Opens or makes the file in the directory of a service.
    ///
    /// # Errors
    /// When it cannot be made or read, or a newer program made it.
    pub async fn open(directory: &Path, now: Stamp) -> Result<Self, StoreError> {
        // SQLite does not wait for another process that makes the file at the same moment.
        for _ in 0..RETRIES {
            match Self::try_open(directory, now).await {
                Err(StoreError::Held { .. }) => tokio::time::sleep(PAUSE).await,
                opened => return opened,
            }
        }
        Self::try_open(directory, now).await
    }

    async fn try_open(directory: &Path, now: Stamp) -> Result<Self, StoreError> {
        let path = directory.join(FILE);
        std::fs::create_dir_all(directory)
            .and_then(|()| make_private(&path))
            .map_err(|source| StoreError::Unwritable {
                contents: CONTENTS,
                path: path.clone(),
                source,
            })?;
        let found = known_schema(&path, CONTENTS, SCHEMA_NUMBER)?;
        let failed = StoreError::of(&path);
        let connection = private_options(&path).connect().await.map_err(&failed)?;
        let mut this = Self { path, connection };
        if found < SCHEMA_NUMBER {
            this.create_tables().await.map_err(&failed)?;
        }
        this.prepare(now).await.map_err(failed)?;
        Ok(this)
    }

    async fn create_tables(&mut self) -> sqlx::Result<()> {
        for statement in SCHEMA {
            sqlx::query(statement).execute(&mut self.connection).await?;
        }
        Ok(())
    }

    async fn prepare(&mut self, now: Stamp) -> sqlx::Result<()> {
        let seconds = now.as_second();
        sqlx::query(
            "INSERT INTO first_use (at) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM first_use)",
        )
        .bind(seconds)
        .execute(&mut self.connection)
        .await?;
        sqlx::query("DELETE FROM sent WHERE at < ?")
            .bind(seconds - FORGOTTEN)
            .execute(&mut self.connection)
            .await?;
        Ok(())
    }

    /// Takes the events that nobody has sent on this channel. Whoever takes an event sends it: after
    /// this call it counts as sent.
    ///
    /// # Errors
    /// When the file cannot be written; then nothing counts as sent.
    pub async fn claim(
        &mut self,
        channel: &str,
        alert: &EventAlert,
        now: Stamp,
    ) -> Result<ClaimedEvents, StoreError> {
        let failed = StoreError::of(&self.path);
        self.take(channel, alert, now.as_second())
            .await
            .map_err(failed)
    }

    async fn take(
        &mut self,
        channel: &str,
        alert: &EventAlert,
        now: i64,
    ) -> sqlx::Result<ClaimedEvents> {
        // Two processes must not both find an event unsent.
        let mut change = self.connection.begin_with("BEGIN IMMEDIATE").await?;
        let first: i64 = sqlx::query("SELECT MIN(at) FROM first_use")
            .fetch_one(&mut *change)
            .await?
            .try_get(0)?;
        let mut new = EventAlert {
            events: Vec::new(),
            ..alert.clone()
        };
        for event in &alert.events {
            let is_old = event.at.is_some_and(|at| at.as_second() < first);
            let sent = sqlx::query("SELECT 1 FROM sent WHERE channel = ? AND key = ?")
                .bind(channel)
                .bind(&event.key)
                .fetch_optional(&mut *change)
                .await?;
            let is_repeated = new.events.iter().any(|one| one.key == event.key);
            if sent.is_none() && !is_old && !is_repeated {
                new.events.push(event.clone());
            }
        }
        if new.events.is_empty() {
            return Ok(ClaimedEvents::Now(new));
        }
        let rule = format!("{}/{}", alert.rule.name, alert.kind);
        let until = sqlx::query("SELECT until FROM quiet WHERE channel = ? AND rule = ?")
            .bind(channel)
            .bind(&rule)
            .fetch_optional(&mut *change)
            .await?;
        let until = until.map(|row| row.try_get::<i64, _>(0)).transpose()?;
        // A clock that was set back must not silence a rule for longer than its quiet time.
        let quiet = i64::try_from(alert.rule.quiet.as_secs()).unwrap_or(i64::MAX);
        let left = until.map_or(0, |until| until.saturating_sub(now).min(quiet));
        if left > 0 {
            return Ok(ClaimedEvents::After(Duration::from_secs(
                left.unsigned_abs(),
            )));
        }
        for event in &new.events {
            sqlx::query("INSERT INTO sent (channel, key, at) VALUES (?, ?, ?)")
                .bind(channel)
                .bind(&event.key)
                .bind(now)
                .execute(&mut *change)
                .await?;
        }
        sqlx::query("INSERT OR REPLACE INTO quiet (channel, rule, until) VALUES (?, ?, ?)")
            .bind(channel)
            .bind(&rule)
            .bind(now.saturating_add(quiet))
            .execute(&mut *change)
            .await?;
        change.commit().await?;
        Ok(ClaimedEvents::Now(new))
    }

    /// Closes the file.
    pub async fn close(self) {
        // A file that cannot be closed is closed by the end of the process.
        let _ = self.connection.close().await;
    }
}
