//! Keys in forms, and in the first-start question; what is sent, and what comes of it.

use crate::dashboard::base::{Batch, ConnectionChoice, Effect, FormTag, Tone};
use crate::dashboard::forms::{FieldValue, Form, FormField, FormOpening};
use crate::dashboard::input::KeyEvent;
use crate::dashboard::input::action::{
    Action, EditAction, FormAction, ListAction, MoveAction, SetupAction, ViewAction,
};
use crate::dashboard::model::{Help, Modal, Model};

/// A key in a form.
pub(crate) fn handle_key(model: &mut Model, event: KeyEvent, action: Option<Action>, effects: &mut Vec<Effect>) {
    let Some(Modal::Form(form)) = model.overlay.modals.last_mut() else { return };
    match action {
        Some(Action::Edit(EditAction::Close)) => {
            crate::dashboard::core::update::lines::close(model);
            return;
        }
        Some(Action::View(ViewAction::Help)) => return model.overlay.modals.push(Modal::Help(Help::default())),
        // What was sent is not changed under way.
        _ if form.sending => return,
        Some(Action::Form(FormAction::Send)) => return send(model, effects),
        Some(Action::Form(FormAction::Enter)) if form.focused().is_none() => return send(model, effects),
        Some(Action::Form(FormAction::Editor)) => {
            if let Some(field) = form.focused().filter(|field| field.is_text()) {
                effects.push(Effect::Edit(field.text()));
            }
            return;
        }
        Some(Action::Form(action)) => type_in(form, event, Some(action)),
        Some(_) | None => type_in(form, event, None),
    }
    model.check_form();
}

/// A key that moves in a form, or changes the focused field.
fn type_in(form: &mut Form, event: KeyEvent, action: Option<FormAction>) {
    let at = form.at;
    let field = form.fields.get_mut(at);
    match (action, field) {
        (Some(FormAction::NextField), _) => form.walk(1),
        (Some(FormAction::PreviousField), _) => form.walk(-1),
        (Some(FormAction::FieldDown), _) => walk(form, 1),
        (Some(FormAction::FieldUp), _) => walk(form, -1),
        (Some(FormAction::ChoiceRight | FormAction::ChoiceNext), Some(field)) if !field.is_text() => field.choose(1),
        (Some(FormAction::ChoiceLeft), Some(field)) if !field.is_text() => field.choose(-1),
        (Some(FormAction::Enter), Some(FormField { value: FieldValue::Text(input), touched, .. }))
            if input.is_multiline() =>
        {
            input.break_line();
            *touched = true;
        }
        (Some(FormAction::Enter), Some(_)) => form.walk(1),
        // Any other key types, where the field is a text.
        (Some(_) | None, Some(FormField { value: FieldValue::Text(input), touched, .. })) => {
            *touched |= input.type_key(event);
        }
        (Some(_) | None, Some(_) | None) => {}
    }
}

/// To the next line of a field, from its last one to the next field; or back.
fn walk(form: &mut Form, by: isize) {
    if !form.input().is_some_and(|input| input.walk_rows(by)) {
        form.walk(by);
    }
}

/// Text was pasted into the focused field, or edited elsewhere.
pub(crate) fn handle_typed(model: &mut Model) {
    if let Some(Modal::Form(form)) = model.overlay.modals.last_mut()
        && let Some(field) = form.fields.get_mut(form.at)
    {
        field.touched = true;
    }
    model.check_form();
}

/// Sends the form, unless something in it cannot go.
fn send(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Some(Modal::Form(form)) = model.overlay.modals.last_mut() {
        form.tried = true;
        form.problem = None;
    }
    if !model.check_form() {
        if let Some(Modal::Form(form)) = model.overlay.modals.last_mut()
            && let Some(at) = form.fields.iter().position(|field| field.shown && field.error.is_some())
        {
            form.at = at;
        }
        return;
    }
    let Some(Modal::Form(form)) = model.overlay.modals.last_mut() else { return };
    if let FormTag::Place(_) = form.tag {
        return crate::dashboard::payloads::keys::keep(model, effects);
    }
    if let FormTag::Own(_) = form.tag {
        return crate::dashboard::findings::manual::keep(model, effects);
    }
    if let Some((format, ids)) = form.report_made_here() {
        model.overlay.modals.pop();
        model.overlay.drafts.remove(&FormTag::NewReport);
        if let Err(why) = crate::dashboard::findings::export::write(model, &ids, format, effects) {
            model.say(Tone::Bad, why);
        }
        return;
    }
    form.sending = true;
    if form.tag == FormTag::Connect {
        effects.push(Effect::Connect(form.hosted()));
        // One choice at a time, also when the form is closed before the answer.
        for modal in &mut model.overlay.modals {
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
pub(crate) fn handle_setup(model: &mut Model, action: Option<Action>, effects: &mut Vec<Effect>) {
    let Some(Modal::Setup(setup)) = model.overlay.modals.last_mut() else { return };
    let chosen = match action {
        Some(Action::View(ViewAction::Quit)) => return effects.push(Effect::Quit),
        Some(Action::View(ViewAction::Help)) => return model.overlay.modals.push(Modal::Help(Help::default())),
        _ if setup.busy.is_some() => return,
        Some(Action::Move(MoveAction::Down)) => {
            setup.at = (setup.at + 1).min(2);
            return;
        }
        Some(Action::Move(MoveAction::Up)) => {
            setup.at = setup.at.saturating_sub(1);
            return;
        }
        Some(Action::Setup(answer)) => match answer {
            SetupAction::Here => 0,
            SetupAction::Hosted => 1,
            SetupAction::Demo => 2,
        },
        Some(Action::List(ListAction::In)) => setup.at,
        // The question has no other actions.
        Some(_) | None => return,
    };
    setup.at = chosen;
    setup.problem = None;
    match chosen {
        0 => {
            setup.busy = Some("starting the service on this machine");
            effects.push(Effect::Connect(ConnectionChoice::Here));
        }
        1 => model.open_form(Form::open(FormOpening::Connect, None)),
        _ => {
            setup.busy = Some("making the demo world");
            effects.push(Effect::Connect(ConnectionChoice::Demo));
        }
    }
}
