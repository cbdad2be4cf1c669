//! A panic while the dashboard has the terminal.

use std::sync::Arc;

use portable_pty::CommandBuilder;
use scandeck::dashboard::base::LiveSettings;
use scandeck::dashboard::runtime;
use scandeck::dashboard::runtime::{DashboardSettings, DashboardStart};
use tokio_util::sync::CancellationToken;

use super::Session;

const CHILD: &str = "SCANDECK_TEST_PANIC";

/// The test starts itself in a terminal. The connector of the child panics on the answer to the
/// first question.
#[tokio::test(flavor = "multi_thread")]
async fn panic_restores_terminal_before_message() {
    if std::env::var_os(CHILD).is_some() {
        let connect = Arc::new(|_| panic!("struck by a test"));
        let live = LiveSettings {
            mouse: true,
            ..LiveSettings::default()
        };
        let settings = DashboardSettings {
            live,
            ..DashboardSettings::default()
        };
        let _ = runtime::run(
            DashboardStart::Prompt(None),
            connect,
            settings,
            CancellationToken::new(),
        )
        .await;
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "pty::panic::panic_restores_terminal_before_message",
        "--nocapture",
    ]);
    let mut session = Session::start_command(home.path(), command, &[(CHILD, "1")]);
    session.until("Where do your scans run?").await;
    session.keys("l");
    session.until("struck by a test").await;
    assert_ne!(session.ended().await, 0);
    session.restored().await;
}
