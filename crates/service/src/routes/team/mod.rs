//! `/scandeck/v1`: decisions and payloads of a team (`contract/team.rs`, `docs/team.md`). The
//! endpoints are beside the API v2, and not in its document.
//!
//! ```text
//!   POST lines ─► parsed one by one ─► store: new, known or refused ─► counts, and a reason for each refused line
//!   GET after a position ─► nothing new, same viewers? ─► 304, else a page
//! ```

mod lines;
mod shape;

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Json, Router};

use super::RouteResult;
use crate::api::etag::has_tag;
use crate::api::request::{Id, JsonLines, QueryParams};
use crate::errors::{ApiError, shown};
use crate::guards::audit::AuditedCounts;
use crate::guards::keys::KeyIdentity;
use crate::state::App;
use crate::store::StoreResult;
use crate::store::team::{
    DashboardView, LogAccess, LogHead, MOST_AHEAD, MOST_LOG_BYTES, Push, PushedLine,
};
use scandeck_wire::contract::WorkspaceId;
use scandeck_wire::contract::team::{
    EventPage, Member, PayloadPage, Purged, RefusedLine, StoredLines, Viewer,
};

/// The base path.
pub const PREFIX: &str = "/scandeck/v1";

pub fn router() -> Router<App> {
    let path = |noun: &str| format!("{PREFIX}/workspaces/{{id}}/{noun}");
    Router::new()
        .route(&format!("{PREFIX}/me"), get(me))
        .route(&path("events"), get(events).post(push_events).delete(purge))
        .route(&path("payloads"), get(payloads).post(push_payloads))
}

async fn me(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
) -> RouteResult<Json<Member>> {
    Ok(Json(Member {
        name: identity.member().unwrap_or_default().into(),
        role: identity.role.as_str().into(),
        service: app.store.service_id().await?,
    }))
}

async fn events(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
    Id(workspace): Id<WorkspaceId>,
    query: QueryParams,
    headers: HeaderMap,
) -> RouteResult<Response> {
    let (after, limit) = position(&query)?;
    // Before the rows: a change in between makes the tag too old, never too new.
    let head = app.store.log_head(workspace).await?;
    let head = head.ok_or_else(|| ApiError::not_found("workspace", workspace))?;
    record_viewer(&app, workspace, &identity, &query).await?;
    let viewers = app.store.viewers(workspace, &identity.name, app.now());
    let viewers = viewers.await?;
    let tag = tag(&head, &viewers);
    let is_current = has_tag(&headers, &tag);
    // A client behind the last position has pages to read, whatever tag the first one had.
    let mut response = if is_current && after == head.last {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let page = app.store.event_page(workspace, after, limit).await?;
        let page = page.ok_or_else(|| ApiError::not_found("workspace", workspace))?;
        Json(EventPage { viewers, ..page }).into_response()
    };
    let cache = HeaderValue::from_static("private, no-cache");
    response.headers_mut().insert(header::CACHE_CONTROL, cache);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

async fn payloads(
    State(app): State<App>,
    Id(workspace): Id<WorkspaceId>,
    query: QueryParams,
) -> RouteResult<Json<PayloadPage>> {
    let (after, limit) = position(&query)?;
    let page = app.store.payload_page(workspace, after, limit).await?;
    page.map(Json)
        .ok_or_else(|| ApiError::not_found("workspace", workspace))
}

async fn push_events(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
    Id(workspace): Id<WorkspaceId>,
    query: QueryParams,
    sent: JsonLines,
) -> RouteResult<impl IntoResponse> {
    let to = access(workspace, &identity, &query)?;
    let lines = ParsedLines::of(&sent, lines::event, |event| event.id.to_string());
    let push = app.store.push_events(to, &lines.rows).await;
    answer(to, lines, push, "event", "clock")
}

async fn push_payloads(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
    Id(workspace): Id<WorkspaceId>,
    query: QueryParams,
    sent: JsonLines,
) -> RouteResult<impl IntoResponse> {
    let to = access(workspace, &identity, &query)?;
    let lines = ParsedLines::of(&sent, lines::payload, |payload| payload.token.to_string());
    let push = app.store.push_payloads(to, &lines.rows).await;
    answer(to, lines, push, "payload", "version")
}

async fn purge(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
    Id(workspace): Id<WorkspaceId>,
) -> RouteResult<(Extension<AuditedCounts>, Json<Purged>)> {
    let purged = app.store.purge_log(workspace, &identity.name, app.now());
    let purged = purged
        .await?
        .ok_or_else(|| ApiError::not_found("workspace", workspace))?;
    let counts = AuditedCounts::Purge {
        events: purged.events,
        payloads: purged.payloads,
    };
    Ok((Extension(counts), Json(purged)))
}

/// The position after which rows are requested, and the most rows.
fn position(query: &QueryParams) -> RouteResult<(i64, i64)> {
    let after = query.integer("after")?.unwrap_or(0_i64);
    if after < 0 {
        return Err(ApiError::bad_request(format!("after: {after} is below 0")));
    }
    let (limit, _) = query.page()?;
    Ok((after, limit))
}

/// Records who looks at what. A poll succeeds without it too.
async fn record_viewer(
    app: &App,
    workspace: WorkspaceId,
    identity: &KeyIdentity,
    query: &QueryParams,
) -> RouteResult<()> {
    let (Some(finding), Some(member)) = (query.given("looking"), identity.member()) else {
        return Ok(());
    };
    let dashboard = query.given("dashboard").unwrap_or_default();
    for (name, value, noun) in [
        ("looking", finding, "the key of a finding"),
        ("dashboard", dashboard, "the id of a dashboard"),
    ] {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if value.len() > 64 || !value.bytes().all(is_allowed) {
            return Err(ApiError::bad_request(format!(
                "{name}: `{}` is not {noun}",
                shown(value)
            )));
        }
    }
    let view = DashboardView {
        key: member,
        dashboard,
        finding: Some(finding).filter(|finding| !finding.is_empty()),
    };
    if let Err(error) = app.store.look(workspace, view, app.now()).await {
        tracing::warn!(%error, "viewer not recorded");
    }
    Ok(())
}

fn tag(head: &LogHead, viewers: &[Viewer]) -> String {
    let mut hasher = DefaultHasher::new();
    // Another program may show the same rows differently.
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    head.hash(&mut hasher);
    for Viewer {
        who,
        finding,
        since,
    } in viewers
    {
        (who, finding, since).hash(&mut hasher);
    }
    format!("W/\"{:x}\"", hasher.finish())
}

/// The log that a named key writes to.
fn access<'a>(
    workspace: WorkspaceId,
    identity: &'a KeyIdentity,
    query: &QueryParams,
) -> RouteResult<LogAccess<'a>> {
    let key = identity.member().ok_or_else(|| {
        ApiError::forbidden("the key file has no name, so its decisions are not shared")
            .with_details("`scandeck keys add NAME --role triage` adds a key with a name")
    })?;
    let epoch = query.integer("epoch")?;
    let epoch = epoch.ok_or_else(|| ApiError::bad_request("epoch is required"))?;
    Ok(LogAccess {
        workspace,
        epoch,
        key,
    })
}

/// The lines of a body: those to store, with their ids, and the refused ones.
struct ParsedLines<T> {
    rows: Vec<T>,
    ids: Vec<String>,
    refused: Vec<RefusedLine>,
}

impl<T> ParsedLines<T> {
    fn of(
        sent: &JsonLines,
        parse: impl Fn(&[u8]) -> Result<T, RefusedLine>,
        id: impl Fn(&T) -> String,
    ) -> Self {
        let (mut rows, mut refused) = (Vec::new(), Vec::new());
        for line in sent.lines() {
            match parse(line) {
                Ok(row) => rows.push(row),
                Err(line) => refused.push(line),
            }
        }
        Self {
            ids: rows.iter().map(id).collect(),
            rows,
            refused,
        }
    }
}

/// The answer to a push of lines of this noun, whose number is a clock or a version.
fn answer<T>(
    to: LogAccess<'_>,
    parsed: ParsedLines<T>,
    push: StoreResult<Push>,
    noun: &str,
    number: &str,
) -> RouteResult<(Extension<AuditedCounts>, Json<StoredLines>)> {
    let (last, lines) = match push? {
        Push::Done { last, lines } => (last, lines),
        Push::NoWorkspace => return Err(ApiError::not_found("workspace", to.workspace)),
        Push::OtherEpoch(epoch) => return Err(other_epoch(to.epoch, epoch)),
        Push::Full => return Err(full()),
    };
    let mut stored = StoredLines {
        epoch: to.epoch,
        last,
        refused: parsed.refused,
        ..StoredLines::default()
    };
    let is_foreign = |line: &PushedLine| matches!(line, PushedLine::OtherKey(_));
    let is_all_foreign =
        stored.refused.is_empty() && !lines.is_empty() && lines.iter().all(is_foreign);
    for (id, line) in parsed.ids.iter().zip(lines) {
        let reason = match line {
            PushedLine::New => {
                stored.stored += 1;
                continue;
            }
            PushedLine::Known => {
                stored.known += 1;
                continue;
            }
            PushedLine::OtherWorkspace => format!("another workspace has this {noun}"),
            PushedLine::OtherKey(key) => {
                format!("the events of this dashboard belong to the key `{key}`")
            }
            PushedLine::TooFarAhead(greatest) => {
                format!(
                    "the {number} is more than {MOST_AHEAD} above {greatest}, the greatest one of the service"
                )
            }
        };
        stored.refused.push(lines::refused(Some(id), reason));
    }
    if is_all_foreign && let Some(first) = stored.refused.first() {
        return Err(ApiError::forbidden(first.reason.as_str()));
    }
    let counts = AuditedCounts::Push {
        stored: stored.stored,
        known: stored.known,
        refused: stored.refused.len(),
    };
    Ok((Extension(counts), Json(stored)))
}

fn full() -> ApiError {
    let message = format!(
        "the shared decisions of this workspace reached the limit of {MOST_LOG_BYTES} bytes"
    );
    ApiError::new(StatusCode::INSUFFICIENT_STORAGE, message)
        .with_details("export them, then let an admin delete them at the service")
}

fn other_epoch(sent: i64, epoch: i64) -> ApiError {
    ApiError::conflict(format!(
        "epoch {sent} of this workspace has ended; the current epoch is {epoch}"
    ))
    .with_details("read the events again: a purge or a restored backup began a new epoch")
}
