//! Settings in the decision store: JSON by name and workspace. An empty workspace means all.

use crate::base::Effect;
use crate::model::Model;
use scandeck_domain::triage::settings::{setting, settings_of};
use scandeck_wire::contract::Shared;
use serde::Serialize;
use serde::de::DeserializeOwned;

impl Model {
    /// A setting; none if it cannot be read.
    pub(crate) fn setting<T: DeserializeOwned>(&self, key: &str, workspace: &Shared) -> Option<T> {
        let json = self
            .findings
            .triage
            .settings
            .get(&(key.into(), workspace.clone()))?;
        serde_json::from_str(json).ok()
    }

    /// Saves a setting.
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

    /// Saves a setting of the current workspace.
    pub fn remember_here(
        &mut self,
        key: &'static str,
        value: &impl Serialize,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(workspace) = self.workspace().map(|workspace| workspace.name.clone()) {
            self.remember(key, &workspace, value, effects);
        }
    }

    /// Deletes a setting of the current workspace.
    pub fn forget_here(&mut self, key: &'static str, effects: &mut Vec<Effect>) {
        if let Some(workspace) = self.workspace().map(|workspace| workspace.name.clone()) {
            self.remember_json(key, &workspace, String::new(), effects);
        }
    }

    fn remember_json(
        &mut self,
        key: &'static str,
        workspace: &Shared,
        json: String,
        effects: &mut Vec<Effect>,
    ) {
        self.findings
            .triage
            .settings
            .insert((key.into(), workspace.clone()), json.clone());
        effects.push(Effect::Remember {
            key,
            workspace: workspace.clone(),
            value: json,
        });
    }

    /// Name and value of the settings of a kind that are not deleted.
    pub(crate) fn settings_of(
        &self,
        of: &'static str,
        workspace: &Shared,
    ) -> Vec<(String, String)> {
        settings_of(&self.findings.triage.settings, of, workspace)
    }

    /// Saves a setting of a kind; none deletes it.
    pub(crate) fn remember_one(
        &mut self,
        (of, name): (&'static str, &str),
        workspace: Shared,
        value: Option<&str>,
        effects: &mut Vec<Effect>,
    ) {
        // A deletion is sent too, because another dashboard may still have the setting.
        let value = serde_json::to_string(&value).unwrap_or_default();
        self.findings
            .triage
            .settings
            .insert((setting(of, name), workspace.clone()), value.clone());
        effects.push(Effect::RememberOne {
            of,
            name: name.into(),
            workspace,
            value,
        });
    }
}
