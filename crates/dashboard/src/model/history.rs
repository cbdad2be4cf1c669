//! The history of the command line, saved per profile.

use crate::base::Effect;
use crate::model::Model;
use scandeck_wire::contract::Shared;

const SETTING: &str = "commands";
/// Most lines in the history.
const MOST: usize = 200;

impl Model {
    /// The lines of the history, the newest last.
    pub fn commands_run(&self) -> Vec<String> {
        self.setting(SETTING, &Shared::default())
            .unwrap_or_default()
    }

    /// Adds a line to the history. A line that is there already moves to the end.
    pub(crate) fn keep_command(&mut self, line: &str, effects: &mut Vec<Effect>) {
        let mut lines = self.commands_run();
        lines.retain(|other| other != line);
        lines.push(line.to_owned());
        self.remember(
            SETTING,
            &Shared::default(),
            &&lines[lines.len().saturating_sub(MOST)..],
            effects,
        );
    }
}
