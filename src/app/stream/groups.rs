//! The captures in groups: what the hits of a payload, a source or a logger come to, and those of unfolded ones below.
//!
//! Groups stand in the order of their newest capture, so that the end of the list is still what came last. A group of one
//! is that capture. A head stands for its newest capture where one is asked about, for all of them where many are.

use std::collections::{BTreeSet, HashMap};

use super::{Caught, Stream};
use crate::contract::{LoggerId, Shared};
use crate::oob::Token;

/// What captures have in common in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum By {
    Payload,
    Source,
    Logger,
}

impl By {
    /// One word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Payload => "payload",
            Self::Source => "source",
            Self::Logger => "logger",
        }
    }
}

/// Names a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// Hits of this payload.
    Payload(Token),
    /// No payload that is known, from this address.
    Unknown(Shared),
    /// From this address.
    Source(Shared),
    /// Of this logger.
    Logger(LoggerId),
}

impl Key {
    fn of(by: By, caught: &Caught) -> Self {
        let source = || caught.capture.ip_address.clone();
        match by {
            By::Payload => caught.known().map_or_else(|| Self::Unknown(source()), |known| Self::Payload(known.token)),
            By::Source => Self::Source(source()),
            By::Logger => Self::Logger(caught.logger),
        }
    }
}

/// A group of two captures or more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub key: Key,
    /// Row numbers of its captures, oldest first.
    pub rows: Vec<u64>,
    /// They have rows of their own.
    pub open: bool,
}

/// What is drawn and walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Head(u32),
    One(u64),
}

/// The captures in groups. Off as long as `by` is none.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// By what.
    pub by: Option<By>,
    open: BTreeSet<Key>,
    groups: Vec<Group>,
    places: Vec<Place>,
}

impl Groups {
    /// Places there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The group whose head is at a place.
    pub(super) fn head(&self, at: usize) -> Option<&Group> {
        match self.places.get(at)? {
            Place::Head(group) => self.groups.get(*group as usize),
            Place::One(_) => None,
        }
    }

    /// Row numbers that a place stands for.
    pub(super) fn rows(&self, at: usize) -> &[u64] {
        match self.places.get(at) {
            Some(Place::Head(group)) => self.groups.get(*group as usize).map_or(&[], |group| &group.rows),
            Some(Place::One(row)) => std::slice::from_ref(row),
            None => &[],
        }
    }

    /// The place of a row number; of one that is folded away, that of its head.
    pub(super) fn place(&self, row: u64) -> Option<usize> {
        let one = self.places.iter().rposition(|&place| place == Place::One(row));
        one.or_else(|| {
            let group = self.groups.iter().position(|group| group.rows.binary_search(&row).is_ok())?;
            self.place_of_head(group)
        })
    }

    /// The place of a head.
    pub(super) fn place_of(&self, key: &Key) -> Option<usize> {
        self.place_of_head(self.groups.iter().position(|group| group.key == *key)?)
    }

    fn place_of_head(&self, group: usize) -> Option<usize> {
        self.places.iter().position(|&place| place == Place::Head(group as u32))
    }

    /// The group that holds a row number.
    pub(super) fn group_of(&self, row: u64) -> Option<&Key> {
        self.groups.iter().find(|group| group.rows.binary_search(&row).is_ok()).map(|group| &group.key)
    }

    /// Unfolds a group, or folds it.
    pub(super) fn fold(&mut self, key: &Key, open: bool) {
        match open {
            true => self.open.insert(key.clone()),
            false => self.open.remove(key),
        };
    }

    /// Makes the groups of the rows of the list anew.
    pub(super) fn collect(&mut self, rows: impl Iterator<Item = u64>, stream: &Stream) {
        self.groups.clear();
        self.places.clear();
        let Some(by) = self.by else { return };
        let mut numbers: HashMap<Key, usize> = HashMap::new();
        for row in rows {
            let Some(caught) = stream.get(row) else { continue };
            let key = Key::of(by, caught);
            let number = *numbers.entry(key.clone()).or_insert_with(|| {
                let open = self.open.contains(&key);
                self.groups.push(Group { key, rows: Vec::new(), open });
                self.groups.len() - 1
            });
            self.groups[number].rows.push(row);
        }
        self.groups.sort_by_key(|group| group.rows.last().copied());
        for (number, group) in self.groups.iter().enumerate() {
            match group.rows.as_slice() {
                [one] => self.places.push(Place::One(*one)),
                rows => {
                    self.places.push(Place::Head(number as u32));
                    let shown = if group.open { rows } else { &[] };
                    self.places.extend(shown.iter().map(|&row| Place::One(row)));
                }
            }
        }
    }
}
