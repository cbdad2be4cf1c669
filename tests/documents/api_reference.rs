//! The reference of the HTTP API, from the OpenAPI document.

use std::fmt::Write;

use scandeck::service::openapi_document;
use serde_json::{Map, Value};

pub(super) fn markdown() -> String {
    let document = openapi_document();
    let mut text = String::new();
    for tag in document["tags"].as_array().unwrap() {
        let (name, description) = (
            tag["name"].as_str().unwrap(),
            tag["description"].as_str().unwrap(),
        );
        let _ = write!(text, "## {name}\n\n{description}\n\n");
        for (path, item) in object(&document["paths"]) {
            for (method, operation) in object(item)
                .iter()
                .filter(|(_, operation)| operation["tags"][0] == name)
            {
                endpoint(&document, method, path, operation, &mut text);
            }
        }
    }
    text.push_str("## Schemas\n\n");
    for (name, schema) in object(&document["components"]["schemas"])
        .iter()
        .filter(|(name, _)| !name.ends_with("Form"))
    {
        self::schema(&document, name, schema, &mut text);
    }
    errors(&document, &mut text);
    text
}

fn endpoint(document: &Value, method: &str, path: &str, operation: &Value, text: &mut String) {
    let _ = write!(
        text,
        "### {} {path}\n\n{}. Operation `{}`.\n\n",
        method.to_uppercase(),
        operation["summary"].as_str().unwrap(),
        operation["operationId"].as_str().unwrap()
    );
    let parameters = operation["parameters"].as_array().unwrap();
    let listed: Vec<&Value> = parameters
        .iter()
        .filter(|parameter| parameter["in"] == "query")
        .collect();
    if !listed.is_empty() {
        text.push_str("| Query | Type | Meaning |\n|---|---|---|\n");
        for parameter in listed {
            let (name, kind) = (
                parameter["name"].as_str().unwrap(),
                kind(&parameter["schema"]),
            );
            let _ = writeln!(
                text,
                "| `{name}` | {kind} | {} |",
                cell(&parameter["description"])
            );
        }
        text.push('\n');
    }
    let body = &operation["requestBody"]["content"];
    if let Some(name) = body["application/json"]["schema"]["$ref"]
        .as_str()
        .map(last)
    {
        let or_form = if body.as_object().unwrap().len() > 1 {
            " or form"
        } else {
            ""
        };
        let _ = write!(text, "Body (JSON{or_form}): {}. Example:\n\n", link(name));
        let _ = write!(
            text,
            "```json\n{}\n```\n\n",
            body["application/json"]["example"]
        );
    }
    responses(document, operation, text);
}

fn responses(document: &Value, operation: &Value, text: &mut String) {
    let common = common_errors(document);
    let mut errors = Vec::new();
    for (status, response) in object(&operation["responses"]) {
        let response = resolved(document, response);
        let description = response["description"].as_str().unwrap();
        if status.as_str() >= "400" {
            errors.extend((!common.contains(status)).then_some(status.as_str()));
            continue;
        }
        let contents = response["content"].as_object().into_iter().flatten();
        let types: Vec<String> = contents.map(|(name, media)| content(name, media)).collect();
        let _ = match types.as_slice() {
            [] => writeln!(text, "- **{status}** {description} No body."),
            types => writeln!(
                text,
                "- **{status}** {description} Body: {}",
                types.join(", ")
            ),
        };
    }
    match errors.as_slice() {
        [] => text.push_str("- [Errors of every endpoint](#errors)\n\n"),
        errors => {
            let _ = write!(
                text,
                "- **{}**, and [the errors of every endpoint](#errors)\n\n",
                errors.join(", ")
            );
        }
    }
}

/// The error statuses of every endpoint.
fn common_errors(document: &Value) -> Vec<String> {
    let operations = object(&document["paths"])
        .values()
        .flat_map(|item| object(item).values());
    let mut statuses =
        operations.map(|operation| object(&operation["responses"]).keys().collect::<Vec<_>>());
    let first = statuses.next().unwrap();
    let rest: Vec<_> = statuses.collect();
    let is_common = |status: &&String| {
        status.as_str() >= "400" && rest.iter().all(|other| other.contains(status))
    };
    first.into_iter().filter(is_common).cloned().collect()
}

/// A content type with its schema.
fn content(name: &str, media: &Value) -> String {
    let schema = &media["schema"];
    match schema["properties"].get("data") {
        Some(data) => format!("`data`: {}", kind(data)),
        None => format!("`{name}`: {}", kind(schema)),
    }
}

fn schema(document: &Value, name: &str, schema: &Value, text: &mut String) {
    let _ = write!(text, "### {name}\n\n");
    if let Some(description) = schema["description"].as_str() {
        let _ = write!(text, "{description}\n\n");
    }
    let Some(fields) = schema["properties"].as_object() else {
        let _ = write!(text, "{}\n\n", kind(schema));
        return;
    };
    text.push_str("| Field | Type | Meaning |\n|---|---|---|\n");
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let is_request = name.starts_with("New");
    for (field, schema) in fields {
        let mark = if is_request && required.contains(&field.as_str()) {
            " (required)"
        } else {
            ""
        };
        let description = cell(&resolved(document, schema)["description"]);
        let _ = writeln!(
            text,
            "| `{field}`{mark} | {} | {description} |",
            kind(schema)
        );
    }
    let _ = write!(
        text,
        "\nExample:\n\n```json\n{}\n```\n\n",
        schema["examples"][0]
    );
}

fn errors(document: &Value, text: &mut String) {
    let common = common_errors(document).join(", ");
    let _ = write!(
        text,
        "## Errors\n\nEvery error has a body of the schema [Error](#error). "
    );
    let _ = write!(text, "Every endpoint can respond with {common}.\n\n");
    text.push_str("| Status | Meaning | Example of `message` |\n|---|---|---|\n");
    let mut rows: Vec<(i64, String)> = Vec::new();
    for response in object(&document["components"]["responses"]).values() {
        let example = &response["content"]["application/json"]["example"];
        if let Some(status) = example["status"].as_i64() {
            rows.push((
                status,
                format!(
                    "{} | {}",
                    cell(&response["description"]),
                    cell(&example["message"])
                ),
            ));
        }
    }
    rows.sort();
    for (status, row) in rows {
        let _ = writeln!(text, "| {status} | {row} |");
    }
}

/// The type of a schema with its limits.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return link(last(name));
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[keyword].as_array() {
            let mut kinds: Vec<String> = choices.iter().map(kind).collect();
            // The same values as numbers and as text.
            kinds.dedup();
            return kinds.join(" or ");
        }
    }
    if let Some(choices) = schema["enum"].as_array() {
        return choices
            .iter()
            .map(|choice| format!("`{}`", choice.to_string().trim_matches('"')))
            .collect::<Vec<_>>()
            .join(" ");
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    let mut text = kinds.join(" or ");
    if kinds.contains(&"array") && schema["items"].is_object() {
        let items = kind(&schema["items"]);
        let items = if kinds.len() > 1 && items.contains(" or ") {
            format!("({items})")
        } else {
            items
        };
        text = text.replace("array", &format!("array of {items}"));
    }
    match (schema["minimum"].as_i64(), schema["maximum"].as_i64()) {
        (Some(least), Some(most)) => {
            let _ = write!(text, ", {least} to {most}");
        }
        _ => {
            if let Some(most) = schema["maxLength"].as_i64() {
                let _ = write!(text, ", at most {most} characters");
            }
        }
    }
    text
}

fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(&reference[1..]).unwrap(),
        None => value,
    }
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

fn last(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap()
}

fn link(schema: &str) -> String {
    format!("[{schema}](#{})", schema.to_lowercase())
}

/// Text of a table cell: a bare `|` would begin the next one.
fn cell(text: &Value) -> String {
    text.as_str().unwrap_or_default().replace('|', "\\|")
}
