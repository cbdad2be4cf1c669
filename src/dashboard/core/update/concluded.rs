//! What follows when all calls of a wish are answered: lists are read anew, the form closes or says what was refused.

use crate::client::Problem;
use crate::dashboard::base::{Batch, Call, CallAnswer, FormTag, Job, JobState, ListKind, Scope, Tone};
use crate::dashboard::forms::Form;
use crate::dashboard::model::{Modal, Model};
use crate::oob::ClearedRequests;

impl Model {
    /// A batch is over.
    pub(crate) fn conclude(&mut self, batch: Batch) {
        let mut lists: Vec<ListKind> = Vec::new();
        for (job, state) in &batch.jobs {
            if let JobState::Done(answer) = state {
                lists.extend(changed_by(&job.call));
                self.take_answer(job, answer);
                if batch.jobs.len() == 1 {
                    self.select_when_there(job, answer);
                }
            }
        }
        lists.sort();
        lists.dedup();
        lists.into_iter().for_each(|list| self.ask(list));
        self.tell(&batch);
        if let Some(tag) = batch.form {
            self.conclude_form(tag, batch);
        }
        self.screen.dirty = true;
    }

    /// What one answer changes beyond the lists.
    fn take_answer(&mut self, job: &Job, answer: &CallAnswer) {
        match (&job.call, answer) {
            // What it recorded stays, here and in the archive.
            (Call::DeleteLogger { logger, .. }, _) if self.navigation.scope.logger == Some(*logger) => {
                crate::dashboard::model::navigation::set_scope(
                    self,
                    Scope { logger: None, ..self.navigation.scope.clone() },
                );
            }
            (Call::DeleteTarget(id), _) if self.navigation.scope.target == Some(*id) => {
                crate::dashboard::model::navigation::set_scope(
                    self,
                    Scope { target: None, ..self.navigation.scope.clone() },
                );
            }
            (Call::DeleteScan(id), _) if self.navigation.scope.scan == Some(*id) => {
                crate::dashboard::model::navigation::set_scope(
                    self,
                    Scope { scan: None, ..self.navigation.scope.clone() },
                );
            }
            (_, CallAnswer::Text(text)) => self.show_text(job.about.clone(), text.as_str()),
            _ => {}
        }
    }

    /// The one thing that was made becomes the selection as soon as its list tells of it.
    fn select_when_there(&mut self, job: &Job, answer: &CallAnswer) {
        match (&job.call, answer) {
            (Call::CreateWorkspace(_), CallAnswer::Created(id)) => self.lists.workspaces.want((*id).into()),
            (Call::CreateTarget(_), CallAnswer::Created(id)) => self.lists.targets.want((*id).into()),
            (Call::CreateLogger { .. }, CallAnswer::Created(id)) => self.lists.loggers.want((*id).into()),
            (Call::CreateReport(_), CallAnswer::Report(id)) => self.lists.reports.want(*id),
            (Call::StartScan(_), CallAnswer::Scan(scan)) => {
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
            JobState::Done(answer) => Some((job, answer)),
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
                JobState::Refused(problem) => Some((job, problem)),
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

    fn tell_one(&mut self, verb: &str, job: &Job, answer: &CallAnswer) {
        match answer {
            CallAnswer::Text(_) => {}
            CallAnswer::Saved(path) => self.say(Tone::Good, format!("written: {}", path.display())),
            CallAnswer::NotReady => {
                self.say(Tone::Plain, format!("{} is not made yet: try again in a moment", job.about))
            }
            CallAnswer::NoData => self.say(Tone::Bad, format!("{}: the service has no data for it", job.about)),
            CallAnswer::Report(id) => {
                self.say(Tone::Good, format!("report {id} is being made; 6 shows it, d downloads it"))
            }
            CallAnswer::Created(id) if matches!(job.call, Call::CreateLogger { .. }) => {
                self.say(Tone::Good, format!("{} is there (id {id}); y u copies its URL", job.about));
            }
            CallAnswer::Status(status) => self.say(Tone::Good, format!("{}: answered {status}", job.about)),
            CallAnswer::Emptied(emptied) => {
                let done = if matches!(job.call, Call::ClearLogger { .. }) { "cleared" } else { "deleted" };
                self.say(Tone::Good, format!("{done} {}: {emptied}", job.about));
            }
            CallAnswer::Done | CallAnswer::Created(_) | CallAnswer::Scan(_) => {
                self.say(Tone::Good, format!("{verb}: {}", job.about));
            }
        }
    }

    /// The form of this tag that waits for its answer.
    fn form_sent(&mut self, tag: FormTag) -> Option<&mut Form> {
        self.overlay.modals.iter_mut().find_map(|modal| match modal {
            Modal::Form(form) if form.tag == tag && form.sending => Some(&mut **form),
            _ => None,
        })
    }

    /// The form closes when everything was taken; otherwise it stays with what was refused, and why.
    fn conclude_form(&mut self, tag: FormTag, batch: Batch) {
        let all_done = batch.progress().done == batch.jobs.len();
        if all_done {
            self.overlay.drafts.remove(&tag);
            self.clear_used_marks(tag);
        }
        let Some(form) = self.form_sent(tag) else { return };
        if all_done && !form.has_lines_left() {
            self.overlay.modals.retain(|modal| !matches!(modal, Modal::Form(form) if form.tag == tag));
            return;
        }
        let left = batch.jobs.into_iter().filter_map(|(job, state)| match state {
            JobState::Refused(problem) => Some((job, Some(problem))),
            JobState::Cancelled => Some((job, None)),
            _ => None,
        });
        form.keep_refused(left.collect());
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
fn emptied(batch: &Batch) -> Option<ClearedRequests> {
    let emptied = batch.jobs.iter().filter_map(|(_, state)| match state {
        JobState::Done(CallAnswer::Emptied(emptied)) => Some(*emptied),
        _ => None,
    });
    emptied.reduce(|mut sum, more| {
        sum += more;
        sum
    })
}

/// The lists that a call changes.
fn changed_by(call: &Call) -> &'static [ListKind] {
    match call {
        Call::CreateWorkspace(_) | Call::EditWorkspace(..) | Call::DeleteWorkspace(_) => &[ListKind::Workspaces],
        Call::CreateTarget(_) => &[ListKind::Targets, ListKind::Workspaces],
        Call::DeleteTarget(_) => &[ListKind::Targets, ListKind::Scans, ListKind::Findings, ListKind::Workspaces],
        Call::StartScan(scan) if scan.target_name.is_some() => {
            &[ListKind::Scans, ListKind::Targets, ListKind::Workspaces]
        }
        Call::StartScan(_) => &[ListKind::Scans, ListKind::Workspaces],
        Call::StopScan(_) => &[ListKind::Scans],
        Call::DeleteScan(_) => &[ListKind::Scans, ListKind::Findings, ListKind::Workspaces],
        Call::CreateLogger { .. } => &[ListKind::Loggers],
        Call::DeleteLogger { .. } | Call::ClearLogger { .. } => &[ListKind::Loggers, ListKind::Captures],
        Call::CreateReport(_) | Call::DeleteReport(_) => &[ListKind::Reports],
        Call::DeleteWordlist(_) => &[ListKind::Wordlists],
        Call::DownloadReport(..) | Call::WordlistContents(_) | Call::DownloadWordlist(..) | Call::Replay(_) => &[],
    }
}
