//! Results of effects: calls, copies, files, the editor, the first-start choice.

use crate::base::{CallAnswer, CopyFailed, Effect, Pane, SavedExport, Session, Ticket, Tone};
use crate::data::Team;
use crate::findings::proof::keys as proof;
use crate::model::{Modal, Model};
use scandeck_domain::problem::Problem;
use std::path::PathBuf;

/// A call was answered.
pub(crate) fn handle_called(
    model: &mut Model,
    ticket: Ticket,
    result: Result<CallAnswer, Problem>,
    effects: &mut Vec<Effect>,
) {
    let Some(at) = model
        .calls
        .batches
        .iter()
        .position(|batch| batch.holds(ticket))
    else {
        return;
    };
    let mut batch = model.calls.batches.remove(at);
    batch.answer(ticket, result);
    model.keep_retested(&batch, effects);
    model.send_next(&mut batch, effects);
    if batch.is_over() {
        proof::handle_proven(model, &batch, effects);
        model.conclude(batch);
    } else {
        model.calls.batches.insert(at, batch);
    }
}

/// A text was copied, or not.
pub(crate) fn handle_copied(model: &mut Model, result: Result<String, CopyFailed>) {
    match result {
        Ok(how) => model.notify(Tone::Good, how),
        Err(CopyFailed { why, text }) => model.show_text(format!("Not copied: {why}"), text),
    }
}

/// A file was written, or not.
pub(crate) fn handle_saved(
    model: &mut Model,
    result: Result<PathBuf, Problem>,
    effects: &mut Vec<Effect>,
) {
    match result {
        Ok(path) => {
            let what = crate::payloads::keys::handle_sheet(model, &path, effects)
                .unwrap_or_else(|| "saved to".to_owned());
            model.notify(Tone::Good, format!("{what} {}", path.display()));
        }
        Err(problem) => {
            // The next file is not this sheet.
            model.captures.payloads.sheet = None;
            let hint = problem
                .hint
                .as_deref()
                .map(|hint| format!(" · {hint}"))
                .unwrap_or_default();
            model.notify(Tone::Bad, format!("{problem}{hint}"));
        }
    }
}

/// An export was written, or not.
pub(crate) fn handle_exported(
    model: &mut Model,
    result: Result<SavedExport, Problem>,
    effects: &mut Vec<Effect>,
) {
    model.remove_saving();
    match result {
        Ok(saved) => notify_exported(model, &saved),
        Err(problem) => handle_saved(model, Err(problem), effects),
    }
}

fn notify_exported(model: &mut Model, saved: &SavedExport) {
    let is_listed = model.navigation.focus.pane != Pane::Reports;
    let unlisted = if is_listed { "" } else { " · not listed here" };
    let masked = if saved.is_masked { " · masked" } else { "" };
    let (contents, path) = (&saved.contents, saved.path.display());
    let text = format!("{contents} saved to {path}{masked}{unlisted}");
    model.notify(Tone::Good, text);
}

/// $EDITOR was closed.
pub(crate) fn handle_edited(model: &mut Model, result: Result<String, Problem>) {
    match result {
        Ok(text) => crate::core::update::keys::handle_edited(model, &text),
        Err(problem) => model.notify_problem("editor failed", &problem),
    }
}

/// The first-start choice was executed.
pub(crate) fn handle_connected(model: &mut Model, result: Result<Session, Problem>) {
    match result {
        Ok(session) => {
            model.session = session;
            model.connection.team = Team::default();
            model.overlay.modals.clear();
            model.overlay.drafts.remove(&crate::base::FormTag::Connect);
        }
        Err(problem) => {
            model
                .overlay
                .modals
                .retain(|modal| matches!(modal, Modal::Setup(_) | Modal::Form(_)));
            if let Some(Modal::Form(form)) = model.overlay.modals.last_mut() {
                form.show_refusal(problem.clone());
            }
            for modal in &mut model.overlay.modals {
                if let Modal::Setup(setup) = modal {
                    setup.busy = None;
                    setup.problem = Some(problem.clone());
                }
            }
        }
    }
}
