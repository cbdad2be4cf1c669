//! Calls that the user started: one, or many of the same kind, a few at a time.
//!
//! ```text
//!   form or prompt ─► Batch of jobs ─► at most 4 under way ─► each answered ─► concluded
//! ```
//!
//! 60 pasted targets are 60 calls. They are sent four at a time; a refused call does not stop the
//! others, and the batch keeps the message of every refusal for its form.

use crate::base::{Call, CallAnswer, FormTag, Ticket};
use scandeck_domain::problem::Problem;
use scandeck_wire::contract::{ScanId, Shared};
use std::collections::BTreeSet;
use std::time::Duration;
use strum::EnumTryAs;

/// A batch that takes longer is shown.
pub const MOMENT: Duration = Duration::from_secs(1);

/// Calls of one batch that are in flight at the same time.
pub const AT_ONCE: usize = 4;

/// One call with its object.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The object, for notices: `target shop.acme.test`.
    pub about: String,
    pub call: Call,
}

impl Job {
    pub fn new(about: impl Into<String>, call: Call) -> Self {
        Self {
            about: about.into(),
            call,
        }
    }
}

/// Progress of a job.
#[derive(Clone, Debug, PartialEq, EnumTryAs)]
pub enum JobState {
    Waiting,
    InFlight(Ticket),
    Done(CallAnswer),
    Refused(Problem),
    /// Cancelled before it was sent.
    Cancelled,
}

/// Jobs of one request of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The verb of the notices: `create`, `delete`, `start`.
    pub verb: &'static str,
    /// The form that shows the refusals.
    pub form: Option<FormTag>,
    /// Of a retest: the scan that each job repeats.
    pub retest: Vec<ScanId>,
    /// The workspace of the retest.
    pub workspace: Shared,
    pub jobs: Vec<(Job, JobState)>,
    /// When its first calls were sent, on the monotonic clock.
    pub began: Duration,
    /// The objects that existed before a creation.
    pub existing: BTreeSet<i64>,
}

/// Number of jobs by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub total: usize,
    pub done: usize,
    pub refused: usize,
    pub waiting: usize,
}

impl Batch {
    /// A batch with all jobs waiting.
    pub fn new(verb: &'static str, form: Option<FormTag>, jobs: Vec<Job>) -> Self {
        let jobs = jobs
            .into_iter()
            .map(|job| (job, JobState::Waiting))
            .collect();
        let (workspace, began, existing) = (Shared::default(), Duration::ZERO, BTreeSet::new());
        Self {
            verb,
            form,
            retest: Vec::new(),
            workspace,
            jobs,
            began,
            existing,
        }
    }

    /// The finished jobs with their answers.
    pub fn done(&self) -> impl Iterator<Item = (&Job, &CallAnswer)> {
        self.jobs
            .iter()
            .filter_map(|(job, state)| Some((job, state.try_as_done_ref()?)))
    }

    pub fn refused(&self) -> impl Iterator<Item = (&Job, &Problem)> {
        self.jobs
            .iter()
            .filter_map(|(job, state)| Some((job, state.try_as_refused_ref()?)))
    }

    /// The calls to send now, so that at most [`AT_ONCE`] are in flight.
    pub fn next(&mut self, mut ticket: impl FnMut() -> Ticket) -> Vec<(Ticket, Call)> {
        let in_flight = self.in_flight();
        let waiting = self
            .jobs
            .iter_mut()
            .filter(|(_, state)| *state == JobState::Waiting);
        waiting
            .take(AT_ONCE.saturating_sub(in_flight))
            .map(|(job, state)| {
                let ticket = ticket();
                *state = JobState::InFlight(ticket);
                (ticket, job.call.clone())
            })
            .collect()
    }

    /// The number of calls in flight.
    pub fn in_flight(&self) -> usize {
        self.jobs
            .iter()
            .filter(|(_, state)| matches!(state, JobState::InFlight(_)))
            .count()
    }

    /// Whether this ticket belongs to a call in flight.
    pub fn holds(&self, ticket: Ticket) -> bool {
        self.jobs
            .iter()
            .any(|(_, state)| *state == JobState::InFlight(ticket))
    }

    /// Stores the answer of a call in flight.
    pub fn answer(&mut self, ticket: Ticket, result: Result<CallAnswer, Problem>) {
        if let Some((_, state)) = self
            .jobs
            .iter_mut()
            .find(|(_, state)| *state == JobState::InFlight(ticket))
        {
            *state = match result {
                Ok(answer) => JobState::Done(answer),
                Err(problem) => JobState::Refused(problem),
            };
        }
    }

    /// Cancels the jobs that were not sent; returns their number.
    pub fn cancel(&mut self) -> usize {
        let waiting = self
            .jobs
            .iter_mut()
            .filter(|(_, state)| *state == JobState::Waiting);
        waiting
            .map(|(_, state)| *state = JobState::Cancelled)
            .count()
    }

    /// Whether no job is waiting or in flight.
    pub fn is_over(&self) -> bool {
        !self
            .jobs
            .iter()
            .any(|(_, state)| matches!(state, JobState::Waiting | JobState::InFlight(_)))
    }

    pub fn progress(&self) -> Progress {
        let mut progress = Progress {
            total: self.jobs.len(),
            ..Progress::default()
        };
        for (_, state) in &self.jobs {
            match state {
                JobState::Done(_) => progress.done += 1,
                JobState::Refused(_) => progress.refused += 1,
                JobState::Waiting => progress.waiting += 1,
                JobState::InFlight(_) | JobState::Cancelled => {}
            }
        }
        progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::TargetId;

    #[test]
    fn sixty_jobs_are_sent_four_at_a_time_despite_a_refusal() {
        let jobs = (0..60)
            .map(|id| Job::new(id.to_string(), Call::DeleteTarget(TargetId(id))))
            .collect();
        let mut batch = Batch::new("delete", None, jobs);
        let mut issued = 0;
        let mut in_flight = Vec::new();
        while !batch.is_over() {
            in_flight.extend(batch.next(|| {
                issued += 1;
                Ticket(issued)
            }));
            assert!(in_flight.len() <= AT_ONCE);
            let (ticket, _) = in_flight.remove(0);
            let result = if ticket.0 == 7 {
                Err(Problem::local("no"))
            } else {
                Ok(CallAnswer::Done)
            };
            assert!(batch.holds(ticket));
            batch.answer(ticket, result);
        }
        batch.answer(Ticket(7), Ok(CallAnswer::Done));
        let progress = batch.progress();
        assert_eq!(
            (issued, progress.done, progress.refused),
            (60, 59, 1),
            "an answer counts once"
        );
    }

    #[test]
    fn cancelled_batch_keeps_jobs_in_flight() {
        let jobs = (0..6)
            .map(|id| Job::new("x", Call::DeleteTarget(TargetId(id))))
            .collect();
        let mut batch = Batch::new("delete", None, jobs);
        let sent = batch.next(|| Ticket(1)).len();
        assert_eq!((sent, batch.cancel(), batch.is_over()), (4, 2, false));
    }
}
