//! Deleting everything that is kept about a workspace, so that no byte of it stays in the file or beside it.

use std::path::PathBuf;

use super::{Store, StoreError};

const ROWS: [&str; 3] = ["events WHERE workspace = ?1", "settings WHERE workspace = ?1", "seen WHERE workspace = ?1"];

/// What there is about a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionCounts {
    /// Events.
    pub events: i64,
    /// Settings, such as tabs and saved queries.
    pub settings: i64,
    /// Findings marked as seen.
    pub seen: i64,
    /// Copies from before a migration or of a broken file: they go whole, whatever workspace they tell about.
    pub copies: Vec<PathBuf>,
}

impl DecisionCounts {
    /// Nothing at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Store {
    /// Counts what is kept about a workspace.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn kept_about(&mut self, workspace: &str) -> Result<DecisionCounts, StoreError> {
        let [events, settings, seen] = self.file.count(ROWS, workspace).await?;
        Ok(DecisionCounts { events, settings, seen, copies: self.file.copies() })
    }

    /// Deletes it. Nobody else may have the store open: what they know they would write again.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while somebody has it open; when the file cannot be written.
    pub async fn purge(mut self, workspace: &str) -> Result<(), StoreError> {
        self.file.lock_exclusively()?;
        self.file.wipe(&ROWS, workspace).await?;
        self.close().await;
        Ok(())
    }
}
