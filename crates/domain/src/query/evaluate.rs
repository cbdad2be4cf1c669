//! Evaluation of queries.
//!
//! Each clause scans one column; row sets are combined one machine word at a time.

use std::collections::HashMap;

use super::column::{Column, Values};
use super::lex::Compare;
use super::source::{RowSource, column_of};
use super::value::{Matcher, When};
use super::{Clause, ClauseTest, Expr, Field, Flag, Query, RowSet};
use crate::query::ValueKind;
use scandeck_wire::text::search_form;

impl Query {
    /// The matching rows.
    pub fn matches(&self, source: &dyn RowSource) -> RowSet {
        Evaluator::default().matches(self, source)
    }
}

/// Evaluates queries over one list at one time. The rows of each clause are computed once, for all
/// queries that have it.
#[derive(Clone, Debug, Default)]
pub struct Evaluator {
    rows: HashMap<String, RowSet>,
    /// Columns that the list does not provide.
    columns: HashMap<Field, Column>,
}

impl Evaluator {
    /// The rows that match a query.
    pub fn matches(&mut self, query: &Query, source: &dyn RowSource) -> RowSet {
        let mut rows = self.rows(query.root(), source);
        let parts = query
            .root()
            .clauses()
            .into_iter()
            .filter_map(|clause| source.searched(clause));
        parts.for_each(|part| rows.and(&part.searched));
        rows
    }

    /// The rows that match a part of a query.
    pub fn rows(&mut self, expr: &Expr, source: &dyn RowSource) -> RowSet {
        match expr {
            Expr::All(parts) => {
                let mut all = RowSet::all(source.len());
                parts
                    .iter()
                    .for_each(|part| all.and(&self.rows(part, source)));
                all
            }
            Expr::Any(parts) => {
                let mut any = RowSet::none(source.len());
                parts
                    .iter()
                    .for_each(|part| any.or(&self.rows(part, source)));
                any
            }
            Expr::Not(inner) => {
                let mut rows = self.rows(inner, source);
                rows.invert();
                rows
            }
            Expr::Clause(clause) => self.clause(clause, source),
        }
    }

    fn clause(&mut self, clause: &Clause, source: &dyn RowSource) -> RowSet {
        if let Some(part) = source.searched(clause) {
            return part.found;
        }
        let text = clause.to_string();
        if let Some(rows) = self.rows.get(&text) {
            return rows.clone();
        }
        let rows = self.take(clause, source);
        self.rows.insert(text, rows.clone());
        rows
    }

    /// The column of a field: provided by the list, otherwise built and cached.
    pub fn column<'a>(&'a mut self, field: Field, source: &'a dyn RowSource) -> &'a Column {
        match source.ready(field) {
            Some(column) => column,
            None => self
                .columns
                .entry(field)
                .or_insert_with(|| column_of(field, source).finish()),
        }
    }

    /// The rows that match a clause.
    fn take(&mut self, clause: &Clause, source: &dyn RowSource) -> RowSet {
        match &clause.test {
            ClauseTest::Like(texts) if matches!(clause.field.spec().values, ValueKind::Search) => {
                let mut any = RowSet::none(source.len());
                texts
                    .iter()
                    .for_each(|text| any.or(&source.with_text(&search_form(text))));
                any
            }
            ClauseTest::Flags(flags) => self.match_flags(flags, source),
            test => match_values(
                clause.field,
                test,
                self.column(clause.field, source),
                source.now(),
            ),
        }
    }

    fn match_flags(&mut self, flags: &[Flag], source: &dyn RowSource) -> RowSet {
        let mut any = RowSet::none(source.len());
        let (of_decision, of_rows): (Vec<&Flag>, Vec<&Flag>) =
            flags.iter().partition(|flag| flag.is_of_decision());
        for (field, flags) in [(Field::Decision, of_decision), (Field::Is, of_rows)] {
            let expected = flags.iter().fold(0, |bits, flag| bits | flag.bit());
            if expected != 0
                && let Column {
                    values: Values::Flags(flags),
                    cells,
                } = self.column(field, source)
            {
                any.or(&cells.having(
                    &flags
                        .iter()
                        .map(|flags| flags & expected != 0)
                        .collect::<Vec<_>>(),
                ));
            }
        }
        any
    }
}

fn match_values(field: Field, test: &ClauseTest, column: &Column, now: i64) -> RowSet {
    let matching: Vec<bool> = match &column.values {
        Values::Texts(texts) => texts.iter().map(text_test(field, test)).collect(),
        Values::Numbers(numbers) => numbers
            .iter()
            .copied()
            .map(number_test(field, test, now))
            .collect(),
        Values::Flags(_) => return RowSet::none(column.cells.rows()),
    };
    let mut rows = column.cells.having(&matching);
    if matches!(test, ClauseTest::None) {
        rows.invert();
    }
    rows
}

fn text_test(field: Field, test: &ClauseTest) -> Box<dyn Fn(&str) -> bool> {
    let within = matches!(field.spec().values, ValueKind::Prose);
    let matcher = |matcher: Matcher| Box::new(move |text: &str| matcher.matches(text));
    match test {
        ClauseTest::Like(texts) => matcher(Matcher::like(&normal(field, texts), within)),
        ClauseTest::Equal(texts) => matcher(Matcher::equal(&normal(field, texts))),
        ClauseTest::Found(expression) => {
            let expression = expression.clone();
            Box::new(move |text| expression.finds(text))
        }
        _ => Box::new(|_| true),
    }
}

/// `cwe:79` means `CWE-79`.
fn normal(field: Field, texts: &[String]) -> Vec<String> {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let one = |text: &String| {
        if number(text) {
            format!("CWE-{text}")
        } else {
            text.clone()
        }
    };
    if field == Field::Cwe {
        texts.iter().map(one).collect()
    } else {
        texts.to_vec()
    }
}

/// Whether a number passes; every one does if only its presence counts.
fn number_test<'a>(field: Field, test: &'a ClauseTest, now: i64) -> Box<dyn Fn(f64) -> bool + 'a> {
    match test {
        ClauseTest::Some | ClauseTest::None => Box::new(|_| true),
        ClauseTest::Number(compare, numbers) => match numbers.as_slice() {
            [one] => {
                let (compare, expected) = (*compare, one.get());
                Box::new(move |number| holds(number, compare, (expected, expected)))
            }
            several => Box::new(|number| several.iter().any(|expected| number == expected.get())),
        },
        ClauseTest::Time(compare, when) => time_test(field, *compare, *when, now),
        _ => Box::new(|_| false),
    }
}

/// Compares with a range: less is before its start, at most is up to its end.
fn holds(value: f64, compare: Compare, (first, last): (f64, f64)) -> bool {
    match compare {
        Compare::Less => value < first,
        Compare::AtMost => value <= last,
        Compare::More => value > last,
        Compare::AtLeast => value >= first,
        _ => first <= value && value <= last,
    }
}

fn time_test(field: Field, compare: Compare, when: When, now: i64) -> Box<dyn Fn(f64) -> bool> {
    let now = now as f64;
    match (when, when.seconds()) {
        (When::Span(span), _) => {
            let (span, ahead) = (
                span as f64,
                matches!(field.spec().values, ValueKind::Deadline),
            );
            let distance = move |time: f64| if ahead { time - now } else { now - time };
            Box::new(move |time| holds(distance(time), compare, (span, span)))
        }
        (_, Some((first, last))) => {
            Box::new(move |time| holds(time, compare, (first as f64, last as f64)))
        }
        // A day out of range.
        (_, None) => Box::new(|_| false),
    }
}
