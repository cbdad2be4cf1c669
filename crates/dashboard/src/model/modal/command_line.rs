//! The open command line: its text, completions and syntax error.

use crate::text::{Offers, Recall, TextInput};
use std::ops::Range;

/// The line under `:`.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    pub input: TextInput,
    /// Completions, the best first.
    pub offers: Offers<CommandOffer>,
    /// Why the line cannot be run.
    pub fault: Option<Fault>,
    pub command: Option<CommandAbout>,
    /// The line of the history that is shown.
    pub recall: Recall,
    /// Whether the completions are those of this text.
    pub is_read: bool,
}

/// The description of a command below the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandAbout {
    /// Name and arguments.
    pub usage: String,
    pub words: String,
    /// Why it is not available now.
    pub off: Option<String>,
}

/// A completion: a command, or a value of an argument.
#[derive(Clone, Debug, Default)]
pub struct CommandOffer {
    /// The part of the line that it replaces.
    pub place: Range<usize>,
    pub text: String,
    /// The letters of `text` that were typed, counted in characters.
    pub letters: Vec<usize>,
    /// Description.
    pub words: String,
    /// The arguments of a command.
    pub shape: String,
    /// Nothing is typed behind it: a command without arguments, or a path.
    pub is_whole: bool,
    pub key: Option<String>,
    /// Why it is not available now.
    pub off: Option<String>,
}

impl CommandLine {
    /// The line with a completion inserted.
    pub fn with(&self, offer: &CommandOffer) -> String {
        let text = self.input.text();
        let rest = &text[offer.place.end.min(text.len())..];
        // A space follows where an argument is expected.
        let begun = offer.text.ends_with([':', '=', '<', '>']);
        let more = rest.is_empty() && !begun && !offer.is_whole;
        format!(
            "{}{}{}{rest}",
            &text[..offer.place.start.min(text.len())],
            offer.text,
            if more { " " } else { "" }
        )
    }
}

/// A syntax error of the line, with its place and a suggestion.
pub type Fault = scandeck_domain::query::ParseError;
