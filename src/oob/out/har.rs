//! HTTP Archive 1.2: requests as browsers' tools and proxies read them.
//!
//! A logger answers and does not record what: the responses are empty, with the status 0 that readers take for none.
//! What the format has no field for stands in fields with an underscore, which it leaves to whoever writes one.

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::Sent;
use crate::contract::Stamp;
use crate::oob::decode::percent::decoded_value;
use crate::oob::request;
use crate::text::escaped_json;

/// Captures as one archive.
pub fn har(sent: &[Sent]) -> String {
    let archive = json!({"log": {
        "version": "1.2",
        "creator": {"name": "scandeck", "version": env!("CARGO_PKG_VERSION")},
        "entries": sent.iter().map(entry).collect::<Vec<_>>(),
    }});
    escaped_json(&format!("{archive:#}\n")).into_owned()
}

fn entry(sent: &Sent) -> Value {
    let capture = &*sent.capture;
    let token = sent.mentions.iter().find(|mention| mention.known).map(|mention| mention.token.to_string());
    let mut entry = json!({
        "startedDateTime": moment(capture.request_date),
        "time": 0,
        "request": request(sent),
        "response": {
            "status": 0,
            "statusText": "",
            "httpVersion": "",
            "cookies": [],
            "headers": [],
            "content": {"size": 0, "mimeType": "x-unknown"},
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": -1,
        },
        "cache": {},
        "timings": {"send": 0, "wait": 0, "receive": 0},
        "_clientIPAddress": capture.ip_address,
        "_logger": sent.label,
        "_payload": token,
        "_captureId": capture.id,
    });
    if !sent.went().path_known {
        entry["comment"] = json!("the service does not tell the path: that of the logger stands for it");
    }
    entry
}

fn request(sent: &Sent) -> Value {
    let capture = &*sent.capture;
    let decoded = |text: &str| String::from_utf8_lossy(&decoded_value(text.as_bytes())).into_owned();
    let pair = |(name, value): (&str, Option<&str>)| json!({"name": decoded(name), "value": decoded(value.unwrap_or_default())});
    let header = |(name, value): (&str, &str)| json!({"name": name, "value": value});
    let body = request::body(capture);
    let mut value = json!({
        "method": capture.request_method,
        "url": sent.went().url,
        "httpVersion": capture.http_version.as_deref().unwrap_or("unknown"),
        "cookies": cookies(sent),
        "headers": request::headers(capture).map(header).collect::<Vec<_>>(),
        "queryString": request::pairs(capture).map(pair).collect::<Vec<_>>(),
        "headersSize": -1,
        "bodySize": body.len(),
    });
    if !body.is_empty() {
        let mime = request::content_type(capture);
        value["postData"] = match std::str::from_utf8(&body) {
            Ok(text) => json!({"mimeType": mime, "text": text}),
            // The format has no way to tell bytes.
            Err(_) => json!({"mimeType": mime, "text": "", "_base64": capture.request_body_base64}),
        };
    }
    value
}

fn cookies(sent: &Sent) -> Vec<Value> {
    let of_cookies = request::headers(&sent.capture).filter(|(name, _)| name.eq_ignore_ascii_case("cookie"));
    let pairs = of_cookies.flat_map(|(_, value)| value.split(';')).filter(|pair| !pair.trim().is_empty());
    let cookie = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or(("", pair));
        json!({"name": name.trim(), "value": value.trim()})
    };
    pairs.map(cookie).collect()
}

/// ISO 8601 with a zone. A request without a date has the first moment there is.
fn moment(stamp: Option<Stamp>) -> String {
    let at = stamp.map_or(jiff::Timestamp::UNIX_EPOCH, |stamp| stamp.0);
    at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{sent, with};
    use super::*;
    use crate::oob::recognize::testing::base64;

    /// An object with exactly these fields, some of which may be left out; fields with an underscore are free.
    fn object(needed: &[(&str, Value)], optional: &[(&str, Value)]) -> Value {
        let properties: serde_json::Map<String, Value> =
            needed.iter().chain(optional).map(|(name, kind)| ((*name).to_owned(), kind.clone())).collect();
        let required: Vec<&str> = needed.iter().map(|(name, _)| *name).collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "patternProperties": {"^_": {}},
            "additionalProperties": false,
        })
    }

    /// The format as its specification has it: http://www.softwareishard.com/blog/har-12-spec/
    fn format() -> Value {
        let (text, number) = (json!({"type": "string"}), json!({"type": "number"}));
        let comment = ("comment", text.clone());
        let list = |of: Value| json!({"type": "array", "items": of});
        let size = json!({"type": "integer", "minimum": -1});
        let record = object(&[("name", text.clone()), ("value", text.clone())], std::slice::from_ref(&comment));
        let cookie = object(
            &[("name", text.clone()), ("value", text.clone())],
            &[("path", text.clone()), ("domain", text.clone()), ("expires", text.clone()), comment.clone()],
        );
        let post = object(&[("mimeType", text.clone()), ("text", text.clone())], std::slice::from_ref(&comment));
        let request = object(
            &[
                ("method", text.clone()),
                ("url", json!({"type": "string", "pattern": "^https?://"})),
                ("httpVersion", text.clone()),
                ("cookies", list(cookie.clone())),
                ("headers", list(record.clone())),
                ("queryString", list(record.clone())),
                ("headersSize", size.clone()),
                ("bodySize", size.clone()),
            ],
            &[("postData", post), comment.clone()],
        );
        let content = object(
            &[("size", json!({"type": "integer"})), ("mimeType", text.clone())],
            &[("compression", number.clone()), ("text", text.clone()), ("encoding", text.clone()), comment.clone()],
        );
        let response = object(
            &[
                ("status", json!({"type": "integer"})),
                ("statusText", text.clone()),
                ("httpVersion", text.clone()),
                ("cookies", list(cookie)),
                ("headers", list(record)),
                ("content", content),
                ("redirectURL", text.clone()),
                ("headersSize", size.clone()),
                ("bodySize", size),
            ],
            std::slice::from_ref(&comment),
        );
        let moment = json!({"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"});
        let time = json!({"type": "number", "minimum": 0});
        let entry = object(
            &[
                ("startedDateTime", moment),
                ("time", time.clone()),
                ("request", request),
                ("response", response),
                ("cache", json!({"type": "object"})),
                ("timings", object(&[("send", time.clone()), ("wait", time.clone()), ("receive", time)], &[])),
            ],
            &[
                ("pageref", text.clone()),
                ("serverIPAddress", text.clone()),
                ("connection", text.clone()),
                comment.clone(),
            ],
        );
        let creator = object(&[("name", text.clone()), ("version", text)], std::slice::from_ref(&comment));
        let log =
            object(&[("version", json!({"const": "1.2"})), ("creator", creator), ("entries", list(entry))], &[comment]);
        object(&[("log", log)], &[])
    }

    fn checked(sent: &[Sent]) -> Value {
        let archive: Value = serde_json::from_str(&har(sent)).unwrap();
        let validator = jsonschema::validator_for(&format()).unwrap();
        let faults: Vec<String> =
            validator.iter_errors(&archive).map(|fault| format!("{fault} at {}", fault.instance_path())).collect();
        assert!(faults.is_empty(), "{faults:?}");
        archive
    }

    #[test]
    fn an_archive_fits_the_format_and_tells_the_request() {
        let archive = checked(&[sent()]);
        let entry = &archive["log"]["entries"][0];
        assert_eq!(entry["startedDateTime"], "2026-11-21T14:02:08.000Z");
        let request = &entry["request"];
        assert_eq!(request["queryString"][0], json!({"name": "t", "value": "k7f2aaaabbbb/latest"}));
        assert_eq!(request["cookies"][1], json!({"name": "b", "value": "it's"}));
        assert_eq!(request["headers"].as_array().unwrap().len(), sent().capture.http_headers.len());
        assert_eq!(request["postData"], json!({"mimeType": "application/json", "text": r#"{"a":"it's"}"#}));
        assert_eq!(entry["_payload"], "k7f2aaaabbbb");
    }

    #[test]
    fn what_is_not_known_and_what_is_no_text_fit_too() {
        let bare = with(|capture| {
            *capture = crate::contract::Capture { request_body_base64: base64(b"\xff\x00"), ..Default::default() };
        });
        let archive = checked(&[bare, with(|capture| capture.path = None)]);
        let entries = &archive["log"]["entries"];
        assert_eq!(entries[0]["request"]["postData"]["_base64"], "/wA=");
        assert!(entries[1]["comment"].as_str().unwrap().contains("does not tell the path"));
        checked(&[]);
    }
}
