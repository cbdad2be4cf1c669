//! The open command line: what is typed, what could be meant, and why it cannot be run yet.

use crate::dashboard::text::{Offers, Recall, TextInput};
use std::ops::Range;

/// The line under `:`.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    /// What is typed.
    pub input: TextInput,
    /// What could be meant, the best first.
    pub offers: Offers<CommandOffer>,
    /// Why the line cannot be run as it stands.
    pub fault: Option<Fault>,
    /// The command that the line begins with.
    pub command: Option<CommandAbout>,
    /// Which of the lines run before stands here.
    pub recall: Recall,
    /// What could be meant was looked up for this text.
    pub is_read: bool,
}

/// The command of a line, as it is shown below the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandAbout {
    /// Its name and arguments as they are typed.
    pub usage: String,
    /// What it does.
    pub words: String,
    /// Why it is off just now.
    pub off: Option<String>,
}

/// One thing that could be meant: a command, or a value of an argument.
#[derive(Clone, Debug, Default)]
pub struct CommandOffer {
    /// The part of the line it replaces.
    pub place: Range<usize>,
    /// With what.
    pub text: String,
    /// The letters of `text` that were typed, counted in characters.
    pub letters: Vec<usize>,
    /// What it is, for people.
    pub words: String,
    /// The arguments of the command, when it is one.
    pub shape: String,
    /// Nothing can follow it: a command without arguments.
    pub is_whole: bool,
    /// Its key.
    pub key: Option<String>,
    /// Why it is off just now.
    pub off: Option<String>,
}

impl CommandLine {
    /// The line with an offer taken.
    pub fn with(&self, offer: &CommandOffer) -> String {
        let text = self.input.text();
        let rest = &text[offer.place.end.min(text.len())..];
        // What takes an argument is followed by a blank for it.
        let begun = offer.text.ends_with([':', '=', '<', '>']);
        let more = rest.is_empty() && !begun && !offer.is_whole;
        format!("{}{}{}{rest}", &text[..offer.place.start.min(text.len())], offer.text, if more { " " } else { "" })
    }
}

/// Why a line is no command: where, for what reason, what to write instead.
pub type Fault = crate::query::ParseError;
