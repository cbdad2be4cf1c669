//! `/workspaces` (api-v2.md §4, §7).

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;

use super::targets::checked_description;
use super::{DataJson, RouteResult, created, data, no_content};
use crate::api::endpoint::{
    Endpoint,
    EndpointBody::{Json, JsonOrForm},
    ResponseContent::{Data, List},
};
use crate::api::request::{Fields, Id};
use crate::errors::ApiError;
use crate::state::App;
use crate::store::versions::ListNoun;
use crate::store::workspaces::WorkspaceEdit;
use scandeck_wire::contract::{EditWorkspace, Workspace, WorkspaceId};

/// The rows of the route table.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::list(
            ListNoun::Workspaces,
            "/workspaces",
            "list_workspaces",
            "List workspaces",
            list,
        )
        .content(List("Workspace")),
        Endpoint::post("/workspaces", "create_workspace", "Create a workspace", add)
            .body(JsonOrForm("NewWorkspace"))
            .content(Data("Created"))
            .refuses(&[409]),
        Endpoint::get("/workspaces/{id}", "get_workspace", "Get a workspace", show)
            .content(Data("Workspace")),
        Endpoint::put(
            "/workspaces/{id}",
            "edit_workspace",
            "Edit a workspace",
            edit,
        )
        .body(Json("EditWorkspace"))
        .refuses(&[409]),
        Endpoint::delete(
            "/workspaces/{id}",
            "delete_workspace",
            "Delete a workspace and everything in it",
            delete,
        )
        .refuses(&[409]),
    ]
}

async fn list(State(app): State<App>) -> RouteResult<DataJson<Vec<Workspace>>> {
    Ok(data(app.store.workspaces().await?))
}

async fn show(State(app): State<App>, Id(id): Id<WorkspaceId>) -> RouteResult<DataJson<Workspace>> {
    app.store
        .workspace(id)
        .await?
        .map(data)
        .ok_or_else(|| ApiError::not_found("workspace", id))
}

async fn add(State(app): State<App>, fields: Fields) -> RouteResult<impl IntoResponse> {
    let name = fields
        .text("name")?
        .ok_or_else(|| ApiError::bad_request("name is required"))?;
    check_name(name)?;
    let description = checked_description(fields.text("description")?)?;
    match app.store.add_workspace(name, description).await? {
        Some(id) => Ok(created(id.0)),
        None => Err(name_taken(name)),
    }
}

async fn edit(
    State(app): State<App>,
    Id(id): Id<WorkspaceId>,
    fields: Fields,
) -> RouteResult<StatusCode> {
    let text = |name| Ok::<_, ApiError>(fields.text(name)?.map(str::to_owned));
    let edit = EditWorkspace {
        name: text("name")?,
        description: text("description")?,
    };
    checked_description(edit.description.as_deref())?;
    match &edit {
        EditWorkspace {
            name: None,
            description: None,
        } => {
            return Err(ApiError::bad_request("name or description is required"));
        }
        EditWorkspace {
            name: Some(name), ..
        } => check_name(name)?,
        EditWorkspace { name: None, .. } => {}
    }
    match app.store.edit_workspace(id, &edit).await? {
        WorkspaceEdit::Done => Ok(StatusCode::NO_CONTENT),
        WorkspaceEdit::NotFound => Err(ApiError::not_found("workspace", id)),
        WorkspaceEdit::NameTaken => Err(name_taken(edit.name.as_deref().unwrap_or_default())),
    }
}

async fn delete(State(app): State<App>, Id(id): Id<WorkspaceId>) -> RouteResult<StatusCode> {
    if app.store.current_workspace().await? == id {
        return Err(ApiError::conflict(format!(
            "cannot delete workspace {id}: it is the current workspace of the service"
        ))
        .with_details("restart the service with `--current-workspace` and another id"));
    }
    app.worker.stop_workspace(&app, id).await?;
    let deleted = app.store.delete_workspace(id).await?;
    no_content(deleted, "workspace", id)
}

fn check_name(name: &str) -> RouteResult<()> {
    match name.chars().count() {
        _ if name.trim().is_empty() => Err(ApiError::bad_request("name: must not be empty")),
        0..=200 => Ok(()),
        _ => Err(ApiError::bad_request(
            "name: at most 200 characters are allowed",
        )),
    }
}

fn name_taken(name: &str) -> ApiError {
    ApiError::conflict(format!(
        "a workspace named `{}` already exists",
        name.trim()
    ))
}
