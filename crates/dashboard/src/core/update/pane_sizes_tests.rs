//! Keys that resize panes, in each layout and after a restart.

use crate::base::{CellArea, Divider, PaneSizes, SlotPart};
use crate::core::Msg;
use crate::data::{StoredDecisions, TriageNews};
use crate::testing::*;

fn at(columns: u16, rows: u16) -> TestDashboard {
    let mut app = TestDashboard::new();
    app.send(Msg::Resize(Size { columns, rows }));
    app.frame();
    app
}

/// The area of the focused list or detail.
fn area(app: &mut TestDashboard) -> CellArea {
    app.frame();
    let focus = app.model.navigation.focus;
    let part = if focus.in_detail {
        SlotPart::Detail
    } else {
        SlotPart::List
    };
    let panes = &app.model.screen.measures.map.panes;
    panes
        .iter()
        .find(|placed| (placed.pane, placed.part) == (focus.pane, part))
        .unwrap()
        .area
}

/// Width and height that the focused pane wins by keys. Notices, for which panes give up rows,
/// expire before.
fn gained(app: &mut TestDashboard, keys: &str) -> (i32, i32) {
    let without_notices = |app: &mut TestDashboard| {
        app.at += Duration::from_secs(20);
        app.send(Msg::Wake);
        area(app)
    };
    let before = without_notices(app);
    app.keys(keys);
    let after = without_notices(app);
    (
        i32::from(after.width) - i32::from(before.width),
        i32::from(after.height) - i32::from(before.height),
    )
}

#[test]
fn focused_pane_grows_and_shrinks_in_every_layout() {
    for (size, pane, can_be_wider, can_be_taller) in [
        ((200, 60), "1", true, true),
        ((200, 60), "1 ctrl-w + ctrl-w + 2", true, true),
        ((200, 60), "3", true, true),
        ((200, 60), "4", true, true),
        ((200, 60), "5", true, true),
        ((200, 60), "3 enter", true, true),
        ((200, 60), "6", true, false),
        ((120, 40), "3", true, false),
        ((120, 40), "3 enter", true, false),
        ((90, 50), "3", false, true),
        ((90, 50), "3 enter", false, true),
        ((80, 24), "3", false, false),
        ((200, 60), "3 z", false, false),
    ] {
        let mut app = at(size.0, size.1);
        app.keys(pane);
        let (columns, rows) = (4 * i32::from(can_be_wider), 2 * i32::from(can_be_taller));
        let case = format!("{pane} at {size:?}");
        assert_eq!(gained(&mut app, "ctrl-w >"), (columns, 0), "{case}");
        assert_eq!(
            gained(&mut app, "ctrl-w + ctrl-w +"),
            (0, 2 * rows),
            "{case}, without a frame between the keys"
        );
        assert_eq!(gained(&mut app, "ctrl-w <"), (-columns, 0), "{case}");
        assert_eq!(gained(&mut app, "ctrl-w -"), (0, -rows), "{case}");
        app.keys("ctrl-w > ctrl-w +");
        assert_eq!(
            app.notices().contains("nothing to resize"),
            !(can_be_wider && can_be_taller),
            "{case}"
        );
    }
}

#[test]
fn panes_keep_a_least_size_and_reset_restores_the_automatic_one() {
    let mut app = at(120, 40);
    let automatic = area(&mut app);
    app.keys(&"ctrl-w > ".repeat(40));
    assert_eq!(area(&mut app).width, 80, "the detail keeps 40 columns");
    assert!(app.notices().contains("minimum size"), "{}", app.notices());
    app.keys(&"ctrl-w < ".repeat(40));
    assert_eq!(area(&mut app).width, 40);
    app.keys("ctrl-w =");
    assert_eq!(area(&mut app), automatic);
    app.keys("ctrl-w =");
    assert!(app.notices().contains("already reset"), "{}", app.notices());
}

#[test]
fn reset_keeps_the_sizes_of_other_layouts() {
    let mut app = at(120, 40);
    app.keys("ctrl-w >");
    app.send(Msg::Resize(Size {
        columns: 90,
        rows: 50,
    }));
    app.frame();
    app.keys("ctrl-w + ctrl-w =");
    assert_eq!(app.model.screen.sizes.cells(Divider::Portrait, 50), None);
    assert!(app.model.screen.sizes.cells(Divider::Beside, 120).is_some());
}

#[test]
fn sizes_are_saved_for_all_workspaces_and_restored_at_start() {
    let mut app = at(200, 60);
    let effects = app.keys("4 ctrl-w + ctrl-w +");
    let saved = effects.into_iter().filter_map(|effect| match effect {
        Effect::Remember {
            key: "pane_sizes",
            workspace,
            value,
        } => Some((workspace, value)),
        _ => None,
    });
    let (workspace, value) = saved.last().unwrap();
    assert!(workspace.is_empty());
    let height = area(&mut app).height;

    let mut later = at(200, 60);
    let settings = [(("pane_sizes".into(), workspace), value)]
        .into_iter()
        .collect();
    let stored = StoredDecisions {
        settings,
        ..StoredDecisions::default()
    };
    later.send(Msg::Triage(TriageNews::Opened(Box::new(stored))));
    later.keys("4");
    assert_eq!(area(&mut later).height, height);
    later.keys("1 j enter 4");
    assert_eq!(area(&mut later).height, height, "in another workspace too");
    assert_ne!(later.model.screen.sizes, PaneSizes::default());
}
