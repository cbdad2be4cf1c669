//! `/targets` (api-v2.md §4, §7).

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;

use super::{DataJson, RouteResult, created, data, workspace_or_current};
use crate::api::endpoint::{
    Endpoint,
    EndpointBody::JsonOrForm,
    ResponseContent::{Data, List},
};
use crate::api::request::{Fields, Id, QueryParams, choice};
use crate::errors::ApiError;
use crate::net::address::{Address, AddressError};
use crate::state::App;
use crate::store::targets::{AddedTarget, Deletion, TargetFilter, TargetToAdd};
use crate::store::versions::ListNoun;
use scandeck_wire::contract::{Target, TargetId, TargetType};

/// Bytes of the longest description.
const LONGEST_DESCRIPTION: usize = 10_000;

/// The rows of the route table.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::list(
            ListNoun::Targets,
            "/targets",
            "list_targets",
            "List targets",
            list,
        )
        .query(&["workspace_id", "type", "limit", "page"])
        .content(List("Target")),
        Endpoint::post("/targets", "create_target", "Create a target", add)
            .body(JsonOrForm("NewTarget"))
            .content(Data("Created"))
            .refuses(&[404, 409]),
        Endpoint::get("/targets/{id}", "get_target", "Get a target", show).content(Data("Target")),
        Endpoint::delete(
            "/targets/{id}",
            "delete_target",
            "Delete a target and its scans",
            delete,
        )
        .refuses(&[409]),
    ]
}

async fn list(State(app): State<App>, query: QueryParams) -> RouteResult<DataJson<Vec<Target>>> {
    let kind = query
        .text("type")
        .map(|text| choice("type", text, TargetType::KNOWN));
    let (limit, offset) = query.page()?;
    let filter = TargetFilter {
        workspace: query.integer("workspace_id")?,
        kind: kind.transpose()?,
        limit,
        offset,
    };
    Ok(data(app.store.targets(&filter).await?))
}

async fn show(State(app): State<App>, Id(id): Id<TargetId>) -> RouteResult<DataJson<Target>> {
    app.store
        .target(id)
        .await?
        .map(data)
        .ok_or_else(|| ApiError::not_found("target", id))
}

async fn add(State(app): State<App>, fields: Fields) -> RouteResult<impl IntoResponse> {
    let name = fields
        .text("name")?
        .ok_or_else(|| ApiError::bad_request("name is required"))?;
    let address = allowed_address(&app, "name", Address::parse(name))?;
    let workspace = workspace_or_current(&app, fields.integer("workspace_id")?).await?;
    let target = TargetToAdd {
        workspace,
        name: address.canonical(),
        kind: address.kind(),
        description: checked_description(fields.text("description")?)?,
    };
    match app
        .store
        .add_target(&target, app.settings.max_targets)
        .await?
    {
        AddedTarget::New(id) => Ok(created(id.0)),
        AddedTarget::Existing(_) => Err(ApiError::conflict(format!(
            "the target {} already exists",
            address.canonical()
        ))),
        AddedTarget::LimitReached => Err(target_limit_reached(&app)),
        AddedTarget::NoWorkspace => Err(ApiError::not_found("workspace", workspace)),
    }
}

async fn delete(State(app): State<App>, Id(id): Id<TargetId>) -> RouteResult<StatusCode> {
    match app.store.delete_target(id).await? {
        Deletion::Done => Ok(StatusCode::NO_CONTENT),
        Deletion::NotFound => Err(ApiError::not_found("target", id)),
        Deletion::Active => {
            Err(ApiError::conflict("the target has running scans").with_details("stop them first"))
        }
    }
}

/// A description is listed with each target, so its length is limited.
pub(super) fn checked_description(given: Option<&str>) -> RouteResult<&str> {
    let text = given.unwrap_or_default();
    match text.len() {
        0..=LONGEST_DESCRIPTION => Ok(text),
        _ => Err(ApiError::bad_request(format!(
            "description: at most {LONGEST_DESCRIPTION} bytes are allowed"
        ))),
    }
}

/// The address of a new target: 400 when it is invalid, 403 when the scope check refuses it.
pub(super) fn allowed_address(
    app: &App,
    field: &str,
    parsed: Result<Address, AddressError>,
) -> RouteResult<Address> {
    let address = parsed.map_err(|error| ApiError::bad_request(format!("{field}: {error}")))?;
    app.scope_check
        .check_name(&address)
        .map_err(|refusal| ApiError::forbidden(refusal.to_string()))?;
    Ok(address)
}

pub(super) fn target_limit_reached(app: &App) -> ApiError {
    ApiError::forbidden(format!(
        "the limit of {} targets is reached",
        app.settings.max_targets
    ))
    .with_details("delete targets, or restart the service with a larger --max-targets")
}
