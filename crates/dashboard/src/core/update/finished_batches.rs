//! The end of a batch: changed lists are fetched, and the form closes or shows the refusals.

use crate::base::{
    Batch, Call, CallAnswer, FormTag, Job, JobState, ListKind, Pane, RowRef, Scope, Tone,
};
use crate::forms::{Form, cause_of, message_of};
use crate::input::Context;
use crate::input::action::{Action, CopyAction, ItemAction, ViewAction};
use crate::model::navigation::set_scope;
use crate::model::{Modal, Model};
use crate::reports::form::refused_formats;
use crate::targets::form::scope_prompt;
use scandeck_domain::oob::ClearedRequests;
use scandeck_domain::problem::Problem;
use scandeck_wire::contract::import::{FileImport, ImportedScan};
use scandeck_wire::text::plural;

impl Model {
    /// A batch is over.
    pub(crate) fn conclude(&mut self, batch: Batch) {
        let mut lists: Vec<ListKind> = Vec::new();
        for (job, answer) in batch.done() {
            let subject = CallSubject::of(&job.call);
            lists.extend(subject.lists);
            self.drop_from_scope(&subject.deleted);
            if let CallAnswer::Text(text) = answer {
                self.show_text(job.about.clone(), text.as_str());
            }
            if let (1, Some(&list), Some(id)) =
                (batch.jobs.len(), subject.lists.first(), created(answer))
            {
                // It is selected as soon as its list contains it; the list may have been fetched
                // before this answer.
                self.lists
                    .select_when_loaded(Pane::of_list(list), RowRef::Item(id));
                self.show_rows(Pane::of_list(list));
            }
        }
        for (job, _) in batch
            .refused()
            .filter(|(job, problem)| is_unknown(job, problem))
        {
            // The lists show what the service did.
            lists.extend(CallSubject::of(&job.call).lists);
            self.watch_outcome(job, past(batch.verb), &batch.existing);
        }
        for (job, problem) in batch.refused() {
            let formats = refused_formats(&job.call, problem).into_iter();
            self.calls
                .refused_formats
                .extend(formats.map(|format| (format, message_of(problem))));
        }
        self.pass_on_refused_formats();
        lists.sort();
        lists.dedup();
        lists
            .into_iter()
            .for_each(|list| self.request_refresh(list));
        self.notify_outcome(&batch);
        let can_extend = self.session.starts_service
            && !self.session.read_only
            && batch.form == Some(FormTag::NewTargets);
        let prompt = if can_extend {
            scope_prompt(batch.refused())
        } else {
            None
        };
        if let Some(tag) = batch.form {
            self.conclude_form(tag, batch);
        }
        if let Some(prompt) = prompt {
            self.open_prompt(prompt);
        }
    }

    fn drop_from_scope(&mut self, deleted: &Scope) {
        let mut scope = self.navigation.scope.clone();
        scope.target = scope.target.filter(|_| scope.target != deleted.target);
        scope.scan = scope.scan.filter(|_| scope.scan != deleted.scan);
        scope.logger = scope.logger.filter(|_| scope.logger != deleted.logger);
        set_scope(self, scope);
    }

    /// Shows one notice about the finished jobs, and one about the refused ones.
    fn notify_outcome(&mut self, batch: &Batch) {
        let past = past(batch.verb);
        match (batch.done().next(), batch.progress().done) {
            (Some((job, answer)), 1) => self.notify_done(past, job, answer),
            (Some((job, _)), count) => {
                let emptied = emptied(batch)
                    .map(|emptied| format!("; {emptied}"))
                    .unwrap_or_default();
                self.notify(
                    Tone::Good,
                    format!(
                        "{} {past}{emptied}",
                        plural(count, CallSubject::of(&job.call).noun)
                    ),
                );
            }
            (None, _) => {}
        }
        let form_is_open = batch
            .form
            .is_some_and(|tag| self.form_of(tag, batch).is_some());
        // The form of new targets counts them itself.
        let form_counts = form_is_open && batch.form == Some(FormTag::NewTargets);
        let refused = batch.progress().refused;
        let more = if refused > 1 {
            format!(" (and {} more)", refused - 1)
        } else {
            String::new()
        };
        match batch.refused().next() {
            Some((job, problem)) if is_unknown(job, problem) => {
                let doubt = format!(
                    "outcome unknown: the service may have {past} {}{more}; checking",
                    job.about
                );
                self.notify(
                    Tone::Bad,
                    format!("{doubt} · {}", scandeck_wire::text::clean(problem.brief())),
                );
            }
            Some((job, _)) if batch.form.is_some() && refused > 1 && !form_counts => {
                let refused = plural(refused, CallSubject::of(&job.call).noun);
                self.notify(
                    Tone::Bad,
                    format!("{refused} not {past}: {}", causes(batch)),
                );
            }
            Some((job, problem)) if !form_is_open => {
                let what = if repeats(job) { "repeat of " } else { "" };
                self.notify_problem(&format!("{what}{}{more} not {past}", job.about), problem);
            }
            Some(_) | None => {}
        }
    }

    fn notify_done(&mut self, past: &str, job: &Job, answer: &CallAnswer) {
        match answer {
            CallAnswer::Text(_) => {}
            CallAnswer::Saved(path) => {
                self.notify(Tone::Good, format!("saved to {}", path.display()))
            }
            CallAnswer::NotReady => {
                self.notify(Tone::Plain, format!("{} is not ready yet", job.about))
            }
            CallAnswer::NoData => self.notify(
                Tone::Bad,
                format!("{} is empty: no findings pass its filters", job.about),
            ),
            CallAnswer::Report(id) => {
                let keys = self.report_keys();
                self.notify(Tone::Good, format!("report {id} requested · {keys}"));
            }
            CallAnswer::Created(id) if matches!(job.call, Call::CreateLogger { .. }) => {
                let copy = self.key_label(Context::Copy, Action::Copy(CopyAction::Url));
                self.notify(
                    Tone::Good,
                    format!("{} created (id {id}) · {copy} copies its URL", job.about),
                );
            }
            CallAnswer::Status(status) => {
                self.notify(Tone::Good, format!("{} sent: status {status}", job.about))
            }
            CallAnswer::Proof(proof) => self.notify(Tone::Plain, proof.phrase()),
            CallAnswer::Imported(import) => {
                self.notify(Tone::Good, imported(&job.about, import));
            }
            CallAnswer::Emptied(emptied) => {
                self.notify(Tone::Good, format!("{} {past}: {emptied}", job.about));
            }
            CallAnswer::Scan(scan) if repeats(job) => {
                let new = scan
                    .created_id
                    .map_or_else(|| "scan".to_owned(), |id| format!("scan {id}"));
                self.notify(Tone::Good, format!("{new} {past}: repeats {}", job.about));
            }
            CallAnswer::Done | CallAnswer::Created(_) | CallAnswer::Scan(_) => {
                self.notify(Tone::Good, format!("{} {past}", job.about));
            }
        }
    }

    /// The keys that show and download a report, for notices.
    pub(crate) fn report_keys(&self) -> String {
        let show = self.key_label(Context::Everywhere, Action::View(ViewAction::Reports));
        let download = self.key_label(Context::Reports, Action::Item(ItemAction::Download));
        format!("{show} then {download} downloads the report")
    }

    /// The open form that waits for the answer to this batch.
    fn form_of(&mut self, tag: FormTag, batch: &Batch) -> Option<&mut Form> {
        let mut forms = self
            .overlay
            .modals
            .iter_mut()
            .filter_map(Modal::try_as_form_mut);
        forms
            .find(|form| form.tag == tag && form.waits_for(&batch.jobs))
            .map(|form| &mut **form)
    }

    /// Closes the form when all jobs are done; otherwise it, or its draft, keeps the refused input
    /// and the reasons.
    fn conclude_form(&mut self, tag: FormTag, batch: Batch) {
        let all_done = batch.progress().done == batch.jobs.len();
        let is_draft = self
            .overlay
            .drafts
            .get(&tag)
            .is_some_and(|draft| draft.waits_for(&batch.jobs));
        if all_done && is_draft {
            self.overlay.drafts.remove(&tag);
        }
        if all_done
            && self
                .form_of(tag, &batch)
                .is_some_and(|form| !form.has_lines_left())
        {
            self.overlay
                .modals
                .retain(|modal| !matches!(modal, Modal::Form(form) if form.tag == tag));
            return;
        }
        let jobs = batch.jobs.clone();
        let left = jobs.into_iter().filter_map(|(job, state)| match state {
            JobState::Refused(problem) if problem.is_outcome_unknown => {
                let message = format!("outcome unknown, checking: {}", problem.message);
                // Trying again could create the object twice.
                let hint =
                    Some("the list shows whether the service carried out the request".to_owned());
                Some((
                    job,
                    Some(Problem {
                        message,
                        hint,
                        ..problem
                    }),
                ))
            }
            JobState::Refused(problem) => Some((job, Some(problem))),
            JobState::Cancelled => Some((job, None)),
            JobState::Waiting | JobState::InFlight(_) | JobState::Done(_) => None,
        });
        let left = left.collect();
        if let Some(form) = self.form_of(tag, &batch) {
            form.keep_refused(left);
            self.check_form();
        } else if let Some(draft) = self.overlay.drafts.get_mut(&tag).filter(|_| is_draft) {
            draft.keep_refused(left);
        }
    }
}

/// Greatest width of a cause, so that a notice with it has one line.
const CAUSE: usize = 44;

/// The first cause of refusals in a few words, without the object, and whether there are others.
fn causes(batch: &Batch) -> String {
    let mut causes = batch
        .refused()
        .map(|(job, problem)| cause_of(job.about.rsplit(' ').next().unwrap_or_default(), problem));
    let first = causes.next().unwrap_or_default();
    let others = if causes.any(|cause| cause != first) {
        ", and other causes"
    } else {
        ""
    };
    format!("{}{others}", scandeck_wire::text::start(&first, CAUSE))
}

/// Whether a job starts a scan again with the parameters of an earlier one.
fn repeats(job: &Job) -> bool {
    matches!(job.call, Call::StartScan(_)) && !job.about.starts_with("scan of ")
}

/// Whether the service may have carried out a change although the call failed.
fn is_unknown(job: &Job, problem: &Problem) -> bool {
    problem.is_outcome_unknown && !CallSubject::of(&job.call).lists.is_empty()
}

/// Sum of the requests that were archived before the service deleted them.
fn emptied(batch: &Batch) -> Option<ClearedRequests> {
    let emptied = batch
        .done()
        .filter_map(|(_, answer)| answer.try_as_emptied_ref())
        .copied();
    emptied.reduce(|mut sum, more| {
        sum += more;
        sum
    })
}

/// `results.jsonl imported: 2 scans with 12 findings, 3 results skipped`.
fn imported(about: &str, import: &FileImport) -> String {
    let scans = plural(scans_of(import).count(), "scan");
    let count: i64 = scans_of(import).map(|scan| scan.findings).sum();
    let findings = plural(usize::try_from(count).unwrap_or(0), "finding");
    match import.same_as {
        None => format!(
            "{about} imported: {scans} with {findings}{}",
            skipped_words(import)
        ),
        Some(_) => format!("{about} was imported before: {scans} with {findings}, unchanged"),
    }
}

/// Results that are no findings, such as repeated ones, which the form counts too.
fn skipped_words(import: &FileImport) -> String {
    let skipped = import.files.iter().flat_map(|file| &file.skipped);
    match skipped.map(|results| results.count).sum::<i64>() {
        0 => String::new(),
        count => {
            let results = plural(usize::try_from(count).unwrap_or(0), "result");
            format!(", {results} skipped")
        }
    }
}

fn scans_of(import: &FileImport) -> impl Iterator<Item = &ImportedScan> {
    import.files.iter().flat_map(|file| &file.scans)
}

/// The participle of a verb, for notices.
fn past(verb: &str) -> &str {
    match verb {
        "add" => "added",
        "clear" => "cleared",
        "create" => "created",
        "delete" => "deleted",
        "download" => "downloaded",
        "import" => "imported",
        "retest" | "start" => "started",
        "save" => "saved",
        "send again" => "sent",
        "stop" => "stopped",
        other => other,
    }
}

/// The object of a call.
struct CallSubject {
    /// The kind of object, for notices.
    noun: &'static str,
    /// The lists that it changes, that of the object first.
    lists: &'static [ListKind],
    /// The object that it deletes.
    deleted: Scope,
}

impl CallSubject {
    fn of(call: &Call) -> Self {
        use ListKind::{
            Captures, Findings, Loggers, Reports, Scans, Schedules, Targets, Wordlists, Workspaces,
        };
        let mut deleted = Scope::default();
        let (noun, lists): (_, &[ListKind]) = match call {
            Call::CreateWorkspace(_) | Call::EditWorkspace(..) | Call::DeleteWorkspace(_) => {
                ("workspace", &[Workspaces])
            }
            Call::CreateTarget(_) => ("target", &[Targets, Workspaces]),
            Call::ChangeTargetTags(..) => ("target", &[Targets]),
            Call::DeleteTarget(id) => {
                deleted.target = Some(*id);
                ("target", &[Targets, Scans, Findings, Workspaces])
            }
            Call::StartScan(scan) if scan.target_name.is_some() => {
                ("scan", &[Scans, Targets, Workspaces])
            }
            Call::StartScan(_) => ("scan", &[Scans, Workspaces]),
            Call::StopScan(_) => ("scan", &[Scans]),
            Call::DeleteScan(id) => {
                deleted.scan = Some(*id);
                ("scan", &[Scans, Findings, Workspaces])
            }
            Call::CreateLogger { .. } => ("logger", &[Loggers]),
            Call::ClearLogger { .. } => ("logger", &[Loggers, Captures]),
            Call::DeleteLogger { logger, .. } => {
                deleted.logger = Some(*logger);
                ("logger", &[Loggers, Captures])
            }
            Call::CreateReport(_) | Call::DeleteReport(_) => ("report", &[Reports]),
            Call::DownloadReport(..) => ("report", &[]),
            Call::ImportFile(_) => ("file", &[Scans, Targets, Findings, Workspaces]),
            Call::DeleteWordlist(_) => ("wordlist", &[Wordlists]),
            Call::CreateSchedule(_)
            | Call::PauseSchedule(_)
            | Call::ResumeSchedule(_)
            | Call::DeleteSchedule(_) => ("schedule", &[Schedules]),
            Call::WordlistContents(_) | Call::DownloadWordlist(..) => ("wordlist", &[]),
            Call::UnattributedRequests => ("unattributed requests", &[]),
            Call::Replay(_) | Call::Prove(_) => ("request", &[]),
        };
        Self {
            noun,
            lists,
            deleted,
        }
    }
}

/// The id of the object that a call created.
fn created(answer: &CallAnswer) -> Option<i64> {
    match answer {
        CallAnswer::Created(id) => Some(*id),
        CallAnswer::Report(id) => Some(id.0),
        CallAnswer::Scan(scan) => scan.created_id.map(|id| id.0),
        CallAnswer::Imported(import) => scans_of(import).next().map(|scan| scan.id.0),
        CallAnswer::Done
        | CallAnswer::Saved(_)
        | CallAnswer::NotReady
        | CallAnswer::NoData
        | CallAnswer::Text(_)
        | CallAnswer::Emptied(_)
        | CallAnswer::Status(_)
        | CallAnswer::Proof(_) => None,
    }
}
