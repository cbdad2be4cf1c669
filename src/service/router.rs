//! The router: the route table behind its door, and one shape for everything that goes wrong.
//!
//! ```text
//!   path made plain ─► panic caught ─► gzip ─► Host ─► key, budget ─► route table
//!                                        └─► /api/v2/openapi.json (no key)
//! ```

use std::any::Any;

use axum::extract::Request;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router, middleware};
use tower::util::MapRequest;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use super::endpoint::Endpoint;
use super::errors::ApiError;
use super::state::App;
use super::{guard, openapi, request, routes};

/// Where the API begins.
pub const PREFIX: &str = "/api/v2";

/// The router, with the path of every request made plain before it is looked up.
pub type PlainPaths = MapRequest<Router, fn(Request) -> Request>;

/// The whole API as a service.
pub fn router(app: App) -> PlainPaths {
    let endpoints = routes::endpoints();
    let document = openapi::document(&endpoints);
    let api = endpoints
        .into_iter()
        .fold(Router::new(), |router, endpoint| add(router, endpoint, &app))
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
        .layer(request::body_limit())
        .layer(middleware::from_fn_with_state(app.clone(), guard::check_key))
        .with_state(app);
    let open = Router::new()
        .route(&format!("{PREFIX}/openapi.json"), get(|| async { Json(document) }))
        .method_not_allowed_fallback(unknown_method);
    let router = api
        .merge(open)
        .layer(middleware::from_fn(guard::check_host))
        .layer(CompressionLayer::new())
        .layer(CatchPanicLayer::custom(panicked));
    MapRequest::new(router, plain_path)
}

fn add(router: Router<App>, endpoint: Endpoint, app: &App) -> Router<App> {
    let handler = match endpoint.list {
        true => endpoint.handler.layer(middleware::from_fn_with_state(app.clone(), guard::tag_list)),
        false => endpoint.handler,
    };
    router.route(&format!("{PREFIX}{}", endpoint.path), handler)
}

async fn unknown_path(uri: Uri) -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, format!("there is nothing at {}", uri.path()))
        .with_details(format!("the paths are listed at {PREFIX}/openapi.json"))
}

async fn unknown_method(uri: Uri, method: axum::http::Method) -> ApiError {
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, format!("{method} is not possible at {}", uri.path()))
}

fn panicked(_: Box<dyn Any + Send>) -> Response {
    ApiError::internal("a handler panicked").into_response()
}

/// Clients join base and path carelessly: `scans/` and `/api/v2//scans` mean `/api/v2/scans`.
fn plain_path(mut request: Request) -> Request {
    let path = request.uri().path();
    if !path.contains("//") && !path.ends_with('/') {
        return request;
    }
    let mut plain = String::with_capacity(path.len());
    for part in path.split('/').filter(|part| !part.is_empty()) {
        plain.push('/');
        plain.push_str(part);
    }
    if let Some(query) = request.uri().query() {
        plain.push('?');
        plain.push_str(query);
    }
    if let Ok(uri) = plain.parse() {
        *request.uri_mut() = uri;
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_too_many_are_forgiven() {
        let plain = |path: &str| {
            let request = Request::builder().uri(path).body(axum::body::Body::empty()).unwrap();
            plain_path(request).uri().to_string()
        };
        assert_eq!(plain("/api/v2/scans/"), "/api/v2/scans");
        assert_eq!(plain("//api/v2//scans/7/?limit=1"), "/api/v2/scans/7?limit=1");
        assert_eq!(plain("/api/v2/scans?a=/b/"), "/api/v2/scans?a=/b/");
    }
}
