//! Values that a step of a log-in takes from its answer, and the places where later steps use them:
//! `{{csrf}}`.

use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};
use reqwest::header::HeaderName;
use serde_json::{Map, Value};

use super::present;

/// Most values that a step takes.
const MOST_VALUES: usize = 10;
/// Most bytes of a compiled pattern.
const PATTERN_SIZE: usize = 1 << 20;

/// A value of the answer, for later steps and for the headers of the scan.
#[derive(Clone)]
pub struct TakenValue {
    pub name: String,
    pub from: ValueSource,
}

#[derive(Clone)]
pub enum ValueSource {
    Header(HeaderName),
    Cookie(String),
    /// A JSON pointer.
    Json(String),
    /// The first group of a pattern, or the whole match.
    Regex(Regex),
}

/// The values that were taken so far, by their names.
pub type TakenValues = BTreeMap<String, String>;

/// Reads the values that a step takes: one, or a list.
///
/// # Errors
/// The expected form.
pub fn read_takes(given: Option<&Value>) -> Result<Vec<TakenValue>, &'static str> {
    match given {
        None => Ok(Vec::new()),
        Some(Value::Array(all)) if all.len() <= MOST_VALUES => {
            all.iter().map(TakenValue::parse).collect()
        }
        Some(Value::Array(_)) => Err("take: at most 10 values are allowed"),
        Some(one) => TakenValue::parse(one).map(|one| vec![one]),
    }
}

impl TakenValue {
    fn parse(given: &Value) -> Result<Self, &'static str> {
        const FORM: &str = "take must be an object, or a list of them, with name, from (header, cookie, json or regex) and at";
        let fields = given.as_object().ok_or(FORM)?;
        let text = |name: &str| present(fields, name).and_then(Value::as_str);
        let (Some(name), Some(from)) = (text("name"), text("from")) else {
            return Err(FORM);
        };
        if fields
            .keys()
            .any(|name| !["name", "from", "at"].contains(&name.as_str()))
        {
            return Err(FORM);
        }
        let is_in_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if name.is_empty() || !name.chars().all(is_in_name) {
            return Err("take: name must have letters, digits and `_` only");
        }
        let at = text("at").unwrap_or(name);
        let from = match from {
            "header" => HeaderName::try_from(at)
                .map(ValueSource::Header)
                .map_err(|_| "take: at is no name of a header")?,
            "cookie" => ValueSource::Cookie(at.to_owned()),
            "json" if at.starts_with('/') => ValueSource::Json(at.to_owned()),
            "json" => ValueSource::Json(format!("/{at}")),
            "regex" => RegexBuilder::new(at)
                .size_limit(PATTERN_SIZE)
                .build()
                .map(ValueSource::Regex)
                .map_err(|_| "take: at is no valid regular expression, or too large")?,
            _ => return Err(FORM),
        };
        Ok(Self {
            name: name.to_owned(),
            from,
        })
    }
}

/// A text with the taken values in place of `{{name}}`.
///
/// # Errors
/// The name of a placeholder without a value.
pub fn filled(text: &str, values: &TakenValues) -> Result<String, String> {
    let mut parts = text.split("{{");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let known = part
            .split_once("}}")
            .map(|(name, rest)| (values.get(name.trim()), name, rest));
        match known {
            Some((Some(value), _, rest)) => {
                whole.push_str(value);
                whole.push_str(rest);
            }
            Some((None, name, _)) => {
                let name: String = name.trim().chars().take(40).collect();
                return Err(format!("{{{{{name}}}}} is not taken by an earlier step"));
            }
            None => {
                whole.push_str("{{");
                whole.push_str(part);
            }
        }
    }
    Ok(whole)
}

/// A JSON value whose texts are filled.
///
/// # Errors
/// The name of a placeholder without a value.
pub fn filled_json(value: &Value, values: &TakenValues) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => Value::String(filled(text, values)?),
        Value::Array(all) => {
            let all: Result<Vec<Value>, String> =
                all.iter().map(|one| filled_json(one, values)).collect();
            Value::Array(all?)
        }
        Value::Object(fields) => {
            let fields: Result<Map<String, Value>, String> = fields
                .iter()
                .map(|(name, one)| Ok((name.clone(), filled_json(one, values)?)))
                .collect();
            Value::Object(fields?)
        }
        other => other.clone(),
    })
}
