//! The keys while a plot is open: another plot, its further rows, a copy of its numbers.

use crate::base::{Effect, PlotBox, ScopedPlot, Tone};
use crate::input::{Action, EditAction, PlotAction, TextAction};
use crate::model::{Modal, Model};
use crate::plots::data;

/// Handles a key while a plot is open.
pub(crate) fn handle_key(
    model: &mut Model,
    shown: PlotBox,
    action: Option<Action>,
    effects: &mut Vec<Effect>,
) {
    let plot = shown.plot;
    let next = match action {
        Some(Action::Plot(PlotAction::Next)) => PlotBox::new(plot.step(1)),
        Some(Action::Plot(PlotAction::Previous)) => PlotBox::new(plot.step(-1)),
        Some(Action::Move(action)) => {
            let (page, last) = model.screen.measures.plot_rows;
            let to = i64::from(shown.scroll).saturating_add(action.rows(page as isize) as i64);
            PlotBox {
                scroll: to.clamp(0, last.into()) as u32,
                ..shown
            }
        }
        Some(Action::Text(TextAction::ScrollLeft)) => scrolled_across(model, shown, -1),
        Some(Action::Text(TextAction::ScrollRight)) => scrolled_across(model, shown, 1),
        Some(Action::Plot(PlotAction::Copy)) => {
            return copy(model, data::of_scope(model, plot), effects);
        }
        Some(Action::Edit(EditAction::Close)) => {
            model.overlay.modals.pop();
            return;
        }
        // A plot has no other actions.
        Some(_) | None => return,
    };
    model.overlay.modals.pop();
    model.overlay.modals.push(Modal::Plot(next));
}

/// The plot, half of its shown columns further.
fn scrolled_across(model: &Model, shown: PlotBox, by: i64) -> PlotBox {
    let (columns, last) = model.screen.measures.plot_columns;
    let step = i64::from(columns / 2).max(1);
    let to = i64::from(shown.across) + by * step;
    PlotBox {
        across: to.clamp(0, last.into()) as u32,
        ..shown
    }
}

/// Copies the numbers of the plot in the detail of the focused pane.
pub(crate) fn copy_of_detail(model: &mut Model, effects: &mut Vec<Effect>) {
    match data::of_detail(model, model.navigation.focus.pane) {
        Some(shown) => copy(model, shown, effects),
        None => model.notify(Tone::Plain, "nothing to copy: this detail has no plot"),
    }
}

fn copy(model: &mut Model, shown: ScopedPlot, effects: &mut Vec<Effect>) {
    let (what, text) = (
        format!("{} plot as CSV", shown.plot.name()),
        data::csv(model, shown),
    );
    // Only the header.
    if text.lines().count() < 2 {
        return model.notify(Tone::Plain, "nothing to copy: the plot has no data");
    }
    effects.push(Effect::Copy {
        what,
        text,
        needs_names: false,
    });
}
