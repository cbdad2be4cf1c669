//! Named API keys: roles, revocation, storage.

use std::path::Path;

use reqwest::Method;
use scandeck::service::RateLimit;
use scandeck::service::keys::{Role, add_key, list_keys, revoke_key};
use serde_json::json;

use super::{JsonResponse, PATIENCE, TestService, settings};

/// The port scanner.
const TOOL: i64 = 70;

async fn add(dir: &Path, name: &str, role: Role) -> String {
    add_key(&super::database::data_dir(dir), name, role, "ana@box")
        .await
        .unwrap()
        .expect("a free name")
}

impl TestService {
    async fn call(&self, key: &str, method: Method, path: &str) -> JsonResponse {
        let request = self
            .client
            .request(method, format!("{}{path}", self.base))
            .bearer_auth(key);
        JsonResponse::read(request.json(&json!({})).send().await.unwrap()).await
    }
}

#[tokio::test]
async fn rate_limit_of_one_key_leaves_the_others_theirs() {
    let temp = tempfile::tempdir().unwrap();
    let mut settings = settings(temp.path());
    settings.rate_limit = RateLimit::PerMinute(4);
    let service = TestService::with_settings(settings).await;
    let (script, ana) = (
        add(temp.path(), "script", Role::Read).await,
        add(temp.path(), "ana", Role::Read).await,
    );
    let status = async |key: &str| service.call(key, Method::GET, "/workspaces").await.status;
    for expected in [200, 200, 200, 200, 429] {
        assert_eq!(status(&script).await, expected);
    }
    assert_eq!(status(&ana).await, 200);
    service.stop().await;
}

#[tokio::test]
async fn quotas_of_a_triage_key_leave_room_for_others() {
    let temp = tempfile::tempdir().unwrap();
    let mut settings = settings(temp.path());
    (settings.key_quotas.triage, settings.max_loggers) = (3, 10);
    let service = TestService::with_settings(settings).await;
    let guest = add(temp.path(), "guest", Role::Triage).await;
    let create = async |key: &str, label: String| {
        let request = service
            .client
            .post(format!("{}/http_loggers", service.base))
            .bearer_auth(key);
        JsonResponse::read(request.json(&json!({"label": label})).send().await.unwrap()).await
    };
    for n in 0..3 {
        assert_eq!(create(&guest, format!("g{n}")).await.status, 201);
        // Only what is created counts.
        assert_eq!(
            create(&guest, "g0".into()).await.status,
            if n < 2 { 422 } else { 429 }
        );
    }
    let refused = create(&guest, "g3".into()).await;
    assert!(
        refused.body["details"]
            .as_str()
            .unwrap()
            .contains("--triage-quota"),
        "{refused:?}"
    );
    refused.assert_refused(429, "`guest` has created 3 loggers within an hour");
    // Another key of this role has its own quota, but both share half of all loggers.
    let other = add(temp.path(), "other", Role::Triage).await;
    assert_eq!(
        [
            create(&other, "o1".into()).await.status,
            create(&other, "o2".into()).await.status
        ],
        [201; 2]
    );
    let refused = create(&other, "o3".into()).await;
    assert!(
        refused.body["details"]
            .as_str()
            .unwrap()
            .contains("--max-loggers"),
        "{refused:?}"
    );
    refused.assert_refused(403, "the limit of 5 loggers for the role `triage`");
    for n in 0..5 {
        assert_eq!(create(&service.key, format!("a{n}")).await.status, 201);
    }
    create(&service.key, "a5".into())
        .await
        .assert_refused(403, "the limit of 10 loggers for the role `admin`");
    service.stop().await;
}

#[tokio::test]
async fn quota_of_scans_counts_created_scans_of_the_key() {
    let temp = tempfile::tempdir().unwrap();
    let mut settings = settings(temp.path());
    settings.key_quotas.scan = 2;
    let service = TestService::with_settings(settings).await;
    let ci = add(temp.path(), "ci", Role::Scan).await;
    let create = async |key: &str, tool: i64| {
        let request = service
            .client
            .post(format!("{}/scans", service.base))
            .bearer_auth(key);
        request
            .json(&json!({"target_name": "127.0.0.1", "tool_id": tool}))
            .send()
            .await
            .unwrap()
    };
    for _ in 0..3 {
        assert_eq!(create(&ci, -1).await.status(), 400);
    }
    assert_eq!(
        [
            create(&ci, TOOL).await.status(),
            create(&ci, TOOL).await.status()
        ],
        [201; 2]
    );
    let refused = create(&ci, TOOL).await;
    let wait: u64 = refused.headers()["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!((3500..=3600).contains(&wait), "{wait}");
    JsonResponse::read(refused)
        .await
        .assert_refused(429, "`ci` has created 2 scans within an hour");
    assert_eq!(
        create(&service.key, TOOL).await.status(),
        201,
        "the role `admin` has no quota"
    );
    service.stop().await;
}

#[tokio::test]
async fn role_restricts_changes_of_key() {
    let temp = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(temp.path()).await;
    // Each call with the lowest role that may make it. The body is empty, so an allowed call is
    // refused with 400 or 404.
    let calls = [
        (Method::GET, "/workspaces", Role::Read),
        (Method::POST, "/reports", Role::Triage),
        (Method::POST, "/http_loggers", Role::Triage),
        (Method::POST, "/targets", Role::Scan),
        (Method::POST, "/scans/7/stop", Role::Scan),
        (Method::DELETE, "/wordlists/7", Role::Scan),
        (Method::DELETE, "/workspaces/7", Role::Admin),
    ];
    for role in Role::ALL {
        let key = add(temp.path(), &format!("of-{role}"), role).await;
        for (method, path, required) in &calls {
            let response = service.call(&key, method.clone(), path).await;
            if role >= *required {
                assert!(
                    matches!(response.status, 200 | 400 | 404 | 422),
                    "{role} {method} {path}: {response:?}"
                );
            } else {
                response.assert_refused(
                    403,
                    &format!(
                        "`of-{role}` has the role `{role}`; this request requires `{required}`"
                    ),
                );
            }
        }
    }
    assert_eq!(
        service.delete("/workspaces/7").await.status,
        404,
        "the key file has the role admin"
    );
    service.stop().await;
}

#[tokio::test]
async fn key_is_stored_hashed_and_refused_after_its_revocation() {
    let temp = tempfile::tempdir().unwrap();
    let dir = super::database::data_dir(temp.path());
    // Before the first start of the service, and while it runs.
    let early = add(temp.path(), "early", Role::Read).await;
    let service = TestService::in_dir(temp.path()).await;
    let late = add(temp.path(), "late", Role::Read).await;
    assert_eq!(
        add_key(&dir, "late", Role::Admin, "eve@box").await.unwrap(),
        None,
        "the name is taken"
    );
    for key in [&early, &late] {
        assert_eq!(
            service.call(key, Method::GET, "/workspaces").await.status,
            200
        );
    }
    for file in std::fs::read_dir(temp.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        for key in [&early, &late] {
            assert!(
                !bytes
                    .windows(key.len())
                    .any(|window| window == key.as_bytes()),
                "{}",
                path.display()
            );
        }
    }
    let used = async {
        while list_keys(&dir)
            .await
            .unwrap()
            .iter()
            .any(|key| key.last_used_at.is_none())
        {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, used)
        .await
        .expect("the last use is stored");
    assert!(revoke_key(&dir, "late").await.unwrap() && !revoke_key(&dir, "late").await.unwrap());
    let refused = async {
        while service.call(&late, Method::GET, "/workspaces").await.status != 401 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, refused)
        .await
        .expect("the revoked key is refused");
    assert_eq!(
        service
            .call(&early, Method::GET, "/workspaces")
            .await
            .status,
        200
    );
    let names: Vec<String> = list_keys(&dir)
        .await
        .unwrap()
        .into_iter()
        .map(|key| key.name)
        .collect();
    assert_eq!(names, ["early"]);
    service.stop().await;
}
