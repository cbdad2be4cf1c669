//! `/findings`.

use serde_json::json;

use super::TestService;
use super::runner::typical_events;

#[tokio::test]
async fn finding_list_has_every_field_and_filters() {
    let service = TestService::new().await;
    service.runner.set_events(typical_events());
    service.runner.finish_scans(3);
    let (one, two) = (
        service.target("127.0.0.1").await,
        service.target("127.0.0.2").await,
    );
    let mut scans = Vec::new();
    for target in [one, one, two] {
        let scan = service.scan(target).await;
        service.until_status(scan, "finished").await;
        scans.push(scan);
    }
    let count = async |query: String| service.count(&format!("/findings?{query}")).await;
    assert_eq!(count(String::new()).await, 6);
    assert_eq!(count("workspace_id=1".into()).await, 6);
    assert_eq!(count("workspace_id=99".into()).await, 0);
    assert_eq!(count(format!("target_id={one}")).await, 4);
    assert_eq!(count(format!("task_id={}", scans[0])).await, 2);
    assert_eq!(count("group_duplicates=true".into()).await, 4);
    assert_eq!(
        count(format!("group_duplicates=true&target_id={one}")).await,
        2
    );

    let newest = service
        .get(&format!("/findings?group_duplicates=1&target_id={one}"))
        .await;
    assert!(
        newest
            .data()
            .as_array()
            .unwrap()
            .iter()
            .all(|finding| finding["task_id"] == scans[1])
    );

    let finding = &newest.data()[1];
    for field in "id name test_description test_finished confirmed in_cisa_catalog cve vuln_description vuln_evidence \
                  risk_description risk_level status recommendation references verified vuln_id owasp cwe port protocol \
                  service target_id task_id target_name"
        .split_whitespace()
    {
        assert!(finding.get(field).is_some_and(|value| !value.is_null()), "{field}");
    }
    assert_eq!(
        (&finding["risk_level"], &finding["status"], &finding["port"]),
        (&json!(4), &json!("open"), &json!(80))
    );
    assert_eq!(finding["vuln_evidence"]["data"]["rows"], json!([["GET /"]]));
    assert_eq!(
        service
            .get(&format!("/findings/{}", finding["id"]))
            .await
            .data(),
        finding
    );
    service.stop().await;
}

#[tokio::test]
async fn invalid_finding_request_names_parameter() {
    let service = TestService::new().await;
    service
        .get("/findings?task_id=x")
        .await
        .assert_refused(400, "task_id");
    service
        .get("/findings?group_duplicates=maybe")
        .await
        .assert_refused(400, "group_duplicates");
    service
        .get("/findings/99")
        .await
        .assert_refused(404, "finding 99 not found");
    service
        .get("/findings/x")
        .await
        .assert_refused(400, "ids are integers");
    service.stop().await;
}
