//! The command that links the selected row with another object.

use crate::base::{Effect, Tone};
use crate::chains::keys::object_at_hand;
use crate::model::Model;
use crate::palette::{Args, ArgumentShape, ArgumentSlot, Command};
use scandeck_domain::chain::ChainObject;
use scandeck_domain::triage::{Change, ManualLink, Subject};
use scandeck_wire::contract::FindingId;

/// The word before the reason.
const BECAUSE: &str = " because ";

pub(crate) static COMMANDS: &[Command] = &[Command::new(
    "link",
    &[ArgumentSlot::needed(ArgumentShape::Text(
        "OBJECT because REASON",
    ))],
    "link the selected row with another object; its chain shows the link",
    "link service:db.test:5432 because the file has its password",
    link,
)
.off_when(Model::cannot_decide)];

fn link(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let text = args.text().unwrap_or_default();
    let (name, reason) = text
        .split_once(BECAUSE)
        .ok_or("add the reason: link OBJECT because REASON")?;
    let from = object_at_hand(model).ok_or("select one finding, capture, payload or target")?;
    let to = object(model, name.trim())?;
    if from == to {
        return Err("an object cannot be linked to itself".to_owned());
    }
    let link = ManualLink {
        from: from.to_string().into(),
        to: to.to_string().into(),
        reason: reason.trim().into(),
    };
    let change = Change::Link(Box::new(link));
    model
        .record(vec![(Subject::Workspace, change)], effects)
        .ok_or("decisions cannot be saved")?;
    model.notify(Tone::Good, format!("linked to {}", name.trim()));
    Ok(())
}

/// A finding by the id of any occurrence, or any object by its name.
fn object(model: &Model, name: &str) -> Result<ChainObject, String> {
    let Ok(id) = name.parse::<FindingId>() else {
        return name.parse();
    };
    let issues = model.data.findings.value();
    let mut items = issues.iter().flat_map(|table| table.items());
    let found = items.find(|issue| issue.finding_ids().any(|one| one == id));
    let issue = found.ok_or_else(|| format!("finding {id} not found"))?;
    Ok(ChainObject::Finding(issue.key()))
}
