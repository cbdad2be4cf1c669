//! Services that answer in HTTP, but not as one would like.

use std::io::Write;
use std::time::Duration;

use jiff::Timestamp;
use scandeck::client::{Client, Download, Error, ErrorKind, Lane, replay};
use scandeck::contract::{
    Capture, LoggerId, NewScan, NewWorkspace, ReportId, ScanId, TargetId, WordlistId, WorkspaceId,
};
use scandeck::oob::Replay;
use serde_json::json;
use wiremock::matchers::{any, body_string, header, method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{KEY, client, client_with};

async fn service(answer: ResponseTemplate) -> (MockServer, Client) {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(answer).mount(&server).await;
    let client = client(&server.uri());
    (server, client)
}

/// The error of a list call against a service that always gives this answer, and how often it was asked.
async fn error_of(answer: ResponseTemplate) -> (Error, usize) {
    let (server, client) = service(answer).await;
    let error = client.list_workspaces().await.unwrap_err();
    assert!(!error.hint().is_empty());
    assert!(!format!("{error} {error:?} {client:?}").contains(KEY), "the key leaked");
    (error, server.received_requests().await.unwrap().len())
}

fn json_error(status: u16, message: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({"status": status, "message": message, "details": "see there"}))
}

#[tokio::test]
async fn every_refusal_keeps_its_kind_status_and_words_and_is_not_repeated() {
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
        let (error, asked) = error_of(json_error(status, "words of the service")).await;
        assert_eq!((&error.kind, error.status, asked), (&kind, Some(status), 1));
        assert_eq!(error.to_string(), format!("{status} words of the service (see there)"));
    }
}

#[tokio::test]
async fn a_proxys_page_is_never_taken_for_an_answer() {
    let page = |status| {
        ResponseTemplate::new(status).set_body_raw("<html><b>502 Bad Gateway</b></html>", "text/html; charset=utf-8")
    };
    let (error, asked) = error_of(page(502)).await;
    assert_eq!((error.kind, asked), (ErrorKind::Server, 3), "502 is tried again where that is safe");
    assert_eq!(error_of(page(200)).await.0.kind, ErrorKind::NotThisApi);
    assert_eq!(error_of(page(404)).await.0.kind, ErrorKind::NotThisApi);
    assert_eq!(error_of(page(401)).await.0.kind, ErrorKind::Unauthorized);
}

#[tokio::test]
async fn answers_that_are_no_json_of_the_shape_are_told_as_such() {
    let body = |text: &str| ResponseTemplate::new(200).set_body_raw(text.to_owned(), "application/json");
    for text in ["", "  ", "{\"data\": [{\"id\": 1}", "{\"data\": 7}", "\"text\"", "\u{0}\u{1}"] {
        assert_eq!(error_of(body(text)).await.0.kind, ErrorKind::Decode, "{text:?}");
    }
    let (_server, client) = service(body("{\"data\": [null, {\"id\": \"3\", \"name\": 5, \"more\": {}}]}")).await;
    let workspaces = client.list_workspaces().await.unwrap();
    assert_eq!((workspaces.len(), workspaces[0].id, workspaces[0].name.as_str()), (1, WorkspaceId(3), "5"));
    let (_server, client) = service(body("{\"data\": null}")).await;
    assert!(client.list_workspaces().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_redirect_is_refused_and_its_target_never_sees_the_key() {
    let thief = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(200)).expect(0).mount(&thief).await;
    let (error, asked) = error_of(ResponseTemplate::new(302).insert_header("location", thief.uri().as_str())).await;
    assert_eq!((error.kind.clone(), asked), (ErrorKind::NotThisApi, 1));
    assert!(error.to_string().contains(&thief.uri()), "{error}");
}

#[tokio::test]
async fn a_rate_limit_with_a_short_pause_is_waited_out_and_a_long_one_is_told() {
    let server = MockServer::start().await;
    let limited = json_error(429, "slow down").insert_header("retry-after", "1");
    Mock::given(any()).respond_with(limited).up_to_n_times(1).mount(&server).await;
    Mock::given(any()).respond_with(ResponseTemplate::new(200).set_body_json(json!({"data": []}))).mount(&server).await;
    let client = client_with(&server.uri(), |settings| settings.total_timeout = Duration::from_secs(20));
    client.list_workspaces().await.unwrap();
    assert_eq!(server.received_requests().await.unwrap().len(), 2);

    let (error, asked) = error_of(json_error(429, "slow down").insert_header("retry-after", "600")).await;
    assert_eq!(error.kind, ErrorKind::RateLimited { retry_after: Some(Duration::from_secs(600)) });
    assert_eq!((asked, error.hint().as_str()), (1, "wait 600 s"));
    let (error, asked) = error_of(json_error(429, "slow down")).await;
    assert_eq!((error.kind, asked), (ErrorKind::RateLimited { retry_after: None }, 1));
}

#[tokio::test]
async fn nothing_is_sent_while_the_budget_is_spent_and_other_lanes_go_on() {
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
    let ErrorKind::BudgetSpent { until } = error.kind else { panic!("{error:?}") };
    assert!((35..=42).contains(&(until.as_second() - Timestamp::now().as_second())), "{until}");
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
    client.stop_scan(ScanId(1)).await.unwrap();
    assert_eq!(server.received_requests().await.unwrap().len(), 2);
}

#[tokio::test]
async fn what_could_act_twice_is_not_sent_twice() {
    let (server, client) = service(ResponseTemplate::new(503)).await;
    let new = NewWorkspace { name: "a".into(), description: None };
    assert_eq!(client.create_workspace(&new).await.unwrap_err().kind, ErrorKind::Server);
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
    assert_eq!(client.delete_workspace(WorkspaceId(1)).await.unwrap_err().kind, ErrorKind::Server);
    assert_eq!(server.received_requests().await.unwrap().len(), 1 + 3);
}

#[tokio::test]
async fn a_deletion_whose_answer_was_lost_has_succeeded() {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(504)).up_to_n_times(1).mount(&server).await;
    Mock::given(any()).respond_with(json_error(404, "no such workspace")).mount(&server).await;
    let client = client(&server.uri());
    client.delete_workspace(WorkspaceId(1)).await.unwrap();
    assert_eq!(client.get_workspace(WorkspaceId(1)).await.unwrap_err().kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn an_answer_larger_than_the_limit_is_cut_off() {
    let (_server, client) = service(ResponseTemplate::new(200).set_body_bytes(vec![b' '; (32 << 20) + 1])).await;
    let error = client.list_workspaces().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge);
    assert!(error.to_string().contains("32 MB"), "{error}");
}

#[tokio::test]
async fn a_small_answer_that_unpacks_to_too_much_is_cut_off() {
    // 40 MB of blanks in a few kB of gzip, made by hand: stored nowhere, compressed by the repeat of one block.
    let packed = gzip_of_blanks(40 << 20);
    assert!(packed.len() < 1 << 20, "{}", packed.len());
    let answer = ResponseTemplate::new(200).insert_header("content-encoding", "gzip").set_body_bytes(packed);
    let (_server, client) = service(answer).await;
    assert_eq!(client.list_workspaces().await.unwrap_err().kind, ErrorKind::TooLarge);
}

#[tokio::test]
async fn an_answer_that_cannot_be_unpacked_is_told_and_not_repeated() {
    let answer =
        ResponseTemplate::new(200).insert_header("content-encoding", "gzip").set_body_bytes(*b"no gzip at all");
    let (error, asked) = error_of(answer).await;
    assert_eq!((error.kind, asked), (ErrorKind::Decode, 1));
}

/// Gzip (RFC 1952) of `length` blanks: deflate blocks with fixed codes, one literal and repeats of 258.
fn gzip_of_blanks(length: usize) -> Vec<u8> {
    let mut bits = RowSet::default();
    bits.put(1, 1);
    bits.put(1, 2);
    bits.code(0x30 + u32::from(b' '), 8);
    let mut left = length - 1;
    while left >= 258 {
        // Length 258 is symbol 285 (8 bits, 0xC5), distance 1 is symbol 0 (5 bits).
        bits.code(0xC5, 8);
        bits.code(0, 5);
        left -= 258;
    }
    for _ in 0..left {
        bits.code(0x30 + u32::from(b' '), 8);
    }
    bits.code(0, 7);
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    packed.write_all(&bits.end()).unwrap();
    // Checksum and length are not reached: the limit cuts before.
    packed.extend([0; 8]);
    packed
}

#[derive(Default)]
struct RowSet {
    bytes: Vec<u8>,
    last: u32,
    used: u32,
}

impl RowSet {
    fn put(&mut self, value: u32, bits: u32) {
        for bit in 0..bits {
            self.last |= (value >> bit & 1) << self.used;
            self.used += 1;
            if self.used == 8 {
                self.bytes.push(self.last as u8);
                (self.last, self.used) = (0, 0);
            }
        }
    }

    /// Huffman codes go in with their highest bit first.
    fn code(&mut self, value: u32, bits: u32) {
        for bit in (0..bits).rev() {
            self.put(value >> bit & 1, 1);
        }
    }

    fn end(mut self) -> Vec<u8> {
        self.put(0, (8 - self.used) % 8);
        self.bytes
    }
}

#[tokio::test]
async fn the_check_knows_a_good_key_a_wrong_key_and_another_service() {
    let check = async |answer| service(answer).await.1.check().await;
    let on_scan_0 = async |answer: ResponseTemplate| {
        let server = MockServer::start().await;
        Mock::given(method("GET"))
            .and(path("/api/v2/scans/0"))
            .and(header("authorization", format!("Bearer {KEY}").as_str()))
            .and(header("accept", "application/json"))
            .respond_with(answer)
            .mount(&server)
            .await;
        client(&server.uri()).check().await
    };
    on_scan_0(json_error(404, "no such scan")).await.unwrap();
    assert_eq!(on_scan_0(json_error(401, "no such key")).await.unwrap_err().kind, ErrorKind::Unauthorized);
    let elsewhere = ResponseTemplate::new(404).set_body_string("not found");
    assert_eq!(check(elsewhere).await.unwrap_err().kind, ErrorKind::NotThisApi);
}

#[tokio::test]
async fn a_scan_whose_id_is_not_told_is_looked_up() {
    let server = MockServer::start().await;
    let scans = json!([
        {"id": 4, "tool_id": 70, "target_id": 9},
        {"id": 6, "tool_id": 70, "target_id": 9},
        {"id": 5, "tool_id": 70, "target_id": 9},
    ]);
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(201).set_body_json(json!({}))).mount(&server).await;
    Mock::given(path("/api/v2/scans"))
        .and(query_param("tool_id", "70"))
        .and(query_param("target_id", "9"))
        .and(query_param("workspace_id", "2"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"data": scans})))
        .mount(&server)
        .await;
    let new =
        NewScan { tool_id: 70, target_id: Some(TargetId(9)), workspace_id: Some(WorkspaceId(2)), ..NewScan::default() };
    let created = client(&server.uri()).create_scan(&new).await.unwrap();
    assert_eq!((created.created_id, created.target_id), (Some(ScanId(6)), Some(TargetId(9))));
}

#[tokio::test]
async fn words_come_as_a_json_string_wrapped_or_bare_and_as_plain_text() {
    let words = async |answer| service(answer).await.1.wordlist_contents(WordlistId(1)).await.unwrap();
    assert_eq!(words(ResponseTemplate::new(200).set_body_json("a\nb")).await, "a\nb");
    assert_eq!(words(ResponseTemplate::new(200).set_body_json(json!({"data": "a\nb"}))).await, "a\nb");
    assert_eq!(words(ResponseTemplate::new(200).set_body_string("a\nb")).await, "a\nb");
}

#[tokio::test]
async fn a_download_is_a_file_or_not_ready_or_nothing() {
    let download = async |answer| service(answer).await.1.download_report(ReportId(1)).await.unwrap();
    assert!(matches!(download(ResponseTemplate::new(202)).await, Download::Pending));
    assert!(matches!(download(ResponseTemplate::new(204)).await, Download::NoData));
    let page = ResponseTemplate::new(200)
        .set_body_raw("<html>report</html>", "text/html; charset=utf-8")
        .insert_header("content-disposition", "attachment; filename=\"r 1.html\"; x=1");
    let Download::Ready(file) = download(page).await else { panic!("no file") };
    assert_eq!(file.name.as_deref(), Some("r 1.html"));
    let mut content = Vec::new();
    file.save_to(&mut content).await.unwrap();
    assert_eq!(content, b"<html>report</html>");
}

#[tokio::test]
async fn captures_older_than_asked_are_dropped_where_the_service_does_not_know_since() {
    let requests = json!({"data": {"requests": [{"id": 9}, {"id": 7}, {"id": 8}]}});
    let server = MockServer::start().await;
    Mock::given(path("/api/v2/http_loggers/1/data"))
        .and(query_param("since_id", "7"))
        .respond_with(ResponseTemplate::new(200).set_body_json(requests))
        .mount(&server)
        .await;
    let captures =
        client(&server.uri()).list_captures(LoggerId(1), Some(scandeck::contract::CaptureId(7))).await.unwrap();
    assert_eq!(captures.iter().map(|capture| capture.id.0).collect::<Vec<_>>(), [8, 9]);
}

#[tokio::test]
async fn a_logger_is_made_with_its_workspace_in_query_and_form() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/api/v2/http_loggers"))
        .and(query_param("workspace_id", "3"))
        .and(body_string("label=a-b&workspace_id=3"))
        .respond_with(ResponseTemplate::new(201).set_body_json(json!({"data": {"created_id": 12}})))
        .mount(&server)
        .await;
    assert_eq!(client(&server.uri()).create_logger("a-b", Some(WorkspaceId(3))).await.unwrap(), LoggerId(12));
}

#[tokio::test]
async fn proxies_of_the_environment_are_not_asked_for_loopback() {
    // The variable is read when a client is made; this test's own process keeps it for nobody else but loopback.
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "client::answers::loopback_answers", "--include-ignored"])
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .env("http_proxy", "http://127.0.0.1:9")
        .env("ALL_PROXY", "http://127.0.0.1:9")
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    assert!(String::from_utf8_lossy(&child.stdout).contains("1 passed"));
}

#[tokio::test]
async fn loopback_answers() {
    let (_server, client) = service(ResponseTemplate::new(200).set_body_json(json!({"data": []}))).await;
    client.list_workspaces().await.unwrap();
    assert!(client.clock_offset().is_some_and(|offset| offset.as_secs().abs() <= 2));
}

#[tokio::test]
async fn a_captured_request_is_sent_again_once_without_the_key_and_follows_nothing() {
    let server = MockServer::start().await;
    let moved = ResponseTemplate::new(302).insert_header("location", "/elsewhere");
    Mock::given(any()).respond_with(moved).mount(&server).await;
    let capture = Capture {
        request_method: "PUT".into(),
        http_headers: vec!["Host: h".into(), "X-A: 1".into(), "X-A: 2".into(), "Connection: close".into()],
        request_body_base64: "AP8=".into(),
        ..Capture::default()
    };
    let again = Replay::new(&capture, &format!("{}/x?y=1", server.uri())).unwrap();
    assert_eq!(replay(&again).await.unwrap(), 302);
    let requests = server.received_requests().await.unwrap();
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((request.method.as_str(), request.url.path(), request.url.query()), ("PUT", "/x", Some("y=1")));
    assert_eq!(request.headers.get_all("x-a").iter().count(), 2);
    assert_eq!(request.body, b"\x00\xff");
    assert!(!request.headers.contains_key("authorization"));
    assert_ne!(request.headers["host"], "h");
    drop(server);
    let nobody = Replay::new(&capture, "http://127.0.0.1:1/").unwrap();
    assert_eq!(replay(&nobody).await.unwrap_err().kind, ErrorKind::Connect);
}
