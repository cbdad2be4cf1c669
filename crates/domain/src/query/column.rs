//! The values of one field for all rows of a list, laid out for scanning.
//!
//! ```text
//!   different values: texts, numbers or sets of flags ◄─ codes, by row ─► one, two or four bytes each
//! ```
//!
//! A clause looks at each different value once, then only at codes. Most fields have few different
//! values, so their codes are bytes.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::field::ValueKind;
use super::{Field, RowSet, TextNumbers, TextPool};
use scandeck_wire::contract::{Shared, Stamp};

/// Values without a row that a column may hold, beside as many as it has rows.
const SPARE: usize = 1024;

/// The values of one field.
#[derive(Clone, Debug)]
pub struct Column {
    /// The different values.
    pub values: Values,
    /// The values of each row.
    pub cells: Cells,
}

/// Different values, by number.
#[derive(Clone, Debug)]
pub enum Values {
    Texts(TextPool),
    /// Numbers, risks, and times in seconds since 1970.
    Numbers(Vec<f64>),
    /// Bits of [`super::Flag`]s.
    Flags(Vec<u64>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Numbers(numbers) => numbers.len(),
            Self::Flags(flags) => flags.len(),
        }
    }
}

/// The numbers of values by row: one per row, or any number of them.
#[derive(Clone, Debug)]
pub struct Cells {
    codes: Codes,
    /// End of the codes of each row; `None` while every row has one code.
    ends: Option<Vec<u32>>,
}

/// The numbers of values from 1, and 0 for none, in as many bytes as the largest needs.
#[derive(Clone, Debug)]
enum Codes {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
    Wide(Vec<u32>),
}

/// Code of a row without value.
const NOTHING: u32 = 0;

impl Codes {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(codes) => codes.len(),
            Self::Words(codes) => codes.len(),
            Self::Wide(codes) => codes.len(),
        }
    }

    fn get(&self, at: usize) -> u32 {
        match self {
            Self::Bytes(codes) => codes[at].into(),
            Self::Words(codes) => codes[at].into(),
            Self::Wide(codes) => codes[at],
        }
    }

    fn push(&mut self, code: u32) {
        self.widen(code);
        match self {
            Self::Bytes(codes) => codes.push(code as u8),
            Self::Words(codes) => codes.push(code as u16),
            Self::Wide(codes) => codes.push(code),
        }
    }

    /// Makes the codes as wide as this one.
    fn widen(&mut self, code: u32) {
        if let Self::Bytes(codes) = self
            && code > u8::MAX.into()
        {
            *self = Self::Words(widened(codes));
        }
        if let Self::Words(codes) = self
            && code > u16::MAX.into()
        {
            *self = Self::Wide(widened(codes));
        }
    }
}

fn widened<A: Copy, B: From<A>>(codes: &Vec<A>) -> Vec<B> {
    let mut wide = Vec::with_capacity(codes.capacity());
    wide.extend(codes.iter().map(|&code| B::from(code)));
    wide
}

impl Cells {
    fn new(rows: usize) -> Self {
        Self {
            codes: Codes::Bytes(Vec::with_capacity(rows)),
            ends: None,
        }
    }

    /// Adds a row with these codes.
    fn push(&mut self, codes: impl ExactSizeIterator<Item = u32>) {
        if codes.len() != 1 || self.ends.is_some() {
            let before = self.codes.len() as u32;
            if self.ends.is_none() && codes.len() == 0 {
                return self.codes.push(NOTHING);
            }
            let ends = self.ends.get_or_insert_with(|| (1..=before).collect());
            ends.push(before + codes.len() as u32);
        }
        codes.for_each(|code| self.codes.push(code));
    }

    /// The places of the codes of a row.
    fn places(&self, row: usize) -> std::ops::Range<usize> {
        match &self.ends {
            None => row..row + 1,
            Some(ends) => {
                let start = if row == 0 { 0 } else { ends[row - 1] as usize };
                start..ends[row] as usize
            }
        }
    }

    /// The codes of a row; may be the placeholder if there are none.
    fn codes(&self, row: usize) -> impl ExactSizeIterator<Item = u32> {
        self.places(row).map(|at| self.codes.get(at))
    }

    /// The numbers of the values of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = usize> {
        self.codes(row)
            .filter(|&code| code != NOTHING)
            .map(|code| code as usize - 1)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.ends.as_ref().map_or(self.codes.len(), Vec::len)
    }

    /// The rows with a value whose number is marked.
    pub fn having(&self, marked: &[bool]) -> RowSet {
        let marked: Vec<bool> = std::iter::once(false)
            .chain(marked.iter().copied())
            .collect();
        let is_marked = |code: usize| marked.get(code).copied().unwrap_or_default();
        match (&self.ends, &self.codes) {
            (Some(_), _) => RowSet::of(self.rows(), |row| {
                self.codes(row).any(|code| is_marked(code as usize))
            }),
            (None, Codes::Bytes(codes)) => {
                RowSet::of(codes.len(), |row| is_marked(codes[row].into()))
            }
            (None, Codes::Words(codes)) => {
                RowSet::of(codes.len(), |row| is_marked(codes[row].into()))
            }
            (None, Codes::Wide(codes)) => {
                RowSet::of(codes.len(), |row| is_marked(codes[row] as usize))
            }
        }
    }
}

/// Builds a column row by row: add values, then end the row.
#[derive(Clone, Debug)]
pub struct ColumnBuilder {
    column: Column,
    code_of: TextNumbers,
    /// Codes of numbers and flags, by their bits.
    code_of_bits: HashMap<u64, u32>,
    /// Codes by address of shared texts: equal texts of one response are shared. While a text is
    /// here, no other one has its address.
    held: HashMap<usize, (Shared, u32)>,
    /// Whether the values came from another column, with their codes.
    is_inherited: bool,
    /// True while the values that came from another column have no entry by which they are found.
    is_unnumbered: bool,
    codes: Vec<u32>,
    flags: u64,
}

impl ColumnBuilder {
    /// A builder for a field of a list with `rows` rows.
    pub fn new(field: Field, rows: usize) -> Self {
        let values = match field.spec().values {
            ValueKind::Flags => Values::Flags(Vec::new()),
            ValueKind::Search | ValueKind::Prose | ValueKind::Word | ValueKind::Choice(_) => {
                Values::Texts(TextPool::default())
            }
            ValueKind::Number
            | ValueKind::Risk
            | ValueKind::Span
            | ValueKind::Time
            | ValueKind::Deadline => Values::Numbers(Vec::new()),
        };
        Self {
            column: Column {
                values,
                cells: Cells::new(rows),
            },
            code_of: TextNumbers::default(),
            code_of_bits: HashMap::new(),
            held: HashMap::new(),
            is_inherited: false,
            is_unnumbered: false,
            codes: Vec::new(),
            flags: 0,
        }
    }

    /// A builder for a list of which many rows are in `before`, the column of an earlier list: they
    /// are [copied](Self::copy_row).
    pub fn following(field: Field, rows: usize, before: &Column) -> Self {
        let mut builder = Self::new(field, rows);
        if before.values.len() <= 2 * rows + SPARE {
            builder.column.values.clone_from(&before.values);
            (builder.is_inherited, builder.is_unnumbered) = (true, true);
        }
        builder
    }

    /// Adds a row of the column that this one follows.
    pub fn copy_row(&mut self, before: &Column, row: usize) {
        if self.is_inherited {
            return self.column.cells.push(before.cells.codes(row));
        }
        for number in before.cells.row(row) {
            match &before.values {
                Values::Texts(texts) => self.text(texts.get(number as u32)),
                Values::Numbers(numbers) => self.maybe(Some(numbers[number])),
                Values::Flags(flags) => self.flags(flags[number]),
            }
        }
        self.end_row();
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
        let Some((code, is_new)) = known.map(|code| (code, false)).or_else(|| self.code(text))
        else {
            return;
        };
        if is_new {
            self.held.insert(address, (text.clone(), code));
        }
        self.codes.push(code);
    }

    /// The code of a text, and whether it is a new one.
    fn code(&mut self, text: &str) -> Option<(u32, bool)> {
        let Values::Texts(texts) = &mut self.column.values else {
            return None;
        };
        if std::mem::take(&mut self.is_unnumbered) {
            self.code_of = TextNumbers::all(texts);
        }
        let before = texts.len();
        Some((1 + self.code_of.of(texts, text), texts.len() > before))
    }

    /// The code of a number or of flags, by its bits.
    fn code_of_bits(&mut self, bits: u64) -> u32 {
        if std::mem::take(&mut self.is_unnumbered) {
            let bits: Vec<u64> = match &self.column.values {
                Values::Texts(_) => Vec::new(),
                Values::Numbers(numbers) => numbers.iter().map(|number| number.to_bits()).collect(),
                Values::Flags(flags) => flags.clone(),
            };
            self.code_of_bits = bits.into_iter().zip(1..).collect();
        }
        let next = 1 + self.column.values.len() as u32;
        let code = *self.code_of_bits.entry(bits).or_insert(next);
        if code == next {
            match &mut self.column.values {
                Values::Texts(_) => {}
                Values::Numbers(numbers) => numbers.push(f64::from_bits(bits)),
                Values::Flags(flags) => flags.push(bits),
            }
        }
        code
    }

    /// Adds a number, if any.
    pub fn maybe(&mut self, number: Option<f64>) {
        if let Some(number) = number.filter(|number| !number.is_nan())
            && matches!(self.column.values, Values::Numbers(_))
        {
            let code = self.code_of_bits(number.to_bits());
            self.codes.push(code);
        }
    }

    /// Adds an integer.
    pub fn whole(&mut self, number: i64) {
        self.maybe(Some(number as f64));
    }

    /// Adds a time, if any.
    pub fn time(&mut self, time: Option<Stamp>) {
        self.maybe(time.map(|time| time.as_second() as f64));
    }

    /// Adds flags.
    pub fn flags(&mut self, bits: u64) {
        self.flags |= bits;
    }

    /// The flags of a row are one value.
    fn add_flags(&mut self) {
        let flags = std::mem::take(&mut self.flags);
        if matches!(self.column.values, Values::Flags(_)) {
            let code = self.code_of_bits(flags);
            self.codes.push(code);
        }
    }

    pub fn end_row(&mut self) {
        self.add_flags();
        self.column.cells.push(self.codes.drain(..));
    }

    /// The present column.
    pub fn column(&self) -> &Column {
        &self.column
    }

    pub fn finish(mut self) -> Column {
        match &mut self.column.values {
            Values::Texts(texts) => texts.shrink_to_fit(),
            Values::Numbers(numbers) => numbers.shrink_to_fit(),
            Values::Flags(flags) => flags.shrink_to_fit(),
        }
        self.column
    }
}

impl Column {
    /// A column of texts in which no row has one.
    pub fn blank(rows: usize) -> Self {
        let cells = Cells {
            codes: Codes::Bytes(vec![NOTHING as u8; rows]),
            ends: None,
        };
        Self {
            values: Values::Texts(TextPool::default()),
            cells,
        }
    }

    /// Number of other rows with the same text and at most `most` of these rows, if no row has
    /// several texts.
    pub fn same_as(&self, row: usize, most: usize) -> (usize, Vec<usize>) {
        let text = (row < self.cells.rows() && self.cells.ends.is_none())
            .then(|| self.cells.row(row).next());
        let (Values::Texts(texts), Some(text)) = (&self.values, text.flatten()) else {
            return Default::default();
        };
        let mut marked = vec![false; texts.len()];
        marked[text] = true;
        let same = self.cells.having(&marked);
        let count = same.count() - 1;
        (
            count,
            same.rows()
                .filter(|&other| other != row)
                .take(most.min(count))
                .collect(),
        )
    }

    /// The values of a row in words.
    #[cfg(test)]
    pub fn written(&self, row: usize) -> Vec<String> {
        let word = |number: usize| match &self.values {
            Values::Texts(texts) => texts.get(number as u32).to_owned(),
            Values::Numbers(numbers) => numbers[number].to_string(),
            Values::Flags(flags) => flags[number].to_string(),
        };
        self.cells.row(row).map(word).collect()
    }

    /// Number of rows per text, most frequent first.
    pub fn counts(&self) -> Vec<(&str, usize)> {
        self.ranked(usize::MAX, |_| Some(()))
            .into_iter()
            .map(|(_, text, count)| (text, count))
            .collect()
    }

    /// At most `most` texts that have a rank, with their number of rows: by rank, then most
    /// frequent first.
    pub fn ranked<R: Ord>(
        &self,
        most: usize,
        rank: impl Fn(&str) -> Option<R>,
    ) -> Vec<(R, &str, usize)> {
        let Values::Texts(texts) = &self.values else {
            return Vec::new();
        };
        let mut counts = vec![0usize; texts.len()];
        for row in 0..self.cells.rows() {
            self.cells.row(row).for_each(|text| counts[text] += 1);
        }
        // Texts of an earlier list may have no row in this one.
        let ranked = texts.iter().zip(counts).filter(|(_, count)| *count > 0);
        let ranked = ranked.filter_map(|(text, count)| Some((rank(text)?, text, count)));
        let mut ranked: Vec<_> = ranked.collect();
        let compare = |a: &(R, &str, usize), b: &(R, &str, usize)| {
            (&a.0, Reverse(a.2), a.1).cmp(&(&b.0, Reverse(b.2), b.1))
        };
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
            texts
                .iter()
                .for_each(|text| builder.shared(&Shared::from(*text)));
            builder.end_row();
        }
        let column = builder.finish();
        assert_eq!(column.counts(), [("a", 2), ("b", 1)]);
        assert_eq!(
            [0, 2, 3].map(|row| column.cells.row(row).count()),
            [2, 1, 0]
        );
    }

    #[test]
    fn blank_column_equals_one_whose_rows_have_no_text() {
        let mut builder = ColumnBuilder::new(Field::Cve, 3);
        (0..3).for_each(|_| builder.end_row());
        let [blank, built] =
            [Column::blank(3), builder.finish()].map(|column| format!("{:?}", column.cells));
        assert_eq!(blank, built);
    }

    #[test]
    fn rows_with_equal_text_are_found_by_code() {
        let mut builder = ColumnBuilder::new(Field::Class, 5);
        for text in ["a", "", "b", "a", ""] {
            builder.text(text);
            builder.end_row();
        }
        let column = builder.finish();
        assert_eq!(
            [0, 2, 1].map(|row| column.same_as(row, 9)),
            [(1, vec![3]), (0, vec![]), (0, vec![])]
        );
        assert_eq!(column.same_as(3, 0), (1, vec![]));
    }

    #[test]
    fn codes_are_as_wide_as_the_number_of_different_values_needs() {
        for (count, bytes) in [(255, 1), (256, 2), (65_535, 2), (65_536, 4)] {
            let mut builder = ColumnBuilder::new(Field::Port, count);
            for number in 0..count as i64 {
                builder.whole(number);
                builder.end_row();
            }
            let column = builder.finish();
            let width = match &column.cells.codes {
                Codes::Bytes(_) => 1,
                Codes::Words(_) => 2,
                Codes::Wide(_) => 4,
            };
            assert_eq!(width, bytes, "{count}");
            for row in [0, 254, count - 1] {
                assert_eq!(column.written(row), [row.to_string()]);
            }
        }
    }

    #[test]
    fn row_without_number_has_no_value() {
        let mut builder = ColumnBuilder::new(Field::Port, 3);
        for number in [Some(443.0), None, Some(f64::NAN)] {
            builder.maybe(number);
            builder.end_row();
        }
        let column = builder.finish();
        assert_eq!([0, 1, 2].map(|row| column.written(row).len()), [1, 0, 0]);
        assert_eq!(column.cells.having(&[true]).rows().collect::<Vec<_>>(), [0]);
    }
}
