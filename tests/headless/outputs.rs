//! Outputs that cannot be written, and readers that leave early.

use std::fs::OpenOptions;
use std::process::Stdio;

use super::{CliFixture, command};

/// Commands with an output, each for the service and the home directory of [`CliFixture`].
const COMMANDS: [&[&str]; 16] = [
    &["workspaces", "list"],
    &["workspaces", "list", "--json"],
    &["workspaces", "create", "second"],
    &["targets", "list"],
    &["targets", "add", "127.0.0.2"],
    &["scans", "list", "--json"],
    &["findings", "list", "--json"],
    &["findings", "export", "--format", "csv"],
    &[
        "findings",
        "export",
        "--format",
        "markdown",
        "-o",
        "/dev/full",
    ],
    &["reports", "list", "--json"],
    &["wordlists", "list"],
    &["wordlists", "contents", "1"],
    &["loggers", "list", "--json"],
    &["captures", "export", "--format", "har"],
    &["captures", "export", "--format", "har", "-o", "/dev/full"],
    &["api", "GET", "/workspaces"],
];

fn full() -> Stdio {
    OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap()
        .into()
}

fn closed_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[tokio::test]
async fn full_output_fails_every_command() {
    let cli = CliFixture::new().await;
    cli.does(&["targets", "add", "127.0.0.1"]).await;
    for args in COMMANDS {
        let output = cli
            .command(args)
            .stdout(full())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let ended = output.wait_with_output().await.unwrap();
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{args:?}: {err}");
        assert!(
            err.contains("not written: no space left on device"),
            "{args:?}: {err}"
        );
    }
    cli.service.stop().await;
}

#[tokio::test]
async fn closed_pipe_ends_quietly_with_the_usual_code() {
    let cli = CliFixture::new().await;
    cli.does(&["targets", "add", "127.0.0.1"]).await;
    for args in COMMANDS.iter().filter(|args| !args.contains(&"/dev/full")) {
        let output = cli
            .command(args)
            .stdout(closed_pipe())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let ended = output.wait_with_output().await.unwrap();
        assert_eq!(
            (ended.status.code(), String::from_utf8_lossy(&ended.stderr)),
            (Some(0), "".into()),
            "{args:?}"
        );
    }
    cli.service.stop().await;
}

#[tokio::test]
async fn closed_or_full_standard_error_does_not_change_the_code() {
    let cli = CliFixture::new().await;
    for error in [full(), closed_pipe()] {
        let args = [
            "findings",
            "decide",
            "--query",
            "name:nothing",
            "--verdict",
            "confirmed",
        ];
        let expected = cli.run(&args).await.code;
        let mut output = cli
            .command(&args)
            .stdout(Stdio::null())
            .stderr(error)
            .spawn()
            .unwrap();
        assert_eq!(output.wait().await.unwrap().code(), Some(expected));
    }
    let missing = command(cli.home.path(), &["workspaces", "list"])
        .stderr(closed_pipe())
        .status()
        .await
        .unwrap();
    assert_eq!(
        missing.code(),
        Some(1),
        "an error that cannot be printed is an error"
    );
    cli.service.stop().await;
}
