//! Concatenated texts, which are searched at memory speed. Copies of a pool share all texts but the
//! last ones, because a newer table has nearly the texts of the one before.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;
use memchr::memmem;

use super::RowSet;

/// Bytes of texts that copies of a pool need not share.
const LOOSE: usize = 1 << 16;

/// Texts numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct TextPool {
    shared: Arc<Texts>,
    /// The texts after the shared ones.
    loose: Texts,
}

/// Texts in one string.
#[derive(Clone, Debug, Default)]
struct Texts {
    text: String,
    ends: Vec<u32>,
}

impl TextPool {
    /// Adds a text and returns its number.
    pub fn push(&mut self, text: &str) -> u32 {
        self.loose.push(text);
        let number = self.len() as u32 - 1;
        // A pool that is filled for the first time is shared at its end.
        let is_much = self.loose.text.len() > LOOSE + self.shared.text.len() / 8;
        if is_much && !self.shared.ends.is_empty() {
            self.share();
        }
        number
    }

    /// Releases unused memory, and shares all texts with later copies.
    pub fn shrink_to_fit(&mut self) {
        if self.shared.ends.is_empty() || self.loose.text.len() > LOOSE {
            self.share();
        }
        self.loose.shrink_to_fit();
    }

    fn share(&mut self) {
        let mut loose = std::mem::take(&mut self.loose);
        self.shared = Arc::new(match self.shared.ends.is_empty() {
            true => {
                loose.shrink_to_fit();
                loose
            }
            false => self.shared.followed_by(&loose),
        });
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.shared.ends.len() + self.loose.ends.len()
    }

    /// True if there are no texts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text of a number.
    pub fn get(&self, number: u32) -> &str {
        let number = number as usize;
        match number.checked_sub(self.shared.ends.len()) {
            None => self.shared.get(number),
            Some(loose) => self.loose.get(loose),
        }
    }

    /// All texts in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|number| self.get(number))
    }

    /// The texts that contain a word (case-sensitive), found in one pass; after a match, the search
    /// continues at the next text.
    pub fn having(&self, word: &str) -> RowSet {
        let mut hits = RowSet::none(self.len());
        let finder = memmem::Finder::new(word.as_bytes());
        self.shared.find(&finder, |number| hits.set(number));
        self.loose
            .find(&finder, |number| hits.set(self.shared.ends.len() + number));
        hits
    }
}

/// The numbers of texts in a pool, so that equal texts are added once.
#[derive(Clone, Debug, Default)]
pub struct TextNumbers {
    numbers: HashTable<u32>,
    hasher: RandomState,
}

impl TextNumbers {
    /// The numbers of all texts of a pool.
    pub fn all(texts: &TextPool) -> Self {
        let mut all = Self::default();
        (0..texts.len() as u32).for_each(|number| all.insert(texts, number));
        all
    }

    /// The number of a text, which is added to the pool unless its number is known.
    pub fn of(&mut self, texts: &mut TextPool, text: &str) -> u32 {
        let known = self.numbers.find(self.hasher.hash_one(text), |&number| {
            texts.get(number) == text
        });
        known.copied().unwrap_or_else(|| {
            let number = texts.push(text);
            self.insert(texts, number);
            number
        })
    }

    fn insert(&mut self, texts: &TextPool, number: u32) {
        let hash = |&number: &u32| self.hasher.hash_one(texts.get(number));
        self.numbers.insert_unique(hash(&number), number, hash);
    }
}

impl Texts {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
    }

    fn shrink_to_fit(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    fn get(&self, number: usize) -> &str {
        let start = if number == 0 {
            0
        } else {
            self.ends[number - 1] as usize
        };
        &self.text[start..self.ends[number] as usize]
    }

    fn followed_by(&self, others: &Self) -> Self {
        let before = self.text.len() as u32;
        let ends = others.ends.iter().map(|end| before + end);
        let mut all = Self {
            text: [self.text.as_str(), &others.text].concat(),
            ends: Vec::with_capacity(self.ends.len() + others.ends.len()),
        };
        all.ends.extend(&self.ends);
        all.ends.extend(ends);
        all
    }

    fn find(&self, finder: &memmem::Finder<'_>, mut found: impl FnMut(usize)) {
        let text = self.text.as_bytes();
        let (mut from, mut number) = (0, 0);
        while let Some(at) = finder.find(&text[from..]) {
            let at = from + at;
            while self.ends.get(number).is_some_and(|&end| end as usize <= at) {
                number += 1;
            }
            let Some(&end) = self.ends.get(number) else {
                break;
            };
            found(number);
            from = end as usize;
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_texts_and_keep_their_numbers() {
        let mut first = TextPool::default();
        let name = |number: u32| format!("text {number} {}", "x".repeat(100));
        (0..1_000).for_each(|number| assert_eq!(first.push(&name(number)), number));
        first.shrink_to_fit();
        let mut copy = first.clone();
        assert_eq!(copy.push(&name(1_000)), 1_000);
        assert!(
            Arc::ptr_eq(&first.shared, &copy.shared),
            "one text is copied, not all"
        );
        (1_001..5_000).for_each(|number| assert_eq!(copy.push(&name(number)), number));
        assert!(
            copy.loose.text.len() <= LOOSE + copy.shared.text.len() / 8 + 200,
            "many new texts are shared too"
        );
        assert!(
            copy.iter()
                .zip(0..)
                .all(|(text, number)| text == name(number))
        );
        assert_eq!(
            (copy.having("text 4321 ").count(), first.len(), copy.len()),
            (1, 1_000, 5_000)
        );
    }

    proptest::proptest! {
        #[test]
        fn single_pass_search_matches_individual_search(
            all in proptest::collection::vec("[ab]{0,6}\n", 0..30),
            word in "[ab]{0,3}",
        ) {
            let mut texts = TextPool::default();
            let numbers: Vec<u32> = all.iter().map(|text| texts.push(text)).collect();
            let each = RowSet::of(all.len(), |at| texts.get(numbers[at]).contains(&word));
            proptest::prop_assert_eq!(&texts.having(&word), &each);
            texts.shrink_to_fit();
            proptest::prop_assert_eq!(&texts.having(&word), &each);
        }
    }
}
