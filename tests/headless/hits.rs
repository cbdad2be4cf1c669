//! Hits of payloads: counted in the archive, stored longer than captures, and part of bundles.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use scandeck::contract::{Capture, CaptureId, LoggerId};
use scandeck::oob::{ArchivedCapture, Hit, Payload, RowRange, Store, Token};
use serde_json::{Value, json};

use super::hunt::{MockService, logger};
use super::triage::holds;
use super::{Ended, command, run};

/// A service with an old and a new capture of one payload, and two captures without a payload; and
/// the token.
async fn service_with_hits() -> (MockService, String) {
    let service = MockService::new(json!([logger(1, "hunt", 9)])).await;
    let new = service
        .run(&["payloads", "new", "--logger", "hunt", "--json"])
        .await;
    let made: Value =
        serde_json::from_str(&new.out).unwrap_or_else(|error| panic!("{error}: {new:?}"));
    let token = made[0]["token"].as_str().unwrap().to_owned();
    let capture = |id: i64, query: &str, date: String| json!({"id": id, "request_method": "GET", "url_params": query, "request_date": date});
    let (old, now) = (
        "2020-02-02 12:00:00",
        Timestamp::now().strftime("%Y-%m-%d %H:%M:%S").to_string(),
    );
    let carries = format!("t={token}");
    let requests = [
        capture(1, &carries, old.to_owned()),
        capture(2, "a=OLD", old.to_owned()),
        capture(3, &carries, now.clone()),
        capture(4, "a=NEW", now),
    ];
    service
        .mock("/http_loggers/1/data", 200, json!({ "requests": requests }))
        .await;
    (service, token)
}

fn json_of(ended: &Ended) -> Value {
    assert_eq!(ended.code, 0, "{ended:?}");
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

async fn hits(service: &MockService) -> Value {
    json_of(&service.run(&["payloads", "list", "--json"]).await)[0]["hits"].clone()
}

#[tokio::test]
async fn captures_older_than_keep_days_are_deleted_and_hits_remain() {
    let (service, token) = service_with_hits().await;
    let ids = async || {
        let list = json_of(&service.run(&["captures", "list", "--json"]).await);
        list.as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_i64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids().await, [1, 2, 3, 4]);
    assert_eq!(hits(&service).await, 2);
    let config = service.home.path().join(".config/scandeck");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[captures]\nkeep_days = 30\n").unwrap();
    let list = service.run(&["captures", "list"]).await;
    assert!(
        list.err
            .contains("2 captures deleted: older than keep_days"),
        "{list:?}"
    );
    assert_eq!(
        ids().await,
        [3, 4],
        "not archived again while the service has them"
    );
    assert_eq!(hits(&service).await, 2);
    let one = &json_of(
        &service
            .run(&["payloads", "list", "--json", "--query", "is:hit"])
            .await,
    )[0];
    assert_eq!(
        (&one["token"], &one["first_hit"]),
        (&json!(token), &json!("2020-02-02 12:00:00"))
    );
    assert_eq!(
        service
            .run(&["payloads", "list", "--query", "is:waiting"])
            .await
            .out,
        ""
    );
}

/// The manifest of a bundle for another number of lines, and without their digest.
fn edited(manifest: &str, lines: usize) -> String {
    let mut json: Value = serde_json::from_str(manifest).unwrap();
    json["manifest"]["lines"] = json!(lines);
    json["manifest"].as_object_mut().unwrap().remove("digest");
    json.to_string()
}

#[tokio::test]
async fn hits_are_bundled_and_purged() {
    let (service, token) = service_with_hits().await;
    assert_eq!(hits(&service).await, 2);
    let made = service
        .run(&["bundle", "--workspace", "Acme", "-o", "w.bundle"])
        .await;
    assert!(
        made.code == 0 && made.err.contains("1 payload, 2 hits, 4 captures"),
        "{made:?}"
    );
    // A bundle without the old capture still has its hit.
    let bundle = std::fs::read_to_string(service.home.path().join("w.bundle")).unwrap();
    let without: Vec<&str> = bundle
        .lines()
        .filter(|line| !line.contains("\"id\":1,\"ip"))
        .collect();
    assert_eq!(without.len() + 1, bundle.lines().count());
    let manifest = edited(without[0], 6);
    let lines = [&[manifest.as_str()][..], &without[1..]]
        .concat()
        .join("\n");
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("w.bundle"), lines).unwrap();
    let alone = async |args: &[&str]| run(&mut command(elsewhere.path(), args)).await;
    for _ in 0..2 {
        let imported = alone(&["unbundle", "w.bundle"]).await;
        assert_eq!(imported.code, 0, "{imported:?}");
        let listed = alone(&["payloads", "list", "--json"]).await;
        assert!(
            listed
                .err
                .contains("showing the payload book on this machine"),
            "{}",
            listed.err
        );
        let list = json_of(&listed);
        assert_eq!(
            (&list[0]["token"], &list[0]["hits"]),
            (&json!(token), &json!(2))
        );
    }
    let state = |home: &Path| home.join(".local/state");
    assert!(holds(&state(elsewhere.path()), &token));
    alone(&["purge", "--workspace", "Acme"])
        .await
        .refused(2, "3 captures, 1 payload, 2 hits");
    let purged = alone(&["purge", "--workspace", "Acme", "--yes-delete", "Acme"]).await;
    assert_eq!(purged.code, 0, "{purged:?}");
    assert!(!holds(&state(elsewhere.path()), &token));
}

#[tokio::test]
async fn imported_payload_is_recognized_in_an_earlier_capture() {
    let (service, token) = service_with_hits().await;
    assert_eq!(hits(&service).await, 2);
    service
        .run(&["bundle", "--workspace", "Acme", "-o", "w.bundle"])
        .await;
    let bundle = std::fs::read_to_string(service.home.path().join("w.bundle")).unwrap();
    // A bundle with the payload alone, of a colleague without the captures.
    let payload: Vec<&str> = bundle
        .lines()
        .filter(|line| line.starts_with("{\"payload\""))
        .collect();
    let manifest = edited(bundle.lines().next().unwrap(), 1);
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(
        elsewhere.path().join("p.bundle"),
        format!("{manifest}\n{}\n", payload[0]),
    )
    .unwrap();
    let there = async |args: &[&str]| {
        let mut command = command(elsewhere.path(), args);
        run(command
            .env("SCANDECK_BASE_URL", service.server.uri())
            .env("SCANDECK_API_KEY", "k"))
        .await
    };
    let known = ["captures", "list", "--known"];
    assert_eq!(there(&["captures", "list", "--json"]).await.code, 0);
    assert_eq!(there(&known).await.out, "");
    assert_eq!(there(&["unbundle", "p.bundle"]).await.code, 0);
    let list = json_of(&there(&["payloads", "list", "--json"]).await);
    assert_eq!(
        (&list[0]["token"], &list[0]["hits"]),
        (&json!(token), &json!(2))
    );
    assert_eq!(there(&known).await.out.lines().count(), 3);
}

/// An archive with a payload and captures with its token that were not searched yet.
async fn unsearched_archive(directory: &Path, captures: i64) -> Store {
    let mut store = Store::open(directory).await.unwrap().store;
    let payload = Payload {
        token: Token::of(7),
        workspace: "Acme".into(),
        ..Payload::default()
    };
    store.plant(&[Arc::new(payload)]).await.unwrap();
    let one = |id| {
        let url_params = format!("t={}", Token::of(7)).into();
        let capture = Arc::new(Capture {
            id: CaptureId(id),
            url_params,
            ..Capture::default()
        });
        ArchivedCapture {
            workspace: "Acme".into(),
            logger: LoggerId(1),
            capture,
            ..ArchivedCapture::default()
        }
    };
    store
        .archive((1..=captures).map(one).collect())
        .await
        .unwrap();
    store
}

#[tokio::test]
async fn archive_search_delays_only_payload_lists() {
    let service = MockService::new(json!([])).await;
    assert_eq!(service.run(&["captures", "list"]).await.code, 0);
    let of = service.home.path().join(".local/state/scandeck/of");
    let directory = std::fs::read_dir(of)
        .unwrap()
        .flatten()
        .next()
        .unwrap()
        .path();
    let mut store = unsearched_archive(&directory, 3_500).await;
    let list = service.run(&["captures", "list", "--json"]).await;
    assert_eq!(json_of(&list).as_array().unwrap().len(), 3_500);
    assert!(store.is_behind().await.unwrap());
    let payloads = service.run(&["payloads", "list", "--json"]).await;
    assert_eq!(json_of(&payloads)[0]["hits"], 3_500);
    assert!(
        payloads
            .err
            .contains("searching the whole archive for payloads, this time only")
            && !store.is_behind().await.unwrap()
    );
    assert_eq!(service.run(&["payloads", "list"]).await.err, "");
}

#[tokio::test]
async fn read_only_archive_counts_hits_from_its_captures() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join(".local/state/scandeck/of/local");
    unsearched_archive(&directory, 3).await.close().await;
    std::fs::remove_file(directory.join("captures-opening.lock")).unwrap();
    // Like a read-only file system, which a test cannot create.
    std::fs::create_dir(directory.join("captures-opening.lock")).unwrap();
    let list = run(&mut command(home.path(), &["payloads", "list", "--json"])).await;
    assert!(list.err.contains("is read-only"), "{list:?}");
    assert_eq!(json_of(&list)[0]["hits"], 3);
}

#[tokio::test]
async fn bundle_with_hits_alone_is_imported() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join(".local/state/scandeck/of/local");
    let mut store = Store::open(&directory).await.unwrap().store;
    let hit = Hit {
        token: Token::of(7),
        workspace: "Acme".into(),
        logger: LoggerId(1),
        id: CaptureId(1),
        digest: -1,
        at: None,
    };
    store
        .insert_hits(std::slice::from_ref(&hit), RowRange::default())
        .await
        .unwrap();
    store.close().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let file = home.path().join("w.bundle");
    let made = run(&mut command(
        home.path(),
        &["bundle", "--workspace", "acme", "-o", "w.bundle"],
    ))
    .await;
    assert!(made.code == 0 && made.err.contains(": 1 hit, "), "{made:?}");
    assert_eq!(
        run(&mut command(
            elsewhere.path(),
            &["unbundle", file.to_str().unwrap()]
        ))
        .await
        .code,
        0
    );
    let directory = elsewhere.path().join(".local/state/scandeck/of/local");
    assert_eq!(
        Store::open(&directory)
            .await
            .unwrap()
            .store
            .hits_of("Acme")
            .await
            .unwrap(),
        [hit]
    );
}
