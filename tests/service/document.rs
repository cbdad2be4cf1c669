//! Compares responses with the OpenAPI document: the status is listed, and the body is allowed by
//! its schema.
//!
//! [`super::TestService`] compares every response, so each test of the service is a test of the
//! document.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use reqwest::Method;
use scandeck::service::openapi_document;
use serde_json::Value;

use super::JsonResponse;
use crate::exports::errors;

static DOCUMENT: LazyLock<Value> = LazyLock::new(openapi_document);
static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Asserts that the document describes the response. Paths and methods that it does not list are
/// not compared.
#[track_caller]
pub fn assert_described(method: &Method, path: &str, response: &JsonResponse) {
    let path = path.split('?').next().unwrap_or_default();
    let Some(template) = template(path) else {
        return;
    };
    let method = method.as_str().to_lowercase();
    let operation = &DOCUMENT["paths"][&template][&method];
    if operation.is_null() {
        return;
    }
    let status = response.status.to_string();
    let described = &operation["responses"][&status];
    assert!(
        !described.is_null(),
        "{method} {path} returns {status}, which the document does not list"
    );
    let mut pointer = format!(
        "/paths/{}/{method}/responses/{status}",
        template.replace('/', "~1")
    );
    if let Some(reference) = described["$ref"].as_str() {
        pointer = reference[1..].to_owned();
    }
    let content = &DOCUMENT.pointer(&pointer).unwrap()["content"];
    if content.is_null() {
        assert_eq!(
            response.body,
            Value::Null,
            "{method} {path} {status} has a body"
        );
        return;
    }
    assert!(
        !content[&response.content_type].is_null(),
        "{method} {path} {status}: {}",
        response.content_type
    );
    if response.content_type == "application/json" {
        let schema = format!("{pointer}/content/application~1json/schema");
        let errors = errors(&validator(&schema), &response.body);
        assert!(errors.is_empty(), "{method} {path} {status}: {errors:?}");
    }
}

/// The path of the document for a requested path.
fn template(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let is_equal = |template: &&String| {
        let template: Vec<&str> = template
            .split('/')
            .filter(|part| !part.is_empty())
            .collect();
        template.len() == parts.len()
            && template
                .iter()
                .zip(&parts)
                .all(|(expected, part)| *expected == "{id}" || expected == part)
    };
    let paths = DOCUMENT["paths"].as_object()?;
    // A path without parameters comes first.
    let concrete = format!("/{}", parts.join("/"));
    match paths.contains_key(&concrete) {
        true => Some(concrete),
        false => paths.keys().find(is_equal).cloned(),
    }
}

fn validator(pointer: &str) -> Arc<Validator> {
    let new = || {
        let described = DOCUMENT.pointer(pointer).unwrap();
        let (mut schema, mut references) = (described.clone(), BTreeSet::new());
        list_references(described, &mut references);
        for (kind, name) in references {
            schema["components"][kind][name] = DOCUMENT["components"][kind][name].clone();
        }
        Arc::new(jsonschema::validator_for(&schema).unwrap())
    };
    let mut validators = VALIDATORS.lock().unwrap();
    Arc::clone(validators.entry(pointer.to_owned()).or_insert_with(new))
}

/// Kinds and names of the components that a schema needs: to compile all of them takes longer than
/// to compare a response.
fn list_references<'a>(value: &'a Value, found: &mut BTreeSet<(&'a str, &'a str)>) {
    match value {
        Value::Object(fields) => {
            let component = fields
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|reference| reference.strip_prefix("#/components/")?.split_once('/'));
            if let Some((kind, name)) = component
                && found.insert((kind, name))
            {
                list_references(&DOCUMENT["components"][kind][name], found);
            }
            fields
                .values()
                .for_each(|part| list_references(part, found));
        }
        Value::Array(items) => items.iter().for_each(|item| list_references(item, found)),
        _ => {}
    }
}
