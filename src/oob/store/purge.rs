//! Deletion of everything about a workspace, so that no byte remains in the file or beside it.

use std::path::PathBuf;

use super::{Store, StoreError};

/// Rows of a workspace; hits also belong to the workspace of their payload.
const ROWS: [&str; 4] = [
    "captures WHERE workspace = ?1",
    "hits WHERE workspace = ?1 OR token IN (SELECT token FROM payloads WHERE workspace = ?1)",
    "counts WHERE workspace = ?1 OR token IN (SELECT token FROM payloads WHERE workspace = ?1)",
    "payloads WHERE workspace = ?1",
];

/// Stored rows about a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchivedCounts {
    /// Captures.
    pub captures: i64,
    /// Payloads.
    pub payloads: i64,
    /// Hits, including those of deleted captures.
    pub hits: i64,
    /// Backups before migrations and broken files: they are deleted whole, whatever workspaces they contain.
    pub copies: Vec<PathBuf>,
}

impl ArchivedCounts {
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
    pub async fn kept_about(&mut self, workspace: &str) -> Result<ArchivedCounts, StoreError> {
        let [captures, hits, _, payloads] = self.file.count(ROWS, workspace).await?;
        Ok(ArchivedCounts { captures, payloads, hits, copies: self.file.copies() })
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
