//! Findings of one's own: made by hand or from captured requests, changed, switched off.

use super::super::effect::Effect;
use super::super::form::{Form, FormTag, OwnDraft};
use super::super::modal::Modal;
use super::super::model::{Model, Pane};
use super::super::notices::Tone;
use super::super::prompt::{Prompt, Then};
use crate::contract::{Capture, Shared};
use crate::oob::out::{Sent, raw};
use crate::oob::{Payload, Source};
use crate::triage::event::OwnFinding;
use crate::triage::{Case, CaseId, Change, EventId, OwnState, Subject};

/// `n` in the findings: a new one about the target at hand; on one of our own, that one to change.
pub(super) fn open(model: &mut Model) {
    let case = selected(model);
    let present = case.and_then(|case| own_state(model, *case.own.as_deref()?));
    match present.map(|own| OwnDraft { id: Some(own.id), own: own.finding.clone(), others: Vec::new() }) {
        Some(draft) => open_form(model, draft),
        None => open_new(model),
    }
}

/// A new one about the target at hand.
pub(super) fn open_new(model: &mut Model) {
    let own = OwnFinding { target: target(model), ..OwnFinding::default() };
    open_form(model, OwnDraft { own, ..OwnDraft::default() });
}

/// `n` in the captures: the chosen requests are its evidence; they can be added to one that is there.
pub(super) fn open_from_captures(model: &mut Model) {
    if model.head_must_wait() {
        return;
    }
    let chosen = model.chosen_captures();
    if chosen.is_empty() {
        return model.say(Tone::Plain, "nothing is selected here");
    }
    let evidence: Vec<String> = chosen.iter().map(raw).collect();
    let captures = chosen.iter().filter_map(|sent| serde_json::to_string(&*sent.capture).ok());
    let mut own = OwnFinding {
        evidence: evidence.join("\n\n").into(),
        captures: captures.map(Shared::from).collect(),
        target: target_of(model, &chosen),
        ..OwnFinding::default()
    };
    if let Some(payload) = chosen.iter().find_map(|sent| known(model, sent)) {
        let proof: Vec<&Sent> =
            chosen.iter().filter(|sent| known(model, sent).is_some_and(|other| other.token == payload.token)).collect();
        prove(&mut own, payload, &proof, model.clock_offset);
    }
    let others = model.triage.state.own().filter(|other| !other.off && is_here(model, other));
    let others = others.map(|other| (other.id, other.finding.clone())).collect();
    open_form(model, OwnDraft { id: None, own, others });
}

/// The target that requests tell of themselves, else that of the chip.
fn target_of(model: &Model, chosen: &[Sent]) -> Shared {
    let (own, hosts) = (model.own_addresses(), &model.oob.hosts);
    let told = chosen.iter().find_map(|sent| Source::of(&sent.capture, own, hosts).target().cloned());
    let chip = || model.scope.target.and_then(|id| model.target_name(id).cloned());
    told.or_else(chip).unwrap_or_default()
}

/// The payload that a capture carries first.
fn known<'a>(model: &'a Model, sent: &Sent) -> Option<&'a Payload> {
    let mention = sent.mentions.iter().find(|mention| mention.known)?;
    model.oob.book.get(mention.token).map(|payload| &**payload)
}

/// What the payload tells about the finding that it proves.
fn prove(own: &mut OwnFinding, payload: &Payload, proof: &[&Sent], offset: Option<i64>) {
    let what = if payload.technique.is_empty() { "Out-of-band request" } else { payload.technique.as_str() };
    own.name = match payload.parameter.as_str() {
        "" => what.into(),
        parameter => format!("{what} through {parameter}").into(),
    };
    own.class = payload.technique.clone();
    if !payload.target.is_empty() {
        own.target = payload.target.clone();
    }
    let place = payload.place();
    let place = if place.is_empty() { String::new() } else { format!(" in {place}") };
    let made = payload.at.map(|at| format!(" at {at} UTC")).unwrap_or_default();
    let mut text = format!("Payload {} was planted{place}{made}: {}", payload.token, payload.url);
    for sent in proof {
        let capture = &sent.capture;
        let delay = payload.delay(capture.request_date, offset).map(|delay| format!(" ({delay})")).unwrap_or_default();
        let came = capture.request_date.map(|date| format!(" at {date} UTC")).unwrap_or_default();
        text.push_str(&format!("\n{} from {}{came}{delay}", capture.request_method, capture.ip_address));
    }
    if !payload.note.is_empty() {
        text.push_str(&format!("\n\n{}", payload.note));
    }
    own.text = text.into();
}

fn open_form(model: &mut Model, draft: OwnDraft) {
    match model.triage.pen.is_some() {
        true => model.open_form(Form::open(super::super::form::Opening::Own(draft), model.scope.workspace)),
        false => model.say(Tone::Bad, "nothing can be kept here just now: the store of decisions is not open"),
    }
}

fn is_here(model: &Model, own: &OwnState) -> bool {
    let workspace = model.workspace().map(|workspace| workspace.name.as_str()).unwrap_or_default();
    own.event.workspace.is_empty() || *own.event.workspace == *workspace
}

fn selected(model: &Model) -> Option<&Case> {
    let id = model.selected_id(Pane::Findings).map(CaseId)?;
    model.data.findings.value()?.get(id).map(|case| &**case)
}

fn own_state(model: &Model, id: EventId) -> Option<&OwnState> {
    model.triage.state.own().find(|own| own.id == id)
}

fn target(model: &Model) -> Shared {
    let known = model.target_at_hand().or(model.scope.target).and_then(|id| model.target_name(id).cloned());
    known.unwrap_or_default()
}

/// `D` in the findings: takes one of our own away; those of the service stay.
pub(super) fn ask_off(model: &mut Model) {
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
    let off = own.iter().map(|(id, _)| (Subject::Own(*id), Change::Off(true))).collect();
    let mut prompt =
        Prompt::new(question, Then::Record(off)).with_line("u brings them back; nothing is sent anywhere.");
    if own.len() < ids.len() {
        prompt = prompt.with_line(format!("{} of the service stay.", ids.len() - own.len()));
    }
    model.open_prompt(prompt);
}

/// Keeps what the form has; it closes.
pub(super) fn keep(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Modal::Form(form)) = model.modals.last() else { return };
    let tag = form.tag;
    let Some((id, own)) = form.own() else { return };
    let Some(id) = id.or_else(|| model.triage.pen.as_ref().map(|pen| pen.next())) else {
        return model.say(Tone::Bad, "not kept: the store of decisions is not open; the form stays");
    };
    let name = own.name.clone();
    if model.record(vec![(Subject::Own(id), Change::Own(Box::new(own)))], effects).is_none() {
        return model.say(Tone::Bad, "not kept: the store of decisions is not open; the form stays");
    }
    model.modals.retain(|modal| !matches!(modal, Modal::Form(form) if form.tag == tag));
    model.drafts.remove(&tag);
    if tag == FormTag::Own(None) {
        model.lists.findings.want(crate::triage::identity::own_key(id).into());
        model.lists.captures.clear_marks();
    }
    model.say(Tone::Good, format!("kept: {name}"));
}

impl Model {
    /// Name of the finding of one's own that a captured request is the evidence of.
    pub fn proven_by(&self, capture: &Capture) -> Option<&Shared> {
        let json = serde_json::to_string(capture).ok()?;
        let has = |own: &&OwnState| !own.off && own.finding.captures.iter().any(|kept| **kept == *json);
        self.triage.state.own().find(has).map(|own| &own.finding.name)
    }
}
