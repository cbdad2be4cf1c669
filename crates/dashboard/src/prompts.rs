//! Questions before an action that cannot be undone.
//!
//! ```text
//!   key ─► Prompt (question, consequences, calls) ─► y ─► the calls; n, q, enter, esc ─► closed
//! ```
//!
//! A prompt holds everything that it will do: the calls, with their ids, as of the key that opened
//! it. Data that arrives later does not change the meaning of `y`. A prompt accepts only a
//! lower-case `y` (or the typed word), nothing in its first 200 ms, and never the key that opened
//! it.
//!
//! Which prompt belongs to which action is decided by the features and by `core/update`.

use crate::base::{Batch, Job, TeamRequest};
use crate::input::{Context, EditAction, KeyChord, KeyCode, KeyModifiers};
use crate::text::TextInput;
use scandeck_domain::triage::{Change, Draft, EventId, IssueId, Retest, Subject};
use std::time::Duration;

/// No answer counts before a prompt has been up for this long.
pub const DEAF: Duration = Duration::from_millis(200);

/// A held key repeats at least this often: a longer pause means that it was pressed again.
const HELD: Duration = Duration::from_millis(600);

/// A question.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// The question, naming the object: `Delete target shop.acme.test?`
    pub question: String,
    /// Consequences; a line each.
    pub lines: Vec<String>,
    /// The shown page of a question that is higher than the screen. It wraps around: only the
    /// drawing knows their number.
    pub page: isize,
    pub answer: PromptAnswer,
    /// The action on yes.
    pub then: Then,
    /// The question for the key `a`: the same one with the marked rows that the filter hides, or
    /// another action.
    pub wider: Option<Box<Prompt>>,
    /// The label of the key `a`, if it takes another action.
    pub wider_word: Option<&'static str>,
    /// When it was opened.
    pub opened: Duration,
    /// The key that opened it, and when it was pressed last.
    opener: Option<(KeyChord, Duration)>,
}

/// How a prompt is answered.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // there is one prompt at a time
pub enum PromptAnswer {
    /// By `y`.
    Yes,
    /// By enter, for actions that can be undone.
    Enter,
    /// By typing this word and enter: the name of a workspace, or the number of objects.
    Type {
        word: String,
        /// The meaning of the word: `its name`, `the number`.
        what: &'static str,
        /// The typed text.
        input: TextInput,
        /// Another word was entered; until the next key.
        is_refused: bool,
    },
}

/// The action of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub enum Then {
    /// Makes these calls.
    Call {
        /// The verb of the notices: `delete`.
        verb: &'static str,
        jobs: Vec<Job>,
    },
    /// Makes calls that may have been carried out already.
    Repeat(Box<Batch>),
    /// Repeats scans, to retest their findings.
    Retest(Box<Plan>),
    /// Records changes in the store of decisions: one batch.
    Record(Vec<(Subject, Change)>),
    /// Adds these targets to the scope file of the local service, and sends the form again.
    AddToScope(Vec<String>),
    /// Deletes the alert rule of this query.
    DeleteAlert(String),
    /// Deletes the tab of this name, a saved query.
    DeleteTab(String),
    /// Opens this URL in the browser.
    OpenUrl(String),
    /// Shares decisions with the team, or keeps them private.
    Team(TeamRequest),
    /// Leaves the dashboard.
    Quit,
    Decide(Box<PendingDecision>),
    /// Resumes the paused review.
    ResumeReview,
    /// Starts a review of these findings instead of the paused one.
    StartReview(Vec<IssueId>),
    /// Undoes all of these batches.
    UndoAll(Vec<EventId>),
    /// Undoes a batch, or redoes it.
    UndoOrRedo {
        /// Which.
        batch: EventId,
        /// Undo, not redo.
        undo: bool,
    },
}

/// The effect of a key on a prompt.
#[derive(Clone, Debug, PartialEq)]
pub enum PromptReply {
    /// Ignored: the key that opened the prompt.
    Deaf,
    /// Ignored: pressed before the question could be read.
    TooEarly,
    /// The word is being typed.
    Typing,
    /// Another page of the question is shown.
    Paged,
    /// Enter after another word.
    Mismatch,
    /// Ignored: neither an answer nor a way out. Letters meant for a text field would otherwise act
    /// on the list below.
    NoAnswer,
    No,
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
            page: 0,
            answer: PromptAnswer::Yes,
            then,
            wider: None,
            wider_word: None,
            opened: Duration::ZERO,
            opener: None,
        }
    }

    /// Adds a line about a consequence.
    pub fn with_line(mut self, line: impl Into<String>) -> Self {
        self.lines.push(line.into());
        self
    }

    /// Answered by enter.
    pub fn with_enter(mut self) -> Self {
        self.answer = PromptAnswer::Enter;
        self
    }

    /// Answered by typing a word.
    pub fn with_word(mut self, word: impl Into<String>, what: &'static str) -> Self {
        self.answer = PromptAnswer::Type {
            word: word.into(),
            what,
            input: TextInput::default(),
            is_refused: false,
        };
        self
    }

    /// Adds another action, for the key `a`.
    pub fn with_other(mut self, word: &'static str, other: Self) -> Self {
        (self.wider, self.wider_word) = (Some(Box::new(other)), Some(word));
        self
    }

    /// Opened now, by this key.
    pub fn opened_at(mut self, now: Duration, by: Option<KeyChord>) -> Self {
        self.opened = now;
        self.opener = by.map(|key| (key, now));
        self
    }

    /// Whether an answer would still be too early.
    pub fn is_deaf(&self, now: Duration) -> bool {
        now < self.opened + DEAF
    }

    /// The context of its keys: a typed word can contain the letters that answer other prompts.
    pub fn context(&self) -> Context {
        match self.answer {
            PromptAnswer::Yes | PromptAnswer::Enter => Context::Prompt,
            PromptAnswer::Type { .. } => Context::Line,
        }
    }

    /// Handles a key, and what the keymap has for it.
    pub fn handle_key(
        &mut self,
        now: Duration,
        key: KeyChord,
        event: crate::input::KeyEvent,
        edit: Option<EditAction>,
    ) -> PromptReply {
        let pages = match edit {
            Some(EditAction::LinePageDown) => 1,
            Some(EditAction::LinePageUp) => -1,
            _ => 0,
        };
        if pages != 0 {
            self.page = self.page.saturating_add(pages);
            return PromptReply::Paged;
        }
        // A letter that answers can have been typed ahead of the prompt.
        let is_letter = matches!(key.code(), KeyCode::Char(_))
            && (event.modifiers - KeyModifiers::SHIFT).is_empty();
        let is_typed = matches!(self.answer, PromptAnswer::Type { .. });
        if edit == Some(EditAction::Close) && (is_typed || !is_letter) {
            return PromptReply::No;
        }
        let early = self.is_deaf(now);
        if let Some((opener, last)) = &mut self.opener
            && *opener == key
        {
            let held = now < *last + HELD;
            *last = now;
            if held || matches!(self.answer, PromptAnswer::Yes) {
                return PromptReply::Deaf;
            }
        }
        if early {
            return PromptReply::TooEarly;
        }
        match &mut self.answer {
            PromptAnswer::Yes if edit == Some(EditAction::Yes) => PromptReply::Yes,
            PromptAnswer::Yes
                if edit == Some(EditAction::IncludeHidden) && self.wider.is_some() =>
            {
                PromptReply::Wider
            }
            PromptAnswer::Enter if key.code() == KeyCode::Enter => PromptReply::Yes,
            PromptAnswer::Enter
                if edit == Some(EditAction::IncludeHidden) && self.wider.is_some() =>
            {
                PromptReply::Wider
            }
            PromptAnswer::Yes | PromptAnswer::Enter if edit == Some(EditAction::Close) => {
                PromptReply::No
            }
            PromptAnswer::Yes | PromptAnswer::Enter => match key.code() {
                KeyCode::Enter => PromptReply::No,
                KeyCode::Char(' ') if matches!(self.then, Then::Decide(_)) => PromptReply::No,
                _ => PromptReply::NoAnswer,
            },
            PromptAnswer::Type {
                word,
                input,
                is_refused,
                ..
            } => match key.code() {
                KeyCode::Enter if input.text() == *word => PromptReply::Yes,
                KeyCode::Enter if input.text().is_empty() => PromptReply::No,
                KeyCode::Enter => {
                    *is_refused = true;
                    PromptReply::Mismatch
                }
                _ => {
                    *is_refused = false;
                    input.type_key(event);
                    PromptReply::Typing
                }
            },
        }
    }
}

/// A draft with its findings, captured when the key was pressed.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingDecision {
    pub draft: Draft,
    pub ids: Vec<IssueId>,
    /// The cursor moves to the next row.
    pub next: bool,
}

/// A retest that waits for confirmation, with the scans to start.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub retest: Retest,
    /// One per scan, in the order of the retest.
    pub jobs: Vec<Job>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Action, KeyEvent, Keymap};

    fn press(prompt: &mut Prompt, ms: u64, letter: char) -> PromptReply {
        let event = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE);
        send(prompt, Duration::from_millis(ms), event)
    }

    fn send(prompt: &mut Prompt, at: Duration, event: KeyEvent) -> PromptReply {
        let key = KeyChord::from(event);
        let action = Keymap::builtin().action(&[prompt.context()], key);
        prompt.handle_key(at, key, event, action.and_then(Action::try_as_edit))
    }

    fn prompt(opener: char) -> Prompt {
        Prompt::new("Sure?", Then::Quit).opened_at(Duration::ZERO, Some(KeyChord::char(opener)))
    }

    #[test]
    fn page_keys_show_another_page_and_answer_nothing() {
        let mut prompt = prompt('D');
        let mut pressed = |code| {
            send(
                &mut prompt,
                Duration::from_millis(300),
                KeyEvent::new(code, KeyModifiers::NONE),
            )
        };
        assert_eq!(
            [KeyCode::PageDown, KeyCode::PageDown, KeyCode::PageUp].map(&mut pressed),
            [const { PromptReply::Paged }; 3]
        );
        assert_eq!(prompt.page, 1);
    }

    #[test]
    fn lower_case_y_after_200_ms_is_yes() {
        assert_eq!(press(&mut prompt('D'), 199, 'y'), PromptReply::TooEarly);
        assert_eq!(press(&mut prompt('D'), 200, 'y'), PromptReply::Yes);
        assert_eq!(press(&mut prompt('D'), 300, 'n'), PromptReply::No);
        for letter in ['Y', ' ', 'j', 'x'] {
            assert_eq!(press(&mut prompt('D'), 300, letter), PromptReply::NoAnswer);
        }
    }

    #[test]
    fn opening_key_never_answers() {
        for ms in [1, 199, 200, 5_000] {
            assert_eq!(press(&mut prompt('D'), ms, 'D'), PromptReply::Deaf);
            assert_eq!(press(&mut prompt('y'), ms, 'y'), PromptReply::Deaf);
            assert_eq!(press(&mut prompt('q'), ms, 'q'), PromptReply::Deaf);
        }
    }

    #[test]
    fn typed_word_must_match() {
        let mut prompt = prompt('D').with_word("Denv", "its name");
        assert_eq!(
            press(&mut prompt, 500, 'D'),
            PromptReply::Deaf,
            "still held"
        );
        for (ms, letter) in [(1_200, 'D'), (1_300, 'e'), (1_400, 'n')] {
            assert_eq!(press(&mut prompt, ms, letter), PromptReply::Typing);
        }
        let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(
            send(&mut prompt, Duration::from_secs(2), enter),
            PromptReply::Mismatch
        );
        press(&mut prompt, 2_100, 'v');
        assert_eq!(
            send(&mut prompt, Duration::from_secs(3), enter),
            PromptReply::Yes
        );
    }
}
