//! The form of new scans, of one target or of every marked one, with every field of `POST /scans`.
//! A scan profile of the configuration replaces the fields of the tool.

use crate::base::{Call, FormTag, Job};
use crate::config::ScanProfile;
use crate::data::Data;
use crate::forms::{
    FieldId, FieldProblem, FieldValue, Form, FormField, FormKind, RefusedScans, UndoneJob,
    is_web_url,
};
use crate::scans::estimate::ScanEstimate;
use crate::scans::tool_params::params;
use scandeck_wire::contract::scan::SCAN_MINUTES;
use scandeck_wire::contract::{
    MissingScanner, NewScan, RAW_SOCKETS, RedirectLevel, ReportCallback, ReportFormat, Shared,
    TargetId, Tool, Wordlist, WorkspaceId,
};
use scandeck_wire::text::plural;
use serde_json::Value;

static KIND: FormKind = FormKind {
    check: |form, data: &Data| {
        let problems = check(form, &data.missing_scanners);
        form.summary.extend(estimate(form, data));
        problems
    },
    jobs,
    keep_refused,
    ..FormKind::new("start")
};

/// The tools of the choice; any other id can be typed.
const TOOLS: [Tool; 18] = [
    Tool::WEBSITE,
    Tool::PORTS,
    Tool::TLS,
    Tool::NETWORK,
    Tool::UDP_PORTS,
    Tool::RECON,
    Tool::FUZZER,
    Tool::VIRTUAL_HOSTS,
    Tool::SUBDOMAINS,
    Tool::FIREWALL,
    Tool::PING,
    Tool::TESTSSL,
    Tool::NUCLEI,
    Tool::HTTPX,
    Tool::SUBFINDER,
    Tool::WAPITI,
    Tool::NIKTO,
    Tool::FFUF,
];
/// Tools whose only scan type is `light`.
const LIGHT_ONLY: [Tool; 14] = [
    Tool::TLS,
    Tool::RECON,
    Tool::FUZZER,
    Tool::VIRTUAL_HOSTS,
    Tool::SUBDOMAINS,
    Tool::FIREWALL,
    Tool::PING,
    Tool::TESTSSL,
    Tool::NUCLEI,
    Tool::HTTPX,
    Tool::SUBFINDER,
    Tool::WAPITI,
    Tool::NIKTO,
    Tool::FFUF,
];
/// Tools that follow no redirects of the start page.
const WITHOUT_REDIRECTS: [Tool; 13] = [
    Tool::PORTS,
    Tool::TLS,
    Tool::NETWORK,
    Tool::UDP_PORTS,
    Tool::SUBDOMAINS,
    Tool::PING,
    Tool::TESTSSL,
    Tool::NUCLEI,
    Tool::HTTPX,
    Tool::SUBFINDER,
    Tool::WAPITI,
    Tool::NIKTO,
    Tool::FFUF,
];
/// Tools that scan a selection of ports.
const WITH_PORTS: [Tool; 3] = [Tool::PORTS, Tool::NETWORK, Tool::UDP_PORTS];
/// Tools with a rate of HTTP requests.
const WITH_RATE: [Tool; 10] = [
    Tool::WEBSITE,
    Tool::RECON,
    Tool::FUZZER,
    Tool::VIRTUAL_HOSTS,
    Tool::FIREWALL,
    Tool::NUCLEI,
    Tool::HTTPX,
    Tool::WAPITI,
    Tool::NIKTO,
    Tool::FFUF,
];
/// Tools that use a wordlist.
const WITH_WORDS: [Tool; 4] = [
    Tool::FUZZER,
    Tool::VIRTUAL_HOSTS,
    Tool::SUBDOMAINS,
    Tool::FFUF,
];
/// Tools of a TLS server.
const WITH_TLS_PORT: [Tool; 2] = [Tool::TLS, Tool::TESTSSL];
/// Tools that add file extensions to words.
const WITH_EXTENSIONS: [Tool; 2] = [Tool::FUZZER, Tool::FFUF];
/// Tools that send attacks, which the service and the scope must permit.
const ACTIVE: [Tool; 3] = [Tool::WAPITI, Tool::NIKTO, Tool::FFUF];
pub(super) const PROTOCOLS: [&str; 2] = ["tcp", "udp"];
const UDP: usize = 1;
const DEPTHS: [&str; 4] = ["0", "1", "2", "3"];
const NO_RAW_SOCKETS: &str = "UDP needs a service that runs as root or with CAP_NET_RAW";
pub(super) const SCAN_TYPES: [&str; 3] = ["light", "deep", "custom"];
const PORTS: [&str; 3] = ["most common", "range", "list"];
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
const NO_PROFILE: usize = 0;
/// Choices of the VPN field.
const NO_VPN: usize = 1;
const A_VPN: usize = 2;

/// Groups of targets, each with its label for the choice; a target name can always be typed.
pub(crate) fn open<'a>(
    sets: Vec<(String, Vec<(TargetId, Shared)>)>,
    wordlists: impl Iterator<Item = &'a Wordlist>,
    profiles: &[ScanProfile],
    workspace: WorkspaceId,
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
    fields.extend(run_fields());
    let mut form = Form::new(FormTag::NewScan, &KIND, "New scan", "Start 1 scan", fields)
        .in_workspace(Some(workspace));
    form.subject.wordlists = ids;
    form.subject.scan_profiles = profiles.to_vec();
    form.subject.target_sets = sets.into_iter().map(|(_, targets)| targets).collect();
    form
}

/// What is scanned, with which tool, and how its parameters are given.
fn target_fields(sets: impl Iterator<Item = String>, profiles: &[ScanProfile]) -> Vec<FormField> {
    let profiles = profiles.iter().map(|profile| {
        let scans = plural(profile.scans.len(), "scan");
        format!("{} ({scans})", profile.name)
    });
    let tools = TOOLS.iter().map(|&tool| label(tool));
    vec![
        FormField::choice(
            FieldId::Targets,
            "Targets",
            sets.chain(["another target".to_owned()]),
            0,
        ),
        FormField::line(FieldId::TargetName, "Target", "")
            .with_help("host name, IP address or URL"),
        FormField::choice(
            FieldId::ScanProfile,
            "Scan profile",
            ["none".to_owned()].into_iter().chain(profiles),
            NO_PROFILE,
        )
        .with_help("tools and parameters of the configuration"),
        FormField::choice(
            FieldId::Tool,
            "Tool",
            tools.chain(["other tool, by id".to_owned()]),
            0,
        ),
        FormField::line(FieldId::ToolId, "Tool id", "")
            .with_help("id of a tool of the service, such as 30"),
        FormField::choice(
            FieldId::Params,
            "Parameters",
            ["fields", "JSON", "tool defaults"],
            AS_FIELDS,
        ),
        FormField::choice(FieldId::ScanType, "Scan type", SCAN_TYPES, 0),
    ]
}

fn port_fields() -> Vec<FormField> {
    vec![
        FormField::choice(FieldId::Ports, "Ports", PORTS, 0),
        FormField::choice(FieldId::PortTop, "How many", TOPS, 1),
        FormField::preset(FieldId::PortRange, "From-to", "1-65535")
            .with_help("1 to 65535, such as 1-1024"),
        FormField::line(FieldId::PortList, "Ports", "").with_help("such as 22, 80, 8000-8010"),
        FormField::line(FieldId::TlsPort, "Port", "")
            .with_help("1 to 65535; empty: port of an https target, else 443"),
        FormField::choice(FieldId::StartTls, "STARTTLS", START_TLS, 0),
        FormField::choice(FieldId::Protocol, "Protocol", PROTOCOLS, 0)
            .with_help("udp needs a service with root or CAP_NET_RAW"),
        FormField::toggle(FieldId::CheckAlive, "Check alive", false)
            .with_help("yes: end the scan if the host does not respond"),
    ]
}

/// Names and requests that a tool tries, or its parameters as JSON.
fn request_fields(wordlists: Vec<String>) -> Vec<FormField> {
    let lists = std::iter::once("default of the tool".to_owned()).chain(wordlists);
    vec![
        FormField::choice(FieldId::ScanWords, "Wordlist", lists, 0),
        FormField::line(FieldId::Domain, "Domain", "")
            .with_help("such as acme.test; required for an IP address"),
        FormField::line(FieldId::Extensions, "Extensions", "")
            .with_help("such as .php, .bak; optional"),
        FormField::choice(FieldId::RecursionDepth, "Folder depth", DEPTHS, 0),
        FormField::line(FieldId::Tags, "Tags", "")
            .with_help("of templates, such as tech, cve; empty: read-only ones"),
        FormField::line(FieldId::PingPort, "TCP port", "")
            .with_help("1 to 65535; empty: port of the target, else 8 common ports"),
        FormField::line(FieldId::PingCount, "Connections", "").with_help("1 to 20; empty: 4"),
        FormField::line(FieldId::RequestsPerSecond, "Requests/s", "")
            .with_help("maximum; empty: default of the service"),
        FormField::lines(FieldId::ParamsJson, "tool_params", "{}").with_help("a JSON object"),
    ]
}

/// How the scan runs, and who gets its report.
fn run_fields() -> Vec<FormField> {
    let redirects = RedirectLevel::KNOWN.iter().map(|level| level.as_str());
    let same_domain = RedirectLevel::KNOWN
        .iter()
        .position(|level| *level == RedirectLevel::SameDomain);
    vec![
        FormField::choice(
            FieldId::RedirectLevel,
            "Redirects",
            redirects,
            same_domain.unwrap_or(0),
        ),
        FormField::line(FieldId::MaxScanTime, "Time limit", "")
            .with_help("1 to 1440 minutes; empty: 1440"),
        FormField::toggle(FieldId::OriginalUrl, "Original URL", false)
            .with_help("yes: scan this URL even if it redirects"),
        FormField::choice(
            FieldId::Vpn,
            "VPN",
            ["workspace default", "none", "profile"],
            0,
        )
        .with_help("if the service has a VPN"),
        FormField::line(FieldId::VpnUuid, "VPN profile", "").with_help("UUID"),
        FormField::line(FieldId::CallbackUrl, "Callback URL", "")
            .with_help("URL that receives the report; optional"),
        FormField::choice(
            FieldId::CallbackFormat,
            "Report as",
            ReportFormat::KNOWN.iter().map(|format| format.as_str()),
            2,
        ),
    ]
}

/// The name of a tool in the words of the documents; the service names them in its own way.
fn label(tool: Tool) -> String {
    let name = match tool {
        Tool::PORTS => "Port scanner",
        Tool::WEBSITE => "Website scanner",
        Tool::TLS => "TLS scanner",
        Tool::NETWORK => "Network scanner",
        Tool::UDP_PORTS => "UDP port scanner",
        Tool::RECON => "Website recon",
        Tool::FIREWALL => "WAF detector",
        Tool::FUZZER => "URL fuzzer",
        Tool::VIRTUAL_HOSTS => "Virtual hosts finder",
        Tool::SUBDOMAINS => "Subdomain finder",
        Tool::PING => "Ping",
        other => other.name().unwrap_or_default(),
    };
    match ACTIVE.contains(&tool) {
        true => format!("{name}, active ({})", tool.0),
        false => format!("{name} ({})", tool.0),
    }
}

/// Marks the tools that the service cannot run. Returns the scanner that the chosen tool lacks.
fn mark_missing<'a>(form: &mut Form, missing: &'a [MissingScanner]) -> Option<&'a str> {
    let of = |tool: Tool| {
        missing
            .iter()
            .find(|one| one.tool == tool)
            .map(|one| &*one.program)
    };
    if let Some(FormField {
        value: FieldValue::Choice { options, .. },
        ..
    }) = form.field_mut(FieldId::Tool)
    {
        for (option, &tool) in options.iter_mut().zip(&TOOLS) {
            *option = match of(tool) {
                Some(program) => format!("{}, needs {program}", label(tool)),
                None => label(tool),
            };
        }
    }
    of(Tool(tool(form)?))
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

fn tool(form: &Form) -> Option<i64> {
    match TOOLS.get(form.choice(FieldId::Tool)) {
        Some(tool) => Some(tool.0),
        None => form.text(FieldId::ToolId).parse().ok(),
    }
}

/// Shows the fields that the choices need, and summarises what sending does.
fn arrange(form: &mut Form) {
    let has_profiles = !form.subject.scan_profiles.is_empty();
    form.show(FieldId::ScanProfile, has_profiles);
    let by_tool = profile(form).is_none();
    for id in [FieldId::Tool, FieldId::Params, FieldId::MaxScanTime] {
        form.show(id, by_tool);
    }
    let typed_tool = form.choice(FieldId::Tool) >= TOOLS.len();
    form.show(FieldId::TargetName, names_target(form));
    form.show(FieldId::ToolId, by_tool && typed_tool);
    let known = tool(form).map(Tool);
    let fields = by_tool && form.choice(FieldId::Params) == AS_FIELDS;
    form.show(FieldId::ParamsJson, form.choice(FieldId::Params) == AS_JSON);
    form.show(
        FieldId::ScanType,
        fields && known.is_none_or(|tool| !LIGHT_ONLY.contains(&tool)),
    );
    arrange_ports(form, fields, known);
    arrange_tool(form, fields, known);
    if !by_tool {
        form.show(FieldId::RedirectLevel, false);
        form.show(FieldId::OriginalUrl, false);
    }
    form.show(FieldId::VpnUuid, form.choice(FieldId::Vpn) == A_VPN);
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

/// The scans of a profile, a line each: `Website scanner (170): scan_type "deep"`.
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

fn arrange_ports(form: &mut Form, fields: bool, tool: Option<Tool>) {
    let custom = form.choice(FieldId::ScanType) == 2;
    let with_ports = fields && tool.is_some_and(|one| WITH_PORTS.contains(&one));
    form.show(FieldId::Ports, with_ports && custom);
    let ports = form.is_shown(FieldId::Ports);
    for (place, id) in [FieldId::PortTop, FieldId::PortRange, FieldId::PortList]
        .into_iter()
        .enumerate()
    {
        form.show(id, ports && form.choice(FieldId::Ports) == place);
    }
    form.show(FieldId::CheckAlive, with_ports);
}

/// The fields of one tool or of a few.
fn arrange_tool(form: &mut Form, fields: bool, tool: Option<Tool>) {
    let is = |one: Tool| fields && tool == Some(one);
    let is_in = |tools: &[Tool]| tool.is_some_and(|tool| tools.contains(&tool));
    let has_redirects = !is_in(&WITHOUT_REDIRECTS);
    form.show(FieldId::RequestsPerSecond, fields && is_in(&WITH_RATE));
    form.show(FieldId::RedirectLevel, has_redirects);
    form.show(FieldId::OriginalUrl, has_redirects);
    form.show(FieldId::TlsPort, fields && is_in(&WITH_TLS_PORT));
    form.show(FieldId::StartTls, fields && is_in(&WITH_TLS_PORT));
    form.show(FieldId::Protocol, is(Tool::NETWORK));
    form.show(FieldId::ScanWords, fields && is_in(&WITH_WORDS));
    form.show(FieldId::Domain, is(Tool::VIRTUAL_HOSTS));
    form.show(FieldId::Extensions, fields && is_in(&WITH_EXTENSIONS));
    form.show(FieldId::RecursionDepth, is(Tool::FUZZER));
    form.show(FieldId::Tags, is(Tool::NUCLEI));
    form.show(FieldId::PingPort, is(Tool::PING));
    form.show(FieldId::PingCount, is(Tool::PING));
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
    let estimate = ScanEstimate::of(scans, tool(form)?, scan_type)?;
    Some(estimate.words(target_count(form)))
}

/// The problems, with the field names and limits of the API.
fn check(form: &mut Form, missing: &[MissingScanner]) -> Vec<FieldProblem> {
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
    if form.choice(FieldId::Vpn) == A_VPN && form.text(FieldId::VpnUuid).is_empty() {
        add(FieldId::VpnUuid, "VPN profile is required");
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
fn lacking_tool(form: &mut Form, missing: &[MissingScanner]) -> Option<FieldProblem> {
    let lacking = mark_missing(form, missing);
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

/// One call for each scan.
fn jobs(form: &Form) -> Vec<Job> {
    let of = |TargetScan { name, scan }: TargetScan| {
        let about = match profile(form) {
            Some(_) => format!("{} of {name}", Tool(scan.tool_id).scan()),
            None => format!("scan of {name}"),
        };
        Job::new(about, Call::StartScan(scan))
    };
    scans_to_start(form).into_iter().map(of).collect()
}

/// A scan with the name of its target.
struct TargetScan {
    name: String,
    scan: NewScan,
}

/// The scans of each target.
fn scans_to_start(form: &Form) -> Vec<TargetScan> {
    let scans = scans_of_a_target(form);
    let mut all: Vec<TargetScan> = if names_target(form) {
        let name = form.text(FieldId::TargetName);
        let named = |scan: NewScan| TargetScan {
            name: name.clone(),
            scan: NewScan {
                target_name: form.filled(FieldId::TargetName),
                ..scan
            },
        };
        scans.into_iter().map(named).collect()
    } else {
        let of_target = |(id, name): &(TargetId, Shared)| {
            let scan = |scan: &NewScan| TargetScan {
                name: name.to_string(),
                scan: NewScan {
                    target_id: Some(*id),
                    ..scan.clone()
                },
            };
            scans.iter().map(scan).collect::<Vec<_>>()
        };
        chosen_targets(form).iter().flat_map(of_target).collect()
    };
    let refused = form.subject.refused_scans.as_ref();
    let profile = form.choice(FieldId::ScanProfile);
    if let Some(refused) = refused.filter(|refused| refused.profile == profile) {
        all.retain(|one| !was_started(&one.scan, &refused.scans));
    }
    all
}

/// Whether the service refused other scans of this target only.
fn was_started(scan: &NewScan, refused: &[NewScan]) -> bool {
    let mut of_target = refused.iter().filter(|one| has_same_target(one, scan));
    let first = of_target.next();
    let is_same =
        |one: &NewScan| one.tool_id == scan.tool_id && one.tool_params == scan.tool_params;
    first.is_some_and(|first| !is_same(first) && !of_target.any(is_same))
}

fn has_same_target(one: &NewScan, other: &NewScan) -> bool {
    one.target_id == other.target_id && one.target_name == other.target_name
}

/// The scans that each target gets: one, or those of the profile.
fn scans_of_a_target(form: &Form) -> Vec<NewScan> {
    let common = scan_of_fields(form);
    let Some(profile) = profile(form) else {
        return vec![common];
    };
    let of_profile = |scan: &NewScan| NewScan {
        workspace_id: common.workspace_id,
        vpn_profile_uuid: common.vpn_profile_uuid.clone(),
        report_callback: common.report_callback.clone(),
        ..scan.clone()
    };
    profile.scans.iter().map(of_profile).collect()
}

fn scan_of_fields(form: &Form) -> NewScan {
    let level = RedirectLevel::KNOWN
        .get(form.choice(FieldId::RedirectLevel))
        .cloned();
    NewScan {
        tool_id: tool(form).unwrap_or_default(),
        workspace_id: form.subject.workspace,
        vpn_profile_uuid: match form.choice(FieldId::Vpn) {
            NO_VPN => Some(None),
            A_VPN => Some(form.filled(FieldId::VpnUuid)),
            _ => None,
        },
        max_scan_time: form
            .filled(FieldId::MaxScanTime)
            .and_then(|minutes| minutes.parse().ok()),
        report_callback: form.filled(FieldId::CallbackUrl).map(|url| {
            let format = ReportFormat::KNOWN.get(form.choice(FieldId::CallbackFormat));
            ReportCallback {
                url,
                format: format.map(|format| format.as_str().to_owned()),
            }
        }),
        scan_original_url: (form.is_shown(FieldId::OriginalUrl)
            && form.choice(FieldId::OriginalUrl) == 1)
            .then_some(true),
        redirect_level: level.filter(|_| form.is_shown(FieldId::RedirectLevel)),
        tool_params: params(form).ok().flatten(),
        ..NewScan::default()
    }
}

/// Reduces the chosen targets to those whose scan was not started.
fn keep_refused(form: &mut Form, left: &[UndoneJob]) -> bool {
    if profile(form).is_some() {
        let scan = |(job, _): &UndoneJob| match &job.call {
            Call::StartScan(scan) => Some(scan.clone()),
            _ => None,
        };
        form.subject.refused_scans = Some(RefusedScans {
            profile: form.choice(FieldId::ScanProfile),
            scans: left.iter().filter_map(scan).collect(),
        });
    }
    let at = form.choice(FieldId::Targets);
    let is_left = |id: TargetId| {
        left.iter().any(
            |(job, _)| matches!(&job.call, Call::StartScan(scan) if scan.target_id == Some(id)),
        )
    };
    if let Some(set) = form.subject.target_sets.get_mut(at) {
        set.retain(|(id, _)| is_left(*id));
        let count = set.len();
        if let Some(FormField {
            value: FieldValue::Choice { options, .. },
            ..
        }) = form.field_mut(FieldId::Targets)
            && let Some(option) = options.get_mut(at)
        {
            *option = format!("{} whose scan was refused", plural(count, "target"));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scans::tool_params::port_list;
    use scandeck_wire::contract::WordlistId;
    use serde_json::{Value as Json, json};

    fn form(sets: &[i64]) -> Form {
        form_with(sets, &[])
    }

    fn form_with(sets: &[i64], profiles: &[ScanProfile]) -> Form {
        let targets = sets
            .iter()
            .map(|&id| (TargetId(id), Shared::from(format!("t{id}"))))
            .collect();
        let lists = [(WordlistId(4), "paths")].map(|(id, name)| Wordlist {
            id,
            name: name.into(),
            num_words: 9,
            ..Wordlist::default()
        });
        let mut form = open(
            vec![("marked".to_owned(), targets)],
            lists.iter(),
            profiles,
            WorkspaceId(3),
        );
        check(&mut form, &[]);
        form
    }

    fn choose(form: &mut Form, id: FieldId, at: isize) {
        let now = form.choice(id) as isize;
        form.field_mut(id).unwrap().choose(at - now);
        check(form, &[]);
    }

    fn bodies(form: &Form) -> Vec<Json> {
        let body = |job: Job| match job.call {
            Call::StartScan(scan) => serde_json::to_value(scan).unwrap(),
            other => panic!("{other:?}"),
        };
        jobs(form).into_iter().map(body).collect()
    }

    #[test]
    fn sixty_targets_start_sixty_scans() {
        let ids: Vec<i64> = (1..=60).collect();
        let form = form(&ids);
        assert_eq!(
            (form.button.as_str(), bodies(&form).len()),
            ("Start 60 scans", 60)
        );
    }

    fn web() -> ScanProfile {
        let deep = NewScan {
            tool_id: 170,
            max_scan_time: Some(90),
            tool_params: Some(json!({"scan_type": "deep"})),
            ..NewScan::default()
        };
        let tls = NewScan {
            tool_id: 450,
            ..NewScan::default()
        };
        ScanProfile {
            name: "web".to_owned(),
            scans: vec![deep, tls],
        }
    }

    #[test]
    fn profile_starts_its_scans_of_every_target() {
        let mut form = form_with(&[7, 8], &[web()]);
        assert_eq!(bodies(&form).len(), 2, "no profile is chosen");
        choose(&mut form, FieldId::ScanProfile, 1);
        assert_eq!(
            (form.title.as_str(), form.button.as_str()),
            ("Scan 2 targets", "Start 4 scans")
        );
        assert!(!form.is_shown(FieldId::Tool) && !form.is_shown(FieldId::RedirectLevel));
        assert_eq!(
            form.summary,
            [
                "Website scanner (170): scan_type \"deep\", 90 min",
                "TLS scanner (450): defaults"
            ]
        );
        let sent = bodies(&form);
        assert_eq!(
            sent[0],
            json!({"tool_id":170,"target_id":7,"workspace_id":3,"max_scan_time":90,"tool_params":{"scan_type":"deep"}})
        );
        assert_eq!(
            sent[3],
            json!({"tool_id":450,"target_id":8,"workspace_id":3})
        );
        choose(&mut form, FieldId::Targets, 1);
        form.field_mut(FieldId::TargetName).unwrap().set_text("a");
        assert_eq!(check(&mut form, &[]), []);
        let names = jobs(&form).into_iter().map(|job| job.about);
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["Website scan of a", "TLS scan of a"]
        );
    }

    #[test]
    fn only_the_refused_scans_of_a_profile_are_sent_again() {
        let mut form = form_with(&[7, 8], &[web()]);
        choose(&mut form, FieldId::ScanProfile, 1);
        let refused = jobs(&form).remove(2);
        keep_refused(&mut form, &[(refused.clone(), None)]);
        check(&mut form, &[]);
        assert_eq!(form.button, "Start 1 scan");
        assert_eq!(jobs(&form), [refused]);
        choose(&mut form, FieldId::ScanProfile, 0);
        assert_eq!(bodies(&form).len(), 1, "one target remains");
    }

    #[test]
    fn profile_with_a_missing_scanner_is_reported() {
        let mut form = form_with(&[7], &[web()]);
        choose(&mut form, FieldId::ScanProfile, 1);
        let missing = [MissingScanner {
            tool: Tool::TLS,
            program: "sslscan".into(),
        }];
        let problems = check(&mut form, &missing);
        assert_eq!(problems[0].0, FieldId::ScanProfile);
        assert!(problems[0].1.contains("needs sslscan"), "{problems:?}");
    }

    #[test]
    fn default_form_starts_a_light_website_scan() {
        assert_eq!(
            bodies(&form(&[7]))[0],
            json!({"tool_id":170,"target_id":7,"workspace_id":3,"redirect_level":"same_domain","tool_params":{"scan_type":"light"}})
        );
    }

    #[test]
    fn tools_show_the_fields_that_they_accept() {
        for (at, tool) in TOOLS.iter().enumerate() {
            let mut form = form(&[7]);
            choose(&mut form, FieldId::Tool, at as isize);
            let body = bodies(&form).remove(0);
            assert_eq!(body["tool_id"], tool.0);
            let is_light_only = LIGHT_ONLY.contains(tool);
            assert_eq!(
                body["tool_params"],
                if is_light_only {
                    json!(null)
                } else {
                    json!({"scan_type": "light"})
                }
            );
            assert_eq!(
                form.is_shown(FieldId::RequestsPerSecond),
                WITH_RATE.contains(tool)
            );
        }
    }

    #[test]
    fn full_form_sends_every_field_of_the_contract() {
        let mut form = form(&[7]);
        choose(&mut form, FieldId::Tool, 1);
        choose(&mut form, FieldId::ScanType, 2);
        choose(&mut form, FieldId::Ports, 2);
        choose(&mut form, FieldId::Vpn, A_VPN as isize);
        for (id, text) in [
            (FieldId::PortList, "22, 80-82"),
            (FieldId::MaxScanTime, "15"),
            (FieldId::VpnUuid, "u-1"),
            (FieldId::CallbackUrl, "http://127.0.0.1/hook"),
        ] {
            form.field_mut(id).unwrap().set_text(text);
        }
        assert_eq!(check(&mut form, &[]), []);
        assert_eq!(
            bodies(&form)[0],
            json!({"tool_id":70,"target_id":7,"workspace_id":3,"vpn_profile_uuid":"u-1","max_scan_time":15,
                "report_callback":{"url":"http://127.0.0.1/hook","format":"json"},"tool_params":{"scan_type":"custom","port_list":[22,80,81,82]}})
        );
    }

    #[test]
    fn typed_name_and_params_are_sent_unchanged() {
        let mut form = form(&[7]);
        choose(&mut form, FieldId::Targets, 1);
        choose(&mut form, FieldId::Params, AS_JSON as isize);
        form.field_mut(FieldId::TargetName)
            .unwrap()
            .set_text("127.0.0.1");
        form.field_mut(FieldId::ParamsJson)
            .unwrap()
            .set_text("{\"scan_type\":\n\"deep\"}");
        choose(&mut form, FieldId::Vpn, NO_VPN as isize);
        choose(&mut form, FieldId::RedirectLevel, 0);
        choose(&mut form, FieldId::OriginalUrl, 1);
        assert_eq!(
            bodies(&form)[0],
            json!({"tool_id":170,"target_name":"127.0.0.1","workspace_id":3,"vpn_profile_uuid":null,
                "scan_original_url":true,"redirect_level":"none","tool_params":{"scan_type":"deep"}})
        );
    }

    #[test]
    fn network_and_tls_scanner_have_their_fields() {
        let mut form = form(&[7]);
        choose(&mut form, FieldId::Tool, 3);
        choose(&mut form, FieldId::ScanType, 2);
        assert!(form.is_shown(FieldId::PortTop) && !form.is_shown(FieldId::RedirectLevel));
        assert_eq!(bodies(&form)[0]["tool_id"], 350);
        choose(&mut form, FieldId::Tool, 2);
        choose(&mut form, FieldId::StartTls, 2);
        form.field_mut(FieldId::TlsPort).unwrap().set_text("587");
        assert_eq!(check(&mut form, &[]), []);
        assert_eq!(
            bodies(&form)[0],
            json!({"tool_id":450,"target_id":7,"workspace_id":3,"tool_params":{"port":587,"starttls":"smtp"}})
        );
    }

    #[test]
    fn installed_scanners_have_their_fields() {
        let with = |tool: Tool| {
            let mut form = form(&[7]);
            let at = TOOLS.iter().position(|one| *one == tool).unwrap();
            choose(&mut form, FieldId::Tool, at as isize);
            form
        };
        let testssl = with(Tool::TESTSSL);
        assert!(testssl.is_shown(FieldId::TlsPort) && testssl.is_shown(FieldId::StartTls));
        assert!(!testssl.is_shown(FieldId::RedirectLevel));
        let mut nuclei = with(Tool::NUCLEI);
        let tags = nuclei.field_mut(FieldId::Tags).unwrap();
        tags.set_text("tech, cve2024");
        assert_eq!(
            bodies(&nuclei)[0]["tool_params"],
            json!({"tags": ["tech", "cve2024"]})
        );
        let ffuf = with(Tool::FFUF);
        assert!(ffuf.is_shown(FieldId::ScanWords) && ffuf.is_shown(FieldId::Extensions));
        assert!(!ffuf.is_shown(FieldId::RecursionDepth));
        assert_eq!(
            ffuf.field(FieldId::Tool).unwrap().text(),
            "ffuf, active (10020)"
        );
    }

    #[test]
    fn small_tools_have_their_fields() {
        let params = |tool: Tool, fields: &[(FieldId, &str)], words: isize| {
            let mut form = form(&[7]);
            choose(
                &mut form,
                FieldId::Tool,
                TOOLS.iter().position(|one| *one == tool).unwrap() as isize,
            );
            for (id, text) in fields {
                assert!(form.is_shown(*id), "{id:?}");
                form.field_mut(*id).unwrap().set_text(text);
            }
            if words > 0 {
                choose(&mut form, FieldId::ScanWords, words);
            }
            assert_eq!(check(&mut form, &[]), []);
            bodies(&form).remove(0)["tool_params"].clone()
        };
        assert_eq!(
            params(Tool::FUZZER, &[(FieldId::Extensions, ".php, bak")], 1),
            json!({"wordlist_id":4,"extensions":[".php","bak"]})
        );
        let domain = [(FieldId::Domain, "acme.test")];
        assert_eq!(
            params(Tool::VIRTUAL_HOSTS, &domain, 1),
            json!({"wordlist_id":4,"domain":"acme.test"})
        );
        assert_eq!(params(Tool::SUBDOMAINS, &[], 0), json!(null));
        let addresses = [
            "127.0.0.1",
            "http://127.0.0.1:8080/x",
            "::1",
            "acme.test",
            "https://acme.test/",
        ];
        assert_eq!(addresses.map(is_address), [true, true, true, false, false]);
        let ping = [(FieldId::PingPort, "8080"), (FieldId::PingCount, "2")];
        assert_eq!(params(Tool::PING, &ping, 0), json!({"port":8080,"count":2}));
    }

    #[test]
    fn tool_without_its_scanner_is_marked_and_cannot_be_started() {
        let missing = MissingScanner::parse_list("350=nmap");
        let mut form = form(&[7]);
        assert_eq!(
            check(&mut form, &missing),
            [],
            "the other tools can be started"
        );
        choose(&mut form, FieldId::Tool, 3);
        assert_eq!(
            check(&mut form, &[]),
            [],
            "a service that names no missing scanner"
        );
        let why = "nmap is missing: install it on the machine of the service";
        assert_eq!(
            check(&mut form, &missing),
            [(FieldId::Tool, why.to_owned())]
        );
        assert_eq!(
            form.field(FieldId::Tool).unwrap().text(),
            "Network scanner (350), needs nmap"
        );
        choose(&mut form, FieldId::Tool, TOOLS.len() as isize);
        form.field_mut(FieldId::ToolId).unwrap().set_text("350");
        assert_eq!(
            check(&mut form, &missing),
            [(FieldId::ToolId, why.to_owned())]
        );
    }

    #[test]
    fn udp_scan_without_raw_sockets_cannot_be_started() {
        let missing = MissingScanner::parse_list("80=CAP_NET_RAW");
        let problem = |id| {
            [(
                id,
                "UDP needs a service that runs as root or with CAP_NET_RAW".to_owned(),
            )]
        };
        let mut form = form(&[7]);
        choose(&mut form, FieldId::Tool, 4);
        assert_eq!(check(&mut form, &[]), []);
        assert_eq!(bodies(&form)[0]["tool_id"], 80);
        assert_eq!(check(&mut form, &missing), problem(FieldId::Tool));
        assert_eq!(
            form.field(FieldId::Tool).unwrap().text(),
            "UDP port scanner (80), needs CAP_NET_RAW"
        );
        // The network scanner can still scan TCP.
        choose(&mut form, FieldId::Tool, 3);
        assert_eq!(check(&mut form, &missing), []);
        choose(&mut form, FieldId::Protocol, 1);
        assert_eq!(check(&mut form, &missing), problem(FieldId::Protocol));
    }

    #[test]
    fn invalid_input_is_reported_at_its_field() {
        for (id, text) in [
            (FieldId::MaxScanTime, "0"),
            (FieldId::MaxScanTime, "1441"),
            (FieldId::MaxScanTime, "long"),
            (FieldId::CallbackUrl, "ftp://a/"),
            (FieldId::RequestsPerSecond, "0"),
        ] {
            let mut form = form(&[7]);
            form.field_mut(id).unwrap().set_text(text);
            assert_eq!(
                check(&mut form, &[])
                    .iter()
                    .map(|wrong| wrong.0)
                    .collect::<Vec<_>>(),
                [id],
                "{text}"
            );
        }
        for bad in ["80-70", "0", "http", "65536", ""] {
            assert!(port_list(bad).is_err(), "{bad}");
        }
    }
}
