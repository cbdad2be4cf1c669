//! HTTP loggers and captured requests.

use serde_json::json;

use super::{Schema, count, id, nullable, reference, request, response, text, texts, time, with};

pub fn schemas() -> Vec<Schema> {
    vec![
        logger(),
        new_logger(),
        capture(),
        requests(),
        unattributed_request(),
        unattributed_requests(),
    ]
}

fn logger() -> Schema {
    Schema {
        name: "Logger",
        schema: response(json!({
            "id": id("Id of the logger."),
            "label": text("Unique label."),
            "handler_url": text("Requests to this URL, and below it, are recorded."),
            "active_days": count("Days until the URL stops recording."),
            "num_requests": count("Number of recorded requests."),
            "requests_left": count("Number of requests that the logger can still record."),
        })),
        example: json!({
            "id": 4, "label": "xss-shop", "handler_url": "http://127.0.0.1:8766/l/5tq3Vd0yQGm2Jx7nUcRk1A/",
            "active_days": 30, "num_requests": 2, "requests_left": 9998
        }),
    }
}

fn new_logger() -> Schema {
    let label = text("Unique; letters, digits, `-`, `_` and `.`.");
    Schema {
        name: "NewLogger",
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

fn capture() -> Schema {
    let mut schema = response(json!({
            "id": id("Id of the captured request; later requests have greater ids."),
            "ip_address": text("The address of the sender."),
            "remote_port": count("The port of the sender."),
            "request_method": text("The HTTP method."),
            "path": text("The path of the request."),
            "url_params": text("The query string without `?`."),
            "http_version": text("Such as `HTTP/1.1`."),
            "user_agent": text("May be empty."),
            "os": text("The operating system in the user agent; may be empty."),
            "http_headers": texts("Lines `Name: value` in the received order."),
            "request_body_type": text("The content type of the body; may be empty."),
            "request_body_base64": text("The body in base64."),
            "request_date": time("The time of the request."),
    }));
    schema["properties"]["raw_base64"] =
        text("The request as it arrived, in base64; missing if the other fields give it exactly.");
    schema["properties"]["problems"] =
        texts("What is wrong with the request, as sentences; missing if it is well-formed.");
    Schema {
        name: "Capture",
        schema,
        example: json!({
            "id": 12, "ip_address": "127.0.0.1", "remote_port": 51_234, "request_method": "GET",
            "path": "/l/5tq3Vd0yQGm2Jx7nUcRk1A/p7", "url_params": "a=1", "http_version": "HTTP/1.1",
            "user_agent": "curl/8.5.0", "os": "", "http_headers": ["host: 127.0.0.1:8766", "accept: */*"],
            "request_body_type": "", "request_body_base64": "", "request_date": "2026-11-21 14:03:00"
        }),
    }
}

fn requests() -> Schema {
    let captures = json!({
        "type": "array", "items": reference("Capture"), "description": "Captured requests in the order of their ids.",
    });
    Schema {
        name: "Requests",
        schema: response(json!({"requests": captures})),
        example: json!({"requests": []}),
    }
}

fn unattributed_request() -> Schema {
    Schema {
        name: "UnattributedRequest",
        schema: response(json!({
            "id": id("Number of the request since the start of the service."),
            "ip_address": text("The address of the sender."),
            "remote_port": count("The port of the sender."),
            "request_date": time("The time of the request."),
            "reason": text("Why no logger recorded it."),
            "size": count("Number of bytes that arrived."),
            "raw_base64": text("The first of these bytes in base64."),
        })),
        example: json!({
            "id": 3, "ip_address": "127.0.0.1", "remote_port": 51_235, "request_date": "2026-11-21 14:03:00",
            "reason": "a TLS handshake, which this port cannot read", "size": 6, "raw_base64": "FgMBAgAB"
        }),
    }
}

fn unattributed_requests() -> Schema {
    let requests = json!({
        "type": "array", "items": reference("UnattributedRequest"), "description": "The newest ones, oldest first.",
    });
    let count = count("Number of all since the start of the service.");
    Schema {
        name: "UnattributedRequests",
        schema: response(json!({"count": count, "requests": requests})),
        example: json!({"count": 0, "requests": []}),
    }
}
