//! The tools of this engine: what each does, and the scanner that it needs.

use serde_json::Value;

use super::guests::{Guest, GuestUse, guest_of};
use crate::net::address::Address;
use scandeck_wire::contract::Tool;

/// The tools, with what each of them does.
const FUNCTIONS: &[(Tool, &str)] = &[
    (
        Tool::SUBDOMAINS,
        "finds subdomains of a domain with a wordlist",
    ),
    (
        Tool::PORTS,
        "finds open TCP ports, their services, and services without authentication",
    ),
    (Tool::UDP_PORTS, "finds open UDP ports and their services"),
    (Tool::FUZZER, "finds paths of a site with a wordlist"),
    (
        Tool::VIRTUAL_HOSTS,
        "finds virtual hosts of an address with a wordlist",
    ),
    (
        Tool::WEBSITE,
        "checks headers, cookies, scripts, forms and exposed files of a site",
    ),
    (
        Tool::PING,
        "tests whether a host is up, with TCP connections",
    ),
    (
        Tool::RECON,
        "finds the technologies of a site, with their versions",
    ),
    (
        Tool::NETWORK,
        "finds ports, services and versions, and runs safe scripts",
    ),
    (
        Tool::TLS,
        "checks protocol versions, cipher suites and certificates",
    ),
    (
        Tool::FIREWALL,
        "finds the web application firewall of a site",
    ),
    (Tool::NUCLEI, "runs templates of nuclei by their tags"),
    (
        Tool::TESTSSL,
        "checks TLS in depth: protocols, suites, known attacks, certificates",
    ),
    (Tool::WAPITI, "attacks the pages and forms of a site"),
    (
        Tool::NIKTO,
        "tries known weaknesses and files of a web server",
    ),
    (Tool::HTTPX, "requests a page, and names its technologies"),
    (Tool::FFUF, "finds paths of a site with a wordlist, fast"),
    (
        Tool::SUBFINDER,
        "finds subdomains of a domain in public sources, without contact",
    ),
];

/// Tools of the contract that attack, which this engine does not offer.
const ATTACKS: &[Tool] = &[Tool(380), Tool(400), Tool(490)];

/// A tool of this engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfferedTool {
    pub tool: Tool,
    pub function: &'static str,
    /// The installed scanner that it uses.
    pub guest: Option<(Guest, GuestUse)>,
}

/// The tools in the order of their ids.
pub fn offered() -> impl Iterator<Item = OfferedTool> {
    FUNCTIONS.iter().map(|&(tool, function)| OfferedTool {
        tool,
        function,
        guest: guest_of(tool),
    })
}

/// Whether this engine has the tool.
pub fn is_offered(tool: Tool) -> bool {
    FUNCTIONS.iter().any(|(offered, _)| *offered == tool)
}

/// Why the tool cannot scan this target with these parameters.
pub fn target_refusal(tool: Tool, params: &Value, address: &Address) -> Option<String> {
    address.ip()?;
    match tool {
        Tool::SUBDOMAINS | Tool::SUBFINDER => Some(format!(
            "tool_id {} needs a domain; {} is an IP address",
            label(tool),
            address.host()
        )),
        Tool::VIRTUAL_HOSTS if params["domain"].is_null() => Some(format!(
            "tool_params.domain is required, such as acme.test: the target {} is an IP address",
            address.host()
        )),
        _ => None,
    }
}

/// The id of a tool with its name, for messages about `tool_id`.
pub fn label(tool: Tool) -> String {
    match tool.name() {
        Some(name) => format!("{} ({name})", tool.0),
        None => tool.0.to_string(),
    }
}

/// The error message for a tool that this engine does not have: the tools that it has, and what
/// they lack here.
pub fn unknown_tool_message(id: i64) -> String {
    let with_guest = |one: OfferedTool| match one.guest {
        Some((guest, GuestUse::Required)) if guest.find().is_none() => {
            format!("{} once {} is installed", label(one.tool), guest.program())
        }
        _ => label(one.tool),
    };
    let available: Vec<String> = offered().map(with_guest).collect();
    let why = if ATTACKS.contains(&Tool(id)) {
        "exploits targets, which this service does not do"
    } else {
        "is not available"
    };
    format!(
        "tool_id {} {why}; available tools: {}",
        label(Tool(id)),
        available.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_tool_message_names_the_offered_tools() {
        let message = unknown_tool_message(30);
        assert!(message.starts_with(
            "tool_id 30 (Whois Lookup) is not available; available tools: 20 (Subdomain Finder), 70"
        ));
        assert!(unknown_tool_message(490).starts_with(
            "tool_id 490 (Sniper) exploits targets, which this service does not do; available tools"
        ));
        assert!(unknown_tool_message(9).starts_with("tool_id 9 is not available"));
    }

    #[test]
    fn tools_are_named_and_ordered_by_id() {
        let all: Vec<Tool> = offered().map(|one| one.tool).collect();
        assert!(all.is_sorted() && all.iter().all(|tool| tool.name().is_some()));
        assert!(
            ATTACKS
                .iter()
                .all(|tool| tool.name().is_some() && !is_offered(*tool))
        );
    }
}
