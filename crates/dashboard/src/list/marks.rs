//! The marks of a list, by the positions of its table: marking 375,000 items sets as many bits.

use scandeck_domain::query::RowSet;
use scandeck_domain::table::{Item, Table};
use std::sync::Arc;

/// Marked items of a table.
#[derive(Clone, Debug)]
pub struct Marks<T: Item> {
    /// The table of the positions; none without marks.
    table: Option<Arc<Table<T>>>,
    rows: RowSet,
    len: usize,
}

impl<T: Item> Default for Marks<T> {
    fn default() -> Self {
        Self {
            table: None,
            rows: RowSet::default(),
            len: 0,
        }
    }
}

impl<T: Item> Marks<T> {
    /// The number of marks.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes all marks.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether the item at a position of a table is marked.
    pub fn has(&self, table: &Table<T>, row: u32) -> bool {
        self.is_of(table) && self.rows.has(row as usize)
    }

    /// Whether an item is marked.
    pub fn contains(&self, id: T::Id) -> bool {
        self.position(id).is_some_and(|at| self.rows.has(at))
    }

    /// Marks the item at a position, or removes its mark. Earlier marks follow to this table.
    pub fn set(&mut self, table: &Arc<Table<T>>, row: u32, on: bool) {
        if !self.is_of(table) {
            self.follow(table);
            if self.table.is_none() {
                *self = Self {
                    table: Some(Arc::clone(table)),
                    rows: RowSet::none(table.len()),
                    len: 0,
                };
            }
        }
        if self.rows.has(row as usize) != on {
            self.rows.put(row as usize, on);
            self.len = if on { self.len + 1 } else { self.len - 1 };
        }
    }

    /// Marks the items of a table with these ids.
    pub fn extend(&mut self, table: &Arc<Table<T>>, ids: impl IntoIterator<Item = T::Id>) {
        let rows = ids.into_iter().filter_map(|id| table.position(id));
        rows.for_each(|row| self.set(table, row as u32, true));
    }

    /// Removes the mark of an item. Returns whether it was marked.
    pub fn remove(&mut self, id: T::Id) -> bool {
        let marked = self.position(id).filter(|&at| self.rows.has(at));
        if let Some(at) = marked {
            self.rows.put(at, false);
            self.len -= 1;
        }
        marked.is_some()
    }

    /// Removes the marks of other items.
    pub fn retain(&mut self, keeps: impl Fn(T::Id) -> bool) {
        let removed: Vec<T::Id> = self.ids().filter(|&id| !keeps(id)).collect();
        removed.into_iter().for_each(|id| _ = self.remove(id));
    }

    /// The positions of the marked items.
    pub fn rows(&self) -> impl Iterator<Item = usize> {
        self.rows.rows()
    }

    /// The marked items.
    pub fn ids(&self) -> impl Iterator<Item = T::Id> {
        let items = self
            .table
            .as_ref()
            .map(|table| table.items())
            .unwrap_or_default();
        self.rows.rows().map(|at| items[at].id())
    }

    /// Moves the marks to another table. Marks of items that it does not have are removed.
    pub fn follow(&mut self, table: &Arc<Table<T>>) {
        if self.is_of(table) {
            return;
        }
        let Some(before) = self.table.take().filter(|_| self.len > 0) else {
            return self.clear();
        };
        let (was, mut rows) = (std::mem::take(&mut self.rows), RowSet::none(table.len()));
        let mut changed = was.clone();
        for (row, old) in table.places_in(&before).enumerate() {
            if let Some(old) = old.map(|old| old as usize).filter(|&old| was.has(old)) {
                rows.put(row, true);
                changed.put(old, false);
            }
        }
        // Items that changed have the same id.
        let changed = changed
            .rows()
            .filter_map(|old| table.position(before.items()[old].id()));
        changed.for_each(|row| rows.put(row, true));
        *self = Self {
            table: Some(Arc::clone(table)),
            len: rows.count(),
            rows,
        };
    }

    fn is_of(&self, table: &Table<T>) -> bool {
        self.table
            .as_ref()
            .is_some_and(|of| of.revision() == table.revision())
    }

    fn position(&self, id: T::Id) -> Option<usize> {
        self.table.as_ref()?.position(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::{Scan, ScanId};
    use std::collections::BTreeSet;

    proptest::proptest! {
        #[test]
        fn marks_follow_items_to_other_tables(
            steps in proptest::collection::vec((0..5u8, 0..10i64), 0..40),
        ) {
            let scan = |id: i64| Arc::new(Scan { id: ScanId(id), ..Scan::default() });
            let mut items: Vec<Arc<Scan>> = (0..6).map(scan).collect();
            let (mut marks, mut expected): (Marks<Scan>, BTreeSet<ScanId>) = Default::default();
            let mut table = Arc::new(Table::new(items.iter().cloned()));
            for (step, number) in steps {
                let id = ScanId(number);
                match step {
                    0 => {
                        // It changes, or is new.
                        items.retain(|item| item.id != id);
                        items.insert(items.len().min(number as usize), scan(number));
                    }
                    1 => items.retain(|item| item.id != id),
                    2 => {
                        marks.remove(id);
                        expected.remove(&id);
                    }
                    3 => {
                        marks.extend(&table, [id]);
                        expected.extend(table.position(id).map(|_| id));
                    }
                    _ => {
                        marks.retain(|other| other != id);
                        expected.retain(|&other| other != id);
                    }
                }
                if step < 2 {
                    table = Arc::new(Table::new(items.iter().cloned()));
                    marks.follow(&table);
                    expected.retain(|&id| table.position(id).is_some());
                }
                proptest::prop_assert_eq!(marks.ids().collect::<BTreeSet<_>>(), expected.clone());
                proptest::prop_assert_eq!((marks.len(), marks.contains(id)), (expected.len(), expected.contains(&id)));
            }
        }
    }
}
