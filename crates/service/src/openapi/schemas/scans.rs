//! Scans, their output and tests.

use serde_json::{Value, json};

use super::{
    Schema, boolean, choice, count, id, integer, nullable, or_null, reference, request, response,
    text, texts, time, tool_params, with,
};
use scandeck_report::FORMATS;
use scandeck_wire::contract::{RedirectLevel, ResourceType, SCAN_MINUTES, ScanStatus, Tool};

pub fn schemas() -> Vec<Schema> {
    let mut all = vec![status(), result_summary(), scan()];
    all.extend(tool_params::schemas());
    all.extend([
        report_callback(),
        new_scan(),
        scan_created(),
        scan_output(),
        test(),
    ]);
    all
}

fn status() -> Schema {
    Schema {
        name: "ScanStatus",
        schema: choice(
            ScanStatus::KNOWN,
            "`waiting` and `running` are active; all others are final.",
        ),
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
            "status_message": text("The cause of the status; empty while the scan waits. While the scan runs: the current step, if the tool reports one."),
            "vpn_scan": boolean("Whether a VPN profile was requested."),
            "progress": with(count("Percentage of finished tests; 100 for a finished scan only."), json!({"maximum": 100})),
            "result_summary": reference("ResultSummary"),
            "start_time": nullable(time("Null while the scan waits; the last start if the scan was started again.")),
            "end_time": nullable(time("Null until the scan ends.")),
            "duration": count("Seconds since the start, or from start to end."),
            "num_tests": count("Number of planned tests; it can grow while the scan runs."),
            "num_finished_tests": count("Number of finished tests."),
            "info_text_lines": texts("Notes of the scanner for the user."),
            "scan_original_url": boolean("Whether the original URL is scanned even if it redirects."),
            "max_scan_time": count("Minutes after which the scan times out."),
            "tool_params": params,
        })),
        example: json!({
            "id": 9, "tool_id": 170, "target_id": 3, "workspace_id": 1, "status_name": "finished",
            "status_message": "12 pages read, 5 findings", "vpn_scan": false, "progress": 100,
            "result_summary": {"text": "1 high, 4 info", "critical": 0, "high": 1, "medium": 0, "low": 0, "info": 4},
            "start_time": "2026-11-21 13:58:10", "end_time": "2026-11-21 13:58:14", "duration": 4, "num_tests": 27,
            "num_finished_tests": 27, "info_text_lines": [], "scan_original_url": false,
            "max_scan_time": 1440, "tool_params": {"scan_type": "light"}
        }),
    }
}

fn tool() -> Value {
    let tool = |tool: Tool, name: &str| format!("{} ({name})", tool.0);
    let tools = [
        tool(Tool::SUBDOMAINS, "subdomain finder"),
        tool(Tool::PORTS, "port scanner"),
        tool(Tool::UDP_PORTS, "UDP port scanner"),
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

fn report_callback() -> Schema {
    let url = with(
        text("An http or https URL in the scope of the service."),
        json!({"format": "uri"}),
    );
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
    let minutes = format!(
        "Minutes, {} to {}, as a number or as text.",
        SCAN_MINUTES.start(),
        SCAN_MINUTES.end()
    );
    let limits = json!({
        "minimum": SCAN_MINUTES.start(), "maximum": SCAN_MINUTES.end(), "pattern": r"^[0-9]{1,4}$",
        "default": SCAN_MINUTES.end()
    });
    let minutes = with(
        json!({"type": ["integer", "string", "null"], "description": minutes}),
        limits,
    );
    let either = "Exactly one of `target_id` and `target_name` is required.";
    let name = "A host name, an IP address or a URL. An existing target with this name is used; otherwise one is created.";
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
    schema["properties"]["report_callback"] =
        or_null("ReportCallback", "Where to send the report of this scan.");
    schema["properties"]["tool_params"] = or_null(
        "ToolParams",
        "Parameters of the tool; its defaults when absent.",
    );
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
        "subdomains": {
            "type": "array", "items": {"type": "object"},
            "description": "`subdomain_list`: names and addresses, as `hostname` and `ip_address`.",
        },
    });
    Schema {
        name: "ScanOutput",
        schema: response(json!({
            "output_type": text("`finding_list`, `port_scanner`, `subdomain_list`, or empty before the first output."),
            "output_data": {"type": "object", "properties": fields, "description": "`findings`, `ports` or `subdomains`, depending on `output_type`; some tools add fields."},
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
