//! The OpenAPI 3.1 document at `/api/v2/openapi.json`, built from the route table.

use axum::http::Method;
use serde_json::{Map, Value, json};

use super::endpoint::Endpoint;

pub fn document(endpoints: &[Endpoint]) -> Value {
    let mut paths = Map::new();
    for endpoint in endpoints {
        let item = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        item[endpoint.method.as_str().to_ascii_lowercase()] = operation(endpoint);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "scandeck service, HTTP API v2",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/api/v2"}],
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": {
                "type": "object",
                "required": ["status", "message"],
                "properties": {
                    "status": {"type": "integer"},
                    "message": {"type": "string"},
                    "details": {"type": "string"},
                },
            }},
        },
    })
}

fn operation(endpoint: &Endpoint) -> Value {
    let mut operation = json!({
        "summary": endpoint.summary,
        "tags": [endpoint.path.split('/').nth(1).unwrap_or_default()],
        "parameters": parameters(endpoint),
        "responses": responses(endpoint),
    });
    if !endpoint.body.is_empty() {
        let schema = body_schema(endpoint);
        let mut content = json!({"application/json": {"schema": schema}});
        if endpoint.method != Method::PUT {
            content["application/x-www-form-urlencoded"] = json!({"schema": schema});
        }
        operation["requestBody"] = json!({"required": true, "content": content});
    }
    operation
}

fn parameters(endpoint: &Endpoint) -> Vec<Value> {
    let id = endpoint
        .path
        .contains("{id}")
        .then(|| json!({"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}));
    let query = endpoint
        .query
        .iter()
        .map(|(name, kind)| json!({"name": name, "in": "query", "required": false, "schema": {"type": kind}}));
    id.into_iter().chain(query).collect()
}

fn responses(endpoint: &Endpoint) -> Value {
    let mut responses = Map::new();
    for status in endpoint.success {
        let mut response = json!({"description": "success"});
        if *status != 204 {
            response["content"] = json!({"application/json": {}});
        }
        responses.insert(status.to_string(), response);
    }
    for status in endpoint.refusals.iter().chain(&[401, 429, 500]) {
        let schema = json!({"$ref": "#/components/schemas/Error"});
        let content = json!({"application/json": {"schema": schema}});
        responses.insert(status.to_string(), json!({"description": "error", "content": content}));
    }
    responses.into()
}

fn body_schema(endpoint: &Endpoint) -> Value {
    let properties: Map<_, _> =
        endpoint.body.iter().map(|(name, kind, _)| ((*name).to_owned(), json!({"type": kind}))).collect();
    let required: Vec<_> = endpoint.body.iter().filter(|field| field.2).map(|field| field.0).collect();
    json!({"type": "object", "properties": properties, "required": required})
}
