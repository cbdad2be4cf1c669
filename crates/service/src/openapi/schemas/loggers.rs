//! HTTP loggers and captured requests.

use serde_json::json;

use super::{Schema, id, nullable, request, response, text, with};
use scandeck_wire::contract::{
    Capture, Logger, Requests, UnattributedRequest, UnattributedRequests,
};

pub fn schemas() -> Vec<Schema> {
    vec![
        response::<Logger>(json!({
            "id": 4, "label": "xss-shop", "handler_url": "http://127.0.0.1:8766/l/5tq3Vd0yQGm2Jx7nUcRk1A/",
            "active_days": 30, "num_requests": 2, "requests_left": 9998
        })),
        new_logger(),
        response::<Capture>(json!({
            "id": 12, "ip_address": "127.0.0.1", "remote_port": 51_234, "request_method": "GET",
            "path": "/l/5tq3Vd0yQGm2Jx7nUcRk1A/p7", "url_params": "a=1", "http_version": "HTTP/1.1",
            "user_agent": "curl/8.5.0", "os": "", "http_headers": ["host: 127.0.0.1:8766", "accept: */*"],
            "request_body_type": "", "request_body_base64": "", "request_date": "2026-11-21 14:03:00"
        })),
        response::<Requests>(json!({"requests": []})),
        response::<UnattributedRequest>(json!({
            "id": 3, "ip_address": "127.0.0.1", "remote_port": 51_235, "request_date": "2026-11-21 14:03:00",
            "reason": "a TLS handshake, which this port cannot read", "size": 6, "raw_base64": "FgMBAgAB"
        })),
        response::<UnattributedRequests>(json!({"count": 0, "requests": []})),
    ]
}

fn new_logger() -> Schema {
    let label = text("Unique; letters, digits, `-`, `_` and `.`.");
    Schema {
        name: "NewLogger".into(),
        schema: request(
            &["label"],
            json!({
                "label": with(label, json!({"minLength": 1, "maxLength": 100, "pattern": r"^[A-Za-z0-9._-]+$"})),
                "workspace_id": nullable(id("Used only if the query string has no `workspace_id`. Default: the current workspace.")),
            }),
        ),
        example: json!({"label": "xss-shop"}),
    }
}
