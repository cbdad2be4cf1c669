//! HTTP Archive 1.2, the format of browser tools and proxies.
//!
//! Responses of a logger are not recorded, so they are empty with status 0. Data without a field in
//! the format is stored in fields with an underscore, as the format permits.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use url::Url;

use super::CaptureRecord;
use crate::mask::Mask;
use crate::oob::decode::percent::decoded_value;
use crate::oob::request;
use scandeck_wire::contract::Stamp;
use scandeck_wire::text::escaped_json;

/// Start of year 0 in seconds since 1970.
const YEAR_0: i64 = -62_167_219_200;
/// Host of a logger whose URL is unknown (RFC 2606).
const UNKNOWN: &str = "unknown.invalid";

/// Captures as one archive.
pub fn har(sent: &[CaptureRecord], mask: Option<&Mask>) -> String {
    let mut archive = json!({"log": {
        "version": "1.2",
        "creator": {"name": "scandeck", "version": env!("CARGO_PKG_VERSION")},
        "entries": sent.iter().map(entry).collect::<Vec<_>>(),
    }});
    if let Some(mask) = mask {
        mask.json(&mut archive);
        // Nothing can be recognised in bytes that are no text.
        for entry in archive["log"]["entries"]
            .as_array_mut()
            .into_iter()
            .flatten()
        {
            entry["request"]["postData"]
                .as_object_mut()
                .and_then(|body| body.remove("_base64"));
            entry
                .as_object_mut()
                .and_then(|entry| entry.remove("_raw_base64"));
        }
    }
    escaped_json(&format!("{archive:#}\n")).into_owned()
}

fn entry(sent: &CaptureRecord) -> Value {
    let capture = &*sent.capture;
    let token = sent
        .mentions
        .iter()
        .find(|mention| mention.known)
        .map(|mention| mention.token.to_string());
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
    if let Some(raw) = &capture.raw_base64 {
        entry["_raw_base64"] = json!(raw);
    }
    if !capture.problems.is_empty() {
        entry["_problems"] = json!(capture.problems);
    }
    if !sent.request_url().path_known {
        entry["comment"] =
            json!("the service does not report the path; this is the path of the logger");
    }
    entry
}

fn request(sent: &CaptureRecord) -> Value {
    let capture = &*sent.capture;
    let decoded =
        |text: &str| String::from_utf8_lossy(&decoded_value(text.as_bytes())).into_owned();
    let pair = |(name, value): (&str, Option<&str>)| json!({"name": decoded(name), "value": decoded(value.unwrap_or_default())});
    let header = |(name, value): (&str, &str)| json!({"name": name, "value": value});
    let body = request::body(capture);
    let mut value = json!({
        "method": capture.request_method,
        "url": url(sent),
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
            // The format has no field for bytes.
            Err(_) => json!({"mimeType": mime, "text": "", "_base64": capture.request_body_base64}),
        };
    }
    value
}

/// The request URL as a URI: invalid characters are percent-encoded, everything else remains,
/// because `%2e%2e` and `..` differ for an analyst. A placeholder host is used if the URL of the
/// logger is unknown.
fn url(sent: &CaptureRecord) -> String {
    let url: String = uri(&sent.request_url().url);
    match Url::parse(&url) {
        Ok(_) => url,
        Err(_) => format!(
            "http://{UNKNOWN}/{}",
            url.trim_start_matches('/').replace("//", "/%2F")
        ),
    }
}

fn uri(text: &str) -> String {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?@!$&'()*+,;=".contains(&byte);
    let mut uri = String::with_capacity(text.len());
    for (at, byte) in text.bytes().enumerate() {
        let escape = || {
            text.as_bytes()
                .get(at + 1..at + 3)
                .is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit))
        };
        match byte {
            b'%' if escape() => uri.push('%'),
            byte if is_plain(byte) => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn cookies(sent: &CaptureRecord) -> Vec<Value> {
    let of_cookies =
        request::headers(&sent.capture).filter(|(name, _)| name.eq_ignore_ascii_case("cookie"));
    let pairs = of_cookies
        .flat_map(|(_, value)| value.split(';'))
        .filter(|pair| !pair.trim().is_empty());
    let cookie = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or(("", pair));
        json!({"name": name.trim(), "value": value.trim()})
    };
    pairs.map(cookie).collect()
}

/// ISO 8601 with a time zone. Requests without a date or with a date before year 0 get the Unix
/// epoch.
fn moment(stamp: Option<Stamp>) -> String {
    let valid = stamp
        .map(|stamp| stamp.0)
        .filter(|at| at.as_second() >= YEAR_0);
    let at = valid.unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_zoned(TimeZone::UTC)
        .strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{sent, with};
    use super::*;
    use crate::oob::recognize::testing::base64;

    fn read(sent: &[CaptureRecord]) -> Value {
        serde_json::from_str(&har(sent, None)).unwrap()
    }

    #[test]
    fn har_entry_describes_request() {
        let archive = read(&[sent()]);
        let entry = &archive["log"]["entries"][0];
        assert_eq!(entry["startedDateTime"], "2026-11-21T14:02:08.000Z");
        let request = &entry["request"];
        assert_eq!(
            request["queryString"][0],
            json!({"name": "t", "value": "k7f2aaaabbbb/latest"})
        );
        assert_eq!(request["cookies"][1], json!({"name": "b", "value": "it's"}));
        assert_eq!(
            request["headers"].as_array().unwrap().len(),
            sent().capture.http_headers.len()
        );
        assert_eq!(
            request["postData"],
            json!({"mimeType": "application/json", "text": r#"{"a":"it's"}"#})
        );
        assert_eq!(entry["_payload"], "k7f2aaaabbbb");
    }

    #[test]
    fn masked_har_holds_no_secrets() {
        let secret = with(|capture| {
            capture.url_params = "t=1&password=Sup3rPw".into();
            capture.http_headers = vec![
                "Cookie: sid=qqq111; theme=dark".into(),
                "X-Api-Key: live_4242".into(),
            ];
            capture.request_body_base64 =
                base64(br#"{"api_key":"sk_live_777","secret":"s3cr3t","n":1}"#);
            capture.raw_base64 = Some(base64(b"sk_live_777"));
        });
        let archive: Value = serde_json::from_str(&har(&[secret], Some(&Mask::default()))).unwrap();
        let request = &archive["log"]["entries"][0]["request"];
        assert_eq!(
            request["queryString"][0],
            json!({"name": "t", "value": "1"})
        );
        assert_eq!(
            request["postData"]["text"]
                .as_str()
                .unwrap()
                .matches("token-")
                .count(),
            2,
            "{request:#}"
        );
        assert!(!archive.to_string().contains("raw_base64"), "{archive}");
        for secret in [
            "Sup3rPw",
            "qqq111",
            "dark",
            "live_4242",
            "sk_live_777",
            "s3cr3t",
        ] {
            assert!(
                !archive.to_string().contains(secret),
                "{secret}: {request:#}"
            );
        }
    }

    #[test]
    fn har_marks_unknown_path_and_binary_body() {
        let bare = with(|capture| {
            let request_body_base64 = base64(b"\xff\x00");
            let (raw_base64, problems) =
                (Some(base64(b"GET /\x00")), vec!["no Host header".into()]);
            *capture = scandeck_wire::contract::Capture {
                request_body_base64,
                raw_base64,
                problems,
                ..Default::default()
            };
        });
        let archive = read(&[bare, with(|capture| capture.path = None)]);
        let entries = &archive["log"]["entries"];
        assert_eq!(entries[0]["request"]["postData"]["_base64"], "/wA=");
        assert_eq!(
            (&entries[0]["_raw_base64"], &entries[0]["_problems"][0]),
            (&json!("R0VUIC8A"), &json!("no Host header"))
        );
        assert!(
            entries[1]["comment"]
                .as_str()
                .unwrap()
                .contains("does not report the path")
        );
        assert_eq!(entries[0]["startedDateTime"], "1970-01-01T00:00:00.000Z");
        assert_eq!(read(&[])["log"]["entries"], json!([]));
    }
}
