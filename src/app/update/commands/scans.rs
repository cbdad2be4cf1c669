//! Commands about scans: what a retest showed, and what differs between two of them.

use super::super::super::command::{Args, Command, Shape, Slot};
use super::super::super::effect::Effect;
use super::super::super::model::Model;
use crate::input::Action;

/// The commands of this area.
pub(super) static COMMANDS: &[Command] = &[
    Command::new("retest", &[], "open the board of the last retest: before and now", "retest", |model, _, _| {
        model.open_retest();
        Ok(())
    }),
    Command::act(
        "retest start",
        Action::Retest,
        "start again the scans that found this, or all marked, after a prompt with their number",
    ),
    Command::new(
        "compare",
        &[Slot::needed(Shape::Scan), Slot::needed(Shape::Scan)],
        "compare two scans: new, gone, changed, same, covered less; without ids as the key",
        "compare 1 4",
        compare,
    )
    .or(Action::Compare),
];

fn compare(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    let [before, after] = args.scans()[..] else { return Err("which two scans?".to_owned()) };
    if before == after {
        return Err(format!("{before} is one scan: name two"));
    }
    model.open_compare(before, after);
    Ok(())
}
