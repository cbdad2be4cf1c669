//! `/targets` (api-v2.md §4, §7).

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;

use super::{DataJson, RouteResult, created, data};
use crate::contract::{Target, TargetId, TargetType, WorkspaceId};
use crate::service::address::Address;
use crate::service::endpoint::Endpoint;
use crate::service::errors::ApiError;
use crate::service::request::{Fields, Id, QueryParams};
use crate::service::state::App;
use crate::service::store::targets::{Added, Deleted, TargetFilter, TargetToAdd};

/// Rows of the route table.
pub fn endpoints() -> Vec<Endpoint> {
    const QUERY: &[(&str, &str)] =
        &[("workspace_id", "integer"), ("type", "string"), ("limit", "integer"), ("page", "integer")];
    const NEW: &[(&str, &str, bool)] =
        &[("name", "string", true), ("description", "string", false), ("workspace_id", "integer", false)];
    vec![
        Endpoint::list("/targets", "Targets", list).query(QUERY).refuses(&[400]),
        Endpoint::post("/targets", "Makes a target", add).body(NEW).refuses(&[400, 403, 404, 409]),
        Endpoint::get("/targets/{id}", "One target", show).refuses(&[400, 404]),
        Endpoint::delete("/targets/{id}", "Deletes a target and its scans", delete).refuses(&[400, 404, 409]),
    ]
}

async fn list(State(app): State<App>, query: QueryParams) -> RouteResult<DataJson<Vec<Target>>> {
    let kind = query.text("type").map(|text| {
        TargetType::known(text)
            .ok_or_else(|| ApiError::bad_request(format!("type: `{text}` is none of hostname, ip_address, url")))
    });
    let (limit, offset) = query.page()?;
    let filter = TargetFilter { workspace: query.integer("workspace_id")?, kind: kind.transpose()?, limit, offset };
    Ok(data(app.store.targets(&filter).await?))
}

async fn show(State(app): State<App>, Id(id): Id<TargetId>) -> RouteResult<DataJson<Target>> {
    app.store.target(id).await?.map(data).ok_or_else(|| ApiError::not_found("target", id))
}

async fn add(State(app): State<App>, fields: Fields) -> RouteResult<impl IntoResponse> {
    let name = fields.text("name")?.ok_or_else(|| ApiError::bad_request("name is required"))?;
    let address = allowed(&app, name)?;
    let workspace = match fields.integer("workspace_id")? {
        Some(id) => WorkspaceId(id),
        None => app.store.current_workspace().await?,
    };
    let target = TargetToAdd {
        workspace,
        name: address.canonical(),
        kind: address.kind(),
        description: fields.text("description")?.unwrap_or_default(),
    };
    match app.store.add_target(&target, app.settings.max_targets).await? {
        Added::New(id) => Ok(created(id.0)),
        Added::Known(_) => Err(ApiError::conflict(format!("the target {} already exists", address.canonical()))),
        Added::TooMany => Err(too_many(&app)),
        Added::NoWorkspace => Err(ApiError::not_found("workspace", workspace)),
    }
}

async fn delete(State(app): State<App>, Id(id): Id<TargetId>) -> RouteResult<StatusCode> {
    match app.store.delete_target(id).await? {
        Deleted::Done => Ok(StatusCode::NO_CONTENT),
        Deleted::Missing => Err(ApiError::not_found("target", id)),
        Deleted::Active => Err(ApiError::conflict("the target has running scans").with_details("stop them first")),
    }
}

/// The canonical address of a target that may be made: 400 when it is none, 403 when the rails refuse it.
pub(super) fn allowed(app: &App, name: &str) -> RouteResult<Address> {
    let address = Address::parse(name).map_err(|error| ApiError::bad_request(format!("name: {error}")))?;
    app.rails.check_name(&address).map_err(|refusal| ApiError::forbidden(refusal.to_string()))?;
    Ok(address)
}

/// 403: as many targets as there may be.
pub(super) fn too_many(app: &App) -> ApiError {
    ApiError::forbidden(format!("the service keeps {} targets and no more", app.settings.max_targets))
        .with_details("delete some, or start it with a larger --max-targets")
}
