//! Findings.

use scandeck::client::{ErrorKind, FindingQuery};
use scandeck::contract::{EvidenceView, FindingId, Risk, WorkspaceId};

use super::{assert_refused, client, ended, scan, target};
use crate::service::TestService;
use crate::service::runner::typical_events;

#[tokio::test]
async fn findings_are_listed_by_every_parameter_and_looked_up_whole() {
    let service = TestService::new().await;
    let client = client(&service);
    service.runner.set_events(typical_events());
    service.runner.finish_scans(2);
    let made = target(&client, "127.0.0.1").await;
    let (first, second) = (scan(&client, made).await, scan(&client, made).await);
    ended(&client, first).await;
    ended(&client, second).await;
    let list = async |query: FindingQuery| client.list_findings(&query).await.unwrap();
    let all = FindingQuery::default();
    assert_eq!(list(all).await.len(), 4);
    assert_eq!(list(FindingQuery { task_id: Some(second), ..all }).await.len(), 2);
    assert_eq!(list(FindingQuery { target_id: Some(made), ..all }).await.len(), 4);
    assert_eq!(list(FindingQuery { workspace_id: Some(WorkspaceId(99)), ..all }).await.len(), 0);
    let newest = list(FindingQuery { group_duplicates: Some(true), ..all }).await;
    assert!(newest.len() == 2 && newest.iter().all(|finding| finding.task_id == Some(second)), "{newest:?}");
    let worst = newest.iter().find(|finding| finding.risk_level == Risk::Critical).unwrap();
    let whole = client.get_finding(worst.id).await.unwrap();
    assert_eq!(&whole, worst);
    assert_eq!((whole.target_id, whole.port, whole.cwe.as_str()), (Some(made), 80, "CWE-200"));
    assert!(matches!(whole.vuln_evidence.view(), EvidenceView::Table { rows, .. } if rows == [["GET /"]]));
    assert_refused(client.get_finding(FindingId(999)).await, ErrorKind::NotFound, 404, "finding");
    service.stop().await;
}
