//! Imports of result files (`/imports`, `/findings/import`): scans and findings of the targets of a
//! file, repeated files, limits, refusals, roles, an interruption.

use reqwest::Method;
use scandeck::contract::team::MOST_BODY_BYTES;
use scandeck::service::keys::{Role, add_key};
use scandeck::service::openapi_document;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{JsonResponse, TestService};

const NUCLEI: &[u8] = include_bytes!("../../crates/import/tests/samples/nuclei.jsonl");
const NMAP: &[u8] = include_bytes!("../../crates/import/tests/samples/nmap.xml");

async fn send(service: &TestService, key: &str, query: &str, file: &[u8]) -> JsonResponse {
    let request = service
        .client
        .post(format!("{}/imports?{query}", service.base))
        .bearer_auth(key)
        .body(file.to_vec());
    JsonResponse::read(request.send().await.unwrap()).await
}

/// Sends a file; returns the id of the import.
async fn accepted(service: &TestService, query: &str, file: &[u8]) -> i64 {
    let response = send(service, &service.key, query, file).await;
    assert_eq!(response.status, 202, "{response:?}");
    response.body["data"]["id"].as_i64().unwrap()
}

async fn ended(service: &TestService, id: i64) -> Value {
    let has_ended = |import: &Value| import["state"] == "finished" || import["state"] == "failed";
    service.until(&format!("/imports/{id}"), has_ended).await
}

/// Sends a file, and waits until the import has ended.
async fn imported(service: &TestService, query: &str, file: &[u8]) -> Value {
    let id = accepted(service, query, file).await;
    ended(service, id).await
}

#[tokio::test]
async fn file_becomes_a_finished_scan_of_each_target() {
    let service = TestService::new().await;
    let import = imported(&service, "file_name=a.jsonl", NUCLEI).await;
    assert_eq!(import["state"], "finished", "{import}");
    assert_eq!(import["message"], "");
    assert_eq!(import["digest"].as_str().unwrap().len(), 64);
    let file = &import["files"][0];
    assert_eq!(file["format"], "nuclei");
    assert_eq!(file["file"], "a.jsonl");
    assert_eq!(file["findings"], 3);
    assert_eq!(file["by_risk"], json!({"critical": 1, "info": 2}));
    assert_eq!(file["skipped"].as_array().unwrap().len(), 4);
    assert_eq!(file["started"], "2026-03-01 09:00:00");
    let scans = file["scans"].as_array().unwrap();
    assert_eq!(scans.len(), 3);
    assert_eq!(scans[0]["target_name"], "https://shop.test/");
    assert_eq!(scans[0]["is_new_target"], true);
    assert_eq!(service.count("/targets").await, 3);
    assert_eq!(service.count("/scans").await, 3);
    assert_eq!(service.count("/findings").await, 3);

    let id = scans[0]["id"].as_i64().unwrap();
    let scan = service.get(&format!("/scans/{id}")).await.data().clone();
    assert_eq!(scan["status_name"], "finished");
    assert_eq!(
        (&scan["tool_id"], &scan["progress"]),
        (&json!(10_002), &json!(100))
    );
    assert_eq!(scan["start_time"], "2026-03-01 09:00:00");
    assert_eq!(scan["result_summary"]["critical"], 1);
    let origin = &scan["tool_params"]["import"];
    assert_eq!(
        (&origin["file"], &origin["tool"]),
        (&json!("a.jsonl"), &json!("nuclei"))
    );
    assert_eq!(origin["digest"], import["digest"]);
    let findings = service.get(&format!("/findings?task_id={id}")).await;
    let finding = &findings.data()[0];
    assert_eq!(finding["vuln_id"], "nuclei:CVE-2021-44228");
    assert_eq!(finding["target_name"], "https://shop.test/");
    assert_eq!(
        (&finding["port"], &finding["status"]),
        (&json!(443), &json!("open"))
    );
    assert_eq!(finding["epss_score"], 0.97);
    let output = service.get(&format!("/scans/{id}/output")).await;
    assert_eq!(output.data()["output_data"]["findings"], *findings.data());
    let raw = service.get(&format!("/scans/{id}/raw")).await;
    let lines = raw.data().as_array().unwrap();
    assert_eq!(lines.len(), 7);
    assert!(lines[0].as_str().unwrap().contains("CVE-2021-44228"));
    service.stop().await;
}

#[tokio::test]
async fn coverage_of_a_file_is_part_of_its_scan() {
    let service = TestService::new().await;
    let import = imported(&service, "complete=true", NMAP).await;
    let file = &import["files"][0];
    assert_eq!(
        (&file["format"], &file["version"]),
        (&json!("nmap"), &json!("7.95"))
    );
    let id = &file["scans"][0]["id"];
    let scan = service.get(&format!("/scans/{id}")).await.data().clone();
    let origin = &scan["tool_params"]["import"];
    assert_eq!(origin["complete"], true);
    assert_eq!(
        origin["coverage"][0],
        json!({"ports": ["tcp/22", "tcp/80", "tcp/443-444"], "checks": ["nmap:open-port"]})
    );
    assert_eq!(service.count("/findings").await, 4);
    service.stop().await;
}

#[tokio::test]
async fn same_file_changes_nothing_until_its_scans_are_deleted() {
    let service = TestService::new().await;
    let first = imported(&service, "", NUCLEI).await;
    let again = imported(&service, "", NUCLEI).await;
    assert_eq!(again["state"], "finished");
    assert_eq!(again["same_as"], first["id"]);
    let message = format!("already imported as import {}", first["id"]);
    assert_eq!(again["message"], message);
    assert_eq!(service.count("/scans").await, 3);
    let other = imported(&service, "target_name=shop.test", NUCLEI).await;
    assert!(other.get("same_as").is_none(), "{other}");
    assert_eq!(service.count("/scans").await, 4);

    for scan in first["files"][0]["scans"].as_array().unwrap() {
        service
            .delete(&format!("/scans/{}", scan["id"]))
            .await
            .assert_no_content();
    }
    assert_eq!(service.count("/findings").await, 3);
    let third = imported(&service, "", NUCLEI).await;
    assert!(third.get("same_as").is_none(), "{third}");
    assert_eq!(service.count("/scans").await, 4);
    // The targets were there.
    assert_eq!(third["files"][0]["scans"][0]["is_new_target"], false);
    let listed = service.get("/imports?workspace_id=1").await;
    let listed: Vec<&Value> = listed.data().as_array().unwrap().iter().collect();
    assert_eq!(listed.len(), 4);
    assert_eq!(listed[0]["id"], third["id"]);
    service.stop().await;
}

#[tokio::test]
async fn file_that_cannot_be_stored_stores_nothing() {
    let service = TestService::with(|settings| settings.max_targets = 2).await;
    let import_failed = async |query: &str, file: &[u8], message: &str| {
        let import = imported(&service, query, file).await;
        assert_eq!(import["state"], "failed", "{import}");
        let shown = import["message"].as_str().unwrap();
        assert!(shown.contains(message), "{shown}");
    };
    import_failed("", NUCLEI, "more than 2 targets").await;
    import_failed("", b"hello".as_slice(), "not recognised").await;
    assert_eq!(service.count("/targets").await, 0);
    for name in ["127.0.0.1", "127.0.0.2"] {
        service.target(name).await;
    }
    import_failed("target_name=c.test", NUCLEI, "limit of 2 targets").await;
    assert_eq!(service.count("/targets").await, 2);
    assert_eq!(service.count("/scans").await, 0);
    // Existing targets need no place.
    let import = imported(&service, "target_name=127.0.0.1", NUCLEI).await;
    assert_eq!(import["state"], "finished", "{import}");
    service.stop().await;
}

#[tokio::test]
async fn empty_file_with_a_format_is_a_scan_without_results() {
    let service = TestService::new().await;
    let query = "format=nuclei&target_name=shop.test&complete=true";
    for scans in [1, 2] {
        let import = imported(&service, query, b"").await;
        assert_eq!(import["state"], "finished", "{import}");
        assert!(import.get("same_as").is_none(), "{import}");
        assert_eq!(import["files"][0]["findings"], 0, "{import}");
        assert_eq!(service.count("/scans").await, scans);
    }
    let nameless = imported(&service, "format=nuclei", b"").await;
    assert_eq!(nameless["state"], "finished", "{nameless}");
    let message = nameless["message"].as_str().unwrap();
    assert!(message.contains("no target named"), "{nameless}");
    assert_eq!(service.count("/scans").await, 2);
    service.stop().await;
}

#[tokio::test]
async fn unreadable_file_is_no_scan_of_the_chosen_target() {
    let service = TestService::new().await;
    let query = "format=sslyze&target_name=shop.test";
    let import = imported(&service, query, b"<document/>").await;
    assert_eq!(import["message"], "no result could be read", "{import}");
    assert!(import["files"][0]["error"].is_string(), "{import}");
    assert_eq!(service.count("/scans").await, 0);
    assert_eq!(service.count("/targets").await, 0);
    service.stop().await;
}

#[tokio::test]
async fn requests_are_checked_before_the_file_is_read() {
    let service = TestService::new().await;
    let key = service.key.clone();
    let refused = async |query: &str, status: u16, message: &str| {
        let response = send(&service, &key, query, NUCLEI).await;
        response.assert_refused(status, message);
    };
    refused("workspace_id=99", 404, "workspace 99 not found").await;
    refused("format=word", 400, "use one of scandeck, nuclei").await;
    refused("target_name=a%20b", 400, "target_name").await;
    refused("complete=perhaps", 400, "complete").await;
    let empty = send(&service, &key, "", b"").await;
    empty.assert_refused(400, "empty");
    let form = service.request(Method::POST, "/imports");
    let form = form
        .header("content-type", "Multipart/Form-Data; boundary=b")
        .body(NUCLEI);
    JsonResponse::read(form.send().await.unwrap())
        .await
        .assert_refused(415, "send the file itself as the body");
    service
        .get("/imports/7")
        .await
        .assert_refused(404, "import 7 not found");

    // The length alone is enough.
    let address = service.base.trim_start_matches("http://");
    let address = address.split('/').next().unwrap();
    let mut connection = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /api/v2/imports HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\ncontent-length: 536870913\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    connection.read_to_end(&mut response).await.unwrap();
    let response = String::from_utf8_lossy(&response).into_owned();
    assert!(response.starts_with("HTTP/1.1 413"), "{response}");
    assert!(response.contains("larger than 512 MB"), "{response}");
    service.stop().await;
}

#[tokio::test]
async fn file_larger_than_bodies_of_other_requests_is_imported() {
    let service = TestService::new().await;
    let line = |number: usize| {
        format!(
            r#"{{"template-id":"t{number}","info":{{"name":"n","severity":"low","description":"{}"}},"type":"http","host":"a.test","matched-at":"http://a.test/{number}"}}"#,
            "d".repeat(4000)
        )
    };
    let lines: Vec<String> = (0..600).map(line).collect();
    let file = lines.join("\n");
    assert!(file.len() > 2 * MOST_BODY_BYTES);
    let import = imported(&service, "", file.as_bytes()).await;
    assert_eq!(import["files"][0]["findings"], 600, "{import}");
    assert_eq!(service.count("/findings").await, 600);
    service.stop().await;
}

#[tokio::test]
async fn imports_require_the_role_scan() {
    let temp = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(temp.path()).await;
    let dir = super::database::data_dir(temp.path());
    for (name, role, status) in [
        ("reader", Role::Read, 403),
        ("analyst", Role::Triage, 403),
        ("ci", Role::Scan, 202),
    ] {
        let key = add_key(&dir, name, role, "ana@box").await.unwrap().unwrap();
        let response = send(&service, &key, "", NUCLEI).await;
        assert_eq!(response.status, status, "{response:?}");
    }
    let import = ended(&service, 1).await;
    assert_eq!(import["imported_by"], "ci");
    let document = openapi_document();
    assert_eq!(
        document["x-scandeck"]["imports"],
        json!(["/imports", "/findings/import"])
    );
    service.stop().await;
}

#[tokio::test]
async fn interrupted_import_is_stored_once() {
    let temp = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(temp.path()).await;
    let ids = [
        accepted(&service, "", NUCLEI).await,
        accepted(&service, "", NMAP).await,
    ];
    // Whatever it is doing.
    service.stop().await;
    let service = TestService::in_dir(temp.path()).await;
    for id in ids {
        let import = ended(&service, id).await;
        assert_eq!(import["state"], "finished", "{import}");
    }
    assert_eq!(service.count("/scans").await, 4);
    assert_eq!(service.count("/findings").await, 7);
    assert_eq!(service.count("/targets").await, 3);
    service.stop().await;
}

#[tokio::test]
async fn findings_of_the_hosted_form_are_stored() {
    let service = TestService::new().await;
    let finding = |name: &str, target: &str| {
        json!({
            "name": name, "source": 2, "target_name": target, "test_description": "by hand",
            "vuln_description": "d", "vuln_risk_level": 3, "vuln_recommendation": "fix it", "cvss_v3": 7.5,
            "vuln_evidence": "GET /?a=<b>",
        })
    };
    let findings = [
        finding("XSS", "https://shop.test"),
        finding("SQL injection", "shop.test"),
        finding("XSS", "https://shop.test/"),
    ];
    let body = json!({"workspace_id": 1, "findings": findings});
    let response = service.post("/findings/import", body).await;
    assert_eq!(response.status, 201, "{response:?}");
    let results = &response.body["data"]["results"];
    assert_eq!(results.as_array().unwrap().len(), 3);
    assert_eq!(results[0], results[2], "the same finding");
    let stored = service
        .get(&format!("/findings/{}", results[0]["id"]))
        .await;
    let stored = stored.data();
    assert_eq!(stored["vuln_id"], "imported:xss");
    assert_eq!(stored["vuln_evidence"]["data"], "GET /?a=<b>");
    assert_eq!(
        (&stored["risk_level"], &stored["cvssv3"]),
        (&json!(3), &json!(7.5))
    );
    assert_eq!(service.count("/scans").await, 2);
    assert_eq!(service.count("/findings").await, 2);

    let refused = async |findings: Value, message: &str| {
        let body = json!({"findings": findings});
        let response = service.post("/findings/import", body).await;
        response.assert_refused(422, message);
    };
    refused(json!([]), "1 to 1000").await;
    refused(json!("x"), "must be a list").await;
    refused(json!([finding("", "a.test")]), "findings[0]: name").await;
    refused(json!([finding("a", "a b")]), "findings[0]: target_name").await;
    assert_eq!(
        service.count("/scans").await,
        2,
        "nothing of a refused list"
    );
    let get = service.request(Method::GET, "/findings/import");
    assert_eq!(get.send().await.unwrap().status(), 405);
    service.stop().await;
}
