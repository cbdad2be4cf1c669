//! `scandeck doctor`: every area is checked, a problem has a remedy, and nothing is created.

use serde_json::Value;

use super::{CliFixture, command, run};

fn check<'a>(all: &'a [Value], area: &str, check: &str) -> &'a Value {
    let found = all
        .iter()
        .find(|one| one["area"] == area && one["check"] == check);
    found.unwrap_or_else(|| panic!("no check {area}: {check}: {all:?}"))
}

#[tokio::test]
async fn doctor_reports_service_version_limit_and_workspace() {
    let fixture = CliFixture::new().await;
    let all = fixture.json(&["doctor"]).await;
    let all = all.as_array().unwrap();
    assert!(
        check(all, "connection", "service")["value"]
            .as_str()
            .unwrap()
            .contains(" responds in ")
    );
    assert_eq!(
        check(all, "connection", "service version")["value"],
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(
        check(all, "connection", "key")["value"],
        "from SCANDECK_API_KEY"
    );
    for area in [
        "versions",
        "terminal",
        "configuration",
        "connection",
        "local service",
        "stored data",
    ] {
        assert!(all.iter().any(|one| one["area"] == area), "{area}");
    }
    for one in all {
        assert_eq!(one["remedy"].is_null(), one["state"] == "ok", "{one}");
    }
    assert!(
        !format!("{all:?}").contains(&*fixture.service.key),
        "the key is not printed"
    );
    let missing = fixture.run(&["doctor", "--workspace", "No such"]).await;
    assert!(
        missing.code == 1 && missing.out.contains("remedy: `scandeck workspaces list`"),
        "{missing:?}"
    );
}

#[tokio::test]
async fn doctor_without_service_names_the_next_step_and_creates_nothing() {
    let home = tempfile::tempdir().unwrap();
    let ended = run(&mut command(home.path(), &["doctor"])).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended
            .out
            .contains("none configured, and no local service is running"),
        "{}",
        ended.out
    );
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn doctor_fails_with_the_remedy_of_the_problem() {
    let fixture = CliFixture::new().await;
    let wrong = run(fixture
        .command(&["doctor"])
        .env("SCANDECK_API_KEY", "wrong-key"))
    .await;
    assert!(
        wrong.code == 1 && wrong.out.contains("SCANDECK_API_KEY"),
        "{wrong:?}"
    );
    let closed = run(fixture
        .command(&["doctor"])
        .env("SCANDECK_BASE_URL", "http://127.0.0.1:1"))
    .await;
    assert!(
        closed.code == 1 && closed.out.contains("  failed   service"),
        "{closed:?}"
    );
    let config = fixture.home.path().join("bad.toml");
    std::fs::write(&config, "user = \"ann\"\nno_such_setting = 1\n").unwrap();
    let invalid = fixture
        .run(&["doctor", "--config", config.to_str().unwrap()])
        .await;
    assert!(
        invalid.code == 1 && invalid.out.contains("bad.toml:2"),
        "{invalid:?}"
    );
    assert!(
        invalid.out.contains("remedy: correct or remove this line"),
        "{invalid:?}"
    );
}
