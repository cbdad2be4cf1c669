//! Captured requests as HAR, against the HAR 1.2 schemas vendored under `tests/schemas/har`.

use std::sync::{Arc, LazyLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonschema::{Retrieve, Uri, Validator};
use proptest::prelude::*;
use scandeck::contract::{Capture, Stamp};
use scandeck::oob::CaptureRecord;
use scandeck::oob::out::har;
use serde_json::Value;

use super::exports::readers::har::refusals;
use super::exports::{HOSTILE, assert_valid, schema};

/// Loads referenced schemas from the vendored files.
struct VendoredHarSchemas;

impl Retrieve for VendoredHarSchemas {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let name = uri.as_str().rsplit('/').next().unwrap_or_default();
        Ok(schema(&format!("har/{name}")))
    }
}

/// The schema, compiled once for all tests.
static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    jsonschema::options()
        .should_validate_formats(true)
        .with_retriever(VendoredHarSchemas)
        .build(&schema("har/har.json"))
        .unwrap()
});

fn record(handler_url: &str, capture: Capture) -> CaptureRecord {
    CaptureRecord {
        capture: Arc::new(capture),
        body: None,
        logger: 3.into(),
        label: HOSTILE.into(),
        handler_url: handler_url.into(),
        mentions: Arc::default(),
    }
}

/// A capture with this text in every field.
fn capture_with(text: &str, date: Option<Stamp>) -> Capture {
    Capture {
        id: 1.into(),
        ip_address: text.into(),
        request_method: text.into(),
        url_params: format!("{text}&a={text}&%zz=%2e").into(),
        user_agent: text.into(),
        http_headers: vec![
            text.into(),
            format!("Cookie: {text}; a={text}").into(),
            format!("{text}: {text}").into(),
        ],
        request_body_type: text.into(),
        request_body_base64: STANDARD.encode(text).into(),
        request_date: date,
        path: Some(format!("/l/{text}/%2e%2e").into()),
        http_version: Some(text.into()),
        remote_port: Some(-1),
        ..Capture::default()
    }
}

fn entries(records: &[CaptureRecord]) -> Value {
    let file = har(records, None);
    assert_eq!(refusals(&file), [""; 0]);
    let archive: Value = serde_json::from_str(&file).unwrap();
    assert_valid(&SCHEMA, &archive);
    archive["log"]["entries"].clone()
}

#[test]
fn har_of_plain_binary_and_hostile_requests_matches_schema() {
    let body = |bytes: &[u8]| Capture {
        request_body_base64: STANDARD.encode(bytes).into(),
        ..Capture::default()
    };
    let all = [
        record(
            "http://127.0.0.1:8081/l/x/",
            capture_with("plain", Stamp::parse("2026-11-21 14:02:08")),
        ),
        record("http://127.0.0.1:8081/l/x/", capture_with(HOSTILE, None)),
        record("https://h.test/l?k=1", body(b"\xff\x00\x80")),
        record("", capture_with("//[x]", None)),
        record(HOSTILE, Capture::default()),
    ];
    let entries = entries(&all);
    assert_eq!(
        entries[0]["request"]["url"],
        "http://127.0.0.1:8081/l/plain/%2e%2e?plain&a=plain&%25zz=%2e"
    );
    assert_eq!(entries[2]["request"]["postData"]["_base64"], "/wCA");
    assert!(
        entries[3]["request"]["url"]
            .as_str()
            .unwrap()
            .starts_with("http://unknown.invalid/"),
        "{entries}"
    );
    assert!(self::entries(&[]).as_array().unwrap().is_empty());
    let mut wrong: Value = serde_json::from_str(&har(&all, None)).unwrap();
    wrong["log"]["entries"][0]["request"]["url"] = "not a URI".into();
    assert!(
        !SCHEMA.is_valid(&wrong),
        "the schema accepts an invalid URL"
    );
}

#[test]
fn har_of_extreme_dates_matches_schema() {
    let dates = [
        "0001-01-01 00:00:00",
        "9999-12-30 23:59:59",
        "-000044-03-15T12:00:00Z",
        "2016-12-31T23:59:60Z",
    ];
    let all: Vec<CaptureRecord> = dates
        .map(|date| {
            record(
                "http://h.test/",
                Capture {
                    request_date: Stamp::parse(date),
                    ..capture_with("x", None)
                },
            )
        })
        .into();
    assert!(all[2].capture.request_date.is_some());
    let entries = entries(&all);
    assert_eq!(entries[0]["startedDateTime"], "0001-01-01T00:00:00.000Z");
    assert_eq!(entries[2]["startedDateTime"], "1970-01-01T00:00:00.000Z");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn har_of_arbitrary_text_matches_schema(text in any::<String>(), base in any::<String>(), seconds in -300_000_000_000..253_000_000_000i64) {
        let date = jiff::Timestamp::from_second(seconds).ok().map(Stamp);
        let all = [record("http://h.test/l/", capture_with(&text, date)), record(&base, capture_with(&text, date))];
        let file = har(&all, None);
        assert_eq!(refusals(&file), [""; 0]);
        let archive = serde_json::from_str(&file).unwrap();
        assert_valid(&SCHEMA, &archive);
    }
}
