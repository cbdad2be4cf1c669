//! What is kept on this machine: decisions out and in as JSON lines.

use std::path::Path;

use super::findings::scanned;
use super::{Desk, Ended, run};

/// Runs a command on the service of a desk, with another state directory.
async fn elsewhere(desk: &Desk, state: &Path, args: &[&str]) -> Ended {
    run(desk.command(args).env("XDG_STATE_HOME", state)).await
}

/// Decides about both findings, with a note that no other text holds.
async fn decides(desk: &Desk) {
    let all = desk.json(&["findings", "list"]).await;
    let id = |at: usize| all[at]["id"].to_string();
    desk.does(&["findings", "decide", &id(0), "--verdict", "confirmed", "--note", "MARK-of-ann"]).await;
    desk.does(&["findings", "decide", &id(1), "--verdict", "false_positive"]).await;
}

#[tokio::test]
async fn decisions_go_to_another_machine_as_lines_and_twice_is_once() {
    let desk = scanned(1).await;
    decides(&desk).await;
    desk.does(&["triage", "export", "-o", "d.jsonl"]).await;
    let lines = std::fs::read_to_string(desk.home.path().join("d.jsonl")).unwrap();
    assert_eq!(desk.does(&["triage", "export"]).await, lines);
    let other = tempfile::tempdir().unwrap();
    let first = elsewhere(&desk, other.path(), &["triage", "import", "d.jsonl", "--json"]).await;
    assert!(first.out.contains("\"taken\": 3"), "{first:?}");
    let again = elsewhere(&desk, other.path(), &["triage", "import", "d.jsonl"]).await;
    assert_eq!(again.out, "0 events taken, 3 known already, 0 lines bad\n");
    assert_eq!(elsewhere(&desk, other.path(), &["triage", "export"]).await.out, lines);
    let list = ["findings", "list", "--json"];
    assert_eq!(elsewhere(&desk, other.path(), &list).await.out, desk.does(&list).await);
    desk.world.stop().await;
}

#[tokio::test]
async fn a_bad_line_is_told_with_its_number_and_the_rest_is_taken_unless_strict() {
    let desk = scanned(1).await;
    decides(&desk).await;
    let lines = desk.does(&["triage", "export"]).await;
    let mut bytes = lines.clone().into_bytes();
    bytes.extend(b"{\"id\":7}\n\xff\xfe\n");
    std::fs::write(desk.home.path().join("d.jsonl"), bytes).unwrap();
    let other = tempfile::tempdir().unwrap();
    let strict = elsewhere(&desk, other.path(), &["triage", "import", "d.jsonl", "--strict"]).await;
    strict.refused(1, "nothing was taken");
    assert!(strict.err.contains("d.jsonl:4: ") && strict.err.contains("d.jsonl:5: it is no UTF-8"), "{strict:?}");
    assert_eq!(elsewhere(&desk, other.path(), &["triage", "export"]).await.out, "");
    let taken = elsewhere(&desk, other.path(), &["triage", "import", "d.jsonl"]).await;
    assert_eq!((taken.code, taken.out.as_str()), (0, "3 events taken, 0 known already, 2 lines bad\n"));
    assert_eq!(elsewhere(&desk, other.path(), &["triage", "export"]).await.out, lines);
    desk.world.stop().await;
}
