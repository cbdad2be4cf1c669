//! Modals: layers over the panes. The last one of the stack has the keys.
//!
//! ```text
//!   panes ─► [Form] ─► [Help]      esc closes from the right
//! ```

pub mod chain_box;
pub mod command_line;
pub mod decide_menu;
pub mod rules_box;
pub mod why_box;

use crate::base::{Pane, PlotBox, RowRef};
use crate::forms::Form;
use crate::list::PopUpList;
use crate::model::{ChainBox, CommandLine, DecideMenu, RulesBox, WhyBox};
use crate::prompts::Prompt;
use crate::text::{Offers, Recall, TextInput};
use scandeck_domain::problem::Problem;
use scandeck_domain::query::{Completion, ParseError};
use strum::EnumTryAs;

/// One layer over the panes.
#[derive(Clone, Debug, EnumTryAs)]
pub enum Modal {
    /// The help with all keys.
    Help(Help),
    Prompt(Box<Prompt>),
    Form(Box<Form>),
    /// The menu for decisions with details.
    Decide(Box<DecideMenu>),
    /// The list of rules.
    Rules(Box<RulesBox>),
    /// The list of alert rules.
    Alerts(PopUpList),
    /// A text: a wordlist, or a text that could not be copied.
    Text(TextBox),
    /// A plot of stored data.
    Plot(PlotBox),
    /// Why a finding is new, changed, absent, reappeared or not retested.
    Why(Box<WhyBox>),
    /// How an object is connected to others.
    Chain(Box<ChainBox>),
    /// The input line of a pane: its filter, or a search.
    Line(Line),
    /// The command line.
    Command(Box<CommandLine>),
    /// The first-start question.
    Setup(Box<Setup>),
}

impl Modal {
    /// The input that receives pasted text. The word of a prompt must be typed.
    pub(crate) fn input(&mut self) -> Option<&mut TextInput> {
        match self {
            Self::Help(help) => Some(&mut help.filter),
            Self::Form(form) => form.input(),
            Self::Decide(menu) => menu.entry.as_mut().map(|entry| &mut entry.input),
            Self::Rules(rules) => rules.edit.as_mut().map(|edit| &mut edit.input),
            Self::Line(line) => Some(&mut line.input),
            Self::Command(line) => Some(&mut line.input),
            Self::Prompt(_)
            | Self::Alerts(_)
            | Self::Text(_)
            | Self::Plot(_)
            | Self::Why(_)
            | Self::Chain(_)
            | Self::Setup(_) => None,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Help {
    pub filter: TextInput,
    /// First visible line.
    pub scroll: u32,
}

/// A text to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextBox {
    pub title: String,
    /// Not sanitised yet.
    pub body: String,
    /// First visible line.
    pub scroll: u32,
}

/// The input line of a pane.
#[derive(Clone, Debug)]
pub struct Line {
    pub purpose: LinePurpose,
    pub input: TextInput,
    /// The text before the line was opened, which esc restores.
    pub before: String,
    /// The row that was selected when it was opened. It remains selected while the filter shows it.
    pub selected: Option<RowRef>,
    pub help: QueryHelp,
}

/// Help with a query while it is typed.
#[derive(Clone, Debug, Default)]
pub struct QueryHelp {
    /// Syntax error of the query; the list does not change.
    pub error: Option<ParseError>,
    /// Completions at the cursor.
    pub offers: Offers<Completion>,
    /// The text that they complete. The line shows the selected completion.
    pub completed: String,
    /// The query of the history that the line shows.
    pub recall: Recall,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinePurpose {
    /// The filter of a pane's list, applied with every key.
    Filter(Pane),
    /// A search in the shown detail, applied with every key.
    Search,
}

/// The first-start question: which service to use.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The selected answer: 0 local, 1 hosted, 2 demo.
    pub at: usize,
    /// A message while a choice is carried out.
    pub busy: Option<&'static str>,
    /// Why the last choice failed.
    pub problem: Option<Problem>,
}
