//! `POST /scans`: reading the body, every refusal it can meet, and the queue.
//!
//! 422 for a wrong JSON type, 400 for a bad value, 403 for what the rails refuse, 404 for an unknown target or
//! workspace (`hosted-service.md`, Errors). What is left over can be scanned and is queued.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde_json::{Map, Value};

use super::targets::{allowed, too_many};
use super::{RouteResult, data};
use crate::contract::scan::hide_secrets;
use crate::contract::{RedirectLevel, ReportCallback, SCAN_MINUTES, ScanCreated, Target, TargetId, Tool, WorkspaceId};
use crate::service::address::Address;
use crate::service::engine::{ParamsError, TOOLS, check_params, unknown_tool_message};
use crate::service::errors::ApiError;
use crate::service::request::Fields;
use crate::service::routes::reports::{check_callback_url, check_format};
use crate::service::state::App;
use crate::service::store::scans::{ScanTarget, ScanToAdd};
use crate::service::store::targets::{Added, TargetToAdd};

/// The fields of the body: name, JSON type, whether required.
pub const BODY: &[(&str, &str, bool)] = &[
    ("tool_id", "integer", true),
    ("target_id", "integer", false),
    ("target_name", "string", false),
    ("workspace_id", "integer", false),
    ("vpn_profile_uuid", "string", false),
    ("max_scan_time", "integer", false),
    ("report_callback", "object", false),
    ("scan_original_url", "boolean", false),
    ("redirect_level", "string", false),
    ("tool_params", "object", false),
];

pub(super) async fn add(State(app): State<App>, fields: Fields) -> RouteResult<impl IntoResponse> {
    let fields = fields.with_unprocessable();
    let scan = read_scan(&app, &fields)?;
    let workspace = fields.integer("workspace_id")?.map(WorkspaceId);
    let (id, name) =
        (fields.integer("target_id")?.map(TargetId), fields.text("target_name")?.filter(|name| !name.is_empty()));
    let (id, target) = match (id, name) {
        (Some(id), None) => queue_known(&app, id, workspace, &scan).await?,
        (None, Some(name)) => queue_named(&app, name, workspace, &scan).await?,
        (None, None) => return Err(ApiError::bad_request("target_id or target_name is required")),
        (Some(_), Some(_)) => return Err(ApiError::bad_request("only one of target_id and target_name may be given")),
    };
    app.worker.wake();
    Ok((StatusCode::CREATED, data(ScanCreated { created_id: Some(id), target_id: Some(target) })))
}

type Queued = (crate::contract::ScanId, TargetId);

async fn queue_known(app: &App, id: TargetId, workspace: Option<WorkspaceId>, scan: &ScanToAdd) -> RouteResult<Queued> {
    let missing = || ApiError::not_found("target", id);
    let target = app.store.target(id).await?.ok_or_else(missing)?;
    check_workspace(app, &target, workspace).await?;
    // The scope may have changed since the target was made.
    let address = Address::parse(&target.name).map_err(|error| ApiError::bad_request(error.to_string()))?;
    app.rails.check_name(&address).map_err(|refusal| ApiError::forbidden(refusal.to_string()))?;
    app.store.add_scan(ScanTarget::Known(id), scan, app.now()).await?.map_err(|_| missing())
}

async fn check_workspace(app: &App, target: &Target, workspace: Option<WorkspaceId>) -> RouteResult<()> {
    let Some(workspace) = workspace else { return Ok(()) };
    if workspace == target.workspace_id {
        return Ok(());
    }
    match app.store.workspace(workspace).await? {
        None => Err(ApiError::not_found("workspace", workspace)),
        Some(_) => Err(ApiError::bad_request(format!(
            "workspace_id: target {} is in workspace {}, not in {workspace}",
            target.id, target.workspace_id
        ))),
    }
}

async fn queue_named(app: &App, name: &str, workspace: Option<WorkspaceId>, scan: &ScanToAdd) -> RouteResult<Queued> {
    let address = allowed(app, name)
        .map_err(|error| ApiError { message: error.message.replacen("name:", "target_name:", 1), ..error })?;
    let workspace = match workspace {
        Some(workspace) => workspace,
        None => app.store.current_workspace().await?,
    };
    let target = TargetToAdd { workspace, name: address.canonical(), kind: address.kind(), description: "" };
    let target = ScanTarget::Named(target, app.settings.max_targets);
    app.store.add_scan(target, scan, app.now()).await?.map_err(|refused| match refused {
        Added::TooMany => too_many(app),
        _ => ApiError::not_found("workspace", workspace),
    })
}

fn read_scan(app: &App, fields: &Fields) -> RouteResult<ScanToAdd> {
    let tool = fields.integer("tool_id")?.ok_or_else(|| ApiError::bad_request("tool_id is required"))?;
    if !TOOLS.contains(&Tool(tool)) {
        return Err(ApiError::bad_request(unknown_tool_message(tool)));
    }
    let max_minutes = fields.integer("max_scan_time")?.unwrap_or(*SCAN_MINUTES.end());
    if !SCAN_MINUTES.contains(&max_minutes) {
        return Err(ApiError::bad_request(format!("max_scan_time: {max_minutes} is outside 1 to 1440 minutes")));
    }
    let params = fields.object("tool_params")?.map_or(Value::Null, Value::Object);
    let params = check_params(Tool(tool), &params).map_err(|error| match error {
        ParamsError::Type(_) => ApiError::unprocessable(error.to_string()),
        ParamsError::Value(_) => ApiError::bad_request(error.to_string()),
    })?;
    let mut shown_params = params.clone();
    hide_secrets(&mut shown_params);
    Ok(ScanToAdd {
        tool,
        shown_params,
        params,
        redirect_level: redirect_level(fields)?,
        scan_original_url: fields.boolean("scan_original_url")?.unwrap_or_default(),
        vpn_scan: fields.text("vpn_profile_uuid")?.is_some_and(|profile| !profile.is_empty()),
        max_minutes,
        callback: fields.object("report_callback")?.map(|callback| read_callback(app, callback)).transpose()?,
    })
}

fn redirect_level(fields: &Fields) -> RouteResult<RedirectLevel> {
    let Some(text) = fields.text("redirect_level")? else { return Ok(RedirectLevel::SameDomain) };
    let known = || RedirectLevel::KNOWN.iter().map(RedirectLevel::as_str).collect::<Vec<_>>().join(", ");
    RedirectLevel::known(text)
        .ok_or_else(|| ApiError::bad_request(format!("redirect_level: `{text}` is none of {}", known())))
}

/// `report_callback` is `{"url": …, "format": …}`; the format is `json` unless said.
fn read_callback(app: &App, callback: Map<String, Value>) -> RouteResult<ReportCallback> {
    let text = |name: &str| match callback.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(ApiError::unprocessable(format!("report_callback: {name} is no string"))),
    };
    let url = text("url")?.ok_or_else(|| ApiError::bad_request("report_callback: url is required"))?;
    check_callback_url(app, "report_callback: url", &url)?;
    let format = text("format")?.unwrap_or_else(|| "json".to_owned());
    check_format("report_callback: format", &format)?;
    Ok(ReportCallback { url, format: Some(format) })
}
