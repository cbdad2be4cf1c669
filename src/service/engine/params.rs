//! Tool parameters: validated once when a scan is requested.
//!
//! `POST /scans` stores and returns the result of [`check_params`], which contains the defaults. The tools parse it again.
//! Names and values are those of `hosted-service.md` (Tools); null counts as absent, unknown names are dropped.

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::TOOLS;
use super::ports::select::PortSelection;
use crate::contract::Tool;

/// Why parameters are invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParamsError {
    /// A wrong JSON type (422).
    #[error("tool_params: {0}")]
    Type(String),
    /// An unsupported value (400).
    #[error("tool_params: {0}")]
    Value(String),
}

/// Checks the parameters of a tool; returns them with defaults.
///
/// # Errors
/// The parameter and its choices, never the values of `authentication`.
pub fn check_params(tool: Tool, params: &Value) -> Result<Value, ParamsError> {
    let empty = Map::new();
    let params = match params {
        Value::Null => &empty,
        Value::Object(fields) => fields,
        _ => return Err(ParamsError::Type("an object is required".to_owned())),
    };
    match tool {
        Tool::PORTS => check_ports(params),
        Tool::WEBSITE => check_website(params),
        Tool::TLS => Ok(json!({"scan_type": scan_type(params, &["light"])?.unwrap_or("light")})),
        other => Err(ParamsError::Value(unknown_tool_message(other.0))),
    }
}

/// The error message for a tool that this engine does not have.
pub fn unknown_tool_message(id: i64) -> String {
    let label = |tool: &Tool| match tool.name() {
        Some(name) => format!("{} ({name})", tool.0),
        None => tool.0.to_string(),
    };
    let available: Vec<String> = TOOLS.iter().map(label).collect();
    format!("tool_id {} is not available; tools are {}", label(&Tool(id)), available.join(", "))
}

fn check_ports(params: &Map<String, Value>) -> Result<Value, ParamsError> {
    if let Some(protocol) = text(params, "protocol_type")?
        && protocol != "tcp"
    {
        return Err(ParamsError::Value("protocol_type must be tcp for this tool".to_owned()));
    }
    let selection = PortSelection::parse(params)?;
    let mut checked = selection.to_params();
    checked.insert("check_alive".to_owned(), boolean(params, "check_alive")?.unwrap_or(false).into());
    Ok(Value::Object(checked))
}

fn check_website(params: &Map<String, Value>) -> Result<Value, ParamsError> {
    let scan_type = scan_type(params, &["light", "deep"])?.unwrap_or("light");
    let mut checked = Map::new();
    checked.insert("scan_type".to_owned(), scan_type.into());
    if let Some(rate) = present(params, "requests_per_second") {
        let rate = rate.as_u64().ok_or_else(|| wrong(rate, "requests_per_second", "an integer"))?;
        if !(1..=10_000).contains(&rate) {
            return Err(ParamsError::Value("requests_per_second must be 1 to 10000".to_owned()));
        }
        checked.insert("requests_per_second".to_owned(), rate.into());
    }
    if let Some(given) = present(params, "authentication") {
        Authentication::parse(given)?;
        checked.insert("authentication".to_owned(), given.clone());
    }
    Ok(Value::Object(checked))
}

/// Headers that a scan sends with each request to the host of the target.
#[derive(Clone, Default)]
pub struct Authentication {
    /// Header names and values; cookies are one `Cookie` header.
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

impl Authentication {
    /// Reads `{"headers": {"Name": "value"} | ["Name: value"], "cookies": {"name": "value"} | "a=b; c=d"}`.
    ///
    /// # Errors
    /// The expected form, without the values.
    pub fn parse(given: &Value) -> Result<Self, ParamsError> {
        let form = "authentication must be an object with `headers` (an object, or lines \"Name: value\") or `cookies` \
                    (an object, or a string \"a=b; c=d\")";
        let wrong = || ParamsError::Type(form.to_owned());
        let fields = given.as_object().ok_or_else(wrong)?;
        if fields.is_empty() || fields.keys().any(|key| key != "headers" && key != "cookies") {
            return Err(ParamsError::Value(form.to_owned()));
        }
        let mut lines: Vec<(String, String)> = Vec::new();
        match present(fields, "headers") {
            None => {}
            Some(Value::Object(all)) => {
                for (name, value) in all {
                    lines.push((name.clone(), value.as_str().ok_or_else(wrong)?.to_owned()));
                }
            }
            Some(Value::Array(all)) => {
                for line in all {
                    let (name, value) = line.as_str().and_then(|line| line.split_once(':')).ok_or_else(wrong)?;
                    lines.push((name.to_owned(), value.trim().to_owned()));
                }
            }
            Some(_) => return Err(wrong()),
        }
        match present(fields, "cookies") {
            None => {}
            Some(Value::String(cookies)) => lines.push(("cookie".to_owned(), cookies.clone())),
            Some(Value::Object(all)) => {
                let pairs = all.iter().map(|(name, value)| Some(format!("{name}={}", value.as_str()?)));
                let pairs: Option<Vec<String>> = pairs.collect();
                lines.push(("cookie".to_owned(), pairs.ok_or_else(wrong)?.join("; ")));
            }
            Some(_) => return Err(wrong()),
        }
        let headers = lines.into_iter().map(|(name, value)| header(&name, &value)).collect::<Result<_, _>>()?;
        Ok(Self { headers })
    }
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ParamsError> {
    let invalid = |part: &str| ParamsError::Value(format!("authentication: invalid header {part}"));
    let name = HeaderName::try_from(name.trim()).map_err(|_| invalid("name"))?;
    let mut value = HeaderValue::try_from(value).map_err(|_| invalid("value"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// `scan_type`, which some clients call `preset`.
pub(super) fn scan_type<'a>(
    params: &'a Map<String, Value>,
    choices: &[&'a str],
) -> Result<Option<&'a str>, ParamsError> {
    let given = match text(params, "scan_type")? {
        Some(given) => Some(given),
        None => text(params, "preset")?,
    };
    match given {
        Some(given) if !choices.contains(&given) => Err(ParamsError::Value(format!(
            "scan_type of this tool must be {}, not `{}`",
            choices.join(" or "),
            given.chars().take(40).collect::<String>()
        ))),
        given => Ok(given),
    }
}

/// A parameter that is present and not null.
pub(super) fn present<'a>(params: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    params.get(name).filter(|value| !value.is_null())
}

pub(super) fn text<'a>(params: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, ParamsError> {
    present(params, name).map(|value| value.as_str().ok_or_else(|| wrong(value, name, "a string"))).transpose()
}

pub(super) fn boolean(params: &Map<String, Value>, name: &str) -> Result<Option<bool>, ParamsError> {
    present(params, name).map(|value| value.as_bool().ok_or_else(|| wrong(value, name, "a boolean"))).transpose()
}

/// The error for a wrong JSON type.
pub(super) fn wrong(value: &Value, name: &str, expected: &str) -> ParamsError {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    ParamsError::Type(format!("{name} must be {expected}, not {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_params_adds_defaults() {
        for (tool, given, checked) in [
            (Tool::PORTS, json!(null), json!({"scan_type":"light","check_alive":false})),
            (Tool::PORTS, json!({"preset":"deep","x":1}), json!({"scan_type":"deep","check_alive":false})),
            (
                Tool::PORTS,
                json!({"port_top":"1000","check_alive":true}),
                json!({"scan_type":"custom","port_top":"1000","check_alive":true}),
            ),
            (Tool::WEBSITE, json!({}), json!({"scan_type":"light"})),
            (Tool::TLS, json!({"scan_type":null}), json!({"scan_type":"light"})),
        ] {
            assert_eq!(check_params(tool, &given), Ok(checked), "{given}");
        }
    }

    #[test]
    fn check_params_distinguishes_wrong_values_and_types() {
        for (tool, given, expected) in [
            (
                Tool::WEBSITE,
                json!({"scan_type":"heavy"}),
                "value: scan_type of this tool must be light or deep, not `heavy`",
            ),
            (Tool::WEBSITE, json!({"scan_type":3}), "type: scan_type must be a string, not a number"),
            (Tool::WEBSITE, json!([]), "type: an object"),
            (Tool::WEBSITE, json!({"requests_per_second":0}), "value: requests_per_second must be 1"),
            (Tool::WEBSITE, json!({"requests_per_second":"9"}), "type: requests_per_second must be an integer"),
            (Tool::PORTS, json!({"port_top":"7"}), "value: port_top must be"),
            (Tool::PORTS, json!({"check_alive":"yes"}), "type: check_alive must be a boolean"),
            (Tool::PORTS, json!({"protocol_type":"udp"}), "value: protocol_type must be tcp"),
            (Tool(20), json!({}), "value: tool_id 20 (Subdomain Finder) is not available; tools are 70"),
        ] {
            let message = match check_params(tool, &given).expect_err(&given.to_string()) {
                ParamsError::Type(text) => format!("type: {text}"),
                ParamsError::Value(text) => format!("value: {text}"),
            };
            assert!(message.starts_with(expected), "{given}: {message}");
        }
    }

    #[test]
    fn authentication_accepts_headers_and_cookies_and_errors_hide_values() {
        for good in [
            json!({"headers":{"Authorization":"Bearer s3cret"}}),
            json!({"headers":["X-Key: s3cret"],"cookies":"sid=s3cret"}),
            json!({"cookies":{"sid":"s3cret"}}),
        ] {
            assert_eq!(Authentication::parse(&good).unwrap().headers.len(), good.as_object().unwrap().len());
        }
        for bad in [
            json!({}),
            json!("s3cret"),
            json!({"password":"s3cret"}),
            json!({"headers":{"X":["s3cret"]}}),
            json!({"headers":["s3cret"]}),
            json!({"headers":{"X":"s3cret\r\nY: 1"}}),
            json!({"headers":{"s3 cret":"1"}}),
        ] {
            let error = Authentication::parse(&bad).err().expect("refused").to_string();
            assert!(!error.contains("s3"), "{error}");
        }
    }
}
