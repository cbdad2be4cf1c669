//! Reports.

use scandeck::client::{Client, Download, ErrorKind};
use scandeck::contract::{
    GroupBy, NewReport, ReportFilters, ReportFormat, ReportId, ReportSource, ReportStatus,
};

use super::{assert_refused, client, create_target, start_scan, until, wait_for_end};
use crate::service::TestService;
use crate::service::runner::typical_events;

fn new_report(format: ReportFormat, resources: Vec<i64>) -> NewReport {
    NewReport {
        format,
        group_by: GroupBy::Vulnerability,
        source: ReportSource::Scans,
        resources,
        filters: Some(ReportFilters::default()),
        webhook_url: None,
    }
}

/// Waits until a report is generated.
async fn generated(client: &Client, id: ReportId) -> ReportStatus {
    until(
        || async { client.get_report(id).await.unwrap() },
        |report| report.status != ReportStatus::Waiting,
    )
    .await
    .status
}

#[tokio::test]
async fn report_created_lists_downloads_and_deletes() {
    let service = TestService::new().await;
    let client = client(&service);
    service.runner.set_events(typical_events());
    service.runner.finish_scans(1);
    let target = create_target(&client, "127.0.0.1").await;
    let scan = start_scan(&client, target).await;
    wait_for_end(&client, scan).await;
    for format in [ReportFormat::Html, ReportFormat::Json, ReportFormat::Csv] {
        let id = client
            .create_report(&new_report(format.clone(), vec![scan.0]))
            .await
            .unwrap();
        assert_eq!(generated(&client, id).await, ReportStatus::Finished);
        let report = client.get_report(id).await.unwrap();
        let Download::Ready(file) = client.download_report(id).await.unwrap() else {
            panic!("report has no file")
        };
        assert_eq!(file.name.as_deref(), Some(report.download_name.as_str()));
        let mut content = Vec::new();
        let length = file.save_to(&mut content).await.unwrap();
        assert_eq!(length, content.len() as u64);
        assert!(
            String::from_utf8(content)
                .unwrap()
                .contains("Finding web.key"),
            "{format}"
        );
    }
    assert_eq!(client.list_reports().await.unwrap().len(), 3);
    let deleted = client.list_reports().await.unwrap()[0].id;
    client.delete_report(deleted).await.unwrap();
    assert_refused(
        client.download_report(deleted).await,
        ErrorKind::NotFound,
        404,
        "report",
    );
    assert_refused(
        client.get_report(deleted).await,
        ErrorKind::NotFound,
        404,
        "report",
    );
    service.stop().await;
}

#[tokio::test]
async fn report_without_findings_downloads_no_data() {
    let service = TestService::new().await;
    let client = client(&service);
    service.runner.finish_scans(1);
    let target = create_target(&client, "127.0.0.1").await;
    let scan = start_scan(&client, target).await;
    wait_for_end(&client, scan).await;
    let id = client
        .create_report(&new_report(ReportFormat::Json, vec![scan.0]))
        .await
        .unwrap();
    generated(&client, id).await;
    assert!(matches!(
        client.download_report(id).await.unwrap(),
        Download::NoData
    ));
    service.stop().await;
}

#[tokio::test]
async fn invalid_report_requests_return_documented_errors() {
    let service = TestService::new().await;
    let client = client(&service);
    let create = async |new: NewReport| client.create_report(&new).await;
    assert_refused(
        create(new_report(ReportFormat::Json, vec![])).await,
        ErrorKind::Invalid,
        400,
        "resources",
    );
    assert_refused(
        create(new_report(ReportFormat::Json, vec![77])).await,
        ErrorKind::Invalid,
        400,
        "77",
    );
    assert_refused(
        create(new_report(ReportFormat::Other("doc".into()), vec![1])).await,
        ErrorKind::Invalid,
        400,
        "doc",
    );
    assert_refused(
        create(new_report(ReportFormat::Pdf, vec![1])).await,
        ErrorKind::Invalid,
        400,
        "1",
    );
    assert_refused(
        client.delete_report(ReportId(99)).await,
        ErrorKind::NotFound,
        404,
        "report",
    );
    service.stop().await;
}
