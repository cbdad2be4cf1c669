//! SignalStream, turned into what they mean for the dashboard.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaughtSignal {
    /// Leave; the number tells the exit code.
    End(i32),
    /// Back after a stop: the terminal may be in any state.
    Continued,
}

/// The signals the dashboard listens to.
#[derive(Debug)]
pub struct SignalStream {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    go_on: Signal,
}

impl SignalStream {
    /// Begins to listen.
    ///
    /// # Errors
    /// When the system refuses handlers.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            go_on: signal(continued())?,
        })
    }

    /// The next one.
    pub async fn next(&mut self) -> CaughtSignal {
        tokio::select! {
            _ = self.terminate.recv() => CaughtSignal::End(15),
            _ = self.hang_up.recv() => CaughtSignal::End(1),
            _ = self.interrupt.recv() => CaughtSignal::End(2),
            _ = self.go_on.recv() => CaughtSignal::Continued,
        }
    }
}

fn continued() -> SignalKind {
    SignalKind::from_raw(rustix::process::Signal::CONT.as_raw())
}

/// Stops this process group, as ctrl-z does, and returns when it goes on. Where nobody could continue it (no shell
/// above), the system ignores the stop, and this returns at once.
pub async fn stop_until_continued() -> io::Result<()> {
    let mut continued = signal(continued())?;
    rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
    // The stop can take effect a moment after the call returned. Whether it was real or ignored, the first of these
    // two ends only afterwards.
    tokio::select! {
        _ = continued.recv() => {}
        () = tokio::time::sleep(std::time::Duration::from_millis(100)) => {}
    }
    Ok(())
}
