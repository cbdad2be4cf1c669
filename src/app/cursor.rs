//! One way to move in, mark and filter any list, whatever it lists.

use std::collections::BTreeSet;

use super::group::GroupRows;
use super::list::List;
use super::model::{Model, Pane};
use super::stream::{Stream, StreamList};
use super::table::{Item, Table};

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
    /// Whether the row at a place is the head of a group.
    fn is_head(&self, _at: usize) -> bool {
        false
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

struct Rows<'a, T: Item> {
    list: &'a mut List<T>,
    table: Option<&'a Table<T>>,
}

impl<T: Item> Rows<'_, T> {
    fn id(&self, at: usize) -> Option<T::Id> {
        let row = *self.list.rows.get(at)?;
        Some(self.table?.items().get(row as usize)?.id())
    }
}

impl<T: Item> Cursor for Rows<'_, T>
where
    T::Id: Into<i64>,
{
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
        if total == 0 {
            return (0, 0);
        }
        (total, total - (0..self.len()).filter(|&at| self.is_marked(at)).count())
    }
    fn range(&self) -> Option<usize> {
        let from = self.table?.position(self.list.range_from?)?;
        self.list.rows.iter().position(|&row| row as usize == from)
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
        let shown: BTreeSet<T::Id> = (0..self.len()).filter_map(|at| self.id(at)).collect();
        self.list.marks.iter().filter(|id| !shown.contains(id)).map(|&id| id.into()).collect()
    }
}

struct StreamRows<'a> {
    list: &'a mut StreamList,
    stream: &'a Stream,
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
    fn is_head(&self, at: usize) -> bool {
        self.list.head_at(at).is_some()
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

fn set<Id: Ord>(marks: &mut BTreeSet<Id>, id: Id, on: bool) {
    if on {
        marks.insert(id);
    } else {
        marks.remove(&id);
    }
}

impl Model {
    /// The list of a pane.
    pub fn cursor(&mut self, pane: Pane) -> Box<dyn Cursor + '_> {
        let (lists, data) = (&mut self.lists, &self.data);
        match pane {
            Pane::Workspaces => {
                Box::new(Rows { list: &mut lists.workspaces, table: data.workspaces.value().map(|table| &**table) })
            }
            Pane::Targets => {
                Box::new(Rows { list: &mut lists.targets, table: data.targets.value().map(|table| &**table) })
            }
            Pane::Findings => match data.findings.value() {
                Some(table) if lists.groups.by.is_some() => {
                    Box::new(GroupRows { list: &mut lists.findings, groups: &mut lists.groups, table })
                }
                table => Box::new(Rows { list: &mut lists.findings, table: table.map(|table| &**table) }),
            },
            Pane::Scans => Box::new(Rows { list: &mut lists.scans, table: data.scans.value().map(|table| &**table) }),
            Pane::Loggers => {
                Box::new(Rows { list: &mut lists.loggers, table: data.loggers.value().map(|table| &**table) })
            }
            Pane::Reports => {
                Box::new(Rows { list: &mut lists.reports, table: data.reports.value().map(|table| &**table) })
            }
            Pane::Wordlists => {
                Box::new(Rows { list: &mut lists.wordlists, table: data.wordlists.value().map(|table| &**table) })
            }
            Pane::Payloads => {
                Box::new(Rows { list: &mut lists.payloads, table: data.payloads.value().map(|table| &**table) })
            }
            Pane::Board => Box::new(Rows { list: &mut lists.board, table: data.board.value().map(|table| &**table) }),
            Pane::Captures => Box::new(StreamRows { list: &mut lists.captures, stream: &data.captures }),
        }
    }
}
