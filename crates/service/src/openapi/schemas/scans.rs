//! Scans, their output and tests.

use serde_json::{Value, json};

use super::{
    Schema, boolean, choice, id, integer, nullable, or_null, request, response, text, tool_params,
    with,
};
use crate::engine::tools::{OfferedTool, label, offered};
use scandeck_report::FORMATS;
use scandeck_wire::contract::{
    RedirectLevel, ResourceType, ResultSummary, SCAN_MINUTES, Scan, ScanCreated, ScanOutput,
    ScanStatus, Test,
};

pub fn schemas() -> Vec<Schema> {
    let mut all = vec![
        response::<ScanStatus>(json!("finished")),
        response::<ResultSummary>(
            json!({"text": "1 high, 4 info", "critical": 0, "high": 1, "medium": 0, "low": 0, "info": 4}),
        ),
        scan(),
    ];
    all.extend(tool_params::schemas());
    all.extend([
        report_callback(),
        new_scan(),
        response::<ScanCreated>(json!({"created_id": 9, "target_id": 3})),
        response::<ScanOutput>(
            json!({"output_type": "finding_list", "output_data": {"findings": []}}),
        ),
        response::<ResourceType>(json!("finding")),
        response::<Test>(json!({
            "id": 41, "uid": "web.header.csp", "description": "Content-Security-Policy of pages",
            "resource_type": "finding", "resource_id": 5, "metadata": {"findings": 1},
            "performed_at": "2026-11-21 13:58:12"
        })),
    ]);
    all
}

fn scan() -> Schema {
    let mut scan = response::<Scan>(json!({
        "id": 9, "tool_id": 170, "target_id": 3, "workspace_id": 1, "status_name": "finished",
        "status_message": "12 pages read, 5 findings", "vpn_scan": false, "progress": 100,
        "result_summary": {"text": "1 high, 4 info", "critical": 0, "high": 1, "medium": 0, "low": 0, "info": 4},
        "start_time": "2026-11-21 13:58:10", "end_time": "2026-11-21 13:58:14", "duration": 4, "num_tests": 27,
        "num_finished_tests": 27, "info_text_lines": [], "scan_original_url": false,
        "max_scan_time": 1440, "tool_params": {"scan_type": "light"}
    }));
    scan.schema["properties"]["tool_id"] = tool();
    scan
}

fn tool() -> Value {
    let is_scanner =
        |one: &OfferedTool| matches!(one.guest, Some((guest, _)) if guest.row().scan.is_some());
    let (scanners, own): (Vec<_>, Vec<_>) = offered().partition(is_scanner);
    let names = |tools: &[OfferedTool]| {
        let names: Vec<String> = tools.iter().map(|one| label(one.tool)).collect();
        names.join(", ")
    };
    integer(&format!(
        "The tool: one of {}. Where they are installed also {}.",
        names(&own),
        names(&scanners)
    ))
}

fn report_callback() -> Schema {
    let url = with(
        text("An http or https URL in the scope of the service."),
        json!({"format": "uri"}),
    );
    Schema {
        name: "ReportCallback".into(),
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
    let vpn = "The id of a place, whose workers run the scan; `GET /scandeck/v1/nodes` lists the ids. Without it, the scope entry of the target decides; null: the service itself. A place without a worker: `VPN connection error`.";
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
        name: "NewScan".into(),
        schema,
        example: json!({
            "tool_id": 170, "target_name": "http://127.0.0.1:8080/", "max_scan_time": 60,
            "tool_params": {"scan_type": "light"}
        }),
    }
}
