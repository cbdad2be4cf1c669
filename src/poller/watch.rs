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

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use super::job::{Job, Outcome, Slot};
use super::link::{LinkState, Reach, reach};
use super::moved::Moved;
use super::outbox::Outbox;
use super::pace::{Demand, Pace, Purse};
use super::wanted::Wanted;
use crate::app::plan::{self, News, Noun, PollPlan};
use crate::app::problem::Problem;
use crate::app::table::{Item, Table};
use crate::client::{self, Error};
use crate::contract::{Finding, Logger, Report, ReportStatus, Scan, ScanId, Target, Wordlist, Workspace, WorkspaceId};

/// How long a list rests that the service refused.
const REFUSED_REST: Duration = Duration::from_secs(60);
/// Questions under way at once.
const AT_ONCE: usize = 6;
/// Scans whose findings are read by one job.
const SCANS_A_JOB: usize = 4;
/// The lists in the order they are asked for when several are due: what moves first, what hardly changes last.
const ORDER: [Noun; 7] =
    [Noun::Workspaces, Noun::Scans, Noun::Loggers, Noun::Findings, Noun::Targets, Noun::Reports, Noun::Wordlists];

/// When a list was asked for, and whether it has to be again.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    last: Option<Instant>,
    /// Asked for by name, after which nothing older counts.
    asked: bool,
    /// Not before this, because the service refused it.
    rests_until: Option<Instant>,
    /// The screen was told that it is not fresh, so the next answer is told even when nothing changed.
    failed: bool,
}

#[derive(Debug, Default)]
struct Known {
    workspaces: Option<Arc<Table<Workspace>>>,
    targets: Option<Arc<Table<Target>>>,
    scans: Option<Arc<Table<Scan>>>,
    findings: Option<Arc<Table<Finding>>>,
    loggers: Option<Arc<Table<Logger>>>,
    reports: Option<Arc<Table<Report>>>,
    wordlists: Option<Arc<Table<Wordlist>>>,
}

/// A question under way.
#[derive(Debug)]
struct Flight {
    asked: Instant,
    /// Scans whose findings it reads, and those that are gone: put back when it fails.
    scans: (Vec<ScanId>, BTreeSet<ScanId>),
}

/// See the module.
#[derive(Debug)]
pub(super) struct Watch {
    here: bool,
    plan: PollPlan,
    link: LinkState,
    pace: Pace,
    purse: Purse,
    budget: Option<plan::Budget>,
    scarce: bool,
    offset: Option<i64>,
    turns: BTreeMap<Noun, Turn>,
    scans_read_whole: Option<Instant>,
    known: Known,
    moved: Moved,
    wanted: Wanted,
    flying: BTreeMap<Slot, Flight>,
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

    fn turn(&mut self, noun: Noun) -> &mut Turn {
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
            self.note_asked(&job, now);
            self.flying.insert(job.slot(), Flight { asked: now, scans });
            jobs.push(job);
        }
        jobs
    }

    fn take_back(&mut self, job: Job) {
        if let Job::FindingsOf { scans, gone, .. } = job {
            self.moved.put_back(scans.into_iter().map(|(id, _)| id), gone);
        }
    }

    fn note_asked(&mut self, job: &Job, now: Instant) {
        match job {
            Job::Captures { logger, .. } => self.wanted.captures_asked(*logger),
            Job::Part { .. } => self.wanted.part_asked(now),
            Job::FindingsOf { .. } => {}
            Job::Scans { .. } => self.scans_read_whole = Some(now),
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
        let flying = |logger| self.flying.contains_key(&Slot::Captures(logger));
        if let Some((logger, since)) = self.wanted.captures(flying) {
            return Some(Job::Captures { logger, since });
        }
        let noun = ORDER
            .into_iter()
            .find(|noun| !self.flying.contains_key(&Slot::List(*noun)) && self.due_at(*noun, now) <= now)?;
        self.list_job(noun, workspace, now)
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
            (Noun::Reports, Some(last)) => last + self.pace.reports(demand),
            (_, Some(last)) => last + self.pace.others(demand),
        };
        turn.rests_until.map_or(due, |rest| due.max(rest))
    }

    fn demand(&self, noun: Noun) -> Demand {
        let shown = |noun: Noun| self.plan.visible.contains(&noun);
        let any_active = |scans: &Arc<Table<Scan>>| scans.items().iter().any(Scan::is_active);
        let any_waits =
            |reports: &Arc<Table<Report>>| reports.items().iter().any(|report| report.status == ReportStatus::Waiting);
        Demand {
            moving: noun == Noun::Scans && self.known.scans.as_ref().is_some_and(any_active),
            captures_shown: self.plan.captures.is_some() || shown(Noun::Captures) || shown(Noun::Loggers),
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
            due.extend(self.wanted.captures(|logger| !free(&Slot::Captures(logger))).map(|_| now));
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

    /// What the last answer announced.
    pub fn learn_limits(&mut self, budget: client::Budget, offset: Option<SignedDuration>, wall: Timestamp) {
        self.pace = Pace::of(budget.limit, self.here);
        self.purse.set_limit(budget.limit, self.here);
        self.scarce = budget.share_left().is_some_and(|share| share < 0.3);
        let told = budget.limit.zip(budget.remaining).map(|(limit, remaining)| plan::Budget {
            limit,
            remaining,
            reset: budget.reset.and_then(|at| Duration::try_from(at.duration_since(wall)).ok()),
        });
        if told != self.budget {
            self.budget = told;
            self.outbox.push(News::Budget(told));
        }
        if let Some(seconds) = offset.map(|offset| offset.as_secs())
            // The header is cut to seconds, so a difference of one is none.
            && self.offset.is_none_or(|old| (old - seconds).abs() > 1)
        {
            self.offset = Some(seconds);
            self.outbox.push(News::ClockOffset(seconds));
        }
    }

    /// Takes an answer to a question put by [`due`](Self::due).
    pub fn absorb(&mut self, slot: Slot, result: Result<Outcome, Error>, now: Instant, wall: Timestamp) {
        let Some(flight) = self.flying.remove(&slot) else { return };
        match result {
            Ok(outcome) => {
                let link = self.link.succeed(flight.asked, wall);
                self.tell_link(link);
                self.take(outcome);
            }
            Err(error) => self.fail(slot, flight, &error, now, wall),
        }
    }

    fn tell_link(&mut self, link: Option<plan::Link>) {
        if let Some(link) = link {
            self.outbox.push(News::Link(link));
        }
    }

    fn take(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Workspaces(new) => {
                let tell = self.changed(Noun::Workspaces, self.known.workspaces.as_ref(), &new);
                self.known.workspaces = Some(Arc::clone(&new));
                self.tell(tell, News::Workspaces(new));
            }
            Outcome::Targets(new) => {
                let tell = self.changed(Noun::Targets, self.known.targets.as_ref(), &new);
                self.known.targets = Some(Arc::clone(&new));
                self.tell(tell, News::Targets(new));
            }
            Outcome::Scans(new) => self.take_scans(new),
            Outcome::Findings(new) => {
                if self.known.findings.is_none() && new.items().iter().any(|finding| finding.task_id.is_none()) {
                    self.moved.want_ended();
                }
                let tell = self.changed(Noun::Findings, self.known.findings.as_ref(), &new);
                self.known.findings = Some(Arc::clone(&new));
                self.tell(tell, News::Findings(new));
            }
            Outcome::Loggers(new) => {
                self.wanted.learn_loggers(&new);
                let tell = self.changed(Noun::Loggers, self.known.loggers.as_ref(), &new);
                self.known.loggers = Some(Arc::clone(&new));
                self.tell(tell, News::Loggers(new));
            }
            Outcome::Captures(logger, new) => {
                let new = self.wanted.take_captures(logger, new);
                self.tell(!new.is_empty(), News::Captures { logger, new });
            }
            Outcome::Reports(new) => {
                let tell = self.changed(Noun::Reports, self.known.reports.as_ref(), &new);
                self.known.reports = Some(Arc::clone(&new));
                self.tell(tell, News::Reports(new));
            }
            Outcome::Wordlists(new) => {
                let tell = self.changed(Noun::Wordlists, self.known.wordlists.as_ref(), &new);
                self.known.wordlists = Some(Arc::clone(&new));
                self.tell(tell, News::Wordlists(new));
            }
            Outcome::Part(scan, data) => self.outbox.push(News::ScanPart(scan, data)),
        }
    }

    fn take_scans(&mut self, new: Arc<Table<Scan>>) {
        self.moved.learn(&new);
        if let (Some((shown, _)), Some(known)) = (self.plan.scan_part, &self.known.scans)
            && known.get(shown) != new.get(shown)
        {
            self.wanted.want_part();
        }
        if let Some(known) = &self.known.scans
            && known.len() != new.len()
        {
            // A scan more or less changes the counts of its workspace, and may have brought a target with it.
            self.turn(Noun::Workspaces).asked = true;
            let strange =
                |scan: &Scan| self.known.targets.as_ref().is_some_and(|targets| targets.get(scan.target_id).is_none());
            if new.items().iter().any(strange) {
                self.turn(Noun::Targets).asked = true;
            }
        }
        let tell = self.changed(Noun::Scans, self.known.scans.as_ref(), &new);
        self.known.scans = Some(Arc::clone(&new));
        self.tell(tell, News::Scans(new));
    }

    /// Whether the screen has to be told; also notes that the list is fresh again.
    fn changed<T: Item>(&self, noun: Noun, known: Option<&Arc<Table<T>>>, new: &Arc<Table<T>>) -> bool {
        let failed = self.turns.get(&noun).is_some_and(|turn| turn.failed);
        failed || known.is_none_or(|known| !Arc::ptr_eq(known, new))
    }

    fn tell(&mut self, really: bool, news: News) {
        if let Some(noun) = noun_of(&news) {
            let turn = self.turn(noun);
            (turn.failed, turn.rests_until) = (false, None);
        }
        if really {
            self.outbox.push(news);
        }
    }

    fn fail(&mut self, slot: Slot, flight: Flight, error: &Error, now: Instant, wall: Timestamp) {
        let problem = Arc::new(Problem::from(error));
        self.moved.put_back(flight.scans.0, flight.scans.1);
        self.put_back(slot);
        if reach(error) != Reach::One {
            let first = !self.link.is_failing();
            let link = self.link.fail(error, Arc::clone(&problem), flight.asked, now, wall);
            self.tell_link(link);
            if first {
                self.tell_all_stale(&problem);
            }
            return;
        }
        let link = self.link.succeed(flight.asked, wall);
        self.tell_link(link);
        match (slot, self.plan.scan_part) {
            (Slot::List(noun), _) => {
                let turn = self.turn(noun);
                (turn.failed, turn.asked, turn.rests_until) = (true, false, Some(now + REFUSED_REST));
                self.outbox.push(News::Failed(noun, problem));
            }
            (Slot::Captures(logger), _) => {
                self.wanted.forget_logger(logger);
                // A logger that was deleted meanwhile is no failure; the list of loggers tells.
                if error.kind != client::Kind::NotFound {
                    self.outbox.push(News::Failed(Noun::Captures, problem));
                }
            }
            (Slot::Part, Some((scan, part))) => self.outbox.push(News::PartFailed(scan, part, problem)),
            (Slot::Part, None) => {}
        }
    }

    /// What could not be asked is due again.
    fn put_back(&mut self, slot: Slot) {
        match slot {
            Slot::List(Noun::Findings) if self.known.findings.is_some() => {}
            Slot::List(noun) => self.turn(noun).asked = true,
            Slot::Captures(logger) => self.wanted.want_captures(logger),
            Slot::Part => self.wanted.want_part(),
        }
    }

    fn tell_all_stale(&mut self, problem: &Arc<Problem>) {
        let nouns: &[Noun] = if self.plan.workspace.is_some() { &ORDER } else { &[Noun::Workspaces] };
        for noun in nouns {
            self.turn(*noun).failed = true;
            self.turn(*noun).asked = true;
            self.outbox.push(News::Failed(*noun, Arc::clone(problem)));
        }
    }
}

/// A time that does not come before something else does.
fn far(now: Instant) -> Instant {
    now + Duration::from_secs(24 * 3600)
}

fn noun_of(news: &News) -> Option<Noun> {
    Some(match news {
        News::Workspaces(_) => Noun::Workspaces,
        News::Targets(_) => Noun::Targets,
        News::Scans(_) => Noun::Scans,
        News::Findings(_) => Noun::Findings,
        News::Loggers(_) => Noun::Loggers,
        News::Reports(_) => Noun::Reports,
        News::Wordlists(_) => Noun::Wordlists,
        _ => return None,
    })
}
