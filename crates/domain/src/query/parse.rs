//! Parser: tokens to a query.
//!
//! ```text
//!   either  = both ("or" both)*
//!   both    = part (["and"] part)*
//!   part    = ("-" | "not") part | "(" either ")" | clause | word
//! ```

use std::ops::Range;

use super::error::{did_you_mean, nearest};
use super::expr::Number;
use super::field::{ME, ValueKind};
use super::lex::{Compare, LexToken, Placed, Word, is_keyword, lex};
use super::own_name::put_own_name;
use super::value::{Expression, When, span};
use super::{Clause, ClauseTest, Expr, Field, Flag, ParseError, QueryKind, flag};
use scandeck_wire::contract::Risk;

/// Maximum length in bytes.
pub const LONGEST: usize = 4_096;
/// Maximum nesting depth of parentheses and negations.
pub const DEEPEST: usize = 40;

/// Parses a query of the user with this name.
///
/// # Errors
/// The first error.
pub fn parse(text: &str, kind: QueryKind, own_name: &str) -> Result<Expr, ParseError> {
    if text.len() > LONGEST {
        return Err(ParseError::new(
            text.len()..text.len(),
            format!("query is longer than {LONGEST} bytes"),
        ));
    }
    let mut tokens = lex(text)?;
    put_own_name(&mut tokens, kind, own_name);
    let mut parser = Parser {
        tokens,
        at: 0,
        kind,
        end: text.len(),
        depth: 0,
    };
    if parser.tokens.is_empty() {
        return Ok(Expr::all(Vec::new()));
    }
    let whole = parser.either()?;
    match parser.peek() {
        None => Ok(whole),
        Some((_, at)) => Err(ParseError::new(at.clone(), "unmatched `)`")),
    }
}

struct Parser {
    tokens: Vec<Placed>,
    at: usize,
    kind: QueryKind,
    end: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Placed> {
        self.tokens.get(self.at)
    }

    /// Consumes the next token if it is this keyword.
    fn keyword(&mut self, keyword: &str) -> bool {
        let is = matches!(self.peek(), Some((LexToken::Word(word), _))
            if !word.quoted && is_keyword(&word.text) && word.text.eq_ignore_ascii_case(keyword));
        self.at += usize::from(is);
        is
    }

    fn either(&mut self) -> Result<Expr, ParseError> {
        let mut parts = vec![self.both()?];
        while self.keyword("or") {
            parts.push(self.both()?);
        }
        Ok(Expr::any(parts))
    }

    fn both(&mut self) -> Result<Expr, ParseError> {
        let mut parts = vec![self.part()?];
        loop {
            let joined = self.keyword("and");
            let ends = match self.peek() {
                None | Some((LexToken::Close, _)) => true,
                Some((LexToken::Word(word), _)) => {
                    !word.quoted && word.text.eq_ignore_ascii_case("or") && is_keyword(&word.text)
                }
                Some(_) => false,
            };
            if ends && !joined {
                return Ok(Expr::all(parts));
            }
            parts.push(self.part()?);
        }
    }

    fn part(&mut self) -> Result<Expr, ParseError> {
        self.depth += 1;
        let part = if self.depth > DEEPEST {
            let at = self.peek().map_or(self.end..self.end, |(_, at)| at.clone());
            Err(ParseError::new(
                at,
                format!("more than {DEEPEST} nested groups"),
            ))
        } else if self.keyword("not") {
            self.part().map(Expr::opposite)
        } else {
            self.simple_part()
        };
        self.depth -= 1;
        part
    }

    fn simple_part(&mut self) -> Result<Expr, ParseError> {
        let Some((token, at)) = self.peek().cloned() else {
            let after = self.tokens.last().map_or(0, |(_, at)| at.end);
            return Err(ParseError::new(
                after..self.end.max(after),
                "a word or field is missing at the end",
            ));
        };
        self.at += 1;
        match token {
            LexToken::Minus => self.part().map(Expr::opposite),
            LexToken::Open => self.group(at),
            LexToken::Close => Err(ParseError::new(at, "a word or field is missing before `)`")),
            LexToken::Word(word) if !word.quoted && is_keyword(&word.text) => Err(ParseError::new(
                at,
                format!("a word or field is missing before `{}`", word.text),
            )
            .with_hint(format!("\"{}\" searches for the word", word.text))),
            LexToken::Word(word) if word.text.is_empty() => {
                Err(ParseError::new(at, "the quotes are empty"))
            }
            LexToken::Word(word) => Ok(Expr::Clause(Clause {
                field: Field::Text,
                test: ClauseTest::Like(vec![word.text]),
            })),
            LexToken::Clause {
                field,
                compare,
                values,
            } => self.clause(&field, compare, &values, at),
        }
    }

    fn group(&mut self, open: Range<usize>) -> Result<Expr, ParseError> {
        let inner = self.either()?;
        match self.peek() {
            Some((LexToken::Close, _)) => {
                self.at += 1;
                Ok(inner)
            }
            _ => Err(ParseError::new(open, "unclosed `(`")),
        }
    }

    fn clause(
        &self,
        name: &Word,
        compare: Compare,
        values: &[Word],
        at: Range<usize>,
    ) -> Result<Expr, ParseError> {
        let Some(field) = Field::named(&name.text, self.kind) else {
            return Err(self.unknown_field(name, at));
        };
        if let Some(empty) = values
            .iter()
            .find(|value| value.text.is_empty() && !value.quoted)
        {
            return Err(missing_value(empty, compare));
        }
        let negated = compare == Compare::Unequal;
        let compare = if negated { Compare::Equal } else { compare };
        let test = Meaning {
            field,
            kind: self.kind,
            compare,
            values,
            at,
        }
        .read()?;
        let clause = Expr::Clause(Clause { field, test });
        Ok(if negated {
            Expr::opposite(clause)
        } else {
            clause
        })
    }

    fn unknown_field(&self, name: &Word, at: Range<usize>) -> ParseError {
        let names =
            Field::of(self.kind).flat_map(|spec| spec.aliases.iter().copied().chain([spec.name]));
        let elsewhere = QueryKind::ALL
            .into_iter()
            .any(|kind| Field::named(&name.text, kind).is_some());
        let message = match elsewhere {
            true => format!("{} have no field `{}`", self.kind.title(), name.text),
            false => format!("unknown field `{}`", name.text),
        };
        let error = ParseError::new(name.at.clone(), message);
        match nearest(&name.text, names) {
            Some(known) => error.with_hint(did_you_mean(known)),
            None if at.len() > name.at.len() => error.with_hint("quote it to search for text"),
            None => error,
        }
    }
}

fn missing_value(empty: &Word, compare: Compare) -> ParseError {
    let missing = ParseError::new(empty.at.clone(), "value is missing");
    match compare {
        Compare::Less | Compare::AtMost | Compare::More | Compare::AtLeast | Compare::Found => {
            missing
        }
        Compare::Like | Compare::Equal | Compare::Unequal => {
            missing.with_hint("`*` matches any value, `\"\"` no value")
        }
    }
}

/// The values of one clause, parsed according to its field.
struct Meaning<'a> {
    field: Field,
    kind: QueryKind,
    compare: Compare,
    values: &'a [Word],
    at: Range<usize>,
}

impl Meaning<'_> {
    fn read(&self) -> Result<ClauseTest, ParseError> {
        let mut values = self.values.iter();
        if self.field.names_people()
            && let Some(value) = values.find(|value| !value.quoted && value.text == ME)
        {
            let error = ParseError::new(value.at.clone(), "queries do not know who you are");
            return Err(error.with_hint("write the name; `\"me\"` finds a person of this name"));
        }
        if let [only] = self.values
            && matches!(self.compare, Compare::Like | Compare::Equal)
            && !matches!(
                self.field.spec().values,
                ValueKind::Search | ValueKind::Flags
            )
        {
            let is_none = !only.quoted
                && only.text.eq_ignore_ascii_case("none")
                && matches!(self.field, Field::Assignee | Field::Due);
            if is_none || (only.quoted && only.text.is_empty()) {
                return Ok(ClauseTest::None);
            }
            if only.text == "*" && self.compare == Compare::Like {
                return Ok(ClauseTest::Some);
            }
        }
        match self.field.spec().values {
            ValueKind::Search => self.search(),
            ValueKind::Flags => self.flags(),
            ValueKind::Prose | ValueKind::Word => self.texts(),
            ValueKind::Choice(known) => self.choice(&known()),
            ValueKind::Number => self.numbers("number", "use digits", |text| text.parse().ok()),
            ValueKind::Risk => {
                self.numbers("risk", "use info, low, medium, high or critical", risk)
            }
            ValueKind::Span => {
                self.numbers("duration", "use a value such as 90s, 10m or 2h", seconds)
            }
            ValueKind::Time | ValueKind::Deadline => self.time(),
        }
    }

    fn name(&self) -> &'static str {
        self.field.spec().name
    }

    fn refuse(&self, why: &str) -> ParseError {
        ParseError::new(self.at.clone(), format!("`{}` {why}", self.name()))
    }

    fn searched(&self) -> Result<Vec<String>, ParseError> {
        let empty = self.values.iter().find(|value| value.text.is_empty());
        match empty {
            Some(value) => Err(ParseError::new(value.at.clone(), "the quotes are empty")),
            None => Ok(self.values.iter().map(|value| value.text.clone()).collect()),
        }
    }

    fn search(&self) -> Result<ClauseTest, ParseError> {
        match self.compare {
            Compare::Like => self.searched().map(ClauseTest::Like),
            _ => Err(self.refuse("accepts `:` only")),
        }
    }

    fn flags(&self) -> Result<ClauseTest, ParseError> {
        if !matches!(self.compare, Compare::Like | Compare::Equal) {
            return Err(self
                .refuse("accepts `:` only")
                .with_hint("-is:FLAG negates"));
        }
        let one = |value: &Word| {
            Flag::named(&value.text, self.kind).ok_or_else(|| {
                let names = || Flag::of(self.kind).map(|spec: &flag::FlagSpec| spec.name);
                let error =
                    ParseError::new(value.at.clone(), format!("unknown flag `{}`", value.text));
                // `is:confirmed` is the verdict, not the nearest flag.
                match self.field_with_choice(&value.text) {
                    Some(field) => error.with_hint(did_you_mean(&field)),
                    None => choose(error, nearest(&value.text, names()), names().collect()),
                }
            })
        };
        self.values
            .iter()
            .map(one)
            .collect::<Result<_, _>>()
            .map(ClauseTest::Flags)
    }

    /// `verdict:fixed` for `fixed`: another field of the list that has this choice.
    fn field_with_choice(&self, name: &str) -> Option<String> {
        Field::of(self.kind).find_map(|spec| {
            let ValueKind::Choice(known) = spec.values else {
                return None;
            };
            let choice = known()
                .into_iter()
                .find(|names| names.iter().any(|known| known.eq_ignore_ascii_case(name)))?;
            Some(format!("{}:{}", spec.name, choice[0]))
        })
    }

    fn texts(&self) -> Result<ClauseTest, ParseError> {
        match self.compare {
            Compare::Like => Ok(ClauseTest::Like(self.searched()?)),
            Compare::Equal => Ok(ClauseTest::Equal(self.searched()?)),
            Compare::Found => self.found(),
            _ => Err(self
                .refuse("is text and has no order")
                .with_hint("use : or =")),
        }
    }

    fn found(&self) -> Result<ClauseTest, ParseError> {
        let Some(value) = self.values.first() else {
            return Err(self.refuse("has no value"));
        };
        Expression::parse(&value.text)
            .map(ClauseTest::Found)
            .map_err(|why| {
                ParseError::new(
                    value.at.clone(),
                    format!("invalid regular expression: {why}"),
                )
            })
    }

    /// Choices: each name is converted to its canonical form, an unknown name is an error.
    fn choice(&self, known: &[[&'static str; 2]]) -> Result<ClauseTest, ParseError> {
        let mut test = self.texts()?;
        if let ClauseTest::Like(texts) | ClauseTest::Equal(texts) = &mut test {
            for (text, value) in texts.iter_mut().zip(self.values) {
                let same = |name: &str| {
                    name.eq_ignore_ascii_case(text)
                        || name.replace(' ', "_").eq_ignore_ascii_case(text)
                };
                let exact = known
                    .iter()
                    .find(|names| names.iter().any(|name| same(name)));
                let glob = || super::value::Matcher::like(std::slice::from_ref(text), false);
                match exact {
                    Some(names) => *text = names[0].to_owned(),
                    None if text.contains(['*', '?'])
                        && known.iter().any(|names| glob().matches(names[0])) => {}
                    None => return Err(self.no_choice(value, known)),
                }
            }
        }
        Ok(test)
    }

    fn no_choice(&self, value: &Word, known: &[[&'static str; 2]]) -> ParseError {
        let names = || known.iter().map(|names| names[0]);
        let error = ParseError::new(
            value.at.clone(),
            format!("unknown {} `{}`", self.name(), value.text),
        );
        choose(error, nearest(&value.text, names()), names().collect())
    }

    fn numbers(
        &self,
        what: &str,
        hint: &str,
        read: impl Fn(&str) -> Option<f64>,
    ) -> Result<ClauseTest, ParseError> {
        if self.compare == Compare::Found {
            return Err(self.refuse("is not text: `:~` does not apply"));
        }
        let one = |value: &Word| {
            let invalid = || {
                ParseError::new(value.at.clone(), format!("invalid {what} `{}`", value.text))
                    .with_hint(hint)
            };
            read(&value.text).and_then(Number::new).ok_or_else(invalid)
        };
        let numbers: Vec<Number> = self.values.iter().map(one).collect::<Result<_, _>>()?;
        match (self.compare, numbers.len()) {
            (compare, 2..) if compare.orders() => Err(self.refuse("accepts one value with < or >")),
            (Compare::Equal, _) => Ok(ClauseTest::Number(Compare::Like, numbers)),
            (compare, _) => Ok(ClauseTest::Number(compare, numbers)),
        }
    }

    fn time(&self) -> Result<ClauseTest, ParseError> {
        let compare = match self.compare {
            Compare::Found => return Err(self.refuse("is not text: `:~` does not apply")),
            Compare::Equal => Compare::Like,
            other => other,
        };
        let [value] = self.values else {
            return Err(self.refuse("accepts one value"));
        };
        let when = When::parse(&value.text).ok_or_else(|| {
            ParseError::new(value.at.clone(), format!("invalid time `{}`", value.text))
                .with_hint("use 2d, 12h, 1w or 2026-10-01")
        })?;
        if matches!(when, When::Span(_)) && !compare.orders() {
            return Err(self
                .refuse("needs < or > with a duration")
                .with_hint(format!("for example {}<{}", self.name(), value.text)));
        }
        Ok(ClauseTest::Time(compare, when))
    }
}

/// Adds the nearest name as a hint, or all names if they are few.
fn choose(error: ParseError, near: Option<&str>, names: Vec<&str>) -> ParseError {
    match near {
        Some(name) => error.with_hint(did_you_mean(name)),
        None if names.len() <= 8 => error.with_hint(format!("use one of {}", names.join(", "))),
        None => error.with_hint(format!(
            "use {} or one of {} more",
            names[..6].join(", "),
            names.len() - 6
        )),
    }
}

/// A risk by name, prefix or level.
fn risk(text: &str) -> Option<f64> {
    let text = text.to_ascii_lowercase();
    let named = Risk::DOWN
        .into_iter()
        .find(|risk| !text.is_empty() && risk.as_str().starts_with(&text));
    let level = || {
        text.parse::<i64>()
            .ok()
            .filter(|level| (0..=4).contains(level))
            .map(Risk::from)
    };
    named.or_else(level).map(|risk| risk.level() as f64)
}

fn seconds(text: &str) -> Option<f64> {
    span(text)
        .or_else(|| text.parse().ok().filter(|seconds: &i64| *seconds >= 0))
        .map(|seconds| seconds as f64)
}
