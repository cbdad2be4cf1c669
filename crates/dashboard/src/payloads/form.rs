//! The form that records where a payload was placed.

use crate::base::FormTag;
use crate::forms::{FieldId, Form, FormField, FormKind};
use scandeck_domain::oob::Payload;
use scandeck_wire::contract::Shared;

static KIND: FormKind = FormKind::new("save");

pub(crate) fn open(payload: &Payload) -> Form {
    let fields = vec![
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
    ];
    let title = format!("Placement of payload {}", payload.token);
    Form::new(FormTag::Place(payload.token), &KIND, title, "Save", fields)
}

/// Writes the input into a payload.
pub(crate) fn fill(form: &Form, payload: &mut Payload) {
    let text = |id: FieldId| Shared::from(form.text(id).as_str());
    payload.parameter = text(FieldId::Parameter);
    payload.target = text(FieldId::TargetName);
    payload.technique = text(FieldId::Technique);
    payload.note = text(FieldId::Note);
}
