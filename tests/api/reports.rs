//! Reports.

use scandeck::client::{Client, Download, ErrorKind};
use scandeck::contract::{GroupBy, NewReport, ReportFilters, ReportFormat, ReportId, ReportSource, ReportStatus};

use super::{assert_refused, client, ended, scan, target, until};
use crate::service::TestService;
use crate::service::runner::typical_events;

fn new(format: ReportFormat, resources: Vec<i64>) -> NewReport {
    NewReport {
        format,
        group_by: GroupBy::Vulnerability,
        source: ReportSource::Scans,
        resources,
        filters: Some(ReportFilters::default()),
        webhook_url: None,
    }
}

async fn made(client: &Client, id: ReportId) -> ReportStatus {
    until(|| async { client.get_report(id).await.unwrap() }, |report| report.status != ReportStatus::Waiting)
        .await
        .status
}

#[tokio::test]
async fn a_report_is_made_listed_downloaded_and_deleted() {
    let service = TestService::new().await;
    let client = client(&service);
    service.runner.set_events(typical_events());
    service.runner.finish_scans(1);
    let made_target = target(&client, "127.0.0.1").await;
    let of = scan(&client, made_target).await;
    ended(&client, of).await;
    for format in [ReportFormat::Html, ReportFormat::Json, ReportFormat::Csv] {
        let id = client.create_report(&new(format.clone(), vec![of.0])).await.unwrap();
        assert_eq!(made(&client, id).await, ReportStatus::Finished);
        let report = client.get_report(id).await.unwrap();
        let Download::Ready(file) = client.download_report(id).await.unwrap() else { panic!("no file") };
        assert_eq!(file.name.as_deref(), Some(report.download_name.as_str()));
        let mut content = Vec::new();
        let length = file.save_to(&mut content).await.unwrap();
        assert_eq!(length, content.len() as u64);
        assert!(String::from_utf8(content).unwrap().contains("Finding web.key"), "{format}");
    }
    assert_eq!(client.list_reports().await.unwrap().len(), 3);
    let gone = client.list_reports().await.unwrap()[0].id;
    client.delete_report(gone).await.unwrap();
    assert_refused(client.download_report(gone).await, ErrorKind::NotFound, 404, "report");
    assert_refused(client.get_report(gone).await, ErrorKind::NotFound, 404, "report");
    service.stop().await;
}

#[tokio::test]
async fn a_report_that_nothing_is_left_of_has_no_data() {
    let service = TestService::new().await;
    let client = client(&service);
    service.runner.finish_scans(1);
    let made_target = target(&client, "127.0.0.1").await;
    let of = scan(&client, made_target).await;
    ended(&client, of).await;
    let id = client.create_report(&new(ReportFormat::Json, vec![of.0])).await.unwrap();
    made(&client, id).await;
    assert!(matches!(client.download_report(id).await.unwrap(), Download::NoData));
    service.stop().await;
}

#[tokio::test]
async fn the_documented_refusals_of_reports() {
    let service = TestService::new().await;
    let client = client(&service);
    let make = async |new: NewReport| client.create_report(&new).await;
    assert_refused(make(new(ReportFormat::Json, vec![])).await, ErrorKind::Invalid, 400, "resources");
    assert_refused(make(new(ReportFormat::Json, vec![77])).await, ErrorKind::Invalid, 400, "77");
    assert_refused(make(new(ReportFormat::Other("doc".into()), vec![1])).await, ErrorKind::Invalid, 400, "doc");
    assert_refused(make(new(ReportFormat::Pdf, vec![1])).await, ErrorKind::Invalid, 400, "html");
    assert_refused(client.delete_report(ReportId(99)).await, ErrorKind::NotFound, 404, "report");
    service.stop().await;
}
