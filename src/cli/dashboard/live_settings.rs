//! The checked settings of the dashboard: at its start, and again when their files change.

use std::path::PathBuf;
use std::sync::Arc;

use super::key_table;
use scandeck_dashboard::base::{AUTO, LiveSettings, OwnTheme, Scheme, theme_names};
use scandeck_dashboard::config::{Config, Environment, ScreenSettings};
use scandeck_dashboard::runtime::SettingsSource;
use scandeck_domain::problem::Problem;

/// Checks keys, commands and themes.
///
/// # Errors
/// When one is invalid, with file and line.
pub fn checked(settings: ScreenSettings) -> Result<LiveSettings, Problem> {
    let keymap = key_table::effective(&settings.keys)?;
    let CheckedThemes {
        name: theme,
        own: themes,
        invalid: invalid_themes,
    } = checked_themes(&settings)?;
    let ScreenSettings {
        alerts,
        mouse,
        scan_profiles,
        fixed,
        ..
    } = settings;
    Ok(LiveSettings {
        alerts,
        keymap,
        mouse,
        theme,
        themes,
        invalid_themes,
        scan_profiles,
        fixed,
    })
}

/// The configured theme and the theme files.
pub struct CheckedThemes {
    pub name: String,
    pub own: Vec<OwnTheme>,
    /// The invalid files by name, with the reason.
    pub invalid: Vec<(String, Problem)>,
}

/// Checks the theme files. An invalid file that is not in use is no error.
///
/// # Errors
/// When the file of the configured theme is invalid, or this theme does not exist: with file and
/// line.
pub fn checked_themes(settings: &ScreenSettings) -> Result<CheckedThemes, Problem> {
    let (mut own, mut invalid) = (Vec::new(), Vec::new());
    for file in &settings.themes {
        match OwnTheme::parse(file) {
            Ok(theme) => own.push(theme),
            Err(problem) => invalid.push((file.name.clone(), problem)),
        }
    }
    let Some((line, name)) = &settings.theme else {
        return Ok(CheckedThemes {
            name: AUTO.to_owned(),
            own,
            invalid,
        });
    };
    // The built-in themes keep their names, also beside a file with this name.
    let is_builtin = name == AUTO || Scheme::named(name).is_some();
    if let Some(at) = invalid
        .iter()
        .position(|(invalid, _)| invalid == name && !is_builtin)
    {
        return Err(invalid.swap_remove(at).1);
    }
    let names = theme_names(&own);
    if !names.contains(&name.as_str()) {
        let problem = Problem::local(format!(
            "{}:{line}: theme `{name}` not found",
            settings.keys.file
        ));
        return Err(problem.with_hint(format!("use one of {}", names.join(", "))));
    }
    Ok(CheckedThemes {
        name: name.clone(),
        own,
        invalid,
    })
}

/// The file of the settings, and how they are read again.
pub fn source(file: Option<PathBuf>, environment: &Environment) -> SettingsSource {
    let environment = environment.clone();
    let path = file.clone().unwrap_or_else(|| environment.config_file());
    let read = move || checked(Config::screen_of(file.as_deref(), &environment)?);
    SettingsSource {
        file: path,
        read: Arc::new(read),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_dashboard::config::ThemeFile;

    #[test]
    fn only_the_invalid_theme_in_use_is_an_error() {
        let file = |name: &str, text: &str| ThemeFile {
            name: name.to_owned(),
            path: format!("themes/{name}.toml"),
            text: text.to_owned(),
            unreadable: None,
        };
        let themes = vec![
            file("dawn", "low = \"red\""),
            file("dusk", "low = \"#00ffff\""),
        ];
        let settings = |theme: Option<&str>| ScreenSettings {
            theme: theme.map(|name| (1, name.to_owned())),
            themes: themes.clone(),
            ..ScreenSettings::default()
        };
        for theme in [None, Some("dark"), Some("dusk")] {
            let checked = checked_themes(&settings(theme)).unwrap();
            assert_eq!(
                (checked.own.len(), checked.invalid[0].0.as_str()),
                (1, "dawn")
            );
            assert!(
                checked.invalid[0]
                    .1
                    .message
                    .starts_with("themes/dawn.toml:1: invalid colour")
            );
        }
        let Err(problem) = checked_themes(&settings(Some("dawn"))) else {
            panic!("the theme in use is invalid")
        };
        assert!(
            problem
                .message
                .starts_with("themes/dawn.toml:1: invalid colour"),
            "{problem}"
        );
    }
}
