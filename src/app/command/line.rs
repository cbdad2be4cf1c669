//! The open command line: what is typed, what could be meant, and why it cannot be run yet.

use std::ops::Range;

use tui_textarea::TextArea;

use super::super::modal::{line_text, line_with};
use super::{Command, Fault};

/// The line under `:`.
#[derive(Clone, Debug)]
pub struct CommandLine {
    /// What is typed.
    pub input: TextArea<'static>,
    /// What could be meant, the best first.
    pub offers: Vec<Offer>,
    /// The one that was walked to.
    pub at: Option<usize>,
    /// Why the line cannot be run as it stands.
    pub fault: Option<Fault>,
    /// The command that the line begins with.
    pub command: Option<&'static Command>,
    /// Which of the lines run before stands here, counted from the newest.
    pub recalled: Option<usize>,
}

/// One thing that could be meant: a command, or a value of an argument.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// The part of the line it replaces.
    pub place: Range<usize>,
    /// With what.
    pub text: String,
    /// The letters of `text` that were typed, counted in characters.
    pub letters: Vec<usize>,
    /// What it is, for people.
    pub words: String,
    /// The command, when it is one.
    pub command: Option<&'static Command>,
    /// Its key.
    pub key: Option<String>,
    /// Why it is off just now.
    pub off: Option<String>,
}

impl Default for CommandLine {
    fn default() -> Self {
        Self { input: line_with(""), offers: Vec::new(), at: None, fault: None, command: None, recalled: None }
    }
}

impl CommandLine {
    /// What is typed.
    pub fn text(&self) -> String {
        line_text(&self.input)
    }

    /// What is typed up to the cursor.
    pub fn text_before_cursor(&self) -> String {
        self.text().chars().take(self.input.cursor().1).collect()
    }

    /// Puts a text into the line.
    pub fn set(&mut self, text: &str) {
        self.input = line_with(text);
    }

    /// The line with an offer taken.
    pub fn with(&self, offer: &Offer) -> String {
        let text = self.text();
        let rest = &text[offer.place.end.min(text.len())..];
        // What takes an argument is followed by a blank for it.
        let begun = offer.text.ends_with([':', '=', '<', '>']);
        let more = rest.is_empty() && !begun && offer.command.is_none_or(|command| !command.slots.is_empty());
        format!("{}{}{}{rest}", &text[..offer.place.start.min(text.len())], offer.text, if more { " " } else { "" })
    }

    /// Walks the offers; from none to the first or last one.
    pub fn walk(&mut self, by: isize) {
        let most = self.offers.len() as isize;
        if most > 0 {
            let from = self.at.map_or(if by > 0 { -1 } else { most }, |at| at as isize);
            self.at = Some((from + by).clamp(0, most - 1) as usize);
        }
    }
}
