//! A site whose OpenAPI document names pages that no link names, and its twin.

use super::Answer;
use super::server::{HARDENED, not_found, page, response};

/// Kinds that only the described operations show.
pub const PLANTED: &[&str] = &[
    "web.error_page",
    "web.cookie.http_only",
    "web.header.csp_missing",
];

/// Beginnings of paths that a scan must not request: an action, an operation with a required
/// parameter, another method, an excluded path, and the path of another server.
pub const FORBIDDEN: &[&str] = &[
    "/api/v1/logout",
    "/api/v1/cache/purge",
    "/api/v1/orders/",
    "/api/v1/search",
    "/api/v1/jobs",
    "/api/v1/private",
    "/elsewhere",
];

const DOCUMENT: &str = r#"{"openapi":"3.0.1","servers":[{"url":"/api/v1"},{"url":"https://other.example/elsewhere"}],"paths":{
    "/orders":{"get":{"parameters":[{"name":"limit","in":"query"}]},"post":{}},
    "/orders/{id}":{"get":{}},
    "/report":{"get":{}},
    "/search":{"get":{"parameters":[{"name":"q","in":"query","required":true}]}},
    "/jobs":{"post":{}},
    "/logout":{"get":{}},
    "/cache/purge":{"get":{}},
    "/private/notes":{"get":{}}
}}"#;

pub fn weak(path: &str) -> Answer {
    match path {
        "/" => page("<title>Shop</title>"),
        "/openapi.json" => response("200 OK", HARDENED, "application/json", DOCUMENT.as_bytes()),
        "/api/v1/orders" => response(
            "500 Internal Server Error",
            HARDENED,
            "text/plain",
            b"Traceback (most recent call last):\n  File \"/srv/shop.py\", line 42, in orders\nKeyError: 'limit'",
        ),
        "/api/v1/report" => response(
            "200 OK",
            "set-cookie: session=8f3a1c; Path=/; SameSite=Lax\r\n",
            "text/html",
            b"<!doctype html><title>Report</title>",
        ),
        _ => not_found(),
    }
}

pub fn hardened(path: &str) -> Answer {
    match path {
        "/" => page("<title>Shop</title>"),
        "/openapi.json" => response("200 OK", HARDENED, "application/json", DOCUMENT.as_bytes()),
        "/api/v1/orders" | "/api/v1/report" => {
            response("200 OK", HARDENED, "application/json", b"[]")
        }
        _ => not_found(),
    }
}
