//! The poller: the background task that alone decides when to query the service, and reports the
//! results.
//!
//! ```text
//!   watch<PollPlan> ──► Scheduler (what is due) ──fetches──► client ──► service
//!                         ▲                                    │
//!                         └───────────── absorb ◄──────────────┘
//!                         └─ outbox ─► bounded channel of updates ─► core::update
//! ```
//!
//! It polls often what is visible and changes, rarely the rest, never above the rate budget, and
//! with growing pauses what fails, until it succeeds. The retries of the client are off, so that
//! each call is paid from the budget. A full channel stops the poller, never the screen; newer
//! results replace the waiting ones. Dropping the future of the task cancels every request in
//! flight.

mod absorb;
mod backoff;
mod by_scan;
mod counts;
mod fetch;
mod findings;
mod link;
mod moved_scans;
mod on_demand;
mod outbox;
mod pace;
mod scheduler;
#[cfg(test)]
mod scheduler_tests;

pub(crate) use absorb::announced_budget;
pub(crate) use backoff::Backoff;
pub(crate) use by_scan::MOST_FINDINGS;
pub(crate) use counts::ScanCounts;
pub(crate) use fetch::{Fetch, FetchSlot, Fetched};
pub use findings::FindingTextFiles;
pub(crate) use link::{FailureScope, LinkState};
pub(crate) use moved_scans::MovedScans;
pub(crate) use on_demand::OnDemand;
pub(crate) use outbox::Outbox;
pub(crate) use pace::{Beat, Beats, CallBudget, Demand, PollPace};
pub(crate) use scheduler::{InFlight, ORDER, Scheduler};

use crate::base::{PollPlan, Update};
use futures::FutureExt;
use jiff::Timestamp;
use scandeck_client::{Client, EntityTags, Error, ErrorKind, Lane};
use scandeck_wire::contract::{Stamp, Unreadable};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use tokio::sync::{mpsc, watch as plan_channel};
use tokio::task::{AbortHandle, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};

/// Updates that can wait in the channel.
pub const CHANNEL: usize = 64;

/// The poller with its channels.
#[derive(Debug)]
pub struct Poller {
    client: Client,
    plans: plan_channel::Receiver<PollPlan>,
    updates: mpsc::Sender<Update>,
    scheduler: Scheduler,
    in_flight: JoinSet<FetchAnswer>,
    /// Cancels the request for a resource.
    aborts: BTreeMap<FetchSlot, AbortHandle>,
    /// The clients of the requests in flight, which count what arrives.
    clients: BTreeMap<FetchSlot, Client>,
    /// The files of long texts; without them, texts are held in memory.
    files: Option<FindingTextFiles>,
}

/// The answer to a request.
#[derive(Debug)]
struct FetchAnswer {
    slot: FetchSlot,
    result: Result<Fetched, Error>,
    /// The number of calls that it took.
    calls: u32,
    /// Items of the list that could not be decoded.
    unreadable: Unreadable,
    tags: EntityTags,
}

/// The event that ended a wait.
enum Wakeup {
    Sent,
    Plan,
    Answer(Box<Result<FetchAnswer, JoinError>>),
    Due,
}

impl Poller {
    /// Prepares the poller; nothing is sent before [`run`](Self::run) or
    /// [`poll_once`](Self::poll_once).
    pub fn new(
        client: Client,
        plans: plan_channel::Receiver<PollPlan>,
        updates: mpsc::Sender<Update>,
    ) -> Self {
        let mut scheduler = Scheduler::new(client.base().is_loopback(), Instant::now());
        scheduler.set_plan(plans.borrow().clone());
        let client = client.without_retries();
        Self {
            client,
            plans,
            updates,
            scheduler,
            in_flight: JoinSet::new(),
            aborts: BTreeMap::new(),
            clients: BTreeMap::new(),
            files: None,
        }
    }

    /// The same with the long texts of findings in files.
    #[must_use]
    pub fn with_texts(self, files: FindingTextFiles) -> Self {
        Self {
            files: Some(files),
            ..self
        }
    }

    /// The same on this beat.
    #[must_use]
    pub(crate) fn with_beat(mut self, beat: Beat) -> Self {
        self.scheduler.beat = beat;
        self
    }

    /// Polls until the dashboard ends.
    pub async fn run(mut self) {
        while self.poll_once().await.is_continue() {}
    }

    /// Sends the requests that are due, then waits for one event: a response, a new plan, room in
    /// the channel, or the time of the next request. Breaks at the end of the dashboard.
    pub async fn poll_once(&mut self) -> ControlFlow<()> {
        for fetch in self.scheduler.due(Instant::now()) {
            self.start(fetch);
        }
        for (slot, client) in &self.clients {
            self.scheduler
                .note_received(*slot, client.received(), Instant::now());
        }
        self.scheduler
            .report_unanswered(Instant::now(), Timestamp::now());
        self.scheduler
            .report_overdue(Instant::now(), Timestamp::now());
        let next = self
            .scheduler
            .next(Instant::now())
            .map(|next| self.scheduler.beat.slot_from(next));
        // In this order: results first, so that a busy service cannot delay them; then a new plan,
        // which can make the responses in flight worthless.
        let wakeup = tokio::select! {
            biased;
            room = self.updates.reserve(), if !self.scheduler.outbox.is_empty() => match room {
                Ok(room) => {
                    if let Some(event) = self.scheduler.outbox.pop() {
                        let generation = self.scheduler.generation();
                        room.send(Update { generation, at: Stamp(Timestamp::now()), event });
                    }
                    Wakeup::Sent
                }
                Err(_) => return ControlFlow::Break(()),
            },
            changed = self.plans.changed() => match changed {
                Ok(()) => Wakeup::Plan,
                Err(_) => return ControlFlow::Break(()),
            },
            Some(answer) = self.in_flight.join_next(), if !self.in_flight.is_empty() => Wakeup::Answer(Box::new(answer)),
            () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => Wakeup::Due,
        };
        match wakeup {
            Wakeup::Sent | Wakeup::Due => {}
            Wakeup::Plan => self.take_plan(),
            Wakeup::Answer(answer) => match *answer {
                Ok(answer) => self.absorb(answer),
                Err(error) => tracing::debug!(%error, "a request was cancelled"),
            },
        }
        ControlFlow::Continue(())
    }

    /// Sends a request in a task of its own.
    fn start(&mut self, fetch: Fetch) {
        let tags = self.scheduler.tags_for(&fetch).unwrap_or_default();
        let (client, slot, files) = (
            self.client.observing().unless(tags),
            fetch.slot(),
            self.files.clone(),
        );
        self.clients.insert(slot, client.clone());
        let abort = self.in_flight.spawn(async move {
            // A panic in the task would leave its slot in flight forever, so it becomes a
            // response.
            let broken = |_| {
                Err(Error::new(
                    ErrorKind::Decode,
                    "response not read: details are in the log",
                ))
            };
            let result = AssertUnwindSafe(fetch.run(&client, files.as_ref()))
                .catch_unwind()
                .await
                .unwrap_or_else(broken);
            let (calls, unreadable, tags) =
                (client.calls(), client.unreadable(), client.entity_tags());
            FetchAnswer {
                slot,
                result,
                calls,
                unreadable,
                tags,
            }
        });
        self.aborts.insert(slot, abort);
    }

    fn take_plan(&mut self) {
        let plan = self.plans.borrow_and_update().clone();
        if self.scheduler.set_plan(plan) {
            // Dropping the set cancels the requests for a workspace that is no longer shown.
            self.in_flight = JoinSet::new();
        }
        for slot in self.scheduler.take_hanging(Instant::now()) {
            if let Some(abort) = self.aborts.remove(&slot) {
                abort.abort();
            }
        }
    }

    fn absorb(&mut self, answer: FetchAnswer) {
        let FetchAnswer {
            slot,
            result,
            calls,
            unreadable,
            tags,
        } = answer;
        self.clients.remove(&slot);
        if let Err(error) = &result {
            tracing::debug!(?slot, %error, "a request failed");
        }
        let wall = Timestamp::now();
        self.scheduler.learn_limits(
            self.client.budget(Lane::Read),
            self.client.clock_offset(),
            wall,
        );
        self.scheduler.learn_missing(self.client.missing_scanners());
        // The answer to a cancelled request can arrive late.
        let is_read = result.is_ok() && !self.scheduler.is_free(slot);
        self.scheduler.settle(slot, calls, unreadable);
        self.scheduler.absorb(slot, result, Instant::now(), wall);
        if is_read {
            self.scheduler.learn_tags(slot, tags);
        }
    }
}
