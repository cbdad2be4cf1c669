//! The router: middleware, route table, and error responses of one form.
//!
//! ```text
//!   path normalised ─► panic caught ─► gzip ─► form ─► Host ─► key, rate limit ─► route table
//!                                                │       └─► /api/v2/openapi.json (no key)
//!                                                └─► limit of the client ─► /healthz, /readyz (no key)
//! ```

use std::any::Any;
use std::sync::LazyLock;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use tower::util::MapRequest;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use crate::api::endpoint::Endpoint;
use crate::api::etag::{self, TaggedList};
use crate::api::request;
use crate::errors::{ApiError, shown};
use crate::guards::guard;
use crate::monitor::health;
use crate::openapi_document;
use crate::routes;
use crate::settings::NodeRole;
use crate::state::App;

/// The base path of the API.
pub const PREFIX: &str = "/api/v2";

/// A router that normalises the path of every request.
pub type NormalizingRouter = MapRequest<Router, fn(Request) -> Request>;

pub fn router(app: App) -> NormalizingRouter {
    let api = match app.settings.roles.contains(&NodeRole::Api) {
        true => api_router(&app),
        false => Router::new().fallback(no_api),
    };
    let health = Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .method_not_allowed_fallback(unknown_method)
        .layer(middleware::from_fn_with_state(
            app.clone(),
            guard::limit_health_checks,
        ))
        .with_state(app.clone());
    let router = api
        .layer(middleware::from_fn_with_state(
            app.clone(),
            guard::check_host,
        ))
        .merge(health)
        .layer(middleware::from_fn_with_state(app, guard::check_form))
        .layer(CompressionLayer::new())
        .layer(middleware::map_request(answer_changes_plainly))
        .layer(CatchPanicLayer::custom(panicked));
    MapRequest::new(router, normalize_path)
}

/// Written once: anybody may request it, and few do.
static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(openapi_document().to_string()));

/// The API and its document.
fn api_router(app: &App) -> Router {
    let api = routes::endpoints()
        .into_iter()
        .fold(routes::extensions(), |router, endpoint| {
            add(router, endpoint, app)
        })
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
        .layer(request::body_limit())
        .layer(middleware::from_fn_with_state(
            app.clone(),
            guard::check_key,
        ))
        .with_state(app.clone());
    let open = Router::new()
        .route(
            &format!("{PREFIX}/openapi.json"),
            get(|| async { ([(CONTENT_TYPE, "application/json")], DOCUMENT.clone()) }),
        )
        .method_not_allowed_fallback(unknown_method);
    api.merge(open)
}

fn add(router: Router<App>, endpoint: Endpoint, app: &App) -> Router<App> {
    let handler = match endpoint.list {
        Some(list) => {
            let tagged = TaggedList {
                app: app.clone(),
                list,
                is_by_workspace: endpoint.query.contains(&"workspace_id"),
            };
            let tag = middleware::from_fn_with_state(tagged, etag::tag_list);
            endpoint.handler.layer(tag)
        }
        None => endpoint.handler,
    };
    router.route(&format!("{PREFIX}{}", endpoint.path), handler)
}

async fn unknown_path(uri: Uri) -> ApiError {
    ApiError::new(
        StatusCode::NOT_FOUND,
        format!("unknown path {}", shown(uri.path())),
    )
    .with_details(format!("{PREFIX}/openapi.json lists all paths"))
}

/// The answer of a node without the role `api`.
async fn no_api(uri: Uri) -> ApiError {
    ApiError::new(
        StatusCode::NOT_FOUND,
        format!("this node does not serve {}", shown(uri.path())),
    )
    .with_details("send the request to a node with the role `api`")
}

async fn unknown_method(uri: Uri, method: axum::http::Method) -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        format!(
            "{} is not allowed for {}",
            shown(method.as_str()),
            shown(uri.path())
        ),
    )
}

fn panicked(_: Box<dyn Any + Send>) -> Response {
    ApiError::internal("a handler panicked").into_response()
}

/// A change is answered without compression. An `accept-encoding` that refuses every form would
/// replace the status of its answer by 406 after the change was made, and clients would repeat it.
async fn answer_changes_plainly(mut request: Request) -> Request {
    if !request.method().is_safe() {
        request.headers_mut().remove(ACCEPT_ENCODING);
    }
    request
}

/// Removes redundant slashes and escapes: clients also send `scans/`, `/api/v2//scans` and
/// `/api/v2/%73cans` for `/api/v2/scans`.
fn normalize_path(mut request: Request) -> Request {
    let path = request.uri().path();
    if !path.contains("//") && !path.ends_with('/') && !path.contains('%') {
        return request;
    }
    let path = unescape(path);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let query = request
        .uri()
        .query()
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    // The host of an absolute form remains, because the guard checks it.
    let mut uri = request.uri().clone().into_parts();
    uri.path_and_query = format!("/{}{query}", parts.join("/"))
        .parse()
        .ok()
        .or(uri.path_and_query);
    if let Ok(uri) = Uri::from_parts(uri) {
        *request.uri_mut() = uri;
    }
    request
}

/// Decodes the escapes of characters that need none (RFC 3986 §6.2.2.2).
fn unescape(path: &str) -> String {
    let mut parts = path.split('%');
    let mut unescaped = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part
            .get(..2)
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        match code.filter(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(byte)) {
            Some(byte) => {
                unescaped.push(char::from(byte));
                unescaped.push_str(&part[2..]);
            }
            None => {
                unescaped.push('%');
                unescaped.push_str(part);
            }
        }
    }
    unescaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalize_path_removes_redundant_slashes() {
        let normalized = |path: &str| {
            let request = Request::builder()
                .uri(path)
                .body(axum::body::Body::empty())
                .unwrap();
            normalize_path(request).uri().to_string()
        };
        assert_eq!(normalized("/api/v2/scans/"), "/api/v2/scans");
        assert_eq!(
            normalized("//api/v2//scans/7/?limit=1"),
            "/api/v2/scans/7?limit=1"
        );
        assert_eq!(normalized("/api/v2/scans?a=/b/"), "/api/v2/scans?a=/b/");
        assert_eq!(
            normalized("/api/v2/%73c%61ns/%37?a=%73"),
            "/api/v2/scans/7?a=%73"
        );
        assert_eq!(
            normalized("http://evil.test/api/v2//scans/"),
            "http://evil.test/api/v2/scans"
        );
        for kept in [
            "/api/v2/a%2Fb",
            "/api/v2/%",
            "/api/v2/%7",
            "/api/v2/%zz",
            "/api/v2/%C3%A4",
        ] {
            assert_eq!(normalized(kept), kept);
        }
    }
}
