//! Concatenated texts, which are searched at memory speed.

use memchr::memmem;

use super::RowSet;

/// Texts numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct TextPool {
    text: String,
    /// End of each text.
    ends: Vec<usize>,
}

impl TextPool {
    /// Adds a text and returns its number.
    pub fn push(&mut self, text: &str) -> u32 {
        self.text.push_str(text);
        self.ends.push(self.text.len());
        self.ends.len() as u32 - 1
    }

    /// Releases unused memory.
    pub fn shrink_to_fit(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there are no texts.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text of a number.
    pub fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }

    /// All texts in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|number| self.get(number))
    }

    /// The texts that contain a word (case-sensitive), found in one pass; after a match, the search continues at the
    /// next text.
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
        fn single_pass_search_matches_individual_search(
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
