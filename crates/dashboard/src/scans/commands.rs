//! The commands for scans: the retest board, and the comparison of two scans.

use crate::base::Effect;
use crate::input::{Action, ItemAction};
use crate::model::Model;
use crate::palette::{Args, ArgumentShape, ArgumentSlot, Command};
use std::borrow::Cow;

pub(crate) static COMMANDS: &[Command] = &[
    Command::new(
        "retest",
        &[],
        "open the board of the last retest",
        "retest",
        |model, _, _| {
            model.open_retest();
            Ok(())
        },
    ),
    Command::act(
        Cow::Borrowed("retest start"),
        Action::Item(ItemAction::Retest),
        "repeat the scans of the selected or marked findings, after a confirmation",
    ),
    Command::new(
        "compare",
        &[
            ArgumentSlot::needed(ArgumentShape::Scan),
            ArgumentSlot::needed(ArgumentShape::Scan),
        ],
        "compare two scans, or the last two scans of a finding",
        "compare 1 4",
        compare,
    )
    .or(Action::Item(ItemAction::Compare)),
];

fn compare(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    let [before, after] = args.scans()[..] else {
        return Err("two scans are required".to_owned());
    };
    if before == after {
        return Err(format!("cannot compare scan {before} with itself"));
    }
    model.open_compare(before, after);
    Ok(())
}
