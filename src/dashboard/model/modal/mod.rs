//! What can lie over the panes. The last one of the stack has the keys.
//!
//! ```text
//!   panes ─► [Form] ─► [Help]      esc closes from the right
//! ```

pub mod command_line;
pub mod decide_menu;
pub mod rules_box;

use crate::client::Problem;
use crate::dashboard::base::Pane;
use crate::dashboard::forms::Form;
use crate::dashboard::list::PopUpList;
use crate::dashboard::model::{CommandLine, DecideMenu, RulesBox};
use crate::dashboard::prompts::Prompt;
use crate::dashboard::text::{Offers, Recall, TextInput};
use crate::query::{Completion, ParseError};

/// One layer over the panes.
#[derive(Clone, Debug)]
pub enum Modal {
    /// Every key, typed to filter.
    Help(Help),
    /// A question that waits for an answer.
    Prompt(Box<Prompt>),
    /// Fields to fill in.
    Form(Box<Form>),
    /// Deciding with details.
    Decide(Box<DecideMenu>),
    /// The list of rules.
    Rules(Box<RulesBox>),
    /// The list of alert rules.
    Alerts(PopUpList),
    /// A text to read: the words of a list, a text that could not be copied.
    Text(TextBox),
    /// A line that is typed in a pane: its filter, or a search.
    Line(Line),
    /// The command line.
    Command(Box<CommandLine>),
    /// The first-start question.
    Setup(Box<Setup>),
}

impl Modal {
    /// Where pasted text goes. The word that a prompt asks for is typed, never pasted.
    pub(crate) fn input(&mut self) -> Option<&mut TextInput> {
        match self {
            Self::Help(help) => Some(&mut help.filter),
            Self::Form(form) => form.input(),
            Self::Decide(menu) => menu.entry.as_mut().map(|entry| &mut entry.input),
            Self::Rules(rules) => rules.edit.as_mut().map(|edit| &mut edit.input),
            Self::Line(line) => Some(&mut line.input),
            Self::Command(line) => Some(&mut line.input),
            Self::Prompt(_) | Self::Alerts(_) | Self::Text(_) | Self::Setup(_) => None,
        }
    }
}

/// The help.
#[derive(Clone, Debug, Default)]
pub struct Help {
    /// What is typed to filter.
    pub filter: TextInput,
    /// First visible line.
    pub scroll: u32,
}

/// A text to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextBox {
    /// Its head.
    pub title: String,
    /// The text, as it came from outside.
    pub body: String,
    /// First visible line.
    pub scroll: u32,
}

/// A line being typed in a pane.
#[derive(Clone, Debug)]
pub struct Line {
    /// What for.
    pub purpose: LinePurpose,
    /// What is typed.
    pub input: TextInput,
    /// What it was when the line was opened: esc brings it back.
    pub before: String,
    /// What helps with a query while it is typed.
    pub help: QueryHelp,
}

/// What helps with a query while it is typed.
#[derive(Clone, Debug, Default)]
pub struct QueryHelp {
    /// Why the text is no query; the list stays as it was.
    pub error: Option<ParseError>,
    /// What can be written where the cursor is.
    pub offers: Offers<Completion>,
    /// The text that they complete; the selected one stands in the line.
    pub completed: String,
    /// Which of the queries typed before stands in the line.
    pub recall: Recall,
}

/// What a line is typed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinePurpose {
    /// The filter of a pane's list, applied with every key.
    Filter(Pane),
    /// A search in the shown detail, applied with every key.
    Search,
}

/// The first-start question: where do the scans run?
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Which answer is selected: 0 here, 1 hosted, 2 demo.
    pub at: usize,
    /// A choice was made and is being carried out: what is said meanwhile.
    pub busy: Option<&'static str>,
    /// Why the last choice did not work.
    pub problem: Option<Problem>,
}
