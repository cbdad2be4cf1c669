//! The dashboard on a running service: start, resize, suspend, edit, quit, kill; and what is wrong before it opens.

use portable_pty::CommandBuilder;
use rustix::process::Signal;

use super::Session;
use crate::service::World;

/// The dashboard on a test's service.
fn on(world: &World, home: &std::path::Path) -> Session {
    Session::start(home, &[], &[("SCANDECK_BASE_URL", &world.base), ("SCANDECK_API_KEY", &world.key)])
}

#[tokio::test(flavor = "multi_thread")]
async fn it_opens_is_resized_to_any_size_and_leaves_the_terminal_as_it_was() {
    let (world, home) = (World::new().await, tempfile::tempdir().unwrap());
    let mut session = on(&world, home.path());
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
    session.until("goes on").await;
    session.assert_restored();
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_end_it_with_the_terminal_as_it_was() {
    let (world, home) = (World::new().await, tempfile::tempdir().unwrap());
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let mut session = on(&world, home.path());
        session.until("live").await;
        session.signal(signal);
        assert_eq!(session.ended().await, code);
        session.until("goes on").await;
        session.assert_restored();
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_z_gives_the_terminal_back_and_fg_brings_the_dashboard_again() {
    let (world, home) = (World::new().await, tempfile::tempdir().unwrap());
    let mut command = CommandBuilder::new("sh");
    command.args(["-i", "-m"]);
    let variables: [(&str, &str); 3] =
        [("SCANDECK_BASE_URL", &world.base), ("SCANDECK_API_KEY", &world.key), ("PS1", "ready> ")];
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
    session.until("goes on").await;
    assert!(!session.is_full_screen());
    session.keys("exit\n");
    session.ended().await;
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_goes_through_the_editor_and_a_form_makes_what_it_says() {
    let (world, home) = (World::new().await, tempfile::tempdir().unwrap());
    let editor = home.path().join("editor");
    std::fs::write(&editor, "#!/bin/sh\nprintf 'Made in the editor\\n' > \"$1\"\n").unwrap();
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let editor = editor.to_str().unwrap();
    let mut session = Session::start(
        home.path(),
        &[],
        &[("SCANDECK_BASE_URL", &world.base), ("SCANDECK_API_KEY", &world.key), ("EDITOR", editor)],
    );
    session.until("live").await;
    session.keys("1n");
    session.until("Name").await;
    session.keys("\x18");
    session.until("Made in the editor").await;
    assert!(session.is_full_screen());
    session.keys("\x0f");
    let made = world.until("/workspaces", |all| all.as_array().is_some_and(|all| all.len() == 2)).await;
    assert_eq!(made[1]["name"], "Made in the editor");
    session.until_true("the form is closed", |text| !text.contains("ctrl-o from anywhere")).await;
    session.keys("q");
    assert_eq!(session.ended().await, 0);
    session.assert_restored();
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_it_also_while_the_editor_has_the_terminal() {
    let (world, home) = (World::new().await, tempfile::tempdir().unwrap());
    let editor = home.path().join("editor");
    std::fs::write(&editor, "#!/bin/sh\necho the editor has it\nread line\n").unwrap();
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let editor = editor.to_str().unwrap();
    let mut session = Session::start(
        home.path(),
        &[],
        &[("SCANDECK_BASE_URL", &world.base), ("SCANDECK_API_KEY", &world.key), ("EDITOR", editor)],
    );
    session.until("live").await;
    session.keys("1n");
    session.until("Name").await;
    session.keys("\x18");
    session.until("the editor has it").await;
    session.signal(Signal::TERM);
    assert_eq!(session.ended().await, 143);
    session.assert_restored();
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_before_it_opens_is_said_with_what_to_do() {
    let (world, home) = (World::new().await, tempfile::tempdir().unwrap());
    let elsewhere = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (good, refused) = (world.base.clone(), format!("http://{elsewhere}"));
    let loggers = world.logger_base.clone();
    for (base, key, words, hint) in [
        (good.as_str(), "wrong", "key is not accepted", "SCANDECK_API_KEY"),
        (refused.as_str(), "k", "no connection to", "base URL"),
        (loggers.as_str(), "k", "not the API", "base URL"),
        ("10.1.2.3", "k", "scheme", "https://10.1.2.3"),
        ("http://10.1.2.3", "k", "in the clear", "--insecure-http"),
        (good.as_str(), "", "no API key", "SCANDECK_API_KEY"),
    ] {
        let mut session = Session::start(home.path(), &["--base-url", base], &[("SCANDECK_API_KEY", key)]);
        assert_eq!(session.ended().await, 1);
        // A line of the terminal may be broken anywhere.
        let joined = |text: &str| text.replace('\n', "").contains(words) && text.replace('\n', "").contains(hint);
        session.until_true(words, joined).await;
        assert!(!session.is_full_screen());
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_goes_away_and_comes_back_under_the_dashboard() {
    let (home, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let settings = || crate::service::settings(dir.path());
    let world = World::at(settings(), None, crate::service::runner::Script::default()).await;
    let base = world.base.clone();
    let mut session = on(&world, home.path());
    session.until("live").await;
    session.keys("1");
    session.until("Default").await;
    world.stop().await;
    session.until_true("that it fails", |text| !text.contains("live")).await;
    assert!(session.text().contains("Default"), "what was known stays\n{}", session.text());
    let mut again = settings();
    again.listen = base.trim_start_matches("http://").split('/').next().unwrap().parse().unwrap();
    let world = World::at(again, None, crate::service::runner::Script::default()).await;
    session.until("live").await;
    session.keys("q");
    assert_eq!(session.ended().await, 0);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_start_shows_what_was_known_although_the_service_is_down() {
    let (world, home) = (World::new().await, tempfile::tempdir().unwrap());
    world.script.tells(crate::service::runner::usual());
    world.script.let_end(1);
    let scan = world.scan(world.target("127.0.0.1").await).await;
    world.until_status(scan, "finished").await;
    let mut session = on(&world, home.path());
    session.until("Finding web.key").await;
    session.keys("q");
    assert_eq!(session.ended().await, 0);
    let (base, key) = (world.base.clone(), world.key.clone());
    world.stop().await;
    let mut session = Session::start(home.path(), &[], &[("SCANDECK_BASE_URL", &base), ("SCANDECK_API_KEY", &key)]);
    session.until("Finding web.key").await;
    session.until("Findings stale").await;
    session.until("no answer").await;
    assert!(session.text().contains("Finding web.key"), "what was known stays\n{}", session.text());
    session.keys("q");
    assert_eq!(session.ended().await, 0);
    session.assert_restored();
}
