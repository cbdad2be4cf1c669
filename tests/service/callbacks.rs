//! `report_callback` of scans and `webhook_url` of reports.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::clock::ManualClock;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use scandeck::service::resolver::{LookupError, Resolver};
use scandeck::service::{Parts, Settings, start_with};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::TestService;
use super::database::rows;
use super::runner::{ScriptedRunner, typical_events};

/// A receiver that returns these statuses, then 200.
async fn receiver(statuses: &[u16]) -> MockServer {
    let server = MockServer::start().await;
    for status in statuses {
        Mock::given(method("POST"))
            .respond_with(ResponseTemplate::new(*status))
            .up_to_n_times(1)
            .mount(&server)
            .await;
    }
    Mock::given(method("POST"))
        .and(path("/hook"))
        .respond_with(ResponseTemplate::new(200))
        .mount(&server)
        .await;
    server
}

/// Waits for this number of requests.
async fn received(server: &MockServer, count: usize) -> Vec<Request> {
    let polling = async {
        loop {
            let requests = server.received_requests().await.unwrap();
            if requests.len() >= count {
                return requests;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(super::PATIENCE, polling)
        .await
        .expect("no callback in time")
}

impl TestService {
    /// Starts a scan of loopback with this `report_callback` and returns its id.
    async fn scan_with_callback(&self, callback: Value) -> i64 {
        let body = json!({"tool_id": 70, "target_name": "127.0.0.1", "report_callback": callback});
        self.post("/scans", body).await.created()
    }
}

fn hook(server: &MockServer) -> String {
    format!("{}/hook", server.uri())
}

#[tokio::test]
async fn finished_scan_sends_signed_report() {
    let service = TestService::new().await;
    service.runner.set_events(typical_events());
    service.runner.finish_scans(1);
    let server = receiver(&[]).await;
    let scan = service
        .scan_with_callback(json!({"url": hook(&server), "format": "json"}))
        .await;
    let request = received(&server, 1).await.remove(0);
    assert_eq!(request.headers["content-type"], "application/json");
    assert_eq!(
        request.headers["x-scandeck-subject"],
        format!("scan {scan}").as_str()
    );
    let signature = request.headers["x-scandeck-signature"].to_str().unwrap();
    assert!(
        signature.starts_with("sha256=") && signature.len() == 7 + 64,
        "{signature}"
    );
    let groups: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(groups[0]["findings"][0]["vuln_id"], "web.key");
    service.stop().await;
}

#[tokio::test]
async fn finished_scan_sends_pdf_as_form() {
    let service = TestService::new().await;
    service.runner.set_events(typical_events());
    service.runner.finish_scans(1);
    let server = receiver(&[]).await;
    let scan = service
        .scan_with_callback(json!({"url": hook(&server), "format": "pdf"}))
        .await;
    let request = received(&server, 1).await.remove(0);
    let kind = request.headers["content-type"].to_str().unwrap();
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
    let end = format!("\r\n--{boundary}--\r\n");
    let start = request
        .body
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .unwrap()
        + 4;
    let head = std::str::from_utf8(&request.body[..start]).unwrap();
    assert!(
        head.starts_with(&format!("--{boundary}\r\n"))
            && head.contains("Content-Type: application/pdf"),
        "{head}"
    );
    assert!(
        head.contains(&format!(
            "name=\"file\"; filename=\"scandeck-scan-{scan}.pdf\""
        )),
        "{head}"
    );
    let file = request.body[start..].strip_suffix(end.as_bytes()).unwrap();
    assert!(crate::readback::readable("pdf", file).contains("Finding web.key"));
    service.stop().await;
}

#[tokio::test]
async fn finished_report_calls_webhook() {
    let service = TestService::new().await;
    service.runner.set_events(typical_events());
    service.runner.finish_scans(1);
    let scan = service.scan(service.target("127.0.0.1").await).await;
    service.until_status(scan, "finished").await;
    let server = receiver(&[]).await;
    let body = json!({"format": "csv", "group_by": "target", "source": "scans", "resources": [scan], "webhook_url": hook(&server)});
    let report = service.post("/reports", body).await.body["data"]["report_id"].clone();
    let request = received(&server, 1).await.remove(0);
    let event: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(
        event,
        json!({"event": "report", "report_id": report, "status": "finished", "format": "csv"})
    );
    service.stop().await;
}

#[tokio::test]
async fn failed_callback_is_retried_every_3_seconds_and_after_restart() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new(Timestamp::now());
    let runner = ScriptedRunner::default();
    runner.finish_scans(1);
    let start = async || TestService::with_clock(dir.path(), &clock, runner.clone()).await;
    let service = start().await;
    let server = receiver(&[500, 404, 503]).await;
    service
        .scan_with_callback(json!({"url": hook(&server)}))
        .await;
    received(&server, 1).await;
    advance_until(&clock, &server, 2).await;
    service.stop().await;
    let service = start().await;
    advance_until(&clock, &server, 3).await;
    advance_until(&clock, &server, 4).await;
    clock.advance(SignedDuration::from_secs(60));
    service.get("/workspaces").await;
    let requests = server.received_requests().await.unwrap();
    assert_eq!(requests.len(), 4, "the callback is delivered once");
    let first = &requests[0].headers["x-scandeck-delivery"];
    assert!(first.to_str().unwrap().parse::<i64>().is_ok());
    for request in &requests {
        assert_eq!(&request.headers["x-scandeck-delivery"], first);
    }
    service.stop().await;
}

#[tokio::test]
async fn hanging_receiver_does_not_delay_others() {
    let service = TestService::new().await;
    service.runner.finish_scans(2);
    let hanging = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", hanging.local_addr().unwrap());
    service.scan_with_callback(json!({"url": url})).await;
    let (connection, _) = hanging.accept().await.unwrap();
    let server = receiver(&[]).await;
    service
        .scan_with_callback(json!({"url": hook(&server)}))
        .await;
    received(&server, 1).await;
    let mut request = vec![0; 64 * 1024];
    while let Ok(count) = connection.try_read(&mut request) {
        assert!(count > 0, "the other callback waited for this one");
    }
    service.stop().await;
}

/// Panics at the first look-up; then every name is this machine.
#[derive(Default)]
struct PanickingResolver(AtomicBool);

impl Resolver for PanickingResolver {
    fn lookup(&self, _: String) -> BoxFuture<'static, Result<Vec<IpAddr>, LookupError>> {
        assert!(self.0.swap(true, Ordering::SeqCst), "a scripted panic");
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}

#[tokio::test]
async fn panic_is_a_failed_attempt() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new(Timestamp::now());
    let (runner, stop) = (ScriptedRunner::default(), CancellationToken::new());
    runner.finish_scans(1);
    let parts = Parts {
        clock: Arc::new(clock.clone()),
        runner: Some(Arc::new(runner.clone())),
        resolver: Arc::new(PanickingResolver::default()),
    };
    let settings = Settings {
        allow_targets: vec!["hook.test".to_owned()],
        ..super::settings(dir.path())
    };
    let running = start_with(settings, stop.clone(), parts).await.unwrap();
    let service = TestService {
        runner,
        ..TestService::of(running, stop)
    };
    let server = receiver(&[]).await;
    let url = format!("http://hook.test:{}/hook", server.address().port());
    service.scan_with_callback(json!({"url": url})).await;
    advance_until(&clock, &server, 1).await;
    service.stop().await;
}

#[tokio::test]
async fn aborted_scan_sends_report() {
    let service = TestService::new().await;
    service.runner.panic_next(3);
    let server = receiver(&[]).await;
    let scan = service
        .scan_with_callback(json!({"url": hook(&server)}))
        .await;
    service.until_status(scan, "aborted").await;
    received(&server, 1).await;
    service.stop().await;
}

#[tokio::test]
async fn failing_callback_stops_after_five_attempts() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new(Timestamp::now());
    let runner = ScriptedRunner::default();
    runner.finish_scans(2);
    let service = TestService::with_clock(dir.path(), &clock, runner).await;
    let (dead, alive) = (receiver(&[500; 5]).await, receiver(&[]).await);
    for server in [&dead, &alive] {
        service
            .scan_with_callback(json!({"url": hook(server)}))
            .await;
    }
    received(&alive, 1).await;
    for count in 1..=4 {
        received(&dead, count).await;
        // The service stores an attempt after its response, and schedules the next one then.
        until_failed_attempts(dir.path(), &[count as i64]).await;
        clock.advance(SignedDuration::from_secs(3));
    }
    received(&dead, 5).await;
    until_failed_attempts(dir.path(), &[]).await;
    clock.advance(SignedDuration::from_secs(600));
    assert_eq!(dead.received_requests().await.unwrap().len(), 5);
    service.stop().await;
}

/// Advances the clock until the receiver has this number of requests.
async fn advance_until(clock: &ManualClock, server: &MockServer, count: usize) {
    let polling = async {
        while server.received_requests().await.unwrap().len() < count {
            clock.advance(SignedDuration::from_secs(3));
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(super::PATIENCE, polling)
        .await
        .expect("no further attempt in time");
}

/// Waits until the queued deliveries have these numbers of failed attempts.
async fn until_failed_attempts(dir: &Path, expected: &[i64]) {
    let expected: Vec<String> = expected.iter().map(i64::to_string).collect();
    let polling = async {
        while rows(dir, "SELECT tries FROM deliveries ORDER BY id").await != expected {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(super::PATIENCE, polling)
        .await
        .expect("the attempt is stored");
}

#[tokio::test]
async fn callback_redirect_out_of_scope_ends_the_delivery() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new(Timestamp::now());
    let runner = ScriptedRunner::default();
    runner.finish_scans(2);
    let service = TestService::with_clock(dir.path(), &clock, runner).await;
    let server = MockServer::start().await;
    let to = |url: &str| ResponseTemplate::new(307).insert_header("location", url);
    Mock::given(path("/out"))
        .respond_with(to("http://169.254.169.254/latest"))
        .mount(&server)
        .await;
    Mock::given(path("/in"))
        .respond_with(to("/hook"))
        .mount(&server)
        .await;
    Mock::given(path("/hook"))
        .respond_with(ResponseTemplate::new(204))
        .mount(&server)
        .await;
    let paths = |requests: &[Request]| {
        requests
            .iter()
            .map(|one| one.url.path().to_owned())
            .collect::<Vec<_>>()
    };
    service
        .scan_with_callback(json!({"url": format!("{}/out", server.uri())}))
        .await;
    received(&server, 1).await;
    until_failed_attempts(dir.path(), &[]).await;
    // A redirect within the scope is followed; by then, every further attempt of the first delivery
    // would be due.
    clock.advance(SignedDuration::from_secs(600));
    service
        .scan_with_callback(json!({"url": format!("{}/in", server.uri())}))
        .await;
    assert_eq!(paths(&received(&server, 3).await), ["/out", "/in", "/hook"]);
    service.stop().await;
}
