//! The file of sent alerts: each event is sent once on each channel, by whichever dashboard or
//! command is first.
//!
//! ```text
//!   claim ─► sent ─► delivered? yes: nothing more
//!                            └─ no: release ─► failed: due later ─► claim …, until there is no attempt left
//!
//!   alerts.db    first_use, sent (channel, key), failed (channel, key), quiet (channel, group)
//! ```
//!
//! A claimed event counts as sent at once, so a process that ends meanwhile never causes a second
//! alert.
//!
//! The schema is SQLite's `user_version`; a file of a newer program is refused before SQLite opens it.
//! Nothing is sent about what happened before the file was made: a new user would otherwise hear of
//! everything at once. The tables of [`starts`] are in the same file.

pub mod starts;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection, Row};

use super::AlertClaim;
use scandeck_wire::contract::Stamp;
use scandeck_wire::data_format::DataFormat;
use scandeck_wire::sqlite::{
    FileKind, OpeningLock, StoreError, known_schema, make_private, move_aside, private_options,
};

const FILE: &str = "alerts.db";

const CONTENTS: &str = "sent alerts";

/// Only the opening is locked, and only to replace a corrupt file.
const KIND: FileKind = FileKind {
    name: FILE,
    contents: CONTENTS,
    opening: "alerts-opening.lock",
    in_use: "alerts-in-use.lock",
};

/// Seconds after which a sent alert is forgotten: its event is too old by then.
const FORGOTTEN: i64 = 90 * 24 * 3600;

/// Attempts to open a file that another process holds, and the pause before the next one.
const RETRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Seconds from an attempt that failed to the next one, by the number of failures.
const DELAYS: [i64; 5] = [60, 5 * 60, 15 * 60, 3600, 4 * 3600];

/// The number of the schema. Files of version 0.1.0 have 0.
const SCHEMA_NUMBER: i64 = 1;

const SCHEMA: [&str; 5] = [
    "CREATE TABLE IF NOT EXISTS first_use (at INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS sent (channel TEXT NOT NULL, key TEXT NOT NULL, \
     at INTEGER NOT NULL, PRIMARY KEY (channel, key)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS failed (channel TEXT NOT NULL, key TEXT NOT NULL, \
     failures INTEGER NOT NULL, due INTEGER NOT NULL, PRIMARY KEY (channel, key)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS quiet (channel TEXT NOT NULL, rule TEXT NOT NULL, \
     until INTEGER NOT NULL, PRIMARY KEY (channel, rule)) WITHOUT ROWID",
    "PRAGMA user_version = 1",
];

/// Bell and desktop once were one channel.
const SPLIT_SCREEN: [&str; 3] = [
    "INSERT OR IGNORE INTO sent SELECT 'bell', key, at FROM sent WHERE channel = 'screen'",
    "INSERT OR IGNORE INTO sent SELECT 'desktop', key, at FROM sent WHERE channel = 'screen'",
    "DELETE FROM sent WHERE channel = 'screen'",
];

/// The open file.
#[derive(Debug)]
pub struct SentAlerts {
    path: PathBuf,
    connection: SqliteConnection,
}

/// The events of an alert that may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimedEvents {
    /// Those with these keys, now, by this process only; may be none.
    Now(BTreeSet<String>),
    /// After so much time.
    After(Duration),
}

fn unwritable(path: &Path, source: std::io::Error) -> StoreError {
    StoreError::Unwritable {
        contents: CONTENTS,
        path: path.to_owned(),
        source,
    }
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

    /// Opens or makes the file in the directory of a service. A corrupt file is renamed: a new one
    /// sends nothing about earlier events.
    ///
    /// # Errors
    /// When it cannot be made or read, or a newer program made it.
    pub async fn open(directory: &Path, now: Stamp) -> Result<Self, StoreError> {
        // SQLite does not wait for another process that makes the file at the same moment.
        for _ in 0..RETRIES {
            match Self::try_open(directory, now).await {
                Err(StoreError::Held { .. }) => tokio::time::sleep(PAUSE).await,
                Err(StoreError::Broken { .. }) => return Self::replace(directory, now).await,
                opened => return opened,
            }
        }
        Self::try_open(directory, now).await
    }

    /// Replaces a corrupt file, unless another process has done so meanwhile.
    async fn replace(directory: &Path, now: Stamp) -> Result<Self, StoreError> {
        let _lock = OpeningLock::wait(directory, &KIND).await?;
        match Self::try_open(directory, now).await {
            Err(StoreError::Broken { path, .. }) => {
                let moved = move_aside(&path).map_err(|source| unwritable(&path, source))?;
                tracing::warn!(moved = %moved.display(), "corrupt file of sent alerts replaced");
                Self::try_open(directory, now).await
            }
            opened => opened,
        }
    }

    async fn try_open(directory: &Path, now: Stamp) -> Result<Self, StoreError> {
        let path = directory.join(FILE);
        std::fs::create_dir_all(directory)
            .and_then(|()| make_private(&path))
            .map_err(|source| unwritable(&path, source))?;
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
        for statement in SCHEMA.into_iter().chain(SPLIT_SCREEN) {
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
        for statement in [
            "DELETE FROM sent WHERE at < ?",
            "DELETE FROM failed WHERE due < ?",
        ] {
            sqlx::query(statement)
                .bind(seconds - FORGOTTEN)
                .execute(&mut self.connection)
                .await?;
        }
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
        claim: &AlertClaim,
        now: Stamp,
    ) -> Result<ClaimedEvents, StoreError> {
        let failed = StoreError::of(&self.path);
        self.take(channel, claim, now.as_second())
            .await
            .map_err(failed)
    }

    async fn take(
        &mut self,
        channel: &str,
        claim: &AlertClaim,
        now: i64,
    ) -> sqlx::Result<ClaimedEvents> {
        // Two processes must not both find an event unsent.
        let mut change = self.connection.begin_with("BEGIN IMMEDIATE").await?;
        let first: i64 = sqlx::query("SELECT MIN(at) FROM first_use")
            .fetch_one(&mut *change)
            .await?
            .try_get(0)?;
        let mut new = BTreeSet::new();
        let mut next_due: Option<i64> = None;
        for event in &claim.events {
            let is_old = event.at.is_some_and(|at| at.as_second() < first);
            if is_old || is_sent(&mut change, channel, &event.key).await? {
                continue;
            }
            match due_of(&mut change, channel, &event.key, now).await? {
                Some(due) => next_due = Some(next_due.map_or(due, |next| due.min(next))),
                None => _ = new.insert(event.key.clone()),
            }
        }
        if new.is_empty() {
            let left = next_due.map(|due| Duration::from_secs(due.abs_diff(now)));
            return Ok(left.map_or(ClaimedEvents::Now(new), ClaimedEvents::After));
        }
        let until = sqlx::query("SELECT until FROM quiet WHERE channel = ? AND rule = ?")
            .bind(channel)
            .bind(&claim.group)
            .fetch_optional(&mut *change)
            .await?;
        let until = until.map(|row| row.try_get::<i64, _>(0)).transpose()?;
        // A clock that was set back must not silence a rule for longer than its quiet time.
        let quiet = i64::try_from(claim.quiet.as_secs()).unwrap_or(i64::MAX);
        let left = until.map_or(0, |until| until.saturating_sub(now).min(quiet));
        if left > 0 {
            return Ok(ClaimedEvents::After(Duration::from_secs(
                left.unsigned_abs(),
            )));
        }
        for key in &new {
            sqlx::query("INSERT INTO sent (channel, key, at) VALUES (?, ?, ?)")
                .bind(channel)
                .bind(key)
                .bind(now)
                .execute(&mut *change)
                .await?;
        }
        sqlx::query("INSERT OR REPLACE INTO quiet (channel, rule, until) VALUES (?, ?, ?)")
            .bind(channel)
            .bind(&claim.group)
            .bind(now.saturating_add(quiet))
            .execute(&mut *change)
            .await?;
        change.commit().await?;
        Ok(ClaimedEvents::Now(new))
    }

    /// Gives back claimed events that certainly did not arrive. Returns the time until they may be
    /// claimed again; none after the last attempt, when they remain sent.
    ///
    /// # Errors
    /// When the file cannot be written; then they remain sent.
    pub async fn release(
        &mut self,
        channel: &str,
        claim: &AlertClaim,
        now: Stamp,
    ) -> Result<Option<Duration>, StoreError> {
        let failed = StoreError::of(&self.path);
        self.give_back(channel, claim, now.as_second())
            .await
            .map_err(failed)
    }

    async fn give_back(
        &mut self,
        channel: &str,
        claim: &AlertClaim,
        now: i64,
    ) -> sqlx::Result<Option<Duration>> {
        let mut change = self.connection.begin_with("BEGIN IMMEDIATE").await?;
        let mut shortest: Option<i64> = None;
        for event in &claim.events {
            let before = sqlx::query("SELECT failures FROM failed WHERE channel = ? AND key = ?")
                .bind(channel)
                .bind(&event.key)
                .fetch_optional(&mut *change)
                .await?;
            let before = before.map(|row| row.try_get::<i64, _>(0)).transpose()?;
            let failures = before.unwrap_or(0);
            let at = usize::try_from(failures).unwrap_or(DELAYS.len());
            let Some(&delay) = DELAYS.get(at) else {
                continue;
            };
            shortest = Some(shortest.map_or(delay, |least| least.min(delay)));
            sqlx::query("DELETE FROM sent WHERE channel = ? AND key = ?")
                .bind(channel)
                .bind(&event.key)
                .execute(&mut *change)
                .await?;
            let note = "INSERT OR REPLACE INTO failed (channel, key, failures, due) \
                        VALUES (?, ?, ?, ?)";
            sqlx::query(note)
                .bind(channel)
                .bind(&event.key)
                .bind(failures + 1)
                .bind(now + delay)
                .execute(&mut *change)
                .await?;
        }
        // Nobody received an alert, so there is none to be quiet after.
        sqlx::query("DELETE FROM quiet WHERE channel = ? AND rule = ?")
            .bind(channel)
            .bind(&claim.group)
            .execute(&mut *change)
            .await?;
        change.commit().await?;
        Ok(shortest.map(|delay| Duration::from_secs(delay.unsigned_abs())))
    }

    /// The keys of the events that wait for another attempt.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn owed(&mut self) -> Result<BTreeSet<String>, StoreError> {
        let failed = StoreError::of(&self.path);
        let owed = "SELECT key FROM failed WHERE NOT EXISTS (SELECT 1 FROM sent \
                    WHERE sent.channel = failed.channel AND sent.key = failed.key)";
        let rows = sqlx::query(owed).fetch_all(&mut self.connection).await;
        let keys =
            rows.and_then(|rows| rows.iter().map(|row| row.try_get::<String, _>(0)).collect());
        keys.map_err(failed)
    }

    /// Closes the file.
    pub async fn close(self) {
        // A file that cannot be closed is closed by the end of the process.
        let _ = self.connection.close().await;
    }
}

async fn is_sent(
    connection: &mut SqliteConnection,
    channel: &str,
    key: &str,
) -> sqlx::Result<bool> {
    let sent = sqlx::query("SELECT 1 FROM sent WHERE channel = ? AND key = ?")
        .bind(channel)
        .bind(key)
        .fetch_optional(connection)
        .await?;
    Ok(sent.is_some())
}

/// When the next attempt of an event that failed is due; none if it may be sent now.
async fn due_of(
    connection: &mut SqliteConnection,
    channel: &str,
    key: &str,
    now: i64,
) -> sqlx::Result<Option<i64>> {
    let failed = sqlx::query("SELECT due FROM failed WHERE channel = ? AND key = ?")
        .bind(channel)
        .bind(key)
        .fetch_optional(connection)
        .await?;
    let due = failed.map(|row| row.try_get::<i64, _>(0)).transpose()?;
    // A clock that was set back must not delay an attempt for longer than the longest delay.
    let longest = now.saturating_add(DELAYS[DELAYS.len() - 1]);
    Ok(due.filter(|due| *due > now && *due <= longest))
}
