//! Lines that are typed over the panes (filter, search, the filter of the help), and texts that are read there.

use crossterm::event::KeyEvent;

use super::super::detail::Search;
use super::super::effect::Effect;
use super::super::modal::{Line, LinePurpose, Modal, QueryHelp, TextBox, line_text, line_with};
use super::super::model::Model;
use super::super::typing::type_key;
use super::filters;
use crate::input::Action;

/// Opens the line for a filter (in a list) or a search (in a detail).
pub(super) fn open(model: &mut Model, action: Action) {
    let pane = model.focus.pane;
    let (purpose, text, before) = match action {
        Action::Search => {
            let words = model.detail.search.as_ref().map(|search| search.words.clone()).unwrap_or_default();
            (LinePurpose::Search, words.clone(), words)
        }
        _ => {
            let before = model.cursor(pane).filter().0.clone();
            // What is typed next is a part of its own.
            let text = if before.is_empty() { String::new() } else { format!("{} ", before.trim_end()) };
            (LinePurpose::Filter(pane), text, before)
        }
    };
    model.modals.push(Modal::Line(Line { purpose, input: line_with(&text), before, help: QueryHelp::default() }));
}

/// A key while a line is typed.
pub(super) fn handle_key(model: &mut Model, event: KeyEvent, action: Option<Action>, effects: &mut Vec<Effect>) {
    let page = page(model) as isize;
    if let Some(action) = action
        && filters::perform(model, action, effects)
    {
        return;
    }
    match action {
        Some(Action::Close) => {
            close(model);
        }
        Some(Action::Accept) => {
            model.modals.pop();
        }
        // Only a filter has something to complete.
        Some(Action::Complete | Action::CompleteBack) => {}
        Some(Action::LineDown) => walk(model, 1),
        Some(Action::LineUp) => walk(model, -1),
        Some(Action::LinePageDown) => walk(model, page),
        Some(Action::LinePageUp) => walk(model, -page),
        _ => {
            match model.modals.last_mut() {
                Some(Modal::Line(line)) => type_key(&mut line.input, event),
                Some(Modal::Help(help)) => type_key(&mut help.filter, event),
                _ => false,
            };
            apply(model);
        }
    }
}

/// Puts pasted text into what is typed; false when nothing is.
pub(super) fn paste(model: &mut Model, text: &str) -> bool {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match model.modals.last_mut() {
        Some(Modal::Line(line)) => line.input.insert_str(one_line),
        Some(Modal::Help(help)) => help.filter.insert_str(one_line),
        Some(Modal::Command(_)) => {
            super::commands::paste(model, &one_line);
            return true;
        }
        _ => return false,
    };
    apply(model);
    true
}

/// Every key shows its result at once.
fn apply(model: &mut Model) {
    match model.modals.last_mut() {
        Some(Modal::Line(Line { purpose: LinePurpose::Filter(pane), input, .. })) => {
            let (pane, text) = (*pane, line_text(input));
            filters::typed(model, pane, text);
        }
        Some(Modal::Line(Line { purpose: LinePurpose::Search, input, .. })) => {
            let words = line_text(input);
            model.detail.search = (!words.is_empty()).then_some(Search { words, at: 0, follow: true });
        }
        Some(Modal::Help(help)) => help.scroll = 0,
        _ => {}
    }
}

/// Closes the topmost layer; what a line changed is taken back. False when nothing was open.
pub(super) fn close(model: &mut Model) -> bool {
    match model.modals.pop() {
        None => false,
        Some(Modal::Line(Line { purpose: LinePurpose::Filter(pane), before, .. })) => {
            filters::set(model, pane, before);
            true
        }
        Some(Modal::Line(Line { purpose: LinePurpose::Search, .. })) => {
            model.detail.search = None;
            true
        }
        // The first-start question cannot be put away: without an answer there is nothing behind it.
        Some(setup @ Modal::Setup(_)) => {
            model.modals.push(setup);
            false
        }
        Some(Modal::Form(form)) => {
            if form.is_touched() {
                model.drafts.insert(form.tag, *form);
            }
            true
        }
        Some(
            Modal::Help(_)
            | Modal::Alerts(_)
            | Modal::Decide(_)
            | Modal::Rules(_)
            | Modal::Command(_)
            | Modal::Prompt(_)
            | Modal::Text(_),
        ) => true,
    }
}

/// down and up while typing: the list below moves, or the help.
fn walk(model: &mut Model, by: isize) {
    let keys: usize = model.keymap.help().iter().map(|section| section.lines.len() + 2).sum();
    let lines = keys + 2 * super::super::command::all().len();
    let most = last_first_line(model, lines);
    match model.modals.last_mut() {
        Some(Modal::Help(help)) => help.scroll = help.scroll.saturating_add_signed(by as i32).min(most),
        Some(Modal::Line(Line { purpose: LinePurpose::Filter(pane), .. })) => {
            let pane = *pane;
            let mut cursor = model.cursor(pane);
            let at = cursor.at().saturating_add_signed(by);
            cursor.select(at);
        }
        _ => {}
    }
}

/// A key while a text is read.
pub(super) fn handle_text_box(model: &mut Model, action: Option<Action>) {
    let Some(Modal::Text(text)) = model.modals.last() else { return };
    let most = i64::from(last_first_line(model, text.body.lines().count()));
    let page = page(model);
    let Some(Modal::Text(text)) = model.modals.last_mut() else { return };
    let by = match action {
        Some(Action::Down) => 1,
        Some(Action::Up) => -1,
        Some(Action::HalfDown) => page / 2,
        Some(Action::HalfUp) => -page / 2,
        Some(Action::PageDown) => page - 1,
        Some(Action::PageUp) => 1 - page,
        Some(Action::Top | Action::GoPrefix) => i64::MIN / 2,
        Some(Action::Bottom) => i64::MAX / 2,
        Some(Action::Back | Action::Quit | Action::TabLeft) => {
            model.modals.pop();
            return;
        }
        _ => 0,
    };
    let to = i64::from(text.scroll).saturating_add(by).clamp(0, most);
    text.scroll = u32::try_from(to).unwrap_or(0);
}

/// Rows that what lies over the panes has at the most, less its frame and its heads.
const AROUND: u16 = 8;

fn page(model: &Model) -> i64 {
    i64::from(model.size.rows.saturating_sub(AROUND).max(2))
}

/// How far a text of so many lines can be scrolled; what is drawn is held to its end exactly.
fn last_first_line(model: &Model, lines: usize) -> u32 {
    let rows = usize::from(model.size.rows.saturating_sub(AROUND));
    u32::try_from(lines.saturating_sub(rows)).unwrap_or(u32::MAX)
}

impl Model {
    /// Shows a text over the panes.
    pub(in crate::app) fn show_text(&mut self, title: impl Into<String>, body: impl Into<String>) {
        self.modals.push(Modal::Text(TextBox { title: title.into(), body: body.into(), scroll: 0 }));
        self.dirty = true;
    }
}
