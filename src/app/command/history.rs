//! The lines that were run, the newest last: kept per profile.

use super::super::effect::Effect;
use super::super::model::Model;
use crate::contract::Shared;

/// The name of the setting.
const SETTING: &str = "commands";
/// So many are kept.
const MOST: usize = 200;

impl Model {
    /// The lines that were run, the newest last.
    pub fn commands_run(&self) -> Vec<String> {
        let kept = self.triage.settings.get(&(SETTING.into(), Shared::default()));
        // What cannot be read is as if there were none.
        kept.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }

    /// Keeps a line that was run; one that was run before moves to the end.
    pub(in crate::app) fn keep_command(&mut self, line: &str, effects: &mut Vec<Effect>) {
        let mut lines = self.commands_run();
        lines.retain(|other| other != line);
        lines.push(line.to_owned());
        let lines = &lines[lines.len().saturating_sub(MOST)..];
        let value = serde_json::to_string(lines).unwrap_or_default();
        self.triage.settings.insert((SETTING.into(), Shared::default()), value.clone());
        effects.push(Effect::Remember { key: SETTING, workspace: Shared::default(), value });
    }
}
