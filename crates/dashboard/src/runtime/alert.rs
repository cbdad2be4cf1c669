//! Alerts: the bell, a notification of the terminal, and the program and webhooks of the
//! configuration.
//!
//! The program is started as configured, without a shell. Data reaches it only as environment
//! variables (`SCANDECK_TOKEN`, `SCANDECK_FROM` …) and as JSON on its standard input.

use crate::base::Alert;
use crate::config::{AlertPlan, Webhook};
use crate::runtime::alert_body::{json_of, message};
use crate::runtime::process::{ProgramError, run_with_input};
use futures::future::join_all;
use scandeck_client::post_webhook;
use scandeck_domain::alerts::AlertRoutes;
use scandeck_domain::problem::Problem;
use std::time::Duration;
use tokio::process::Command;

/// Limit for the command.
const LIMIT: Duration = Duration::from_secs(10);

/// How this terminal shows notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotifyMethod {
    /// Only the bell.
    Bell,
    /// `OSC 9`: iTerm2, kitty, WezTerm, Ghostty.
    Osc9,
    /// `OSC 777`: foot, rxvt, VTE.
    Osc777,
    /// Unknown: terminals ignore the sequence that they do not support.
    Both,
    /// tmux passes sequences on if `allow-passthrough` is on, and drops them otherwise.
    Tmux,
}

impl NotifyMethod {
    /// Derives the method from environment variables.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let text = |name| variable(name).unwrap_or_default();
        let (term, program) = (text("TERM"), text("TERM_PROGRAM").to_lowercase());
        let named = |names: &[&str]| {
            names
                .iter()
                .any(|name| term.contains(name) || program.contains(name))
        };
        if variable("TMUX").is_some_and(|socket| !socket.is_empty()) {
            Self::Tmux
        } else if variable("STY").is_some() || matches!(term.as_str(), "" | "dumb" | "linux") {
            Self::Bell
        } else if named(&["iterm", "kitty", "wezterm", "ghostty"]) {
            Self::Osc9
        } else if named(&["foot", "rxvt"]) || variable("VTE_VERSION").is_some() {
            Self::Osc777
        } else {
            Self::Both
        }
    }

    /// The bytes for the terminal: the bell first, which every terminal supports.
    pub fn sequence(self, alert: &Alert) -> String {
        // The texts contain no control characters; `;` separates the fields of OSC 777.
        let title = format!("scandeck {}", alert.title).replace(';', ",");
        let nine = format!("\x1b]9;{title}: {}\x07", alert.body);
        let other = format!(
            "\x1b]777;notify;{title};{}\x07",
            alert.body.replace(';', ",")
        );
        let through =
            |sequence: &str| format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"));
        let rest = match self {
            Self::Bell => String::new(),
            Self::Osc9 => nine,
            Self::Osc777 => other,
            Self::Both => nine + &other,
            Self::Tmux => through(&nine) + &through(&other),
        };
        format!("\x07{rest}")
    }

    /// The bytes for those of these channels that the terminal has.
    pub fn sequence_on(self, alert: &Alert, routes: &AlertRoutes) -> String {
        let all = self.sequence(alert);
        match (routes.bell, routes.desktop) {
            (true, true) => all,
            (true, false) => Self::Bell.sequence(alert),
            (false, true) => all.trim_start_matches('\x07').to_owned(),
            (false, false) => String::new(),
        }
    }
}

/// Sends an alert to the program and the webhooks of these channels, at the same time. Returns what
/// failed; `is_outcome_unknown` means that the alert may have arrived.
pub async fn deliver(plan: &AlertPlan, routes: &AlertRoutes, alert: &Alert) -> Vec<Problem> {
    let is_routed = |named: &(&String, &Webhook)| routes.webhooks.contains(named.0);
    let webhooks = plan.webhooks.iter().filter(is_routed);
    let posts = join_all(webhooks.map(|(name, webhook)| post(name, webhook, alert)));
    let program = async {
        match routes.program {
            true => run(&plan.command, alert).await,
            false => Ok(()),
        }
    };
    let (program, posted) = futures::join!(program, posts);
    let results = [program].into_iter().chain(posted);
    results.filter_map(Result::err).collect()
}

async fn post(name: &str, webhook: &Webhook, alert: &Alert) -> Result<(), Problem> {
    let url = webhook.url().await?;
    let sent = post_webhook(&url, &message(alert, webhook.format)).await;
    sent.map_err(|error| Problem {
        message: format!("webhook {name} ({url}): {error}"),
        hint: Some(format!("see [alerts.webhooks.{name}] in config.toml")),
        is_outcome_unknown: error.is_outcome_unknown(),
        ..Problem::default()
    })
}

/// Runs the command of the configuration for an alert.
///
/// # Errors
/// When it cannot be started, fails, or takes too long.
pub async fn run(words: &[String], alert: &Alert) -> Result<(), Problem> {
    let Some((program, arguments)) = words.split_first() else {
        return Ok(());
    };
    let failed = |error: ProgramError| Problem {
        message: format!("{program} {error}"),
        hint: Some("see [alerts] in config.toml".to_owned()),
        is_outcome_unknown: error.is_outcome_unknown(),
        ..Problem::default()
    };
    let mut command = Command::new(program);
    // The command has no use for a secret.
    command
        .args(arguments)
        .env_remove("SCANDECK_API_KEY")
        .env_remove("SCANDECK_DATABASE_URL");
    command
        .env("SCANDECK_TITLE", &alert.title)
        .env("SCANDECK_BODY", &alert.body);
    command.envs(
        alert
            .fields
            .iter()
            .map(|(name, text)| (format!("SCANDECK_{}", name.to_uppercase()), text)),
    );
    let input = format!("{}\n", json_of(alert));
    run_with_input(command, input.as_bytes(), LIMIT)
        .await
        .map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(variables: &[(&str, &str)]) -> NotifyMethod {
        NotifyMethod::of(|name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    fn alert(body: &str) -> Alert {
        Alert {
            title: "payload hit".into(),
            body: body.into(),
            fields: vec![("from", "$(id) `x`".to_owned())],
            ..Alert::default()
        }
    }

    #[test]
    fn notify_method_follows_terminal() {
        assert_eq!(
            method(&[("TERM", "xterm-256color"), ("TMUX", "/tmp/t,1,0")]),
            NotifyMethod::Tmux
        );
        assert_eq!(method(&[("TERM", "linux")]), NotifyMethod::Bell);
        assert_eq!(
            method(&[("TERM", "screen"), ("STY", "1")]),
            NotifyMethod::Bell
        );
        assert_eq!(method(&[("TERM", "xterm-kitty")]), NotifyMethod::Osc9);
        assert_eq!(
            method(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")]),
            NotifyMethod::Osc9
        );
        assert_eq!(method(&[("TERM", "foot")]), NotifyMethod::Osc777);
        assert_eq!(
            method(&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")]),
            NotifyMethod::Osc777
        );
        assert_eq!(method(&[("TERM", "xterm-256color")]), NotifyMethod::Both);
    }

    #[test]
    fn sequence_starts_with_bell_and_is_wrapped_for_tmux() {
        assert_eq!(NotifyMethod::Bell.sequence(&alert("q")), "\x07");
        assert_eq!(
            NotifyMethod::Osc9.sequence(&alert("q; r")),
            "\x07\x1b]9;scandeck payload hit: q; r\x07"
        );
        assert_eq!(
            NotifyMethod::Osc777.sequence(&alert("q; r")),
            "\x07\x1b]777;notify;scandeck payload hit;q, r\x07"
        );
        let tmux = NotifyMethod::Tmux.sequence(&alert("q"));
        assert!(
            tmux.starts_with(
                "\x07\x1bPtmux;\x1b\x1b]9;scandeck payload hit: q\x07\x1b\\\x1bPtmux;"
            ),
            "{tmux:?}"
        );
    }

    #[test]
    fn sequence_has_only_the_routed_channels() {
        let on = |bell, desktop| {
            let routes = AlertRoutes {
                bell,
                desktop,
                ..AlertRoutes::default()
            };
            NotifyMethod::Osc9.sequence_on(&alert("q"), &routes)
        };
        let desktop = "\x1b]9;scandeck payload hit: q\x07";
        assert_eq!(on(true, true), format!("\x07{desktop}"));
        assert_eq!(on(true, false), "\x07");
        assert_eq!(on(false, true), desktop);
        assert_eq!(on(false, false), "");
    }

    #[tokio::test]
    async fn command_receives_event_without_shell() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("alerts");
        let script = format!(
            r#"printf '%s|' "$SCANDECK_FROM" "$SCANDECK_TITLE" > '{0}'; cat >> '{0}'"#,
            file.display()
        );
        let words = ["sh", "-c", &script].map(str::to_owned);
        run(&words, &alert("q · shop")).await.unwrap();
        let written = std::fs::read_to_string(&file).unwrap();
        let (variables, json) = written.rsplit_once('|').unwrap();
        assert_eq!(variables, "$(id) `x`|payload hit");
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(
            (&json["body"], &json["from"]),
            (&"q · shop".into(), &"$(id) `x`".into())
        );
    }

    #[tokio::test]
    async fn failing_command_is_problem() {
        let run = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            async move { run(&words, &alert("q")).await }
        };
        assert!(
            run(&["/nowhere/x"])
                .await
                .unwrap_err()
                .message
                .contains("cannot be started")
        );
        assert!(
            run(&["false"])
                .await
                .unwrap_err()
                .message
                .contains("ended with")
        );
        assert!(run(&[]).await.is_ok(), "none is configured");
    }
}
