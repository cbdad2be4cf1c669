//! The mouse: an event at a place of the last frame does what a key does there.
//!
//! ```text
//!   press     list: focus it, select the row      detail: focus it      summary: go to the pane
//!   twice     open the row; unfold or fold a group
//!   drag      rows: a range, marked at the end    divider: move it
//!   wheel     scroll the pane under the pointer; the focus stays
//! ```
//!
//! While something is typed or answered, only the wheel works, in texts.

use crate::base::{Axis, Effect, Pane, PlacedPane, ShownRows, SlotPart, Tab};
use crate::core::update::{lines, steps};
use crate::findings::review;
use crate::input::{Action, ListAction, MouseButton, MouseEvent, MouseEventKind, MoveAction};
use crate::model::mouse::{Held, ListScroll};
use crate::model::navigation::go;
use crate::model::{Modal, Model};
use std::time::Duration;

/// The longest time between the two presses of a double click.
const TWICE: Duration = Duration::from_millis(400);
/// Rows or lines of a step of the wheel.
const STEP: i64 = 3;

/// An event of the mouse.
pub(crate) fn handle_mouse(model: &mut Model, event: MouseEvent, effects: &mut Vec<Effect>) {
    if !model.screen.mouse.is_on {
        return;
    }
    let (x, y) = (event.column, event.row);
    let step = match event.kind {
        MouseEventKind::ScrollDown => STEP,
        MouseEventKind::ScrollUp => -STEP,
        _ if !model.overlay.modals.is_empty() => return model.screen.mouse.held = None,
        MouseEventKind::Down(MouseButton::Left) => return press(model, x, y, effects),
        MouseEventKind::Drag(MouseButton::Left) => return drag(model, x, y),
        MouseEventKind::Up(MouseButton::Left) => return release(model, x, y, effects),
        _ => return,
    };
    match model.overlay.modals.last() {
        Some(Modal::Help(_)) => lines::walk(model, step as isize),
        Some(Modal::Text(_)) => {
            let action = if step > 0 {
                MoveAction::Down
            } else {
                MoveAction::Up
            };
            (0..STEP)
                .for_each(|_| lines::handle_text_box(model, Some(Action::Move(action)), effects));
        }
        Some(Modal::Chain(_)) => crate::chains::keys::walk(model, step.signum() as isize),
        Some(Modal::Why(_)) => crate::findings::explain::keys::scroll(model, step as isize),
        Some(_) => {}
        None => wheel(model, x, y, step),
    }
}

fn press(model: &mut Model, x: u16, y: u16, effects: &mut Vec<Effect>) {
    // As after a key: notices that wait for one are closed, and a sequence ends.
    model.overlay.notices.key_pressed(model.now.mono);
    model.keyboard.pending = None;
    model.keyboard.typed.clear();
    let map = &model.screen.measures.map;
    if let Some(&placed) = map.divider_at(x, y) {
        let offset = position(placed.axis, x, y) - i32::from(placed.at());
        model.screen.mouse.held = Some(Held::Divider {
            placed,
            offset,
            is_moved: false,
        });
    } else if let Some(&placed) = map.pane_at(x, y) {
        click(model, placed, y, effects);
    }
}

/// Focuses a pane, and selects the row in this line. The second time on a row opens it.
fn click(model: &mut Model, placed: PlacedPane, y: u16, effects: &mut Vec<Effect>) {
    let before = model.screen.mouse.clicked.take();
    if placed.part == SlotPart::Detail {
        if model.navigation.focus.pane != placed.pane {
            go(model, placed.pane);
        }
        model.navigation.focus.in_detail = true;
        return;
    }
    go(model, placed.pane);
    let Some(at) = placed.rows.and_then(|rows| place_in(rows, y)) else {
        return;
    };
    let mut cursor = model.cursor(placed.pane);
    let Some(row) = cursor.row_at(at) else { return };
    cursor.select(at);
    let is_open = cursor
        .groups()
        .header(at)
        .is_some_and(|group| group.is_open);
    drop(cursor);
    model.hold(placed.pane);
    let now = model.now.mono;
    let is_twice = before
        .is_some_and(|(pane, was, then)| (pane, was) == (placed.pane, row) && now < then + TWICE);
    if is_twice {
        steps::handle_list(
            model,
            if is_open {
                ListAction::Out
            } else {
                ListAction::In
            },
            effects,
        );
    } else {
        model.screen.mouse.clicked = Some((placed.pane, row, now));
        model.screen.mouse.held = Some(Held::Rows {
            from: at,
            is_range: false,
        });
    }
}

/// The place in the list of the row in this line of the screen.
fn place_in(rows: ShownRows, y: u16) -> Option<usize> {
    let line = y
        .checked_sub(rows.area.y)
        .filter(|&line| line < rows.area.height)?;
    Some(rows.first + usize::from(line))
}

fn drag(model: &mut Model, x: u16, y: u16) {
    match model.screen.mouse.held {
        Some(Held::Divider {
            placed,
            offset,
            is_moved,
        }) => {
            let before =
                position(placed.axis, x, y) - offset - i32::from(placed.area.start(placed.axis));
            let is_moved = model.move_divider(placed, before) || is_moved;
            model.screen.mouse.held = Some(Held::Divider {
                placed,
                offset,
                is_moved,
            });
        }
        Some(Held::Rows { from, is_range }) => drag_rows(model, from, is_range, y),
        None => {}
    }
}

/// Extends the range to the row in this line. Above and below the list, to the next row that is not
/// visible.
fn drag_rows(model: &mut Model, from: usize, is_range: bool, y: u16) {
    let pane = model.navigation.focus.pane;
    let Some(rows) = shown_rows(model, pane) else {
        return;
    };
    let at = match y < rows.area.y {
        true => rows.first.saturating_sub(1),
        false => rows.first + usize::from((y - rows.area.y).min(rows.area.height)),
    };
    let mut cursor = model.cursor(pane);
    let at = at.min(cursor.len().saturating_sub(1));
    if at == from && !is_range {
        return;
    }
    if !is_range {
        cursor.select(from);
        cursor.set_range(true);
    }
    cursor.select(at);
    drop(cursor);
    model.screen.mouse.clicked = None;
    model.screen.mouse.held = Some(Held::Rows {
        from,
        is_range: true,
    });
}

fn release(model: &mut Model, x: u16, y: u16, effects: &mut Vec<Effect>) {
    match model.screen.mouse.held.take() {
        Some(Held::Divider { is_moved: true, .. }) => model.remember_pane_sizes(effects),
        // The edge of a pane was clicked.
        Some(Held::Divider { .. }) => {
            if let Some(&placed) = model.screen.measures.map.pane_at(x, y) {
                click(model, placed, y, effects);
                model.screen.mouse.held = None;
            }
        }
        Some(Held::Rows { is_range: true, .. }) => {
            steps::handle_list(model, ListAction::Range, effects)
        }
        Some(Held::Rows { .. }) | None => {}
    }
}

fn wheel(model: &mut Model, x: u16, y: u16, step: i64) {
    let Some(&placed) = model.screen.measures.map.pane_at(x, y) else {
        return;
    };
    match placed.part {
        SlotPart::List => scroll_list(model, placed.pane, step as isize),
        SlotPart::Detail
            if model
                .reviewing()
                .is_some_and(|review| review.tab == Tab::Where) =>
        {
            review::walk_members(
                model,
                if step > 0 {
                    MoveAction::Down
                } else {
                    MoveAction::Up
                },
            );
        }
        SlotPart::Detail => steps::scroll(model, step),
        SlotPart::Line => {}
    }
}

/// Scrolls a list. The selected row moves only when it would leave the screen.
fn scroll_list(model: &mut Model, pane: Pane, by: isize) {
    let Some(rows) = shown_rows(model, pane) else {
        return;
    };
    let height = usize::from(rows.area.height);
    let mut cursor = model.cursor(pane);
    let first = rows
        .first
        .saturating_add_signed(by)
        .min(cursor.len().saturating_sub(height));
    if first == rows.first {
        return;
    }
    let selected = cursor.at().clamp(first, first + height - 1);
    if selected != cursor.at() {
        cursor.select(selected);
    }
    drop(cursor);
    model.hold(pane);
    let number = model.screen.mouse.scroll.map_or(0, |scroll| scroll.number) + 1;
    model.screen.mouse.scroll = Some(ListScroll {
        pane,
        first,
        number,
    });
    // Further steps before the next frame continue from there.
    let mut panes = model.screen.measures.map.panes.iter_mut();
    let list = panes.find(|placed| (placed.pane, placed.part) == (pane, SlotPart::List));
    if let Some(rows) = list.and_then(|placed| placed.rows.as_mut()) {
        rows.first = first;
    }
}

/// The rows of a list in the last frame.
fn shown_rows(model: &Model, pane: Pane) -> Option<ShownRows> {
    let mut panes = model.screen.measures.map.panes.iter();
    panes
        .find(|placed| (placed.pane, placed.part) == (pane, SlotPart::List))
        .and_then(|placed| placed.rows)
}

fn position(axis: Axis, x: u16, y: u16) -> i32 {
    i32::from(match axis {
        Axis::Columns => x,
        Axis::Rows => y,
    })
}
