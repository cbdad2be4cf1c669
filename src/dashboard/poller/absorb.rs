//! The responses of the service: what the scheduler learns from them, and the events for the screen.

use crate::client;
use crate::client::{Error, ErrorKind, Problem};
use crate::contract::{Finding, Logger, Scan, Target, Workspace};
use crate::dashboard::base::plan::Snapshot;
use crate::dashboard::base::{Link, ListKind, PollBudget, PollEvent};
use crate::dashboard::poller::link::failure_scope;
use crate::dashboard::poller::{FailureScope, Fetch, FetchSlot, Fetched, InFlight, ORDER, PollPace, Scheduler};
use crate::table::Table;
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Pause of a list that the service refused.
const REFUSED_REST: Duration = Duration::from_secs(60);

impl Scheduler {
    /// Takes the rate budget and the clock difference of the last response.
    pub fn learn_limits(&mut self, budget: client::RateBudget, offset: Option<SignedDuration>, wall: Timestamp) {
        self.pace = PollPace::of(budget.limit, self.here);
        self.call_budget.set_limit(budget.limit, self.here);
        self.scarce = budget.share_left().is_some_and(|share| share < 0.3);
        let announced = budget.limit.zip(budget.remaining).map(|(limit, remaining)| PollBudget {
            limit,
            remaining,
            reset: budget.reset.and_then(|at| Duration::try_from(at.duration_since(wall)).ok()),
        });
        if coarse(announced) != coarse(self.budget) {
            self.budget = announced;
            self.outbox.push(PollEvent::Budget(announced));
        }
        if let Some(seconds) = offset.map(|offset| offset.as_secs())
            // The header is rounded to seconds, so a difference of one second is no change.
            && self.offset.is_none_or(|old| (old - seconds).abs() > 1)
        {
            self.offset = Some(seconds);
            self.outbox.push(PollEvent::ClockOffset(seconds));
        }
    }

    /// Takes the response to a request of [`due`](Self::due).
    pub fn absorb(&mut self, slot: FetchSlot, result: Result<Fetched, Error>, now: Instant, wall: Timestamp) {
        let Some(request) = self.in_flight.remove(&slot) else { return };
        match result {
            Ok(fetched) => {
                let link = self.link.succeed(request.sent, wall);
                self.report_link(link);
                self.take(fetched);
            }
            Err(error) => self.fail(slot, request, &error, now, wall),
        }
    }

    fn report_link(&mut self, link: Option<Link>) {
        if let Some(link) = link {
            self.outbox.push(PollEvent::Link(link));
        }
    }

    fn take(&mut self, fetched: Fetched) {
        match fetched {
            Fetched::List(snapshot) => self.take_snapshot(snapshot),
            Fetched::Captures(logger, new) => {
                let new = self.on_demand.take_captures(logger, new);
                // A logger that is no longer listed has no captures.
                if let Some(logger) = self.table::<Logger>().and_then(|known| known.get(logger)).cloned()
                    && !new.is_empty()
                {
                    self.outbox.push(PollEvent::Captures { logger, new });
                }
            }
            Fetched::Part(scan, data) => self.outbox.push(PollEvent::ScanPart(scan, data)),
        }
    }

    fn take_snapshot(&mut self, snapshot: Snapshot) {
        match &snapshot {
            Snapshot::Workspaces(new) => self.compare_counts(new),
            Snapshot::Scans(new) => self.compare_scans(new),
            Snapshot::Findings(new) => self.compare_findings(new),
            Snapshot::Loggers(new) => self.on_demand.learn_loggers(new),
            Snapshot::Targets(_) | Snapshot::Reports(_) | Snapshot::Wordlists(_) => {}
        }
        let list = snapshot.list_kind();
        let before = self.known.insert(list, snapshot.clone());
        let is_changed = before.is_none_or(|before| !before.is_same(&snapshot));
        let schedule = self.schedule(list);
        // Findings also when unchanged: the time of the read decides for which scans they are complete.
        let is_reported = is_changed || schedule.is_failed || list == ListKind::Findings;
        (schedule.is_failed, schedule.rests_until) = (false, None);
        if is_reported {
            self.outbox.push(PollEvent::Snapshot(snapshot));
        }
    }

    fn compare_counts(&mut self, new: &Table<Workspace>) {
        let counted = self.plan.workspace.and_then(|id| new.get(id)).map(|workspace| workspace.scan_count);
        let known = self.table::<Scan>().map(|scans| scans.len());
        if counted.is_some_and(|count| self.counts.learn(count, known)) {
            self.schedule(ListKind::Scans).last = None;
        }
    }

    fn compare_scans(&mut self, new: &Table<Scan>) {
        self.moved.learn(new);
        if let Some(known) = self.table::<Scan>().cloned() {
            if self.plan.scan_part.is_some_and(|(shown, _)| known.get(shown) != new.get(shown)) {
                self.on_demand.want_part();
            }
            if known.len() != new.len() {
                // An added or deleted scan changes the counts of its workspace, and can have a new target.
                self.schedule(ListKind::Workspaces).is_requested = true;
                let is_new_target = |scan: &Arc<Scan>| {
                    self.table::<Target>().is_some_and(|targets| targets.get(scan.target_id).is_none())
                };
                if new.items().iter().any(is_new_target) {
                    self.schedule(ListKind::Targets).is_requested = true;
                }
            }
        }
        if self.counts.tells_of_more(new.len()) {
            self.schedule(ListKind::Scans).is_requested = true;
        }
    }

    fn compare_findings(&mut self, new: &Table<Finding>) {
        if self.table::<Finding>().is_none() && new.items().iter().any(|finding| finding.task_id.is_none()) {
            self.moved.want_ended();
        }
    }

    fn fail(&mut self, slot: FetchSlot, request: InFlight, error: &Error, now: Instant, wall: Timestamp) {
        let problem = Arc::new(Problem::from(error));
        let InFlight { sent, fetch } = request;
        if let Fetch::FindingsOf { scans, gone, .. } = &fetch {
            self.moved.put_back(scans.iter().map(|(id, _)| *id), gone.clone());
        }
        if failure_scope_in(slot, error) != FailureScope::One {
            self.put_back(slot);
            let first = !self.link.is_failing();
            let link = self.link.fail(error, Arc::clone(&problem), sent, now, wall);
            self.report_link(link);
            if first {
                self.report_all_stale(&problem);
            }
            return;
        }
        // A call that was not sent does not prove a connection.
        if !matches!(error.kind, ErrorKind::BudgetSpent { .. }) {
            let link = self.link.succeed(sent, wall);
            self.report_link(link);
        }
        match slot {
            FetchSlot::List(list) => {
                let schedule = self.schedule(list);
                (schedule.is_failed, schedule.is_requested) = (true, false);
                schedule.rests_until = Some(now + REFUSED_REST);
                self.outbox.push(PollEvent::Failed(list, problem));
            }
            FetchSlot::Captures(logger) => {
                if error.kind == ErrorKind::Server {
                    self.on_demand.hear_again(logger);
                } else {
                    self.on_demand.drop_captures(logger);
                }
                // A deleted logger is no failure; the list of loggers reports it.
                if error.kind != ErrorKind::NotFound {
                    self.outbox.push(PollEvent::Failed(ListKind::Captures, problem));
                }
            }
            FetchSlot::Part => {
                // A part that the scan does not have is requested again when the scan has changed.
                if error.is_transient() {
                    self.on_demand.want_part();
                }
                if let Fetch::Part { scan, part } = fetch {
                    self.outbox.push(PollEvent::PartFailed(scan, part, problem));
                }
            }
        }
    }

    /// Makes a request due again that could not be sent.
    fn put_back(&mut self, slot: FetchSlot) {
        match slot {
            FetchSlot::List(ListKind::Findings) if self.table::<Finding>().is_some() => {}
            FetchSlot::List(list) => self.schedule(list).is_requested = true,
            FetchSlot::Captures(logger) => self.on_demand.want_captures(logger),
            FetchSlot::Part => self.on_demand.want_part(),
        }
    }

    fn report_all_stale(&mut self, problem: &Arc<Problem>) {
        let lists: &[ListKind] = if self.plan.workspace.is_some() { &ORDER } else { &[ListKind::Workspaces] };
        for list in lists {
            let schedule = self.schedule(*list);
            (schedule.is_failed, schedule.is_requested) = (true, true);
            self.outbox.push(PollEvent::Failed(*list, Arc::clone(problem)));
        }
    }
}

/// The scope of the failure of a request. The hosted service has a separate budget for the outputs of scans
/// (`hosted-service.md`, Rate limits), so a failure of a part never stops the lists.
fn failure_scope_in(slot: FetchSlot, error: &Error) -> FailureScope {
    match (slot, &error.kind) {
        (FetchSlot::Part, ErrorKind::RateLimited { .. } | ErrorKind::BudgetSpent { .. }) => FailureScope::One,
        _ => failure_scope(error),
    }
}

/// A budget in steps of 5 %: not every call has to reach the screen.
fn coarse(budget: Option<PollBudget>) -> Option<(u32, u64)> {
    budget.map(|budget| (budget.limit, u64::from(budget.remaining) * 20 / u64::from(budget.limit.max(1))))
}
