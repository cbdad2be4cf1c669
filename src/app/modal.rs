//! What can lie over the panes. The last one of [`Model::modals`](super::Model) has the keys.
//!
//! ```text
//!   panes ─► [Form] ─► [Help]      esc closes from the right
//! ```

use tui_textarea::TextArea;

use super::command::CommandLine;
use super::decide::menu::DecideMenu;
use super::decide::rules::RulesBox;
use super::form::Form;
use super::model::Pane;
use super::problem::Problem;
use super::prompt::Prompt;
use crate::query::ParseError;
use crate::query::complete::Completion;

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
    /// The list of alert rules; the selected one.
    Alerts(usize),
    /// A text to read: the words of a list, a text that could not be copied.
    Text(TextBox),
    /// A line that is typed in a pane: its filter, or a search.
    Line(Line),
    /// The command line.
    Command(Box<CommandLine>),
    /// The first-start question.
    Setup(Box<Setup>),
}

/// The help.
#[derive(Clone, Debug, Default)]
pub struct Help {
    /// What is typed to filter.
    pub filter: TextArea<'static>,
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
    pub input: TextArea<'static>,
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
    pub offers: Vec<Completion>,
    /// The text that they complete, and which of them stands in the line now.
    pub taken: Option<(String, usize)>,
    /// Which of the queries typed before stands in the line, counted from the newest, and what was typed until then.
    pub recalled: Option<(usize, String)>,
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

/// The text of a one-line input.
pub fn line_text(input: &TextArea<'_>) -> String {
    input.lines().first().cloned().unwrap_or_default()
}

/// A one-line input with this text, the cursor at its end.
pub fn line_with(text: &str) -> TextArea<'static> {
    let mut input = TextArea::new(vec![text.lines().next().unwrap_or_default().to_owned()]);
    input.move_cursor(tui_textarea::CursorMove::End);
    input.set_cursor_line_style(ratatui::style::Style::default());
    input
}
