//! The activity of a running service, read from its database by another process (`scandeck status`).

use jiff::Timestamp;

use super::data_dir::DataDir;
use super::errors::StartError;
use super::store::Store;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    pub running: i64,
    pub waiting: i64,
    /// Loggers that still record.
    pub loggers: i64,
}

/// Reads the activity of a service whose loggers record for `logger_days`.
///
/// # Errors
/// When the database has another schema or cannot be read.
pub async fn activity(dir: &DataDir, logger_days: i64) -> Result<Activity, StartError> {
    let store = Store::open_beside(&dir.database()).await?;
    let read = async {
        let (active, running) = (store.active_scans().await?, store.running_scans().await?);
        let loggers = store.live_loggers(logger_days, Timestamp::now()).await?;
        Ok(Activity { running, waiting: active - running, loggers })
    };
    let read = read.await.map_err(StartError::Store);
    store.close().await;
    read
}
