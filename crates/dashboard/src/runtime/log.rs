//! Logging into a file of the state directory, because the terminal belongs to the screen.

use crate::config::StateDir;
use scandeck_wire::input_files::open_regular;
use scandeck_wire::text::CleanLog;
use std::fs;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Mutex;
use tracing_subscriber::EnvFilter;

/// A larger log is renamed to `dashboard.log.old`.
const LIMIT: u64 = 4 << 20;

/// Starts to log, at the level of `SCANDECK_LOG` (default `info`). Without a writable file there is
/// no log, and the dashboard works without it.
pub fn begin(state: &StateDir) {
    let path = state.log_file();
    if state.make().is_err() {
        return;
    }
    if fs::metadata(&path).is_ok_and(|file| file.len() > LIMIT) {
        let _ = fs::rename(&path, path.with_extension("log.old"));
    }
    let options = &mut OpenOptions::new();
    let Ok(file) = open_regular(&path, options.create(true).append(true).mode(0o600)) else {
        return;
    };
    let filter = EnvFilter::try_from_env("SCANDECK_LOG")
        .unwrap_or_else(|_| EnvFilter::new("warn,scandeck=info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(Mutex::new(CleanLog(file)))
        .with_ansi(false);
    // The file may be on a full disk, and standard error is the screen. A second call (tests, an
    // embedded demo) keeps the first logger.
    let _ = log.log_internal_errors(false).try_init();
}
