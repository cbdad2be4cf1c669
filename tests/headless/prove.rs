//! Proofs: requests of findings that are sent again.

use scandeck::contract::{Evidence, Risk};
use scandeck::service::engine::{NewFinding, ScanEvent};
use serde_json::Value;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::CliFixture;
use crate::service::runner::{finding, tested};

/// A service with one finding, whose evidence has this request to `target`.
async fn found(method: &str, target: &str) -> (CliFixture, String) {
    let row = [
        format!("{method} {target}"),
        "200".into(),
        "GET, TRACE".into(),
    ];
    let titles = ["Request", "Status", "Allow"];
    found_with(Evidence::table(&titles, [Vec::from(row)])).await
}

/// A service with one finding that has this evidence.
async fn found_with(evidence: Evidence) -> (CliFixture, String) {
    let cli = CliFixture::new().await;
    let traced = NewFinding {
        evidence,
        ..finding("web.method.trace", Risk::Medium, "")
    };
    let events = vec![
        ScanEvent::Planned(10),
        tested("web.methods", 10, vec![traced]),
    ];
    cli.service.runner.set_events(events);
    let target = cli.service.target("127.0.0.1").await;
    let scan = cli.service.scan(target).await;
    cli.service.runner.finish_scans(1);
    cli.service.until_status(scan, "finished").await;
    let id = cli.json(&["findings", "list"]).await[0]["id"].to_string();
    (cli, id)
}

async fn answer_with(server: &MockServer, allowed: &str) {
    server.reset().await;
    let response = ResponseTemplate::new(200).insert_header("allow", allowed);
    Mock::given(any())
        .respond_with(response)
        .mount(server)
        .await;
}

#[tokio::test]
async fn proof_is_judged_saved_and_explained() {
    let target = MockServer::start().await;
    let (cli, id) = found("OPTIONS", &target.uri()).await;
    answer_with(&target, "GET,TRACE").await;
    let ended = cli.run(&["findings", "prove", &id, "--json"]).await;
    assert_eq!(ended.code, 3, "{ended:?}");
    let proofs: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(
        (&proofs[0]["outcome"], &proofs[0]["reason"]),
        (&"still_there".into(), &"same_header".into()),
        "{proofs}"
    );
    assert_eq!(target.received_requests().await.unwrap().len(), 1);

    assert_eq!(proofs[0]["sent"], true, "{proofs}");

    let moved = ResponseTemplate::new(302).insert_header("location", "/login");
    target.reset().await;
    Mock::given(any()).respond_with(moved).mount(&target).await;
    let doubtful = cli.run(&["findings", "prove", &id]).await;
    assert!(
        doubtful.code == 1
            && doubtful
                .out
                .contains("Proof     cannot tell: the target redirects"),
        "{doubtful:?}"
    );

    target.reset().await;
    let words = cli.does(&["findings", "prove", &id]).await;
    for part in [
        "Proof     gone: the target answers 404 or 410 for this URL\n",
        &format!("Next      scandeck findings decide {id} --verdict fixed\n"),
    ] {
        assert!(words.contains(part), "{part}\n{words}");
    }
    let explained = cli.json(&["findings", "explain", &id]).await;
    assert_eq!(explained["proof"]["outcome"], "gone", "{explained}");
    let events = cli.does(&["triage", "export"]).await;
    assert_eq!(events.matches(r#""proof":{"#).count(), 3, "{events}");
    cli.does(&["case", "new", "--workspace", "1", "-o", "w.case"])
        .await;
    let shown = cli.does(&["case", "show", "w.case"]).await;
    assert!(
        shown.contains("proof") && shown.contains("still there: "),
        "{shown}"
    );
    cli.service.stop().await;
}

#[tokio::test]
async fn request_that_writes_or_leaves_the_scope_is_not_sent() {
    let target = MockServer::start().await;
    let (cli, id) = found("DELETE", &target.uri()).await;
    let ended = cli.run(&["findings", "prove", &id]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    for part in ["only GET, HEAD and OPTIONS are sent", "curl --include"] {
        assert!(ended.out.contains(part), "{part}\n{ended:?}");
    }
    assert!(target.received_requests().await.unwrap().is_empty());
    cli.service.stop().await;

    for path in ["", "?q=%3Cb%3E"] {
        let (cli, id) = found("GET", &format!("http://shop.acme.test/{path}")).await;
        let ended = cli.run(&["findings", "prove", &id, "--json"]).await;
        assert_eq!(ended.code, 1, "{ended:?}");
        for part in [
            "out of scope",
            r#""sent": false"#,
            r#""refused": "not_sent""#,
        ] {
            assert!(ended.out.contains(part), "{part}\n{ended:?}");
        }
        cli.service.stop().await;
    }
    let cli = CliFixture::new().await;
    cli.run(&["findings", "prove", "99999"])
        .await
        .refused(1, "finding 99999 not found");
    cli.service.stop().await;
}

#[tokio::test]
async fn credentials_that_are_left_out_are_named() {
    let target = MockServer::start().await;
    let row = [
        target.uri(),
        "GET / HTTP/1.1\nCookie: sid=s3cret".into(),
        "HTTP/1.1 200 OK\n\nhello".into(),
    ];
    let titles = ["URL", "Request", "Response"];
    let (cli, id) = found_with(Evidence::table(&titles, [Vec::from(row)])).await;
    let ended = cli.run(&["findings", "prove", &id]).await;
    assert!(
        ended.out.contains("Without   Cookie\n") && !ended.out.contains("s3cret"),
        "{ended:?}"
    );
    let ended = cli.run(&["findings", "prove", &id, "--json"]).await;
    let proofs: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(proofs[0]["left_out"][0], "Cookie", "{proofs}");
    cli.service.stop().await;
}

#[tokio::test]
async fn payload_is_sent_only_with_the_flag_and_an_active_entry() {
    let target = MockServer::start().await;
    let (cli, id) = found("GET", &format!("{}/?q=%3Cb%3E", target.uri())).await;
    let ended = cli.run(&["findings", "prove", &id, "--json"]).await;
    for part in [
        r#""refused": "payload""#,
        "started without `--allow-active`, and no scope entry with `active`",
        "curl --include",
    ] {
        assert!(
            ended.code == 1 && ended.out.contains(part),
            "{part}\n{ended:?}"
        );
    }
    let args = ["findings", "prove", &id, "--allow-active"];
    let ended = cli.run(&args).await;
    assert!(
        ended.out.contains("scope add 127.0.0.1 --active") && !ended.out.contains("without"),
        "{ended:?}"
    );
    assert!(target.received_requests().await.unwrap().is_empty());
    cli.does(&["scope", "add", "127.0.0.1", "--active"]).await;
    answer_with(&target, "GET,TRACE").await;
    let ended = cli.run(&args).await;
    assert!(
        ended.out.contains("Request   GET http://127.0.0.1"),
        "{ended:?}"
    );
    assert_eq!(target.received_requests().await.unwrap().len(), 1);
    cli.service.stop().await;
}
