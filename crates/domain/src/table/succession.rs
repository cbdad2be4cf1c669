//! A table that follows another one: texts, columns and orders of equal items are reused.
//!
//! ```text
//!   items ─► same item in the table before? ─► its text, its cells, its place among the others
//!                └─ no ─► computed, and merged into the orders
//! ```
//!
//! The cost of text and comparison is that of the changed items; for the others, numbers are
//! copied. The result equals that of [`Table::new`], which is used where too little is the same.

use std::sync::Arc;

use super::{Item, SearchTextsBuilder, Table};
use crate::query::{ColumnBuilder, FIELDS, Field};
use crate::table::NoOtherLists;

/// Texts without an item that a table may hold, beside as many as it has items.
const SPARE: usize = 1024;
/// The place of an item that is not in the table.
const NOWHERE: u32 = u32::MAX;

/// Where the items of a table come from.
struct Origins {
    /// The position of each item in the table before, if it is the same item.
    old: Vec<Option<u32>>,
    /// The position of each item of the table before, or [`NOWHERE`].
    new: Vec<u32>,
    /// The positions of the other items.
    fresh: Vec<u32>,
}

impl<T: Item> Table<T> {
    /// The table of these items, like [`new`](Self::new). If they are those of the table before, it
    /// is that table. Long texts are reused for the fields that are still searched.
    pub fn following(before: &Arc<Self>, items: Vec<Arc<T>>, searched: &[Field]) -> Arc<Self> {
        let same = |(a, b): (&Arc<T>, &Arc<T>)| Arc::ptr_eq(a, b);
        if items.len() == before.len() && items.iter().zip(&before.items).all(same) {
            return Arc::clone(before);
        }
        let mut table = Self::unfilled();
        table.at.reserve_exact(items.len());
        table.items.reserve_exact(items.len());
        for item in items {
            if table.at.add(&table.items, item.id()) {
                table.items.push(item);
            }
        }
        let Some(origins) = table.origins(before) else {
            return Arc::new(Self::new(table.items));
        };
        table.take_texts(before, &origins);
        for at in 0..T::SORTS.len() {
            table.take_order(before, &origins, at);
        }
        table.group();
        table.take_columns(before, &origins, searched);
        Arc::new(table)
    }

    /// The same table with another revision, for data beside it that changed.
    pub fn renewed(&self) -> Self {
        Self {
            items: self.items.clone(),
            texts: self.texts.clone(),
            at: self.at.clone(),
            orders: self.orders.clone(),
            targets: self.targets.clone(),
            risks: self.risks,
            columns: self.columns.clone(),
            ..Self::unfilled()
        }
    }

    /// The position of each item in the table before, if it is the same item there.
    pub fn places_in<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = Option<u32>> + 'a {
        let mut next = 0;
        self.items.iter().map(move |item| {
            let is_same = |&at: &usize| {
                before
                    .items
                    .get(at)
                    .is_some_and(|was| Arc::ptr_eq(was, item))
            };
            let at = Some(next)
                .filter(is_same)
                .or_else(|| before.position(item.id()).filter(is_same));
            next = at.map_or(next, |at| at + 1);
            at.map(|at| at as u32)
        })
    }

    /// None if most items are new, or are in another order.
    fn origins(&self, before: &Self) -> Option<Origins> {
        let mut origins = Origins {
            old: Vec::with_capacity(self.len()),
            new: vec![NOWHERE; before.len()],
            fresh: Vec::new(),
        };
        let mut next = 0;
        for (at, place) in self.places_in(before).zip(0..) {
            match at {
                Some(at) if at < next => return None,
                Some(at) => {
                    origins.new[at as usize] = place;
                    next = at + 1;
                }
                None => origins.fresh.push(place),
            }
            origins.old.push(at);
        }
        let is_worth =
            origins.fresh.len() * 2 <= self.len() && before.texts.len() <= 2 * self.len() + SPARE;
        is_worth.then_some(origins)
    }

    fn take_texts(&mut self, before: &Self, origins: &Origins) {
        if !T::SEARCHED {
            return;
        }
        let mut texts = SearchTextsBuilder::following(&before.texts, self.len());
        for (item, old) in self.items.iter().zip(&origins.old) {
            match old {
                Some(old) => texts.copy_row(&before.texts, *old as usize),
                None => texts.add(
                    &**item,
                    before.position(item.id()).map(|at| (&before.texts, at)),
                ),
            }
        }
        self.texts = texts.finish();
    }

    /// Merges the order of the table before with the new items. Equal items keep the order of the
    /// first one.
    fn take_order(&mut self, before: &Self, origins: &Origins, at: usize) {
        let compare = T::SORTS[at].compare;
        let mut rank: Vec<u32> = Vec::new();
        if let Some(first) = self.orders.first() {
            rank.resize(self.len(), 0);
            first
                .iter()
                .zip(0..)
                .for_each(|(&row, number)| rank[row as usize] = number);
        }
        let rank = |row: u32| rank.get(row as usize).copied().unwrap_or(row);
        let items = &self.items;
        let compare = |&a: &u32, &b: &u32| {
            compare(&items[a as usize], &items[b as usize]).then_with(|| rank(a).cmp(&rank(b)))
        };
        let mut fresh = origins.fresh.clone();
        fresh.sort_by(compare);
        let same = before.orders[at]
            .iter()
            .map(|&row| origins.new[row as usize])
            .filter(|&row| row != NOWHERE);
        let mut order = Vec::with_capacity(self.len());
        let mut fresh = fresh.into_iter().peekable();
        for row in same {
            while let Some(next) = fresh.next_if(|next| compare(next, &row).is_lt()) {
                order.push(next);
            }
            order.push(row);
        }
        order.extend(fresh);
        self.orders.push(order);
    }

    fn take_columns(&mut self, before: &Self, origins: &Origins, searched: &[Field]) {
        for (field, column) in FIELDS.iter().map(|spec| spec.field).zip(&before.columns) {
            let Some(old) = column
                .get()
                .filter(|_| !T::is_long(field) || searched.contains(&field))
            else {
                continue;
            };
            let mut builder = ColumnBuilder::following(field, self.len(), old);
            for (item, origin) in self.items.iter().zip(&origins.old) {
                match origin {
                    Some(row) => builder.copy_row(old, *row as usize),
                    None => {
                        item.write_field(field, &NoOtherLists, &mut builder);
                        builder.end_row();
                    }
                }
            }
            // A new table has no columns.
            _ = self.columns[field as usize].set(builder.finish());
        }
        T::READY.iter().for_each(|&field| _ = self.column(field));
    }
}
