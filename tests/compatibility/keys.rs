//! Key scripts of an earlier version, replayed in the dashboard on the data of the fixture.

use std::time::Duration;

use super::{Home, fixture, text};
use crate::pty::Session;

/// Types the keys of each line of a script and waits for its texts. Keys after `~` are repeated
/// until the texts appear.
async fn replay(session: &mut Session, runner: &str) {
    for line in text(runner).lines().filter(|line| !line.starts_with('#')) {
        let (keys, texts) = line.split_once('\t').unwrap();
        let keys = keys
            .replace("\\r", "\r")
            .replace("\\e", "\x1b")
            .replace("\\t", "\t")
            .replace("\\u", "\x1b[A");
        let is_expected = |screen: &str| {
            texts.split('\t').all(|text| match text.strip_prefix('!') {
                Some(absent) => !screen.contains(absent),
                None => screen.contains(text),
            })
        };
        let Some(repeated) = keys.strip_prefix('~') else {
            session.keys(&keys);
            session.until_true(line, is_expected).await;
            continue;
        };
        for _ in 0..20 {
            if is_expected(&session.text()) {
                break;
            }
            session.keys(repeated);
            let shown = session.until_true(line, is_expected);
            let _ = tokio::time::timeout(Duration::from_millis(1200), shown).await;
        }
        session.until_true(line, is_expected).await;
    }
    // One `q` closes one view.
    session.keys("qqqq");
    assert_eq!(session.ended().await, 0);
    session.restored().await;
}

fn open(home: &Home, arguments: &[&str]) -> Session {
    let session = Session::start(
        home.path(),
        arguments,
        &[("http_proxy", "http://127.0.0.1:9")],
    );
    session.resize(50, 160);
    session
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_on_the_service_show_same_data() {
    let home = Home::with_fixture();
    let service = home.serve().await;
    replay(&mut open(&home, &[]), "keys/service.txt").await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_without_the_service_show_cached_data() {
    let home = Home::with_fixture();
    replay(&mut open(&home, &[]), "keys/cached.txt").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_on_the_bundle_show_its_data() {
    let home = Home::empty();
    home.output(&["unbundle", fixture("practice.bundle").to_str().unwrap()])
        .await;
    replay(
        &mut open(&home, &["--from-bundle", "Practice range"]),
        "keys/bundle.txt",
    )
    .await;
}
