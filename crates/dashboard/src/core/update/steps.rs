//! Keys in a list or a detail: cursor, marks, ranges, sort orders, undo of filters; scrolling,
//! matches.

use crate::base::{Effect, Pane, Scope, TextMode, Tone};
use crate::core::update::{lines, navigation, objects};
use crate::input::Context;
use crate::input::action::{Action, ItemAction, ListAction, MoveAction, TextAction};
use crate::list::order_words;
use crate::model::Model;
use crate::model::navigation::set_scope;

/// Moves the cursor of a list, or scrolls a detail.
pub(crate) fn handle_move(model: &mut Model, action: MoveAction) {
    if model.navigation.focus.in_detail {
        return scroll(
            model,
            action.rows(isize::from(model.screen.measures.detail_rows.max(2) as i16)) as i64,
        );
    }
    model.screen.detail.step();
    match action {
        MoveAction::Top => select(model, 0),
        MoveAction::Bottom => select(model, usize::MAX),
        MoveAction::Down
        | MoveAction::Up
        | MoveAction::HalfDown
        | MoveAction::HalfUp
        | MoveAction::PageDown
        | MoveAction::PageUp => step(
            model,
            action.rows(isize::from(model.screen.measures.list_rows.max(2) as i16)),
        ),
    }
}

/// Handles an action of lists. A detail has no marks and no order.
pub(crate) fn handle_list(model: &mut Model, action: ListAction, effects: &mut Vec<Effect>) {
    let in_detail = model.navigation.focus.in_detail;
    if in_detail
        && !matches!(
            action,
            ListAction::In | ListAction::Out | ListAction::Filter
        )
    {
        return model.notify_no_effect(Action::List(action));
    }
    match action {
        ListAction::In if model.navigation.focus.pane == Pane::Wordlists && !in_detail => {
            objects::look_at_words(model, effects)
        }
        ListAction::In => {
            let mut cursor = model.cursor(model.navigation.focus.pane);
            if !in_detail && cursor.is_header(cursor.at()) {
                return cursor.unfold();
            }
            drop(cursor);
            navigation::go_in(model);
        }
        ListAction::Out => {
            let mut cursor = model.cursor(model.navigation.focus.pane);
            if !in_detail && cursor.can_fold() {
                return cursor.fold();
            }
            drop(cursor);
            navigation::go_out(model);
        }
        ListAction::Filter => lines::open_filter(model),
        ListAction::TakeBack => take_back(model),
        ListAction::Mark => mark(model),
        ListAction::Range => range(model),
        ListAction::MarkAll => mark_all(model),
        ListAction::Invert => invert(model),
        ListAction::Sort => sort(model),
    }
}

/// Handles an action of texts. Most of them need a detail.
pub(crate) fn handle_text(model: &mut Model, action: TextAction, effects: &mut Vec<Effect>) {
    let is_of_detail = !matches!(
        action,
        TextAction::TabLeft | TextAction::TabRight | TextAction::Search
    );
    if is_of_detail && !model.navigation.focus.in_detail {
        return model.notify_no_effect(Action::Text(action));
    }
    match action {
        TextAction::TabLeft => navigation::tab_left(model),
        TextAction::TabRight => navigation::walk_tabs(model, 1),
        TextAction::Search => lines::open_search(model),
        TextAction::Fold => fold(model),
        TextAction::Pager => effects.push(Effect::Page(None)),
        TextAction::Shown => show_next_mode(model),
        TextAction::MarkThis => mark_this(model),
        TextAction::ScrollLeft => sideways(model, -8),
        TextAction::ScrollRight => sideways(model, 8),
        TextAction::NextMatch => walk_matches(model, 1),
        TextAction::PreviousMatch => walk_matches(model, -1),
    }
}

/// Folds or unfolds the JSON at the cursor.
fn fold(model: &mut Model) {
    // The folds of the last frame do not match the text after this change.
    let folds = std::mem::take(&mut model.screen.measures.folds);
    if !folds.is_empty() {
        stop_following(model);
    }
    match folds.get(model.detail.cursor as usize).copied().flatten() {
        Some(fold) => model.detail.fold(fold),
        None => model.notify(Tone::Plain, "nothing to fold here"),
    }
}

/// Lets the detail stay at the match that it follows, with its cursor.
fn stop_following(model: &mut Model) {
    let followed = model
        .detail
        .search
        .as_mut()
        .is_some_and(|search| std::mem::replace(&mut search.follow, false));
    if followed {
        model.detail.scroll = model.screen.measures.detail_top;
        model.detail.cursor = model.screen.measures.detail_cursor;
    }
}

fn show_next_mode(model: &mut Model) {
    let tab = model.detail.tab(model.navigation.focus.pane);
    let mode = model.detail.next_mode(tab);
    let subject = if matches!(mode, TextMode::Wrapped | TextMode::Long) {
        "lines"
    } else {
        "body"
    };
    model.notify(Tone::Plain, format!("{subject} {}", mode.title()));
}

fn mark_this(model: &mut Model) {
    if let Some(why) = model.header_wait_notice() {
        return model.notify(Tone::Plain, why);
    }
    let mut cursor = model.cursor(model.navigation.focus.pane);
    let at = cursor.at();
    let on = !cursor.is_marked(at);
    cursor.mark(at, on);
    drop(cursor);
    model.notify(Tone::Plain, if on { "marked" } else { "unmarked" });
}

/// Moves the selection by some rows, within the list. From a detail it skips group headers.
pub(crate) fn step(model: &mut Model, by: isize) {
    let in_detail = model.navigation.focus.in_detail;
    let mut cursor = model.cursor(model.navigation.focus.pane);
    let last = cursor.len().saturating_sub(1);
    let mut at = cursor.at().saturating_add_signed(by).min(last);
    while in_detail && cursor.is_header(at) {
        match at.checked_add_signed(by).filter(|&next| next <= last) {
            Some(next) => at = next,
            None => return,
        }
    }
    cursor.select(at);
}

fn select(model: &mut Model, at: usize) {
    if model.navigation.focus.pane == Pane::Captures && at == usize::MAX {
        model.lists.captures.paused = false;
    }
    model.cursor(model.navigation.focus.pane).select(at);
}

/// Scrolls the shown detail, within the measures of the last frame. One row moves the cursor of a
/// text with JSON, and the text follows it; more rows move both.
pub(crate) fn scroll(model: &mut Model, by: i64) {
    stop_following(model);
    let measures = &model.screen.measures;
    let (lines, rows) = (
        measures.detail_lines,
        u32::from(measures.detail_rows.max(1)),
    );
    let moved = |from: u32, last: u32| {
        u32::try_from(
            i64::from(from.min(last))
                .saturating_add(by)
                .clamp(0, last.into()),
        )
        .unwrap_or(0)
    };
    let detail = &mut model.detail;
    let scroll = moved(detail.scroll, lines.saturating_sub(rows));
    if measures.folds.is_empty() {
        detail.scroll = scroll;
        return;
    }
    detail.cursor = moved(detail.cursor, lines.saturating_sub(1));
    if by.abs() == 1 {
        detail.scroll = detail
            .scroll
            .clamp((detail.cursor + 1).saturating_sub(rows), detail.cursor);
    } else {
        detail.scroll = scroll;
        detail.cursor = detail.cursor.clamp(scroll, scroll + rows - 1);
    }
}

fn sideways(model: &mut Model, by: i32) {
    let most = i32::from(model.screen.measures.detail_overhang);
    model.detail.sideways =
        u16::try_from((i32::from(model.detail.sideways) + by).clamp(0, most)).unwrap_or(0);
}

fn walk_matches(model: &mut Model, by: i64) {
    if let Some(search) = &mut model.detail.search {
        search.at += by;
        search.follow = true;
    }
}

fn mark(model: &mut Model) {
    if let Some(why) = model.header_wait_notice() {
        return model.notify(Tone::Plain, why);
    }
    let mut cursor = model.cursor(model.navigation.focus.pane);
    let at = cursor.at();
    if cursor.range().is_some() {
        drop(cursor);
        return range(model);
    }
    let on = !cursor.is_marked(at);
    cursor.mark(at, on);
    cursor.select(at + 1);
    drop(cursor);
    model.screen.detail.step();
}

/// `v` starts a range; the second `v` marks its rows.
fn range(model: &mut Model) {
    let begun = model.cursor(model.navigation.focus.pane).range().is_some();
    if let (true, Some(why)) = (begun, model.wait_notice()) {
        return model.notify(Tone::Plain, why);
    }
    let mut cursor = model.cursor(model.navigation.focus.pane);
    match cursor.range() {
        None => cursor.set_range(true),
        Some(from) => {
            let at = cursor.at();
            for row in from.min(at)..=from.max(at) {
                cursor.mark(row, true);
            }
            cursor.set_range(false);
        }
    }
}

fn mark_all(model: &mut Model) {
    if let Some(why) = model.wait_notice() {
        return model.notify(Tone::Plain, why);
    }
    let mut cursor = model.cursor(model.navigation.focus.pane);
    if cursor.is_empty() {
        let has_filter = !cursor.filter().0.is_empty();
        drop(cursor);
        return notify_no_rows(model, has_filter);
    }
    cursor.mark_all();
}

fn notify_no_rows(model: &mut Model, has_filter: bool) {
    let pane = model.navigation.focus.pane;
    let has_rows =
        model.data.count(pane).is_some_and(|count| count > 0) || !model.data.ids(pane).is_empty();
    let undo = model.key_label(Context::Lists, Action::List(ListAction::TakeBack));
    model.notify(
        Tone::Plain,
        match has_filter && has_rows {
            true => format!("nothing to mark: the filter hides all rows · {undo} undoes it"),
            false => "nothing to mark: the list has no rows".to_owned(),
        },
    );
}

fn invert(model: &mut Model) {
    if let Some(why) = model.wait_notice() {
        return model.notify(Tone::Plain, why);
    }
    model.cursor(model.navigation.focus.pane).invert();
}

fn sort(model: &mut Model) {
    let pane = model.navigation.focus.pane;
    if pane == Pane::Captures {
        return model.notify(Tone::Plain, "captures are always sorted by time");
    }
    let name = model.cursor(pane).next_sort();
    model.show_rows(pane);
    model.notify(Tone::Plain, format!("sorted {}", order_words(name)));
}

/// backspace: undoes the last filter, then the scope; the unchanged query of a tab comes after the
/// scope.
fn take_back(model: &mut Model) {
    let pane = model.navigation.focus.pane;
    if takes_back_filter(model) {
        let mut cursor = model.cursor(pane);
        let (filter, earlier) = cursor.filter();
        *filter = earlier.pop().unwrap_or_default();
        drop(cursor);
        model.apply_filter(pane);
        return;
    }
    match wider_scope(model) {
        Some(scope) => set_scope(model, scope),
        None => model.notify(Tone::Plain, "no filter or scope to undo"),
    }
}

/// Whether the focused list has a filter that backspace undoes before the scope.
pub(crate) fn takes_back_filter(model: &mut Model) -> bool {
    let (pane, scope) = (model.navigation.focus.pane, &model.navigation.scope);
    let is_scoped = pane == Pane::Findings && (scope.target.is_some() || scope.scan.is_some());
    let is_of_tab = is_scoped && model.settings.tabs.is_plain(&model.lists.findings.filter);
    !is_of_tab && !model.cursor(pane).filter().0.is_empty()
}

/// The scope without the innermost part of it that limits the focused list.
pub(crate) fn wider_scope(model: &Model) -> Option<Scope> {
    let mut scope = model.navigation.scope.clone();
    match model.navigation.focus.pane {
        Pane::Findings if scope.scan.is_some() => scope.scan = None,
        Pane::Findings | Pane::Scans if scope.target.is_some() => scope.target = None,
        Pane::Captures if scope.logger.is_some() => scope.logger = None,
        _ => return None,
    }
    Some(scope)
}

pub(crate) fn pause(model: &mut Model) {
    let list = &mut model.lists.captures;
    list.paused = !list.paused;
    if list.paused {
        list.follow = false;
        let resume = model.key_label(Context::Captures, Action::Item(ItemAction::Pause));
        model
            .overlay
            .notices
            .notify_until_key(model.now.mono, format!("stream paused · {resume} resumes"));
    } else {
        list.select_at(&model.data.captures, usize::MAX);
        model.notify(Tone::Plain, "stream resumed");
    }
}
