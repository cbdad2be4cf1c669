//! Keys on grouped findings: a head stands for the members that are shown.

use crate::dashboard::list::{Chosen, Cursor, FindingGroups, GroupRow, List};
use crate::table::Table;
use crate::triage::{Case, CaseId};
use std::collections::BTreeSet;

/// The grouped findings with the keys on them.
pub struct GroupRows<'a> {
    pub(crate) list: &'a mut List<Case>,
    pub(crate) groups: &'a mut FindingGroups,
    pub(crate) table: &'a Table<Case>,
}

impl GroupRows<'_> {
    fn id(&self, position: u32) -> CaseId {
        self.table.items()[position as usize].id
    }

    /// Positions that a row stands for.
    fn positions(&self, at: usize) -> &[u32] {
        match self.groups.rows.get(at) {
            Some(&GroupRow::Head(group)) => self.groups.members(&self.groups.all()[group as usize]),
            Some(GroupRow::Case(position)) => std::slice::from_ref(position),
            None => &[],
        }
    }

    fn ids(&self, at: usize) -> Vec<CaseId> {
        self.positions(at).iter().map(|&position| self.id(position)).collect()
    }
}

impl Cursor for GroupRows<'_> {
    fn len(&self) -> usize {
        self.groups.rows.len()
    }
    fn at(&self) -> usize {
        self.list.at
    }
    fn select(&mut self, at: usize) {
        self.list.at = at.min(self.groups.rows.len().saturating_sub(1));
        self.list.selected = self.groups.id_at(self.table, self.list.at);
    }
    fn is_marked(&self, at: usize) -> bool {
        let positions = self.positions(at);
        !positions.is_empty() && positions.iter().all(|&position| self.list.marks.contains(&self.id(position)))
    }
    fn mark(&mut self, at: usize, on: bool) {
        for id in self.ids(at) {
            match on {
                true => self.list.marks.insert(id),
                false => self.list.marks.remove(&id),
            };
        }
    }
    fn is_unfolded(&self, at: usize) -> Option<bool> {
        match *self.groups.rows.get(at)? {
            GroupRow::Head(group) => Some(self.groups.all()[group as usize].open),
            GroupRow::Case(_) => None,
        }
    }
    fn set_unfolded(&mut self, at: usize, on: bool) {
        if let Some(head) = self.groups.id_at(self.table, at) {
            self.groups.fold(head, on);
        }
    }
    fn head_above(&self, at: usize) -> Option<usize> {
        match *self.groups.rows.get(at)? {
            GroupRow::Head(_) => None,
            GroupRow::Case(position) => self.groups.place(self.table, self.groups.head_of(position)?),
        }
    }
    fn invert(&mut self) {
        for position in self.groups.all_members().collect::<Vec<_>>() {
            let id = self.id(position);
            if !self.list.marks.remove(&id) {
                self.list.marks.insert(id);
            }
        }
    }
    fn clear_marks(&mut self) {
        self.list.marks.clear();
    }
    fn marked(&self) -> (usize, usize) {
        self.list.count_marks(self.table)
    }
    fn range(&self) -> Option<usize> {
        self.groups.place(self.table, self.list.range_from?)
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
        self.groups.id_at(self.table, at).map(Into::into)
    }
    fn hidden_marks(&self) -> Vec<i64> {
        self.list.hidden_marks(self.table)
    }

    /// A head stands for its members, so that what is chosen are findings only.
    fn chosen(&self) -> Chosen {
        let at = self.at();
        let (marked, hidden) = self.marked();
        let range = self.range().map(|from| from.min(at)..=from.max(at));
        if marked == 0 && range.is_none() {
            let ids: Vec<i64> = self.ids(at).into_iter().map(i64::from).collect();
            return Chosen { many: ids.len() > 1, ids, hidden: Vec::new() };
        }
        let mut wanted: BTreeSet<u32> =
            range.into_iter().flatten().flat_map(|at| self.positions(at).to_vec()).collect();
        wanted.extend(self.groups.all_members().filter(|&position| self.list.marks.contains(&self.id(position))));
        let in_order = self.groups.all_members().filter(|position| wanted.contains(position));
        let ids = in_order.map(|position| self.id(position).into()).collect();
        let hidden = if hidden > 0 { self.hidden_marks() } else { Vec::new() };
        Chosen { ids, hidden, many: true }
    }

    fn shown_ids(&self) -> Vec<i64> {
        self.groups.all_members().map(|position| self.id(position).into()).collect()
    }

    /// Unfolds the group that the finding is in.
    fn select_id(&mut self, id: i64) -> bool {
        let id = CaseId(id);
        let position = self.table.position(id).map(|at| at as u32);
        let shown = position.filter(|&at| self.list.rows.contains(&at));
        let head = shown.and_then(|at| self.groups.head_of(at));
        if let Some(head) = head {
            self.groups.fold(head, true);
        }
        let place = self.groups.place(self.table, id);
        if let Some(at) = place {
            self.select(at);
        }
        place.is_some()
    }
}
