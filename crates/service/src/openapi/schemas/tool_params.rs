//! The parameters of the tools.

use serde_json::{Value, json};

use super::{
    Schema, boolean, choice, count, nullable, or_null, reference, request, text, texts, with,
};
use scandeck_wire::contract::Tool;

pub fn schemas() -> Vec<Schema> {
    vec![
        tool_params(),
        website(),
        spider(),
        port_scan(),
        port_range(),
        udp_port_scan(),
        network_scan(),
        tls(),
        recon(),
        fuzzer(),
        virtual_hosts(),
        subdomains(),
        ping(),
        nuclei(),
        authentication(),
    ]
}

/// The parameters fit the schema of their tool. Another tool ignores them, so `anyOf` forbids
/// nothing that is accepted.
fn tool_params() -> Schema {
    let description = format!(
        "Parameters of the tool. Fields of other tools are ignored; `authentication` is refused with 400 by all tools but the {}.",
        Tool::WEBSITE.full_name()
    );
    let tools = [
        "Website",
        "PortScan",
        "UdpPortScan",
        "NetworkScan",
        "Tls",
        "Recon",
        "Fuzzer",
        "VirtualHosts",
        "Subdomains",
        "Ping",
        "Nuclei",
    ];
    let tools = tools.map(|tool| reference(&format!("{tool}Params")));
    Schema {
        name: "ToolParams".into(),
        schema: json!({"description": description, "anyOf": tools}),
        example: json!({"scan_type": "light"}),
    }
}

/// The parameters of these tools, all optional.
fn params(name: &'static str, tools: &[Tool], fields: Value, example: Value) -> Schema {
    let names: Vec<String> = tools.iter().map(|tool| tool.name_with_id()).collect();
    let notes = tools.iter().filter_map(|&tool| note(tool));
    let description = notes.fold(
        format!("Parameters of {}.", names.join(", ")),
        |whole, fact| format!("{whole} {fact}"),
    );
    let schema = with(request(&[], fields), json!({"description": description}));
    Schema {
        name: name.into(),
        schema,
        example,
    }
}

/// A fact about a tool that its parameters depend on.
fn note(tool: Tool) -> Option<&'static str> {
    match tool {
        Tool::UDP_PORTS => Some("Needs an installed nmap, and root or CAP_NET_RAW."),
        Tool::NETWORK => Some("Needs an installed nmap."),
        Tool::FFUF => Some("ffuf searches no folders."),
        Tool::SUBFINDER => Some("subfinder uses no wordlist."),
        Tool::PING => Some("It sends no ICMP, but makes TCP connections."),
        _ => None,
    }
}

fn website() -> Schema {
    let checks = |group: &str| {
        nullable(with(
            texts(&format!("Custom: {group}; null selects all, `[]` none.")),
            json!({"maxItems": 200}),
        ))
    };
    let fields = json!({
        "scan_type": selection_type(),
        "preset": preset(),
        "requests_per_second": request_rate(),
        "attack_active": checks("names of checks that send further requests"),
        "attack_passive": checks("names of checks that read the fetched pages"),
        "discovery": checks("names of checks that request paths which may exist"),
        "spider": or_null("Spider", "Custom: the pages that the scan reads."),
        "only_tests": only_tests("`web.cors` or `web.header.csp_missing`"),
        "authentication": or_null("Authentication", "Headers, cookies and a log-in of the scan."),
    });
    let example = json!({"scan_type": "custom", "attack_active": [], "spider": {"depth": 2}});
    params("WebsiteParams", &[Tool::WEBSITE], fields, example)
}

fn spider() -> Schema {
    let fields = json!({
        "approach": nullable(choice(&["auto", "classic", "spa"], "No effect in this service: links in HTML are followed.")),
        "depth": nullable(with(count("Maximum link depth from the start page."), json!({"maximum": 100}))),
        "include_urls": nullable(texts("URLs, or paths of the site, that are read too.")),
        "exclude_urls": nullable(texts("Pages whose URLs begin with one of these are not read.")),
    });
    let description = format!(
        "The pages that a custom scan of the {} reads.",
        Tool::WEBSITE.full_name()
    );
    let schema = with(request(&[], fields), json!({"description": description}));
    Schema {
        name: "Spider".into(),
        schema,
        example: json!({"depth": 2, "exclude_urls": ["/logout"]}),
    }
}

fn port_scan() -> Schema {
    let mut fields = port_selection(&["tcp"], "TCP only.");
    fields["only_tests"] = only_tests("`port.443`; other ports are not scanned");
    let example = json!({"scan_type": "custom", "port_list": [22, "8000-8100"]});
    params("PortScanParams", &[Tool::PORTS], fields, example)
}

fn udp_port_scan() -> Schema {
    let fields = port_selection(&["udp"], "UDP only.");
    params(
        "UdpPortScanParams",
        &[Tool::UDP_PORTS],
        fields,
        json!({"scan_type": "custom", "port_list": [53, 123, 161]}),
    )
}

fn network_scan() -> Schema {
    let mut fields = port_selection(
        &["tcp", "udp"],
        "TCP by default; UDP needs a service with root or CAP_NET_RAW.",
    );
    fields["scanning_engines"] = json!({
        "type": ["array", "null"],
        "minItems": 1,
        "items": {"type": "string", "enum": ["nmap"]},
        "description": "The scanners to run; nmap is the only one.",
    });
    fields["authentication"] = json!({"type": "null", "description": "Cannot be used: the scripts of this tool do not log in."});
    params(
        "NetworkScanParams",
        &[Tool::NETWORK],
        fields,
        json!({"scan_type": "deep", "protocol_type": "tcp"}),
    )
}

/// The parameters that select ports, of the Port Scanner and the Network Scanner.
fn port_selection(protocols: &[&str], protocol: &str) -> Value {
    let top = json!({
        "anyOf": [
            {"type": "string", "enum": ["10", "100", "1000", "5000"]},
            {"type": "integer", "enum": [10, 100, 1000, 5000]},
            {"type": "null"},
        ],
        "description": "Custom: this number of the most common ports, as a number or as text.",
    });
    let list = json!({
        "type": ["array", "string", "null"],
        "minItems": 1,
        "items": {"type": ["integer", "string"], "minimum": 1, "maximum": 65_535},
        "description": "Custom: ports (1 to 65535) and ranges, such as `[80, \"8000-8100\"]`, or one string, such as `\"80,443\"`.",
    });
    json!({
        "scan_type": selection_type(),
        "preset": preset(),
        "check_alive": nullable(boolean("End the scan early when the host does not respond.")),
        "protocol_type": nullable(choice(protocols, protocol)),
        "port_top": top,
        "port_range": or_null("PortRange", "Custom: all ports from the first to the last one."),
        "port_list": list,
        "authentication": without_http(),
    })
}

fn port_range() -> Schema {
    let port = |description: &str| json!({"type": ["integer", "string"], "minimum": 1, "maximum": 65_535, "description": description});
    let fields = json!({"start_port": port("The first port."), "end_port": port("The last port.")});
    Schema {
        name: "PortRange".into(),
        schema: request(&["start_port", "end_port"], fields),
        example: json!({"start_port": 1, "end_port": 1024}),
    }
}

fn tls() -> Schema {
    let starttls = choice(
        &["none", "smtp", "imap", "pop3", "ftp", "postgresql", "ldap"],
        "The protocol whose command starts TLS. Default: by port (25 and 587 smtp, 143 imap, …), else none.",
    );
    let fields = json!({
        "scan_type": light(),
        "preset": preset(),
        "port": optional_integer(1, Some(65_535), "The port. Default: the port of an https target, else 443."),
        "starttls": nullable(starttls),
        "only_tests": only_tests("`tls.dh` or `tls.certificate.expired`"),
        "authentication": without_http(),
    });
    params(
        "TlsParams",
        &[Tool::TLS, Tool::TESTSSL],
        fields,
        json!({"scan_type": "light"}),
    )
}

fn recon() -> Schema {
    let fields = json!({
        "scan_type": light(),
        "preset": preset(),
        "requests_per_second": request_rate(),
        "authentication": without_credentials(),
    });
    let tools = [
        Tool::RECON,
        Tool::FIREWALL,
        Tool::WAPITI,
        Tool::NIKTO,
        Tool::HTTPX,
    ];
    params(
        "ReconParams",
        &tools,
        fields,
        json!({"requests_per_second": 5}),
    )
}

fn fuzzer() -> Schema {
    let extensions = texts(
        "File extensions that are added to each word, such as `.php`; the word alone is always requested.",
    );
    let depth = "Depth of found folders that are searched too; 0 by default.";
    let fields = json!({
        "scan_type": light(),
        "preset": preset(),
        "requests_per_second": request_rate(),
        "wordlist_id": wordlist("common paths"),
        "extensions": nullable(with(extensions, json!({"maxItems": 20}))),
        "recursion_depth": optional_integer(0, Some(3), depth),
        "authentication": without_credentials(),
    });
    params(
        "FuzzerParams",
        &[Tool::FUZZER, Tool::FFUF],
        fields,
        json!({"extensions": [".php", ".bak"], "recursion_depth": 1}),
    )
}

fn virtual_hosts() -> Schema {
    let domain = "The domain below which names are tried; by default the host name of the target.";
    let fields = json!({
        "scan_type": light(),
        "preset": preset(),
        "requests_per_second": request_rate(),
        "wordlist_id": wordlist("common subdomains"),
        "domain": nullable(text(domain)),
        "authentication": without_credentials(),
    });
    params(
        "VirtualHostsParams",
        &[Tool::VIRTUAL_HOSTS],
        fields,
        json!({"domain": "acme.test"}),
    )
}

fn subdomains() -> Schema {
    let fields = json!({
        "scan_type": light(),
        "preset": preset(),
        "wordlist_id": wordlist("common subdomains"),
        "authentication": without_http(),
    });
    params(
        "SubdomainsParams",
        &[Tool::SUBDOMAINS, Tool::SUBFINDER],
        fields,
        json!({"wordlist_id": 2}),
    )
}

fn ping() -> Schema {
    let port = "The TCP port; overrides that of the target. Default: common ports.";
    let fields = json!({
        "port": optional_integer(1, Some(65_535), port),
        "count": optional_integer(1, Some(20), "The number of connections; 4 by default."),
        "authentication": without_http(),
    });
    params(
        "PingParams",
        &[Tool::PING],
        fields,
        json!({"port": 443, "count": 4}),
    )
}

fn nuclei() -> Schema {
    let tags = texts(
        "Tags of the templates to run; by default tech, ssl, exposure and misconfig, which only read. Other tags are active.",
    );
    let fields = json!({
        "scan_type": light(),
        "preset": preset(),
        "requests_per_second": request_rate(),
        "tags": nullable(with(tags, json!({"minItems": 1, "maxItems": 200}))),
        "authentication": without_credentials(),
    });
    params(
        "NucleiParams",
        &[Tool::NUCLEI],
        fields,
        json!({"tags": ["tech", "exposure"]}),
    )
}

/// The type of a scan whose parameters select what it does.
fn selection_type() -> Value {
    let default = "Default: `custom` if a field of a custom scan is present, else `light`.";
    nullable(choice(&["light", "deep", "custom"], default))
}

/// The tests of a scan that runs some tests alone.
fn only_tests(examples: &str) -> Value {
    let description = format!(
        "Run these tests alone, each by its name or by the `vuln_id` of a finding, such as {examples}. Findings of other tests remain as they were."
    );
    nullable(with(
        texts(&description),
        json!({"minItems": 1, "maxItems": 200}),
    ))
}

fn light() -> Value {
    nullable(choice(&["light"], "The only type."))
}

fn preset() -> Value {
    nullable(text(
        "Alias of `scan_type`; ignored if `scan_type` is present.",
    ))
}

/// The rate of tools that send ordinary HTTP requests.
fn request_rate() -> Value {
    let rate =
        count("Up to 200 for this machine and 10 elsewhere; more where the operator allows it.");
    nullable(with(rate, json!({"minimum": 1, "maximum": 10_000})))
}

fn wordlist(default: &str) -> Value {
    optional_integer(
        1,
        None,
        &format!("The wordlist; by default the {default} that ship with the service."),
    )
}

fn optional_integer(minimum: i64, maximum: Option<i64>, description: &str) -> Value {
    let mut schema =
        json!({"type": ["integer", "null"], "minimum": minimum, "description": description});
    if let Some(maximum) = maximum {
        schema["maximum"] = maximum.into();
    }
    schema
}

fn without_credentials() -> Value {
    json!({"type": "null", "description": "Cannot be used: this tool sends no credentials."})
}

fn without_http() -> Value {
    json!({"type": "null", "description": "Cannot be used: the probes of this tool do not log in."})
}

fn authentication() -> Schema {
    let [object, string, none] = ["object", "string", "null"].map(|kind| json!({"type": kind}));
    let lines = json!({"type": "array", "items": {"type": "string"}});
    let headers = json!({
        "anyOf": [object, lines, string, none], "description": "An object of names and values, or lines `Name: value`.",
    });
    let cookies = json!({
        "anyOf": [object, string, none], "description": "An object of names and values, or `a=b; c=d`.",
    });
    let params = json!({
        "anyOf": [object, lines, string, none],
        "description": "Nested form: an object with `headers` or `cookies`, or the headers or cookies themselves.",
    });
    let login = json!({
        "anyOf": [{"type": "array", "items": object, "minItems": 1, "maxItems": 10}, none],
        "description": "Requests that log in before the scan: `url`, and `method`, `headers`, `body` and `take`. Needs `check`.",
    });
    let check = json!({
        "anyOf": [object, none],
        "description": "`url`, and `status` or `text` of its answer while the session holds. Needs `login`.",
    });
    let description = "Tool 170: headers and cookies that the scan sends to the target, and a log-in. Plain form: `headers`, \
        `cookies`, `login` with `check`. Nested form: `type` and `params`. Any other form is refused with 400. Without \
        `authentication` in `tool_params`, that of the scan is used.";
    Schema {
        name: "Authentication".into(),
        schema: json!({
            "type": "object",
            "description": description,
            "minProperties": 1,
            "properties": {
                "headers": headers,
                "cookies": cookies,
                "login": login,
                "check": check,
                "type": nullable(choice(&["headers", "header", "cookies", "cookie"], "Nested form.")),
                "params": params,
            },
        }),
        example: json!({"type": "cookies", "params": {"cookies": "sid=…"}}),
    }
}
