//! Values of clauses: texts with `*` and `?`, regular expressions, durations and times.

use std::fmt;
use std::sync::OnceLock;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use regex::{Regex, RegexBuilder};

use scandeck_wire::contract::Stamp;
use scandeck_wire::text::composed;

/// Maximum size of a compiled expression in bytes.
const EXPRESSION_BYTES: usize = 1 << 20;

/// A regular expression, compared by its text. Case is ignored unless it contains `(?-i)`; letters
/// are composed (NFC).
#[derive(Clone, Debug)]
pub struct Expression(Regex);

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// The syntax error.
    pub fn parse(text: &str) -> Result<Self, String> {
        let built = RegexBuilder::new(&composed(text))
            .case_insensitive(true)
            .size_limit(EXPRESSION_BYTES)
            .build();
        built.map(Self).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            other => {
                let message = other.to_string();
                message
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .trim_start_matches("error: ")
                    .to_owned()
            }
        })
    }

    /// The text, with composed letters.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// True if it matches a text.
    pub fn finds(&self, text: &str) -> bool {
        self.0.is_match(&composed(text))
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Expression {}

/// Longer texts are matched by the regular expression, which is faster for them.
const SHORT: usize = 256;

/// Compiled alternatives; a text matches if one of them does. Case, and how letters are composed,
/// is ignored.
#[derive(Debug)]
pub struct Matcher {
    pattern: String,
    /// The compiled pattern. Most queries meet no text that needs it.
    regex: OnceLock<Option<Regex>>,
    /// Fast path for short ASCII texts, of which a column has many thousands.
    plain: Option<Vec<Plain>>,
}

/// An alternative that is compared byte by byte.
#[derive(Debug)]
enum Plain {
    Whole(String),
    Glob(String),
}

impl Matcher {
    /// `*` matches any characters, `?` matches one. With `within`, a text without them matches if
    /// it is contained.
    pub fn like(texts: &[String], within: bool) -> Self {
        let one = |text: &String| {
            if within && !text.contains(['*', '?']) {
                return regex::escape(text);
            }
            format!(
                "^(?:{})$",
                regex::escape(text).replace(r"\*", ".*").replace(r"\?", ".")
            )
        };
        let plain = |text: &String| match text.contains(['*', '?']) {
            true => Some(Plain::Glob(text.clone())),
            false => (!within).then(|| Plain::Whole(text.clone())),
        };
        Self::build(texts.iter().map(one), texts, plain)
    }

    /// Matches the texts exactly.
    pub fn equal(texts: &[String]) -> Self {
        let one = |text: &String| format!("^(?:{})$", regex::escape(text));
        Self::build(texts.iter().map(one), texts, |text| {
            Some(Plain::Whole(text.clone()))
        })
    }

    /// Query length is limited, so the regular expression is never too large; if it were, nothing
    /// would match.
    fn build(
        parts: impl Iterator<Item = String>,
        texts: &[String],
        plain: impl Fn(&String) -> Option<Plain>,
    ) -> Self {
        let pattern = parts.collect::<Vec<_>>().join("|");
        let plain = texts
            .iter()
            .map(|text| plain(text).filter(|_| text.is_ascii()))
            .collect();
        Self {
            pattern,
            regex: OnceLock::new(),
            plain,
        }
    }

    /// True if a text matches.
    pub fn matches(&self, text: &str) -> bool {
        match &self.plain {
            Some(plain) if text.len() <= SHORT && text.is_ascii() => {
                plain.iter().any(|one| one.matches(text))
            }
            _ => self
                .regex()
                .is_some_and(|regex| regex.is_match(&composed(text))),
        }
    }

    fn regex(&self) -> Option<&Regex> {
        let build = || {
            RegexBuilder::new(&composed(&self.pattern))
                .case_insensitive(true)
                .dot_matches_new_line(true)
                .build()
                .ok()
        };
        self.regex.get_or_init(build).as_ref()
    }
}

impl Plain {
    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Whole(whole) => whole.eq_ignore_ascii_case(text),
            Self::Glob(glob) => matches(glob.as_bytes(), text.as_bytes()),
        }
    }
}

/// `*` matches as little as possible; on a mismatch, the last `*` is extended by one character.
fn matches(glob: &[u8], text: &[u8]) -> bool {
    let (mut at, mut letter, mut star) = (0, 0, None);
    while letter < text.len() {
        match (glob.get(at), star) {
            (Some(b'*'), _) => {
                at += 1;
                star = Some((at, letter));
            }
            (Some(expected), _)
                if *expected == b'?' || expected.eq_ignore_ascii_case(&text[letter]) =>
            {
                at += 1;
                letter += 1;
            }
            (_, Some((after, from))) => {
                star = Some((after, from + 1));
                (at, letter) = (after, from + 1);
            }
            (_, None) => return false,
        }
    }
    glob[at..].iter().all(|&left| left == b'*')
}

const UNITS: [(char, i64); 6] = [
    ('y', 365 * 86_400),
    ('w', 7 * 86_400),
    ('d', 86_400),
    ('h', 3_600),
    ('m', 60),
    ('s', 1),
];

/// Seconds of `90s`, `5m`, `2h`, `3d`, `1w`, `1y` and of sequences such as `1h30m`.
pub fn span(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut seconds = 0i64;
    while !rest.is_empty() || seconds == 0 {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let unit = rest[digits..].chars().next()?.to_ascii_lowercase();
        let (_, factor) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
        let count: i64 = rest[..digits].parse().ok()?;
        seconds = seconds.checked_add(count.checked_mul(factor)?)?;
        rest = &rest[digits + 1..];
        if rest.is_empty() {
            break;
        }
    }
    Some(seconds)
}

/// The shortest text that [`span`] parses to this number of seconds.
pub fn span_text(seconds: i64) -> String {
    let (unit, factor) = UNITS
        .into_iter()
        .find(|(_, factor)| seconds % factor == 0 && seconds != 0)
        .unwrap_or(('s', 1));
    format!("{}{unit}", seconds / factor)
}

/// A point in time to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// Seconds ago, or seconds left.
    Span(i64),
    /// A day, by UTC.
    Day(Date),
    /// A second.
    At(Stamp),
}

impl When {
    /// Parses `2d`, `2026-10-01` or `2026-10-01T12:00:00Z` (also with a space; UTC without a zone).
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(seconds) = span(text) {
            return Some(Self::Span(seconds));
        }
        if text.len() == 10
            && text.starts_with(|letter: char| letter.is_ascii_digit())
            && let Ok(day) = Date::strptime("%Y-%m-%d", text)
        {
            return Some(Self::Day(day));
        }
        let at = Stamp::parse(text)?;
        jiff::Timestamp::from_second(at.as_second())
            .ok()
            .map(|second| Self::At(Stamp(second)))
    }

    /// First and last second; `None` for a duration.
    pub fn seconds(self) -> Option<(i64, i64)> {
        match self {
            Self::Span(_) => None,
            Self::Day(day) => {
                let start = day.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second();
                Some((start, start + 86_399))
            }
            Self::At(at) => Some((at.as_second(), at.as_second())),
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Span(seconds) => f.write_str(&span_text(*seconds)),
            Self::Day(day) => write!(f, "{day}"),
            Self::At(at) => write!(f, "{}", at.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_parse_and_print_in_largest_unit() {
        assert_eq!(
            [span("2d"), span("1h30m"), span("0s")],
            [Some(172_800), Some(5_400), Some(0)]
        );
        assert_eq!(
            [
                span(""),
                span("2"),
                span("d"),
                span("2x"),
                span("99999999999999999y")
            ],
            [None; 5]
        );
        assert_eq!(
            [span_text(172_800), span_text(5_400), span_text(0)],
            ["2d", "90m", "0s"]
        );
    }

    #[test]
    fn days_and_timestamps_parse() {
        let parsed = |text: &str| When::parse(text).map(|when| when.to_string());
        assert_eq!(parsed("2026-10-01").as_deref(), Some("2026-10-01"));
        assert_eq!(
            parsed("2026-10-01 12:00:00").as_deref(),
            Some("2026-10-01T12:00:00Z")
        );
        assert_eq!(
            parsed("2026-10-01T12:00:00.5+02:00").as_deref(),
            Some("2026-10-01T10:00:00Z")
        );
        assert_eq!([parsed("2026-13-01"), parsed("soon")], [None, None]);
    }

    #[test]
    fn globs_match_whole_text_and_plain_text_matches_within() {
        let texts = |text: &str| vec![text.to_owned()];
        assert!(Matcher::like(&texts("shop*"), true).matches("SHOP.acme.test"));
        assert!(!Matcher::like(&texts("acme*"), true).matches("shop.acme.test"));
        assert!(Matcher::like(&texts("acme"), true).matches("shop.acme.test"));
        assert!(!Matcher::like(&texts("acme"), false).matches("shop.acme.test"));
        assert!(!Matcher::like(&texts("a.c"), false).matches("abc"));
        assert!(
            Matcher::equal(&texts("a*")).matches("A*")
                && !Matcher::equal(&texts("a*")).matches("ab")
        );
    }

    proptest::proptest! {
        #[test]
        fn fast_match_agrees_with_regex(
            glob in "[aB*?.]{0,6}", text in "[AbB.\\n]{0,8}", within in proptest::prelude::any::<bool>(),
        ) {
            for matcher in [Matcher::like(std::slice::from_ref(&glob), within), Matcher::equal(std::slice::from_ref(&glob))] {
                let regex = matcher.regex().unwrap().is_match(&text);
                proptest::prop_assert_eq!(matcher.matches(&text), regex, "{} {:?}", glob, text);
            }
        }
    }
}
