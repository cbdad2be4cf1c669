//! Why a finding changed, in one screen.

use insta::assert_snapshot;
use scandeck::dashboard::model::{Modal, Model};
use scandeck::dashboard::ui::Theme;

use super::fixtures::{populated, press};
use super::text;

fn explained(columns: u16, rows: u16) -> Model {
    let mut model = populated(columns, rows);
    press(&mut model, "3 Y");
    let open = model.overlay.modals.last();
    assert!(matches!(open, Some(Modal::Why(_))), "{open:?}");
    model
}

#[test]
fn explanation_fills_one_screen() {
    for (columns, rows) in [(80, 24), (200, 60)] {
        let drawn = text(&mut explained(columns, rows), Theme::default());
        assert_snapshot!(format!("why_{columns}x{rows}"), drawn);
    }
}

#[test]
fn explanation_is_drawn_at_every_size() {
    for (columns, rows) in [(1, 1), (20, 5), (40, 12), (60, 20), (120, 40)] {
        text(&mut explained(columns, rows), Theme::default());
    }
}
