//! The command line as data: every command with its arguments, what it does and the key that does the same.
//!
//! ```text
//!   ":findings risk>=high"
//!      │ split: the longest name at its beginning         Command { name, slots, words, example, action, run }
//!      ▼                                                      │
//!    name ─ slots ─► read ─► Ready { command, args } ─────────┴─► update::commands runs it
//!                     └─► Fault: place and reason, shown while it is typed
//! ```
//!
//! The table is made of two halves: the commands of `update::commands`, which take arguments, and every action of the
//! key table that can be asked for without a cursor, by its name. `:` and the help show it, `docs/commands.md` is made
//! of it.

pub mod args;
pub mod details;
pub mod docs;
pub mod fuzzy;
pub mod history;
pub mod line;
pub mod many;
pub mod slot;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use super::effect::Effect;
use super::model::Model;
use crate::input::{Action, Context, Keymap};

pub use args::{Args, Value};
pub use line::{CommandLine, Offer};
pub use slot::{Shape, Slot};

/// Why a line is no command: where, for what reason, what to write instead.
pub type Fault = crate::query::ParseError;

/// Carries a command out; an error is said to the person.
pub type Run = fn(&mut Model, &Args, &mut Vec<Effect>) -> Result<(), String>;

/// One command.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its name: words in lower case. `_` and `-` can be typed between them too.
    pub name: Cow<'static, str>,
    /// What follows the name.
    pub slots: &'static [Slot],
    /// What it does.
    pub words: &'static str,
    /// A line with it that can be run.
    pub example: &'static str,
    /// What the name alone asks for: its key stands beside the command.
    pub action: Option<Action>,
    /// What its arguments ask for.
    pub run: Option<Run>,
    /// Why it is off just now, apart from what holds for its action.
    pub off: fn(&Model) -> Option<String>,
}

impl Command {
    /// A command that is carried out by a function.
    pub const fn new(
        name: &'static str,
        slots: &'static [Slot],
        words: &'static str,
        example: &'static str,
        run: Run,
    ) -> Self {
        Self { name: Cow::Borrowed(name), slots, words, example, action: None, run: Some(run), off: |_| None }
    }

    /// An action under another name than that of the key table.
    pub const fn act(name: &'static str, action: Action, words: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            slots: &[],
            words,
            example: "",
            action: Some(action),
            run: None,
            off: |_| None,
        }
    }

    /// The same; its name alone asks for an action.
    #[must_use]
    pub const fn or(mut self, action: Action) -> Self {
        self.action = Some(action);
        self
    }

    /// The same, off for a reason.
    #[must_use]
    pub const fn off_when(mut self, off: fn(&Model) -> Option<String>) -> Self {
        self.off = off;
        self
    }

    /// An action by its name.
    fn of_action(action: Action) -> Self {
        Self {
            name: Cow::Owned(action.name().replace('_', " ")),
            slots: &[],
            words: action.describe(),
            example: "",
            action: Some(action),
            run: None,
            off: |_| None,
        }
    }

    /// Its arguments as printed: `QUERY [to FILE]`.
    pub fn shape(&self) -> String {
        self.slots.iter().map(Slot::to_string).collect::<Vec<_>>().join(" ")
    }

    /// Whether the name alone can be run.
    pub fn runs_alone(&self) -> bool {
        self.action.is_some() || self.slots.iter().all(|slot| slot.optional)
    }
}

/// A line that can be run.
#[derive(Debug)]
pub struct Ready {
    /// Which command.
    pub command: &'static Command,
    /// With what.
    pub args: Args,
}

/// Every command: those with arguments first, then the actions.
pub fn all() -> &'static [Command] {
    static TABLE: LazyLock<Vec<Command>> = LazyLock::new(|| {
        let mut table = super::update::command_table();
        let keymap = Keymap::builtin();
        for &action in Action::ALL.iter().filter(|&&action| is_typed(&keymap, action)) {
            let command = Command::of_action(action);
            if table.iter().all(|other| other.name != command.name && other.action != Some(action)) {
                table.push(command);
            }
        }
        table
    });
    &TABLE
}

/// The actions that make sense from a line: not those that move a cursor or belong to what is typed.
fn is_typed(keymap: &Keymap, action: Action) -> bool {
    use Action::*;
    let moves = matches!(
        action,
        Down | Up
            | Top
            | Bottom
            | HalfDown
            | HalfUp
            | PageDown
            | PageUp
            | OtherDown
            | OtherUp
            | TabLeft
            | TabRight
            | ScrollLeft
            | ScrollRight
            | NextMatch
            | PreviousMatch
            | Range
            | GoPrefix
            | CopyPrefix
            | GroupPrefix
            | Back
            | Cancel
            | Commands
            | Close
    );
    !moves && !action.is_later() && !places(keymap, action).is_empty()
}

/// The places in which an action has a key, apart from those where something is typed or answered.
pub fn places(keymap: &Keymap, action: Action) -> Vec<Context> {
    let typed = [Context::Form, Context::Decide, Context::Alerts, Context::Prompt, Context::Line, Context::Setup];
    let has = |context: &Context| keymap.entries(*context).any(|entry| entry.action == action);
    Context::ALL.into_iter().filter(|context| !typed.contains(context)).filter(has).collect()
}

/// The command at the beginning of a line, and where its arguments begin. A colon before it does not count.
pub fn split(text: &str) -> Option<(&'static Command, usize)> {
    let start = text.len() - text.trim_start_matches([' ', ':']).len();
    let named = |command: &'static Command| Some((command, start + after(&text[start..], &command.name)?));
    all().iter().filter_map(named).max_by_key(|(command, _)| command.name.len())
}

/// Where a text that begins with a name goes on after it.
fn after(text: &str, name: &str) -> Option<usize> {
    let mut at = 0;
    for letter in name.chars() {
        let rest = &text[at..];
        if letter == ' ' {
            let blank = rest.len() - rest.trim_start_matches([' ', '_', '-']).len();
            (blank > 0).then_some(())?;
            at += blank;
        } else {
            let found = rest.chars().next().filter(|found| found.eq_ignore_ascii_case(&letter))?;
            at += found.len_utf8();
        }
    }
    text[at..].chars().next().is_none_or(char::is_whitespace).then_some(at)
}

/// Reads a line.
///
/// # Errors
/// The place and the reason why it cannot be run.
pub fn read(model: &Model, text: &str) -> Result<Ready, Fault> {
    let (command, from) = split(text).ok_or_else(|| unknown(text))?;
    if command.action.is_some() && text[from..].trim().is_empty() {
        return Ok(Ready { command, args: Args::default() });
    }
    slot::read_all(model, command.slots, text, from).map(|args| Ready { command, args })
}

fn unknown(text: &str) -> Fault {
    let Range { start, end } = trimmed(text, 0..text.len());
    let typed = &text[start..end];
    let fault = Fault::new(start..end, if typed.is_empty() { "a command".to_owned() } else { "no command".to_owned() });
    let first = typed.split_whitespace().next().unwrap_or_default();
    match crate::query::error::nearest(first, all().iter().map(|command| command.name.as_ref())) {
        Some(name) if !first.is_empty() => fault.with_hint(format!("{name}?")),
        _ => fault,
    }
}

/// A part of a text without the blanks around it.
pub(super) fn trimmed(text: &str, part: Range<usize>) -> Range<usize> {
    let inner = &text[part.clone()];
    let start = part.start + inner.len() - inner.trim_start().len();
    start..(start + inner.trim().len())
}

impl Model {
    /// Why a command is off just now; nothing when it is not.
    pub fn command_off(&self, command: &Command) -> Option<String> {
        if let Some(why) = (command.off)(self) {
            return Some(why);
        }
        let action = command.action?;
        if let Some(why) = self.off(action) {
            return Some(why);
        }
        let places = places(&self.keymap, action);
        let here = self.pane_contexts();
        let anywhere = |place: &Context| place.prefix().is_some() || here.contains(place);
        if command.run.is_some() || places.is_empty() || places.iter().any(anywhere) {
            return None;
        }
        let names: Vec<&str> = places.iter().map(|place| place.title()).collect();
        Some(format!("not here: in {}", names.join(", ")))
    }

    /// The key that does the same as a command, as printed; of a sequence both keys.
    pub fn command_key(&self, command: &Command) -> Option<String> {
        let action = command.action?;
        let here = self.pane_contexts();
        let mut places = places(&self.keymap, action);
        places.sort_by_key(|place| !here.contains(place));
        let place = *places.first()?;
        let key = self.keymap.key_of(place, action)?;
        Some(place.prefix().unwrap_or_default().to_owned() + &key)
    }
}

#[cfg(test)]
mod tests;
