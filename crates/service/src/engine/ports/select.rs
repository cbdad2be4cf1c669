//! The ports of a scan: `light`, `deep`, or `custom` with a top number, a range or a list.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::top;
use crate::engine::params::{ParamsError, present, scan_type, wrong};

/// Values of `port_top` (`hosted-service.md`, Tools).
const TOP_CHOICES: [usize; 4] = [10, 100, 1000, 5000];

/// The selected ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortSelection {
    /// The 100 most common.
    Light,
    /// The 1,000 most common.
    Deep,
    /// The most common ports, one of `TOP_CHOICES`.
    Top(usize),
    /// First and last port, both included.
    Range(u16, u16),
    List(BTreeSet<u16>),
}

impl PortSelection {
    /// Parses `scan_type` and the selectors. A selector without `scan_type` means `custom`.
    ///
    /// # Errors
    /// The parameter and its choices.
    pub fn parse(params: &Map<String, Value>) -> Result<Self, ParamsError> {
        let bad = |text: String| Err(ParamsError::Value(text));
        let given: Vec<&str> = ["port_top", "port_range", "port_list"]
            .into_iter()
            .filter(|name| present(params, name).is_some())
            .collect();
        let default = if given.is_empty() { "light" } else { "custom" };
        match (
            scan_type(params, &["light", "deep", "custom"])?.unwrap_or(default),
            given.as_slice(),
        ) {
            ("custom", []) => {
                bad("scan_type custom requires port_top, port_range or port_list".to_owned())
            }
            ("custom", [one]) => Self::custom(one, &params[*one]),
            ("custom", many) => bad(format!("use only one of {}", many.join(", "))),
            (_, [one, ..]) => bad(format!("{one} requires scan_type custom")),
            ("deep", []) => Ok(Self::Deep),
            _ => Ok(Self::Light),
        }
    }

    fn custom(name: &str, value: &Value) -> Result<Self, ParamsError> {
        match name {
            "port_top" => parse_top(value),
            "port_range" => parse_range(value),
            _ => parse_list(value),
        }
    }

    /// The parameters of this selection.
    pub fn to_params(&self) -> Map<String, Value> {
        let (scan_type, selector) = match self {
            Self::Light => ("light", None),
            Self::Deep => ("deep", None),
            Self::Top(n) => ("custom", Some(("port_top", json!(n.to_string())))),
            Self::Range(first, last) => (
                "custom",
                Some(("port_range", json!({"start_port": first, "end_port": last}))),
            ),
            Self::List(ports) => ("custom", Some(("port_list", json!(ports)))),
        };
        let mut params = Map::new();
        params.insert("scan_type".to_owned(), scan_type.into());
        params.extend(selector.map(|(name, value)| (name.to_owned(), value)));
        params
    }

    /// The TCP ports, the most common first if they are ranked. The port that a target names is in
    /// every ranked selection.
    pub fn ports(&self, named: Option<u16>) -> Vec<u16> {
        let mut ports = self.ports_of(top::ranked);
        if let (Self::Light | Self::Deep | Self::Top(_), Some(named)) = (self, named)
            && !ports.contains(&named)
        {
            ports.insert(0, named);
        }
        ports
    }

    /// The UDP ports, the most common first if they are ranked.
    pub fn udp_ports(&self) -> Vec<u16> {
        self.ports_of(top::udp_ranked)
    }

    fn ports_of(&self, ranked: fn(usize) -> Vec<u16>) -> Vec<u16> {
        match self {
            Self::Light => ranked(100),
            Self::Deep => ranked(1000),
            Self::Top(n) => ranked(*n),
            Self::Range(first, last) => (*first..=*last).collect(),
            Self::List(ports) => ports.iter().copied().collect(),
        }
    }
}

fn parse_top(value: &Value) -> Result<PortSelection, ParamsError> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        other => return Err(wrong(other, "port_top", "a string")),
    };
    match TOP_CHOICES.iter().find(|choice| choice.to_string() == text) {
        Some(top) => Ok(PortSelection::Top(*top)),
        None => {
            let [first, second, third, last] = TOP_CHOICES;
            Err(ParamsError::Value(format!(
                "port_top must be {first}, {second}, {third} or {last}"
            )))
        }
    }
}

fn parse_range(value: &Value) -> Result<PortSelection, ParamsError> {
    let fields = value
        .as_object()
        .ok_or_else(|| wrong(value, "port_range", "an object {start_port, end_port}"))?;
    let end = |name: &str| match fields.get(name) {
        Some(value) => port(value, &format!("port_range.{name}")),
        None => Err(ParamsError::Value(
            "port_range requires start_port and end_port".to_owned(),
        )),
    };
    match (end("start_port")?, end("end_port")?) {
        (first, last) if first <= last => Ok(PortSelection::Range(first, last)),
        _ => Err(ParamsError::Value(
            "port_range: start_port is greater than end_port".to_owned(),
        )),
    }
}

/// Parses a list of numbers and texts, or one text: `"80,443,8000-8100"`.
fn parse_list(value: &Value) -> Result<PortSelection, ParamsError> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        Value::String(_) => std::slice::from_ref(value),
        other => return Err(wrong(other, "port_list", "a list of ports")),
    };
    let mut ports = BTreeSet::new();
    for item in items {
        let Value::String(text) = item else {
            ports.insert(port(item, "port_list")?);
            continue;
        };
        for part in text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (
                port_text(first, "port_list")?,
                port_text(last, "port_list")?,
            );
            if first > last {
                return Err(ParamsError::Value(format!(
                    "port_list: {first}-{last} is not a range"
                )));
            }
            ports.extend(first..=last);
        }
    }
    match ports.is_empty() {
        true => Err(ParamsError::Value("port_list is empty".to_owned())),
        false => Ok(PortSelection::List(ports)),
    }
}

fn port(value: &Value, name: &str) -> Result<u16, ParamsError> {
    match value {
        Value::Number(number) => match number.as_u64() {
            Some(n @ 1..=65535) => Ok(n as u16),
            _ => Err(ParamsError::Value(format!(
                "{name}: {number} is not a port (1 to 65535)"
            ))),
        },
        Value::String(text) => port_text(text, name),
        other => Err(wrong(other, name, "a port")),
    }
}

fn port_text(text: &str, name: &str) -> Result<u16, ParamsError> {
    match text.trim().parse::<u16>() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(ParamsError::Value(format!(
            "{name}: `{}` is not a port (1 to 65535)",
            text.chars().take(20).collect::<String>()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(params: Value) -> Result<PortSelection, ParamsError> {
        PortSelection::parse(params.as_object().unwrap())
    }

    #[test]
    fn selectors_are_parsed_and_converted_back() {
        for (params, count) in [
            (json!({}), 100),
            (json!({"scan_type":"deep"}), 1000),
            (json!({"scan_type":"custom","port_top":"10"}), 10),
            (json!({"port_top":5000}), 5000),
            (
                json!({"port_range":{"start_port":1,"end_port":65535}}),
                65535,
            ),
            (json!({"port_list":[80,"443","8000-8009, 22",80]}), 13),
            (json!({"port_list":"80,443,8000-8100"}), 103),
        ] {
            let selection = parse(params.clone()).unwrap();
            assert_eq!(
                (selection.ports(None).len(), selection.udp_ports().len()),
                (count, count),
                "{params}"
            );
            assert_eq!(
                parse(Value::Object(selection.to_params())),
                Ok(selection),
                "{params}"
            );
        }
    }

    #[test]
    fn ranked_selection_contains_port_of_target() {
        let ports = |params: Value, named| parse(params).unwrap().ports(Some(named));
        assert_eq!(ports(json!({}), 33_915).first(), Some(&33_915));
        assert_eq!(ports(json!({}), 443).len(), 100, "contained already");
        assert_eq!(
            ports(json!({"port_list": [80]}), 33_915),
            [80],
            "an explicit list is exact"
        );
    }

    #[test]
    fn invalid_selectors_are_refused() {
        for (params, why) in [
            (json!({"scan_type":"custom"}), "requires port_top"),
            (
                json!({"scan_type":"light","port_top":"10"}),
                "requires scan_type custom",
            ),
            (json!({"port_top":"10","port_list":[1]}), "use only one of"),
            (json!({"port_top":"11"}), "must be 10, 100, 1000 or 5000"),
            (
                json!({"port_range":{"start_port":9}}),
                "requires start_port and end_port",
            ),
            (
                json!({"port_range":{"start_port":9,"end_port":8}}),
                "greater",
            ),
            (json!({"port_range":[1,2]}), "not a list"),
            (json!({"port_list":[]}), "empty"),
            (json!({"port_list":[0]}), "1 to 65535"),
            (json!({"port_list":["80-70"]}), "not a range"),
            (json!({"port_list":["http"]}), "not a port"),
        ] {
            let error = parse(params.clone())
                .expect_err(&params.to_string())
                .to_string();
            assert!(error.contains(why), "{params}: {error}");
        }
    }
}
