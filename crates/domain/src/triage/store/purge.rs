//! Deletion of everything about a workspace, so that no byte remains in the file or beside it.

use super::{Store, StoreError};
use scandeck_wire::sqlite::{StoredRows, WorkspaceRows};

const ROWS: &[WorkspaceRows] = &[
    (Some("decision"), "events WHERE workspace = ?1"),
    (Some("setting"), "settings WHERE workspace = ?1"),
    (Some("seen mark"), "seen WHERE workspace = ?1"),
    (None, "sync WHERE workspace = ?1"),
];

impl Store {
    /// Counts the stored rows of a workspace.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn stored_rows(&mut self, workspace: &str) -> Result<StoredRows, StoreError> {
        self.file.stored_rows(ROWS, workspace).await
    }

    /// Deletes these rows. No other instance may have the file open, because it would write its
    /// data again.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while another instance has it open; an error if the file cannot be
    /// written.
    pub async fn purge(self, workspace: &str) -> Result<(), StoreError> {
        self.file.purge(ROWS, workspace).await
    }
}
