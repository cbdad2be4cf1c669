//! The configuration file of an earlier version.

use scandeck::config::{Config, Connection, Environment, Flags, KeySource, ScreenSettings};
use serde_json::{Value, json};

use super::{fixture, text};

#[test]
fn configuration_file_with_every_key_gives_same_values() {
    let home = tempfile::tempdir().unwrap();
    let environment = Environment {
        home: home.path().to_owned(),
        state_home: home.path().join("state"),
        config_home: home.path().join("config"),
        login: "root@box".to_owned(),
        ..Environment::default()
    };
    let load = |profile: Option<&str>| {
        let flags = Flags {
            config: Some(fixture("config/config.toml")),
            profile: profile.map(str::to_owned),
            ..Flags::default()
        };
        Config::load(&flags, &environment).unwrap()
    };
    let expected: Value = serde_json::from_str(&text("config/expected.json")).unwrap();
    for (profile, values) in expected.as_object().unwrap() {
        let config = load(Some(profile));
        let (connection, key) = match &config.connection {
            Connection::Prompt => ("ask".to_owned(), None),
            Connection::Local => ("here".to_owned(), None),
            Connection::Remote { base, key } => {
                (format!("at {base}"), Some(source(key, home.path())))
            }
        };
        let actual = json!({
            "connection": connection,
            "key": key,
            "name": config.name,
            "workspace": config.workspace,
            "alias": config.alias,
            "read_only": config.read_only,
            "insecure_http": config.insecure_http,
            "colour": config.colour.map(|colour| format!("{colour:?}").to_lowercase()),
        });
        assert_eq!(actual, *values, "{profile}");
        assert_eq!((config.user.as_str(), config.keep_days), ("ann", Some(365)));
        assert_eq!(
            config.screen.alerts.command,
            ["sh", "-c", "notify-send \"$SCANDECK_TITLE\""]
        );
        assert_screen(&config.screen);
        let is_own = |address: &str| {
            config
                .own_addresses
                .iter()
                .any(|network| network.has(address.parse().unwrap()))
        };
        assert!(
            ["203.0.113.7", "10.8.200.1", "2001:db8::1"]
                .into_iter()
                .all(is_own)
        );
        assert!(
            !["203.0.113.8", "10.9.0.1", "2001:db9::1"]
                .into_iter()
                .any(is_own)
        );
    }
    assert_eq!(load(None).name, "prod", "the default profile");
}

fn assert_screen(screen: &ScreenSettings) {
    let theme = screen.theme.as_ref().map(|(_, name)| name.as_str());
    assert!(screen.mouse && theme == Some("dark"));
    let keys = screen.keys.all.iter();
    let keys: Vec<String> = keys
        .map(|one| format!("{} {} {}", one.context, one.action, one.keys.join(" ")))
        .collect();
    assert_eq!(
        keys,
        ["findings retest s f5", "findings delete ", "lists mark m"]
    );
    let [command] = &screen.keys.commands[..] else {
        panic!("{:?}", screen.keys.commands)
    };
    assert_eq!(
        (command.name.as_str(), command.context.as_str()),
        ("ticket", "findings")
    );
    assert_eq!(command.words, ["tracker", "add", "--json", "-"]);
    assert!(command.keys == ["Z"] && command.changes);
}

fn source(key: &KeySource, home: &std::path::Path) -> String {
    match key {
        KeySource::Command(words) => format!("command {}", words.join(" ")),
        KeySource::File(path) => format!("file {}", path.strip_prefix(home).unwrap().display()),
        KeySource::Given(_) => "given".to_owned(),
    }
}
