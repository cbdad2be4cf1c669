//! The `tool_params` of a new scan: what the fields of its form, or the typed JSON, say.

use crate::forms::{FieldId, FieldProblem, Form};
use crate::scans::form::{AS_FIELDS, AS_JSON, PROTOCOLS, SCAN_TYPES, START_TLS, TOPS};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

/// Most responses that a ping requests.
const MAX_PINGS: u32 = 20;

/// The `tool_params`, from the fields or the JSON.
pub(super) fn params(form: &Form) -> Result<Option<Json>, FieldProblem> {
    match form.choice(FieldId::Params) {
        AS_FIELDS => params_of_fields(form),
        AS_JSON => {
            let object: Result<Map<String, Json>, _> =
                serde_json::from_str(&form.text(FieldId::ParamsJson));
            let params = object.map(|params| Some(Json::Object(params)));
            params.map_err(|error| (FieldId::ParamsJson, format!("not a JSON object: {error}")))
        }
        _ => Ok(None),
    }
}

fn params_of_fields(form: &Form) -> Result<Option<Json>, FieldProblem> {
    let mut params = Map::new();
    if form.is_shown(FieldId::ScanType) {
        params.insert(
            "scan_type".to_owned(),
            json!(SCAN_TYPES[form.choice(FieldId::ScanType)]),
        );
    }
    if form.is_shown(FieldId::PortTop) {
        params.insert(
            "port_top".to_owned(),
            json!(TOPS[form.choice(FieldId::PortTop)]),
        );
    }
    if form.is_shown(FieldId::PortRange) {
        let (start, end) = port_range(&form.text(FieldId::PortRange))
            .map_err(|problem| (FieldId::PortRange, problem))?;
        params.insert(
            "port_range".to_owned(),
            json!({"start_port": start, "end_port": end}),
        );
    }
    if form.is_shown(FieldId::PortList) {
        let ports = port_list(&form.text(FieldId::PortList))
            .map_err(|problem| (FieldId::PortList, problem))?;
        params.insert("port_list".to_owned(), json!(ports));
    }
    for id in [FieldId::TlsPort, FieldId::PingPort] {
        if let Some(text) = form.filled(id) {
            params.insert(
                "port".to_owned(),
                json!(port(&text).map_err(|problem| (id, problem))?),
            );
        }
    }
    if form.is_shown(FieldId::StartTls) && form.choice(FieldId::StartTls) > 0 {
        params.insert(
            "starttls".to_owned(),
            json!(START_TLS[form.choice(FieldId::StartTls)]),
        );
    }
    if form.choice(FieldId::Protocol) > 0 {
        params.insert(
            "protocol_type".to_owned(),
            json!(PROTOCOLS[form.choice(FieldId::Protocol)]),
        );
    }
    if form.choice(FieldId::CheckAlive) == 1 {
        params.insert("check_alive".to_owned(), json!(true));
    }
    let words = form
        .choice(FieldId::ScanWords)
        .checked_sub(1)
        .and_then(|at| form.subject.wordlists.get(at));
    params.extend(words.map(|id| ("wordlist_id".to_owned(), json!(id))));
    params.extend(
        form.filled(FieldId::Domain)
            .map(|domain| ("domain".to_owned(), json!(domain))),
    );
    if let Some(text) = form.filled(FieldId::Extensions) {
        let extensions: Vec<&str> = text
            .split([',', ' '])
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .collect();
        params.insert("extensions".to_owned(), json!(extensions));
    }
    if form.choice(FieldId::RecursionDepth) > 0 {
        params.insert(
            "recursion_depth".to_owned(),
            json!(form.choice(FieldId::RecursionDepth)),
        );
    }
    if let Some(count) = form.filled(FieldId::PingCount) {
        let problem = || {
            (
                FieldId::PingCount,
                format!("connections must be 1 to {MAX_PINGS}"),
            )
        };
        let count = count
            .parse()
            .ok()
            .filter(|count| (1..=MAX_PINGS).contains(count))
            .ok_or_else(problem)?;
        params.insert("count".to_owned(), json!(count));
    }
    if let Some(rate) = form.filled(FieldId::RequestsPerSecond) {
        let problem = || {
            (
                FieldId::RequestsPerSecond,
                "requests per second must be 1 or more".to_owned(),
            )
        };
        let rate: u32 = rate
            .parse()
            .ok()
            .filter(|&rate| rate > 0)
            .ok_or_else(problem)?;
        params.insert("requests_per_second".to_owned(), json!(rate));
    }
    Ok((!params.is_empty()).then_some(Json::Object(params)))
}

fn port(text: &str) -> Result<u16, String> {
    let port = text.trim().parse().ok().filter(|&port| port > 0);
    port.ok_or_else(|| format!("{:?} is not a port from 1 to 65535", text.trim()))
}

fn port_range(text: &str) -> Result<(u16, u16), String> {
    let (start, end) = text
        .split_once('-')
        .ok_or("use two ports, such as 1-1024")?;
    let (start, end) = (port(start)?, port(end)?);
    if start > end {
        return Err("the first port is higher than the last".to_owned());
    }
    Ok((start, end))
}

pub(super) fn port_list(text: &str) -> Result<Vec<u16>, String> {
    let mut ports = BTreeSet::new();
    for item in text
        .split([',', ' ', '\n'])
        .map(str::trim)
        .filter(|item| !item.is_empty())
    {
        let (start, end) = if item.contains('-') {
            port_range(item)?
        } else {
            (port(item)?, port(item)?)
        };
        ports.extend(start..=end);
    }
    if ports.is_empty() {
        return Err("at least one port is required".to_owned());
    }
    Ok(ports.into_iter().collect())
}
