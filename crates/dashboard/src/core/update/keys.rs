//! From a key to its action: the layer that has the keys, the meaning of the key there, the
//! function that handles it.

use crate::base::{Batch, Effect, Pane, Tone};
use crate::core::commands;
use crate::core::update::actions::handle_action;
use crate::core::update::{chain_keys, forms, lines, objects, prompts, setup};
use crate::findings::decide::{menu_keys, rules_keys};
use crate::findings::explain::keys as explain;
use crate::input::sequence::printed;
use crate::input::{
    Action, Context, ItemAction, KeyChord, KeyCode, KeyEvent, KeyStep, TerminalAction, ViewAction,
};
use crate::model::{Modal, Model};
use crate::payloads::keys as payloads;
use crate::settings::alerts;
use scandeck_wire::text::plural;

/// ctrl-c twice within this time quits.
const TWICE: std::time::Duration = std::time::Duration::from_secs(1);

/// A key was pressed.
pub(crate) fn handle_key(model: &mut Model, event: KeyEvent, effects: &mut Vec<Effect>) {
    let key = KeyChord::from(event);
    model.keyboard.key = Some(key);
    model.overlay.notices.key_pressed(model.now.mono);
    // Both the pane that had the keys and the one that has them now.
    model.hold(model.navigation.focus.pane);
    route(model, key, event, effects);
    model.hold(model.navigation.focus.pane);
}

fn route(model: &mut Model, key: KeyChord, event: KeyEvent, effects: &mut Vec<Effect>) {
    if let Some(action) = terminal_action(model, key) {
        return handle_terminal(model, action, effects);
    }
    let typed = std::mem::take(&mut model.keyboard.typed);
    // A modal has no part in a sequence that was begun before it.
    let begun = match model.overlay.modals.is_empty() {
        true => typed,
        false => Vec::new(),
    };
    match model.keyboard.keymap.step(&model.contexts(), &begun, key) {
        KeyStep::Action(action) => handle_layer(model, event, Some(action), effects),
        KeyStep::Partial => model.keyboard.typed = [begun, vec![key]].concat(),
        KeyStep::Unknown if begun.is_empty() => handle_layer(model, event, None, effects),
        KeyStep::Unknown => unknown_sequence(model, &begun, key),
    }
}

/// The action of a key that types no character, where it also works while something is typed.
fn terminal_action(model: &Model, key: KeyChord) -> Option<TerminalAction> {
    if key == KeyChord::ctrl('c') {
        return Some(TerminalAction::Cancel);
    }
    let action = model.keyboard.keymap.action(&[Context::Everywhere], key);
    action
        .filter(|_| key.typed().is_none())
        .and_then(Action::try_as_terminal)
}

/// Passes a key to the layer that has the keys: the top modal, or the focused pane.
fn handle_layer(
    model: &mut Model,
    event: KeyEvent,
    action: Option<Action>,
    effects: &mut Vec<Effect>,
) {
    let key = KeyChord::from(event);
    let edit = action.and_then(Action::try_as_edit);
    match model.overlay.modals.last_mut() {
        Some(Modal::Prompt(_)) => prompts::handle_key(model, key, event, edit, effects),
        Some(Modal::Line(_) | Modal::Help(_)) => lines::handle_key(model, event, edit, effects),
        Some(Modal::Command(_)) => commands::handle_key(model, event, edit, effects),
        Some(Modal::Decide(_)) => menu_keys::handle_key(model, event, action, effects),
        Some(Modal::Rules(_)) => rules_keys::handle_key(model, event, action, effects),
        Some(Modal::Alerts(_)) => alerts::handle_key(model, action, effects),
        Some(Modal::Plot(plot)) => {
            let plot = *plot;
            crate::plots::keys::handle_key(model, plot, action, effects);
        }
        Some(Modal::Why(_)) => explain::handle_key(model, action, effects),
        Some(Modal::Chain(_)) => chain_keys::handle_key(model, action, effects),
        Some(Modal::Text(_)) => lines::handle_text_box(model, action, effects),
        Some(Modal::Form(_)) => forms::handle_key(model, event, action, effects),
        Some(Modal::Setup(_)) => setup::handle_key(model, action, effects),
        None => handle_pane_key(model, key, action, effects),
    }
}

/// The action that opens the form for new targets.
const NEW: Action = Action::Item(ItemAction::New);

/// Pastes text into the open text field; in the list of targets without an open field, into the
/// form for new targets. Pasted text never runs keys.
pub(crate) fn handle_paste(model: &mut Model, text: &str) {
    model.overlay.notices.key_pressed(model.now.mono);
    let focus = model.navigation.focus;
    let is_list_of_targets =
        model.overlay.modals.is_empty() && focus.pane == Pane::Targets && !focus.in_detail;
    let opens_form = is_list_of_targets && model.off(NEW).is_none();
    let modal = model.overlay.modals.last_mut();
    let in_form = matches!(modal, Some(Modal::Form(_)));
    match modal.and_then(Modal::input) {
        Some(input) => {
            input.paste(text);
            handle_typed(model);
        }
        None if in_form => {}
        None if opens_form => {
            objects::new_targets(model);
            // A draft of the form remains above the pasted lines.
            let draft = model
                .overlay
                .modals
                .last_mut()
                .and_then(Modal::input)
                .map(|input| input.text());
            match draft {
                Some(draft) if !draft.is_empty() && !draft.ends_with('\n') => {
                    handle_paste(model, &format!("\n{text}"))
                }
                Some(_) => handle_paste(model, text),
                None => {}
            }
        }
        None => model.notify(
            Tone::Plain,
            "no text field here; open a form or a filter to paste",
        ),
    }
}

/// $EDITOR returned this text.
pub(crate) fn handle_edited(model: &mut Model, text: &str) {
    if let Some(input) = model.overlay.modals.last_mut().and_then(Modal::input) {
        input.set_edited(text);
        handle_typed(model);
    }
}

/// The text of the open field changed without a key.
fn handle_typed(model: &mut Model) {
    match model.overlay.modals.last() {
        Some(Modal::Form(_)) => forms::handle_typed(model),
        Some(Modal::Decide(_)) => menu_keys::handle_typed(model),
        Some(Modal::Rules(_)) => rules_keys::count(model),
        Some(Modal::Command(_)) => commands::handle_typed(model),
        Some(Modal::Line(_) | Modal::Help(_)) => lines::apply(model),
        Some(
            Modal::Prompt(_)
            | Modal::Alerts(_)
            | Modal::Text(_)
            | Modal::Plot(_)
            | Modal::Why(_)
            | Modal::Chain(_)
            | Modal::Setup(_),
        )
        | None => {}
    }
}

fn handle_pane_key(
    model: &mut Model,
    key: KeyChord,
    action: Option<Action>,
    effects: &mut Vec<Effect>,
) {
    let prefix = model.keyboard.pending.take();
    if prefix.is_none()
        && let Some(token) = payloads::take_fresh(model, key)
    {
        return payloads::open_place(model, token);
    }
    match action {
        Some(action) => match model.off(action) {
            Some(why) => model.notify(Tone::Plain, format!("{key} is {why}")),
            None => handle_action(model, action, effects),
        },
        None => {
            let typed = prefix
                .and_then(|context| model.keyboard.keymap.prefix(context))
                .unwrap_or_default();
            unknown_sequence(model, &typed, key);
        }
    }
}

/// A key that no action has after these keys. Esc only ends the sequence.
fn unknown_sequence(model: &mut Model, typed: &[KeyChord], key: KeyChord) {
    if !typed.is_empty() && key == KeyChord::plain(KeyCode::Esc) {
        return;
    }
    let keys = printed(typed.iter().chain([&key]));
    let help = model.key_label(Context::Everywhere, Action::View(ViewAction::Help));
    model.notify(
        Tone::Plain,
        format!("{keys} does nothing here · {help} shows the keys"),
    );
}

pub(crate) fn handle_terminal(
    model: &mut Model,
    action: TerminalAction,
    effects: &mut Vec<Effect>,
) {
    match action {
        TerminalAction::Cancel => cancel(model, effects),
        TerminalAction::Suspend => effects.push(Effect::Suspend),
        TerminalAction::Redraw => effects.push(Effect::Redraw),
    }
}

/// ctrl-c: closes the top layer, or cancels queued requests; twice within a second quits.
fn cancel(model: &mut Model, effects: &mut Vec<Effect>) {
    let now = model.now.mono;
    if model
        .keyboard
        .cancelled
        .replace(now)
        .is_some_and(|last| now < last + TWICE)
    {
        effects.push(Effect::Quit);
        return;
    }
    let is_sequence = !std::mem::take(&mut model.keyboard.typed).is_empty();
    if model.keyboard.pending.take().is_some() || is_sequence {
        return;
    }
    match model.overlay.modals.last() {
        None | Some(Modal::Setup(_)) => cancel_queue(model),
        Some(_) => lines::close(model),
    }
}

fn cancel_queue(model: &mut Model) {
    let waiting: usize = model.calls.batches.iter_mut().map(Batch::cancel).sum();
    let done = match waiting {
        0 => "nothing to cancel".to_owned(),
        _ => format!("{} cancelled", plural(waiting, "queued request")),
    };
    let again = model.key_label(
        Context::Everywhere,
        Action::Terminal(TerminalAction::Cancel),
    );
    model.notify(Tone::Plain, format!("{done} · {again} again quits"));
}
