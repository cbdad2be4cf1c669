//! The plots over stored data.

use insta::assert_snapshot;
use scandeck::dashboard::base::Plot;
use scandeck::dashboard::model::{Modal, Model};
use scandeck::dashboard::ui::Theme;

use super::fixtures::populated;
use super::text;

fn plot(plot: Plot) -> impl Fn(u16, u16) -> Model {
    move |columns, rows| {
        let mut model = populated(columns, rows);
        model.overlay.modals.push(Modal::Plot(plot));
        model
    }
}

#[test]
fn plots_fill_the_screen() {
    for shown in Plot::ALL {
        let name = format!("plot_{}", Plot::NAMES[shown as usize]);
        for (columns, rows) in [(80, 24), (200, 60)] {
            let drawn = text(&mut plot(shown)(columns, rows), Theme::default());
            assert_snapshot!(format!("{name}_{columns}x{rows}"), drawn);
        }
    }
}

#[test]
fn plots_in_ascii_are_ascii_at_every_size() {
    for shown in Plot::ALL {
        for (columns, rows) in [(40, 12), (60, 20), (80, 24), (120, 40), (200, 60)] {
            let drawn = text(&mut plot(shown)(columns, rows), Theme::default().with_ascii());
            assert!(drawn.is_ascii(), "{shown:?} {columns}x{rows}\n{drawn}");
        }
    }
}
