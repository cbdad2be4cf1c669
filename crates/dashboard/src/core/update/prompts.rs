//! Answers to prompts, and the prompt before quitting.

use crate::base::{Batch, Effect, Tone};
use crate::findings::review;
use crate::input::{Action, Context, EditAction, KeyChord, KeyEvent};
use crate::model::{Modal, Model};
use crate::prompts::{Prompt, PromptAnswer, PromptReply, Then};
use crate::settings::alerts;
use scandeck_wire::text::plural;

/// A key while a prompt is up.
pub(crate) fn handle_key(
    model: &mut Model,
    key: KeyChord,
    event: KeyEvent,
    action: Option<EditAction>,
    effects: &mut Vec<Effect>,
) {
    let now = model.now.mono;
    let Some(Modal::Prompt(prompt)) = model.overlay.modals.last_mut() else {
        return;
    };
    match prompt.handle_key(now, key, event, action) {
        // The prompt itself shows a mismatch.
        PromptReply::Deaf | PromptReply::Typing | PromptReply::Mismatch | PromptReply::Paged => {}
        PromptReply::TooEarly => {
            let ignored = format!("{key} ignored: pressed too soon after the question appeared");
            model.overlay.notices.notify_until_key(now, ignored);
        }
        PromptReply::NoAnswer => {
            let yes = match prompt.answer {
                PromptAnswer::Enter => {
                    model.key_label(Context::Line, Action::Edit(EditAction::Accept))
                }
                PromptAnswer::Yes | PromptAnswer::Type { .. } => {
                    model.key_label(Context::Prompt, Action::Edit(EditAction::Yes))
                }
            };
            let no = model.key_label(Context::Prompt, Action::Edit(EditAction::Close));
            let ignored = format!("{key} is not an answer · {yes} confirms, {no} cancels");
            model.overlay.notices.notify_until_key(now, ignored);
        }
        PromptReply::No => {
            let picks = key == KeyChord::char(' ') && matches!(prompt.then, Then::Decide(_));
            model.overlay.modals.pop();
            match model.reviewing() {
                Some(_) if picks => review::pick(model),
                _ => model
                    .overlay
                    .notices
                    .notify_until_key(model.now.mono, "cancelled"),
            }
        }
        PromptReply::Wider => {
            let Some(wider) = prompt.wider.take() else {
                return;
            };
            // A change that can be undone needs no second prompt.
            if matches!(prompt.answer, PromptAnswer::Enter)
                || matches!(wider.answer, PromptAnswer::Enter)
            {
                model.overlay.modals.pop();
                return handle_confirmed(model, wider.then, effects);
            }
            **prompt = wider.opened_at(now, Some(key));
        }
        PromptReply::Yes => {
            if let Some(Modal::Prompt(prompt)) = model.overlay.modals.pop() {
                handle_confirmed(model, prompt.then, effects);
            }
        }
    }
}

/// Executes the action that a prompt confirmed.
fn handle_confirmed(model: &mut Model, then: Then, effects: &mut Vec<Effect>) {
    match then {
        Then::Quit => effects.push(Effect::Quit),
        Then::OpenUrl(url) => effects.push(Effect::OpenUrl(url)),
        Then::AddToScope(names) => effects.push(Effect::AddToScope(names)),
        Then::DeleteAlert(query) => alerts::delete(model, &query, effects),
        Then::DeleteTab(name) => delete_tab(model, &name, effects),
        Then::Decide(pending) => model.apply_decision(*pending, effects),
        Then::ResumeReview => review::resume_paused(model),
        Then::StartReview(ids) => review::start(model, ids, effects),
        Then::Team(request) => model.join_team(request, effects),
        Then::UndoAll(batches) => model.undo_all(batches, effects),
        Then::UndoOrRedo { batch, undo } => model.undo_or_redo(batch, undo, effects),
        Then::Record(drafts) => match model.record(drafts, effects) {
            Some(batch) => model.notify_decided(batch, ""),
            None => model.notify(Tone::Bad, "not saved: the decision store is not open"),
        },
        Then::Retest(plan) => model.begin_retest(*plan, effects),
        Then::Repeat(batch) => {
            for modal in &mut model.overlay.modals {
                if let Modal::Form(form) = modal {
                    form.sending |= batch.form == Some(form.tag);
                }
            }
            model.begin_at_once(*batch, effects);
        }
        Then::Call { verb, jobs } => model.begin(Batch::new(verb, None, jobs), effects),
    }
}

fn delete_tab(model: &mut Model, name: &str, effects: &mut Vec<Effect>) {
    match model.delete_tab(name, effects) {
        Some(deleted) => model.notify(
            Tone::Good,
            format!("tab {} deleted (query: {})", deleted.name, deleted.query),
        ),
        // Another dashboard may have deleted it.
        None => model.notify(Tone::Plain, format!("tab {name} is already deleted")),
    }
}

/// The prompt before quitting, if one is needed.
pub(crate) fn before_leaving(model: &Model) -> Option<Prompt> {
    let waiting: usize = model
        .calls
        .batches
        .iter()
        .map(|batch| batch.progress().waiting)
        .sum();
    let in_flight: usize = model
        .calls
        .batches
        .iter()
        .map(|batch| batch.in_flight())
        .sum();
    let triage = &model.findings.triage;
    let unsaved = if triage.problem.is_some() {
        triage.unsaved.len()
    } else {
        0
    };
    let (captures, payloads) = model
        .captures
        .oob
        .backlog
        .as_ref()
        .map_or((0, 0), |it| (it.captures, it.payloads));
    let is_idle =
        waiting + in_flight + unsaved + captures + payloads == 0 && model.calls.unknown.is_empty();
    if !model.session.demo && is_idle {
        return None;
    }
    let mut prompt = Prompt::new("Quit scandeck?", Then::Quit);
    if waiting > 0 {
        prompt = prompt.with_line(format!("Cancels {}.", plural(waiting, "queued request")));
    }
    if in_flight > 0 {
        prompt = prompt.with_line(match in_flight {
            1 => "1 request is in flight: its outcome will be unknown.".to_owned(),
            many => format!("{many} requests are in flight: their outcome will be unknown."),
        });
    }
    if !model.calls.unknown.is_empty() {
        let unknown = plural(model.calls.unknown.len(), "request");
        prompt = prompt.with_line(format!("The outcome of {unknown} is still unknown."));
    }
    if unsaved > 0 {
        prompt = prompt.with_line(format!(
            "Loses {} that cannot be saved now.",
            plural(unsaved, "decision")
        ));
    }
    if payloads > 0 {
        prompt = prompt.with_line(format!(
            "Loses {} that cannot be saved now.",
            plural(payloads, "payload")
        ));
    }
    if captures > 0 {
        let captures = plural(captures, "capture");
        prompt = prompt.with_line(format!(
            "Archives {captures} at the next start, if the service still has them."
        ));
    }
    if model.session.demo {
        prompt = prompt
            .with_line("Also deletes the demo: service, scans, captures and practice target.");
    }
    Some(prompt)
}
