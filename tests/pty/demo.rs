//! The demo in its dashboard, and scripts that use it from another shell.

use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use super::Session;
use crate::api::until;

/// Plants one of two hundred payloads in the page that requests a URL from its query.
const HUNT: &str = r#"set -eu
scandeck loggers create hunt
scandeck payloads new --logger hunt --count 200 -o keys.txt
line=$(sed -n 137p keys.txt)
curl -sSfG "$1/later" --data-urlencode "url=$line" --data-urlencode seconds=0
"#;

/// A configuration with a notification command. The demo ignores its profile, for which there is no
/// key.
const CONFIG: &str = r#"
default_profile = "prod"
alerts.command = ["sh", "-c", 'echo "$SCANDECK_TITLE: $SCANDECK_BODY" >> heard']
[profiles.prod]
base_url = "https://h.test"
"#;

/// The shortest text between `before` and `after`.
fn word(text: &str, before: &str, after: &str) -> String {
    let words = text
        .match_indices(before)
        .filter_map(|(at, _)| text[at + before.len()..].split_once(after));
    words
        .map(|(word, _)| word)
        .min_by_key(|word| word.len())
        .expect(text)
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn script_on_demo_shares_payloads_with_open_dashboard() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config/scandeck");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), CONFIG).unwrap();
    let mut session = Session::start(
        home.path(),
        &["demo"],
        &[("TMPDIR", home.path().to_str().unwrap())],
    );
    session.until("● live").await;
    session.keys("?");
    session.until("/env'").await;
    let help = session.text();
    let page = word(&help, "http://", "/fetch");
    let settings = word(&help, ". '", "'");
    session.keys("\x1b");
    session
        .until_true("the help is closed", |text| !text.contains("in eight ways"))
        .await;
    session.keys("5");

    let bin = Path::new(env!("CARGO_BIN_EXE_scandeck")).parent().unwrap();
    let path = format!(
        "{}:{}",
        bin.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let script = format!(". '{settings}'\n{HUNT}");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script, "hunt", &format!("http://{page}/fetch")])
        .env("PATH", path)
        .current_dir(home.path())
        .stdin(Stdio::null());
    let ended = shell.output().await.unwrap();
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    session.until("#137 keys.txt").await;
    let alerts = || std::fs::read_to_string(home.path().join("heard")).unwrap_or_default();
    until(
        || async { alerts() },
        |alerts| alerts.contains("payload hit: #137 keys.txt"),
    )
    .await;
}
