//! The list of captures. It follows the newest capture while that is selected and the list is not
//! paused.
//!
//! Its query runs in chunks ([`chunks`]). Rows that are still pending are not shown.

pub mod chunks;
pub mod export;
pub mod group_by;
#[cfg(test)]
mod tests;

use crate::base::{CaptureKey, CaptureRow, GroupId, RowRef};
use crate::data::{START, Stream};
use crate::list::groups::{Group, GroupPlace};
use crate::list::stream::chunks::shifted;
use crate::list::{
    CaptureGroupBy, CaptureGroupKey, ChunkQuery, Groups, HiddenNews, Ranges, set_mark,
};
use scandeck_wire::contract::{LoggerId, Stamp};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

#[derive(Clone, Debug)]
pub struct StreamList {
    /// The selected capture; of a group header the newest of the group.
    pub selected: Option<CaptureKey>,
    /// The selected group header.
    header: Option<GroupId>,
    /// Place of the selected row.
    pub at: usize,
    /// The row to select when all captures were queried, unless a key moves the selection: this
    /// header, else this capture.
    pending_selection: Option<(Option<GroupId>, CaptureKey)>,
    marks: BTreeSet<CaptureKey>,
    /// Where `v` began a range.
    pub range_from: Option<RowRef<CaptureKey>>,
    /// The query in use, as it was typed.
    pub filter: String,
    /// Earlier filters, for backspace.
    pub earlier: Vec<String>,
    /// The captures that match the query, oldest first.
    rows: VecDeque<ListedCapture>,
    pub(crate) by: Option<CaptureGroupBy>,
    pub(crate) groups: Groups,
    /// The row numbers of the stream after the last update.
    covered: Range<u64>,
    /// Those of them on which the query did not run yet.
    pending: Ranges,
    /// The newest capture is selected when captures arrive.
    pub follow: bool,
    /// `=`: the selection does not move, new captures are counted.
    pub paused: bool,
    /// Row numbers of the captures that arrived since it stopped following.
    news: Ranges,
    /// New captures that the filter hides.
    pub hidden_news: HiddenNews,
}

/// A capture that matches the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ListedCapture {
    row: u64,
    group: u32,
    marked: bool,
}

impl Default for StreamList {
    fn default() -> Self {
        Self {
            selected: None,
            header: None,
            at: 0,
            pending_selection: None,
            marks: BTreeSet::new(),
            range_from: None,
            filter: String::new(),
            earlier: Vec::new(),
            rows: VecDeque::new(),
            by: None,
            groups: Groups::default(),
            covered: START..START,
            pending: Ranges::default(),
            follow: true,
            paused: false,
            news: Ranges::default(),
            hidden_news: HiddenNews::default(),
        }
    }
}

impl StreamList {
    /// Rows on the screen: captures, or group headers and unfolded captures.
    pub fn len(&self) -> usize {
        if self.groups.is_on() {
            self.groups.places()
        } else {
            self.rows.len()
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of matches, folded or not.
    pub fn matches(&self) -> usize {
        self.rows.len()
    }

    /// The position of the selected capture among those that match, in the order of the groups.
    pub fn position(&self) -> usize {
        let before = |group: &Group| -> usize {
            self.groups
                .iter()
                .take_while(|other| other.id != group.id)
                .map(|other| other.rows.len())
                .sum()
        };
        match self.groups.at(self.at).filter(|_| self.groups.is_on()) {
            Some(GroupPlace::Row(group, row)) => before(group) + row,
            // Of a group header the newest capture is selected.
            Some(GroupPlace::Header(group)) => before(group) + group.rows.len().saturating_sub(1),
            None => self.at,
        }
    }

    /// The number of captures on which the query did not run yet.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The number of captures that arrived since it stopped following: `▼ N new`.
    pub fn below(&self) -> usize {
        let before = |row| self.rows.partition_point(|listed| listed.row < row);
        self.news
            .iter()
            .map(|range| before(range.end) - before(range.start))
            .sum()
    }

    pub fn marks(&self) -> &BTreeSet<CaptureKey> {
        &self.marks
    }

    /// Marks the captures that a place represents, or removes their marks.
    pub fn mark(&mut self, stream: &Stream, at: usize, on: bool) {
        for row in self.rows_at(at).collect::<Vec<_>>() {
            let (Some(at), Some(id)) = (self.find(row), stream.get(row).map(CaptureRow::id)) else {
                continue;
            };
            self.rows[at].marked = on;
            set_mark(&mut self.marks, id, on);
        }
    }

    /// Whether all captures that a place represents are marked.
    pub fn is_marked(&self, stream: &Stream, at: usize) -> bool {
        let mut ids = self.ids_at(stream, at).peekable();
        !self.marks.is_empty() && ids.peek().is_some() && ids.all(|id| self.marks.contains(&id))
    }

    /// Marks the shown captures without a mark and removes the marks of the others.
    pub fn invert_marks(&mut self, stream: &Stream) {
        for entry in &mut self.rows {
            let Some(captured) = stream.get(entry.row) else {
                continue;
            };
            entry.marked = !entry.marked;
            set_mark(&mut self.marks, captured.id(), entry.marked);
        }
    }

    pub fn clear_marks(&mut self) {
        self.marks.clear();
        self.rows
            .iter_mut()
            .for_each(|listed| listed.marked = false);
    }

    /// The number of marked captures that are not shown.
    pub fn marks_hidden(&self) -> usize {
        match self.marks.len() {
            0 => 0,
            marks => marks - self.rows.iter().filter(|listed| listed.marked).count(),
        }
    }

    /// Marked captures that are not shown.
    pub fn hidden_marks<'a>(&'a self, stream: &'a Stream) -> impl Iterator<Item = CaptureKey> + 'a {
        self.marks
            .iter()
            .copied()
            .filter(|&id| !self.has(stream, id))
    }

    /// The selected capture or group header.
    pub fn selected_row(&self) -> Option<RowRef<CaptureKey>> {
        self.header
            .map(RowRef::Group)
            .or(self.selected.map(RowRef::Item))
    }

    /// The row at a place.
    pub fn row_at(&self, stream: &Stream, at: usize) -> Option<RowRef<CaptureKey>> {
        let header = self.groups.header(at).map(|group| RowRef::Group(group.id));
        header.or_else(|| self.id_at(stream, at).map(RowRef::Item))
    }

    /// The place where the range began, if there is a range and the row is shown.
    pub fn range_start(&self, stream: &Stream) -> Option<usize> {
        match self.range_from? {
            RowRef::Group(id) => self.groups.place_of(id),
            RowRef::Item(id) => self.place(stream, id),
        }
    }

    /// Row numbers that a place represents, oldest first.
    pub fn rows_at(&self, at: usize) -> impl DoubleEndedIterator<Item = u64> + '_ {
        let ungrouped = self.rows.get(at).filter(|_| !self.groups.is_on());
        self.groups
            .rows_at(at)
            .chain(ungrouped.map(|listed| listed.row))
    }

    /// The place of a capture; of a folded capture that of its group header.
    pub fn place(&self, stream: &Stream, id: CaptureKey) -> Option<usize> {
        self.place_of_row(stream.row_of(id)?)
    }

    fn place_of_row(&self, row: u64) -> Option<usize> {
        let at = self.find(row)?;
        match self.groups.is_on() {
            true => self.groups.place_in(self.rows[at].group, row),
            false => Some(at),
        }
    }

    fn find(&self, row: u64) -> Option<usize> {
        self.rows
            .binary_search_by_key(&row, |listed| listed.row)
            .ok()
    }

    /// The place of a capture, else of the next one, so that the first visible row does not change.
    pub fn place_near(&self, stream: &Stream, id: CaptureKey) -> usize {
        let row = stream.row_near(id);
        match self.groups.is_on() {
            true => {
                let group = self
                    .by
                    .zip(stream.get(row))
                    .map(|(by, captured)| CaptureGroupKey::of(by, captured).id());
                let in_group = || group.and_then(|group| self.groups.place_from(group, row));
                self.place(stream, id)
                    .or_else(in_group)
                    .unwrap_or_else(|| self.groups.place_near(row))
            }
            false => self.rows.partition_point(|listed| listed.row < row),
        }
    }

    /// Counts the new captures that the filter hides, when all captures were queried.
    pub(crate) fn count_hidden_news(
        &mut self,
        stream: &Stream,
        only: Option<LoggerId>,
        now: Stamp,
    ) {
        let Some(since) = self.hidden_news.since(&self.filter, now) else {
            return;
        };
        if self.pending() > 0 {
            return;
        }
        let first = stream.row_after(since);
        let shown = self.rows.len() - self.rows.partition_point(|listed| listed.row < first);
        let arrived = match only {
            Some(logger) => stream
                .since(since)
                .filter(|captured| captured.logger == logger)
                .count(),
            None => (stream.end() - first) as usize,
        };
        self.hidden_news.count = arrived.saturating_sub(shown);
    }

    /// Runs the query on all captures.
    pub fn show(&mut self, query: &ChunkQuery<'_>) {
        self.rows.clear();
        self.groups.clear();
        self.covered = query.stream.first..query.stream.end();
        self.pending = Ranges::default();
        self.pending.add(Some(self.covered.clone()));
        self.next_chunk(query);
    }

    /// Adds new captures: those of these row numbers, ascending, and those in front. Moved rows
    /// keep their results unless time changes them, dropped captures are removed.
    pub fn extend(&mut self, query: &ChunkQuery<'_>, new: &[u64]) {
        let stream = query.stream;
        let is_searched = self.pending() == 0;
        self.shift(new);
        while let Some(listed) = self.rows.pop_front_if(|listed| listed.row < stream.first) {
            self.groups.remove(listed.group, listed.row);
        }
        self.pending.add(Some(stream.first..self.covered.start));
        self.covered = stream.first..stream.end();
        self.pending.clip(&self.covered);
        self.news.clip(&self.covered);
        // A query that runs is not begun again with each capture: it would never reach the older
        // ones.
        match is_searched && query.query.depends_on_now() {
            true => self.show(query),
            false => self.next_chunk(query),
        }
    }

    /// Moves the rows after new captures at these row numbers.
    fn shift(&mut self, new: &[u64]) {
        self.pending.shift(new);
        self.news.shift(new);
        let Some(&first) = new.first() else { return };
        let moved = self
            .rows
            .split_off(self.rows.partition_point(|listed| listed.row < first));
        moved
            .iter()
            .rev()
            .for_each(|listed| self.groups.remove(listed.group, listed.row));
        for entry in moved {
            let row = shifted(entry.row, new);
            self.groups.add_to(entry.group, row);
            self.rows.push_back(ListedCapture { row, ..entry });
        }
    }

    /// Runs the query again on captures that changed, by row number, ascending.
    pub fn refilter(&mut self, query: &ChunkQuery<'_>, rows: &[u64]) {
        let groups = &mut self.groups;
        self.rows.retain(|listed| {
            let again = rows.binary_search(&listed.row).is_ok();
            if again {
                groups.remove(listed.group, listed.row);
            }
            !again
        });
        self.pending.add(rows.iter().map(|&row| row..row + 1));
        self.next_chunk(query);
    }

    /// Runs the query on the next chunk: on the selected capture, so that it stays selected, then
    /// on the newest ones. Without a filter and groups all captures are one chunk.
    pub fn next_chunk(&mut self, query: &ChunkQuery<'_>) {
        let stream = query.stream;
        let (mut chunk, pending) = self.chunk(query);
        match query.unread(chunk.iter().cloned()).is_empty() {
            true => self.pending = pending,
            // It is requested again when the bodies were read.
            false => chunk.clear(),
        }
        let mut rows: Vec<u64> = chunk
            .into_iter()
            .flat_map(|rows| query.matches(rows))
            .collect();
        rows.sort_unstable();
        let is_after = self
            .rows
            .back()
            .zip(rows.first())
            .is_none_or(|(last, &first)| last.row < first);
        let is_before = self
            .rows
            .front()
            .zip(rows.last())
            .is_some_and(|(first, &last)| last < first.row);
        let (by, groups, marks) = (self.by, &mut self.groups, &self.marks);
        let new = rows.into_iter().filter_map(|row| {
            let captured = stream.get(row)?;
            let marked = !marks.is_empty() && marks.contains(&captured.id());
            let group = by.map_or(0, |by| {
                groups.add(CaptureGroupKey::of(by, captured).id(), row)
            });
            Some(ListedCapture { row, group, marked })
        });
        // An older chunk goes in front row by row, the newest of it first, so that nothing is
        // sorted.
        match is_before {
            true => new.rev().for_each(|listed| self.rows.push_front(listed)),
            false => self.rows.extend(new),
        }
        self.groups.arrange();
        if !is_after && !is_before {
            // Two or three sorted runs.
            self.rows.make_contiguous().sort();
        }
        self.restore_selection(stream);
    }

    /// The captures of the next chunk whose bodies have to be read first.
    pub fn unread<'a>(&self, query: &ChunkQuery<'a>) -> Vec<&'a CaptureRow> {
        query.unread(self.chunk(query).0)
    }

    /// The rows of the next chunk, and those that are pending after it.
    fn chunk(&self, query: &ChunkQuery<'_>) -> (Vec<Range<u64>>, Ranges) {
        let (stream, mut pending) = (query.stream, self.pending.clone());
        let mut chunk = match query.query.is_empty() && self.by.is_none() {
            true => pending.take_all(),
            false => pending.take_chunk(stream, query.bytes),
        };
        let selected = self
            .intended_selection()
            .map(|(_, id)| id)
            .filter(|_| !self.is_following());
        let selected = selected
            .and_then(|id| stream.row_of(id))
            .filter(|&row| pending.take(row));
        chunk.extend(selected.map(|row| row..row + 1));
        (chunk, pending)
    }

    /// Groups the captures, or ungroups them. [`StreamList::show`] must follow. One capture alone
    /// has no header.
    pub fn group(&mut self, by: Option<CaptureGroupBy>) {
        match by {
            Some(_) => self.groups.enable(false, 2),
            None => self.groups.disable(),
        }
        (self.by, self.header) = (by, None);
    }

    /// The row to select after the rows changed.
    fn intended_selection(&self) -> Option<(Option<GroupId>, CaptureKey)> {
        self.pending_selection
            .or_else(|| Some((self.header, self.selected?)))
    }

    /// Selects the newest capture when following, else restores the selection or selects the next
    /// capture. The final row is known only after the last chunk.
    fn restore_selection(&mut self, stream: &Stream) {
        let oldest = stream.rows.front().map(CaptureRow::id);
        while self
            .marks
            .first()
            .is_some_and(|&id| oldest.is_none_or(|oldest| id < oldest))
        {
            self.marks.pop_first();
        }
        if self.is_following() {
            return self.select_at(stream, usize::MAX);
        }
        let intended = self.intended_selection();
        let place = intended.map(|(header, id)| {
            let header = header.and_then(|header| self.groups.place_of(header));
            header.unwrap_or_else(|| self.place_near(stream, id))
        });
        self.put_at(
            stream,
            place
                .unwrap_or(usize::MAX)
                .min(self.len().saturating_sub(1)),
        );
        self.pending_selection = intended.filter(|_| self.pending() > 0 || self.is_empty());
    }

    /// Whether the newest capture is selected when captures arrive.
    pub fn is_following(&self) -> bool {
        self.follow && !self.paused && self.marks.is_empty() && self.range_from.is_none()
    }

    /// Selects the row at a place, or the last one. An empty list accepts only the last one.
    pub fn select_at(&mut self, stream: &Stream, at: usize) {
        if self.is_empty() && at < usize::MAX {
            return;
        }
        self.pending_selection = None;
        self.put_at(stream, at.min(self.len().saturating_sub(1)));
        self.follow = !self.paused && self.at + 1 >= self.len();
        if self.follow {
            self.news = Ranges::default();
        }
    }

    fn put_at(&mut self, stream: &Stream, at: usize) {
        self.at = at;
        self.header = self.groups.header(at).map(|group| group.id);
        self.selected = self.id_at(stream, at);
    }

    /// The capture at a place; of a group header the newest of the group.
    pub fn id_at(&self, stream: &Stream, at: usize) -> Option<CaptureKey> {
        stream
            .get(self.rows_at(at).next_back()?)
            .map(CaptureRow::id)
    }

    /// All matches, oldest first.
    pub fn all<'a>(&'a self, stream: &'a Stream) -> impl Iterator<Item = &'a CaptureRow> + 'a {
        self.rows.iter().filter_map(|listed| stream.get(listed.row))
    }

    /// All captures that a place represents.
    pub fn ids_at<'a>(
        &'a self,
        stream: &'a Stream,
        at: usize,
    ) -> impl Iterator<Item = CaptureKey> + 'a {
        self.rows_at(at)
            .filter_map(|row| stream.get(row))
            .map(CaptureRow::id)
    }

    /// The selected capture.
    pub fn current<'a>(&self, stream: &'a Stream) -> Option<&'a CaptureRow> {
        let there = self
            .rows_at(self.at)
            .next_back()
            .and_then(|row| stream.get(row));
        there.filter(|captured| Some(captured.id()) == self.selected)
    }

    /// Whether a capture matches, folded or not.
    pub fn has(&self, stream: &Stream, id: CaptureKey) -> bool {
        stream
            .row_of(id)
            .is_some_and(|row| self.find(row).is_some())
    }

    /// The captures of an action: the marked ones, else those of the selected row, in order.
    pub fn chosen<'a>(&self, stream: &'a Stream) -> Vec<&'a CaptureRow> {
        match self.marked(stream) {
            none if none.is_empty() => self
                .rows_at(self.at)
                .filter_map(|row| stream.get(row))
                .collect(),
            marked => marked,
        }
    }

    /// The marked captures, oldest first, shown or not.
    pub fn marked<'a>(&self, stream: &'a Stream) -> Vec<&'a CaptureRow> {
        self.marks
            .iter()
            .filter_map(|&id| stream.get(stream.row_of(id)?))
            .collect()
    }
}
