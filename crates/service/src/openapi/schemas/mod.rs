//! The schemas of bodies, each with an example.
//!
//! ```text
//!   wire types (derived) ─► responses ──┐
//!   fields in these files ─► requests ──┴─► components
//! ```
//!
//! Responses contain every field of their schema (`hosted-service.md`); further fields may be added
//! later. Requests may contain further fields, which are ignored. Their fields are written here and
//! not derived, because routes read them one by one, each with an error of its own.

use std::borrow::Cow;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Map, Value, json};

use scandeck_wire::contract::{Created, ErrorBody};

mod findings;
mod loggers;
mod reports;
mod scans;
mod tool_params;
mod workspaces;

/// A schema of the document.
pub struct Schema {
    pub name: Cow<'static, str>,
    pub schema: Value,
    /// A value that the schema allows.
    pub example: Value,
}

pub fn all() -> Vec<Schema> {
    let mut all = vec![
        response::<Created>(json!({"created_id": 7})),
        response::<ErrorBody>(json!({"status": 404, "message": "scan 9 not found"})),
    ];
    all.extend(workspaces::schemas());
    all.extend(scans::schemas());
    all.extend(findings::schemas());
    all.extend(reports::schemas());
    all.extend(loggers::schemas());
    all
}

/// The schema of a wire type that responses contain.
fn response<T: JsonSchema>(example: Value) -> Schema {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut schema = T::json_schema(&mut settings.into_generator());
    RecursiveTransform(as_documented).transform(&mut schema);
    Schema {
        name: T::schema_name(),
        schema: schema.to_value(),
        example,
    }
}

/// The default of a field says nothing about responses, and a description is one line.
fn as_documented(schema: &mut schemars::Schema) {
    schema.remove("default");
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
}

/// An object in a request.
fn request(required: &[&str], fields: Value) -> Value {
    match required {
        [] => json!({"type": "object", "properties": fields}),
        required => json!({"type": "object", "required": required, "properties": fields}),
    }
}

/// The form of a request: null cannot be sent.
pub fn form_of(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let fields = schema["properties"].as_object_mut();
    for field in fields.into_iter().flat_map(Map::values_mut) {
        if let Some(kinds) = field["type"].as_array() {
            field["type"] = kinds[0].clone();
        }
    }
    schema
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn integer(description: &str) -> Value {
    json!({"type": "integer", "format": "int64", "description": description})
}

fn count(description: &str) -> Value {
    json!({"type": "integer", "format": "int64", "minimum": 0, "description": description})
}

fn id(description: &str) -> Value {
    json!({"type": "integer", "format": "int64", "minimum": 1, "description": description})
}

fn boolean(description: &str) -> Value {
    json!({"type": "boolean", "description": description})
}

fn texts(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

fn choice<T: ToString>(choices: &[T], description: &str) -> Value {
    let names: Vec<String> = choices.iter().map(T::to_string).collect();
    json!({"type": "string", "enum": names, "description": description})
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The same schema for a field that may be null, which counts as absent.
fn nullable(mut schema: Value) -> Value {
    if schema.get("enum").is_some() {
        // A list of names with null in it is two types for most generated clients.
        let description = schema["description"].take();
        if let Some(fields) = schema.as_object_mut() {
            fields.remove("description");
        }
        return json!({"anyOf": [schema, {"type": "null"}], "description": description});
    }
    schema["type"] = json!([schema["type"], "null"]);
    schema
}

/// A component, or null.
fn or_null(name: &str, description: &str) -> Value {
    json!({"oneOf": [reference(name), {"type": "null"}], "description": description})
}

fn with(mut schema: Value, keywords: Value) -> Value {
    if let (Some(schema), Value::Object(keywords)) = (schema.as_object_mut(), keywords) {
        schema.extend(keywords);
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_allowed_by_their_schemas() {
        let components: Map<String, Value> = all()
            .iter()
            .map(|one| (one.name.to_string(), one.schema.clone()))
            .collect();
        for one in all() {
            let schema = json!({
                "$ref": format!("#/components/schemas/{}", one.name), "components": {"schemas": components}
            });
            let errors: Vec<String> = jsonschema::validator_for(&schema)
                .unwrap()
                .iter_errors(&one.example)
                .map(|error| format!("{} at {}", error, error.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{}: {errors:?}", one.name);
        }
    }
}
