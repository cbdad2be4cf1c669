//! Manual findings: written by hand or made from captured requests, changed, deleted.

pub mod form;
pub mod proof;
#[cfg(test)]
mod tests;

use crate::base::{CaptureUse, Effect, FormTag, ManualFindingOrigin, Pane, RowRef, Tone};
use crate::forms::ManualFindingDraft;
use crate::model::{Modal, Model};
use crate::prompts::{Prompt, Then};
use scandeck_domain::oob::out::raw;
use scandeck_domain::oob::{CaptureRecord, CaptureSource};
use scandeck_domain::triage::identity::manual_key;
use scandeck_domain::triage::{
    Change, Decision, EventId, ManualFinding, ManualFindingState, Subject, Verdict,
};
use scandeck_wire::contract::{Capture, Risk, Shared};
use scandeck_wire::text::plural;

/// `E` in the findings: edits the selected manual finding.
pub(crate) fn edit(model: &mut Model) {
    let Some(issue) = model.issue_at_hand() else {
        return model.notify(Tone::Plain, "nothing selected");
    };
    let Some(id) = issue.manual() else {
        return model.notify(
            Tone::Plain,
            "findings of the service cannot be edited, only manual findings",
        );
    };
    let state = &model.findings.triage.state;
    let Some(manual) = state
        .manual_findings()
        .find(|manual| manual.id == id && !manual.off)
    else {
        return model.notify(Tone::Plain, "the manual finding was deleted");
    };
    let (finding, decided) = (manual.finding.clone(), decided(model, [id]));
    open_form(
        model,
        ManualFindingDraft {
            id: Some(id),
            finding,
            decided,
            others: Vec::new(),
        },
    );
}

/// The decided ones of these manual findings, with their verdicts.
fn decided(model: &Model, manual: impl IntoIterator<Item = EventId>) -> Vec<(EventId, Verdict)> {
    let verdict = |id| {
        let assessment = model
            .assessment(manual_key(id).into())
            .filter(|assessment| !assessment.is_undecided())?;
        Some((id, assessment.verdict))
    };
    manual.into_iter().filter_map(verdict).collect()
}

/// `n` in the findings: opens the form of a new finding for the target of the selected row.
pub(crate) fn open_new(model: &mut Model) {
    let finding = ManualFinding {
        target: target(model),
        risk: Risk::Medium,
        ..ManualFinding::default()
    };
    open_form(
        model,
        ManualFindingDraft {
            finding,
            ..ManualFindingDraft::default()
        },
    );
}

/// `n` in the captures: opens a finding with the chosen requests as evidence, or adds them to a
/// manual finding.
pub(crate) fn open_from_captures(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Some(why) = model.header_wait_notice() {
        return model.notify(Tone::Plain, why);
    }
    let chosen = model.chosen_captures();
    if chosen.is_empty() {
        return model.notify(Tone::Plain, "nothing selected");
    }
    if !model.must_read(CaptureUse::ManualFinding, &chosen, effects) {
        open_with_captures(model, &chosen);
    }
}

/// Opens a finding with these requests as evidence.
pub(crate) fn open_with_captures(model: &mut Model, chosen: &[CaptureRecord]) {
    // Exactly one empty line between two requests: one without a body ends with an empty line
    // already.
    let evidence: Vec<String> = chosen
        .iter()
        .map(|sent| raw(sent).trim_end().to_owned())
        .collect();
    let captures = chosen
        .iter()
        .filter_map(|sent| serde_json::to_string(&*sent.capture).ok());
    let mut finding = ManualFinding {
        evidence: evidence.join("\n\n").into(),
        captures: captures.map(Shared::from).collect(),
        target: target_of(model, chosen),
        risk: Risk::Medium,
        ..ManualFinding::default()
    };
    proof::describe(
        &mut finding,
        chosen,
        &model.captures.oob.book,
        model.connection.clock_offset,
    );
    let others = model
        .findings
        .triage
        .state
        .manual_findings()
        .filter(|other| !other.off && is_here(model, other));
    let others: Vec<_> = others
        .map(|other| (other.id, other.finding.clone()))
        .collect();
    let decided = decided(model, others.iter().map(|(id, _)| *id));
    open_form(
        model,
        ManualFindingDraft {
            id: None,
            finding,
            others,
            decided,
        },
    );
}

/// The target that the requests name, else that of the scope.
fn target_of(model: &Model, chosen: &[CaptureRecord]) -> Shared {
    let (own, hosts) = (model.own_addresses(), &model.captures.oob.hosts);
    let named = chosen.iter().find_map(|sent| {
        CaptureSource::of(&sent.capture, own, hosts)
            .target()
            .cloned()
    });
    let in_scope = || {
        model
            .navigation
            .scope
            .target
            .and_then(|id| model.target_name(id).cloned())
    };
    named.or_else(in_scope).unwrap_or_default()
}

fn open_form(model: &mut Model, draft: ManualFindingDraft) {
    if model.findings.triage.writer.is_none() {
        return model.notify(
            Tone::Bad,
            "no manual findings: the decision store is not open",
        );
    }
    let of = form::origin(&draft);
    if matches!(of, ManualFindingOrigin::Captures(_))
        && !model
            .overlay
            .drafts
            .contains_key(&FormTag::ManualFinding(of))
    {
        mention_other_drafts(model);
    }
    model.open_form(form::open(draft));
}

/// Mentions drafts of other captures. They are not opened, because their text belongs to other
/// requests.
fn mention_other_drafts(model: &mut Model) {
    let drafts = model.overlay.drafts.iter().filter(|(tag, _)| {
        matches!(
            tag,
            FormTag::ManualFinding(ManualFindingOrigin::Captures(_))
        )
    });
    let captures = drafts
        .filter_map(|(_, form)| Some(form.subject.manual.as_ref()?.finding.captures.len()))
        .next_back();
    if let Some(captures) = captures {
        let others = plural(captures, "other captured request");
        model.notify(
            Tone::Plain,
            format!("the draft of {others} is saved: select the same requests to continue"),
        );
    }
}

fn is_here(model: &Model, manual: &ManualFindingState) -> bool {
    let workspace = model
        .workspace()
        .map(|workspace| workspace.name.as_str())
        .unwrap_or_default();
    manual.event.workspace.is_empty() || *manual.event.workspace == *workspace
}

fn target(model: &Model) -> Shared {
    let known = model
        .target_at_hand()
        .or(model.navigation.scope.target)
        .and_then(|id| model.target_name(id).cloned());
    known.unwrap_or_default()
}

/// `D` in the findings: asks before manual findings are deleted. Findings of the service remain.
pub(crate) fn prompt_off(model: &mut Model) {
    let [ids, _] = model.chosen(Pane::Findings).issues();
    let Some(table) = model.data.findings.value() else {
        return;
    };
    let manual: Vec<(EventId, Shared)> = ids
        .iter()
        .filter_map(|&id| table.get(id))
        .filter_map(|issue| Some((issue.manual()?, issue.name.clone())))
        .collect();
    let question = match manual.as_slice() {
        [] => {
            return model.notify(
                Tone::Plain,
                "findings of the service cannot be deleted, only manual findings",
            );
        }
        [(_, name)] => format!("Delete the manual finding \"{name}\"?"),
        many => format!("Delete {} manual findings?", many.len()),
    };
    let off = manual
        .iter()
        .map(|(id, _)| (Subject::Manual(*id), Change::Off(true)))
        .collect();
    let what = if manual.len() == 1 {
        "the finding"
    } else {
        "the findings"
    };
    let mut prompt = Prompt::new(question, Then::Record(off)).with_line(format!(
        "Undo restores {what}. Nothing is sent to the service."
    ));
    if manual.len() < ids.len() {
        prompt = prompt.with_line(format!(
            "{} of the service not deleted.",
            plural(ids.len() - manual.len(), "finding")
        ));
    }
    model.open_prompt(prompt);
}

/// Saves the form and closes it.
pub(crate) fn keep(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Modal::Form(form)) = model.overlay.modals.last() else {
        return;
    };
    let tag = form.tag;
    let Some((id, manual)) = form::finding(form) else {
        return;
    };
    let reopened = id
        .filter(|_| form::reopens(form))
        .and_then(|id| reopening(model, id));
    let Some(id) = id.or_else(|| {
        model
            .findings
            .triage
            .writer
            .as_ref()
            .map(|writer| writer.next())
    }) else {
        return model.notify(Tone::Bad, "not saved: the decision store is not open");
    };
    let name = manual.name.clone();
    let edit = (Subject::Manual(id), Change::Manual(Box::new(manual)));
    if model
        .record(std::iter::once(edit).chain(reopened).collect(), effects)
        .is_none()
    {
        return model.notify(Tone::Bad, "not saved: the decision store is not open");
    }
    model
        .overlay
        .modals
        .retain(|modal| !matches!(modal, Modal::Form(form) if form.tag == tag));
    model.overlay.drafts.remove(&tag);
    if !matches!(tag, FormTag::ManualFinding(ManualFindingOrigin::Finding(_))) {
        model
            .lists
            .findings
            .select_when_loaded(RowRef::Item(manual_key(id).into()));
        model.lists.captures.clear_marks();
    }
    let is_filtered = !model.lists.findings.filter.is_empty();
    let hidden = if is_filtered {
        " · the filter may hide this finding"
    } else {
        ""
    };
    model.notify(
        Tone::Good,
        format!("manual finding \"{name}\" saved{hidden}"),
    );
}

/// The decision that opens a manual finding again, recorded together with its edit.
fn reopening(model: &Model, id: EventId) -> Option<(Subject, Change)> {
    let issue = model.data.findings.value()?.get(manual_key(id).into())?;
    let decision = Decision {
        verdict: Verdict::Open,
        seen: Some(issue.sighting()),
        ..Decision::default()
    };
    Some((
        Subject::Finding(issue.identity.clone()),
        Change::Decide(decision),
    ))
}

impl Model {
    /// The name of the manual finding that has a captured request as evidence.
    pub fn proven_by(&self, capture: &Capture) -> Option<&Shared> {
        let json = serde_json::to_string(capture).ok()?;
        let has = |manual: &&ManualFindingState| {
            !manual.off
                && manual
                    .finding
                    .captures
                    .iter()
                    .any(|capture| **capture == *json)
        };
        self.findings
            .triage
            .state
            .manual_findings()
            .find(has)
            .map(|manual| &manual.finding.name)
    }
}
