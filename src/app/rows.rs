//! Which rows a list shows, in which order: scope, filter, sort.
//!
//! ```text
//!   order of the table ─► in scope? ─► has every word? ─► refined order ─► List::rows
//! ```

use std::cmp::Reverse;
use std::sync::Arc;

use super::list::List;
use super::model::{Model, Pane};
use super::sorts;
use super::stream::Words;
use super::table::{Item, Table};
use crate::contract::{Scan, Target, TargetId};
use crate::triage::Case;

impl Model {
    /// Makes the rows of a pane anew, after its data, filter, scope or order changed.
    pub fn show_rows(&mut self, pane: Pane) {
        match pane {
            Pane::Workspaces => show_plain(&mut self.lists.workspaces, self.data.workspaces.value()),
            Pane::Loggers => show_plain(&mut self.lists.loggers, self.data.loggers.value()),
            Pane::Reports => show_plain(&mut self.lists.reports, self.data.reports.value()),
            Pane::Wordlists => show_plain(&mut self.lists.wordlists, self.data.wordlists.value()),
            Pane::Targets => self.show_targets(),
            Pane::Scans => self.show_scans(),
            Pane::Findings => self.show_findings(),
            Pane::Captures => self.lists.captures.show(&self.data.captures, self.scope.logger),
        }
    }

    fn show_targets(&mut self) {
        let Some(table) = self.data.targets.value() else { return };
        let mut rows = matching(table, &self.lists.targets.filter, |_| Vec::new(), |_| true, self.lists.targets.sort);
        if Target::sorts().get(self.lists.targets.sort).is_some_and(|sort| sort.name == sorts::BY_RISK) {
            let risks = |id: TargetId| self.data.findings.value().and_then(|all| all.of_target(id)).map(|of| of.risks);
            rows.sort_by_cached_key(|&row| Reverse(risks(table.items()[row as usize].id).unwrap_or_default()));
        }
        let table = Arc::clone(table);
        self.lists.targets.show(&table, rows);
    }

    fn show_scans(&mut self) {
        let Some(table) = self.data.scans.value() else { return };
        let list = &self.lists.scans;
        let only = self.scope.target;
        let in_scope = |scan: &Scan| only.is_none_or(|target| scan.target_id == target);
        let mut rows = matching(table, &list.filter, |word| self.targets_named(word), in_scope, list.sort);
        if Scan::sorts().get(list.sort).is_some_and(|sort| sort.name == sorts::BY_NEED) {
            rows.sort_by_key(|&row| self.watch.need(self.now.mono, &table.items()[row as usize]));
        }
        let table = Arc::clone(table);
        self.lists.scans.show(&table, rows);
    }

    fn show_findings(&mut self) {
        let Some(table) = self.data.findings.value() else { return };
        let list = &self.lists.findings;
        let (target, scan) = (self.scope.target, self.scope.scan);
        let in_scope = |finding: &Case| {
            (target.is_none() || finding.target_id == target) && (scan.is_none() || finding.task_id == scan)
        };
        let rows = matching(table, &list.filter, |word| self.targets_named(word), in_scope, list.sort);
        let table = Arc::clone(table);
        self.lists.findings.show(&table, rows);
    }

    /// Targets whose name has a word.
    fn targets_named(&self, word: &str) -> Vec<TargetId> {
        let Some(targets) = self.data.targets.value() else { return Vec::new() };
        let named = targets.items().iter().filter(|target| target.name.to_lowercase().contains(word));
        named.map(|target| target.id).collect()
    }
}

/// The rows of a list that needs nothing but its table.
fn show_plain<T: Item>(list: &mut List<T>, table: Option<&Arc<Table<T>>>) {
    if let Some(table) = table {
        let rows = matching(table, &list.filter, |_| Vec::new(), |_| true, list.sort);
        list.show(table, rows);
    }
}

fn matching<T: Item>(
    table: &Table<T>,
    filter: &str,
    target_has: impl Fn(&str) -> Vec<TargetId>,
    in_scope: impl Fn(&T) -> bool,
    sort: usize,
) -> Vec<u32> {
    let words = Words::new(filter);
    let order = table.order(sort).iter().copied();
    if words.is_empty() {
        return order.filter(|&row| in_scope(&table.items()[row as usize])).collect();
    }
    let hits = table.matches(&words, target_has);
    order.filter(|&row| hits[row as usize] && in_scope(&table.items()[row as usize])).collect()
}
