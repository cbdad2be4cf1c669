//! The parameters of requests by name. A name has the same meaning at every endpoint, but some
//! descriptions and defaults depend on it.

use serde_json::{Value, json};

use axum::http::Method;

use crate::api::endpoint::Endpoint;
use scandeck_wire::contract::{ResourceType, ScanStatus, TargetType};

pub fn path_id() -> Value {
    let mut id = parameter("id", "path", &integer(), "The id of the resource.");
    id["example"] = 1.into();
    id
}

/// The ETag that a client has.
pub fn if_none_match() -> Value {
    let schema = json!({"type": "string"});
    parameter(
        "if-none-match",
        "header",
        &schema,
        "The `etag` of an earlier response: 304 if the list is unchanged.",
    )
}

fn workspace(endpoint: &Endpoint) -> &'static str {
    match endpoint.path {
        "/scans" => {
            "Only scans of this workspace. Default: the current workspace of the service (`serve --current-workspace`)."
        }
        _ if endpoint.method == Method::POST => {
            "The workspace. Default: `workspace_id` of the body, else the current workspace (`serve --current-workspace`)."
        }
        "/targets" => "Only targets of this workspace. Default: all workspaces.",
        "/findings" => "Only findings of this workspace. Default: all workspaces.",
        _ => "Only loggers of this workspace. Default: all workspaces.",
    }
}

/// A query parameter; an unknown name is described as text.
pub fn query(name: &str, endpoint: &Endpoint) -> Value {
    let names = |names: Vec<String>| json!({"type": "string", "enum": names});
    let (schema, description) = match name {
        "workspace_id" => (integer(), workspace(endpoint)),
        "tool_id" => (integer(), "Only scans of this tool."),
        "target_id" if endpoint.path == "/scans" => (integer(), "Only scans of this target."),
        "target_id" => (integer(), "Only findings of this target."),
        "task_id" => (integer(), "Only findings of this scan."),
        "resource_id" => (
            integer(),
            "Only tests of the scan or finding with this id; requires `resource_type`.",
        ),
        "since_id" => (integer(), "Only captured requests with a greater id."),
        "limit" => (
            json!({"type": "integer", "minimum": 1, "maximum": 1000, "default": 1000}),
            "Items per page; 1000 by default. A page with fewer items is the last one.",
        ),
        "page" => (
            json!({"type": "integer", "format": "int64", "minimum": 1, "default": 1}),
            "Page number, from 1.",
        ),
        "group_duplicates" => (
            json!({"type": "boolean", "default": false}),
            "Only the latest finding of each group of duplicates.",
        ),
        "status" => (
            names(ScanStatus::KNOWN.iter().map(ToString::to_string).collect()),
            "Only scans with this status.",
        ),
        "type" => (
            names(TargetType::KNOWN.iter().map(ToString::to_string).collect()),
            "Only targets of this type.",
        ),
        "resource_type" => (
            names(
                ResourceType::KNOWN
                    .iter()
                    .map(ToString::to_string)
                    .collect(),
            ),
            "`finding`: tests with a finding; `scan`: tests without one.",
        ),
        "start_time" => return start_time(),
        _ => (json!({"type": "string"}), ""),
    };
    parameter(name, "query", &schema, description)
}

fn start_time() -> Value {
    let time = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$";
    let end =
        |description: &str| json!({"type": "string", "pattern": time, "description": description});
    let schema = json!({
        "type": "object",
        "properties": {"from": end("The earliest start."), "to": end("The latest start.")},
    });
    let description = "Only scans that started in this interval (waiting scans: were created). Forms: \
        `start_time[from]=2026-11-21` and `start_time[to]=2026-11-22`. Also accepted: `from=` and `to=`, or \
        `start_time={\"from\":\"2026-11-21\"}`. Times are `YYYY-MM-DD`, `YYYY-MM-DD HH:MM:SS` in UTC, or RFC 3339.";
    let mut parameter = parameter("start_time", "query", &schema, description);
    parameter["style"] = "deepObject".into();
    parameter["explode"] = true.into();
    parameter["example"] = json!({"from": "2026-11-21 00:00:00", "to": "2026-11-22 00:00:00"});
    parameter
}

fn integer() -> Value {
    json!({"type": "integer", "format": "int64"})
}

fn parameter(name: &str, place: &str, schema: &Value, description: &str) -> Value {
    let mut parameter = json!({
        "name": name, "in": place, "required": place == "path", "description": description, "schema": schema
    });
    if place == "query" {
        // An empty value counts as absent.
        parameter["allowEmptyValue"] = true.into();
    }
    parameter
}
