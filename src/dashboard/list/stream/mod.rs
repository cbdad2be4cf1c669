//! The list of the captures. It follows the end as long as the selection is there and it is not paused.
//!
//! It asks its query in pieces ([`asking`]): rows that were not asked yet are not shown.

pub mod asking;
pub mod gathering;
pub mod groups;
#[cfg(test)]
mod tests;

use crate::dashboard::base::{Caught, CaughtId};
use crate::dashboard::data::{START, Stream};
use crate::dashboard::list::stream::asking::shifted;
use crate::dashboard::list::{Asking, CaptureGroup, CaptureGroupBy, CaptureGroupKey, CaptureGroups, Ranges};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

/// See the module.
#[derive(Clone, Debug)]
pub struct StreamList {
    /// The selected capture; of a head its newest.
    pub selected: Option<CaughtId>,
    /// The selected head, where one is.
    head: Option<CaptureGroupKey>,
    /// Place of the selection among the rows.
    pub at: usize,
    /// Where the selection is to be once everything was asked, unless a key moves it: on this head, else this capture.
    wanted: Option<(Option<CaptureGroupKey>, CaughtId)>,
    /// Marked captures.
    marks: BTreeSet<CaughtId>,
    /// Where `v` began a range.
    pub range_from: Option<CaughtId>,
    /// The query in use, as it was typed.
    pub filter: String,
    /// Earlier filters, for backspace.
    pub earlier: Vec<String>,
    /// What the query takes, oldest first.
    rows: VecDeque<Taken>,
    /// The same in groups, where they are.
    groups: CaptureGroups,
    /// Row numbers of the ring, as far as it was told here.
    known: Range<u64>,
    /// Those of them that the query was not asked about yet.
    unasked: Ranges,
    /// The selection goes along when something comes.
    pub follow: bool,
    /// `=`: nothing moves, what comes is counted.
    pub paused: bool,
    /// Row numbers of what came since it stopped following.
    news: Ranges,
}

/// A capture that the query takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Taken {
    /// Its row number.
    row: u64,
    /// The number of its group.
    group: u32,
    marked: bool,
}

impl Default for StreamList {
    fn default() -> Self {
        Self {
            selected: None,
            head: None,
            at: 0,
            wanted: None,
            marks: BTreeSet::new(),
            range_from: None,
            filter: String::new(),
            earlier: Vec::new(),
            rows: VecDeque::new(),
            groups: CaptureGroups::default(),
            known: START..START,
            unasked: Ranges::default(),
            follow: true,
            paused: false,
            news: Ranges::default(),
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

    /// Captures that came since it stopped following: `▼ N new`.
    pub fn below(&self) -> usize {
        let before = |row| self.rows.partition_point(|taken| taken.row < row);
        self.news.iter().map(|range| before(range.end) - before(range.start)).sum()
    }

    /// Marked captures.
    pub fn marks(&self) -> &BTreeSet<CaughtId> {
        &self.marks
    }

    /// Marks what a place stands for, or takes the marks off.
    pub fn mark(&mut self, stream: &Stream, at: usize, on: bool) {
        for row in self.rows_at(at).collect::<Vec<_>>() {
            let (Some(at), Some(id)) = (self.find(row), stream.get(row).map(Caught::id)) else { continue };
            self.rows[at].marked = on;
            match on {
                true => self.marks.insert(id),
                false => self.marks.remove(&id),
            };
        }
    }

    /// Takes every mark off.
    pub fn clear_marks(&mut self) {
        self.marks.clear();
        self.rows.iter_mut().for_each(|taken| taken.marked = false);
    }

    /// How many marked captures are not shown.
    pub fn marks_hidden(&self) -> usize {
        match self.marks.len() {
            0 => 0,
            marks => marks - self.rows.iter().filter(|taken| taken.marked).count(),
        }
    }

    /// Those that are not.
    pub fn hidden_marks<'a>(&'a self, stream: &'a Stream) -> impl Iterator<Item = CaughtId> + 'a {
        self.marks.iter().copied().filter(|&id| !self.has(stream, id))
    }

    /// CaptureGroupBy what they are grouped.
    pub fn by(&self) -> Option<CaptureGroupBy> {
        self.groups.by
    }

    /// The group whose head is at a place.
    pub fn head_at(&self, at: usize) -> Option<&CaptureGroup> {
        self.groups.head(at)
    }

    /// Row numbers that a place stands for, oldest first.
    pub fn rows_at(&self, at: usize) -> Box<dyn DoubleEndedIterator<Item = u64> + '_> {
        match self.by() {
            Some(_) => Box::new(self.groups.rows(at).copied()),
            None => Box::new(self.rows.get(at).map(|taken| taken.row).into_iter()),
        }
    }

    /// The place of a capture; of one that is folded away that of its head.
    pub fn place(&self, stream: &Stream, id: CaughtId) -> Option<usize> {
        self.place_of_row(stream.row_of(id)?)
    }

    fn place_of_row(&self, row: u64) -> Option<usize> {
        let at = self.find(row)?;
        match self.by() {
            Some(_) => self.groups.place(self.rows[at].group, row),
            None => Some(at),
        }
    }

    fn find(&self, row: u64) -> Option<usize> {
        self.rows.binary_search_by_key(&row, |taken| taken.row).ok()
    }

    /// The place of a capture, else of what came after it: what was at the top of the screen stays there.
    pub fn place_near(&self, stream: &Stream, id: CaughtId) -> usize {
        let row = stream.row_near(id);
        match self.by() {
            Some(_) => self.place(stream, id).unwrap_or_else(|| self.groups.place_near(row)),
            None => self.rows.partition_point(|taken| taken.row < row),
        }
    }

    /// Asks everything anew.
    pub fn show(&mut self, asking: &Asking<'_>) {
        self.rows.clear();
        self.groups.clear();
        self.known = asking.stream.first..asking.stream.end();
        self.unasked = Ranges::default();
        self.unasked.add(Some(self.known.clone()));
        self.ask_on(asking);
    }

    /// Takes up what came: at these row numbers, ascending, and in front of what was known. What moved because of that
    /// keeps its answer; what has left the ring leaves.
    pub fn extend(&mut self, asking: &Asking<'_>, new: &[u64]) {
        let stream = asking.stream;
        self.shift(new);
        while let Some(taken) = self.rows.pop_front_if(|taken| taken.row < stream.first) {
            self.groups.leave(taken.group, taken.row);
        }
        self.unasked.add(Some(stream.first..self.known.start));
        self.known = stream.first..stream.end();
        self.unasked.keep(&self.known);
        self.news.keep(&self.known);
        self.ask_on(asking);
    }

    /// Captures came in at these row numbers: those after them moved.
    fn shift(&mut self, new: &[u64]) {
        self.unasked.shift(new);
        self.news.shift(new);
        let Some(&first) = new.first() else { return };
        let moved = self.rows.split_off(self.rows.partition_point(|taken| taken.row < first));
        moved.iter().rev().for_each(|taken| self.groups.leave(taken.group, taken.row));
        for taken in moved {
            let row = shifted(taken.row, new);
            self.groups.join(taken.group, row);
            self.rows.push_back(Taken { row, ..taken });
        }
    }

    /// Something else is said about captures of these row numbers, ascending.
    pub fn ask_again(&mut self, asking: &Asking<'_>, rows: &[u64]) {
        let groups = &mut self.groups;
        self.rows.retain(|taken| {
            let again = rows.binary_search(&taken.row).is_ok();
            if again {
                groups.leave(taken.group, taken.row);
            }
            !again
        });
        self.unasked.add(rows.iter().map(|&row| row..row + 1));
        self.ask_on(asking);
    }

    /// Asks about a piece of what was not asked yet: the selected capture, which so stays selected, then the newest.
    /// What is neither filtered nor grouped costs nothing, and is taken whole.
    pub fn ask_on(&mut self, asking: &Asking<'_>) {
        let stream = asking.stream;
        let mut piece = match asking.query.is_empty() && self.by().is_none() {
            true => self.unasked.all(),
            false => self.unasked.piece(stream, asking.piece),
        };
        let selected = self.wanted().map(|(_, id)| id).filter(|_| !self.goes_along());
        let selected = selected.and_then(|id| stream.row_of(id)).filter(|&row| self.unasked.take(row));
        piece.extend(selected.map(|row| row..row + 1));
        let mut rows: Vec<u64> = piece.into_iter().flat_map(|rows| asking.taken(rows)).collect();
        rows.sort_unstable();
        let at_end = self.rows.back().zip(rows.first()).is_none_or(|(last, &first)| last.row < first);
        let (groups, marks) = (&mut self.groups, &self.marks);
        let new = rows.into_iter().filter_map(|row| {
            let caught = stream.get(row)?;
            let marked = !marks.is_empty() && marks.contains(&caught.id());
            Some(Taken { row, group: groups.put(row, caught), marked })
        });
        self.rows.extend(new);
        self.groups.arrange();
        if !at_end {
            // Two or three runs, each in order.
            self.rows.make_contiguous().sort();
        }
        self.settle(stream);
    }

    /// CaptureGroups the captures, or no more. They are to be shown anew.
    pub fn group(&mut self, by: Option<CaptureGroupBy>) {
        self.groups.clear();
        (self.groups.by, self.head) = (by, None);
    }

    /// Unfolds the group whose head is at a place, or folds it.
    pub(crate) fn set_unfolded(&mut self, stream: &Stream, at: usize, on: bool) {
        if let Some(key) = self.head_at(at).map(|head| head.key.clone()) {
            self.groups.fold(&key, on);
            self.select_at(stream, at);
        }
    }

    /// The place of the head that a capture stands under.
    pub(crate) fn head_above(&self, at: usize) -> Option<usize> {
        let row = self.rows_at(at).next().and_then(|row| self.find(row))?;
        self.groups.place_of_head(self.rows[row].group).filter(|&head| head != at)
    }

    /// What the selection is to be on.
    fn wanted(&self) -> Option<(Option<CaptureGroupKey>, CaughtId)> {
        self.wanted.clone().or_else(|| Some((self.head.clone(), self.selected?)))
    }

    /// Puts the selection on the last one when following, else on its capture or the one that comes after that. Where
    /// that is shows only when everything was asked.
    fn settle(&mut self, stream: &Stream) {
        let oldest = stream.caught.front().map(Caught::id);
        while self.marks.first().is_some_and(|&id| oldest.is_none_or(|oldest| id < oldest)) {
            self.marks.pop_first();
        }
        if self.goes_along() {
            return self.select_at(stream, usize::MAX);
        }
        let wanted = self.wanted();
        let place = wanted.as_ref().map(|(head, id)| {
            let head = head.as_ref().and_then(|key| self.groups.place_of(key));
            head.unwrap_or_else(|| self.place_near(stream, *id))
        });
        self.put_at(stream, place.unwrap_or(usize::MAX).min(self.len().saturating_sub(1)));
        self.wanted = wanted.filter(|_| self.unasked() > 0 || self.is_empty());
    }

    /// The selection goes along with the end.
    pub fn goes_along(&self) -> bool {
        self.follow && !self.paused && self.marks.is_empty() && self.range_from.is_none()
    }

    /// Selects a place, or the last one. Where nothing is shown yet, there is only the last one.
    pub fn select_at(&mut self, stream: &Stream, at: usize) {
        if self.is_empty() && at < usize::MAX {
            return;
        }
        self.wanted = None;
        self.put_at(stream, at.min(self.len().saturating_sub(1)));
        self.follow = !self.paused && self.at + 1 >= self.len();
        if self.follow {
            self.news = Ranges::default();
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
        self.rows.iter().filter_map(|taken| stream.get(taken.row))
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
