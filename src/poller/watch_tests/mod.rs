//! The schedule, driven by hand: no service, no waiting. Each test puts the questions that are due and answers them.
//!
//! Here is the hand; what is asked and when stands in `rhythm`, what happens where the service fails in `failures`.

mod failures;
mod rhythm;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::job::{Job, Outcome, Slot};
use super::watch::Watch;
use crate::app::plan::{Link, News, Noun, PollPlan, ScanPart};
use crate::app::table::Table;
use crate::client::{Budget, Error, Kind};
use crate::contract::{
    Capture, CaptureId, Finding, Logger, LoggerId, ResultSummary, Scan, ScanId, ScanStatus, TargetId, Workspace,
    WorkspaceId,
};

/// A service answered by hand.
struct Hand {
    watch: Watch,
    now: Instant,
    scans: Vec<Scan>,
    loggers: Vec<Logger>,
    workspaces: Vec<Workspace>,
    /// How often all scans were read.
    whole: usize,
    refusing: Option<(Slot, Kind)>,
    silent: bool,
    asked: Vec<Slot>,
}

impl Hand {
    fn new(here: bool) -> Self {
        let now = Instant::now();
        let mut hand = Self {
            watch: Watch::new(here, now),
            now,
            scans: Vec::new(),
            loggers: Vec::new(),
            workspaces: Vec::new(),
            whole: 0,
            refusing: None,
            silent: false,
            asked: Vec::new(),
        };
        hand.watch.set_plan(PollPlan { generation: 1, workspace: Some(WorkspaceId(1)), ..PollPlan::default() });
        hand
    }

    fn answer(&self, job: &Job) -> Result<Outcome, Error> {
        if self.silent {
            return Err(Error::new(Kind::Connect, "refused"));
        }
        if let Some((slot, kind)) = &self.refusing
            && job.slot() == *slot
        {
            return Err(Error::new(kind.clone(), "no"));
        }
        Ok(match job {
            Job::Workspaces { known } => match known {
                Some(known) if known.items().iter().map(|one| &**one).eq(&self.workspaces) => {
                    Outcome::Workspaces(Arc::clone(known))
                }
                _ => Outcome::Workspaces(Arc::new(Table::new(self.workspaces.clone()))),
            },
            Job::Targets { known, .. } => Outcome::Targets(known.clone().unwrap_or_default()),
            Job::Scans { .. } => Outcome::Scans(Arc::new(Table::new(self.scans.clone()))),
            Job::ActiveScans { known, .. } => {
                let told = |scan: &&Scan| scan.is_active() || known.get(scan.id).is_some();
                Outcome::Scans(Arc::new(Table::new(self.scans.iter().filter(told).cloned())))
            }
            Job::Findings { known, .. } => Outcome::Findings(known.clone().unwrap_or_default()),
            Job::FindingsOf { known, .. } => Outcome::Findings(Arc::clone(known)),
            Job::Loggers { .. } => Outcome::Loggers(Arc::new(Table::new(self.loggers.clone()))),
            Job::Captures { logger, since } => {
                let from = since.map_or(1, |since| since.0 + 1);
                let capture = |id| Capture { id: CaptureId(id), ..Capture::default() };
                Outcome::Captures(*logger, (from..from + 2).map(capture).collect())
            }
            Job::Reports { known } => Outcome::Reports(known.clone().unwrap_or_default()),
            Job::Wordlists { known } => Outcome::Wordlists(known.clone().unwrap_or_default()),
            Job::Part { scan, .. } => Outcome::Part(*scan, crate::app::plan::PartData::Tests(Arc::default())),
        })
    }

    /// Answers everything that is due now, until nothing is.
    fn settle(&mut self) -> Vec<Slot> {
        let from = self.asked.len();
        loop {
            let jobs = self.watch.due(self.now);
            if jobs.is_empty() {
                return self.asked[from..].to_vec();
            }
            for job in jobs {
                let answer = self.answer(&job);
                self.asked.push(job.slot());
                self.whole += usize::from(matches!(job, Job::Scans { .. }));
                self.watch.absorb(job.slot(), answer, self.now, Timestamp::UNIX_EPOCH);
            }
        }
    }

    /// Lets time pass from one due moment to the next; returns what was asked.
    fn pass(&mut self, time: Duration) -> Vec<Slot> {
        let (from, end) = (self.asked.len(), self.now + time);
        self.settle();
        let mut wakes = 0;
        while let Some(next) = self.watch.next(self.now).filter(|next| *next <= end) {
            assert!(next > self.now, "the poller would spin");
            wakes += 1;
            assert!(wakes < 20_000, "too many wake-ups");
            self.now = next;
            self.settle();
        }
        self.now = end;
        self.asked[from..].to_vec()
    }

    fn news(&mut self) -> Vec<News> {
        std::iter::from_fn(|| self.watch.outbox.pop()).collect()
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
    Scan { id: ScanId(id), target_id: TargetId(1), status_name: status, result_summary: summary, ..Scan::default() }
}

fn count(asked: &[Slot], slot: Slot) -> usize {
    asked.iter().filter(|asked| **asked == slot).count()
}

const SCANS: Slot = Slot::List(Noun::Scans);
const FINDINGS: Slot = Slot::List(Noun::Findings);
const LOGGERS: Slot = Slot::List(Noun::Loggers);
