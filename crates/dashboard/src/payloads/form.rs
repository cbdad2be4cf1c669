//! The form that records where a payload was placed, and for which finding.

use crate::base::FormTag;
use crate::forms::{FieldId, Form, FormField, FormKind};
use scandeck_domain::oob::Payload;
use scandeck_domain::triage::FindingKey;
use scandeck_wire::contract::Shared;
use scandeck_wire::text;

static KIND: FormKind = FormKind::new("save");

/// Opens the form; a payload without a finding can be bound to the selected one.
pub(crate) fn open(payload: &Payload, selected: Option<(FindingKey, Shared)>) -> Form {
    let bound = payload
        .finding
        .map(|key| (key, payload.finding_name.clone()));
    let is_bound = bound.is_some();
    let finding = bound.or(selected);
    let name = finding
        .as_ref()
        .map(|(_, name)| text::clean(name).into_owned());
    let findings = std::iter::once("none".to_owned()).chain(name);
    let mut fields = vec![
        FormField::info(FieldId::BaseUrl, "Payload", payload.url.as_str()),
        // First, because everything else is optional: text typed after the keys that plant a
        // payload is its note.
        FormField::lines(FieldId::Note, "Note", &payload.note)
            .at_end()
            .with_help("where and why, in your words"),
        FormField::line(FieldId::Parameter, "Parameter", &payload.parameter)
            .with_help("parameter or header, such as q or Referer"),
        FormField::line(FieldId::TargetName, "Target", &payload.target),
        FormField::line(FieldId::Technique, "Technique", &payload.technique)
            .with_help("such as SSRF, XXE, blind XSS"),
        FormField::choice(FieldId::Finding, "Finding", findings, usize::from(is_bound)),
    ];
    if let Some(choice) = fields.last_mut() {
        choice.shown = finding.is_some();
    }
    let title = format!("Placement of payload {}", payload.token);
    let mut form = Form::new(FormTag::Place(payload.token), &KIND, title, "Save", fields);
    form.subject.finding = finding;
    form
}

/// Writes the input into a payload.
pub(crate) fn fill(form: &Form, payload: &mut Payload) {
    let text = |id: FieldId| Shared::from(form.text(id).as_str());
    payload.parameter = text(FieldId::Parameter);
    payload.target = text(FieldId::TargetName);
    payload.technique = text(FieldId::Technique);
    payload.note = text(FieldId::Note);
    let finding = form.subject.finding.clone();
    let chosen = finding.filter(|_| form.choice(FieldId::Finding) > 0);
    payload.finding = chosen.as_ref().map(|(key, _)| *key);
    payload.finding_name = chosen.map(|(_, name)| name).unwrap_or_default();
}
