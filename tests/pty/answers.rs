//! Answers of the terminal on a slow line: late, split at any byte, unrequested. They are no keys.

use std::path::Path;
use std::time::Duration;

use super::Session;
use crate::triage::generated::Generated;

impl Session {
    /// Sends bytes as a slow line does: in parts of this many bytes, with a pause after each.
    pub async fn keys_slowly(&mut self, keys: &str, length: usize, pause: Duration) {
        for part in keys.as_bytes().chunks(length) {
            self.keys(str::from_utf8(part).unwrap());
            tokio::time::sleep(pause).await;
        }
    }
}

/// A dashboard that shows 400 undecided findings.
pub async fn on_findings(generated: &Generated, home: &Path) -> Session {
    on_findings_with(generated, home, &[]).await
}

pub async fn on_findings_with(
    generated: &Generated,
    home: &Path,
    variables: &[(&str, &str)],
) -> Session {
    let service = [
        ("SCANDECK_BASE_URL", &*generated.base),
        ("SCANDECK_API_KEY", "k"),
    ];
    let mut session = Session::start(home, &[], &[&service, variables].concat());
    session.until("live").await;
    session.keys("3");
    session.until("1 of 400").await;
    session
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_on_slow_line_decide_nothing() {
    let (generated, home) = (Generated::new().await, tempfile::tempdir().unwrap());
    let mut session = on_findings(&generated, home.path()).await;
    let answer = "\x1bP>|tmux 3.3a fxq\x1b\\\x1b]11;rgb:1e1e/ffff/0000\x07\x1b[?1;2c\x1b[24;80R";
    // As much as one network packet has, and as little as a serial line sends at once.
    for (length, pause) in [(100, 0), (17, 200), (7, 300), (1, 20)] {
        session
            .keys_slowly(answer, length, Duration::from_millis(pause))
            .await;
    }
    // An answer that is cut, and its rest that never comes.
    session.keys("\x1b]52;c;Zm94");
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert!(!session.text().contains("u undo"), "{}", session.text());
    session.keys("f");
    session.until("1 decided").await;
    session.keys("q");
    assert_eq!(session.ended().await, 0);
    session.restored().await;
}
