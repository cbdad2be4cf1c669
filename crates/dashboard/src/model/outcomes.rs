//! Creations whose outcome is unknown: no response came, or one that does not say, and the list of
//! the service decides.
//!
//! ```text
//!   call ─► no response ─► notice, its list is read ─► a new object in it ─► notice
//!                            └─ the same call within a minute ─► prompt
//! ```

use crate::base::{Batch, Call, Job, Pane, RowRef, Tone};
use crate::model::{Modal, Model};
use crate::prompts::{Prompt, Then};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long the list can decide, and the same call asks first.
const WATCH: Duration = Duration::from_secs(60);

/// A creation whose outcome is unknown.
#[derive(Clone, Debug)]
pub struct UnknownOutcome {
    job: Job,
    /// The participle for notices: `started`.
    past: String,
    /// The objects before the call.
    existing: BTreeSet<i64>,
    /// The object that appeared after it.
    found: Option<i64>,
    until: Duration,
}

impl Model {
    /// Watches the list of a creation for its object.
    pub(crate) fn watch_outcome(&mut self, job: &Job, past: &str, existing: &BTreeSet<i64>) {
        if created_in(&job.call).is_some() {
            let (job, past, existing) = (job.clone(), past.to_owned(), existing.clone());
            let until = self.now.mono + WATCH;
            self.calls
                .unknown
                .retain(|unknown| unknown.job.call != job.call);
            self.calls.unknown.push(UnknownOutcome {
                job,
                past,
                existing,
                found: None,
                until,
            });
            self.find_outcomes();
        }
    }

    /// Reports objects that have appeared, and creations that were not carried out as far as the
    /// service lists.
    pub(crate) fn find_outcomes(&mut self) {
        let mut unknown = std::mem::take(&mut self.calls.unknown);
        for one in unknown.iter_mut().filter(|one| one.found.is_none()) {
            if let Some((pane, id)) = self.created_since(&one.job.call, &one.existing) {
                one.found = Some(id);
                self.lists.select_when_loaded(pane, RowRef::Item(id));
                self.notify(
                    Tone::Good,
                    format!(
                        "{} {} (id {id}), although its response was lost",
                        one.job.about, one.past
                    ),
                );
            }
        }
        let now = self.now.mono;
        for one in unknown.extract_if(.., |one| one.until <= now) {
            if one.found.is_none() {
                self.notify(
                    Tone::Plain,
                    format!(
                        "{} not {}: the service does not list it",
                        one.job.about, one.past
                    ),
                );
            }
        }
        self.calls.unknown = unknown;
    }

    /// The time at which the next watch ends.
    pub(crate) fn outcomes_end(&self) -> Option<Duration> {
        self.calls.unknown.iter().map(|one| one.until).min()
    }

    /// The objects of the list in which the batch creates some.
    pub(crate) fn existing_before(&self, batch: &Batch) -> BTreeSet<i64> {
        let pane = batch
            .jobs
            .first()
            .and_then(|(job, _)| created_in(&job.call));
        pane.map(|pane| self.data.ids(pane)).unwrap_or_default()
    }

    /// The question before a creation that may have been carried out already.
    pub(crate) fn question_before(&mut self, batch: &Batch) -> Option<Prompt> {
        let repeats =
            |one: &&UnknownOutcome| batch.jobs.iter().any(|(job, _)| job.call == one.job.call);
        let one = self.calls.unknown.iter().find(repeats)?;
        let line = match one.found {
            Some(id) => format!(
                "The service has already {} {} (id {id}).",
                one.past, one.job.about
            ),
            None => format!(
                "The service may already have {} {}: the first request got no response.",
                one.past, one.job.about
            ),
        };
        let question = format!("{} again: {}?", capitalized(batch.verb), one.job.about);
        let prompt = Prompt::new(question, Then::Repeat(Box::new(batch.clone()))).with_line(line);
        for modal in &mut self.overlay.modals {
            if let (Modal::Form(form), Some(tag)) = (modal, batch.form)
                && form.tag == tag
            {
                form.sending = false;
            }
        }
        Some(prompt)
    }

    /// The object that a call created, if its list has one that was not known before.
    fn created_since(&self, call: &Call, existing: &BTreeSet<i64>) -> Option<(Pane, i64)> {
        let is_new = |id: i64| !existing.contains(&id);
        let data = &self.data;
        let id = match call {
            Call::StartScan(new) => {
                data.scans
                    .value()?
                    .items()
                    .iter()
                    .rfind(|scan| {
                        let is_of_target =
                            new.target_id.is_none_or(|target| scan.target_id == target);
                        is_new(scan.id.0) && scan.tool_id == new.tool_id && is_of_target
                    })?
                    .id
                    .0
            }
            Call::CreateTarget(new) => {
                data.targets
                    .value()?
                    .items()
                    .iter()
                    .rfind(|target| is_new(target.id.0) && *target.name == *new.name)?
                    .id
                    .0
            }
            Call::CreateWorkspace(new) => {
                let named = |name: &str| name == new.name;
                data.workspaces
                    .value()?
                    .items()
                    .iter()
                    .rfind(|one| is_new(one.id.0) && named(&one.name))?
                    .id
                    .0
            }
            Call::CreateLogger { label, .. } => {
                data.loggers
                    .value()?
                    .items()
                    .iter()
                    .rfind(|one| is_new(one.id.0) && *one.label == **label)?
                    .id
                    .0
            }
            Call::CreateReport(_) => {
                data.reports
                    .value()?
                    .items()
                    .iter()
                    .rfind(|report| is_new(report.id.0))?
                    .id
                    .0
            }
            _ => return None,
        };
        Some((created_in(call)?, id))
    }
}

/// The list in which a call creates an object.
fn created_in(call: &Call) -> Option<Pane> {
    match call {
        Call::CreateWorkspace(_) => Some(Pane::Workspaces),
        Call::CreateTarget(_) => Some(Pane::Targets),
        Call::StartScan(_) => Some(Pane::Scans),
        Call::CreateLogger { .. } => Some(Pane::Loggers),
        Call::CreateReport(_) => Some(Pane::Reports),
        Call::CreateSchedule(_) => Some(Pane::Schedules),
        Call::EditWorkspace(..)
        | Call::DeleteWorkspace(_)
        | Call::DeleteTarget(_)
        | Call::ChangeTargetTags(..)
        | Call::StopScan(_)
        | Call::DeleteScan(_)
        | Call::DeleteLogger { .. }
        | Call::ClearLogger { .. }
        | Call::DeleteReport(_)
        | Call::DownloadReport(..)
        | Call::ImportFile(_)
        | Call::DeleteWordlist(_)
        | Call::PauseSchedule(_)
        | Call::ResumeSchedule(_)
        | Call::DeleteSchedule(_)
        | Call::WordlistContents(_)
        | Call::UnattributedRequests
        | Call::DownloadWordlist(..)
        | Call::Replay(_)
        | Call::Prove(_) => None,
    }
}

pub(crate) fn capitalized(verb: &str) -> String {
    let mut letters = verb.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}
