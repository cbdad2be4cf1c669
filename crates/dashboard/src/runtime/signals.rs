//! The signals that the dashboard handles.

use rustix::process::Signal as Kill;
use std::future::poll_fn;
use std::io;
use std::task::Poll;
use tokio::signal::unix::{Signal, SignalKind, signal};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessSignal {
    /// End the dashboard; the number decides the exit code.
    End(i32),
    /// Continue after a stop; the terminal can be in any state.
    Continued,
    /// The terminal has another size.
    Resized,
}

/// The signals that would end the process without restoring the terminal, except those of a program
/// error.
const ENDS: [Kill; 13] = [
    Kill::HUP,
    Kill::INT,
    Kill::QUIT,
    Kill::TERM,
    Kill::USR1,
    Kill::USR2,
    Kill::ALARM,
    Kill::VTALARM,
    Kill::PROF,
    Kill::XCPU,
    Kill::IO,
    Kill::TRAP,
    Kill::SYS,
];

#[derive(Debug)]
pub struct SignalStream {
    ends: Vec<(Signal, i32)>,
    continues: Signal,
    resizes: Signal,
}

impl SignalStream {
    /// Registers the handlers.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub fn listen() -> io::Result<Self> {
        let listen =
            |kill: &Kill| Ok((signal(SignalKind::from_raw(kill.as_raw()))?, kill.as_raw()));
        let ends = ENDS.iter().map(listen).collect::<io::Result<_>>()?;
        Ok(Self {
            ends,
            continues: signal(continued())?,
            resizes: signal(SignalKind::window_change())?,
        })
    }

    pub async fn next(&mut self) -> ProcessSignal {
        poll_fn(|context| {
            let ended = self.ends.iter_mut().find_map(|(signal, number)| {
                signal
                    .poll_recv(context)
                    .is_ready()
                    .then_some(ProcessSignal::End(*number))
            });
            if let Some(ended) = ended {
                return Poll::Ready(ended);
            }
            if self.continues.poll_recv(context).is_ready() {
                return Poll::Ready(ProcessSignal::Continued);
            }
            self.resizes
                .poll_recv(context)
                .map(|_| ProcessSignal::Resized)
        })
        .await
    }
}

impl ProcessSignal {
    /// Whether a key of the terminal, ctrl-c or ctrl-\\, sends this signal to every program in it.
    pub fn is_typed(self) -> bool {
        [Kill::INT, Kill::QUIT]
            .iter()
            .any(|kill| self == Self::End(kill.as_raw()))
    }
}

fn continued() -> SignalKind {
    SignalKind::from_raw(Kill::CONT.as_raw())
}

/// Stops this process group, as ctrl-z does, and returns when it continues. Without a shell that
/// could continue it, the system ignores the stop, and this returns at once.
pub async fn stop_until_continued() -> io::Result<()> {
    let mut continued = signal(continued())?;
    rustix::process::kill_current_process_group(Kill::TSTP)?;
    // The stop can take effect a moment after the call has returned. In both cases one of these two
    // futures ends only afterwards.
    tokio::select! {
        _ = continued.recv() => {}
        () = tokio::time::sleep(std::time::Duration::from_millis(100)) => {}
    }
    Ok(())
}
