//! The practice shop: some pages and files, with or without weaknesses. Pure: builds a response for
//! a request.
//!
//! It runs as `shop` over HTTP and as `portal` over HTTPS.

use axum::body::Body;
use axum::http::header::{HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, Response, StatusCode};

use super::fetcher;
use super::files::Files;
use super::weaknesses::ActiveWeaknesses;

pub struct SiteRequest<'a> {
    pub method: &'a Method,
    /// Without the query.
    pub path: &'a str,
    pub headers: &'a HeaderMap,
    pub is_https: bool,
}

/// Status, content type and body of a path.
pub type Content = (StatusCode, &'static str, Vec<u8>);

const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

pub fn answer(request: &SiteRequest, files: &Files, active: &ActiveWeaknesses) -> Response<Body> {
    let content = match *request.method {
        Method::GET | Method::HEAD => content(request, files, active),
        Method::OPTIONS => (StatusCode::NO_CONTENT, TEXT, Vec::new()),
        Method::TRACE if active.contains("trace") => {
            (StatusCode::OK, "message/http", echo(request))
        }
        _ => (
            StatusCode::METHOD_NOT_ALLOWED,
            TEXT,
            b"This shop is read-only.\n".to_vec(),
        ),
    };
    with_headers(request, active, content)
}

pub fn page(status: StatusCode, title: &str, body: &str) -> Content {
    (status, HTML, layout(title, body).into_bytes())
}

/// A response with this content, with the headers of the active weaknesses.
pub fn with_headers(
    request: &SiteRequest,
    active: &ActiveWeaknesses,
    (status, kind, body): Content,
) -> Response<Body> {
    let has = |id: &str| active.contains(id);
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.append(HeaderName::from_static(name), value);
        }
    };
    set("content-type", kind);
    set(
        "server",
        if has("version") {
            "practice/1.4.2"
        } else {
            "practice"
        },
    );
    if *request.method == Method::OPTIONS {
        set(
            "allow",
            if has("trace") {
                "GET, HEAD, OPTIONS, TRACE"
            } else {
                "GET, HEAD, OPTIONS"
            },
        );
    }
    hardening(request, active, &mut set);
    if request.path == "/" || request.path == "/login" {
        set("set-cookie", &cookie(active));
    }
    if let Some(origin) = request
        .headers
        .get("origin")
        .and_then(|origin| origin.to_str().ok())
        && has("cors")
    {
        set("access-control-allow-origin", origin);
        set("access-control-allow-credentials", "true");
    }
    response
}

fn hardening(
    request: &SiteRequest,
    active: &ActiveWeaknesses,
    set: &mut impl FnMut(&'static str, &str),
) {
    let is_secure = |id: &str| !active.contains(id);
    if is_secure("csp") {
        let frames = if is_secure("frames") {
            "; frame-ancestors 'none'"
        } else {
            ""
        };
        set(
            "content-security-policy",
            &format!("default-src 'self'{frames}"),
        );
    }
    if is_secure("frames") {
        set("x-frame-options", "DENY");
    }
    if is_secure("hsts") && request.is_https {
        set("strict-transport-security", "max-age=31536000");
    }
    if is_secure("nosniff") {
        set("x-content-type-options", "nosniff");
    }
    if is_secure("referrer") {
        set("referrer-policy", "no-referrer");
    }
}

fn cookie(active: &ActiveWeaknesses) -> String {
    let mut cookie = format!("session={:032x}; Path=/", rand::random::<u128>());
    for (id, attribute) in [
        ("cookie-secure", "Secure"),
        ("cookie-http-only", "HttpOnly"),
        ("cookie-same-site", "SameSite=Lax"),
    ] {
        if !active.contains(id) {
            cookie.push_str("; ");
            cookie.push_str(attribute);
        }
    }
    cookie
}

fn content(request: &SiteRequest, files: &Files, active: &ActiveWeaknesses) -> Content {
    let has = |id: &str| active.contains(id);
    let page = |title: &str, body: &str| page(StatusCode::OK, title, body);
    if let Some((kind, bytes)) = files.exposed(request.path, active) {
        return (StatusCode::OK, kind, bytes);
    }
    match request.path {
        "/" => page("Practice shop", &start_page(request, files, active)),
        "/products" => page(
            "Products",
            "<ul><li>Padlock<li>Door chain<li>Spare key</ul><p><a href=\"/order/7\">Order 7</a></p>",
        ),
        "/about" => page(
            "About",
            "<p>A shop for practice. It sells nothing and stores nothing.</p>",
        ),
        "/login" => page("Log in", "<p>Logging in is disabled.</p>"),
        "/fetch" => page("Server-side requests", &fetcher::page()),
        "/order/7" if has("error-page") => {
            self::page(StatusCode::INTERNAL_SERVER_ERROR, "Error", TRACE)
        }
        "/order/7" => page("Order 7", "<p>One padlock, shipped.</p>"),
        "/static/style.css" => (
            StatusCode::OK,
            "text/css",
            b"body { font-family: sans-serif; margin: 2rem }\n".to_vec(),
        ),
        "/static/logo.svg" => (StatusCode::OK, "image/svg+xml", LOGO.as_bytes().to_vec()),
        "/robots.txt" => {
            let private = if has("robots") {
                "Disallow: /admin/\nDisallow: /backup/\n"
            } else {
                ""
            };
            (
                StatusCode::OK,
                TEXT,
                format!("User-agent: *\nDisallow: /cart/\n{private}").into_bytes(),
            )
        }
        "/.well-known/security.txt" if !has("security-txt") => {
            let text = "Contact: mailto:security@practice.example\nExpires: 2099-12-31T00:00:00Z\n";
            (StatusCode::OK, TEXT, text.as_bytes().to_vec())
        }
        _ => self::page(
            StatusCode::NOT_FOUND,
            "Not found",
            "<p>This page does not exist.</p>",
        ),
    }
}

fn start_page(request: &SiteRequest, files: &Files, active: &ActiveWeaknesses) -> String {
    let logo = if request.is_https && active.contains("mixed-content") {
        format!("<img src=\"{}static/logo.svg\" alt=\"\">", files.shop_url)
    } else {
        "<img src=\"/static/logo.svg\" alt=\"\">".to_owned()
    };
    format!(
        "{logo}<p>Everything here is for practice: explore it, or run a scan.</p><ul>\
         <li><a href=\"/products\">Products</a><li><a href=\"/about\">About</a><li><a href=\"/login\">Log in</a>\
         <li><a href=\"/files/price-list.csv\">Price list</a><li><a href=\"/fetch\">Server-side requests</a></ul>"
    )
}

fn layout(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <link rel=\"stylesheet\" href=\"/static/style.css\"></head><body><h1>{title}</h1>{body}</body></html>\n"
    )
}

/// The received request, as the response to TRACE (RFC 9110 §9.3.8).
fn echo(request: &SiteRequest) -> Vec<u8> {
    let mut text = format!("TRACE {} HTTP/1.1\r\n", request.path);
    for (name, value) in request.headers {
        text.push_str(&format!(
            "{name}: {}\r\n",
            String::from_utf8_lossy(value.as_bytes())
        ));
    }
    text.into_bytes()
}

const LOGO: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"48\" height=\"48\"><circle cx=\"24\" cy=\"24\" r=\"20\"/></svg>\n";

const TRACE: &str = "<p>The order could not be read.</p><pre>Traceback (most recent call last):\n  \
    File \"/srv/practice/shop/orders.py\", line 42, in show\n    order = orders[number]\nKeyError: 7</pre>";
