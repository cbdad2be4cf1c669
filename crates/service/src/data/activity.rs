//! The activity of a running service, read from its database by another process (`scandeck status`,
//! `scandeck scope`).

use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::data::data_dir::{DataDir, Holder};
use crate::errors::StartError;
use crate::runs::worker::ENDED_BY_SCOPE;
use crate::store::Store;
use scandeck_wire::contract::ScanId;
use scandeck_wire::contract::node::NodeState;

#[derive(Clone, Debug, PartialEq)]
pub struct Activity {
    pub running: i64,
    pub waiting: i64,
    /// Loggers that still record.
    pub loggers: i64,
    /// The processes that serve the database.
    pub nodes: Vec<NodeState>,
}

/// Reads the activity of a service whose loggers record for `logger_days`.
///
/// # Errors
/// When the database has another schema or cannot be read.
pub async fn activity(dir: &DataDir, logger_days: i64) -> Result<Activity, StartError> {
    let store = dir.open_store_beside().await?;
    let read = async {
        let (active, running) = (store.active_scans().await?, store.running_scans().await?);
        let loggers = store.live_loggers(logger_days, Timestamp::now()).await?;
        Ok(Activity {
            running,
            waiting: active - running,
            loggers,
            nodes: store.nodes().await?,
        })
    };
    let read = read.await.map_err(StartError::Store);
    store.close().await;
    read
}

/// Time in which a running service ends the scans that the scope no longer allows.
const SCOPE_TIME: Duration = Duration::from_millis(2500);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A scan that a change of the scope ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedScan {
    pub id: ScanId,
    pub target: String,
}

/// The running scans of a service, before the scope changes.
#[derive(Debug)]
pub struct RunningScans {
    store: Store,
    ids: Vec<i64>,
}

impl RunningScans {
    /// Reads the running scans; `None` when no service or no scan runs. Nodes on other machines may
    /// serve a PostgreSQL database.
    ///
    /// # Errors
    /// When the database has another schema or cannot be read.
    pub async fn read(dir: &DataDir) -> Result<Option<Self>, StartError> {
        if dir.postgres().is_none() && !matches!(dir.holder(), Ok(Holder::Running(_))) {
            return Ok(None);
        }
        let store = dir.open_store_beside().await?;
        let ids = store.running_scan_ids().await.map_err(StartError::Store)?;
        Ok((!ids.is_empty()).then_some(Self { store, ids }))
    }

    /// Waits until the service has applied a change of the scope; returns the scans that it ended.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn ended_by_scope(self) -> Result<Vec<EndedScan>, StartError> {
        let began = Instant::now();
        loop {
            let left = self
                .store
                .running_scan_ids()
                .await
                .map_err(StartError::Store)?;
            if began.elapsed() > SCOPE_TIME || !self.ids.iter().any(|id| left.contains(id)) {
                break;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        let ended = self
            .store
            .ended_scans(&self.ids, ENDED_BY_SCOPE)
            .await
            .map_err(StartError::Store)?;
        self.store.close().await;
        Ok(ended
            .into_iter()
            .map(|(id, target)| EndedScan {
                id: ScanId(id),
                target,
            })
            .collect())
    }
}
