//! The list of the captures. It follows the end as long as the selection is there and it is not paused.
//!
//! It asks its query in pieces ([`super::asking`]): rows that were not asked yet are not shown.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use super::asking::{Asking, Unasked};
use super::groups::{By, Group, Groups, Key};
use super::{Caught, CaughtId, START, Stream};

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
    /// Row numbers that the query takes, oldest first, each with the number of its group.
    rows: VecDeque<(u64, u32)>,
    /// The same in groups, where they are.
    groups: Groups,
    /// Row numbers of the ring, as far as it was told here.
    known: Range<u64>,
    /// Those of them that the query was not asked about yet.
    unasked: Unasked,
    /// The selection goes along when something comes.
    pub follow: bool,
    /// `=`: nothing moves, what comes is counted.
    pub paused: bool,
    /// The row after the last that was there when it stopped following.
    seen: u64,
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
            known: START..START,
            unasked: Unasked::default(),
            follow: true,
            paused: false,
            seen: START,
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

    /// Captures that the query takes, folded or not, as far as it was asked.
    pub fn taken(&self) -> usize {
        self.rows.len()
    }

    /// Captures that the query was not asked about yet.
    pub fn unasked(&self) -> usize {
        self.unasked.len()
    }

    /// Captures that came below since it stopped following: `▼ N new`.
    pub fn below(&self) -> usize {
        self.rows.len() - self.rows.partition_point(|&(row, _)| row < self.seen)
    }

    /// Marked captures that are not shown.
    pub fn hidden_marks<'a>(&'a self, stream: &'a Stream) -> impl Iterator<Item = CaughtId> + 'a {
        let all_shown = self.rows.len() == stream.caught.len();
        self.marks.iter().copied().filter(move |&id| !all_shown && !self.has(stream, id))
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
    pub fn rows_at(&self, at: usize) -> Box<dyn DoubleEndedIterator<Item = u64> + '_> {
        match self.by() {
            Some(_) => Box::new(self.groups.rows(at).copied()),
            None => Box::new(self.rows.get(at).map(|&(row, _)| row).into_iter()),
        }
    }

    /// The place of a capture; of one that is folded away that of its head.
    pub fn place(&self, stream: &Stream, id: CaughtId) -> Option<usize> {
        self.place_of_row(stream.row_of(id)?)
    }

    fn place_of_row(&self, row: u64) -> Option<usize> {
        let at = self.find(row)?;
        match self.by() {
            Some(_) => self.groups.place(self.rows[at].1, row),
            None => Some(at),
        }
    }

    fn find(&self, row: u64) -> Option<usize> {
        self.rows.binary_search_by_key(&row, |&(row, _)| row).ok()
    }

    /// The place that a row number is at or would be: what was at the top of the screen stays there.
    pub fn place_near(&self, row: u64) -> usize {
        match self.by() {
            Some(_) => self.place_of_row(row).unwrap_or_default(),
            None => self.rows.partition_point(|&(other, _)| other < row),
        }
    }

    /// Asks everything anew.
    pub fn show(&mut self, asking: &Asking<'_>) {
        self.rows.clear();
        self.groups.clear();
        self.known = asking.stream.first..asking.stream.end();
        self.unasked = Unasked::default();
        self.unasked.add([self.known.clone()]);
        self.ask_on(asking);
    }

    /// Takes up what came: rows from a number on are new or have moved, those in front of what was known are new, and
    /// those that have left the ring leave.
    pub fn extend(&mut self, asking: &Asking<'_>, from: u64) {
        let stream = asking.stream;
        let kept = stream.first..from.min(self.known.end);
        while let Some((row, group)) = self.rows.pop_front_if(|(row, _)| *row < kept.start) {
            self.groups.leave(group, row);
        }
        while let Some((row, group)) = self.rows.pop_back_if(|(row, _)| *row >= kept.end) {
            self.groups.leave(group, row);
        }
        self.unasked.keep(&kept);
        self.unasked.add([stream.first..self.known.start, kept.end.max(stream.first)..stream.end()]);
        self.known = stream.first..stream.end();
        self.ask_on(asking);
    }

    /// Something else is said about captures of these row numbers, ascending.
    pub fn ask_again(&mut self, asking: &Asking<'_>, rows: &[u64]) {
        let groups = &mut self.groups;
        self.rows.retain(|&(row, group)| {
            let again = rows.binary_search(&row).is_ok();
            if again {
                groups.leave(group, row);
            }
            !again
        });
        self.unasked.add(rows.iter().map(|&row| row..row + 1));
        self.ask_on(asking);
    }

    /// Asks about a piece of what was not asked yet: the selected capture, which so stays selected, then the newest.
    pub fn ask_on(&mut self, asking: &Asking<'_>) {
        let stream = asking.stream;
        let selected = self.selected.filter(|_| !self.goes_along()).and_then(|id| stream.row_of(id));
        let selected = selected.filter(|&row| self.unasked.take(row)).map(|row| row..row + 1);
        let piece = self.unasked.piece(stream, asking.piece).into_iter().chain(selected);
        let mut taken: Vec<u64> = piece.flat_map(|rows| asking.taken(rows)).collect();
        taken.sort_unstable();
        let at_end = self.rows.back().zip(taken.first()).is_none_or(|((last, _), first)| last < first);
        let groups = &mut self.groups;
        let new = taken.into_iter().filter_map(|row| Some((row, groups.put(row, stream.get(row)?))));
        self.rows.extend(new);
        self.groups.arrange();
        if !at_end {
            // Two or three runs, each in order.
            self.rows.make_contiguous().sort();
        }
        self.settle(stream);
    }

    /// Groups the captures, or no more. They are to be shown anew.
    pub fn group(&mut self, by: Option<By>) {
        self.groups.clear();
        (self.groups.by, self.head) = (by, None);
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
            self.select_at(stream, self.at);
        }
        true
    }

    /// An unfolded head is folded, from a capture the selection goes to its head. False where there is neither.
    pub fn fold(&mut self, stream: &Stream) -> bool {
        match self.head_at(self.at).map(|head| (head.key.clone(), head.open)) {
            Some((key, true)) => {
                self.groups.fold(&key, false);
                self.select_at(stream, self.at);
                true
            }
            Some((_, false)) => false,
            None => {
                let row = self.rows_at(self.at).next().and_then(|row| self.find(row));
                let head = row.and_then(|at| self.groups.place_of_head(self.rows[at].1)).filter(|&at| at != self.at);
                head.inspect(|&at| self.select_at(stream, at)).is_some()
            }
        }
    }

    /// Puts the selection on its capture, on the last one when following, else on the one that comes after it.
    fn settle(&mut self, stream: &Stream) {
        let goes_along = self.goes_along();
        let head = || self.head.as_ref().and_then(|key| self.groups.place_of(key));
        let row = self.selected.and_then(|id| stream.row_of(id));
        let kept = if goes_along { None } else { head().or_else(|| self.place_of_row(row?)) };
        match (kept, self.by()) {
            (Some(at), _) => self.put_at(stream, at),
            (None, _) if goes_along => self.select_at(stream, usize::MAX),
            (None, Some(_)) => self.select_at(stream, self.at),
            (None, None) => self.select_at(stream, row.map_or(0, |row| self.place_near(row))),
        }
        if goes_along {
            self.seen = stream.end();
        }
        let oldest = stream.caught.front().map(Caught::id);
        while self.marks.first().is_some_and(|&id| oldest.is_none_or(|oldest| id < oldest)) {
            self.marks.pop_first();
        }
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
            self.seen = stream.end();
        }
    }

    fn put_at(&mut self, stream: &Stream, at: usize) {
        self.at = at;
        self.head = self.head_at(at).map(|head| head.key.clone());
        self.selected = self.id_at(stream, at);
    }

    /// The capture at a place of the list; of a head its newest.
    pub fn id_at(&self, stream: &Stream, at: usize) -> Option<CaughtId> {
        stream.get(self.rows_at(at).next_back()?).map(Caught::id)
    }

    /// Every capture that the query takes, oldest first, as far as it was asked.
    pub fn all<'a>(&'a self, stream: &'a Stream) -> impl Iterator<Item = &'a Caught> + 'a {
        self.rows.iter().filter_map(|&(row, _)| stream.get(row))
    }

    /// Every capture that a place stands for.
    pub fn ids_at<'a>(&'a self, stream: &'a Stream, at: usize) -> impl Iterator<Item = CaughtId> + 'a {
        self.rows_at(at).filter_map(|row| stream.get(row)).map(Caught::id)
    }

    /// The selected capture.
    pub fn current<'a>(&self, stream: &'a Stream) -> Option<&'a Caught> {
        let there = self.rows_at(self.at).next_back().and_then(|row| stream.get(row));
        there.filter(|caught| Some(caught.id()) == self.selected)
    }

    /// Whether a capture is shown, folded or not.
    pub fn has(&self, stream: &Stream, id: CaughtId) -> bool {
        stream.row_of(id).is_some_and(|row| self.find(row).is_some())
    }

    /// What an action is about: the marked captures that are there, else those that the selection stands for, in order.
    pub fn chosen<'a>(&self, stream: &'a Stream) -> Vec<&'a Caught> {
        match self.marked(stream) {
            none if none.is_empty() => self.rows_at(self.at).filter_map(|row| stream.get(row)).collect(),
            marked => marked,
        }
    }

    /// The marked captures, oldest first, shown or not.
    pub fn marked<'a>(&self, stream: &'a Stream) -> Vec<&'a Caught> {
        self.marks.iter().filter_map(|&id| stream.get(stream.row_of(id)?)).collect()
    }
}
