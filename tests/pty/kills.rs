//! `kill -9` of the dashboard the moment a decision is drawn as saved.
//!
//! `SCANDECK_KILLS` sets the number of kills; `.ci/full` makes 200.

use std::path::{Path, PathBuf};
use std::time::Duration;

use scandeck::triage::{Change, Store, Verdict};

use super::Session;
use crate::kills;
use crate::service::TestService;
use crate::service::runner::typical_events;

/// The directory of the only service in this home directory.
fn service_directory(home: &Path) -> PathBuf {
    let mut services = std::fs::read_dir(home.join("state/scandeck/of")).unwrap();
    services.next().unwrap().unwrap().path()
}

#[tokio::test(flavor = "multi_thread")]
async fn decision_drawn_as_saved_survives_kill_9() {
    let (service, home) = (TestService::new().await, tempfile::tempdir().unwrap());
    service.runner.set_events(typical_events());
    service.runner.finish_scans(1);
    let scan = service.scan(service.target("127.0.0.1").await).await;
    service.until_status(scan, "finished").await;
    let kills = kills();
    for number in 0..kills {
        let mut session = Session::start(
            home.path(),
            &[],
            &[
                ("SCANDECK_BASE_URL", &service.base),
                ("SCANDECK_API_KEY", &service.key),
            ],
        );
        session.until("live").await;
        session.until("3 Findings 2").await;
        // Without the filter on undecided findings, a decided one stays in the list.
        session.keys("3/\x15name:web.key\r");
        session.until("1 of 1").await;
        let (key, word, verdict) = match number % 2 {
            0 => ("f", "false", Verdict::FalsePositive),
            _ => ("c", "confirmed", Verdict::Confirmed),
        };
        // Its row in the list; the notice names the finding and the verdict before they are saved.
        let is_saved = |text: &str| {
            text.lines()
                .any(|line| line.contains("◆ CRIT ") && line.contains(word) && !line.contains('…'))
        };
        // Just after the first start, the store is still being created, or the row has only just
        // appeared.
        let is_answered = |text: &str| {
            is_saved(text)
                || ["still loading", "too soon"]
                    .iter()
                    .any(|why| text.contains(why))
        };
        while !is_saved(&session.text()) {
            session.keys(key);
            session.until_true(word, is_answered).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        session.signal(rustix::process::Signal::KILL);
        session.ended().await;
        let opened = Store::open(&service_directory(home.path())).await.unwrap();
        let decided = opened
            .events
            .iter()
            .rev()
            .find_map(|event| match &event.change {
                Change::Decide(decision) => Some(decision.verdict),
                _ => None,
            });
        assert_eq!(decided, Some(verdict), "kill {number}");
        opened.store.close().await;
    }
    println!("{kills} kills of the dashboard, no saved decision lost");
    service.stop().await;
}
