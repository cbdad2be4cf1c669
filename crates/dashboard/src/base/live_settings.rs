//! The settings of the configuration that change while the dashboard runs.

use super::{AUTO, OwnTheme, Scheme};
use crate::config::{AlertPlan, ScanProfile};
use crate::input::Keymap;
use scandeck_domain::problem::Problem;
use std::sync::Arc;

/// The checked settings that do not depend on the service.
#[derive(Clone, Debug)]
pub struct LiveSettings {
    /// The channels and rules of alerts.
    pub alerts: Arc<AlertPlan>,
    pub keymap: Arc<Keymap>,
    /// Whether the mouse is on.
    pub mouse: bool,
    /// The name of the theme.
    pub theme: String,
    /// The themes of the user, by name.
    pub themes: Vec<OwnTheme>,
    /// The invalid theme files by name, with the reason.
    pub invalid_themes: Vec<(String, Problem)>,
    pub scan_profiles: Vec<ScanProfile>,
    /// The settings that only a new start uses, with their values.
    pub fixed: Vec<(&'static str, String)>,
}

impl Default for LiveSettings {
    fn default() -> Self {
        let (keymap, theme) = (Keymap::builtin(), AUTO.to_owned());
        let (themes, invalid_themes) = (Vec::new(), Vec::new());
        Self {
            alerts: Arc::default(),
            keymap,
            mouse: false,
            theme,
            themes,
            invalid_themes,
            scan_profiles: Vec::new(),
            fixed: Vec::new(),
        }
    }
}

impl LiveSettings {
    /// Why the theme with this name is not usable, if its file is invalid.
    pub fn invalid_theme(&self, name: &str) -> Option<&Problem> {
        // The built-in themes keep their names, also beside a file with this name.
        let is_builtin = name == AUTO || Scheme::named(name).is_some();
        self.invalid_themes
            .iter()
            .find(|(invalid, _)| invalid == name && !is_builtin)
            .map(|(_, problem)| problem)
    }
}

/// The names that the setting `theme` and `:theme` take.
pub fn theme_names(own: &[OwnTheme]) -> Vec<&str> {
    [AUTO]
        .into_iter()
        .chain(Scheme::NAMES)
        .chain(own.iter().map(|theme| theme.name.as_str()))
        .collect()
}
