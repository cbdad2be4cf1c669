//! Keys in forms, and in the first-start question; what is sent, and what comes of it.

use crossterm::event::KeyEvent;
use tui_textarea::CursorMove;

use super::super::batch::Batch;
use super::super::effect::{Choice, Effect};
use super::super::form::{Field, Form, FormTag, Known, Opening, Value};
use super::super::modal::{Help, Modal};
use super::super::model::Model;
use super::super::notices::Tone;
use super::super::typing::type_key;
use crate::input::Action;

/// A key in a form.
pub(super) fn handle_key(model: &mut Model, event: KeyEvent, action: Option<Action>, effects: &mut Vec<Effect>) {
    let Some(Modal::Form(form)) = model.modals.last_mut() else { return };
    match action {
        Some(Action::Close) => {
            super::lines::close(model);
            return;
        }
        Some(Action::Help) => return model.modals.push(Modal::Help(Help::default())),
        // What was sent is not changed under way.
        _ if form.sending => return,
        Some(Action::Send) => return send(model, effects),
        Some(Action::Enter) if form.focused().is_none() => return send(model, effects),
        Some(Action::Editor) => {
            if let Some(field) = form.focused().filter(|field| field.is_text()) {
                effects.push(Effect::Edit(field.text()));
            }
            return;
        }
        action => type_in(form, event, action),
    }
    model.check_form();
}

/// A key that moves in a form, or changes the focused field.
fn type_in(form: &mut Form, event: KeyEvent, action: Option<Action>) {
    let at = form.at;
    let field = form.fields.get_mut(at);
    match (action, field) {
        (Some(Action::NextField), _) => form.walk(1),
        (Some(Action::PreviousField), _) => form.walk(-1),
        (Some(Action::FieldDown), field) => {
            let walked = field.is_some_and(|field| walk_line(field, CursorMove::Down));
            form.walk(isize::from(!walked));
        }
        (Some(Action::FieldUp), field) => {
            let walked = field.is_some_and(|field| walk_line(field, CursorMove::Up));
            form.walk(-isize::from(!walked));
        }
        (Some(Action::ChoiceRight | Action::ChoiceNext), Some(field)) if !field.is_text() => field.choose(1),
        (Some(Action::ChoiceLeft), Some(field)) if !field.is_text() => field.choose(-1),
        (Some(Action::Enter), Some(Field { value: Value::Lines(input), touched, .. })) => {
            input.insert_newline();
            *touched = true;
        }
        (Some(Action::Enter), Some(_)) => form.walk(1),
        (_, Some(Field { value: Value::Line(input) | Value::Lines(input), touched, .. })) => {
            *touched |= type_key(input, event);
        }
        _ => {}
    }
}

/// Moves in a field of several lines; false from its last (or first) line.
fn walk_line(field: &mut Field, to: CursorMove) -> bool {
    let Value::Lines(input) = &mut field.value else { return false };
    let before = input.cursor();
    input.move_cursor(to);
    input.cursor().0 != before.0
}

/// Puts pasted text into the focused field; false when no form has the keys.
pub(super) fn paste(model: &mut Model, text: &str) -> bool {
    let Some(Modal::Form(form)) = model.modals.last_mut() else { return false };
    if form.sending {
        return true;
    }
    let at = form.at;
    if let Some(field) = form.fields.get_mut(at) {
        match &mut field.value {
            Value::Line(input) => {
                field.touched |= input.insert_str(text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            Value::Lines(input) => {
                field.touched |= input.insert_str(text.replace("\r\n", "\n").replace('\r', "\n"));
            }
            Value::Choice { .. } | Value::Info(_) => {}
        }
    }
    model.check_form();
    true
}

/// Takes the text the editor was left with.
pub(super) fn put_edited(model: &mut Model, text: &str) {
    if super::decide_menu::put_edited(model, text) {
        return;
    }
    if let Some(Modal::Form(form)) = model.modals.last_mut() {
        let at = form.at;
        if let Some(field) = form.fields.get_mut(at) {
            field.set_text(text.trim_end_matches('\n'));
        }
        model.check_form();
    }
}

/// Sends the form, unless something in it cannot go.
fn send(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Some(Modal::Form(form)) = model.modals.last_mut() {
        form.tried = true;
        form.problem = None;
    }
    if !model.check_form() {
        if let Some(Modal::Form(form)) = model.modals.last_mut()
            && let Some(at) = form.fields.iter().position(|field| field.shown && field.error.is_some())
        {
            form.at = at;
        }
        return;
    }
    let Some(Modal::Form(form)) = model.modals.last_mut() else { return };
    if let FormTag::Place(_) = form.tag {
        return super::payloads::keep(model, effects);
    }
    if let FormTag::Own(_) = form.tag {
        return super::own::keep(model, effects);
    }
    if let Some((format, ids)) = form.report_made_here() {
        model.modals.pop();
        model.drafts.remove(&FormTag::NewReport);
        if let Err(why) = super::commands::out::write(model, &ids, format, effects) {
            model.say(Tone::Bad, why);
        }
        return;
    }
    form.sending = true;
    if form.tag == FormTag::Connect {
        effects.push(Effect::Connect(form.hosted()));
        // One choice at a time, also when the form is closed before the answer.
        for modal in &mut model.modals {
            if let Modal::Setup(setup) = modal {
                setup.busy = Some("asking the service");
            }
        }
        return;
    }
    let batch = Batch::new(form.verb(), Some(form.tag), form.jobs());
    model.begin(batch, effects);
}

/// A key at the first-start question.
pub(super) fn handle_setup(model: &mut Model, action: Option<Action>, effects: &mut Vec<Effect>) {
    let Some(Modal::Setup(setup)) = model.modals.last_mut() else { return };
    let chosen = match action {
        Some(Action::Quit) => return effects.push(Effect::Quit),
        Some(Action::Help) => return model.modals.push(Modal::Help(Help::default())),
        _ if setup.busy.is_some() => return,
        Some(Action::Down) => {
            setup.at = (setup.at + 1).min(2);
            return;
        }
        Some(Action::Up) => {
            setup.at = setup.at.saturating_sub(1);
            return;
        }
        Some(Action::Here) => 0,
        Some(Action::Hosted) => 1,
        Some(Action::Demo) => 2,
        Some(Action::In) => setup.at,
        _ => return,
    };
    setup.at = chosen;
    setup.problem = None;
    match chosen {
        0 => {
            setup.busy = Some("starting the service on this machine");
            effects.push(Effect::Connect(Choice::Here));
        }
        1 => model.open_form(Form::open(Opening::Connect, None)),
        _ => {
            setup.busy = Some("making the demo world");
            effects.push(Effect::Connect(Choice::Demo));
        }
    }
}

impl Model {
    /// Opens a form, with what was typed into the same one before it was closed.
    pub(in crate::app) fn open_form(&mut self, mut form: Form) {
        if let Some(draft) = self.drafts.remove(&form.tag) {
            form.take_draft(draft);
        }
        self.modals.push(Modal::Form(Box::new(form)));
        self.check_form();
        self.dirty = true;
    }

    /// Checks the form that has the keys; true when it can be sent.
    pub(in crate::app) fn check_form(&mut self) -> bool {
        let known = Known { data: &self.data };
        match self.modals.last_mut() {
            Some(Modal::Form(form)) => form.check(&known),
            _ => false,
        }
    }
}
