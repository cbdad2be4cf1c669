//! The form of new scans, of one target or of every marked one, with every field of `POST /scans`.
//! A scan profile of the configuration replaces the fields of the tool.

mod fields;
mod new_scans;
mod places;
#[cfg(test)]
mod tests;
mod tools;

use crate::base::FormTag;
use crate::config::ScanProfile;
use crate::data::Data;
use crate::forms::{FieldId, FieldProblem, Form, FormKind, is_web_url};
use crate::scans::estimate::ScanEstimate;
use crate::scans::tool_params::params;
use fields::{port_fields, request_fields, run_fields, target_fields};
use new_scans::{jobs, keep_refused, scans_to_start};
use scandeck_wire::contract::scan::SCAN_MINUTES;
use scandeck_wire::contract::{
    MissingScanner, NewScan, RAW_SOCKETS, Shared, TargetId, Tool, Wordlist, WorkspaceId,
};
use scandeck_wire::text::plural;
use serde_json::Value;
use tools::{label, tool};

static KIND: FormKind = FormKind {
    check: |form, data: &Data| {
        places::offer(form, data.nodes.value().map(AsRef::as_ref));
        let problems = check(form, &data.missing_scanners);
        form.summary.extend(places::warning(form));
        form.summary.extend(estimate(form, data));
        problems
    },
    jobs,
    keep_refused,
    ..FormKind::new("start")
};

pub(super) const PROTOCOLS: [&str; 2] = ["tcp", "udp"];
const UDP: usize = 1;
const NO_RAW_SOCKETS: &str = "UDP needs a service that runs as root or with CAP_NET_RAW";
pub(super) const SCAN_TYPES: [&str; 3] = ["light", "deep", "custom"];
const CUSTOM: usize = 2;
pub(super) const TOPS: [&str; 4] = ["10", "100", "1000", "5000"];
/// Values of `starttls`; without one the port decides.
pub(super) const START_TLS: [&str; 8] = [
    "by port",
    "none",
    "smtp",
    "imap",
    "pop3",
    "ftp",
    "postgresql",
    "ldap",
];
/// Choices of the parameters.
pub(super) const AS_FIELDS: usize = 0;
pub(super) const AS_JSON: usize = 1;

/// Groups of targets, each with its label for the choice; a target name can always be typed.
pub(crate) fn open<'a>(
    sets: Vec<(String, Vec<(TargetId, Shared)>)>,
    wordlists: impl Iterator<Item = &'a Wordlist>,
    profiles: &[ScanProfile],
    workspace: WorkspaceId,
    has_extensions: bool,
) -> Form {
    let (lists, ids) = wordlists
        .map(|list| {
            let words = plural(usize::try_from(list.num_words).unwrap_or(0), "word");
            (format!("{} ({words})", list.name), list.id)
        })
        .unzip();
    let labels = sets.iter().map(|(label, _)| label.clone());
    let mut fields = target_fields(labels, profiles);
    fields.extend(port_fields());
    fields.extend(request_fields(lists));
    fields.extend(run_fields(has_extensions));
    let mut form = Form::new(FormTag::NewScan, &KIND, "New scan", "Start 1 scan", fields)
        .in_workspace(Some(workspace));
    form.subject.has_extensions = has_extensions;
    form.subject.wordlists = ids;
    form.subject.scan_profiles = profiles.to_vec();
    form.subject.target_sets = sets.into_iter().map(|(_, targets)| targets).collect();
    form
}

/// The chosen targets; none when a name is typed.
fn chosen_targets(form: &Form) -> &[(TargetId, Shared)] {
    form.subject
        .target_sets
        .get(form.choice(FieldId::Targets))
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn target_names(form: &Form) -> Vec<String> {
    match names_target(form) {
        true => vec![form.text(FieldId::TargetName)],
        false => chosen_targets(form)
            .iter()
            .map(|(_, name)| name.to_string())
            .collect(),
    }
}

/// Whether a target is an IP address, or a URL with one.
fn is_address(target: &str) -> bool {
    let host = target
        .split_once("://")
        .map_or(target, |(_, rest)| rest)
        .split('/')
        .next()
        .unwrap_or_default();
    let name = host.split(':').next().unwrap_or_default();
    // The last label of a host name is never a number.
    let last = name.rsplit('.').next().unwrap_or_default();
    host.matches(':').count() > 1
        || (!last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
}

fn names_target(form: &Form) -> bool {
    form.choice(FieldId::Targets) >= form.subject.target_sets.len()
}

/// The chosen scan profile.
fn profile(form: &Form) -> Option<&ScanProfile> {
    let place = form.choice(FieldId::ScanProfile).checked_sub(1)?;
    form.subject.scan_profiles.get(place)
}

/// Shows the fields that the choices need, and summarises what sending does.
fn arrange(form: &mut Form) {
    let has_profiles = !form.subject.scan_profiles.is_empty();
    form.show(FieldId::ScanProfile, has_profiles);
    let by_tool = profile(form).is_none();
    for id in [FieldId::Tool, FieldId::Params, FieldId::MaxScanTime] {
        form.show(id, by_tool);
    }
    form.show(FieldId::TargetName, names_target(form));
    form.show(FieldId::ToolId, by_tool && tools::is_typed(form));
    let fields = by_tool && form.choice(FieldId::Params) == AS_FIELDS;
    form.show(FieldId::ParamsJson, form.choice(FieldId::Params) == AS_JSON);
    arrange_tool(form, by_tool, fields);
    arrange_ports(form);
    form.show(FieldId::VpnUuid, places::is_typed(form));
    form.show(
        FieldId::CallbackFormat,
        !form.text(FieldId::CallbackUrl).is_empty(),
    );
    let (targets, scans) = (target_count(form), scans_to_start(form).len());
    form.button = format!("Start {}", plural(scans, "scan"));
    let one = chosen_targets(form)
        .first()
        .map(|(_, name)| name.to_string());
    form.title = match (one, targets) {
        (Some(name), 1) => format!("Scan {name}"),
        (Some(_), _) => format!("Scan {targets} targets"),
        (None, _) => "Scan a target by name".to_owned(),
    };
    form.summary = profile(form).map(profile_lines).unwrap_or_default();
}

/// The scans of a profile, a line each: `Website Scanner (170): scan_type "deep"`.
fn profile_lines(profile: &ScanProfile) -> Vec<String> {
    let line = |scan: &NewScan| {
        let params = scan.tool_params.as_ref().and_then(Value::as_object);
        let texts = params.into_iter().flatten();
        let mut parts: Vec<String> = texts
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        let minutes = scan.max_scan_time.map(|minutes| format!("{minutes} min"));
        parts.extend(minutes);
        let level = scan.redirect_level.as_ref();
        parts.extend(level.map(|level| format!("redirects {level}")));
        if parts.is_empty() {
            parts.push("defaults".to_owned());
        }
        format!("{}: {}", label(Tool(scan.tool_id)), parts.join(", "))
    };
    profile.scans.iter().map(line).collect()
}

/// Shows the fields that the chosen tool has.
fn arrange_tool(form: &mut Form, by_tool: bool, fields: bool) {
    for id in [FieldId::RedirectLevel, FieldId::OriginalUrl] {
        form.show(id, by_tool && tools::has_field(form, id));
    }
    for id in [
        FieldId::ScanType,
        FieldId::Ports,
        FieldId::CheckAlive,
        FieldId::RequestsPerSecond,
        FieldId::TlsPort,
        FieldId::StartTls,
        FieldId::Protocol,
        FieldId::ScanWords,
        FieldId::Domain,
        FieldId::Extensions,
        FieldId::RecursionDepth,
        FieldId::Tags,
        FieldId::PingPort,
        FieldId::PingCount,
    ] {
        form.show(id, fields && tools::has_field(form, id));
    }
}

/// Ports are chosen in a custom scan only.
fn arrange_ports(form: &mut Form) {
    let is_custom = form.choice(FieldId::ScanType) == CUSTOM;
    let ports = form.is_shown(FieldId::Ports) && is_custom;
    form.show(FieldId::Ports, ports);
    for (place, id) in [FieldId::PortTop, FieldId::PortRange, FieldId::PortList]
        .into_iter()
        .enumerate()
    {
        form.show(id, ports && form.choice(FieldId::Ports) == place);
    }
}

fn target_count(form: &Form) -> usize {
    if names_target(form) {
        1
    } else {
        chosen_targets(form).len()
    }
}

/// How long the scans will probably take.
fn estimate(form: &Form, data: &Data) -> Option<String> {
    if profile(form).is_some() {
        return None;
    }
    let scans = data.scans.value()?.items();
    let scan_type = form
        .is_shown(FieldId::ScanType)
        .then(|| SCAN_TYPES[form.choice(FieldId::ScanType)]);
    let estimate = ScanEstimate::of(scans, tool(form)?.0, scan_type)?;
    Some(estimate.words(target_count(form)))
}

/// The problems, with the field names and limits of the API.
fn check(form: &mut Form, missing: &[MissingScanner]) -> Vec<FieldProblem> {
    tools::offer(form, missing);
    arrange(form);
    let lacking = match profile(form) {
        Some(profile) => lacking_in_profile(profile, missing),
        None => lacking_tool(form, missing),
    };
    let mut problems = Vec::new();
    let mut add = |id, problem: &str| problems.push((id, problem.to_owned()));
    if names_target(form) && form.text(FieldId::TargetName).is_empty() {
        add(FieldId::TargetName, "target is required");
    }
    if tool(form).is_none() {
        add(FieldId::ToolId, "tool id must be a number");
    }
    if let Some((id, problem)) = lacking {
        add(id, &problem);
    }
    let is_without_domain =
        form.is_shown(FieldId::Domain) && form.filled(FieldId::Domain).is_none();
    if is_without_domain && target_names(form).iter().any(|name| is_address(name)) {
        add(
            FieldId::Domain,
            "domain is required: the target is an IP address",
        );
    }
    let is_allowed = |minutes: &String| {
        minutes
            .parse()
            .is_ok_and(|minutes| SCAN_MINUTES.contains(&minutes))
    };
    if !form
        .filled(FieldId::MaxScanTime)
        .is_none_or(|minutes| is_allowed(&minutes))
    {
        add(FieldId::MaxScanTime, "time limit must be 1 to 1440 minutes");
    }
    if let Some((id, problem)) = places::problem(form) {
        add(id, &problem);
    }
    if !form
        .filled(FieldId::CallbackUrl)
        .is_none_or(|url| is_web_url(&url))
    {
        add(
            FieldId::CallbackUrl,
            "callback URL must be an http or https URL",
        );
    }
    if let Err((id, problem)) = params(form) {
        add(id, &problem);
    }
    problems
}

/// The scanner or the right that the service lacks for the chosen tool.
fn lacking_tool(form: &Form, missing: &[MissingScanner]) -> Option<FieldProblem> {
    let lacking = tools::lacking(tool(form)?, missing);
    let place = if form.is_shown(FieldId::ToolId) {
        FieldId::ToolId
    } else {
        FieldId::Tool
    };
    let scans_udp = form.is_shown(FieldId::Protocol) && form.choice(FieldId::Protocol) == UDP;
    let lacks_raw_sockets = missing
        .iter()
        .any(|one| one.tool == Tool::UDP_PORTS && &*one.program == RAW_SOCKETS);
    match lacking {
        Some(RAW_SOCKETS) => Some((place, NO_RAW_SOCKETS.to_owned())),
        Some(program) => Some((
            place,
            format!("{program} is missing: install it on the machine of the service"),
        )),
        None if scans_udp && lacks_raw_sockets => {
            Some((FieldId::Protocol, NO_RAW_SOCKETS.to_owned()))
        }
        None => None,
    }
}

/// The scanner that the service lacks for a scan of the profile.
fn lacking_in_profile(profile: &ScanProfile, missing: &[MissingScanner]) -> Option<FieldProblem> {
    let is_of_profile = |one: &&MissingScanner| {
        let mut tools = profile.scans.iter().map(|scan| Tool(scan.tool_id));
        tools.any(|tool| tool == one.tool)
    };
    let MissingScanner { tool, program } = missing.iter().find(is_of_profile)?;
    let why = match &**program {
        RAW_SOCKETS => NO_RAW_SOCKETS.to_owned(),
        program => format!(
            "{} needs {program} on the machine of the service",
            label(*tool)
        ),
    };
    Some((FieldId::ScanProfile, why))
}
