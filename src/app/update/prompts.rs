//! Questions before what cannot be undone: opening, answering, and what is asked before leaving.

use crossterm::event::KeyEvent;

use super::super::batch::Batch;
use super::super::effect::Effect;
use super::super::modal::Modal;
use super::super::model::Model;
use super::super::notices::Tone;
use super::super::prompt::{Answer, Prompt, Then, Verdict};
use super::review;
use crate::input::{Action, Key};
use crate::text::plural;

/// A key while a prompt is up.
pub(super) fn handle_key(
    model: &mut Model,
    key: Key,
    event: KeyEvent,
    action: Option<Action>,
    effects: &mut Vec<Effect>,
) {
    let now = model.now.mono;
    let Some(Modal::Prompt(prompt)) = model.modals.last_mut() else { return };
    let verdict = match action {
        Some(Action::Close) => Verdict::No,
        _ => prompt.handle_key(now, key, event),
    };
    match verdict {
        Verdict::Deaf | Verdict::Typing => {}
        Verdict::No => {
            let picks = key == Key::char(' ') && matches!(prompt.then, Then::Decide(_));
            model.modals.pop();
            if !(picks && review::pick(model)) {
                model.say(Tone::Plain, "left as it is");
            }
        }
        Verdict::Wider => {
            let Some(wider) = prompt.wider.take() else { return };
            // What can be undone is not asked twice.
            if matches!(prompt.answer, Answer::Enter) {
                model.modals.pop();
                return carry_out(model, wider.then, effects);
            }
            **prompt = wider.opened_at(now, Some(key));
        }
        Verdict::Yes => {
            if let Some(Modal::Prompt(prompt)) = model.modals.pop() {
                carry_out(model, prompt.then, effects);
            }
        }
    }
}

fn carry_out(model: &mut Model, then: Then, effects: &mut Vec<Effect>) {
    match then {
        Then::Quit => effects.push(Effect::Quit),
        Then::Decide(deed) => model.carry_out(*deed, effects),
        Then::UndoAll(batches) => model.undo_all(batches, effects),
        Then::Turn { batch, undo } => model.turn(batch, undo, effects),
        Then::Record(drafts) => match model.record(drafts, effects) {
            Some(batch) => {
                let told = format!("{}; {} undoes", model.described(batch), model.undo_key());
                model.say(Tone::Good, told);
            }
            None => model.say(Tone::Bad, "this cannot be kept"),
        },
        Then::Retest(plan) => model.begin_retest(*plan, effects),
        Then::Call { verb, jobs } => model.begin(Batch::new(verb, None, jobs), effects),
    }
}

/// What must be asked before the dashboard is left, if anything.
pub(super) fn before_leaving(model: &Model) -> Option<Prompt> {
    let waiting: usize = model.batches.iter().map(|batch| batch.progress().waiting).sum();
    if !model.session.demo && waiting == 0 {
        return None;
    }
    let mut prompt = Prompt::new("Leave scandeck?", Then::Quit);
    if waiting > 0 {
        prompt = prompt.with_line(format!("Not sent yet, and then never: {}.", plural(waiting, "call")));
    }
    if model.session.demo {
        prompt = prompt.with_line("The demo ends with it: its service, scans, captures and practice target.");
    }
    Some(prompt)
}

impl Model {
    /// Puts a question.
    pub(in crate::app) fn open_prompt(&mut self, prompt: Prompt) {
        let prompt = prompt.opened_at(self.now.mono, self.key);
        self.modals.push(Modal::Prompt(Box::new(prompt)));
    }
}
