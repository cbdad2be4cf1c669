//! HTTP loggers and captured requests.

use scandeck::client::ErrorKind;
use scandeck::contract::{LoggerId, WorkspaceId};

use super::{assert_refused, client};
use crate::service::{TestService, http_client};

#[tokio::test]
async fn logger_created_records_lists_clears_and_deletes() {
    let service = TestService::new().await;
    let client = client(&service);
    let id = client
        .create_logger("blind-ssrf", Some(WorkspaceId(1)))
        .await
        .unwrap();
    let logger = client.get_logger(id).await.unwrap();
    assert_eq!(
        (logger.label.as_str(), logger.num_requests),
        ("blind-ssrf", 0)
    );
    let sender = http_client();
    for number in 0..3 {
        let url = format!("{}a/b?n={number}", logger.handler_url);
        sender
            .post(url)
            .body("Zg==")
            .send()
            .await
            .unwrap()
            .error_for_status()
            .unwrap();
    }
    let captures = client.list_captures(id, None).await.unwrap();
    assert_eq!(captures.len(), 3);
    assert_eq!(
        (
            captures[0].request_method.as_str(),
            captures[2].url_params.as_str()
        ),
        ("POST", "n=2")
    );
    assert_eq!(captures[0].request_body_base64, "Wmc9PQ==");
    let newer = client
        .list_captures(id, Some(captures[1].id))
        .await
        .unwrap();
    assert_eq!(newer, captures[2..]);
    let listed = client.list_loggers(Some(WorkspaceId(1))).await.unwrap();
    assert_eq!((listed[0].id, listed[0].num_requests), (id, 3));
    assert!(
        client
            .list_loggers(Some(WorkspaceId(99)))
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(client.list_loggers(None).await.unwrap().len(), 1);
    client.clear_captures(id, 3).await.unwrap();
    assert!(client.list_captures(id, None).await.unwrap().is_empty());
    client.delete_logger(id).await.unwrap();
    assert_refused(
        client.get_logger(id).await,
        ErrorKind::NotFound,
        404,
        "logger",
    );
    service.stop().await;
}

#[tokio::test]
async fn invalid_logger_requests_return_documented_errors() {
    let service = TestService::new().await;
    let client = client(&service);
    assert_refused(
        client.create_logger("with blank", None).await,
        ErrorKind::Invalid,
        422,
        "label",
    );
    assert_refused(
        client.create_logger("a", Some(WorkspaceId(99))).await,
        ErrorKind::Invalid,
        422,
        "workspace",
    );
    client.create_logger("a", None).await.unwrap();
    assert_refused(
        client.create_logger("a", None).await,
        ErrorKind::Invalid,
        422,
        "label",
    );
    for result in [
        client.delete_logger(LoggerId(99)).await,
        client.clear_captures(LoggerId(99), 0).await,
    ] {
        assert_refused(result, ErrorKind::NotFound, 404, "logger");
    }
    assert_refused(
        client.list_captures(LoggerId(99), None).await,
        ErrorKind::NotFound,
        404,
        "logger",
    );
    service.stop().await;
}
