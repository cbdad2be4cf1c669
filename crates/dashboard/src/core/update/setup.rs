//! The first-start question and its form: base URL and API key of a hosted service.

use crate::base::{ConnectionChoice, Effect, FormTag, Secret};
use crate::core::update::lines;
use crate::data::Data;
use crate::forms::{FieldId, FieldProblem, Form, FormField, FormKind, is_web_url};
use crate::input::action::{Action, ListAction, MoveAction, SetupAction, ViewAction};
use crate::model::{Help, Modal, Model};

/// The text of the field for the base URL before anything is typed.
const SCHEME: &str = "https://";

static CONNECT: FormKind = FormKind {
    check: |form, _: &Data| check(form),
    ..FormKind::new("connect")
};

/// A key at the first-start question.
pub(crate) fn handle_key(model: &mut Model, action: Option<Action>, effects: &mut Vec<Effect>) {
    let Some(Modal::Setup(setup)) = model.overlay.modals.last_mut() else {
        return;
    };
    let choice = match action {
        Some(Action::View(ViewAction::Quit)) => return effects.push(Effect::Quit),
        Some(Action::View(ViewAction::Help)) => {
            return model.overlay.modals.push(Modal::Help(Help::default()));
        }
        _ if setup.busy.is_some() => return,
        Some(Action::Move(MoveAction::Down)) => return setup.at = (setup.at + 1).min(2),
        Some(Action::Move(MoveAction::Up)) => return setup.at = setup.at.saturating_sub(1),
        Some(Action::Setup(SetupAction::Here)) => 0,
        Some(Action::Setup(SetupAction::Hosted)) => 1,
        Some(Action::Setup(SetupAction::Demo)) => 2,
        Some(Action::List(ListAction::In)) => setup.at,
        // The question has no other actions.
        Some(_) | None => return,
    };
    setup.at = choice;
    setup.problem = None;
    model.overlay.notices.remove_ending(lines::INPUT_KEPT);
    let Some(Modal::Setup(setup)) = model.overlay.modals.last_mut() else {
        return;
    };
    match choice {
        0 => {
            setup.busy = Some("starting the service on this machine");
            effects.push(Effect::Connect(ConnectionChoice::Here));
        }
        1 => model.open_form(connect_form()),
        _ => {
            setup.busy = Some("starting the demo");
            effects.push(Effect::Connect(ConnectionChoice::Demo));
        }
    }
}

/// Sends the form of a hosted service.
pub(crate) fn connect(model: &mut Model, effects: &mut Vec<Effect>) {
    for modal in &mut model.overlay.modals {
        match modal {
            Modal::Form(form) => effects.push(Effect::Connect(ConnectionChoice::Hosted {
                base_url: form.text(FieldId::BaseUrl),
                key: Secret(form.text(FieldId::Key)),
            })),
            // One choice at a time, even if the form is closed before the answer.
            Modal::Setup(setup) => setup.busy = Some("connecting"),
            _ => {}
        }
    }
}

fn connect_form() -> Form {
    let fields = vec![
        FormField::line(FieldId::BaseUrl, "Base URL", SCHEME).with_help("with or without /api/v2"),
        FormField::masked(FieldId::Key, "API key")
            .with_help("saved in a file that only you can read"),
    ];
    Form::new(
        FormTag::Connect,
        &CONNECT,
        "Connect to a service",
        "Connect",
        fields,
    )
}

fn check(form: &mut Form) -> Vec<FieldProblem> {
    // A whole URL pasted or typed after the scheme replaces it.
    let typed = form.text(FieldId::BaseUrl);
    if let Some(whole) = typed
        .strip_prefix(SCHEME)
        .filter(|rest| rest.starts_with(SCHEME) || rest.starts_with("http://"))
        && let Some(field) = form.field_mut(FieldId::BaseUrl)
    {
        field.set_text(whole);
    }
    let mut problems = Vec::new();
    if !is_web_url(&form.text(FieldId::BaseUrl)) {
        problems.push((
            FieldId::BaseUrl,
            "enter a URL such as https://api.example.net/api/v2".to_owned(),
        ));
    }
    if form.text(FieldId::Key).is_empty() {
        problems.push((FieldId::Key, "API key is required".to_owned()));
    }
    problems
}
