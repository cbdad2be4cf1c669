//! `scandeck case`: a workspace as a file that a changed entry breaks.

use std::fs;

use super::findings::scanned;

#[tokio::test]
async fn case_of_a_workspace_is_verified_until_a_byte_changes() {
    let cli = scanned(1).await;
    let id = cli.json(&["findings", "list"]).await[0]["id"].to_string();
    cli.does(&["findings", "decide", &id, "--verdict", "confirmed"])
        .await;
    let made = cli
        .run(&["case", "new", "--workspace", "1", "-o", "w.case"])
        .await;
    assert_eq!(made.code, 0, "{made:?}");
    let seal = made.out.trim();
    assert_eq!(seal.len(), 64, "{made:?}");
    let verified = cli
        .does(&["case", "verify", "w.case", "--seal", seal])
        .await;
    assert!(verified.contains(seal), "{verified}");
    let shown = cli.does(&["case", "show", "w.case"]).await;
    for word in [
        "scan 1 of 127.0.0.1",
        "finding",
        "verdict: ",
        "page index.html",
    ] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    cli.run(&["case", "verify", "w.case", "--seal", "00"])
        .await
        .refused(1, "the seal is");
    let file = cli.home.path().join("w.case");
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    cli.run(&["case", "verify", "none.case"])
        .await
        .refused(1, "cannot read none.case: no such file");
    let changed = cli.run(&["case", "verify", "w.case"]).await;
    changed.refused(1, "the file was changed or is damaged");
    cli.service.stop().await;
}

#[tokio::test]
async fn case_of_a_workspace_has_its_reports_with_their_files() {
    let cli = scanned(1).await;
    let create = ["reports", "create", "--format", "json", "--scan", "1"];
    let id = cli.does(&create).await;
    let download = ["reports", "download", id.trim(), "--wait", "-o", "r.json"];
    cli.does(&download).await;
    cli.does(&["case", "new", "--workspace", "1", "-o", "w.case"])
        .await;
    cli.does(&["case", "verify", "w.case"]).await;
    let shown = cli.json(&["case", "show", "w.case"]).await;
    let entries = shown.as_array().unwrap();
    assert!(entries[0]["data"]["missing_reports"].is_null(), "{shown}");
    let report = entries.iter().find(|one| one["kind"] == "report").unwrap();
    let data = &report["data"];
    assert_eq!(data["id"].to_string(), id.trim());
    let saved = fs::metadata(cli.home.path().join("r.json")).unwrap();
    assert_eq!(data["file"]["bytes"], saved.len(), "{report}");
    assert_eq!(data["file"]["sha256"].as_str().unwrap().len(), 64);
    cli.service.stop().await;
}

#[tokio::test]
async fn masked_case_names_no_target_and_says_so() {
    let cli = scanned(1).await;
    let args = ["case", "new", "--workspace", "1", "--mask", "-o", "w.case"];
    cli.does(&args).await;
    let shown = cli.does(&["case", "show", "w.case", "--json"]).await;
    assert!(!shown.contains("127.0.0.1"), "{shown}");
    assert!(
        shown.contains("names, addresses and tokens replaced"),
        "{shown}"
    );
    cli.service.stop().await;
}

#[tokio::test]
async fn case_of_a_finding_has_no_other_one() {
    let cli = scanned(2).await;
    let rows = cli.json(&["findings", "list"]).await;
    let (id, other) = (rows[0]["id"].to_string(), rows[1]["id"].to_string());
    for decided in [&id, &other] {
        cli.does(&["findings", "decide", decided, "--verdict", "confirmed"])
            .await;
    }
    let args = [
        "case",
        "new",
        "--workspace",
        "1",
        "-o",
        "w.case",
        "--finding",
    ];
    cli.does(&[&args[..], &[id.as_str()]].concat()).await;
    cli.does(&["case", "verify", "w.case"]).await;
    let shown = cli.json(&["case", "show", "w.case"]).await;
    let entries = shown.as_array().unwrap();
    let of_kind = |kind: &str| entries.iter().filter(|one| one["kind"] == kind).count();
    assert_eq!(
        ["scan", "finding", "decision"].map(of_kind),
        [2, 2, 1],
        "{shown}"
    );
    let about = entries[0]["text"].as_str().unwrap();
    assert!(
        about.starts_with("case of 1 finding of workspace "),
        "{about}"
    );
    let missing = "without reports: the service does not name their scans";
    assert!(about.ends_with(missing), "{about}");
    let refused = cli.run(&[&args[..], &["99999", "--force"]].concat()).await;
    refused.refused(1, "finding 99999 not found");
    refused.refused(1, "`scandeck findings list --workspace NAME` lists");
    cli.service.stop().await;
}
