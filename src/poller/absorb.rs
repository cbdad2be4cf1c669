//! What an answer means for the poller's knowledge, and what of it the screen is told.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use super::job::{Outcome, Slot};
use super::link::{Reach, reach};
use super::pace::Pace;
use super::watch::{Flight, ORDER, Watch};
use crate::app::plan::{self, News, Noun};
use crate::app::problem::Problem;
use crate::app::table::{Item, Table};
use crate::client::{self, Error, Kind};
use crate::contract::Scan;

/// How long a list rests that the service refused.
const REFUSED_REST: Duration = Duration::from_secs(60);

impl Watch {
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
        if coarse(told) != coarse(self.budget) {
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
                let counted = self.plan.workspace.and_then(|id| new.get(id)).map(|workspace| workspace.scan_count);
                let known = self.known.scans.as_ref().map(|scans| scans.len());
                if counted.is_some_and(|count| self.counted.learn(count, known)) {
                    self.turn(Noun::Scans).last = None;
                }
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
                self.known.findings = Some(Arc::clone(&new));
                // Also unchanged: when they were read tells which scans they are the whole of.
                self.tell(true, News::Findings(new));
            }
            Outcome::Loggers(new) => {
                self.wanted.learn_loggers(&new);
                let tell = self.changed(Noun::Loggers, self.known.loggers.as_ref(), &new);
                self.known.loggers = Some(Arc::clone(&new));
                self.tell(tell, News::Loggers(new));
            }
            Outcome::Captures(logger, new) => {
                let new = self.wanted.take_captures(logger, new);
                // A logger that is not listed any more has no captures either.
                if let Some(logger) = self.known.loggers.as_ref().and_then(|known| known.get(logger)).cloned() {
                    self.tell(!new.is_empty(), News::Captures { logger, new });
                }
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
            let strange = |scan: &Arc<Scan>| {
                self.known.targets.as_ref().is_some_and(|targets| targets.get(scan.target_id).is_none())
            };
            if new.items().iter().any(strange) {
                self.turn(Noun::Targets).asked = true;
            }
        }
        if self.counted.tells_of_more(new.len()) {
            self.turn(Noun::Scans).asked = true;
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
        if reach_in(slot, error) != Reach::One {
            self.put_back(slot);
            let first = !self.link.is_failing();
            let link = self.link.fail(error, Arc::clone(&problem), flight.asked, now, wall);
            self.tell_link(link);
            if first {
                self.tell_all_stale(&problem);
            }
            return;
        }
        // A call that was not even sent says nothing of the connection.
        if !matches!(error.kind, Kind::BudgetSpent { .. }) {
            let link = self.link.succeed(flight.asked, wall);
            self.tell_link(link);
        }
        match slot {
            Slot::List(noun) => {
                let turn = self.turn(noun);
                (turn.failed, turn.asked, turn.rests_until) = (true, false, Some(now + REFUSED_REST));
                self.outbox.push(News::Failed(noun, problem));
            }
            Slot::Captures(logger) => {
                if error.kind == Kind::Server {
                    self.wanted.hear_again(logger);
                } else {
                    self.wanted.forget_logger(logger);
                }
                // A logger that was deleted meanwhile is no failure; the list of loggers tells.
                if error.kind != Kind::NotFound {
                    self.outbox.push(News::Failed(Noun::Captures, problem));
                }
            }
            Slot::Part => {
                // What this scan does not have is asked for again when the scan has moved.
                if error.is_passing() {
                    self.wanted.want_part();
                }
                if let Some((scan, part)) = flight.part {
                    self.outbox.push(News::PartFailed(scan, part, problem));
                }
            }
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

/// What a failure of this question stops. The outputs of scans are counted apart (`hosted-service.md`, Rate limits), and
/// a list that is out of budget too will say so itself: a part never holds up the lists.
fn reach_in(slot: Slot, error: &Error) -> Reach {
    match (slot, &error.kind) {
        (Slot::Part, Kind::RateLimited { .. } | Kind::BudgetSpent { .. }) => Reach::One,
        _ => reach(error),
    }
}

/// A budget in twentieths: every call takes one out, and no screen needs to know that.
fn coarse(budget: Option<plan::Budget>) -> Option<(u32, u64)> {
    budget.map(|budget| (budget.limit, u64::from(budget.remaining) * 20 / u64::from(budget.limit.max(1))))
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
