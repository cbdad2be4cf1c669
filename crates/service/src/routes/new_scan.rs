//! `POST /scans`: validates the body and queues the scan.
//!
//! 422 for a wrong JSON type, 400 for an invalid value, 403 for a target that the scope check
//! refuses, 404 for an unknown target or workspace (`hosted-service.md`, Errors), 429 beyond the
//! quota of the key.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde_json::{Map, Value};

use super::nodes::known_places;
use super::targets::{allowed_address, target_limit_reached};
use super::{RouteResult, data, workspace_or_current};
use crate::api::request::{Fields, choice};
use crate::engine::guests::{is_active, missing};
use crate::engine::tools::{is_offered, target_refusal, unknown_tool_message};
use crate::engine::{ParamsError, check_params, check_rate, network};
use crate::errors::{ApiError, shown};
use crate::guards::keys::KeyIdentity;
use crate::guards::quotas::QuotaNoun;
use crate::net::address::{Address, AddressError};
use crate::place::WorkerPlace;
use crate::routes::reports::{check_callback_url, check_format};
use crate::runs::words::add_words;
use crate::state::App;
use crate::store::scans::{ScanTarget, ScanToAdd};
use crate::store::targets::{AddedTarget, TargetToAdd};
use scandeck_wire::contract::scan::hide_secrets;
use scandeck_wire::contract::{
    RedirectLevel, ReportCallback, SCAN_MINUTES, ScanCreated, ScanId, Target, TargetId, Tool,
    WorkspaceId,
};

pub(super) async fn add(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
    fields: Fields,
) -> RouteResult<impl IntoResponse> {
    let fields = fields.with_unprocessable();
    let mut scan = read_scan(&app, &fields)?;
    scan.place = read_place(&app, &fields).await?;
    add_words(&app.store, &mut scan)
        .await?
        .map_err(ApiError::bad_request)?;
    let workspace = fields.integer("workspace_id")?;
    let reserved = app
        .key_usage
        .reserve(&identity, QuotaNoun::Scan, app.now())?;
    let (id, name) = (
        fields.integer("target_id")?,
        fields.text("target_name")?.filter(|name| !name.is_empty()),
    );
    let (id, target) = match (id, name) {
        (Some(id), None) => {
            queue_existing(&app, TargetId(id), workspace.map(WorkspaceId), scan).await?
        }
        (None, Some(name)) => queue_named(&app, name, workspace, scan).await?,
        (None, None) => {
            return Err(ApiError::bad_request(
                "target_id or target_name is required",
            ));
        }
        (Some(_), Some(_)) => {
            return Err(ApiError::bad_request(
                "target_id and target_name exclude each other",
            ));
        }
    };
    reserved.created();
    app.worker.wake();
    Ok((
        StatusCode::CREATED,
        data(ScanCreated {
            created_id: Some(id),
            target_id: Some(target),
        }),
    ))
}

type QueuedScan = (ScanId, TargetId);

async fn queue_existing(
    app: &App,
    id: TargetId,
    workspace: Option<WorkspaceId>,
    scan: ScanToAdd,
) -> RouteResult<QueuedScan> {
    let missing = || ApiError::not_found("target", id);
    let target = app.store.target(id).await?.ok_or_else(missing)?;
    check_workspace(app, &target, workspace).await?;
    // The scope may have changed since the target was created.
    let address =
        Address::parse(&target.name).map_err(|error| ApiError::bad_request(error.to_string()))?;
    app.scope_check
        .check_name(&address)
        .map_err(|refusal| ApiError::forbidden(refusal.to_string()))?;
    check_target(app, &scan, &address)?;
    let scan = placed(app, scan, &address)?;
    app.store
        .add_scan(ScanTarget::Existing(id), &scan, app.now())
        .await?
        .map_err(|_| missing())
}

async fn check_workspace(
    app: &App,
    target: &Target,
    workspace: Option<WorkspaceId>,
) -> RouteResult<()> {
    let Some(workspace) = workspace else {
        return Ok(());
    };
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

async fn queue_named(
    app: &App,
    name: &str,
    workspace: Option<i64>,
    scan: ScanToAdd,
) -> RouteResult<QueuedScan> {
    let parsed = Address::parse(name);
    let parsed = if scan.tool == Tool::TLS.0 {
        parsed.map_err(AddressError::over_tls)
    } else {
        parsed
    };
    let address = allowed_address(app, "target_name", parsed)?;
    check_target(app, &scan, &address)?;
    let scan = placed(app, scan, &address)?;
    let workspace = workspace_or_current(app, workspace).await?;
    let target = TargetToAdd {
        workspace,
        name: address.canonical(),
        kind: address.kind(),
        description: "",
    };
    let target = ScanTarget::Named(target, app.settings.max_targets);
    app.store
        .add_scan(target, &scan, app.now())
        .await?
        .map_err(|refused| match refused {
            AddedTarget::LimitReached => target_limit_reached(app),
            AddedTarget::Existing(target) => ApiError::not_found("target", target),
            _ => ApiError::not_found("workspace", workspace),
        })
}

/// Reads `vpn_profile_uuid`: the id of a place, or its name. Any other text is a place without
/// workers. Empty for null, which is the service itself.
async fn read_place(app: &App, fields: &Fields) -> RouteResult<Option<String>> {
    const NAME: &str = "vpn_profile_uuid";
    let Some(profile) = fields.text(NAME)?.filter(|profile| !profile.is_empty()) else {
        return Ok(fields.is_null(NAME).then(String::new));
    };
    let is_chosen = |place: &WorkerPlace| place.profile_uuid().eq_ignore_ascii_case(profile);
    let chosen = known_places(app).await?.into_iter().find(is_chosen);
    Ok(Some(chosen.map_or_else(|| shown(profile), String::from)))
}

/// The scan with its place: that of the target, unless the client has chosen one. A scope entry
/// with a place permits no other, where the same address can be another machine.
fn placed(app: &App, scan: ScanToAdd, address: &Address) -> RouteResult<ScanToAdd> {
    let of_target = app.scope_check.place_of(address).map(String::from);
    let place = match (scan.place, of_target) {
        (Some(chosen), Some(only)) if chosen != only => {
            let host = address.host();
            let message = format!("{host} is in scope for scans from the place `{only}` only");
            let details = "omit `vpn_profile_uuid`, or choose this place";
            return Err(ApiError::forbidden(message).with_details(details));
        }
        (chosen, own) => chosen.or(own),
    };
    Ok(ScanToAdd { place, ..scan })
}

/// Whether the tool can and may scan the target, at the rate of the scan.
pub(super) fn check_target(app: &App, scan: &ScanToAdd, address: &Address) -> RouteResult<()> {
    if is_active(Tool(scan.tool), &scan.shown_params) {
        app.scope_check
            .check_active_name(address)
            .map_err(|refusal| ApiError::forbidden(refusal.to_string()))?;
    }
    if let Some(refusal) = target_refusal(Tool(scan.tool), &scan.shown_params, address) {
        return Err(ApiError::bad_request(refusal));
    }
    let checked = check_rate(&scan.shown_params, address, &app.settings.scan_limits);
    checked.map_err(|error| ApiError::bad_request(error.to_string()))
}

pub(super) fn read_scan(app: &App, fields: &Fields) -> RouteResult<ScanToAdd> {
    let tool = fields
        .integer("tool_id")?
        .ok_or_else(|| ApiError::bad_request("tool_id is required"))?;
    if !is_offered(Tool(tool)) {
        return Err(ApiError::bad_request(unknown_tool_message(tool)));
    }
    if let Some(message) = missing(Tool(tool)) {
        return Err(ApiError::bad_request(message));
    }
    let max_minutes = fields.integer_or_text("max_scan_time")?;
    let max_minutes = max_minutes.unwrap_or(*SCAN_MINUTES.end());
    if !SCAN_MINUTES.contains(&max_minutes) {
        return Err(ApiError::bad_request(format!(
            "max_scan_time: {max_minutes} is outside 1 to 1440 minutes"
        )));
    }
    let params = read_checked_params(fields, Tool(tool))?;
    let mut shown_params = params.clone();
    hide_secrets(&mut shown_params);
    // Whatever a client may not see is not written to the disk either.
    let params = match shown_params == params {
        true => params,
        false => app
            .secrets
            .seal(&params)
            .ok_or_else(|| ApiError::internal("credentials not encrypted"))?,
    };
    Ok(ScanToAdd {
        tool,
        shown_params,
        params,
        redirect_level: match fields.text("redirect_level")? {
            Some(level) => choice("redirect_level", level, RedirectLevel::KNOWN)?,
            None => RedirectLevel::SameDomain,
        },
        scan_original_url: fields.boolean("scan_original_url")?.unwrap_or_default(),
        place: None,
        max_minutes,
        callback: fields
            .object("report_callback")?
            .map(|callback| read_callback(app, callback))
            .transpose()?,
    })
}

/// Reads `tool_params` with their defaults.
fn read_checked_params(fields: &Fields, tool: Tool) -> RouteResult<Value> {
    let params = read_params(fields, tool)?;
    let checked = check_params(tool, &params).map_err(|error| match error {
        ParamsError::Type(_) => ApiError::unprocessable(error.to_string()),
        ParamsError::Value(_) => ApiError::bad_request(error.to_string()),
    })?;
    match network::refusal(tool, &checked) {
        Some(message) => Err(ApiError::bad_request(message)),
        None => Ok(checked),
    }
}

/// Reads `tool_params`. Some clients send `authentication` beside it; credentials are used or
/// refused, never ignored.
fn read_params(fields: &Fields, tool: Tool) -> RouteResult<Value> {
    const NAME: &str = "authentication";
    if fields.has_authentication_outside(&["tool_params", NAME]) {
        return Err(ApiError::bad_request(
            "move `authentication` into `tool_params`",
        ));
    }
    let params = fields.object("tool_params")?;
    let Some(given) = fields.value(NAME) else {
        return Ok(params.map_or(Value::Null, Value::Object));
    };
    let mut params = params.unwrap_or_default();
    if params.get(NAME).is_some_and(|inner| !inner.is_null()) {
        return Err(ApiError::bad_request(
            "`authentication` is given twice: keep the one in `tool_params`",
        ));
    }
    if tool != Tool::WEBSITE {
        // The parameters of this tool have no place for it, which the check of the parameters would
        // not explain.
        return Err(ApiError::bad_request(format!(
            "`authentication` belongs to `tool_params` of the {}; tool_id {} cannot use it",
            Tool::WEBSITE.name_with_id(),
            tool.0
        )));
    }
    params.insert(NAME.to_owned(), given.clone());
    Ok(Value::Object(params))
}

/// Reads `{"url": …, "format": …}`; the default format is `json`.
fn read_callback(app: &App, callback: Map<String, Value>) -> RouteResult<ReportCallback> {
    let text = |name: &str| match callback.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(ApiError::unprocessable(format!(
            "report_callback.{name} must be a string"
        ))),
    };
    let url =
        text("url")?.ok_or_else(|| ApiError::bad_request("report_callback.url is required"))?;
    check_callback_url(app, "report_callback.url", &url)?;
    let format = text("format")?.unwrap_or_else(|| "json".to_owned());
    check_format("report_callback.format", &format)?;
    Ok(ReportCallback {
        url,
        format: Some(format),
    })
}
