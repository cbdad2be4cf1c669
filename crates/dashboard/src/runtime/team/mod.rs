//! The task that shares the decisions of the open workspace with a team.
//!
//! ```text
//!   Look: workspace, finding ─► every two seconds ─► pull ─► stores ─► the tasks of the stores ─► Events, Payloads
//!   a decision is stored ─► 100 ms ─► push                  └─► Exchanged: viewers, unsent, problem
//! ```
//!
//! It begins only at a service that announces a team, with a key that has a name. It has
//! connections of its own to the stores, so a slow service delays no decision. Without a connection
//! rows wait in the stores, and every later exchange sends them: after a delay that grows with each
//! failure, and at once when the poller reaches the service again. Until the service responds, the
//! owner of the key is the one that it reported last.

pub mod exchange;
#[cfg(test)]
mod fake;
mod pages;
#[cfg(test)]
mod tests;

pub use exchange::{Attached, Received, Sent, TeamError, TeamExchange, TeamWorkspace, may_decide};

use crate::base::TeamRequest;
use crate::core::Msg;
use crate::data::TeamNews;
use crate::poller::Beat;
use crate::runtime::{ArchiveRequest, DecisionRequest, LocalWrites, TaskReport};
use scandeck_client::{Client, ErrorKind};
use scandeck_domain::finding::FindingKey;
use scandeck_domain::problem::Problem;
use scandeck_domain::triage::TeamLog;
use scandeck_wire::contract::team::{Member, RefusedLine, Viewer};
use scandeck_wire::contract::{Shared, WorkspaceId};
use scandeck_wire::sqlite::RefusedRows;
use scandeck_wire::text;
use scandeck_wire::text::plural;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::task::AbortOnDropHandle;

/// Seconds between two polls.
const POLL: u64 = 2;
/// Decisions within this time are sent together.
const COALESCED: Duration = Duration::from_millis(100);
/// Delays after failures, doubled each time.
const FIRST_DELAY: Duration = Duration::from_secs(2);
const LONGEST_DELAY: Duration = Duration::from_secs(30);
/// Limit for the last decisions at the end. The next start sends the rest.
const GOODBYE: Duration = Duration::from_secs(1);

/// The handle of the task.
pub(crate) struct TeamHandle {
    requests: UnboundedSender<TeamRequest>,
    task: AbortOnDropHandle<()>,
}

/// The service, the stores and the tasks that own them.
pub(crate) struct TeamContext {
    pub client: Client,
    /// The directory of the stores.
    pub directory: PathBuf,
    /// Whether nothing may change at the service.
    pub is_read_only: bool,
    pub decisions: WeakUnboundedSender<DecisionRequest>,
    pub archive: WeakUnboundedSender<ArchiveRequest>,
    /// Writes of the two stores.
    pub decided: LocalWrites,
    pub planted: LocalWrites,
    pub answers: UnboundedSender<TaskReport>,
}

impl TeamHandle {
    pub fn start(context: TeamContext, beat: Beat) -> Self {
        let (requests, waiting) = mpsc::unbounded_channel();
        let task = TeamTask {
            context,
            exchange: None,
            member: None,
            last_member: None,
            workspace: None,
            finding: None,
            stage: ShareStage::New,
            shown: None,
            retry_at: None,
            delay: FIRST_DELAY,
        };
        Self {
            requests,
            task: AbortOnDropHandle::new(tokio::spawn(task.run(waiting, beat))),
        }
    }

    pub fn send(&self, request: TeamRequest) {
        // The task ends with the dashboard only.
        let _ = self.requests.send(request);
    }

    /// Sends the last decisions, which are stored already.
    pub async fn end(self) {
        drop(self.requests);
        if timeout(GOODBYE, self.task).await.is_err() {
            tracing::info!("ended before the last decisions were sent");
        }
    }
}

/// The state of the open workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShareStage {
    /// Its log is not read yet.
    New,
    Shared,
    /// It waits for the answer to the question.
    Asked,
    Private,
}

/// As reported last.
#[derive(Clone, Debug, Default, PartialEq)]
struct Shown {
    viewers: Arc<[Viewer]>,
    unsent: usize,
    refused: Arc<[RefusedRows]>,
    problem: Option<Arc<Problem>>,
}

struct TeamTask {
    context: TeamContext,
    exchange: Option<TeamExchange>,
    /// None until the service has answered, and after it refused the key.
    member: Option<Member>,
    /// The member as reported last, from the store; none before the store was read.
    last_member: Option<Member>,
    workspace: Option<(WorkspaceId, Shared)>,
    finding: Option<FindingKey>,
    stage: ShareStage,
    /// None until the state of the workspace was reported.
    shown: Option<Shown>,
    /// The time of the next attempt after a failure.
    retry_at: Option<Instant>,
    delay: Duration,
}

/// The parts of an exchange.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Both,
    Push,
}

impl TeamTask {
    async fn run(mut self, mut requests: UnboundedReceiver<TeamRequest>, beat: Beat) {
        let (mut decided, mut planted) = (
            self.context.decided.changes(),
            self.context.planted.changes(),
        );
        let mut polls = beat.every(POLL);
        let mut push_at: Option<Instant> = None;
        loop {
            let (round, is_forced) = tokio::select! {
                biased;
                request = requests.recv() => match request {
                    Some(request) => match self.take(request).await {
                        true => (Round::Both, true),
                        false => continue,
                    },
                    None => break,
                },
                true = changed(&mut decided, &mut planted) => {
                    push_at.get_or_insert_with(|| Instant::now() + COALESCED);
                    continue;
                }
                () = sleep_until(push_at.unwrap_or_else(Instant::now)), if push_at.is_some() => {
                    push_at = None;
                    (Round::Push, false)
                }
                () = polls.tick() => (Round::Both, false),
            };
            // The stores are opened, and rescued if necessary, by their own tasks.
            if *decided.borrow() > 0 && *planted.borrow() > 0 {
                self.attempt(round, is_forced).await;
            }
        }
        if self.stage == ShareStage::Shared && self.retry_at.is_none() {
            self.attempt(Round::Push, false).await;
        }
    }

    /// Takes a request; whether an exchange is due now.
    async fn take(&mut self, request: TeamRequest) -> bool {
        match request {
            TeamRequest::Look { workspace, finding } => {
                self.finding = finding;
                if workspace == self.workspace {
                    return false;
                }
                self.workspace = workspace;
                self.stage = ShareStage::New;
                self.shown = None;
                true
            }
            TeamRequest::Join {
                workspace,
                is_shared,
            } => {
                if self.workspace.as_ref().map(|(id, _)| *id) != Some(workspace) {
                    return false;
                }
                if let Err(error) = self.join(is_shared).await {
                    self.fail(&error).await;
                }
                true
            }
            TeamRequest::Retry { workspace } => match self.workspace.clone() {
                Some((id, name)) if id == workspace && self.stage == ShareStage::Shared => {
                    if let Err(error) = self.retry(&name).await {
                        self.fail(&error).await;
                    }
                    true
                }
                _ => false,
            },
            TeamRequest::Resume => {
                self.delay = FIRST_DELAY;
                self.retry_at.take().is_some()
            }
        }
    }

    async fn join(&mut self, is_shared: bool) -> Result<(), TeamError> {
        if let Some(workspace) = self.team_workspace().await?
            && let Some(exchange) = self.open().await?
        {
            exchange.join(&workspace, is_shared).await?;
            self.stage = ShareStage::New;
        }
        Ok(())
    }

    async fn retry(&mut self, workspace: &str) -> Result<(), TeamError> {
        if let Some(exchange) = self.open().await? {
            exchange.retry_refused(workspace).await?;
        }
        Ok(())
    }

    async fn attempt(&mut self, round: Round, is_forced: bool) {
        let is_waiting = self.retry_at.is_some_and(|at| Instant::now() < at);
        if is_waiting && !is_forced {
            return self.count_unsent().await;
        }
        match self.exchange(round).await {
            Ok(()) => (self.retry_at, self.delay) = (None, FIRST_DELAY),
            Err(error) => self.fail(&error).await,
        }
    }

    /// The open workspace at a service with a team, for a key with a name.
    async fn team_workspace(&mut self) -> Result<Option<TeamWorkspace>, TeamError> {
        let client = &self.context.client;
        let Some((id, name)) = self.workspace.clone().filter(|_| client.has_team()) else {
            return Ok(None);
        };
        let member = match &self.member {
            Some(member) => member,
            None => {
                let member = client.without_retries().team_member().await?;
                self.report(TeamNews::Member(member.clone()));
                self.remember(&member).await?;
                self.member.insert(member)
            }
        };
        let service = member.service.clone();
        Ok((!member.name.is_empty()).then_some(TeamWorkspace { service, id, name }))
    }

    async fn open(&mut self) -> Result<Option<&mut TeamExchange>, TeamError> {
        if self.exchange.is_none() {
            let TeamContext {
                client, directory, ..
            } = &self.context;
            self.exchange = Some(TeamExchange::open(client.clone(), directory).await?);
        }
        Ok(self.exchange.as_mut())
    }

    async fn exchange(&mut self, round: Round) -> Result<(), TeamError> {
        if matches!(self.stage, ShareStage::Asked | ShareStage::Private) {
            return Ok(());
        }
        match (
            self.context.client.awaits_team(),
            self.context.client.has_team(),
        ) {
            (true, _) => return self.await_service().await,
            (false, false) => return self.leave_team().await,
            (false, true) => {}
        }
        let Some(workspace) = self.team_workspace().await? else {
            return Ok(());
        };
        match self.attach(&workspace).await? {
            Some(log) => self.exchange_log(workspace, log, round).await,
            None => Ok(()),
        }
    }

    /// The shared log of a workspace. Where there is none, the reason is reported.
    async fn attach(&mut self, workspace: &TeamWorkspace) -> Result<Option<TeamLog>, TeamError> {
        let shows_viewers = self
            .shown
            .as_ref()
            .is_some_and(|shown| shown.problem.is_none());
        let Some(exchange) = self.open().await? else {
            return Ok(None);
        };
        if !shows_viewers {
            exchange.forget_tags();
        }
        match exchange.attach(workspace).await? {
            Attached::Log(log) if log.is_shared => return Ok(Some(log)),
            Attached::Log(_) => {
                self.stage = ShareStage::Private;
                self.report(TeamNews::Private(workspace.id));
            }
            Attached::Question(question) => {
                self.stage = ShareStage::Asked;
                self.report(TeamNews::Question(question));
            }
        }
        Ok(None)
    }

    /// Reads and sends the rows of a shared log, and reports the result.
    async fn exchange_log(
        &mut self,
        workspace: TeamWorkspace,
        mut log: TeamLog,
        round: Round,
    ) -> Result<(), TeamError> {
        let looking = self.finding.map_or(String::new(), |key| key.to_string());
        let may_send = !self.context.is_read_only && self.member.as_ref().is_some_and(may_decide);
        let Some(exchange) = self.open().await? else {
            return Ok(());
        };
        let mut received = Received::default();
        // After another dashboard of this machine has joined, nothing is read yet.
        if round == Round::Both || log.epoch == 0 {
            received = exchange.pull(&mut log, Some(&looking)).await?;
        }
        let mut sent = Sent::default();
        if may_send && received.purged.is_none() {
            sent = exchange.push(&log).await?;
        }
        let unsent = match &received.purged {
            Some(_) => 0,
            None => exchange.unsent(&workspace.name).await?,
        };
        let refused = exchange.refused(&workspace.name).await?.into();
        self.stage = ShareStage::Shared;
        self.hand_on(&received);
        self.show(Shown {
            viewers: received
                .viewers
                .or_else(|| self.shown.as_ref().map(|shown| Arc::clone(&shown.viewers)))
                .unwrap_or_default(),
            unsent,
            refused,
            problem: None,
        });
        if let Some(purged) = received.purged {
            self.stage = ShareStage::Private;
            self.report(TeamNews::Purged {
                workspace: workspace.id,
                name: workspace.name,
                purged,
            });
        }
        if let Some(problem) = refusal(&sent.refused) {
            self.report(TeamNews::Refused(Arc::new(problem)));
        }
        Ok(())
    }

    /// Before the first answer of the service: decisions are signed by the member who was reported
    /// last, and counted.
    async fn await_service(&mut self) -> Result<(), TeamError> {
        let looked = self.workspace.clone();
        let known = self.last_member.clone();
        let Some(exchange) = self.open().await? else {
            return Ok(());
        };
        let member = match known {
            Some(member) => member,
            None => {
                let member = exchange.last_member().await?.unwrap_or_default();
                if !member.name.is_empty() {
                    self.report(TeamNews::Member(member.clone()));
                }
                self.last_member.insert(member).clone()
            }
        };
        let (Some((id, _)), false) = (looked, member.name.is_empty()) else {
            return Ok(());
        };
        let Some(exchange) = self.open().await? else {
            return Ok(());
        };
        match exchange.earlier_log(&member.service, id).await? {
            Some(log) if log.is_shared => {
                let (unsent, refused) = self.unsent().await;
                let problem = Problem::local("the service has not responded yet");
                self.show(Shown {
                    viewers: Arc::default(),
                    unsent,
                    refused,
                    problem: Some(Arc::new(problem)),
                });
            }
            Some(_) => self.report(TeamNews::Private(id)),
            None => {}
        }
        Ok(())
    }

    /// The service has no team, or has none any more: decisions remain on this machine.
    async fn leave_team(&mut self) -> Result<(), TeamError> {
        let is_member = |member: &Member| !member.name.is_empty();
        if self.last_member.take().as_ref().is_some_and(is_member) {
            self.report(TeamNews::Member(Member::default()));
            self.remember(&Member::default()).await?;
        }
        Ok(())
    }

    async fn remember(&mut self, member: &Member) -> Result<(), TeamError> {
        if let Some(exchange) = self.open().await? {
            exchange.remember(member).await?;
        }
        self.last_member = Some(member.clone());
        // A single user needs no further connections to the stores.
        if member.name.is_empty()
            && let Some(exchange) = self.exchange.take()
        {
            exchange.close().await;
        }
        Ok(())
    }

    /// Makes the tasks of the stores report what others wrote.
    fn hand_on(&self, received: &Received) {
        if received.events > 0
            && let Some(decisions) = self.context.decisions.upgrade()
        {
            // At the end of the dashboard nobody reads it.
            let _ = decisions.send(DecisionRequest::ReadOthers);
        }
        if received.payloads > 0
            && let Some(archive) = self.context.archive.upgrade()
        {
            let _ = archive.send(ArchiveRequest::ReadOthers);
        }
    }

    async fn fail(&mut self, error: &TeamError) {
        tracing::warn!(%error, "decisions not exchanged");
        self.retry_at = Some(Instant::now() + self.delay);
        self.delay = (self.delay * 2).min(LONGEST_DELAY);
        match error {
            // The key can get another role, and another key another name.
            TeamError::Service(error)
                if matches!(error.kind, ErrorKind::Unauthorized | ErrorKind::Forbidden) =>
            {
                self.member = None;
            }
            TeamError::Service(_) => {}
            TeamError::Store(_) => {
                if let Some(exchange) = self.exchange.take() {
                    exchange.close().await;
                }
            }
        }
        let (unsent, refused) = self.unsent().await;
        self.show(Shown {
            viewers: Arc::default(),
            unsent,
            refused,
            problem: Some(Arc::new(error.problem())),
        });
    }

    /// The rows that are not sent, and the refused ones.
    async fn unsent(&mut self) -> (usize, Arc<[RefusedRows]>) {
        let Some((_, name)) = self.workspace.clone() else {
            return Default::default();
        };
        if let Some(exchange) = &mut self.exchange
            && let Ok(unsent) = exchange.unsent(&name).await
            && let Ok(refused) = exchange.refused(&name).await
        {
            return (unsent, refused.into());
        }
        let shown = self.shown.as_ref();
        shown.map_or_else(Default::default, |shown| {
            (shown.unsent, Arc::clone(&shown.refused))
        })
    }

    /// Reports decisions that wait for a connection.
    async fn count_unsent(&mut self) {
        if self.stage == ShareStage::Shared {
            let (unsent, refused) = self.unsent().await;
            self.show(Shown {
                unsent,
                refused,
                ..self.shown.clone().unwrap_or_default()
            });
        }
    }

    fn show(&mut self, shown: Shown) {
        let Some((workspace, _)) = self.workspace else {
            return;
        };
        if self.shown.as_ref() != Some(&shown) {
            self.shown = Some(shown.clone());
            self.report(TeamNews::Exchanged {
                workspace,
                viewers: shown.viewers,
                unsent: shown.unsent,
                refused: shown.refused,
                problem: shown.problem,
            });
        }
    }

    fn report(&self, news: TeamNews) {
        // At the end of the dashboard nobody receives it.
        let report = TaskReport::Msg(Box::new(Msg::Team(news)));
        let _ = self.context.answers.send(report);
    }
}

/// Waits for a write into one of the stores; false after the end of both tasks.
async fn changed(decided: &mut watch::Receiver<u64>, planted: &mut watch::Receiver<u64>) -> bool {
    tokio::select! {
        Ok(()) = decided.changed() => true,
        Ok(()) = planted.changed() => true,
        else => false,
    }
}

/// The refused lines as one problem.
fn refusal(refused: &[RefusedLine]) -> Option<Problem> {
    let first = refused.first()?;
    let (lines, reason) = (
        plural(refused.len(), "decision"),
        text::clean(&first.reason),
    );
    let hint = "they remain on this machine; :team shows them";
    Some(Problem::local(format!("{lines} not accepted: {reason}")).with_hint(hint))
}
