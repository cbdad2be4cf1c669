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
    let mut params = Params::default();
    let scan_type = SCAN_TYPES[form.choice(FieldId::ScanType)];
    params.set_if(form.is_shown(FieldId::ScanType), "scan_type", scan_type);
    port_params(form, &mut params)?;
    request_params(form, &mut params)?;
    Ok((!params.0.is_empty()).then_some(Json::Object(params.0)))
}

#[derive(Default)]
struct Params(Map<String, Json>);

impl Params {
    fn set(&mut self, name: &str, value: impl Into<Json>) {
        self.0.insert(name.to_owned(), value.into());
    }

    fn set_if(&mut self, is_set: bool, name: &str, value: impl Into<Json>) {
        if is_set {
            self.set(name, value);
        }
    }
}

/// The ports and how they are scanned.
fn port_params(form: &Form, params: &mut Params) -> Result<(), FieldProblem> {
    let top = TOPS[form.choice(FieldId::PortTop)];
    params.set_if(form.is_shown(FieldId::PortTop), "port_top", top);
    if form.is_shown(FieldId::PortRange) {
        let (start, end) = port_range(&form.text(FieldId::PortRange))
            .map_err(|problem| (FieldId::PortRange, problem))?;
        params.set("port_range", json!({"start_port": start, "end_port": end}));
    }
    if form.is_shown(FieldId::PortList) {
        let ports = port_list(&form.text(FieldId::PortList))
            .map_err(|problem| (FieldId::PortList, problem))?;
        params.set("port_list", ports);
    }
    for id in [FieldId::TlsPort, FieldId::PingPort] {
        if let Some(text) = form.filled(id) {
            params.set("port", port(&text).map_err(|problem| (id, problem))?);
        }
    }
    let start_tls = form.choice(FieldId::StartTls);
    let has_start_tls = form.is_shown(FieldId::StartTls) && start_tls > 0;
    params.set_if(has_start_tls, "starttls", START_TLS[start_tls]);
    let protocol = form.choice(FieldId::Protocol);
    params.set_if(protocol > 0, "protocol_type", PROTOCOLS[protocol]);
    params.set_if(form.choice(FieldId::CheckAlive) == 1, "check_alive", true);
    Ok(())
}

/// What a tool tries, and how often.
fn request_params(form: &Form, params: &mut Params) -> Result<(), FieldProblem> {
    let words = form
        .choice(FieldId::ScanWords)
        .checked_sub(1)
        .and_then(|at| form.subject.wordlists.get(at));
    if let Some(id) = words {
        params.set("wordlist_id", json!(id));
    }
    if let Some(domain) = form.filled(FieldId::Domain) {
        params.set("domain", domain);
    }
    for (id, name) in [(FieldId::Extensions, "extensions"), (FieldId::Tags, "tags")] {
        if let Some(text) = form.filled(id) {
            let parts: Vec<&str> = text
                .split([',', ' '])
                .map(str::trim)
                .filter(|part| !part.is_empty())
                .collect();
            params.set(name, parts);
        }
    }
    let depth = form.choice(FieldId::RecursionDepth);
    params.set_if(depth > 0, "recursion_depth", depth);
    if let Some(text) = form.filled(FieldId::PingCount) {
        let problem = || format!("connections must be 1 to {MAX_PINGS}");
        let count: Option<u32> = text.parse().ok();
        let count = count
            .filter(|count| (1..=MAX_PINGS).contains(count))
            .ok_or_else(|| (FieldId::PingCount, problem()))?;
        params.set("count", count);
    }
    if let Some(text) = form.filled(FieldId::RequestsPerSecond) {
        let problem = || "requests per second must be 1 or more".to_owned();
        let rate: Option<u32> = text.parse().ok();
        let rate = rate
            .filter(|&rate| rate > 0)
            .ok_or_else(|| (FieldId::RequestsPerSecond, problem()))?;
        params.set("requests_per_second", rate);
    }
    Ok(())
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
