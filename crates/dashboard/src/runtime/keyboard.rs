//! The reader of the terminal while the dashboard has it.
//!
//! ```text
//!   terminal ─► bytes ─► terminal input: keys, pastes, mouse events, the answer to the question for the background
//! ```
//!
//! crossterm reads the same bytes on its own: on the thread of the screen it would block in the
//! middle of a sequence and read without end from a closed terminal, and from a thread of its own
//! each key would reach the screen 0.2 ms later.

use crate::runtime::terminal_input::{InputParser, TerminalInput};
use crossterm::event::{Event, KeyEvent, KeyEventKind};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use std::io::{self, stdin};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, timeout_at};

/// Bytes that are read at once.
const CHUNK: usize = 4096;

/// How long the end of the reader waits for the answer, which the next program would read as keys.
const ANSWER: Duration = Duration::from_millis(100);

/// The reader of the terminal.
pub(crate) struct Keyboard {
    terminal: AsyncFd<OwnedFd>,
    parser: InputParser,
    /// When the terminal was queried for its background.
    queried_at: Instant,
}

impl Keyboard {
    /// Starts to read. The terminal was queried for its background at this time.
    ///
    /// # Errors
    /// When the standard input cannot be waited for.
    pub fn open(queried_at: Instant) -> io::Result<Self> {
        let terminal = stdin().as_fd().try_clone_to_owned()?;
        #[expect(
            deprecated,
            reason = "its unsafe successor asks for what an OwnedFd guarantees"
        )]
        let terminal = AsyncFd::with_interest(terminal, Interest::READABLE)?;
        Ok(Self {
            terminal,
            parser: InputParser::new(queried_at),
            queried_at,
        })
    }

    /// The next input; an error when the terminal is gone.
    pub async fn next(&mut self) -> io::Result<TerminalInput> {
        loop {
            if let Some(input) = self.at_hand() {
                return input;
            }
            let readable = self.terminal.readable();
            let ready = match self.parser.held_until() {
                Some(until) => timeout_at(until, readable).await,
                None => Ok(readable.await),
            };
            match ready {
                Ok(ready) => {
                    let mut ready = ready?;
                    if !is_readable(self.terminal.get_ref())? {
                        ready.clear_ready();
                    }
                }
                Err(_) => self.parser.release_late(Instant::now()),
            }
        }
    }

    /// The next input, if it has arrived.
    pub fn at_hand(&mut self) -> Option<io::Result<TerminalInput>> {
        if self.parser.inputs.is_empty()
            && let Err(error) = self.read()
        {
            return Some(Err(error));
        }
        self.parser.inputs.pop_front().map(Ok)
    }

    /// Reads the bytes that have arrived.
    fn read(&mut self) -> io::Result<()> {
        let terminal = self.terminal.get_ref();
        // The terminal is shared with other programs, so it is not switched to reads that never
        // wait.
        if !is_readable(terminal)? {
            return Ok(());
        }
        let mut bytes = [0; CHUNK];
        match rustix::io::read(terminal, &mut bytes) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.parser.take(&bytes[..count], Instant::now());
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The choice of this function for the next input, if it has arrived and is a key. Without a
    /// choice, the input remains.
    pub fn take_key<T>(&mut self, choose: impl FnOnce(KeyEvent) -> Option<T>) -> Option<T> {
        if self.parser.inputs.is_empty() {
            // An error is reported by the next read.
            let _ = self.read();
        }
        let Some(TerminalInput::Event(Event::Key(key))) = self.parser.inputs.front() else {
            return None;
        };
        let chosen = Some(*key)
            .filter(|key| key.kind == KeyEventKind::Press)
            .and_then(choose)?;
        self.parser.inputs.pop_front();
        Some(chosen)
    }

    /// Stops reading. After this, another program receives the keys.
    pub async fn close(mut self) {
        let limit = self.queried_at + ANSWER;
        let answer = async { while self.parser.awaits_background && self.next().await.is_ok() {} };
        // A terminal that does not answer is not an error.
        let _ = timeout_at(limit, answer).await;
    }
}

/// Whether a read returns at once: with bytes, or because the terminal is gone.
fn is_readable(terminal: &OwnedFd) -> io::Result<bool> {
    let mut polled = [PollFd::new(terminal, PollFlags::IN)];
    match poll(
        &mut polled,
        Some(&Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        }),
    ) {
        Ok(_) => Ok(polled[0]
            .revents()
            .intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR)),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(error.into()),
    }
}
