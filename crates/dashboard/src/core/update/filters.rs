//! The filter line of a list: every valid text is applied at once; with completion, and recall of
//! earlier queries.

use crate::base::{Effect, Pane, RowRef, Tone};
use crate::model::{Line, LinePurpose, Model, QueryHelp};
use crate::text::{Ends, Offers};
use scandeck_domain::query::{Completion, Query, with_own_name};

/// The text of the line was changed by a key.
pub(crate) fn typed(model: &mut Model, pane: Pane, text: String) {
    let help = QueryHelp {
        offers: Offers::new(offers(model, pane, &text)),
        ..QueryHelp::default()
    };
    show(model, pane, text, help);
}

/// Applies a text, in which the own name replaces `me`; while it is an invalid query, the last
/// valid one, without the term that became invalid.
fn show(model: &mut Model, pane: Pane, text: String, mut help: QueryHelp) {
    let shown = model.cursor(pane).filter().0.clone();
    let was_invalid =
        help.error.is_some() || line(model).is_some_and(|line| line.help.error.is_some());
    let own_name = model.own_name();
    let named = |part: &str| with_own_name(part, pane.kind(), &own_name);
    help.error = Query::parse_as(&text, pane.kind(), &own_name).err();
    let applied = match &help.error {
        None => named(text.trim_end()),
        Some(error) => {
            let before = named(&text[..term_start(&text, error.at.start)]);
            let was_typed = !was_invalid && shown.get(..before.len()) == Some(before.as_str());
            if was_typed {
                without_term(&shown, before.len())
            } else {
                shown
            }
        }
    };
    if Query::parse(&applied, pane.kind()).is_ok() {
        let selected = line(model).and_then(|line| line.selected);
        set(model, pane, applied, selected);
    }
    if let Some(line) = line(model) {
        line.help = help;
    }
}

/// The text without the term at a byte position.
fn without_term(text: &str, at: usize) -> String {
    let start = term_start(text, at);
    let end = text[at..]
        .find(char::is_whitespace)
        .map_or(text.len(), |blank| at + blank);
    format!("{}{}", &text[..start], &text[end..])
        .trim()
        .to_owned()
}

/// The beginning of the term at a byte position.
fn term_start(text: &str, at: usize) -> usize {
    text[..at]
        .rfind(char::is_whitespace)
        .map_or(0, |blank| blank + 1)
}

/// Filters a pane by a valid query, and returns to the row that was selected before the typing if
/// it is shown.
pub(crate) fn set(model: &mut Model, pane: Pane, text: String, selected: Option<RowRef>) {
    let before = std::mem::replace(model.cursor(pane).filter().0, text.clone());
    if before != text {
        model.apply_filter(pane);
        let mut cursor = model.cursor(pane);
        if let Some(at) = selected.and_then(|row| cursor.place(row)) {
            cursor.select(at);
        }
        drop(cursor);
        // The rows of many findings come later.
        if let Some(row) = selected.filter(|_| pane == Pane::Findings && model.is_list_behind()) {
            model.lists.select_when_loaded(pane, row);
        }
    }
}

fn line(model: &mut Model) -> Option<&mut Line> {
    model.overlay.modals.last_mut()?.try_as_line_mut()
}

/// enter: keeps the filter, and backspace restores the previous one. An invalid query keeps the
/// line open.
pub(crate) fn accept(model: &mut Model, pane: Pane, effects: &mut Vec<Effect>) {
    let Some(line) = line(model) else { return };
    if let Some(error) = line.help.error.clone() {
        return model
            .overlay
            .notices
            .notify_until_key(model.now.mono, format!("invalid query: {error}"));
    }
    let (before, text) = (line.before.clone(), line.input.text());
    model.overlay.modals.pop();
    let text = text.trim().to_owned();
    if text != before.trim() {
        if !before.is_empty() {
            model.cursor(pane).filter().1.push(before);
        }
        model.typed(pane, &text, effects);
    }
}

/// The completions at the cursor.
fn offers(model: &mut Model, pane: Pane, text: &str) -> Vec<Completion> {
    let cursor = line(model).map_or(0, |line| line.input.row_before_cursor().len());
    model.completions(pane, text, cursor)
}

/// Refreshes the completions when more values are loaded, unless one completion is selected.
pub(crate) fn renew_offers(model: &mut Model) {
    let Some(line) = line(model).filter(|line| line.help.offers.at.is_none()) else {
        return;
    };
    let LinePurpose::Filter(pane) = line.purpose else {
        return;
    };
    let text = line.input.text();
    let offers = Offers::new(offers(model, pane, &text));
    if let Some(line) = self::line(model) {
        line.help.offers = offers;
    }
}

/// tab: puts the next completion into the line.
pub(crate) fn walk_offers(model: &mut Model, pane: Pane, by: isize) {
    let Some(line) = line(model) else { return };
    let mut help = std::mem::take(&mut line.help);
    if help.offers.at.is_none() {
        help.completed = line.input.text();
    }
    help.offers.walk(by, Ends::Around);
    let Some(offer) = help.offers.selected() else {
        line.help = help;
        return model.notify(Tone::Plain, "nothing to complete");
    };
    let (before, after) = (
        &help.completed[..offer.at.start],
        &help.completed[offer.at.end..],
    );
    line.input
        .set_around_cursor(&[before, &offer.text].concat(), after);
    let text = line.input.text();
    show(model, pane, text, help);
}

/// up and down: recall earlier queries.
pub(crate) fn recall(model: &mut Model, pane: Pane, by: isize) {
    let typed = model.settings.tabs.typed(pane).to_vec();
    let Some(line) = line(model) else { return };
    let mut recall = std::mem::take(&mut line.help.recall);
    let text = recall.walk(&typed, &line.input.text(), by);
    line.input.set(&text);
    show(
        model,
        pane,
        text,
        QueryHelp {
            recall,
            ..QueryHelp::default()
        },
    );
}
