//! Texts one behind the other: many thousands are looked through at the speed of memory.

use memchr::memmem;

use super::RowSet;

/// Texts with numbers, from 0.
#[derive(Clone, Debug, Default)]
pub struct TextPool {
    text: String,
    /// Where each ends.
    ends: Vec<usize>,
}

impl TextPool {
    /// Adds one; its number.
    pub fn push(&mut self, text: &str) -> u32 {
        self.text.push_str(text);
        self.ends.push(self.text.len());
        self.ends.len() as u32 - 1
    }

    /// Gives back the memory that growing took too much.
    pub fn shrink_to_fit(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The one of a number.
    pub fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }

    /// All, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|number| self.get(number))
    }

    /// Which ones have a word; case counts. One pass over all of them: after a hit it goes on behind the one that was
    /// hit.
    pub fn having(&self, word: &str) -> RowSet {
        let mut hits = RowSet::none(self.len());
        let finder = memmem::Finder::new(word.as_bytes());
        let text = self.text.as_bytes();
        let (mut from, mut number) = (0, 0);
        while let Some(at) = finder.find(&text[from..]) {
            let at = from + at;
            while self.ends.get(number).is_some_and(|&end| end <= at) {
                number += 1;
            }
            if number >= self.len() {
                break;
            }
            hits.set(number);
            from = self.ends[number];
            number += 1;
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn one_pass_over_all_texts_finds_what_looking_at_each_finds(
            all in proptest::collection::vec("[ab]{0,6}\n", 0..30),
            word in "[ab]{0,3}",
        ) {
            let mut texts = TextPool::default();
            let numbers: Vec<u32> = all.iter().map(|text| texts.push(text)).collect();
            let each = RowSet::of(all.len(), |at| texts.get(numbers[at]).contains(&word));
            proptest::prop_assert_eq!(texts.having(&word), each);
        }
    }
}
