//! The exchange of the decisions of a workspace with the service of a team. The dashboard and
//! `scandeck triage sync` use it.
//!
//! ```text
//!   attach ─► log, or the question with its counts ─► join
//!   pull   events and payloads behind the last position ─► stores
//!   push   rows without a position ─► service ─► sent, or refused with a reason
//! ```
//!
//! The stores on this machine remain complete: lost events are sent to the service again, and a
//! purge ends the exchange without deleting anything here. Every step can be repeated, because a
//! service stores each event and each version of a payload once.

use crate::base::FirstJoin;
use crate::runtime::team::pages::{LineBatch, LogChange, first_join, log_change};
use scandeck_client::{Client, ClientResult, EntityTags, ErrorKind};
use scandeck_domain::oob;
use scandeck_domain::oob::ArrivedPayload;
use scandeck_domain::problem::Problem;
use scandeck_domain::triage::{ArrivedEvent, Store, StoreError, TeamLog};
use scandeck_wire::contract::team::{Member, Purged, RefusedLine, StoredLines, Viewer};
use scandeck_wire::contract::{Shared, WorkspaceId};
use scandeck_wire::sqlite::{RefusedRows, UnsentRow};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Why an exchange failed.
#[derive(Debug, thiserror::Error)]
pub enum TeamError {
    #[error(transparent)]
    Service(#[from] scandeck_client::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl TeamError {
    pub fn problem(&self) -> Problem {
        match self {
            Self::Service(error) => Problem::from(error),
            Self::Store(error) => Problem::local(error.to_string()).with_hint(error.hint()),
        }
    }
}

/// A workspace at a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamWorkspace {
    /// Number of the service's database.
    pub service: Shared,
    pub id: WorkspaceId,
    pub name: Shared,
}

/// The state of a workspace before its exchange.
#[derive(Debug)]
pub enum Attached {
    /// The workspace is shared, or private.
    Log(TeamLog),
    /// Nothing is exchanged before the answer.
    Question(FirstJoin),
}

/// The result of reading.
#[derive(Debug, Default)]
pub struct Received {
    /// Events and payloads that were not here.
    pub events: usize,
    pub payloads: usize,
    /// None if nothing has changed.
    pub viewers: Option<Arc<[Viewer]>>,
    /// A member deleted the shared decisions. The workspace is private from now on.
    pub purged: Option<Purged>,
}

/// The result of sending.
#[derive(Debug, Default)]
pub struct Sent {
    pub events: usize,
    pub payloads: usize,
    /// Lines that the service did not accept.
    pub refused: Vec<RefusedLine>,
}

/// The two logs of a workspace.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SharedKind {
    Events,
    Payloads,
}

/// Whether decisions of this member are accepted.
pub fn may_decide(member: &Member) -> bool {
    !member.name.is_empty() && *member.role != *"read"
}

/// The stores of this machine and the service.
#[derive(Debug)]
pub struct TeamExchange {
    client: Client,
    decisions: Store,
    payloads: oob::Store,
    /// Tags of the last page.
    tags: Arc<EntityTags>,
}

impl TeamExchange {
    /// Opens the stores beside those of the program.
    ///
    /// # Errors
    /// When a store cannot be written.
    pub async fn open(client: Client, directory: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            client: client.without_retries(),
            decisions: Store::open_beside(directory).await?,
            payloads: oob::Store::open_beside(directory).await?,
            tags: Arc::default(),
        })
    }

    pub async fn close(self) {
        self.decisions.close().await;
        self.payloads.close().await;
    }

    /// The owner of the key, as the service reported it last.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn last_member(&mut self) -> Result<Option<Member>, StoreError> {
        let base_url = self.client.base().to_string();
        self.decisions.member_at(&base_url).await
    }

    /// Remembers the owner of the key for a start without a connection. The key is not stored.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub async fn remember(&mut self, member: &Member) -> Result<(), StoreError> {
        let base_url = self.client.base().to_string();
        self.decisions.put_member(&base_url, member).await
    }

    /// The log of a workspace that was exchanged or kept private before.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn earlier_log(
        &mut self,
        service: &str,
        id: WorkspaceId,
    ) -> Result<Option<TeamLog>, StoreError> {
        self.decisions.team_log(service, id).await
    }

    /// The log of a workspace. A workspace without decisions on this machine is shared at once.
    ///
    /// # Errors
    /// Those of the stores and of the service.
    pub async fn attach(&mut self, workspace: &TeamWorkspace) -> Result<Attached, TeamError> {
        let TeamWorkspace { service, id, name } = workspace;
        if let Some(log) = self.decisions.team_log(service, *id).await? {
            let mut log = self.renamed(log, name).await?;
            if log.is_shared && !self.decisions.has_marks(&log).await? {
                (log.last, log.last_payload) = (0, 0);
                self.begin(&log).await?;
            }
            return Ok(Attached::Log(log));
        }
        let has_decisions = !self.decisions.events_in(name).await?.is_empty()
            || !self.payloads.payloads_of(name).await?.is_empty();
        if has_decisions {
            let question = self.first_join(workspace).await?;
            if question.own + question.payloads > 0 {
                return Ok(Attached::Question(question));
            }
        }
        Ok(Attached::Log(self.join(workspace, true).await?))
    }

    /// The log under the present name of its workspace.
    ///
    /// Where another service has a workspace of the old or the new name, nobody can tell whose
    /// positions the rows have: all of these logs are exchanged from their beginning.
    async fn renamed(&mut self, mut log: TeamLog, name: &Shared) -> Result<TeamLog, StoreError> {
        if log.workspace != *name {
            let mut mixed = self.decisions.team_logs_of(&log.workspace).await?;
            mixed.extend(self.decisions.team_logs_of(name).await?);
            self.payloads.rename_workspace(&log.workspace, name).await?;
            self.decisions
                .rename_workspace(&log.workspace, name)
                .await?;
            log.workspace = name.clone();
            self.decisions.put_team_log(&log).await?;
            if mixed.len() > 1 {
                for one in &mixed {
                    self.decisions.forget_marks(one).await?;
                }
            }
        }
        Ok(log)
    }

    /// Counts the effects of sharing the decisions of the workspace. Nothing is stored or sent.
    ///
    /// # Errors
    /// Those of the stores and of the service.
    pub async fn first_join(&mut self, workspace: &TeamWorkspace) -> Result<FirstJoin, TeamError> {
        let TeamWorkspace { id, name, .. } = workspace;
        let own = self.decisions.events_in(name).await?;
        let own_payloads = self.payloads.payloads_of(name).await?;
        let (events, payloads) = (self.all_events(*id).await?, self.all_payloads(*id).await?);
        // Folding thousands of events on an async thread would block every other task.
        let count = move || first_join(&own, &events, &own_payloads, &payloads);
        let mut joined =
            tokio::task::spawn_blocking(count)
                .await
                .map_err(|error| StoreError::Interrupted {
                    why: error.to_string(),
                })?;
        (joined.workspace, joined.name) = (*id, name.clone());
        Ok(joined)
    }

    async fn all_events(&self, id: WorkspaceId) -> ClientResult<Vec<ArrivedEvent>> {
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let page = self.client.team_events(id, after, None).await?;
            let last = page.events.last().map_or(after, |event| event.position);
            let parsed = |event: &scandeck_wire::contract::team::StoredEvent| {
                ArrivedEvent::parse(event.position, &event.key, event.event.get())
            };
            all.extend(page.events.iter().filter_map(parsed));
            if last <= after || last >= page.last {
                return Ok(all);
            }
            after = last;
        }
    }

    async fn all_payloads(&self, id: WorkspaceId) -> ClientResult<Vec<ArrivedPayload>> {
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let page = self.client.team_payloads(id, after).await?;
            let last = page.payloads.last().map_or(after, |one| one.position);
            let parsed = |one: &scandeck_wire::contract::team::StoredPayload| {
                ArrivedPayload::parse(one.position, one.payload.get())
            };
            all.extend(page.payloads.iter().filter_map(parsed));
            if last <= after || last >= page.last {
                return Ok(all);
            }
            after = last;
        }
    }

    /// Shares the decisions of the workspace, or keeps them private. All of them are sent, because
    /// positions at another service mean nothing here.
    ///
    /// # Errors
    /// Those of the stores.
    pub async fn join(
        &mut self,
        workspace: &TeamWorkspace,
        is_shared: bool,
    ) -> Result<TeamLog, StoreError> {
        let log = TeamLog {
            service: workspace.service.clone(),
            id: workspace.id,
            workspace: workspace.name.clone(),
            epoch: 0,
            last: 0,
            last_payload: 0,
            is_shared,
        };
        self.begin(&log).await?;
        Ok(log)
    }

    /// Reads and sends from the beginning. The log is stored last: without it this is repeated.
    async fn begin(&mut self, log: &TeamLog) -> Result<(), StoreError> {
        self.tags = Arc::default();
        self.payloads.forget_positions(&log.workspace).await?;
        self.decisions.forget_positions(&log.workspace).await?;
        self.decisions.take_marks(log).await?;
        self.decisions.put_team_log(log).await
    }

    /// The next answer is complete, even if nothing has changed.
    pub fn forget_tags(&mut self) {
        self.tags = Arc::default();
    }

    /// Reads and stores the rows of the service after the positions of the log. `looking` reports
    /// the finding on the screen to the other members.
    ///
    /// # Errors
    /// Those of the stores and of the service; pages before the error are stored.
    pub async fn pull(
        &mut self,
        log: &mut TeamLog,
        looking: Option<&str>,
    ) -> Result<Received, TeamError> {
        let (mut received, mut restarts) = (Received::default(), 0);
        loop {
            let client = self.client.observing().unless(Arc::clone(&self.tags));
            let page = match client.team_events(log.id, log.last, looking).await {
                Err(error) if error.kind == ErrorKind::NotModified => return Ok(received),
                page => page?,
            };
            let change = log_change(log, &page);
            let has_begun = change == LogChange::Begun;
            match change {
                LogChange::None => {}
                LogChange::Begun => log.epoch = page.epoch,
                LogChange::Restored if restarts == 0 => {
                    restarts += 1;
                    (log.epoch, log.last, log.last_payload) = (page.epoch, 0, 0);
                    self.begin(log).await?;
                    continue;
                }
                // The service is restored again and again; the next poll tries it.
                LogChange::Restored => return Ok(received),
                LogChange::Purged(purged) => {
                    (log.epoch, log.last, log.last_payload) = (page.epoch, 0, 0);
                    log.is_shared = false;
                    self.begin(log).await?;
                    received.purged = Some(purged);
                    return Ok(received);
                }
            }
            received.viewers = Some(page.viewers.into());
            let before = log.last;
            log.last = page
                .events
                .last()
                .map_or(page.last, |event| event.position)
                .max(before);
            let arrived: Vec<ArrivedEvent> = page
                .events
                .iter()
                .filter_map(|event| {
                    ArrivedEvent::parse(event.position, &event.key, event.event.get())
                })
                .collect();
            if log.last > before || has_begun {
                let stored = self.decisions.take_events(log, &arrived).await;
                if stored.is_err() {
                    log.last = before;
                }
                received.events += stored?;
            }
            if page.last_payload > log.last_payload {
                received.payloads += self.pull_payloads(log).await?;
            }
            // Only now, so that what failed is asked for again.
            self.tags = Arc::new(client.entity_tags());
            if log.last <= before || log.last >= page.last {
                return Ok(received);
            }
        }
    }

    async fn pull_payloads(&mut self, log: &mut TeamLog) -> Result<usize, TeamError> {
        let mut received = 0;
        loop {
            let page = self.client.team_payloads(log.id, log.last_payload).await?;
            // The next page of events reports another epoch.
            if page.epoch != log.epoch {
                return Ok(received);
            }
            let arrived: Vec<ArrivedPayload> = page
                .payloads
                .iter()
                .filter_map(|one| ArrivedPayload::parse(one.position, one.payload.get()))
                .collect();
            received += self
                .payloads
                .take_payloads(&log.workspace, &arrived)
                .await?;
            let before = log.last_payload;
            log.last_payload = page
                .payloads
                .last()
                .map_or(page.last, |one| one.position)
                .max(before);
            self.decisions.put_team_log(log).await?;
            if log.last_payload <= before || log.last_payload >= page.last {
                return Ok(received);
            }
        }
    }

    /// Sends the rows that the service does not have. Nothing is sent before the first page of a
    /// log is read.
    ///
    /// # Errors
    /// Those of the stores and of the service; rows that were not answered are sent again.
    pub async fn push(&mut self, log: &TeamLog) -> Result<Sent, TeamError> {
        let mut sent = Sent::default();
        if log.epoch != 0 && log.is_shared {
            self.push_all(log, SharedKind::Events, &mut sent).await?;
            self.push_all(log, SharedKind::Payloads, &mut sent).await?;
        }
        Ok(sent)
    }

    async fn push_all(
        &mut self,
        log: &TeamLog,
        kind: SharedKind,
        sent: &mut Sent,
    ) -> Result<(), TeamError> {
        loop {
            let rows = match kind {
                SharedKind::Events => self.decisions.unsent_events(&log.workspace).await?,
                SharedKind::Payloads => self.payloads.unsent_payloads(&log.workspace).await?,
            };
            let Some(LineBatch { rows, lines, .. }) = LineBatch::first(rows) else {
                return Ok(());
            };
            let refused = match lines {
                None => rows.iter().map(LineBatch::too_long).collect(),
                Some(lines) => match self.send(log, kind, lines).await {
                    // The service was purged or restored; the next page shows which.
                    Ok(stored) if stored.epoch != log.epoch => return Ok(()),
                    Err(error) if error.kind == ErrorKind::Conflict => return Ok(()),
                    Ok(stored) => stored.refused,
                    // Every line belongs to another member, unless the key has lost its role.
                    Err(error)
                        if error.kind == ErrorKind::Forbidden
                            && may_decide(&self.client.team_member().await?) =>
                    {
                        rows.iter()
                            .map(|row| LineBatch::refused(row, &error.message))
                            .collect()
                    }
                    Err(error) => return Err(error.into()),
                },
            };
            self.mark(kind, &rows, &refused).await?;
            let accepted = rows.len().saturating_sub(refused.len());
            match kind {
                SharedKind::Events => sent.events += accepted,
                SharedKind::Payloads => sent.payloads += accepted,
            }
            sent.refused.extend(refused);
        }
    }

    async fn send(
        &self,
        log: &TeamLog,
        kind: SharedKind,
        lines: String,
    ) -> ClientResult<StoredLines> {
        match kind {
            SharedKind::Events => self.client.send_events(log.id, log.epoch, lines).await,
            SharedKind::Payloads => self.client.send_payloads(log.id, log.epoch, lines).await,
        }
    }

    async fn mark(
        &mut self,
        kind: SharedKind,
        rows: &[UnsentRow],
        refused: &[RefusedLine],
    ) -> Result<(), StoreError> {
        let reasons: HashMap<&str, &str> = refused
            .iter()
            .map(|line| (line.id.as_str(), line.reason.as_str()))
            .collect();
        match kind {
            SharedKind::Events => self.decisions.mark_events(rows, &reasons).await,
            SharedKind::Payloads => self.payloads.mark_payloads(rows, &reasons).await,
        }
    }

    /// The number of events and payloads of a workspace that are to be sent.
    ///
    /// # Errors
    /// Those of the stores.
    pub async fn unsent(&mut self, workspace: &str) -> Result<usize, StoreError> {
        let events = self.decisions.count_unsent(workspace).await?;
        Ok(events + self.payloads.count_unsent(workspace).await?)
    }

    /// The events and payloads of a workspace that the service refused, by reason.
    ///
    /// # Errors
    /// Those of the stores.
    pub async fn refused(&mut self, workspace: &str) -> Result<Vec<RefusedRows>, StoreError> {
        let mut refused = self.decisions.refused_events(workspace).await?;
        refused.extend(self.payloads.refused_payloads(workspace).await?);
        Ok(RefusedRows::merged(refused))
    }

    /// The next exchange sends the refused events and payloads of a workspace again.
    ///
    /// # Errors
    /// Those of the stores.
    pub async fn retry_refused(&mut self, workspace: &str) -> Result<(), StoreError> {
        self.decisions.retry_events(workspace).await?;
        self.payloads.retry_payloads(workspace).await
    }
}
