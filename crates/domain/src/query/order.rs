//! Sort keys: `risk,-age`.
//!
//! Each field has a default direction: risks, numbers and severities descending, times from the
//! newest, texts from A with their numbers by value. `-` reverses it.

use std::cmp::Ordering;
use std::fmt;

use super::column::{Column, Values};
use super::error::{did_you_mean, nearest};
use super::field::ValueKind;
use super::source::RowSource;
use super::{Evaluator, Field, ParseError, QueryKind};
use scandeck_wire::text::natural;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SortKey {
    pub field: Field,
    /// True if the default direction is reversed.
    pub reverse: bool,
}

impl SortKey {
    /// Parses sort keys, separated by commas.
    ///
    /// # Errors
    /// For unknown fields and fields without an order.
    pub fn parse_all(text: &str, kind: QueryKind) -> Result<Vec<Self>, ParseError> {
        let mut keys = Vec::new();
        let mut from = 0;
        for part in text.split(',') {
            let at = from..from + part.len();
            from = at.end + 1;
            let part = part.trim();
            let (reverse, name) = part
                .strip_prefix('-')
                .map_or((false, part), |name| (true, name));
            let names = || Field::of(kind).map(|spec| spec.name);
            let Some(field) = Field::named(name, kind) else {
                let error = ParseError::new(at, format!("unknown field `{name}`"));
                let hint = nearest(name, names()).map(did_you_mean);
                return Err(hint.map_or(error.clone(), |hint| error.with_hint(hint)));
            };
            if matches!(field.spec().values, ValueKind::Search | ValueKind::Flags) {
                return Err(ParseError::new(at, format!("cannot sort by `{name}`")));
            }
            keys.push(Self { field, reverse });
        }
        Ok(keys)
    }
}

impl fmt::Display for SortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{}",
            if self.reverse { "-" } else { "" },
            self.field.spec().name
        )
    }
}

/// Rows in the order of these keys; equal rows keep the order of the list, rows without a value
/// come last.
pub fn ordered(keys: &[SortKey], evaluator: &mut Evaluator, source: &dyn RowSource) -> Vec<u32> {
    let ranks: Vec<Vec<f64>> = keys
        .iter()
        .map(|key| {
            let mut ranks = ranks(evaluator.column(key.field, source), source.len());
            if key.reverse != !matches!(key.field.spec().values, ValueKind::Prose | ValueKind::Word)
            {
                ranks.iter_mut().for_each(|rank| *rank = -*rank);
            }
            ranks
        })
        .collect();
    let mut rows: Vec<u32> = (0..source.len() as u32).collect();
    let compare = |a: &u32, b: &u32| {
        let by = |ranks: &Vec<f64>| compare(ranks[*a as usize], ranks[*b as usize]);
        ranks
            .iter()
            .map(by)
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    };
    rows.sort_by(compare);
    rows
}

fn compare(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => a.total_cmp(&b),
        (a, b) => a.cmp(&b),
    }
}

/// A rank per row by its first value; NaN without a value.
fn ranks(column: &Column, rows: usize) -> Vec<f64> {
    let ranks: Vec<f64> = match &column.values {
        Values::Numbers(numbers) => numbers.clone(),
        Values::Flags(flags) => flags.iter().map(|&flags| flags as f64).collect(),
        Values::Texts(texts) => {
            let texts: Vec<&str> = texts.iter().collect();
            let mut order: Vec<usize> = (0..texts.len()).collect();
            order.sort_by(|&a, &b| natural(texts[a], texts[b]));
            let mut place = vec![0.0; texts.len()];
            order
                .iter()
                .enumerate()
                .for_each(|(at, &number)| place[number] = at as f64);
            place
        }
    };
    (0..rows)
        .map(|row| {
            column
                .cells
                .row(row)
                .next()
                .map_or(f64::NAN, |number| ranks[number])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_sort_key_is_reported_with_position() {
        let error = |text: &str| SortKey::parse_all(text, QueryKind::Findings).unwrap_err();
        assert_eq!(
            (error("risk,agee").at, error("risk,agee").hint),
            (5..9, None)
        );
        assert_eq!(error("is").reason, "cannot sort by `is`");
    }
}
