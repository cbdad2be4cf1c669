//! Findings: one row per identity, with decisions.

use std::path::{Path, PathBuf};

use scandeck::contract::{Risk, ScanId, TargetId};
use scandeck::triage::{RETEST_SETTING, Retest, RetestFinding, RetestScan, Store};
use serde_json::{Value, json};

use super::CliFixture;
use crate::service::runner::{finding, tested, typical_events};

/// A service with a target that was scanned `times` times, with two findings each.
pub async fn scanned(times: usize) -> CliFixture {
    let cli = CliFixture::new().await;
    cli.service.runner.set_events(typical_events());
    let target = cli.service.target("127.0.0.1").await;
    for _ in 0..times {
        let scan = cli.service.scan(target).await;
        cli.service.runner.finish_scans(1);
        cli.service.until_status(scan, "finished").await;
    }
    cli
}

#[tokio::test]
async fn finding_of_two_scans_is_listed_once() {
    let cli = scanned(2).await;
    let once = cli.json(&["findings", "list"]).await;
    assert_eq!(once.as_array().unwrap().len(), 2, "{once}");
    let every = cli.json(&["findings", "list", "--all-scans"]).await;
    assert_eq!(every.as_array().unwrap().len(), 4);
    let worst = once[0].as_object().unwrap();
    assert_eq!(
        (
            &worst["risk_level"],
            &worst["target_name"],
            &worst["verdict"]
        ),
        (&4.into(), &"127.0.0.1".into(), &"open".into())
    );
    let names: Vec<&str> = worst.keys().map(String::as_str).collect();
    let place = |name: &str| names.iter().position(|one| *one == name).unwrap();
    assert_eq!(place("id"), 0);
    assert!(
        place("service") < place("target_name") && place("target_name") < place("verdict"),
        "{names:?}"
    );
    let high = cli
        .does(&["findings", "list", "--query", "risk>=high target:127.*"])
        .await;
    assert_eq!(high.lines().count(), 2, "{high}");
    cli.run(&["findings", "list", "--query", "rsk:high"])
        .await
        .refused(2, "rsk");
    cli.service.stop().await;
}

#[tokio::test]
async fn finding_is_shown_by_id_of_any_occurrence_or_fingerprint() {
    let cli = scanned(2).await;
    let once = cli.json(&["findings", "list"]).await;
    let fingerprint = once[0]["fingerprint"].as_str().unwrap();
    let every = cli.json(&["findings", "list", "--all-scans"]).await;
    let ids = every
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["fingerprint"] == fingerprint);
    for id in ids
        .map(|one| one["id"].to_string())
        .chain([fingerprint.to_owned()])
    {
        let shown: Value = cli.json(&["findings", "show", &id]).await;
        assert_eq!(shown["fingerprint"], fingerprint, "{id}");
    }
    let shown = cli.does(&["findings", "show", fingerprint]).await;
    for label in ["OWASP", "Evidence"] {
        let line = shown.lines().find(|line| line.starts_with(label)).unwrap();
        assert!(!line.contains('{'), "{line}");
    }
    cli.run(&["findings", "show", "99999"])
        .await
        .refused(1, "404");
    cli.run(&["findings", "show", "x"])
        .await
        .refused(1, "not found");
    // Ids of manual findings are negative.
    cli.run(&["findings", "show", "-679"])
        .await
        .refused(1, "404");
    cli.run(&["findings", "decide", "-679", "--verdict", "fixed"])
        .await
        .refused(1, "finding -679 not found");
    cli.service.stop().await;
}

#[tokio::test]
async fn chain_of_a_finding_has_its_service_and_target_with_facts() {
    let cli = scanned(1).await;
    let worst = cli.json(&["findings", "list"]).await[0].clone();
    let id = worst["id"].to_string();
    let tree = cli.json(&["findings", "chain", &id]).await;
    assert_eq!(
        (&tree["kind"], &tree["link"]),
        (&"finding".into(), &Value::Null),
        "{tree}"
    );
    let link = &tree["links"][0]["link"];
    assert_eq!(link["certainty"], "seen", "{tree}");
    assert_eq!(link["facts"].as_array().unwrap().len(), 2, "{tree}");
    let words = cli.does(&["findings", "chain", &id]).await;
    assert!(words.starts_with(&format!("finding #{id} ")), "{words}");
    assert!(words.contains("target 127.0.0.1"), "{words}");
    let target = cli.does(&["findings", "chain", "target:127.0.0.1"]).await;
    assert!(target.starts_with("target 127.0.0.1\n"), "{target}");
    let linked = [
        "findings",
        "link",
        &id,
        "target:db.test",
        "--reason",
        "same password",
    ];
    let said = cli.does(&linked).await;
    assert!(said.ends_with(" linked to target:db.test\n"), "{said}");
    let words = cli.does(&["findings", "chain", &id]).await;
    for part in ["said: db.test, which is no target", "because same password"] {
        assert!(words.contains(part), "{part} {words}");
    }
    cli.run(&["findings", "link", "target:a", "target:b", "--reason", "r"])
        .await
        .refused(2, "must be a finding");
    cli.run(&["findings", "chain", "99999"])
        .await
        .refused(1, "finding 99999 not found");
    cli.run(&["findings", "chain", "shop:1"])
        .await
        .refused(1, "is no object of a chain");
    cli.service.stop().await;
}

#[tokio::test]
async fn presence_of_a_finding_is_explained_with_scans_and_commands() {
    let cli = scanned(2).await;
    let worst = cli.json(&["findings", "list"]).await[0].clone();
    let (id, before) = (worst["id"].to_string(), worst["task_id"].clone());
    let same = cli.json(&["findings", "explain", &id]).await;
    assert_eq!(
        (&same["presence"], &same["reason"], &same["fingerprint"]),
        (
            &"unchanged".into(),
            &"same_evidence".into(),
            &worst["fingerprint"]
        )
    );
    assert_eq!(same["scans"].as_array().unwrap().len(), 2, "{same}");
    cli.service.runner.set_events(vec![
        scandeck::service::engine::ScanEvent::Planned(10),
        tested("web.headers", 1, vec![finding("web.csp", Risk::Info, "")]),
        tested("rest", 6, vec![]),
    ]);
    let after = cli.service.scan(1).await;
    cli.service.runner.finish_scans(1);
    cli.service.until_status(after, "finished").await;
    let absent = cli.json(&["findings", "explain", &id]).await;
    assert_eq!(
        (&absent["presence"], &absent["reason"]),
        (&"absent".into(), &"not_found_again".into()),
        "{absent}"
    );
    let roles: Vec<Value> = absent["scans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|scan| json!([scan["id"], scan["role"]]))
        .collect();
    assert_eq!(
        json!(roles),
        json!([[before, "found"], [after, "not_found"]])
    );
    let words = cli.does(&["findings", "explain", &id]).await;
    assert!(
        words.starts_with("Because   absent: a later scan ran its test and did not find it\n"),
        "{words}"
    );
    for part in [
        "Next      scandeck scans start --tool 70 --target 1",
        &format!("          scandeck scans tests {after}\n"),
    ] {
        assert!(words.contains(part), "{part}\n{words}");
    }
    cli.run(&["findings", "explain", "99999"])
        .await
        .refused(1, "finding 99999 not found");
    cli.service.stop().await;
}

#[tokio::test]
async fn decision_remains_after_a_new_scan() {
    let cli = scanned(1).await;
    let worst = cli.json(&["findings", "list"]).await[0]["id"].to_string();
    let decide = ["findings", "decide", &worst, "--verdict", "false_positive"];
    cli.run(&[&decide[..], &["--reason", "will_not_fix"]].concat())
        .await
        .refused(2, "not_reproducible");
    let duplicate = ["--verdict", "duplicate", "--duplicate-of", &worst];
    let of_itself = cli
        .run(&[&["findings", "decide", &worst][..], &duplicate].concat())
        .await;
    of_itself.refused(2, "cannot be a duplicate of itself");
    let more = [
        "--reason",
        "not_reproducible",
        "--note",
        "see 114",
        "--tag",
        "q4",
        "--severity",
        "low",
    ];
    let decided = cli.json(&[&decide[..], &more].concat()).await;
    assert_eq!(
        (&decided[0]["verdict"], &decided[0]["reason"]),
        (&"false_positive".into(), &"not_reproducible".into())
    );
    assert!(
        decided[0]["decided_by"].as_str().unwrap().contains('@'),
        "{decided}"
    );

    let scan = cli.service.scan(1).await;
    cli.service.runner.finish_scans(1);
    cli.service.until_status(scan, "finished").await;
    let decided_again = cli
        .json(&[
            "findings",
            "list",
            "--query",
            "verdict:false_positive tag:q4 severity:low",
        ])
        .await;
    assert_eq!(
        (
            decided_again.as_array().unwrap().len(),
            &decided_again[0]["notes"][0]["text"]
        ),
        (1, &"see 114".into())
    );
    assert_ne!(
        decided_again[0]["id"].to_string(),
        worst,
        "the new scan has another id"
    );
    let left = cli
        .json(&["findings", "list", "--query", "is:undecided"])
        .await;
    assert_eq!(left.as_array().unwrap().len(), 1);
    cli.run(&["findings", "decide", "99999", "--verdict", "fixed"])
        .await
        .refused(1, "not found");
    cli.run(&["findings", "decide", "--verdict", "fixed"])
        .await
        .refused(2, "use --query");
    cli.run(&["findings", "decide", &worst])
        .await
        .refused(2, "nothing to decide");
    cli.service.stop().await;
}

/// A service with a finding of the same class on two targets.
async fn same_on_two_targets() -> (CliFixture, [String; 2]) {
    let cli = scanned(1).await;
    let other = cli.service.target("127.0.0.2").await;
    let scan = cli.service.scan(other).await;
    cli.service.runner.finish_scans(1);
    cli.service.until_status(scan, "finished").await;
    let found = cli
        .json(&["findings", "list", "--query", "vuln_id:web.key"])
        .await;
    let ids: Vec<String> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].to_string())
        .collect();
    (cli, ids.try_into().unwrap())
}

#[tokio::test]
async fn reason_defaults_to_last_decision_on_class_and_note_to_none() {
    let (cli, [first, second]) = same_on_two_targets().await;
    let decide = |id: &str, more: &[&str]| -> Vec<String> {
        let args = [
            &["findings", "decide", id, "--verdict", "false_positive"],
            more,
        ]
        .concat();
        args.into_iter().map(str::to_owned).collect()
    };
    let does = async |args: Vec<String>| {
        cli.json(&args.iter().map(String::as_str).collect::<Vec<_>>())
            .await
    };
    does(decide(
        &first,
        &["--reason", "test_artifact", "--note", "seen by hand"],
    ))
    .await;
    let defaults = does(decide(&second, &[])).await;
    assert_eq!(
        (&defaults[0]["reason"], &defaults[0]["notes"]),
        (&"test_artifact".into(), &json!([]))
    );

    does(
        ["findings", "decide", &second, "--verdict", "open"]
            .map(str::to_owned)
            .to_vec(),
    )
    .await;
    let bare = does(decide(&second, &["--reason", "none", "--note", ""])).await;
    assert_eq!(
        (&bare[0]["verdict"], &bare[0]["reason"]),
        (&"false_positive".into(), &Value::Null)
    );
    cli.service.stop().await;
}

#[tokio::test]
async fn decide_with_query_decides_all_matching_findings() {
    let cli = scanned(1).await;
    let until = [
        "--verdict",
        "risk_accepted",
        "--until",
        "2999-01-31",
        "--reason",
        "deferred",
    ];
    let decided = cli
        .json(&[&["findings", "decide", "--query", "risk>=info"][..], &until].concat())
        .await;
    let rows = decided.as_array().unwrap();
    assert!(
        rows.len() == 2
            && rows
                .iter()
                .all(|row| row["until"] == "2999-01-31" && row["undecided"] == false),
        "{decided}"
    );
    let again = cli
        .run(&[&["findings", "decide", "--query", "risk>=info"][..], &until].concat())
        .await;
    assert!(
        again.code == 0 && again.err.contains("unchanged"),
        "{again:?}"
    );
    let without = ["--verdict", "risk_accepted", "--until", "none"];
    let decided = cli
        .json(
            &[
                &["findings", "decide", "--query", "risk>=info"][..],
                &without,
            ]
            .concat(),
        )
        .await;
    assert!(
        decided
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["until"].is_null() && row["undecided"] == false),
        "{decided}"
    );
    let none = cli
        .does(&[
            "findings",
            "export",
            "--format",
            "markdown",
            "--query",
            "id:999999",
        ])
        .await;
    assert!(
        none.ends_with("No findings match the query.\n") && !none.contains("decided."),
        "{none}"
    );
    cli.service.stop().await;
}

#[tokio::test]
async fn export_writes_every_format_to_a_pipe_or_a_file() {
    let cli = scanned(1).await;
    for (format, words) in [
        ("csv", "fingerprint"),
        ("markdown", "# Hand-over: "),
        ("jsonl", "\"verdict\":\"open\""),
        ("defectdojo", "unique_id_from_tool"),
        ("sarif", "baselineState"),
        ("vex", "CycloneDX"),
        ("html", "<!doctype html>"),
        ("json", "\"decided\""),
    ] {
        let query = ["--query", "risk:critical"];
        let ended = cli
            .command(&[&["findings", "export", "--format", format][..], &query].concat())
            .output()
            .await;
        let out = String::from_utf8(ended.unwrap().stdout).unwrap();
        assert!(
            out.contains(words) && !out.contains("web.csp"),
            "{format}: {out}"
        );
    }
    cli.does(&["findings", "export", "--format", "sarif", "-o", "out.sarif"])
        .await;
    assert!(
        std::fs::read_to_string(cli.home.path().join("out.sarif"))
            .unwrap()
            .contains("web.csp")
    );
    let again = ["findings", "export", "--format", "csv", "-o", "out.sarif"];
    cli.run(&again).await.refused(1, "out.sarif already exists");
    assert!(
        std::fs::read_to_string(cli.home.path().join("out.sarif"))
            .unwrap()
            .contains("baselineState")
    );
    cli.does(&[&again[..], &["--force"]].concat()).await;
    assert!(
        std::fs::read_to_string(cli.home.path().join("out.sarif"))
            .unwrap()
            .contains("fingerprint")
    );
    let ended = cli
        .command(&["findings", "export", "--format", "csv", "-o", "-"])
        .output()
        .await
        .unwrap();
    assert!(String::from_utf8(ended.stdout).unwrap().contains("web.csp"));
    assert!(!cli.home.path().join("-").exists());
    for format in ["pdf", "docx", "xlsx"] {
        let name = format!("out.{format}");
        cli.does(&["findings", "export", "--format", format, "-o", &name])
            .await;
        let file = std::fs::read(cli.home.path().join(name)).unwrap();
        assert!(
            crate::readback::readable(format, &file).contains("web.csp"),
            "{format}"
        );
    }
    cli.run(&["findings", "export", "--format", "odt"])
        .await
        .refused(2, "markdown");
    cli.service.stop().await;
}

#[tokio::test]
async fn report_follows_template_and_options() {
    let cli = scanned(1).await;
    let template = cli.home.path().join("client.toml");
    std::fs::write(&template, "client = 'Acme Ltd'\ntitle = 'For {{ client }}'").unwrap();
    let report = [
        "findings",
        "export",
        "--format",
        "html",
        "--template",
        "client.toml",
    ];
    let page = cli.does(&report).await;
    for words in [
        "For Acme Ltd",
        "Executive summary",
        "127.0.0.1",
        "Tested by",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    cli.does(&[
        "findings",
        "decide",
        "--query",
        "risk:*",
        "--verdict",
        "false_positive",
        "--note",
        "checked by hand",
    ])
    .await;
    cli.run(&report)
        .await
        .refused(1, "no finding has a verdict of the report");
    let asked = ["--verdicts", "open,false-positive", "--group-by", "risk"];
    let page = cli.does(&[&report[..], &asked].concat()).await;
    assert!(page.contains("false positive") && !page.contains("checked by hand"));
    let noted = [&report[..], &asked, &["--include", "notes"]].concat();
    assert!(cli.does(&noted).await.contains("checked by hand"));
    std::fs::write(&template, "client = 'Acme Ltd'\ntilte = 'x'").unwrap();
    cli.run(&report).await.refused(2, "line 2, tilte");
    cli.run(&[
        "findings",
        "export",
        "--format",
        "sarif",
        "--evidence",
        "all",
    ])
    .await
    .refused(2, "sarif has no report options");
    cli.service.stop().await;
}

/// The data directory of the only service.
fn service_directory(home: &Path) -> PathBuf {
    let mut services = std::fs::read_dir(home.join(".local/state/scandeck/of")).unwrap();
    services.next().unwrap().unwrap().path()
}

#[tokio::test]
async fn retest_of_the_dashboard_appears_in_list_and_export() {
    let cli = scanned(1).await;
    let worst = cli.json(&["findings", "list"]).await[0].clone();
    assert_eq!(worst["retest"], Value::Null);
    cli.does(&[
        "findings",
        "decide",
        &worst["id"].to_string(),
        "--verdict",
        "confirmed",
    ])
    .await;
    let before = ScanId(worst["task_id"].as_i64().unwrap());
    let others = vec![finding("web.csp", Risk::Info, "")];
    let less = tested("web.headers", 1, others);
    let rest = typical_events().into_iter().map(|event| match event {
        scandeck::service::engine::ScanEvent::Tested(test) if test.uid == "web.headers" => {
            less.clone()
        }
        event => event,
    });
    cli.service.runner.set_events(rest.collect());
    let after = cli.service.scan(1).await;
    cli.service.runner.finish_scans(1);
    cli.service.until_status(after, "finished").await;

    let key = serde_json::from_value(worst["fingerprint"].clone()).unwrap();
    let retest = Retest {
        findings: vec![RetestFinding {
            key,
            scan: before,
            before: "confirmed".into(),
            ..RetestFinding::default()
        }],
        scans: vec![RetestScan {
            of: before,
            place: (TargetId(1), 170),
            started: true,
            scan: Some(ScanId(after)),
            ..RetestScan::default()
        }],
        ..Retest::default()
    };
    let mut store = Store::open(&service_directory(cli.home.path()))
        .await
        .unwrap()
        .store;
    let workspace = cli.json(&["workspaces", "list"]).await[0]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let value = serde_json::to_string(&retest).unwrap();
    store
        .put_setting(RETEST_SETTING, &workspace, &value)
        .await
        .unwrap();
    store.close().await;

    let all = cli
        .json(&["findings", "list", "--query", "verdict:confirmed"])
        .await;
    assert_eq!(
        (&all[0]["retest"]["before"], &all[0]["retest"]["now"]),
        (&"confirmed".into(), &"not_seen".into())
    );
    cli.does(&[
        "findings",
        "export",
        "--format",
        "csv",
        "--query",
        "verdict:confirmed",
        "-o",
        "out.csv",
    ])
    .await;
    let table = std::fs::read_to_string(cli.home.path().join("out.csv")).unwrap();
    assert!(table.contains(",\"confirmed\",\"not_seen\","), "{table}");
    cli.service.stop().await;
}

#[tokio::test]
async fn csv_file_has_byte_order_mark_if_its_name_ends_with_csv() {
    let cli = scanned(1).await;
    cli.does(&["findings", "decide", "--query", "risk:*", "--note", "Büro"])
        .await;
    let export = ["findings", "export", "--format", "csv"];
    for (name, start) in [("table.csv", "\u{feff}id,"), ("table", "id,")] {
        cli.does(&[&export[..], &["-o", name]].concat()).await;
        let file = std::fs::read_to_string(cli.home.path().join(name)).unwrap();
        assert!(
            file.starts_with(start) && file.contains("\"Büro\""),
            "{name}: {file}"
        );
    }
    cli.service.stop().await;
}
