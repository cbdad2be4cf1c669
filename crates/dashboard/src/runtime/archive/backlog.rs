//! Writes that wait while the archive cannot store them, because the disk is full or read-only.
//!
//! ```text
//!   failed write ─► Backlog, in its order ─► every two seconds ─► archive ─► Recovered
//! ```
//!
//! A later write never overtakes an earlier one: the newest archived capture of a logger decides
//! which captures the next start reads from the service. A full backlog stops the reading of
//! captures, and the service keeps further ones.

use crate::data::{ArchiveBacklog, OobNews};
use crate::runtime::Recalling;
use crate::runtime::archive::{Task, problem};
use scandeck_domain::oob::{ArchivedCapture, Payload, RowRange, Store, StoreError};
use scandeck_domain::problem::Problem;
use scandeck_wire::text::plural;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Pause before the next attempt.
pub(crate) const RETRY: Duration = Duration::from_secs(2);
/// Captures and their bytes that may wait before no further ones are read; those in flight are
/// still taken.
const MOST: usize = 20_000;
const MOST_BYTES: usize = 64 << 20;
/// Bytes of a capture besides its body, approximately.
const CAPTURE_BYTES: usize = 1 << 10;

#[derive(Clone, Debug)]
pub(crate) enum DeferredWrite {
    Captures(Vec<ArchivedCapture>),
    Payloads(Vec<Arc<Payload>>),
}

/// The writes that wait, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    writes: VecDeque<DeferredWrite>,
    /// The reason and the time of the next attempt, while the archive cannot be used.
    pub outage: Option<(Arc<Problem>, Instant)>,
    /// Whether the archive cannot be read either.
    pub is_unreadable: bool,
}

impl Backlog {
    /// The time of the next attempt.
    pub fn retry_at(&self) -> Option<Instant> {
        self.outage.as_ref().map(|(_, at)| *at)
    }

    /// Moves the next attempt into the future, if one is due.
    fn postpone(&mut self) {
        if let Some((_, at)) = &mut self.outage {
            *at = Instant::now() + RETRY;
        }
    }

    pub fn has_writes(&self) -> bool {
        !self.writes.is_empty()
    }

    /// The waiting captures and payloads in words, if there are any.
    pub fn lost(&self) -> Option<String> {
        let (captures, payloads, _) = self.waiting();
        match (plural(captures, "capture"), plural(payloads, "payload")) {
            _ if captures + payloads == 0 => None,
            (captures, _) if payloads == 0 => Some(captures),
            (_, payloads) if captures == 0 => Some(payloads),
            (captures, payloads) => Some(format!("{captures} and {payloads}")),
        }
    }

    /// Captures, payloads and bytes of captures that wait.
    fn waiting(&self) -> (usize, usize, usize) {
        let (mut captures, mut payloads, mut bytes) = (0, 0, 0);
        for write in &self.writes {
            match write {
                DeferredWrite::Captures(some) => {
                    captures += some.len();
                    bytes += some
                        .iter()
                        .map(|one| one.capture.request_body_base64.len() + CAPTURE_BYTES)
                        .sum::<usize>();
                }
                DeferredWrite::Payloads(some) => payloads += some.len(),
            }
        }
        (captures, payloads, bytes)
    }

    /// As the screen shows it.
    fn report(&self) -> Option<ArchiveBacklog> {
        let (problem, _) = self.outage.as_ref()?;
        let (captures, payloads, bytes) = self.waiting();
        let is_full = captures >= MOST || bytes >= MOST_BYTES;
        Some(ArchiveBacklog {
            problem: Arc::clone(problem),
            captures,
            payloads,
            is_full,
        })
    }
}

impl Task {
    /// Archives captures, now or later; returns their rows if they were archived now.
    pub(crate) async fn archive(&mut self, captures: &[ArchivedCapture]) -> Option<RowRange> {
        if self.backlog.outage.is_none() {
            let written = loop {
                let written = match self.writable() {
                    Some(store) => store.archive(captures.to_vec()).await,
                    None => Ok(RowRange::default()),
                };
                if !self.is_held(written.as_ref().err()).await {
                    break written;
                }
            };
            match written {
                Ok(range) => return Some(range),
                Err(error) => self.suspend_or_fail(&error),
            }
        }
        self.defer(DeferredWrite::Captures(captures.to_vec()));
        None
    }

    /// Stores payloads, now or later.
    pub(crate) async fn plant(&mut self, payloads: Vec<Arc<Payload>>) {
        if self.backlog.outage.is_none() {
            let written = loop {
                let written = match self.writable() {
                    Some(store) => store.plant(&payloads).await,
                    None => Ok(()),
                };
                if !self.is_held(written.as_ref().err()).await {
                    break written;
                }
            };
            match written {
                Ok(()) => return,
                Err(error) => self.suspend_or_fail(&error),
            }
        }
        self.defer(DeferredWrite::Payloads(payloads));
    }

    /// Appends a write, and reports how much waits; nothing waits for an archive that has failed
    /// for good or is open read-only for another reason than a full disk.
    fn defer(&mut self, write: DeferredWrite) {
        let is_read_only = self
            .store
            .as_ref()
            .is_some_and(|store| !store.is_writable() && !store.is_on_full_disk());
        if self.backlog.outage.is_some() && !is_read_only {
            self.backlog.writes.push_back(write);
            self.report_backlog();
        }
    }

    fn report_backlog(&self) {
        if let Some(backlog) = self.backlog.report() {
            self.report(OobNews::Retrying(backlog));
        }
    }

    /// After a temporary error the archive is used again later, after others never.
    pub(crate) fn suspend_or_fail(&mut self, error: &StoreError) {
        if error.is_temporary() {
            self.suspend(error)
        } else {
            self.fail(error)
        }
    }

    pub(crate) fn suspend(&mut self, error: &StoreError) {
        let is_first = self.backlog.outage.is_none();
        // Further errors do not postpone the next attempt.
        let at = self
            .backlog
            .retry_at()
            .unwrap_or_else(|| Instant::now() + RETRY);
        self.backlog.outage = Some((Arc::new(problem(error)), at));
        if is_first {
            tracing::warn!(%error, "captures not archived; retrying");
            self.report_backlog();
        }
    }

    /// After an error of a read, the archive is read again together with the next attempt to write.
    pub(crate) fn stop_reading(&mut self, error: &StoreError) {
        self.backlog.is_unreadable = true;
        self.suspend_or_fail(error);
    }

    /// Tries again to use the archive. An error postpones the next attempt.
    pub(crate) async fn retry(&mut self) -> Result<(), StoreError> {
        match self.write_backlog().await {
            Err(error) if !matches!(error, StoreError::Held { .. }) => {
                self.suspend_or_fail(&error);
                self.backlog.postpone();
                Ok(())
            }
            other => other,
        }
    }

    /// Opens the archive if necessary, executes the deferred writes in their order, and reads what
    /// could not be read.
    pub(crate) async fn write_backlog(&mut self) -> Result<(), StoreError> {
        if self.store.as_ref().is_none_or(Store::is_on_full_disk) {
            self.open_store().await?;
            self.recalling = self.workspace.is_some().then(Recalling::default);
        }
        while let Some(write) = self.backlog.writes.front().cloned() {
            // Never read-only here: `use_store` refuses such an archive, and `defer` does not let
            // writes wait for it.
            if let Some(store) = self.writable() {
                match write {
                    DeferredWrite::Captures(captures) => _ = store.archive(captures).await?,
                    DeferredWrite::Payloads(payloads) => store.plant(&payloads).await?,
                }
            }
            self.backlog.writes.pop_front();
        }
        if self.backlog.is_unreadable {
            self.read_others().await?;
            self.recall_more().await?;
        }
        self.backlog = Backlog::default();
        // The deferred captures have not been searched for payloads.
        let writable = self.writable().is_some();
        self.looking = writable;
        tracing::info!(writable, "archive used again");
        self.report(OobNews::Recovered { writable });
        Ok(())
    }
}
