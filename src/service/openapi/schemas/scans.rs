//! Scans, their parameters, output and tests.

use serde_json::{Value, json};

use super::{
    Schema, boolean, choice, count, id, integer, nullable, or_null, reference, request, response, text, texts, time,
    with,
};
use crate::contract::{RedirectLevel, ResourceType, SCAN_MINUTES, ScanStatus, Tool};
use crate::report::FORMATS;

pub fn schemas() -> Vec<Schema> {
    vec![
        status(),
        result_summary(),
        scan(),
        tool_params(),
        website_params(),
        spider(),
        port_scan_params(),
        port_range(),
        network_scan_params(),
        tls_params(),
        recon_params(),
        fuzzer_params(),
        virtual_hosts_params(),
        subdomains_params(),
        ping_params(),
        authentication(),
        report_callback(),
        new_scan(),
        scan_created(),
        scan_output(),
        test(),
    ]
}

fn status() -> Schema {
    Schema {
        name: "ScanStatus",
        schema: choice(ScanStatus::KNOWN, "`waiting` and `running` are active; all others are final."),
        example: json!("finished"),
    }
}

fn result_summary() -> Schema {
    Schema {
        name: "ResultSummary",
        schema: response(json!({
            "text": text("The numbers as a sentence."),
            "critical": count("Findings with risk 4."),
            "high": count("Findings with risk 3."),
            "medium": count("Findings with risk 2."),
            "low": count("Findings with risk 1."),
            "info": count("Findings with risk 0."),
        })),
        example: json!({"text": "1 high, 4 info", "critical": 0, "high": 1, "medium": 0, "low": 0, "info": 4}),
    }
}

fn scan() -> Schema {
    let params = json!({
        "type": "object",
        "description": "The parameters of the tool with their defaults; credentials are replaced by `•••`.",
    });
    Schema {
        name: "Scan",
        schema: response(json!({
            "id": id("Id of the scan."),
            "tool_id": tool(),
            "target_id": id("Id of the target."),
            "workspace_id": id("Id of the workspace of the target."),
            "status_name": reference("ScanStatus"),
            "status_message": text("The cause of the status; empty while the scan waits or runs."),
            "vpn_scan": boolean("Whether a VPN profile was requested."),
            "progress": with(count("Percentage of finished tests; 100 for a finished scan only."), json!({"maximum": 100})),
            "result_summary": reference("ResultSummary"),
            "start_time": nullable(time("Null while the scan waits.")),
            "end_time": nullable(time("Null until the scan ends.")),
            "duration": count("Seconds since the start, or from start to end."),
            "num_tests": count("Number of tests so far."),
            "num_finished_tests": count("Number of finished tests."),
            "info_text_lines": texts("Notes of the scanner for the user."),
            "scan_original_url": boolean("Whether the original URL is scanned even if it redirects."),
            "tool_params": params,
        })),
        example: json!({
            "id": 9, "tool_id": 170, "target_id": 3, "workspace_id": 1, "status_name": "finished",
            "status_message": "12 pages read, 5 findings", "vpn_scan": false, "progress": 100,
            "result_summary": {"text": "1 high, 4 info", "critical": 0, "high": 1, "medium": 0, "low": 0, "info": 4},
            "start_time": "2026-11-21 13:58:10", "end_time": "2026-11-21 13:58:14", "duration": 4, "num_tests": 27,
            "num_finished_tests": 27, "info_text_lines": [], "scan_original_url": false,
            "tool_params": {"scan_type": "light"}
        }),
    }
}

fn tool() -> Value {
    let tool = |tool: Tool, name: &str| format!("{} ({name})", tool.0);
    let tools = [
        tool(Tool::SUBDOMAINS, "subdomain finder"),
        tool(Tool::PORTS, "port scanner"),
        tool(Tool::FUZZER, "URL fuzzer"),
        tool(Tool::VIRTUAL_HOSTS, "virtual hosts finder"),
        tool(Tool::WEBSITE, "website scanner"),
        tool(Tool::PING, "ping"),
        tool(Tool::RECON, "website recon"),
        tool(Tool::NETWORK, "network scanner"),
        tool(Tool::TLS, "TLS scanner"),
    ];
    let firewall = tool(Tool::FIREWALL, "WAF detector");
    integer(&format!("The tool: {} or {firewall}.", tools.join(", ")))
}

/// The parameters fit the schema of their tool. Another tool ignores them, so `anyOf` forbids nothing that is accepted.
fn tool_params() -> Schema {
    let description = "Parameters of the tool. Fields of other tools are ignored; `authentication` is refused with 400 by tools that send no HTTP requests.";
    Schema {
        name: "ToolParams",
        schema: json!({
            "description": description,
            "anyOf": [reference("WebsiteParams"), reference("PortScanParams"), reference("NetworkScanParams"), reference("TlsParams"), reference("ReconParams"), reference("FuzzerParams"), reference("VirtualHostsParams"), reference("SubdomainsParams"), reference("PingParams")],
        }),
        example: json!({"scan_type": "light"}),
    }
}

fn website_params() -> Schema {
    let checks = |group: &str| {
        nullable(with(texts(&format!("Custom: {group}; null selects all, `[]` none.")), json!({"maxItems": 200})))
    };
    let mut schema = request(
        &[],
        json!({
            "scan_type": nullable(choice(&["light", "deep", "custom"], SCAN_TYPE)),
            "preset": nullable(text(PRESET)),
            "requests_per_second": request_rate(),
            "attack_active": checks("names of checks that send further requests"),
            "attack_passive": checks("names of checks that read the fetched pages"),
            "discovery": checks("names of checks that request paths which may exist"),
            "spider": or_null("Spider", "Custom: the pages that the scan reads."),
        }),
    );
    schema["properties"]["authentication"] =
        or_null("Authentication", "Headers and cookies that the scan sends to the target.");
    schema["description"] = "Parameters of the website scanner (170).".into();
    Schema {
        name: "WebsiteParams",
        schema,
        example: json!({"scan_type": "custom", "attack_active": [], "spider": {"depth": 2}}),
    }
}

fn spider() -> Schema {
    let mut schema = request(
        &[],
        json!({
            "approach": nullable(choice(&["auto", "classic", "spa"], "No effect in this service: links in HTML are followed.")),
            "depth": nullable(with(count("Largest number of links from the start page."), json!({"maximum": 100}))),
            "include_urls": nullable(texts("URLs, or paths of the site, that are read too.")),
            "exclude_urls": nullable(texts("Pages whose URLs begin with one of these are not read.")),
        }),
    );
    schema["description"] = "The pages that a custom scan of the website scanner reads.".into();
    Schema { name: "Spider", schema, example: json!({"depth": 2, "exclude_urls": ["/logout"]}) }
}

const SCAN_TYPE: &str = "Default: `custom` if a field of a selection is present, else `light`.";
const PRESET: &str = "Alias of `scan_type`; ignored if `scan_type` is present.";

/// The parameters that select ports, of the port scanner and the network scanner.
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
    request(
        &[],
        json!({
            "scan_type": nullable(choice(&["light", "deep", "custom"], SCAN_TYPE)),
            "preset": nullable(text(PRESET)),
            "check_alive": nullable(boolean("End the scan early when the host does not respond.")),
            "protocol_type": nullable(choice(protocols, protocol)),
            "port_top": top,
            "port_range": or_null("PortRange", "Custom: all ports from the first to the last one."),
            "port_list": list,
            "authentication": without_http(),
        }),
    )
}

fn port_scan_params() -> Schema {
    let mut schema = port_selection(&["tcp"], "TCP only.");
    schema["description"] = "Parameters of the port scanner (70).".into();
    Schema { name: "PortScanParams", schema, example: json!({"scan_type": "custom", "port_list": [22, "8000-8100"]}) }
}

fn network_scan_params() -> Schema {
    let mut schema = port_selection(&["tcp", "udp"], "TCP by default; UDP needs a service that runs as root.");
    let engines = json!({
        "type": ["array", "null"],
        "minItems": 1,
        "items": {"type": "string", "enum": ["nmap"]},
        "description": "The scanners to run; nmap is the only one.",
    });
    schema["properties"]["scanning_engines"] = engines;
    schema["description"] = "Parameters of the network scanner (350), which needs an installed nmap.".into();
    Schema { name: "NetworkScanParams", schema, example: json!({"scan_type": "deep", "protocol_type": "tcp"}) }
}

fn port_range() -> Schema {
    let port = |description: &str| json!({"type": ["integer", "string"], "minimum": 1, "maximum": 65_535, "description": description});
    let fields = json!({"start_port": port("The first port."), "end_port": port("The last port.")});
    Schema {
        name: "PortRange",
        schema: request(&["start_port", "end_port"], fields),
        example: json!({"start_port": 1, "end_port": 1024}),
    }
}

fn tls_params() -> Schema {
    let mut schema = request(
        &[],
        json!({
            "scan_type": nullable(choice(&["light"], "The only type.")),
            "preset": nullable(text(PRESET)),
            "port": {
                "type": ["integer", "null"], "minimum": 1, "maximum": 65_535,
                "description": "The port; overrides that of the target. 443 by default.",
            },
            "starttls": nullable(choice(
                &["none", "smtp", "imap", "pop3", "ftp", "postgresql", "ldap"],
                "The protocol whose command starts TLS. Default: by port (25 and 587 smtp, 143 imap, …), else none.",
            )),
            "authentication": without_http(),
        }),
    );
    schema["description"] = "Parameters of the TLS scanner (450).".into();
    Schema { name: "TlsParams", schema, example: json!({"scan_type": "light"}) }
}

/// The rate of tools that send ordinary HTTP requests.
fn request_rate() -> Value {
    nullable(with(
        count("Up to 200 for this machine and 10 elsewhere; more where the operator allows it."),
        json!({"minimum": 1, "maximum": 10_000}),
    ))
}

fn without_credentials() -> Value {
    json!({"type": "null", "description": "Cannot be used: this tool sends no credentials."})
}

fn recon_params() -> Schema {
    let mut schema = request(
        &[],
        json!({
            "scan_type": nullable(choice(&["light"], "The only type.")),
            "preset": nullable(text(PRESET)),
            "requests_per_second": request_rate(),
            "authentication": without_credentials(),
        }),
    );
    schema["description"] = "Parameters of website recon (310) and the WAF detector (500).".into();
    Schema { name: "ReconParams", schema, example: json!({"requests_per_second": 5}) }
}

fn fuzzer_params() -> Schema {
    let mut schema = request(
        &[],
        json!({
            "scan_type": nullable(choice(&["light"], "The only type.")),
            "preset": nullable(text(PRESET)),
            "requests_per_second": request_rate(),
            "wordlist_id": {
                "type": ["integer", "null"], "minimum": 1,
                "description": "The wordlist; by default the common paths that ship with the service.",
            },
            "extensions": nullable(with(
                texts("Endings that are added to each word, such as `.php`; the word alone is always requested."),
                json!({"maxItems": 20}),
            )),
            "recursion_depth": {
                "type": ["integer", "null"], "minimum": 0, "maximum": 3,
                "description": "Depth of found folders that are searched too; 0 by default.",
            },
            "authentication": without_credentials(),
        }),
    );
    schema["description"] = "Parameters of the URL fuzzer (90).".into();
    Schema { name: "FuzzerParams", schema, example: json!({"extensions": [".php", ".bak"], "recursion_depth": 1}) }
}

fn virtual_hosts_params() -> Schema {
    let mut schema = request(
        &[],
        json!({
            "scan_type": nullable(choice(&["light"], "The only type.")),
            "preset": nullable(text(PRESET)),
            "requests_per_second": request_rate(),
            "wordlist_id": {
                "type": ["integer", "null"], "minimum": 1,
                "description": "The wordlist; by default the common subdomains that ship with the service.",
            },
            "domain": nullable(text("The domain below which names are tried; by default the host name of the target.")),
            "authentication": without_credentials(),
        }),
    );
    schema["description"] = "Parameters of the virtual hosts finder (160).".into();
    Schema { name: "VirtualHostsParams", schema, example: json!({"domain": "acme.test"}) }
}

fn subdomains_params() -> Schema {
    let mut schema = request(
        &[],
        json!({
            "scan_type": nullable(choice(&["light"], "The only type.")),
            "preset": nullable(text(PRESET)),
            "wordlist_id": {
                "type": ["integer", "null"], "minimum": 1,
                "description": "The wordlist; by default the common subdomains that ship with the service.",
            },
            "authentication": without_http(),
        }),
    );
    schema["description"] = "Parameters of the subdomain finder (20).".into();
    Schema { name: "SubdomainsParams", schema, example: json!({"wordlist_id": 2}) }
}

fn ping_params() -> Schema {
    let mut schema = request(
        &[],
        json!({
            "port": {
                "type": ["integer", "null"], "minimum": 1, "maximum": 65_535,
                "description": "The TCP port, before that of the target; common ports by default.",
            },
            "count": {
                "type": ["integer", "null"], "minimum": 1, "maximum": 20,
                "description": "The number of connections; 4 by default.",
            },
            "authentication": without_http(),
        }),
    );
    schema["description"] = "Parameters of ping (240), which uses TCP connections.".into();
    Schema { name: "PingParams", schema, example: json!({"port": 443, "count": 4}) }
}

fn without_http() -> Value {
    json!({"type": "null", "description": "Cannot be used: this tool sends no HTTP requests."})
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
    let description = "Tool 170: headers and cookies that the scan sends to the target. Plain form: `headers`, `cookies` \
        or both. Nested form: `type` and `params`. Any other form, and `authentication` outside \
        `tool_params`, is refused with 400.";
    Schema {
        name: "Authentication",
        schema: json!({
            "type": "object",
            "description": description,
            "minProperties": 1,
            "properties": {
                "headers": headers,
                "cookies": cookies,
                "type": nullable(choice(&["headers", "header", "cookies", "cookie"], "Nested form.")),
                "params": params,
            },
        }),
        example: json!({"type": "cookies", "params": {"cookies": "sid=…"}}),
    }
}

fn report_callback() -> Schema {
    let url = with(text("An http or https URL in the scope of the service."), json!({"format": "uri"}));
    Schema {
        name: "ReportCallback",
        schema: request(
            &["url"],
            json!({"url": url, "format": nullable(choice(FORMATS, "The format of the report; `json` by default."))}),
        ),
        example: json!({"url": "http://127.0.0.1:9000/report", "format": "json"}),
    }
}

fn new_scan() -> Schema {
    let minutes = format!("Minutes, {} to {}, as a number or as text.", SCAN_MINUTES.start(), SCAN_MINUTES.end());
    let limits = json!({
        "minimum": SCAN_MINUTES.start(), "maximum": SCAN_MINUTES.end(), "pattern": r"^[0-9]{1,4}$",
        "default": SCAN_MINUTES.end()
    });
    let minutes = with(json!({"type": ["integer", "string", "null"], "description": minutes}), limits);
    let either = "Exactly one of `target_id` and `target_name` is required.";
    let name =
        "A host name, an IP address or a URL. An existing target with this name is used; otherwise one is created.";
    let vpn = "Null: no VPN. A scan with a profile ends as `VPN connection error`, because this service has no VPN.";
    let level = "Redirects of the start page that the scan follows; `same_domain` by default.";
    let mut schema = request(
        &["tool_id"],
        json!({
            "tool_id": tool(),
            "target_id": nullable(id(either)),
            "target_name": nullable(text(name)),
            "workspace_id": nullable(id("Must be the workspace of the target. Default for a new target: the current workspace.")),
            "vpn_profile_uuid": nullable(text(vpn)),
            "max_scan_time": minutes,
            "scan_original_url": nullable(boolean("Scan the original URL even if it redirects; false by default.")),
            "redirect_level": nullable(choice(RedirectLevel::KNOWN, level)),
        }),
    );
    schema["properties"]["report_callback"] = or_null("ReportCallback", "A receiver of the report of this scan.");
    schema["properties"]["tool_params"] = or_null("ToolParams", "Parameters of the tool; its defaults when absent.");
    Schema {
        name: "NewScan",
        schema,
        example: json!({
            "tool_id": 170, "target_name": "http://127.0.0.1:8080/", "max_scan_time": 60,
            "tool_params": {"scan_type": "light"}
        }),
    }
}

fn scan_created() -> Schema {
    Schema {
        name: "ScanCreated",
        schema: response(json!({
            "created_id": id("The id of the new scan."),
            "target_id": id("Id of the target, which may be new."),
        })),
        example: json!({"created_id": 9, "target_id": 3}),
    }
}

fn scan_output() -> Schema {
    let ports = "`port_scanner`: open ports with `number`, `state`, `service` and further fields.";
    let fields = json!({
        "findings": {
            "type": "array", "items": reference("Finding"),
            "description": "`finding_list`: the findings so far, as `GET /findings` sends them.",
        },
        "ports": {"type": "array", "items": {"type": "object"}, "description": ports},
    });
    Schema {
        name: "ScanOutput",
        schema: response(json!({
            "output_type": text("`finding_list`, `port_scanner`, or empty before the first output."),
            "output_data": {"type": "object", "properties": fields, "description": "`findings` or `ports`, depending on `output_type`."},
        })),
        example: json!({"output_type": "finding_list", "output_data": {"findings": []}}),
    }
}

fn test() -> Schema {
    Schema {
        name: "Test",
        schema: response(json!({
            "id": id("Id of the test."),
            "uid": text("The stable name of the check."),
            "description": text("The subject of the check."),
            "resource_type": choice(ResourceType::KNOWN, "`finding` if the test has a finding, otherwise `scan`."),
            "resource_id": id("Id of this finding or scan."),
            "metadata": {"type": "object", "description": "Request and result."},
            "performed_at": time("The end of the test."),
        })),
        example: json!({
            "id": 41, "uid": "web.header.csp", "description": "Content-Security-Policy of pages",
            "resource_type": "finding", "resource_id": 5, "metadata": {"findings": 1},
            "performed_at": "2026-11-21 13:58:12"
        }),
    }
}
