//! `/scandeck/v1/worker`: the requests of workers at other places (`runs/remote/protocol.rs`,
//! `docs/scale.md`).
//!
//! ```text
//!   key of role worker ─► its place ─► store as that worker uses it ─► the same queue as of this process
//! ```
//!
//! A worker reaches scans of its own place only: the place is that of its key, and each write names
//! an attempt that it has claimed.

use std::time::Duration;

use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Json, Router};
use serde_json::Value;
use tokio::time::sleep;

use super::RouteResult;
use crate::api::request::JsonBody;
use crate::engine::guests::is_active;
use crate::errors::ApiError;
use crate::guards::keys::KeyIdentity;
use crate::net::address::Address;
use crate::runs::queue::{AttemptEnd, StoreQueue};
use crate::runs::remote::protocol::{
    BeatAnswer, ClaimRequest, EndRequest, MOST_WORKER_BYTES, RecordRequest, WORKER_ROOT, WorkerBeat,
};
use crate::runs::worker::ENDED_BY_SCOPE;
use crate::state::App;
use crate::store::StoreResult;
use crate::store::jobs::{Claim, QueuePoll, ScanUpdate};
use crate::store::nodes::{ClaimedTarget, WorkerReport};
use scandeck_wire::contract::node::worker_note;
use scandeck_wire::contract::{ScanStatus, Tool};

/// Most characters of the texts that a worker reports of itself.
const LONGEST_NAME: usize = 100;

/// Time between two refusals that end a scan: an editor may write the scope file in two steps.
const SCOPE_INTERVAL: Duration = Duration::from_millis(500);

pub fn router() -> Router<App> {
    let path = |name: &str| format!("{WORKER_ROOT}/{name}");
    Router::new()
        .route(&path("beat"), post(beat))
        .route(&path("claim"), post(claim))
        .route(&path("record"), post(record))
        .route(&path("end"), post(end))
        .layer(DefaultBodyLimit::max(MOST_WORKER_BYTES))
}

async fn beat(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
    JsonBody(sent): JsonBody<WorkerBeat>,
) -> RouteResult<Json<BeatAnswer>> {
    let place = identity.place.clone().ok_or_else(no_place)?;
    if place != sent.place {
        let message = format!("the key belongs to the place `{place}`");
        let details = "start the worker with `--place` of its key, or use another key";
        return Err(ApiError::forbidden(message).with_details(details));
    }
    let short = |text: String| text.chars().take(LONGEST_NAME).collect::<String>();
    let report = WorkerReport {
        id: short(sent.node),
        key: identity.name.clone(),
        place,
        name: short(sent.name),
        version: short(sent.version),
        lease: Duration::from_millis(sent.lease_ms),
    };
    let renewed = app.store.worker_beat(&report, app.settings.lease).await?;
    let renewed = renewed.ok_or_else(|| {
        ApiError::forbidden("the key was revoked, or another node has the id of the worker")
    })?;
    let queue = queue_of(&app, &identity, &report.id).await?;
    end_out_of_scope(&queue, &identity).await?;
    Ok(Json(BeatAnswer {
        lease_ms: u64::try_from(renewed.lease.as_millis()).unwrap_or(u64::MAX),
        is_lost: renewed.is_lost,
        has_waiting: renewed.has_waiting,
        claims: queue.store.claimed_scans().await?,
    }))
}

async fn claim(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
    JsonBody(sent): JsonBody<ClaimRequest>,
) -> RouteResult<Response> {
    let queue = queue_of(&app, &identity, &sent.node).await?;
    loop {
        match queue.claim_scan(&sent.running).await? {
            QueuePoll::Empty => return Ok(StatusCode::NO_CONTENT.into_response()),
            QueuePoll::Aborted => {}
            QueuePoll::Claimed(mut claim) => {
                let job = &claim.job;
                let checked = check_scope(&app, &identity, &job.target, job.tool, &job.params);
                match checked.and_then(|()| app.scope_check.denials()) {
                    Ok(denials) => claim.job.denials = denials,
                    Err(refusal) => {
                        let status = ScanStatus::FailedToStart;
                        queue.refuse(&claim, status, &refusal).await?;
                        continue;
                    }
                }
                name_worker(&queue, &claim, &identity).await?;
                return Ok(Json(*claim).into_response());
            }
        }
    }
}

async fn record(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
    JsonBody(sent): JsonBody<RecordRequest>,
) -> RouteResult<StatusCode> {
    let queue = queue_of(&app, &identity, &sent.node).await?;
    match queue.record_update(&sent.attempt, &sent.update).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::conflict("the worker has lost this scan")),
    }
}

async fn end(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
    JsonBody(sent): JsonBody<EndRequest>,
) -> RouteResult<StatusCode> {
    let queue = queue_of(&app, &identity, &sent.node).await?;
    match sent.attempt {
        None => queue.store.leave().await?,
        Some(ended) => {
            if let AttemptEnd::Outcome { status, .. } = &ended.end
                && (status.is_active() || !ScanStatus::KNOWN.contains(status))
            {
                let message = format!("`{status}` is not the end of a scan");
                return Err(ApiError::bad_request(message));
            }
            queue.end_attempt(&ended.attempt, ended.end).await?;
        }
    }
    Ok(StatusCode::NO_CONTENT)
}

/// The queue as a worker uses it.
async fn queue_of(app: &App, identity: &KeyIdentity, node: &str) -> RouteResult<StoreQueue> {
    if identity.place.is_none() {
        return Err(no_place());
    }
    let store = app.store.of_worker(node, &identity.name).await?;
    // Its row was deleted: it has lost its claims.
    let store = store.ok_or_else(|| ApiError::conflict("the worker has to send a beat first"))?;
    Ok(StoreQueue {
        app: app.clone(),
        store,
    })
}

fn no_place() -> ApiError {
    ApiError::forbidden("the key belongs to no place").with_details(
        "on the machine of the service, `scandeck keys add NAME --role worker --place PLACE` adds one",
    )
}

/// Ends the scans of a worker that the scope of the service no longer allows, after two refusals.
async fn end_out_of_scope(queue: &StoreQueue, identity: &KeyIdentity) -> StoreResult<()> {
    let refusal_of = |scan: &ClaimedTarget| {
        check_scope(&queue.app, identity, &scan.target, scan.tool, &scan.params).err()
    };
    let mut refused = queue.store.claimed_targets().await?;
    refused.retain(|scan| refusal_of(scan).is_some());
    if refused.is_empty() {
        return Ok(());
    }
    sleep(SCOPE_INTERVAL).await;
    for scan in refused {
        if let Some(refusal) = refusal_of(&scan) {
            let end = AttemptEnd::Outcome {
                status: ScanStatus::Stopped,
                message: format!("{ENDED_BY_SCOPE}{refusal}"),
            };
            queue.end_attempt(&scan.attempt, end).await?;
        }
    }
    Ok(())
}

/// Whether the service allows a scan of this worker, or why not. The worker checks the addresses of
/// the target, and the denials for the hosts that the scan meets.
fn check_scope(
    app: &App,
    identity: &KeyIdentity,
    target: &str,
    tool: Tool,
    params: &Value,
) -> Result<(), String> {
    let address = Address::parse(target).map_err(|error| error.to_string())?;
    // A target without a place may be scanned from any, if the client has chosen one.
    let of_target = app.scope_check.place_of(&address);
    if of_target.is_some() && of_target != identity.place {
        return Err("the scope names another place for this target now".to_owned());
    }
    let named = app.scope_check.check_name(&address);
    let checked = match is_active(tool, params) {
        true => named.and_then(|()| app.scope_check.check_active_name(&address)),
        false => named,
    };
    checked.map_err(|refusal| refusal.to_string())
}

/// Notes in the scan which worker runs it.
async fn name_worker(queue: &StoreQueue, claim: &Claim, identity: &KeyIdentity) -> StoreResult<()> {
    let place = identity.place.as_ref().map_or("", |place| place.as_str());
    let update = ScanUpdate {
        info: vec![worker_note(place, &identity.name)],
        ..ScanUpdate::default()
    };
    queue.record_update(&claim.attempt, &update).await?;
    Ok(())
}
