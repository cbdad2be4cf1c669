//! The keys, pastes and mouse events of the terminal while the dashboard has it.
//!
//! ```text
//!   terminal ─► bytes ─► the answer to the question for the background, or events
//! ```
//!
//! crossterm parses the same bytes, but reads them on its own: on the thread of the screen it would block in the middle of
//! a sequence and read without end from a closed terminal, and from a thread of its own each key would reach the screen
//! 0.2 ms later.

use crate::dashboard::runtime::terminal_answers::background_of;
use crossterm::event::{Event, KeyEvent, KeyEventKind};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use std::collections::VecDeque;
use std::io::{self, stdin};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use terminput_crossterm::to_crossterm;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, timeout_at};

/// Bytes that are read at once.
const CHUNK: usize = 4096;

/// How long bytes that may begin the answer wait for the next one.
const PAUSE: Duration = Duration::from_millis(50);

/// How long a partial answer waits for its rest.
const PARTIAL_RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);

/// How long the end of the reader waits for the answer, which the next program would read as keys.
const ANSWER: Duration = Duration::from_millis(100);

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// Input from the terminal.
#[derive(Debug, PartialEq)]
pub(crate) enum TerminalInput {
    Event(Event),
    /// The colour of the background, in answer to the question for it.
    Background([u8; 3]),
}

/// Parses the bytes of the terminal. Bytes that may belong to the answer of the terminal are held until it is certain:
/// as keys, they would be commands.
struct InputParser {
    /// The bytes of the event or answer that is not complete yet.
    bytes: Vec<u8>,
    /// When the last of them arrived.
    held_at: Instant,
    inputs: VecDeque<TerminalInput>,
    /// Until when an answer may begin.
    answer_until: Instant,
}

impl InputParser {
    /// After this time nothing is an answer.
    const PATIENCE: Duration = Duration::from_secs(5);
    /// More bytes than the longest answer has.
    const LONGEST: usize = 48;
    /// No keys that somebody types.
    const CERTAIN: &[u8] = b"\x1b]11;rgb";

    fn with_question_at(queried_at: Instant) -> Self {
        let answer_until = queried_at + Self::PATIENCE;
        Self { bytes: Vec::new(), held_at: queried_at, inputs: VecDeque::new(), answer_until }
    }

    /// Takes bytes that were read at once; whether more have arrived after them.
    fn take(&mut self, bytes: &[u8], more: bool) {
        self.release_late();
        self.held_at = Instant::now();
        for (at, &byte) in bytes.iter().enumerate() {
            self.push(byte, bytes.get(at + 1).copied().or(more.then_some(0)));
        }
    }

    /// Takes a byte; `next` has arrived after it.
    fn push(&mut self, byte: u8, next: Option<u8>) {
        if self.bytes.starts_with(Self::CERTAIN) {
            return self.push_to_answer(byte, next);
        }
        let may_begin_answer = !self.bytes.is_empty() && self.may_begin_answer();
        self.bytes.push(byte);
        if self.may_begin_answer() {
            return;
        }
        if may_begin_answer {
            self.bytes.pop();
            self.release_as_keys(Some(byte));
            if self.bytes.is_empty() {
                return self.push(byte, next);
            }
            self.bytes.push(byte);
        }
        self.parse(next);
    }

    /// Takes a byte after a certain beginning of the answer.
    fn push_to_answer(&mut self, byte: u8, next: Option<u8>) {
        let is_escaped = self.bytes.last() == Some(&ESC);
        let is_end = byte == BEL || is_escaped && byte == b'\\';
        let is_colour = !is_escaped && (byte.is_ascii_hexdigit() || matches!(byte, b'/' | b':' | ESC));
        if is_end || is_colour && self.bytes.len() < Self::LONGEST {
            self.bytes.push(byte);
            if is_end {
                self.inputs.extend(background_of(&self.bytes).map(TerminalInput::Background));
                self.bytes.clear();
                // There is one answer.
                self.answer_until = Instant::now();
            }
            return;
        }
        // A cut answer ends with the first other key.
        self.bytes.clear();
        if is_escaped {
            self.push(ESC, Some(byte));
        }
        self.push(byte, next);
    }

    /// Whether the bytes may be the beginning of an answer, or are a certain one.
    fn may_begin_answer(&self) -> bool {
        Self::CERTAIN.starts_with(&self.bytes) && Instant::now() < self.answer_until
    }

    /// Parses an event if its bytes are complete.
    fn parse(&mut self, next: Option<u8>) {
        // The key escape, unless it begins a sequence.
        if self.bytes == [ESC] && next.is_some_and(|next| next != ESC) {
            return;
        }
        if has_zero_column(&self.bytes) {
            return self.bytes.clear();
        }
        let event = match terminput::Event::parse_from(&self.bytes) {
            Ok(None) => return,
            event => event.ok().flatten().and_then(|event| to_crossterm(event).ok()),
        };
        self.inputs.extend(event.map(TerminalInput::Event));
        self.bytes.clear();
    }

    /// Until when the held bytes wait for the next one.
    fn held_until(&self) -> Option<Instant> {
        let is_certain = self.bytes.starts_with(Self::CERTAIN);
        let is_held = is_certain || !self.bytes.is_empty() && Self::CERTAIN.starts_with(&self.bytes);
        is_held.then(|| self.held_at + if is_certain { PARTIAL_RESPONSE_TIMEOUT } else { PAUSE })
    }

    /// Releases held bytes that have waited long enough: they are keys, unless they are certain to belong to the answer.
    fn release_late(&mut self) {
        if self.held_until().is_none_or(|until| Instant::now() < until) {
            return;
        }
        match self.bytes.starts_with(Self::CERTAIN) {
            true => self.bytes.clear(),
            false => self.release_as_keys(None),
        }
    }

    fn release_as_keys(&mut self, next: Option<u8>) {
        let held = std::mem::take(&mut self.bytes);
        for (at, &byte) in held.iter().enumerate() {
            self.bytes.push(byte);
            self.parse(held.get(at + 1).copied().or(next));
        }
    }
}

/// Whether it reports the mouse at a column or row 0, which do not exist: terminput subtracts 1.
fn has_zero_column(bytes: &[u8]) -> bool {
    let Some(report) =
        bytes.strip_prefix(b"\x1b[").and_then(|rest| rest.strip_suffix(b"M").or(rest.strip_suffix(b"m")))
    else {
        return false;
    };
    report
        .split(|&byte| byte == b';')
        .skip(1)
        .any(|number| !number.is_empty() && number.iter().all(|&byte| byte == b'0'))
}

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
        #[expect(deprecated, reason = "its unsafe successor asks for what an OwnedFd guarantees")]
        let terminal = AsyncFd::with_interest(terminal, Interest::READABLE)?;
        Ok(Self { terminal, parser: InputParser::with_question_at(queried_at), queried_at })
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
                Err(_) => self.parser.release_late(),
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
        // The terminal is shared with other programs, so it is not switched to reads that never wait.
        if !is_readable(terminal)? {
            return Ok(());
        }
        let mut bytes = [0; CHUNK];
        match rustix::io::read(terminal, &mut bytes) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.parser.take(&bytes[..count], count == bytes.len());
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The choice of this function for the next input, if it has arrived and is a key. Without a choice, the input remains.
    pub fn take_key<T>(&mut self, choose: impl FnOnce(KeyEvent) -> Option<T>) -> Option<T> {
        if self.parser.inputs.is_empty() {
            // An error is reported by the next read.
            let _ = self.read();
        }
        let Some(TerminalInput::Event(Event::Key(key))) = self.parser.inputs.front() else { return None };
        let chosen = Some(*key).filter(|key| key.kind == KeyEventKind::Press).and_then(choose)?;
        self.parser.inputs.pop_front();
        Some(chosen)
    }

    /// Stops reading. After this, another program receives the keys.
    pub async fn close(mut self) {
        let limit = self.queried_at + ANSWER;
        let answer = async { while Instant::now() < self.parser.answer_until && self.next().await.is_ok() {} };
        // A terminal that does not answer is not an error.
        let _ = timeout_at(limit, answer).await;
    }
}

/// Whether a read returns at once: with bytes, or because the terminal is gone.
fn is_readable(terminal: &OwnedFd) -> io::Result<bool> {
    let mut polled = [PollFd::new(terminal, PollFlags::IN)];
    match poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
        Ok(_) => Ok(polled[0].revents().intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR)),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyModifiers};

    fn parser() -> InputParser {
        InputParser::with_question_at(Instant::now())
    }

    /// A parser that expects no answer any more.
    fn late_parser() -> InputParser {
        InputParser::with_question_at(Instant::now() - InputParser::PATIENCE)
    }

    /// The inputs of these reads.
    fn inputs(parser: &mut InputParser, reads: &[&str]) -> Vec<TerminalInput> {
        for read in reads {
            parser.take(read.as_bytes(), false);
        }
        parser.inputs.drain(..).collect()
    }

    fn event(code: KeyCode, modifiers: KeyModifiers) -> TerminalInput {
        TerminalInput::Event(Event::Key(KeyEvent::new(code, modifiers)))
    }

    fn key(letter: char) -> TerminalInput {
        event(KeyCode::Char(letter), KeyModifiers::NONE)
    }

    fn alt(letter: char) -> TerminalInput {
        event(KeyCode::Char(letter), KeyModifiers::ALT)
    }

    fn escape() -> TerminalInput {
        event(KeyCode::Esc, KeyModifiers::NONE)
    }

    #[test]
    fn answer_is_not_read_as_keys_whole_or_split() {
        for end in ["\x1b\\", "\x07"] {
            let bytes = format!("j\x1b]11;rgb:ffff/FFFF/8080{end}k");
            let expected = [key('j'), TerminalInput::Background([255, 255, 128]), key('k')];
            for cut in 0..=bytes.len() {
                let (first, rest) = bytes.split_at(cut);
                assert_eq!(inputs(&mut parser(), &[first, rest]), expected, "{cut} {end:?}");
            }
            // A key escape just before it is not its beginning.
            assert_eq!(inputs(&mut parser(), &[&format!("\x1b{}", &bytes[1..])])[0], escape());
        }
    }

    #[test]
    fn partial_answer_is_read_as_keys() {
        let mut parser = parser();
        assert_eq!(inputs(&mut parser, &["\x1b]1x"]), [alt(']'), key('1'), key('x')]);
        assert!(inputs(&mut parser, &["\x1b"]).is_empty() && parser.held_until().is_some());
        parser.held_at -= PAUSE;
        parser.release_late();
        assert_eq!(inputs(&mut parser, &[]), [escape()]);
        // The next key comes after the pause, but before anybody has waited for its end.
        assert!(inputs(&mut parser, &["\x1b"]).is_empty());
        parser.held_at -= PAUSE;
        assert_eq!(inputs(&mut parser, &["j"]), [escape(), key('j')]);
        assert_eq!(inputs(&mut parser, &["\x1b", "[A"]), [event(KeyCode::Up, KeyModifiers::NONE)]);
        assert_eq!(parser.held_until(), None);
    }

    #[test]
    fn cut_answer_ends_with_the_first_other_key() {
        let mut parser = parser();
        assert!(inputs(&mut parser, &["\x1b]11;rgb:ff", "ff"]).is_empty());
        assert_eq!(parser.held_until(), Some(parser.held_at + PARTIAL_RESPONSE_TIMEOUT));
        assert_eq!(inputs(&mut parser, &["j"]), [key('j')]);
        assert_eq!(inputs(&mut parser, &["\x1b]11;rgb:ff\x1b[A"]), [event(KeyCode::Up, KeyModifiers::NONE)]);
        assert!(inputs(&mut parser, &["\x1b]11;rgb:ff"]).is_empty());
        parser.held_at -= PARTIAL_RESPONSE_TIMEOUT;
        parser.release_late();
        assert!(inputs(&mut parser, &[]).is_empty() && parser.held_until().is_none());
    }

    #[test]
    fn keys_wait_for_no_second_answer() {
        let mut parser = parser();
        inputs(&mut parser, &["\x1b]11;rgb:0/0/0\x1b\\"]);
        assert_eq!(inputs(&mut parser, &["\x1b"]), [escape()]);
    }

    #[test]
    fn sequences_are_one_event_and_two_escapes_are_two() {
        let mut parser = late_parser();
        assert_eq!(inputs(&mut parser, &["\x1b\x1b"]), [escape(), escape()]);
        assert_eq!(inputs(&mut parser, &["\x1bj"]), [alt('j')]);
        assert_eq!(inputs(&mut parser, &["é\x0e"]), [key('é'), event(KeyCode::Char('n'), KeyModifiers::CONTROL)]);
        let paste = TerminalInput::Event(Event::Paste("a\nb\x1b[A".to_owned()));
        assert_eq!(inputs(&mut parser, &["\x1b[200~a\nb\x1b", "[A\x1b[201", "~j"]), [paste, key('j')]);
        // The mouse at a place that does not exist.
        assert_eq!(inputs(&mut parser, &["\x1b[<0;0;5M\x1b[<0;5;00m\x1b[32;0;0Mj"]), [key('j')]);
        // A sequence of no key is skipped.
        assert_eq!(inputs(&mut parser, &["\x1b[?62;4cj"]), [key('j')]);
        // The chunk ends after the first byte of a sequence.
        parser.take(b"\x1b", true);
        assert_eq!(inputs(&mut parser, &["[B"]), [event(KeyCode::Down, KeyModifiers::NONE)]);
    }
}
