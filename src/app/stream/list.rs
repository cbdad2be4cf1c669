//! The list of the captures. It follows the end as long as the selection is there and it is not paused.

use std::collections::{BTreeSet, VecDeque};

use super::groups::{By, Group, Groups, Key};
use super::{Caught, CaughtId, Stream, World};
use crate::query::Query;

/// See the module.
#[derive(Clone, Debug)]
pub struct StreamList {
    /// The selected capture; of a head its newest.
    pub selected: Option<CaughtId>,
    /// The selected head, where one is.
    head: Option<Key>,
    /// Place of the selection among the rows.
    pub at: usize,
    /// Marked captures.
    pub marks: BTreeSet<CaughtId>,
    /// Where `v` began a range.
    pub range_from: Option<CaughtId>,
    /// The query in use, as it was typed.
    pub filter: String,
    /// Earlier filters, for backspace.
    pub earlier: Vec<String>,
    /// Row numbers that the query takes, oldest first.
    rows: VecDeque<u64>,
    /// The same in groups, where they are.
    groups: Groups,
    /// The selection goes along when something comes.
    pub follow: bool,
    /// `=`: nothing moves, what comes is counted.
    pub paused: bool,
    /// Rows that came below since it stopped following: `▼ N new`.
    pub below: usize,
}

impl Default for StreamList {
    fn default() -> Self {
        Self {
            selected: None,
            head: None,
            at: 0,
            marks: BTreeSet::new(),
            range_from: None,
            filter: String::new(),
            earlier: Vec::new(),
            rows: VecDeque::new(),
            groups: Groups::default(),
            follow: true,
            paused: false,
            below: 0,
        }
    }
}

impl StreamList {
    /// Places there are: captures, or heads and what is unfolded of them.
    pub fn len(&self) -> usize {
        if self.by().is_some() { self.groups.len() } else { self.rows.len() }
    }

    /// Nothing is shown.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Captures that the query takes, folded or not.
    pub fn taken(&self) -> usize {
        self.rows.len()
    }

    /// By what they are grouped.
    pub fn by(&self) -> Option<By> {
        self.groups.by
    }

    /// The group whose head is at a place.
    pub fn head_at(&self, at: usize) -> Option<&Group> {
        self.groups.head(at)
    }

    /// Row numbers that a place stands for, oldest first.
    pub fn rows_at(&self, at: usize) -> &[u64] {
        match self.by() {
            Some(_) => self.groups.rows(at),
            None => self.rows.get(at).map_or(&[], std::slice::from_ref),
        }
    }

    /// The place of a capture; of one that is folded away that of its head.
    pub fn place(&self, stream: &Stream, id: CaughtId) -> Option<usize> {
        self.place_of_row(stream.row_of(id)?)
    }

    fn place_of_row(&self, row: u64) -> Option<usize> {
        match self.by() {
            Some(_) => self.groups.place(row),
            None => self.rows.binary_search(&row).ok(),
        }
    }

    /// The place that a row number is at or would be: what was at the top of the screen stays there.
    pub fn place_near(&self, row: u64) -> usize {
        match self.by() {
            Some(_) => self.groups.place(row).unwrap_or_default(),
            None => self.rows.partition_point(|&other| other < row),
        }
    }

    /// Makes the rows anew.
    pub fn show(&mut self, stream: &Stream, query: &Query, world: World<'_>) {
        self.rows = stream.matching(stream.first, query, world).collect();
        self.regroup(stream);
    }

    /// Adds the rows from a number on, and takes off those that have left the ring.
    pub fn extend(&mut self, stream: &Stream, from: u64, query: &Query, world: World<'_>) {
        let mut left = 0;
        while self.rows.front().is_some_and(|&row| row < stream.first) {
            self.rows.pop_front();
            left += 1;
        }
        let before = self.rows.len();
        self.rows.extend(stream.matching(from, query, world));
        self.below += self.rows.len() - before;
        if self.by().is_some() {
            return self.regroup(stream);
        }
        self.at = self.at.saturating_sub(left);
        match self.id_at(stream, self.at) {
            id if id == self.selected && !self.goes_along() => {}
            _ => self.settle(stream),
        }
    }

    /// Groups the captures, or no more.
    pub fn group(&mut self, stream: &Stream, by: Option<By>) {
        (self.groups.by, self.head) = (by, None);
        self.regroup(stream);
    }

    /// A folded head is unfolded, from an unfolded one the selection goes to its first capture. False where no head is
    /// selected.
    pub fn unfold(&mut self, stream: &Stream) -> bool {
        let Some(head) = self.head_at(self.at) else { return false };
        let (key, open) = (head.key.clone(), head.open);
        if open {
            self.select_at(stream, self.at + 1);
        } else {
            self.groups.fold(&key, true);
            self.regroup_in_place(stream);
        }
        true
    }

    /// An unfolded head is folded, from a capture the selection goes to its head. False where there is neither.
    pub fn fold(&mut self, stream: &Stream) -> bool {
        match self.head_at(self.at).map(|head| (head.key.clone(), head.open)) {
            Some((key, true)) => {
                self.groups.fold(&key, false);
                self.regroup_in_place(stream);
                true
            }
            Some((_, false)) => false,
            None => {
                let row = self.rows_at(self.at).first().copied();
                let head = row.and_then(|row| self.groups.group_of(row)).and_then(|key| self.groups.place_of(key));
                head.inspect(|&at| self.select_at(stream, at)).is_some()
            }
        }
    }

    fn regroup(&mut self, stream: &Stream) {
        self.groups.collect(self.rows.iter().copied(), stream);
        self.settle(stream);
    }

    /// The selection stays where it is, also at the end.
    fn regroup_in_place(&mut self, stream: &Stream) {
        self.groups.collect(self.rows.iter().copied(), stream);
        self.select_at(stream, self.at);
    }

    /// Puts the selection on its capture, on the last one when following, else where it was.
    fn settle(&mut self, stream: &Stream) {
        let goes_along = self.goes_along();
        let head = || self.head.as_ref().and_then(|key| self.groups.place_of(key));
        let kept = if goes_along { None } else { head().or_else(|| self.place(stream, self.selected?)) };
        match kept {
            Some(at) => self.put_at(stream, at),
            None if goes_along => self.select_at(stream, usize::MAX),
            None => self.select_at(stream, self.at),
        }
        if goes_along {
            self.below = 0;
        }
        self.marks.retain(|id| stream.holds(*id));
    }

    /// The selection goes along with the end.
    pub fn goes_along(&self) -> bool {
        self.follow && !self.paused && self.marks.is_empty() && self.range_from.is_none()
    }

    /// Selects a place, or the last one.
    pub fn select_at(&mut self, stream: &Stream, at: usize) {
        self.put_at(stream, at.min(self.len().saturating_sub(1)));
        self.follow = !self.paused && self.at + 1 >= self.len();
        if self.follow {
            self.below = 0;
        }
    }

    fn put_at(&mut self, stream: &Stream, at: usize) {
        self.at = at;
        self.head = self.head_at(at).map(|head| head.key.clone());
        self.selected = self.id_at(stream, at);
    }

    /// The capture at a place of the list; of a head its newest.
    pub fn id_at(&self, stream: &Stream, at: usize) -> Option<CaughtId> {
        stream.get(*self.rows_at(at).last()?).map(Caught::id)
    }

    /// Every capture that the query takes, oldest first.
    pub fn all<'a>(&'a self, stream: &'a Stream) -> impl Iterator<Item = &'a Caught> + 'a {
        self.rows.iter().filter_map(|&row| stream.get(row))
    }

    /// Every capture that a place stands for.
    pub fn ids_at<'a>(&'a self, stream: &'a Stream, at: usize) -> impl Iterator<Item = CaughtId> + 'a {
        self.rows_at(at).iter().filter_map(|&row| stream.get(row)).map(Caught::id)
    }

    /// The selected capture.
    pub fn current<'a>(&self, stream: &'a Stream) -> Option<&'a Caught> {
        let there = self.rows_at(self.at).last().and_then(|&row| stream.get(row));
        there.filter(|caught| Some(caught.id()) == self.selected)
    }

    /// Whether a capture is shown, folded or not.
    pub fn has(&self, stream: &Stream, id: CaughtId) -> bool {
        stream.row_of(id).is_some_and(|row| self.rows.binary_search(&row).is_ok())
    }

    /// What an action is about: the marked captures that are there, else those that the selection stands for, in order.
    pub fn chosen<'a>(&self, stream: &'a Stream) -> Vec<&'a Caught> {
        let marked: Vec<&Caught> = match self.marks.is_empty() {
            true => Vec::new(),
            false => stream.caught.iter().filter(|caught| self.marks.contains(&caught.id())).collect(),
        };
        match marked.is_empty() {
            true => self.rows_at(self.at).iter().filter_map(|&row| stream.get(row)).collect(),
            false => marked,
        }
    }
}
