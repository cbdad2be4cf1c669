//! What clauses compare with: texts with `*` and `?`, regular expressions, lengths and points of time.

use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use regex::{Regex, RegexBuilder};

use crate::contract::Stamp;

/// A compiled expression takes at most this many bytes.
const EXPRESSION_BYTES: usize = 1 << 20;

/// A regular expression, equal to others of the same text. Case does not count unless `(?-i)` says so.
#[derive(Clone, Debug)]
pub struct Expression(Regex);

impl Expression {
    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with it, in a few words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let built = RegexBuilder::new(text).case_insensitive(true).size_limit(EXPRESSION_BYTES).build();
        built.map(Self).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            other => {
                let told = other.to_string();
                told.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
            }
        })
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether a text has it.
    pub fn finds(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Expression {}

/// Longer texts are left to the regular expression: it finds its way in them faster.
const SHORT: usize = 256;

/// Several texts to compare with, made ready: one that any of them takes is taken. Case does not count.
#[derive(Debug)]
pub struct Matcher {
    regex: Option<Regex>,
    /// The same for short ASCII texts, of which a column has many thousands.
    plain: Option<Vec<Plain>>,
}

/// What is compared byte by byte.
#[derive(Debug)]
enum Plain {
    Whole(String),
    Glob(String),
}

impl Matcher {
    /// `*` stands for any letters, `?` for one. A text without them takes whatever has it, where `within` says so.
    pub fn like(texts: &[String], within: bool) -> Self {
        let one = |text: &String| {
            if within && !text.contains(['*', '?']) {
                return regex::escape(text);
            }
            format!("^(?:{})$", regex::escape(text).replace(r"\*", ".*").replace(r"\?", "."))
        };
        let plain = |text: &String| match text.contains(['*', '?']) {
            true => Some(Plain::Glob(text.clone())),
            false => (!within).then(|| Plain::Whole(text.clone())),
        };
        Self::build(texts.iter().map(one), texts, plain)
    }

    /// Takes the texts themselves.
    pub fn equal(texts: &[String]) -> Self {
        let one = |text: &String| format!("^(?:{})$", regex::escape(text));
        Self::build(texts.iter().map(one), texts, |text| Some(Plain::Whole(text.clone())))
    }

    /// The length of a query is limited, so this cannot become too large to build; if it did, it would take nothing.
    fn build(parts: impl Iterator<Item = String>, texts: &[String], plain: impl Fn(&String) -> Option<Plain>) -> Self {
        let whole = parts.collect::<Vec<_>>().join("|");
        let regex = RegexBuilder::new(&whole).case_insensitive(true).dot_matches_new_line(true).build().ok();
        let plain = texts.iter().map(|text| plain(text).filter(|_| text.is_ascii())).collect();
        Self { regex, plain }
    }

    /// Whether it takes a text.
    pub fn takes(&self, text: &str) -> bool {
        match &self.plain {
            Some(plain) if text.len() <= SHORT && text.is_ascii() => plain.iter().any(|one| one.takes(text)),
            _ => self.regex.as_ref().is_some_and(|regex| regex.is_match(text)),
        }
    }
}

impl Plain {
    fn takes(&self, text: &str) -> bool {
        match self {
            Self::Whole(whole) => whole.eq_ignore_ascii_case(text),
            Self::Glob(glob) => takes(glob.as_bytes(), text.as_bytes()),
        }
    }
}

/// `*` takes as little as it can; where that was too little, the last one takes a letter more.
fn takes(glob: &[u8], text: &[u8]) -> bool {
    let (mut at, mut letter, mut star) = (0, 0, None);
    while letter < text.len() {
        match (glob.get(at), star) {
            (Some(b'*'), _) => {
                at += 1;
                star = Some((at, letter));
            }
            (Some(wanted), _) if *wanted == b'?' || wanted.eq_ignore_ascii_case(&text[letter]) => {
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

const UNITS: [(char, i64); 6] =
    [('y', 365 * 86_400), ('w', 7 * 86_400), ('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// Seconds of `90s`, `5m`, `2h`, `3d`, `1w`, `1y`, and of several behind each other (`1h30m`).
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

/// The shortest form of a number of seconds that [`span`] reads.
pub fn span_text(seconds: i64) -> String {
    let (unit, factor) =
        UNITS.into_iter().find(|(_, factor)| seconds % factor == 0 && seconds != 0).unwrap_or(('s', 1));
    format!("{}{unit}", seconds / factor)
}

/// A point in time to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// So many seconds ago, or to go.
    Span(i64),
    /// A day, by UTC.
    Day(Date),
    /// A second.
    At(Stamp),
}

impl When {
    /// Reads `2d`, `2026-10-01` or `2026-10-01T12:00:00Z` (also with a space; UTC where no zone is given).
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
        jiff::Timestamp::from_second(at.as_second()).ok().map(|second| Self::At(Stamp(second)))
    }

    /// First and last second it stands for; nothing for a length of time.
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
    fn lengths_of_time_are_read_and_written_in_their_largest_unit() {
        assert_eq!([span("2d"), span("1h30m"), span("0s")], [Some(172_800), Some(5_400), Some(0)]);
        assert_eq!([span(""), span("2"), span("d"), span("2x"), span("99999999999999999y")], [None; 5]);
        assert_eq!([span_text(172_800), span_text(5_400), span_text(0)], ["2d", "90m", "0s"]);
    }

    #[test]
    fn days_and_seconds_are_told_apart() {
        let told = |text: &str| When::parse(text).map(|when| when.to_string());
        assert_eq!(told("2026-10-01").as_deref(), Some("2026-10-01"));
        assert_eq!(told("2026-10-01 12:00:00").as_deref(), Some("2026-10-01T12:00:00Z"));
        assert_eq!(told("2026-10-01T12:00:00.5+02:00").as_deref(), Some("2026-10-01T10:00:00Z"));
        assert_eq!([told("2026-13-01"), told("soon")], [None, None]);
    }

    #[test]
    fn globs_take_the_whole_text_and_plain_texts_what_has_them_where_that_is_enough() {
        let texts = |text: &str| vec![text.to_owned()];
        assert!(Matcher::like(&texts("shop*"), true).takes("SHOP.acme.test"));
        assert!(!Matcher::like(&texts("acme*"), true).takes("shop.acme.test"));
        assert!(Matcher::like(&texts("acme"), true).takes("shop.acme.test"));
        assert!(!Matcher::like(&texts("acme"), false).takes("shop.acme.test"));
        assert!(!Matcher::like(&texts("a.c"), false).takes("abc"));
        assert!(Matcher::equal(&texts("a*")).takes("A*") && !Matcher::equal(&texts("a*")).takes("ab"));
    }

    proptest::proptest! {
        #[test]
        fn short_texts_are_taken_as_the_regular_expression_takes_them(
            glob in "[aB*?.]{0,6}", text in "[AbB.\\n]{0,8}", within in proptest::prelude::any::<bool>(),
        ) {
            for matcher in [Matcher::like(std::slice::from_ref(&glob), within), Matcher::equal(std::slice::from_ref(&glob))] {
                let regex = matcher.regex.as_ref().unwrap().is_match(&text);
                proptest::prop_assert_eq!(matcher.takes(&text), regex, "{} {:?}", glob, text);
            }
        }
    }
}
