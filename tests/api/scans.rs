//! Scans.

use std::io::Write;
use std::net::TcpListener;

use scandeck::client::{ErrorKind, Interval, Lane, ScanQuery, TestQuery};
use scandeck::contract::{
    NewScan, RedirectLevel, ReportCallback, ResourceType, ScanId, ScanStatus, Stamp, TargetId,
    Tool, WorkspaceId,
};
use scandeck::service;
use scandeck::service::{RateLimit, Settings};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{assert_refused, client, client_of, create_target, start_scan, until, wait_for_end};
use crate::service::TestService;
use crate::service::runner::typical_events;

#[tokio::test]
async fn service_says_that_it_selects_tests_and_refuses_unknown_ones() {
    let service = TestService::new().await;
    let client = client(&service);
    assert!(client.selects_tests().await.unwrap());
    let new = |tests: serde_json::Value| NewScan {
        tool_id: 170,
        target_name: Some("http://localhost/".into()),
        tool_params: Some(json!({"scan_type": "light", "only_tests": tests})),
        ..NewScan::default()
    };
    let refused = client.create_scan(&new(json!(["sqli"]))).await;
    let error = refused.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Invalid), "{error:?}");
    let created = client.create_scan(&new(json!(["web.cors"]))).await.unwrap();
    let scan = client.get_scan(created.created_id.unwrap()).await.unwrap();
    assert_eq!(scan.tool_params.unwrap()["only_tests"], json!(["web.cors"]));
    service.stop().await;
}

#[tokio::test]
async fn scan_started_with_every_field_reports_progress_until_finished() {
    let service = TestService::new().await;
    let client = client(&service);
    service.runner.set_events(typical_events());
    let new = NewScan {
        tool_id: 170,
        target_name: Some("http://localhost/".into()),
        workspace_id: Some(WorkspaceId(1)),
        max_scan_time: Some(60),
        report_callback: Some(ReportCallback {
            url: "http://127.0.0.1:9/".into(),
            format: Some("json".into()),
        }),
        scan_original_url: Some(true),
        redirect_level: Some(RedirectLevel::SameHost),
        tool_params: Some(json!({"scan_type": "light"})),
        ..NewScan::default()
    };
    let created = client.create_scan(&new).await.unwrap();
    let id = created.created_id.unwrap();
    let running = until(
        || async { client.get_scan(id).await.unwrap() },
        |scan| scan.status_name == ScanStatus::Running && scan.num_finished_tests == 7,
    )
    .await;
    assert_eq!(
        (running.tool_id, Some(running.target_id)),
        (170, created.target_id)
    );
    assert_eq!(running.max_scan_time, Some(60));
    assert!(
        running.scan_original_url && running.end_time.is_none() && running.start_time.is_some()
    );
    assert_eq!(running.result_summary.critical, Some(1));
    assert_eq!(running.tool_params.unwrap()["scan_type"], "light");

    assert_eq!(
        client.scan_raw(id).await.unwrap(),
        ["GET http://127.0.0.1/ 200", "GET http://127.0.0.1/key 200"]
    );
    assert_eq!(
        client.scan_output(id).await.unwrap().output_type,
        "finding_list"
    );
    assert!(
        client
            .scan_output_pdf(id)
            .await
            .unwrap()
            .starts_with(b"%PDF-")
    );
    assert_refused(
        client.delete_scan(id).await,
        ErrorKind::Conflict,
        409,
        "running",
    );
    service.runner.finish_scans(1);
    assert_eq!(
        wait_for_end(&client, id).await.status_name,
        ScanStatus::Finished
    );
    client.delete_scan(id).await.unwrap();
    assert_refused(client.get_scan(id).await, ErrorKind::NotFound, 404, "scan");
    service.stop().await;
}

#[tokio::test]
async fn scan_list_with_each_parameter_filters() {
    let service = TestService::new().await;
    let client = client(&service);
    let (first, second) = (
        create_target(&client, "127.0.0.1").await,
        create_target(&client, "127.0.0.2").await,
    );
    let (a, b) = (
        start_scan(&client, first).await,
        start_scan(&client, second).await,
    );
    service.runner.finish_scans(1);
    until(
        || async { client.list_scans(&ScanQuery::default()).await.unwrap() },
        |scans| scans.iter().filter(|scan| scan.has_ended()).count() == 1,
    )
    .await;
    let list = async |query: ScanQuery| {
        let mut ids: Vec<ScanId> = client
            .list_scans(&query)
            .await
            .unwrap()
            .iter()
            .map(|scan| scan.id)
            .collect();
        ids.sort();
        ids
    };
    let all = || ScanQuery::default();
    assert_eq!(list(all()).await, [a, b]);
    assert_eq!(
        list(ScanQuery {
            target_id: Some(second),
            ..all()
        })
        .await,
        [b]
    );
    assert_eq!(
        list(ScanQuery {
            tool: Some(Tool::TLS),
            ..all()
        })
        .await,
        []
    );
    assert_eq!(
        list(ScanQuery {
            workspace_id: Some(WorkspaceId(99)),
            ..all()
        })
        .await,
        []
    );
    assert_eq!(
        list(ScanQuery {
            status: Some(ScanStatus::Finished),
            ..all()
        })
        .await
        .len(),
        1
    );
    assert_eq!(
        list(ScanQuery {
            limit: Some(1),
            page: Some(2),
            ..all()
        })
        .await
        .len(),
        1
    );
    let past = Interval {
        from: None,
        to: Stamp::parse("2001-01-01 00:00:00"),
    };
    assert_eq!(
        list(ScanQuery {
            start_time: Some(past),
            ..all()
        })
        .await,
        []
    );
    let since = Interval {
        from: past.to,
        to: None,
    };
    assert_eq!(
        list(ScanQuery {
            start_time: Some(since),
            ..all()
        })
        .await,
        [a, b]
    );
    let bad = ScanQuery {
        status: Some(ScanStatus::Other("pondering".into())),
        ..all()
    };
    assert_refused(
        client.list_scans(&bad).await,
        ErrorKind::Invalid,
        400,
        "pondering",
    );
    assert_refused(
        client
            .list_scans(&ScanQuery {
                page: Some(0),
                ..all()
            })
            .await,
        ErrorKind::Invalid,
        400,
        "page",
    );
    service.stop().await;
}

#[tokio::test]
async fn stopped_scan_stopped_again_remains_stopped() {
    let service = TestService::new().await;
    let client = client(&service);
    let target = create_target(&client, "127.0.0.1").await;
    let id = start_scan(&client, target).await;
    client.stop_scan(id).await.unwrap();
    assert_eq!(
        wait_for_end(&client, id).await.status_name,
        ScanStatus::Stopped
    );
    client.stop_scan(id).await.unwrap();
    assert_refused(
        client.stop_scan(ScanId(99)).await,
        ErrorKind::NotFound,
        404,
        "scan",
    );
    service.stop().await;
}

#[tokio::test]
async fn scan_tests_filtered_by_resource_list_matches() {
    let service = TestService::new().await;
    let client = client(&service);
    service.runner.set_events(typical_events());
    let target = create_target(&client, "127.0.0.1").await;
    let id = start_scan(&client, target).await;
    until(
        || async { client.get_scan(id).await.unwrap() },
        |scan| scan.num_finished_tests == 7,
    )
    .await;
    let of = |kind: ResourceType| TestQuery {
        resource_type: Some(kind),
        resource_id: None,
    };
    let of_findings = client
        .list_tests(id, &of(ResourceType::Finding))
        .await
        .unwrap();
    let of_scan = client
        .list_tests(id, &of(ResourceType::Scan))
        .await
        .unwrap();
    assert!(!of_findings.is_empty() && !of_scan.is_empty());
    assert!(
        of_findings
            .iter()
            .all(|test| test.resource_type == ResourceType::Finding && test.performed_at.is_some())
    );
    let all = client.list_tests(id, &TestQuery::default()).await.unwrap();
    assert_eq!(all.len(), of_findings.len() + of_scan.len());
    let one = TestQuery {
        resource_type: Some(ResourceType::Finding),
        resource_id: Some(of_findings[0].resource_id),
    };
    assert!(
        client
            .list_tests(id, &one)
            .await
            .unwrap()
            .iter()
            .all(|test| test.resource_id == of_findings[0].resource_id)
    );
    let without_type = TestQuery {
        resource_type: None,
        resource_id: Some(1),
    };
    assert_refused(
        client.list_tests(id, &without_type).await,
        ErrorKind::Invalid,
        400,
        "resource_type",
    );
    assert_refused(
        client.list_tests(ScanId(99), &TestQuery::default()).await,
        ErrorKind::NotFound,
        404,
        "scan",
    );
    service.stop().await;
}

#[tokio::test]
async fn invalid_scan_requests_return_documented_errors() {
    let service = TestService::new().await;
    let client = client(&service);
    let target = create_target(&client, "127.0.0.1").await;
    let valid = || NewScan {
        tool_id: 70,
        target_id: Some(target),
        ..NewScan::default()
    };
    for (new, kind, status, message) in [
        (
            NewScan {
                tool_id: 30,
                ..valid()
            },
            ErrorKind::Invalid,
            400,
            "70",
        ),
        (
            NewScan {
                target_id: None,
                ..valid()
            },
            ErrorKind::Invalid,
            400,
            "target",
        ),
        (
            NewScan {
                target_name: Some("localhost".into()),
                ..valid()
            },
            ErrorKind::Invalid,
            400,
            "target",
        ),
        (
            NewScan {
                max_scan_time: Some(1441),
                ..valid()
            },
            ErrorKind::Invalid,
            400,
            "1440",
        ),
        (
            NewScan {
                workspace_id: Some(WorkspaceId(99)),
                ..valid()
            },
            ErrorKind::NotFound,
            404,
            "workspace",
        ),
        (
            NewScan {
                target_id: Some(TargetId(99)),
                ..valid()
            },
            ErrorKind::NotFound,
            404,
            "target",
        ),
        (
            NewScan {
                redirect_level: Some(RedirectLevel::Other("sideways".into())),
                ..valid()
            },
            ErrorKind::Invalid,
            400,
            "redirect_level",
        ),
        (
            NewScan {
                tool_params: Some(json!([1])),
                ..valid()
            },
            ErrorKind::Invalid,
            422,
            "tool_params",
        ),
    ] {
        assert_refused(client.create_scan(&new).await, kind, status, message);
    }
    assert_refused(
        client.delete_scan(ScanId(99)).await,
        ErrorKind::NotFound,
        404,
        "scan",
    );
    assert_refused(
        client.scan_output(ScanId(99)).await,
        ErrorKind::NotFound,
        404,
        "scan",
    );
    assert_refused(
        client.scan_raw(ScanId(99)).await,
        ErrorKind::NotFound,
        404,
        "scan",
    );
    service.stop().await;
}

#[tokio::test]
async fn real_engine_scanning_loopback_finds_open_port() {
    // A server that greets: a silent one is probed with one protocol after the other.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        while let Ok((mut connection, _)) = listener.accept() {
            let _ = connection.write_all(b"SSH-2.0-OpenSSH_9.6\r\n");
        }
    });
    let (dir, stop) = (tempfile::tempdir().unwrap(), CancellationToken::new());
    let mut settings = Settings::new(dir.path()).with_free_ports();
    settings.rate_limit = RateLimit::HOSTED;
    let running = service::start(settings, stop.clone()).await.unwrap();
    let client = client_of(running.base_url.as_str(), &running.api_key);
    let new = NewScan {
        tool_id: 70,
        target_name: Some("127.0.0.1".into()),
        tool_params: Some(json!({"scan_type": "custom", "port_list": [port]})),
        ..NewScan::default()
    };
    let id = client.create_scan(&new).await.unwrap().created_id.unwrap();
    let scan = wait_for_end(&client, id).await;
    assert_eq!(
        scan.status_name,
        ScanStatus::Finished,
        "{}",
        scan.status_message
    );
    let query = scandeck::client::FindingQuery {
        task_id: Some(id),
        ..Default::default()
    };
    let findings = client.list_findings(&query).await.unwrap();
    assert!(
        findings
            .iter()
            .any(|finding| finding.port == i64::from(port)),
        "{findings:?}"
    );
    assert_eq!(
        client.scan_output(id).await.unwrap().output_type,
        "port_scanner"
    );
    // The client reads the rate limit of each lane from the headers.
    assert_eq!(client.budget(Lane::Read).limit, Some(250));
    assert!(
        client
            .budget(Lane::Output)
            .limit
            .is_some_and(|limit| limit < 125)
    );
    assert!(
        client
            .clock_offset()
            .is_some_and(|offset| offset.as_secs().abs() <= 2)
    );
    stop.cancel();
    running.stopped().await.unwrap();
}
