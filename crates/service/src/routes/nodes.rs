//! `/scandeck/v1/nodes`: the processes that serve the database, and the places of scans
//! (`contract/node.rs`, `docs/scale.md`). The endpoint is beside the API v2, and not in its
//! document.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};

use super::RouteResult;
use crate::place::WorkerPlace;
use crate::state::App;
use scandeck_wire::contract::node::{NODES_ROOT, NodeList, PlaceState};

pub fn router() -> Router<App> {
    Router::new().route(NODES_ROOT, get(list))
}

async fn list(State(app): State<App>) -> RouteResult<Json<NodeList>> {
    let nodes = app.store.nodes().await?;
    let state = |place: WorkerPlace| PlaceState {
        name: place.as_str().into(),
        vpn_profile_uuid: place.profile_uuid().into(),
        workers: nodes
            .iter()
            .filter(|node| node.place.as_deref() == Some(place.as_str()))
            .count(),
    };
    let places = known_places(&app).await?.into_iter().map(state).collect();
    Ok(Json(NodeList { nodes, places }))
}

/// The places of the scope and of the keys of workers.
pub(super) async fn known_places(app: &App) -> RouteResult<BTreeSet<WorkerPlace>> {
    let keys = app.store.keys().await?;
    let of_keys = keys.into_iter().filter_map(|key| key.place);
    Ok(app
        .scope_check
        .places()
        .into_iter()
        .chain(of_keys)
        .collect())
}
