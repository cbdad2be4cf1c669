//! New captures: archived as they are read, and searched for tokens.

use super::ArchiveReader;
use crate::cli::dashboard::headless::bundles;
use jiff::Timestamp;
use scandeck_client::{ClientResult, ErrorKind};
use scandeck_domain::oob::ArchivedCapture;
use scandeck_domain::oob::archived::{beyond, since};
use scandeck_wire::contract::{Capture, Logger, Shared, Stamp};
use scandeck_wire::text;
use std::sync::Arc;

impl ArchiveReader<'_> {
    /// Archives the captures of each logger before the next one is read, so that a later failure
    /// loses none.
    pub(super) async fn archive_new(&mut self) -> anyhow::Result<()> {
        for (workspace, logger) in self.loggers().await? {
            let count = logger.num_requests;
            if count > 0 && self.counts.get(&logger.id) != Some(&count) {
                let captures = match self.new_captures(&logger).await {
                    // The logger was deleted in the meantime.
                    Err(error) if error.kind == ErrorKind::NotFound => Vec::new(),
                    captures => captures?,
                };
                let last = captures
                    .last()
                    .map(|last| (logger.id, (last.id, last.request_date)));
                let (now, oldest) = (
                    Stamp(Timestamp::now()),
                    self.session.memory.oldest_retained(),
                );
                let captures = captures.into_iter().map(Arc::new);
                let new = ArchivedCapture::of_logger(&workspace, &logger, captures, now, oldest);
                if self.store.is_writable() && !new.is_empty() {
                    self.store.archive(new.clone()).await?;
                }
                self.newest.extend(last);
                self.pending.extend(new);
            }
            self.counts.insert(logger.id, count);
        }
        // Payloads are recorded before they are planted, so the current book has every payload that
        // can be mentioned.
        self.book.take(self.store.news().await?.payloads);
        self.count_hits_once().await;
        Ok(())
    }

    /// Searches one batch of the archive for tokens: a command that waits for a request must not
    /// search years of captures.
    pub(super) async fn count_hits_once(&mut self) {
        if let Err(error) = self.count_hits().await {
            note!(
                "scandeck: hits not counted: {}",
                text::clean(&format!("{error:#}"))
            );
        }
    }

    /// Stores the hits of one batch of captures; returns whether it was the last batch.
    pub(super) async fn count_hits(&mut self) -> anyhow::Result<bool> {
        Ok(!self.store.is_writable() || self.store.search_chunk(&mut self.book).await?.ended)
    }

    /// The loggers of the selected workspaces.
    ///
    /// # Errors
    /// Those of the service.
    pub async fn loggers(&mut self) -> anyhow::Result<Vec<(Shared, Logger)>> {
        let client = self.session.client()?;
        let workspaces = match self.workspaces.take() {
            Some(workspaces) => workspaces,
            None => self.session.workspaces().await?,
        };
        let only = if let [one] = &workspaces[..] {
            Some(one.id)
        } else {
            None
        };
        let all = client.list_loggers(only).await?;
        if all
            .iter()
            .any(|logger| !self.logger_workspaces.contains_key(&logger.id))
        {
            self.logger_workspaces
                .extend(all.iter().map(|logger| (logger.id, None)));
            for workspace in &workspaces {
                let loggers = client.list_loggers(Some(workspace.id)).await?;
                let named = loggers
                    .iter()
                    .map(|logger| (logger.id, Some(workspace.name.clone())));
                self.logger_workspaces.extend(named);
            }
        }
        self.workspaces = Some(workspaces);
        let with_workspace =
            |logger: Logger| Some((self.logger_workspaces.get(&logger.id)?.clone()?, logger));
        Ok(all.into_iter().filter_map(with_workspace).collect())
    }

    /// The captures after the newest archived one; all captures if that one is missing, since ids
    /// may restart after a clear.
    async fn new_captures(&self, logger: &Logger) -> ClientResult<Vec<Capture>> {
        let client = self.session.client()?;
        let newest = self.newest.get(&logger.id).copied();
        let captures = client.list_captures(logger.id, since(newest)).await?;
        let Some(newest) = newest else {
            return Ok(captures);
        };
        match beyond(newest, captures) {
            Some(new) => Ok(new),
            None => client.list_captures(logger.id, None).await,
        }
    }

    /// Archives new captures, if the service is reachable, else notes that the command shows
    /// `stored` data; returns the captures that could not be archived.
    pub(super) async fn archive_if_reachable(
        &mut self,
        stored: &str,
    ) -> anyhow::Result<Vec<ArchivedCapture>> {
        if let Err(error) = self.archive_new().await {
            let Some(cause) = bundles::unreachable(&error) else {
                return Err(error);
            };
            note!("scandeck: {cause}; showing {stored}");
        }
        let new = std::mem::take(&mut self.pending);
        Ok(if self.store.is_writable() {
            Vec::new()
        } else {
            new
        })
    }
}
