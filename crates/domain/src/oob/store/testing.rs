//! Archives in the states that tests need.

use std::path::Path;

use scandeck_wire::sqlite::{Opening, SharedFile};

use super::{KIND, OpenedArchive, Store};

impl Store {
    /// Opens an existing archive as from a read-only directory.
    pub async fn open_read_only(directory: &Path) -> Self {
        let (file, notes) = SharedFile::open_read_only(directory, &KIND).await.unwrap();
        <OpenedArchive as Opening>::read(file, notes)
            .await
            .unwrap()
            .store
    }

    /// Waits for nobody.
    pub async fn with_no_patience(mut self) -> Self {
        sqlx::query("PRAGMA busy_timeout = 0")
            .execute(&mut self.file.connection)
            .await
            .unwrap();
        self
    }

    /// Takes the lock of those who write; it ends with the store.
    pub async fn hold(&mut self) {
        sqlx::query("BEGIN IMMEDIATE")
            .execute(&mut self.file.connection)
            .await
            .unwrap();
    }

    /// From here on no hit can be stored.
    pub async fn refuse_hits(&mut self) {
        let full = "CREATE TRIGGER full BEFORE INSERT ON hits BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
        sqlx::query(full)
            .execute(&mut self.file.connection)
            .await
            .unwrap();
    }
}
