//! Deleting everything that is archived about a workspace, so that no byte of it stays in the file or beside it.

use std::path::PathBuf;

use super::{Store, StoreError};

/// Its rows; a hit is also of the workspace that its payload is of.
const ROWS: [&str; 4] = [
    "captures WHERE workspace = ?1",
    "hits WHERE workspace = ?1 OR token IN (SELECT token FROM payloads WHERE workspace = ?1)",
    "counts WHERE workspace = ?1 OR token IN (SELECT token FROM payloads WHERE workspace = ?1)",
    "payloads WHERE workspace = ?1",
];

/// What there is about a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchivedCounts {
    /// Captures.
    pub captures: i64,
    /// Payloads.
    pub payloads: i64,
    /// Requests that they brought in, also those that have left.
    pub hits: i64,
    /// Copies from before a migration or of a broken file: they go whole, whatever workspace they tell about.
    pub copies: Vec<PathBuf>,
}

impl ArchivedCounts {
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
    pub async fn kept_about(&mut self, workspace: &str) -> Result<ArchivedCounts, StoreError> {
        let [captures, hits, _, payloads] = self.file.count(ROWS, workspace).await?;
        Ok(ArchivedCounts { captures, payloads, hits, copies: self.file.copies() })
    }

    /// Deletes it. Nobody else may have the archive open: what they know they would write again.
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
