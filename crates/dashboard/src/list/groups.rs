//! The rows of a list in groups. Findings, captures and the retest board use it.
//!
//! ```text
//!   row ─► number of its group ─► groups, ordered by rank ─► places: headers, and the rows of unfolded groups
//! ```
//!
//! A row that is added or removed changes only its own group. Places are calculated from the order
//! and never stored: a request that arrives in a list of 100,000 captures must not cost a pass over
//! all of them.

use crate::base::GroupId;
use std::collections::vec_deque::Iter;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::iter::Copied;

/// Rows of a list with something in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub id: GroupId,
    /// Its index in [`Groups`].
    pub number: u32,
    /// Row numbers, ascending.
    pub rows: VecDeque<u64>,
    pub is_open: bool,
    rank: u64,
}

/// A row at a place of the screen.
#[derive(Clone, Copy, Debug)]
pub enum GroupPlace<'a> {
    Header(&'a Group),
    /// A row of the group, by its index in [`Group::rows`].
    Row(&'a Group, usize),
}

impl<'a> GroupPlace<'a> {
    pub fn group(self) -> &'a Group {
        match self {
            Self::Header(group) | Self::Row(group, _) => group,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Unfolded {
    /// Index in the order of the groups.
    index: usize,
    /// Place of its header.
    place: usize,
    rows: usize,
}

/// The groups of a list. The list is ungrouped until [`Groups::enable`].
#[derive(Clone, Debug, Default)]
pub struct Groups {
    is_on: bool,
    starts_open: bool,
    /// A group of fewer rows has no header.
    least: usize,
    /// Groups that are folded although the others start unfolded, or the reverse.
    toggled: BTreeSet<GroupId>,
    groups: Vec<Group>,
    numbers: HashMap<GroupId, u32>,
    /// Numbers of groups without rows, to be used again.
    free: Vec<u32>,
    /// Rank and number of each group that has rows.
    order: Vec<(u64, u32)>,
    /// Numbers of groups that changed since the order was made.
    touched: Vec<u32>,
    unfolded: Vec<Unfolded>,
    /// The number of the group of each row, where rows are counted from zero.
    number_of: Vec<u32>,
}

impl Groups {
    /// Groups the list. Groups of fewer than `least` rows have no header.
    pub fn enable(&mut self, starts_open: bool, least: usize) {
        self.clear();
        (self.is_on, self.starts_open, self.least) = (true, starts_open, least);
    }

    /// Ungroups the list. Folded groups are remembered.
    pub fn disable(&mut self) {
        self.clear();
        self.is_on = false;
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        let toggled = std::mem::take(&mut self.toggled);
        let Self {
            is_on,
            starts_open,
            least,
            ..
        } = *self;
        *self = Self {
            is_on,
            starts_open,
            least,
            toggled,
            ..Self::default()
        };
    }

    /// Groups that are folded although the others start unfolded, or the reverse.
    pub(crate) fn toggled(&self) -> impl Iterator<Item = GroupId> {
        self.toggled.iter().copied()
    }

    /// Folds and unfolds groups as before a restart, from the next time they are filled.
    pub(crate) fn restore_toggled(&mut self, toggled: impl Iterator<Item = GroupId>) {
        self.toggled = toggled.collect();
    }

    /// The number of groups that have rows.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Groups rows that are counted from zero: `ids` has the group of each number, `number_of` the
    /// number of each row. The groups are in the order of their first rows.
    pub fn fill(&mut self, ids: impl IntoIterator<Item = GroupId>, number_of: Vec<u32>) {
        self.clear();
        let ids = ids.into_iter();
        self.groups.reserve(ids.size_hint().0);
        self.numbers.reserve(ids.size_hint().0);
        ids.for_each(|id| _ = self.begin(id));
        let mut sizes = vec![0; self.groups.len()];
        number_of
            .iter()
            .for_each(|&number| sizes[number as usize] += 1);
        // A queue that grows row by row copies its rows again and again.
        self.groups
            .iter_mut()
            .zip(sizes)
            .for_each(|(group, size)| group.rows.reserve_exact(size));
        for (row, &number) in number_of.iter().enumerate() {
            let group = &mut self.groups[number as usize];
            if group.rows.is_empty() {
                group.rank = self.order.len() as u64;
                self.order.push((group.rank, number));
            }
            group.rows.push_back(row as u64);
        }
        self.number_of = number_of;
        self.locate_headers();
    }

    /// Orders the groups by a key.
    pub fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&Group) -> K) {
        let mut groups: Vec<&mut Group> = self
            .groups
            .iter_mut()
            .filter(|group| !group.rows.is_empty())
            .collect();
        groups.sort_by_cached_key(|group| key(group));
        self.order.clear();
        for (rank, group) in groups.into_iter().enumerate() {
            group.rank = rank as u64;
            self.order.push((group.rank, group.number));
        }
        self.locate_headers();
    }

    /// The number of places: headers and the rows of unfolded groups.
    pub fn places(&self) -> usize {
        self.place_at(self.order.len())
    }

    /// The groups in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Group> {
        self.order.iter().map(|&(_, number)| self.group(number))
    }

    pub fn get(&self, id: GroupId) -> Option<&Group> {
        self.numbers.get(&id).map(|&number| self.group(number))
    }

    /// The row at a place.
    pub fn at(&self, place: usize) -> Option<GroupPlace<'_>> {
        let index = match self.unfolded.partition_point(|one| one.place < place) {
            0 => place,
            after => {
                let above = self.unfolded[after - 1];
                if place <= above.place + above.rows {
                    let group = self.group(self.order[above.index].1);
                    return Some(GroupPlace::Row(group, place - above.place - 1));
                }
                above.index + place - above.place - above.rows
            }
        };
        let group = self.group(self.order.get(index)?.1);
        Some(if self.has_header(group) {
            GroupPlace::Header(group)
        } else {
            GroupPlace::Row(group, 0)
        })
    }

    /// The group whose header is at a place.
    pub fn header(&self, place: usize) -> Option<&Group> {
        match self.at(place)? {
            GroupPlace::Header(group) => Some(group),
            GroupPlace::Row(..) => None,
        }
    }

    /// The place of the header above a row.
    pub fn header_above(&self, place: usize) -> Option<usize> {
        match self.at(place)? {
            GroupPlace::Row(group, _) if self.has_header(group) => self.place_of(group.id),
            GroupPlace::Row(..) | GroupPlace::Header(_) => None,
        }
    }

    /// Row numbers that a place represents: of a header all rows of its group.
    pub fn rows_at(&self, place: usize) -> Copied<Iter<'_, u64>> {
        match self.at(place) {
            Some(GroupPlace::Header(group)) => group.rows.iter(),
            Some(GroupPlace::Row(group, index)) => group.rows.range(index..=index),
            None => Iter::default(),
        }
        .copied()
    }

    /// The place of a header.
    pub fn place_of(&self, id: GroupId) -> Option<usize> {
        let number = *self.numbers.get(&id)?;
        let rank = self.group(number).rank;
        self.order
            .binary_search(&(rank, number))
            .ok()
            .map(|index| self.place_at(index))
    }

    /// The place of a row of a group; of a folded row that of the header.
    pub fn place_in(&self, number: u32, row: u64) -> Option<usize> {
        let group = self.groups.get(number as usize)?;
        let header = self.place_of(group.id)?;
        let index = (group.is_open && self.has_header(group))
            .then(|| group.rows.binary_search(&row).ok())
            .flatten();
        Some(index.map_or(header, |index| header + 1 + index))
    }

    /// The group of a row, where rows are counted from zero.
    pub fn group_of(&self, row: usize) -> Option<&Group> {
        self.number_of.get(row).map(|&number| self.group(number))
    }

    /// Place of the first row of a group at or after `row`, else of its last one; of a folded
    /// group, that of its header.
    pub fn place_from(&self, id: GroupId, row: u64) -> Option<usize> {
        let (group, header) = (self.get(id)?, self.place_of(id)?);
        let last = group.rows.len().checked_sub(1)?;
        let is_unfolded = group.is_open && self.has_header(group);
        let index = is_unfolded.then(|| group.rows.partition_point(|&other| other < row).min(last));
        Some(index.map_or(header, |index| header + 1 + index))
    }

    /// The place of the first group of at least this rank.
    pub fn place_near(&self, rank: u64) -> usize {
        self.place_at(self.order.partition_point(|&(other, _)| other < rank))
    }

    /// Unfolds a group, or folds it.
    pub fn set_open(&mut self, id: GroupId, is_open: bool) {
        match is_open == self.starts_open {
            true => self.toggled.remove(&id),
            false => self.toggled.insert(id),
        };
        if let Some(&number) = self.numbers.get(&id) {
            self.groups[number as usize].is_open = is_open;
        }
        self.locate_headers();
    }

    /// Adds a row and returns the number of its group. [`Groups::arrange`] must follow, as after
    /// [`Groups::remove`].
    pub fn add(&mut self, id: GroupId, row: u64) -> u32 {
        let number = self
            .numbers
            .get(&id)
            .copied()
            .unwrap_or_else(|| self.begin(id));
        self.add_to(number, row);
        number
    }

    /// Adds a row to a group that has or had rows.
    pub fn add_to(&mut self, number: u32, row: u64) {
        if self.is_on {
            let rows = &mut self.groups[number as usize].rows;
            // Older chunks come in descending order: in front, their rows need no sorting.
            match rows.front().is_some_and(|&first| row < first) {
                true => rows.push_front(row),
                false => rows.push_back(row),
            }
            self.touched.push(number);
        }
    }

    pub fn remove(&mut self, number: u32, row: u64) {
        if !self.is_on {
            return;
        }
        let rows = &mut self.groups[number as usize].rows;
        // In most cases the oldest or the newest row.
        if rows.front() == Some(&row) {
            rows.pop_front();
        } else if rows.back() == Some(&row) {
            rows.pop_back();
        } else if let Ok(at) = rows.binary_search(&row) {
            rows.remove(at);
        }
        self.touched.push(number);
    }

    /// Orders the groups by their last rows, after rows were added or removed.
    pub fn arrange(&mut self) {
        if self.touched.is_empty() {
            return;
        }
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        let mut is_touched = vec![false; self.groups.len()];
        touched
            .iter()
            .for_each(|&number| is_touched[number as usize] = true);
        self.order
            .retain(|(_, number)| !is_touched[*number as usize]);
        for number in touched {
            let group = &mut self.groups[number as usize];
            if !group.rows.iter().is_sorted() {
                group.rows.make_contiguous().sort();
            }
            match group.rows.back() {
                Some(&last) => {
                    group.rank = last;
                    self.order.push((last, number));
                }
                None => {
                    self.numbers.remove(&group.id);
                    self.free.push(number);
                }
            }
        }
        // Two or three sorted runs.
        self.order.sort();
        self.locate_headers();
    }

    fn begin(&mut self, id: GroupId) -> u32 {
        let number = self.free.pop().unwrap_or(self.groups.len() as u32);
        let is_open = self.toggled.contains(&id) != self.starts_open;
        let group = Group {
            id,
            number,
            rows: VecDeque::new(),
            is_open,
            rank: 0,
        };
        match self.groups.get_mut(number as usize) {
            Some(free) => *free = group,
            None => self.groups.push(group),
        }
        self.numbers.insert(id, number);
        number
    }

    fn group(&self, number: u32) -> &Group {
        &self.groups[number as usize]
    }

    fn has_header(&self, group: &Group) -> bool {
        group.rows.len() >= self.least
    }

    /// The place of a group by its index in the order.
    fn place_at(&self, index: usize) -> usize {
        match self.unfolded.partition_point(|one| one.index < index) {
            0 => index,
            after => {
                let above = self.unfolded[after - 1];
                above.place + above.rows + index - above.index
            }
        }
    }

    fn locate_headers(&mut self) {
        let mut unfolded = Vec::new();
        let mut place = 0;
        for (index, group) in self.iter().enumerate() {
            if group.is_open && self.has_header(group) {
                unfolded.push(Unfolded {
                    index,
                    place,
                    rows: group.rows.len(),
                });
                place += group.rows.len();
            }
            place += 1;
        }
        self.unfolded = unfolded;
    }
}
