//! `scandeck import`: files are recognised by their content; with `--dry-run` nothing is stored, else
//! the service stores a scan for each target, or a foreign service the findings.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{CliFixture, Ended, command, run};

const NUCLEI: &str = r#"{"template-id":"CVE-2021-44228","info":{"name":"Log4j \u001b[2J","severity":"critical"},"type":"http","host":"https://shop.test","matched-at":"https://shop.test/"}
{"template-id":"tech","info":{"name":"Technology","severity":"info"},"type":"http","host":"https://pay.test","matched-at":"https://pay.test/"}
not a result
"#;

async fn import(home: &Path, args: &[&str]) -> Ended {
    let mut command = command(home, &[&["import", "--dry-run"], args].concat());
    run(command.current_dir(home)).await
}

#[tokio::test]
async fn dry_run_tells_what_files_contain() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("results")).unwrap();
    fs::write(home.path().join("results/a.txt"), NUCLEI).unwrap();
    fs::write(
        home.path().join("results/b.json"),
        "{\"kind\": \"no scan\"}",
    )
    .unwrap();

    let shown = import(home.path(), &["results/a.txt"]).await;
    assert_eq!(shown.code, 0, "{shown:?}");
    for line in [
        "format    nuclei",
        "findings  2: 1 critical, 1 info",
        "targets   https://pay.test, https://shop.test",
        "skipped   1 result: ",
    ] {
        assert!(shown.out.contains(line), "{line}: {}", shown.out);
    }

    let all = import(home.path(), &["--recursive", "--json", "results"]).await;
    assert_eq!(all.code, 1, "one file is unknown: {all:?}");
    let all: Value = serde_json::from_str(&all.out).unwrap();
    let files = all["files"].as_array().unwrap();
    assert_eq!(files.len(), 2, "{all}");
    assert_eq!(
        (&files[0]["findings"], &files[0]["by_risk"]),
        (&json!(2), &json!({"critical": 1, "info": 1}))
    );
    assert_eq!(files[0]["skipped"][0]["count"], 1);
    assert_eq!(files[1]["format"], Value::Null);
    assert!(!home.path().join(".local").exists(), "nothing is stored");
}

#[tokio::test]
async fn missing_files_folders_and_formats_are_named() {
    let home = tempfile::tempdir().unwrap();
    for (args, message) in [
        (&["nowhere.json"][..], "no such file"),
        (&["."][..], "`--recursive` reads the files in it"),
        (
            &["--format", "csv", "/dev/null"][..],
            "no format is called csv",
        ),
    ] {
        let refused = import(home.path(), args).await;
        assert!(
            refused.code == 1 && refused.out.to_lowercase().contains(message),
            "{message}: {refused:?}"
        );
    }
    fs::create_dir_all(home.path().join("results/inner")).unwrap();
    let empty = import(home.path(), &["--recursive", "results"]).await;
    empty.refused(1, "no files in results");
    let unconfigured = run(&mut command(home.path(), &["import", "results.json"])).await;
    unconfigured.refused(1, "no service is configured");
}

#[tokio::test]
async fn verdict_of_the_file_is_a_proposal_and_no_decision() {
    let cli = CliFixture::new().await;
    let line = r#"{"vuln_id":"web.csp","name":"CSP missing","risk_level":1,"target_name":"a.test","fingerprint":"1","presence":"new","verdict":"false_positive","reason":"other","decided_by":"ann"}"#;
    fs::write(cli.home.path().join("a.jsonl"), line).unwrap();
    cli.does(&["import", "a.jsonl"]).await;
    let found = cli
        .json(&["findings", "list", "--query", "is:proposed is:undecided"])
        .await;
    assert_eq!(
        found[0]["proposed"],
        json!({"verdict": "false_positive", "reason": "other", "by": "ann"}),
        "{found}"
    );
    assert_eq!(found[0]["verdict"], "open");
    let lines = cli.does(&["findings", "list"]).await;
    assert!(
        lines.contains("TOOL") && lines.contains("scandeck"),
        "{lines}"
    );
}

/// A service without imports, and with `POST /findings/import` if `takes_findings`.
async fn foreign_service(takes_findings: bool) -> MockServer {
    let server = MockServer::start().await;
    if takes_findings {
        let results = json!({"data": {"results": [{"id": 41}, {"id": 42}]}});
        Mock::given(method("POST"))
            .and(path("/api/v2/findings/import"))
            .respond_with(ResponseTemplate::new(201).set_body_json(results))
            .mount(&server)
            .await;
    }
    server
}

async fn at(server: &MockServer, home: &Path, args: &[&str]) -> Ended {
    let mut command = command(home, &[&["import"], args].concat());
    command
        .env("SCANDECK_BASE_URL", server.uri())
        .env("SCANDECK_API_KEY", "key");
    run(&mut command).await
}

#[tokio::test]
async fn service_alone_reads_the_results_of_files_in_a_known_format() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("a.jsonl"), NUCLEI).unwrap();
    fs::write(home.path().join("b.json"), "{\"kind\": \"no scan\"}").unwrap();
    let server = MockServer::start().await;
    let scan = json!({"id": 5, "target_name": "other.test", "findings": 7, "is_new_target": true});
    let file = json!({
        "file": "a.jsonl", "format": "nuclei", "tool": "nuclei", "version": "9.9", "findings": 7,
        "by_risk": {"high": 7}, "skipped": [{"reason": "odd", "count": 2}], "scans": [scan],
    });
    let import =
        json!({"data": {"id": 4, "state": "finished", "file_name": "a.jsonl", "files": [file]}});
    Mock::given(method("POST"))
        .and(path("/api/v2/imports"))
        .respond_with(ResponseTemplate::new(202).set_body_json(import))
        .mount(&server)
        .await;

    // The numbers are not those of the file.
    let shown = at(&server, home.path(), &["a.jsonl", "b.json"]).await;
    assert_eq!(shown.code, 1, "one file is unknown: {shown:?}");
    let expected = "a.jsonl
  format    nuclei
  tool      nuclei 9.9
  findings  7: 7 high
  targets   other.test
  skipped   2 results: odd
  stored    1 scan with 7 findings (import 4)
  scan 5: other.test, 7 findings, new target
b.json
  not read: ";
    assert!(shown.out.starts_with(expected), "{}", shown.out);
    let requests = server.received_requests().await.unwrap();
    let sent = requests
        .iter()
        .filter(|request| request.method.as_str() == "POST");
    let sent: Vec<&[u8]> = sent.map(|request| &*request.body).collect();
    assert_eq!(sent, [NUCLEI.as_bytes()], "no file in an unknown format");
}

#[tokio::test]
async fn refused_file_is_named_and_the_others_are_sent() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("a.jsonl"), NUCLEI).unwrap();
    let server = MockServer::start().await;
    let refusal = json!({"status": 413, "message": "the file is larger than 512 MB"});
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(413).set_body_json(refusal))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    let failed = json!({"data": {"id": 4, "state": "failed", "message": "too many targets"}});
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(202).set_body_json(failed))
        .mount(&server)
        .await;

    let shown = at(&server, home.path(), &["--json", "a.jsonl", "a.jsonl"]).await;
    assert_eq!(shown.code, 4, "{shown:?}");
    let files: Value = serde_json::from_str(&shown.out).unwrap();
    for (at, why) in [
        (0_usize, "larger than 512 MB"),
        (1, "not stored: too many targets"),
    ] {
        let file = &files["files"][at];
        assert_eq!(
            (&file["file"], &file["format"], &file["scans"]),
            (&json!("a.jsonl"), &json!("nuclei"), &json!([])),
        );
        assert!(file["error"].as_str().unwrap().contains(why), "{file}");
    }
}

#[tokio::test]
async fn imported_file_is_scans_once_and_passes_the_gate() {
    let cli = CliFixture::new().await;
    fs::write(cli.home.path().join("a.jsonl"), NUCLEI).unwrap();
    fs::write(cli.home.path().join("b.json"), "{\"kind\": \"no scan\"}").unwrap();

    let all = cli.run(&["import", "--json", "a.jsonl", "b.json"]).await;
    assert_eq!(all.code, 1, "one file is unknown: {all:?}");
    let all: Value = serde_json::from_str(&all.out).unwrap();
    let first = &all["files"][0];
    assert_eq!(
        (&first["format"], &first["findings"], &first["is_repeated"]),
        (&json!("nuclei"), &json!(2), &json!(false)),
        "{all}"
    );
    let scans = first["scans"].as_array().unwrap();
    let mut names: Vec<&str> = scans
        .iter()
        .map(|scan| scan["target_name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["https://pay.test/", "https://shop.test/"], "{all}");
    assert_eq!(
        (&all["files"][1]["format"], &all["files"][1]["scans"]),
        (&Value::Null, &json!([]))
    );

    let again = cli.json(&["import", "a.jsonl"]).await;
    assert_eq!(again["files"][0]["is_repeated"], true, "{again}");
    assert_eq!(
        cli.json(&["scans", "list"]).await.as_array().unwrap().len(),
        2
    );
    let lines = cli.does(&["import", "a.jsonl"]).await;
    assert!(lines.contains("imported before: 2 scans"), "{lines}");

    let gate = ["import", "a.jsonl", "--fail-on", "risk>=critical"];
    let matched = cli.run(&gate).await;
    assert_eq!(matched.code, 3, "{matched:?}");
    assert!(matched.err.contains("matches --fail-on"), "{matched:?}");
    let gate = ["import", "a.jsonl", "--fail-on", "risk:medium"];
    assert_eq!(cli.run(&gate).await.code, 0);
    cli.service.stop().await;
}

#[tokio::test]
async fn later_import_says_what_is_new_absent_and_reappeared() {
    let cli = CliFixture::new().await;
    let import = async |name: &str, templates: [&str; 2], hour: u32| {
        let line = |template: &str| {
            format!(
                r#"{{"template-id":"{template}","info":{{"name":"{template}","severity":"low"}},"type":"http","host":"https://shop.test","matched-at":"https://shop.test/{template}","timestamp":"2026-03-01T{hour:02}:00:00Z"}}"#
            )
        };
        let lines = templates.map(line).join("\n");
        fs::write(cli.home.path().join(name), lines).unwrap();
        cli.does(&["import", "--complete", name]).await
    };
    let first = import("1.jsonl", ["a", "b"], 8).await;
    assert!(!first.contains(" new\n"), "the target is new: {first}");
    let second = import("2.jsonl", ["a", "c"], 9).await;
    assert!(second.ends_with(": 1 new, 1 absent\n"), "{second}");
    let third = import("3.jsonl", ["a", "b"], 10).await;
    assert!(third.ends_with(": 1 reappeared, 1 absent\n"), "{third}");
    let again = cli.json(&["import", "3.jsonl"]).await;
    assert!(again["files"][0].get("changes").is_none(), "{again}");
    cli.service.stop().await;
}

#[tokio::test]
async fn error_after_a_file_was_accepted_says_so() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("a.jsonl"), NUCLEI).unwrap();
    let server = MockServer::start().await;
    let waiting = json!({"data": {"id": 4, "state": "waiting"}});
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(202).set_body_json(waiting))
        .mount(&server)
        .await;
    let revoked = json!({"status": 401, "message": "the API key is not valid"});
    Mock::given(method("GET"))
        .and(path("/api/v2/imports/4"))
        .respond_with(ResponseTemplate::new(401).set_body_json(revoked))
        .mount(&server)
        .await;
    let shown = at(&server, home.path(), &["a.jsonl"]).await;
    shown.refused(1, "accepted the file as import 4");
}

#[tokio::test]
async fn command_says_why_a_file_became_no_scan() {
    let cli = CliFixture::new().await;
    let nameless = "Title,Severity,Description\nOld library,High,Outdated\n";
    fs::write(cli.home.path().join("a.csv"), nameless).unwrap();
    fs::write(cli.home.path().join("empty.jsonl"), "").unwrap();

    let skipped = cli.run(&["import", "a.csv"]).await;
    assert_eq!(skipped.code, 1, "{skipped:?}");
    for line in [
        "skipped   1 result: no target named",
        "not stored: every result was skipped",
    ] {
        assert!(skipped.out.contains(line), "{line}: {skipped:?}");
    }
    let lines = cli.does(&["import", "a.csv", "--target", "a.test"]).await;
    assert!(lines.contains(", new target"), "{lines}");
    let lines = cli.does(&["import", "a.csv", "--target", "a.test"]).await;
    assert!(
        lines.contains("imported before") && !lines.contains("new target"),
        "{lines}"
    );

    let unnamed = cli.run(&["import", "empty.jsonl"]).await;
    assert_eq!(unnamed.code, 1, "{unnamed:?}");
    assert!(unnamed.out.contains("name its format"), "{unnamed:?}");
    let empty = ["import", "--format", "nuclei", "empty.jsonl"];
    let lines = cli.does(&empty).await;
    assert!(lines.contains("stored    nothing: no results"), "{lines}");
    let with_target = [&empty[..], &["--target", "a.test"]].concat();
    let lines = cli.does(&with_target).await;
    assert!(lines.contains("1 scan with 0 findings"), "{lines}");
    cli.service.stop().await;
}

#[tokio::test]
async fn standard_input_is_imported_for_one_target() {
    let cli = CliFixture::new().await;
    let mut command = cli.command(&["import", "-", "--target", "shop.test", "--json"]);
    let mut running = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = running.stdin.take().unwrap();
    stdin.write_all(NUCLEI.as_bytes()).await.unwrap();
    drop(stdin);
    let output = running.wait_with_output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let stored: Value = serde_json::from_slice(&output.stdout).unwrap();
    let scans = stored["files"][0]["scans"].as_array().unwrap();
    assert_eq!((scans.len(), &scans[0]["findings"]), (1, &json!(2)));
    assert_eq!(scans[0]["target_name"], "shop.test");
    cli.service.stop().await;
}

#[tokio::test]
async fn foreign_service_receives_confirmed_findings_in_its_form() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("a.jsonl"), NUCLEI).unwrap();
    let server = foreign_service(true).await;

    let stored = at(&server, home.path(), &["a.jsonl"]).await;
    assert_eq!(stored.code, 1, "{stored:?}");
    assert!(
        stored
            .err
            .contains("takes no result files of other scanners")
            && stored.err.contains("--to-service")
            && stored.err.contains("--local"),
        "{stored:?}"
    );
    fs::write(
        home.path().join("nameless.csv"),
        "Title,Severity,Description\nOld library,High,Outdated\n",
    )
    .unwrap();
    let counted = at(
        &server,
        home.path(),
        &["--to-service", "a.jsonl", "nameless.csv"],
    );
    let counted = counted.await;
    assert!(
        counted.err.contains("not sent: 2 findings")
            && counted.out.contains("not sent  1 finding: no target named"),
        "{counted:?}"
    );
    let unconfirmed = at(&server, home.path(), &["--to-service", "a.jsonl"]).await;
    assert_eq!(unconfirmed.code, 2, "{unconfirmed:?}");
    assert!(
        unconfirmed.err.contains("not sent: 2 findings") && unconfirmed.err.contains("--yes"),
        "{unconfirmed:?}"
    );
    assert!(
        unconfirmed.out.contains("cannot be sent: ") && unconfirmed.out.contains("classes (2)"),
        "{unconfirmed:?}"
    );

    let sent = at(
        &server,
        home.path(),
        &["--to-service", "--yes", "--json", "a.jsonl"],
    );
    let sent = sent.await;
    assert_eq!(sent.code, 0, "{sent:?}");
    let files: Value = serde_json::from_str(&sent.out).unwrap();
    assert_eq!(files["files"][0]["finding_ids"], json!([41, 42]));
    let requests = server.received_requests().await.unwrap();
    let bodies = requests
        .iter()
        .filter(|request| request.url.path().ends_with("/findings/import"));
    let bodies: Vec<Value> = bodies
        .map(|request| serde_json::from_slice(&request.body).unwrap())
        .collect();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    let finding = &bodies[0]["findings"][0];
    assert_eq!(
        (
            &finding["source"],
            &finding["target_name"],
            &finding["vuln_risk_level"]
        ),
        (&json!(2), &json!("https://shop.test"), &json!(4)),
        "{finding}"
    );
    assert!(finding["vuln_evidence"].is_string(), "{finding}");

    let other = foreign_service(false).await;
    let refused = at(&other, home.path(), &["--to-service", "--yes", "a.jsonl"]).await;
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused
            .err
            .contains("does not take findings of other tools"),
        "{refused:?}"
    );
}
