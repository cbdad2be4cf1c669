//! The plots over stored data.

use insta::assert_snapshot;
use scandeck::dashboard::base::{Plot, PlotBox};
use scandeck::dashboard::model::{Modal, Model};
use scandeck::dashboard::ui::Theme;

use super::fixtures::{populated, press};
use super::text;

fn plot(plot: Plot) -> impl Fn(u16, u16) -> Model {
    move |columns, rows| {
        let mut model = populated(columns, rows);
        if plot == Plot::Progress {
            // A running scan.
            press(&mut model, "4 j j j");
        }
        model.overlay.modals.push(Modal::Plot(PlotBox::new(plot)));
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
            let drawn = text(
                &mut plot(shown)(columns, rows),
                Theme::default().with_ascii(),
            );
            assert!(drawn.is_ascii(), "{shown:?} {columns}x{rows}\n{drawn}");
        }
    }
}

#[test]
fn detail_with_room_shows_the_plot_of_its_item_below_the_facts() {
    let detail = |keys: &str, columns: u16, rows: u16| {
        let mut model = populated(columns, rows);
        press(&mut model, keys);
        text(&mut model, Theme::default())
    };
    let facts = ["hostname", "Scans ", "Now  ", "Id  ", "The web shop"];
    for (columns, rows, has_plot) in [
        (120, 40, true),
        (90, 50, true),
        (120, 24, true),
        (120, 20, false),
    ] {
        let shown = detail("2", columns, rows);
        assert!(
            !has_plot || facts.iter().all(|fact| shown.contains(fact)),
            "{columns}x{rows}\n{shown}"
        );
        assert_eq!(
            shown.contains("Findings by risk"),
            has_plot,
            "{columns}x{rows}\n{shown}"
        );
    }
    let counts = |shown: &str| -> Vec<String> {
        let plot = shown.split("Findings by risk").nth(1).unwrap_or_default();
        let last = |name: &str| {
            plot.split(name)
                .nth(1)?
                .split_whitespace()
                .next()
                .map(str::to_owned)
        };
        ["CRIT", "HIGH", "MED", "LOW", "INFO"]
            .into_iter()
            .filter_map(last)
            .collect()
    };
    assert_eq!(
        counts(&detail("2", 120, 40)),
        ["1", "1", "1", "2", "1"],
        "of the selected target"
    );
    assert_eq!(
        counts(&detail("1", 120, 40)),
        ["2", "4", "4", "2", "2"],
        "of the workspace"
    );
    assert_eq!(
        counts(&detail("1 j", 120, 40)),
        Vec::<String>::new(),
        "its findings are not loaded"
    );
}
