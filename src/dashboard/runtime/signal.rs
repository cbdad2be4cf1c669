//! Making a signal heard: the bell, a notification of the terminal, a command of the person's own.
//!
//! The command is started as configured, without a shell: what was captured reaches it only as variables of its
//! environment (`SCANDECK_TOKEN`, `SCANDECK_FROM` …) and as JSON on its standard input.

use crate::client::Problem;
use crate::dashboard::base::Signal;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

/// Longest that the command may take.
const LIMIT: Duration = Duration::from_secs(10);

/// How this terminal takes notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The bell is all.
    Bell,
    /// `OSC 9`: iTerm2, kitty, WezTerm, Ghostty.
    Osc9,
    /// `OSC 777`: foot, rxvt, VTE.
    Osc777,
    /// Nobody knows: whoever does not take one drops it.
    Both,
    /// tmux hands them on where `allow-passthrough` is on, and drops them otherwise.
    Tmux,
}

impl Way {
    /// By the variables of the environment.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let text = |name| variable(name).unwrap_or_default();
        let (term, program) = (text("TERM"), text("TERM_PROGRAM").to_lowercase());
        let named = |names: &[&str]| names.iter().any(|name| term.contains(name) || program.contains(name));
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

    /// That of this process.
    pub fn of_process() -> Self {
        Self::of(|name| std::env::var(name).ok())
    }

    /// What is written to the terminal: the bell first, which every one knows.
    pub fn sequence(self, signal: &Signal) -> String {
        // The texts have no control characters; `;` parts those of OSC 777.
        let title = format!("scandeck {}", signal.title).replace(';', ",");
        let nine = format!("\x1b]9;{title}: {}\x07", signal.body);
        let other = format!("\x1b]777;notify;{title};{}\x07", signal.body.replace(';', ","));
        let through = |sequence: &str| format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"));
        let rest = match self {
            Self::Bell => String::new(),
            Self::Osc9 => nine,
            Self::Osc777 => other,
            Self::Both => nine + &other,
            Self::Tmux => through(&nine) + &through(&other),
        };
        format!("\x07{rest}")
    }
}

/// Runs the command of the configuration.
///
/// # Errors
/// When it cannot be started, fails, or takes too long.
pub async fn run(words: &[String], signal: &Signal) -> Result<(), Problem> {
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let failed = |why: String| Problem::local(format!("{program} {why}")).with_hint("see [signals] in config.toml");
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    // The key of the service is none of its business.
    command.env_remove("SCANDECK_API_KEY");
    command.env("SCANDECK_TITLE", &signal.title).env("SCANDECK_BODY", &signal.body);
    command.envs(signal.facts.iter().map(|(name, text)| (format!("SCANDECK_{}", name.to_uppercase()), text)));
    let mut child = command.spawn().map_err(|error| failed(format!("cannot be started: {error}")))?;
    let work = async {
        if let Some(mut input) = child.stdin.take() {
            // Who does not read it has closed it.
            let _ = input.write_all(json(signal).as_bytes()).await;
        }
        child.wait().await
    };
    match timeout(LIMIT, work).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(failed(format!("ended with {status}"))),
        Ok(Err(error)) => Err(failed(format!("was lost: {error}"))),
        Err(_) => Err(failed(format!("was stopped after {} s", LIMIT.as_secs()))),
    }
}

fn json(signal: &Signal) -> String {
    let own = [("title", &signal.title), ("body", &signal.body)];
    let facts = signal.facts.iter().map(|(name, text)| (*name, text));
    let all: serde_json::Map<_, _> =
        own.into_iter().chain(facts).map(|(name, text)| (name.to_owned(), text.as_str().into())).collect();
    format!("{}\n", serde_json::Value::from(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(variables: &[(&str, &str)]) -> Way {
        Way::of(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    fn signal(body: &str) -> Signal {
        Signal { title: "payload hit".into(), body: body.into(), facts: vec![("from", "$(id) `x`".to_owned())] }
    }

    #[test]
    fn each_terminal_gets_what_it_knows() {
        assert_eq!(way(&[("TERM", "xterm-256color"), ("TMUX", "/tmp/t,1,0")]), Way::Tmux);
        assert_eq!(way(&[("TERM", "linux")]), Way::Bell);
        assert_eq!(way(&[("TERM", "screen"), ("STY", "1")]), Way::Bell);
        assert_eq!(way(&[("TERM", "xterm-kitty")]), Way::Osc9);
        assert_eq!(way(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")]), Way::Osc9);
        assert_eq!(way(&[("TERM", "foot")]), Way::Osc777);
        assert_eq!(way(&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")]), Way::Osc777);
        assert_eq!(way(&[("TERM", "xterm-256color")]), Way::Both);
    }

    #[test]
    fn the_bell_comes_first_and_tmux_is_told_to_hand_the_rest_on() {
        assert_eq!(Way::Bell.sequence(&signal("q")), "\x07");
        assert_eq!(Way::Osc9.sequence(&signal("q; r")), "\x07\x1b]9;scandeck payload hit: q; r\x07");
        assert_eq!(Way::Osc777.sequence(&signal("q; r")), "\x07\x1b]777;notify;scandeck payload hit;q, r\x07");
        let tmux = Way::Tmux.sequence(&signal("q"));
        assert!(tmux.starts_with("\x07\x1bPtmux;\x1b\x1b]9;scandeck payload hit: q\x07\x1b\\\x1bPtmux;"), "{tmux:?}");
    }

    #[tokio::test]
    async fn the_command_gets_facts_as_variables_and_json_and_no_shell_reads_them() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("heard");
        let script =
            format!(r#"printf '%s|' "$SCANDECK_FROM" "$SCANDECK_TITLE" > '{0}'; cat >> '{0}'"#, file.display());
        let words = ["sh", "-c", &script].map(str::to_owned);
        run(&words, &signal("q · shop")).await.unwrap();
        let heard = std::fs::read_to_string(&file).unwrap();
        let (variables, json) = heard.rsplit_once('|').unwrap();
        assert_eq!(variables, "$(id) `x`|payload hit");
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!((&json["body"], &json["from"]), (&"q · shop".into(), &"$(id) `x`".into()));
    }

    #[tokio::test]
    async fn a_command_that_does_not_work_is_told() {
        let told = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            async move { run(&words, &signal("q")).await }
        };
        assert!(told(&["/nowhere/x"]).await.unwrap_err().message.contains("cannot be started"));
        assert!(told(&["false"]).await.unwrap_err().message.contains("ended with"));
        assert!(told(&[]).await.is_ok(), "none is configured");
    }
}
