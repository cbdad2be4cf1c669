//! The command line: opening it, typing in it, running a command.
//!
//! ```text
//!   : ─► CommandLine ─ key ─► offers, fault        tab takes an offer, up and down walk the offers or earlier lines
//!                    └ enter ─► parse ─► disabled? ─► added to the history ─► action or function
//! ```
//!
//! Commands of one feature are in the `commands.rs` of that feature; the files here hold those of
//! several lists.

pub mod forms;
pub mod lists;
pub mod offers;
pub mod parse;
pub mod table;
pub mod team;
#[cfg(test)]
pub(crate) mod tests;
pub mod views;

use crate::base::{Effect, FolderNames, Tone};
use crate::core::Ready;
use crate::core::update::actions::handle_action;
use crate::input::{EditAction, KeyEvent};
use crate::model::{CommandAbout, CommandLine, Modal, Model};
use crate::palette::Command;
use crate::text::{Ends, Offers, Recall};

/// The commands that take arguments, of all areas.
pub(crate) fn command_table() -> Vec<Command> {
    let areas = [
        views::COMMANDS,
        lists::COMMANDS,
        crate::findings::commands::COMMANDS,
        crate::scans::commands::COMMANDS,
        crate::scans::import::COMMANDS,
        crate::payloads::commands::COMMANDS,
        crate::captures::commands::COMMANDS,
        crate::findings::export::COMMANDS,
        crate::findings::case::COMMANDS,
        crate::chains::commands::COMMANDS,
        forms::COMMANDS,
        team::COMMANDS,
    ];
    areas.concat()
}

/// A key while the line is open.
pub(crate) fn handle_key(
    model: &mut Model,
    event: KeyEvent,
    action: Option<EditAction>,
    effects: &mut Vec<Effect>,
) {
    match action {
        Some(EditAction::Close) => {
            model.overlay.modals.pop();
        }
        Some(EditAction::Accept) => accept(model, effects),
        Some(EditAction::Complete) => complete(model),
        Some(EditAction::LineDown) => walk(model, 1),
        Some(EditAction::LineUp) => walk(model, -1),
        Some(EditAction::LinePageDown) => walk_offers(model, PAGE),
        Some(EditAction::LinePageUp) => walk_offers(model, -PAGE),
        None | Some(EditAction::CompleteBack | EditAction::Yes | EditAction::IncludeHidden) => {
            type_in(model, event)
        }
    }
}

fn type_in(model: &mut Model, event: KeyEvent) {
    let Some(line) = line(model) else { return };
    if line.input.type_key(event) {
        line.recall = Recall::default();
    }
    parse(model);
}

/// Offers that page up and down go over.
const PAGE: isize = 8;

/// Text was pasted into the line: nothing runs.
pub(crate) fn handle_typed(model: &mut Model) {
    if let Some(line) = line(model) {
        line.recall = Recall::default();
        parse(model);
    }
}

fn line(model: &mut Model) -> Option<&mut Box<CommandLine>> {
    model.overlay.modals.last_mut()?.try_as_command_mut()
}

/// Parses a line that was just opened.
pub(crate) fn parse_opened(model: &mut Model) {
    if matches!(model.overlay.modals.last(), Some(Modal::Command(line)) if !line.is_read) {
        parse(model);
    }
}

/// Updates the suggestions, and the reason why the line cannot be run.
fn parse(model: &mut Model) {
    let Some(Modal::Command(mut line)) = model.overlay.modals.pop() else {
        return;
    };
    let text = line.input.text();
    line.is_read = true;
    line.command = parse::split(&text).map(|(command, _)| CommandAbout {
        usage: command.usage(),
        words: command.words.to_owned(),
        off: model.command_off(command),
    });
    line.offers = Offers::new(offers::offers(model, line.input.row_before_cursor()));
    // A name that is still being typed, or an argument that is offered but not typed, is no error
    // yet.
    let fault = parse::parse(model, &text).err();
    let is_begun = |fault: &crate::model::Fault| line.command.is_some() && !fault.at.is_empty();
    line.fault = fault.filter(|fault| is_begun(fault) || line.offers.all.is_empty());
    model.overlay.modals.push(Modal::Command(line));
}

/// Refreshes the completions when more values are loaded, unless one completion is selected.
pub(crate) fn renew_offers(model: &mut Model) {
    let Some(text) = line(model)
        .filter(|line| line.offers.at.is_none())
        .map(|line| line.input.row_before_cursor().to_owned())
    else {
        return;
    };
    let offers = Offers::new(offers::offers(model, &text));
    if let Some(line) = line(model) {
        line.offers = offers;
    }
}

/// Requests the names in the folder of the path that is typed, once.
pub(crate) fn list_folder(model: &mut Model, effects: &mut Vec<Effect>) {
    let folder = match model.overlay.modals.last() {
        Some(Modal::Command(line)) => offers::typed_folder(line.input.row_before_cursor()),
        _ => None,
    };
    let folder = folder.map(str::to_owned);
    let listed = model.overlay.folder.as_ref().map(|listed| &listed.folder);
    if listed == folder.as_ref() {
        return;
    }
    effects.extend(folder.clone().map(Effect::ListFolder));
    model.overlay.folder = folder.map(|folder| FolderNames {
        folder,
        names: None,
    });
}

/// A folder was listed, perhaps one that is no longer typed.
pub(crate) fn handle_folder(model: &mut Model, listed: FolderNames) {
    if let Some(folder) = &mut model.overlay.folder
        && folder.folder == listed.folder
    {
        *folder = listed;
        renew_offers(model);
    }
}

/// tab: inserts the selected completion, or the first one.
fn complete(model: &mut Model) {
    let Some(line) = line(model) else { return };
    if let Some(offer) = line.offers.selected_or_first() {
        let text = line.with(offer);
        line.input.set(&text);
    }
    parse(model);
}

/// up and down: in an empty line, up brings back what was run; otherwise the offers are walked.
fn walk(model: &mut Model, by: isize) {
    let run = model.commands_run();
    let Some(line) = line(model) else { return };
    let begins = by < 0 && line.offers.at.is_none() && line.input.text().is_empty();
    if !line.recall.is_active() && !begins {
        return walk_offers(model, by);
    }
    let text = line.recall.walk(&run, "", -by);
    line.input.set(&text);
    parse(model);
}

fn walk_offers(model: &mut Model, by: isize) {
    if let Some(line) = line(model) {
        line.offers.walk(by, Ends::Stop);
    }
}

/// enter: runs the line, or the offer that was walked to; a name that is not finished is that of
/// the first offer.
fn accept(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(line) = line(model) else { return };
    let offer = match line.command {
        Some(_) => line.offers.selected(),
        None => line.offers.selected_or_first(),
    };
    let text = offer.map_or_else(|| line.input.text(), |offer| line.with(offer));
    match parse::parse(model, &text) {
        Ok(ready) => run(model, &text, ready, effects),
        Err(fault) => {
            if let Some(line) = crate::core::commands::line(model) {
                line.input.set(&text);
            }
            parse(model);
            if let Some(line) = crate::core::commands::line(model) {
                line.fault = Some(fault);
            }
        }
    }
}

fn run(model: &mut Model, text: &str, ready: Ready, effects: &mut Vec<Effect>) {
    let Ready { command, args } = ready;
    if let Some(why) = model.command_off(command) {
        return model.notify(Tone::Plain, why);
    }
    model.overlay.modals.pop();
    model.keep_command(text.trim_start_matches([' ', ':']).trim_end(), effects);
    match (command.action, command.run) {
        (Some(action), run) if run.is_none() || args.values.is_empty() => {
            handle_action(model, action, effects)
        }
        (_, Some(run)) => {
            if let Err(why) = run(model, &args, effects) {
                model.notify(Tone::Bad, why);
            }
        }
        (_, None) => {}
    }
}
