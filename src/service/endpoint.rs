//! One row of the route table: path, handler, and the data for the OpenAPI document.
//!
//! `routes/*.rs` return lists of these rows. The router and the document are built from the same rows, so they contain
//! the same endpoints.

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};

use super::state::App;

/// An endpoint of the API.
pub struct Endpoint {
    /// GET, POST, PUT or DELETE.
    pub method: Method,
    /// Relative to `/api/v2`, with `{id}` for an id.
    pub path: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Success statuses, the most common first.
    pub success: &'static [u16],
    /// Error statuses in addition to 401, 429 and 500.
    pub refusals: &'static [u16],
    /// Query parameters: name and JSON type.
    pub query: &'static [(&'static str, &'static str)],
    /// Body fields: name, JSON type, whether required.
    pub body: &'static [(&'static str, &'static str, bool)],
    /// Whether the response has an ETag, and 304 is possible.
    pub list: bool,
    pub handler: MethodRouter<App>,
}

impl Endpoint {
    fn new<H, T>(method: Method, filter: MethodFilter, path: &'static str, summary: &'static str, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let handler = on(filter, handler);
        Self { method, path, summary, success: &[200], refusals: &[], query: &[], body: &[], list: false, handler }
    }

    /// `GET path`, 200.
    pub fn get<H: Handler<T, App>, T: 'static>(path: &'static str, summary: &'static str, handler: H) -> Self {
        Self::new(Method::GET, MethodFilter::GET, path, summary, handler)
    }

    /// `GET path`, 200, a list.
    pub fn list<H: Handler<T, App>, T: 'static>(path: &'static str, summary: &'static str, handler: H) -> Self {
        Self { list: true, ..Self::get(path, summary, handler) }
    }

    /// `POST path`, 201.
    pub fn post<H: Handler<T, App>, T: 'static>(path: &'static str, summary: &'static str, handler: H) -> Self {
        Self::new(Method::POST, MethodFilter::POST, path, summary, handler).answers(&[201])
    }

    /// `PUT path`, 204.
    pub fn put<H: Handler<T, App>, T: 'static>(path: &'static str, summary: &'static str, handler: H) -> Self {
        Self::new(Method::PUT, MethodFilter::PUT, path, summary, handler).answers(&[204])
    }

    /// `DELETE path`, 204.
    pub fn delete<H: Handler<T, App>, T: 'static>(path: &'static str, summary: &'static str, handler: H) -> Self {
        Self::new(Method::DELETE, MethodFilter::DELETE, path, summary, handler).answers(&[204])
    }

    /// Sets other success statuses.
    pub fn answers(self, success: &'static [u16]) -> Self {
        Self { success, ..self }
    }

    /// Sets additional error statuses.
    pub fn refuses(self, refusals: &'static [u16]) -> Self {
        Self { refusals, ..self }
    }

    /// Sets query parameters.
    pub fn query(self, query: &'static [(&'static str, &'static str)]) -> Self {
        Self { query, ..self }
    }

    /// Sets body fields.
    pub fn body(self, body: &'static [(&'static str, &'static str, bool)]) -> Self {
        Self { body, ..self }
    }
}
