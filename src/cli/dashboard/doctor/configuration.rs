//! The checks of the configuration: file, profile, keys and theme; then those of its service.

use super::{Diagnosis, connection};
use crate::cli::dashboard::headless::session::{ServiceArgs, load_config};
use crate::cli::dashboard::key_table;
use crate::cli::dashboard::live_settings::{CheckedThemes, checked_themes};
use scandeck_dashboard::base::{OwnTheme, Scheme};
use scandeck_dashboard::config::{Config, Connection, Environment, ScreenSettings};
use scandeck_wire::text::plural;

const CONFIGURATION: &str = "configuration";

/// Checks the configuration, and the service that it names. `background` is the scheme for the
/// background that the terminal reports.
pub async fn check(
    args: &ServiceArgs,
    environment: &Environment,
    background: Option<Scheme>,
) -> Vec<Diagnosis> {
    let file = args
        .config
        .clone()
        .unwrap_or_else(|| environment.config_file());
    let of = |value: String| Diagnosis::ok(CONFIGURATION, "file", value);
    let found = match file.exists() {
        true => of(file.display().to_string()),
        false => of(format!("none ({}); defaults apply", file.display())),
    };
    let config = match load_config(args) {
        Ok((_, config)) => config,
        // The file itself is valid; a profile or key is missing.
        Err(error) if Config::screen_of(args.config.as_deref(), environment).is_ok() => {
            return vec![
                found,
                Diagnosis::ok(CONFIGURATION, "profile", "").with_error(&error),
            ];
        }
        Err(error) => return vec![of(String::new()).with_error(&error)],
    };
    let (answers, member) = connection::check(args, environment, &config).await;
    let author = member.as_ref().map_or(config.user.as_str(), |it| &it.name);
    let mut all = vec![
        found,
        profile(args, &config, author),
        keys(&config),
        theme(&config.screen, background),
    ];
    all.extend(answers);
    all
}

fn profile(args: &ServiceArgs, config: &Config, author: &str) -> Diagnosis {
    // A local profile is not the owner of a base URL; its name is then that of the service.
    let is_local = matches!(config.connection, Connection::Local) && config.name != "local";
    let of_config = config
        .profile
        .as_deref()
        .or(is_local.then_some(config.name.as_str()));
    let profile = args.profile.as_deref().or(of_config).unwrap_or("none");
    let mode = if config.read_only { ", read-only" } else { "" };
    Diagnosis::ok(
        CONFIGURATION,
        "profile",
        format!("{profile}{mode}; decisions are recorded as {author}"),
    )
}

fn keys(config: &Config) -> Diagnosis {
    let changed = config.screen.keys.all.len();
    let value = match changed {
        0 => "defaults".to_owned(),
        changed => format!("{} changed", plural(changed, "action")),
    };
    let check = Diagnosis::ok(CONFIGURATION, "keys", value);
    match key_table::effective(&config.screen.keys) {
        Ok(_) => check,
        Err(error) => {
            let unchecked = Diagnosis::ok(CONFIGURATION, "keys", "");
            unchecked.with_error(&error.into())
        }
    }
}

fn theme(settings: &ScreenSettings, background: Option<Scheme>) -> Diagnosis {
    let check = |value: String| Diagnosis::ok(CONFIGURATION, "theme", value);
    let CheckedThemes { name, own, invalid } = match checked_themes(settings) {
        Ok(checked) => checked,
        Err(problem) => return check(String::new()).with_error(&problem.into()),
    };
    let (mut values, mut remedies) = (Vec::new(), Vec::new());
    let in_use = own.iter().find(|theme| theme.name == name);
    if let Some(low) = in_use.and_then(OwnTheme::contrast_warning) {
        values.push(low);
        remedies.push("change the colours of these roles in the file".to_owned());
    }
    let scheme = Scheme::named(&name).or(in_use.map(|theme| theme.base));
    if let Some((of_theme, of_terminal)) = scheme
        .zip(background)
        .and_then(|(scheme, background)| differs(scheme, background))
    {
        values.push(format!(
            "for a {of_theme} background, but the terminal reports a {of_terminal} one"
        ));
        remedies.push(format!(
            "set theme = \"auto\", or a theme for a {of_terminal} background"
        ));
    }
    for (_, problem) in &invalid {
        values.push(format!("not usable: {problem}"));
        remedies.extend(problem.hint.clone());
    }
    let all = format!(
        "{name}; {}",
        plural(own.len() + invalid.len(), "theme file")
    );
    let value = [&[all], values.as_slice()].concat().join("; ");
    if remedies.is_empty() {
        check(value)
    } else {
        check(value).warning(remedies.join("; "))
    }
}

/// The backgrounds that a theme needs and that the terminal has, if they differ.
fn differs(scheme: Scheme, background: Scheme) -> Option<(&'static str, &'static str)> {
    match (scheme, background) {
        (Scheme::Mono, _) => None,
        (Scheme::Light, Scheme::Dark) => Some(("light", "dark")),
        (Scheme::Light, _) => None,
        (_, Scheme::Light) => Some(("dark", "light")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::DiagnosisState;
    use super::*;
    use scandeck_dashboard::config::ThemeFile;

    #[test]
    fn theme_for_another_background_or_with_an_error_is_a_warning() {
        let settings = |name: &str, text: &str| ScreenSettings {
            theme: Some((1, name.to_owned())),
            themes: vec![ThemeFile {
                name: "dusk".into(),
                path: "dusk.toml".into(),
                text: text.into(),
                unreadable: None,
            }],
            ..ScreenSettings::default()
        };
        let [on_dark, on_light] = [Some(Scheme::Dark), Some(Scheme::Light)];
        for (name, text, background, part) in [
            ("auto", "", on_light, ""),
            ("mono", "", on_light, ""),
            ("light", "", on_light, ""),
            ("light", "", None, ""),
            (
                "light",
                "",
                on_dark,
                "for a light background, but the terminal reports a dark one",
            ),
            (
                "tritanopia",
                "",
                on_light,
                "for a dark background, but the terminal reports a light one",
            ),
            (
                "dusk",
                "base = \"light\"",
                on_dark,
                "for a light background",
            ),
            (
                "dark",
                "low = 7",
                on_dark,
                "not usable: dusk.toml:1: invalid colour 7 for low",
            ),
        ] {
            let diagnosis = theme(&settings(name, text), background);
            let expected = if part.is_empty() {
                DiagnosisState::Ok
            } else {
                DiagnosisState::Warning
            };
            assert_eq!(
                (diagnosis.state, diagnosis.remedy.is_some()),
                (expected, !part.is_empty()),
                "{diagnosis:?}"
            );
            assert!(
                diagnosis
                    .value
                    .starts_with(&format!("{name}; 1 theme file"))
                    && diagnosis.value.contains(part)
            );
        }
        assert_eq!(
            theme(&settings("dusk", "low = 7"), None).state,
            DiagnosisState::Failed
        );
    }
}
