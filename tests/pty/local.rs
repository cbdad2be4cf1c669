//! The first start, and the local service that continues to run without the dashboard.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use super::Session;
use crate::service::TestService;

/// The local service of a home directory; stopped on drop.
struct Local(Pid);

impl Local {
    fn of(home: &Path) -> Self {
        Self(pid(home))
    }

    fn is_alive(&self) -> bool {
        test_kill_process(self.0).is_ok()
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::TERM);
        let begun = Instant::now();
        while self.is_alive() && begun.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The process that `service.json` names.
fn pid(home: &Path) -> Pid {
    let info = fs::read(home.join("state/scandeck/service/service.json")).unwrap();
    let info: Value = serde_json::from_slice(&info).unwrap();
    Pid::from_raw(info["pid"].as_i64().unwrap() as i32).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn local_service_outlives_dashboard_and_is_found_by_next_one() {
    let home = tempfile::tempdir().unwrap();
    let mut first = Session::start(home.path(), &[], &[]);
    first.until("Where do your scans run?").await;
    assert!(
        !home.path().join("state/scandeck/service").exists(),
        "no service before the choice"
    );
    first.keys("l");
    first.until("live").await;
    let local = Local::of(home.path());
    first.signal(Signal::KILL);
    first.ended().await;
    assert!(local.is_alive());

    // The second dashboard asks no question and connects to the same process, and so does a third
    // one beside it.
    let mut second = Session::start(home.path(), &[], &[]);
    second.until("live").await;
    let mut third = Session::start(home.path(), &[], &[]);
    third.until("live").await;
    assert_eq!(pid(home.path()), local.0);
    for session in [&mut second, &mut third] {
        session.keys("q");
        assert_eq!(session.ended().await, 0);
        session.until("the local service keeps running").await;
        session.restored().await;
    }
    assert!(local.is_alive());
}

#[tokio::test(flavor = "multi_thread")]
async fn quitting_at_first_start_leaves_no_files() {
    let home = tempfile::tempdir().unwrap();
    let mut session = Session::start(home.path(), &[], &[]);
    session.until("Where do your scans run?").await;
    session.keys("q");
    assert_eq!(session.ended().await, 0);
    session.restored().await;
    assert!(!home.path().join("state/scandeck/connection.toml").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn hosted_service_is_checked_then_remembered_with_private_key_file() {
    let (service, home) = (TestService::new().await, tempfile::tempdir().unwrap());
    let mut first = Session::start(home.path(), &[], &[]);
    first.until("Where do your scans run?").await;
    first.keys("h");
    first.until("Base URL").await;
    first.keys(&service.base);
    first.keys("\twrong-");
    first.keys("\x0f");
    first.until("key rejected").await;
    assert!(
        !home.path().join("state/scandeck/connection.toml").exists(),
        "a rejected connection is not remembered"
    );
    assert!(!first.text().contains("wrong-"), "the key is masked");
    // The form still has the URL; backspaces delete the wrong key.
    first.keys(&"\x7f".repeat(6));
    first.keys(&service.key);
    first.keys("\x0f");
    first.until("live").await;
    first.keys("q");
    assert_eq!(first.ended().await, 0);
    let key = home.path().join("state/scandeck/key");
    assert_eq!(fs::read_to_string(&key).unwrap().trim(), service.key);
    assert_eq!(
        fs::metadata(&key).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let second = Session::start(home.path(), &[], &[]);
    second.until("live").await;
    drop(second);
    service.stop().await;
}
