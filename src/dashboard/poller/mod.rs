//! The poller: one background task that decides alone when to query the service, and reports what it learnt.
//!
//! ```text
//!   watch<PollPlan> ──► Scheduler (what is due) ──fetches──► client ──► service
//!                         ▲                                    │
//!                         └───────────── absorb ◄──────────────┘
//!                         └─ outbox ─► bounded channel of updates ─► core::update
//! ```
//!
//! Fast for what is shown and moves, slow for the rest, never over the rate budget, and with growing pauses while the
//! service fails. A full channel holds up the poller, never the screen; what is newer meanwhile replaces what waits.
//! Ending the task (dropping its future) cancels every request under way.

mod absorb;
mod counts;
mod fetch;
mod link;
mod moved;
mod on_demand;
mod outbox;
mod pace;
mod scheduler;
#[cfg(test)]
mod scheduler_tests;

pub(crate) use counts::ScanCounts;
pub(crate) use fetch::{Fetch, FetchSlot, Fetched};
pub(crate) use link::{FailureScope, LinkState};
pub(crate) use moved::Moved;
pub(crate) use on_demand::OnDemand;
pub(crate) use outbox::Outbox;
pub(crate) use pace::{Demand, PollPace, Purse};
pub(crate) use scheduler::{InFlight, ORDER, Scheduler};

use crate::client::{Client, Error, ErrorKind, Lane};
use crate::contract::Stamp;
use crate::dashboard::base::{PollPlan, Update};
use futures::FutureExt;
use jiff::Timestamp;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use tokio::sync::{mpsc, watch as plan_channel};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};

/// Updates that may wait for the screen.
pub const CHANNEL: usize = 64;

/// See the module.
#[derive(Debug)]
pub struct Poller {
    client: Client,
    plans: plan_channel::Receiver<PollPlan>,
    updates: mpsc::Sender<Update>,
    scheduler: Scheduler,
    in_flight: JoinSet<FetchAnswer>,
}

/// The answer to a request.
type FetchAnswer = (FetchSlot, Result<Fetched, Error>);

/// What ended a wait.
enum Wakeup {
    Sent,
    Plan,
    Answer(Result<FetchAnswer, JoinError>),
    Due,
}

impl Poller {
    /// Prepares the task; nothing is sent before [`run`](Self::run) or [`poll_once`](Self::poll_once).
    pub fn new(client: Client, plans: plan_channel::Receiver<PollPlan>, updates: mpsc::Sender<Update>) -> Self {
        let mut scheduler = Scheduler::new(client.base().is_loopback(), Instant::now());
        scheduler.set_plan(plans.borrow().clone());
        Self { client, plans, updates, scheduler, in_flight: JoinSet::new() }
    }

    /// Polls until the dashboard is gone.
    pub async fn run(mut self) {
        while self.poll_once().await.is_continue() {}
    }

    /// Sends the requests that are due, then waits for one thing: an answer, a new plan, room in the channel, or the
    /// time of the next request. Breaks when the dashboard is gone.
    pub async fn poll_once(&mut self) -> ControlFlow<()> {
        for fetch in self.scheduler.due(Instant::now()) {
            let (client, slot) = (self.client.clone(), fetch.slot());
            // A panic in there would leave its slot taken for good, so it becomes an answer like any other.
            let fetching = AssertUnwindSafe(async move { fetch.run(&client).await }).catch_unwind();
            self.in_flight.spawn(async move {
                let broken =
                    |_| Err(Error::new(ErrorKind::Decode, "reading the answer broke off; the log tells where"));
                (slot, fetching.await.unwrap_or_else(broken))
            });
        }
        let next = self.scheduler.next(Instant::now());
        let timer = async {
            match next {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        // In this order: what is learnt leaves first, so that a busy service cannot keep it waiting; then a new plan,
        // which may make the answers under way worthless.
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
            Some(answer) = self.in_flight.join_next(), if !self.in_flight.is_empty() => Wakeup::Answer(answer),
            () = timer => Wakeup::Due,
        };
        match wakeup {
            Wakeup::Sent | Wakeup::Due => {}
            Wakeup::Plan => self.take_plan(),
            Wakeup::Answer(Ok((slot, result))) => self.absorb(slot, result),
            Wakeup::Answer(Err(error)) => tracing::error!(%error, "a question was cancelled"),
        }
        ControlFlow::Continue(())
    }

    fn take_plan(&mut self) {
        let plan = self.plans.borrow_and_update().clone();
        if self.scheduler.set_plan(plan) {
            // Dropping the set cancels what is under way for a workspace that is no longer shown.
            self.in_flight = JoinSet::new();
        }
    }

    fn absorb(&mut self, slot: FetchSlot, result: Result<Fetched, Error>) {
        if let Err(error) = &result {
            tracing::debug!(?slot, %error, "a question failed");
        }
        let wall = Timestamp::now();
        self.scheduler.learn_limits(self.client.budget(Lane::Read), self.client.clock_offset(), wall);
        self.scheduler.absorb(slot, result, Instant::now(), wall);
    }
}
