//! The keys in an open chain: go to the selected object, create what is missing, or show its own
//! chain.

use crate::base::{Effect, Pane, Tone};
use crate::chains::keys as chains;
use crate::core::update::keys::handle_paste;
use crate::input::{Action, Context, EditAction, ItemAction, ListAction};
use crate::model::navigation::{go, reveal};
use crate::model::{Modal, Model};
use scandeck_domain::chain::ChainObject;
use scandeck_domain::triage::IssueId;
use scandeck_wire::contract::{CaptureId, LoggerId, Shared};

const NEW: Action = Action::Item(ItemAction::New);

/// Handles a key while a chain is open.
pub(crate) fn handle_key(model: &mut Model, action: Option<Action>, effects: &mut Vec<Effect>) {
    match action {
        Some(Action::Edit(EditAction::Close)) => _ = model.overlay.modals.pop(),
        Some(Action::Move(action)) => {
            let (page, _) = model.screen.measures.plot_rows;
            chains::walk(model, action.rows(page as isize));
        }
        Some(Action::List(ListAction::In)) => {
            if let Some(object) = selected(model) {
                go_to(model, &object);
            }
        }
        Some(Action::Item(ItemAction::Chain)) => {
            if let Some(object) = selected(model) {
                chains::request(model, object, effects);
            }
        }
        Some(Action::Item(ItemAction::New)) => create(model, effects),
        Some(_) | None => {}
    }
}

fn selected(model: &Model) -> Option<ChainObject> {
    match model.overlay.modals.last() {
        Some(Modal::Chain(open)) => open.object().cloned(),
        _ => None,
    }
}

/// Selects the object in its list, in place of the chain.
fn go_to(model: &mut Model, object: &ChainObject) {
    match object {
        ChainObject::Finding(key) => {
            leave_for(model, Pane::Findings);
            reveal(model, Pane::Findings, IssueId::from(*key).into());
        }
        ChainObject::Payload(token) => {
            leave_for(model, Pane::Payloads);
            reveal(model, Pane::Payloads, (*token).into());
        }
        ChainObject::Capture { logger, id } => go_to_capture(model, *logger, *id),
        ChainObject::Target(name) => go_to_target(model, name),
        ChainObject::Service(address) => {
            let named = model.captures.oob.hosts.targets(&address.host).first();
            let name = named.unwrap_or(&address.host).clone();
            go_to_target(model, &name);
        }
        ChainObject::Key(_) => model.notify(
            Tone::Plain,
            "keys and secrets have no list; select an object beside them",
        ),
    }
}

fn leave_for(model: &mut Model, pane: Pane) {
    model.overlay.modals.pop();
    go(model, pane);
}

fn go_to_target(model: &mut Model, name: &Shared) {
    let targets = model.data.targets.value();
    let mut items = targets.iter().flat_map(|table| table.items());
    let named = items.find(|target| target.name == *name);
    match named.map(|target| target.id) {
        Some(id) => {
            leave_for(model, Pane::Targets);
            reveal(model, Pane::Targets, id.0);
        }
        None => {
            let key = model.key_label(Context::Chain, NEW);
            model.notify(Tone::Plain, format!("no target yet; {key} adds it"));
        }
    }
}

/// Captures of several loggers can have one id, so the row is selected by its whole key.
fn go_to_capture(model: &mut Model, logger: LoggerId, id: CaptureId) {
    let mut rows = model.data.captures.rows.iter().rev();
    let found = rows.find(|row| row.logger == logger && row.capture.id == id);
    let Some(key) = found.map(|row| row.id()) else {
        return model.notify(Tone::Plain, format!("capture #{id} is not loaded"));
    };
    leave_for(model, Pane::Captures);
    reveal(model, Pane::Captures, id.0);
    let (list, stream) = (&mut model.lists.captures, &model.data.captures);
    if let Some(at) = list.place(stream, key) {
        list.select_at(stream, at);
    }
}

/// Opens the form of a missing target, or that of a finding from the selected capture.
fn create(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Modal::Chain(open)) = model.overlay.modals.last() else {
        return;
    };
    let is_missing = open.selected().is_some_and(|line| line.is_missing);
    match open.object().cloned() {
        Some(ChainObject::Target(name)) if is_missing => {
            if let Some(why) = model.off_in(Pane::Targets, NEW) {
                return model.notify(Tone::Plain, format!("`{}` is {why}", NEW.command()));
            }
            leave_for(model, Pane::Targets);
            handle_paste(model, &name);
        }
        Some(ChainObject::Capture { logger, id }) => {
            go_to_capture(model, logger, id);
            if model.overlay.modals.is_empty() {
                // The detail shows this one, whatever is marked in the list.
                model.navigation.focus.in_detail = true;
                crate::findings::manual::open_from_captures(model, effects);
            }
        }
        _ => model.notify(Tone::Plain, "nothing is missing here"),
    }
}
