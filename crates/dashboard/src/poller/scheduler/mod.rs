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

mod due;
mod waits;

use crate::base::plan::Snapshot;
use crate::base::{Generation, ListItem, ListKind, PollBudget, PollPlan};
use crate::poller::{
    Backoff, Beat, CallBudget, Fetch, FetchSlot, LinkState, MovedScans, OnDemand, Outbox, PollPace,
    ScanCounts,
};
use scandeck_client::{EntityTags, Problem};
use scandeck_domain::table::Table;
use scandeck_domain::triage::ReadTimes;
use scandeck_wire::contract::{LoggerId, MissingScanner, Stamp, Unreadable};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Most requests in flight.
pub(super) const AT_ONCE: usize = 6;
/// A refresh replaces requests that have waited longer.
const HANGING_READ: Duration = Duration::from_secs(2);
/// Lists on the screen that wait longer for a response are reported.
pub(super) const UNANSWERED: Duration = Duration::from_secs(3);
/// What is shown counts as live until it is due for so long.
pub(super) const TOLERATED: Duration = Duration::from_secs(10);
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
    pub moved: MovedScans,
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
            moved: MovedScans::default(),
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
        self.moved = MovedScans::default();
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
}
