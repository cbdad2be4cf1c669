//! The form of a workspace: a new one, or name and description of one that exists.

use crate::base::{Call, FormTag, Job};
use crate::data::Data;
use crate::forms::{FieldId, FieldProblem, Form, FormField, FormKind};
use scandeck_wire::contract::{EditWorkspace, NewWorkspace, Workspace};

static CREATE: FormKind = FormKind {
    check,
    jobs: creation,
    ..FormKind::new("create")
};
static EDIT: FormKind = FormKind {
    check,
    jobs: change,
    ..FormKind::new("save")
};

pub(crate) fn create() -> Form {
    Form::new(
        FormTag::NewWorkspace,
        &CREATE,
        "New workspace",
        "Create",
        fields("", ""),
    )
}

pub(crate) fn edit(workspace: &Workspace) -> Form {
    let title = format!("Edit workspace {}", workspace.name);
    let fields = fields(&workspace.name, &workspace.description);
    Form::new(
        FormTag::EditWorkspace(workspace.id),
        &EDIT,
        title,
        "Save",
        fields,
    )
}

fn fields(name: &str, description: &str) -> Vec<FormField> {
    vec![
        FormField::line(FieldId::Name, "Name", name).with_help("unique"),
        FormField::line(FieldId::Description, "Description", description).with_help("optional"),
    ]
}

fn check(form: &mut Form, data: &Data) -> Vec<FieldProblem> {
    let name = form.text(FieldId::Name).to_lowercase();
    let is_taken = |other: &Workspace| {
        form.tag != FormTag::EditWorkspace(other.id) && other.name.trim().to_lowercase() == name
    };
    let others = data
        .workspaces
        .value()
        .map(|all| all.items())
        .unwrap_or_default();
    if name.is_empty() {
        vec![(FieldId::Name, "name is required".to_owned())]
    } else if others.iter().any(|other| is_taken(other)) {
        vec![(
            FieldId::Name,
            "a workspace with the same name already exists".to_owned(),
        )]
    } else {
        Vec::new()
    }
}

fn creation(form: &Form) -> Vec<Job> {
    let (name, description) = (form.text(FieldId::Name), form.filled(FieldId::Description));
    vec![Job::new(
        format!("workspace {name}"),
        Call::CreateWorkspace(NewWorkspace { name, description }),
    )]
}

/// An empty description removes the present one.
fn change(form: &Form) -> Vec<Job> {
    let FormTag::EditWorkspace(id) = form.tag else {
        return Vec::new();
    };
    let name = form.text(FieldId::Name);
    let edit = EditWorkspace {
        name: Some(name.clone()),
        description: Some(form.text(FieldId::Description)),
    };
    vec![Job::new(
        format!("workspace {name}"),
        Call::EditWorkspace(id, edit),
    )]
}
