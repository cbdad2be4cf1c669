//! Responses: the content of successes, and the errors that the endpoints share.

use axum::http::Method;
use serde_json::{Map, Value, json};

use super::schemas::Schema;
use crate::api::endpoint::{Endpoint, ResponseContent};
use crate::errors::MAX_URL;
use scandeck_report::{FORMATS, content_type};
use scandeck_wire::contract::{MISSING_SCANNERS, ReportFormat};

/// An error response of any endpoint.
struct ErrorResponse {
    status: u16,
    /// Name in the components of the document.
    name: &'static str,
    description: &'static str,
    message: &'static str,
    headers: &'static [&'static str],
}

const fn error(
    status: u16,
    name: &'static str,
    description: &'static str,
    message: &'static str,
) -> ErrorResponse {
    ErrorResponse {
        status,
        name,
        description,
        message,
        headers: &[],
    }
}

const ERRORS: &[ErrorResponse] = &[
    error(
        400,
        "BadRequest",
        "The request is malformed, or a parameter or field is missing or has a value that is not accepted.",
        "name is required",
    ),
    ErrorResponse {
        headers: &["www-authenticate"],
        ..error(
            401,
            "Unauthorized",
            "The API key is missing or wrong.",
            "the API key is missing or wrong",
        )
    },
    error(
        403,
        "Forbidden",
        "The target is out of scope, the limit of targets is reached, the role of the key does not permit the request, the Host header is \
         not allowed, or the item is read-only.",
        "192.0.2.1 is out of scope; `scandeck scope add 192.0.2.1` permits it (allowed: loopback and this host)",
    ),
    error(
        404,
        "NotFound",
        "The resource does not exist.",
        "scan 9 not found",
    ),
    ErrorResponse {
        headers: &["allow"],
        ..error(
            405,
            "MethodNotAllowed",
            "The path exists, but not with this method.",
            "PATCH is not allowed for /api/v2/scans",
        )
    },
    error(
        406,
        "NotAcceptable",
        "The resource is not available in an accepted format.",
        "output is not available as text/xml",
    ),
    error(
        408,
        "RequestTimeout",
        "The body did not arrive in time.",
        "the body did not arrive in time",
    ),
    error(
        409,
        "Conflict",
        "The request conflicts with existing data or the current state, such as a duplicate name or a running scan.",
        "the scan is waiting or running",
    ),
    error(
        413,
        "PayloadTooLarge",
        "The body is larger than 1 MiB.",
        "the body is larger than 1048576 bytes",
    ),
    error(
        414,
        "UriTooLong",
        "The URL is longer than 8 KiB.",
        "the URL is longer than 8192 bytes",
    ),
    error(
        415,
        "UnsupportedMediaType",
        "The body is neither JSON nor a form.",
        "`text/xml` is not supported",
    ),
    error(
        417,
        "ExpectationFailed",
        "The service does not meet the expectation; it meets 100-continue.",
        "the expectation `200-maybe` is not supported",
    ),
    error(
        422,
        "UnprocessableContent",
        "Scans and reports: a field has the wrong JSON type. Loggers: a field is missing or not accepted. Workspaces and \
         targets use 400.",
        "label is required",
    ),
    ErrorResponse {
        headers: &["retry-after", "x-ratelimit-reset"],
        ..error(
            429,
            "TooManyRequests",
            "The rate limit is exceeded, the key has created as much as it may in an hour, or too many requests had no valid \
             key.",
            "rate limit exceeded",
        )
    },
    error(
        431,
        "HeadTooLarge",
        "The request line and the headers are too large.",
        "the request line and the headers are too large or too many",
    ),
    error(
        500,
        "InternalServerError",
        "The service failed; its log contains the cause.",
        "internal server error",
    ),
    error(
        501,
        "NotImplemented",
        "The body has a transfer encoding other than chunked.",
        "the transfer encoding `gzip, chunked` is not supported",
    ),
    ErrorResponse {
        headers: &["retry-after"],
        ..error(
            503,
            "ServiceUnavailable",
            "The client has too many connections.",
            "too many connections from this address",
        )
    },
];

/// Errors of every endpoint.
const COMMON: &[u16] = &[400, 401, 403, 405, 414, 417, 429, 431, 500, 501, 503];

/// The shared responses.
pub fn components() -> Map<String, Value> {
    debug_assert_eq!(MAX_URL, 8192);
    let mut all: Map<String, Value> = ERRORS
        .iter()
        .map(|error| (error.name.to_owned(), error_response(error)))
        .collect();
    let headers = [
        "etag",
        "cache-control",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
    ];
    let unchanged =
        json!({"description": "The list is unchanged.", "headers": header_references(&headers)});
    all.insert("NotModified".to_owned(), unchanged);
    all
}

fn error_response(error: &ErrorResponse) -> Value {
    let content = json!({
        "schema": {"$ref": "#/components/schemas/Error"},
        "example": {"status": error.status, "message": error.message},
    });
    let mut response =
        json!({"description": error.description, "content": {"application/json": content}});
    if !error.headers.is_empty() {
        response["headers"] = header_references(error.headers);
    }
    response
}

/// The shared headers.
pub fn headers() -> Value {
    let integer =
        |description: &str| json!({"description": description, "schema": {"type": "integer"}});
    let text =
        |description: &str| json!({"description": description, "schema": {"type": "string"}});
    json!({
        "x-ratelimit-limit": integer("Requests of this class per minute. Absent without a rate limit."),
        "x-ratelimit-remaining": integer("Requests that are left in this minute. Absent without a rate limit."),
        "x-ratelimit-reset": integer("The end of the window, in seconds since 1970."),
        "retry-after": integer("Seconds until the next attempt."),
        "x-missing-scanners": text(
            "The tools that cannot run, each with the scanner to install or the missing capability: `350=nmap, 80=CAP_NET_RAW`. Absent when every tool can run."
        ),
        "etag": text("The version of the list, for `if-none-match`."),
        "cache-control": text("`private, no-cache`."),
        "allow": text("The methods of the path."),
        "www-authenticate": text("`Bearer`."),
        "content-disposition": text("The name of the file."),
    })
}

fn header_references(names: &[&str]) -> Value {
    let reference = |name: &&str| {
        (
            (*name).to_owned(),
            json!({"$ref": format!("#/components/headers/{name}")}),
        )
    };
    Value::Object(names.iter().map(reference).collect())
}

/// The responses of an endpoint.
pub fn of(endpoint: &Endpoint, schemas: &[Schema]) -> Value {
    let mut responses = Map::new();
    for (position, status) in endpoint.success.iter().enumerate() {
        let response = if position == 0 {
            success(endpoint, schemas)
        } else {
            further_success(*status)
        };
        responses.insert(status.to_string(), response);
    }
    if endpoint.list.is_some() {
        responses.insert(
            "304".to_owned(),
            json!({"$ref": "#/components/responses/NotModified"}),
        );
    }
    let of_path: &[u16] = if endpoint.path.contains("{id}") {
        &[404]
    } else {
        &[]
    };
    let of_body: &[u16] = if endpoint.body.is_some() {
        &[408, 413, 415]
    } else {
        &[]
    };
    let statuses = COMMON
        .iter()
        .chain(of_path)
        .chain(of_body)
        .chain(endpoint.refusals);
    let mut statuses: Vec<u16> = statuses.copied().collect();
    statuses.sort_unstable();
    for error in ERRORS
        .iter()
        .filter(|error| statuses.contains(&error.status))
    {
        let reference = json!({"$ref": format!("#/components/responses/{}", error.name)});
        responses.insert(error.status.to_string(), reference);
    }
    responses.into()
}

fn success(endpoint: &Endpoint, schemas: &[Schema]) -> Value {
    let mut headers = vec!["x-ratelimit-limit", "x-ratelimit-remaining"];
    if endpoint.list.is_some() {
        headers.extend(["etag", "cache-control"]);
    }
    if endpoint.operation == "list_scans" {
        headers.push(MISSING_SCANNERS);
    }
    if matches!(endpoint.content, ResponseContent::Download) {
        headers.push("content-disposition");
    }
    let (description, content) = success_content(endpoint, schemas);
    let mut response = json!({"description": description, "headers": header_references(&headers)});
    if !content.is_null() {
        response["content"] = content;
    }
    let links = links(endpoint);
    if !links.is_empty() {
        response["links"] = links.into();
    }
    response
}

/// The description of a success, and its content; null if it has none.
fn success_content(endpoint: &Endpoint, schemas: &[Schema]) -> (&'static str, Value) {
    match endpoint.content {
        ResponseContent::Empty => ("Done.", Value::Null),
        ResponseContent::Data(name) => {
            let (schema, example) = reference(name, schemas);
            let is_new = endpoint.method == Method::POST;
            let mut content = json!({"application/json": wrapped(&schema, &example)});
            if name == "ScanOutput" {
                content[content_type(&ReportFormat::Pdf)] =
                    json!({"schema": {"type": "string", "format": "binary"}});
            }
            let description = match endpoint.success {
                [202, ..] => "Accepted; the report is generated in the background.",
                _ if is_new => "Created.",
                _ => "Success.",
            };
            (description, content)
        }
        ResponseContent::List(name) => {
            let (schema, example) = reference(name, schemas);
            let list = json!({"type": "array", "items": schema});
            (
                "Success.",
                json!({"application/json": wrapped(&list, &json!([example]))}),
            )
        }
        ResponseContent::Lines => {
            let list = json!({"type": "array", "items": {"type": "string"}});
            let example = json!(["GET http://127.0.0.1/ -> 200 text/html 512 bytes 3 ms"]);
            (
                "Success.",
                json!({"application/json": wrapped(&list, &example)}),
            )
        }
        ResponseContent::Words => {
            let words = json!({"schema": {"type": "string"}, "example": "admin\nlogin"});
            let content = json!({"application/json": words, "text/plain; charset=utf-8": words});
            let description = "The words, separated by newlines, without `data`: `text/plain` if the request accepts nothing \
                else, JSON otherwise.";
            (description, content)
        }
        ResponseContent::Download => ("The file of the report.", download()),
    }
}

fn further_success(status: u16) -> Value {
    let description = match status {
        202 => "The report is not ready yet.",
        204 => {
            "The report is empty, or its generation failed; `status` of `GET /reports/{id}` shows which."
        }
        _ => "Success.",
    };
    let headers = header_references(&["x-ratelimit-limit", "x-ratelimit-remaining"]);
    json!({"description": description, "headers": headers})
}

fn wrapped(schema: &Value, example: &Value) -> Value {
    json!({
        "schema": {"type": "object", "required": ["data"], "properties": {"data": schema}},
        "example": {"data": example},
    })
}

fn reference(name: &str, schemas: &[Schema]) -> (Value, Value) {
    let example = schemas
        .iter()
        .find(|schema| schema.name == name)
        .map(|schema| schema.example.clone());
    (
        json!({"$ref": format!("#/components/schemas/{name}")}),
        example.unwrap_or_default(),
    )
}

fn download() -> Value {
    let content = |format: &ReportFormat| {
        let media = match format {
            ReportFormat::Json => json!({
                "schema": {"type": "array", "items": {"type": "object"}},
                "example": [{"name": "https://shop.acme.test/", "group_by": "target", "findings": []}],
            }),
            ReportFormat::Csv | ReportFormat::Html => json!({"schema": {"type": "string"}}),
            _ => json!({"schema": {"type": "string", "format": "binary"}}),
        };
        (content_type(format).to_owned(), media)
    };
    Value::Object(FORMATS.iter().map(content).collect())
}

/// How further operations use the id of a new resource, or of the first one of a list.
fn links(endpoint: &Endpoint) -> Map<String, Value> {
    let id = match endpoint.content {
        ResponseContent::Data("Created" | "ScanCreated") => "$response.body#/data/created_id",
        ResponseContent::Data("ReportCreated") => "$response.body#/data/report_id",
        ResponseContent::List("Finding" | "Wordlist") => "$response.body#/data/0/id",
        _ => return Map::new(),
    };
    let nouns = [
        (
            "/workspaces",
            ["get_workspace", "edit_workspace", "delete_workspace"].as_slice(),
        ),
        ("/targets", &["get_target", "delete_target"]),
        (
            "/scans",
            &[
                "get_scan",
                "get_scan_output",
                "get_scan_raw",
                "list_scan_tests",
                "stop_scan",
                "delete_scan",
            ],
        ),
        ("/findings", &["get_finding"]),
        (
            "/wordlists",
            &["get_wordlist", "get_wordlist_contents", "delete_wordlist"],
        ),
        (
            "/reports",
            &["get_report", "download_report", "delete_report"],
        ),
        (
            "/http_loggers",
            &[
                "get_logger",
                "list_captures",
                "delete_captures",
                "delete_logger",
            ],
        ),
    ];
    let operations = nouns
        .iter()
        .filter(|(path, _)| *path == endpoint.path)
        .flat_map(|(_, operations)| *operations);
    operations
        .map(|name| {
            (
                (*name).to_owned(),
                json!({"operationId": name, "parameters": {"id": id}}),
            )
        })
        .collect()
}
