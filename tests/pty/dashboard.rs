//! The dashboard on a running service: start, resize, suspend, edit, quit, kill, and errors before
//! it opens.

use portable_pty::CommandBuilder;
use rustix::process::Signal;

use scandeck::contract::Risk;

use super::Session;
use crate::service::TestService;
use crate::service::runner::{finding, tested};

/// A dashboard connected to the service of a test.
fn on(service: &TestService, home: &std::path::Path) -> Session {
    Session::start(
        home,
        &[],
        &[
            ("SCANDECK_BASE_URL", &service.base),
            ("SCANDECK_API_KEY", &service.key),
        ],
    )
}

/// A dashboard that has opened the name of a new workspace in an editor with this script.
async fn in_editor(service: &TestService, home: &std::path::Path, script: &str) -> Session {
    let editor = home.join("editor");
    std::fs::write(&editor, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let editor = editor.to_str().unwrap();
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
async fn dashboard_resized_to_any_size_restores_terminal_on_quit() {
    let (service, home) = (TestService::new().await, tempfile::tempdir().unwrap());
    let mut session = on(&service, home.path());
    session.until("live").await;
    assert!(session.is_full_screen());
    for (rows, columns) in [(60, 200), (24, 80), (1, 1), (5, 20), (50, 90)] {
        session.resize(rows, columns);
        if rows > 20 {
            session.until("live").await;
        }
    }
    session.keys("q");
    assert_eq!(session.ended().await, 0);
    session.until("keeps running").await;
    session.restored().await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn colours_follow_late_answer_of_terminal_and_next_start_begins_with_them() {
    let (bright_cyan, blue) = (14, 4);
    let (service, home) = (TestService::new().await, tempfile::tempdir().unwrap());
    let mut session = on(&service, home.path());
    session.until_coloured(bright_cyan).await;
    session.keys("\x1b]11;rgb:ffff/ffff/");
    session.keys("ffff\x1b\\");
    session.until_coloured(blue).await;
    session.keys("q");
    // The keys of the answer opened nothing that would take `q`.
    assert_eq!(session.ended().await, 0);
    let session = on(&service, home.path());
    session.until_coloured(blue).await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dashboard_ended_by_signal_restores_terminal() {
    let (service, home) = (TestService::new().await, tempfile::tempdir().unwrap());
    let signals = [
        (Signal::TERM, 143),
        (Signal::HUP, 129),
        (Signal::INT, 130),
        (Signal::QUIT, 131),
        (Signal::USR1, 138),
        (Signal::ALARM, 142),
    ];
    for (signal, code) in signals {
        let mut session = on(&service, home.path());
        session.until("live").await;
        session.signal(signal);
        assert_eq!(session.ended().await, code);
        session.until("keeps running").await;
        session.restored().await;
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dashboard_suspended_by_ctrl_z_continues_after_fg() {
    let (service, home) = (TestService::new().await, tempfile::tempdir().unwrap());
    let mut command = CommandBuilder::new("sh");
    command.args(["-i", "-m"]);
    let variables: [(&str, &str); 3] = [
        ("SCANDECK_BASE_URL", &service.base),
        ("SCANDECK_API_KEY", &service.key),
        ("PS1", "ready> "),
    ];
    let mut session = Session::start_command(home.path(), command, &variables);
    session.until("ready>").await;
    session.keys(&format!("{}\n", env!("CARGO_BIN_EXE_scandeck")));
    session.until("● live").await;
    session.keys("\x1a");
    session.until("Stopped").await;
    assert!(!session.is_full_screen());
    session.keys("fg\n");
    session.until("● live").await;
    assert!(session.is_full_screen());
    session.keys("q");
    session.until("keeps running").await;
    assert!(!session.is_full_screen());
    session.keys("exit\n");
    session.ended().await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mouse_is_released_while_suspended_and_at_the_end() {
    let (service, home) = (TestService::new().await, tempfile::tempdir().unwrap());
    let config = home.path().join("config/scandeck");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "mouse = true\n").unwrap();
    let mut command = CommandBuilder::new("sh");
    command.args(["-i", "-m"]);
    let variables: [(&str, &str); 3] = [
        ("SCANDECK_BASE_URL", &service.base),
        ("SCANDECK_API_KEY", &service.key),
        ("PS1", "ready> "),
    ];
    let mut session = Session::start_command(home.path(), command, &variables);
    session.until("ready>").await;
    session.keys(&format!("{}\n", env!("CARGO_BIN_EXE_scandeck")));
    session.until("● live").await;
    assert!(session.has_mouse());
    session.keys("\x1a");
    session.until("Stopped").await;
    assert!(!session.has_mouse());
    session.keys("fg\n");
    session.until("● live").await;
    assert!(session.has_mouse());
    session.keys(":mouse\r");
    session.until("mouse off").await;
    assert!(!session.has_mouse());
    session.keys(":mouse\r");
    session.until("mouse on; hold shift").await;
    assert!(session.has_mouse());
    session.keys("q");
    session.until("keeps running").await;
    assert!(!session.has_mouse());
    session.keys("exit\n");
    session.ended().await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn form_field_edited_in_editor_is_sent() {
    let (service, home) = (TestService::new().await, tempfile::tempdir().unwrap());
    let mut session = in_editor(
        &service,
        home.path(),
        "printf 'Made in the editor\\n' > \"$1\"",
    )
    .await;
    session.until("Made in the editor").await;
    assert!(session.is_full_screen());
    session.keys("\x0f");
    let made = service
        .until("/workspaces", |all| {
            all.as_array().is_some_and(|all| all.len() == 2)
        })
        .await;
    assert_eq!(made[1]["name"], "Made in the editor");
    session
        .until_true("the form is closed", |text| !text.contains("ctrl-o submit"))
        .await;
    session.keys("q");
    assert_eq!(session.ended().await, 0);
    session.restored().await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dashboard_behind_editor_ends_by_signal() {
    let (service, home) = (TestService::new().await, tempfile::tempdir().unwrap());
    let mut session = in_editor(&service, home.path(), "echo the editor has it\nread line").await;
    session.until("the editor has it").await;
    session.signal(Signal::TERM);
    assert_eq!(session.ended().await, 143);
    session.restored().await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn editor_killed_by_typed_signal_returns_to_dashboard() {
    let (service, home) = (TestService::new().await, tempfile::tempdir().unwrap());
    for key in ["\x1c", "\x03"] {
        let mut session = in_editor(
            &service,
            home.path(),
            "stty -icanon -echo\necho the editor has it\nread line",
        )
        .await;
        session.until("the editor has it").await;
        session.keys(key);
        session.until("text unchanged").await;
        assert!(session.is_full_screen());
        session.signal(Signal::TERM);
        assert_eq!(session.ended().await, 143);
        session.restored().await;
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_terminal_ends_dashboard_with_129() {
    let (service, home) = (TestService::new().await, tempfile::tempdir().unwrap());
    let session = on(&service, home.path());
    session.until("live").await;
    assert_eq!(session.ended_by_closing("?").await, 129);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dashboard_that_cannot_connect_prints_cause_and_hint() {
    let (service, home) = (TestService::new().await, tempfile::tempdir().unwrap());
    let elsewhere = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let (good, refused) = (service.base.clone(), format!("http://{elsewhere}"));
    let loggers = service.logger_base.clone();
    for (base, key, words, hint) in [
        (good.as_str(), "wrong", "key rejected", "SCANDECK_API_KEY"),
        (refused.as_str(), "k", "cannot connect to", "base URL"),
        (loggers.as_str(), "k", "no scanning API v2", "base URL"),
        ("10.1.2.3", "k", "scheme", "https://10.1.2.3"),
        ("http://10.1.2.3", "k", "in clear text", "--insecure-http"),
        (good.as_str(), "", "no API key", "SCANDECK_API_KEY"),
    ] {
        let mut session = Session::start(
            home.path(),
            &["--base-url", base],
            &[("SCANDECK_API_KEY", key)],
        );
        assert_eq!(session.ended().await, 1);
        // The terminal can wrap a line anywhere.
        let joined = |text: &str| {
            text.replace('\n', "").contains(words) && text.replace('\n', "").contains(hint)
        };
        session.until_true(words, joined).await;
        assert!(!session.is_full_screen());
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dashboard_survives_restart_of_service() {
    let (home, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let settings = || crate::service::settings(dir.path());
    let service = TestService::with_settings(settings()).await;
    let base = service.base.clone();
    let mut session = on(&service, home.path());
    session.until("live").await;
    session.keys("1");
    session.until("Default").await;
    service.stop().await;
    session
        .until_true("a link that fails", |text| !text.contains("live"))
        .await;
    assert!(
        session.text().contains("Default"),
        "cached rows remain\n{}",
        session.text()
    );
    let mut again = settings();
    again.listen = base
        .trim_start_matches("http://")
        .split('/')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let service = TestService::with_settings(again).await;
    session.until("live").await;
    session.keys("q");
    assert_eq!(session.ended().await, 0);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn second_start_without_service_shows_cached_findings() {
    let (service, home) = (TestService::new().await, tempfile::tempdir().unwrap());
    service
        .runner
        .set_events(crate::service::runner::typical_events());
    service.runner.finish_scans(1);
    let scan = service.scan(service.target("127.0.0.1").await).await;
    service.until_status(scan, "finished").await;
    let mut session = on(&service, home.path());
    session.until("Finding web.key").await;
    session.keys("q");
    assert_eq!(session.ended().await, 0);
    let (base, key) = (service.base.clone(), service.key.clone());
    service.stop().await;
    let mut session = Session::start(
        home.path(),
        &[],
        &[("SCANDECK_BASE_URL", &base), ("SCANDECK_API_KEY", &key)],
    );
    session.until("Finding web.key").await;
    session.until("Findings stale").await;
    session.until("connection refused").await;
    assert!(
        session.text().contains("Finding web.key"),
        "cached rows remain\n{}",
        session.text()
    );
    session.keys("q");
    assert_eq!(session.ended().await, 0);
    session.restored().await;
}

/// A service with a finding, and a dashboard on it with this state directory.
async fn with_state(state: &std::path::Path) -> (TestService, Session) {
    let service = TestService::new().await;
    let found = finding("kept", Risk::High, "http://127.0.0.1/");
    service
        .runner
        .set_events(vec![tested("one", 1, vec![found])]);
    service.scan(service.target("127.0.0.1").await).await;
    let variables = [
        ("SCANDECK_BASE_URL", service.base.as_str()),
        ("SCANDECK_API_KEY", &service.key),
        ("XDG_STATE_HOME", state.to_str().unwrap()),
    ];
    let session = Session::start(state.parent().unwrap().parent().unwrap(), &[], &variables);
    (service, session)
}

#[tokio::test(flavor = "multi_thread")]
async fn state_directory_below_a_file_shows_findings_and_unsaved_data() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("file"), "").unwrap();
    let (service, mut session) = with_state(&home.path().join("file/state")).await;
    session.until("Finding kept").await;
    session.until("decisions cannot be saved").await;
    session.until("captures not archived").await;
    session.until("live").await;
    session.keys("q");
    session.ended().await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stores_behind_dangling_links_show_findings_and_the_links() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join("file/state");
    let (service, mut session) = with_state(&state).await;
    session.until("Finding kept").await;
    session.keys("q");
    session.ended().await;
    let of = std::fs::read_dir(state.join("scandeck/of"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    for store in ["decisions.db", "captures.db"] {
        std::fs::remove_file(of.join(store)).unwrap();
        std::os::unix::fs::symlink("missing.db", of.join(store)).unwrap();
    }
    let variables = [
        ("SCANDECK_BASE_URL", service.base.as_str()),
        ("SCANDECK_API_KEY", &service.key),
        ("XDG_STATE_HOME", state.to_str().unwrap()),
    ];
    let mut session = Session::start(home.path(), &[], &variables);
    session.until("Finding kept").await;
    session.until("decisions cannot be saved").await;
    session.until("NO DECISIONS").await;
    session.keys("q");
    session.ended().await;
    assert!(!of.join("missing.db").exists());
    service.stop().await;
}
