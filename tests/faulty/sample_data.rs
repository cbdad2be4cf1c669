//! Plausible data of a service: targets, ended and running scans with findings, loggers with
//! captures, a report.

use scandeck::client::{BaseUrl, Client, ClientSettings};
use scandeck::contract::{
    GroupBy, LoggerId, NewReport, NewScan, NewTarget, ReportFormat, ReportSource, WorkspaceId,
};

/// The workspace of all objects.
pub const WORKSPACE: WorkspaceId = WorkspaceId(1);

/// Fills a service whose scans end when `finish` is called. Two scans end, and one keeps running.
/// Returns the URLs of the loggers.
pub async fn fill(base: &str, key: &str, finish: impl Fn()) -> Vec<(LoggerId, String)> {
    let settings = ClientSettings::new(BaseUrl::parse(base, false).unwrap(), key.to_owned().into());
    let client = Client::new(settings).unwrap();
    let mut scans = Vec::new();
    for (name, is_ended) in [
        ("127.0.0.1", true),
        ("localhost", true),
        ("http://127.0.0.1:9/", false),
    ] {
        let target = NewTarget {
            name: name.into(),
            workspace_id: Some(WORKSPACE),
            ..NewTarget::default()
        };
        let target_id = Some(client.create_target(&target).await.unwrap());
        let tool_id = if name.starts_with("http") { 170 } else { 70 };
        let new = NewScan {
            tool_id,
            target_id,
            workspace_id: Some(WORKSPACE),
            ..NewScan::default()
        };
        let scan = client.create_scan(&new).await.unwrap().created_id.unwrap();
        if is_ended {
            finish();
            while !client.get_scan(scan).await.unwrap().has_ended() {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
            scans.push(scan);
        }
    }
    let mut loggers = Vec::new();
    for label in ["ssrf-shop", "mail"] {
        let id = client.create_logger(label, Some(WORKSPACE)).await.unwrap();
        let url = client.get_logger(id).await.unwrap().handler_url.to_string();
        for number in 1..=3 {
            hit(&url, number).await;
        }
        loggers.push((id, url));
    }
    let report = NewReport {
        source: ReportSource::Scans,
        resources: scans.into_iter().map(|scan| scan.0).collect(),
        format: ReportFormat::Json,
        group_by: GroupBy::Target,
        filters: None,
        webhook_url: None,
    };
    client.create_report(&report).await.unwrap();
    loggers
}

/// Sends a request to a logger.
pub async fn hit(url: &str, number: usize) {
    let http = reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only(Vec::new())
        .build();
    http.unwrap()
        .get(format!("{url}?hit={number}"))
        .send()
        .await
        .unwrap();
}
