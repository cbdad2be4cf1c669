//! The signals that the dashboard handles.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaughtSignal {
    /// End the dashboard; the number decides the exit code.
    End(i32),
    /// Continue after a stop; the terminal can be in any state.
    Continued,
}

#[derive(Debug)]
pub struct SignalStream {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    go_on: Signal,
}

impl SignalStream {
    /// Registers the handlers.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            go_on: signal(continued())?,
        })
    }

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

/// Stops this process group, as ctrl-z does, and returns when it continues. Without a shell that could continue it, the
/// system ignores the stop, and this returns at once.
pub async fn stop_until_continued() -> io::Result<()> {
    let mut continued = signal(continued())?;
    rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
    // The stop can take effect a moment after the call has returned. In both cases one of these two futures ends only
    // afterwards.
    tokio::select! {
        _ = continued.recv() => {}
        () = tokio::time::sleep(std::time::Duration::from_millis(100)) => {}
    }
    Ok(())
}
