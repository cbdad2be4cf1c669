//! The end of a batch: changed lists are fetched, and the form closes or shows the refusals.

use crate::client::Problem;
use crate::dashboard::base::{Batch, Call, CallAnswer, FormTag, Job, JobState, ListKind, Pane, Tone};
use crate::dashboard::forms::Form;
use crate::dashboard::input::Context;
use crate::dashboard::input::action::{Action, CopyAction, ItemAction, ViewAction};
use crate::dashboard::model::navigation::set_scope;
use crate::dashboard::model::{Modal, Model};
use crate::oob::ClearedRequests;
use crate::text::plural;

impl Model {
    /// A batch is over.
    pub(crate) fn conclude(&mut self, batch: Batch) {
        let mut lists: Vec<ListKind> = Vec::new();
        for (job, state) in &batch.jobs {
            if let JobState::Done(answer) = state {
                lists.extend(changed_by(&job.call));
                self.take_answer(job, answer);
                if batch.jobs.len() == 1 {
                    self.select_created(job, answer);
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
    }

    /// Removes a deleted object from the scope, and shows a text that was fetched.
    fn take_answer(&mut self, job: &Job, answer: &CallAnswer) {
        let mut scope = self.navigation.scope.clone();
        match (&job.call, answer) {
            (Call::DeleteLogger { logger, .. }, _) if scope.logger == Some(*logger) => scope.logger = None,
            (Call::DeleteTarget(id), _) if scope.target == Some(*id) => scope.target = None,
            (Call::DeleteScan(id), _) if scope.scan == Some(*id) => scope.scan = None,
            (_, CallAnswer::Text(text)) => return self.show_text(job.about.clone(), text.as_str()),
            _ => return,
        }
        set_scope(self, scope);
    }

    /// Selects the one object that was created as soon as its list contains it.
    fn select_created(&mut self, job: &Job, answer: &CallAnswer) {
        let (pane, id) = match (&job.call, answer) {
            (Call::CreateWorkspace(_), CallAnswer::Created(id)) => (Pane::Workspaces, *id),
            (Call::CreateTarget(_), CallAnswer::Created(id)) => (Pane::Targets, *id),
            (Call::CreateLogger { .. }, CallAnswer::Created(id)) => (Pane::Loggers, *id),
            (Call::CreateReport(_), CallAnswer::Report(id)) => (Pane::Reports, id.0),
            (Call::StartScan(_), CallAnswer::Scan(scan)) => match scan.created_id {
                Some(id) => (Pane::Scans, id.0),
                None => return,
            },
            _ => return,
        };
        self.lists.want(pane, id);
        // Its list may have been fetched before this answer.
        self.show_rows(pane);
    }

    /// Shows one notice about the finished jobs, and one about the refused ones.
    fn tell(&mut self, batch: &Batch) {
        let past = past(batch.verb);
        let mut done = batch.jobs.iter().filter_map(|(job, state)| match state {
            JobState::Done(answer) => Some((job, answer)),
            _ => None,
        });
        match (done.next(), batch.progress().done) {
            (Some((job, answer)), 1) => self.tell_one(past, job, answer),
            (Some((job, _)), count) => {
                let emptied = emptied(batch).map(|emptied| format!("; {emptied}")).unwrap_or_default();
                self.say(Tone::Good, format!("{} {past}{emptied}", plural(count, noun(&job.call))));
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
                self.say_problem(&format!("{}{more} not {past}", job.about), problem);
            }
            _ => {}
        }
    }

    fn tell_one(&mut self, past: &str, job: &Job, answer: &CallAnswer) {
        match answer {
            CallAnswer::Text(_) => {}
            CallAnswer::Saved(path) => self.say(Tone::Good, format!("saved to {}", path.display())),
            CallAnswer::NotReady => self.say(Tone::Plain, format!("{} is not ready yet", job.about)),
            CallAnswer::NoData => self.say(Tone::Bad, format!("{}: no data on the service", job.about)),
            CallAnswer::Report(id) => {
                let keys = self.report_keys();
                self.say(Tone::Good, format!("report {id} requested; {keys}"));
            }
            CallAnswer::Created(id) if matches!(job.call, Call::CreateLogger { .. }) => {
                let copy = self.key_label(Context::Copy, Action::Copy(CopyAction::Url));
                self.say(Tone::Good, format!("{} created (id {id}); {copy} copies its URL", job.about));
            }
            CallAnswer::Status(status) => self.say(Tone::Good, format!("{} sent: status {status}", job.about)),
            CallAnswer::Emptied(emptied) => {
                self.say(Tone::Good, format!("{} {past}: {emptied}", job.about));
            }
            CallAnswer::Done | CallAnswer::Created(_) | CallAnswer::Scan(_) => {
                self.say(Tone::Good, format!("{} {past}", job.about));
            }
        }
    }

    /// The keys that show and download a report, for notices.
    pub(crate) fn report_keys(&self) -> String {
        let show = self.key_label(Context::Everywhere, Action::View(ViewAction::Reports));
        let download = self.key_label(Context::Reports, Action::Item(ItemAction::Download));
        format!("{show} shows it, {download} downloads it")
    }

    /// The form of this tag that waits for its answer.
    fn form_sent(&mut self, tag: FormTag) -> Option<&mut Form> {
        self.overlay.modals.iter_mut().find_map(|modal| match modal {
            Modal::Form(form) if form.tag == tag && form.sending => Some(&mut **form),
            _ => None,
        })
    }

    /// Closes the form when all jobs are done; otherwise it keeps the refused input and the reasons.
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

    /// Clears the marks of the rows that the form was about.
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

/// Sum of the requests that were archived before the service deleted them.
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

/// The participle of a verb, for notices.
fn past(verb: &str) -> &str {
    match verb {
        "add" => "added",
        "clear" => "cleared",
        "create" => "created",
        "delete" => "deleted",
        "download" => "downloaded",
        "retest" | "start" => "started",
        "save" => "saved",
        "send again" => "sent",
        "stop" => "stopped",
        other => other,
    }
}

/// The kind of object that a call is about, for notices.
fn noun(call: &Call) -> &'static str {
    match call {
        Call::CreateWorkspace(_) | Call::EditWorkspace(..) | Call::DeleteWorkspace(_) => "workspace",
        Call::CreateTarget(_) | Call::DeleteTarget(_) => "target",
        Call::StartScan(_) | Call::StopScan(_) | Call::DeleteScan(_) => "scan",
        Call::CreateLogger { .. } | Call::DeleteLogger { .. } | Call::ClearLogger { .. } => "logger",
        Call::CreateReport(_) | Call::DeleteReport(_) | Call::DownloadReport(..) => "report",
        Call::DeleteWordlist(_) | Call::WordlistContents(_) | Call::DownloadWordlist(..) => "wordlist",
        Call::Replay(_) => "request",
    }
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
