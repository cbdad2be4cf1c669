//! The settings of the configuration in use, and the theme that results.

use crate::base::{LiveSettings, OwnColours, Scheme, Tone, theme_names};
use crate::model::{Modal, Model};

impl Model {
    /// Uses these settings. An unchanged setting leaves the choice of `:theme` or `:mouse` as it
    /// is.
    pub fn use_settings(&mut self, new: LiveSettings) {
        self.keyboard.keymap = new.keymap.clone();
        self.keyboard.typed.clear();
        if new.mouse != self.settings.live.mouse {
            self.screen.mouse.is_on = new.mouse;
        }
        if new.theme != self.settings.live.theme {
            self.screen.theme = new.theme.clone();
        }
        // A new rule looks at the present data too.
        self.event_alerts.looked = None;
        self.settings.live = new;
        self.warn_of_contrast();
    }

    /// Notifies about colours of the theme in use that are hard to read.
    pub(crate) fn warn_of_contrast(&mut self) {
        let themes = &self.settings.live.themes;
        let Some(theme) = themes.iter().find(|theme| theme.name == self.screen.theme) else {
            return;
        };
        if let Some(warning) = theme.contrast_warning() {
            self.notify(Tone::Plain, format!("theme {:?}: {warning}", theme.name));
        }
    }

    /// The names that `:theme` takes.
    pub fn theme_names(&self) -> Vec<&str> {
        theme_names(&self.settings.live.themes)
    }

    /// The colours of the chosen theme, or of the one that is being completed after `:theme`. None
    /// follows the terminal.
    pub fn scheme(&self) -> Option<(Scheme, OwnColours)> {
        let typed = self.overlay.modals.last().and_then(|modal| match modal {
            Modal::Command(line) => {
                let text = line
                    .offers
                    .selected()
                    .map_or_else(|| line.input.text(), |offer| line.with(offer));
                Some(
                    text.trim_start_matches([' ', ':'])
                        .strip_prefix("theme ")?
                        .trim()
                        .to_owned(),
                )
            }
            _ => None,
        });
        let name = typed.filter(|name| self.theme_names().contains(&name.as_str()));
        let name = name.as_deref().unwrap_or(&self.screen.theme);
        let own = || {
            self.settings
                .live
                .themes
                .iter()
                .find(|theme| theme.name == name)
        };
        match Scheme::named(name) {
            Some(scheme) => Some((scheme, OwnColours::default())),
            None => own().map(|theme| (theme.base, theme.colours)),
        }
    }
}
