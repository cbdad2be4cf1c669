//! The state and the schedule of the poller, without I/O: the requests that are due, and the effect
//! of responses.
//!
//! ```text
//!   set_plan ─┐
//!   due(now) ─┴─► fetches ─► (service) ─► absorb(answer, now) ─► outbox ─► screen
//!      ▲                                      │
//!      └────────────── next(now) ◄────────────┘
//! ```
//!
//! The call budget can be smaller than the sum of what is due. Then the request is sent whose
//! resource is the most late, measured in its own intervals. A resource that waits becomes later
//! until it is first, and a resource that was read starts from zero, so none starves: all intervals
//! grow by the same factor. Lists that were never read precede the others, those on the screen
//! first. The captures of all loggers share one interval and take turns, so further loggers never
//! delay a list.
//!
//! The time is an argument, so tests can drive hours of polling in a microsecond.

use crate::base::plan::Snapshot;
use crate::base::{Generation, ListItem, ListKind, PollBudget, PollEvent, PollPlan, ScanPart};
use crate::poller::changed_scans::gap_with_rows;
use crate::poller::{
    Backoff, Beat, CallBudget, ChangedScans, Demand, Fetch, FetchSlot, LinkState, OnDemand, Outbox,
    PollPace, ScanCounts,
};
use jiff::Timestamp;
use scandeck_client::{EntityTags, Problem};
use scandeck_domain::table::Table;
use scandeck_domain::triage::{ListedFinding, ReadTimes};
use scandeck_wire::contract::{
    CaptureId, Logger, LoggerId, MissingScanner, Report, ReportStatus, Scan, ScanId, ScanStatus,
    Stamp, Unreadable,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Most requests in flight.
pub(super) const AT_ONCE: usize = 6;
/// Most requests for captures in flight: loggers that hang must not delay the lists.
const CAPTURES_AT_ONCE: usize = 3;
/// A refresh replaces requests that have waited longer.
const HANGING_READ: Duration = Duration::from_secs(2);
/// Lists on the screen that wait longer for a response are reported.
pub(super) const UNANSWERED: Duration = Duration::from_secs(3);
/// What is shown counts as live until it is due for so long.
pub(super) const TOLERATED: Duration = Duration::from_secs(10);
/// Waiting scans are polled this often as long as none is known.
const WAITING: Duration = Duration::from_secs(5);
/// A list that was requested counts as late after this time.
const REQUESTED: Duration = Duration::from_secs(3);
/// Scans whose findings are fetched by one request.
const SCANS_A_FETCH: usize = 4;
/// The lists in the order of their requests when several are due.
pub(crate) const ORDER: [ListKind; ListKind::REQUESTED.len()] = ListKind::REQUESTED;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ListSchedule {
    pub last: Option<Instant>,
    /// Requested explicitly, so that the next response must be newer.
    pub is_requested: bool,
    /// The last response was empty although the list was not; the next one decides.
    pub is_doubted: bool,
    /// When an equal response arrived that was not reported.
    pub confirmed: Option<Stamp>,
    /// Whether the list was reported as failed; then the next response is reported even if nothing
    /// changed.
    pub is_failed: bool,
}

/// How late the reading of a resource is.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Lateness {
    /// In intervals of the resource since the last request.
    Intervals(f64),
    NeverRead,
    NeverReadShown,
}

impl Lateness {
    fn of(last: Instant, interval: Duration, now: Instant) -> Self {
        Self::Intervals(now.saturating_duration_since(last).as_secs_f64() / interval.as_secs_f64())
    }
}

/// A request in flight.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub sent: Instant,
    pub fetch: Fetch,
    /// Bytes of the response that arrived so far.
    pub received: u64,
    /// Items of the response that could not be decoded.
    pub unreadable: Unreadable,
}

#[derive(Debug)]
pub(crate) struct Scheduler {
    pub here: bool,
    /// When lists are polled.
    pub beat: Beat,
    pub plan: PollPlan,
    pub link: LinkState,
    pub pace: PollPace,
    pub call_budget: CallBudget,
    pub backoff: Backoff,
    pub budget: Option<PollBudget>,
    pub scarce: bool,
    pub offset: Option<i64>,
    pub missing_scanners: Arc<[MissingScanner]>,
    pub schedules: BTreeMap<ListKind, ListSchedule>,
    pub scans_read_whole: Option<Instant>,
    /// When the findings were read.
    pub findings_read: ReadTimes,
    waiting_read: Option<Instant>,
    /// The lists as last fetched.
    pub cached: BTreeMap<ListKind, Snapshot>,
    /// The tags of the last responses, with the revision of the table that was made of them.
    tags: BTreeMap<FetchSlot, (u64, Arc<EntityTags>)>,
    pub moved: ChangedScans,
    pub counts: ScanCounts,
    pub on_demand: OnDemand,
    pub in_flight: BTreeMap<FetchSlot, InFlight>,
    /// Since when each resource waits for a response. A request that a refresh replaces counts on.
    pub waiting: BTreeMap<FetchSlot, Instant>,
    /// Since when what is shown could have been requested, and was not.
    pub due_since: BTreeMap<FetchSlot, Instant>,
    /// The longest of these waits as reported.
    unanswered: Option<Instant>,
    /// Lists that the user has refreshed since [`take_hanging`](Self::take_hanging).
    refreshed: Vec<ListKind>,
    /// Loggers whose captures cannot be read, and why.
    pub failed_captures: BTreeMap<LoggerId, Problem>,
    /// Items that could not be decoded.
    pub unreadable: BTreeMap<FetchSlot, Unreadable>,
    pub outbox: Outbox,
}

impl Scheduler {
    /// A scheduler; `here` means that the service runs on this machine.
    pub fn new(here: bool, now: Instant) -> Self {
        Self {
            here,
            beat: Beat::since(now),
            plan: PollPlan::default(),
            link: LinkState::new(here),
            pace: PollPace::of(None, here),
            call_budget: CallBudget::new(here, now),
            backoff: Backoff::default(),
            budget: None,
            scarce: false,
            offset: None,
            missing_scanners: Arc::default(),
            schedules: BTreeMap::new(),
            scans_read_whole: None,
            findings_read: ReadTimes::default(),
            waiting_read: None,
            cached: BTreeMap::new(),
            tags: BTreeMap::new(),
            moved: ChangedScans::default(),
            counts: ScanCounts::default(),
            on_demand: OnDemand::default(),
            in_flight: BTreeMap::new(),
            waiting: BTreeMap::new(),
            due_since: BTreeMap::new(),
            unanswered: None,
            refreshed: Vec::new(),
            failed_captures: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            outbox: Outbox::default(),
        }
    }

    pub fn generation(&self) -> Generation {
        self.plan.generation
    }

    /// Sets a new plan. Returns true when all requests in flight belong to another workspace and
    /// must be dropped.
    pub fn set_plan(&mut self, plan: PollPlan) -> bool {
        let old = std::mem::replace(&mut self.plan, plan);
        let elsewhere =
            old.generation != self.plan.generation || old.workspace != self.plan.workspace;
        if elsewhere {
            self.forget();
        }
        let raised: Vec<ListKind> = self
            .plan
            .refreshes
            .iter()
            .filter(|(list, count)| old.refreshes.get(list) != Some(*count))
            .map(|(list, _)| *list)
            .collect();
        for list in &raised {
            self.request(*list);
        }
        if !raised.is_empty() {
            self.link.try_now();
        }
        self.backoff
            .try_now(|slot| raised.iter().any(|list| slot.is_read_with(*list)));
        self.refreshed.extend(raised);
        if self.on_demand.set_part(self.plan.scan_part) {
            self.backoff.succeed(FetchSlot::Part);
        }
        if self.on_demand.show_nodes(self.plan.nodes) {
            self.backoff.succeed(FetchSlot::Nodes);
        }
        self.on_demand.set_archived(&self.plan.archived);
        self.moved.want(&self.plan.wanted_scans);
        elsewhere
    }

    /// Removes requests for refreshed lists that hang, so that new ones can be sent. Their
    /// responses are dropped.
    pub fn take_hanging(&mut self, now: Instant) -> Vec<FetchSlot> {
        let refreshed = std::mem::take(&mut self.refreshed);
        let hangs = |(slot, request): (&FetchSlot, &InFlight)| {
            let is_refreshed = refreshed.iter().any(|list| slot.is_read_with(*list));
            (is_refreshed && now.saturating_duration_since(request.sent) > HANGING_READ)
                .then_some(*slot)
        };
        let hanging: Vec<FetchSlot> = self.in_flight.iter().filter_map(hangs).collect();
        for slot in &hanging {
            if let Some(request) = self.in_flight.remove(slot) {
                self.put_back(*slot, &request.fetch);
            }
        }
        hanging
    }

    fn forget(&mut self) {
        self.in_flight.clear();
        self.waiting.clear();
        self.due_since.clear();
        self.unanswered = None;
        self.backoff = Backoff::default();
        self.failed_captures.clear();
        self.unreadable.clear();
        self.outbox.clear();
        self.schedules
            .retain(|list, _| *list == ListKind::Workspaces);
        self.scans_read_whole = None;
        self.findings_read = ReadTimes::default();
        self.cached.retain(|list, _| *list == ListKind::Workspaces);
        self.tags.clear();
        self.moved = ChangedScans::default();
        self.counts = ScanCounts::default();
        self.on_demand = OnDemand::default();
        // A new generation has no data, so the list of workspaces is reported again too.
        let workspaces = self.schedule(ListKind::Workspaces);
        (workspaces.is_failed, workspaces.is_requested) = (true, true);
    }

    fn request(&mut self, list: ListKind) {
        self.schedule(list).is_requested = true;
        match list {
            ListKind::Captures => {
                self.on_demand.request_all_captures();
                self.schedule(ListKind::Loggers).is_requested = true;
            }
            ListKind::Scans => self.on_demand.request_part(),
            ListKind::Workspaces => self.on_demand.request_nodes(),
            _ => {}
        }
    }

    pub fn schedule(&mut self, list: ListKind) -> &mut ListSchedule {
        self.schedules.entry(list).or_default()
    }

    pub(super) fn is_requested(&self, list: ListKind) -> bool {
        self.schedules
            .get(&list)
            .is_some_and(|schedule| schedule.is_requested)
    }

    /// A list as last fetched.
    pub fn table<T: ListItem>(&self) -> Option<&Arc<Table<T>>> {
        self.cached.get(&T::LIST).and_then(T::table_in)
    }

    /// The requests to send now; their calls are already paid.
    pub fn due(&mut self, now: Instant) -> Vec<Fetch> {
        let mut fetches = Vec::new();
        if !self.link.is_open(now) {
            return fetches;
        }
        // While the connection fails, one request at a time tests it.
        let most = if self.link.is_failing() { 1 } else { AT_ONCE };
        while self.in_flight.len() < most {
            let Some(fetch) = self.next_fetch(now) else {
                break;
            };
            if !self.call_budget.spend(fetch.calls(), now) {
                if let Fetch::FindingsOf { scans, removed, .. } = fetch {
                    self.moved
                        .untake(scans.into_iter().map(|(id, _)| id), removed);
                }
                break;
            }
            self.note_sent(&fetch, now);
            self.waiting.entry(fetch.slot()).or_insert(now);
            self.in_flight.insert(
                fetch.slot(),
                InFlight {
                    sent: now,
                    fetch: fetch.clone(),
                    received: 0,
                    unreadable: Unreadable::default(),
                },
            );
            fetches.push(fetch);
        }
        fetches
    }

    fn note_sent(&mut self, fetch: &Fetch, now: Instant) {
        match fetch {
            Fetch::Captures { logger, .. } => self.on_demand.captures_sent(*logger, now),
            Fetch::Part { .. } => self.on_demand.part_sent(now),
            Fetch::Nodes => self.on_demand.nodes_sent(self.beat.before(now)),
            Fetch::FindingsOf { .. } => self.note_list_sent(ListKind::Findings, now),
            Fetch::ActiveScans { with_waiting, .. } => {
                if *with_waiting {
                    self.waiting_read = Some(self.beat.before(now));
                }
                self.note_list_sent(ListKind::Scans, now);
            }
            Fetch::List { list, .. } => {
                if *list == ListKind::Scans {
                    let read = Some(self.beat.before(now));
                    (self.scans_read_whole, self.waiting_read) = (read, read);
                    self.counts.read_all();
                }
                self.note_list_sent(*list, now);
            }
        }
    }

    fn note_list_sent(&mut self, list: ListKind, now: Instant) {
        let last = Some(self.beat.before(now));
        let schedule = self.schedule(list);
        schedule.last = last;
        if std::mem::take(&mut schedule.is_requested) {
            // The user refreshed the list, or the poller must confirm an empty response.
            self.tags.remove(&FetchSlot::List(list));
        }
    }

    /// The tags of the responses from which the known list of a request was made, if there are any.
    pub fn tags_for(&self, fetch: &Fetch) -> Option<Arc<EntityTags>> {
        let known = match fetch {
            Fetch::List { cached, .. } => cached.as_ref()?.revision(),
            Fetch::ActiveScans { cached, .. } => cached.revision(),
            Fetch::FindingsOf { .. }
            | Fetch::Captures { .. }
            | Fetch::Part { .. }
            | Fetch::Nodes => return None,
        };
        let (revision, tags) = self.tags.get(&fetch.slot())?;
        (*revision == known).then(|| Arc::clone(tags))
    }

    /// Takes the tags of a response whose list was taken. A list with unreadable items is read
    /// whole each time, so that they are reported.
    pub fn learn_tags(&mut self, slot: FetchSlot, tags: EntityTags) {
        let FetchSlot::List(list) = slot else { return };
        self.tags.remove(&slot);
        if let Some(snapshot) = self
            .cached
            .get(&list)
            .filter(|_| !tags.is_empty() && !self.unreadable.contains_key(&slot))
        {
            self.tags
                .insert(slot, (snapshot.revision(), Arc::new(tags)));
        }
    }

    fn next_fetch(&mut self, now: Instant) -> Option<Fetch> {
        if self.plan.workspace.is_none() {
            let is_due = self.is_list_due(ListKind::Workspaces, now);
            return is_due.then(|| self.list_fetch(ListKind::Workspaces, now));
        }
        let part = self
            .part_if_due(now)
            .map(|part| (self.part_lateness(now), part));
        let captures = self
            .next_captures(now)
            .map(|captures| (self.captures_lateness(now), captures));
        let nodes = self
            .nodes_due(now)
            .filter(|at| *at <= now)
            .map(|_| self.nodes_lateness(now));
        let due = ORDER
            .into_iter()
            .filter(|list| self.is_list_due(*list, now));
        let lists = due.map(|list| (self.list_lateness(list, now), list));
        // The first of equal ones is sent.
        let list = lists.reduce(|first, other| if other.0 > first.0 { other } else { first });
        let most = [
            part.map(|due| due.0),
            captures.map(|due| due.0),
            nodes,
            list.map(|due| due.0),
        ]
        .into_iter()
        .flatten();
        let most = most.reduce(|first, other| if other > first { other } else { first })?;
        if let Some((_, (scan, part))) = part.filter(|due| due.0 >= most) {
            return Some(Fetch::Part { scan, part });
        }
        if let Some((_, (logger, since))) = captures.filter(|due| due.0 >= most) {
            return Some(Fetch::Captures { logger, since });
        }
        if nodes.is_some_and(|lateness| lateness >= most) {
            return Some(Fetch::Nodes);
        }
        list.map(|(_, list)| self.list_fetch(list, now))
    }

    fn list_lateness(&self, list: ListKind, now: Instant) -> Lateness {
        let schedule = self.schedules.get(&list).copied().unwrap_or_default();
        // Findings are read after the scans, and the header counts the scans.
        let is_shown = list == ListKind::Scans || self.plan.visible.contains(&list);
        let Some(last) = schedule.last else {
            return if is_shown {
                Lateness::NeverReadShown
            } else {
                Lateness::NeverRead
            };
        };
        let demand = self.demand(list);
        let interval = match list {
            ListKind::Findings => self.pace.scan_detail(demand),
            _ => self.pace.interval(list, demand),
        };
        Lateness::of(
            last,
            if schedule.is_requested {
                interval.min(REQUESTED)
            } else {
                interval
            },
            now,
        )
    }

    /// The captures of all loggers have the interval of the loggers together.
    fn captures_lateness(&self, now: Instant) -> Lateness {
        let interval = self
            .pace
            .interval(ListKind::Loggers, self.demand(ListKind::Loggers));
        self.on_demand
            .captures_read()
            .map_or(Lateness::NeverRead, |last| {
                Lateness::of(last, interval, now)
            })
    }

    fn part_lateness(&self, now: Instant) -> Lateness {
        let interval = self.pace.scan_detail(self.demand(ListKind::Scans));
        self.on_demand
            .part_read()
            .map_or(Lateness::NeverReadShown, |last| {
                Lateness::of(last, interval, now)
            })
    }

    fn nodes_lateness(&self, now: Instant) -> Lateness {
        self.on_demand
            .nodes_read()
            .map_or(Lateness::NeverReadShown, |last| {
                Lateness::of(last, self.nodes_gap(), now)
            })
    }

    fn nodes_gap(&self) -> Duration {
        self.pace.nodes(Demand {
            scarce: self.scarce,
            ..Demand::default()
        })
    }

    /// The time at which the nodes are due, if they are shown and not in flight.
    fn nodes_due(&self, now: Instant) -> Option<Instant> {
        let due = self.on_demand.nodes_due(now, self.nodes_gap());
        let due = due.filter(|_| self.is_free(FetchSlot::Nodes))?;
        let opens = self.backoff.opens_at(FetchSlot::Nodes);
        Some(opens.map_or(due, |at| at.max(due)))
    }

    /// The visible part of a scan, if it is due.
    fn part_if_due(&self, now: Instant) -> Option<(ScanId, ScanPart)> {
        let gap = self.pace.scan_detail(self.demand(ListKind::Scans));
        let is_due =
            self.is_free(FetchSlot::Part) && self.part_due(now, gap).is_some_and(|at| at <= now);
        self.plan.scan_part.filter(|_| is_due)
    }

    pub fn is_free(&self, slot: FetchSlot) -> bool {
        !self.in_flight.contains_key(&slot)
    }

    fn is_list_due(&self, list: ListKind, now: Instant) -> bool {
        self.is_free(FetchSlot::List(list)) && self.due_at(list, now) <= now
    }

    /// A logger whose captures are due.
    fn next_captures(&self, now: Instant) -> Option<(LoggerId, Option<CaptureId>)> {
        self.accepts_captures().then_some(())?;
        let is_held = |logger| {
            let slot = FetchSlot::Captures(logger);
            !self.is_free(slot) || !self.backoff.is_open(slot, now)
        };
        let shown = self.plan.captures.flatten();
        self.on_demand.captures(shown, is_held)
    }

    /// Whether further captures can be requested.
    fn accepts_captures(&self) -> bool {
        let in_flight = self
            .in_flight
            .keys()
            .filter(|slot| matches!(slot, FetchSlot::Captures(_)))
            .count();
        in_flight < CAPTURES_AT_ONCE && !self.outbox.is_full()
    }

    /// The time at which captures are due; `now` for at once.
    fn captures_due(&self, now: Instant) -> Option<Instant> {
        self.accepts_captures().then_some(())?;
        let slots = self
            .on_demand
            .due_loggers()
            .map(FetchSlot::Captures)
            .filter(|slot| self.is_free(*slot));
        slots
            .map(|slot| self.backoff.opens_at(slot).map_or(now, |at| at.max(now)))
            .min()
    }

    /// The time at which the visible part of a scan is due.
    fn part_due(&self, now: Instant, gap: Duration) -> Option<Instant> {
        let due = self.on_demand.part_due(now, gap)?;
        Some(
            self.backoff
                .opens_at(FetchSlot::Part)
                .map_or(due, |at| at.max(due)),
        )
    }

    fn list_fetch(&mut self, list: ListKind, now: Instant) -> Fetch {
        let workspace = self.plan.workspace;
        if list == ListKind::Scans
            && !self.scans_due_whole(now)
            && let Some(cached) = self.table().cloned()
        {
            let waits = cached
                .items()
                .iter()
                .any(|scan: &Arc<Scan>| scan.status_name == ScanStatus::Waiting);
            let with_waiting = waits || self.waiting_read.is_none_or(|last| last + WAITING <= now);
            return Fetch::ActiveScans {
                workspace,
                cached,
                with_waiting,
            };
        }
        if list == ListKind::Findings {
            if self.moved.end_by_scan() {
                self.schedule(list).is_requested = true;
            } else if !self.moved.is_by_scan() && self.moved.is_over_limit() {
                self.read_findings_by_scan();
            }
            if self.moved.is_by_scan() {
                if self.is_requested(list) {
                    self.moved.request_loaded();
                }
                let cached: Arc<Table<ListedFinding>> = self.table().cloned().unwrap_or_default();
                let (gap, most) = (self.findings_gap(), self.call_budget.at_once());
                let (scans, removed) = self.moved.take_part(now, gap, most, cached.len());
                return Fetch::FindingsOf {
                    scans,
                    removed,
                    cached,
                };
            }
            if !self.is_requested(list)
                && let Some(cached) = self.table().cloned()
            {
                let (scans, removed) = self.moved.take(now, self.findings_gap(), SCANS_A_FETCH);
                return Fetch::FindingsOf {
                    scans,
                    removed,
                    cached,
                };
            }
            self.moved.forget_waiting();
        }
        Fetch::List {
            list,
            workspace,
            cached: self.cached.get(&list).cloned(),
        }
    }

    /// All findings are too many for one answer.
    pub(super) fn read_findings_by_scan(&mut self) {
        let known: Arc<Table<ListedFinding>> = self.table().cloned().unwrap_or_default();
        self.moved.read_by_scan(Some(&known));
        self.cached
            .insert(ListKind::Findings, Snapshot::Findings(known));
    }

    fn scans_due_whole(&self, now: Instant) -> bool {
        let rest = self.pace.interval(
            ListKind::Targets,
            Demand {
                scarce: self.scarce,
                ..Demand::default()
            },
        );
        self.is_requested(ListKind::Scans)
            || self.scans_read_whole.is_none_or(|last| last + rest <= now)
    }

    /// The time at which a list is due; `now` for at once.
    fn due_at(&self, list: ListKind, now: Instant) -> Instant {
        let schedule = self.schedules.get(&list).copied().unwrap_or_default();
        let demand = self.demand(list);
        let due = match (list, schedule.last) {
            _ if schedule.is_requested => now,
            // Findings are fetched after the scans, so that later changes of scans are noticed.
            (ListKind::Findings, None) if !self.moved.is_primed() => return far(now),
            (_, None) => now,
            (ListKind::Findings, Some(_)) if self.table::<ListedFinding>().is_some() => self
                .moved
                .next(now, self.findings_gap())
                .unwrap_or(far(now)),
            (_, Some(last)) => last + self.pace.interval(list, demand),
        };
        self.backoff
            .opens_at(FetchSlot::List(list))
            .map_or(due, |opens| due.max(opens))
    }

    /// The time between two fetches of findings of running scans.
    fn findings_gap(&self) -> Duration {
        let rows = self
            .table::<ListedFinding>()
            .map_or(0, |findings| findings.len());
        gap_with_rows(self.pace.scan_detail(self.demand(ListKind::Findings)), rows)
    }

    fn demand(&self, list: ListKind) -> Demand {
        let shown = |list: ListKind| self.plan.visible.contains(&list);
        let any_active =
            |scans: &Arc<Table<Scan>>| scans.items().iter().any(|scan| scan.is_active());
        let any_waits = |reports: &Arc<Table<Report>>| {
            reports
                .items()
                .iter()
                .any(|report| report.status == ReportStatus::Waiting)
        };
        let any_logger = self
            .table::<Logger>()
            .is_none_or(|loggers| !loggers.is_empty());
        Demand {
            moving: list == ListKind::Scans && self.table().is_some_and(any_active),
            captures_shown: any_logger
                && (self.plan.captures.is_some()
                    || shown(ListKind::Captures)
                    || shown(ListKind::Loggers)),
            shown: shown(list),
            report_waits: list == ListKind::Reports && self.table().is_some_and(any_waits),
            in_workspace: self.plan.workspace.is_some(),
            scarce: self.scarce,
        }
    }

    /// Takes the number of bytes that arrived for a request. A response whose bytes still arrive is
    /// not late.
    pub fn note_received(&mut self, slot: FetchSlot, received: u64, now: Instant) {
        if let Some(request) = self.in_flight.get_mut(&slot)
            && received > std::mem::replace(&mut request.received, received)
        {
            self.waiting.insert(slot, now);
        }
    }

    /// Notes what is shown, due and not requested, and since when. The header always counts the
    /// scans.
    pub(super) fn note_due(&mut self, now: Instant) {
        let mut due: Vec<(FetchSlot, Instant)> = Vec::new();
        if self.plan.workspace.is_some() && self.link.is_open(now) && !self.link.is_failing() {
            let times = self
                .shown_lists()
                .map(|list| (FetchSlot::List(list), self.due_at(list, now)));
            due.extend(times.filter(|(_, since)| *since <= now));
            due.extend(
                self.shown_loggers(now)
                    .map(|logger| (FetchSlot::Captures(logger), now)),
            );
        }
        self.due_since
            .retain(|slot, _| due.iter().any(|(one, _)| one == slot));
        for (slot, since) in due {
            self.due_since.entry(slot).or_insert(since);
        }
    }

    /// The lists on the screen, and the scans, that are not being read.
    fn shown_lists(&self) -> impl Iterator<Item = ListKind> {
        let lists = ORDER
            .into_iter()
            .filter(|list| *list == ListKind::Scans || self.plan.visible.contains(list));
        lists.filter(|list| self.is_free(FetchSlot::List(*list)))
    }

    /// The time at which something that is shown is overdue.
    fn next_overdue(&self, now: Instant) -> Option<Instant> {
        let lists = self.shown_lists().map(|list| self.due_at(list, now));
        let times = lists
            .chain(self.due_since.values().copied())
            .map(|since| since + TOLERATED);
        times
            .filter(|at| *at > now)
            .min()
            .filter(|_| self.plan.workspace.is_some())
    }

    /// The loggers whose captures are shown and due.
    fn shown_loggers(&self, now: Instant) -> impl Iterator<Item = LoggerId> {
        let is_shown = |logger: &LoggerId| {
            self.plan
                .captures
                .is_some_and(|only| only.is_none_or(|one| one == *logger))
        };
        let can_be_sent = move |logger: &LoggerId| {
            let slot = FetchSlot::Captures(*logger);
            self.is_free(slot) && self.backoff.is_open(slot, now)
        };
        self.on_demand
            .due_loggers()
            .filter(is_shown)
            .filter(can_be_sent)
    }

    /// Reports since when the lists on the screen, or the scans in the header, wait for a response,
    /// or that they no longer do.
    pub fn report_unanswered(&mut self, now: Instant, wall: Timestamp) {
        let since = self
            .waiting_since()
            .filter(|since| *since + UNANSWERED <= now);
        if since != self.unanswered {
            self.unanswered = since;
            let began = since.map(|since| Stamp(wall - now.saturating_duration_since(since)));
            self.outbox.push(PollEvent::Unanswered(began));
        }
    }

    /// Since when the lists on the screen, or the scans, wait for one response. The header always
    /// counts the scans. The findings of several scans are as many responses.
    fn waiting_since(&self) -> Option<Instant> {
        let shown = || self.plan.visible.iter().copied().chain([ListKind::Scans]);
        let is_shown = |slot: &FetchSlot| shown().any(|list| slot.is_read_with(list));
        let is_one = |request: &InFlight| !matches!(&request.fetch, Fetch::FindingsOf { scans, .. } if scans.len() > 1);
        let waits =
            |slot: &FetchSlot| is_shown(slot) && self.in_flight.get(slot).is_some_and(is_one);
        self.waiting
            .iter()
            .filter(|(slot, _)| waits(slot))
            .map(|(_, since)| *since)
            .min()
    }

    /// The time of the next request or report, if no event comes before; `None` to wait for an
    /// event.
    pub fn next(&self, now: Instant) -> Option<Instant> {
        let unanswered = self.waiting_since().map(|since| since + UNANSWERED);
        let report = unanswered
            .filter(|at| *at > now)
            .into_iter()
            .chain(self.next_overdue(now));
        self.next_request(now).into_iter().chain(report).min()
    }

    fn next_request(&self, now: Instant) -> Option<Instant> {
        if self.link.is_failing() && !self.in_flight.is_empty() {
            return None;
        }
        let mut due: Vec<Instant> = Vec::new();
        if self.plan.workspace.is_some() {
            let free = ORDER
                .into_iter()
                .filter(|list| self.is_free(FetchSlot::List(*list)));
            due.extend(free.map(|list| self.due_at(list, now)));
            let gap = self.pace.scan_detail(self.demand(ListKind::Scans));
            due.extend(
                self.part_due(now, gap)
                    .filter(|_| self.is_free(FetchSlot::Part)),
            );
            due.extend(self.captures_due(now));
            due.extend(self.nodes_due(now));
        } else if self.is_free(FetchSlot::List(ListKind::Workspaces)) {
            due.push(self.due_at(ListKind::Workspaces, now));
        }
        let mut next = due.into_iter().min()?;
        if !self.link.is_open(now) {
            next = next.max(self.link.opens_at()?);
        }
        if self.in_flight.len() >= AT_ONCE {
            return None;
        }
        // A due request that was not sent waits for the call_budget.
        Some(if next <= now {
            self.call_budget.next().max(now + Duration::from_millis(1))
        } else {
            next
        })
    }
}

/// A time that other events precede.
fn far(now: Instant) -> Instant {
    now + Duration::from_secs(24 * 3600)
}
