//! Scan profiles: one command for several tools and targets.

use serde_json::json;

use super::CliFixture;

const PROFILES: &str = r#"
[[scan_profiles.host]]
tool = 70
params = { scan_type = "deep" }
max_scan_time = 30

[[scan_profiles.host]]
tool = 240
"#;

pub async fn with_profiles() -> CliFixture {
    let cli = CliFixture::new().await;
    let directory = cli.home.path().join(".config/scandeck");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("config.toml"), PROFILES).unwrap();
    cli
}

const START: [&str; 4] = ["scans", "start", "--scan-profile", "host"];

#[tokio::test]
async fn profile_starts_its_scans_of_each_target() {
    let cli = with_profiles().await;
    let two = ["--target", "127.0.0.1", "--target", "localhost"];
    let ids = cli.does(&[&START[..], &two].concat()).await;
    assert_eq!(ids, "1\n2\n3\n4\n");
    let scan = cli.json(&["scans", "show", "3"]).await;
    assert_eq!(
        (
            &scan["target_name"],
            &scan["tool_id"],
            &scan["max_scan_time"]
        ),
        (&json!("localhost"), &json!(70), &json!(30))
    );
    assert_eq!(scan["tool_params"]["scan_type"], "deep");
    let all = [
        "--all-targets",
        "--workspace",
        "Default",
        "--max-scan-time",
        "9",
    ];
    let started = cli.json(&[&START[..], &all].concat()).await;
    assert_eq!(
        started[3],
        json!({"created_id": 8, "tool_id": 240, "target_id": 2, "target_name": "localhost"})
    );
    let last = cli.json(&["scans", "show", "8"]).await;
    assert_eq!(last["max_scan_time"], 9, "the flag replaces the profile");
    cli.service.stop().await;
}

#[tokio::test]
async fn profile_starts_its_scans_of_the_targets_with_a_tag() {
    let cli = with_profiles().await;
    cli.does(&["targets", "add", "127.0.0.1", "localhost"])
        .await;
    let tag = ["targets", "tag", "localhost"];
    let tags = cli.does(&[&tag[..], &["+prod", "web"]].concat()).await;
    assert_eq!(tags, "#prod #web\n");
    assert_eq!(cli.does(&["targets", "tag", "2", "-web"]).await, "#prod\n");
    let table = cli.does(&["targets", "list"]).await;
    assert!(table.contains("TAGS") && table.contains("#prod"), "{table}");
    let started = cli.json(&[&START[..], &["--tag", "prod"]].concat()).await;
    let scans = started.as_array().unwrap();
    assert!(
        scans.len() == 2 && scans.iter().all(|scan| scan["target_id"] == 2),
        "{started}"
    );
    let none = cli.run(&[&START[..], &["--tag", "old"]].concat()).await;
    none.refused(1, "no target has the tag #old");
    let flag = cli.run(&[&tag[..], &["+prod", "--json"]].concat()).await;
    flag.refused(2, "flags go before the target");
    cli.service.stop().await;
}

#[tokio::test]
async fn refused_scan_of_a_profile_leaves_the_others() {
    let cli = with_profiles().await;
    let targets = ["--target", "127.0.0.1", "--target", "192.0.2.1"];
    let ended = cli.run(&[&START[..], &targets].concat()).await;
    assert_eq!((ended.code, ended.out.as_str()), (1, "1\n2\n"), "{ended:?}");
    assert!(
        ended.err.contains("Port scan of 192.0.2.1 not started: ")
            && ended.err.contains("2 of 4 scans not started"),
        "{ended:?}"
    );
    cli.service.stop().await;
}

#[tokio::test]
async fn waiting_for_a_profile_reports_every_scan() {
    let cli = with_profiles().await;
    cli.service.runner.finish_scans(2);
    let wait = ["--target", "127.0.0.1", "--fail-on", "risk>=high"];
    let scans = cli.json(&[&START[..], &wait].concat()).await;
    let statuses = scans.as_array().unwrap().iter().map(|scan| {
        let status = scan["status_name"].as_str().unwrap();
        (status, scan["matched"].as_array().unwrap().len())
    });
    assert_eq!(
        statuses.collect::<Vec<_>>(),
        [("finished", 0), ("finished", 0)]
    );
    cli.service.stop().await;
}

#[tokio::test]
async fn choice_of_scans_and_targets_is_checked() {
    let cli = with_profiles().await;
    for (args, code, words) in [
        (
            &["--scan-profile", "web", "--target", "a"][..],
            1,
            "scan profiles: host",
        ),
        (&["--scan-profile", "host"], 2, "--target"),
        (&["--target", "a"], 2, "--tool"),
        (
            &["--scan-profile", "host", "--all-targets"],
            2,
            "--all-targets needs a workspace",
        ),
        (
            &["--scan-profile", "host", "--tool", "70", "--target", "a"],
            2,
            "cannot be used with",
        ),
        (
            &["--scan-profile", "host", "--all-targets", "--target", "a"],
            2,
            "cannot be used with",
        ),
    ] {
        let args = [&["scans", "start"], args].concat();
        cli.run(&args).await.refused(code, words);
    }
    cli.service.stop().await;
}
