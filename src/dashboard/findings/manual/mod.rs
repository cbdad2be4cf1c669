//! Findings of one's own: made by hand or from captured requests, changed, switched off.

pub mod form;
pub mod proof;
#[cfg(test)]
mod tests;

use crate::contract::{Capture, Shared};
use crate::dashboard::base::{Effect, FormTag, ManualFindingOrigin, Pane, Tone};
use crate::dashboard::forms::ManualFindingDraft;
use crate::dashboard::model::{Modal, Model};
use crate::dashboard::prompts::{Prompt, Then};
use crate::oob::out::raw;
use crate::oob::{CaptureRecord, CaptureSource};
use crate::text::plural;
use crate::triage::{Case, CaseId, Change, EventId, ManualFinding, ManualFindingState, Subject};

/// `n` in the findings: a new one about the target at hand; on one of our own, that one to change.
pub(crate) fn open(model: &mut Model) {
    let case = selected(model);
    let present = case.and_then(|case| own_state(model, *case.own.as_deref()?));
    match present.map(|own| ManualFindingDraft { id: Some(own.id), finding: own.finding.clone(), others: Vec::new() }) {
        Some(draft) => open_form(model, draft),
        None => open_new(model),
    }
}

/// A new one about the target at hand.
pub(crate) fn open_new(model: &mut Model) {
    let finding = ManualFinding { target: target(model), ..ManualFinding::default() };
    open_form(model, ManualFindingDraft { finding, ..ManualFindingDraft::default() });
}

/// `n` in the captures: the chosen requests are its evidence; they can be added to one that is there.
pub(crate) fn open_from_captures(model: &mut Model) {
    if model.head_must_wait() {
        return;
    }
    let chosen = model.chosen_captures();
    if chosen.is_empty() {
        return model.say(Tone::Plain, "nothing is selected here");
    }
    // One empty line between two; a request without a body ends with one of its own.
    let evidence: Vec<String> = chosen.iter().map(|sent| raw(sent).trim_end().to_owned()).collect();
    let captures = chosen.iter().filter_map(|sent| serde_json::to_string(&*sent.capture).ok());
    let mut finding = ManualFinding {
        evidence: evidence.join("\n\n").into(),
        captures: captures.map(Shared::from).collect(),
        target: target_of(model, &chosen),
        ..ManualFinding::default()
    };
    proof::tell(&mut finding, &chosen, &model.captures.oob.book, model.connection.clock_offset);
    let others = model.findings.triage.state.own().filter(|other| !other.off && is_here(model, other));
    let others = others.map(|other| (other.id, other.finding.clone())).collect();
    open_form(model, ManualFindingDraft { id: None, finding, others });
}

/// The target that requests tell of themselves, else that of the chip.
fn target_of(model: &Model, chosen: &[CaptureRecord]) -> Shared {
    let (own, hosts) = (model.own_addresses(), &model.captures.oob.hosts);
    let told = chosen.iter().find_map(|sent| CaptureSource::of(&sent.capture, own, hosts).target().cloned());
    let chip = || model.navigation.scope.target.and_then(|id| model.target_name(id).cloned());
    told.or_else(chip).unwrap_or_default()
}

fn open_form(model: &mut Model, draft: ManualFindingDraft) {
    if model.findings.triage.writer.is_none() {
        return model.say(Tone::Bad, "nothing can be kept here just now: the store of decisions is not open");
    }
    let of = form::origin(&draft);
    if matches!(of, ManualFindingOrigin::Captures(_)) && !model.overlay.drafts.contains_key(&FormTag::ManualFinding(of))
    {
        tell_of_others(model);
    }
    model.open_form(form::open(draft));
}

/// Drafts of other captures are not lost, but not brought back here: their text is not about these.
fn tell_of_others(model: &mut Model) {
    let drafts = model
        .overlay
        .drafts
        .iter()
        .filter(|(tag, _)| matches!(tag, FormTag::ManualFinding(ManualFindingOrigin::Captures(_))));
    let captures =
        drafts.filter_map(|(_, form)| Some(form.subject.manual.as_ref()?.finding.captures.len())).next_back();
    if let Some(captures) = captures {
        let about = plural(captures, "other captured request");
        model.say(Tone::Plain, format!("a draft about {about} is kept: it comes back when n is pressed on the same"));
    }
}

fn is_here(model: &Model, own: &ManualFindingState) -> bool {
    let workspace = model.workspace().map(|workspace| workspace.name.as_str()).unwrap_or_default();
    own.event.workspace.is_empty() || *own.event.workspace == *workspace
}

fn selected(model: &Model) -> Option<&Case> {
    let id = model.selected_id(Pane::Findings).map(CaseId)?;
    model.data.findings.value()?.get(id).map(|case| &**case)
}

fn own_state(model: &Model, id: EventId) -> Option<&ManualFindingState> {
    model.findings.triage.state.own().find(|own| own.id == id)
}

fn target(model: &Model) -> Shared {
    let known = model.target_at_hand().or(model.navigation.scope.target).and_then(|id| model.target_name(id).cloned());
    known.unwrap_or_default()
}

/// `D` in the findings: takes one of our own away; those of the service stay.
pub(crate) fn ask_off(model: &mut Model) {
    let ids: Vec<CaseId> = model.chosen(Pane::Findings).ids.into_iter().map(CaseId).collect();
    let Some(table) = model.data.findings.value() else { return };
    let own: Vec<(EventId, Shared)> = ids
        .iter()
        .filter_map(|&id| table.get(id))
        .filter_map(|case| Some((*case.own.as_deref()?, case.name.clone())))
        .collect();
    let question = match own.as_slice() {
        [] => return model.say(Tone::Plain, "findings of the service cannot be deleted; those of our own can"),
        [(_, name)] => format!("Take our own finding “{name}” away?"),
        many => format!("Take {} findings of our own away?", many.len()),
    };
    let off = own.iter().map(|(id, _)| (Subject::Manual(*id), Change::Off(true))).collect();
    let mut prompt =
        Prompt::new(question, Then::Record(off)).with_line("u brings them back; nothing is sent anywhere.");
    if own.len() < ids.len() {
        prompt = prompt.with_line(format!("{} of the service stay.", ids.len() - own.len()));
    }
    model.open_prompt(prompt);
}

/// Keeps what the form has; it closes.
pub(crate) fn keep(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Modal::Form(form)) = model.overlay.modals.last() else { return };
    let tag = form.tag;
    let Some((id, own)) = form::finding(form) else { return };
    let Some(id) = id.or_else(|| model.findings.triage.writer.as_ref().map(|writer| writer.next())) else {
        return model.say(Tone::Bad, "not kept: the store of decisions is not open; the form stays");
    };
    let name = own.name.clone();
    if model.record(vec![(Subject::Manual(id), Change::Manual(Box::new(own)))], effects).is_none() {
        return model.say(Tone::Bad, "not kept: the store of decisions is not open; the form stays");
    }
    model.overlay.modals.retain(|modal| !matches!(modal, Modal::Form(form) if form.tag == tag));
    model.overlay.drafts.remove(&tag);
    if !matches!(tag, FormTag::ManualFinding(ManualFindingOrigin::Finding(_))) {
        model.lists.findings.want(crate::triage::identity::manual_key(id).into());
        model.lists.captures.clear_marks();
    }
    model.say(Tone::Good, format!("kept: {name}"));
}

impl Model {
    /// Name of the finding of one's own that a captured request is the evidence of.
    pub fn proven_by(&self, capture: &Capture) -> Option<&Shared> {
        let json = serde_json::to_string(capture).ok()?;
        let has = |own: &&ManualFindingState| !own.off && own.finding.captures.iter().any(|kept| **kept == *json);
        self.findings.triage.state.own().find(has).map(|own| &own.finding.name)
    }
}
