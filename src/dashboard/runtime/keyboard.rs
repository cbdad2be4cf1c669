//! The events of the terminal, read on a thread of their own while the dashboard has the terminal.
//!
//! The event stream of crossterm wakes only the task that polled it first, so it cannot be polled both to wait and to look
//! for further events. A channel can. The stream also passes each key to a thread of its own first, which takes longer. On
//! a closed terminal crossterm reads without end: on a worker of the runtime that would hold up all tasks, also the one that
//! handles SIGHUP.

use crate::dashboard::runtime::terminal_answers::background_of;
use crossterm::event::{self, Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

/// Events that wait in the channel; further ones wait in the terminal.
const WAITING: usize = 1024;

/// Limit for the last read. On a closed terminal it does not end.
const LAST_READ: Duration = Duration::from_millis(250);

/// The reader waits for so long at once: the wait without a limit of crossterm cannot be ended.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a key that may begin the answer waits for the next one.
const PAUSE: Duration = Duration::from_millis(50);

/// How long the reader waits for the rest of a partial terminal response.
const PARTIAL_RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);

/// How long the end of the reader waits for the answer, which the next program would read as keys.
const ANSWER: Duration = Duration::from_millis(100);

/// Input from the terminal.
#[derive(Debug, PartialEq)]
pub(crate) enum TerminalInput {
    Event(Event),
    /// The colour of the background, in answer to the question for it.
    Background([u8; 3]),
}

/// The answer of the terminal to the question for its background. crossterm reads it as keys, which would be commands, so
/// keys that may belong to it are held until it is certain.
struct BackgroundAnswer {
    /// Until when it may begin.
    until: Instant,
    text: String,
    /// The events of the text.
    held: Vec<Event>,
}

impl BackgroundAnswer {
    /// After this time nothing is an answer.
    const PATIENCE: Duration = Duration::from_secs(5);
    /// More bytes than the longest answer has.
    const LONGEST: usize = 48;
    /// No keys that somebody types.
    const CERTAIN: &str = "\x1b]11;rgb";

    fn to_question_at(queried_at: Instant) -> Self {
        Self { until: queried_at + Self::PATIENCE, text: String::new(), held: Vec::new() }
    }

    /// How long the held events wait for the next one.
    fn pause(&self) -> Option<Duration> {
        let pause = if self.text.starts_with(Self::CERTAIN) { PARTIAL_RESPONSE_TIMEOUT } else { PAUSE };
        (!self.held.is_empty()).then_some(pause)
    }

    /// Returns what the event makes certain.
    fn take(&mut self, event: Event) -> Vec<TerminalInput> {
        // A change of size, for example, can come in the middle of an answer.
        if !matches!(event, Event::Key(_)) {
            return vec![TerminalInput::Event(event)];
        }
        let mut certain = Vec::new();
        if !self.held.is_empty() {
            match bytes_of(&event).filter(|bytes| self.continues_with(bytes)) {
                Some(bytes) => return self.hold(event, &bytes),
                None => certain = self.release(),
            }
        }
        match bytes_of(&event).filter(|bytes| Instant::now() < self.until && self.continues_with(bytes)) {
            Some(bytes) => certain.extend(self.hold(event, &bytes)),
            None => certain.push(TerminalInput::Event(event)),
        }
        certain
    }

    /// Ends the text: the events are keys, unless it is certain that they belong to the answer.
    fn release(&mut self) -> Vec<TerminalInput> {
        let is_answer = self.text.starts_with(Self::CERTAIN);
        self.text.clear();
        self.held.drain(..).filter(|_| !is_answer).map(TerminalInput::Event).collect()
    }

    fn hold(&mut self, event: Event, bytes: &str) -> Vec<TerminalInput> {
        self.text.push_str(bytes);
        self.held.push(event);
        if !self.text.ends_with(['\x07', '\\']) {
            return Vec::new();
        }
        // There is one answer.
        self.until = Instant::now();
        let background = background_of(self.text.as_bytes());
        self.release();
        background.map(TerminalInput::Background).into_iter().collect()
    }

    /// Whether the text and these bytes are the beginning of an answer, or all of it.
    fn continues_with(&self, bytes: &str) -> bool {
        let text = [&self.text, bytes].concat();
        let Some(rest) = text.strip_prefix(Self::CERTAIN) else { return Self::CERTAIN.starts_with(&text) };
        let Some(colour) = rest.strip_prefix('a').unwrap_or(rest).strip_prefix(':') else {
            return matches!(rest, "" | "a");
        };
        let end = colour.trim_start_matches(|letter: char| letter.is_ascii_hexdigit() || letter == '/');
        text.len() <= Self::LONGEST && matches!(end, "" | "\x07" | "\x1b" | "\x1b\\")
    }
}

/// The bytes that crossterm reads as this key, as far as they occur in the answer. It reads ESC and a letter as alt with
/// the letter, and ESC alone when the letter comes later.
fn bytes_of(event: &Event) -> Option<String> {
    let Event::Key(key) = event else { return None };
    match key.code {
        KeyCode::Esc => Some("\x1b".to_owned()),
        KeyCode::Char('g') if key.modifiers == KeyModifiers::CONTROL => Some("\x07".to_owned()),
        KeyCode::Char(letter) if key.modifiers == KeyModifiers::ALT => Some(format!("\x1b{letter}")),
        KeyCode::Char(letter) if (key.modifiers - KeyModifiers::SHIFT).is_empty() => Some(letter.to_string()),
        _ => None,
    }
}

/// How the reader is ended.
#[derive(Default)]
struct ReaderEnd {
    is_requested: AtomicBool,
    /// Nothing polls this stream: its end wakes the reader. The reader makes it, because that waits for an earlier reader.
    waker: Mutex<Option<EventStream>>,
}

impl ReaderEnd {
    fn request(&self) {
        self.is_requested.store(true, Ordering::SeqCst);
        self.set_waker(None);
    }

    fn set_waker(&self, waker: Option<EventStream>) {
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = waker;
    }

    fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::SeqCst)
    }
}

/// Ends the reader when it is dropped.
struct ReaderGuard(Arc<ReaderEnd>);

impl Drop for ReaderGuard {
    fn drop(&mut self) {
        self.0.request();
    }
}

/// The reader of terminal events.
pub(crate) struct Keyboard {
    events: mpsc::Receiver<io::Result<TerminalInput>>,
    /// An input that was looked at.
    next: Option<io::Result<TerminalInput>>,
    /// Ends the thread when it is dropped.
    reader: ReaderGuard,
    thread: JoinHandle<()>,
    /// When the terminal was queried for its background, and whether it has answered.
    queried_at: Instant,
    answered: CancellationToken,
}

impl Keyboard {
    /// Starts to read. The terminal was queried for its background at this time.
    pub fn open(queried_at: Instant) -> Self {
        let (to, events) = mpsc::channel(WAITING);
        let (end, answered) = (Arc::new(ReaderEnd::default()), CancellationToken::new());
        let (reader, answer) = (ReaderGuard(end.clone()), answered.clone());
        let thread = tokio::task::spawn_blocking(move || read(&to, &end, queried_at, &answer));
        Self { events, next: None, reader, thread, queried_at, answered }
    }

    /// The next input, or `None` when the terminal is gone.
    pub async fn next(&mut self) -> Option<io::Result<TerminalInput>> {
        match self.next.take() {
            Some(input) => Some(input),
            None => self.events.recv().await,
        }
    }

    /// The next input, if it has arrived.
    pub fn at_hand(&mut self) -> Option<io::Result<TerminalInput>> {
        self.next.take().or_else(|| self.events.try_recv().ok())
    }

    /// The choice of this function for the next input, if it has arrived and is a key. Without a choice, the input remains.
    pub fn take_key<T>(&mut self, choose: impl FnOnce(KeyEvent) -> Option<T>) -> Option<T> {
        self.next = self.at_hand();
        let Some(Ok(TerminalInput::Event(Event::Key(key)))) = &self.next else { return None };
        let chosen = Some(*key).filter(|key| key.kind == KeyEventKind::Press).and_then(choose)?;
        self.next = None;
        Some(chosen)
    }

    /// Stops reading. After this, another program receives the keys.
    pub async fn close(mut self) {
        // A terminal that does not answer is not an error.
        let _ = timeout_at(self.queried_at + ANSWER, self.answered.cancelled()).await;
        drop(self.reader);
        // A full channel would hold the reader up.
        self.events.close();
        match timeout(LAST_READ, self.thread).await {
            // It fails only if the thread panicked, which the panic hook has reported.
            Ok(_) => {}
            Err(_) => tracing::warn!("the terminal is still being read"),
        }
    }
}

fn read(
    to: &mpsc::Sender<io::Result<TerminalInput>>,
    end: &ReaderEnd,
    queried_at: Instant,
    answered: &CancellationToken,
) {
    let mut answer = BackgroundAnswer::to_question_at(queried_at);
    end.set_waker(Some(EventStream::new()));
    while !end.is_requested() {
        let has_event = event::poll(answer.pause().unwrap_or(DAY));
        if end.is_requested() {
            return;
        }
        let certain = match has_event.and_then(|has_event| if has_event { event::read().map(Some) } else { Ok(None) }) {
            Ok(Some(event)) => answer.take(event),
            Ok(None) => answer.release(),
            Err(error) => {
                let _ = to.blocking_send(Err(error));
                return;
            }
        };
        for input in certain {
            if matches!(input, TerminalInput::Background(_)) {
                answered.cancel();
            }
            if to.blocking_send(Ok(input)).is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(letter: char) -> Event {
        Event::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE))
    }

    fn alt(letter: char) -> Event {
        Event::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::ALT))
    }

    fn escape() -> Event {
        Event::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE))
    }

    fn keys(text: &str) -> impl Iterator<Item = Event> {
        text.chars().map(key)
    }

    fn taken(answer: &mut BackgroundAnswer, events: impl IntoIterator<Item = Event>) -> Vec<TerminalInput> {
        events.into_iter().flat_map(|event| answer.take(event)).collect()
    }

    fn expected() -> BackgroundAnswer {
        BackgroundAnswer::to_question_at(Instant::now())
    }

    #[test]
    fn answer_is_not_read_as_keys_whole_or_split() {
        let colour = || keys("11;rgb:ffff/FFFF/8080");
        let bell = Event::Key(KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL));
        let starts = [vec![alt(']')], vec![escape(), key(']')]];
        let ends = [vec![alt('\\')], vec![escape(), key('\\')], vec![bell]];
        for (start, end) in starts.iter().flat_map(|start| ends.iter().map(move |end| (start, end))) {
            let events =
                [key('j')].into_iter().chain(start.clone()).chain(colour()).chain(end.clone()).chain([key('k')]);
            let expected_inputs = [
                TerminalInput::Event(key('j')),
                TerminalInput::Background([255, 255, 128]),
                TerminalInput::Event(key('k')),
            ];
            assert_eq!(taken(&mut expected(), events), expected_inputs, "{start:?} {end:?}");
        }
    }

    #[test]
    fn partial_terminal_response_is_read_as_keys() {
        let mut answer = expected();
        let typed = [escape(), key(']'), key('1'), key('x')];
        assert_eq!(taken(&mut answer, typed.clone()), typed.map(TerminalInput::Event));
        assert!(answer.take(escape()).is_empty() && answer.pause() == Some(PAUSE));
        assert_eq!(answer.release(), [TerminalInput::Event(escape())]);
        assert_eq!(taken(&mut answer, [escape(), escape()]), [TerminalInput::Event(escape())]);
    }

    #[test]
    fn cut_answer_ends_with_the_first_other_key() {
        let mut answer = expected();
        assert!(taken(&mut answer, [alt(']')].into_iter().chain(keys("11;rgb:ff"))).is_empty());
        assert_eq!(answer.pause(), Some(PARTIAL_RESPONSE_TIMEOUT));
        assert_eq!(answer.take(Event::Resize(80, 24)), [TerminalInput::Event(Event::Resize(80, 24))]);
        assert!(taken(&mut answer, keys("ff")).is_empty(), "a change of size does not end the answer");
        assert_eq!(answer.take(key('j')), [TerminalInput::Event(key('j'))]);
    }

    #[test]
    fn keys_wait_for_no_second_answer() {
        let mut answer = expected();
        taken(&mut answer, [alt(']')].into_iter().chain(keys("11;rgb:0/0/0")).chain([alt('\\')]));
        assert_eq!(answer.take(escape()), [TerminalInput::Event(escape())]);
    }
}
