//! Completions of the text up to the cursor: names of commands, then values of their arguments.

use crate::base::Pane;
use crate::core::commands::parse::split;
use crate::core::commands::table;
use crate::model::{CommandOffer, Model};
use crate::palette::{ArgumentShape, Command, KEYS, RISKS, fuzzy, slot, trimmed};
use scandeck_domain::query::{Completion, Field, QueryKind, ValueKind};
use scandeck_domain::triage::Verdict;
use scandeck_wire::text;
use std::ops::Range;

/// So many are offered at most.
const MOST: usize = 100;

/// The completions, the best first.
pub(crate) fn offers(model: &mut Model, typed: &str) -> Vec<CommandOffer> {
    match split(typed) {
        Some((command, from)) if typed.len() > from => values(model, command, typed, from),
        _ => commands(model, typed),
    }
}

/// Commands whose name has the typed letters in order, or whose words have what is typed.
fn commands(model: &Model, typed: &str) -> Vec<CommandOffer> {
    let place = trimmed(typed, 0..typed.len());
    let start = typed.len() - typed.trim_start_matches([' ', ':']).len();
    let sought = typed[start..].trim();
    let in_lower_case = sought.to_lowercase();
    let mut ranked: Vec<(bool, bool, i32, CommandOffer)> = Vec::new();
    for command in table::all() {
        let by_name = fuzzy::fit(sought, &command.name);
        let by_words = || command.words.to_lowercase().contains(&in_lower_case);
        if by_name.is_none() && !by_words() {
            continue;
        }
        let named = by_name.is_some();
        let fit = by_name.unwrap_or(fuzzy::Fit {
            score: 0,
            letters: Vec::new(),
        });
        let offer = CommandOffer {
            place: start.min(place.end)..place.end,
            text: command.name.to_string(),
            letters: fit.letters,
            words: command.words.to_owned(),
            shape: command.shape(),
            is_whole: command.slots.is_empty(),
            key: model.command_key(command),
            off: model.command_off(command),
        };
        // Without a word to go by, what can be done here comes first.
        let off = sought.is_empty() && offer.off.is_some();
        ranked.push((
            off,
            !named,
            if sought.is_empty() { 0 } else { -fit.score },
            offer,
        ));
    }
    ranked.sort_by_key(|(off, unnamed, score, _)| (*off, *unnamed, *score));
    ranked.into_iter().map(|(_, _, _, offer)| offer).collect()
}

/// Values of the argument at the end of what is typed.
fn values(
    model: &mut Model,
    command: &'static Command,
    typed: &str,
    from: usize,
) -> Vec<CommandOffer> {
    let parts = slot::parts(command.slots, typed, from);
    let Some((nth, part)) = parts.into_iter().next_back() else {
        return Vec::new();
    };
    let start = part.end - typed[part.clone()].trim_start().len();
    let begun = typed[start..part.end]
        .rfind(char::is_whitespace)
        .map_or(start, |blank| start + blank + 1);
    let by_word = matches!(
        command.slots[nth].shape,
        ArgumentShape::Details | ArgumentShape::Tags
    );
    let start = if by_word { begun } else { start };
    of_shape(model, command.slots[nth].shape, typed, start..part.end)
}

fn of_shape(
    model: &mut Model,
    shape: ArgumentShape,
    typed: &str,
    place: Range<usize>,
) -> Vec<CommandOffer> {
    let data = &model.data;
    let (workspaces, targets, loggers) = (
        data.workspaces.value(),
        data.targets.value(),
        data.loggers.value(),
    );
    let names: Vec<String> = match shape {
        ArgumentShape::Choice(words, _) => words.iter().map(|word| (*word).to_owned()).collect(),
        ArgumentShape::Theme => model.theme_names().into_iter().map(str::to_owned).collect(),
        ArgumentShape::Workspace => workspaces
            .iter()
            .flat_map(|all| all.items())
            .map(|item| item.name.to_string())
            .collect(),
        ArgumentShape::Target => targets
            .iter()
            .flat_map(|all| all.items())
            .map(|item| item.name.to_string())
            .collect(),
        ArgumentShape::Logger => loggers
            .iter()
            .flat_map(|all| all.items())
            .map(|item| item.label.to_string())
            .collect(),
        ArgumentShape::Scan => return scans(model, typed, place),
        ArgumentShape::Path => return names_in_folder(model, typed, place),
        ArgumentShape::Custom => model
            .keyboard
            .keymap
            .custom_names()
            .into_iter()
            .map(str::to_owned)
            .collect(),
        ArgumentShape::Tab => model
            .settings
            .tabs
            .saved
            .iter()
            .map(|saved| saved.name.clone())
            .collect(),
        ArgumentShape::PayloadBook => return of_query(model, QueryKind::Payloads, typed, place),
        ArgumentShape::Payload => return payloads(model, typed, place),
        ArgumentShape::Findings => return of_query(model, QueryKind::Findings, typed, place),
        ArgumentShape::Details => return details(typed, place),
        ArgumentShape::Tags => tags(model),
        ArgumentShape::Query(kind) => return of_query(model, kind, typed, place),
        ArgumentShape::Here => {
            return of_query(model, model.navigation.focus.pane.kind(), typed, place);
        }
        ArgumentShape::Order => return fields(model, typed, place),
        ArgumentShape::Assignee => model.known_members(),
        ArgumentShape::Due => ["+7d", "+30d", "none"].map(str::to_owned).into(),
        ArgumentShape::Text(_) | ArgumentShape::Finding | ArgumentShape::Baseline => Vec::new(),
    };
    let offered = names
        .into_iter()
        .map(|name| (name, String::new()))
        .collect();
    ranked(offered, typed, place)
}

/// The folder of the path at the end of what is typed, with its slash; none if no path is typed
/// there.
pub(crate) fn typed_folder(typed: &str) -> Option<&str> {
    let (command, from) = split(typed).filter(|(_, from)| typed.len() > *from)?;
    let (nth, part) = slot::parts(command.slots, typed, from).pop()?;
    let is_path = matches!(command.slots[nth].shape, ArgumentShape::Path);
    is_path.then(|| folder_of(typed[part].trim_start()))
}

fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..=slash])
}

/// The names in the folder that is typed, once it is listed. Hidden ones need their dot.
fn names_in_folder(model: &Model, typed: &str, place: Range<usize>) -> Vec<CommandOffer> {
    let path = &typed[place.clone()];
    let folder = folder_of(path);
    let begun = &path[folder.len()..];
    let listed = model.overlay.folder.iter();
    let listed = listed.filter(|listed| listed.folder == folder);
    let names = listed.flat_map(|listed| listed.names.iter().flatten());
    let names = names.filter(|name| begun.starts_with('.') || !name.starts_with('.'));
    let offered = names.map(|name| (name.clone(), String::new())).collect();
    let mut offers = ranked(offered, typed, place.start + folder.len()..place.end);
    for offer in &mut offers {
        offer.is_whole = true;
    }
    offers
}

/// The completions of a query.
fn of_query(
    model: &mut Model,
    kind: QueryKind,
    typed: &str,
    place: Range<usize>,
) -> Vec<CommandOffer> {
    let query = &typed[place.clone()];
    let pane = Pane::ALL.into_iter().find(|pane| pane.kind() == kind);
    let found = pane.map(|pane| model.completions(pane, query, query.len()));
    let offer = |found: Completion| CommandOffer {
        place: (place.start + found.at.start)..(place.start + found.at.end),
        text: found.text,
        words: found.note,
        ..CommandOffer::default()
    };
    found.unwrap_or_default().into_iter().map(offer).collect()
}

/// Fields of the list with the focus, after the last comma.
fn fields(model: &Model, typed: &str, place: Range<usize>) -> Vec<CommandOffer> {
    let begun = typed[place.clone()].rfind(',').map_or(0, |comma| comma + 1);
    let begun = place.start + begun;
    let dash = usize::from(typed[begun..].starts_with('-'));
    let ordered = Field::of(model.navigation.focus.pane.kind())
        .filter(|spec| !matches!(spec.values, ValueKind::Search | ValueKind::Flags))
        .map(|spec| (spec.name.to_owned(), spec.words.to_owned()));
    ranked(ordered.collect(), typed, (begun + dash)..place.end)
}

/// The options of a verdict: their keys, or the values after a key.
fn details(typed: &str, place: Range<usize>) -> Vec<CommandOffer> {
    let word = &typed[place.clone()];
    let Some((key, _)) = word.split_once('=') else {
        let keys = KEYS
            .iter()
            .map(|(key, words)| ((*key).to_owned(), (*words).to_owned()));
        return ranked(keys.collect(), typed, place);
    };
    let verdict = Verdict::ALL.into_iter().find(|verdict| {
        typed
            .split_whitespace()
            .any(|word| word == verdict.as_str())
    });
    let values: Vec<&str> = match key {
        "reason" => verdict
            .map(Verdict::reasons)
            .unwrap_or_default()
            .iter()
            .map(|reason| reason.as_str())
            .collect(),
        "severity" => RISKS.iter().map(|risk| risk.as_str()).collect(),
        _ => Vec::new(),
    };
    let values = values
        .into_iter()
        .map(|value| (value.to_owned(), String::new()))
        .collect();
    ranked(values, typed, (place.start + key.len() + 1)..place.end)
}

/// Tags in use, as they are put on.
fn tags(model: &Model) -> Vec<String> {
    let used = model.findings.triage.tags_in_use().into_iter();
    used.map(|tag| format!("+{tag}")).collect()
}

/// Payloads by token, the newest first, with where they went.
fn payloads(model: &Model, typed: &str, place: Range<usize>) -> Vec<CommandOffer> {
    let table = model.data.payloads.value().cloned().unwrap_or_default();
    let newest = table
        .order(0)
        .iter()
        .map(|&row| &table.items()[row as usize]);
    ranked(
        newest
            .map(|payload| (payload.token.to_string(), payload.place()))
            .collect(),
        typed,
        place,
    )
}

/// Scans by id, the newest first, with their words.
fn scans(model: &Model, typed: &str, place: Range<usize>) -> Vec<CommandOffer> {
    let scans = model
        .data
        .scans
        .value()
        .map(|scans| scans.items())
        .unwrap_or_default();
    let mut ids: Vec<_> = scans.iter().map(|scan| scan.id).collect();
    ids.sort_by_key(|id| std::cmp::Reverse(*id));
    ranked(
        ids.into_iter()
            .map(|id| (id.to_string(), model.scan_words(id)))
            .collect(),
        typed,
        place,
    )
}

/// The offers that have the typed letters in order, the best first.
fn ranked(offered: Vec<(String, String)>, typed: &str, place: Range<usize>) -> Vec<CommandOffer> {
    let sought = typed[place.clone()].trim_end();
    let mut fits: Vec<_> = offered
        .into_iter()
        .filter_map(|(name, words)| Some((fuzzy::fit(sought, &name)?, name, words)))
        .collect();
    if !sought.is_empty() {
        fits.sort_by_key(|(fit, _, _)| -fit.score);
    }
    let offer = |(fit, name, words): (fuzzy::Fit, String, String)| CommandOffer {
        place: place.clone(),
        text: text::clean(&name).into_owned(),
        letters: fit.letters,
        words,
        ..CommandOffer::default()
    };
    fits.into_iter().take(MOST).map(offer).collect()
}
