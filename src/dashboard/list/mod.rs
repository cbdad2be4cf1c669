//! The state of one list pane: the selected id, the marks, the filter and the rows that it leaves.
//!
//! ```text
//!   Table (data) ─► scope, query, order ─► rows (positions) ─► cursor keys, marks ─► ui/list draws them
//! ```
//!
//! Selection is an id. `rows` are positions in the table of the list; they are computed again when the table, the
//! filter, the scope or the sort order changes, and the selection stays on its id. When that id is gone, the selection
//! moves to the row in its place. A list in which no key was pressed yet stays at its top, so that the most severe rows
//! are visible.
//!
//! `stream` is the list of captured requests, `groups` the group headers of findings. How a list is drawn is in
//! `ui/list`; its data is in `table` and `data`.

pub mod asked;
pub mod groups;
pub mod lists;
pub mod pop_up;
pub mod stream;

pub mod cursor;

pub(crate) use asked::AnyTable;
pub use asked::Asked;
pub use cursor::{Chosen, Cursor};
pub(crate) use cursor::{StreamRows, TableRows};
pub use groups::cursor::GroupRows;
pub use groups::group_keys::{Keys, Name};
pub use groups::{FindingGroup, FindingGroupBy, FindingGroups, GroupRow};
pub use lists::Lists;
pub use pop_up::PopUpList;
pub use stream::StreamList;
pub use stream::asking::{Asking, PIECE, StreamContext};
pub(crate) use stream::asking::{Ranges, StreamPart};
pub use stream::gathering::Gathering;
pub use stream::groups::{CaptureGroup, CaptureGroupBy, CaptureGroupKey, CaptureGroups};

use crate::query::{ClauseEffect, RowSet, SortKey};
use crate::table::{Item, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where an item that stays stands in an order that decisions change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptRow<Id> {
    /// At the top.
    Top,
    /// Under this one.
    Under(Id),
    /// Where the order puts it.
    Anywhere,
}

/// State of a list of items `T`.
#[derive(Clone, Debug)]
pub struct List<T: Item> {
    /// The selected item.
    pub selected: Option<T::Id>,
    /// Where the selected row was last: the selection goes there when its item is gone.
    pub at: usize,
    /// Marked items, shown or not.
    pub marks: BTreeSet<T::Id>,
    /// Where `v` began a range.
    pub range_from: Option<T::Id>,
    /// Items that stay whatever the filter says: something was decided about them (see `stay`).
    pub kept: BTreeMap<T::Id, KeptRow<T::Id>>,
    /// The query in use, as it was typed.
    pub filter: String,
    /// Earlier filters, for backspace.
    pub earlier: Vec<String>,
    /// Which of the pane's sort orders is in use.
    pub sort: usize,
    /// An order by several fields; where it is empty, the one of `sort` holds.
    pub order: Vec<SortKey>,
    /// What each part of the query hides.
    pub why: Vec<ClauseEffect>,
    /// What is kept between two queries.
    pub(crate) asked: Asked,
    /// Positions in the table, in the order shown.
    pub rows: Arc<Vec<u32>>,
    /// A person has been here: the selection is theirs. Until then it is the first row, whatever that is.
    pub held: bool,
    /// Something was made here: it becomes the selection when it arrives, unless the selection was moved since.
    wanted: Option<(T::Id, Option<T::Id>)>,
}

impl<T: Item> Default for List<T> {
    fn default() -> Self {
        Self {
            selected: None,
            at: 0,
            marks: BTreeSet::new(),
            range_from: None,
            kept: BTreeMap::new(),
            filter: String::new(),
            earlier: Vec::new(),
            sort: 0,
            order: Vec::new(),
            why: Vec::new(),
            asked: Asked::default(),
            rows: Arc::default(),
            held: false,
            wanted: None,
        }
    }
}

impl<T: Item> List<T> {
    /// Takes new rows and keeps the selection on its id.
    pub fn show(&mut self, table: &Table<T>, rows: Vec<u32>) {
        self.rows = Arc::new(rows);
        let rows = Arc::clone(&self.rows);
        let place = |id| {
            let position = table.position(id)?;
            rows.iter().position(|&row| row as usize == position)
        };
        self.settle(table, rows.len(), place, |at| Some(table.items()[*rows.get(at)? as usize].id()));
    }

    /// Keeps the selection on its id after the rows changed: `place` tells where an id stands, `id_at` the reverse.
    pub(crate) fn settle(
        &mut self,
        table: &Table<T>,
        rows: usize,
        place: impl Fn(T::Id) -> Option<usize>,
        id_at: impl Fn(usize) -> Option<T::Id>,
    ) {
        if let Some((id, since)) = self.wanted
            && table.position(id).is_some()
        {
            self.wanted = None;
            if self.selected == since {
                self.selected = Some(id);
            }
        }
        let kept = self.selected.filter(|_| self.held).and_then(&place);
        let at = kept.unwrap_or(if self.held { self.at } else { 0 });
        self.at = at.min(rows.saturating_sub(1));
        self.selected = id_at(self.at);
        self.marks.retain(|&id| table.position(id).is_some());
        self.range_from = self.range_from.filter(|&id| table.position(id).is_some() || place(id).is_some());
    }

    /// Selects this item as soon as it arrives, unless the selection is moved before.
    pub fn want(&mut self, id: T::Id) {
        self.wanted = Some((id, self.selected));
    }

    /// Selects the row at a place, or the last one.
    pub fn select_at(&mut self, table: &Table<T>, at: usize) {
        self.at = at.min(self.rows.len().saturating_sub(1));
        self.selected = self.rows.get(self.at).map(|&row| table.items()[row as usize].id());
    }

    /// The next order; how it is called. From an order by several fields back to the named ones, then through them.
    pub fn next_sort(&mut self) -> &'static str {
        self.forget_places();
        let sorts = T::sorts();
        let by = usize::from(self.order.is_empty());
        self.order.clear();
        self.sort = (self.sort + by) % sorts.len().max(1);
        sorts.get(self.sort).map(|sort| sort.name).unwrap_or_default()
    }

    /// Orders it by several fields.
    pub(crate) fn set_order(&mut self, keys: Vec<SortKey>) {
        self.forget_places();
        self.order = keys;
    }

    /// Another order: what stays is put where that puts it.
    pub(crate) fn forget_places(&mut self) {
        self.kept.values_mut().for_each(|kept| *kept = KeptRow::Anywhere);
    }

    /// Where the range began, when there is one and that row is shown.
    pub(crate) fn range_start(&self, table: &Table<T>) -> Option<usize> {
        let from = table.position(self.range_from?)?;
        self.rows.iter().position(|&row| row as usize == from)
    }

    /// How many marks there are, and how many of them on rows that are not shown.
    pub(crate) fn count_marks(&self, table: &Table<T>) -> (usize, usize) {
        match self.marks.is_empty() || self.rows.len() == table.len() {
            true => (self.marks.len(), 0),
            false => (self.marks.len(), self.marks_not_shown(table).count()),
        }
    }

    /// Ids of marked rows that are not shown, as numbers.
    pub(crate) fn hidden_marks(&self, table: &Table<T>) -> Vec<i64> {
        self.marks_not_shown(table).map(Into::into).collect()
    }

    fn marks_not_shown(&self, table: &Table<T>) -> impl Iterator<Item = T::Id> {
        let mut shown = RowSet::none(table.len());
        self.rows.iter().for_each(|&row| shown.set(row as usize));
        self.marks.iter().copied().filter(move |&id| table.position(id).is_none_or(|at| !shown.has(at)))
    }

    /// The ids shown, in order.
    pub fn shown<'a>(&'a self, table: &'a Table<T>) -> impl DoubleEndedIterator<Item = T::Id> + 'a {
        self.rows.iter().map(|&row| table.items()[row as usize].id())
    }
}
