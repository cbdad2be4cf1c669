//! Deletion of everything about a workspace, so that no byte remains in the file or beside it.

use std::path::PathBuf;

use super::{Store, StoreError};

const ROWS: [&str; 3] = ["events WHERE workspace = ?1", "settings WHERE workspace = ?1", "seen WHERE workspace = ?1"];

/// Stored rows about a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionCounts {
    /// Events.
    pub events: i64,
    /// Settings, such as tabs and saved queries.
    pub settings: i64,
    /// Findings marked as seen.
    pub seen: i64,
    /// Backups before migrations and broken files: they are deleted whole, whatever workspaces they contain.
    pub copies: Vec<PathBuf>,
}

impl DecisionCounts {
    /// True if nothing is stored.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Store {
    /// Counts the stored rows of a workspace.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn kept_about(&mut self, workspace: &str) -> Result<DecisionCounts, StoreError> {
        let [events, settings, seen] = self.file.count(ROWS, workspace).await?;
        Ok(DecisionCounts { events, settings, seen, copies: self.file.copies() })
    }

    /// Deletes these rows. No other instance may have the file open, because it would write its data again.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while another instance has it open; an error if the file cannot be written.
    pub async fn purge(mut self, workspace: &str) -> Result<(), StoreError> {
        self.file.lock_exclusively()?;
        self.file.wipe(&ROWS, workspace).await?;
        self.close().await;
        Ok(())
    }
}
