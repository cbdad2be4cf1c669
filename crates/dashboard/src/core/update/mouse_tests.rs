//! The mouse: presses, drags and the wheel at places of the screen.

use crate::base::{CellArea, SlotPart};
use crate::core::Msg;
use crate::input::{MouseButton, MouseEvent, MouseEventKind};
use crate::testing::*;

const PRESS: MouseEventKind = MouseEventKind::Down(MouseButton::Left);
const DRAG: MouseEventKind = MouseEventKind::Drag(MouseButton::Left);
const RELEASE: MouseEventKind = MouseEventKind::Up(MouseButton::Left);

/// A dashboard with the mouse on.
fn at(columns: u16, rows: u16) -> TestDashboard {
    let mut app = TestDashboard::new();
    app.model.screen.mouse.is_on = true;
    app.send(Msg::Resize(Size { columns, rows }));
    app.frame();
    app
}

fn event(kind: MouseEventKind, (column, row): (u16, u16)) -> MouseEvent {
    MouseEvent {
        kind,
        column,
        row,
        modifiers: KeyModifiers::NONE,
    }
}

/// Sends an event, 100 ms after the last one, and draws.
fn mouse(app: &mut TestDashboard, kind: MouseEventKind, place: (u16, u16)) -> Vec<Effect> {
    app.at += Duration::from_millis(100);
    let effects = app.send(Msg::Mouse(event(kind, place)));
    app.frame();
    effects
}

fn click(app: &mut TestDashboard, place: (u16, u16)) {
    mouse(app, PRESS, place);
    mouse(app, RELEASE, place);
}

/// Presses in the first place, drags over the others, and releases in the last one.
fn drag(app: &mut TestDashboard, places: &[(u16, u16)]) -> Vec<Effect> {
    mouse(app, PRESS, places[0]);
    for &place in &places[1..] {
        mouse(app, DRAG, place);
    }
    mouse(app, RELEASE, places[places.len() - 1])
}

fn area(app: &TestDashboard, pane: Pane, part: SlotPart) -> CellArea {
    let mut panes = app.model.screen.measures.map.panes.iter();
    panes
        .find(|placed| (placed.pane, placed.part) == (pane, part))
        .unwrap()
        .area
}

/// A cell of the first line that contains the text.
fn place_of(app: &mut TestDashboard, text: &str) -> (u16, u16) {
    let lines = app.frame();
    let found = lines.iter().zip(0u16..).find_map(|(line, y)| {
        let x = line.find(text)?;
        Some((line[..x].chars().count() as u16, y))
    });
    found.unwrap_or_else(|| panic!("no {text:?} in\n{}", lines.join("\n")))
}

fn focus(app: &TestDashboard) -> (Pane, bool) {
    (
        app.model.navigation.focus.pane,
        app.model.navigation.focus.in_detail,
    )
}

#[test]
fn press_focuses_pane_and_selects_row_in_every_layout() {
    for (columns, rows) in [(200, 60), (120, 40), (90, 50), (80, 24)] {
        let mut app = at(columns, rows);
        let place = place_of(&mut app, "Git ignored");
        click(&mut app, place);
        assert_eq!(
            (focus(&app), app.selected(Pane::Findings)),
            ((Pane::Findings, false), Some(3)),
            "{columns}x{rows}"
        );
    }
    let mut app = at(200, 60);
    let place = place_of(&mut app, "t4 ");
    click(&mut app, place);
    assert_eq!(
        (focus(&app), app.selected(Pane::Targets)),
        ((Pane::Targets, false), Some(4))
    );
    let detail = area(&app, Pane::Targets, SlotPart::Detail);
    click(&mut app, (detail.x + 3, detail.y + 3));
    assert_eq!(focus(&app), (Pane::Targets, true));
    let scans = area(&app, Pane::Scans, SlotPart::List);
    click(&mut app, (scans.x + 5, scans.y));
    assert_eq!(
        focus(&app),
        (Pane::Scans, false),
        "on the title in the edge"
    );
}

#[test]
fn summary_line_goes_to_its_pane() {
    let mut app = at(90, 50);
    let line = area(&app, Pane::Scans, SlotPart::Line);
    click(&mut app, (line.x + 3, line.y));
    assert_eq!(focus(&app), (Pane::Scans, false));
}

#[test]
fn second_press_within_the_time_opens_the_row() {
    let mut app = at(80, 24);
    let place = place_of(&mut app, "Git ignored");
    click(&mut app, place);
    app.at += Duration::from_millis(600);
    click(&mut app, place);
    assert_eq!(focus(&app), (Pane::Findings, false), "too late");
    click(&mut app, place);
    assert_eq!(
        (focus(&app), app.selected(Pane::Findings)),
        ((Pane::Findings, true), Some(3))
    );

    let mut app = at(80, 24);
    let (first, second) = (
        place_of(&mut app, "Git ignored"),
        place_of(&mut app, "Cookie flags"),
    );
    click(&mut app, first);
    click(&mut app, second);
    assert_eq!(focus(&app), (Pane::Findings, false), "another row");
}

#[test]
fn second_press_unfolds_and_folds_a_group() {
    let mut app = at(120, 40);
    app.keys("b t");
    let place = place_of(&mut app, "▸");
    let folded = app.model.cursor(Pane::Findings).len();
    click(&mut app, place);
    click(&mut app, place);
    assert!(app.model.cursor(Pane::Findings).len() > folded);
    app.at += Duration::from_millis(600);
    click(&mut app, place);
    click(&mut app, place);
    assert_eq!(app.model.cursor(Pane::Findings).len(), folded);
}

#[test]
fn dragged_rows_are_marked_when_the_button_is_released() {
    let mut app = at(200, 60);
    let (from, to) = (
        place_of(&mut app, "Git repository"),
        place_of(&mut app, "Cookie flags"),
    );
    mouse(&mut app, PRESS, from);
    mouse(&mut app, DRAG, to);
    assert_eq!(app.model.cursor(Pane::Findings).marked().0, 0);
    mouse(&mut app, RELEASE, to);
    assert_eq!(app.chosen(Pane::Findings).0, [2, 3, 4]);
    drag(&mut app, &[from, from]);
    assert_eq!(
        app.chosen(Pane::Findings).0,
        [2, 3, 4],
        "a press without a drag marks nothing"
    );
}

#[test]
fn dragged_edge_resizes_panes_and_saves_the_sizes() {
    let mut app = at(200, 60);
    let before = area(&app, Pane::Findings, SlotPart::List);
    let y = before.y + 5;
    let edge = before.x + before.width;
    // Both frames show the edge.
    for (from, to) in [(edge, edge + 7), (edge + 6, edge - 1)] {
        let effects = drag(&mut app, &[(from, y), (from + 1, y), (to, y)]);
        let is_saved = |effect: &Effect| {
            matches!(
                effect,
                Effect::Remember {
                    key: "pane_sizes",
                    ..
                }
            )
        };
        assert_eq!(effects.iter().filter(|effect| is_saved(effect)).count(), 1);
        let now = area(&app, Pane::Findings, SlotPart::List);
        assert_eq!(
            i32::from(now.width) - i32::from(before.width),
            i32::from(to.max(edge)) - i32::from(edge)
        );
    }
    let scans = area(&app, Pane::Scans, SlotPart::List);
    drag(
        &mut app,
        &[(scans.x + 9, scans.y), (scans.x + 9, scans.y - 4)],
    );
    assert_eq!(
        area(&app, Pane::Scans, SlotPart::List).height,
        scans.height + 4
    );
    assert_eq!(focus(&app), (Pane::Findings, false), "the focus stays");
    drag(&mut app, &[(scans.x + 9, scans.y - 4), (scans.x + 9, 59)]);
    assert_eq!(
        area(&app, Pane::Scans, SlotPart::List).height,
        4,
        "the least height"
    );
}

#[test]
fn wheel_scrolls_the_list_under_the_pointer_and_keeps_focus_and_selection() {
    let mut app = at(200, 30);
    app.feed(Snapshot::Targets(table(
        (1..=60).map(|id| target(id, &format!("t{id}.acme.test"))),
    )));
    app.keys("2 j j j j j 3");
    let targets = area(&app, Pane::Targets, SlotPart::List);
    let place = (targets.x + 5, targets.y + 5);
    let shown = |app: &mut TestDashboard| {
        app.frame();
        let mut panes = app.model.screen.measures.map.panes.iter();
        let rows = panes
            .find(|placed| placed.pane == Pane::Targets)
            .and_then(|placed| placed.rows)
            .unwrap();
        (rows.first, app.model.lists.targets.at)
    };
    assert_eq!(shown(&mut app), (0, 5));
    mouse(&mut app, MouseEventKind::ScrollDown, place);
    assert_eq!(shown(&mut app), (3, 5), "the selected row is still visible");
    for _ in 0..2 {
        // Without a frame between them.
        app.send(Msg::Mouse(event(MouseEventKind::ScrollDown, place)));
    }
    assert_eq!(shown(&mut app), (9, 9), "then the first visible one");
    assert_eq!(focus(&app), (Pane::Findings, false));
    for _ in 0..9 {
        mouse(&mut app, MouseEventKind::ScrollUp, place);
    }
    assert_eq!(shown(&mut app).0, 0);
}

#[test]
fn wheel_scrolls_a_detail_without_the_focus() {
    let mut app = at(200, 60);
    let detail = area(&app, Pane::Findings, SlotPart::Detail);
    app.model.screen.measures.detail_lines = 90;
    app.send(Msg::Mouse(event(
        MouseEventKind::ScrollDown,
        (detail.x + 2, detail.y + 4),
    )));
    assert_eq!(
        (app.model.detail.scroll, focus(&app)),
        (3, (Pane::Findings, false))
    );
}

#[test]
fn mouse_answers_no_prompt_and_does_nothing_while_off() {
    let mut app = at(200, 60);
    let place = place_of(&mut app, "Git ignored");
    app.keys("2 D");
    let question = app.prompt().question.clone();
    click(&mut app, place);
    mouse(&mut app, MouseEventKind::ScrollDown, place);
    assert_eq!(app.prompt().question, question);
    app.keys("esc");
    app.model.screen.mouse.is_on = false;
    click(&mut app, place);
    assert_eq!(focus(&app), (Pane::Targets, false));
}

#[test]
fn command_turns_the_mouse_on_and_off() {
    let mut app = TestDashboard::new();
    for (line, is_on) in [
        ("mouse", true),
        ("mouse", false),
        ("mouse on", true),
        ("mouse off", false),
    ] {
        let effects = app.keys(&format!(": '{line}' enter"));
        assert!(
            effects.contains(&Effect::Mouse(is_on)),
            "{line}: {effects:?}"
        );
        assert_eq!(app.model.screen.mouse.is_on, is_on);
    }
    assert!(app.notices().contains("mouse off"), "{}", app.notices());
}
