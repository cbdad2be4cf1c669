//! The parameters of requests by name: the same name has the same meaning at every endpoint.

use serde_json::{Value, json};

use crate::contract::{ResourceType, ScanStatus, TargetType};

const WORKSPACE: &str = "The workspace. When absent, scans are those of the current workspace, new loggers are created there, \
    and other lists contain all workspaces.";

/// The id of a path.
pub fn path_id() -> Value {
    let mut id = parameter("id", "path", &integer(), "The id of the resource.");
    id["example"] = 1.into();
    id
}

/// The ETag that a client has.
pub fn if_none_match() -> Value {
    let schema = json!({"type": "string"});
    parameter("if-none-match", "header", &schema, "The `etag` of an earlier response: 304 if the list is unchanged.")
}

/// A query parameter; an unknown name is described as text.
pub fn query(name: &str) -> Value {
    let names = |names: Vec<String>| json!({"type": "string", "enum": names});
    let (schema, description) = match name {
        "workspace_id" => (integer(), WORKSPACE),
        "tool_id" => (integer(), "Only scans of this tool."),
        "target_id" => (integer(), "Only those of this target."),
        "task_id" => (integer(), "Only findings of this scan."),
        "resource_id" => (integer(), "Only tests of this scan or finding; requires `resource_type`."),
        "since_id" => (integer(), "Only requests with a greater id."),
        "limit" => (
            json!({"type": "integer", "minimum": 1, "maximum": 1000, "default": 1000}),
            "Largest number of items. A shorter list is the last page.",
        ),
        "page" => (json!({"type": "integer", "format": "int64", "minimum": 1, "default": 1}), "Page number."),
        "group_duplicates" => {
            (json!({"type": "boolean", "default": false}), "Only the latest finding of each group of duplicates.")
        }
        "status" => {
            (names(ScanStatus::KNOWN.iter().map(ToString::to_string).collect()), "Only scans with this status.")
        }
        "type" => (names(TargetType::KNOWN.iter().map(ToString::to_string).collect()), "Only targets of this type."),
        "resource_type" => (
            names(ResourceType::KNOWN.iter().map(ToString::to_string).collect()),
            "`finding`: tests with a finding; `scan`: tests without one.",
        ),
        "start_time" => return start_time(),
        _ => (json!({"type": "string"}), ""),
    };
    parameter(name, "query", &schema, description)
}

fn start_time() -> Value {
    let time = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$";
    let end = |description: &str| json!({"type": "string", "pattern": time, "description": description});
    let schema = json!({
        "type": "object",
        "properties": {"from": end("The earliest start."), "to": end("The latest start.")},
    });
    let description = "Only scans that start in this interval; for a waiting scan, the time of its creation counts. Times \
        are `YYYY-MM-DD HH:MM:SS` in UTC, or RFC 3339. `from` and `to` are also accepted as parameters, and \
        `start_time` as a JSON object.";
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
