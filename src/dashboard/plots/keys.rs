//! The keys while a plot is open: another plot, its further rows, a copy of its numbers.

use crate::dashboard::base::{Effect, PlotBox, Tone};
use crate::dashboard::input::{Action, EditAction, PlotAction};
use crate::dashboard::model::{Modal, Model};
use crate::dashboard::plots::data;

/// Handles a key while a plot is open.
pub(crate) fn handle_key(model: &mut Model, shown: PlotBox, action: Option<Action>, effects: &mut Vec<Effect>) {
    let plot = shown.plot;
    let next = match action {
        Some(Action::Plot(PlotAction::Next)) => PlotBox::new(plot.step(1)),
        Some(Action::Plot(PlotAction::Previous)) => PlotBox::new(plot.step(-1)),
        Some(Action::Move(action)) => {
            let (page, last) = model.screen.measures.plot_rows;
            let to = i64::from(shown.scroll).saturating_add(action.rows(page as isize) as i64);
            PlotBox { scroll: to.clamp(0, last.into()) as u32, ..shown }
        }
        Some(Action::Plot(PlotAction::Copy)) => {
            let (what, text) = (format!("{} plot as CSV", plot.name()), data::csv(model, plot));
            // Only the header.
            if text.lines().count() < 2 {
                return model.notify(Tone::Plain, "nothing to copy: the plot has no data");
            }
            return effects.push(Effect::Copy { what, text, needs_names: false });
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
