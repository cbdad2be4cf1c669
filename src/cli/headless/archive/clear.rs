//! Archives the captures of loggers before the service deletes them.

use super::{ArchiveReader, to_archive};
use crate::cli::error::{CliError, hint};
use crate::cli::headless::HeadlessSession;
use crate::cli::headless::logger::WorkspaceLogger;
use crate::oob::ClearedRequests;
use tokio::sync::Mutex;

impl<'a> ArchiveReader<'a> {
    /// Archives all captures of the loggers before `call` deletes them.
    ///
    /// # Errors
    /// When a capture cannot be read or archived; then `call` must not be made.
    pub async fn archive_before(
        session: &'a HeadlessSession,
        loggers: &[WorkspaceLogger],
        call: &str,
    ) -> anyhow::Result<ClearedRequests> {
        let mut counts = ClearedRequests::default();
        if loggers.is_empty() {
            return Ok(counts);
        }
        let archived = async {
            let mut archive = Self::open(session).await?;
            for logger in loggers {
                counts += archive.archive_logger(logger).await?;
            }
            archive.close().await;
            anyhow::Ok(counts)
        };
        archived.await.map_err(|cause| {
            let hint = hint(&cause).map(|hint| format!("{hint}; or ")).unwrap_or_default();
            let message = format!("captures not cleared: they cannot be archived: {cause:#}");
            CliError::new(message, format!("{hint}without archiving: `scandeck api {call}`")).into()
        })
    }

    async fn archive_logger(&mut self, (workspace, logger): &WorkspaceLogger) -> anyhow::Result<ClearedRequests> {
        let (client, oldest) = (self.session.client()?, self.session.memory.oldest_retained());
        let store = &Mutex::new(&mut self.store);
        let archive = |captures| async move {
            let mut store = store.lock().await;
            if !store.is_writable() {
                anyhow::bail!("{} is read-only", store.path().display());
            }
            let new = to_archive(captures, workspace, logger, oldest);
            let count = new.len();
            store.archive(new).await?;
            anyhow::Ok(count)
        };
        let counts = client.archive_captures(logger.id, archive).await?;
        self.count_hits_once().await;
        Ok(counts)
    }
}
