//! Calls made for a person: one, or many of the same kind, a few at a time.
//!
//! ```text
//!   form or prompt ─► Batch of jobs ─► at most 4 under way ─► each answered ─► concluded
//! ```
//!
//! 60 pasted targets are 60 calls. They go out four at a time, the rest goes ahead when one is refused, and the batch
//! keeps the words of every refusal for the form it came from.

use crate::client::Problem;
use crate::contract::{ScanId, Shared};
use crate::dashboard::base::{Call, CallAnswer, FormTag, Ticket};

/// Calls of one batch under way at once.
pub const AT_ONCE: usize = 4;

/// One call with what it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The object, for notices and the form: `target shop.acme.test`, or the typed line.
    pub about: String,
    /// The call.
    pub call: Call,
}

impl Job {
    /// A call about something.
    pub fn new(about: impl Into<String>, call: Call) -> Self {
        Self { about: about.into(), call }
    }
}

/// How far a job is.
#[derive(Clone, Debug, PartialEq)]
pub enum JobState {
    Waiting,
    UnderWay(Ticket),
    Done(CallAnswer),
    Refused(Problem),
    /// Taken back before it was sent.
    Cancelled,
}

/// Jobs of one wish.
#[derive(Clone, Debug)]
pub struct Batch {
    /// What is being done: `make`, `delete`, `start`.
    pub verb: &'static str,
    /// The form that asked, which hears of refusals.
    pub form: Option<FormTag>,
    /// Of a retest: the scan that each job starts again.
    pub retest: Vec<ScanId>,
    /// The workspace that the retest is of.
    pub workspace: Shared,
    /// The jobs.
    pub jobs: Vec<(Job, JobState)>,
}

/// How many of a batch are where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub total: usize,
    pub done: usize,
    pub refused: usize,
    pub waiting: usize,
}

impl Batch {
    /// A batch, not yet begun.
    pub fn new(verb: &'static str, form: Option<FormTag>, jobs: Vec<Job>) -> Self {
        let jobs = jobs.into_iter().map(|job| (job, JobState::Waiting)).collect();
        Self { verb, form, retest: Vec::new(), workspace: Shared::default(), jobs }
    }

    /// The calls to make now, so that at most [`AT_ONCE`] are under way.
    pub fn next(&mut self, mut ticket: impl FnMut() -> Ticket) -> Vec<(Ticket, Call)> {
        let under_way = self.jobs.iter().filter(|(_, state)| matches!(state, JobState::UnderWay(_))).count();
        let waiting = self.jobs.iter_mut().filter(|(_, state)| *state == JobState::Waiting);
        waiting
            .take(AT_ONCE.saturating_sub(under_way))
            .map(|(job, state)| {
                let ticket = ticket();
                *state = JobState::UnderWay(ticket);
                (ticket, job.call.clone())
            })
            .collect()
    }

    /// Whether a ticket is of this batch and not answered yet.
    pub fn holds(&self, ticket: Ticket) -> bool {
        self.jobs.iter().any(|(_, state)| *state == JobState::UnderWay(ticket))
    }

    /// Notes an answer; false when the ticket is not of this batch.
    pub fn answer(&mut self, ticket: Ticket, result: Result<CallAnswer, Problem>) -> bool {
        let Some((_, state)) = self.jobs.iter_mut().find(|(_, state)| *state == JobState::UnderWay(ticket)) else {
            return false;
        };
        *state = match result {
            Ok(answer) => JobState::Done(answer),
            Err(problem) => JobState::Refused(problem),
        };
        true
    }

    /// Takes back what was not sent; how many.
    pub fn cancel(&mut self) -> usize {
        let waiting = self.jobs.iter_mut().filter(|(_, state)| *state == JobState::Waiting);
        waiting.map(|(_, state)| *state = JobState::Cancelled).count()
    }

    /// Every job has come to its end.
    pub fn is_over(&self) -> bool {
        !self.jobs.iter().any(|(_, state)| matches!(state, JobState::Waiting | JobState::UnderWay(_)))
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let mut progress = Progress { total: self.jobs.len(), ..Progress::default() };
        for (_, state) in &self.jobs {
            match state {
                JobState::Done(_) => progress.done += 1,
                JobState::Refused(_) => progress.refused += 1,
                JobState::Waiting => progress.waiting += 1,
                JobState::UnderWay(_) | JobState::Cancelled => {}
            }
        }
        progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::TargetId;

    #[test]
    fn sixty_jobs_go_out_four_at_a_time_and_a_refusal_holds_nothing_up() {
        let jobs = (0..60).map(|id| Job::new(id.to_string(), Call::DeleteTarget(TargetId(id)))).collect();
        let mut batch = Batch::new("delete", None, jobs);
        let mut issued = 0;
        let mut under_way = Vec::new();
        while !batch.is_over() {
            under_way.extend(batch.next(|| {
                issued += 1;
                Ticket(issued)
            }));
            assert!(under_way.len() <= AT_ONCE);
            let (ticket, _) = under_way.remove(0);
            let result = if ticket.0 == 7 { Err(Problem::local("no")) } else { Ok(CallAnswer::Done) };
            assert!(batch.answer(ticket, result));
        }
        assert_eq!((issued, batch.progress().done, batch.progress().refused), (60, 59, 1));
        assert!(!batch.answer(Ticket(7), Ok(CallAnswer::Done)), "an answer counts once");
    }

    #[test]
    fn cancelling_takes_back_only_what_was_not_sent() {
        let jobs = (0..6).map(|id| Job::new("x", Call::DeleteTarget(TargetId(id)))).collect();
        let mut batch = Batch::new("delete", None, jobs);
        let sent = batch.next(|| Ticket(1)).len();
        assert_eq!((sent, batch.cancel(), batch.is_over()), (4, 2, false));
    }
}
