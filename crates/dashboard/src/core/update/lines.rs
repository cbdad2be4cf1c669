//! Lines typed over the panes (filter, search, filter of the help), and text boxes.

use crate::base::{Effect, Pane, Tone};
use crate::core::update::filters;
use crate::input::{Action, AppAction, EditAction, KeyEvent, MoveAction, TextAction, ViewAction};
use crate::model::{Line, LinePurpose, Modal, Model, QueryHelp};
use crate::text::{Search, TextInput};
use scandeck_wire::text;

/// End of the notice about a closed form with input.
pub(crate) const INPUT_KEPT: &str = ": draft kept";
/// The same for the form of a report, whose input is kept for the rows that it was opened for.
const INPUT_KEPT_FOR_ROWS: &str = ": draft kept for these rows";

/// Opens the line for the filter of the focused list.
pub(crate) fn open_filter(model: &mut Model) {
    let pane = model.navigation.focus.pane;
    let before = model.cursor(pane).filter().0.clone();
    // A space separates the typed text from the current filter.
    let text = if before.is_empty() {
        String::new()
    } else {
        format!("{} ", before.trim_end())
    };
    open(model, LinePurpose::Filter(pane), &text, before);
}

/// Opens the line for a search in the detail.
pub(crate) fn open_search(model: &mut Model) {
    let words = model
        .detail
        .search
        .as_ref()
        .map(|search| search.words.clone())
        .unwrap_or_default();
    open(model, LinePurpose::Search, &words.clone(), words);
}

fn open(model: &mut Model, purpose: LinePurpose, text: &str, before: String) {
    // Captures follow their end.
    let pane = model.navigation.focus.pane;
    let selected = if pane == Pane::Captures {
        None
    } else {
        model.cursor(pane).selected_row()
    };
    model.overlay.modals.push(Modal::Line(Line {
        purpose,
        input: TextInput::line(text),
        before,
        selected,
        help: QueryHelp::default(),
    }));
}

/// A key while a line is typed.
pub(crate) fn handle_key(
    model: &mut Model,
    event: KeyEvent,
    action: Option<EditAction>,
    effects: &mut Vec<Effect>,
) {
    let page = page(model) as isize;
    let filtered = match model.overlay.modals.last() {
        Some(Modal::Line(Line {
            purpose: LinePurpose::Filter(pane),
            ..
        })) => Some(*pane),
        _ => None,
    };
    match (action, filtered) {
        (Some(EditAction::Close), _) => close(model),
        (Some(EditAction::Accept), Some(pane)) => filters::accept(model, pane, effects),
        (Some(EditAction::Accept), None) => {
            model.overlay.modals.pop();
        }
        (Some(EditAction::Complete), Some(pane)) => filters::walk_offers(model, pane, 1),
        (Some(EditAction::CompleteBack), Some(pane)) => filters::walk_offers(model, pane, -1),
        // Only a filter has something to complete.
        (Some(EditAction::Complete | EditAction::CompleteBack), None) => {}
        (Some(EditAction::LineUp), Some(pane)) => filters::recall(model, pane, 1),
        (Some(EditAction::LineDown), Some(pane)) => filters::recall(model, pane, -1),
        (Some(EditAction::LineUp), None) => walk(model, -1),
        (Some(EditAction::LineDown), None) => walk(model, 1),
        (Some(EditAction::LinePageDown), _) => walk(model, page),
        (Some(EditAction::LinePageUp), _) => walk(model, -page),
        (None | Some(EditAction::Yes | EditAction::IncludeHidden), _) => type_in(model, event),
    }
}

fn type_in(model: &mut Model, event: KeyEvent) {
    if let Some(input) = model.overlay.modals.last_mut().and_then(Modal::input) {
        input.type_key(event);
    }
    apply(model);
}

/// Every key shows its result at once, and so does pasted text.
pub(crate) fn apply(model: &mut Model) {
    match model.overlay.modals.last_mut() {
        Some(Modal::Line(Line {
            purpose: LinePurpose::Filter(pane),
            input,
            ..
        })) => {
            let (pane, text) = (*pane, input.text());
            filters::typed(model, pane, text);
        }
        Some(Modal::Line(Line {
            purpose: LinePurpose::Search,
            input,
            ..
        })) => {
            let words = input.text();
            model.detail.search = (!words.is_empty()).then_some(Search {
                words,
                at: 0,
                follow: true,
            });
        }
        Some(Modal::Help(help)) => help.scroll = 0,
        _ => {}
    }
}

/// Closes the top layer, and undoes the changes of a line.
pub(crate) fn close(model: &mut Model) {
    match model.overlay.modals.pop() {
        Some(Modal::Line(Line {
            purpose: LinePurpose::Filter(pane),
            before,
            selected,
            ..
        })) => {
            filters::set(model, pane, before, selected);
        }
        Some(Modal::Line(Line {
            purpose: LinePurpose::Search,
            ..
        })) => model.detail.search = None,
        // The first-start question cannot be closed: without an answer there is no service.
        Some(setup @ Modal::Setup(_)) => model.overlay.modals.push(setup),
        // A form that is being sent must not be sent again before its answer.
        Some(Modal::Form(form)) if form.is_touched() || form.sending => {
            let title = text::clean(&form.title).into_owned();
            let kept = if form.subject.sets.is_empty() {
                INPUT_KEPT
            } else {
                INPUT_KEPT_FOR_ROWS
            };
            if form.is_touched() {
                model.notify(Tone::Plain, format!("{title}{kept}"));
            }
            model.overlay.drafts.insert(form.tag, *form);
        }
        Some(
            Modal::Form(_)
            | Modal::Help(_)
            | Modal::Alerts(_)
            | Modal::Decide(_)
            | Modal::Rules(_)
            | Modal::Command(_)
            | Modal::Prompt(_)
            | Modal::Text(_)
            | Modal::Plot(_)
            | Modal::Why(_)
            | Modal::Chain(_),
        )
        | None => {}
    }
}

/// down and up while typing: the list below moves, or the help.
pub(crate) fn walk(model: &mut Model, by: isize) {
    let keys: usize = model
        .keyboard
        .keymap
        .help()
        .iter()
        .map(|section| section.lines.len() + 2)
        .sum();
    let lines = keys + 2 * crate::core::commands::table::all().len();
    let most = last_first_line(model, lines);
    match model.overlay.modals.last_mut() {
        Some(Modal::Help(help)) => {
            help.scroll = help.scroll.saturating_add_signed(by as i32).min(most)
        }
        Some(Modal::Line(Line {
            purpose: LinePurpose::Filter(pane),
            ..
        })) => {
            let pane = *pane;
            let mut cursor = model.cursor(pane);
            let at = cursor.at().saturating_add_signed(by);
            cursor.select(at);
            let selected = cursor.selected_row();
            drop(cursor);
            if let Some(Modal::Line(line)) = model.overlay.modals.last_mut() {
                line.selected = selected.filter(|_| pane != Pane::Captures);
            }
        }
        _ => {}
    }
}

/// A key while a text is read.
pub(crate) fn handle_text_box(
    model: &mut Model,
    action: Option<Action>,
    effects: &mut Vec<Effect>,
) {
    let Some(Modal::Text(shown)) = model.overlay.modals.last() else {
        return;
    };
    let most = i64::from(last_first_line(model, shown.body.lines().count()));
    let page = page(model) as isize;
    let Some(Modal::Text(shown)) = model.overlay.modals.last_mut() else {
        return;
    };
    let by = match action {
        Some(Action::Move(action)) => action.rows(page),
        Some(Action::App(AppAction::GoPrefix)) => MoveAction::Top.rows(page),
        Some(
            Action::View(ViewAction::Back | ViewAction::Quit) | Action::Text(TextAction::TabLeft),
        ) => {
            model.overlay.modals.pop();
            return;
        }
        Some(Action::Text(TextAction::Pager)) => {
            return effects.push(Effect::Page(Some(
                text::clean_text(&shown.body).into_owned(),
            )));
        }
        // A text is only read.
        Some(_) | None => 0,
    };
    let to = i64::from(shown.scroll)
        .saturating_add(by as i64)
        .clamp(0, most);
    shown.scroll = u32::try_from(to).unwrap_or(0);
}

/// Maximum rows of an overlay, without its frame and its headers.
const AROUND: u16 = 8;

fn page(model: &Model) -> i64 {
    i64::from(model.screen.size.rows.saturating_sub(AROUND).max(2))
}

/// How far a text of so many lines can be scrolled; what is drawn is held to its end exactly.
fn last_first_line(model: &Model, lines: usize) -> u32 {
    let rows = usize::from(model.screen.size.rows.saturating_sub(AROUND));
    u32::try_from(lines.saturating_sub(rows)).unwrap_or(u32::MAX)
}
