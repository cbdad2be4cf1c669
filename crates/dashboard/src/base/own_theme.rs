//! Themes of the user: a file changes colours of a built-in scheme.
//!
//! ```toml
//! base = "dark"            # the scheme whose other colours are used
//! critical = "#ff79c6"     # a role and its colour
//! ```

use super::Scheme;
use crate::config::{ThemeFile, TomlProblem};
use scandeck_domain::problem::Problem;
use std::collections::HashMap;
use std::io::ErrorKind;
use toml::{Spanned, Value};

/// The name of the theme that follows the terminal.
pub const AUTO: &str = "auto";
/// The least contrast of text and background (WCAG 2.1).
const LEAST_CONTRAST: f64 = 4.5;

/// A meaning with a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourRole {
    Dim,
    Critical,
    High,
    Medium,
    Low,
    Info,
    Bad,
    Warn,
    Good,
    Active,
    Key,
    Border,
    Match,
}

impl ColourRole {
    pub const ALL: [Self; 13] = [
        Self::Dim,
        Self::Critical,
        Self::High,
        Self::Medium,
        Self::Low,
        Self::Info,
        Self::Bad,
        Self::Warn,
        Self::Good,
        Self::Active,
        Self::Key,
        Self::Border,
        Self::Match,
    ];
    /// Their names in files, in the same order.
    pub const NAMES: [&str; 13] = [
        "dim", "critical", "high", "medium", "low", "info", "bad", "warn", "good", "active", "key",
        "border", "match",
    ];
}

/// The changed colours by role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OwnColours([Option<[u8; 3]>; ColourRole::ALL.len()]);

impl OwnColours {
    pub fn of(&self, role: ColourRole) -> Option<[u8; 3]> {
        self.0[role as usize]
    }
}

/// A checked theme file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnTheme {
    pub name: String,
    pub base: Scheme,
    pub colours: OwnColours,
}

/// A field or value that a theme does not have.
struct WrongField {
    why: String,
    hint: String,
}

fn problem_at(file: &ThemeFile, byte: usize, why: String, hint: String) -> Problem {
    let line = file.text[..byte].matches('\n').count() + 1;
    Problem::local(format!("{}:{line}: {why}", file.path)).with_hint(hint)
}

fn unreadable(file: &ThemeFile, kind: ErrorKind) -> Problem {
    let (why, hint) = match kind {
        ErrorKind::IsADirectory => ("is a directory", "remove it"),
        ErrorKind::InvalidData => ("is not UTF-8 text", "save it as UTF-8, or remove it"),
        ErrorKind::PermissionDenied => (
            "is not readable: permission denied",
            "change its mode, or remove it",
        ),
        _ => ("is not readable", "check the file, or remove it"),
    };
    Problem::local(format!("{} {why}", file.path)).with_hint(hint)
}

impl OwnTheme {
    /// Checks a file.
    ///
    /// # Errors
    /// When the file is not TOML, or has an unknown field or value: with path, line, field and
    /// remedy.
    pub fn parse(file: &ThemeFile) -> Result<Self, Problem> {
        if let Some(kind) = file.unreadable {
            return Err(unreadable(file, kind));
        }
        if file.name == AUTO || Scheme::named(&file.name).is_some() {
            let why = format!("{} is a built-in theme", file.name);
            return Err(problem_at(file, 0, why, "rename the file".to_owned()));
        }
        let fields: HashMap<Spanned<String>, Spanned<Value>> =
            toml::from_str(&file.text).map_err(|error| {
                let TomlProblem {
                    line,
                    message,
                    hint,
                } = TomlProblem::new(&file.text, &error);
                Problem::local(format!("{}:{line}: {message}", file.path)).with_hint(hint)
            })?;
        let mut fields: Vec<_> = fields.iter().collect();
        fields.sort_by_key(|(field, _)| field.span().start);
        let mut theme = Self {
            name: file.name.clone(),
            base: Scheme::Dark,
            colours: OwnColours::default(),
        };
        for (field, value) in fields {
            theme
                .set(field.get_ref(), value.get_ref())
                .map_err(|wrong| problem_at(file, field.span().start, wrong.why, wrong.hint))?;
        }
        Ok(theme)
    }

    fn set(&mut self, field: &str, given: &Value) -> Result<(), WrongField> {
        let role = ColourRole::NAMES.iter().position(|name| *name == field);
        if let Some(role) = role {
            let wrong = || WrongField {
                why: format!("invalid colour {given} for {field}"),
                hint: "use \"#RRGGBB\"".to_owned(),
            };
            let given = given.as_str().and_then(colour);
            self.colours.0[role] = Some(given.ok_or_else(wrong)?);
        } else if field == "base" {
            let wrong = || WrongField {
                why: format!("unknown base {given}"),
                hint: format!("use one of {}", Scheme::NAMES.join(", ")),
            };
            let named = given.as_str().and_then(Scheme::named);
            self.base = named.ok_or_else(wrong)?;
        } else {
            return Err(WrongField {
                why: format!("unknown role {field:?}"),
                hint: format!("use one of base, {}", ColourRole::NAMES.join(", ")),
            });
        }
        Ok(())
    }

    /// The colours that are hard to read on the background of the base, as one line.
    pub fn contrast_warning(&self) -> Option<String> {
        let low = self.low_contrasts();
        let background = if self.base == Scheme::Light {
            "white"
        } else {
            "black"
        };
        let roles: Vec<String> = low
            .iter()
            .map(|(role, contrast)| format!("{role} ({contrast:.1}:1)"))
            .collect();
        let limit = LEAST_CONTRAST;
        (!low.is_empty()).then(|| {
            format!(
                "contrast below {limit}:1 on {background}: {}",
                roles.join(", ")
            )
        })
    }

    /// The roles whose colours are hard to read on the background of the base, with their
    /// contrasts.
    pub fn low_contrasts(&self) -> Vec<(&'static str, f64)> {
        let background = if self.base == Scheme::Light {
            [255; 3]
        } else {
            [0; 3]
        };
        let of_role = |role: ColourRole| {
            // Black text on the colour of a match.
            let background = if role == ColourRole::Match {
                [0; 3]
            } else {
                background
            };
            Some((
                ColourRole::NAMES[role as usize],
                contrast(self.colours.of(role)?, background),
            ))
        };
        ColourRole::ALL
            .into_iter()
            .filter_map(of_role)
            .filter(|(_, contrast)| *contrast < LEAST_CONTRAST)
            .collect()
    }
}

/// `#rrggbb`.
fn colour(text: &str) -> Option<[u8; 3]> {
    let digits = text
        .strip_prefix('#')
        .filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    let number = u32::from_str_radix(digits, 16)
        .ok()
        .filter(|_| !digits.starts_with('+'))?;
    let [_, red, green, blue] = number.to_be_bytes();
    Some([red, green, blue])
}

/// The contrast of two colours, from 1 to 21 (WCAG 2.1).
pub fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// The relative luminance of a colour (WCAG 2.1).
pub fn luminance(colour: [u8; 3]) -> f64 {
    let [red, green, blue] = colour.map(|part| match f64::from(part) / 255.0 {
        part if part <= 0.040_45 => part / 12.92,
        part => ((part + 0.055) / 1.055).powf(2.4),
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, text: &str) -> Result<OwnTheme, Problem> {
        let path = format!("themes/{name}.toml");
        OwnTheme::parse(&ThemeFile {
            name: name.into(),
            path,
            text: text.into(),
            unreadable: None,
        })
    }

    #[test]
    fn theme_file_changes_colours_of_its_base() {
        let theme = parse("dusk", "base = \"light\"\nhigh = \"#a00010\"\n").unwrap();
        assert_eq!(
            (theme.base, theme.colours.of(ColourRole::High)),
            (Scheme::Light, Some([0xa0, 0, 0x10]))
        );
        assert_eq!(theme.colours.of(ColourRole::Low), None);
        assert_eq!(theme.low_contrasts(), []);
    }

    #[test]
    fn theme_with_error_is_refused_with_file_line_and_field() {
        for (name, text, words) in [
            (
                "a",
                "high = \"#a00010\"\nlow = \"red\"\n",
                "themes/a.toml:2: invalid colour \"red\" for low",
            ),
            (
                "a",
                "\nlow = 7",
                "themes/a.toml:2: invalid colour 7 for low",
            ),
            ("a", "low = \"#+12345\"", "themes/a.toml:1: invalid colour"),
            ("a", "low = \"#é1234\"", "themes/a.toml:1: invalid colour"),
            (
                "a",
                "base = \"sepia\"",
                "themes/a.toml:1: unknown base \"sepia\"",
            ),
            (
                "a",
                "# a\n\nhihg = \"#a00010\"",
                "themes/a.toml:3: unknown role \"hihg\"",
            ),
            ("a", "low = \"#a00010\"\nlow =", "themes/a.toml:2: "),
            ("dark", "", "themes/dark.toml:1: dark is a built-in theme"),
        ] {
            let problem = parse(name, text).unwrap_err();
            assert!(
                problem.message.starts_with(words) && problem.hint.is_some(),
                "{problem}"
            );
        }
    }

    #[test]
    fn colour_with_low_contrast_is_named_with_its_role() {
        let low = |text: &str| {
            let all = parse("a", text).unwrap().low_contrasts();
            all.into_iter()
                .map(|(role, contrast)| format!("{role} {contrast:.1}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(low("high = \"#800000\"\nlow = \"#00ffff\""), ["high 1.9"]);
        assert_eq!(
            low("base = \"light\"\nhigh = \"#800000\"\nlow = \"#00ffff\""),
            ["low 1.3"]
        );
        assert_eq!(
            low("base = \"light\"\nmatch = \"#ffff00\""),
            Vec::<String>::new(),
            "text on it is black"
        );
    }
}
