//! The schemas of bodies: one per wire type, with an example.
//!
//! Responses contain every field of their schema (`hosted-service.md`); further fields may be added
//! later. Requests may contain further fields, which are ignored.

use serde_json::{Map, Value, json};

mod findings;
mod loggers;
mod reports;
mod scans;
mod tool_params;
mod workspaces;

/// A schema of the document.
pub struct Schema {
    pub name: &'static str,
    pub schema: Value,
    /// A value that the schema allows.
    pub example: Value,
}

pub fn all() -> Vec<Schema> {
    let mut all = vec![created(), error()];
    all.extend(workspaces::schemas());
    all.extend(scans::schemas());
    all.extend(findings::schemas());
    all.extend(reports::schemas());
    all.extend(loggers::schemas());
    all
}

fn created() -> Schema {
    let fields = json!({"created_id": id("The id of the new resource.")});
    Schema {
        name: "Created",
        schema: response(fields),
        example: json!({"created_id": 7}),
    }
}

fn error() -> Schema {
    let mut schema = response(json!({
        "status": integer("The status code of the response."),
        "message": text("The error, for the user."),
    }));
    schema["properties"]["details"] = text("The remedy, or further information.");
    let example = json!({"status": 404, "message": "scan 9 not found"});
    Schema {
        name: "Error",
        schema,
        example,
    }
}

/// An object that always has all fields.
fn response(fields: Value) -> Value {
    let required: Vec<String> = fields
        .as_object()
        .map(|fields| fields.keys().cloned().collect())
        .unwrap_or_default();
    json!({"type": "object", "required": required, "properties": fields})
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

/// A time as the service sends it.
fn time(description: &str) -> Value {
    let description = format!("{description} `YYYY-MM-DD HH:MM:SS` in UTC.");
    json!({"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$", "description": description})
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
            .map(|one| (one.name.to_owned(), one.schema.clone()))
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
