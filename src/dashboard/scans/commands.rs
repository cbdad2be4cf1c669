//! Commands about scans: what a retest showed, and what differs between two of them.

use crate::dashboard::base::Effect;
use crate::dashboard::input::action::{Action, ItemAction};
use crate::dashboard::model::Model;
use crate::dashboard::palette::{Args, ArgumentShape, ArgumentSlot, Command};

/// The commands of this area.
pub(crate) static COMMANDS: &[Command] = &[
    Command::new("retest", &[], "open the board of the last retest: before and now", "retest", |model, _, _| {
        model.open_retest();
        Ok(())
    }),
    Command::act(
        "retest start",
        Action::Item(ItemAction::Retest),
        "start again the scans that found this, or all marked, after a prompt with their number",
    ),
    Command::new(
        "compare",
        &[ArgumentSlot::needed(ArgumentShape::Scan), ArgumentSlot::needed(ArgumentShape::Scan)],
        "compare two scans: new, gone, changed, same, covered less; without ids as the key",
        "compare 1 4",
        compare,
    )
    .or(Action::Item(ItemAction::Compare)),
];

fn compare(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    let [before, after] = args.scans()[..] else { return Err("which two scans?".to_owned()) };
    if before == after {
        return Err(format!("{before} is one scan: name two"));
    }
    model.open_compare(before, after);
    Ok(())
}
