//! Lists of the service, prepared for both front ends and for queries: items, positions by id,
//! lower-case search text, sort orders and rows per target.
//!
//! ```text
//!   items ─► Table: texts, columns, orders, positions ─► query ─► rows that a list shows
//!              ▲ Row: fields of an item               rows/   of the service's types and of payloads
//!              ▲ Sort: the orders a list has             triage  of findings with what was decided
//! ```
//!
//! A table is built off the UI thread when new data arrives, is shared by reference and never
//! changes: newer data is a new table, which reuses the results for equal items
//! ([`Table::following`]). [`Remote`] adds the time of reading and the error of a failed refresh.

pub mod columns;
mod positions;
#[cfg(test)]
mod query_tests;
mod remote;
pub mod row;
mod rows;
mod search_texts;
pub mod sort;
mod succession;

pub use sort::{BY_HITS, BY_NEED, BY_RISK};

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use positions::Positions;
pub use remote::Remote;
pub use row::{IntoRow, NoOtherLists, OtherLists, Row, Rows};
pub use rows::RecognizedCapture;
use search_texts::{SearchTexts, SearchTextsBuilder};
pub use sort::SortOrder;

use crate::query::{Column, ColumnBuilder, FIELDS, Field, RowSet};
use scandeck_wire::contract::{Risk, TargetId};

/// An item of a list: it has an id and provides fields for queries.
pub trait Item: Row + Sized + Send + Sync + 'static {
    type Id: Copy
        + Eq
        + Ord
        + Hash
        + From<i64>
        + Into<i64>
        + std::fmt::Debug
        + std::fmt::Display
        + Send
        + Sync;
    fn id(&self) -> Self::Id;
    /// The target it belongs to.
    fn target(&self) -> Option<TargetId> {
        None
    }
    /// The risk under which it is counted, where it has one. Findings that are absent now have
    /// none.
    fn risk(&self) -> Option<Risk> {
        None
    }
    /// True if bare words search this list.
    const SEARCHED: bool = true;
    /// True for fields whose values may be in a file, so that their column is built off the UI
    /// thread.
    fn is_long(_: Field) -> bool {
        false
    }
    /// True if the values of these fields are in a file.
    fn is_in_file(&self) -> bool {
        false
    }
    /// Fields whose columns are built with the table: the most frequent ones.
    const READY: &'static [Field] = &[];
    /// Sort orders; the first is the default.
    const SORTS: &'static [SortOrder<Self>];
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetRows {
    /// Positions, ascending.
    pub positions: Vec<u32>,
    /// Number of rows by risk, from critical to info.
    pub risks: [u32; 5],
}

/// Items with their search text and positions.
#[derive(Clone, Debug)]
pub struct Table<T: Item> {
    revision: u64,
    items: Vec<Arc<T>>,
    texts: SearchTexts,
    at: Positions,
    orders: Vec<Vec<u32>>,
    targets: HashMap<TargetId, TargetRows>,
    /// Number of rows by risk, from critical to info.
    risks: [u32; 5],
    /// Columns by field number, built on first use.
    columns: Vec<OnceLock<Column>>,
    /// A column without values, in place of one that was not built yet.
    blank: OnceLock<Column>,
}

impl<T: Item> Table<T> {
    /// Builds the table in the given order; a second item with the same id is dropped. Shared items
    /// remain shared.
    pub fn new<I: IntoRow<T>>(items: impl IntoIterator<Item = I>) -> Self {
        let mut table = Self::unfilled();
        let mut texts = SearchTextsBuilder::default();
        for item in items {
            let item = item.into_row();
            if !table.at.add(&table.items, item.id()) {
                continue;
            }
            if T::SEARCHED {
                texts.add(&*item, None);
            }
            table.items.push(item);
        }
        // Vectors grow by doubling.
        table.texts = texts.finish();
        table.items.shrink_to_fit();
        table.at.shrink_to_fit(&table.items);
        T::SORTS.iter().for_each(|sort| table.sort(sort.compare));
        table.group();
        T::READY.iter().for_each(|&field| _ = table.column(field));
        table
    }

    /// A table without items, with a revision of its own.
    fn unfilled() -> Self {
        static REVISIONS: AtomicU64 = AtomicU64::new(1);
        Self {
            revision: REVISIONS.fetch_add(1, Relaxed),
            items: Vec::new(),
            texts: SearchTexts::default(),
            at: Positions::default(),
            orders: Vec::new(),
            targets: HashMap::new(),
            risks: [0; 5],
            columns: (0..FIELDS.len()).map(|_| OnceLock::new()).collect(),
            blank: OnceLock::new(),
        }
    }

    /// A number that no other table has: what was computed from a table holds as long as this
    /// number is the same.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The column of a field; `None` if it needs other lists.
    pub fn column(&self, field: Field) -> Option<&Column> {
        if field.needs_others(T::KIND) {
            return None;
        }
        let make = || {
            let mut builder = ColumnBuilder::new(field, self.items.len());
            for item in &self.items {
                item.write_field(field, &NoOtherLists, &mut builder);
                builder.end_row();
            }
            builder.finish()
        };
        self.columns
            .get(field as usize)
            .map(|column| column.get_or_init(make))
    }

    /// Whether the column of a field must be built off the UI thread before it can be used, because
    /// its values are in files.
    pub fn awaits(&self, field: Field) -> bool {
        T::is_long(field)
            && !field.needs_others(T::KIND)
            && self.built_column(field).is_none()
            && self.items.iter().any(|item| item.is_in_file())
    }

    /// The column of a field, if it was built.
    pub fn built_column(&self, field: Field) -> Option<&Column> {
        self.columns.get(field as usize)?.get()
    }

    /// A column without values.
    pub fn blank(&self) -> &Column {
        self.blank.get_or_init(|| Column::blank(self.items.len()))
    }

    /// Adds an order. Equal items keep the order of the first one.
    fn sort(&mut self, compare: fn(&T, &T) -> Ordering) {
        let mut order = self
            .orders
            .first()
            .cloned()
            .unwrap_or_else(|| (0..self.items.len() as u32).collect());
        order.sort_by(|&a, &b| compare(&self.items[a as usize], &self.items[b as usize]));
        self.orders.push(order);
    }

    fn group(&mut self) {
        for (position, item) in self.items.iter().enumerate() {
            let level = item.risk().map(|risk| 4 - risk as usize);
            level.into_iter().for_each(|level| self.risks[level] += 1);
            let Some(target) = item.target() else {
                continue;
            };
            let group = self.targets.entry(target).or_default();
            group.positions.push(position as u32);
            level.into_iter().for_each(|level| group.risks[level] += 1);
        }
    }

    /// Positions in one of the orders of [`Item::SORTS`]; the first one for a number beyond.
    pub fn order(&self, sort: usize) -> &[u32] {
        self.orders
            .get(sort)
            .or(self.orders.first())
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Number of rows by risk, from critical to info.
    pub fn risks(&self) -> [u32; 5] {
        self.risks
    }

    /// The rows of a target.
    pub fn of_target(&self, target: TargetId) -> Option<&TargetRows> {
        self.targets.get(&target)
    }

    /// Items that contain a lower-case text or belong to one of these targets.
    pub fn with_text(&self, text: &str, targets: &[TargetId]) -> RowSet {
        let mut hits = self.texts.having(text, self.len());
        for group in targets.iter().filter_map(|target| self.targets.get(target)) {
            group
                .positions
                .iter()
                .for_each(|&position| hits.set(position as usize));
        }
        hits
    }

    /// Items in the given order.
    pub fn items(&self) -> &[Arc<T>] {
        &self.items
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True if there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item with this id.
    pub fn get(&self, id: T::Id) -> Option<&Arc<T>> {
        self.position(id).map(|position| &self.items[position])
    }

    /// The position of this id.
    pub fn position(&self, id: T::Id) -> Option<usize> {
        self.at.get(&self.items, id)
    }
}

impl<T: Item> Default for Table<T> {
    fn default() -> Self {
        Self::new(Vec::<T>::new())
    }
}
