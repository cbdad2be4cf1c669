//! Services that speak HTTP, but send errors, redirects, damaged or oversized bodies.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use scandeck::client::{
    BaseUrl, CallId, Client, ClientSettings, Download, Error, ErrorKind, Lane, ScanQuery, replay,
};
use scandeck::contract::{
    Capture, LoggerId, NewScan, NewWorkspace, ReportId, ScanId, TargetId, WordlistId, WorkspaceId,
};
use scandeck::oob::Replay;
use serde_json::json;
use wiremock::matchers::{any, body_string, header, method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{KEY, client, client_with};

async fn service(response: ResponseTemplate) -> (MockServer, Client) {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(response)
        .mount(&server)
        .await;
    let client = client(&server.uri());
    (server, client)
}

/// The error of a list call on a service that always sends this response, and the number of
/// requests.
async fn error_of(response: ResponseTemplate) -> (Error, usize) {
    let (server, client) = service(response).await;
    let error = client.list_workspaces().await.unwrap_err();
    // For these only the message of the service can name the next step.
    let is_of_service = matches!(
        error.kind,
        ErrorKind::Forbidden | ErrorKind::NotFound | ErrorKind::Conflict | ErrorKind::Invalid
    );
    assert_eq!(error.hint().is_empty(), is_of_service, "{error}");
    assert!(
        !format!("{error} {error:?} {client:?}").contains(KEY),
        "the API key leaked"
    );
    (error, server.received_requests().await.unwrap().len())
}

fn json_error(status: u16, message: &str) -> ResponseTemplate {
    ResponseTemplate::new(status)
        .set_body_json(json!({"status": status, "message": message, "details": "see the manual"}))
}

#[tokio::test]
async fn error_response_keeps_kind_status_and_message_without_retry() {
    for (status, kind) in [
        (400, ErrorKind::Invalid),
        (401, ErrorKind::Unauthorized),
        (403, ErrorKind::Forbidden),
        (404, ErrorKind::NotFound),
        (406, ErrorKind::NotAcceptable),
        (409, ErrorKind::Conflict),
        (413, ErrorKind::Invalid),
        (422, ErrorKind::Invalid),
        (500, ErrorKind::Server),
    ] {
        let (error, requests) = error_of(json_error(status, "message of the service")).await;
        assert_eq!(
            (&error.kind, error.status, requests),
            (&kind, Some(status), 1)
        );
        // The details of a rejected key are for programmers; the hint names the key.
        let details = if kind == ErrorKind::Unauthorized {
            ""
        } else {
            " (see the manual)"
        };
        assert_eq!(
            error.to_string(),
            format!("{status} message of the service{details}")
        );
    }
}

#[tokio::test]
async fn message_of_an_error_is_found_under_other_names() {
    for body in [
        json!({"error": "no such format"}),
        json!({"error": {"code": "invalid", "message": "no such format"}}),
        json!({"errors": [{"field": "format", "message": "no such format"}, {"message": "other"}]}),
        json!({"errors": ["no such format"]}),
    ] {
        let (error, _) = error_of(ResponseTemplate::new(422).set_body_json(&body)).await;
        assert_eq!(error.to_string(), "422 no such format", "{body}");
    }
}

#[tokio::test]
async fn html_page_from_proxy_is_never_decoded() {
    let page = |status| {
        ResponseTemplate::new(status).set_body_raw(
            "<html><b>502 Bad Gateway</b></html>",
            "text/html; charset=utf-8",
        )
    };
    let (error, requests) = error_of(page(502)).await;
    assert_eq!(
        (error.kind, requests),
        (ErrorKind::Server, 3),
        "502 is retried for an idempotent request"
    );
    assert_eq!(error_of(page(200)).await.0.kind, ErrorKind::NotThisApi);
    assert_eq!(error_of(page(404)).await.0.kind, ErrorKind::NotThisApi);
    assert_eq!(error_of(page(401)).await.0.kind, ErrorKind::Unauthorized);
}

#[tokio::test]
async fn malformed_json_is_a_decode_error() {
    let body =
        |text: &str| ResponseTemplate::new(200).set_body_raw(text.to_owned(), "application/json");
    for text in [
        "",
        "  ",
        "{\"data\": [{\"id\": 1}",
        "{\"data\": 7}",
        "{\"data\": null}",
        "null",
        "[[]]",
        "\"text\"",
        "\u{0}\u{1}",
    ] {
        assert_eq!(
            error_of(body(text)).await.0.kind,
            ErrorKind::Decode,
            "{text:?}"
        );
    }
    let (_server, client) = service(body(
        "{\"data\": [null, {\"id\": \"3\", \"name\": 5, \"more\": {}}]}",
    ))
    .await;
    let workspaces = client.list_workspaces().await.unwrap();
    assert_eq!(
        (
            workspaces.len(),
            workspaces[0].id,
            workspaces[0].name.as_str()
        ),
        (1, WorkspaceId(3), "5")
    );
}

#[tokio::test]
async fn redirect_is_not_followed_and_key_not_leaked() {
    let other = MockServer::start().await;
    Mock::given(any())
        .respond_with(ResponseTemplate::new(200))
        .expect(0)
        .mount(&other)
        .await;
    let (error, requests) =
        error_of(ResponseTemplate::new(302).insert_header("location", other.uri().as_str())).await;
    assert_eq!((error.kind.clone(), requests), (ErrorKind::NotThisApi, 1));
    assert!(error.to_string().contains(&other.uri()), "{error}");
}

#[tokio::test]
async fn rate_limit_with_short_delay_is_retried_and_long_delay_reported() {
    let server = MockServer::start().await;
    let limited = json_error(429, "slow down").insert_header("retry-after", "1");
    Mock::given(any())
        .respond_with(limited)
        .up_to_n_times(1)
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"data": []})))
        .mount(&server)
        .await;
    let client = client_with(&server.uri(), |settings| {
        settings.total_timeout = Duration::from_secs(20)
    });
    client.list_workspaces().await.unwrap();
    assert_eq!(server.received_requests().await.unwrap().len(), 2);

    let (error, requests) =
        error_of(json_error(429, "slow down").insert_header("retry-after", "600")).await;
    assert_eq!(
        error.kind,
        ErrorKind::RateLimited {
            retry_after: Some(Duration::from_secs(600))
        }
    );
    assert_eq!((requests, error.hint().as_str()), (1, "wait 600 s"));
    let (error, requests) = error_of(json_error(429, "slow down")).await;
    assert_eq!(
        (error.kind, requests),
        (ErrorKind::RateLimited { retry_after: None }, 1)
    );
}

#[tokio::test]
async fn spent_budget_blocks_its_lane_only() {
    let reset = (Timestamp::now().as_second() + 40).to_string();
    let spent = ResponseTemplate::new(200)
        .set_body_json(json!({"data": []}))
        .insert_header("x-ratelimit-limit", "250")
        .insert_header("x-ratelimit-remaining", "0")
        .insert_header("x-ratelimit-reset", reset.as_str());
    let (server, client) = service(spent).await;
    client.list_workspaces().await.unwrap();
    assert_eq!(client.budget(Lane::Read).limit, Some(250));
    let error = client.list_workspaces().await.unwrap_err();
    let ErrorKind::BudgetSpent { until } = error.kind else {
        panic!("{error:?}")
    };
    assert!(
        (35..=42).contains(&(until.as_second() - Timestamp::now().as_second())),
        "{until}"
    );
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
    client.stop_scan(ScanId(1)).await.unwrap();
    assert_eq!(server.received_requests().await.unwrap().len(), 2);
}

#[tokio::test]
async fn missing_scanners_are_those_of_the_last_list_of_scans() {
    let list = ResponseTemplate::new(200).set_body_json(json!({"data": []}));
    let (_server, client) = service(
        list.clone()
            .insert_header("x-missing-scanners", "350=nmap, ?"),
    )
    .await;
    client.list_workspaces().await.unwrap();
    assert!(
        client.missing_scanners().is_empty(),
        "only the list of scans names them"
    );
    client.list_scans(&ScanQuery::default()).await.unwrap();
    let named: Vec<String> = client
        .missing_scanners()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(named, ["350=nmap"]);
    let (_server, client) = service(list).await;
    client.list_scans(&ScanQuery::default()).await.unwrap();
    assert!(client.missing_scanners().is_empty(), "another service");
}

#[tokio::test]
async fn creation_and_deletion_after_503_are_not_retried() {
    let (server, client) = service(ResponseTemplate::new(503)).await;
    let new = NewWorkspace {
        name: "a".into(),
        description: None,
    };
    assert_eq!(
        client.create_workspace(&new).await.unwrap_err().kind,
        ErrorKind::Server
    );
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
    assert_eq!(
        client
            .delete_workspace(WorkspaceId(1))
            .await
            .unwrap_err()
            .kind,
        ErrorKind::Server
    );
    let requests = server.received_requests().await.unwrap();
    let count = |method: &str| {
        requests
            .iter()
            .filter(|request| request.method.as_str() == method)
            .count()
    };
    assert_eq!(
        [count("POST"), count("DELETE"), count("GET")],
        [1, 1, 3],
        "a read looks whether it was deleted"
    );
}

#[tokio::test]
async fn deletion_after_504_is_decided_by_reading() {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(ResponseTemplate::new(504))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(json_error(404, "no such workspace"))
        .mount(&server)
        .await;
    let client = client(&server.uri());
    client.delete_workspace(WorkspaceId(1)).await.unwrap();
    assert_eq!(
        client.get_workspace(WorkspaceId(1)).await.unwrap_err().kind,
        ErrorKind::NotFound
    );
}

#[tokio::test]
async fn response_above_size_limit_is_too_large() {
    let (_server, client) =
        service(ResponseTemplate::new(200).set_body_bytes(vec![b' '; (32 << 20) + 1])).await;
    let error = client.list_workspaces().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge);
    assert!(error.to_string().contains("32 MB"), "{error}");
}

#[tokio::test]
async fn list_that_grows_when_decoded_is_too_large_whole_or_in_pages() {
    let items = format!("{{\"data\":[{{}}{}]}}", ",{}".repeat(1 << 20));
    let (_server, client) = service(ResponseTemplate::new(200).set_body_string(items)).await;
    let error = client.list_workspaces().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge, "{error}");
    assert!(error.to_string().contains("20 MB of memory"), "{error}");
    // Each page is small, and none is the last.
    let server = MockServer::start().await;
    let name = format!("\"name\":\"{}\"", "x".repeat(4_000));
    for page in 1..=20 {
        let first = page * 1_000;
        let list: Vec<String> = (first..first + 1_000)
            .map(|id| format!("{{\"id\":{id},{name}}}"))
            .collect();
        let body = format!("{{\"data\":[{}]}}", list.join(","));
        let page = Mock::given(query_param("page", page.to_string()));
        page.respond_with(ResponseTemplate::new(200).set_body_string(body))
            .mount(&server)
            .await;
    }
    let error = self::client(&server.uri())
        .list_all_targets(&Default::default())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("64 MB of memory"), "{error}");
    assert!(server.received_requests().await.unwrap().len() < 20);
}

#[tokio::test]
async fn rejected_key_is_named_by_source_and_can_be_replaced() {
    let server = MockServer::start().await;
    let accepted = ResponseTemplate::new(200).set_body_json(json!({"data": []}));
    Mock::given(header("authorization", "Bearer second"))
        .respond_with(accepted)
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(json_error(401, "invalid API key"))
        .mount(&server)
        .await;
    let base = BaseUrl::parse(&server.uri(), false).unwrap();
    let client = Client::new(
        ClientSettings::new(base, "first".to_owned().into()).with_key_source("/k/file"),
    )
    .unwrap();
    let error = client.list_workspaces().await.unwrap_err();
    assert_eq!(
        (error.kind.clone(), error.hint().as_str()),
        (ErrorKind::Unauthorized, "check the API key from /k/file")
    );
    let clone = client.without_retries().observing();
    assert_eq!(client.replace_key(&"first".to_owned().into()), Ok(false));
    assert_eq!(client.replace_key(&"second".to_owned().into()), Ok(true));
    assert!(
        clone.list_workspaces().await.unwrap().is_empty(),
        "clones use the new key too"
    );
    assert!(client.replace_key(&"a\nb".to_owned().into()).is_err());
    assert!(!format!("{client:?} {error:?}").contains("first"));
}

#[tokio::test]
async fn unchanged_list_is_not_modified_for_a_caller_that_has_it() {
    let server = MockServer::start().await;
    let unchanged = ResponseTemplate::new(304).set_body_string("");
    Mock::given(header("if-none-match", "W/\"7\""))
        .respond_with(unchanged)
        .mount(&server)
        .await;
    let list = ResponseTemplate::new(200)
        .insert_header("etag", "W/\"7\"")
        .set_body_json(json!({"data": []}));
    Mock::given(any()).respond_with(list).mount(&server).await;
    let first = client(&server.uri()).observing();
    first.list_workspaces().await.unwrap();
    let known = Arc::new(first.entity_tags());
    assert!(!known.is_empty());
    first
        .list_workspaces()
        .await
        .expect("without `unless`, everything is read");
    let second = first.observing().unless(Arc::clone(&known));
    for _ in 0..2 {
        assert_eq!(
            second.list_workspaces().await.unwrap_err().kind,
            ErrorKind::NotModified
        );
    }
    assert_eq!(second.entity_tags(), *known);
    second.list_reports().await.expect("another list");
    let ends: Vec<_> = second
        .recorded_calls()
        .into_iter()
        .filter_map(|call| call.end)
        .collect();
    assert!(
        ends.iter().all(|end| end.error.is_none())
            && ends.iter().any(|end| end.status == Some(304))
    );
}

#[tokio::test]
async fn list_of_several_pages_has_no_tag() {
    let server = MockServer::start().await;
    let page = |ids: std::ops::Range<i64>| {
        let targets: Vec<_> = ids.map(|id| json!({"id": id, "name": "a.test"})).collect();
        ResponseTemplate::new(200)
            .insert_header("etag", "\"7\"")
            .set_body_json(json!({"data": targets}))
    };
    Mock::given(query_param("page", "1"))
        .respond_with(page(1..1001))
        .mount(&server)
        .await;
    Mock::given(query_param("page", "2"))
        .respond_with(page(1001..1003))
        .mount(&server)
        .await;
    let client = client(&server.uri()).observing();
    assert_eq!(
        client
            .list_all_targets(&Default::default())
            .await
            .unwrap()
            .len(),
        1002
    );
    assert!(client.entity_tags().is_empty());
}

#[tokio::test]
async fn unrequested_304_is_not_this_api() {
    let (_server, client) = service(ResponseTemplate::new(304)).await;
    assert_eq!(
        client.list_workspaces().await.unwrap_err().kind,
        ErrorKind::NotThisApi
    );
}

#[tokio::test]
async fn gzip_bomb_is_too_large() {
    // 40 MB of blanks in a few kB of gzip.
    let packed = gzip_of_blanks(40 << 20);
    assert!(packed.len() < 1 << 20, "{}", packed.len());
    let response = ResponseTemplate::new(200)
        .insert_header("content-encoding", "gzip")
        .set_body_bytes(packed);
    let (_server, client) = service(response).await;
    assert_eq!(
        client.list_workspaces().await.unwrap_err().kind,
        ErrorKind::TooLarge
    );
}

#[tokio::test]
async fn invalid_gzip_is_a_decode_error_without_retry() {
    let response = ResponseTemplate::new(200)
        .insert_header("content-encoding", "gzip")
        .set_body_bytes(*b"no gzip at all");
    let (error, requests) = error_of(response).await;
    assert_eq!((error.kind, requests), (ErrorKind::Decode, 1));
}

/// Gzip (RFC 1952) of `length` blanks: deflate blocks with fixed codes, one literal and repeats of
/// 258.
fn gzip_of_blanks(length: usize) -> Vec<u8> {
    let mut bits = RowSet::default();
    bits.put(1, 1);
    bits.put(1, 2);
    bits.code(0x30 + u32::from(b' '), 8);
    let mut remaining = length - 1;
    while remaining >= 258 {
        // Length 258 is symbol 285 (8 bits, 0xC5), distance 1 is symbol 0 (5 bits).
        bits.code(0xC5, 8);
        bits.code(0, 5);
        remaining -= 258;
    }
    for _ in 0..remaining {
        bits.code(0x30 + u32::from(b' '), 8);
    }
    bits.code(0, 7);
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    packed.write_all(&bits.end()).unwrap();
    // The client stops at its limit, before the checksum and the length.
    packed.extend([0; 8]);
    packed
}

#[derive(Default)]
struct RowSet {
    bytes: Vec<u8>,
    pending: u32,
    pending_bits: u32,
}

impl RowSet {
    fn put(&mut self, value: u32, bits: u32) {
        for bit in 0..bits {
            self.pending |= (value >> bit & 1) << self.pending_bits;
            self.pending_bits += 1;
            if self.pending_bits == 8 {
                self.bytes.push(self.pending as u8);
                (self.pending, self.pending_bits) = (0, 0);
            }
        }
    }

    /// Huffman codes are written with the highest bit first.
    fn code(&mut self, value: u32, bits: u32) {
        for bit in (0..bits).rev() {
            self.put(value >> bit & 1, 1);
        }
    }

    fn end(mut self) -> Vec<u8> {
        self.put(0, (8 - self.pending_bits) % 8);
        self.bytes
    }
}

#[tokio::test]
async fn workspaces_distinguish_good_key_wrong_key_and_other_service() {
    let on_workspaces = async |response: ResponseTemplate| {
        let server = MockServer::start().await;
        Mock::given(method("GET"))
            .and(path("/api/v2/workspaces"))
            .and(header("authorization", format!("Bearer {KEY}").as_str()))
            .and(header("accept", "application/json"))
            .respond_with(response)
            .mount(&server)
            .await;
        client(&server.uri()).list_workspaces().await
    };
    on_workspaces(ResponseTemplate::new(200).set_body_json(json!({"data": []})))
        .await
        .unwrap();
    assert_eq!(
        on_workspaces(json_error(401, "no such key"))
            .await
            .unwrap_err()
            .kind,
        ErrorKind::Unauthorized
    );
    assert_eq!(
        on_workspaces(json_error(404, "no such path"))
            .await
            .unwrap_err()
            .kind,
        ErrorKind::NotFound
    );
    let elsewhere = ResponseTemplate::new(404).set_body_string("not found");
    assert_eq!(
        on_workspaces(elsewhere).await.unwrap_err().kind,
        ErrorKind::NotThisApi
    );
}

#[tokio::test]
async fn scan_created_without_id_in_response_is_identified_in_the_list() {
    let server = MockServer::start().await;
    let scans = |ids: &[i64]| {
        let scan = |id: &i64| json!({"id": id, "tool_id": 70, "target_id": 9});
        ResponseTemplate::new(200)
            .set_body_json(json!({"data": ids.iter().map(scan).collect::<Vec<_>>()}))
    };
    let old = Mock::given(path("/api/v2/scans"))
        .and(method("GET"))
        .respond_with(scans(&[4, 7]))
        .up_to_n_times(2);
    old.with_priority(1).mount(&server).await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(201).set_body_json(json!({})))
        .mount(&server)
        .await;
    Mock::given(path("/api/v2/scans"))
        .and(query_param("tool_id", "70"))
        .and(query_param("target_id", "9"))
        .and(query_param("workspace_id", "2"))
        .respond_with(scans(&[4, 6, 7]))
        .mount(&server)
        .await;
    let new = NewScan {
        tool_id: 70,
        target_id: Some(TargetId(9)),
        workspace_id: Some(WorkspaceId(2)),
        ..NewScan::default()
    };
    let created = client(&server.uri()).create_scan(&new).await.unwrap();
    assert_eq!(
        (created.created_id, created.target_id),
        (Some(ScanId(6)), Some(TargetId(9)))
    );
}

#[tokio::test]
async fn wordlist_contents_as_json_or_plain_text_are_read() {
    let contents = async |response| {
        service(response)
            .await
            .1
            .wordlist_contents(WordlistId(1))
            .await
            .unwrap()
    };
    assert_eq!(
        contents(ResponseTemplate::new(200).set_body_json("a\nb")).await,
        "a\nb"
    );
    assert_eq!(
        contents(ResponseTemplate::new(200).set_body_json(json!({"data": "a\nb"}))).await,
        "a\nb"
    );
    assert_eq!(
        contents(ResponseTemplate::new(200).set_body_string("a\nb")).await,
        "a\nb"
    );
}

#[tokio::test]
async fn report_download_returns_file_pending_or_no_data() {
    let download = async |response| {
        service(response)
            .await
            .1
            .download_report(ReportId(1))
            .await
            .unwrap()
    };
    assert!(matches!(
        download(ResponseTemplate::new(202)).await,
        Download::Pending
    ));
    assert!(matches!(
        download(ResponseTemplate::new(204)).await,
        Download::NoData
    ));
    let page = ResponseTemplate::new(200)
        .set_body_raw("<html>report</html>", "text/html; charset=utf-8")
        .insert_header(
            "content-disposition",
            "attachment; filename=\"r 1.html\"; x=1",
        );
    let Download::Ready(file) = download(page).await else {
        panic!("report has no file")
    };
    assert_eq!(file.name.as_deref(), Some("r 1.html"));
    let mut content = Vec::new();
    file.save_to(&mut content).await.unwrap();
    assert_eq!(content, b"<html>report</html>");
}

#[tokio::test]
async fn captures_before_since_id_are_dropped() {
    let requests = json!({"data": {"requests": [{"id": 9}, {"id": 7}, {"id": 8}]}});
    let server = MockServer::start().await;
    Mock::given(path("/api/v2/http_loggers/1/data"))
        .and(query_param("since_id", "7"))
        .respond_with(ResponseTemplate::new(200).set_body_json(requests))
        .mount(&server)
        .await;
    let captures = client(&server.uri())
        .list_captures(LoggerId(1), Some(scandeck::contract::CaptureId(7)))
        .await
        .unwrap();
    assert_eq!(
        captures
            .iter()
            .map(|capture| capture.id.0)
            .collect::<Vec<_>>(),
        [8, 9]
    );
}

#[tokio::test]
async fn logger_creation_sends_workspace_in_query_and_form() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/api/v2/http_loggers"))
        .and(query_param("workspace_id", "3"))
        .and(body_string("label=a-b&workspace_id=3"))
        .respond_with(ResponseTemplate::new(201).set_body_json(json!({"data": {"created_id": 12}})))
        .mount(&server)
        .await;
    assert_eq!(
        client(&server.uri())
            .create_logger("a-b", Some(WorkspaceId(3)))
            .await
            .unwrap(),
        LoggerId(12)
    );
}

#[tokio::test]
async fn proxy_variables_are_ignored_for_loopback() {
    // A client reads the variables when it is created, so they are set for a process of its own.
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "client::responses::client_on_loopback_lists_workspaces",
            "--include-ignored",
        ])
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .env("http_proxy", "http://127.0.0.1:9")
        .env("ALL_PROXY", "http://127.0.0.1:9")
        .output()
        .unwrap();
    assert!(
        child.status.success(),
        "{}",
        String::from_utf8_lossy(&child.stdout)
    );
    assert!(String::from_utf8_lossy(&child.stdout).contains("1 passed"));
}

#[tokio::test]
async fn client_on_loopback_lists_workspaces() {
    let (_server, client) =
        service(ResponseTemplate::new(200).set_body_json(json!({"data": []}))).await;
    client.list_workspaces().await.unwrap();
    assert!(
        client
            .clock_offset()
            .is_some_and(|offset| offset.as_secs().abs() <= 2)
    );
}

#[tokio::test]
async fn capture_replayed_sends_one_request_without_key_or_redirect() {
    let server = MockServer::start().await;
    let moved = ResponseTemplate::new(302).insert_header("location", "/elsewhere");
    Mock::given(any()).respond_with(moved).mount(&server).await;
    let capture = Capture {
        request_method: "PUT".into(),
        http_headers: vec![
            "Host: h".into(),
            "X-A: 1".into(),
            "X-A: 2".into(),
            "Connection: close".into(),
        ],
        request_body_base64: "AP8=".into(),
        ..Capture::default()
    };
    let request = Replay::new(&capture, &format!("{}/x?y=1", server.uri())).unwrap();
    assert_eq!(replay(&request).await.unwrap(), 302);
    let requests = server.received_requests().await.unwrap();
    let [request] = requests.as_slice() else {
        panic!("{requests:?}")
    };
    assert_eq!(
        (
            request.method.as_str(),
            request.url.path(),
            request.url.query()
        ),
        ("PUT", "/x", Some("y=1"))
    );
    assert_eq!(request.headers.get_all("x-a").iter().count(), 2);
    assert_eq!(request.body, b"\x00\xff");
    assert!(!request.headers.contains_key("authorization"));
    assert_ne!(request.headers["host"], "h");
    drop(server);
    let unreachable = Replay::new(&capture, "http://127.0.0.1:1/").unwrap();
    assert_eq!(
        replay(&unreachable).await.unwrap_err().kind,
        ErrorKind::Connect
    );
}

#[tokio::test]
async fn calls_are_recorded_with_status_size_and_retries_but_without_the_key() {
    let (_server, client) = service(ResponseTemplate::new(200).set_body_json(json!([]))).await;
    client
        .without_retries()
        .observing()
        .list_workspaces()
        .await
        .unwrap();
    let (_failing, other) = service(json_error(503, "down")).await;
    other.list_workspaces().await.unwrap_err();
    let (calls, failed) = (client.recorded_calls(), other.recorded_calls());
    let end = calls[0].end.as_ref().unwrap();
    assert_eq!(
        (calls[0].path.as_str(), end.status, end.bytes, &end.error),
        ("/workspaces", Some(200), 2, &None)
    );
    let end = failed[0].end.as_ref().unwrap();
    assert_eq!(
        (failed.len(), failed[0].retries, end.status),
        (1, 2, Some(503))
    );
    assert_eq!(
        end.error.as_ref().unwrap().as_str(),
        "down (see the manual)"
    );
    assert!(
        !format!("{calls:?} {failed:?}").contains(KEY),
        "the API key leaked"
    );
}

#[tokio::test]
async fn cancelled_call_ends_with_unknown_outcome() {
    let slow = ResponseTemplate::new(201).set_delay(Duration::from_secs(3600));
    let (_server, client) = service(slow).await;
    let mut changes = client.call_changes();
    changes.borrow_and_update();
    let sender = client.clone();
    let call = tokio::spawn(async move { sender.create_workspace(&NewWorkspace::default()).await });
    changes.changed().await.unwrap();
    assert!(client.recorded_calls()[0].end.is_none());
    assert!(client.cancel(CallId(1)) && !client.cancel(CallId(2)));
    let error = call.await.unwrap().unwrap_err();
    assert_eq!(
        (&error.kind, error.is_outcome_unknown()),
        (&ErrorKind::Cancelled, true)
    );
    assert!(client.recorded_calls()[0].has_failed() && !client.cancel(CallId(1)));
}
