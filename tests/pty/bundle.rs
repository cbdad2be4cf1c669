//! The dashboard on a bundle, without a service.

use super::Session;
use crate::headless::findings::scanned;

#[tokio::test(flavor = "multi_thread")]
async fn bundle_without_service_stores_decisions() {
    let app = scanned(1).await;
    let name = app.json(&["workspaces", "list"]).await[0]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    app.does(&["bundle", "--workspace", &name, "-o", "w.bundle"])
        .await;
    app.service.stop().await;

    let home = tempfile::tempdir().unwrap();
    let bundle = app.home.path().join("w.bundle");
    let alone = async |args: &[&str]| {
        let mut command = crate::headless::command(home.path(), args);
        crate::headless::run(command.env("XDG_STATE_HOME", home.path().join("state"))).await
    };
    let mut refused = Session::start(home.path(), &["--from-bundle", &name], &[]);
    refused.until("scandeck unbundle FILE").await;
    assert_eq!(refused.ended().await, 1);
    assert_eq!(alone(&["unbundle", bundle.to_str().unwrap()]).await.code, 0);

    let mut session = Session::start(home.path(), &["--from-bundle", &name.to_uppercase()], &[]);
    session.until("no service").await;
    session.until("READ ONLY").await;
    session.keys("3");
    session.until("Finding web.key").await;
    session.until("stale").await;
    session.keys("*f");
    session.until("Undecided 0").await;
    session.keys("q");
    assert_eq!(session.ended().await, 0);
    session.until("nothing was sent").await;
    let stored = alone(&["triage", "export"]).await.out;
    assert_eq!(stored.matches("false_positive").count(), 2, "{stored}");
}
