//! Findings.

use scandeck::client::{ErrorKind, FindingQuery};
use scandeck::contract::{EvidenceView, FindingId, Risk, WorkspaceId};

use super::{assert_refused, client, create_target, start_scan, wait_for_end};
use crate::service::TestService;
use crate::service::runner::typical_events;

#[tokio::test]
async fn finding_list_with_each_parameter_filters() {
    let service = TestService::new().await;
    let client = client(&service);
    service.runner.set_events(typical_events());
    service.runner.finish_scans(2);
    let target = create_target(&client, "127.0.0.1").await;
    let (first, second) = (
        start_scan(&client, target).await,
        start_scan(&client, target).await,
    );
    wait_for_end(&client, first).await;
    wait_for_end(&client, second).await;
    let list = async |query: FindingQuery| client.list_findings(&query).await.unwrap();
    let all = FindingQuery::default();
    assert_eq!(list(all).await.len(), 4);
    assert_eq!(
        list(FindingQuery {
            task_id: Some(second),
            ..all
        })
        .await
        .len(),
        2
    );
    assert_eq!(
        list(FindingQuery {
            target_id: Some(target),
            ..all
        })
        .await
        .len(),
        4
    );
    assert_eq!(
        list(FindingQuery {
            workspace_id: Some(WorkspaceId(99)),
            ..all
        })
        .await
        .len(),
        0
    );
    let newest = list(FindingQuery {
        group_duplicates: Some(true),
        ..all
    })
    .await;
    assert!(
        newest.len() == 2 && newest.iter().all(|finding| finding.task_id == Some(second)),
        "{newest:?}"
    );
    let critical = newest
        .iter()
        .find(|finding| finding.risk_level == Risk::Critical)
        .unwrap();
    let fetched = client.get_finding(critical.id).await.unwrap();
    assert_eq!(&fetched, critical);
    assert_eq!(
        (fetched.target_id, fetched.port, fetched.cwe.as_str()),
        (Some(target), 80, "CWE-200")
    );
    assert!(
        matches!(fetched.vuln_evidence.view(), EvidenceView::Table { rows, .. } if rows == [["GET /"]])
    );
    assert_refused(
        client.get_finding(FindingId(999)).await,
        ErrorKind::NotFound,
        404,
        "finding",
    );
    service.stop().await;
}
