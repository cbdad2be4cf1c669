//! Every colour and every glyph of the screen, by meaning.
//!
//! The built-in schemes use the sixteen colours of the terminal on its background, and some of the
//! 256 where those have too little contrast; a theme file changes any of them. No fact is shown by
//! colour alone. *Mono* (`NO_COLOR`, dumb terminals) uses bold, dim, underline and reverse instead.
//! The risk colours differ in hue and in lightness, so that readers with red-green colour blindness
//! can distinguish them. Glyphs are one column wide, with an ASCII set for terminals that cannot
//! draw some of them.

pub use crate::base::Scheme;
use crate::base::own_theme::luminance;
use crate::base::{ColourRole, OwnColours};
use crate::config::ProfileColour;
use ratatui::style::{Color, Modifier, Style};
use scandeck_domain::triage::Presence;
use scandeck_wire::contract::Risk;

/// Colours of the 256 with enough contrast where the named ones have too little.
const DARK_CYAN: Color = Color::Indexed(23);
const DARK_GREEN: Color = Color::Indexed(28);
const PALE_BLUE: Color = Color::Indexed(75);
const PALE_GREY: Color = Color::Indexed(246);
const DARK_GREY: Color = Color::Indexed(241);

/// Colours and glyphs in use.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    pub scheme: Scheme,
    /// The colours that a theme file changes.
    pub own: OwnColours,
    /// Whether the terminal shows 16 million colours.
    pub is_truecolour: bool,
    pub glyphs: &'static Glyphs,
}

/// The meaning of a part of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// The name of a header, of a member of JSON or of an attribute.
    Name,
    /// A string, or the value of an attribute.
    Text,
    /// A number, `true`, `false` or `null`.
    Value,
    Tag,
    Comment,
    Other,
}

/// Declares [`Glyphs`] with its two sets: a line per glyph, with its Unicode and its ASCII form.
macro_rules! glyphs {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $unicode:expr, $ascii:expr;)*) => {
        /// The glyphs that have an ASCII form.
        #[derive(Debug)]
        pub struct Glyphs {
            $($(#[$doc])* pub $name: $type,)*
        }

        /// One column each in every terminal that can draw them.
        pub static UNICODE: Glyphs = Glyphs { $($name: $unicode,)* };

        /// For terminals and locales without Unicode.
        pub static ASCII: Glyphs = Glyphs { $($name: $ascii,)* };
    };
}

glyphs! {
    /// From info to critical.
    risk: [&'static str; 5] = ["·", "▽", "■", "▲", "◆"], [".", "v", "#", "^", "!"];
    selected: &'static str = "▌", ">";
    marked: &'static str = "*", "*";
    ellipsis: char = '…', '~';
    /// Parts of a bar cell from one eighth to full.
    eighths: &'static [&'static str] = &["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"], &["#"];
    empty: &'static str = "░", "-";
    /// From few to many.
    shades: [&'static str; 4] = ["░", "▒", "▓", "█"], [".", ":", "+", "#"];
    /// From few to many, as the heights of a small plot.
    heights: [&'static str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"], [".", ".", ":", ":", "+", "+", "#", "#"];
    /// A full cell of a plot over time.
    dots: &'static str = "⣿", "#";
    running: &'static str = "▶", ">";
    waiting: &'static str = "…", ".";
    done: &'static str = "✓", "+";
    /// A test without a result, and a finished scan with such tests.
    incomplete: &'static str = "◐", "%";
    failed: &'static str = "✗", "x";
    stopped: &'static str = "⊘", "s";
    stalled: &'static str = "!", "!";
    /// Analysts decided differently at the same time.
    conflict: &'static str = "≠", "/=";
    link: &'static str = "●", "o";
    more_below: &'static str = "↓", "v";
    more_above: &'static str = "↑", "^";
    separator: &'static str = "·", "-";
    path: &'static str = "›", ">";
    /// Between the two scans of a comparison.
    to: &'static str = "→", ">";
    dash: &'static str = "–", "-";
    /// Header of the column of changes since the last scan.
    change: &'static str = "Δ", "+";
    /// A finding that reappeared.
    back: &'static str = "↺", "<";
    rule: &'static str = "─", "-";
    tab_open: &'static str = "▌", "[";
    tab_close: &'static str = "▐", "]";
    /// Before a count of equal rows.
    times: &'static str = "×", "x";
    /// A folded and an unfolded group.
    folds: [&'static str; 2] = ["▸", "▾"], ["+", "-"];
    /// Before a line that belongs to the line above.
    branch: &'static str = "└", "`";
    /// Whether frames are drawn with box characters.
    boxes: bool = true, false;
}

impl Glyphs {
    /// The glyphs that must be one column wide.
    pub fn letters(&self) -> Vec<&'static str> {
        let mut all = vec![
            self.selected,
            self.marked,
            self.empty,
            self.running,
            self.waiting,
            self.done,
            self.failed,
        ];
        all.extend([
            self.stopped,
            self.stalled,
            self.link,
            self.more_below,
            self.more_above,
            self.separator,
        ]);
        all.extend([
            self.path,
            self.to,
            self.dash,
            self.change,
            self.back,
            self.rule,
            self.tab_open,
            self.tab_close,
        ]);
        all.extend([self.times, self.branch, self.dots, self.incomplete]);
        all.extend(
            self.risk
                .iter()
                .chain(self.eighths)
                .chain(&self.folds)
                .chain(&self.shades)
                .chain(&self.heights)
                .copied(),
        );
        all
    }
}

impl Default for Theme {
    fn default() -> Self {
        Self::new(Scheme::Dark)
    }
}

impl Theme {
    pub fn new(scheme: Scheme) -> Self {
        Self {
            scheme,
            own: OwnColours::default(),
            is_truecolour: false,
            glyphs: &UNICODE,
        }
    }

    pub fn with_ascii(self) -> Self {
        Self {
            glyphs: &ASCII,
            ..self
        }
    }

    /// Derives the theme from environment variables: mono by `NO_COLOR` and `TERM=dumb`, a light
    /// background by `COLORFGBG`, ASCII by a locale that is not UTF-8 or by `TERM=linux`.
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
        let locale = var("LC_ALL")
            .or_else(|| var("LC_CTYPE"))
            .or_else(|| var("LANG"));
        let utf8 = locale.is_none_or(|name| {
            let name = name.to_ascii_lowercase();
            name.contains("utf-8") || name.contains("utf8")
        });
        let is_truecolour = matches!(var("COLORTERM").as_deref(), Some("truecolor" | "24bit"));
        let theme = Self {
            is_truecolour,
            ..Self::new(scheme)
        };
        if utf8 && term != "linux" {
            theme
        } else {
            theme.with_ascii()
        }
    }

    /// The theme for the background that the terminal has reported.
    pub fn on_background(self, background: Option<[u8; 3]>) -> Self {
        match background
            .filter(|_| self.scheme != Scheme::Mono)
            .map(luminance)
        {
            Some(luminance) if luminance > LIGHT => Self {
                scheme: Scheme::Light,
                ..self
            },
            Some(_) => Self {
                scheme: Scheme::Dark,
                ..self
            },
            None => self,
        }
    }

    /// The colour of a meaning: on a dark and on a light background, and by its number among the
    /// 256 in the schemes with high contrast, for deuteranopia and for tritanopia.
    fn colour(self, role: ColourRole, dark: Color, light: Color, others: [u8; 3]) -> Style {
        if let Some(colour) = self.own(role) {
            return Style::new().fg(colour);
        }
        match self.scheme {
            Scheme::Dark => Style::new().fg(dark),
            Scheme::Light => Style::new().fg(light),
            Scheme::HighContrast => Style::new().fg(Color::Indexed(others[0])),
            Scheme::Deuteranopia => Style::new().fg(Color::Indexed(others[1])),
            Scheme::Tritanopia => Style::new().fg(Color::Indexed(others[2])),
            Scheme::Mono => Style::new(),
        }
    }

    /// The colour of a theme file, or the nearest one of the colour cube of 256 colours.
    fn own(self, role: ColourRole) -> Option<Color> {
        let [red, green, blue] = self.own.of(role)?;
        let step = |part: u8| match part {
            0..48 => 0,
            48..115 => 1,
            _ => (part - 35) / 40,
        };
        Some(match self.is_truecolour {
            true => Color::Rgb(red, green, blue),
            false => Color::Indexed(16 + 36 * step(red) + 6 * step(green) + step(blue)),
        })
    }

    fn mono(self, modifier: Modifier) -> Style {
        if self.scheme == Scheme::Mono {
            Style::new().add_modifier(modifier)
        } else {
            Style::new()
        }
    }

    /// Ordinary text.
    pub fn text(self) -> Style {
        Style::new()
    }

    /// Secondary, stale or unavailable. Grey instead of faint text, whose contrast each terminal
    /// chooses.
    pub fn dim(self) -> Style {
        match (self.own(ColourRole::Dim), self.scheme) {
            (Some(colour), _) => Style::new().fg(colour),
            (None, Scheme::HighContrast) => Style::new(),
            (None, Scheme::Mono) => Style::new().add_modifier(Modifier::DIM),
            (None, Scheme::Light) => Style::new().fg(DARK_GREY),
            (None, Scheme::Dark | Scheme::Deuteranopia | Scheme::Tritanopia) => {
                Style::new().fg(PALE_GREY)
            }
        }
    }

    /// Emphasised names and titles.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Column headers.
    pub fn head(self) -> Style {
        self.dim()
    }

    pub fn risk(self, risk: Risk) -> Style {
        match risk {
            Risk::Critical => self
                .colour(
                    ColourRole::Critical,
                    Color::LightMagenta,
                    Color::Magenta,
                    [219, 227, 203],
                )
                .add_modifier(Modifier::BOLD),
            Risk::High => self
                .colour(
                    ColourRole::High,
                    Color::LightRed,
                    Color::Red,
                    [217, 214, 218],
                )
                .patch(self.mono(Modifier::BOLD)),
            Risk::Medium => self.colour(
                ColourRole::Medium,
                Color::Yellow,
                Color::Blue,
                [228, 180, 188],
            ),
            Risk::Low => self.colour(ColourRole::Low, Color::Cyan, DARK_CYAN, [159, 75, 44]),
            Risk::Info => self
                .own(ColourRole::Info)
                .map_or_else(|| self.dim(), |colour| Style::new().fg(colour)),
        }
    }

    /// The sign in the column `Δ`.
    pub fn presence_sign(self, presence: Presence) -> &'static str {
        match presence {
            Presence::Reappeared => self.glyphs.back,
            other => other.sign(),
        }
    }

    /// A decision that was undone.
    pub fn undone(self) -> Style {
        self.dim().add_modifier(Modifier::CROSSED_OUT)
    }

    /// Failed, rejected or absent.
    pub fn bad(self) -> Style {
        self.colour(
            ColourRole::Bad,
            Color::LightRed,
            Color::Red,
            [217, 214, 203],
        )
        .add_modifier(Modifier::BOLD)
    }

    /// Stalled, stale or nearly used up.
    pub fn warn(self) -> Style {
        self.colour(
            ColourRole::Warn,
            Color::Yellow,
            Color::Magenta,
            [228, 227, 218],
        )
        .patch(self.mono(Modifier::BOLD))
    }

    /// Live or done.
    pub fn good(self) -> Style {
        self.colour(ColourRole::Good, Color::Green, DARK_GREEN, [157, 117, 43])
    }

    /// In progress.
    pub fn active(self) -> Style {
        self.colour(ColourRole::Active, PALE_BLUE, Color::Blue, [159, 75, 51])
    }

    pub fn key(self) -> Style {
        self.name().add_modifier(Modifier::BOLD)
    }

    fn name(self) -> Style {
        self.colour(
            ColourRole::Key,
            Color::LightCyan,
            Color::Blue,
            [159, 117, 51],
        )
    }

    /// The style of a part of a body. Some colours are those of other roles, which bodies do not
    /// have.
    pub fn syntax(self, part: Syntax) -> Style {
        match part {
            Syntax::Name => self.name(),
            Syntax::Text => self.good(),
            Syntax::Value | Syntax::Tag => self.active(),
            Syntax::Comment => self.dim(),
            Syntax::Other => self.text(),
        }
    }

    pub fn border(self, focused: bool) -> Style {
        if focused {
            self.colour(
                ColourRole::Border,
                Color::LightCyan,
                Color::Blue,
                [159, 117, 51],
            )
            .patch(self.mono(Modifier::BOLD))
        } else {
            self.dim()
        }
    }

    pub fn title(self, focused: bool) -> Style {
        if focused {
            self.border(true).add_modifier(Modifier::BOLD)
        } else {
            self.text()
        }
    }

    /// The selected row: reverse in the focused pane, bold elsewhere.
    pub fn selection(self, focused: bool) -> Style {
        let plain = Style::new()
            .fg(Color::Reset)
            .bg(Color::Reset)
            .remove_modifier(Modifier::DIM);
        plain.add_modifier(if focused {
            Modifier::REVERSED
        } else {
            Modifier::BOLD
        })
    }

    /// The cursor or the current match in a text, over its own colours.
    pub fn cursor(self) -> Style {
        self.selection(true).patch(self.chosen())
    }

    /// The current tab or choice.
    pub fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED)
    }

    /// The name of a service whose profile has a colour: black on that colour in every scheme.
    pub fn service(self, colour: ProfileColour) -> Style {
        if self.scheme == Scheme::Mono {
            return self.chosen();
        }
        let background = match colour {
            ProfileColour::Red => 203,
            ProfileColour::Yellow => 221,
            ProfileColour::Green => 114,
            ProfileColour::Cyan => 80,
            ProfileColour::Blue => 111,
            ProfileColour::Magenta => 213,
        };
        Style::new()
            .fg(Color::Indexed(16))
            .bg(Color::Indexed(background))
            .add_modifier(Modifier::BOLD)
    }

    /// A match of the open search.
    pub fn found(self) -> Style {
        match self.scheme {
            Scheme::Mono => Style::new().add_modifier(Modifier::UNDERLINED | Modifier::BOLD),
            _ => {
                let colours = Style::new()
                    .fg(Color::Black)
                    .bg(self.own(ColourRole::Match).unwrap_or(Color::Yellow));
                colours.remove_modifier(Modifier::DIM)
            }
        }
    }
}

/// Above this luminance, black text has more contrast than white text.
const LIGHT: f64 = 0.179;

/// `COLORFGBG` is `fg;bg` or `fg;default;bg`: 7 and 15 are light backgrounds.
fn is_light(pair: &str) -> bool {
    matches!(pair.rsplit(';').next(), Some("7" | "15"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::OwnTheme;
    use crate::base::own_theme::contrast;
    use crate::config::ThemeFile;
    use std::collections::HashSet;

    fn themed(vars: &[(&str, &str)]) -> (Scheme, bool) {
        let theme = Theme::from_env(|name| {
            vars.iter()
                .find(|var| var.0 == name)
                .map(|var| var.1.to_owned())
        });
        (theme.scheme, theme.glyphs.boxes)
    }

    #[test]
    fn theme_from_environment_has_colours_and_glyphs_of_terminal() {
        assert_eq!(themed(&[("LANG", "en_US.UTF-8")]), (Scheme::Dark, true));
        assert_eq!(
            themed(&[("NO_COLOR", "1"), ("LANG", "C.utf8")]),
            (Scheme::Mono, true)
        );
        assert_eq!(themed(&[("NO_COLOR", "")]), (Scheme::Dark, true));
        assert_eq!(
            themed(&[
                ("COLORFGBG", "0;15"),
                ("LC_ALL", "C"),
                ("LANG", "en_US.UTF-8")
            ]),
            (Scheme::Light, false)
        );
        assert_eq!(themed(&[("TERM", "dumb")]), (Scheme::Mono, true));
    }

    #[test]
    fn risks_in_every_scheme_differ_in_style_and_glyph() {
        for scheme in Scheme::ALL
            .into_iter()
            .filter(|scheme| *scheme != Scheme::Mono)
        {
            let styles: HashSet<Style> = Risk::DOWN
                .iter()
                .map(|&risk| Theme::new(scheme).risk(risk))
                .collect();
            assert_eq!(styles.len(), 5, "{scheme:?}");
        }
        for glyphs in [&UNICODE, &ASCII] {
            assert_eq!(glyphs.risk.iter().collect::<HashSet<_>>().len(), 5);
        }
    }

    #[test]
    fn mono_theme_has_no_colours() {
        let theme = Theme::new(Scheme::Mono);
        let mut styles = vec![
            theme.bad(),
            theme.warn(),
            theme.good(),
            theme.active(),
            theme.key(),
            theme.found(),
        ];
        styles.extend([theme.border(true), theme.title(true), theme.chosen()]);
        styles.extend(Risk::DOWN.map(|risk| theme.risk(risk)));
        styles.extend(SYNTAX.map(|part| theme.syntax(part)));
        for style in styles {
            assert!(style.fg.is_none() && style.bg.is_none(), "{style:?}");
        }
    }

    const SYNTAX: [Syntax; 6] = [
        Syntax::Name,
        Syntax::Text,
        Syntax::Value,
        Syntax::Tag,
        Syntax::Comment,
        Syntax::Other,
    ];

    /// The colour in the palette of xterm.
    fn rgb(colour: Color) -> [u8; 3] {
        match colour {
            Color::Black => [0, 0, 0],
            Color::Red => [205, 0, 0],
            Color::Green => [0, 205, 0],
            Color::Yellow => [205, 205, 0],
            Color::Blue => [0, 0, 238],
            Color::Magenta => [205, 0, 205],
            Color::Cyan => [0, 205, 205],
            Color::LightRed => [255, 0, 0],
            Color::LightMagenta => [255, 0, 255],
            Color::LightCyan => [0, 255, 255],
            Color::Indexed(number @ 16..=231) => {
                let part = |part: u8| if part == 0 { 0 } else { 55 + 40 * part };
                let number = number - 16;
                [part(number / 36), part(number / 6 % 6), part(number % 6)]
            }
            Color::Indexed(number @ 232..) => [8 + 10 * (number - 232); 3],
            other => panic!("{other:?} is not in the palette"),
        }
    }

    #[test]
    fn text_has_contrast_of_4_5_in_every_theme() {
        for scheme in Scheme::ALL {
            let background = if scheme == Scheme::Light {
                [255; 3]
            } else {
                [0; 3]
            };
            // WCAG 2.1 asks for 7 where contrast is enhanced.
            let least = if scheme == Scheme::HighContrast {
                7.0
            } else {
                4.5
            };
            let theme = Theme::new(scheme);
            let named = [
                theme.text(),
                theme.dim(),
                theme.bad(),
                theme.warn(),
                theme.good(),
                theme.active(),
                theme.key(),
                theme.head(),
                theme.border(true),
                theme.title(true),
            ];
            let of_bodies = SYNTAX.map(|part| theme.syntax(part));
            for style in named
                .into_iter()
                .chain(Risk::DOWN.map(|risk| theme.risk(risk)))
                .chain(of_bodies)
            {
                let Some(colour) = style.fg else { continue };
                let contrast = contrast(rgb(colour), background);
                assert!(contrast >= least, "{scheme:?} {colour:?}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn own_colours_replace_those_of_the_scheme() {
        let text = "high = \"#8b0010\"\ndim = \"#808080\"\nmatch = \"#ffffff\"".to_owned();
        let file = ThemeFile {
            name: "dusk".to_owned(),
            text,
            ..ThemeFile::default()
        };
        let own = OwnTheme::parse(&file).unwrap().colours;
        let theme = Theme {
            own,
            is_truecolour: true,
            ..Theme::new(Scheme::Light)
        };
        assert_eq!(
            theme.risk(Risk::High),
            Style::new().fg(Color::Rgb(0x8b, 0, 0x10))
        );
        assert_eq!(
            theme.risk(Risk::Low),
            Theme::new(Scheme::Light).risk(Risk::Low)
        );
        assert_eq!(
            theme.risk(Risk::Info),
            theme.dim(),
            "info is dim unless the theme has a colour for it"
        );
        let cube = Theme {
            is_truecolour: false,
            ..theme
        };
        assert_eq!(cube.risk(Risk::High).fg, Some(Color::Indexed(88)));
        assert_eq!(
            (cube.dim().fg, cube.found().bg),
            (Some(Color::Indexed(102)), Some(Color::Indexed(231)))
        );
    }

    #[test]
    fn reported_background_selects_scheme() {
        let of = |background| Theme::new(Scheme::Dark).on_background(background).scheme;
        assert_eq!(
            (of(Some([255; 3])), of(Some([30; 3])), of(None)),
            (Scheme::Light, Scheme::Dark, Scheme::Dark)
        );
        assert_eq!(
            Theme::new(Scheme::Light).on_background(Some([0; 3])).scheme,
            Scheme::Dark
        );
        assert_eq!(
            Theme::new(Scheme::Mono)
                .on_background(Some([255; 3]))
                .scheme,
            Scheme::Mono
        );
    }

    #[test]
    fn glyphs_of_risks_have_no_other_meaning() {
        let g = &UNICODE;
        let others = [
            g.running, g.waiting, g.done, g.failed, g.stopped, g.stalled, g.conflict, g.back,
        ];
        for risk in &g.risk[1..] {
            assert!(
                !others.contains(risk) && ![g.more_above, g.more_below, g.link].contains(risk),
                "{risk}"
            );
        }
    }

    #[test]
    fn glyphs_are_one_column_wide() {
        for glyphs in [&UNICODE, &ASCII] {
            for glyph in glyphs.letters() {
                assert_eq!(scandeck_wire::text::width(glyph), 1, "{glyph}");
            }
        }
    }
}
