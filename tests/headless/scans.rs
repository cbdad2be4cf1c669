//! Scans: start, watch, fail a build, compare.

use serde_json::json;

use scandeck::contract::Risk;
use scandeck::service::engine::{ScanEvent, ScanOutcome};

use super::{CliFixture, run};
use crate::faulty::FaultyService;
use crate::service::runner::{finding, tested, typical_events};

const START: [&str; 5] = ["scans", "start", "--tool", "70", "--target"];

#[tokio::test]
async fn scan_is_started_shown_stopped_and_deleted() {
    let cli = CliFixture::new().await;
    cli.service.runner.set_events(typical_events());
    let id = cli
        .does(&[&START[..], &["127.0.0.1", "--max-scan-time", "5"]].concat())
        .await;
    let id = id.trim();
    cli.service
        .until_status(id.parse().unwrap(), "running")
        .await;
    let shown = cli.json(&["scans", "show", id]).await;
    assert_eq!(
        (&shown["tool_name"], &shown["target_name"]),
        (&json!("Port Scanner"), &json!("127.0.0.1"))
    );
    assert!(
        shown
            .as_object()
            .unwrap()
            .keys()
            .position(|key| key == "tool_name")
            > Some(10),
        "added fields come last: {shown}"
    );
    let words = cli.does(&["scans", "show", id]).await;
    let has = |label: &str, value: &str| {
        words
            .lines()
            .any(|line| line.starts_with(label) && line.ends_with(value))
    };
    assert!(
        has("Status", "running")
            && has("Findings", "1 critical, 1 info")
            && has("Tool", "Port Scanner"),
        "{words}"
    );
    assert!(has("Duration", "s") && has("VPN ", "false"), "{words}");
    let raw = cli.does(&["scans", "raw", id]).await;
    assert!(raw.contains("GET http://127.0.0.1/ 200\n"), "{raw}");
    cli.does(&["scans", "stop", id]).await;
    cli.service
        .until_status(id.parse().unwrap(), "stopped")
        .await;
    assert_eq!(
        cli.json(&["scans", "output", id]).await["output_type"],
        "finding_list"
    );
    let tests = cli
        .json(&["scans", "tests", id, "--resource-type", "finding"])
        .await;
    assert_eq!(tests.as_array().unwrap().len(), 2, "{tests}");
    let stopped = cli
        .json(&[
            "scans",
            "list",
            "--status",
            "stopped",
            "--target",
            "127.0.0.1",
        ])
        .await;
    assert_eq!(stopped[0]["id"].to_string(), id);
    assert_eq!(
        cli.json(&["scans", "list", "--from", "2999-01-01"]).await,
        json!([])
    );
    assert!(cli.does(&["scans", "list"]).await.contains("Port scan"));
    cli.does(&["scans", "output", id, "--pdf", "-o", "x.pdf"])
        .await;
    assert!(
        std::fs::read(cli.home.path().join("x.pdf"))
            .unwrap()
            .starts_with(b"%PDF-")
    );
    cli.run(&["scans", "delete", id]).await.refused(2, "--yes");
    cli.does(&["scans", "delete", id, "--yes"]).await;
    cli.run(&["scans", "show", id]).await.refused(1, "404");
    cli.service.stop().await;
}

#[tokio::test]
async fn mistyped_parameter_is_named() {
    let cli = CliFixture::new().await;
    let with = |params| [&START[..], &["127.0.0.1", "--params", params]].concat();
    let params = r#"{"scan_typ": "deep", "port_list": null}"#;
    let mistyped = cli.run(&with(params)).await;
    assert_eq!(mistyped.code, 0, "{mistyped:?}");
    let notes: Vec<&str> = mistyped.err.lines().collect();
    let note = "scandeck: the service ignored the parameter `scan_typ`; ";
    assert!(notes.len() == 1 && notes[0].starts_with(note), "{notes:?}");
    let shown = cli.json(&["scans", "show", mistyped.out.trim()]).await;
    assert!(shown["tool_params"].is_object(), "{shown}");
    let known = cli.run(&with(r#"{"scan_type": "light"}"#)).await;
    assert_eq!((known.code, known.err.as_str()), (0, ""));
    cli.service.stop().await;
}

#[tokio::test]
async fn wait_exits_with_4_unless_the_scan_finishes() {
    let cli = CliFixture::new().await;
    cli.service.runner.set_events(typical_events());
    let wait = [&START[..], &["127.0.0.1", "--wait"]].concat();
    cli.service.runner.finish_scans(1);
    let finished = cli.run(&wait).await;
    assert_eq!(finished.code, 0, "{finished:?}");
    assert!(
        finished
            .err
            .contains("incomplete · all tests ended (1 critical, 1 info)"),
        "{finished:?}"
    );
    cli.service
        .runner
        .set_outcome(ScanOutcome::ConnectionError("no answer".into()));
    cli.service.runner.finish_scans(1);
    let late = cli.run(&wait).await;
    assert_eq!(late.code, 4, "{late:?}");
    let watched = cli
        .run(&[
            "scans",
            "watch",
            finished.out.trim(),
            late.out.trim(),
            "--json",
        ])
        .await;
    assert_eq!(watched.code, 4, "{watched:?}");
    cli.run(&["scans", "watch"])
        .await
        .refused(1, "no active scans");
    cli.service.stop().await;
}

#[tokio::test]
async fn fail_on_exits_with_3_for_matching_findings() {
    let cli = CliFixture::new().await;
    cli.service.runner.set_events(typical_events());
    let fail_on = async |query: &str| {
        cli.service.runner.finish_scans(1);
        cli.run(&[&START[..], &["127.0.0.1", "--json", "--fail-on", query]].concat())
            .await
    };
    let failed = fail_on("risk>=high is:undecided").await;
    assert_eq!(failed.code, 3, "{failed:?}");
    let scan: serde_json::Value = serde_json::from_str(&failed.out).unwrap();
    assert_eq!(
        (&scan["status_name"], &scan["matched"][0]["vuln_id"]),
        (&json!("finished"), &json!("web.key"))
    );
    assert_eq!(scan["matched"].as_array().unwrap().len(), 1);
    let passed = fail_on("risk>=high verdict:confirmed").await;
    assert_eq!(passed.code, 0, "{passed:?}");
    cli.run(&[&START[..], &["127.0.0.1", "--fail-on", "risk>>high"]].concat())
        .await
        .refused(2, "risk>>high");
    cli.run(&[&START[..], &["127.0.0.1", "--fail-on", "high"]].concat())
        .await
        .refused(2, "write `risk>=high`");
    cli.service.stop().await;
}

#[tokio::test]
async fn fail_on_judges_new_scan_that_appears_after_lost_response() {
    let cli = CliFixture::new().await;
    let proxy = FaultyService::start(&cli.service.base).await;
    let start = async |query: &str| {
        let args = [&START[..], &["127.0.0.1", "--fail-on", query]].concat();
        run(cli.command(&args).env("SCANDECK_BASE_URL", &proxy.base)).await
    };
    // A clean scan before each scan with findings, and the reverse.
    cli.service.runner.set_events(vec![]);
    cli.service.runner.finish_scans(1);
    let old = start("risk>=high").await;
    assert_eq!(old.code, 0, "{old:?}");
    let mut last: i64 = old.out.trim().parse().unwrap();
    for (fault, events, code) in [
        ("empty-late", typical_events(), 3),
        ("cut-late", vec![], 0),
        ("empty", typical_events(), 3),
    ] {
        proxy.faults.set(&format!("POST /scans {fault}")).unwrap();
        cli.service.runner.set_events(events);
        cli.service.runner.finish_scans(1);
        let ended = start("risk>=high").await;
        assert_eq!(ended.code, code, "{fault}: {ended:?}");
        let id: i64 = ended.out.lines().next().unwrap().parse().unwrap();
        assert!(id > last, "{fault}: {ended:?}");
        last = id;
    }
    proxy.faults.set("POST /scans empty-only").unwrap();
    let unknown = start("risk>=high").await;
    unknown.refused(1, "outcome unknown: the service may have started the scan");
    assert!(unknown.err.contains("scandeck scans list"), "{unknown:?}");
    cli.service.stop().await;
}

#[tokio::test]
async fn diff_compares_the_findings_of_two_scans() {
    let cli = CliFixture::new().await;
    let target = cli.service.target("127.0.0.1").await;
    let scan = async |events| {
        cli.service.runner.set_events(events);
        let id = cli.service.scan(target).await;
        cli.service.runner.finish_scans(1);
        cli.service.until_status(id, "finished").await;
        id.to_string()
    };
    let first = scan(typical_events()).await;
    let header = vec![
        finding("web.csp", Risk::Info, ""),
        finding("web.hsts", Risk::Low, ""),
    ];
    let as_much = |headers| {
        vec![
            ScanEvent::Planned(10),
            tested("web.headers", 1, headers),
            tested("rest", 6, vec![]),
        ]
    };
    let second = scan(as_much(header)).await;
    let diff = cli.json(&["scans", "diff", &first, &second]).await;
    let mut outcomes: Vec<(&str, &str)> = diff
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["vuln_id"].as_str().unwrap(),
                one["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    outcomes.sort_unstable();
    assert_eq!(outcomes, [("web.hsts", "new"), ("web.key", "gone")]);
    let all = cli.run(&["scans", "diff", &second, "--all"]).await;
    assert!(
        all.out.contains("unchanged")
            && all.err.contains("1 new")
            && all.err.contains(" unchanged"),
        "{all:?}"
    );
    cli.run(&["scans", "diff", &first])
        .await
        .refused(1, "add the id of the other scan");
    let elsewhere = cli
        .service
        .scan(cli.service.target("127.0.0.2").await)
        .await
        .to_string();
    cli.run(&["scans", "diff", &first, &elsewhere])
        .await
        .refused(1, "have different targets");
    cli.service.stop().await;
}
