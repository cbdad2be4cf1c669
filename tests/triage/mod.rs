//! Triage as a person does it, in the real binary on a generated workspace.

mod generated;
mod retest;

use crate::pty::Session;
use generated::Generated;

/// The dashboard at 80×24 on a generated workspace.
async fn open(generated: &Generated, home: &std::path::Path) -> Session {
    let mut session = Session::start(home, &[], &[("SCANDECK_BASE_URL", &generated.base), ("SCANDECK_API_KEY", "k")]);
    session.resize(24, 80);
    session.until("400").await;
    session
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generated_workspace_is_shown() {
    let (generated, home) = (Generated::new().await, tempfile::tempdir().unwrap());
    let mut session = open(&generated, home.path()).await;
    session.keys("q");
    assert_eq!(session.ended().await, 0);
}
