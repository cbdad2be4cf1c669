//! The lower-case search texts of the items of a table.
//!
//! ```text
//!   search text ─► its first line, usually a name that few items share ─► a pool of distinct texts, a number for each row
//!               └► the other lines, which many items share ─────────────► the same again
//! ```

use std::sync::Arc;

use super::Row;
use crate::query::{RowSet, TextNumbers, TextPool};
use scandeck_wire::text::search_form;

/// The search texts of all rows.
#[derive(Clone, Debug, Default)]
pub(super) struct SearchTexts {
    parts: [SearchPart; 2],
}

/// The first line of all search texts, or the other lines.
#[derive(Clone, Debug, Default)]
struct SearchPart {
    texts: Arc<TextPool>,
    /// The number of the text of each row.
    text_of: Vec<u32>,
}

impl SearchTexts {
    /// The number of distinct texts of the part that has more of them.
    pub fn len(&self) -> usize {
        self.parts
            .iter()
            .map(|part| part.texts.len())
            .max()
            .unwrap_or_default()
    }

    /// The rows of `len` that contain a lower-case text.
    pub fn having(&self, text: &str, len: usize) -> RowSet {
        let having = self.parts.each_ref().map(|part| part.texts.having(text));
        let parts = || self.parts.iter().zip(&having);
        RowSet::of(len, |row| {
            parts().any(|(part, having)| {
                part.text_of
                    .get(row)
                    .is_some_and(|&text| having.has(text as usize))
            })
        })
    }
}

/// Collects the search texts of a table row by row.
#[derive(Default)]
pub(super) struct SearchTextsBuilder {
    texts: SearchTexts,
    numbers: [TextNumbers; 2],
    scratch: String,
}

impl SearchTextsBuilder {
    /// A builder for a table that shares many rows with the table of these texts.
    pub fn following(before: &SearchTexts, rows: usize) -> Self {
        let part = |part: &SearchPart| SearchPart {
            texts: Arc::clone(&part.texts),
            text_of: Vec::with_capacity(rows),
        };
        Self {
            texts: SearchTexts {
                parts: before.parts.each_ref().map(part),
            },
            ..Self::default()
        }
    }

    /// Adds a row of the table that this one follows.
    pub fn copy_row(&mut self, before: &SearchTexts, row: usize) {
        for (part, before) in self.texts.parts.iter_mut().zip(&before.parts) {
            part.text_of.push(before.text_of[row]);
        }
    }

    /// Adds the row of an item; `was` is its row in the table that this one follows.
    pub fn add(&mut self, item: &impl Row, was: Option<(&SearchTexts, usize)>) {
        self.scratch.clear();
        item.search_text(&mut self.scratch);
        let text = search_form(&self.scratch);
        let first = text.find('\n').map_or(text.len(), |end| end + 1);
        let (first, others) = text.split_at(first);
        for (at, text) in [first, others].into_iter().enumerate() {
            let part = &mut self.texts.parts[at];
            let was = was.map(|(before, row)| before.parts[at].text_of[row]);
            let same = was.filter(|&was| part.texts.get(was) == text);
            let number =
                same.unwrap_or_else(|| self.numbers[at].of(Arc::make_mut(&mut part.texts), text));
            part.text_of.push(number);
        }
    }

    /// The texts, without unused memory.
    pub fn finish(mut self) -> SearchTexts {
        for part in &mut self.texts.parts {
            // Texts that another table shares have no unused memory.
            if let Some(texts) = Arc::get_mut(&mut part.texts) {
                texts.shrink_to_fit();
            }
            part.text_of.shrink_to_fit();
        }
        self.texts
    }
}
