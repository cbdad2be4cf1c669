//! A list of the service made ready for both front ends and for queries: items, positions by id, lower-case search
//! text, sort orders, and what belongs to each target.
//!
//! ```text
//!   items ─► Table: texts, columns, orders, positions ─► query ─► rows that a list shows
//!              ▲ Row: what an item tells of a field      rows/   of the service's types and of payloads
//!              ▲ Sort: the orders a list has             triage  of findings with what was decided
//! ```
//!
//! A table is built off the UI thread when new data comes and is shared by reference afterwards. It never changes: newer
//! data is a newer table. [`Remote`] adds when it was read, and why there is no newer one.

#[cfg(test)]
mod query_tests;
mod remote;
pub(crate) mod row;
mod rows;
pub mod sort;

pub use sort::{BY_HITS, BY_NEED, BY_RISK};

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, OnceLock};

pub use remote::Remote;
pub use row::{NoOtherLists, OtherLists, Row, Rows};
pub use rows::RecognizedCapture;
pub use sort::SortOrder;

use crate::contract::{Risk, TargetId};
use crate::query::{Column, ColumnBuilder, FIELDS, Field, RowSet, TextPool};

/// Something that lists show: it has an id, and tells what queries ask.
pub trait Item: Row + Send + Sync + 'static {
    /// Its id.
    type Id: Copy + Eq + Ord + Hash + From<i64> + Into<i64> + std::fmt::Debug + std::fmt::Display + Send + Sync;
    /// Its id.
    fn id(&self) -> Self::Id;
    /// The target it belongs to.
    fn target(&self) -> Option<TargetId> {
        None
    }
    /// Its risk, where it has one.
    fn risk(&self) -> Option<Risk> {
        None
    }
    /// Whether bare words search it.
    const SEARCHED: bool = true;
    /// Fields whose columns are made with the table: those that people ask for most.
    const READY: &'static [Field] = &[];
    /// The orders a list of these can have; the first is the one it starts with.
    fn sorts() -> &'static [SortOrder<Self>]
    where
        Self: Sized;
}

/// What of a table belongs to one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetRows {
    /// Positions, ascending.
    pub positions: Vec<u32>,
    /// How many by risk, from critical down to info.
    pub risks: [u32; 5],
}

/// Items with their search text and positions.
#[derive(Clone, Debug)]
pub struct Table<T: Item> {
    items: Vec<Arc<T>>,
    /// The different search texts, lower case, and the number of that of each item.
    texts: TextPool,
    text_of: Vec<u32>,
    at: HashMap<T::Id, u32>,
    orders: Vec<Vec<u32>>,
    targets: HashMap<TargetId, TargetRows>,
    /// How many by risk, from critical down to info.
    risks: [u32; 5],
    /// Columns by number of their field, made when they are first asked for.
    columns: Vec<OnceLock<Column>>,
}

impl<T: Item> Table<T> {
    /// Makes the table; the order of the items is kept, a second item of the same id is dropped. Items that come
    /// shared stay shared.
    pub fn new<I: Into<Arc<T>>>(items: impl IntoIterator<Item = I>) -> Self {
        let mut table = Self {
            items: Vec::new(),
            texts: TextPool::default(),
            text_of: Vec::new(),
            at: HashMap::new(),
            orders: Vec::new(),
            targets: HashMap::new(),
            risks: [0; 5],
            columns: (0..FIELDS.len()).map(|_| OnceLock::new()).collect(),
        };
        let (mut scratch, mut known) = (String::new(), HashMap::new());
        for item in items {
            let item = item.into();
            let position = table.items.len() as u32;
            if *table.at.entry(item.id()).or_insert(position) != position {
                continue;
            }
            if T::SEARCHED {
                scratch.clear();
                item.search_text(&mut scratch);
                let text = known.entry(scratch.to_lowercase()).or_insert_with_key(|text| table.texts.push(text));
                table.text_of.push(*text);
            }
            table.items.push(item);
        }
        // They grew by doubling.
        table.texts.shrink_to_fit();
        table.text_of.shrink_to_fit();
        table.items.shrink_to_fit();
        T::sorts().iter().for_each(|sort| table.sort(sort.compare));
        table.group();
        T::READY.iter().for_each(|&field| _ = table.column(field));
        table
    }

    /// The values of a field for queries; nothing where they do not follow from the items alone.
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
        self.columns.get(field as usize).map(|column| column.get_or_init(make))
    }

    /// Adds an order. Items that are equal in it stand as they do in the first one.
    fn sort(&mut self, compare: fn(&T, &T) -> Ordering) {
        let mut order = self.orders.first().cloned().unwrap_or_else(|| (0..self.items.len() as u32).collect());
        order.sort_by(|&a, &b| compare(&self.items[a as usize], &self.items[b as usize]));
        self.orders.push(order);
    }

    fn group(&mut self) {
        for (position, item) in self.items.iter().enumerate() {
            let level = item.risk().map(|risk| 4 - risk as usize);
            level.into_iter().for_each(|level| self.risks[level] += 1);
            let Some(target) = item.target() else { continue };
            let group = self.targets.entry(target).or_default();
            group.positions.push(position as u32);
            level.into_iter().for_each(|level| group.risks[level] += 1);
        }
    }

    /// Positions in one of the orders of [`Item::sorts`]; the first one for a number beyond.
    pub fn order(&self, sort: usize) -> &[u32] {
        self.orders.get(sort).or(self.orders.first()).map(Vec::as_slice).unwrap_or_default()
    }

    /// How many there are by risk, from critical down to info.
    pub fn risks(&self) -> [u32; 5] {
        self.risks
    }

    /// What belongs to a target.
    pub fn of_target(&self, target: TargetId) -> Option<&TargetRows> {
        self.targets.get(&target)
    }

    /// Which items have a lower-case text among their search texts, or belong to one of these targets.
    pub fn with_text(&self, text: &str, targets: &[TargetId]) -> RowSet {
        let having = self.texts.having(text);
        let mut hits =
            RowSet::of(self.len(), |row| self.text_of.get(row).is_some_and(|&text| having.has(text as usize)));
        for group in targets.iter().filter_map(|target| self.targets.get(target)) {
            group.positions.iter().for_each(|&position| hits.set(position as usize));
        }
        hits
    }

    /// All items, in the order given.
    pub fn items(&self) -> &[Arc<T>] {
        &self.items
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item with this id.
    pub fn get(&self, id: T::Id) -> Option<&Arc<T>> {
        self.at.get(&id).map(|&position| &self.items[position as usize])
    }

    /// The position of this id.
    pub fn position(&self, id: T::Id) -> Option<usize> {
        self.at.get(&id).map(|&position| position as usize)
    }
}

impl<T: Item> Default for Table<T> {
    fn default() -> Self {
        Self::new(Vec::<T>::new())
    }
}
