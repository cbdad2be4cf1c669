//! The service with the real engine: a port scan of loopback from the request to its findings.

use scandeck::contract::Finding;
use scandeck::finding_request::FindingRequest;
use scandeck::service::scope::ScopeEntry;
use scandeck::service::{EndedScan, RunningScans, ServiceScope};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::TestService;

#[tokio::test]
async fn port_scan_of_loopback_skips_own_service() {
    let dir = tempfile::tempdir().unwrap();
    let service = TestService::with_engine(dir.path()).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let greeting = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"220 ftp.example ready\r\n").await;
        }
    });
    let own = url::Url::parse(&service.base).unwrap().port().unwrap();
    let params = json!({"scan_type": "custom", "port_list": [port, own]});
    let body = json!({"tool_id": 70, "target_name": "127.0.0.1", "tool_params": params});
    let scan = service.post("/scans", body).await.created();
    let ended = service.until_status(scan, "finished").await;
    assert_eq!(
        (
            &ended["num_tests"],
            &ended["num_finished_tests"],
            &ended["progress"]
        ),
        (&json!(2), &json!(2), &json!(100))
    );
    let findings = service.get(&format!("/findings?task_id={scan}")).await;
    let ports: Vec<_> = findings
        .data()
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["port"].clone())
        .collect();
    assert_eq!(ports, [json!(port)]);
    assert!(
        findings.data()[0]["vuln_evidence"]
            .to_string()
            .contains("ftp.example"),
        "{findings:?}"
    );
    let output = service.get(&format!("/scans/{scan}/output")).await;
    assert_eq!(output.data()["output_type"], "port_scanner");
    assert_eq!(output.data()["output_data"]["ports"][0]["number"], port);
    greeting.abort();
    service.stop().await;
}

#[tokio::test]
async fn url_fuzzer_uses_the_words_of_its_list() {
    let dir = tempfile::tempdir().unwrap();
    let service = TestService::with_engine(dir.path()).await;
    let site = axum::Router::new().route(
        "/admin",
        axum::routing::get(|| async { "for administrators" }),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(async move { axum::serve(listener, site).await });
    let scan = async |wordlist: i64| {
        let params = json!({"wordlist_id": wordlist});
        service
            .post(
                "/scans",
                json!({"tool_id": 90, "target_name": url, "tool_params": params}),
            )
            .await
    };
    scan(99)
        .await
        .assert_refused(400, "tool_params.wordlist_id: wordlist 99 does not exist");
    let scan = scan(1).await.created();
    let ended = service.until_status(scan, "finished").await;
    assert_eq!(
        ended["tool_params"],
        json!({"scan_type": "light", "wordlist_id": 1, "extensions": [], "recursion_depth": 0})
    );
    let output = service.get(&format!("/scans/{scan}/output")).await;
    assert_eq!(
        output.data()["output_data"]["paths"],
        json!([{"url": format!("{url}admin"), "status": 200}])
    );
    server.abort();
    service.stop().await;
}

#[tokio::test]
async fn own_finding_has_its_exchange_and_gives_curl_to_the_target() {
    let dir = tempfile::tempdir().unwrap();
    let service = TestService::with_engine(dir.path()).await;
    let page = || async { axum::response::Html("<title>Shop</title>") };
    let site = axum::Router::new().route("/", axum::routing::get(page));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move { axum::serve(listener, site).await });
    let params = json!({
        "attack_active": [], "attack_passive": ["csp"], "discovery": [],
        "authentication": {"headers": {"X-Team-Token": "t0ken-of-the-team"}},
    });
    let url = format!("http://{address}/");
    let body = json!({"tool_id": 170, "target_name": url, "tool_params": params});
    let scan = service.post("/scans", body).await.created();
    service.until_status(scan, "finished").await;
    let answer = service.get(&format!("/findings?task_id={scan}")).await;
    assert!(!answer.data().to_string().contains("t0ken"), "{answer:?}");
    let findings: Vec<Finding> = serde_json::from_value(answer.data().clone()).unwrap();
    let is_csp = |finding: &&Finding| finding.vuln_id.as_str() == "web.header.csp_missing";
    let evidence = &findings.iter().find(is_csp).unwrap().vuln_evidence;
    let exchange = evidence.view().decoded().shared_exchange().unwrap();
    let request = format!("GET / HTTP/1.1\nhost: {address}\n");
    assert!(exchange.request.starts_with(&request), "{exchange:?}");
    assert!(
        exchange.request.contains("\nx-team-token: •••"),
        "{exchange:?}"
    );
    assert!(
        exchange.response.starts_with("HTTP/1.1 200 OK\n"),
        "{exchange:?}"
    );
    let curl = FindingRequest::of(evidence).unwrap().curl();
    let header = "-H \"x-team-token: $X_TEAM_TOKEN\"";
    assert!(curl.starts_with("curl ") && curl.contains(header), "{curl}");
    assert!(curl.ends_with(&format!("--url '{url}'")), "{curl}");
    server.abort();
    service.stop().await;
}

#[tokio::test]
async fn denial_ends_running_scan_and_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let service = TestService::with_engine(dir.path()).await;
    // It accepts connections and never answers.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let scan = service
        .post("/scans", json!({"tool_id": 170, "target_name": url}))
        .await
        .created();
    let _connection = silent.accept().await.unwrap();
    let dir = super::database::data_dir(dir.path());
    let running = RunningScans::read(&dir)
        .await
        .unwrap()
        .expect("a running scan");
    let entry = ScopeEntry {
        target: "127.0.0.1".parse().unwrap(),
        until: None,
        active: false,
        place: None,
        note: "maintenance".into(),
        who: "ana@box".into(),
        added: None,
    };
    let scope = ServiceScope::new(&dir);
    scope.deny(vec![entry]).await.unwrap();
    let ended = running.ended_by_scope().await.unwrap();
    assert_eq!(
        ended,
        [EndedScan {
            id: scan.into(),
            target: url
        }]
    );
    let shown = service.get(&format!("/scans/{scan}")).await;
    assert_eq!(shown.data()["status_name"], "stopped");
    let message = shown.data()["status_message"].as_str().unwrap();
    assert!(
        message.starts_with("ended by the scope: 127.0.0.1 is denied")
            && message.contains("maintenance"),
        "{message}"
    );
    service.stop().await;
}
