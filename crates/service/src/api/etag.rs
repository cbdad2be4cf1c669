//! ETags of lists, and 304 for unchanged ones.
//!
//! ```text
//!   GET list ─► version of the list in its workspace ─► If-None-Match has it? ─► 304
//!                                                             no ─► handler ─► 200 with ETag
//! ```
//!
//! A tag contains the version of the list instead of a hash of the body, so a 304 reads no row of
//! it. It contains nothing of this process: it remains valid after a restart, and a running scan
//! changes only the lists of its own workspace.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::errors::ApiError;
use crate::state::App;
use crate::store::StoreResult;
use crate::store::versions::ListNoun;
use scandeck_wire::contract::WorkspaceId;
use scandeck_wire::contract::team::{TEAM_HEADER, TEAM_VERSION};

/// A list with an ETag.
#[derive(Clone)]
pub struct TaggedList {
    pub app: App,
    pub list: ListNoun,
    /// Whether `workspace_id` selects the rows of one workspace.
    pub is_by_workspace: bool,
}

/// Adds an ETag to a list, or responds with 304 when the client has the current one.
pub async fn tag_list(State(list): State<TaggedList>, request: Request, next: Next) -> Response {
    // Before the handler runs: a change in between makes the tag too old, never too new.
    let tag = match list.tag(request.uri()).await {
        Ok(tag) => tag,
        Err(error) => return ApiError::from(error).into_response(),
    };
    let is_current = has_tag(request.headers(), &tag);
    let mut response = if is_current {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        next.run(request).await
    };
    if (is_current || response.status() == StatusCode::OK)
        && let Ok(tag) = HeaderValue::from_str(&tag)
    {
        let headers = response.headers_mut();
        headers.insert(header::ETAG, tag);
        let cache = HeaderValue::from_static("private, no-cache");
        headers.insert(header::CACHE_CONTROL, cache);
        if list.list == ListNoun::Workspaces {
            let team = HeaderValue::from(TEAM_VERSION);
            headers.insert(HeaderName::from_static(TEAM_HEADER), team);
        }
    }
    response
}

impl TaggedList {
    async fn tag(&self, uri: &Uri) -> StoreResult<String> {
        let workspace = workspace_of(uri).filter(|_| self.is_by_workspace);
        let store = &self.app.store;
        let version = store.list_version(self.list, workspace).await?;
        let second = self.app.now().as_second();
        // What changes without a write.
        let time = match self.list {
            ListNoun::Scans if store.is_scanning(workspace).await? => second,
            // Days left of a logger and the expiry of a report: clients see them within a minute.
            ListNoun::Loggers | ListNoun::Reports => second / 60,
            _ => 0,
        };
        let mut hasher = DefaultHasher::new();
        let path = uri.path_and_query().map(|path| path.as_str());
        path.hash(&mut hasher);
        time.hash(&mut hasher);
        // Another program may show the same rows differently.
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        if self.list == ListNoun::Loggers {
            // Each row shows its URL and its days.
            self.app.logger_base.as_str().hash(&mut hasher);
            self.app.settings.logger_days.hash(&mut hasher);
        }
        Ok(format!("W/\"{:x}-{version:x}\"", hasher.finish()))
    }
}

/// The workspace that a query names once.
fn workspace_of(uri: &Uri) -> Option<WorkspaceId> {
    let pairs = url::form_urlencoded::parse(uri.query()?.as_bytes());
    let mut named = pairs.filter(|(name, _)| name == "workspace_id");
    let (_, id) = named.next()?;
    named.next().is_none().then_some(())?;
    Some(WorkspaceId(id.parse().ok()?))
}

/// Whether If-None-Match has a tag, in any of its lines.
pub fn has_tag(headers: &HeaderMap, tag: &str) -> bool {
    let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let lines = headers.get_all(header::IF_NONE_MATCH).iter();
    let mut texts = lines.filter_map(|line| line.to_str().ok());
    // `*` is not supported: only the handler knows whether the resource exists.
    texts.any(|sent| sent.split(',').any(|one| strong(one) == strong(tag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspace_of_query_is_one_that_is_named_once() {
        for (query, workspace) in [
            ("workspace_id=7", Some(7)),
            ("limit=1&workspace%5Fid=7", Some(7)),
            ("", None),
            ("workspace_id=", None),
            ("workspace_id=x", None),
            ("workspace_id=7&workspace_id=8", None),
        ] {
            let uri = format!("/api/v2/scans?{query}").parse().unwrap();
            assert_eq!(workspace_of(&uri), workspace.map(WorkspaceId), "{query}");
        }
    }

    #[test]
    fn tag_is_found_in_lists_and_in_any_line_weak_or_strong() {
        let has = |lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                let line = HeaderValue::from_str(line).unwrap();
                headers.append(header::IF_NONE_MATCH, line);
            }
            has_tag(&headers, "W/\"a-1\"")
        };
        assert!(has(&["\"x\", W/\"a-1\""]));
        assert!(has(&["\"a-1\""]));
        assert!(has(&["\"x\"", "W/\"a-1\""]));
        let others: [&[&str]; 3] = [&[], &["W/\"a-2\""], &["*"]];
        for other in others {
            assert!(!has(other), "{other:?}");
        }
    }
}
