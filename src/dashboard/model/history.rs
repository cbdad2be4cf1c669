//! The lines that were run, the newest last: kept per profile.

use crate::contract::Shared;
use crate::dashboard::base::Effect;
use crate::dashboard::model::Model;

/// The name of the setting.
const SETTING: &str = "commands";
/// So many are kept.
const MOST: usize = 200;

impl Model {
    /// The lines that were run, the newest last.
    pub fn commands_run(&self) -> Vec<String> {
        self.setting(SETTING, &Shared::default()).unwrap_or_default()
    }

    /// Keeps a line that was run; one that was run before moves to the end.
    pub(crate) fn keep_command(&mut self, line: &str, effects: &mut Vec<Effect>) {
        let mut lines = self.commands_run();
        lines.retain(|other| other != line);
        lines.push(line.to_owned());
        self.remember(SETTING, &Shared::default(), &&lines[lines.len().saturating_sub(MOST)..], effects);
    }
}
