//! The keys while a plot is open: another plot, a copy of its numbers.

use crate::dashboard::base::{Effect, Plot, Tone};
use crate::dashboard::input::{Action, EditAction, PlotAction};
use crate::dashboard::model::{Modal, Model};
use crate::dashboard::plots::data;

/// Handles a key while a plot is open.
pub(crate) fn handle_key(model: &mut Model, plot: Plot, action: Option<Action>, effects: &mut Vec<Effect>) {
    let next = match action {
        Some(Action::Plot(PlotAction::Next)) => plot.step(1),
        Some(Action::Plot(PlotAction::Previous)) => plot.step(-1),
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
