//! The archive as calls use it that delete captures of the service.

use super::ArchiveReader;
use crate::cli::dashboard::headless::HeadlessSession;
use crate::cli::error::{hint, with_causes};
use jiff::Timestamp;
use scandeck_client::{CaptureArchive, Problem};
use scandeck_domain::oob::ArchivedCapture;
use scandeck_wire::contract::{Capture, Logger, Shared, Stamp};
use std::sync::Arc;

/// The archive, opened for the first captures: a logger without captures needs none.
#[derive(Debug)]
pub struct ClearArchive<'a> {
    session: &'a HeadlessSession,
    reader: Option<ArchiveReader<'a>>,
}

impl<'a> ClearArchive<'a> {
    pub fn new(session: &'a HeadlessSession) -> Self {
        Self {
            session,
            reader: None,
        }
    }

    async fn reader(&mut self) -> anyhow::Result<&mut ArchiveReader<'a>> {
        let reader = match self.reader.take() {
            Some(reader) => reader,
            None => ArchiveReader::open(self.session).await?,
        };
        Ok(self.reader.insert(reader))
    }

    async fn store(&mut self, captures: Vec<ArchivedCapture>) -> anyhow::Result<()> {
        let store = &mut self.reader().await?.store;
        if !store.is_writable() {
            anyhow::bail!("{} is read-only", store.path().display());
        }
        store.archive(captures).await?;
        Ok(())
    }

    /// Searches the new captures for payloads.
    pub async fn close(self) {
        if let Some(mut reader) = self.reader {
            reader.count_hits_once().await;
            reader.close().await;
        }
    }
}

impl CaptureArchive for ClearArchive<'_> {
    async fn archive(
        &mut self,
        workspace: &Shared,
        logger: &Logger,
        captures: Vec<Capture>,
    ) -> Result<usize, Problem> {
        let captures = captures.into_iter().map(Arc::new);
        let (now, oldest) = (
            Stamp(Timestamp::now()),
            self.session.memory.oldest_retained(),
        );
        let new = ArchivedCapture::of_logger(workspace, logger, captures, now, oldest);
        let count = new.len();
        let stored = self.store(new).await;
        stored.map(|()| count).map_err(|error| Problem {
            hint: hint(&error),
            ..Problem::local(with_causes(&error))
        })
    }
}
