//! A new file for each test, whose migrations run once: they take longer than most tests.

use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::OnceCell;

use scandeck::service::keys::list_keys;
use scandeck::service::{DataDir, Settings};

/// What is random in a new database.
const RANDOM: [&str; 2] = [
    "UPDATE settings SET value = lower(hex(randomblob(16))) WHERE name = 'service_id'",
    "UPDATE versions SET version = random() >> 20",
];

static NEW: OnceCell<Vec<u8>> = OnceCell::const_new();

/// Copies a new database to the place where a service with these settings would create one.
pub async fn place(settings: &Settings) {
    let file = settings.data_dir.join("scandeck.db");
    let is_present = file.symlink_metadata().is_ok();
    if settings.database.is_some() || is_present || !settings.data_dir.is_dir() {
        return;
    }
    std::fs::write(&file, NEW.get_or_init(migrated).await).unwrap();
    let options = SqliteConnectOptions::new()
        .filename(&file)
        .synchronous(SqliteSynchronous::Off);
    let mut connection = options.connect().await.unwrap();
    for statement in RANDOM {
        let done = sqlx::query(statement).execute(&mut connection).await;
        assert!(done.unwrap().rows_affected() > 0, "{statement}");
    }
    connection.close().await.unwrap();
}

/// The file of a database that a command has created.
async fn migrated() -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let opened = DataDir::open(dir.path()).unwrap();
    list_keys(&opened).await.unwrap();
    std::fs::read(opened.database()).unwrap()
}
