//! From a key to what it asks for: who has the keys, what the key means there, who carries it out.

use crossterm::event::KeyEvent;

use super::super::effect::Effect;
use super::super::modal::{Help, Modal};
use super::super::model::{Model, Pane, Prefix};
use super::super::notices::Tone;
use super::{
    alerts, board, captures, changed, commands, copies, decide, decide_menu, forms, goes, groups, lines, moves,
    payloads, prompts, review, rules, things, undo,
};
use crate::input::{Action, Context, Key};

/// ctrl-c a second time within this long leaves at once.
const TWICE: std::time::Duration = std::time::Duration::from_secs(1);

/// A key was pressed.
pub(super) fn handle_key(model: &mut Model, event: KeyEvent, effects: &mut Vec<Effect>) {
    let key = Key::from(event);
    model.dirty = true;
    model.key = Some(key);
    // Before and after: the pane that had the keys, and the one that has them now.
    model.hold(model.focus.pane);
    route(model, key, event, effects);
    model.hold(model.focus.pane);
}

fn route(model: &mut Model, key: Key, event: KeyEvent, effects: &mut Vec<Effect>) {
    let action = model.keymap.action(&model.contexts(), key);
    // Also while something is typed, but never a key that types.
    let anywhere = model.keymap.action(&[Context::Everywhere], key).filter(|_| key.typed().is_none());
    match anywhere {
        _ if key == Key::ctrl('c') => return cancel(model, effects),
        Some(Action::Cancel) => return cancel(model, effects),
        Some(Action::Suspend) => return effects.push(Effect::Suspend),
        Some(Action::Redraw) => return effects.push(Effect::Redraw),
        _ => {}
    }
    match model.modals.last_mut() {
        Some(Modal::Prompt(_)) => prompts::handle_key(model, key, event, action, effects),
        Some(Modal::Line(_) | Modal::Help(_)) => lines::handle_key(model, event, action, effects),
        Some(Modal::Command(_)) => commands::handle_key(model, event, action, effects),
        Some(Modal::Decide(_)) => decide_menu::handle_key(model, event, action, effects),
        Some(Modal::Rules(_)) => rules::handle_key(model, event, action, effects),
        Some(Modal::Alerts(_)) => alerts::handle_key(model, action, effects),
        Some(Modal::Text(_)) => lines::handle_text_box(model, action),
        Some(Modal::Form(_)) => forms::handle_key(model, event, action, effects),
        Some(Modal::Setup(_)) => forms::handle_setup(model, action, effects),
        None => handle_pane_key(model, key, action, effects),
    }
}

/// Text was pasted: it goes where text is typed, and never runs keys.
pub(super) fn handle_paste(model: &mut Model, text: &str) {
    model.dirty = true;
    if !forms::paste(model, text)
        && !decide_menu::paste(model, text)
        && !rules::paste(model, text)
        && !lines::paste(model, text)
    {
        model.say(Tone::Plain, "pasted text goes nowhere here: open a form or a filter first");
    }
}

fn handle_pane_key(model: &mut Model, key: Key, action: Option<Action>, effects: &mut Vec<Effect>) {
    let prefix = model.pending.take();
    if prefix.is_none() && payloads::take_fresh(model, key) {
        return payloads::edit_last(model);
    }
    match action {
        Some(action) => match model.off(action) {
            Some(why) => model.say(Tone::Plain, format!("{key}: {why}")),
            None => perform(model, action, effects),
        },
        None if prefix.is_some() && key == Key::plain(crossterm::event::KeyCode::Esc) => {}
        None => {
            let first = prefix.and_then(|prefix| model.context_after(prefix).prefix()).unwrap_or_default();
            model.say(Tone::Plain, format!("{first}{key} does nothing here; ? shows the keys"));
        }
    }
}

/// Carries out an action in the panes.
pub(super) fn perform(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    if review::perform(model, action, effects) {
        return;
    }
    match action {
        Action::Help => model.modals.push(Modal::Help(Help::default())),
        Action::Commands => commands::open(model),
        Action::GoPrefix => model.pending = Some(Prefix::Go),
        Action::CopyPrefix => model.pending = Some(Prefix::Copy),
        Action::GroupPrefix => model.pending = Some(Prefix::Group),
        Action::Refresh => refresh(model),
        Action::Rules => rules::open(model),
        Action::Quit => quit(model, effects),
        Action::Filter | Action::Search => lines::open(model, action),
        _ => {
            let _done = captures::perform(model, action)
                || board::perform(model, action, effects)
                || decide::perform(model, action, effects)
                || undo::perform(model, action, effects)
                || things::perform(model, action, effects)
                || goes::perform(model, action)
                || payloads::perform(model, action, effects)
                || copies::perform(model, action, effects)
                || groups::perform(model, action)
                || changed::perform(model, action)
                || moves::perform(model, action);
        }
    }
}

/// Reads what is on the screen anew.
fn refresh(model: &mut Model) {
    for noun in model.visible() {
        model.ask(noun);
    }
    model.lists.findings.kept.clear();
    model.lists.board.kept.clear();
    for pane in Pane::ALL {
        model.show_rows(pane);
    }
}

/// Leaves this view; at the root, the dashboard.
fn quit(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.focus.in_detail {
        model.focus.in_detail = false;
    } else if model.focus.pane.is_full_view() {
        moves::go(model, Pane::Findings);
    } else if let Some(prompt) = prompts::before_leaving(model) {
        model.open_prompt(prompt);
    } else {
        effects.push(Effect::Quit);
    }
}

/// ctrl-c: cancels what is open or under way; twice in a second leaves at once.
fn cancel(model: &mut Model, effects: &mut Vec<Effect>) {
    let now = model.now.mono;
    if model.cancelled.replace(now).is_some_and(|last| now < last + TWICE) {
        effects.push(Effect::Quit);
        return;
    }
    if model.pending.take().is_some() || lines::close(model) {
        return;
    }
    let waiting: usize = model.batches.iter_mut().map(super::super::batch::Batch::cancel).sum();
    match waiting {
        0 => model.say(Tone::Plain, "nothing is under way; ctrl-c again leaves"),
        _ => model.say(Tone::Plain, format!("{waiting} not sent; what was sent goes on; ctrl-c again leaves")),
    }
}

impl Model {
    /// A person is in this pane: its selection is theirs from now on.
    fn hold(&mut self, pane: Pane) {
        let lists = &mut self.lists;
        match pane {
            Pane::Workspaces => lists.workspaces.held = true,
            Pane::Targets => lists.targets.held = true,
            Pane::Findings => lists.findings.held = true,
            Pane::Scans => lists.scans.held = true,
            Pane::Loggers => lists.loggers.held = true,
            Pane::Reports => lists.reports.held = true,
            Pane::Wordlists => lists.wordlists.held = true,
            Pane::Payloads => lists.payloads.held = true,
            Pane::Board => lists.board.held = true,
            // A stream follows its end until a person leaves that.
            Pane::Captures => {}
        }
    }

    /// Whether the focused list (not a text) has the keys.
    pub fn list_has_keys(&self) -> bool {
        self.contexts().contains(&Context::Lists)
    }
}
