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
