//! The bundle of an earlier version.

use super::{Home, bundle_lines, differences, expected, fixture, text};

#[tokio::test(flavor = "multi_thread")]
async fn bundle_imported_twice_gives_same_decisions_once() {
    let home = Home::empty();
    let file = fixture("practice.bundle");
    let import = ["unbundle", file.to_str().unwrap(), "--json"];
    home.output(&import).await;
    let first = (
        home.output(&["triage", "export"]).await,
        home.run(&["payloads", "list", "--json"]).await.out,
    );
    assert_eq!(first.0, text("expected/events.jsonl"));
    let payloads = serde_json::from_str(&first.1).unwrap();
    assert_eq!(
        differences(&expected("payloads"), &payloads, &["version"]),
        [""; 0]
    );
    let captures =
        serde_json::from_str(&home.run(&["captures", "list", "--json"]).await.out).unwrap();
    assert_eq!(differences(&expected("captures"), &captures, &[]), [""; 0]);

    home.output(&import).await;
    let second = (
        home.output(&["triage", "export"]).await,
        home.run(&["payloads", "list", "--json"]).await.out,
    );
    assert_eq!(second, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn bundle_imported_is_written_again_without_loss() {
    let home = Home::empty();
    home.output(&["unbundle", fixture("practice.bundle").to_str().unwrap()])
        .await;
    // The service is not reachable, so its resources are in the imported bundle only.
    let is_from_service = |line: &String| {
        ["{\"target\"", "{\"scan\"", "{\"finding\""]
            .iter()
            .any(|n| line.starts_with(n))
    };
    let before: Vec<String> = bundle_lines(&text("practice.bundle"))
        .into_iter()
        .filter(|line| !is_from_service(line))
        .collect();
    let now = home.bundle_lines().await;
    let lost: Vec<&String> = before.iter().filter(|line| !now.contains(*line)).collect();
    assert!(
        before.len() > 140 && lost.is_empty(),
        "{} of {} lines are lost: {lost:#?}",
        lost.len(),
        before.len()
    );
}
