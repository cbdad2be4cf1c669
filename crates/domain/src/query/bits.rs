//! A set of rows as bits.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowSet {
    words: Vec<u64>,
    len: usize,
}

impl RowSet {
    /// The empty set of `len` rows.
    pub fn none(len: usize) -> Self {
        Self {
            words: vec![0; len.div_ceil(64)],
            len,
        }
    }

    /// The set of all `len` rows.
    pub fn all(len: usize) -> Self {
        let mut bits = Self::none(len);
        bits.invert();
        bits
    }

    /// The rows for which `holds` is true.
    pub fn of(len: usize, mut holds: impl FnMut(usize) -> bool) -> Self {
        let mut bits = Self::none(len);
        for (at, word) in bits.words.iter_mut().enumerate() {
            let rows = at * 64..len.min(at * 64 + 64);
            *word = rows
                .rev()
                .fold(0, |word, row| word << 1 | u64::from(holds(row)));
        }
        bits
    }

    /// Number of rows, in the set or not.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a row.
    pub fn set(&mut self, row: usize) {
        self.words[row / 64] |= 1 << (row % 64);
    }

    /// Adds or removes a row.
    pub fn put(&mut self, row: usize, on: bool) {
        let bit = 1 << (row % 64);
        match on {
            true => self.words[row / 64] |= bit,
            false => self.words[row / 64] &= !bit,
        }
    }

    /// True if the row is in the set.
    pub fn has(&self, row: usize) -> bool {
        self.words
            .get(row / 64)
            .is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Number of rows in the set.
    pub fn count(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Intersects with the other set.
    pub fn and(&mut self, other: &RowSet) {
        self.words
            .iter_mut()
            .zip(&other.words)
            .for_each(|(word, other)| *word &= other);
    }

    /// Unites with the other set.
    pub fn or(&mut self, other: &RowSet) {
        self.words
            .iter_mut()
            .zip(&other.words)
            .for_each(|(word, other)| *word |= other);
    }

    /// Replaces the set by its complement.
    pub fn invert(&mut self) {
        self.words.iter_mut().for_each(|word| *word = !*word);
        if let Some(last) = self.words.last_mut()
            && !self.len.is_multiple_of(64)
        {
            *last &= (1 << (self.len % 64)) - 1;
        }
    }

    /// The rows of the set, ascending.
    pub fn rows(&self) -> impl Iterator<Item = usize> {
        (0..self.len).filter(|&row| self.has(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_set_operations_respect_length() {
        let mut odd = RowSet::of(70, |row| row % 2 == 1);
        assert_eq!(
            (odd.count(), odd.has(69), odd.has(70), odd.has(700)),
            (35, true, false, false)
        );
        odd.invert();
        assert_eq!(odd.rows().take(3).collect::<Vec<_>>(), [0, 2, 4]);
        odd.or(&RowSet::all(70));
        assert_eq!(odd.count(), 70);
        odd.and(&RowSet::none(70));
        assert_eq!(odd, RowSet::none(70));
    }
}
