//! Steps in a list or a detail: the cursor, marks and ranges, sort orders, taking back a filter; scrolling, matches.

use super::super::model::{Model, Pane};
use super::super::notices::Tone;
use super::moves;
use crate::input::Action;

/// What an action means in a list.
pub(super) fn in_list(model: &mut Model, action: Action) {
    let page = isize::from(model.measures.list_rows.max(2) as i16);
    match action {
        Action::Down => step(model, 1),
        Action::Up => step(model, -1),
        Action::HalfDown => step(model, page / 2),
        Action::HalfUp => step(model, -page / 2),
        Action::PageDown => step(model, page - 1),
        Action::PageUp => step(model, 1 - page),
        Action::Top | Action::GoTop => select(model, 0),
        Action::Bottom => select(model, usize::MAX),
        Action::Mark => mark(model),
        Action::Range => range(model),
        Action::MarkAll => mark_all(model),
        Action::Invert => invert(model),
        Action::Sort => sort(model),
        Action::TakeBack => take_back(model),
        Action::Pause => pause(model),
        _ => no_use(model, action),
    }
}

/// What it means in a detail.
pub(super) fn in_detail(model: &mut Model, action: Action) {
    let page = i64::from(model.measures.detail_rows.max(2));
    match action {
        Action::Down => scroll(model, 1),
        Action::Up => scroll(model, -1),
        Action::HalfDown => scroll(model, page / 2),
        Action::HalfUp => scroll(model, -page / 2),
        Action::PageDown => scroll(model, page - 1),
        Action::PageUp => scroll(model, 1 - page),
        Action::Top | Action::GoTop => scroll(model, i64::MIN / 2),
        Action::Bottom => scroll(model, i64::MAX / 2),
        Action::ScrollLeft => sideways(model, -8),
        Action::ScrollRight => sideways(model, 8),
        Action::NextMatch => walk_matches(model, 1),
        Action::PreviousMatch => walk_matches(model, -1),
        Action::Shown => {
            let tab = model.detail.tab(model.focus.pane);
            let way = model.detail.next_way(tab);
            model.say(Tone::Plain, format!("shown: {}", way.title()));
        }
        Action::MarkThis if model.head_must_wait() => {}
        Action::MarkThis => {
            let mut cursor = model.cursor(model.focus.pane);
            let at = cursor.at();
            let on = !cursor.is_marked(at);
            cursor.mark(at, on);
            drop(cursor);
            model.say(Tone::Plain, if on { "marked" } else { "mark taken off" });
        }
        Action::Pause => pause(model),
        _ => no_use(model, action),
    }
}

fn no_use(model: &mut Model, action: Action) {
    model.say(Tone::Plain, format!("“{}” has no use here", action.name().replace('_', " ")));
}

/// Moves the selection by some rows, to the ends at the most. From a detail it walks past the heads of groups.
pub(super) fn step(model: &mut Model, by: isize) {
    let in_detail = model.focus.in_detail;
    let mut cursor = model.cursor(model.focus.pane);
    let last = cursor.len().saturating_sub(1);
    let mut at = cursor.at().saturating_add_signed(by).min(last);
    while in_detail && cursor.is_head(at) {
        match at.checked_add_signed(by).filter(|&next| next <= last) {
            Some(next) => at = next,
            None => return,
        }
    }
    cursor.select(at);
}

fn select(model: &mut Model, at: usize) {
    if model.focus.pane == Pane::Captures && at == usize::MAX {
        model.lists.captures.paused = false;
    }
    model.cursor(model.focus.pane).select(at);
}

/// Scrolls the shown detail, within what the last frame measured.
pub(super) fn scroll(model: &mut Model, by: i64) {
    let most = i64::from(model.measures.detail_lines) - i64::from(model.measures.detail_rows);
    let following = model.detail.search.as_mut().map(|search| std::mem::replace(&mut search.follow, false));
    let from = if following == Some(true) { model.measures.detail_top } else { model.detail.scroll };
    let to = i64::from(from).saturating_add(by).clamp(0, most.max(0));
    model.detail.scroll = u32::try_from(to).unwrap_or(0);
}

fn sideways(model: &mut Model, by: i32) {
    let most = i32::from(model.measures.detail_overhang);
    model.detail.sideways = u16::try_from((i32::from(model.detail.sideways) + by).clamp(0, most)).unwrap_or(0);
}

fn walk_matches(model: &mut Model, by: i64) {
    if let Some(search) = &mut model.detail.search {
        search.at += by;
        search.follow = true;
    }
}

fn mark(model: &mut Model) {
    if model.head_must_wait() {
        return;
    }
    let mut cursor = model.cursor(model.focus.pane);
    let at = cursor.at();
    if cursor.range().is_some() {
        drop(cursor);
        return range(model);
    }
    let on = !cursor.is_marked(at);
    cursor.mark(at, on);
    cursor.select(at + 1);
}

/// `v` begins a range; a second one marks what is between.
fn range(model: &mut Model) {
    let begun = model.cursor(model.focus.pane).range().is_some();
    if begun && model.must_wait(model.focus.pane) {
        return;
    }
    let mut cursor = model.cursor(model.focus.pane);
    match cursor.range() {
        None => cursor.begin_range(),
        Some(from) => {
            let at = cursor.at();
            for row in from.min(at)..=from.max(at) {
                cursor.mark(row, true);
            }
            cursor.end_range();
        }
    }
}

fn mark_all(model: &mut Model) {
    if model.must_wait(model.focus.pane) {
        return;
    }
    let mut cursor = model.cursor(model.focus.pane);
    let rows = cursor.len();
    let all = (0..rows).all(|at| cursor.is_marked(at));
    if all && rows > 0 {
        cursor.clear_marks();
    } else {
        (0..rows).for_each(|at| cursor.mark(at, true));
    }
}

fn invert(model: &mut Model) {
    if model.must_wait(model.focus.pane) {
        return;
    }
    model.cursor(model.focus.pane).invert();
}

fn sort(model: &mut Model) {
    let pane = model.focus.pane;
    let name = model.cursor(pane).next_sort();
    model.show_rows(pane);
    model.say(Tone::Plain, format!("sorted by {name}"));
}

/// backspace: the last filter first, then the chips; the query of a tab, as long as nothing was added, after these.
fn take_back(model: &mut Model) {
    let pane = model.focus.pane;
    let scoped = match pane {
        Pane::Findings => model.scope.target.is_some() || model.scope.scan.is_some(),
        _ => false,
    };
    let of_tab = scoped && model.tabs.is_plain(&model.lists.findings.filter);
    let mut cursor = model.cursor(pane);
    let (filter, earlier) = cursor.filter();
    let had_filter = !filter.is_empty() && !of_tab;
    if had_filter {
        *filter = earlier.pop().unwrap_or_default();
    }
    drop(cursor);
    if had_filter {
        model.apply_filter(pane);
        return;
    }
    let mut scope = model.scope.clone();
    match pane {
        Pane::Findings if scope.scan.is_some() => scope.scan = None,
        Pane::Findings | Pane::Scans if scope.target.is_some() => scope.target = None,
        Pane::Captures if scope.logger.is_some() => scope.logger = None,
        _ => return model.say(Tone::Plain, "no filter or scope to take back"),
    }
    moves::set_scope(model, scope);
}

fn pause(model: &mut Model) {
    let list = &mut model.lists.captures;
    list.paused = !list.paused;
    if list.paused {
        list.follow = false;
        model.say(Tone::Plain, "paused: what comes is counted; = or G goes on");
    } else {
        list.select_at(&model.data.captures, usize::MAX);
    }
}
