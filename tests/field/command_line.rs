//! Texts that begin with a dash are values, not flags, and a variable that is not text is an error.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::headless::findings::scanned;
use crate::headless::{command, run};

/// Source, flags, and words of the output.
const CASES: [(&str, &[&str], &str); 3] = [
    (
        "nnn 1425, a query",
        &["findings", "list", "--query", "-risk:low"],
        "127.0.0.1",
    ),
    (
        "obsidian-git 184, the same as a decision",
        &["findings", "decide", "--query", "-is:absent", "--tag", "t"],
        "127.0.0.1",
    ),
    (
        "gitui 2136, a note that is a list",
        &[
            "findings",
            "decide",
            "--query",
            "risk:*",
            "--note",
            "- one\n# two",
        ],
        "127.0.0.1",
    ),
];

#[tokio::test]
async fn values_that_begin_with_dash_are_accepted() {
    let cli = scanned(1).await;
    for (source, flags, words) in CASES {
        let ended = cli.run(flags).await;
        assert!(
            ended.code == 0 && ended.out.contains(words),
            "{source}: {ended:?}"
        );
    }
    let shown = cli.json(&["findings", "list"]).await;
    assert!(shown.to_string().contains("- one"), "{shown}");
    cli.service.stop().await;
}

#[tokio::test]
async fn variables_that_are_not_utf8_are_named_as_the_cause() {
    let home = tempfile::tempdir().unwrap();
    for name in ["SCANDECK_BASE_URL", "SCANDECK_API_KEY"] {
        let mut command = command(home.path(), &["findings", "list"]);
        command.env(name, OsStr::from_bytes(b"http://127.0.0.1:1\xff"));
        let ended = run(&mut command).await;
        let cause = format!("the variable {name} is not UTF-8 text");
        assert!(
            ended.code == 1 && ended.err.contains(&cause),
            "config-rs 640: {ended:?}"
        );
    }
}
