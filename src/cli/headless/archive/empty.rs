//! What loggers recorded, archived before the service is told to forget it.

use super::{ArchiveReader, archived};
use crate::cli::advised::{Advised, hint_of};
use crate::cli::headless::HeadlessSession;
use crate::cli::headless::decisions::advised;
use crate::cli::headless::logger::Homed;
use crate::client::ReadOut;
use crate::contract::{Logger, Shared};
use crate::oob::ReadOutCounts;

impl<'a> ArchiveReader<'a> {
    /// Archives everything that loggers recorded, before `call` makes the service forget it.
    ///
    /// # Errors
    /// When it cannot be read or archived: then the call is not to be made.
    pub async fn empty(session: &'a HeadlessSession, loggers: &[Homed], call: &str) -> anyhow::Result<ReadOutCounts> {
        if loggers.is_empty() {
            return Ok(ReadOutCounts::default());
        }
        let emptied = async {
            let (mut archive, mut emptied) = (Self::open(session).await?, ReadOutCounts::default());
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

    async fn read_out(&mut self, workspace: &Shared, logger: &Logger) -> anyhow::Result<ReadOutCounts> {
        let (mut read, mut emptied) = (ReadOut::of(logger.id), ReadOutCounts::default());
        while let Some(captures) = read.next(self.session.client()?).await? {
            if !self.store.is_writable() && !captures.is_empty() {
                return Err(Advised::new(format!("{} is read-only", self.store.path().display()), "").into());
            }
            let requests = captures.len();
            let young = self.young(captures.into_iter().map(|capture| archived(workspace, logger, capture)));
            emptied += ReadOutCounts { requests, archived: young.len() };
            self.store.archive(young).await.map_err(advised)?;
        }
        self.look_on().await;
        Ok(emptied)
    }
}
