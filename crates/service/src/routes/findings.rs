//! `/findings` (api-v2.md §4, §7).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde_json::value::RawValue;

use super::{DataJson, RouteResult, data};
use crate::api::endpoint::{
    Endpoint,
    ResponseContent::{Data, List},
};
use crate::api::list_stream::{self, LIST};
use crate::api::request::{Id, QueryParams};
use crate::errors::ApiError;
use crate::state::App;
use crate::store::findings::{BATCH, FindingFilter};
use crate::store::versions::ListNoun;
use scandeck_wire::contract::FindingId;

/// The rows of the route table.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::list(
            ListNoun::Findings,
            "/findings",
            "list_findings",
            "List findings",
            list,
        )
        .query(&["workspace_id", "target_id", "task_id", "group_duplicates"])
        .content(List("Finding")),
        Endpoint::get("/findings/{id}", "get_finding", "Get a finding", show)
            .content(Data("Finding")),
    ]
}

async fn list(State(app): State<App>, query: QueryParams) -> RouteResult<Response> {
    let filter = FindingFilter {
        workspace: query.integer("workspace_id")?,
        target: query.integer("target_id")?,
        scan: query.integer("task_id")?,
        ids: None,
    };
    if query.boolean("group_duplicates")?.unwrap_or_default() {
        return list_latest(&app, &filter).await;
    }
    let ids = app.store.finding_ids(&filter).await?;
    let read = move |ids: Vec<i64>| {
        let store = app.store.clone();
        async move { store.findings(&ids).await }
    };
    Ok(list_stream::respond(LIST, list_stream::batches(ids, BATCH), read).await?)
}

/// The list without older duplicates.
async fn list_latest(app: &App, filter: &FindingFilter) -> RouteResult<Response> {
    let (ids, groups) = app.store.duplicate_groups(filter).await?;
    let shared = Arc::new(groups);
    let read = move |batch: Vec<i64>| {
        let of_list = Arc::clone(&shared);
        async move { of_list.latest(&batch).await }
    };
    Ok(list_stream::respond(LIST, list_stream::batches(ids, BATCH), read).await?)
}

async fn show(
    State(app): State<App>,
    Id(id): Id<FindingId>,
) -> RouteResult<DataJson<Box<RawValue>>> {
    app.store
        .finding(id)
        .await?
        .map(data)
        .ok_or_else(|| ApiError::not_found("finding", id))
}
