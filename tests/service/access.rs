//! Behaviour common to all endpoints: API key, Host header, error body, rate limit, ETag, path
//! normalisation.

use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use scandeck::service::RateLimit;

use super::{JsonResponse, TestService};

#[tokio::test]
async fn request_without_valid_key_is_unauthorized() {
    let service = TestService::new().await;
    let url = format!("{}/scans/0", service.base);
    JsonResponse::read(service.client.get(&url).send().await.unwrap())
        .await
        .assert_refused(401, "API key");
    let wrong = service
        .client
        .get(&url)
        .bearer_auth("wrong")
        .send()
        .await
        .unwrap();
    assert_eq!(wrong.headers()["www-authenticate"], "Bearer");
    JsonResponse::read(wrong)
        .await
        .assert_refused(401, "API key");
    let unknown = service
        .client
        .get(format!("{}/nothing", service.base))
        .send()
        .await
        .unwrap();
    JsonResponse::read(unknown)
        .await
        .assert_refused(401, "API key");
    service
        .get("/scans/0")
        .await
        .assert_refused(404, "scan 0 not found");
    service.stop().await;
}

#[tokio::test]
async fn framework_errors_use_api_error_body() {
    let service = TestService::new().await;
    service
        .get("/nothing")
        .await
        .assert_refused(404, "/api/v2/nothing");
    service
        .delete("/workspaces")
        .await
        .assert_refused(405, "DELETE");
    service
        .delete("/openapi.json")
        .await
        .assert_refused(405, "DELETE");
    let any = service
        .request(Method::GET, "/http_loggers/99/data")
        .header("if-none-match", "*")
        .send()
        .await
        .unwrap();
    JsonResponse::read(any)
        .await
        .assert_refused(404, "logger 99 not found");
    let post = |kind: &str, body: Vec<u8>| {
        service
            .request(Method::POST, "/targets")
            .header("content-type", kind)
            .body(body)
    };
    let read = async |request: reqwest::RequestBuilder| {
        JsonResponse::read(request.send().await.unwrap()).await
    };
    read(post("application/json", b"{\"name\":".to_vec()))
        .await
        .assert_refused(400, "not valid JSON");
    read(post("text/xml", b"<a/>".to_vec()))
        .await
        .assert_refused(415, "text/xml");
    read(post("application/json", vec![b' '; 2 * 1024 * 1024]))
        .await
        .assert_refused(413, "larger than");
    service.stop().await;
}

#[tokio::test]
async fn path_with_extra_slashes_is_accepted() {
    let service = TestService::new().await;
    for path in ["/workspaces/", "//workspaces", "/workspaces//1/"] {
        let response = service
            .request(Method::GET, path)
            .header("accept", "*/*")
            .send()
            .await
            .unwrap();
        assert_eq!(JsonResponse::read(response).await.status, 200, "{path}");
    }
    service.stop().await;
}

#[tokio::test]
async fn foreign_host_header_is_forbidden() {
    let service = TestService::new().await;
    let rebound = service
        .request(Method::GET, "/workspaces")
        .header("host", "evil.test:8765");
    JsonResponse::read(rebound.send().await.unwrap())
        .await
        .assert_refused(403, "evil.test");
    let local = service
        .request(Method::GET, "/workspaces")
        .header("host", "localhost");
    assert_eq!(
        JsonResponse::read(local.send().await.unwrap()).await.status,
        200
    );
    service.stop().await;
}

/// The status and the message of the response to a raw request.
async fn raw_response(service: &TestService, request: &str) -> (u16, String) {
    let base: url::Url = service.base.parse().unwrap();
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", base.port().unwrap()))
        .await
        .unwrap();
    stream
        .write_all(request.replace("KEY", &service.key).as_bytes())
        .await
        .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    (response[9..12].parse().unwrap(), response)
}

#[tokio::test]
async fn ambiguous_requests_are_bad_requests() {
    let service =
        TestService::with(|settings| settings.allow_hosts = vec!["scans.test".to_owned()]).await;
    let key = "authorization: Bearer KEY\r\nconnection: close\r\n";
    for (line, hosts, expected) in [
        (
            "GET /api/v2/workspaces HTTP/1.1",
            "host: localhost\r\n",
            200,
        ),
        (
            "GET http://localhost/api/v2/workspaces HTTP/1.1",
            "host: localhost\r\n",
            200,
        ),
        (
            "GET http://scans.test:8765/api/v2/workspaces/ HTTP/1.1",
            "host: localhost\r\n",
            200,
        ),
        (
            "GET /api/v2/workspaces HTTP/1.1",
            "host: localhost\r\nHost: localhost\r\n",
            400,
        ),
        (
            "GET /api/v2/workspaces HTTP/1.1",
            "host: localhost\r\nx: 1\r\nHOST: evil.test\r\n",
            400,
        ),
        ("GET /api/v2/workspaces HTTP/1.1", "", 400),
        ("GET /api/v2/openapi.json HTTP/1.1", "", 400),
        ("GET /healthz HTTP/1.1", "host: a\r\nhost: b\r\n", 400),
        (
            "GET /api/v2/workspaces HTTP/1.1",
            "host: localhost\r\nAuthorization: Bearer x\r\n",
            400,
        ),
        (
            "GET http://evil.test/api/v2/workspaces HTTP/1.1",
            "host: localhost\r\n",
            400,
        ),
        (
            "GET http://evil.test/api/v2//workspaces/ HTTP/1.1",
            "host: localhost\r\n",
            400,
        ),
        (
            "GET http://evil.test/api/v2/%77orkspaces HTTP/1.1",
            "host: localhost\r\n",
            400,
        ),
        (
            "GET http://a@localhost/api/v2/workspaces HTTP/1.1",
            "host: localhost\r\n",
            400,
        ),
        (
            "GET http://localhost/api/v2/workspaces HTTP/1.1",
            "host: evil.test\r\n",
            403,
        ),
        ("GET /api/v2/workspaces HTTP/1.0", "", 403),
    ] {
        let (status, response) =
            raw_response(&service, &format!("{line}\r\n{hosts}{key}\r\n")).await;
        assert_eq!(status, expected, "{line} {hosts:?}: {response}");
    }
    service.stop().await;
}

#[tokio::test]
async fn framing_that_two_servers_read_differently_is_refused_and_closes_the_connection() {
    let service = TestService::new().await;
    let head = "host: localhost\r\nauthorization: Bearer KEY\r\n";
    let after = "GET /api/v2/workspaces HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let chunked = "transfer-encoding: chunked\r\n";
    for (lines, status) in [
        (format!("content-length: 0\r\n{chunked}"), 400),
        (format!("{chunked}Content-Length: 0\r\n"), 400),
        ("transfer-encoding: gzip, chunked\r\n".to_owned(), 501),
        (format!("transfer-encoding: gzip\r\n{chunked}"), 501),
    ] {
        let request = format!("POST /api/v2/targets HTTP/1.1\r\n{head}{lines}\r\n0\r\n\r\n{after}");
        let (found, response) = raw_response(&service, &request).await;
        assert_eq!(
            (found, response.matches("HTTP/1.1 ").count()),
            (status, 1),
            "{lines}: {response}"
        );
        assert!(response.contains("connection: close\r\n"), "{response}");
    }
    for (lines, status) in [
        ("host: ::1", 400),
        ("host: 127.0.0.1:99999", 400),
        ("host: [::1]:8765", 200),
        ("host: localhost\r\nexpect: 200-maybe", 417),
        ("host: localhost\r\nexpect: 100-Continue", 200),
    ] {
        let request = format!(
            "GET /api/v2/workspaces HTTP/1.1\r\n{lines}\r\nauthorization: Bearer KEY\r\nconnection: close\r\n\r\n"
        );
        let (found, response) = raw_response(&service, &request).await;
        assert_eq!(found, status, "{lines}: {response}");
    }
    service.stop().await;
}

#[tokio::test]
async fn health_checks_of_one_address_have_a_limit() {
    let service = TestService::new().await;
    let url = service.base.replace("/api/v2", "/healthz");
    let statuses = async {
        let mut refused = None;
        for count in 1..=2000 {
            let response = service.client.get(&url).send().await.unwrap();
            if response.status() == 429 {
                refused = Some((count, response));
                break;
            }
        }
        refused.unwrap()
    };
    let (count, refused) = statuses.await;
    assert!(count > 600, "{count}");
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(
        service
            .request(Method::GET, "/workspaces")
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
    service.stop().await;
}

#[tokio::test]
async fn rate_limit_is_reported_and_enforced_by_class() {
    let service = TestService::with(|settings| settings.rate_limit = RateLimit::PerMinute(4)).await;
    let send =
        async |method: Method, path: &str| service.request(method, path).send().await.unwrap();
    for remaining in ["3", "2", "1", "0"] {
        let response = send(Method::GET, "/workspaces").await;
        assert_eq!(
            (
                &response.headers()["x-ratelimit-limit"],
                &response.headers()["x-ratelimit-remaining"]
            ),
            (&"4".parse().unwrap(), &remaining.parse().unwrap())
        );
    }
    let refused = send(Method::GET, "/workspaces").await;
    let wait: i64 = refused.headers()["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    let reset: i64 = refused.headers()["x-ratelimit-reset"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!(
        (1..=60).contains(&wait) && reset > 1_700_000_000,
        "{wait} {reset}"
    );
    JsonResponse::read(refused)
        .await
        .assert_refused(429, "rate limit exceeded");
    assert_eq!(
        send(Method::GET, "/scans/0/output").await.headers()["x-ratelimit-limit"],
        "1"
    );
    assert_eq!(
        send(Method::DELETE, "/scans/0").await.headers()["x-ratelimit-limit"],
        "2"
    );
    service.stop().await;
}

#[tokio::test]
async fn unchanged_list_returns_304() {
    let service = TestService::new().await;
    let send = async |tag: &str| {
        service
            .request(Method::GET, "/targets")
            .header("if-none-match", tag)
            .send()
            .await
            .unwrap()
    };
    let first = send("").await;
    assert_eq!(first.status(), 200);
    let tag = first.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(send(&tag).await.status(), 304);
    service.target("127.0.0.1").await;
    let changed = send(&tag).await;
    assert_eq!(changed.status(), 200);
    assert_ne!(changed.headers()["etag"], tag.as_str());
    service.stop().await;
}

#[tokio::test]
async fn large_response_with_accept_gzip_is_compressed() {
    let service = TestService::new().await;
    for number in 1..=40 {
        service.target(&format!("127.0.1.{number}")).await;
    }
    let response = service
        .request(Method::GET, "/targets")
        .header("accept-encoding", "gzip")
        .send()
        .await
        .unwrap();
    assert_eq!(response.headers()["content-encoding"], "gzip");
    service.stop().await;
}

#[tokio::test]
async fn change_has_its_status_whatever_the_client_accepts() {
    let service = TestService::new().await;
    for (name, accepted) in [("one", "identity;q=0"), ("two", "br, *;q=0")] {
        let request = service.request(Method::POST, "/workspaces");
        let request = request.header("accept-encoding", accepted);
        let response = request.json(&json!({ "name": name })).send().await.unwrap();
        assert_eq!(response.status(), 201, "{accepted}");
    }
    service.stop().await;
}

#[tokio::test]
async fn openapi_document_lists_working_operations() {
    let service = TestService::new().await;
    let url = format!("{}/openapi.json", service.base);
    let document = JsonResponse::read(service.client.get(url).send().await.unwrap())
        .await
        .body;
    let mut operations = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            operations += 1;
            let responses = operation["responses"].as_object().unwrap();
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let request = service.request(method.clone(), &path.replace("{id}", "0"));
            let response = JsonResponse::read(request.send().await.unwrap()).await;
            let status = response.status.to_string();
            assert!(
                responses.contains_key(&status),
                "{method} {path} returns {status}, which the document does not list"
            );
            assert_ne!(
                response.body["message"],
                json!(format!("unknown path /api/v2{path}"))
            );
        }
    }
    // The 34 of the contract, and the list of unattributed requests.
    assert_eq!(operations, 35);
    service.stop().await;
}
