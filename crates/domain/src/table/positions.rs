//! The positions of items by id. The ids are in the items, so that an entry is a position alone.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;

use super::Item;

/// Positions of the items of one table.
#[derive(Clone, Debug, Default)]
pub(super) struct Positions {
    positions: HashTable<u32>,
    hasher: RandomState,
}

impl Positions {
    /// Makes room for this number of positions.
    pub fn reserve_exact(&mut self, count: usize) {
        self.positions = HashTable::with_capacity(count);
    }

    /// Adds the position after these items; false if one of them has this id.
    pub fn add<T: Item>(&mut self, items: &[Arc<T>], id: T::Id) -> bool {
        let is_new = self.get(items, id).is_none();
        if is_new {
            let hash = |id: T::Id| self.hasher.hash_one(id);
            let position = items.len() as u32;
            let hash_of = |&at: &u32| hash(items.get(at as usize).map_or(id, |item| item.id()));
            self.positions.insert_unique(hash(id), position, hash_of);
        }
        is_new
    }

    /// The position of an id among these items.
    pub fn get<T: Item>(&self, items: &[Arc<T>], id: T::Id) -> Option<usize> {
        let is_it = |&at: &u32| items[at as usize].id() == id;
        self.positions
            .find(self.hasher.hash_one(id), is_it)
            .map(|&at| at as usize)
    }

    /// Releases unused memory.
    pub fn shrink_to_fit<T: Item>(&mut self, items: &[Arc<T>]) {
        self.positions
            .shrink_to_fit(|&at| self.hasher.hash_one(items[at as usize].id()));
    }
}
