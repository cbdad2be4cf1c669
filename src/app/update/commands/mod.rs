//! The command line: opening it, typing in it, running what it says.
//!
//! ```text
//!   : ─► CommandLine ─ key ─► offers, fault        tab takes an offer, up and down walk them or the lines run before
//!                    └ enter ─► read ─► off? ─► kept in the history ─► action or function
//! ```
//!
//! What each command does stands in the files beside this one, an area a file.

mod captures;
mod forms;
mod lists;
mod offers;
pub(super) mod out;
mod payloads;
mod scans;
mod triage;
mod views;

use crossterm::event::KeyEvent;

use super::super::command::{self, Command, CommandLine, Ready};
use super::super::effect::Effect;
use super::super::modal::{Modal, line_with};
use super::super::model::Model;
use super::super::notices::Tone;
use super::super::typing::type_key;
use super::keys;
use crate::input::Action;

/// The commands that take arguments, of all areas.
pub(in crate::app) fn command_table() -> Vec<Command> {
    let areas = [
        views::COMMANDS,
        lists::COMMANDS,
        triage::COMMANDS,
        scans::COMMANDS,
        payloads::COMMANDS,
        captures::COMMANDS,
        out::COMMANDS,
        forms::COMMANDS,
    ];
    areas.concat()
}

/// Opens the line.
pub(super) fn open(model: &mut Model) {
    open_with(model, "");
}

/// The same with a beginning to go on from.
pub(super) fn open_with(model: &mut Model, text: &str) {
    model.modals.push(Modal::Command(Box::new(CommandLine { input: line_with(text), ..CommandLine::default() })));
    think(model);
}

/// A key while the line is open.
pub(super) fn handle_key(model: &mut Model, event: KeyEvent, action: Option<Action>, effects: &mut Vec<Effect>) {
    match action {
        Some(Action::Close) => {
            model.modals.pop();
        }
        Some(Action::Accept) => accept(model, effects),
        Some(Action::Complete) => complete(model),
        Some(Action::LineDown) => walk(model, 1),
        Some(Action::LineUp) => walk(model, -1),
        Some(Action::LinePageDown) => walk_offers(model, PAGE),
        Some(Action::LinePageUp) => walk_offers(model, -PAGE),
        _ => {
            let Some(line) = line(model) else { return };
            if type_key(&mut line.input, event) {
                line.recalled = None;
            }
            think(model);
        }
    }
}

/// Offers that page up and down go over.
const PAGE: isize = 8;

/// Puts pasted text in, as one line; nothing runs.
pub(super) fn paste(model: &mut Model, one_line: &str) {
    if let Some(line) = line(model) {
        line.input.insert_str(one_line);
        line.recalled = None;
        think(model);
    }
}

fn line(model: &mut Model) -> Option<&mut CommandLine> {
    match model.modals.last_mut() {
        Some(Modal::Command(line)) => Some(line),
        _ => None,
    }
}

/// Says anew what could be meant, and why the line cannot be run.
fn think(model: &mut Model) {
    let Some(Modal::Command(mut line)) = model.modals.pop() else { return };
    let text = line.text();
    line.at = None;
    line.command = command::split(&text).map(|(command, _)| command);
    line.offers = offers::offers(model, &line.text_before_cursor());
    // A name that is still being typed is no error yet.
    let fault = command::read(model, &text).err();
    line.fault = fault.filter(|_| line.command.is_some() || line.offers.is_empty());
    model.modals.push(Modal::Command(line));
    model.dirty = true;
}

/// tab: the offer that was walked to, or the first, stands in the line.
fn complete(model: &mut Model) {
    let Some(line) = line(model) else { return };
    if let Some(offer) = line.offers.get(line.at.unwrap_or(0)) {
        let text = line.with(offer);
        line.set(&text);
    }
    think(model);
}

/// up and down: in an empty line, up brings back what was run; otherwise the offers are walked.
fn walk(model: &mut Model, by: isize) {
    let run = model.commands_run();
    let Some(line) = line(model) else { return };
    let recalls = line.recalled.is_some() || (by < 0 && line.at.is_none() && line.text().is_empty());
    if !recalls {
        return walk_offers(model, by);
    }
    let at = line.recalled.map_or(-1, |at| at as isize);
    let at = (at - by).min(run.len() as isize - 1);
    line.recalled = usize::try_from(at).ok();
    let text = line.recalled.and_then(|at| run.iter().rev().nth(at)).cloned().unwrap_or_default();
    line.set(&text);
    think(model);
}

fn walk_offers(model: &mut Model, by: isize) {
    if let Some(line) = line(model) {
        line.walk(by);
    }
}

/// enter: runs the line, or the offer that was walked to; a name that is not finished is that of the first offer.
fn accept(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(line) = line(model) else { return };
    let unfinished = line.command.is_none();
    let offer = line.at.or(unfinished.then_some(0)).and_then(|at| line.offers.get(at));
    let text = offer.map_or_else(|| line.text(), |offer| line.with(offer));
    match command::read(model, &text) {
        Ok(ready) => run(model, &text, ready, effects),
        Err(_) => {
            if let Some(line) = self::line(model) {
                line.set(&text);
            }
            think(model);
        }
    }
}

fn run(model: &mut Model, text: &str, ready: Ready, effects: &mut Vec<Effect>) {
    let Ready { command, args } = ready;
    if let Some(why) = model.command_off(command) {
        return model.say(Tone::Plain, format!(":{}: {why}", command.name));
    }
    model.modals.pop();
    model.keep_command(text.trim_start_matches([' ', ':']).trim_end(), effects);
    match (command.action, command.run) {
        (Some(action), run) if run.is_none() || args.values.is_empty() => keys::perform(model, action, effects),
        (_, Some(run)) => {
            if let Err(why) = run(model, &args, effects) {
                model.say(Tone::Bad, format!(":{}: {why}", command.name));
            }
        }
        (_, None) => {}
    }
}
