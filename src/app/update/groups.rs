//! `b`, then by what: findings and captures in groups, folding and unfolding them.

use super::super::group::By;
use super::super::model::{Model, Pane};
use super::super::stream;
use crate::input::Action;
use crate::triage::CaseId;

/// Groups, folds, unfolds; false when the action is none of these, or the cursor is on no head.
pub(super) fn perform(model: &mut Model, action: Action) -> bool {
    match action {
        Action::GroupClass => group(model, Some(By::Class)),
        Action::GroupTarget => group(model, Some(By::Target)),
        Action::GroupCve => group(model, Some(By::Cve)),
        Action::GroupCwe => group(model, Some(By::Cwe)),
        Action::GroupOwasp => group(model, Some(By::Owasp)),
        Action::GroupPort => group(model, Some(By::Port)),
        Action::GroupPayload => group_captures(model, Some(stream::By::Payload)),
        Action::GroupSource => group_captures(model, Some(stream::By::Source)),
        Action::GroupLogger => group_captures(model, Some(stream::By::Logger)),
        Action::GroupNone if model.focus.pane == Pane::Captures => group_captures(model, None),
        Action::GroupNone => group(model, None),
        Action::In if on_captures(model) => return fold_captures(model, true),
        Action::Out if on_captures(model) => return fold_captures(model, false),
        Action::In if on_groups(model) => return unfold(model),
        Action::Out if on_groups(model) => return fold(model),
        _ => return false,
    }
    true
}

/// The keys go to the list of the captures, and that is in groups.
fn on_captures(model: &Model) -> bool {
    model.focus.pane == Pane::Captures && !model.focus.in_detail && model.lists.captures.by().is_some()
}

/// Groups the captures, or no more. The cursor stays on its capture, or goes to the head that holds it.
fn group_captures(model: &mut Model, by: Option<stream::By>) {
    model.focus.pane = Pane::Captures;
    model.focus.in_detail = false;
    model.lists.captures.group(by);
    model.show_rows(Pane::Captures);
}

fn fold_captures(model: &mut Model, open: bool) -> bool {
    let (list, stream) = (&mut model.lists.captures, &model.data.captures);
    if open { list.unfold(stream) } else { list.fold(stream) }
}

/// The keys go to the list of the findings, and that is in groups.
fn on_groups(model: &Model) -> bool {
    model.focus.pane == Pane::Findings && !model.focus.in_detail && model.lists.groups.by.is_some()
}

/// Groups the findings, or no more. The cursor stays on its finding, or goes to the head that holds it; from a head
/// it goes by the first member.
pub(in crate::app) fn group(model: &mut Model, by: Option<By>) {
    let Some(table) = model.data.findings.value().cloned() else {
        model.lists.groups.by = by;
        return;
    };
    let lists = &mut model.lists;
    let head = lists.findings.selected.and_then(|id| lists.groups.head(id));
    if let Some(&first) = head.and_then(|head| lists.groups.members(head).first()) {
        lists.findings.selected = Some(table.items()[first as usize].id);
    }
    lists.groups.by = by;
    model.focus.pane = Pane::Findings;
    model.focus.in_detail = false;
    model.show_rows(Pane::Findings);
}

/// A folded head is unfolded, from an unfolded one the cursor goes to its first member.
fn unfold(model: &mut Model) -> bool {
    let Some(head) = selected_head(model) else { return false };
    let at = model.lists.findings.at;
    match head.1 {
        true => model.cursor(Pane::Findings).select(at + 1),
        false => model.lists.groups.fold(head.0, true),
    }
    true
}

/// An unfolded head is folded, from a member the cursor goes to its head.
fn fold(model: &mut Model) -> bool {
    match selected_head(model) {
        Some((id, true)) => model.lists.groups.fold(id, false),
        Some((_, false)) => return false,
        None => {
            let member = model.lists.findings.selected;
            let position = member.and_then(|id| model.data.findings.value()?.position(id));
            let head = position.and_then(|at| model.lists.groups.head_of(at as u32));
            let Some(CaseId(head)) = head else { return false };
            model.cursor(Pane::Findings).select_id(head);
        }
    }
    true
}

/// The head under the cursor, and whether it is unfolded.
fn selected_head(model: &Model) -> Option<(CaseId, bool)> {
    let groups = &model.lists.groups;
    let head = groups.head(model.lists.findings.selected?)?;
    Some((head.id, head.open))
}
