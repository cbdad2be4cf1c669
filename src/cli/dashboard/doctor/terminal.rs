//! The checks of the terminal: size, colours, signs, clipboard, synchronized output.
//!
//! The terminal itself is queried when input and output are terminals; the rest follows from
//! environment variables.

use std::io::{IsTerminal, stdin, stdout};
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use super::Diagnosis;
use scandeck_dashboard::base::Size;
use scandeck_dashboard::runtime::{CopyMethod, Terminal, TerminalAnswers};
use scandeck_dashboard::ui::theme::Glyphs;
use scandeck_dashboard::ui::{LEAST, Scheme, Theme, UNICODE};

const AREA: &str = "terminal";
/// Limit for the answers of the terminal. A slow connection needs more than the 100 ms of the
/// dashboard.
const TERMINAL_TIMEOUT: Duration = Duration::from_secs(1);
/// Limit for tmux.
const TMUX_LIMIT: Duration = Duration::from_secs(1);

/// Checks the terminal of this process; also returns the scheme for the background that the
/// terminal reports.
pub async fn check() -> (Vec<Diagnosis>, Option<Scheme>) {
    let variable = |name: &str| std::env::var(name).ok();
    let (mut all, mut reported) = (vec![name(variable)], None);
    if stdin().is_terminal() && stdout().is_terminal() {
        let theme = Theme::from_env(variable);
        let glyphs: Vec<&str> = if std::ptr::eq(theme.glyphs, &UNICODE) {
            UNICODE.letters()
        } else {
            Vec::new()
        };
        let answers = TerminalAnswers::query(&glyphs, TERMINAL_TIMEOUT);
        all.push(size(Terminal::size()));
        all.push(background(theme, answers.background));
        reported = answers.background.map(|background| {
            Theme::new(Scheme::Dark)
                .on_background(Some(background))
                .scheme
        });
        all.push(synchronized(answers.synchronized));
        all.push(signs(theme.glyphs, &glyphs, &answers.widths));
    } else {
        let remedy = "run `scandeck doctor` in the terminal of the dashboard, without redirection";
        all.push(Diagnosis::ok(AREA, "output", "not a terminal").warning(remedy));
    }
    all.push(colours(variable));
    let method = CopyMethod::of(variable);
    let of_tmux = if method == CopyMethod::Tmux {
        tmux_setting().await
    } else {
        None
    };
    all.push(clipboard(method, of_tmux.as_deref()));
    (all, reported)
}

fn name(variable: impl Fn(&str) -> Option<String>) -> Diagnosis {
    let term = variable("TERM").unwrap_or_default();
    let program = variable("TERM_PROGRAM")
        .map(|program| format!(" ({program})"))
        .unwrap_or_default();
    let check = Diagnosis::ok(AREA, "TERM", format!("{term}{program}"));
    match term.as_str() {
        "" => Diagnosis {
            value: "not set".to_owned(),
            ..check
        }
        .warning("set TERM, such as TERM=xterm-256color"),
        "dumb" => check.warning("use a terminal that can address the screen, and set its TERM"),
        _ => check,
    }
}

fn size(size: Size) -> Diagnosis {
    let shown = |size: Size| format!("{} columns, {} rows", size.columns, size.rows);
    let check = Diagnosis::ok(AREA, "size", shown(size));
    if size.columns < LEAST.columns || size.rows < LEAST.rows {
        return check.failed(format!(
            "enlarge the window: the dashboard needs {}",
            shown(LEAST)
        ));
    }
    match size.columns < 80 || size.rows < 23 {
        true => check
            .warning("enlarge the window: below 80 columns and 24 rows, some content is hidden"),
        false => check,
    }
}

fn colours(variable: impl Fn(&str) -> Option<String>) -> Diagnosis {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let of = |value: &str| Diagnosis::ok(AREA, "colours", value);
    if set("NO_COLOR").is_some() {
        return of("none, because NO_COLOR is set");
    }
    if matches!(set("COLORTERM").as_deref(), Some("truecolor" | "24bit")) {
        return of("16 million");
    }
    let term = set("TERM").unwrap_or_default();
    let many = [
        "256color",
        "direct",
        "kitty",
        "alacritty",
        "foot",
        "ghostty",
        "wezterm",
    ];
    match many.iter().any(|name| term.contains(name)) {
        true => of("256"),
        false => of("16 or fewer").warning(
            "set TERM to an entry with 256 colours, such as xterm-256color or tmux-256color",
        ),
    }
}

fn background(theme: Theme, reported: Option<[u8; 3]>) -> Diagnosis {
    let scheme = match theme.on_background(reported).scheme {
        Scheme::Mono => "monochrome",
        other => other.name(),
    };
    let of = |source: &str| Diagnosis::ok(AREA, "theme", format!("{scheme}, {source}"));
    match (theme.scheme, reported) {
        (Scheme::Mono, _) => of("from NO_COLOR or TERM"),
        (_, Some(_)) => of("from the background that the terminal reports"),
        (Scheme::Light, None) => of("from COLORFGBG"),
        (_, None) => of("the terminal does not report its background")
            .warning("on a light background, set COLORFGBG='0;15'"),
    }
}

fn synchronized(supported: Option<bool>) -> Diagnosis {
    let of = |value: &str| Diagnosis::ok(AREA, "synchronized output", value);
    let remedy = "update the terminal, or tmux to 3.7 or newer; until then, frames may flicker";
    match supported {
        Some(true) => of("supported"),
        Some(false) => of("not supported").warning(remedy),
        None => of("unknown: the terminal does not answer").warning(remedy),
    }
}

/// The glyphs of the screen and the columns that the terminal gives them.
fn signs(set: &Glyphs, glyphs: &[&str], widths: &[u16]) -> Diagnosis {
    let of = |value: String| Diagnosis::ok(AREA, "glyphs", value);
    if glyphs.is_empty() {
        debug_assert!(!std::ptr::eq(set, &UNICODE));
        return of("ASCII, because the locale is not UTF-8".to_owned())
            .warning("set LANG to a UTF-8 locale, such as C.UTF-8, if the terminal can show it");
    }
    if widths.len() != glyphs.len() {
        return of("Unicode; the terminal does not report their width".to_owned());
    }
    let wide: Vec<&str> = glyphs
        .iter()
        .zip(widths)
        .filter(|(_, width)| **width != 1)
        .map(|(glyph, _)| *glyph)
        .collect();
    match wide.is_empty() {
        true => of("Unicode, each one column wide".to_owned()),
        false => of(format!("Unicode, but not one column wide: {}", wide.join(" "))).warning(
            "set ambiguous characters to narrow in the terminal, or start scandeck with LC_ALL=C for ASCII glyphs",
        ),
    }
}

/// The clipboard, with tmux's option `set-clipboard`.
fn clipboard(method: CopyMethod, of_tmux: Option<&str>) -> Diagnosis {
    let of = |value: &str| Diagnosis::ok(AREA, "clipboard", value);
    match (method, of_tmux) {
        (CopyMethod::Tmux, Some("off")) => of(
            "tmux keeps copies in its own buffer (set-clipboard is off)",
        )
        .warning("run `tmux set -g set-clipboard external`, so that copies reach the clipboard"),
        (CopyMethod::Tmux, None) => {
            of("through tmux, which does not answer").warning("check `tmux show -gv set-clipboard`")
        }
        (CopyMethod::Tmux, Some(_)) => of("through tmux"),
        (CopyMethod::Osc52, _) => {
            of("through the terminal (OSC 52), which does not confirm copies")
        }
        (CopyMethod::None(why), _) => of(why)
            .warning("use tmux or a terminal with OSC 52; copies are shown as text meanwhile"),
    }
}

async fn tmux_setting() -> Option<String> {
    let mut tmux = Command::new("tmux");
    let output = tmux
        .args(["show-options", "-gsv", "set-clipboard"])
        .kill_on_drop(true)
        .output();
    let output = timeout(TMUX_LIMIT, output).await.ok()?.ok()?;
    let value = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::super::DiagnosisState::{Failed, Ok, Warning};
    use super::*;

    fn env(variables: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        |name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        }
    }

    #[test]
    fn every_problem_of_the_terminal_has_a_remedy() {
        let dark = Theme::new(Scheme::Dark);
        let cases = [
            (name(env(&[("TERM", "xterm-256color")])), Ok),
            (name(env(&[])), Warning),
            (name(env(&[("TERM", "dumb")])), Warning),
            (
                size(Size {
                    columns: 80,
                    rows: 24,
                }),
                Ok,
            ),
            (
                size(Size {
                    columns: 79,
                    rows: 24,
                }),
                Warning,
            ),
            (
                size(Size {
                    columns: 10,
                    rows: 3,
                }),
                Failed,
            ),
            (colours(env(&[("TERM", "xterm")])), Warning),
            (
                colours(env(&[("TERM", "xterm"), ("COLORTERM", "truecolor")])),
                Ok,
            ),
            (colours(env(&[("TERM", "tmux-256color")])), Ok),
            (background(dark, Some([255; 3])), Ok),
            (background(dark, None), Warning),
            (synchronized(Some(true)), Ok),
            (synchronized(None), Warning),
            (clipboard(CopyMethod::Tmux, Some("external")), Ok),
            (clipboard(CopyMethod::Tmux, Some("off")), Warning),
            (
                clipboard(CopyMethod::None("GNU screen does not support copies"), None),
                Warning,
            ),
        ];
        for (diagnosis, state) in cases {
            assert_eq!(diagnosis.state, state, "{diagnosis:?}");
            assert_eq!(diagnosis.remedy.is_some(), state != Ok, "{diagnosis:?}");
        }
        assert!(background(dark, Some([255; 3])).value.starts_with("light"));
    }

    #[test]
    fn wide_glyphs_are_named() {
        let wide = signs(&UNICODE, &["▲", "◆", "■"], &[1, 2, 1]);
        assert!(
            wide.state == Warning && wide.value.ends_with(": ◆"),
            "{wide:?}"
        );
        assert_eq!(signs(&UNICODE, &["▲"], &[1]).state, Ok);
        assert_eq!(
            signs(&UNICODE, &["▲"], &[]).state,
            Ok,
            "an old terminal does not report widths"
        );
    }
}
