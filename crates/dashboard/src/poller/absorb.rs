//! The responses of the service: what the scheduler learns from them, and the events for the
//! screen.

use crate::base::plan::SETTLING;
use crate::base::plan::Snapshot;
use crate::base::{Link, ListKind, PollBudget, PollEvent};
use crate::poller::link::failure_scope;
use crate::poller::scheduler::{AT_ONCE, TOLERATED};
use crate::poller::{
    FailureScope, Fetch, FetchSlot, Fetched, InFlight, ORDER, PollPace, Scheduler,
};
use jiff::{SignedDuration, Timestamp};
use scandeck_client as client;
use scandeck_client::{Error, ErrorKind, Problem};
use scandeck_domain::table::Table;
use scandeck_domain::triage::{ListedFinding, ReadTimes};
use scandeck_wire::contract::{
    Logger, LoggerId, MissingScanner, Scan, Stamp, Target, Unreadable, Workspace,
};
use scandeck_wire::text::plural;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

impl Scheduler {
    /// Takes the rate budget and the clock difference of the last response.
    pub fn learn_limits(
        &mut self,
        budget: client::RateBudget,
        offset: Option<SignedDuration>,
        wall: Timestamp,
    ) {
        self.pace = PollPace::of(budget.limit, self.here);
        self.call_budget.set_limit(budget.limit, self.here);
        self.scarce = budget.share_left().is_some_and(|share| share < 0.3);
        let announced = announced_budget(budget, wall);
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

    /// Takes the tools that the service cannot run.
    pub fn learn_missing(&mut self, missing: Arc<[MissingScanner]>) {
        if missing != self.missing_scanners {
            self.missing_scanners = Arc::clone(&missing);
            self.outbox.push(PollEvent::MissingScanners(missing));
        }
    }

    /// Takes the cost of a request of [`due`](Self::due), and the items that could not be decoded.
    pub fn settle(&mut self, slot: FetchSlot, calls: u32, unreadable: Unreadable) {
        let Some(request) = self.in_flight.get_mut(&slot) else {
            return;
        };
        request.unreadable = unreadable.clone();
        self.call_budget.settle(request.fetch.calls(), calls);
        let previous = self.unreadable.remove(&slot).unwrap_or_default();
        // A response with a part of the items says nothing about the others.
        let known = match &request.fetch {
            Fetch::Captures { since: Some(_), .. } => previous.clone().with(unreadable),
            Fetch::ActiveScans { .. } | Fetch::FindingsOf { .. } if !previous.is_empty() => {
                previous.clone()
            }
            _ => unreadable,
        };
        let is_changed = known != previous;
        if !known.is_empty() {
            self.unreadable.insert(slot, known);
        }
        if let Some(list) = slot.list_kind().filter(|_| is_changed) {
            let of_list = self
                .unreadable
                .iter()
                .filter(|(slot, _)| slot.list_kind() == Some(list));
            let mut all = Unreadable::default();
            of_list.for_each(|(_, items)| all.extend(items.clone()));
            self.outbox.push(PollEvent::Unreadable(list, Arc::new(all)));
        }
    }

    /// Takes the response to a request of [`due`](Self::due).
    pub fn absorb(
        &mut self,
        slot: FetchSlot,
        result: Result<Fetched, Error>,
        now: Instant,
        wall: Timestamp,
    ) {
        let Some(request) = self.in_flight.remove(&slot) else {
            return;
        };
        self.waiting.remove(&slot);
        match result {
            Ok(fetched) => {
                let link = self.link.succeed(request.sent, wall);
                self.report_link(link);
                if let Fetched::List(snapshot) = &fetched
                    && !request.unreadable.is_empty()
                    && let Some(merged) = self.with_earlier_rows(snapshot, &request.unreadable)
                {
                    return self.take_partly_read(merged, &request, now, wall);
                }
                let was_failing = self.backoff.succeed(slot);
                if matches!(&fetched, Fetched::List(snapshot) if self.is_doubtful(snapshot)) {
                    return;
                }
                if let Fetched::List(Snapshot::Findings(new)) = &fetched {
                    let waited = SignedDuration::try_from(now - request.sent).unwrap_or_default();
                    self.note_read(
                        &request.fetch,
                        new,
                        now,
                        Stamp(wall.checked_sub(waited).unwrap_or(wall)),
                    );
                }
                self.take(fetched, Stamp(wall));
                if let FetchSlot::Captures(logger) = slot
                    && (was_failing || self.failed_captures.contains_key(&logger))
                {
                    self.report_captures();
                }
            }
            Err(error) => self.fail(slot, request, &error, now, wall),
        }
    }

    /// A response with unreadable items and the earlier rows of these items, if there are any.
    fn with_earlier_rows(&self, snapshot: &Snapshot, unreadable: &Unreadable) -> Option<Snapshot> {
        let (merged, missing) =
            snapshot.with_unreadable_of(self.cached.get(&snapshot.list_kind())?, unreadable);
        (missing > 0).then_some(merged)
    }

    /// The earlier rows remain, the list is stale as after a failure, and it is requested again
    /// after a pause.
    fn take_partly_read(
        &mut self,
        merged: Snapshot,
        request: &InFlight,
        now: Instant,
        wall: Timestamp,
    ) {
        let (list, slot) = (merged.list_kind(), request.fetch.slot());
        let confirmed = self.schedule(list).confirmed;
        self.take_snapshot(merged, Stamp(wall));
        // Only a complete response confirms the list.
        self.schedule(list).confirmed = confirmed;
        let pause = self.backoff.fail(slot, Duration::ZERO, now);
        self.put_back(slot, &request.fetch);
        self.schedule(list).is_failed = true;
        let message = format!(
            "{} not readable; the earlier rows remain",
            plural(request.unreadable.count, "item")
        );
        let problem = Problem {
            retry_at: Some(Stamp(wall + pause)),
            ..Problem::local(message)
        };
        self.report_failed(list, Arc::new(problem));
    }

    /// Findings were read, by a request that began at `sent`.
    fn note_read(&mut self, fetch: &Fetch, new: &Table<ListedFinding>, now: Instant, sent: Stamp) {
        let found = |scan| {
            new.items()
                .iter()
                .filter(|finding| finding.task_id() == Some(scan))
                .count() as i64
        };
        if let Fetch::FindingsOf { scans, .. } = fetch {
            for &(scan, _) in scans {
                self.moved.settle(scan, || found(scan), now);
            }
            self.moved.note_loaded(scans.iter().map(|(scan, _)| *scan));
            Arc::make_mut(&mut self.findings_read.scans)
                .extend(scans.iter().map(|(scan, _)| (*scan, sent)));
            return;
        }
        self.findings_read = ReadTimes {
            all: Some(sent),
            ..ReadTimes::default()
        };
        // Scans end by the clock of the service.
        let sent = sent.as_second() + self.offset.unwrap_or(0);
        let settling = |scan: &&Arc<Scan>| {
            scan.has_ended()
                && scan
                    .end_time
                    .is_some_and(|end| end.as_second() + SETTLING >= sent)
        };
        let scans = self.table::<Scan>().cloned().unwrap_or_default();
        for scan in scans.items().iter().filter(settling) {
            self.moved.settle(scan.id, || found(scan.id), now);
        }
    }

    fn report_link(&mut self, link: Option<Link>) {
        if let Some(link) = link {
            self.outbox.push(PollEvent::Link(link));
        }
    }

    fn take(&mut self, fetched: Fetched, at: Stamp) {
        match fetched {
            Fetched::List(snapshot) => self.take_snapshot(snapshot, at),
            Fetched::Captures(logger, new) => {
                let new = self.on_demand.take_captures(logger, new);
                // A logger that is no longer listed has no captures.
                if let Some(logger) = self
                    .table::<Logger>()
                    .and_then(|cached| cached.get(logger))
                    .cloned()
                    && !new.is_empty()
                {
                    self.outbox.push(PollEvent::Captures { logger, new });
                }
            }
            Fetched::Part(scan, data) => self.outbox.push(PollEvent::ScanPart(scan, data)),
            Fetched::Nodes(nodes) => self.outbox.push(PollEvent::Nodes(Arc::new(nodes))),
        }
    }

    /// A list that falls from many rows to none is read once more, because a service that starts
    /// can send empty lists.
    fn is_doubtful(&mut self, snapshot: &Snapshot) -> bool {
        let list = snapshot.list_kind();
        let before = self.cached.get(&list).map_or(0, Snapshot::len);
        let schedule = self.schedule(list);
        let doubts = snapshot.is_empty() && before > 1 && !schedule.is_doubted;
        schedule.is_doubted = doubts;
        schedule.is_requested |= doubts;
        doubts
    }

    fn take_snapshot(&mut self, snapshot: Snapshot, at: Stamp) {
        match &snapshot {
            Snapshot::Workspaces(new) => self.compare_counts(new),
            Snapshot::Scans(new) => self.compare_scans(new),
            Snapshot::Findings(new) => self.compare_findings(new),
            Snapshot::Loggers(new) => self.compare_loggers(new),
            // No other request depends on the other lists.
            _ => {}
        }
        let list = snapshot.list_kind();
        let before = self.cached.insert(list, snapshot.clone());
        let is_changed = before.is_none_or(|before| !before.is_same(&snapshot));
        let schedule = self.schedule(list);
        // Findings also when unchanged: the time of the read decides for which scans they are
        // complete.
        let is_reported = is_changed || schedule.is_failed || list == ListKind::Findings;
        schedule.is_failed = false;
        schedule.confirmed = (!is_reported).then_some(at);
        if is_reported {
            self.outbox.push(match snapshot {
                Snapshot::Findings(table) => {
                    let unread = self.moved.unread().unwrap_or_default();
                    PollEvent::SomeFindings(table, unread, self.findings_read.clone())
                }
                snapshot => PollEvent::Snapshot(snapshot),
            });
        }
        if list == ListKind::Findings {
            self.report_refusal();
        }
        // Findings are not read again while no scan moves, so unmoved scans confirm them.
        let findings = ListKind::Findings;
        if list == ListKind::Scans
            && self.cached.contains_key(&findings)
            && self.is_free(FetchSlot::List(findings))
            && !self.is_requested(findings)
            && !self.moved.is_waiting()
        {
            self.schedule(findings).confirmed = Some(at);
        }
    }

    fn compare_counts(&mut self, new: &Table<Workspace>) {
        let counted = self
            .plan
            .workspace
            .and_then(|id| new.get(id))
            .map(|workspace| workspace.scan_count);
        let cached = self.table::<Scan>().map(|scans| scans.len());
        if counted.is_some_and(|count| self.counts.learn(count, cached)) {
            self.schedule(ListKind::Scans).last = None;
        }
    }

    fn compare_scans(&mut self, new: &Table<Scan>) {
        self.moved.learn(new);
        if let Some(cached) = self.table::<Scan>().cloned() {
            if self
                .plan
                .scan_part
                .is_some_and(|(shown, _)| cached.get(shown) != new.get(shown))
            {
                self.on_demand.request_part();
            }
            if cached.len() != new.len() {
                // An added or deleted scan changes the counts of its workspace, and can have a new
                // target.
                self.schedule(ListKind::Workspaces).is_requested = true;
                let is_new_target = |scan: &Arc<Scan>| {
                    self.table::<Target>()
                        .is_some_and(|targets| targets.get(scan.target_id).is_none())
                };
                if new.items().iter().any(is_new_target) {
                    self.schedule(ListKind::Targets).is_requested = true;
                }
            }
        }
        if self.counts.has_more(new.len()) {
            self.schedule(ListKind::Scans).is_requested = true;
        }
    }

    /// A deleted logger no longer fails.
    fn compare_loggers(&mut self, new: &Table<Logger>) {
        self.on_demand.learn_loggers(new);
        let is_listed =
            |slot| !matches!(slot, FetchSlot::Captures(logger) if new.get(logger).is_none());
        self.backoff.retain(is_listed);
        if self
            .failed_captures
            .keys()
            .any(|logger| new.get(*logger).is_none())
        {
            self.report_captures();
        }
    }

    fn compare_findings(&mut self, new: &Table<ListedFinding>) {
        if self.table::<ListedFinding>().is_none()
            && new
                .items()
                .iter()
                .any(|finding| finding.task_id().is_none())
        {
            self.moved.request_ended();
        }
    }

    /// A failed request is repeated until it succeeds: after the pause of its resource, or after
    /// that of the connection.
    fn fail(
        &mut self,
        slot: FetchSlot,
        request: InFlight,
        error: &Error,
        now: Instant,
        wall: Timestamp,
    ) {
        let InFlight { sent, fetch, .. } = request;
        let problem = Problem::from(error);
        if error.kind == ErrorKind::TooLarge && self.reads_smaller_parts(&fetch, &problem, wall) {
            return;
        }
        if failure_scope_in(slot, error) != FailureScope::One {
            self.put_back(slot, &fetch);
            let problem = Arc::new(problem);
            let first = !self.link.is_failing();
            let link = self.link.fail(error, Arc::clone(&problem), sent, now, wall);
            self.report_link(link);
            if first {
                self.report_all_stale(&problem);
            }
            return;
        }
        // Only a response proves a connection.
        if error.status.is_some() {
            let link = self.link.succeed(sent, wall);
            self.report_link(link);
        }
        // A part that the scan does not have is requested again when the scan has changed.
        let is_missing = matches!(error.kind, ErrorKind::NotAcceptable | ErrorKind::NotFound);
        if let (FetchSlot::Part, Fetch::Part { scan, part }, true) = (slot, &fetch, is_missing) {
            return self
                .outbox
                .push(PollEvent::PartFailed(*scan, *part, Arc::new(problem)));
        }
        let pause = self.backoff.fail(slot, requested_pause(error, wall), now);
        let problem = Problem {
            retry_at: Some(Stamp(wall + pause)),
            ..problem
        };
        self.put_back(slot, &fetch);
        match (slot, &fetch) {
            (FetchSlot::List(list), _) => {
                self.schedule(list).is_failed = true;
                self.report_failed(list, Arc::new(problem));
            }
            (FetchSlot::Captures(logger), _) => {
                if error.kind == ErrorKind::NotFound {
                    // The logger may have been deleted.
                    self.schedule(ListKind::Loggers).is_requested = true;
                }
                self.failed_captures.insert(logger, problem);
                self.report_captures();
            }
            (FetchSlot::Part, Fetch::Part { scan, part }) => {
                self.outbox
                    .push(PollEvent::PartFailed(*scan, *part, Arc::new(problem)));
            }
            (FetchSlot::Part, _) => {}
            (FetchSlot::Nodes, _) => self.outbox.push(PollEvent::NodesFailed(Arc::new(problem))),
        }
    }

    /// Reports what is shown and due for so long that it is no longer live: the call budget or
    /// other requests delay it.
    pub fn report_overdue(&mut self, now: Instant, wall: Timestamp) {
        self.note_due(now);
        let overdue = self
            .due_since
            .iter()
            .filter(|(_, since)| **since + TOLERATED <= now)
            .map(|(slot, _)| *slot);
        let overdue: Vec<FetchSlot> = overdue.collect();
        let is_busy = self.in_flight.len() >= AT_ONCE;
        let mut has_captures = false;
        for slot in overdue {
            let wait = self.call_budget.next().saturating_duration_since(now);
            let why = if is_busy {
                "waiting for other responses"
            } else {
                "waiting for the rate limit"
            };
            let problem = Problem {
                retry_at: Some(Stamp(wall + wait)),
                ..Problem::local(why)
            };
            match slot {
                FetchSlot::Captures(logger) => {
                    has_captures |= self.failed_captures.insert(logger, problem).is_none();
                }
                FetchSlot::List(list) if !self.schedule(list).is_failed => {
                    self.schedule(list).is_failed = true;
                    self.report_failed(list, Arc::new(problem));
                }
                FetchSlot::List(_) | FetchSlot::Part | FetchSlot::Nodes => {}
            }
        }
        if has_captures {
            self.report_captures();
        }
    }

    /// Reports the loggers whose captures cannot be read.
    fn report_captures(&mut self) {
        let (backoff, due_since) = (&self.backoff, &self.due_since);
        let is_stale = |slot| backoff.is_failing(slot) || due_since.contains_key(&slot);
        self.failed_captures
            .retain(|logger, _| is_stale(FetchSlot::Captures(*logger)));
        let label = |id: LoggerId| {
            let logger = self.table::<Logger>().and_then(|loggers| loggers.get(id));
            logger.map_or_else(|| format!("logger {id}"), |logger| logger.label.to_string())
        };
        let problem = self
            .failed_captures
            .iter()
            .min_by_key(|(_, problem)| problem.retry_at)
            .map(|(id, problem)| {
                let more = match self.failed_captures.len() {
                    1 => String::new(),
                    failing => format!(" and {} more", failing - 1),
                };
                let brief = format!("{}{more}: {}", label(*id), problem.brief()).into();
                Arc::new(Problem {
                    brief,
                    ..problem.clone()
                })
            });
        self.outbox.push(PollEvent::CapturesFailed(problem));
    }

    /// Makes a request due again.
    pub(crate) fn put_back(&mut self, slot: FetchSlot, fetch: &Fetch) {
        match (slot, fetch) {
            (_, Fetch::FindingsOf { scans, removed, .. }) => {
                self.moved
                    .put_back(scans.iter().map(|(id, _)| *id), removed.clone());
            }
            (_, Fetch::ActiveScans { .. }) => self.schedule(ListKind::Scans).last = None,
            (FetchSlot::List(list), _) => self.schedule(list).is_requested = true,
            (FetchSlot::Captures(logger), _) => self.on_demand.request_captures(logger),
            (FetchSlot::Part, _) => self.on_demand.request_part(),
            (FetchSlot::Nodes, _) => self.on_demand.request_nodes(),
        }
    }

    /// Findings whose answer was too large are read in smaller parts. Whether that is the answer to
    /// the failure.
    fn reads_smaller_parts(&mut self, fetch: &Fetch, problem: &Problem, wall: Timestamp) -> bool {
        match fetch {
            Fetch::List {
                list: ListKind::Findings,
                cached,
                ..
            } => {
                self.read_findings_by_scan();
                self.moved.request_loaded();
                if !self.moved.is_waiting() {
                    // No scan has findings to be read, so the list itself is requested again.
                    self.moved.by_scan = None;
                    if cached.is_none() {
                        self.cached.remove(&ListKind::Findings);
                    }
                    return false;
                }
                if cached.as_ref().is_some_and(|rows| !rows.is_empty()) {
                    let problem = Problem {
                        retry_at: Some(Stamp(wall)),
                        ..problem.clone()
                    };
                    self.moved.note_refused(Arc::new(problem));
                    self.report_refusal();
                }
                true
            }
            Fetch::FindingsOf { scans, removed, .. } if self.moved.is_by_scan() => {
                let has_parts = self.moved.note_too_large(scans);
                if has_parts {
                    self.moved
                        .put_back(scans.iter().map(|(id, _)| *id), removed.clone());
                }
                has_parts
            }
            _ => false,
        }
    }

    /// The rows of a list that was refused are stale until the findings of all their scans were
    /// read again.
    fn report_refusal(&mut self) {
        if let Some(problem) = self.moved.refusal() {
            self.schedule(ListKind::Findings).is_failed = true;
            self.report_failed(ListKind::Findings, problem);
        }
    }

    fn report_all_stale(&mut self, problem: &Arc<Problem>) {
        let lists: &[ListKind] = if self.plan.workspace.is_some() {
            &ORDER
        } else {
            &[ListKind::Workspaces]
        };
        for list in lists {
            let schedule = self.schedule(*list);
            (schedule.is_failed, schedule.is_requested) = (true, true);
            self.report_failed(*list, Arc::clone(problem));
        }
        if self.plan.nodes {
            self.outbox
                .push(PollEvent::NodesFailed(Arc::clone(problem)));
        }
    }

    /// Reports that a list could not be read, and when it was last read unchanged: from then on its
    /// rows are stale.
    fn report_failed(&mut self, list: ListKind, problem: Arc<Problem>) {
        if let Some(at) = self.schedule(list).confirmed.take() {
            self.outbox.push(PollEvent::Confirmed(list, at));
        }
        self.outbox.push(PollEvent::Failed(list, problem));
    }
}

/// Pause after a request that the user cancelled; a refresh ends it.
const AFTER_CANCEL: Duration = Duration::from_secs(60);

/// The pause that the service or the user requests.
fn requested_pause(error: &Error, wall: Timestamp) -> Duration {
    match error.kind {
        ErrorKind::RateLimited { retry_after } => retry_after.unwrap_or_default(),
        ErrorKind::BudgetSpent { until } => {
            Duration::try_from(until.duration_since(wall)).unwrap_or_default()
        }
        ErrorKind::Cancelled => AFTER_CANCEL,
        _ => Duration::ZERO,
    }
}

/// The scope of the failure of a request. The hosted service has a separate budget for the outputs
/// of scans (`hosted-service.md`, Rate limits), so a failure of a part never stops the lists.
fn failure_scope_in(slot: FetchSlot, error: &Error) -> FailureScope {
    match (slot, &error.kind) {
        (FetchSlot::Part, ErrorKind::RateLimited { .. } | ErrorKind::BudgetSpent { .. }) => {
            FailureScope::One
        }
        _ => failure_scope(error),
    }
}

/// The budget as the service announced it.
pub(crate) fn announced_budget(budget: client::RateBudget, wall: Timestamp) -> Option<PollBudget> {
    budget
        .limit
        .zip(budget.remaining)
        .map(|(limit, remaining)| PollBudget {
            limit,
            remaining,
            reset: budget
                .reset
                .and_then(|at| Duration::try_from(at.duration_since(wall)).ok()),
        })
}

/// A budget in steps of 5%: not every call has to reach the screen.
fn coarse(budget: Option<PollBudget>) -> Option<(u32, u64)> {
    budget.map(|budget| {
        (
            budget.limit,
            u64::from(budget.remaining) * 20 / u64::from(budget.limit.max(1)),
        )
    })
}
