//! Moving in, marking, folding and filtering any list, whatever it lists.

use crate::base::RowRef;
use crate::data::Stream;
use crate::list::{Groups, List, StreamList};
use scandeck_domain::table::{Item, Table};
use scandeck_domain::triage::IssueId;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A list together with its data. Ids are numbers here, because the keys do not depend on the type
/// of the items.
pub trait Cursor {
    /// Rows shown: items and group headers.
    fn len(&self) -> usize;
    /// Place of the selected row.
    fn at(&self) -> usize;
    /// Selects the row at a place, or the last one.
    fn select(&mut self, at: usize);
    fn selected_row(&self) -> Option<RowRef>;
    fn row_at(&self, at: usize) -> Option<RowRef>;
    /// The place of a row; of a folded item that of its group header.
    fn place(&self, row: RowRef) -> Option<usize>;
    /// The items that a place represents: of a group header all items of the group.
    fn ids_at(&self, at: usize) -> Vec<i64>;
    /// All shown items in their order, folded ones too, and whether they are marked.
    fn items(&self) -> Vec<(i64, bool)>;
    fn groups(&mut self) -> &mut Groups;
    /// Whether all items that a place represents are marked.
    fn is_marked(&self, at: usize) -> bool;
    /// Marks the items that a place represents, or removes their marks.
    fn mark(&mut self, at: usize, on: bool);
    /// Marks all shown items; if all of them are marked, removes all marks.
    fn mark_all(&mut self);
    /// Marks the shown items without a mark and removes the marks of the others.
    fn invert(&mut self);
    /// Removes all marks, also those of hidden items.
    fn clear_marks(&mut self);
    /// The number of marks, and how many of them are on hidden items.
    fn marked(&self) -> (usize, usize);
    /// Marked items that are hidden.
    fn hidden_marks(&self) -> Vec<i64>;
    /// The place where the range began, if there is a range and the row is shown.
    fn range(&self) -> Option<usize>;
    /// Begins a range at the selected row, or ends the range.
    fn set_range(&mut self, on: bool);
    /// The filter, and the earlier ones.
    fn filter(&mut self) -> (&mut String, &mut Vec<String>);
    /// Changes to the next sort order and returns its name.
    fn next_sort(&mut self) -> &'static str;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id of the item at a place; none for a group header.
    fn id_at(&self, at: usize) -> Option<i64> {
        self.row_at(at)?.item()
    }

    fn is_header(&self, at: usize) -> bool {
        matches!(self.row_at(at), Some(RowRef::Group(_)))
    }

    /// Unfolds the selected group, or goes from an unfolded group to its first row.
    fn unfold(&mut self) {
        let at = self.at();
        match self
            .groups()
            .header(at)
            .map(|group| (group.id, group.is_open))
        {
            Some((_, true)) => self.select(at + 1),
            Some((id, false)) => self.set_open(RowRef::Group(id), true),
            None => {}
        }
    }

    /// Whether the selected row is an unfolded group or a row of one.
    fn can_fold(&mut self) -> bool {
        let at = self.at();
        let selected = self.groups().header(at).map(|group| group.is_open);
        selected.unwrap_or_else(|| self.groups().header_above(at).is_some())
    }

    /// Folds the selected group, or goes from one of its rows to the group header.
    fn fold(&mut self) {
        let at = self.at();
        let selected = self.groups().header(at).map(|group| group.id);
        match (selected, self.groups().header_above(at)) {
            (Some(id), _) => self.set_open(RowRef::Group(id), false),
            (None, Some(header)) => self.select(header),
            (None, None) => {}
        }
    }

    /// Unfolds or folds a group and selects its header.
    fn set_open(&mut self, row: RowRef, is_open: bool) {
        let RowRef::Group(id) = row else { return };
        self.groups().set_open(id, is_open);
        if let Some(at) = self.place(row) {
            self.select(at);
        }
    }

    /// The rows of an action: the marked and shown items and those of the range, else the items of
    /// the selected row.
    fn chosen(&self) -> Chosen {
        let at = self.at();
        let (marked, hidden) = self.marked();
        let range = self.range().map(|from| from.min(at)..=from.max(at));
        if marked == 0 && range.is_none() {
            let ids = self.ids_at(at);
            return Chosen {
                many: ids.len() > 1,
                ids,
                hidden: Vec::new(),
            };
        }
        let in_range: BTreeSet<i64> = range
            .into_iter()
            .flatten()
            .flat_map(|at| self.ids_at(at))
            .collect();
        let chosen = self
            .items()
            .into_iter()
            .filter(|(id, is_marked)| *is_marked || in_range.contains(id));
        let hidden = if hidden > 0 {
            self.hidden_marks()
        } else {
            Vec::new()
        };
        Chosen {
            ids: chosen.map(|(id, _)| id).collect(),
            hidden,
            many: true,
        }
    }

    /// All shown items in their order, folded ones too.
    fn shown_ids(&self) -> Vec<i64> {
        self.items().into_iter().map(|(id, _)| id).collect()
    }

    /// Selects a row; the group of an item is unfolded. Returns whether the row is shown.
    fn select_row(&mut self, row: RowRef) -> bool {
        let Some(mut at) = self.place(row) else {
            return false;
        };
        if let (Some(header), RowRef::Item(_)) =
            (self.groups().header(at).map(|group| group.id), row)
        {
            self.groups().set_open(header, true);
            at = self.place(row).unwrap_or(at);
        }
        self.select(at);
        true
    }

    /// Selects an item. Returns whether it is shown.
    fn select_id(&mut self, id: i64) -> bool {
        self.select_row(RowRef::Item(id))
    }
}

/// The items of an action, determined when its key was pressed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// In the order shown.
    pub ids: Vec<i64>,
    /// Marked items that the filter hides. A prompt asks before they are included.
    pub hidden: Vec<i64>,
    /// Chosen by marks, a range or a group header.
    pub many: bool,
}

impl Chosen {
    /// The findings, those shown and those hidden.
    pub fn issues(self) -> [Vec<IssueId>; 2] {
        [self.ids, self.hidden].map(|ids| ids.into_iter().map(IssueId).collect())
    }
}

pub(crate) struct TableRows<'a, T: Item> {
    pub(crate) list: &'a mut List<T>,
    pub(crate) table: Arc<Table<T>>,
}

impl<T: Item> Cursor for TableRows<'_, T> {
    fn len(&self) -> usize {
        self.list.len()
    }
    fn at(&self) -> usize {
        self.list.at
    }
    fn select(&mut self, at: usize) {
        self.list.select_at(&self.table, at);
    }
    fn selected_row(&self) -> Option<RowRef> {
        self.list.selected_row().map(|row| row.map(Into::into))
    }
    fn row_at(&self, at: usize) -> Option<RowRef> {
        self.list
            .row_at(&self.table, at)
            .map(|row| row.map(Into::into))
    }
    fn place(&self, row: RowRef) -> Option<usize> {
        self.list.place(&self.table, row.map(Into::into))
    }
    fn ids_at(&self, at: usize) -> Vec<i64> {
        let items = self.table.items();
        self.list
            .positions_at(at)
            .map(|position| items[position as usize].id().into())
            .collect()
    }
    fn items(&self) -> Vec<(i64, bool)> {
        let (items, marks) = (self.table.items(), &self.list.marks);
        let shown = self.list.shown_rows();
        shown
            .map(|row| (items[row as usize].id().into(), marks.has(&self.table, row)))
            .collect()
    }
    fn groups(&mut self) -> &mut Groups {
        &mut self.list.groups
    }
    fn is_marked(&self, at: usize) -> bool {
        self.list.is_marked(&self.table, at)
    }
    fn mark(&mut self, at: usize, on: bool) {
        self.list.mark(&self.table, at, on);
    }
    fn mark_all(&mut self) {
        self.list.mark_all(&self.table);
    }
    fn invert(&mut self) {
        self.list.invert_marks(&self.table);
    }
    fn clear_marks(&mut self) {
        self.list.marks.clear();
    }
    fn marked(&self) -> (usize, usize) {
        self.list.count_marks(&self.table)
    }
    fn hidden_marks(&self) -> Vec<i64> {
        self.list
            .hidden_marks(&self.table)
            .map(Into::into)
            .collect()
    }
    fn range(&self) -> Option<usize> {
        self.list.range_start(&self.table)
    }
    fn set_range(&mut self, on: bool) {
        self.list.range_from = self.list.selected_row().filter(|_| on);
    }
    fn filter(&mut self) -> (&mut String, &mut Vec<String>) {
        (&mut self.list.filter, &mut self.list.earlier)
    }
    fn next_sort(&mut self) -> &'static str {
        self.list.next_sort()
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
    fn selected_row(&self) -> Option<RowRef> {
        self.list
            .selected_row()
            .map(|row| row.map(|id| id.capture.0))
    }
    fn row_at(&self, at: usize) -> Option<RowRef> {
        self.list
            .row_at(self.stream, at)
            .map(|row| row.map(|id| id.capture.0))
    }
    fn place(&self, row: RowRef) -> Option<usize> {
        match row {
            RowRef::Group(id) => self.list.groups.place_of(id),
            RowRef::Item(number) => {
                let id = self
                    .list
                    .all(self.stream)
                    .map(|captured| captured.id())
                    .find(|id| id.capture.0 == number)?;
                self.list.place(self.stream, id)
            }
        }
    }
    fn ids_at(&self, at: usize) -> Vec<i64> {
        self.list
            .ids_at(self.stream, at)
            .map(|id| id.capture.0)
            .collect()
    }
    fn items(&self) -> Vec<(i64, bool)> {
        let marks = self.list.marks();
        let ids = self.list.all(self.stream).map(|captured| captured.id());
        ids.map(|id| (id.capture.0, !marks.is_empty() && marks.contains(&id)))
            .collect()
    }
    fn groups(&mut self) -> &mut Groups {
        &mut self.list.groups
    }
    fn is_marked(&self, at: usize) -> bool {
        self.list.is_marked(self.stream, at)
    }
    fn mark(&mut self, at: usize, on: bool) {
        self.list.mark(self.stream, at, on);
    }
    fn mark_all(&mut self) {
        let rows = self.list.len();
        match (0..rows).all(|at| self.list.is_marked(self.stream, at)) {
            true => self.list.clear_marks(),
            false => (0..rows).for_each(|at| self.list.mark(self.stream, at, true)),
        }
    }
    fn invert(&mut self) {
        self.list.invert_marks(self.stream);
    }
    fn clear_marks(&mut self) {
        self.list.clear_marks();
    }
    fn marked(&self) -> (usize, usize) {
        (self.list.marks().len(), self.list.marks_hidden())
    }
    fn hidden_marks(&self) -> Vec<i64> {
        self.list
            .hidden_marks(self.stream)
            .map(|id| id.capture.0)
            .collect()
    }
    fn range(&self) -> Option<usize> {
        self.list.range_start(self.stream)
    }
    fn set_range(&mut self, on: bool) {
        self.list.range_from = self.list.selected_row().filter(|_| on);
    }
    fn filter(&mut self) -> (&mut String, &mut Vec<String>) {
        (&mut self.list.filter, &mut self.list.earlier)
    }
    fn next_sort(&mut self) -> &'static str {
        "time"
    }
}
