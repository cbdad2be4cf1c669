//! Settings: what is remembered beside the decisions, by name, as JSON. Each is of a workspace by its name, or of all
//! (empty).

use crate::contract::Shared;
use crate::dashboard::base::Effect;
use crate::dashboard::model::Model;
use crate::triage::settings::{setting, settings_of};
use serde::Serialize;
use serde::de::DeserializeOwned;

impl Model {
    /// A setting. One that cannot be read is as if there were none.
    pub(crate) fn setting<T: DeserializeOwned>(&self, key: &str, workspace: &Shared) -> Option<T> {
        let json = self.findings.triage.settings.get(&(key.into(), workspace.clone()))?;
        serde_json::from_str(json).ok()
    }

    /// Remembers a setting.
    pub fn remember(
        &mut self,
        key: &'static str,
        workspace: &Shared,
        value: &impl Serialize,
        effects: &mut Vec<Effect>,
    ) {
        if let Ok(json) = serde_json::to_string(value) {
            self.remember_json(key, workspace, json, effects);
        }
    }

    /// Remembers a setting of the workspace worked in.
    pub fn remember_here(&mut self, key: &'static str, value: &impl Serialize, effects: &mut Vec<Effect>) {
        if let Some(workspace) = self.workspace().map(|workspace| workspace.name.clone()) {
            self.remember(key, &workspace, value, effects);
        }
    }

    /// Remembers that a setting of the workspace worked in is none any more.
    pub fn forget_here(&mut self, key: &'static str, effects: &mut Vec<Effect>) {
        if let Some(workspace) = self.workspace().map(|workspace| workspace.name.clone()) {
            self.remember_json(key, &workspace, String::new(), effects);
        }
    }

    fn remember_json(&mut self, key: &'static str, workspace: &Shared, json: String, effects: &mut Vec<Effect>) {
        self.findings.triage.settings.insert((key.into(), workspace.clone()), json.clone());
        effects.push(Effect::Remember { key, workspace: workspace.clone(), value: json });
    }

    /// The settings of a kind that were not taken off: name and value.
    pub(crate) fn settings_of(&self, of: &'static str, workspace: &Shared) -> Vec<(String, String)> {
        settings_of(&self.findings.triage.settings, of, workspace)
    }

    /// Remembers one setting of a kind; nothing takes it off.
    pub(crate) fn remember_one(
        &mut self,
        (of, name): (&'static str, &str),
        workspace: Shared,
        value: Option<&str>,
        effects: &mut Vec<Effect>,
    ) {
        // What was taken off is told too: another dashboard may have it still.
        let value = serde_json::to_string(&value).unwrap_or_default();
        self.findings.triage.settings.insert((setting(of, name), workspace.clone()), value.clone());
        effects.push(Effect::RememberOne { of, name: name.into(), workspace, value });
    }
}
