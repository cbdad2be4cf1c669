//! Schedules: scans that the service starts again and again.

use serde_json::json;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::scan_profiles::with_profiles;
use super::{command, run};

#[tokio::test]
async fn schedule_is_added_listed_paused_resumed_and_deleted() {
    let cli = with_profiles().await;
    let add = [
        "schedules",
        "add",
        "--scan-profile",
        "host",
        "--every",
        "1w",
    ];
    let targets = [
        "--target",
        "127.0.0.1",
        "--at",
        "02:00",
        "--first",
        "2099-01-05",
    ];
    let added = cli.run(&[&add[..], &targets].concat()).await;
    assert_eq!((added.code, added.out.as_str()), (0, "1\n"), "{added:?}");
    assert!(
        added.err.contains("next start at 2099-01-0")
            && added.err.contains("every 1w from 2099-01-05 02:00"),
        "{added:?}"
    );
    let all = [
        "--all-targets",
        "--workspace",
        "Default",
        "--name",
        "Nightly",
    ];
    let nightly = cli.json(&[&add[..], &all].concat()).await;
    assert_eq!(
        (&nightly["name"], &nightly["window"], &nightly["starts"]),
        (&json!("Nightly"), &json!("6h"), &json!(0))
    );
    assert_eq!(nightly["scans"][0]["tool_params"]["scan_type"], "deep");
    cli.does(&["schedules", "pause", "1"]).await;
    let table = cli.does(&["schedules", "list"]).await;
    let row = |name: &str| {
        let found = table.lines().find(|line| line.contains(name));
        found.unwrap().to_owned()
    };
    assert!(
        row("host").contains("paused") && row("host").contains("1 target"),
        "{table}"
    );
    assert!(row("Nightly").contains("Port scan, Ping"), "{table}");
    cli.does(&["schedules", "resume", "1"]).await;
    let shown = cli.json(&["schedules", "show", "1"]).await;
    assert_eq!(shown["is_paused"], false);
    let unconfirmed = cli.run(&["schedules", "delete", "1"]).await;
    unconfirmed.refused(2, "--yes");
    cli.does(&["schedules", "delete", "1", "--yes"]).await;
    let gone = cli.run(&["schedules", "show", "1"]).await;
    gone.refused(1, "`scandeck schedules list` lists schedules");
    cli.does(&["targets", "tag", "127.0.0.1", "+prod"]).await;
    let tagged = cli.json(&[&add[..], &["--tag", "#Prod"]].concat()).await;
    assert_eq!(
        (&tagged["tag"], tagged.get("target_ids")),
        (&json!("prod"), None)
    );
    let table = cli.does(&["schedules", "list"]).await;
    assert!(table.contains("#prod"), "{table}");
    let invalid = cli.run(&[&add[..5], &["1y"], &all].concat()).await;
    invalid.refused(1, "every: `1y` is not valid");
    cli.service.stop().await;
}

#[tokio::test]
async fn foreign_service_is_named_and_receives_no_further_request() {
    for args in [
        &["schedules", "list"][..],
        &["targets", "tag", "shop.test", "+prod"],
    ] {
        let server = MockServer::start().await;
        let workspaces = ResponseTemplate::new(200).set_body_json(json!({"data": []}));
        Mock::given(method("GET"))
            .and(path("/api/v2/workspaces"))
            .respond_with(workspaces)
            .mount(&server)
            .await;
        let home = tempfile::tempdir().unwrap();
        let mut list = command(home.path(), args);
        list.env("SCANDECK_BASE_URL", server.uri())
            .env("SCANDECK_API_KEY", "key");
        let words = match args[0] {
            "targets" => "has no tags",
            _ => "has no schedules",
        };
        run(&mut list).await.refused(1, words);
        let requests = server.received_requests().await.unwrap();
        assert_eq!(requests.len(), 1, "{requests:?}");
    }
}
