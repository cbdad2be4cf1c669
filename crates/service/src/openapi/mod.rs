//! The OpenAPI 3.1 document at `/api/v2/openapi.json`, built from the route table.
//!
//! ```text
//!   route table ─► path, operation, statuses ──┐
//!   parameters, schemas, responses ────────────┴─► document ─► clients, docs/api.md
//! ```
//!
//! The service may accept more than the document promises, but nothing that the document forbids.

mod parameters;
mod responses;
mod schemas;

use serde_json::{Map, Value, json};

use crate::api::endpoint::{Endpoint, EndpointBody};
use scandeck_wire::contract::import::{FINDINGS_IMPORT, IMPORTS};
use scandeck_wire::contract::team::TEAM_VERSION;
use schemas::Schema;

const DESCRIPTION: &str = "\
    A local implementation of the security scanning service API v2.\n\n\
    - Successful responses with JSON have the form `{\"data\": …}`, except wordlist contents and report downloads.\n\
    - Errors have the form `{\"status\": …, \"message\": …, \"details\": …}`; `details` is optional.\n\
    - Every request except for this document needs the header `authorization: Bearer <API_KEY>`.\n\
    - Times are `YYYY-MM-DD HH:MM:SS` in UTC.\n\
    - Unknown fields and unknown query parameters are ignored; an empty query parameter counts as absent.\n\
    - Lists have an `etag`. A request with `if-none-match` receives 304 while the list is unchanged.";

/// Tags with their descriptions, in the order of the document.
const TAGS: &[(&str, &str)] = &[
    (
        "workspaces",
        "Workspaces contain targets, scans and loggers.",
    ),
    ("targets", "Targets are host names, IP addresses or URLs."),
    ("scans", "A scan runs one tool against one target."),
    ("findings", "Findings of scans."),
    (
        "reports",
        "Reports about scans or findings, generated in the background.",
    ),
    ("wordlists", "Wordlists of the tools."),
    ("http_loggers", "Loggers record all requests to their URLs."),
];

pub fn document(endpoints: &[Endpoint]) -> Value {
    let schemas = schemas::all();
    let mut paths = Map::new();
    for endpoint in endpoints {
        let item = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        item[endpoint.method.as_str().to_ascii_lowercase()] = operation(endpoint, &schemas);
    }
    let tags: Vec<Value> = TAGS
        .iter()
        .map(|(name, text)| json!({"name": name, "description": text}))
        .collect();
    let key = json!({
        "type": "http", "scheme": "bearer",
        "description": "The API key, as in the file `key` of the data directory.",
    });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "scandeck service, HTTP API v2",
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/api/v2"}],
        "security": [{"key": []}],
        "tags": tags,
        "paths": paths,
        "components": {
            "securitySchemes": {"key": key},
            "schemas": components(endpoints, &schemas),
            "responses": responses::components(),
            "headers": responses::headers(),
        },
        // Extensions beside this API: their version, or their paths.
        "x-scandeck": {"team": TEAM_VERSION, "imports": [IMPORTS, FINDINGS_IMPORT]},
    })
}

fn components(endpoints: &[Endpoint], schemas: &[Schema]) -> Value {
    let mut components = Map::new();
    for Schema {
        name,
        schema,
        example,
    } in schemas
    {
        let mut schema = schema.clone();
        if endpoints
            .iter()
            .any(|endpoint| matches!(endpoint.body, Some(EndpointBody::JsonOrForm(body)) if body == *name))
        {
            components.insert(form_name(name), schemas::form_of(&schema));
        }
        schema["examples"] = json!([example]);
        components.insert(name.to_string(), schema);
    }
    components.into()
}

fn form_name(name: &str) -> String {
    format!("{name}Form")
}

fn operation(endpoint: &Endpoint, schemas: &[Schema]) -> Value {
    let mut operation = json!({
        "operationId": endpoint.operation,
        "summary": endpoint.summary,
        "tags": [endpoint.path.split('/').nth(1).unwrap_or_default()],
        "parameters": parameters(endpoint),
        "responses": responses::of(endpoint, schemas),
    });
    if let Some(body) = endpoint.body {
        operation["requestBody"] =
            json!({"required": true, "content": request_content(body, schemas)});
    }
    operation
}

fn request_content(body: EndpointBody, schemas: &[Schema]) -> Value {
    let (EndpointBody::Json(name) | EndpointBody::JsonOrForm(name)) = body;
    let example = schemas
        .iter()
        .find(|schema| schema.name == name)
        .map(|schema| schema.example.clone());
    let content = |name: &str| json!({"schema": {"$ref": format!("#/components/schemas/{name}")}, "example": example});
    let mut all = json!({"application/json": content(name)});
    if matches!(body, EndpointBody::JsonOrForm(_)) {
        all["application/x-www-form-urlencoded"] = content(&form_name(name));
    }
    all
}

fn parameters(endpoint: &Endpoint) -> Vec<Value> {
    let id = endpoint.path.contains("{id}").then(parameters::path_id);
    let query = endpoint
        .query
        .iter()
        .map(|name| parameters::query(name, endpoint));
    id.into_iter()
        .chain(query)
        .chain(endpoint.list.map(|_| parameters::if_none_match()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes;

    /// Every value under `$ref`, and every description, outside examples.
    fn visit(value: &Value, found: &mut impl FnMut(&str, &str)) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields
                    .iter()
                    .filter(|(name, _)| !name.starts_with("example"))
                {
                    if let (true, Value::String(text)) =
                        (name == "$ref" || name == "description", value)
                    {
                        found(name, text);
                    }
                    visit(value, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| visit(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_to_a_component_and_every_description_has_text() {
        let document = document(&routes::endpoints());
        let mut count = 0;
        visit(&document, &mut |name, text| {
            count += 1;
            match name {
                "$ref" => assert!(document.pointer(&text[1..]).is_some(), "{text}"),
                _ => assert!(!text.is_empty()),
            }
        });
        assert!(count > 300, "{count}");
    }

    #[test]
    fn operations_have_unique_names_and_known_tags_and_links() {
        let endpoints = routes::endpoints();
        let document = document(&endpoints);
        let mut names: Vec<&str> = endpoints
            .iter()
            .map(|endpoint| endpoint.operation)
            .collect();
        for item in document["paths"].as_object().unwrap().values() {
            for operation in item.as_object().unwrap().values() {
                let tag = operation["tags"][0].as_str().unwrap();
                assert!(TAGS.iter().any(|(name, _)| *name == tag), "{tag}");
                for response in operation["responses"].as_object().unwrap().values() {
                    for link in response["links"].as_object().into_iter().flatten() {
                        assert!(names.contains(&link.0.as_str()), "{}", link.0);
                    }
                }
            }
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), endpoints.len());
    }
}
