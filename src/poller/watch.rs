//! The poller's knowledge and schedule, without any I/O: what is due, and what an answer means.
//!
//! ```text
//!   set_plan ─┐
//!   due(now) ─┴─► jobs ─► (service) ─► absorb(answer, now) ─► outbox ─► screen
//!      ▲                                   │
//!      └──────────── next(now) ◄───────────┘
//! ```
//!
//! Time only comes in as an argument, so a test can drive hours of polling in a microsecond.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::counted::Counted;
use super::job::{Job, Slot};
use super::link::LinkState;
use super::moved::Moved;
use super::outbox::Outbox;
use super::pace::{Demand, Pace, Purse};
use super::wanted::Wanted;
use crate::app::plan::{self, Noun, PollPlan, ScanPart};
use crate::app::table::Table;
use crate::contract::{
    CaptureId, Finding, Logger, LoggerId, Report, ReportStatus, Scan, ScanId, Target, Wordlist, Workspace, WorkspaceId,
};

/// Questions under way at once.
const AT_ONCE: usize = 6;
/// Scans whose findings are read by one job.
const SCANS_A_JOB: usize = 4;
/// The lists in the order they are asked for when several are due: what moves first, what hardly changes last.
pub(super) const ORDER: [Noun; 7] =
    [Noun::Workspaces, Noun::Scans, Noun::Loggers, Noun::Findings, Noun::Targets, Noun::Reports, Noun::Wordlists];

/// When a list was asked for, and whether it has to be again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    pub last: Option<Instant>,
    /// Asked for by name, after which nothing older counts.
    pub asked: bool,
    /// Not before this, because the service refused it.
    pub rests_until: Option<Instant>,
    /// The screen was told that it is not fresh, so the next answer is told even when nothing changed.
    pub failed: bool,
}

#[derive(Debug, Default)]
pub(super) struct Known {
    pub workspaces: Option<Arc<Table<Workspace>>>,
    pub targets: Option<Arc<Table<Target>>>,
    pub scans: Option<Arc<Table<Scan>>>,
    pub findings: Option<Arc<Table<Finding>>>,
    pub loggers: Option<Arc<Table<Logger>>>,
    pub reports: Option<Arc<Table<Report>>>,
    pub wordlists: Option<Arc<Table<Wordlist>>>,
}

/// A question under way.
#[derive(Debug)]
pub(super) struct Flight {
    pub asked: Instant,
    /// Scans whose findings it reads, and those that are gone: put back when it fails.
    pub scans: (Vec<ScanId>, BTreeSet<ScanId>),
    /// The part of a scan it reads.
    pub part: Option<(ScanId, ScanPart)>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Watch {
    pub here: bool,
    pub plan: PollPlan,
    pub link: LinkState,
    pub pace: Pace,
    pub purse: Purse,
    pub budget: Option<plan::Budget>,
    pub scarce: bool,
    pub offset: Option<i64>,
    pub turns: BTreeMap<Noun, Turn>,
    pub scans_read_whole: Option<Instant>,
    pub known: Known,
    pub moved: Moved,
    pub counted: Counted,
    pub wanted: Wanted,
    pub flying: BTreeMap<Slot, Flight>,
    pub outbox: Outbox,
}

impl Watch {
    /// `here`: the service is on this machine.
    pub fn new(here: bool, now: Instant) -> Self {
        let mut purse = Purse::new(now);
        purse.set_limit(None, here);
        Self {
            here,
            plan: PollPlan::default(),
            link: LinkState::new(here),
            pace: Pace::of(None, here),
            purse,
            budget: None,
            scarce: false,
            offset: None,
            turns: BTreeMap::new(),
            scans_read_whole: None,
            known: Known::default(),
            moved: Moved::default(),
            counted: Counted::default(),
            wanted: Wanted::default(),
            flying: BTreeMap::new(),
            outbox: Outbox::default(),
        }
    }

    /// Copied into every update.
    pub fn generation(&self) -> plan::Generation {
        self.plan.generation
    }

    /// Takes a new plan. True when everything under way is for another workspace and must be dropped.
    pub fn set_plan(&mut self, plan: PollPlan) -> bool {
        let old = std::mem::replace(&mut self.plan, plan);
        let elsewhere = old.generation != self.plan.generation || old.workspace != self.plan.workspace;
        if elsewhere {
            self.forget();
        }
        let raised: Vec<Noun> = self
            .plan
            .asked
            .iter()
            .filter(|(noun, count)| old.asked.get(noun) != Some(*count))
            .map(|(noun, _)| *noun)
            .collect();
        for noun in &raised {
            self.ask(*noun);
        }
        if !raised.is_empty() {
            self.link.try_now();
        }
        self.wanted.set_part(self.plan.scan_part);
        self.wanted.set_archived(&self.plan.archived);
        elsewhere
    }

    fn forget(&mut self) {
        self.flying.clear();
        self.outbox.clear();
        self.turns.retain(|noun, _| *noun == Noun::Workspaces);
        self.scans_read_whole = None;
        let workspaces = self.known.workspaces.take();
        self.known = Known { workspaces, ..Known::default() };
        self.moved = Moved::default();
        self.counted = Counted::default();
        self.wanted = Wanted::default();
        // A new generation has heard nothing yet: the list of workspaces is told again too.
        self.turn(Noun::Workspaces).failed = true;
        self.turn(Noun::Workspaces).asked = true;
    }

    fn ask(&mut self, noun: Noun) {
        let turn = self.turn(noun);
        turn.asked = true;
        turn.rests_until = None;
        match noun {
            Noun::Captures => {
                self.wanted.want_all_captures();
                self.turn(Noun::Loggers).asked = true;
            }
            Noun::Scans => self.wanted.want_part(),
            _ => {}
        }
    }

    pub fn turn(&mut self, noun: Noun) -> &mut Turn {
        self.turns.entry(noun).or_default()
    }

    /// The questions to put now, each already paid for.
    pub fn due(&mut self, now: Instant) -> Vec<Job> {
        let mut jobs = Vec::new();
        if !self.link.is_open(now) {
            return jobs;
        }
        // While it fails one question at a time finds out whether it still does.
        let most = if self.link.is_failing() { 1 } else { AT_ONCE };
        while self.flying.len() < most {
            let Some(job) = self.next_job(now) else { break };
            if !self.purse.spend(job.calls(), now) {
                self.take_back(job);
                break;
            }
            let scans = match &job {
                Job::FindingsOf { scans, gone, .. } => (scans.iter().map(|(id, _)| *id).collect(), gone.clone()),
                _ => Default::default(),
            };
            let part = match &job {
                Job::Part { scan, part } => Some((*scan, *part)),
                _ => None,
            };
            self.note_asked(&job, now);
            self.flying.insert(job.slot(), Flight { asked: now, scans, part });
            jobs.push(job);
        }
        jobs
    }

    fn take_back(&mut self, job: Job) {
        if let Job::FindingsOf { scans, gone, .. } = job {
            self.moved.untake(scans.into_iter().map(|(id, _)| id), gone);
        }
    }

    fn note_asked(&mut self, job: &Job, now: Instant) {
        match job {
            Job::Captures { logger, .. } => self.wanted.captures_asked(*logger),
            Job::Part { .. } => self.wanted.part_asked(now),
            Job::FindingsOf { .. } => {}
            Job::Scans { .. } => {
                self.scans_read_whole = Some(now);
                self.counted.read_all();
            }
            _ => {}
        }
        if let (Slot::List(noun), false) = (job.slot(), matches!(job, Job::FindingsOf { .. })) {
            let turn = self.turn(noun);
            (turn.asked, turn.last) = (false, Some(now));
        }
    }

    fn next_job(&mut self, now: Instant) -> Option<Job> {
        if !self.flying.contains_key(&Slot::List(Noun::Workspaces)) && self.due_at(Noun::Workspaces, now) <= now {
            return Some(Job::Workspaces { known: self.known.workspaces.clone() });
        }
        let workspace = self.plan.workspace?;
        let gap = self.pace.scan_detail(self.demand(Noun::Scans));
        if !self.flying.contains_key(&Slot::Part)
            && self.wanted.part_due(now, gap).is_some_and(|at| at <= now)
            && let Some((scan, part)) = self.plan.scan_part
        {
            return Some(Job::Part { scan, part });
        }
        if let Some((logger, since)) = self.next_captures() {
            return Some(Job::Captures { logger, since });
        }
        let noun = ORDER
            .into_iter()
            .find(|noun| !self.flying.contains_key(&Slot::List(*noun)) && self.due_at(*noun, now) <= now)?;
        self.list_job(noun, workspace, now)
    }

    /// A logger whose captures are to be read now.
    fn next_captures(&self) -> Option<(LoggerId, Option<CaptureId>)> {
        let flying = |logger| self.flying.contains_key(&Slot::Captures(logger));
        self.wanted.captures(flying).filter(|_| !self.outbox.is_full())
    }

    fn list_job(&mut self, noun: Noun, workspace: WorkspaceId, now: Instant) -> Option<Job> {
        let known = &self.known;
        Some(match noun {
            Noun::Workspaces => Job::Workspaces { known: known.workspaces.clone() },
            Noun::Targets => Job::Targets { workspace, known: known.targets.clone() },
            Noun::Scans => match (&known.scans, self.scans_due_whole(now)) {
                (Some(scans), false) => Job::ActiveScans { workspace, known: Arc::clone(scans) },
                _ => Job::Scans { workspace, known: known.scans.clone() },
            },
            Noun::Findings => match &known.findings {
                Some(findings) if !self.turns.get(&Noun::Findings).is_some_and(|turn| turn.asked) => {
                    let known = Arc::clone(findings);
                    let gap = self.pace.scan_detail(self.demand(Noun::Findings));
                    let (scans, gone) = self.moved.take(now, gap, SCANS_A_JOB);
                    Job::FindingsOf { scans, gone, known }
                }
                known => {
                    let known = known.clone();
                    self.moved.forget_waiting();
                    Job::Findings { workspace, known }
                }
            },
            Noun::Loggers => Job::Loggers { workspace, known: known.loggers.clone() },
            Noun::Reports => Job::Reports { known: known.reports.clone() },
            Noun::Wordlists => Job::Wordlists { known: known.wordlists.clone() },
            Noun::Captures => return None,
        })
    }

    fn scans_due_whole(&self, now: Instant) -> bool {
        let asked = self.turns.get(&Noun::Scans).is_some_and(|turn| turn.asked);
        let rest = self.pace.others(Demand { scarce: self.scarce, ..Demand::default() });
        asked || self.scans_read_whole.is_none_or(|last| last + rest <= now)
    }

    /// When a list is due; `now` for at once.
    fn due_at(&self, noun: Noun, now: Instant) -> Instant {
        let turn = self.turns.get(&noun).copied().unwrap_or_default();
        let demand = self.demand(noun);
        let due = match (noun, turn.last) {
            _ if turn.asked => now,
            // All findings are read once the scans are known, so that whatever moves after it is noticed.
            (Noun::Findings, None) if !self.moved.is_primed() => return far(now),
            (_, None) => now,
            (Noun::Findings, Some(_)) if self.known.findings.is_some() => {
                self.moved.next(now, self.pace.scan_detail(demand)).unwrap_or(far(now))
            }
            (Noun::Scans, Some(last)) => last + self.pace.active_scans(demand),
            (Noun::Loggers, Some(last)) => last + self.pace.loggers(demand),
            // The counts of the workspaces tell of scans that nothing else shows.
            (Noun::Workspaces, Some(last)) if self.plan.workspace.is_some() => last + self.pace.counts(demand),
            (Noun::Reports, Some(last)) => last + self.pace.reports(demand),
            (_, Some(last)) => last + self.pace.others(demand),
        };
        turn.rests_until.map_or(due, |rest| due.max(rest))
    }

    fn demand(&self, noun: Noun) -> Demand {
        let shown = |noun: Noun| self.plan.visible.contains(&noun);
        let any_active = |scans: &Arc<Table<Scan>>| scans.items().iter().any(|scan| scan.is_active());
        let any_waits =
            |reports: &Arc<Table<Report>>| reports.items().iter().any(|report| report.status == ReportStatus::Waiting);
        let any_logger = self.known.loggers.as_ref().is_none_or(|loggers| !loggers.is_empty());
        Demand {
            moving: noun == Noun::Scans && self.known.scans.as_ref().is_some_and(any_active),
            captures_shown: any_logger
                && (self.plan.captures.is_some() || shown(Noun::Captures) || shown(Noun::Loggers)),
            shown: shown(noun),
            report_waits: noun == Noun::Reports && self.known.reports.as_ref().is_some_and(any_waits),
            scarce: self.scarce,
        }
    }

    /// When to look again, if nothing else happens before; nothing means when the plan changes.
    pub fn next(&self, now: Instant) -> Option<Instant> {
        if self.link.is_failing() && !self.flying.is_empty() {
            return None;
        }
        let free = |slot: &Slot| !self.flying.contains_key(slot);
        let mut due: Vec<Instant> = Vec::new();
        if self.plan.workspace.is_some() {
            due.extend(ORDER.into_iter().filter(|noun| free(&Slot::List(*noun))).map(|noun| self.due_at(noun, now)));
            let gap = self.pace.scan_detail(self.demand(Noun::Scans));
            due.extend(self.wanted.part_due(now, gap).filter(|_| free(&Slot::Part)));
            due.extend(self.next_captures().map(|_| now));
        } else if free(&Slot::List(Noun::Workspaces)) {
            due.push(self.due_at(Noun::Workspaces, now));
        }
        let mut next = due.into_iter().min()?;
        if !self.link.is_open(now) {
            next = next.max(self.link.opens_at()?);
        }
        if self.flying.len() >= AT_ONCE {
            return None;
        }
        // Something due that was not started waits for the purse.
        Some(if next <= now { self.purse.next().max(now + Duration::from_millis(1)) } else { next })
    }
}

/// A time that does not come before something else does.
fn far(now: Instant) -> Instant {
    now + Duration::from_secs(24 * 3600)
}
