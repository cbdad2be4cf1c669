//! The archive of captures: commands archive new captures first and print the archived ones, in the
//! same file as the dashboard.
//!
//! ```text
//!   loggers ─► request count changed? ─► captures after the newest archived one ─► archive ─► search for tokens ─► hits
//!                                                                                  └─► mentions ─► CaptureRecord
//! ```

mod clear;
mod hits;
mod new_captures;

pub use clear::ClearArchive;

use super::{HeadlessSession, bundles, decisions};
use crate::cli::error::CliError;
use scandeck_client::TargetQuery;
use scandeck_domain::oob::source::is_own;
use scandeck_domain::oob::{
    Agent, ArchivedCapture, CaptureRecord, HitCounts, Network, NewestCapture, OpenedArchive,
    Payload, PayloadBook, Store, TargetHosts, mentions,
};
use scandeck_domain::query::{Field, Query};
use scandeck_domain::triage::settings::own_addresses;
use scandeck_domain::triage::{ListContext, OobContext};
use scandeck_wire::contract::{Capture, LoggerId, Shared, Stamp, Workspace};
use scandeck_wire::text::plural;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The open archive with the payload book.
#[derive(Debug)]
pub struct ArchiveReader<'a> {
    session: &'a HeadlessSession,
    store: Store,
    /// Payloads of every workspace: a target may call a logger of another workspace.
    pub book: PayloadBook,
    newest: BTreeMap<LoggerId, NewestCapture>,
    /// Request count of each logger at the last read.
    counts: HashMap<LoggerId, i64>,
    /// Captures that were read but not returned yet, so that a failed call loses none.
    pending: Vec<ArchivedCapture>,
    own_addresses: Vec<Network>,
    /// TargetHosts of the targets, if a query needs them.
    hosts: TargetHosts,
    /// The selected workspaces, once the service has listed them.
    workspaces: Option<Vec<Workspace>>,
    /// The workspace of each logger; `None` for a workspace that is not selected.
    logger_workspaces: HashMap<LoggerId, Option<Shared>>,
    /// Whether `since` has returned the archived captures.
    is_archive_read: bool,
}

/// A capture with the name of its workspace.
#[derive(Clone, Debug)]
pub struct WorkspaceCapture {
    pub workspace: Shared,
    pub record: CaptureRecord,
}

impl<'a> ArchiveReader<'a> {
    /// Opens the archive of a service, or creates it.
    ///
    /// # Errors
    /// When the archive cannot be opened or created.
    pub async fn open(session: &'a HeadlessSession) -> anyhow::Result<Self> {
        let memory = &session.memory;
        let OpenedArchive {
            mut store,
            book,
            notes,
            forgotten,
        } = Store::open_retaining(&memory.directory, memory.oldest_retained()).await?;
        decisions::print_notes(&notes);
        if forgotten > 0 {
            note!(
                "scandeck: {} deleted: older than keep_days",
                plural(forgotten as usize, "capture")
            );
        }
        let newest = store.newest().await?;
        let (_, settings) = decisions::read(&session.memory).await?;
        Ok(Self {
            session,
            store,
            book,
            newest,
            counts: HashMap::new(),
            pending: Vec::new(),
            own_addresses: own_addresses(&settings, &session.config.own_addresses),
            hosts: TargetHosts::default(),
            workspaces: None,
            logger_workspaces: HashMap::new(),
            is_archive_read: false,
        })
    }

    /// Loads the targets of the selected workspaces, if a query needs them; from imported bundles
    /// if the service is not reachable.
    ///
    /// # Errors
    /// Those of the service.
    pub async fn load_targets(&mut self, query: Option<&Query>) -> anyhow::Result<()> {
        if !query.is_some_and(|query| query.has_field(Field::Target)) {
            return Ok(());
        }
        let targets = match self.targets().await {
            Err(error) if bundles::unreachable(&error).is_some() => {
                let bundles = bundles::selected(self.session).into_iter();
                bundles
                    .flat_map(|bundle| bundle.targets)
                    .map(|target| target.name.clone())
                    .collect()
            }
            targets => targets?,
        };
        self.hosts = TargetHosts::of(&targets);
        Ok(())
    }

    async fn targets(&self) -> anyhow::Result<Vec<Shared>> {
        let mut names = Vec::new();
        for workspace in self.session.workspaces().await? {
            let query = TargetQuery {
                workspace_id: Some(workspace.id),
                ..TargetQuery::default()
            };
            let targets = self.session.client()?.list_all_targets(&query).await?;
            names.extend(targets.into_iter().map(|target| target.name));
        }
        Ok(names)
    }

    /// Archives and returns the captures since the last call. Skips loggers with an unchanged
    /// request count, so a poll without new captures is one call.
    ///
    /// # Errors
    /// Those of the service, and when the archive cannot be written.
    pub async fn poll(&mut self) -> anyhow::Result<Vec<CaptureRecord>> {
        self.archive_new().await?;
        let new = std::mem::take(&mut self.pending);
        Ok(self.with_mentions(new).await)
    }

    /// Archives new captures, and returns those since a time: at the first call all in the archive,
    /// later only the new ones.
    ///
    /// # Errors
    /// Those of the service, and when the archive cannot be read or written.
    pub async fn since(&mut self, time: Stamp) -> anyhow::Result<Vec<WorkspaceCapture>> {
        // A command that runs for days also reads loggers of workspaces that are made meanwhile.
        self.workspaces = None;
        self.logger_workspaces
            .retain(|_, workspace| workspace.is_some());
        self.archive_new().await?;
        let mut found = Vec::new();
        if !self.is_archive_read {
            for workspace in self.selected_workspaces().await? {
                found.extend(self.store.captures_since(&workspace, time).await?);
            }
        }
        let new = std::mem::take(&mut self.pending);
        // The archive has the new ones too.
        if self.is_archive_read || !self.store.is_writable() {
            found.extend(new.into_iter().filter(|one| one.at() >= time));
        }
        self.is_archive_read = true;
        let workspaces: Vec<Shared> = found.iter().map(|one| one.workspace.clone()).collect();
        let records = self.with_mentions(found).await.into_iter();
        let named = records.zip(workspaces);
        Ok(named
            .map(|(record, workspace)| WorkspaceCapture { workspace, record })
            .collect())
    }

    /// All captures of the selected workspaces, oldest first, after archiving new ones. An
    /// unreachable service is reported on standard error; the archived captures are returned.
    ///
    /// # Errors
    /// Those of the service, and when the archive cannot be read or written.
    pub async fn all(&mut self) -> anyhow::Result<Vec<CaptureRecord>> {
        let unarchived = self.archive_if_reachable("archived captures").await?;
        self.captures(unarchived).await
    }

    async fn captures(
        &mut self,
        unarchived: Vec<ArchivedCapture>,
    ) -> anyhow::Result<Vec<CaptureRecord>> {
        let mut all = unarchived;
        for workspace in self.selected_workspaces().await? {
            all.extend(self.store.captures_of(&workspace).await?);
        }
        all.sort_by_key(|one| (one.capture.request_date, one.capture.id, one.logger));
        Ok(self.with_mentions(all).await)
    }

    /// The selected workspaces of the service and of the archive.
    async fn selected_workspaces(&mut self) -> anyhow::Result<Vec<Shared>> {
        let archived = self
            .store
            .workspaces()
            .await?
            .into_iter()
            .filter(|name| self.session.includes(name));
        let listed = self
            .workspaces
            .iter()
            .flatten()
            .map(|workspace| workspace.name.clone());
        let all: BTreeSet<Shared> = archived.chain(listed).collect();
        Ok(all.into_iter().collect())
    }

    /// The payloads of the selected workspaces, oldest first.
    pub fn payloads(&self) -> Vec<Arc<Payload>> {
        let selected = self
            .book
            .payloads()
            .filter(|payload| self.session.includes(&payload.workspace));
        let mut all: Vec<Arc<Payload>> = selected.cloned().collect();
        all.sort_by_key(|payload| {
            (
                payload.at,
                payload.batch.clone(),
                payload.number,
                payload.token,
            )
        });
        all
    }

    /// The other lists for queries of payloads and captures.
    pub fn others<'b>(&'b self, hits: &'b HitCounts) -> ListContext<'b> {
        ListContext {
            oob: Some(OobContext {
                book: &self.book,
                hits,
                are_hits_known: true,
                waits: &[],
                own: &self.own_addresses,
                hosts: &self.hosts,
                clock_offset: self.session.clock_offset(),
            }),
            ..ListContext::default()
        }
    }

    /// Whether the sender of a capture is a bot or the analyst.
    pub fn is_quiet(&self, capture: &Capture) -> bool {
        Agent::of(&capture.user_agent).is_some() || is_own(capture, &self.own_addresses)
    }

    /// Records payloads; they are on disk when this returns.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub async fn record(&mut self, payloads: &[Arc<Payload>]) -> anyhow::Result<()> {
        if !self.store.is_writable() {
            let message = format!(
                "payloads not recorded: {} is read-only",
                self.store.path().display()
            );
            return Err(CliError::new(message, "make it writable, or set XDG_STATE_HOME").into());
        }
        self.store.plant(payloads).await?;
        self.book.take(payloads.iter().cloned());
        Ok(())
    }

    pub async fn close(self) {
        self.store.close().await;
    }

    /// Searches captures for tokens, on a blocking thread.
    async fn with_mentions(&self, captures: Vec<ArchivedCapture>) -> Vec<CaptureRecord> {
        let book = self.book.clone();
        let record = move |one: ArchivedCapture| CaptureRecord {
            mentions: mentions(&one.capture, &book).into(),
            capture: one.capture,
            body: None,
            logger: one.logger,
            label: one.label,
            handler_url: one.handler_url,
        };
        let work = move || captures.into_iter().map(record).collect();
        // Only a panic leaves no result.
        tokio::task::spawn_blocking(work).await.unwrap_or_default()
    }
}
