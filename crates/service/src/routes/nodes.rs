//! `/scandeck/v1/nodes`: the processes that serve the database (`contract/node.rs`,
//! `docs/scale.md`). The endpoint is beside the API v2, and not in its document.

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};

use super::RouteResult;
use crate::state::App;
use scandeck_wire::contract::node::{NODES_ROOT, NodeList};

pub fn router() -> Router<App> {
    Router::new().route(NODES_ROOT, get(list))
}

async fn list(State(app): State<App>) -> RouteResult<Json<NodeList>> {
    let nodes = app.store.nodes().await?;
    Ok(Json(NodeList { nodes }))
}
