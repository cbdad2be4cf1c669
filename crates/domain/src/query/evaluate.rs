//! Evaluation of queries.
//!
//! Each clause scans one column; row sets are combined one machine word at a time. [`Evaluator`]
//! caches the set of each clause, so a typed key evaluates only the clause it changes.

use std::collections::HashMap;

use super::column::{Column, ColumnBuilder, Values};
use super::lex::Compare;
use super::source::{RowSource, column_of};
use super::value::{Matcher, When};
use super::{Clause, ClauseTest, Expr, Field, Flag, Query, RowSet};
use crate::query::ValueKind;
use scandeck_wire::text::search_form;

/// Maximum number of cached clauses.
const MOST_CACHED: usize = 64;

impl Query {
    /// The matching rows.
    pub fn matches(&self, source: &dyn RowSource) -> RowSet {
        Evaluator::default().matches(self, source)
    }
}

/// Evaluates queries over one list and caches the rows of each clause until the list or the
/// decisions change.
#[derive(Clone, Debug, Default)]
pub struct Evaluator {
    cached: HashMap<String, CachedRows>,
    /// Columns that the list does not provide.
    columns: HashMap<Field, ColumnBuilder>,
}

#[derive(Clone, Debug)]
struct CachedRows {
    rows: RowSet,
    field: Field,
    /// Valid in this second only.
    at: Option<i64>,
}

impl Evaluator {
    /// Drops all caches, because the list changed.
    pub fn forget(&mut self) {
        self.cached.clear();
        self.columns.clear();
    }

    /// Drops caches of some fields.
    pub fn forget_fields(&mut self, is_stale: impl Fn(Field) -> bool) {
        self.cached.retain(|_, cached| !is_stale(cached.field));
        self.columns.retain(|field, _| !is_stale(*field));
    }

    /// Adds columns built elsewhere.
    pub fn add_columns(&mut self, made: impl IntoIterator<Item = (Field, ColumnBuilder)>) {
        self.columns.extend(made);
    }

    /// Rewrites changed rows in the columns of changed fields.
    pub fn update_rows(
        &mut self,
        rows: &[usize],
        changed: impl Fn(Field) -> bool,
        source: &dyn RowSource,
    ) {
        self.cached.retain(|_, cached| !changed(cached.field));
        self.columns.retain(|field, builder| {
            let again = |&row: &usize| {
                source.write_field(row, *field, builder);
                builder.end_again(row)
            };
            !changed(*field) || rows.iter().all(again)
        });
    }

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
        let cached = self
            .cached
            .get(&text)
            .filter(|cached| cached.at.is_none_or(|at| at == source.now()));
        if let Some(cached) = cached.filter(|cached| cached.rows.len() == source.len()) {
            return cached.rows.clone();
        }
        let rows = self.take(clause, source);
        if self.cached.len() >= MOST_CACHED {
            self.cached.clear();
        }
        let at = clause.depends_on_now().then(|| source.now());
        // Flags come from two columns; the decision column may change.
        let of_decision = |flags: &Vec<Flag>| flags.iter().any(|flag| flag.is_of_decision());
        let field = match &clause.test {
            ClauseTest::Flags(flags) if of_decision(flags) => Field::Decision,
            _ => clause.field,
        };
        self.cached.insert(
            text,
            CachedRows {
                rows: rows.clone(),
                field,
                at,
            },
        );
        rows
    }

    /// The column of a field: added or cached, provided by the list, otherwise built and cached.
    pub fn column<'a>(&'a mut self, field: Field, source: &'a dyn RowSource) -> &'a Column {
        match source.ready(field).filter(|_| !self.has_column(field)) {
            Some(column) => column,
            None => self
                .columns
                .entry(field)
                .or_insert_with(|| column_of(field, source))
                .column(),
        }
    }

    /// Whether the column of a field was added, or built before.
    pub fn has_column(&self, field: Field) -> bool {
        self.columns.contains_key(&field)
    }

    /// The columns that the list does not provide.
    pub fn into_columns(self) -> impl Iterator<Item = (Field, ColumnBuilder)> {
        self.columns.into_iter()
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
