//! The captures in groups: what the hits of a payload, a source or a logger come to, and those of unfolded ones below.
//!
//! CaptureGroups stand in the order of their newest capture, so that the end of the list is still what came last. A group of one
//! is that capture. A head stands for its newest capture where one is asked about, for all of them where many are.
//!
//! ```text
//!   row ─► key ─► number ─► group: its rows ─► order: by the newest row ─► places, with those below unfolded heads
//! ```
//!
//! A row that comes or leaves touches its own group only; places are counted from the order, never written down. The
//! groups of findings are counted as a whole with each filter ([`crate::dashboard::list::groups`]): a request that comes
//! in would then cost a pass over all 100,000. Cursor, marks and folding are the same for both: those of
//! [`Cursor`](crate::dashboard::list::Cursor).

use crate::contract::{LoggerId, Shared};
use crate::dashboard::base::Caught;
use crate::oob::Token;
use std::collections::vec_deque::Iter;
use std::collections::{BTreeSet, HashMap, VecDeque};

/// What captures have in common in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureGroupBy {
    Payload,
    Source,
    Logger,
}

impl CaptureGroupBy {
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
pub enum CaptureGroupKey {
    /// Hits of this payload.
    Payload(Token),
    /// No payload that is known, from this address.
    Unknown(Shared),
    /// From this address.
    Source(Shared),
    /// Of this logger.
    Logger(LoggerId),
}

impl CaptureGroupKey {
    fn of(by: CaptureGroupBy, caught: &Caught) -> Self {
        let source = || caught.capture.ip_address.clone();
        match by {
            CaptureGroupBy::Payload => {
                caught.known().map_or_else(|| Self::Unknown(source()), |known| Self::Payload(known.token))
            }
            CaptureGroupBy::Source => Self::Source(source()),
            CaptureGroupBy::Logger => Self::Logger(caught.logger),
        }
    }
}

/// A group of captures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureGroup {
    /// Its name.
    pub key: CaptureGroupKey,
    /// Row numbers of its captures, oldest first.
    pub rows: VecDeque<u64>,
    /// They have rows of their own.
    pub open: bool,
}

/// The captures in groups. Off as long as `by` is none.
#[derive(Clone, Debug, Default)]
pub struct CaptureGroups {
    /// CaptureGroupBy what.
    pub by: Option<CaptureGroupBy>,
    open: BTreeSet<CaptureGroupKey>,
    /// CaptureGroupBy their number.
    groups: Vec<CaptureGroup>,
    numbers: HashMap<CaptureGroupKey, u32>,
    /// Numbers of groups that have no rows any more.
    free: Vec<u32>,
    /// The newest row of each group, with its number.
    order: Vec<(u64, u32)>,
    /// Numbers of groups that the order is not up to.
    touched: Vec<u32>,
    /// Places of unfolded heads, and how many rows are below each.
    unfolded: Vec<(usize, usize)>,
}

impl CaptureGroups {
    /// Places there are.
    pub(crate) fn len(&self) -> usize {
        self.order.len() + self.unfolded.iter().map(|(_, rows)| rows).sum::<usize>()
    }

    /// The group whose head is at a place.
    pub(crate) fn head(&self, at: usize) -> Option<&CaptureGroup> {
        let (group, below) = self.at(at)?;
        (below.is_none() && group.rows.len() > 1).then_some(group)
    }

    /// Row numbers that a place stands for.
    pub(crate) fn rows(&self, at: usize) -> Iter<'_, u64> {
        match self.at(at) {
            Some((group, Some(below))) => group.rows.range(below..=below),
            Some((group, None)) => group.rows.iter(),
            None => Iter::default(),
        }
    }

    /// The group that a place belongs to; of a row below its head, which one.
    fn at(&self, at: usize) -> Option<(&CaptureGroup, Option<usize>)> {
        let mut before = 0;
        for &(head, rows) in self.unfolded.iter().take_while(|(head, _)| *head < at) {
            if at <= head + rows {
                return Some((self.group(self.order[head - before].1), Some(at - head - 1)));
            }
            before += rows;
        }
        Some((self.group(self.order.get(at - before)?.1), None))
    }

    /// The place of a row of a group; of one that is folded away, that of its head.
    pub(crate) fn place(&self, number: u32, row: u64) -> Option<usize> {
        let (head, group) = (self.place_of_head(number)?, self.group(number));
        let below = (group.open && group.rows.len() > 1).then(|| group.rows.binary_search(&row).ok()).flatten();
        Some(below.map_or(head, |below| head + 1 + below))
    }

    /// The place of the first group that came after a row.
    pub(crate) fn place_near(&self, row: u64) -> usize {
        self.place_at(self.order.partition_point(|(newest, _)| *newest < row))
    }

    /// The place of a head.
    pub(crate) fn place_of(&self, key: &CaptureGroupKey) -> Option<usize> {
        self.place_of_head(*self.numbers.get(key)?)
    }

    pub(crate) fn place_of_head(&self, number: u32) -> Option<usize> {
        self.index(number).map(|index| self.place_at(index))
    }

    fn place_at(&self, index: usize) -> usize {
        let below = |place, &(head, rows): &(usize, usize)| if head < place { place + rows } else { place };
        self.unfolded.iter().fold(index, below)
    }

    fn group(&self, number: u32) -> &CaptureGroup {
        &self.groups[number as usize]
    }

    /// Where a group is in the order.
    fn index(&self, number: u32) -> Option<usize> {
        let newest = *self.groups.get(number as usize)?.rows.back()?;
        self.order.binary_search(&(newest, number)).ok()
    }

    /// Unfolds a group, or folds it.
    pub(crate) fn fold(&mut self, key: &CaptureGroupKey, open: bool) {
        match open {
            true => self.open.insert(key.clone()),
            false => self.open.remove(key),
        };
        if let Some(&number) = self.numbers.get(key) {
            self.groups[number as usize].open = open;
        }
        self.unfold();
    }

    /// There are no rows.
    pub(crate) fn clear(&mut self) {
        *self = Self { by: self.by, open: std::mem::take(&mut self.open), ..Self::default() };
    }

    /// A row comes; the number of its group. To be followed by [`CaptureGroups::arrange`], as what leaves.
    pub(crate) fn put(&mut self, row: u64, caught: &Caught) -> u32 {
        let Some(by) = self.by else { return 0 };
        let key = CaptureGroupKey::of(by, caught);
        let number = self.numbers.get(&key).copied().unwrap_or_else(|| self.begin(key));
        self.join(number, row);
        number
    }

    /// A row comes to a group.
    pub(crate) fn join(&mut self, number: u32, row: u64) {
        if self.by.is_some() {
            self.groups[number as usize].rows.push_back(row);
            self.touched.push(number);
        }
    }

    fn begin(&mut self, key: CaptureGroupKey) -> u32 {
        let group = CaptureGroup { open: self.open.contains(&key), key: key.clone(), rows: VecDeque::new() };
        let number = self.free.pop().unwrap_or(self.groups.len() as u32);
        match self.groups.get_mut(number as usize) {
            Some(free) => *free = group,
            None => self.groups.push(group),
        }
        self.numbers.insert(key, number);
        number
    }

    /// A row leaves its group.
    pub(crate) fn leave(&mut self, number: u32, row: u64) {
        if self.by.is_none() {
            return;
        }
        let rows = &mut self.groups[number as usize].rows;
        // Mostly the oldest of all or the newest.
        if rows.front() == Some(&row) {
            rows.pop_front();
        } else if rows.back() == Some(&row) {
            rows.pop_back();
        } else if let Ok(at) = rows.binary_search(&row) {
            rows.remove(at);
        }
        self.touched.push(number);
    }

    /// Brings the order up to the groups that were touched.
    pub(crate) fn arrange(&mut self) {
        if self.touched.is_empty() {
            return;
        }
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        let mut is_touched = vec![false; self.groups.len()];
        touched.iter().for_each(|&number| is_touched[number as usize] = true);
        self.order.retain(|(_, number)| !is_touched[*number as usize]);
        for number in touched {
            let group = &mut self.groups[number as usize];
            if !group.rows.iter().is_sorted() {
                group.rows.make_contiguous().sort();
            }
            match group.rows.back() {
                Some(&newest) => self.order.push((newest, number)),
                None => {
                    self.numbers.remove(&group.key);
                    self.free.push(number);
                }
            }
        }
        // Two or three runs, each in order.
        self.order.sort();
        self.unfold();
    }

    /// Finds the places of the unfolded heads anew.
    fn unfold(&mut self) {
        let numbers = self.open.iter().filter_map(|key| self.numbers.get(key).copied());
        let many = numbers.filter(|&number| self.group(number).rows.len() > 1);
        let mut heads: Vec<usize> = many.filter_map(|number| self.index(number)).collect();
        heads.sort_unstable();
        let mut before = 0;
        let unfolded = heads.into_iter().map(|head| {
            let rows = self.group(self.order[head].1).rows.len();
            before += rows;
            (head + before - rows, rows)
        });
        self.unfolded = unfolded.collect();
    }
}
