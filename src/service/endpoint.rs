//! One row of the route table: path, handler, and what the OpenAPI document says about it.
//!
//! `routes/*.rs` each give a list of these; the router and the document are both made from them, so that neither
//! can know an endpoint that the other does not.

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};

use super::state::App;

/// An endpoint of the API.
pub struct Endpoint {
    /// GET, POST, PUT or DELETE.
    pub method: Method,
    /// Below `/api/v2`, with `{id}` where an id stands.
    pub path: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Success statuses, the usual one first.
    pub success: &'static [u16],
    /// Refusals besides 401, 429 and 500, which every endpoint has.
    pub refusals: &'static [u16],
    /// Query parameters: name and JSON type.
    pub query: &'static [(&'static str, &'static str)],
    /// Body fields: name, JSON type, whether required.
    pub body: &'static [(&'static str, &'static str, bool)],
    /// A list: answered with an ETag, and 304 while nothing changed.
    pub list: bool,
    /// What answers.
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

    /// With other success statuses.
    pub fn answers(self, success: &'static [u16]) -> Self {
        Self { success, ..self }
    }

    /// With refusals of its own.
    pub fn refuses(self, refusals: &'static [u16]) -> Self {
        Self { refusals, ..self }
    }

    /// With query parameters.
    pub fn query(self, query: &'static [(&'static str, &'static str)]) -> Self {
        Self { query, ..self }
    }

    /// With a body.
    pub fn body(self, body: &'static [(&'static str, &'static str, bool)]) -> Self {
        Self { body, ..self }
    }
}
