//! One way to move in, mark and filter any list, whatever it lists.

use crate::dashboard::data::Stream;
use crate::dashboard::list::{List, StreamList};
use crate::table::{Item, Table};
use std::collections::BTreeSet;

/// A list with the keys on it.
pub trait Cursor {
    /// Rows shown.
    fn len(&self) -> usize;
    /// Nothing is shown.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Place of the selection.
    fn at(&self) -> usize;
    /// Selects a place, or the last one.
    fn select(&mut self, at: usize);
    /// Whether the row at a place is marked.
    fn is_marked(&self, at: usize) -> bool;
    /// Marks the row at a place, or takes the mark off.
    fn mark(&mut self, at: usize, on: bool);
    /// Of the head of a group at a place, whether the group is unfolded.
    fn is_unfolded(&self, _at: usize) -> Option<bool> {
        None
    }
    /// Unfolds the group whose head is at a place, or folds it.
    fn set_unfolded(&mut self, _at: usize, _on: bool) {}
    /// The place of the head that the row at a place stands under.
    fn head_above(&self, _at: usize) -> Option<usize> {
        None
    }
    /// Whether the row at a place is the head of a group.
    fn is_head(&self, at: usize) -> bool {
        self.is_unfolded(at).is_some()
    }
    /// A folded head is unfolded, from an unfolded one the selection goes to its first row. False where no head is
    /// selected.
    fn unfold(&mut self) -> bool {
        let at = self.at();
        match self.is_unfolded(at) {
            Some(true) => self.select(at + 1),
            Some(false) => self.set_unfolded(at, true),
            None => return false,
        }
        true
    }
    /// An unfolded head is folded, from a row below one the selection goes to that. False where there is neither.
    fn fold(&mut self) -> bool {
        let at = self.at();
        match (self.is_unfolded(at), self.head_above(at)) {
            (Some(true), _) => self.set_unfolded(at, false),
            (None, Some(head)) => self.select(head),
            (Some(false), _) | (None, None) => return false,
        }
        true
    }
    /// Turns the marks of what is shown around.
    fn invert(&mut self) {
        for at in 0..self.len() {
            let on = !self.is_marked(at);
            self.mark(at, on);
        }
    }
    /// Takes every mark off, shown or not.
    fn clear_marks(&mut self);
    /// How many marks there are, and how many of them on rows that are not shown.
    fn marked(&self) -> (usize, usize);
    /// Where the range began, when there is one and that row is shown.
    fn range(&self) -> Option<usize>;
    /// Begins a range at the selection.
    fn begin_range(&mut self);
    /// Ends the range without marking.
    fn end_range(&mut self);
    /// The filter, and the earlier ones.
    fn filter(&mut self) -> (&mut String, &mut Vec<String>);
    /// The next sort order; how it is called.
    fn next_sort(&mut self) -> &'static str;
    /// The id of the selected row, as a number.
    fn selected_id(&self) -> Option<i64>;
    /// The id of the row at a place, as a number.
    fn id_at(&self, at: usize) -> Option<i64>;
    /// Ids of marked rows that are not shown, as numbers.
    fn hidden_marks(&self) -> Vec<i64>;

    /// What an action is about: the marked rows that are shown and those of the range, else the selected one.
    fn chosen(&self) -> Chosen {
        let at = self.at();
        let range = self.range().map(|from| from.min(at)..=from.max(at));
        let (marked, hidden) = self.marked();
        if marked == 0 && range.is_none() {
            return Chosen { ids: self.selected_id().into_iter().collect(), ..Chosen::default() };
        }
        let wanted = |at: &usize| self.is_marked(*at) || range.as_ref().is_some_and(|range| range.contains(at));
        let ids = (0..self.len()).filter(wanted).filter_map(|at| self.id_at(at)).collect();
        let hidden = if hidden > 0 { self.hidden_marks() } else { Vec::new() };
        Chosen { ids, hidden, many: true }
    }

    /// The ids shown, in order, as numbers.
    fn shown_ids(&self) -> Vec<i64> {
        (0..self.len()).filter_map(|at| self.id_at(at)).collect()
    }

    /// Selects the row of an id; false when it is not shown.
    fn select_id(&mut self, id: i64) -> bool {
        let at = (0..self.len()).find(|&at| self.id_at(at) == Some(id));
        if let Some(at) = at {
            self.select(at);
        }
        at.is_some()
    }
}

/// What an action is about, captured when its key was pressed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// In the order shown.
    pub ids: Vec<i64>,
    /// Marked, but hidden by the filter: left out unless asked for.
    pub hidden: Vec<i64>,
    /// Chosen by marks or a range, not by the cursor alone.
    pub many: bool,
}

pub(crate) struct TableRows<'a, T: Item> {
    pub(crate) list: &'a mut List<T>,
    pub(crate) table: Option<&'a Table<T>>,
}

impl<T: Item> TableRows<'_, T> {
    fn id(&self, at: usize) -> Option<T::Id> {
        let row = *self.list.rows.get(at)?;
        Some(self.table?.items().get(row as usize)?.id())
    }
}

impl<T: Item> Cursor for TableRows<'_, T> {
    fn len(&self) -> usize {
        self.list.rows.len()
    }
    fn at(&self) -> usize {
        self.list.at
    }
    fn select(&mut self, at: usize) {
        if let Some(table) = self.table {
            self.list.select_at(table, at);
        }
    }
    fn is_marked(&self, at: usize) -> bool {
        self.id(at).is_some_and(|id| self.list.marks.contains(&id))
    }
    fn mark(&mut self, at: usize, on: bool) {
        if let Some(id) = self.id(at) {
            set(&mut self.list.marks, id, on);
        }
    }
    fn clear_marks(&mut self) {
        self.list.marks.clear();
    }
    fn marked(&self) -> (usize, usize) {
        let total = self.list.marks.len();
        self.table.map_or((total, total), |table| self.list.count_marks(table))
    }
    fn range(&self) -> Option<usize> {
        self.list.range_start(self.table?)
    }
    fn begin_range(&mut self) {
        self.list.range_from = self.list.selected;
    }
    fn end_range(&mut self) {
        self.list.range_from = None;
    }
    fn filter(&mut self) -> (&mut String, &mut Vec<String>) {
        (&mut self.list.filter, &mut self.list.earlier)
    }
    fn next_sort(&mut self) -> &'static str {
        self.list.next_sort()
    }
    fn selected_id(&self) -> Option<i64> {
        self.list.selected.map(Into::into)
    }
    fn id_at(&self, at: usize) -> Option<i64> {
        self.id(at).map(Into::into)
    }
    fn hidden_marks(&self) -> Vec<i64> {
        let all = || self.list.marks.iter().map(|&id| id.into()).collect();
        self.table.map_or_else(all, |table| self.list.hidden_marks(table))
    }
}

pub(crate) struct StreamRows<'a> {
    pub(crate) list: &'a mut StreamList,
    pub(crate) stream: &'a Stream,
}

impl Cursor for StreamRows<'_> {
    fn len(&self) -> usize {
        self.list.len()
    }
    fn at(&self) -> usize {
        self.list.at
    }
    fn select(&mut self, at: usize) {
        self.list.select_at(self.stream, at);
    }
    fn is_marked(&self, at: usize) -> bool {
        let mut ids = self.list.ids_at(self.stream, at).peekable();
        ids.peek().is_some() && ids.all(|id| self.list.marks().contains(&id))
    }
    fn mark(&mut self, at: usize, on: bool) {
        self.list.mark(self.stream, at, on);
    }
    fn is_unfolded(&self, at: usize) -> Option<bool> {
        self.list.head_at(at).map(|head| head.open)
    }
    fn set_unfolded(&mut self, at: usize, on: bool) {
        self.list.set_unfolded(self.stream, at, on);
    }
    fn head_above(&self, at: usize) -> Option<usize> {
        self.list.head_above(at)
    }
    fn clear_marks(&mut self) {
        self.list.clear_marks();
    }
    fn marked(&self) -> (usize, usize) {
        (self.list.marks().len(), self.list.marks_hidden())
    }
    fn range(&self) -> Option<usize> {
        self.list.place(self.stream, self.list.range_from?)
    }
    fn begin_range(&mut self) {
        self.list.range_from = self.list.selected;
    }
    fn end_range(&mut self) {
        self.list.range_from = None;
    }
    fn filter(&mut self) -> (&mut String, &mut Vec<String>) {
        (&mut self.list.filter, &mut self.list.earlier)
    }
    fn next_sort(&mut self) -> &'static str {
        "time: the one order of a stream"
    }
    fn selected_id(&self) -> Option<i64> {
        self.list.selected.map(|id| id.capture.0)
    }
    fn id_at(&self, at: usize) -> Option<i64> {
        self.list.id_at(self.stream, at).map(|id| id.capture.0)
    }
    fn hidden_marks(&self) -> Vec<i64> {
        self.list.hidden_marks(self.stream).map(|id| id.capture.0).collect()
    }
}

pub(crate) fn set<Id: Ord>(marks: &mut BTreeSet<Id>, id: Id, on: bool) {
    if on {
        marks.insert(id);
    } else {
        marks.remove(&id);
    }
}
