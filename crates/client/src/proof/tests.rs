//! Proofs sent to a mock server, and those that the scope refuses.

use std::sync::Mutex;

use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::*;
use scandeck_wire::contract::{Evidence, Tool};

fn planned(url: &str) -> ProofRequest {
    let evidence = Evidence::table(&["URL"], [vec![url.to_owned()]]);
    ProofRequest::plan(&evidence, Some(Tool::WEBSITE), &[]).unwrap()
}

fn everywhere() -> ProofScope {
    ProofScope::new(|_| Ok(()))
}

#[tokio::test]
async fn answer_is_read_without_following_its_redirect() {
    let server = MockServer::start().await;
    let moved = ResponseTemplate::new(302)
        .insert_header("location", "/elsewhere")
        .set_body_string("moved");
    Mock::given(any()).respond_with(moved).mount(&server).await;
    let request = planned(&format!("{}/x?y=1", server.uri()));
    let answer = send_proof(&request, &everywhere()).await.unwrap().unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (Some(302), "moved"));
    assert_eq!(answer.header("location"), Some("/elsewhere"));
    let requests = server.received_requests().await.unwrap();
    let [sent] = requests.as_slice() else {
        panic!("{requests:?}")
    };
    let agent = sent.headers["user-agent"].to_str().unwrap();
    assert!(agent.starts_with("scandeck/"), "{agent}");
    assert_eq!(sent.headers.len(), request.headers.len() + 1, "and host");
}

#[tokio::test]
async fn body_is_read_in_the_encoding_that_it_names() {
    let server = MockServer::start().await;
    let named = ResponseTemplate::new(200)
        .set_body_raw(&b"Gr\xf6\xdfe"[..], "text/html; charset=iso-8859-1");
    Mock::given(any()).respond_with(named).mount(&server).await;
    let sent = send_proof(&planned(&server.uri()), &everywhere()).await;
    assert_eq!(sent.unwrap().unwrap().body.as_str(), "Größe");
}

#[tokio::test]
async fn long_body_is_cut_at_the_limit() {
    let server = MockServer::start().await;
    let long = ResponseTemplate::new(200).set_body_bytes(vec![b'a'; MAX_BODY + 1]);
    Mock::given(any()).respond_with(long).mount(&server).await;
    let sent = send_proof(&planned(&server.uri()), &everywhere()).await;
    let answer = sent.unwrap().unwrap();
    assert!(answer.is_cut && answer.body.len() == MAX_BODY);
}

#[tokio::test]
async fn nothing_is_sent_out_of_scope() {
    let server = MockServer::start().await;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let nowhere = ProofScope::new(move |to| {
        seen.lock().unwrap().push((to.host.to_owned(), to.address));
        match to.address {
            Some(_) => Err("out of scope".to_owned()),
            None => Ok(()),
        }
    });
    let port = server.address().port();
    let url = format!("http://localhost:{port}/");
    let error = send_proof(&planned(&url), &nowhere).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Forbidden);
    assert!(server.received_requests().await.unwrap().is_empty());
    let asked = asked.lock().unwrap();
    assert_eq!(asked[0], ("localhost".to_owned(), None));
    assert_eq!(asked.len(), 3, "the name and both of its addresses");
}

#[test]
fn host_is_checked_before_it_is_resolved() {
    let scope = ProofScope::new(|to| match (to.host, to.address, to.has_payload) {
        ("shop.test", None, false) | ("127.0.0.1", Some(_), false) => Ok(()),
        (host, ..) => Err(format!("{host} is refused")),
    });
    let checked = |url: &str| check_proof(&planned(url), &scope);
    assert!(checked("http://shop.test/").is_ok());
    assert!(checked("http://127.0.0.1/").is_ok());
    let payload = checked("http://shop.test/?q=%3Cb%3E").unwrap_err();
    assert_eq!(payload.to_string(), "shop.test is refused");
    assert_eq!(
        checked("http://b.test/").unwrap_err().kind,
        ErrorKind::Forbidden
    );
}

#[tokio::test]
async fn host_header_out_of_scope_is_not_sent() {
    let server = MockServer::start().await;
    let scope = ProofScope::new(|to| match to.host {
        "127.0.0.1" | "shop.test" => Ok(()),
        other => Err(format!("{other} is out of scope")),
    });
    for (host, is_sent) in [
        ("shop.test:81", true),
        ("b.test", false),
        ("10.0.0.1", false),
    ] {
        let message = format!("GET / HTTP/1.1\nHost: {host}\n\n");
        let row = vec![server.uri(), message];
        let evidence = Evidence::table(&["URL", "Request"], [row]);
        let request = ProofRequest::plan(&evidence, Some(Tool::WEBSITE), &[]).unwrap();
        let sent = send_proof(&request, &scope).await;
        assert_eq!(sent.is_ok(), is_sent, "{host}");
    }
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
}

#[tokio::test]
async fn payload_is_sent_only_where_the_scope_permits_it() {
    let server = MockServer::start().await;
    let scope = |permits: bool| {
        ProofScope::new(move |to| match !to.has_payload || permits {
            true => Ok(()),
            false => Err("no payload here".to_owned()),
        })
    };
    let attack = planned(&format!("{}/?q=%3Cb%3E", server.uri()));
    let refused = send_proof(&attack, &scope(false)).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Forbidden);
    assert!(server.received_requests().await.unwrap().is_empty());
    assert!(send_proof(&attack, &scope(true)).await.unwrap().is_ok());
    let page = planned(&server.uri());
    assert!(send_proof(&page, &scope(false)).await.unwrap().is_ok());
}

#[tokio::test]
async fn target_that_is_down_is_no_error_of_the_request() {
    let sent = send_proof(&planned("http://127.0.0.1:1/"), &everywhere()).await;
    let missing = sent.unwrap().unwrap_err();
    assert!(missing.problem.contains("cannot connect"), "{missing:?}");
    assert!(!missing.was_sent);
}
