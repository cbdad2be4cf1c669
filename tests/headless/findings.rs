//! Findings: one row an identity, with what was decided.

use serde_json::Value;

use super::Desk;
use crate::service::runner::usual;

/// A target scanned so many times by a scan with two findings.
pub async fn scanned(times: usize) -> Desk {
    let desk = Desk::new().await;
    desk.world.script.tells(usual());
    let target = desk.world.target("127.0.0.1").await;
    for _ in 0..times {
        let scan = desk.world.scan(target).await;
        desk.world.script.let_end(1);
        desk.world.until_status(scan, "finished").await;
    }
    desk
}

#[tokio::test]
async fn each_finding_is_listed_once_whatever_the_number_of_scans() {
    let desk = scanned(2).await;
    let once = desk.json(&["findings", "list"]).await;
    assert_eq!(once.as_array().unwrap().len(), 2, "{once}");
    let every = desk.json(&["findings", "list", "--all-scans"]).await;
    assert_eq!(every.as_array().unwrap().len(), 4);
    let worst = once[0].as_object().unwrap();
    assert_eq!(
        (&worst["risk_level"], &worst["target_name"], &worst["verdict"]),
        (&4.into(), &"127.0.0.1".into(), &"open".into())
    );
    let names: Vec<&str> = worst.keys().map(String::as_str).collect();
    let place = |name: &str| names.iter().position(|one| *one == name).unwrap();
    assert_eq!(place("id"), 0);
    assert!(place("service") < place("target_name") && place("target_name") < place("verdict"), "{names:?}");
    let high = desk.does(&["findings", "list", "--query", "risk>=high target:127.*"]).await;
    assert_eq!(high.lines().count(), 2, "{high}");
    desk.run(&["findings", "list", "--query", "rsk:high"]).await.refused(2, "rsk");
    desk.world.stop().await;
}

#[tokio::test]
async fn a_finding_goes_by_the_id_of_any_occurrence_or_its_fingerprint() {
    let desk = scanned(2).await;
    let once = desk.json(&["findings", "list"]).await;
    let fingerprint = once[0]["fingerprint"].as_str().unwrap();
    let every = desk.json(&["findings", "list", "--all-scans"]).await;
    let ids = every.as_array().unwrap().iter().filter(|one| one["fingerprint"] == fingerprint);
    for id in ids.map(|one| one["id"].to_string()).chain([fingerprint.to_owned()]) {
        let shown: Value = desk.json(&["findings", "show", &id]).await;
        assert_eq!(shown["fingerprint"], fingerprint, "{id}");
    }
    desk.run(&["findings", "show", "99999"]).await.refused(1, "404");
    desk.run(&["findings", "show", "x"]).await.refused(1, "no finding");
    desk.world.stop().await;
}

#[tokio::test]
async fn what_is_decided_stands_in_every_later_command_and_over_a_new_scan() {
    let desk = scanned(1).await;
    let worst = desk.json(&["findings", "list"]).await[0]["id"].to_string();
    let decide = ["findings", "decide", &worst, "--verdict", "false_positive"];
    desk.run(&[&decide[..], &["--reason", "will_not_fix"]].concat()).await.refused(2, "not_reproducible");
    let more = ["--reason", "not_reproducible", "--note", "see 114", "--tag", "q4", "--severity", "low"];
    let told = desk.json(&[&decide[..], &more].concat()).await;
    assert_eq!((&told[0]["verdict"], &told[0]["reason"]), (&"false_positive".into(), &"not_reproducible".into()));
    assert!(told[0]["decided_by"].as_str().unwrap().contains('@'), "{told}");

    let scan = desk.world.scan(1).await;
    desk.world.script.let_end(1);
    desk.world.until_status(scan, "finished").await;
    let kept = desk.json(&["findings", "list", "--query", "verdict:false_positive tag:q4 severity:low"]).await;
    assert_eq!((kept.as_array().unwrap().len(), &kept[0]["notes"][0]["text"]), (1, &"see 114".into()));
    assert_ne!(kept[0]["id"].to_string(), worst, "the new scan gave it a new id");
    let left = desk.json(&["findings", "list", "--query", "is:undecided"]).await;
    assert_eq!(left.as_array().unwrap().len(), 1);
    desk.run(&["findings", "decide", "99999", "--verdict", "fixed"]).await.refused(1, "no finding");
    desk.run(&["findings", "decide", "--verdict", "fixed"]).await.refused(2, "ID|FINGERPRINT");
    desk.world.stop().await;
}

#[tokio::test]
async fn all_that_match_are_decided_in_one_batch() {
    let desk = scanned(1).await;
    let until = ["--verdict", "risk_accepted", "--until", "2999-01-31", "--reason", "deferred"];
    let told = desk.json(&[&["findings", "decide", "--query", "risk>=info"][..], &until].concat()).await;
    let rows = told.as_array().unwrap();
    assert!(
        rows.len() == 2 && rows.iter().all(|row| row["until"] == "2999-01-31" && row["undecided"] == false),
        "{told}"
    );
    let again = desk.run(&[&["findings", "decide", "--query", "risk>=info"][..], &until].concat()).await;
    assert!(again.code == 0 && again.err.contains("it all stands already"), "{again:?}");
    desk.world.stop().await;
}

#[tokio::test]
async fn every_form_is_written_to_a_pipe_or_a_file() {
    let desk = scanned(1).await;
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
        let ended = desk.command(&[&["findings", "export", "--format", format][..], &query].concat()).output().await;
        let out = String::from_utf8(ended.unwrap().stdout).unwrap();
        assert!(out.contains(words) && !out.contains("web.csp"), "{format}: {out}");
    }
    desk.does(&["findings", "export", "--format", "sarif", "-o", "out.sarif"]).await;
    assert!(std::fs::read_to_string(desk.home.path().join("out.sarif")).unwrap().contains("web.csp"));
    desk.run(&["findings", "export", "--format", "pdf"]).await.refused(2, "markdown");
    desk.world.stop().await;
}
