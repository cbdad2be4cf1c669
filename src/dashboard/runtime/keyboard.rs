//! The events of the terminal, read on a thread of their own while the dashboard has the terminal.
//!
//! The event stream of crossterm wakes only the task that polled it first, so it cannot be polled both to wait and to look
//! for further events. A channel can. On a closed terminal crossterm reads without end: on a worker of the runtime that
//! would hold up all tasks, also the one that handles SIGHUP.

use crossterm::event::{Event, EventStream, KeyCode, KeyModifiers};
use futures::StreamExt;
use std::io;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Events that wait in the channel; further ones wait in the terminal.
const WAITING: usize = 1024;

/// Limit for the last read. On a closed terminal it does not end.
const LAST_READ: Duration = Duration::from_millis(250);

/// The answer of the terminal to the question for its background, if it arrives too late: crossterm reads it as keys,
/// which would be commands.
struct LateAnswer {
    /// Until when it may begin.
    until: Instant,
    /// The number of its keys that may still follow.
    keys_left: usize,
}

impl LateAnswer {
    /// After this time nothing is an answer.
    const PATIENCE: Duration = Duration::from_secs(5);
    /// More keys than the longest answer has.
    const LONGEST: usize = 40;

    fn expected() -> Self {
        Self { until: Instant::now() + Self::PATIENCE, keys_left: 0 }
    }

    /// Whether the event belongs to the answer: `ESC ]` is read as alt-], its end as alt-\ or ctrl-g.
    fn takes(&mut self, event: &Event) -> bool {
        let Event::Key(key) = event else { return false };
        let is = |letter, modifier| key.code == KeyCode::Char(letter) && key.modifiers.contains(modifier);
        if self.keys_left == 0 {
            let begins = is(']', KeyModifiers::ALT) && Instant::now() < self.until;
            self.keys_left = if begins { Self::LONGEST } else { 0 };
            return begins;
        }
        let ends = is('\\', KeyModifiers::ALT) || is('g', KeyModifiers::CONTROL);
        self.keys_left = if ends { 0 } else { self.keys_left - 1 };
        true
    }
}

/// The reader of terminal events.
pub(crate) struct Keyboard {
    events: mpsc::Receiver<io::Result<Event>>,
    /// Ends the thread when it is dropped.
    stop: DropGuard,
    thread: JoinHandle<()>,
}

impl Keyboard {
    /// Starts to read.
    pub fn open() -> Self {
        let (to, events) = mpsc::channel(WAITING);
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let thread = tokio::task::spawn_blocking(move || {
            Handle::current().block_on(stopped.run_until_cancelled(read(to)));
        });
        Self { events, stop: stop.drop_guard(), thread }
    }

    /// The next event, or `None` when the terminal is gone.
    pub async fn next(&mut self) -> Option<io::Result<Event>> {
        self.events.recv().await
    }

    /// The next event, if it has arrived.
    pub fn at_hand(&mut self) -> Option<io::Result<Event>> {
        self.events.try_recv().ok()
    }

    /// Stops reading. After this, another program receives the keys.
    pub async fn close(self) {
        drop(self.stop);
        match timeout(LAST_READ, self.thread).await {
            // It fails only if the thread panicked, which the panic hook has reported.
            Ok(_) => {}
            Err(_) => tracing::warn!("the terminal is still being read"),
        }
    }
}

async fn read(to: mpsc::Sender<io::Result<Event>>) {
    let mut stream = EventStream::new();
    let mut answer = LateAnswer::expected();
    while let Some(event) = stream.next().await {
        if event.as_ref().is_ok_and(|event| answer.takes(event)) {
            continue;
        }
        let broken = event.is_err();
        if to.send(event).await.is_err() || broken {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyEvent;

    #[test]
    fn late_answer_of_the_terminal_is_not_read_as_keys() {
        let key = |letter, modifiers| Event::Key(KeyEvent::new(KeyCode::Char(letter), modifiers));
        let mut answer = LateAnswer::expected();
        assert!(!answer.takes(&key('j', KeyModifiers::NONE)));
        assert!(answer.takes(&key(']', KeyModifiers::ALT)));
        assert!("11;rgb:ffff/ffff/ffff".chars().all(|letter| answer.takes(&key(letter, KeyModifiers::NONE))));
        assert!(answer.takes(&key('\\', KeyModifiers::ALT)));
        assert!(!answer.takes(&key('j', KeyModifiers::NONE)));
    }
}
