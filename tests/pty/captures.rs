//! The dashboard on a logger that sends more than ten megabytes in one response: every capture is
//! archived, and read once.

use std::sync::Arc;
use std::time::Duration;

use scandeck::contract::Capture;
use scandeck::oob::Store;

use super::Session;
use crate::api::until;
use crate::triage::busy_logger::capture;
use crate::triage::generated::Generated;

/// One in ten has a body of 8 to 64 kB: 14 MB, several times what the archive takes at once.
const CAPTURES: i64 = 3_000;
const BIG: i64 = 10;

#[tokio::test(flavor = "multi_thread")]
async fn large_response_of_captures_is_archived_completely_and_read_once() {
    let (generated, home) = (Generated::with(0).await, tempfile::tempdir().unwrap());
    let (busy_logger, variables) = (
        &generated.busy_logger,
        [
            ("SCANDECK_BASE_URL", &*generated.base),
            ("SCANDECK_API_KEY", "k"),
        ],
    );
    busy_logger.generate(CAPTURES, BIG);
    let mut session = Session::start(home.path(), &[], &variables);
    // A debug program parses and archives these megabytes in some seconds.
    session.patience = Duration::from_secs(120);
    session.until("live").await;
    session.keys("5");
    session.until(&format!("n={CAPTURES}")).await;
    let lists = busy_logger.lists();
    until(|| async { busy_logger.lists() }, |now| *now > lists + 2).await;
    assert_eq!(busy_logger.readings(), [0], "there are no further captures");
    busy_logger.generate(CAPTURES + 5, BIG);
    session.until(&format!("n={}", CAPTURES + 5)).await;
    // The newest known capture is read once more, to detect that the logger was cleared.
    assert_eq!(busy_logger.readings(), [0, CAPTURES - 1]);
    session.keys("q");
    assert_eq!(session.ended().await, 0);
    let mut services = std::fs::read_dir(home.path().join("state/scandeck/of")).unwrap();
    let stored = Store::open(&services.next().unwrap().unwrap().path())
        .await
        .unwrap()
        .store
        .captures_of("Generated")
        .await;
    let mut stored: Vec<Capture> = stored
        .unwrap()
        .into_iter()
        .map(|one| Arc::unwrap_or_clone(one.capture))
        .collect();
    stored.sort_by_key(|capture| capture.id);
    assert!(
        stored
            .into_iter()
            .eq((1..=CAPTURES + 5).map(|id| capture(id, BIG))),
        "a capture is missing or differs"
    );
}
