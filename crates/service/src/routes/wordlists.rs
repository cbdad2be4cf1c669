//! `/wordlists` (api-v2.md §4). `scandeck wordlists import` adds lists, because the contract has no
//! upload.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::{DataJson, RouteResult, data};
use crate::api::endpoint::{
    Endpoint,
    ResponseContent::{Data, List, Words},
};
use crate::api::request::Id;
use crate::errors::ApiError;
use crate::state::App;
use crate::store::versions::ListNoun;
use crate::store::wordlists::WordlistDeletion;
use scandeck_wire::contract::{Wordlist, WordlistId};

/// The rows of the route table.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::list(
            ListNoun::Wordlists,
            "/wordlists",
            "list_wordlists",
            "List wordlists",
            list,
        )
        .content(List("Wordlist")),
        Endpoint::get("/wordlists/{id}", "get_wordlist", "Get a wordlist", show)
            .content(Data("Wordlist")),
        Endpoint::delete(
            "/wordlists/{id}",
            "delete_wordlist",
            "Delete an imported wordlist",
            delete,
        ),
        Endpoint::get(
            "/wordlists/{id}/contents",
            "get_wordlist_contents",
            "Get the words of a wordlist",
            contents,
        )
        .content(Words),
    ]
}

async fn list(State(app): State<App>) -> RouteResult<DataJson<Vec<Wordlist>>> {
    Ok(data(app.store.wordlists().await?))
}

async fn show(State(app): State<App>, Id(id): Id<WordlistId>) -> RouteResult<DataJson<Wordlist>> {
    app.store
        .wordlist(id)
        .await?
        .map(data)
        .ok_or_else(|| ApiError::not_found("wordlist", id))
}

/// The words as one JSON string without the wrapper, or as text when the client accepts text/plain
/// only.
async fn contents(
    State(app): State<App>,
    Id(id): Id<WordlistId>,
    headers: HeaderMap,
) -> RouteResult<Response> {
    let words = app
        .store
        .words(id)
        .await?
        .ok_or_else(|| ApiError::not_found("wordlist", id))?;
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .unwrap_or_default();
    if accept.contains("text/plain") && !accept.contains("application/json") {
        return Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], words).into_response());
    }
    Ok(Json(words).into_response())
}

async fn delete(State(app): State<App>, Id(id): Id<WordlistId>) -> RouteResult<StatusCode> {
    match app.store.delete_wordlist(id).await? {
        WordlistDeletion::Done => Ok(StatusCode::NO_CONTENT),
        WordlistDeletion::NotFound => Err(ApiError::not_found("wordlist", id)),
        WordlistDeletion::Predefined => Err(ApiError::forbidden(
            "predefined wordlists cannot be deleted",
        )),
    }
}
