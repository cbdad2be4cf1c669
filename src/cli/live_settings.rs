//! The checked settings of the dashboard: at its start, and again when their files change.

use std::path::PathBuf;
use std::sync::Arc;

use super::key_table;
use crate::client::Problem;
use crate::config::{Config, Environment, ScreenSettings};
use crate::dashboard::base::{AUTO, LiveSettings, OwnTheme, theme_names};
use crate::dashboard::runtime::SettingsSource;

/// Checks keys, commands and themes.
///
/// # Errors
/// When one is invalid, with file and line.
pub fn checked(settings: ScreenSettings) -> Result<LiveSettings, Problem> {
    let keymap = key_table::effective(&settings.keys)?;
    let (theme, themes) = checked_themes(&settings)?;
    let ScreenSettings { signal_command: notify_command, mouse, fixed, .. } = settings;
    Ok(LiveSettings { notify_command, keymap, mouse, theme, themes, fixed })
}

/// The name of the configured theme, and the themes of the user.
///
/// # Errors
/// When a theme file is invalid, or the configured theme does not exist: with file and line.
pub fn checked_themes(settings: &ScreenSettings) -> Result<(String, Vec<OwnTheme>), Problem> {
    let themes = settings.themes.iter().map(OwnTheme::parse).collect::<Result<Vec<_>, Problem>>()?;
    let Some((line, name)) = &settings.theme else { return Ok((AUTO.to_owned(), themes)) };
    let names = theme_names(&themes);
    if !names.contains(&name.as_str()) {
        let problem = Problem::local(format!("{}:{line}: theme `{name}` not found", settings.keys.file));
        return Err(problem.with_hint(format!("use one of {}", names.join(", "))));
    }
    Ok((name.clone(), themes))
}

/// The file of the settings, and how they are read again.
pub fn source(file: Option<PathBuf>, environment: &Environment) -> SettingsSource {
    let environment = environment.clone();
    let path = file.clone().unwrap_or_else(|| environment.config_file());
    let read = move || checked(Config::screen_of(file.as_deref(), &environment)?);
    SettingsSource { file: path, read: Arc::new(read) }
}
