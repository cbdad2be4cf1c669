//! Every colour and every glyph of the screen, by meaning.
//!
//! Colours are the terminal's own sixteen on its own background, and only where they mean something; nothing is told
//! by colour alone. *Mono* (`NO_COLOR`, dumb terminals) says the same with bold, dim, underline and reverse. The
//! risk colours differ in hue and in lightness, so that they stay apart for red-green colour blindness. Glyphs are
//! one column wide, with an ASCII set for terminals that draw some of them otherwise.

use crate::contract::Risk;
use crate::triage::Presence;
use ratatui::style::{Color, Modifier, Style};

/// What background the colours are chosen for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Light text on a dark background.
    #[default]
    Dark,
    /// Dark text on a light background.
    Light,
    /// No colours at all.
    Mono,
}

/// Colours and glyphs in use.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    /// The colours.
    pub scheme: Scheme,
    /// The glyphs.
    pub glyphs: &'static Glyphs,
}

/// The glyphs that have an ASCII form.
#[derive(Debug)]
#[allow(missing_docs)] // the names say it
pub struct Glyphs {
    /// From info to critical.
    pub risk: [&'static str; 5],
    pub selected: &'static str,
    pub marked: &'static str,
    pub ellipsis: char,
    /// Parts of a bar cell from one eighth to full.
    pub eighths: &'static [&'static str],
    pub empty: &'static str,
    pub running: &'static str,
    pub waiting: &'static str,
    pub done: &'static str,
    pub failed: &'static str,
    pub stopped: &'static str,
    pub stalled: &'static str,
    /// Persons said different things.
    pub conflict: &'static str,
    pub link: &'static str,
    pub more_below: &'static str,
    pub more_above: &'static str,
    pub separator: &'static str,
    pub path: &'static str,
    pub dash: &'static str,
    /// Head of the column that tells what changed.
    pub change: &'static str,
    /// A finding that is back.
    pub back: &'static str,
    pub rule: &'static str,
    pub tab_open: &'static str,
    pub tab_close: &'static str,
    /// So many times.
    pub times: &'static str,
    /// A group, folded and unfolded.
    pub folds: [&'static str; 2],
    /// Before what belongs to the line above.
    pub branch: &'static str,
    /// Whether frames are drawn with box characters.
    pub boxes: bool,
}

/// One column each in every terminal that draws them at all.
pub static UNICODE: Glyphs = Glyphs {
    risk: ["·", "▽", "■", "▲", "◆"],
    selected: "▌",
    marked: "*",
    ellipsis: '…',
    eighths: &["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"],
    empty: "░",
    running: "▶",
    waiting: "…",
    done: "✓",
    failed: "✗",
    stopped: "■",
    stalled: "!",
    conflict: "≠",
    link: "●",
    more_below: "▼",
    more_above: "▲",
    separator: "·",
    path: "›",
    dash: "–",
    change: "Δ",
    back: "↺",
    rule: "─",
    tab_open: "▌",
    tab_close: "▐",
    times: "×",
    folds: ["▸", "▾"],
    branch: "└",
    boxes: true,
};

/// For terminals and locales without them.
pub static ASCII: Glyphs = Glyphs {
    risk: [".", "v", "#", "^", "!"],
    selected: ">",
    marked: "*",
    ellipsis: '~',
    eighths: &["#"],
    empty: "-",
    running: ">",
    waiting: ".",
    done: "+",
    failed: "x",
    stopped: "s",
    stalled: "!",
    conflict: "/=",
    link: "o",
    more_below: "v",
    more_above: "^",
    separator: "-",
    path: ">",
    dash: "-",
    change: "+",
    back: "<",
    rule: "-",
    tab_open: "[",
    tab_close: "]",
    times: "x",
    folds: ["+", "-"],
    branch: "`",
    boxes: false,
};

impl Default for Theme {
    fn default() -> Self {
        Self { scheme: Scheme::Dark, glyphs: &UNICODE }
    }
}

impl Theme {
    /// The theme for a scheme, with the Unicode glyphs.
    pub fn new(scheme: Scheme) -> Self {
        Self { scheme, glyphs: &UNICODE }
    }

    /// The same in ASCII.
    pub fn with_ascii(self) -> Self {
        Self { glyphs: &ASCII, ..self }
    }

    /// Chosen by the environment: `NO_COLOR` and `TERM=dumb` mean mono, `COLORFGBG` tells a light background, a
    /// locale that is not UTF-8 (or `TERM=linux`) means ASCII.
    pub fn from_env(var: impl Fn(&str) -> Option<String>) -> Self {
        let var = |name: &str| var(name).filter(|value| !value.is_empty());
        let term = var("TERM").unwrap_or_default();
        let scheme = if var("NO_COLOR").is_some() || term == "dumb" {
            Scheme::Mono
        } else if var("COLORFGBG").is_some_and(|pair| is_light(&pair)) {
            Scheme::Light
        } else {
            Scheme::Dark
        };
        let locale = var("LC_ALL").or_else(|| var("LC_CTYPE")).or_else(|| var("LANG"));
        let utf8 = locale.is_none_or(|name| {
            let name = name.to_ascii_lowercase();
            name.contains("utf-8") || name.contains("utf8")
        });
        let theme = Self::new(scheme);
        if utf8 && term != "linux" { theme } else { theme.with_ascii() }
    }

    fn colour(self, dark: Color, light: Color) -> Style {
        match self.scheme {
            Scheme::Dark => Style::new().fg(dark),
            Scheme::Light => Style::new().fg(light),
            Scheme::Mono => Style::new(),
        }
    }

    fn mono(self, modifier: Modifier) -> Style {
        if self.scheme == Scheme::Mono { Style::new().add_modifier(modifier) } else { Style::new() }
    }

    /// Ordinary text.
    pub fn text(self) -> Style {
        Style::new()
    }

    /// Secondary, stale or unavailable.
    pub fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Names and heads that stand out.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Heads of columns.
    pub fn head(self) -> Style {
        self.dim()
    }

    /// The colour of a risk.
    pub fn risk(self, risk: Risk) -> Style {
        match risk {
            Risk::Critical => self.colour(Color::LightMagenta, Color::Magenta).add_modifier(Modifier::BOLD),
            Risk::High => self.colour(Color::LightRed, Color::Red).patch(self.mono(Modifier::BOLD)),
            Risk::Medium => self.colour(Color::Yellow, Color::Blue),
            Risk::Low => self.colour(Color::Cyan, Color::Cyan),
            Risk::Info => self.dim(),
        }
    }

    /// The sign of a presence in the column `Δ`.
    pub fn presence_sign(self, presence: Presence) -> &'static str {
        match presence {
            Presence::Reappeared => self.glyphs.back,
            other => other.sign(),
        }
    }

    /// What was said and then taken back.
    pub fn undone(self) -> Style {
        Style::new().add_modifier(Modifier::DIM | Modifier::CROSSED_OUT)
    }

    /// Wrong: failed, refused, gone.
    pub fn bad(self) -> Style {
        self.colour(Color::LightRed, Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Wants a look: stalled, stale, little left.
    pub fn warn(self) -> Style {
        self.colour(Color::Yellow, Color::Magenta).patch(self.mono(Modifier::BOLD))
    }

    /// Well: live, done.
    pub fn good(self) -> Style {
        self.colour(Color::Green, Color::Green)
    }

    /// Under way.
    pub fn active(self) -> Style {
        self.colour(Color::LightBlue, Color::Blue)
    }

    /// The done part of a bar.
    pub fn bar(self) -> Style {
        self.colour(Color::LightBlue, Color::Blue)
    }

    /// A key in a hint.
    pub fn key(self) -> Style {
        self.colour(Color::LightCyan, Color::Blue).add_modifier(Modifier::BOLD)
    }

    /// The frame of a pane.
    pub fn border(self, focused: bool) -> Style {
        if focused { self.colour(Color::LightCyan, Color::Blue).patch(self.mono(Modifier::BOLD)) } else { self.dim() }
    }

    /// The title of a pane.
    pub fn title(self, focused: bool) -> Style {
        if focused { self.border(true).add_modifier(Modifier::BOLD) } else { self.text() }
    }

    /// The selected row: reverse where the keys go, bold elsewhere.
    pub fn selection(self, focused: bool) -> Style {
        let plain = Style::new().fg(Color::Reset).bg(Color::Reset).remove_modifier(Modifier::DIM);
        plain.add_modifier(if focused { Modifier::REVERSED } else { Modifier::BOLD })
    }

    /// The tab or choice in use.
    pub fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED)
    }

    /// A word that the open search matches.
    pub fn found(self) -> Style {
        self.colour(Color::Black, Color::Black)
            .patch(match self.scheme {
                Scheme::Mono => Style::new(),
                Scheme::Dark | Scheme::Light => Style::new().bg(Color::Yellow),
            })
            .patch(self.mono(Modifier::UNDERLINED | Modifier::BOLD))
    }

    /// A field of a form.
    pub fn field(self, focused: bool) -> Style {
        if focused { Style::new().add_modifier(Modifier::UNDERLINED) } else { self.text() }
    }
}

/// `COLORFGBG` is `fg;bg` or `fg;default;bg`: 7 and 15 are light backgrounds.
fn is_light(pair: &str) -> bool {
    matches!(pair.rsplit(';').next(), Some("7" | "15"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn themed(vars: &[(&str, &str)]) -> (Scheme, bool) {
        let theme = Theme::from_env(|name| vars.iter().find(|var| var.0 == name).map(|var| var.1.to_owned()));
        (theme.scheme, theme.glyphs.boxes)
    }

    #[test]
    fn the_environment_chooses_colours_and_glyphs() {
        assert_eq!(themed(&[("LANG", "en_US.UTF-8")]), (Scheme::Dark, true));
        assert_eq!(themed(&[("NO_COLOR", "1"), ("LANG", "C.utf8")]), (Scheme::Mono, true));
        assert_eq!(themed(&[("NO_COLOR", "")]), (Scheme::Dark, true));
        assert_eq!(themed(&[("COLORFGBG", "0;15"), ("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]), (Scheme::Light, false));
        assert_eq!(themed(&[("TERM", "dumb")]), (Scheme::Mono, true));
    }

    #[test]
    fn risks_differ_in_style_and_glyph_in_every_scheme() {
        for scheme in [Scheme::Dark, Scheme::Light] {
            let styles: HashSet<Style> = Risk::DOWN.iter().map(|&risk| Theme::new(scheme).risk(risk)).collect();
            assert_eq!(styles.len(), 5, "{scheme:?}");
        }
        for glyphs in [&UNICODE, &ASCII] {
            assert_eq!(glyphs.risk.iter().collect::<HashSet<_>>().len(), 5);
        }
    }

    #[test]
    fn mono_uses_no_colour_at_all() {
        let theme = Theme::new(Scheme::Mono);
        let mut styles = vec![theme.bad(), theme.warn(), theme.good(), theme.active(), theme.key(), theme.found()];
        styles.extend([theme.border(true), theme.title(true), theme.chosen(), theme.bar(), theme.field(true)]);
        styles.extend(Risk::DOWN.map(|risk| theme.risk(risk)));
        for style in styles {
            assert!(style.fg.is_none() && style.bg.is_none(), "{style:?}");
        }
    }

    #[test]
    fn every_glyph_is_one_column_wide() {
        for glyphs in [&UNICODE, &ASCII] {
            let g = glyphs;
            let mut all = vec![g.selected, g.marked, g.empty, g.running, g.waiting, g.done, g.failed, g.stopped];
            all.extend([g.stalled, g.link, g.more_below, g.more_above, g.separator, g.path, g.dash, g.rule]);
            all.extend(g.risk.iter().chain(g.eighths).copied());
            for glyph in all {
                assert_eq!(crate::text::width(glyph), 1, "{glyph}");
            }
        }
    }
}
