//! A query as a tree, and its canonical text.

use std::fmt;

use super::field::ME;
use super::lex::{self, Compare};
use super::value::{Expression, When, span_text};
use super::{Field, Flag};
use crate::query::ValueKind;
use scandeck_wire::contract::Risk;

/// A query or a part of it. [`Expr::all`], [`Expr::any`] and [`Expr::opposite`] keep the canonical
/// form: no group of one, no group of the same kind within another, no double negation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// Every part holds; without parts it always does.
    All(Vec<Expr>),
    /// At least one part holds.
    Any(Vec<Expr>),
    /// The part does not hold.
    Not(Box<Expr>),
    Clause(Clause),
}

impl Expr {
    /// A conjunction in canonical form.
    pub fn all(parts: Vec<Expr>) -> Self {
        Self::group(parts, Self::All, |part| match part {
            Self::All(inner) => Ok(inner),
            other => Err(other),
        })
    }

    /// A disjunction in canonical form.
    pub fn any(parts: Vec<Expr>) -> Self {
        Self::group(parts, Self::Any, |part| match part {
            Self::Any(inner) => Ok(inner),
            other => Err(other),
        })
    }

    fn group(
        parts: Vec<Expr>,
        make: fn(Vec<Expr>) -> Self,
        open: fn(Expr) -> Result<Vec<Expr>, Expr>,
    ) -> Self {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match open(part) {
                Ok(inner) => flat.extend(inner),
                Err(other) => flat.push(other),
            }
        }
        match flat.len() {
            1 => flat.remove(0),
            _ => make(flat),
        }
    }

    /// A negation in canonical form.
    pub fn opposite(part: Expr) -> Self {
        match part {
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    pub fn clauses(&self) -> Vec<&Clause> {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::clauses).collect(),
            Self::Not(inner) => inner.clauses(),
            Self::Clause(clause) => vec![clause],
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |f: &mut fmt::Formatter<'_>, parts: &[Expr], between: &str| {
            for (at, part) in parts.iter().enumerate() {
                f.write_str(if at == 0 { "" } else { between })?;
                match part {
                    Self::Any(_) => write!(f, "({part})")?,
                    other => write!(f, "{other}")?,
                }
            }
            Ok(())
        };
        match self {
            Self::All(parts) => joined(f, parts, " "),
            Self::Any(parts) => joined(f, parts, " or "),
            Self::Not(inner) if matches!(**inner, Self::Clause(_)) => write!(f, "-{inner}"),
            Self::Not(inner) => write!(f, "-({inner})"),
            Self::Clause(clause) => clause.fmt(f),
        }
    }
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The tested field.
    pub field: Field,
    pub test: ClauseTest,
}

/// The test of a clause. A field with several values matches if one of them does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClauseTest {
    /// `field:*`, it has a value.
    Some,
    /// `field:""`, it has none.
    None,
    /// `field:text,text`, like one of these; in [`Field::Text`], has one of them.
    Like(Vec<String>),
    /// `field=text,text`, one of these.
    Equal(Vec<String>),
    /// `field:~"…"`
    Found(Expression),
    /// Compared with numbers; of several, one must hold.
    Number(Compare, Vec<Number>),
    /// Compared with a point in time.
    Time(Compare, When),
    /// One of these flags.
    Flags(Vec<Flag>),
}

/// A finite number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(f64);

impl Eq for Number {}

impl Number {
    /// `None` if the number is not finite.
    pub fn new(number: f64) -> Option<Self> {
        // Adding zero turns -0 into 0 for printing.
        number.is_finite().then_some(Self(number + 0.0))
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl Clause {
    /// True if it tests a time against the present, such as `time<1h`: its matches change without
    /// new data.
    pub fn depends_on_now(&self) -> bool {
        matches!(self.test, ClauseTest::Time(_, When::Span(_)))
    }

    fn numbers(&self, numbers: &[Number]) -> Vec<String> {
        let one = |number: &Number| match self.field.spec().values {
            ValueKind::Risk => Risk::from(number.0 as i64).to_string(),
            ValueKind::Span => span_text(number.0 as i64),
            _ => number.0.to_string(),
        };
        numbers.iter().map(one).collect()
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.field.spec().name;
        let values = |texts: &[String]| {
            texts
                .iter()
                .map(|text| match self.field.names_people() && text == ME {
                    true => lex::quote(text),
                    false => lex::value(text),
                })
                .collect::<Vec<_>>()
                .join(",")
        };
        match &self.test {
            ClauseTest::Like(texts) if self.field == Field::Text && texts.len() == 1 => {
                f.write_str(&lex::word(&texts[0]))
            }
            ClauseTest::Some => write!(f, "{name}:*"),
            ClauseTest::None => write!(f, "{name}:\"\""),
            ClauseTest::Like(texts) => write!(f, "{name}:{}", values(texts)),
            ClauseTest::Equal(texts) => write!(f, "{name}={}", values(texts)),
            ClauseTest::Found(expression) => {
                write!(f, "{name}:~{}", lex::quote(expression.as_str()))
            }
            ClauseTest::Number(compare, numbers) => {
                write!(
                    f,
                    "{name}{}{}",
                    compare.as_str(),
                    self.numbers(numbers).join(",")
                )
            }
            ClauseTest::Time(compare, when) => write!(f, "{name}{}{when}", compare.as_str()),
            ClauseTest::Flags(flags) => {
                let names: Vec<_> = flags.iter().map(|flag| flag.spec().name).collect();
                write!(f, "{name}:{}", names.join(","))
            }
        }
    }
}
