//! The rows of the board, and the findings they are about.

use crate::contract::Stamp;
use crate::dashboard::base::Pane;
use crate::dashboard::data::board::*;
use crate::dashboard::model::Model;
use crate::query::{QueryKind, query_of};
use crate::table::Table;
use crate::triage::CaseId;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl Model {
    /// Makes the board's rows anew, after scans, rows or the board changed.
    pub(crate) fn make_board(&mut self) {
        let Some(board) = &self.findings.board else { return };
        let (Some(cases), Some(scans)) = (self.data.findings.value(), self.data.scans.value()) else { return };
        let rows = board.rows(cases, scans, self.findings.triage.read);
        self.data.board.succeed(Arc::new(Table::new(rows)), Stamp(self.now.wall));
        self.show_rows(Pane::Board);
    }

    /// Which of them are shown: those that the filter finds, heads only over groups.
    pub(crate) fn show_board(&mut self) {
        let Some(mut table) = self.data.board.value().cloned() else { return };
        let filter = self.lists.board.filter.clone();
        let grouped = self.lists.board.sort == BY_NOW && filter.is_empty();
        let is_grouped = table.items().iter().any(|row| row.head.is_some());
        if grouped != is_grouped {
            table = Arc::new(with_heads(&table, grouped));
            self.data.board.succeed(Arc::clone(&table), Stamp(self.now.wall));
        }
        let found = (!filter.is_empty()).then(|| self.findings_found(&filter));
        let kept = &self.lists.board.kept;
        let is_found = |id: CaseId| found.as_ref().is_none_or(|found| found.contains(&id)) || kept.contains_key(&id);
        let order = table.order(self.lists.board.sort).iter();
        let rows = order.filter(|row| is_found(table.items()[**row as usize].id)).copied().collect();
        self.lists.board.show(&table, rows);
    }

    /// The findings that a query finds.
    fn findings_found(&mut self, filter: &str) -> HashSet<CaseId> {
        let query = query_of(filter, QueryKind::Findings);
        let hits = self.ask_list(Pane::Findings, |evaluator, source| evaluator.matches(&query, source));
        let (Some(hits), Some(table)) = (hits, self.data.findings.value()) else { return HashSet::new() };
        hits.rows().filter_map(|row| table.items().get(row)).map(|case| case.id).collect()
    }

    /// The findings that an action on the board is about: a head stands for the rows under it.
    pub fn board_ids(&self, chosen: &[i64]) -> Vec<CaseId> {
        let Some(table) = self.data.board.value() else { return Vec::new() };
        let mut under: HashMap<i64, Vec<CaseId>> = HashMap::new();
        if chosen.iter().any(|&id| id < 0) {
            for row in table.items().iter().filter(|row| row.head.is_none()) {
                under.entry(-1 - row.now.rank()).or_default().push(row.id);
            }
        }
        let of = |id: i64| match under.get(&id) {
            Some(rows) => rows.clone(),
            None => table.get(CaseId(id)).filter(|row| row.head.is_none()).map(|row| row.id).into_iter().collect(),
        };
        let mut known = HashSet::new();
        chosen.iter().flat_map(|&id| of(id)).filter(|&id| known.insert(id)).collect()
    }

    /// The finding selected on the board.
    pub fn board_case(&self) -> Option<CaseId> {
        let id = self.lists.board.selected?;
        Some(id).filter(|id| id.0 >= 0)
    }
}
