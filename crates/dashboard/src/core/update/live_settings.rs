//! Settings of the configuration that changed while the dashboard runs.

use crate::base::{Effect, LiveSettings, Tone};
use crate::model::Model;
use scandeck_domain::problem::Problem;
use std::sync::Arc;

const UNCHANGED: &str = "settings unchanged";
const RELOADED: &str = "configuration reloaded";

/// Uses the changed settings. After an error, the old ones remain.
pub(crate) fn handle_settings_read(
    model: &mut Model,
    result: Result<Box<LiveSettings>, Problem>,
    effects: &mut Vec<Effect>,
) {
    // The notice about the latest reload replaces the earlier notices.
    model
        .overlay
        .notices
        .remove_starting(&[UNCHANGED, RELOADED]);
    let new = match result {
        Ok(new) => match new.invalid_theme(&model.screen.theme) {
            Some(problem) => return model.notify_problem(UNCHANGED, problem),
            None => *new,
        },
        Err(problem) => return model.notify_problem(UNCHANGED, &problem),
    };
    let old = &model.settings.live;
    let differing = new
        .fixed
        .iter()
        .filter(|setting| !old.fixed.contains(setting))
        .map(|(name, _)| *name);
    let restart = differing.collect::<Vec<_>>().join(", ");
    let was_on = model.screen.mouse.is_on;
    // A fixed setting is not in use yet, so the next change still names it.
    let fixed = old.fixed.clone();
    if old.alerts != new.alerts {
        effects.push(Effect::NotifyBy(Arc::clone(&new.alerts)));
    }
    model.use_settings(LiveSettings { fixed, ..new });
    if model.screen.mouse.is_on != was_on {
        effects.push(Effect::Mouse(!was_on));
    }
    match restart.as_str() {
        "" => model.notify(Tone::Good, RELOADED),
        names => model.notify(
            Tone::Good,
            format!("{RELOADED} · restart scandeck to use {names}"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{OwnTheme, Scheme};
    use crate::config::file::KeySetting;
    use crate::config::{AlertPlan, ThemeFile};
    use crate::core::Msg;
    use crate::input::Keymap;
    use crate::testing::TestDashboard;

    fn settings() -> LiveSettings {
        let text = "base = \"light\"\nhigh = \"#ffff00\"".to_owned();
        let (name, path) = ("dusk".to_owned(), "themes/dusk.toml".to_owned());
        let file = ThemeFile {
            name,
            path,
            text,
            unreadable: None,
        };
        let fixed = vec![("user", "ann".to_owned())];
        LiveSettings {
            themes: vec![OwnTheme::parse(&file).unwrap()],
            fixed,
            ..LiveSettings::default()
        }
    }

    fn reload(app: &mut TestDashboard, new: LiveSettings) -> Vec<Effect> {
        app.send(Msg::SettingsRead(Ok(Box::new(new))))
    }

    #[test]
    fn changed_settings_are_used_at_once() {
        let mut app = TestDashboard::new();
        app.model.use_settings(settings());
        let zoom = KeySetting {
            line: 1,
            context: "lists".into(),
            action: "zoom".into(),
            keys: vec!["Z".into()],
        };
        let keymap = Arc::new(Keymap::builtin().rebound(&[zoom]).unwrap());
        let alerts = Arc::new(AlertPlan {
            command: vec!["beep".to_owned()],
            ..AlertPlan::default()
        });
        let effects = reload(
            &mut app,
            LiveSettings {
                keymap,
                mouse: true,
                theme: "dusk".into(),
                alerts: Arc::clone(&alerts),
                ..settings()
            },
        );
        assert!(effects.contains(&Effect::Mouse(true)), "{effects:?}");
        assert!(effects.contains(&Effect::NotifyBy(alerts)), "{effects:?}");
        assert_eq!(
            app.model.scheme().map(|(scheme, _)| scheme),
            Some(Scheme::Light)
        );
        app.keys("Z");
        assert!(app.model.navigation.focus.zoomed);
        let notices: Vec<&str> = app
            .model
            .overlay
            .notices
            .iter()
            .map(|notice| notice.text.as_str())
            .collect();
        assert!(
            notices.contains(&"theme \"dusk\": contrast below 4.5:1 on white: high (1.1:1)"),
            "{notices:?}"
        );
        assert!(notices.contains(&"configuration reloaded"), "{notices:?}");
    }

    #[test]
    fn unchanged_settings_leave_choices_of_the_session() {
        let mut app = TestDashboard::new();
        app.model.use_settings(settings());
        app.keys(": 'theme tritanopia' enter : 'mouse on' enter");
        let fixed = vec![("user", "eve".to_owned())];
        assert!(
            !reload(
                &mut app,
                LiveSettings {
                    fixed,
                    ..settings()
                }
            )
            .contains(&Effect::Mouse(false))
        );
        assert_eq!(
            (
                app.model.screen.theme.as_str(),
                app.model.screen.mouse.is_on
            ),
            ("tritanopia", true)
        );
        let notice = app.model.overlay.notices.iter().last().unwrap();
        assert_eq!(
            notice.text,
            "configuration reloaded · restart scandeck to use user"
        );
    }

    #[test]
    fn invalid_settings_keep_earlier_settings_and_name_file_and_line() {
        let mut app = TestDashboard::new();
        app.model.use_settings(LiveSettings {
            theme: "dusk".into(),
            ..settings()
        });
        let problem = Problem::local("config.toml:3: unknown action \"fly\"")
            .with_hint("see `scandeck keys`");
        app.send(Msg::SettingsRead(Err(problem)));
        assert_eq!(app.model.settings.live.theme, "dusk");
        let notice = app.model.overlay.notices.iter().last().unwrap();
        assert!(
            notice.text.contains("config.toml:3: unknown action"),
            "{}",
            notice.text
        );
    }

    #[test]
    fn invalid_theme_is_refused_by_name_and_keeps_the_settings_while_in_use() {
        let mut app = TestDashboard::new();
        app.model.use_settings(settings());
        let problem = Problem::local("themes/dawn.toml:1: invalid colour");
        let with_invalid = |name: &str| LiveSettings {
            themes: Vec::new(),
            invalid_themes: vec![(name.to_owned(), problem.clone())],
            ..settings()
        };
        reload(&mut app, with_invalid("dawn"));
        app.keys(": 'theme dawn' enter");
        let screen = app.frame().join("\n");
        assert!(
            screen.contains("themes/dawn.toml:1: invalid colour"),
            "{screen}"
        );
        reload(&mut app, settings());
        app.keys("esc : 'theme dusk' enter");
        reload(&mut app, with_invalid("dusk"));
        assert!(app.model.settings.live.invalid_themes.is_empty());
        let notice = app.model.overlay.notices.iter().last().unwrap();
        assert_eq!(
            notice.text,
            "settings unchanged: themes/dawn.toml:1: invalid colour"
        );
    }

    #[test]
    fn only_the_last_reload_is_shown() {
        let mut app = TestDashboard::new();
        let texts = |app: &TestDashboard| {
            app.model
                .overlay
                .notices
                .iter()
                .map(|notice| notice.text.clone())
                .collect::<Vec<_>>()
        };
        app.send(Msg::SettingsRead(Err(Problem::local(
            "config.toml:1: theme \"dsk\" not found",
        ))));
        app.send(Msg::SettingsRead(Err(Problem::local(
            "config.toml:1: theme \"dus\" not found",
        ))));
        assert_eq!(
            texts(&app),
            ["settings unchanged: config.toml:1: theme \"dus\" not found"]
        );
        reload(&mut app, LiveSettings::default());
        assert_eq!(texts(&app), ["configuration reloaded"]);
        app.send(Msg::SettingsRead(Err(Problem::local(
            "config.toml:1: theme \"\" not found",
        ))));
        assert_eq!(
            texts(&app),
            ["settings unchanged: config.toml:1: theme \"\" not found"]
        );
    }
}
