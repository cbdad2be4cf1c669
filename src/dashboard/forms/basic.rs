//! The short forms: a workspace, a logger, the address of a hosted service.

use crate::contract::{EditWorkspace, NewWorkspace, Workspace, WorkspaceId};
use crate::dashboard::base::{Call, ConnectionChoice, FormTag, Job, Secret};
use crate::dashboard::forms::{FieldId, Form, FormData, FormField};

/// A new workspace.
pub(crate) fn new_workspace() -> Form {
    let fields = vec![
        FormField::line(FieldId::Name, "Name", "").with_help("unique"),
        FormField::line(FieldId::Description, "Description", "").with_help("may be empty"),
    ];
    Form::new(FormTag::NewWorkspace, "New workspace", "Make it", fields)
}

/// A workspace with its present name and description.
pub(crate) fn edit_workspace(workspace: &Workspace) -> Form {
    let fields = vec![
        FormField::line(FieldId::Name, "Name", &workspace.name).with_help("unique"),
        FormField::line(FieldId::Description, "Description", &workspace.description).with_help("may be empty"),
    ];
    let title = format!("Edit workspace {}", workspace.name);
    Form::new(FormTag::EditWorkspace(workspace.id), title, "Save", fields)
}

/// A new logger.
pub(crate) fn new_logger() -> Form {
    let label = FormField::line(FieldId::Label, "Label", "").with_help("letters, digits, - _ . · unique");
    Form::new(FormTag::NewLogger, "New logger", "Make it", vec![label])
}

/// Base URL and key of a service elsewhere.
pub(crate) fn connect() -> Form {
    let fields = vec![
        FormField::line(FieldId::BaseUrl, "Base URL", "https://").with_help("with or without /api/v2"),
        FormField::masked(FieldId::Key, "API key")
            .with_help("kept in a file that only you can read, sent nowhere else"),
    ];
    Form::new(FormTag::Connect, "Use a service elsewhere", "Connect", fields)
}

/// What is wrong with a workspace form.
pub(crate) fn check_workspace(form: &Form, known: &FormData<'_>, own: Option<WorkspaceId>) -> Vec<(FieldId, String)> {
    let name = form.text(FieldId::Name);
    let taken = known.data.workspaces.value().is_some_and(|all| {
        let same = |other: &Workspace| other.name.trim().to_lowercase() == name.to_lowercase();
        all.items().iter().any(|other| Some(other.id) != own && same(other))
    });
    match (name.is_empty(), taken) {
        (true, _) => vec![(FieldId::Name, "name is required".to_owned())],
        (_, true) => vec![(FieldId::Name, "a workspace with the same name already exists".to_owned())],
        _ => Vec::new(),
    }
}

/// What is wrong with a logger form.
pub(crate) fn check_logger(form: &Form, known: &FormData<'_>) -> Vec<(FieldId, String)> {
    let label = form.text(FieldId::Label);
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let taken = known.data.loggers.value().is_some_and(|all| all.items().iter().any(|other| *other.label == *label));
    let wrong = if label.is_empty() {
        "label is required".to_owned()
    } else if let Some(letter) = label.chars().find(|&letter| !allowed(letter)) {
        format!("label may hold letters, digits, - _ and . only, not {letter:?}")
    } else if taken {
        "label must be unique: there is a logger called so".to_owned()
    } else {
        return Vec::new();
    };
    vec![(FieldId::Label, wrong)]
}

/// What is wrong with the address of a service.
pub(crate) fn check_connect(form: &Form) -> Vec<(FieldId, String)> {
    let mut wrong = Vec::new();
    let base = form.text(FieldId::BaseUrl);
    match url::Url::parse(&base) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => {}
        _ => wrong.push((FieldId::BaseUrl, "a URL such as https://api.example.net/api/v2".to_owned())),
    }
    if form.text(FieldId::Key).is_empty() {
        wrong.push((FieldId::Key, "the key is required".to_owned()));
    }
    wrong
}

/// The call of a new workspace.
pub(crate) fn make_workspace(form: &Form) -> Vec<Job> {
    let name = form.text(FieldId::Name);
    let description = Some(form.text(FieldId::Description)).filter(|text| !text.is_empty());
    let about = format!("workspace {name}");
    vec![Job::new(about, Call::CreateWorkspace(NewWorkspace { name, description }))]
}

/// The call that changes a workspace.
pub(crate) fn change_workspace(form: &Form, id: WorkspaceId) -> Vec<Job> {
    let name = form.text(FieldId::Name);
    let description = Some(form.text(FieldId::Description));
    let about = format!("workspace {name}");
    vec![Job::new(about, Call::EditWorkspace(id, EditWorkspace { name: Some(name), description }))]
}

/// The call of a new logger.
pub(crate) fn make_logger(form: &Form) -> Vec<Job> {
    let label = form.text(FieldId::Label);
    let about = format!("logger {label}");
    vec![Job::new(about, Call::CreateLogger { label, workspace: form.subject.workspace })]
}

/// The choice that the address makes.
pub(crate) fn hosted(form: &Form) -> ConnectionChoice {
    ConnectionChoice::Hosted { base_url: form.text(FieldId::BaseUrl), key: Secret(form.text(FieldId::Key)) }
}
