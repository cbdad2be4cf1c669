//! The keys of a chain: open it, and move its selection.

use crate::base::{ChainRequest, Effect, Pane, Tone};
use crate::input::{Action, Context, ItemAction};
use crate::model::{ChainBox, Modal, Model};
use scandeck_domain::chain::{ChainObject, ChainTree};
use scandeck_domain::problem::Problem;
use scandeck_wire::contract::{Scan, Target};

/// Shown while a chain is made: with very many findings that takes seconds.
const READING: &str = "reading the evidence of all findings for the chain";

/// `&`: shows the chain of the selected row.
pub(crate) fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    let has_chains = matches!(
        model.navigation.focus.pane,
        Pane::Findings
            | Pane::Board
            | Pane::Scans
            | Pane::Captures
            | Pane::Payloads
            | Pane::Targets
    );
    match object_at_hand(model) {
        _ if !has_chains => model.notify_no_effect(Action::Item(ItemAction::Chain)),
        Some(root) => request(model, root, effects),
        None => model.notify(Tone::Plain, "select one row to show its chain"),
    }
}

/// The object of the selected row; of a scan, its target.
pub(crate) fn object_at_hand(model: &Model) -> Option<ChainObject> {
    match model.navigation.focus.pane {
        Pane::Findings | Pane::Board => {
            let issue = model.issue_at_hand()?;
            Some(ChainObject::Finding(issue.key()))
        }
        Pane::Scans => {
            let scan = model.selected_item::<Scan>()?;
            let target = model.data.targets.value()?.get(scan.target_id)?;
            Some(ChainObject::Target(target.name.clone()))
        }
        Pane::Captures => {
            let captured = model.selected_capture()?;
            Some(ChainObject::Capture {
                logger: captured.logger,
                id: captured.capture.id,
            })
        }
        Pane::Payloads => model.lists.payloads.selected.map(ChainObject::Payload),
        Pane::Targets => {
            let target = model.selected_item::<Target>()?;
            Some(ChainObject::Target(target.name.clone()))
        }
        _ => None,
    }
}

/// Requests the chain of an object.
pub(crate) fn request(model: &mut Model, root: ChainObject, effects: &mut Vec<Effect>) {
    let data = &model.data;
    let lists = (
        data.findings.value().cloned(),
        data.targets.value().cloned(),
    );
    let (Some(issues), Some(targets)) = lists else {
        return model.notify(Tone::Plain, "findings and targets are still loading");
    };
    effects.push(Effect::Chain(Box::new(ChainRequest {
        root,
        issues,
        targets,
        captured: model.captured_tokens(),
        manual: model.manual_links(),
        payloads: data.payloads.value().cloned().unwrap_or_default(),
    })));
    let notices = &mut model.overlay.notices;
    notices.notify_until_seen(model.now.mono, Tone::Plain, READING);
}

/// Shows a chain. One that was open is replaced; another window remains in front.
pub(crate) fn handle_chained(model: &mut Model, made: Result<ChainTree, Problem>) {
    model.overlay.notices.remove(READING);
    let tree = match made {
        Ok(tree) => tree,
        Err(problem) => return model.notify_problem("chain not shown", &problem),
    };
    let chain = Box::new(ChainBox::new(&tree));
    match model.overlay.modals.last_mut() {
        None => model.overlay.modals.push(Modal::Chain(chain)),
        Some(Modal::Chain(open)) => *open = chain,
        Some(_) => {
            let key = model.key_label(Context::Findings, Action::Item(ItemAction::Chain));
            let words = format!("chain not shown: another window is open · {key} shows it again");
            model.notify(Tone::Plain, words);
        }
    }
}

/// Moves the selection by this number of objects.
pub(crate) fn walk(model: &mut Model, by: isize) {
    if let Some(Modal::Chain(open)) = model.overlay.modals.last_mut() {
        open.walk(by);
    }
}
