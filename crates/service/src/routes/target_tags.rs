//! `/scandeck/v1/targets/{id}/tags`: tags of targets (`contract/target_tags.rs`,
//! `docs/service.md`). The endpoint is beside the API v2, and not in its document; `GET /targets`
//! shows the tags.

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};

use super::RouteResult;
use crate::api::request::{Fields, Id};
use crate::errors::{ApiError, shown};
use crate::state::App;
use crate::store::targets::ChangedTags;
use scandeck_wire::contract::target_tags::{
    MOST_TAGS, TAGGED_TARGETS_ROOT, TagChange, TargetTags, parse_tag,
};
use scandeck_wire::contract::{Shared, TargetId};

pub fn router() -> Router<App> {
    let path = format!("{TAGGED_TARGETS_ROOT}/{{id}}/tags");
    Router::new().route(&path, post(change))
}

async fn change(
    State(app): State<App>,
    Id(id): Id<TargetId>,
    fields: Fields,
) -> RouteResult<Json<TargetTags>> {
    let change = TagChange {
        add: read_tags(&fields, "add")?,
        remove: read_tags(&fields, "remove")?,
    };
    match app.store.change_target_tags(id, &change).await? {
        ChangedTags::Tags(tags) => Ok(Json(TargetTags {
            target_id: id,
            tags,
        })),
        ChangedTags::NotFound => Err(ApiError::not_found("target", id)),
        ChangedTags::LimitReached => Err(ApiError::bad_request(format!(
            "add: a target has at most {MOST_TAGS} tags"
        ))),
    }
}

fn read_tags(fields: &Fields, name: &str) -> RouteResult<Vec<Shared>> {
    let given = fields.texts(name)?.unwrap_or_default();
    given.into_iter().map(|text| read_tag(name, text)).collect()
}

/// Reads the tag in a field.
pub(super) fn read_tag(field: &str, text: &str) -> RouteResult<Shared> {
    parse_tag(text).map_err(|remedy| {
        ApiError::bad_request(format!("{field}: `{}` is not valid; {remedy}", shown(text)))
    })
}
