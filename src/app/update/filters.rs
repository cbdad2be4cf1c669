//! The filter line of a list: every key shows its result at once, as long as the text is a query; with completion of
//! what can be written there, and the queries typed before.

use super::super::effect::Effect;
use super::super::modal::{Line, LinePurpose, Modal, QueryHelp, line_text, line_with};
use super::super::model::{Model, Pane};
use super::super::notices::Tone;
use crate::input::Action;
use crate::query::complete::{Completion, complete};
use crate::query::{Evaluator, Query};

/// Carries out an action of the filter line; false when another line is typed, or the action is none of its own.
pub(super) fn perform(model: &mut Model, action: Action, effects: &mut Vec<Effect>) -> bool {
    let Some(Modal::Line(Line { purpose: LinePurpose::Filter(pane), .. })) = model.modals.last() else { return false };
    let pane = *pane;
    match action {
        Action::Accept => accept(model, pane, effects),
        Action::Complete => walk_offers(model, pane, 1),
        Action::CompleteBack => walk_offers(model, pane, -1),
        Action::LineUp => recall(model, pane, 1),
        Action::LineDown => recall(model, pane, -1),
        _ => return false,
    }
    true
}

/// The text of the line was changed by hand.
pub(super) fn typed(model: &mut Model, pane: Pane, text: String) {
    let help = QueryHelp { offers: offers(model, pane, &text), ..QueryHelp::default() };
    show(model, pane, text, help);
}

/// Shows what a text takes. One that is no query changes nothing but the line.
fn show(model: &mut Model, pane: Pane, text: String, mut help: QueryHelp) {
    help.error = Query::parse(&text, pane.kind()).err();
    if help.error.is_none() {
        set(model, pane, text.trim_end().to_owned());
    }
    if let Some(line) = line(model) {
        line.help = help;
    }
}

/// Filters a pane by a text that is known to be a query.
pub(super) fn set(model: &mut Model, pane: Pane, text: String) {
    let before = std::mem::replace(model.cursor(pane).filter().0, text.clone());
    if before != text {
        model.apply_filter(pane);
    }
}

fn line(model: &mut Model) -> Option<&mut Line> {
    match model.modals.last_mut() {
        Some(Modal::Line(line)) => Some(line),
        _ => None,
    }
}

/// enter: the filter stays, and backspace brings the one before back. A text that is no query stays open.
fn accept(model: &mut Model, pane: Pane, effects: &mut Vec<Effect>) {
    let Some(line) = line(model) else { return };
    if let Some(error) = line.help.error.clone() {
        return model.say(Tone::Bad, format!("no query: {error}"));
    }
    let (before, text) = (line.before.clone(), line_text(&line.input));
    model.modals.pop();
    let text = text.trim().to_owned();
    if text != before.trim() {
        if !before.is_empty() {
            model.cursor(pane).filter().1.push(before);
        }
        model.typed(pane, &text, effects);
    }
}

/// Where the cursor is in the line, in bytes.
fn cursor_of(model: &Model, text: &str) -> usize {
    let column = match model.modals.last() {
        Some(Modal::Line(line)) => line.input.cursor().1,
        _ => 0,
    };
    text.char_indices().nth(column).map_or(text.len(), |(at, _)| at)
}

/// What can be written where the cursor is.
fn offers(model: &mut Model, pane: Pane, text: &str) -> Vec<Completion> {
    let cursor = cursor_of(model, text);
    model
        .ask_list(pane, |evaluator: &mut Evaluator, source| complete(text, cursor, evaluator, source))
        .unwrap_or_default()
}

/// tab: the next of what can be written stands in the line.
fn walk_offers(model: &mut Model, pane: Pane, by: isize) {
    let Some(line) = line(model) else { return };
    let mut help = std::mem::take(&mut line.help);
    let text = line_text(&line.input);
    let most = help.offers.len() as isize;
    if most == 0 {
        line.help = help;
        return model.say(Tone::Plain, "nothing to complete here");
    }
    let (base, at) = match help.taken.take() {
        Some((base, at)) => (base, (at as isize + by).rem_euclid(most) as usize),
        None => (text, if by < 0 { most as usize - 1 } else { 0 }),
    };
    let offer = &help.offers[at];
    let text = [&base[..offer.at.start], &offer.text, &base[offer.at.end..]].concat();
    let cursor = base[..offer.at.start].chars().count() + offer.text.chars().count();
    line.input = line_with(&text);
    line.input.move_cursor(tui_textarea::CursorMove::Jump(0, u16::try_from(cursor).unwrap_or(u16::MAX)));
    help.taken = Some((base, at));
    show(model, pane, text, help);
}

/// up and down: the queries typed before.
fn recall(model: &mut Model, pane: Pane, by: isize) {
    let typed = model.tabs.typed(pane).to_vec();
    let Some(line) = line(model) else { return };
    let (at, own) = match &line.help.recalled {
        Some((at, own)) => (*at as isize + 1, own.clone()),
        None => (0, line_text(&line.input)),
    };
    // 0 is what was typed, 1 the newest of the earlier ones.
    let to = (at + by).clamp(0, typed.len() as isize) as usize;
    let text = match to.checked_sub(1) {
        None => own.clone(),
        Some(back) => typed[typed.len() - 1 - back].clone(),
    };
    line.input = line_with(&text);
    let recalled = to.checked_sub(1).map(|at| (at, own));
    show(model, pane, text, QueryHelp { recalled, ..QueryHelp::default() });
}
