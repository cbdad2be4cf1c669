//! Commands of the configuration as actions.
//!
//! An action is a small value with static words, so the few commands of a configuration live as
//! long as the program.

use crate::config::file::{CommandOutput, CommandSetting};

/// A command of the configuration.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CustomCommand {
    pub name: String,
    /// For the help: ``ticket: run `tracker add` ``.
    pub description: String,
    /// Program and arguments.
    pub words: Vec<String>,
    pub output: CommandOutput,
    /// Whether it changes something outside: off in a read-only session.
    pub changes: bool,
}

/// The action that runs a command of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CustomAction(&'static CustomCommand);

impl CustomAction {
    pub fn new(setting: &CommandSetting) -> Self {
        let name = if setting.name.is_empty() {
            setting.words.join(" ")
        } else {
            setting.name.clone()
        };
        let named = if setting.name.is_empty() {
            String::new()
        } else {
            format!("{}: ", setting.name)
        };
        let description = format!("{named}run `{}`", setting.words.join(" "));
        let (output, changes, words) = (setting.output, setting.changes, setting.words.clone());
        Self(Box::leak(Box::new(CustomCommand {
            name,
            description,
            words,
            output,
            changes,
        })))
    }

    pub fn command(self) -> &'static CustomCommand {
        self.0
    }
}
