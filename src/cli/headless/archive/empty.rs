//! What loggers recorded, archived before the service is told to forget it.

use super::{ArchiveReader, archived};
use crate::cli::advised::{Advised, hint_of};
use crate::cli::headless::HeadlessSession;
use crate::cli::headless::decisions::advised;
use crate::cli::headless::logger::Homed;
use crate::contract::{Capture, Logger, Shared};
use crate::oob::{ArchivedCapture, ClearedRequests};
use tokio::sync::Mutex;

impl<'a> ArchiveReader<'a> {
    /// Archives everything that loggers recorded, before `call` makes the service forget it.
    ///
    /// # Errors
    /// When it cannot be read or archived: then the call is not to be made.
    pub async fn empty(session: &'a HeadlessSession, loggers: &[Homed], call: &str) -> anyhow::Result<ClearedRequests> {
        if loggers.is_empty() {
            return Ok(ClearedRequests::default());
        }
        let emptied = async {
            let (mut archive, mut emptied) = (Self::open(session).await?, ClearedRequests::default());
            for (workspace, logger) in loggers {
                emptied += archive.read_out(workspace, logger).await?;
            }
            archive.close().await;
            anyhow::Ok(emptied)
        };
        emptied.await.map_err(|why| {
            let what = format!("not done, since what was captured cannot be archived: {why:#}");
            let hint = hint_of(&why).map(|hint| format!("{hint}; or ")).unwrap_or_default();
            Advised::new(what, format!("{hint}without archiving: `scandeck api {call}`")).into()
        })
    }

    async fn read_out(&mut self, workspace: &Shared, logger: &Logger) -> anyhow::Result<ClearedRequests> {
        let client = self.session.client()?;
        let oldest = self.session.memory.oldest_kept();
        let store = &Mutex::new(&mut self.store);
        let archive = |captures: Vec<Capture>| async move {
            let mut store = store.lock().await;
            if !store.is_writable() {
                return Err(Advised::new(format!("{} is read-only", store.path().display()), "").into());
            }
            let all = captures.into_iter().map(|capture| archived(workspace, logger, capture));
            let young: Vec<ArchivedCapture> =
                all.filter(|one| oldest.is_none_or(|oldest| one.at() >= oldest)).collect();
            let count = young.len();
            store.archive(young).await.map_err(advised)?;
            anyhow::Ok(count)
        };
        let counts = client.archive_captures(logger.id, archive).await?;
        self.look_on().await;
        Ok(counts)
    }
}
