//! Questions before what cannot be undone.
//!
//! A prompt is made with everything it will do: the calls, with their ids, as they were when the key was pressed.
//! Nothing that arrives later changes what `y` means. It takes only a lower-case `y` (or the typed word), nothing in
//! its first 200 ms, and never the key that opened it.

use std::time::Duration;

use crossterm::event::KeyCode;
use tui_textarea::TextArea;

use super::batch::Job;
use super::decide::Deed;
use super::modal::line_text;
use super::typing::type_key;
use super::update::board::Plan;
use crate::input::Key;
use crate::triage::{Change, EventId, Subject};

/// No answer counts before a prompt has been up for this long.
pub const DEAF: Duration = Duration::from_millis(200);

/// A held key repeats at least this often: a longer pause means that it was pressed again.
const HELD: Duration = Duration::from_millis(600);

/// A question.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// The question, naming the object: `Delete target shop.acme.test?`
    pub question: String,
    /// What goes with it, and what does not; a line each.
    pub lines: Vec<String>,
    /// How it is answered.
    pub answer: Answer,
    /// What is done on yes.
    pub then: Then,
    /// The same question with the marked rows that the filter hides; `a` takes it.
    pub wider: Option<Box<Prompt>>,
    /// Since when it is up.
    pub opened: Duration,
    /// The key that opened it, and when it was pressed last.
    opener: Option<(Key, Duration)>,
}

/// How a prompt is answered.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // there is one prompt at a time
pub enum Answer {
    /// By `y`; anything else is no.
    Yes,
    /// By enter, for what can be undone; anything else is no.
    Enter,
    /// By typing this word and enter: a workspace's name, or the number of things.
    Type {
        /// The word.
        word: String,
        /// What it is, for the question: `its name`, `the number`.
        what: &'static str,
        /// What is typed.
        input: TextArea<'static>,
    },
}

/// What a yes does.
#[derive(Clone, Debug, PartialEq)]
pub enum Then {
    /// Makes these calls.
    Call {
        /// What is being done, for the notices: `delete`.
        verb: &'static str,
        /// The calls with what each is about.
        jobs: Vec<Job>,
    },
    /// Starts scans again for what they found.
    Retest(Box<Plan>),
    /// Records what changes beside the service: one batch.
    Record(Vec<(Subject, Change)>),
    /// Leaves the dashboard.
    Quit,
    /// Decides.
    Decide(Box<Deed>),
    /// Undoes all of these batches.
    UndoAll(Vec<EventId>),
    /// Undoes a batch, or redoes it.
    Turn {
        /// Which.
        batch: EventId,
        /// Undo, not redo.
        undo: bool,
    },
}

/// What a prompt makes of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Nothing: too early, or the key that opened it.
    Deaf,
    /// The word is being typed.
    Typing,
    /// No.
    No,
    /// Yes.
    Yes,
    /// The wider question.
    Wider,
}

impl Prompt {
    /// A question for `y`.
    pub fn new(question: impl Into<String>, then: Then) -> Self {
        Self {
            question: question.into(),
            lines: Vec::new(),
            answer: Answer::Yes,
            then,
            wider: None,
            opened: Duration::ZERO,
            opener: None,
        }
    }

    /// With a line about what goes with it.
    pub fn with_line(mut self, line: impl Into<String>) -> Self {
        self.lines.push(line.into());
        self
    }

    /// Answered by enter.
    pub fn with_enter(mut self) -> Self {
        self.answer = Answer::Enter;
        self
    }

    /// Answered by typing a word.
    pub fn with_word(mut self, word: impl Into<String>, what: &'static str) -> Self {
        self.answer = Answer::Type { word: word.into(), what, input: super::modal::line_with("") };
        self
    }

    /// Opened now, by this key.
    pub fn opened_at(mut self, now: Duration, by: Option<Key>) -> Self {
        self.opened = now;
        self.opener = by.map(|key| (key, now));
        self
    }

    /// Whether an answer would still be too early.
    pub fn is_deaf(&self, now: Duration) -> bool {
        now < self.opened + DEAF
    }

    /// Takes a key that is no esc.
    pub fn handle_key(&mut self, now: Duration, key: Key, event: crossterm::event::KeyEvent) -> Verdict {
        let early = self.is_deaf(now);
        if let Some((opener, last)) = &mut self.opener
            && *opener == key
        {
            let held = now < *last + HELD;
            *last = now;
            if held || matches!(self.answer, Answer::Yes) {
                return Verdict::Deaf;
            }
        }
        if early {
            return Verdict::Deaf;
        }
        match &mut self.answer {
            Answer::Yes if key == Key::char('y') => Verdict::Yes,
            Answer::Yes if key == Key::char('a') && self.wider.is_some() => Verdict::Wider,
            Answer::Enter if key.code() == KeyCode::Enter => Verdict::Yes,
            Answer::Enter if key == Key::char('a') && self.wider.is_some() => Verdict::Wider,
            Answer::Yes | Answer::Enter => Verdict::No,
            Answer::Type { word, input, .. } => match key.code() {
                KeyCode::Enter if line_text(input) == *word => Verdict::Yes,
                KeyCode::Enter if line_text(input).is_empty() => Verdict::No,
                KeyCode::Enter => Verdict::Typing,
                _ => {
                    type_key(input, event);
                    Verdict::Typing
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyEvent, KeyModifiers};

    fn press(prompt: &mut Prompt, ms: u64, letter: char) -> Verdict {
        let event = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE);
        prompt.handle_key(Duration::from_millis(ms), Key::from(event), event)
    }

    fn prompt(opener: char) -> Prompt {
        Prompt::new("Sure?", Then::Quit).opened_at(Duration::ZERO, Some(Key::char(opener)))
    }

    #[test]
    fn only_a_lower_case_y_after_200_ms_is_yes() {
        assert_eq!(press(&mut prompt('D'), 199, 'y'), Verdict::Deaf);
        assert_eq!(press(&mut prompt('D'), 200, 'y'), Verdict::Yes);
        for letter in ['Y', 'n', ' ', 'j', 'x'] {
            assert_eq!(press(&mut prompt('D'), 300, letter), Verdict::No);
        }
    }

    #[test]
    fn the_key_that_opened_it_never_answers() {
        for ms in [1, 199, 200, 5_000] {
            assert_eq!(press(&mut prompt('D'), ms, 'D'), Verdict::Deaf);
            assert_eq!(press(&mut prompt('y'), ms, 'y'), Verdict::Deaf);
        }
    }

    #[test]
    fn a_typed_word_counts_only_when_it_is_the_word() {
        let mut prompt = prompt('D').with_word("Dev", "its name");
        assert_eq!(press(&mut prompt, 500, 'D'), Verdict::Deaf, "still held");
        for (ms, letter) in [(1_200, 'D'), (1_300, 'e')] {
            assert_eq!(press(&mut prompt, ms, letter), Verdict::Typing);
        }
        let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(prompt.handle_key(Duration::from_secs(2), Key::from(enter), enter), Verdict::Typing);
        press(&mut prompt, 2_100, 'v');
        assert_eq!(prompt.handle_key(Duration::from_secs(3), Key::from(enter), enter), Verdict::Yes);
    }
}
