//! What follows when all calls of a wish are answered: lists are read anew, the form closes or says what was refused.

use super::super::batch::{Batch, Job, State};
use super::super::effect::{Answer, Call};
use super::super::form::{Form, FormTag};
use super::super::modal::Modal;
use super::super::model::{Model, Scope};
use super::super::notices::Tone;
use super::super::plan::Noun;
use super::super::problem::Problem;
use crate::oob::Emptied;

impl Model {
    /// A batch is over.
    pub(in crate::app) fn conclude(&mut self, batch: Batch) {
        let mut nouns: Vec<Noun> = Vec::new();
        for (job, state) in &batch.jobs {
            if let State::Done(answer) = state {
                nouns.extend(changed_by(&job.call));
                self.take_answer(job, answer);
                if batch.jobs.len() == 1 {
                    self.select_when_there(job, answer);
                }
            }
        }
        nouns.sort();
        nouns.dedup();
        nouns.into_iter().for_each(|noun| self.ask(noun));
        self.tell(&batch);
        if let Some(tag) = batch.form {
            self.conclude_form(tag, batch);
        }
        self.dirty = true;
    }

    /// What one answer changes beyond the lists.
    fn take_answer(&mut self, job: &Job, answer: &Answer) {
        match (&job.call, answer) {
            // What it recorded stays, here and in the archive.
            (Call::DeleteLogger { logger, .. }, _) if self.scope.logger == Some(*logger) => {
                super::moves::set_scope(self, Scope { logger: None, ..self.scope.clone() });
            }
            (Call::DeleteTarget(id), _) if self.scope.target == Some(*id) => {
                super::moves::set_scope(self, Scope { target: None, ..self.scope.clone() });
            }
            (Call::DeleteScan(id), _) if self.scope.scan == Some(*id) => {
                super::moves::set_scope(self, Scope { scan: None, ..self.scope.clone() });
            }
            (_, Answer::Text(text)) => self.show_text(job.about.clone(), text.as_str()),
            _ => {}
        }
    }

    /// The one thing that was made becomes the selection as soon as its list tells of it.
    fn select_when_there(&mut self, job: &Job, answer: &Answer) {
        match (&job.call, answer) {
            (Call::CreateWorkspace(_), Answer::Created(id)) => self.lists.workspaces.want((*id).into()),
            (Call::CreateTarget(_), Answer::Created(id)) => self.lists.targets.want((*id).into()),
            (Call::CreateLogger { .. }, Answer::Created(id)) => self.lists.loggers.want((*id).into()),
            (Call::CreateReport(_), Answer::Report(id)) => self.lists.reports.want(*id),
            (Call::StartScan(_), Answer::Scan(scan)) => {
                if let Some(id) = scan.created_id {
                    self.lists.scans.want(id);
                }
            }
            _ => {}
        }
    }

    /// One sentence about what was done, and one about what was not.
    fn tell(&mut self, batch: &Batch) {
        let mut done = batch.jobs.iter().filter_map(|(job, state)| match state {
            State::Done(answer) => Some((job, answer)),
            _ => None,
        });
        let count = batch.progress().done;
        match (done.next(), count) {
            (Some((job, answer)), 1) => self.tell_one(batch.verb, job, answer),
            (Some((job, _)), count) if matches!(job.call, Call::StartScan(_)) => {
                self.say(Tone::Good, format!("{}: {count} scans started", batch.verb));
            }
            (Some(_), count) => {
                let emptied = emptied(batch).map(|emptied| format!("; {emptied}")).unwrap_or_default();
                self.say(Tone::Good, format!("{}: {count} done{emptied}", batch.verb));
            }
            (None, _) => {}
        }
        let refused: Vec<(&Job, &Problem)> = batch
            .jobs
            .iter()
            .filter_map(|(job, state)| match state {
                State::Refused(problem) => Some((job, problem)),
                _ => None,
            })
            .collect();
        let form_is_open = batch.form.is_some_and(|tag| self.form_sent(tag).is_some());
        match refused.first() {
            Some((job, problem)) if !form_is_open || refused.len() > 1 => {
                let more = if refused.len() > 1 { format!(" (and {} more)", refused.len() - 1) } else { String::new() };
                self.say_problem(&format!("{} {}{more}", batch.verb, job.about), problem);
            }
            _ => {}
        }
    }

    fn tell_one(&mut self, verb: &str, job: &Job, answer: &Answer) {
        match answer {
            Answer::Text(_) => {}
            Answer::Saved(path) => self.say(Tone::Good, format!("written: {}", path.display())),
            Answer::NotReady => self.say(Tone::Plain, format!("{} is not made yet: try again in a moment", job.about)),
            Answer::NoData => self.say(Tone::Bad, format!("{}: the service has no data for it", job.about)),
            Answer::Report(id) => {
                self.say(Tone::Good, format!("report {id} is being made; 6 shows it, d downloads it"))
            }
            Answer::Created(id) if matches!(job.call, Call::CreateLogger { .. }) => {
                self.say(Tone::Good, format!("{} is there (id {id}); y u copies its URL", job.about));
            }
            Answer::Status(status) => self.say(Tone::Good, format!("{}: answered {status}", job.about)),
            Answer::Emptied(emptied) => {
                let done = if matches!(job.call, Call::ClearLogger { .. }) { "cleared" } else { "deleted" };
                self.say(Tone::Good, format!("{done} {}: {emptied}", job.about));
            }
            _ => self.say(Tone::Good, format!("{verb}: {}", job.about)),
        }
    }

    /// The form of this tag that waits for its answer.
    fn form_sent(&mut self, tag: FormTag) -> Option<&mut Form> {
        self.modals.iter_mut().find_map(|modal| match modal {
            Modal::Form(form) if form.tag == tag && form.sending => Some(&mut **form),
            _ => None,
        })
    }

    /// The form closes when everything was taken; otherwise it stays with what was refused, and why.
    fn conclude_form(&mut self, tag: FormTag, batch: Batch) {
        let all_done = batch.progress().done == batch.jobs.len();
        if all_done {
            self.drafts.remove(&tag);
            self.clear_used_marks(tag);
        }
        let Some(form) = self.form_sent(tag) else { return };
        if all_done && !form.has_lines_left() {
            self.modals.retain(|modal| !matches!(modal, Modal::Form(form) if form.tag == tag));
            return;
        }
        let left = batch.jobs.into_iter().filter_map(|(job, state)| match state {
            State::Refused(problem) => Some((job, Some(problem))),
            State::Cancelled => Some((job, None)),
            _ => None,
        });
        form.keep_only(left.collect());
        self.check_form();
    }

    /// What was acted on needs its marks no more.
    fn clear_used_marks(&mut self, tag: FormTag) {
        match tag {
            FormTag::NewScan => self.lists.targets.marks.clear(),
            FormTag::NewReport => {
                self.lists.findings.marks.clear();
                self.lists.scans.marks.clear();
            }
            _ => {}
        }
    }
}

/// What was archived before the service forgot it, of all jobs.
fn emptied(batch: &Batch) -> Option<Emptied> {
    let emptied = batch.jobs.iter().filter_map(|(_, state)| match state {
        State::Done(Answer::Emptied(emptied)) => Some(*emptied),
        _ => None,
    });
    emptied.reduce(|mut sum, more| {
        sum += more;
        sum
    })
}

/// The lists that a call changes.
fn changed_by(call: &Call) -> &'static [Noun] {
    match call {
        Call::CreateWorkspace(_) | Call::EditWorkspace(..) | Call::DeleteWorkspace(_) => &[Noun::Workspaces],
        Call::CreateTarget(_) => &[Noun::Targets, Noun::Workspaces],
        Call::DeleteTarget(_) => &[Noun::Targets, Noun::Scans, Noun::Findings, Noun::Workspaces],
        Call::StartScan(scan) if scan.target_name.is_some() => &[Noun::Scans, Noun::Targets, Noun::Workspaces],
        Call::StartScan(_) => &[Noun::Scans, Noun::Workspaces],
        Call::StopScan(_) => &[Noun::Scans],
        Call::DeleteScan(_) => &[Noun::Scans, Noun::Findings, Noun::Workspaces],
        Call::CreateLogger { .. } => &[Noun::Loggers],
        Call::DeleteLogger { .. } | Call::ClearLogger { .. } => &[Noun::Loggers, Noun::Captures],
        Call::CreateReport(_) | Call::DeleteReport(_) => &[Noun::Reports],
        Call::DeleteWordlist(_) => &[Noun::Wordlists],
        Call::DownloadReport(..) | Call::WordlistContents(_) | Call::DownloadWordlist(..) | Call::Replay(_) => &[],
    }
}
