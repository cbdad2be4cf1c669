//! Programs that get the terminal: their command line, and keys that were typed for them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::pty::Session;
use crate::pty::answers::on_findings_with;
use crate::service::TestService;
use crate::triage::generated::Generated;

/// Writes a program.
fn program(path: PathBuf, script: &str) -> String {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Opens the name of a new workspace in this editor.
async fn edit(service: &TestService, home: &Path, editor: &str) -> Session {
    let variables = [
        ("SCANDECK_BASE_URL", service.base.as_str()),
        ("SCANDECK_API_KEY", &service.key),
        ("EDITOR", editor),
    ];
    let mut session = Session::start(home, &[], &variables);
    session.until("live").await;
    session.keys("1n");
    session.until("Name").await;
    session.keys("\x18");
    session
}

#[tokio::test(flavor = "multi_thread")]
async fn editors_with_quoted_words_are_started() {
    let (service, home) = (TestService::new().await, tempfile::tempdir().unwrap());
    let spaced = program(
        home.path().join("my tools/ed"),
        "printf '%s|' \"$@\" > \"$(dirname \"$0\")/seen\"",
    );
    let seen = home.path().join("my tools/seen");
    // Source, editor, its first arguments.
    for (source, editor, arguments) in [
        (
            "cli 5543, quoted program",
            format!("'{spaced}' -R -n"),
            "-R|-n|",
        ),
        (
            "nix 7642, quoted argument",
            format!("'{spaced}' +'set bufhidden=delete'"),
            "+set bufhidden=delete|",
        ),
        (
            "blackbox 117, backslash",
            spaced.replace(' ', "\\ ") + " --wait",
            "--wait|",
        ),
        (
            "ohmyzsh 6822, empty argument",
            format!("'{spaced}' -a ''"),
            "-a||",
        ),
    ] {
        let session = edit(&service, home.path(), &editor).await;
        session.until_true(source, |_| seen.exists()).await;
        session.until("ctrl-o submit").await;
        let found = std::fs::read_to_string(&seen).unwrap();
        assert!(found.starts_with(arguments), "{source}: {found}");
        std::fs::remove_file(&seen).unwrap();
    }
    service.stop().await;
}

/// lazygit 1629: keys that are typed while another program has the terminal acted when it ended.
#[tokio::test(flavor = "multi_thread")]
async fn keys_typed_for_another_program_decide_nothing() {
    let (generated, home) = (Generated::new().await, tempfile::tempdir().unwrap());
    let pager = program(
        home.path().join("pager"),
        "echo the pager has it\nwhile [ ! -e \"$HOME/go\" ]; do sleep 0.05; done",
    );
    let mut session = on_findings_with(&generated, home.path(), &[("PAGER", &pager)]).await;
    // A row that the user selected accepts a verdict at once.
    session.keys("jk\r");
    session
        .until_true("the keys of the detail", |text| {
            text.contains("History 0") && !text.contains("enter open")
        })
        .await;
    session.keys("|");
    session.until("the pager has it").await;
    session.keys("f");
    std::fs::write(home.path().join("go"), "").unwrap();
    session.until("c f a w x i decide").await;
    session.keys("?");
    session.until("filter:").await;
    session.keys("\x1b");
    session
        .until_true("the help is closed", |text| !text.contains("filter:"))
        .await;
    assert!(
        !session.text().contains("false positive by"),
        "{}",
        session.text()
    );
    session.keys("f");
    session.until("false positive by").await;
}
