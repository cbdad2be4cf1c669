//! The schedule without a service and without waiting: each test takes the due requests and answers
//! them.
//!
//! `rhythm` tests the order and the intervals of requests, `failures` a failing service, `by_scan`
//! a large one.

mod by_scan;
mod failures;
mod rhythm;

use crate::base::plan::Snapshot;
use crate::base::{Link, ListKind, PartData, PollEvent, PollPlan, ScanPart};
use crate::poller::{Fetch, FetchSlot, Fetched, ORDER, Scheduler};
use jiff::Timestamp;
use scandeck_client::{Error, ErrorKind, RateBudget};
use scandeck_domain::table::Table;
use scandeck_wire::contract::node::NodeList;
use scandeck_wire::contract::{
    Capture, CaptureId, Finding, Logger, LoggerId, ResultSummary, Scan, ScanId, ScanStatus,
    TargetId, Unreadable, Workspace, WorkspaceId,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A scheduler whose requests are answered by the test.
struct Hand {
    scheduler: Scheduler,
    now: Instant,
    scans: Vec<Scan>,
    loggers: Vec<Logger>,
    workspaces: Vec<Workspace>,
    /// Number of polls of all scans.
    whole: usize,
    /// Number of polls of active scans that included the waiting ones.
    with_waiting: usize,
    refusing: Option<(FetchSlot, ErrorKind)>,
    failing: Option<(FetchSlot, Error)>,
    silent: bool,
    fetched: Vec<FetchSlot>,
}

impl Hand {
    fn new(here: bool) -> Self {
        let now = Instant::now();
        let mut hand = Self {
            scheduler: Scheduler::new(here, now),
            now,
            scans: Vec::new(),
            loggers: Vec::new(),
            workspaces: Vec::new(),
            whole: 0,
            with_waiting: 0,
            refusing: None,
            failing: None,
            silent: false,
            fetched: Vec::new(),
        };
        hand.scheduler.set_plan(PollPlan {
            generation: 1,
            workspace: Some(WorkspaceId(1)),
            ..PollPlan::default()
        });
        hand
    }

    fn answer(&self, fetch: &Fetch) -> Result<Fetched, Error> {
        if self.silent {
            return Err(Error::new(ErrorKind::Connect, "refused"));
        }
        if let Some((slot, kind)) = &self.refusing
            && fetch.slot() == *slot
        {
            return Err(Error::new(kind.clone(), "no"));
        }
        if let Some((slot, error)) = &self.failing
            && fetch.slot() == *slot
        {
            return Err(error.clone());
        }
        let list = match fetch {
            Fetch::List {
                list: ListKind::Workspaces,
                cached,
                ..
            } => match cached {
                Some(Snapshot::Workspaces(cached))
                    if cached.items().iter().map(|one| &**one).eq(&self.workspaces) =>
                {
                    Snapshot::Workspaces(Arc::clone(cached))
                }
                _ => Snapshot::Workspaces(Arc::new(Table::new(self.workspaces.clone()))),
            },
            Fetch::List {
                list: ListKind::Scans,
                ..
            } => Snapshot::Scans(Arc::new(Table::new(self.scans.clone()))),
            Fetch::ActiveScans {
                cached,
                with_waiting,
                ..
            } => {
                let is_active = |scan: &Scan| match scan.status_name {
                    ScanStatus::Waiting => *with_waiting,
                    _ => scan.is_active(),
                };
                let is_listed = |scan: &&Scan| is_active(scan) || cached.get(scan.id).is_some();
                Snapshot::Scans(Arc::new(Table::new(
                    self.scans.iter().filter(is_listed).cloned(),
                )))
            }
            Fetch::FindingsOf { cached, .. } => Snapshot::Findings(Arc::clone(cached)),
            Fetch::List {
                list: ListKind::Loggers,
                ..
            } => Snapshot::Loggers(Arc::new(Table::new(self.loggers.clone()))),
            Fetch::List {
                cached: Some(cached),
                ..
            } => cached.clone(),
            Fetch::List {
                list: ListKind::Targets,
                ..
            } => Snapshot::Targets(Arc::default()),
            Fetch::List {
                list: ListKind::Findings,
                ..
            } => Snapshot::Findings(Arc::default()),
            Fetch::List {
                list: ListKind::Reports,
                ..
            } => Snapshot::Reports(Arc::default()),
            Fetch::List {
                list: ListKind::Wordlists,
                ..
            } => Snapshot::Wordlists(Arc::default()),
            Fetch::List {
                list: ListKind::Schedules,
                ..
            } => Snapshot::Schedules(Arc::default()),
            Fetch::List {
                list: ListKind::Captures,
                ..
            } => panic!("captures are read logger by logger"),
            Fetch::Captures { logger, since } => {
                let from = since.map_or(1, |since| since.0 + 1);
                let capture = |id| Capture {
                    id: CaptureId(id),
                    ..Capture::default()
                };
                return Ok(Fetched::Captures(
                    *logger,
                    (from..from + 2).map(capture).collect(),
                ));
            }
            Fetch::Part { scan, .. } => {
                return Ok(Fetched::Part(*scan, PartData::Tests(Arc::default())));
            }
            Fetch::Nodes => return Ok(Fetched::Nodes(NodeList::default())),
        };
        Ok(Fetched::List(list))
    }

    /// Answers all due requests, until none is due.
    fn settle(&mut self) -> Vec<FetchSlot> {
        let from = self.fetched.len();
        loop {
            let fetches = self.scheduler.due(self.now);
            self.scheduler
                .report_overdue(self.now, Timestamp::UNIX_EPOCH);
            if fetches.is_empty() {
                return self.fetched[from..].to_vec();
            }
            for fetch in fetches {
                let answer = self.answer(&fetch);
                self.fetched.push(fetch.slot());
                self.whole += usize::from(matches!(
                    fetch,
                    Fetch::List {
                        list: ListKind::Scans,
                        ..
                    }
                ));
                self.with_waiting += usize::from(matches!(
                    fetch,
                    Fetch::ActiveScans {
                        with_waiting: true,
                        ..
                    }
                ));
                self.scheduler
                    .absorb(fetch.slot(), answer, self.now, Timestamp::UNIX_EPOCH);
            }
        }
    }

    /// Advances the time from one due request to the next. Returns the requested slots.
    fn pass(&mut self, time: Duration) -> Vec<FetchSlot> {
        let (from, end) = (self.fetched.len(), self.now + time);
        self.settle();
        let mut wakes = 0;
        while let Some(next) = self.scheduler.next(self.now).filter(|next| *next <= end) {
            assert!(next > self.now, "the poller would spin");
            wakes += 1;
            assert!(wakes < 20_000, "too many wake-ups");
            self.now = next;
            self.settle();
        }
        self.now = end;
        self.fetched[from..].to_vec()
    }

    fn events(&mut self) -> Vec<PollEvent> {
        std::iter::from_fn(|| self.scheduler.outbox.pop()).collect()
    }
}

fn scan(id: i64, status: ScanStatus, high: i64) -> Scan {
    let summary = ResultSummary {
        critical: Some(0),
        high: Some(high),
        medium: Some(0),
        low: Some(0),
        info: Some(0),
        ..ResultSummary::default()
    };
    Scan {
        id: ScanId(id),
        target_id: TargetId(1),
        status_name: status,
        result_summary: summary,
        ..Scan::default()
    }
}

fn count(fetched: &[FetchSlot], slot: FetchSlot) -> usize {
    fetched.iter().filter(|fetched| **fetched == slot).count()
}

const SCANS: FetchSlot = FetchSlot::List(ListKind::Scans);
const FINDINGS: FetchSlot = FetchSlot::List(ListKind::Findings);
const LOGGERS: FetchSlot = FetchSlot::List(ListKind::Loggers);
