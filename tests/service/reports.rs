//! `/reports`.

use super::clock::ManualClock;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};

use super::TestService;
use super::runner::{ScriptedRunner, finding, tested, typical_events};
use crate::readback::readable;
use scandeck::contract::Risk;

impl TestService {
    /// Runs a scan to its end.
    async fn finished_scan(&self, target: &str) -> i64 {
        self.runner.finish_scans(1);
        let scan = self
            .post("/scans", json!({"tool_id": 70, "target_name": target}))
            .await;
        let scan = scan.created();
        self.until_status(scan, "finished").await;
        scan
    }

    /// Creates a report and waits until it is generated.
    async fn report(&self, body: Value) -> i64 {
        let response = self.post("/reports", body).await;
        assert_eq!(response.status, 202, "{response:?}");
        let id = response.body["data"]["report_id"].as_i64().unwrap();
        self.until(&format!("/reports/{id}"), |report| {
            report["status"] != "waiting"
        })
        .await;
        id
    }
}

fn of_scans(format: &str, scans: &[i64]) -> Value {
    json!({"format": format, "group_by": "target", "source": "scans", "resources": scans})
}

#[tokio::test]
async fn report_in_each_format_downloads_under_its_name() {
    let service = TestService::new().await;
    service.runner.set_events(typical_events());
    let scan = service.finished_scan("127.0.0.1").await;
    let office = "application/vnd.openxmlformats-officedocument";
    for (format, kind) in [
        ("json", "application/json"),
        ("csv", "text/csv; charset=utf-8"),
        ("html", "text/html; charset=utf-8"),
        ("pdf", "application/pdf"),
        ("docx", &format!("{office}.wordprocessingml.document")),
        ("xlsx", &format!("{office}.spreadsheetml.sheet")),
    ] {
        let id = service.report(of_scans(format, &[scan])).await;
        let shown = service.get(&format!("/reports/{id}")).await.data().clone();
        let name = format!("scandeck-default-{id}.{format}");
        assert_eq!(
            (&shown["status"], &shown["format"], &shown["download_name"]),
            (&json!("finished"), &json!(format), &json!(name))
        );
        assert!(shown["expiration_date"].as_str() > shown["generation_date"].as_str());
        let file = service
            .request(Method::GET, &format!("/reports/{id}/download"))
            .send()
            .await
            .unwrap();
        assert_eq!(file.status(), 200);
        assert_eq!(file.headers()["content-type"], kind);
        assert_eq!(
            file.headers()["content-disposition"],
            format!("attachment; filename=\"{name}\"").as_str()
        );
        let text = readable(format, &file.bytes().await.unwrap());
        assert!(text.contains("Finding web.key"), "{format}: {text}");
    }
    assert_eq!(service.count("/reports").await, 6);
    service.delete("/reports/1").await.assert_no_content();
    service
        .get("/reports/1")
        .await
        .assert_refused(404, "report 1 not found");
    service.stop().await;
}

#[tokio::test]
async fn report_after_scan_deletion_keeps_its_findings() {
    let service = TestService::new().await;
    service.runner.set_events(typical_events());
    let scan = service.finished_scan("127.0.0.1").await;
    let findings = service.get(&format!("/findings?task_id={scan}")).await;
    let ids: Vec<i64> = findings
        .data()
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_i64().unwrap())
        .collect();
    let body = json!({"format": "json", "group_by": "vulnerability", "source": "findings", "resources": [ids[1]]});
    let report = service.report(body).await;
    service
        .delete(&format!("/scans/{scan}"))
        .await
        .assert_no_content();
    let groups = service
        .get(&format!("/reports/{report}/download"))
        .await
        .body;
    assert_eq!(
        (
            groups.as_array().unwrap().len(),
            &groups[0]["findings"][0]["vuln_id"]
        ),
        (1, &json!("web.key"))
    );
    service.stop().await;
}

#[tokio::test]
async fn report_is_deleted_with_its_workspace() {
    let service = TestService::new().await;
    service.runner.set_events(typical_events());
    let other = service
        .post("/workspaces", json!({"name": "Other"}))
        .await
        .created();
    let target = service
        .post(
            "/targets",
            json!({"name": "127.0.0.2", "workspace_id": other}),
        )
        .await
        .created();
    service.runner.finish_scans(1);
    let theirs = service.scan(target).await;
    service.until_status(theirs, "finished").await;
    let ours = service.finished_scan("127.0.0.1").await;
    let (in_other, in_both) = (
        service.report(of_scans("json", &[theirs])).await,
        service.report(of_scans("json", &[ours, theirs])).await,
    );
    let workspace =
        async |id: i64| service.get(&format!("/reports/{id}")).await.data()["workspace_id"].clone();
    assert_eq!(
        (workspace(in_other).await, workspace(in_both).await),
        (json!(other), Value::Null)
    );
    service
        .delete(&format!("/workspaces/{other}"))
        .await
        .assert_no_content();
    service
        .get(&format!("/reports/{in_other}"))
        .await
        .assert_refused(404, "not found");
    assert_eq!(
        service.get(&format!("/reports/{in_both}")).await.status,
        200
    );
    service.stop().await;
}

#[tokio::test]
async fn report_with_everything_filtered_returns_204() {
    let service = TestService::new().await;
    service.runner.set_events(vec![tested(
        "a",
        1,
        vec![finding("web.csp", Risk::Info, "")],
    )]);
    let scan = service.finished_scan("127.0.0.1").await;
    let mut body = of_scans("html", &[scan]);
    body["filters"] = json!({"include_info": false});
    let report = service.report(body).await;
    service
        .get(&format!("/reports/{report}/download"))
        .await
        .assert_no_content();
    service.stop().await;
}

#[tokio::test]
async fn report_with_history_includes_earlier_findings() {
    let service = TestService::new().await;
    service.runner.set_events(typical_events());
    let (first, second) = (
        service.finished_scan("127.0.0.1").await,
        service.finished_scan("127.0.0.1").await,
    );
    let mut body = of_scans("json", &[second]);
    body["filters"] = json!({"include_finding_history": true});
    let report = service.report(body).await;
    let old = service
        .get(&format!("/findings?task_id={first}"))
        .await
        .data()[0]["id"]
        .clone();
    let text = service
        .get(&format!("/reports/{report}/download"))
        .await
        .body
        .to_string();
    assert!(
        text.contains("history") && text.contains(&format!("\"id\":{old}")),
        "{text}"
    );
    service.stop().await;
}

#[tokio::test]
async fn report_after_30_days_expires() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new(Timestamp::now());
    let runner = ScriptedRunner::default();
    runner.set_events(typical_events());
    let service = TestService::with_clock(dir.path(), &clock, runner).await;
    let scan = service.finished_scan("127.0.0.1").await;
    let report = service.report(of_scans("csv", &[scan])).await;
    clock.advance(SignedDuration::from_hours(30 * 24 - 1));
    assert_eq!(service.get(&format!("/reports/{report}")).await.status, 200);
    clock.advance(SignedDuration::from_hours(1));
    for path in [
        format!("/reports/{report}"),
        format!("/reports/{report}/download"),
    ] {
        service.get(&path).await.assert_refused(404, "not found");
    }
    service
        .delete(&format!("/reports/{report}"))
        .await
        .assert_refused(404, "not found");
    assert_eq!(service.get("/reports").await.data(), &json!([]));
    service.stop().await;
}

#[tokio::test]
async fn invalid_report_request_names_field() {
    let service = TestService::new().await;
    let scan = service.finished_scan("127.0.0.1").await;
    let with = |name: &str, value: Value| {
        let mut body = of_scans("json", &[scan]);
        body[name] = value;
        body
    };
    for (body, status, message) in [
        (with("format", Value::Null), 400, "format is required"),
        (with("format", json!("odt")), 400, "json, csv, html"),
        (
            with("group_by", json!("risk")),
            400,
            "target, vulnerability",
        ),
        (with("source", json!("targets")), 400, "scans, findings"),
        (with("resources", json!([])), 400, "must not be empty"),
        (with("resources", json!([scan, 98, 99])), 400, "98, 99"),
        (with("resources", json!("all")), 422, "resources"),
        (with("resources", json!(["1"])), 422, "resources"),
        (
            with("filters", json!({"include_everything": true})),
            400,
            "include_everything",
        ),
        (
            with("filters", json!({"include_info": 1})),
            422,
            "include_info",
        ),
        (with("filters", json!([])), 422, "filters"),
        (
            with("webhook_url", json!("http://192.0.2.1/")),
            403,
            "scope add",
        ),
        (
            with("webhook_url", json!("127.0.0.1")),
            400,
            "http or https",
        ),
        (with("format", json!(7)), 422, "format"),
    ] {
        service
            .post("/reports", body)
            .await
            .assert_refused(status, message);
    }
    for path in ["/reports/99", "/reports/99/download"] {
        service
            .get(path)
            .await
            .assert_refused(404, "report 99 not found");
    }
    service
        .delete("/reports/99")
        .await
        .assert_refused(404, "report 99 not found");
    service.stop().await;
}
