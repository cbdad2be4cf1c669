//! One row of the route table: path, handler, and the data for the OpenAPI document.
//!
//! `routes/*.rs` return lists of these rows. The router and the document are built from the same
//! rows, so they contain the same endpoints. Rows name parameters and schemas; `openapi` describes
//! them.

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};

use crate::state::App;
use crate::store::versions::ListNoun;

/// An endpoint of the API.
pub struct Endpoint {
    /// GET, POST, PUT or DELETE.
    pub method: Method,
    /// Relative to `/api/v2`, with `{id}` for an id.
    pub path: &'static str,
    /// The name of the operation in generated clients; it never changes.
    pub operation: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Success statuses, the most common first.
    pub success: &'static [u16],
    /// Error statuses in addition to those of every endpoint.
    pub refusals: &'static [u16],
    /// Names of query parameters, which `openapi::parameters` describes.
    pub query: &'static [&'static str],
    /// The name of the schema of the body, as JSON or as a form.
    pub body: Option<EndpointBody>,
    /// The content of the most common success.
    pub content: ResponseContent,
    /// The list in the response, which has an ETag: 304 is possible.
    pub list: Option<ListNoun>,
    pub handler: MethodRouter<App>,
}

/// The body of a request. The service reads JSON and forms at every endpoint; the document lists
/// the usual forms.
#[derive(Clone, Copy, Debug)]
pub enum EndpointBody {
    Json(&'static str),
    /// JSON, or a form with the same fields.
    JsonOrForm(&'static str),
}

/// The content of a success response, with names of schemas.
#[derive(Clone, Copy, Debug)]
pub enum ResponseContent {
    Empty,
    /// `{"data": …}` with an object.
    Data(&'static str),
    /// `{"data": […]}` with objects.
    List(&'static str),
    /// `{"data": […]}` with strings.
    Lines,
    /// The words of a wordlist as one string, without `data`.
    Words,
    /// The file of a report.
    Download,
}

impl Endpoint {
    fn new<H, T>(method: Method, filter: MethodFilter, name: EndpointName, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let EndpointName(path, operation, summary) = name;
        Self {
            method,
            path,
            operation,
            summary,
            success: &[200],
            refusals: &[],
            query: &[],
            body: None,
            content: ResponseContent::Empty,
            list: None,
            handler: on(filter, handler),
        }
    }

    /// `GET path`, 200.
    pub fn get<H: Handler<T, App>, T: 'static>(
        path: &'static str,
        operation: &'static str,
        summary: &'static str,
        handler: H,
    ) -> Self {
        Self::new(
            Method::GET,
            MethodFilter::GET,
            EndpointName(path, operation, summary),
            handler,
        )
    }

    /// `GET path`, 200, a list.
    pub fn list<H: Handler<T, App>, T: 'static>(
        list: ListNoun,
        path: &'static str,
        operation: &'static str,
        summary: &'static str,
        handler: H,
    ) -> Self {
        Self {
            list: Some(list),
            ..Self::get(path, operation, summary, handler)
        }
    }

    /// `POST path`, 201.
    pub fn post<H: Handler<T, App>, T: 'static>(
        path: &'static str,
        operation: &'static str,
        summary: &'static str,
        handler: H,
    ) -> Self {
        Self::new(
            Method::POST,
            MethodFilter::POST,
            EndpointName(path, operation, summary),
            handler,
        )
        .answers(&[201])
    }

    /// `PUT path`, 204.
    pub fn put<H: Handler<T, App>, T: 'static>(
        path: &'static str,
        operation: &'static str,
        summary: &'static str,
        handler: H,
    ) -> Self {
        Self::new(
            Method::PUT,
            MethodFilter::PUT,
            EndpointName(path, operation, summary),
            handler,
        )
        .answers(&[204])
    }

    /// `DELETE path`, 204.
    pub fn delete<H: Handler<T, App>, T: 'static>(
        path: &'static str,
        operation: &'static str,
        summary: &'static str,
        handler: H,
    ) -> Self {
        Self::new(
            Method::DELETE,
            MethodFilter::DELETE,
            EndpointName(path, operation, summary),
            handler,
        )
        .answers(&[204])
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
    pub fn query(self, query: &'static [&'static str]) -> Self {
        Self { query, ..self }
    }

    /// Sets the body.
    pub fn body(self, body: EndpointBody) -> Self {
        Self {
            body: Some(body),
            ..self
        }
    }

    /// Sets the content of the response.
    pub fn content(self, content: ResponseContent) -> Self {
        Self { content, ..self }
    }
}

/// Path, operation and summary.
struct EndpointName(&'static str, &'static str, &'static str);
