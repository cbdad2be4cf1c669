//! The poller: one background task that decides alone when to ask the service, and tells what it learnt.
//!
//! ```text
//!   watch<PollPlan> ──► Watch (what is due) ──jobs──► client ──► service
//!                         ▲                              │
//!                         └────────── absorb ◄───────────┘
//!                         └─ outbox ─► bounded channel of updates ─► app::update
//! ```
//!
//! Fast for what is shown and moves, slow for the rest, never over the rate budget, and with growing pauses while the
//! service fails. A full channel holds up the poller, never the screen; what is newer meanwhile replaces what waits.
//! Ending the task (dropping its future) cancels every question under way.

mod absorb;
mod counted;
mod job;
mod link;
mod moved;
mod outbox;
mod pace;
mod wanted;
mod watch;
#[cfg(test)]
mod watch_tests;

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use jiff::Timestamp;
use tokio::sync::{mpsc, watch as plan_channel};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};

use crate::app::plan::{PollPlan, Update};
use crate::client::{Client, Error, Kind, Lane};
use crate::contract::Stamp;

use job::{Outcome, Slot};
use watch::Watch;

/// Updates that may wait for the screen.
pub const CHANNEL: usize = 64;

/// See the module.
#[derive(Debug)]
pub struct Poller {
    client: Client,
    plans: plan_channel::Receiver<PollPlan>,
    updates: mpsc::Sender<Update>,
    watch: Watch,
    flying: JoinSet<(Slot, Result<Outcome, Error>)>,
}

/// What ended a wait.
enum Woke {
    Sent,
    Plan,
    Answer(Result<(Slot, Result<Outcome, Error>), JoinError>),
    Due,
}

/// Whether there is more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Poll on.
    On,
    /// The dashboard is gone.
    End,
}

impl Poller {
    /// Prepares the task; nothing is asked before [`run`](Self::run) or [`poll_once`](Self::poll_once).
    pub fn new(client: Client, plans: plan_channel::Receiver<PollPlan>, updates: mpsc::Sender<Update>) -> Self {
        let mut watch = Watch::new(client.base().is_loopback(), Instant::now());
        watch.set_plan(plans.borrow().clone());
        Self { client, plans, updates, watch, flying: JoinSet::new() }
    }

    /// Polls until the dashboard is gone.
    pub async fn run(mut self) {
        while self.poll_once().await == Step::On {}
    }

    /// Puts the questions that are due, then waits for one thing: an answer, a new plan, room in the channel, or the
    /// time of the next question.
    pub async fn poll_once(&mut self) -> Step {
        for job in self.watch.due(Instant::now()) {
            let (client, slot) = (self.client.clone(), job.slot());
            // A panic in there would leave its slot taken for good, so it becomes an answer like any other.
            let asking = AssertUnwindSafe(async move { job.run(&client).await }).catch_unwind();
            self.flying.spawn(async move {
                let broken = |_| Err(Error::new(Kind::Decode, "reading the answer broke off; the log tells where"));
                (slot, asking.await.unwrap_or_else(broken))
            });
        }
        let next = self.watch.next(Instant::now());
        let timer = async {
            match next {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        // In this order: what is learnt leaves first, so that a busy service cannot keep it waiting; then a new plan,
        // which may make the answers under way worthless.
        let woke = tokio::select! {
            biased;
            room = self.updates.reserve(), if !self.watch.outbox.is_empty() => match room {
                Ok(room) => {
                    if let Some(news) = self.watch.outbox.pop() {
                        room.send(Update { generation: self.watch.generation(), at: Stamp(Timestamp::now()), news });
                    }
                    Woke::Sent
                }
                Err(_) => return Step::End,
            },
            changed = self.plans.changed() => match changed {
                Ok(()) => Woke::Plan,
                Err(_) => return Step::End,
            },
            Some(answer) = self.flying.join_next(), if !self.flying.is_empty() => Woke::Answer(answer),
            () = timer => Woke::Due,
        };
        match woke {
            Woke::Sent | Woke::Due => {}
            Woke::Plan => self.take_plan(),
            Woke::Answer(Ok((slot, result))) => self.absorb(slot, result),
            Woke::Answer(Err(error)) => tracing::error!(%error, "a question was cancelled"),
        }
        Step::On
    }

    fn take_plan(&mut self) {
        let plan = self.plans.borrow_and_update().clone();
        if self.watch.set_plan(plan) {
            // Dropping the set cancels what is under way for a workspace that is no longer shown.
            self.flying = JoinSet::new();
        }
    }

    fn absorb(&mut self, slot: Slot, result: Result<Outcome, Error>) {
        if let Err(error) = &result {
            tracing::debug!(?slot, %error, "a question failed");
        }
        let wall = Timestamp::now();
        self.watch.learn_limits(self.client.budget(Lane::Read), self.client.clock_offset(), wall);
        self.watch.absorb(slot, result, Instant::now(), wall);
    }
}
