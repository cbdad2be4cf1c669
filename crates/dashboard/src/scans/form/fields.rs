//! The fields that the form opens with.

use crate::config::ScanProfile;
use crate::forms::{FieldId, FormField};
use crate::scans::form::tools::{OTHER_TOOL, TOOLS, label};
use crate::scans::form::{AS_FIELDS, PROTOCOLS, SCAN_TYPES, START_TLS, TOPS, places};
use scandeck_wire::contract::{RedirectLevel, ReportFormat};
use scandeck_wire::text::plural;

const DEPTHS: [&str; 4] = ["0", "1", "2", "3"];
const PORTS: [&str; 3] = ["most common", "range", "list"];
const NO_PROFILE: usize = 0;

/// The targets, the tool, and the form of its parameters.
pub(super) fn target_fields(
    sets: impl Iterator<Item = String>,
    profiles: &[ScanProfile],
) -> Vec<FormField> {
    let profiles = profiles.iter().map(|profile| {
        let scans = plural(profile.scans.len(), "scan");
        format!("{} ({scans})", profile.name)
    });
    let tools = TOOLS.iter().map(|row| label(row.tool));
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
            tools.chain([OTHER_TOOL.to_owned()]),
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

pub(super) fn port_fields() -> Vec<FormField> {
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
pub(super) fn request_fields(wordlists: Vec<String>) -> Vec<FormField> {
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
pub(super) fn run_fields(has_extensions: bool) -> Vec<FormField> {
    let redirects = RedirectLevel::KNOWN.iter().map(|level| level.as_str());
    let same_domain = RedirectLevel::KNOWN
        .iter()
        .position(|level| *level == RedirectLevel::SameDomain);
    let [place, place_name] = places::fields(has_extensions);
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
        place,
        place_name,
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
