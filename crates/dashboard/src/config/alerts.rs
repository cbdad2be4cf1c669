//! `[alerts]`: the program, the webhooks and the rules of alerts.
//!
//! ```text
//!   [alerts] ─► AlertSettings, as written ─► checked ─► AlertPlan: command, rules, webhooks
//! ```
//!
//! The URL of a webhook is a secret: no error and no debug text contains it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret;
use serde::Deserialize;
use toml::Spanned;

use super::file::CommandWords;
use super::{ConfigError, KeySource};
use scandeck_client::WebhookUrl;
use scandeck_domain::alerts::{AlertKind, AlertRoutes, EventRule, EventRuleError};
use scandeck_domain::query::value::span;

/// The names of the channels that need no webhook.
const CHANNELS: [&str; 3] = ["bell", "desktop", "program"];

/// The quiet time of a rule without one.
const QUIET: &str = "5m";

/// The rules that apply while the file has none: name, events and query.
const BUILT_IN: [(&str, &[AlertKind], &str); 4] = [
    ("regressions", &[AlertKind::Regression], ""),
    ("findings", &[AlertKind::Finding], "risk:critical or is:kev"),
    (
        "scans",
        &[AlertKind::ScanFailed, AlertKind::ScanBlocked],
        "",
    ),
    ("acceptances", &[AlertKind::Acceptance], ""),
];

/// `[alerts]` as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AlertSettings {
    /// A program that is started without a shell.
    command: Option<Spanned<CommandWords>>,
    /// Whether the built-in rules apply while the file has none.
    default_rules: bool,
    rules: BTreeMap<String, Spanned<RuleSettings>>,
    webhooks: BTreeMap<String, Spanned<WebhookSettings>>,
}

impl Default for AlertSettings {
    fn default() -> Self {
        Self {
            command: None,
            default_rules: true,
            rules: BTreeMap::new(),
            webhooks: BTreeMap::new(),
        }
    }
}

/// `[alerts.rules.NAME]` as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleSettings {
    /// Names of events.
    on: Vec<String>,
    query: String,
    pub quiet: String,
    /// Channels; none for all.
    to: Option<Vec<String>>,
}

impl Default for RuleSettings {
    fn default() -> Self {
        Self {
            on: Vec::new(),
            query: String::new(),
            quiet: QUIET.to_owned(),
            to: None,
        }
    }
}

/// `[alerts.webhooks.NAME]` as written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookSettings {
    url: Option<HiddenText>,
    url_command: Option<CommandWords>,
    url_file: Option<String>,
    pub format: WebhookFormat,
    pub insecure_http: bool,
}

/// A text that no debug output shows.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
struct HiddenText(String);

impl fmt::Debug for HiddenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// The form of the body that a webhook takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WebhookFormat {
    /// The JSON that the program gets.
    #[default]
    Json,
    Slack,
    Mattermost,
    Ntfy,
}

/// Where alerts go, and the rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlertPlan {
    /// Program and arguments; may be empty.
    pub command: Vec<String>,
    pub rules: Vec<Arc<EventRule>>,
    pub webhooks: BTreeMap<String, Webhook>,
}

/// A webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    source: UrlSource,
    pub format: WebhookFormat,
    insecure_http: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum UrlSource {
    Url(WebhookUrl),
    Command(Vec<String>),
    File(PathBuf),
}

impl Webhook {
    /// Reads the URL.
    ///
    /// # Errors
    /// When other users can read the file, the command fails, or it is no URL of a webhook.
    pub async fn url(&self) -> Result<WebhookUrl, ConfigError> {
        let source = match &self.source {
            UrlSource::Url(url) => return Ok(url.clone()),
            UrlSource::Command(words) => KeySource::Command(words.clone()),
            UrlSource::File(path) => KeySource::File(path.clone()),
        };
        let text = source
            .read_secret("URL of the webhook", "url_command")
            .await?;
        WebhookUrl::parse(text.expose_secret(), self.insecure_http)
            .map_err(|error| ConfigError::new(error.to_string(), error.hint()))
    }
}

impl AlertPlan {
    /// The routes of an alert without a rule, and of a rule without `to`: all of them.
    pub fn all_routes(&self) -> AlertRoutes {
        AlertRoutes {
            bell: true,
            desktop: true,
            program: true,
            webhooks: self.webhooks.keys().cloned().collect(),
        }
    }

    /// The same with files below this home directory.
    pub(super) fn at_home(mut self, home: &Path) -> Self {
        for webhook in self.webhooks.values_mut() {
            if let UrlSource::File(path) = &mut webhook.source
                && let Ok(rest) = path.strip_prefix("~")
            {
                *path = home.join(rest);
            }
        }
        self
    }
}

impl AlertSettings {
    /// Checks the settings. `at` makes the error at a byte of the file.
    ///
    /// # Errors
    /// With the place of the invalid setting.
    pub(super) fn plan(
        &self,
        at: impl Fn(usize, String, &str) -> ConfigError,
    ) -> Result<AlertPlan, ConfigError> {
        let command = self.command.as_ref();
        let words = command.map(|command| command.get_ref().split());
        let words = words.unwrap_or_default();
        if let Some(command) = command.filter(|_| words.is_empty()) {
            let why = "command of [alerts] is empty".to_owned();
            return Err(at(command.span().start, why, super::file::NAME_A_PROGRAM));
        }
        let mut plan = AlertPlan {
            command: words,
            ..AlertPlan::default()
        };
        for (name, settings) in &self.webhooks {
            let webhook = checked_webhook(name, settings.get_ref()).map_err(|invalid| {
                let why = format!("webhook {name}: {}", invalid.why);
                at(settings.span().start, why, &invalid.hint)
            })?;
            plan.webhooks.insert(name.clone(), webhook);
        }
        for (name, settings) in &self.rules {
            let rule = checked_rule(name, settings.get_ref(), &plan).map_err(|invalid| {
                let why = format!("alert rule {name}: {}", invalid.why);
                at(settings.span().start, why, &invalid.hint)
            })?;
            plan.rules.push(Arc::new(rule));
        }
        if self.default_rules && self.rules.is_empty() {
            plan.rules = built_in(&plan).map_err(|invalid| at(0, invalid.why, &invalid.hint))?;
        }
        Ok(plan)
    }
}

fn built_in(plan: &AlertPlan) -> Result<Vec<Arc<EventRule>>, EventRuleError> {
    let quiet = quiet_time(QUIET)?;
    let rule = |(name, kinds, query): (&str, &[AlertKind], &str)| {
        let kinds = kinds.iter().copied().collect();
        EventRule::new(name, kinds, query, quiet, plan.all_routes()).map(Arc::new)
    };
    BUILT_IN.into_iter().map(rule).collect()
}

fn invalid(why: impl Into<String>, hint: impl Into<String>) -> EventRuleError {
    let (why, hint) = (why.into(), hint.into());
    EventRuleError { why, hint }
}

fn checked_rule(
    name: &str,
    settings: &RuleSettings,
    plan: &AlertPlan,
) -> Result<EventRule, EventRuleError> {
    let mut kinds = BTreeSet::new();
    for event in &settings.on {
        let kind = AlertKind::named(event).ok_or_else(|| {
            let hint = format!("use {}", AlertKind::NAMES.join(", "));
            invalid(format!("unknown event {event:?}"), hint)
        })?;
        kinds.insert(kind);
    }
    let routes = match &settings.to {
        None => plan.all_routes(),
        Some(names) => checked_routes(names, plan)?,
    };
    let quiet = quiet_time(&settings.quiet)?;
    EventRule::new(name, kinds, &settings.query, quiet, routes)
}

fn quiet_time(text: &str) -> Result<Duration, EventRuleError> {
    let seconds = span(text).and_then(|seconds| u64::try_from(seconds).ok());
    let seconds = seconds.ok_or_else(|| {
        let why = format!("invalid quiet time {text:?}");
        invalid(why, "use 30s, 10m, 2h or 1h30m")
    })?;
    Ok(Duration::from_secs(seconds))
}

fn checked_routes(names: &[String], plan: &AlertPlan) -> Result<AlertRoutes, EventRuleError> {
    let mut routes = AlertRoutes::default();
    for name in names {
        match name.as_str() {
            "bell" => routes.bell = true,
            "desktop" => routes.desktop = true,
            "program" if plan.command.is_empty() => {
                let why = "`to` names the program, but there is none";
                return Err(invalid(why, "set command in [alerts]"));
            }
            "program" => routes.program = true,
            webhook if plan.webhooks.contains_key(webhook) => {
                routes.webhooks.insert(name.clone());
            }
            unknown => {
                let webhooks = plan.webhooks.keys().map(String::as_str);
                let names: Vec<&str> = CHANNELS.into_iter().chain(webhooks).collect();
                let hint = format!(
                    "use {}, or add [alerts.webhooks.{unknown}]",
                    names.join(", ")
                );
                return Err(invalid(format!("unknown channel {unknown:?}"), hint));
            }
        }
    }
    if routes == AlertRoutes::default() {
        let hint = format!(
            "use {}, or remove `to` for all channels",
            CHANNELS.join(", ")
        );
        return Err(invalid("`to` names no channel", hint));
    }
    Ok(routes)
}

fn checked_webhook(name: &str, settings: &WebhookSettings) -> Result<Webhook, EventRuleError> {
    if CHANNELS.contains(&name) {
        let why = "this is the name of another channel";
        return Err(invalid(why, "use another name for the webhook"));
    }
    let source = match (&settings.url, &settings.url_command, &settings.url_file) {
        (Some(HiddenText(url)), None, None) => {
            let url = WebhookUrl::parse(url, settings.insecure_http)
                .map_err(|error| invalid(format!("url: {error}"), error.hint()))?;
            UrlSource::Url(url)
        }
        (None, Some(words), None) if words.split().is_empty() => {
            return Err(invalid("url_command is empty", super::file::NAME_A_PROGRAM));
        }
        (None, Some(words), None) => UrlSource::Command(words.split()),
        (None, None, Some(file)) => UrlSource::File(PathBuf::from(file)),
        (None, None, None) => {
            let hint = "set url, url_command or url_file";
            return Err(invalid("no URL", hint));
        }
        _ => {
            let why = "more than one of url, url_command and url_file";
            return Err(invalid(why, "keep one of them"));
        }
    };
    Ok(Webhook {
        source,
        format: settings.format,
        insecure_http: settings.insecure_http,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::file::ConfigFile;

    fn read(text: &str) -> Result<AlertPlan, ConfigError> {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        ConfigFile::read(&path, true).map(|file| file.alert_plan)
    }

    #[test]
    fn rules_name_events_query_quiet_time_and_channels() {
        let plan = read(
            "[alerts]\ncommand = \"notify\"\n\
             [alerts.webhooks.team]\nurl = \"https://hooks.example.com/secret\"\nformat = \"slack\"\n\
             [alerts.rules.night]\non = [\"finding\", \"regression\"]\nquery = \"risk>=high is:new\"\n\
             quiet = \"1h\"\nto = [\"program\", \"team\"]\n\
             [alerts.rules.scans]\non = [\"scan_failed\"]\n",
        );
        let plan = plan.unwrap();
        let names: Vec<&str> = plan.rules.iter().map(|rule| rule.name.as_str()).collect();
        assert_eq!(names, ["night", "scans"]);
        let night = &plan.rules[0];
        assert_eq!(night.quiet, Duration::from_secs(3600));
        assert!(night.routes.program && !night.routes.bell && !night.routes.desktop);
        assert!(night.routes.webhooks.contains("team"));
        assert_eq!(plan.rules[1].routes, plan.all_routes());
        assert_eq!(plan.rules[1].quiet, Duration::from_secs(300));
        assert_eq!(plan.webhooks["team"].format, WebhookFormat::Slack);
        assert!(!format!("{plan:?}").contains("secret"));
    }

    #[test]
    fn built_in_rules_apply_until_the_file_has_rules() {
        let names = |text: &str| -> Vec<String> {
            let plan = read(text).unwrap();
            plan.rules.iter().map(|rule| rule.name.clone()).collect()
        };
        assert_eq!(
            names(""),
            ["regressions", "findings", "scans", "acceptances"]
        );
        assert!(names("[alerts]\ndefault_rules = false\n").is_empty());
        assert_eq!(
            names("[alerts.rules.mine]\non = [\"decision\"]\n"),
            ["mine"]
        );
    }

    #[test]
    fn missing_file_has_the_built_in_rules_as_an_empty_one() {
        let temp = tempfile::tempdir().unwrap();
        let missing = ConfigFile::read(&temp.path().join("config.toml"), false).unwrap();
        assert_eq!(missing.alert_plan, read("").unwrap());
    }

    #[test]
    fn built_in_rules_are_those_of_the_page_about_alerts() {
        let page = include_str!("../../../../docs/alerts.md");
        let (_, from_rules) = page.split_once("[alerts.rules.regressions]").unwrap();
        let (documented, _) = from_rules.split_once("```").unwrap();
        let documented = format!("[alerts.rules.regressions]{documented}");
        let sorted = |text: &str| {
            let mut rules = read(text).unwrap().rules;
            rules.sort_by(|a, b| a.name.cmp(&b.name));
            rules
        };
        assert_eq!(sorted(&documented), sorted(""));
    }

    #[test]
    fn invalid_settings_name_line_cause_and_remedy() {
        let webhook = "[alerts.webhooks.team]\n";
        let rule = "[alerts.rules.x]\non = [\"finding\"]\n";
        for (text, why, hint) in [
            (
                "[alerts]\ncommand = []\n",
                ":2: command of [alerts] is empty",
                "name a program",
            ),
            (
                "[alerts.rules.x]\nquery = \"is:new\"\n",
                "`on` names no event",
                "regression",
            ),
            (
                "[alerts.rules.x]\non = [\"find\"]\n",
                "unknown event \"find\"",
                "finding",
            ),
            (
                &format!("{rule}query = \"risk>>x\"\n"),
                "invalid query",
                "docs/query.md",
            ),
            (
                &format!("{rule}quiet = \"soon\"\n"),
                "invalid quiet time",
                "10m",
            ),
            (
                &format!("{rule}to = [\"team\"]\n"),
                "unknown channel \"team\"",
                "[alerts.webhooks.team]",
            ),
            (
                &format!("{rule}to = [\"program\"]\n"),
                "there is none",
                "command",
            ),
            (&format!("{rule}to = []\n"), "names no channel", "bell"),
            (webhook, "webhook team: no URL", "url_file"),
            (
                &format!("{webhook}url = \"hooks/secret\"\n"),
                "url: not a URL",
                "https://",
            ),
            (
                &format!("{webhook}url = \"http://a.test/secret\"\n"),
                "clear text",
                "insecure_http",
            ),
            (&format!("{webhook}url = 5\n"), "`url` must be", "correct"),
            (
                &format!("{webhook}url = https://a.test/secret\n"),
                "must be quoted",
                "correct",
            ),
            (
                "[alerts.webhooks.bell]\nurl = \"https://a.test/\"\n",
                "another channel",
                "another name",
            ),
            (
                &format!("{webhook}url_file = \"a\"\nurl_command = \"b\"\n"),
                "more than one",
                "keep one",
            ),
        ] {
            let error = read(text).unwrap_err();
            let message = format!("{error} / {}", error.hint());
            assert!(
                message.contains(why) && error.hint().contains(hint),
                "{message}"
            );
            assert!(error.to_string().contains("config.toml:"), "{error}");
            assert!(!message.contains("secret"), "{message}");
        }
    }

    #[tokio::test]
    async fn url_is_read_from_a_private_file_or_a_command() {
        use std::os::unix::fs::PermissionsExt;
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("hook");
        std::fs::write(&file, "https://hooks.example.com/secret\n").unwrap();
        let webhook = |text: String| {
            let plan = read(&format!("[alerts.webhooks.team]\n{text}\n")).unwrap();
            plan.at_home(temp.path()).webhooks["team"].clone()
        };
        let set_mode =
            |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        set_mode(0o644);
        let of_file = webhook("url_file = \"~/hook\"".to_owned());
        let error = of_file.url().await.unwrap_err();
        assert!(
            error
                .to_string()
                .contains("other users can read the URL of the webhook"),
            "{error}"
        );
        set_mode(0o600);
        let url = of_file.url().await.unwrap();
        assert_eq!(url.to_string(), "https://hooks.example.com/…");
        let of_command = webhook(format!("url_command = [\"cat\", {:?}]", file));
        assert_eq!(of_command.url().await.unwrap(), url);
    }
}
