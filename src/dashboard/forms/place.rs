//! Where a payload went: written down after it was copied.

use crate::contract::Shared;
use crate::dashboard::base::FormTag;
use crate::dashboard::forms::{FieldId, Form, FormField};
use crate::oob::Payload;

/// What is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub parameter: Shared,
    pub target: Shared,
    pub technique: Shared,
    pub note: Shared,
}

impl Place {
    /// Puts it into the payload.
    pub fn put(self, payload: &mut Payload) {
        payload.parameter = self.parameter;
        payload.target = self.target;
        payload.technique = self.technique;
        payload.note = self.note;
    }
}

/// The fields, as the payload stands.
pub(crate) fn open(payload: &Payload) -> Form {
    let fields = vec![
        FormField::info(FieldId::BaseUrl, "Payload", payload.url.as_str()),
        FormField::line(FieldId::Parameter, "Parameter", &payload.parameter)
            .with_help("or header, such as q or Referer"),
        FormField::line(FieldId::TargetName, "Target", &payload.target),
        FormField::line(FieldId::Technique, "Technique", &payload.technique).with_help("such as SSRF, XXE, blind XSS"),
        FormField::lines(FieldId::Note, "Note", &payload.note).with_help("ctrl-x opens the editor"),
    ];
    let title = format!("Where payload {} went", payload.token);
    Form::new(FormTag::Place(payload.token), title, "Keep it", fields)
}

/// The place as the form has it.
pub(crate) fn made(form: &Form) -> Place {
    let text = |id: FieldId| Shared::from(form.text(id).as_str());
    Place {
        parameter: text(FieldId::Parameter),
        target: text(FieldId::TargetName),
        technique: text(FieldId::Technique),
        note: text(FieldId::Note),
    }
}
