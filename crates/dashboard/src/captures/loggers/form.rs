//! The form of a new logger.

use crate::base::{Call, FormTag, Job};
use crate::data::Data;
use crate::forms::{FieldId, FieldProblem, Form, FormField, FormKind};
use scandeck_wire::contract::WorkspaceId;

static KIND: FormKind = FormKind {
    check,
    jobs,
    ..FormKind::new("create")
};

pub(crate) fn open(workspace: Option<WorkspaceId>) -> Form {
    let label =
        FormField::line(FieldId::Label, "Label", "").with_help("unique; letters, digits, - _ .");
    Form::new(
        FormTag::NewLogger,
        &KIND,
        "New logger",
        "Create",
        vec![label],
    )
    .in_workspace(workspace)
}

fn check(form: &mut Form, data: &Data) -> Vec<FieldProblem> {
    let label = form.text(FieldId::Label);
    let is_allowed =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let others = data
        .loggers
        .value()
        .map(|all| all.items())
        .unwrap_or_default();
    let problem = if label.is_empty() {
        "label is required".to_owned()
    } else if let Some(letter) = label.chars().find(|&letter| !is_allowed(letter)) {
        let letter = if letter == ' ' {
            "a space".to_owned()
        } else {
            format!("{letter:?}")
        };
        format!("label: use letters, digits, - _ and . only; {letter} is not allowed")
    } else if others.iter().any(|other| *other.label == *label) {
        "a logger with the same label already exists".to_owned()
    } else {
        return Vec::new();
    };
    vec![(FieldId::Label, problem)]
}

fn jobs(form: &Form) -> Vec<Job> {
    let label = form.text(FieldId::Label);
    vec![Job::new(
        format!("logger {label}"),
        Call::CreateLogger {
            label,
            workspace: form.subject.workspace,
        },
    )]
}
