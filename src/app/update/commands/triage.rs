//! Commands about what is decided.

use super::super::super::command::{Args, Command, Shape, Slot};
use super::super::super::effect::Effect;
use super::super::super::model::Model;
use super::super::super::notices::Tone;
use crate::triage::{Baseline, Change, Subject};

/// The commands of this area.
pub(super) static COMMANDS: &[Command] = &[Command::new(
    "baseline",
    &[Slot::needed(Shape::Baseline)],
    "what counts as new is counted from this day, or from these scans; none: from the scan before",
    "baseline 2026-10-01",
    baseline,
)
.off_when(undecidable)];

/// Why nothing can be decided.
fn undecidable(model: &Model) -> Option<String> {
    if model.triage.pen.is_some() {
        return None;
    }
    let why =
        model.triage.problem.as_ref().map_or_else(|| "the store is not open yet".to_owned(), |why| why.to_string());
    Some(format!("decisions cannot be kept: {why}"))
}

fn baseline(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let baseline = args.baseline().flatten();
    let told = match &baseline {
        None => "no baseline: new is what the scan before did not see".to_owned(),
        Some(Baseline::Day(day)) => format!("baseline: what was there on {day}"),
        Some(Baseline::Scans(scans)) => {
            let ids: Vec<String> = scans.iter().map(ToString::to_string).collect();
            format!("baseline: scans {}", ids.join(", "))
        }
    };
    model.record(vec![(Subject::Workspace, Change::Baseline(baseline))], effects).ok_or("decisions cannot be kept")?;
    model.say(Tone::Good, told);
    Ok(())
}
