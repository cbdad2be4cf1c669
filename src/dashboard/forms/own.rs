//! A finding of one's own: what a person proved, by hand or from captured requests.

use crate::contract::{Risk, Shared};
use crate::dashboard::base::{FormTag, OwnOf};
use crate::dashboard::forms::{FieldId, Form, FormField};
use crate::text::plural;
use crate::triage::{EventId, ManualFinding};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What the form starts from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ManualFindingDraft {
    /// The finding to change; none makes a new one.
    pub id: Option<EventId>,
    /// As it stands.
    pub own: ManualFinding,
    /// Findings of one's own that this can be added to instead.
    pub others: Vec<(EventId, ManualFinding)>,
}

impl ManualFindingDraft {
    /// What it is made of, in whatever order.
    pub fn of(&self) -> OwnOf {
        if let Some(id) = self.id {
            return OwnOf::Finding(id);
        }
        if self.own.captures.is_empty() {
            return OwnOf::New;
        }
        let mut hasher = DefaultHasher::new();
        self.own.captures.iter().collect::<BTreeSet<_>>().hash(&mut hasher);
        OwnOf::Captures(hasher.finish())
    }
}

/// The fields, as the finding stands.
pub(crate) fn open(draft: ManualFindingDraft) -> Form {
    let own = &draft.own;
    let risk = Risk::DOWN.iter().position(|&risk| risk == own.risk).unwrap_or(0);
    let port = if own.port > 0 { own.port.to_string() } else { String::new() };
    let into =
        std::iter::once("a new finding".to_owned()).chain(draft.others.iter().map(|(_, own)| own.name.to_string()));
    let mut fields = vec![
        FormField::choice(FieldId::Into, "Into", into, 0),
        FormField::line(FieldId::Name, "Name", &own.name).with_help("what it is, as a headline"),
        FormField::choice(FieldId::Risk, "Risk", Risk::DOWN.map(Risk::as_str), risk),
        FormField::line(FieldId::TargetName, "Target", &own.target).with_help("host name, IP address or URL"),
        FormField::line(FieldId::Port, "Port", &port).with_help("1 to 65535; may be empty"),
        FormField::line(FieldId::Class, "Class", &own.class).with_help("kind, such as SSRF; empty: the name"),
        FormField::lines(FieldId::Text, "Text", &own.text).with_help("ctrl-x opens the editor"),
        FormField::lines(FieldId::Evidence, "Evidence", &own.evidence),
    ];
    fields[0].shown = !draft.others.is_empty();
    let (title, button) = match draft.id {
        Some(_) => (format!("Finding of our own: {}", own.name), "Save"),
        None => ("A finding of our own".to_owned(), "Keep it"),
    };
    let mut form = Form::new(FormTag::Own(draft.of()), title, button, fields);
    form.subject.own = Some(Box::new(draft));
    form
}

/// What is wrong, and what the captures are added to.
pub(crate) fn check(form: &mut Form) -> Vec<(FieldId, String)> {
    let into = form.choice(FieldId::Into) > 0;
    for id in [FieldId::Name, FieldId::Risk, FieldId::TargetName, FieldId::Port, FieldId::Class, FieldId::Text] {
        form.show(id, !into);
    }
    let captures = form.subject.own.as_ref().map_or(0, |draft| draft.own.captures.len());
    form.summary = vec!["It is kept here, beside the service; reports that the service makes leave it out.".to_owned()];
    if captures > 0 {
        form.summary.push(format!("Kept with it as evidence: {}.", plural(captures, "captured request")));
    }
    let mut wrong = Vec::new();
    if into {
        return wrong;
    }
    for (id, word) in [(FieldId::Name, "name"), (FieldId::TargetName, "target")] {
        if form.text(id).is_empty() {
            wrong.push((id, format!("{word} is required")));
        }
    }
    let port = form.text(FieldId::Port);
    if !port.is_empty() && !port.parse().is_ok_and(|port: u32| (1..=65_535).contains(&port)) {
        wrong.push((FieldId::Port, "a port is a number from 1 to 65535".to_owned()));
    }
    wrong
}

/// The finding as the form has it, and which one it changes.
pub(crate) fn made(form: &Form) -> Option<(Option<EventId>, ManualFinding)> {
    let draft = form.subject.own.as_ref()?;
    let text = |id: FieldId| Shared::from(form.field(id).map(FormField::text).unwrap_or_default().trim());
    let evidence = text(FieldId::Evidence);
    let captures = draft.own.captures.clone();
    if let Some((id, other)) = form.choice(FieldId::Into).checked_sub(1).and_then(|at| draft.others.get(at)) {
        let apart = if other.evidence.is_empty() || evidence.is_empty() { "" } else { "\n\n" };
        let evidence = format!("{}{apart}{evidence}", other.evidence).into();
        let captures = [other.captures.clone(), captures].concat();
        return Some((Some(*id), ManualFinding { evidence, captures, ..other.clone() }));
    }
    let own = ManualFinding {
        name: text(FieldId::Name),
        risk: Risk::DOWN.get(form.choice(FieldId::Risk)).copied().unwrap_or_default(),
        target: text(FieldId::TargetName),
        class: text(FieldId::Class),
        text: text(FieldId::Text),
        evidence,
        port: text(FieldId::Port).parse().unwrap_or(0),
        captures,
    };
    Some((draft.id, own))
}
