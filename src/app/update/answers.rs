//! What came of the effects: calls, copies, files, the editor, the first-start choice.

use std::path::PathBuf;

use super::super::batch::Batch;
use super::super::effect::{Answer, Effect, Ticket};
use super::super::modal::Modal;
use super::super::model::{Model, Session};
use super::super::msg::CopyFailed;
use super::super::notices::Tone;
use super::super::problem::Problem;

/// A call was answered.
pub(super) fn handle_called(
    model: &mut Model,
    ticket: Ticket,
    result: Result<Answer, Problem>,
    effects: &mut Vec<Effect>,
) {
    model.dirty = true;
    let Some(at) = model.batches.iter().position(|batch| batch.holds(ticket)) else { return };
    let mut batch = model.batches.remove(at);
    batch.answer(ticket, result);
    model.keep_retested(&batch, effects);
    model.send_next(&mut batch, effects);
    if batch.is_over() {
        model.conclude(batch);
    } else {
        model.batches.insert(at, batch);
    }
}

/// A copy was made, or not.
pub(super) fn handle_copied(model: &mut Model, result: Result<String, CopyFailed>) {
    match result {
        Ok(how) => model.say(Tone::Good, how),
        Err(CopyFailed { why, text }) => model.show_text(format!("Not copied: {why}"), text),
    }
}

/// A file was written, or not.
pub(super) fn handle_saved(model: &mut Model, result: Result<PathBuf, Problem>, effects: &mut Vec<Effect>) {
    match result {
        Ok(path) => {
            let what = super::payloads::hear_of_sheet(model, &path, effects).unwrap_or_else(|| "written".to_owned());
            model.say(Tone::Good, format!("{what}: {}", path.display()));
        }
        Err(problem) => {
            // What is written next is another file.
            model.payloads.sheet = None;
            model.say_problem("not written", &problem);
        }
    }
}

/// The editor was left.
pub(super) fn handle_edited(model: &mut Model, result: Result<String, Problem>) {
    model.dirty = true;
    match result {
        Ok(text) => super::forms::put_edited(model, &text),
        Err(problem) => model.say_problem("the editor", &problem),
    }
}

/// The first-start choice was carried out.
pub(super) fn handle_connected(model: &mut Model, result: Result<Session, Problem>) {
    model.dirty = true;
    match result {
        Ok(session) => {
            model.session = session;
            model.modals.clear();
            model.drafts.remove(&super::super::form::FormTag::Connect);
        }
        Err(problem) => {
            model.modals.retain(|modal| matches!(modal, Modal::Setup(_) | Modal::Form(_)));
            if let Some(Modal::Form(form)) = model.modals.last_mut() {
                form.land(problem.clone());
            }
            for modal in &mut model.modals {
                if let Modal::Setup(setup) = modal {
                    setup.busy = None;
                    setup.problem = Some(problem.clone());
                }
            }
        }
    }
}

impl Model {
    /// Begins a batch: its first calls go out.
    pub(in crate::app) fn begin(&mut self, mut batch: Batch, effects: &mut Vec<Effect>) {
        self.send_next(&mut batch, effects);
        if batch.is_over() {
            self.conclude(batch);
        } else {
            self.batches.push(batch);
        }
    }

    fn send_next(&mut self, batch: &mut Batch, effects: &mut Vec<Effect>) {
        let tickets = &mut self.tickets;
        let calls = batch.next(|| {
            tickets.0 += 1;
            *tickets
        });
        effects.extend(calls.into_iter().map(|(ticket, call)| Effect::Call(ticket, Box::new(call))));
    }

    /// Says what failed, in one line, with what to do next.
    pub(in crate::app) fn say_problem(&mut self, what: &str, problem: &Problem) {
        let hint = problem.hint.as_deref().map(|hint| format!(" · {hint}")).unwrap_or_default();
        self.say(Tone::Bad, format!("{what}: {problem}{hint}"));
    }
}
