//! Deleting everything that is archived about a workspace, so that no byte of it stays in the file or beside it.

use std::path::PathBuf;

use super::{Store, StoreError};

const TABLES: [&str; 2] = ["captures", "payloads"];

/// What there is about a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Captures.
    pub captures: i64,
    /// Payloads.
    pub payloads: i64,
    /// Copies from before a migration or of a broken file: they go whole, whatever workspace they tell about.
    pub copies: Vec<PathBuf>,
}

impl Kept {
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
    pub async fn kept_about(&mut self, workspace: &str) -> Result<Kept, StoreError> {
        let [captures, payloads] = self.file.count(TABLES, workspace).await?;
        Ok(Kept { captures, payloads, copies: self.file.copies() })
    }

    /// Deletes it. Nobody else may have the archive open: what they know they would write again.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while somebody has it open; when the file cannot be written.
    pub async fn purge(mut self, workspace: &str) -> Result<(), StoreError> {
        self.file.take_alone()?;
        self.file.wipe(&TABLES, workspace).await?;
        self.close().await;
        Ok(())
    }
}
