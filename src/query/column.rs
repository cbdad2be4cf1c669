//! The values of one field for all rows of a list, laid out for scanning.
//!
//! Equal texts are kept once: a clause looks at each different text, then only at small numbers.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::field::ValueKind;
use super::{Field, TextNumbers, TextPool};
use crate::contract::{Shared, Stamp};

/// Code of a row without text.
const NOTHING: u32 = u32::MAX;
/// Texts without a row that a column may hold, beside as many as it has rows.
const SPARE: usize = 1024;

/// The values of one field.
#[derive(Clone, Debug)]
pub enum Column {
    /// Numbers of [`Column::TextPool::values`].
    TextPool {
        /// The different texts.
        values: TextPool,
        /// Numbers of texts, by row.
        cells: Cells<u32>,
    },
    /// Numbers, risks, and times in seconds since 1970.
    Numbers(Cells<f64>),
    /// Bits of [`super::Flag`]s.
    Flags(Vec<u64>),
}

/// One value per row, or any number of them.
#[derive(Clone, Debug)]
pub struct Cells<T> {
    values: Vec<T>,
    /// End of the values of each row; `None` while every row has one value.
    ends: Option<Vec<u32>>,
    nothing: T,
}

impl<T: Copy> Cells<T> {
    fn new(rows: usize, nothing: T) -> Self {
        Self { values: Vec::with_capacity(rows), ends: None, nothing }
    }

    /// Adds a row.
    fn push(&mut self, values: &[T]) {
        match (&mut self.ends, values) {
            (None, []) => self.values.push(self.nothing),
            (None, [one]) => self.values.push(*one),
            (ends, many) => {
                let before = self.values.len() as u32;
                let ends = ends.get_or_insert_with(|| (1..=before).collect());
                self.values.extend(many);
                ends.push(self.values.len() as u32);
            }
        }
    }

    /// The values of a row; may be the placeholder if there are none.
    pub fn row(&self, row: usize) -> &[T] {
        match &self.ends {
            None => &self.values[row..=row],
            Some(ends) => {
                let start = if row == 0 { 0 } else { ends[row - 1] as usize };
                &self.values[start..ends[row] as usize]
            }
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.ends.as_ref().map_or(self.values.len(), Vec::len)
    }

    /// Values by row, if every row has exactly one.
    pub fn single(&self) -> Option<&[T]> {
        self.ends.is_none().then_some(&self.values)
    }

    /// Replaces the value of a row; false if rows can have several values.
    fn replace(&mut self, row: usize, values: &[T]) -> bool {
        let one = match values {
            [] => self.nothing,
            [one] => *one,
            _ => return false,
        };
        match (&self.ends, self.values.get_mut(row)) {
            (None, Some(value)) => {
                *value = one;
                true
            }
            _ => false,
        }
    }
}

/// Builds a column row by row: add values, then end the row.
#[derive(Clone, Debug)]
pub struct ColumnBuilder {
    column: Column,
    code_of: TextNumbers,
    /// Codes by address of shared texts: equal texts of one response are shared. While a text is here, no other one has its
    /// address.
    held: HashMap<usize, (Shared, u32)>,
    /// Whether the texts came from another column, with their codes.
    is_inherited: bool,
    /// True while the texts that came from another column are not in `code_of` yet.
    is_unnumbered: bool,
    codes: Vec<u32>,
    numbers: Vec<f64>,
    flags: u64,
}

impl ColumnBuilder {
    /// A builder for a field of a list with `rows` rows.
    pub fn new(field: Field, rows: usize) -> Self {
        let column = match field.spec().values {
            ValueKind::Flags => Column::Flags(Vec::with_capacity(rows)),
            ValueKind::Search | ValueKind::Prose | ValueKind::Word | ValueKind::Choice(_) => {
                Column::TextPool { values: TextPool::default(), cells: Cells::new(rows, NOTHING) }
            }
            ValueKind::Number | ValueKind::Risk | ValueKind::Span | ValueKind::Time | ValueKind::Deadline => {
                Column::Numbers(Cells::new(rows, f64::NAN))
            }
        };
        Self {
            column,
            code_of: TextNumbers::default(),
            held: HashMap::new(),
            is_inherited: false,
            is_unnumbered: false,
            codes: Vec::new(),
            numbers: Vec::new(),
            flags: 0,
        }
    }

    /// A builder for a list of which many rows are in `before`, the column of an earlier list: they are
    /// [copied](Self::copy_row).
    pub fn following(field: Field, rows: usize, before: &Column) -> Self {
        let mut builder = Self::new(field, rows);
        if let (Column::TextPool { values, .. }, Column::TextPool { values: texts, .. }) = (&mut builder.column, before)
            && texts.len() <= 2 * rows + SPARE
        {
            values.clone_from(texts);
            (builder.is_inherited, builder.is_unnumbered) = (true, true);
        }
        builder
    }

    /// Adds a row of the column that this one follows.
    pub fn copy_row(&mut self, before: &Column, row: usize) {
        match (&mut self.column, before) {
            (Column::TextPool { cells, .. }, Column::TextPool { cells: old, .. }) if self.is_inherited => {
                cells.push(old.row(row));
            }
            (Column::TextPool { .. }, Column::TextPool { values, cells }) => {
                let texts = cells.row(row).iter().filter(|&&code| code != NOTHING);
                texts.for_each(|&code| self.text(values.get(code)));
                self.end_row();
            }
            (Column::Numbers(cells), Column::Numbers(old)) => cells.push(old.row(row)),
            (Column::Flags(flags), Column::Flags(old)) => flags.push(old[row]),
            _ => {}
        }
    }

    /// Adds a text; empty texts are ignored.
    pub fn text(&mut self, text: &str) {
        if !text.is_empty()
            && let Some((code, _)) = self.code(text)
        {
            self.codes.push(code);
        }
    }

    /// Adds a text that may be shared with other rows.
    pub fn shared(&mut self, text: &Shared) {
        if text.is_empty() {
            return;
        }
        let address = text.as_str().as_ptr() as usize;
        let known = self.held.get(&address).map(|(_, code)| *code);
        let Some((code, is_new)) = known.map(|code| (code, false)).or_else(|| self.code(text)) else { return };
        if is_new {
            self.held.insert(address, (text.clone(), code));
        }
        self.codes.push(code);
    }

    /// The code of a text, and whether it is a new one.
    fn code(&mut self, text: &str) -> Option<(u32, bool)> {
        let Column::TextPool { values, .. } = &mut self.column else { return None };
        if std::mem::take(&mut self.is_unnumbered) {
            self.code_of = TextNumbers::all(values);
        }
        let before = values.len();
        Some((self.code_of.of(values, text), values.len() > before))
    }

    /// Adds a number, if any.
    pub fn maybe(&mut self, number: Option<f64>) {
        self.numbers.extend(number);
    }

    /// Adds an integer.
    pub fn whole(&mut self, number: i64) {
        self.numbers.push(number as f64);
    }

    /// Adds a time, if any.
    pub fn time(&mut self, time: Option<Stamp>) {
        self.numbers.extend(time.map(|time| time.as_second() as f64));
    }

    /// Adds flags.
    pub fn flags(&mut self, bits: u64) {
        self.flags |= bits;
    }

    /// Ends a row.
    pub fn end_row(&mut self) {
        match &mut self.column {
            Column::TextPool { cells, .. } => cells.push(&self.codes),
            Column::Numbers(cells) => cells.push(&self.numbers),
            Column::Flags(flags) => flags.push(self.flags),
        }
        self.clear();
    }

    /// Replaces an existing row by the added values; false if the column must be rebuilt.
    pub fn end_again(&mut self, row: usize) -> bool {
        let done = match &mut self.column {
            Column::TextPool { cells, .. } => cells.replace(row, &self.codes),
            Column::Numbers(cells) => cells.replace(row, &self.numbers),
            Column::Flags(flags) => flags.get_mut(row).map(|flags| *flags = self.flags).is_some(),
        };
        self.clear();
        done
    }

    fn clear(&mut self) {
        self.codes.clear();
        self.numbers.clear();
        self.flags = 0;
    }

    /// The present column.
    pub fn column(&self) -> &Column {
        &self.column
    }

    /// The finished column.
    pub fn finish(mut self) -> Column {
        if let Column::TextPool { values, .. } = &mut self.column {
            values.shrink_to_fit();
        }
        self.column
    }
}

impl Column {
    /// A column of texts in which no row has one.
    pub fn blank(rows: usize) -> Self {
        let mut cells = Cells::new(rows, NOTHING);
        (0..rows).for_each(|_| cells.push(&[]));
        Self::TextPool { values: TextPool::default(), cells }
    }

    /// Number of other rows with the same text and at most `most` of these rows, if no row has several texts.
    pub fn same_as(&self, row: usize, most: usize) -> (usize, Vec<usize>) {
        let Self::TextPool { cells, .. } = self else { return Default::default() };
        let codes = cells.single().unwrap_or_default();
        let Some(&expected) = codes.get(row).filter(|&&code| code != NOTHING) else { return Default::default() };
        let count = codes.iter().filter(|&&code| code == expected).count() - 1;
        let others = codes.iter().enumerate().filter(|&(at, &code)| code == expected && at != row);
        (count, others.map(|(at, _)| at).take(most.min(count)).collect())
    }

    /// The values of a row in words.
    #[cfg(test)]
    pub(crate) fn written(&self, row: usize) -> Vec<String> {
        match self {
            Self::TextPool { values, cells } => {
                let codes = cells.row(row).iter().filter(|&&code| code != NOTHING);
                codes.map(|&code| values.get(code).to_owned()).collect()
            }
            Self::Numbers(cells) => cells.row(row).iter().filter(|one| !one.is_nan()).map(f64::to_string).collect(),
            Self::Flags(flags) => vec![flags[row].to_string()],
        }
    }

    /// Number of rows per text, most frequent first.
    pub fn counts(&self) -> Vec<(&str, usize)> {
        self.ranked(usize::MAX, |_| Some(())).into_iter().map(|(_, text, count)| (text, count)).collect()
    }

    /// At most `most` texts that have a rank, with their number of rows: by rank, then most frequent first.
    pub fn ranked<R: Ord>(&self, most: usize, rank: impl Fn(&str) -> Option<R>) -> Vec<(R, &str, usize)> {
        let Self::TextPool { values, cells } = self else { return Vec::new() };
        let mut counts = vec![0usize; values.len()];
        for &code in &cells.values {
            if let Some(count) = counts.get_mut(code as usize) {
                *count += 1;
            }
        }
        // Texts of an earlier list may have no row in this one.
        let ranked = values.iter().zip(counts).filter(|(_, count)| *count > 0);
        let ranked = ranked.filter_map(|(text, count)| Some((rank(text)?, text, count)));
        let mut ranked: Vec<_> = ranked.collect();
        let compare =
            |a: &(R, &str, usize), b: &(R, &str, usize)| (&a.0, Reverse(a.2), a.1).cmp(&(&b.0, Reverse(b.2), b.1));
        if most < ranked.len() {
            ranked.select_nth_unstable_by(most, compare);
            ranked.truncate(most);
        }
        ranked.sort_by(compare);
        ranked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_stored_once_and_counted() {
        let mut builder = ColumnBuilder::new(Field::Cve, 4);
        for texts in [&["a", "b"][..], &[], &["a"], &[""]] {
            texts.iter().for_each(|text| builder.shared(&Shared::from(*text)));
            builder.end_row();
        }
        let column = builder.finish();
        assert_eq!(column.counts(), [("a", 2), ("b", 1)]);
        let Column::TextPool { cells, .. } = &column else { panic!() };
        assert_eq!([cells.row(0).len(), cells.row(2).len(), cells.row(3).len()], [2, 1, 0]);
    }

    #[test]
    fn rows_with_equal_text_are_found_by_code() {
        let mut builder = ColumnBuilder::new(Field::Class, 5);
        for text in ["a", "", "b", "a", ""] {
            builder.text(text);
            builder.end_row();
        }
        let column = builder.finish();
        assert_eq!([0, 2, 1].map(|row| column.same_as(row, 9)), [(1, vec![3]), (0, vec![]), (0, vec![])]);
        assert_eq!(column.same_as(3, 0), (1, vec![]));
    }

    #[test]
    fn single_value_row_can_be_replaced() {
        let mut builder = ColumnBuilder::new(Field::Verdict, 2);
        for text in ["open", "open"] {
            builder.text(text);
            builder.end_row();
        }
        builder.text("fixed");
        assert!(builder.end_again(1));
        assert_eq!(builder.column().counts(), [("fixed", 1), ("open", 1)]);
    }
}
