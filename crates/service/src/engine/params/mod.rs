//! Tool parameters: validated once when a scan is requested.
//!
//! `POST /scans` stores and returns the result of [`check_params`], which contains the defaults.
//! The tools parse it again. Names and values are those of `hosted-service.md` (Tools); null counts
//! as absent, unknown names are dropped.

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::ScanLimits;
use super::guests::scan_of;
use super::pace::requests_per_second;
use super::ports::select::PortSelection;
use super::tls::is_test as is_tls_test;
use super::tls::starttls::StartTls;
use super::tools::unknown_tool_message;
use super::website::check_active;
use crate::net::address::Address;
use crate::scope_check::is_this_host;
use scandeck_wire::contract::Tool;
use scandeck_wire::contract::scan::ONLY_TESTS;

mod authentication;
pub mod guests;
pub mod login;
pub mod taken_values;
pub mod tools;
pub mod website;

pub use authentication::Authentication;
use website::{WebsiteParams, WebsiteScanType, texts};

/// Why parameters are invalid; the text begins with the name of the parameter.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParamsError {
    /// A wrong JSON type (422).
    #[error("tool_params.{0}")]
    Type(String),
    /// An unsupported value (400).
    #[error("tool_params.{0}")]
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
        Tool::UDP_PORTS => check_port_selection(params, "udp", (Tool::PORTS, "TCP")),
        Tool::NETWORK => check_network(params),
        Tool::TLS => check_tls(params),
        Tool::RECON | Tool::FIREWALL => tools::check_pages(params).map(Value::Object),
        Tool::FUZZER => tools::check_fuzzer(params).map(Value::Object),
        Tool::VIRTUAL_HOSTS => tools::check_virtual_hosts(params).map(Value::Object),
        Tool::SUBDOMAINS => tools::check_subdomains(params).map(Value::Object),
        Tool::PING => tools::check_ping(params).map(Value::Object),
        other => match scan_of(other) {
            Some(scan) => (scan.params)(params),
            None => Err(ParamsError::Value(unknown_tool_message(other.0))),
        },
    }
}

/// Checks `requests_per_second` against the limit of the target, and the limit that the operator
/// allows.
///
/// # Errors
/// The highest rate, and who can raise it.
pub fn check_rate(
    params: &Value,
    address: &Address,
    limits: &ScanLimits,
) -> Result<(), ParamsError> {
    let Some(rate) = params["requests_per_second"].as_u64() else {
        return Ok(());
    };
    let host = address.host();
    let is_local = address.ip().map_or(
        host == "localhost" || host.ends_with(".localhost"),
        is_this_host,
    );
    let highest = requests_per_second(is_local).max(limits.requests_per_second);
    match rate <= u64::from(highest) {
        true => Ok(()),
        false => Err(ParamsError::Value(format!(
            "requests_per_second: at most {highest} for {host}; the operator of the service can raise the limit with \
             `scandeck serve --scan-requests-per-second N`"
        ))),
    }
}

const WITHOUT_HTTP: &str = "cannot be used: the probes of this tool do not log in";

fn check_website(params: &Map<String, Value>) -> Result<Value, ParamsError> {
    let params = WebsiteParams::parse(params)?;
    if let WebsiteScanType::Custom(custom) = &params.scan_type {
        check_active(custom).map_err(ParamsError::Value)?;
    }
    Ok(Value::Object(params.to_params()))
}

fn check_tls(params: &Map<String, Value>) -> Result<Value, ParamsError> {
    refuse_authentication(params, WITHOUT_HTTP)?;
    let mut checked = Map::new();
    checked.insert(
        "scan_type".to_owned(),
        scan_type(params, &["light"])?.unwrap_or("light").into(),
    );
    if let Some(value) = present(params, "port") {
        match value.as_u64() {
            Some(port @ 1..=65535) => _ = checked.insert("port".to_owned(), port.into()),
            Some(_) => return Err(ParamsError::Value("port must be 1 to 65535".to_owned())),
            None => return Err(wrong(value, "port", "an integer")),
        }
    }
    if let Some(name) = text(params, "starttls")? {
        if name != "none" && StartTls::of(name).is_none() {
            let choices: Vec<&str> = StartTls::ALL.iter().map(|one| one.name()).collect();
            return Err(ParamsError::Value(format!(
                "starttls must be none, {}",
                listed(&choices)
            )));
        }
        checked.insert("starttls".to_owned(), name.into());
    }
    let tests = only_tests(params, is_tls_test)?;
    checked.extend(tests.map(|tests| (ONLY_TESTS.to_owned(), json!(tests))));
    Ok(Value::Object(checked))
}

fn check_ports(params: &Map<String, Value>) -> Result<Value, ParamsError> {
    let mut checked = check_port_selection(params, "tcp", (Tool::UDP_PORTS, "UDP"))?;
    if let Some(tests) = only_tests(params, |name| port_of_test(name).is_some())? {
        checked[ONLY_TESTS] = json!(tests);
    }
    Ok(checked)
}

/// The port of a test of the port scanner, such as `port.443`.
pub fn port_of_test(name: &str) -> Option<u16> {
    let digits = name.strip_prefix("port.")?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let port = digits.parse::<u16>().ok().filter(|port| *port > 0)?;
    is_number.then_some(port)
}

/// The tests that a scan runs alone, each by its name or by the kind of finding that it reports.
fn only_tests(
    params: &Map<String, Value>,
    is_test: impl Fn(&str) -> bool,
) -> Result<Option<Vec<String>>, ParamsError> {
    let Some(names) = texts(params, ONLY_TESTS, ONLY_TESTS)? else {
        return Ok(None);
    };
    if names.is_empty() {
        let text = format!("{ONLY_TESTS} names no test; leave it out to run all tests");
        return Err(ParamsError::Value(text));
    }
    if let Some(unknown) = names.iter().find(|name| !is_test(name)) {
        let shown: String = unknown.chars().take(40).collect();
        return Err(ParamsError::Value(format!(
            "{ONLY_TESTS}: unknown test `{shown}`; GET /scans/{{id}}/tests of a finished scan with this tool lists the names"
        )));
    }
    Ok(Some(names))
}

/// Parameters of a port scanner with one protocol; another tool has the other protocol.
fn check_port_selection(
    params: &Map<String, Value>,
    protocol: &str,
    (other, its_protocol): (Tool, &str),
) -> Result<Value, ParamsError> {
    refuse_authentication(params, WITHOUT_HTTP)?;
    if text(params, "protocol_type")?.is_some_and(|given| given != protocol) {
        return Err(ParamsError::Value(format!(
            "protocol_type must be {protocol} for this tool; use the {} for {its_protocol}",
            other.name_with_id()
        )));
    }
    let selection = PortSelection::parse(params)?;
    let mut checked = selection.to_params();
    checked.insert(
        "check_alive".to_owned(),
        boolean(params, "check_alive")?.unwrap_or(false).into(),
    );
    Ok(Value::Object(checked))
}

fn check_network(params: &Map<String, Value>) -> Result<Value, ParamsError> {
    refuse_authentication(
        params,
        "cannot be used: the scripts of this tool do not log in",
    )?;
    let protocol = text(params, "protocol_type")?.unwrap_or("tcp");
    if !["tcp", "udp"].contains(&protocol) {
        return Err(ParamsError::Value(
            "protocol_type must be tcp or udp".to_owned(),
        ));
    }
    check_engines(params)?;
    let mut checked = PortSelection::parse(params)?.to_params();
    checked.insert("scanning_engines".to_owned(), json!(["nmap"]));
    checked.insert("protocol_type".to_owned(), protocol.into());
    checked.insert(
        "check_alive".to_owned(),
        boolean(params, "check_alive")?.unwrap_or(false).into(),
    );
    Ok(Value::Object(checked))
}

/// `scanning_engines` of the network scanner: only nmap is offered.
fn check_engines(params: &Map<String, Value>) -> Result<(), ParamsError> {
    let Some(value) = present(params, "scanning_engines") else {
        return Ok(());
    };
    let engines = value
        .as_array()
        .ok_or_else(|| wrong(value, "scanning_engines", "a list"))?;
    match engines.iter().all(|engine| engine == "nmap") && !engines.is_empty() {
        true => Ok(()),
        false => Err(ParamsError::Value(
            "scanning_engines: use [\"nmap\"]".to_owned(),
        )),
    }
}

/// Refuses `authentication` anywhere in parameters that cannot use it: ignored credentials would
/// look used.
fn refuse_authentication(params: &Map<String, Value>, why: &str) -> Result<(), ParamsError> {
    let values = params
        .iter()
        .filter(|(name, value)| *name != "authentication" && !value.is_null());
    let is_inside = values.map(|(_, value)| value).any(has_authentication);
    match is_inside || present(params, "authentication").is_some() {
        true => Err(ParamsError::Value(format!("authentication {why}"))),
        false => Ok(()),
    }
}

/// Whether a value contains a field `authentication` that is not null.
pub fn has_authentication(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(name, value)| {
            (name == "authentication" && !value.is_null()) || has_authentication(value)
        }),
        Value::Array(items) => items.iter().any(has_authentication),
        _ => false,
    }
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
            "scan_type: use {}, not `{}`",
            listed(choices),
            given.chars().take(40).collect::<String>()
        ))),
        given => Ok(given),
    }
}

/// `light, deep or custom`.
fn listed(choices: &[&str]) -> String {
    match choices {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => choices.concat(),
    }
}

/// A parameter that is present and not null.
pub(super) fn present<'a>(params: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    params.get(name).filter(|value| !value.is_null())
}

pub(super) fn text<'a>(
    params: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a str>, ParamsError> {
    present(params, name)
        .map(|value| value.as_str().ok_or_else(|| wrong(value, name, "a string")))
        .transpose()
}

pub(super) fn boolean(
    params: &Map<String, Value>,
    name: &str,
) -> Result<Option<bool>, ParamsError> {
    present(params, name)
        .map(|value| {
            value
                .as_bool()
                .ok_or_else(|| wrong(value, name, "a boolean"))
        })
        .transpose()
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
            (
                Tool::PORTS,
                json!(null),
                json!({"scan_type":"light","check_alive":false}),
            ),
            (
                Tool::PORTS,
                json!({"only_tests":["port.80"]}),
                json!({"scan_type":"light","check_alive":false,"only_tests":["port.80"]}),
            ),
            (
                Tool::TLS,
                json!({"only_tests":["tls.dh"]}),
                json!({"scan_type":"light","only_tests":["tls.dh"]}),
            ),
            (
                Tool::WEBSITE,
                json!({"only_tests":["web.cors"]}),
                json!({"scan_type":"light","only_tests":["web.cors"]}),
            ),
            (
                Tool::PORTS,
                json!({"preset":"deep","x":1}),
                json!({"scan_type":"deep","check_alive":false}),
            ),
            (
                Tool::PORTS,
                json!({"port_top":"1000","check_alive":true}),
                json!({"scan_type":"custom","port_top":"1000","check_alive":true}),
            ),
            (
                Tool::UDP_PORTS,
                json!({"port_list":[53],"protocol_type":"udp"}),
                json!({"scan_type":"custom","port_list":[53],"check_alive":false}),
            ),
            (
                Tool::NETWORK,
                json!({"scanning_engines":["nmap"],"protocol_type":"udp"}),
                json!({
                    "scan_type":"light","scanning_engines":["nmap"],"protocol_type":"udp","check_alive":false
                }),
            ),
            (Tool::WEBSITE, json!({}), json!({"scan_type":"light"})),
            (
                Tool::TLS,
                json!({"scan_type":null}),
                json!({"scan_type":"light"}),
            ),
            (
                Tool::TLS,
                json!({"port":25,"starttls":"smtp"}),
                json!({"scan_type":"light","port":25,"starttls":"smtp"}),
            ),
        ] {
            assert_eq!(check_params(tool, &given), Ok(checked), "{given}");
        }
    }

    #[test]
    fn rate_above_the_default_needs_the_operator() {
        let check = |target: &str, rate: u32, allowed: u32| {
            let limits = ScanLimits {
                requests_per_second: allowed,
                ..ScanLimits::default()
            };
            check_rate(
                &json!({"requests_per_second": rate}),
                &Address::parse(target).unwrap(),
                &limits,
            )
            .is_ok()
        };
        assert!(
            check("http://127.0.0.1:8080/", 200, 0) && !check("http://127.0.0.1:8080/", 201, 0)
        );
        assert!(
            check("shop.test", 10, 0) && !check("shop.test", 11, 0) && check("shop.test", 50, 50)
        );
        assert!(check("localhost", 200, 50));
    }

    #[test]
    fn check_params_distinguishes_wrong_values_and_types() {
        for (tool, given, expected) in [
            (
                Tool::WEBSITE,
                json!({"scan_type":"heavy"}),
                "value: scan_type: use light, deep or custom, not `heavy`",
            ),
            (
                Tool::WEBSITE,
                json!({"scan_type":3}),
                "type: scan_type must be a string, not a number",
            ),
            (
                Tool::WEBSITE,
                json!({"only_tests":["web.cors","sqli"]}),
                "value: only_tests: unknown test `sqli`; GET /scans/{id}/tests",
            ),
            (
                Tool::TLS,
                json!({"only_tests":[]}),
                "value: only_tests names no test",
            ),
            (
                Tool::PORTS,
                json!({"only_tests":["port.65536"]}),
                "value: only_tests: unknown test `port.65536`",
            ),
            (
                Tool::PORTS,
                json!({"only_tests":"port.80"}),
                "type: only_tests must be a list of strings",
            ),
            (Tool::WEBSITE, json!([]), "type: an object"),
            (
                Tool::WEBSITE,
                json!({"requests_per_second":0}),
                "value: requests_per_second must be 1",
            ),
            (
                Tool::WEBSITE,
                json!({"requests_per_second":"9"}),
                "type: requests_per_second must be an integer",
            ),
            (
                Tool::WEBSITE,
                json!({"scan_type":"custom","discovery":"robots"}),
                "type: discovery must be a list",
            ),
            (
                Tool::WEBSITE,
                json!({"spider":{"approach":"fast"}}),
                "value: spider.approach must be auto",
            ),
            (
                Tool::WEBSITE,
                json!({"spider":{"depth":-1}}),
                "value: spider.depth must be 0 to 100",
            ),
            (
                Tool::WEBSITE,
                json!({"spider":{"include_urls":["ftp://a"]}}),
                "value: spider.include_urls",
            ),
            (
                Tool::WEBSITE,
                json!({"spider":{"authentication":{"cookies":"a=b"}}}),
                "value: authentication inside another parameter is not used",
            ),
            (
                Tool::WEBSITE,
                json!({"scan_type":"custom","attack_active":["web.cors","sqli"]}),
                "value: attack_active: unknown check `sqli` (this service has no attacks); available: web.",
            ),
            (
                Tool::PORTS,
                json!({"authentication":{"cookies":"a=b"}}),
                "value: authentication cannot be used",
            ),
            (
                Tool::TLS,
                json!({"params":{"authentication":1}}),
                "value: authentication cannot be used",
            ),
            (
                Tool::TLS,
                json!({"port":0}),
                "value: port must be 1 to 65535",
            ),
            (
                Tool::TLS,
                json!({"starttls":"xmpp"}),
                "value: starttls must be none, smtp, imap",
            ),
            (
                Tool::PORTS,
                json!({"port_top":"7"}),
                "value: port_top must be",
            ),
            (
                Tool::PORTS,
                json!({"port_list":"80,x"}),
                "value: port_list: `x` is not a port (1 to 65535)",
            ),
            (
                Tool::PORTS,
                json!({"port_range":{"start_port":"x","end_port":9}}),
                "value: port_range.start_port: `x` is",
            ),
            (
                Tool::PORTS,
                json!({"check_alive":"yes"}),
                "type: check_alive must be a boolean",
            ),
            (
                Tool::PORTS,
                json!({"protocol_type":"udp"}),
                "value: protocol_type must be tcp for this tool; use the UDP Port Scanner (80)",
            ),
            (
                Tool::UDP_PORTS,
                json!({"protocol_type":"tcp"}),
                "value: protocol_type must be udp for this tool",
            ),
            (
                Tool::NETWORK,
                json!({"protocol_type":"sctp"}),
                "value: protocol_type must be tcp or udp",
            ),
            (
                Tool::NETWORK,
                json!({"scanning_engines":["openvas"]}),
                "value: scanning_engines: use",
            ),
            (
                Tool(30),
                json!({}),
                "value: tool_id 30 (Whois Lookup) is not available; available tools: 20",
            ),
        ] {
            let message = match check_params(tool, &given).expect_err(&given.to_string()) {
                ParamsError::Type(text) => format!("type: {text}"),
                ParamsError::Value(text) => format!("value: {text}"),
            };
            assert!(message.starts_with(expected), "{given}: {message}");
        }
    }
}
