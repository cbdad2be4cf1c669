//! Archives the captures of loggers, and has the service delete them at once.

use super::{ArchiveReader, to_archive};
use crate::cli::dashboard::headless::HeadlessSession;
use crate::cli::dashboard::headless::logger::WorkspaceLogger;
use crate::cli::error::{CliError, hint};
use scandeck_client::{CapturesRead, ClientResult};
use scandeck_domain::oob::ClearedRequests;
use tokio::sync::Mutex;

impl<'a> ArchiveReader<'a> {
    /// Archives all captures of the loggers, then makes the call that deletes them. Nothing else
    /// happens between the last read and the call, because captures that arrive then are lost.
    ///
    /// # Errors
    /// Those of the call; and when a capture cannot be read or archived, in which case the call is
    /// not made.
    pub async fn archive_and_delete(
        session: &'a HeadlessSession,
        loggers: &[WorkspaceLogger],
        call: &str,
        delete: impl Future<Output = ClientResult<()>>,
    ) -> anyhow::Result<ClearedRequests> {
        if loggers.is_empty() {
            delete.await?;
            return Ok(ClearedRequests::default());
        }
        let not_archived = |cause: anyhow::Error| -> anyhow::Error {
            let hint = hint(&cause)
                .map(|hint| format!("{hint}; or "))
                .unwrap_or_default();
            let message = format!("captures not cleared: they cannot be archived: {cause:#}");
            CliError::new(
                message,
                format!("{hint}without archiving: `scandeck api {call}`"),
            )
            .into()
        };
        let mut archive = Self::open(session).await.map_err(not_archived)?;
        let mut all: Option<CapturesRead> = None;
        for logger in loggers {
            let read = archive.archive_logger(logger).await.map_err(not_archived)?;
            all = Some(all.map_or(read, |before| before.and(read)));
        }
        delete.await?;
        let counts = all.map(CapturesRead::deleted).unwrap_or_default();
        archive.count_hits_once().await;
        archive.close().await;
        Ok(counts)
    }

    async fn archive_logger(
        &mut self,
        (workspace, logger): &WorkspaceLogger,
    ) -> anyhow::Result<CapturesRead> {
        let (client, oldest) = (
            self.session.client()?,
            self.session.memory.oldest_retained(),
        );
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
        client.archive_captures(logger.id, archive).await
    }
}
