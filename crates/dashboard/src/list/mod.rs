//! The state of one list pane: the selected row, the marks, the filter, the groups, and the rows
//! that the filter matches.
//!
//! ```text
//!   Table (data) ─► scope, query, order ─► rows (positions) ─► groups ─► cursor keys, marks ─► ui/list draws them
//! ```
//!
//! A row is selected by its id. `rows` are positions in the table of the list; they are found again
//! when the table, the filter, the scope or the sort order changes, and the selection stays on its
//! id. When new data removes that id, the row that took its place is selected; when a filter hides
//! it, the first row. A list in which no key was pressed yet stays at its top, so that the most
//! severe rows are visible.
//!
//! `stream` is the list of captured requests, `groups` the group headers of all lists,
//! `finding_groups` what findings are grouped by. `ui/list` draws lists; their data is in `table`
//! and `data`.

pub mod cursor;
pub mod finding_groups;
pub mod groups;
pub mod hidden_news;
pub mod lists;
pub mod marks;
pub mod pop_up;
pub mod stream;
pub mod view;

pub use cursor::{Chosen, Cursor};
pub(crate) use cursor::{StreamRows, TableRows};
pub use finding_groups::{Counted, FindingGroupBy, FindingGroups, GroupSummary};
pub use groups::{Group, GroupPlace, Groups};
pub use hidden_news::HiddenNews;
pub use lists::Lists;
pub(crate) use lists::{of, registry};
pub use marks::Marks;
pub use pop_up::PopUpList;
pub use stream::StreamList;
pub use stream::chunks::{CHUNK, ChunkQuery, ReadCaptures, StreamContext, needs_bodies};
pub(crate) use stream::chunks::{Ranges, StreamChunk};
pub use stream::export::CaptureExport;
pub use stream::group_by::{CaptureGroupBy, CaptureGroupKey};

pub use view::{FindingsView, ListQuery, ListRows, view};

use crate::base::{GroupId, RowRef};
pub use crate::base::{GroupKeys, GroupName, RetainedRow};
use scandeck_domain::query::{ClauseEffect, RowSet, SortKey};
use scandeck_domain::table::{Item, Table};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A sort order as a phrase.
pub(crate) fn order_words(name: &str) -> String {
    match name {
        "newest" => "newest first".to_owned(),
        "now" => "by current status".to_owned(),
        name => format!("by {name}"),
    }
}

/// The places of a list that decide which columns are drawn: its first rows, and those that a
/// screen of so many rows can show around the cursor. Of long lists the others are not read.
pub(crate) fn sampled_places(len: usize, at: usize, screen: usize) -> impl Iterator<Item = usize> {
    let block = sampled_block(at) * SAMPLE;
    let near =
        block.saturating_sub(screen).max(SAMPLE)..block.saturating_add(SAMPLE + screen).min(len);
    (0..len.min(SAMPLE)).chain(near)
}

/// The sampled places are the same while the cursor is in one block of rows.
pub(crate) fn sampled_block(at: usize) -> usize {
    at / SAMPLE
}

/// Rows at the start of a list that are sampled, and rows of a block.
const SAMPLE: usize = 64;

/// So many rows below the selected one, and as many above it, can take its place.
const NEAR: usize = 16;

/// A row to select when it arrives, and the row that is selected until then.
#[derive(Clone, Copy, Debug)]
struct PendingSelection<Id> {
    row: RowRef<Id>,
    selected: Option<RowRef<Id>>,
}

/// State of a list of items `T`.
#[derive(Clone, Debug)]
pub struct List<T: Item> {
    /// The selected item; none while a group header is selected.
    pub selected: Option<T::Id>,
    /// The selected group header.
    pub header: Option<GroupId>,
    /// Place of the selected row. When that row is absent, the row at this place is selected.
    pub at: usize,
    /// The rows around the selected one with their places, in the order in which they take its
    /// place: below it, then above it.
    near: Vec<(usize, RowRef<T::Id>)>,
    /// The unfolded group of the selected row.
    group: Option<GroupId>,
    /// Marked items, shown or not.
    pub marks: Marks<T>,
    /// Where `v` began a range.
    pub range_from: Option<RowRef<T::Id>>,
    /// Items that are shown although the filter hides them, because a decision on them was recorded
    /// (see `retained_rows.rs`).
    pub retained: Arc<BTreeMap<T::Id, RetainedRow<T::Id>>>,
    /// The retained items that the filter hides.
    pub retained_only: Vec<T::Id>,
    /// The query in use, as it was typed.
    pub filter: String,
    /// Earlier filters, for backspace.
    pub earlier: Vec<String>,
    /// Index of the pane's sort order.
    pub sort: usize,
    /// An order by several fields, in place of the one of `sort`.
    pub order: Vec<SortKey>,
    /// Rows hidden by each part of the query.
    pub why: Vec<ClauseEffect>,
    /// New items that the filter hides.
    pub hidden_news: HiddenNews,
    /// The number of items in the scope, shown or hidden by the filter.
    pub in_scope: usize,
    /// Positions in the table, in the order shown.
    pub rows: Arc<Vec<u32>>,
    /// The same rows in groups, by their index.
    pub groups: Groups,
    /// The user pressed a key in this list. Until then the first row is selected.
    pub held: bool,
    /// A row that is selected when it arrives, unless the user selects another one before.
    pending_selection: Option<PendingSelection<T::Id>>,
    /// The revision of the table to which the rows belong.
    shown: u64,
}

/// A row that is still shown.
struct Moved {
    /// Its place when the list was shown last.
    before: usize,
    now: usize,
}

impl Moved {
    /// The order of both rows is another one now.
    fn has_passed(&self, other: &Self) -> bool {
        other.now != self.now && (other.before < self.before) != (other.now < self.now)
    }
}

impl<T: Item> Default for List<T> {
    fn default() -> Self {
        Self {
            selected: None,
            header: None,
            at: 0,
            near: Vec::new(),
            group: None,
            marks: Marks::default(),
            range_from: None,
            retained: Arc::default(),
            retained_only: Vec::new(),
            filter: String::new(),
            earlier: Vec::new(),
            sort: 0,
            order: Vec::new(),
            why: Vec::new(),
            rows: Arc::default(),
            hidden_news: HiddenNews::default(),
            in_scope: 0,
            groups: Groups::default(),
            held: false,
            pending_selection: None,
            shown: 0,
        }
    }
}

impl<T: Item> List<T> {
    /// Shows other rows. The selection stays on its id.
    pub fn show(&mut self, table: &Arc<Table<T>>, rows: Vec<u32>) {
        self.rows = Arc::new(rows);
        self.restore_selection(table);
    }

    /// Whether the rows belong to this table.
    pub(crate) fn shows(&self, table: &Table<T>) -> bool {
        self.shown == table.revision()
    }

    /// Restores the selection after the rows or their groups changed.
    pub(crate) fn restore_selection(&mut self, table: &Arc<Table<T>>) {
        self.shown = table.revision();
        let selected = self.selected_row();
        let mut pending = self
            .pending_selection
            .take()
            .filter(|pending| pending.selected == selected);
        match pending.map(|pending| pending.row) {
            Some(RowRef::Group(id)) if self.groups.place_of(id).is_some() => {
                (self.selected, self.header, pending) = (None, Some(id), None);
            }
            Some(RowRef::Item(id)) if table.position(id).is_some() => {
                // A filter can hide it.
                if self.index(table, id).is_some() {
                    (self.selected, self.header) = (Some(id), None);
                }
                pending = None;
            }
            _ => {}
        }
        let at = match self.held {
            true => self
                .selected_row()
                .and_then(|row| self.place(table, row))
                .unwrap_or_else(|| self.successor(table)),
            false => 0,
        };
        self.select_at(table, at);
        let selected = self.selected_row();
        self.pending_selection = pending.map(|pending| PendingSelection {
            selected,
            ..pending
        });
        self.marks.follow(table);
        self.range_from = self.range_from.filter(|&row| match row {
            RowRef::Item(id) => table.position(id).is_some(),
            RowRef::Group(id) => self.groups.get(id).is_some(),
        });
    }

    /// The place of the row that took the place of the selected one, which is no longer shown: the
    /// next row that is still where it was among the rows around it, because a poll can move rows
    /// to another end of the list as well. In a group it is a row of that group, wherever the group
    /// is now.
    fn successor(&self, table: &Table<T>) -> usize {
        let left = self.still_shown(table);
        let header = self.group.and_then(|id| self.groups.place_of(id));
        let in_group =
            |one: &&Moved| header.is_some() && self.groups.header_above(one.now) == header;
        let has_stayed = |one: &&Moved| {
            let passed = left.iter().filter(|other| one.has_passed(other)).count();
            2 * passed < left.len()
        };
        let stayed = left
            .iter()
            .find(in_group)
            .or_else(|| left.iter().find(has_stayed));
        stayed.map_or(self.at, |one| one.now)
    }

    /// The rows that were around the selected one and are still shown, in their earlier order.
    fn still_shown(&self, table: &Table<T>) -> Vec<Moved> {
        let position = |row: RowRef<T::Id>| Some(table.position(row.item()?)? as u32);
        let wanted: HashSet<u32> = self
            .near
            .iter()
            .filter_map(|&(_, row)| position(row))
            .collect();
        // One pass over all rows for those around it.
        let rows = self.rows.iter().enumerate();
        let shown = rows.filter(|(_, row)| wanted.contains(row));
        let indices: HashMap<u32, usize> = shown.map(|(index, &row)| (row, index)).collect();
        let place = |row: RowRef<T::Id>| match row {
            RowRef::Group(id) => self.groups.place_of(id),
            RowRef::Item(_) => self.place_of_index(*indices.get(&position(row)?)?),
        };
        let moved = |&(before, row)| {
            Some(Moved {
                before,
                now: place(row)?,
            })
        };
        self.near.iter().filter_map(moved).collect()
    }

    /// Rows on the screen: group headers and unfolded items, or all items.
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

    /// The selected item or group header.
    pub fn selected_row(&self) -> Option<RowRef<T::Id>> {
        self.header
            .map(RowRef::Group)
            .or(self.selected.map(RowRef::Item))
    }

    /// The row at a place.
    pub fn row_at(&self, table: &Table<T>, at: usize) -> Option<RowRef<T::Id>> {
        match self.groups.header(at) {
            Some(group) => Some(RowRef::Group(group.id)),
            None => self
                .positions_at(at)
                .next()
                .map(|position| RowRef::Item(table.items()[position as usize].id())),
        }
    }

    /// Positions of the items that a place represents: of a group header all items of the group.
    pub fn positions_at(&self, at: usize) -> impl Iterator<Item = u32> + '_ {
        let ungrouped = (!self.groups.is_on() && at < self.rows.len()).then_some(at as u64);
        self.groups
            .rows_at(at)
            .chain(ungrouped)
            .map(|row| self.rows[row as usize])
    }

    /// Positions of the items of a group.
    pub fn positions_in<'a>(&'a self, group: &'a Group) -> impl ExactSizeIterator<Item = u32> + 'a {
        group.rows.iter().map(|&row| self.rows[row as usize])
    }

    /// The place of a row; of a folded item that of its group header.
    pub fn place(&self, table: &Table<T>, row: RowRef<T::Id>) -> Option<usize> {
        let id = match row {
            RowRef::Group(id) => return self.groups.place_of(id),
            RowRef::Item(id) => id,
        };
        self.place_of_index(self.index(table, id)?)
    }

    fn place_of_index(&self, index: usize) -> Option<usize> {
        match self.groups.group_of(index) {
            Some(group) => self.groups.place_in(group.number, index as u64),
            None => Some(index),
        }
    }

    /// The group that a shown item belongs to.
    pub fn group_of(&self, table: &Table<T>, id: T::Id) -> Option<&Group> {
        self.groups.group_of(self.index(table, id)?)
    }

    fn index(&self, table: &Table<T>, id: T::Id) -> Option<usize> {
        let position = table.position(id)?;
        self.rows.iter().position(|&row| row as usize == position)
    }

    /// Selects this row as soon as it arrives, unless the user selects another one before.
    pub fn select_when_loaded(&mut self, row: RowRef<T::Id>) {
        self.held = true;
        self.pending_selection = Some(PendingSelection {
            row,
            selected: self.selected_row(),
        });
    }

    /// From now on the selection stays on its row. A list without rows has none yet: its first rows
    /// begin at the top.
    pub fn hold(&mut self) {
        self.held |= self.selected_row().is_some();
    }

    /// Selects the row at a place, or the last one.
    pub fn select_at(&mut self, table: &Table<T>, at: usize) {
        self.at = at.min(self.len().saturating_sub(1));
        let row = self.row_at(table, self.at);
        self.selected = row.and_then(RowRef::item);
        self.header = self.groups.header(self.at).map(|group| group.id);
        self.group = self
            .groups
            .header_above(self.at)
            .and_then(|at| Some(self.groups.header(at)?.id));
        let (below, above) = (
            self.at + 1..self.at + 1 + NEAR,
            (self.at.saturating_sub(NEAR)..self.at).rev(),
        );
        self.near = below
            .chain(above)
            .filter_map(|at| Some((at, self.row_at(table, at)?)))
            .collect();
    }

    /// The filter changed: if it hides the selected row, the first row is selected.
    pub(crate) fn forget_place(&mut self) {
        self.near.clear();
        self.group = None;
        self.at = 0;
    }

    /// Moves the selection from a group header to the first item of the group, before the groups
    /// change.
    pub fn leave_header(&mut self, table: &Table<T>) {
        if let Some(group) = self.header.take().and_then(|id| self.groups.get(id)) {
            let first = self.positions_in(group).next();
            self.selected = first.map(|position| table.items()[position as usize].id());
        }
    }

    /// Changes to the next sort order and returns its name. An order by several fields changes to
    /// the named order first.
    pub fn next_sort(&mut self) -> &'static str {
        self.forget_places();
        let sorts = T::SORTS;
        let by = usize::from(self.order.is_empty());
        self.order.clear();
        self.sort = (self.sort + by) % sorts.len().max(1);
        sorts
            .get(self.sort)
            .map(|sort| sort.name)
            .unwrap_or_default()
    }

    pub(crate) fn set_order(&mut self, keys: Vec<SortKey>) {
        self.forget_places();
        self.order = keys;
    }

    /// Lets a new order place the retained rows.
    pub(crate) fn forget_places(&mut self) {
        Arc::make_mut(&mut self.retained)
            .values_mut()
            .for_each(|retained| *retained = RetainedRow::Anywhere);
    }

    /// The place where the range began, if there is a range and the row is shown.
    pub(crate) fn range_start(&self, table: &Table<T>) -> Option<usize> {
        self.place(table, self.range_from?)
    }

    /// Whether all items that a place represents are marked.
    pub(crate) fn is_marked(&self, table: &Table<T>, at: usize) -> bool {
        let count = self.groups.header(at).map_or(1, |group| group.rows.len());
        let mut positions = self.positions_at(at).peekable();
        self.marks.len() >= count
            && positions.peek().is_some()
            && positions.all(|position| self.marks.has(table, position))
    }

    /// Marks the items that a place represents, or removes their marks.
    pub(crate) fn mark(&mut self, table: &Arc<Table<T>>, at: usize, on: bool) {
        let mut marks = std::mem::take(&mut self.marks);
        self.positions_at(at)
            .for_each(|position| marks.set(table, position, on));
        self.marks = marks;
    }

    /// Marks all shown items; if all of them are marked, removes all marks.
    pub(crate) fn mark_all(&mut self, table: &Arc<Table<T>>) {
        if self.rows.iter().all(|&row| self.marks.has(table, row)) {
            return self.marks.clear();
        }
        self.rows
            .iter()
            .for_each(|&row| self.marks.set(table, row, true));
    }

    /// Marks the shown items without a mark and removes the marks of the others.
    pub(crate) fn invert_marks(&mut self, table: &Arc<Table<T>>) {
        for &row in self.rows.iter() {
            let on = !self.marks.has(table, row);
            self.marks.set(table, row, on);
        }
    }

    /// The number of marks, and how many of them are on items that are not shown.
    pub(crate) fn count_marks(&self, table: &Table<T>) -> (usize, usize) {
        let marks = self.marks.len();
        match marks == 0 || self.rows.len() == table.len() {
            true => (marks, 0),
            false => (
                marks,
                marks
                    - self
                        .rows
                        .iter()
                        .filter(|&&row| self.marks.has(table, row))
                        .count(),
            ),
        }
    }

    /// Marked items that are not shown.
    pub(crate) fn hidden_marks(&self, table: &Table<T>) -> impl Iterator<Item = T::Id> {
        let mut shown = RowSet::none(table.len());
        self.rows.iter().for_each(|&row| shown.set(row as usize));
        self.marks
            .rows()
            .filter(move |&at| !shown.has(at))
            .filter_map(|at| Some(table.items().get(at)?.id()))
    }

    /// The shown items in their order, folded ones too.
    pub fn shown<'a>(&'a self, table: &'a Table<T>) -> impl Iterator<Item = T::Id> + 'a {
        self.shown_rows()
            .map(|row| table.items()[row as usize].id())
    }

    /// The positions of the shown items in their order, folded ones too.
    pub(crate) fn shown_rows(&self) -> impl Iterator<Item = u32> + '_ {
        let ungrouped = if self.groups.is_on() {
            &[]
        } else {
            self.rows.as_slice()
        };
        let grouped = self
            .groups
            .iter()
            .flat_map(|group| self.positions_in(group));
        ungrouped.iter().copied().chain(grouped)
    }
}

/// Marks a capture, or removes its mark.
pub(crate) fn set_mark<Id: Ord>(marks: &mut BTreeSet<Id>, id: Id, on: bool) {
    match on {
        true => marks.insert(id),
        false => marks.remove(&id),
    };
}
