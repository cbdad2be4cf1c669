//! A panic while the dashboard has the terminal.

use std::sync::Arc;

use portable_pty::CommandBuilder;
use scandeck::dashboard::runtime;
use scandeck::dashboard::runtime::DashboardStart;
use tokio_util::sync::CancellationToken;

use super::Session;

const CHILD: &str = "SCANDECK_TEST_PANIC";

/// The test starts itself in a terminal; the child's connector panics when the first question is answered.
#[tokio::test(flavor = "multi_thread")]
async fn a_panic_gives_the_terminal_back_before_it_is_told() {
    if std::env::var_os(CHILD).is_some() {
        let connect = Arc::new(|_| panic!("struck by a test"));
        let _ = runtime::run(DashboardStart::Ask(None), connect, Vec::new(), CancellationToken::new()).await;
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args(["--exact", "pty::panic::a_panic_gives_the_terminal_back_before_it_is_told", "--nocapture"]);
    let mut session = Session::start_command(home.path(), command, &[(CHILD, "1")]);
    session.until("Where do your scans run?").await;
    session.keys("l");
    session.until("struck by a test").await;
    assert_ne!(session.ended().await, 0);
    session.assert_restored();
}
