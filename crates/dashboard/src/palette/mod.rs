//! The command line as data: every command with its arguments, its action or function, and the key
//! for the same action.
//!
//! ```text
//!   ":findings risk>=high"
//!      │ split: the longest name at the beginning         Command { name, slots, words, example, action, run }
//!      ▼                                                      │
//!    name ─ slots ─► read ─► Ready { command, args } ─────────┴─► core/commands runs it
//!                     └─► Fault: place and reason, shown while the line is typed
//! ```
//!
//! `core/commands/table.rs` splits and reads a line, with the slots of this folder. The table has
//! two halves: the commands that take arguments, declared by `core/commands` and by the
//! `commands.rs` files of the features, and every action of the key table that needs no cursor. `:`
//! and the help show the table, and `docs/commands.md` is generated from it.

pub mod args;
pub mod bulk_payloads;
pub mod details;
pub mod draw;
pub mod fuzzy;
pub mod slot;
#[cfg(test)]
mod tests;

pub use bulk_payloads::BulkPayloads;
pub use details::{KEYS, RISKS, RULED, VERDICTS};

use crate::base::Effect;
use crate::input::{Action, Context, Keymap, ReviewAction, ViewAction};
use crate::model::Model;
use std::borrow::Cow;
use std::ops::Range;

pub use crate::model::{CommandLine, CommandOffer};
pub use crate::palette::args::{Args, ArgumentValue};
pub use crate::palette::slot::{ArgumentShape, ArgumentSlot};

/// Runs a command; an error is shown to the user.
pub type Run = fn(&mut Model, &Args, &mut Vec<Effect>) -> Result<(), String>;

#[derive(Clone, Debug)]
pub struct Command {
    /// Its name: words in lower case. `_` and `-` can be typed between them too.
    pub name: Cow<'static, str>,
    /// Its arguments.
    pub slots: &'static [ArgumentSlot],
    pub words: &'static str,
    /// A valid line with it.
    pub example: &'static str,
    /// The action of the name alone; its key is shown beside the command.
    pub action: Option<Action>,
    /// Runs it with its arguments.
    pub run: Option<Run>,
    /// Why it is off at the moment, beside the reasons of its action.
    pub off: fn(&Model) -> Option<String>,
}

impl Command {
    /// A command that runs a function.
    pub const fn new(
        name: &'static str,
        slots: &'static [ArgumentSlot],
        words: &'static str,
        example: &'static str,
        run: Run,
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            slots,
            words,
            example,
            action: None,
            run: Some(run),
            off: |_| None,
        }
    }

    /// An action under another name than in the key map.
    pub const fn act(name: Cow<'static, str>, action: Action, words: &'static str) -> Self {
        Self {
            name,
            slots: &[],
            words,
            example: "",
            action: Some(action),
            run: None,
            off: |_| None,
        }
    }

    /// Without arguments it runs an action.
    #[must_use]
    pub const fn or(mut self, action: Action) -> Self {
        self.action = Some(action);
        self
    }

    /// Adds a reason why it is off.
    #[must_use]
    pub const fn off_when(mut self, off: fn(&Model) -> Option<String>) -> Self {
        self.off = off;
        self
    }

    /// An action by its name.
    pub(crate) fn of_action(action: Action) -> Self {
        Self::act(action.command().into(), action, action.describe())
    }

    /// `:findings [QUERY]`, for the help, the palette and `docs/commands.md`.
    pub fn usage(&self) -> String {
        format!(":{} {}", self.name, self.shape())
            .trim_end()
            .to_owned()
    }

    /// Its arguments as printed: `QUERY [to FILE]`.
    pub fn shape(&self) -> String {
        let shown = |slot: &ArgumentSlot| match slot.optional || self.action.is_none() {
            true => slot.to_string(),
            // Without arguments, the action of the same name runs.
            false => format!("[{slot}]"),
        };
        self.slots.iter().map(shown).collect::<Vec<_>>().join(" ")
    }
}

/// The contexts in which an action has a key, except those of text fields and prompts.
pub fn places(keymap: &Keymap, action: Action) -> Vec<Context> {
    let typed = [
        Context::Form,
        Context::Decide,
        Context::Alerts,
        Context::Plot,
        Context::Why,
        Context::Chain,
        Context::Prompt,
        Context::Line,
        Context::Setup,
    ];
    let mut places: Vec<Context> = keymap
        .contexts_of(action)
        .filter(|context| !typed.contains(context))
        .collect();
    places.sort();
    places.dedup();
    places
}

/// A part of a text without the blanks around it.
pub(crate) fn trimmed(text: &str, part: Range<usize>) -> Range<usize> {
    let inner = &text[part.clone()];
    let start = part.start + inner.len() - inner.trim_start().len();
    start..(start + inner.trim().len())
}

impl Model {
    /// Why a command is off at the moment, if it is.
    pub fn command_off(&self, command: &Command) -> Option<String> {
        if let Some(why) = (command.off)(self) {
            return Some(why);
        }
        let action = command.action?;
        if let Some(why) = self.off(action) {
            return Some(why);
        }
        let places = places(&self.keyboard.keymap, action);
        let here = self.pane_contexts();
        let anywhere = |place: &Context| place.opened_by().is_some() || here.contains(place);
        if command.run.is_some() || places.is_empty() || places.iter().any(anywhere) {
            return None;
        }
        if places.iter().all(|place| *place == Context::Lists) {
            let back = self.key_label(Context::Everywhere, Action::View(ViewAction::Back));
            return Some(format!("only in a list · {back} goes back"));
        }
        if places == [Context::Review] {
            let key = self.key_label(Context::Findings, Action::Review(ReviewAction::Open));
            return Some(format!("only in a review · {key} starts one"));
        }
        if let [place] = places.as_slice()
            && let Some(view @ Action::View(_)) = Action::named(place.name())
        {
            let key = self.key_label(Context::Everywhere, view);
            return Some(format!("only in {} · {key} shows it", place.title()));
        }
        let names: Vec<&str> = places.iter().map(|place| place.title()).collect();
        Some(format!("only in: {}", names.join(", ")))
    }

    /// The key of the same action, as printed; of a sequence, both keys.
    pub fn command_key(&self, command: &Command) -> Option<String> {
        let action = command.action?;
        let here = self.pane_contexts();
        let mut places = places(&self.keyboard.keymap, action);
        places.sort_by_key(|place| !here.contains(place));
        let place = *places.first()?;
        self.keyboard
            .keymap
            .keys_of(place, action)
            .into_iter()
            .next()
    }
}
