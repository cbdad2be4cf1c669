//! The rows of a list as a function of its data: of any list, and the whole view of the findings.
//!
//! ```text
//!   table, decisions, query, order, groups ─► ViewJob ─► view ─► FindingsView: rows, counts of the tabs, …
//!                                        few findings: at once │ many: on another thread
//! ```
//!
//! Nothing here is cached between two calls, except that a job can pass the groups and the order of
//! an earlier view on.

use crate::base::{
    FindingsSource, GroupKeys, ListRequest, MadeOrder, RetainedRow, ViewJob, ViewKey,
};
use scandeck_domain::query::explain::explain;
use scandeck_domain::query::{
    Clause, ClauseEffect, Evaluator, Expr, Query, QueryKind, RowSet, RowSource, order, query_of,
};
use scandeck_domain::table::{Item, Table};
use scandeck_domain::triage::{Issue, IssueId};
use scandeck_wire::contract::TargetId;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A query on a list, with everything that its rows follow from.
pub struct ListQuery<'a, T: Item> {
    pub query: &'a Query,
    /// All rows in the order of the list.
    pub order: &'a [u32],
    /// The rows that the list is about; nothing if these are all.
    pub scope: Option<&'a RowSet>,
    pub retained: &'a BTreeMap<T::Id, RetainedRow<T::Id>>,
    /// Whether an item is new to the filter.
    pub is_new: Option<&'a dyn Fn(&T) -> bool>,
}

/// The rows of a list, and what its filter does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRows<Id> {
    /// Positions in the table, in the order shown.
    pub rows: Vec<u32>,
    /// The number of items in the scope.
    pub in_scope: usize,
    /// Rows hidden by each part of the query.
    pub why: Vec<ClauseEffect>,
    /// The retained items that the filter hides.
    pub retained_only: Vec<Id>,
    /// New items that the filter hides.
    pub hidden_new: usize,
}

impl<T: Item> ListQuery<'_, T> {
    /// The rows of a table.
    pub fn rows(
        &self,
        table: &Table<T>,
        evaluator: &mut Evaluator,
        source: &dyn RowSource,
    ) -> ListRows<T::Id> {
        let places: Vec<usize> = self
            .retained
            .keys()
            .filter_map(|&id| table.position(id))
            .collect();
        let mut found = ListRows {
            rows: Vec::new(),
            in_scope: self.scope.map_or(table.len(), RowSet::count),
            why: explain(self.query, evaluator, source, self.scope, &places),
            retained_only: Vec::new(),
            hidden_new: 0,
        };
        found.rows = if self.query.is_empty() && self.scope.is_none() {
            self.order.to_vec()
        } else {
            let mut matching = evaluator.matches(self.query, source);
            let hidden = places.into_iter().filter(|&at| !matching.has(at));
            let hidden: Vec<usize> = hidden.collect();
            found.retained_only = hidden.iter().map(|&at| table.items()[at].id()).collect();
            hidden.into_iter().for_each(|at| matching.set(at));
            self.scope.iter().for_each(|scope| matching.and(scope));
            found.hidden_new = self.count_hidden_new(table, &matching);
            let is_matching = |row: &u32| matching.has(*row as usize);
            self.order.iter().copied().filter(is_matching).collect()
        };
        // The order may depend on decisions, such as that by risk.
        if !self.retained.is_empty() {
            found.rows = in_place(self.retained, table, found.rows);
        }
        found
    }

    fn count_hidden_new(&self, table: &Table<T>, matching: &RowSet) -> usize {
        let Some(is_new) = self.is_new else { return 0 };
        let is_hidden =
            |row: usize| self.scope.is_none_or(|scope| scope.has(row)) && !matching.has(row);
        let items = table.items().iter().enumerate();
        items
            .filter(|(row, item)| is_hidden(*row) && is_new(item))
            .count()
    }
}

/// The number of findings of a saved query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TabCount {
    pub count: usize,
    /// Whether long texts that the query needs were not searched yet.
    pub is_partial: bool,
}

/// The findings that a query found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundRows {
    pub rows: RowSet,
    /// Whether long texts that the query needs were not searched yet.
    pub is_partial: bool,
}

/// The search of long texts that a view waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct AwaitedTexts {
    pub clauses: Vec<Clause>,
    /// The rows that the query can match whatever its clauses of long texts say.
    pub rows: RowSet,
}

/// How many findings the filter has searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchProgress {
    pub searched: usize,
    pub total: usize,
}

/// The view of the findings: the last result, and what it is the result of.
#[derive(Clone, Debug)]
pub struct FindingsView {
    pub key: ViewKey,
    pub source: Arc<FindingsSource>,
    pub list: ListRows<IssueId>,
    /// The order by several fields.
    pub order: Option<MadeOrder>,
    pub groups: Option<Arc<GroupKeys>>,
    pub tabs: Vec<TabCount>,
    /// The findings that the filter of the board found; none without a filter.
    pub board: Option<FoundRows>,
    pub command: Option<FoundRows>,
    /// The groups for a review.
    pub cards: Option<Arc<GroupKeys>>,
    /// All clauses of long texts.
    pub texts: Vec<Clause>,
    /// The search of long texts that comes next.
    pub awaited: Option<AwaitedTexts>,
    /// While the filter has not searched all long texts.
    pub progress: Option<SearchProgress>,
}

/// The view of the findings as its key describes it.
pub fn view(job: &ViewJob) -> FindingsView {
    let (source, table) = (job.source.at(job.now), &job.source.input.issues);
    let request = &job.key.request;
    let mut search = ViewSearch {
        job,
        source: &source,
        evaluator: Evaluator::default(),
        texts: Vec::new(),
        awaited: None,
    };
    if let Some(field) = request.offered {
        let _ = search.evaluator.column(field, &source);
    }
    let own = search.order();
    let order = own
        .as_ref()
        .map_or_else(|| table.order(request.list.sort), |order| &order.rows);
    let scope = scope_of(&request.list, table);
    let query = query_of(&request.list.filter, QueryKind::Findings);
    let target = request.list.target;
    let progress = search.texts_of(&query, target);
    let since = request.news_since;
    let is_new = move |issue: &Issue| issue.first_seen.get() > since;
    let list = ListQuery {
        query: &query,
        order,
        scope: scope.as_ref(),
        retained: &request.retained,
        is_new: since.is_some().then_some(&is_new),
    }
    .rows(table, &mut search.evaluator, &source);
    let board = (!request.board.is_empty()).then(|| search.found(&request.board));
    let tabs = request.tabs.iter();
    let tabs = tabs
        .map(|text| search.tab(text, target, scope.as_ref()))
        .collect();
    let command = request.command.as_ref().map(|text| search.found(text));
    FindingsView {
        groups: request.list.groups.map(|by| job.groups(by)),
        cards: request.cards.map(|by| job.groups(by)),
        tabs,
        board,
        command,
        progress,
        list,
        key: job.key.clone(),
        source: Arc::clone(&job.source),
        order: own,
        texts: search.texts,
        awaited: search.awaited,
    }
}

/// The findings in the scope; nothing while the scope holds all of them.
pub fn scope_of(list: &ListRequest, table: &Table<Issue>) -> Option<RowSet> {
    let ListRequest { target, scan, .. } = *list;
    (target.is_some() || scan.is_some()).then(|| {
        RowSet::of(table.len(), |row| {
            let issue = &table.items()[row];
            (target.is_none() || issue.target_id() == target)
                && scan.is_none_or(|scan| issue.is_found_by(scan))
        })
    })
}

/// The queries of one view, which share what they have computed.
struct ViewSearch<'a> {
    job: &'a ViewJob,
    source: &'a dyn RowSource,
    evaluator: Evaluator,
    texts: Vec<Clause>,
    awaited: Option<AwaitedTexts>,
}

impl ViewSearch<'_> {
    /// The requested order by several fields.
    fn order(&mut self) -> Option<MadeOrder> {
        let (keys, inputs) = (&self.job.key.request.list.order, self.job.key.inputs);
        if keys.is_empty() {
            return None;
        }
        let is_current = |made: &&MadeOrder| made.keys == *keys && made.inputs == inputs;
        if let Some(made) = self.job.made_order.as_ref().filter(is_current) {
            return Some(made.clone());
        }
        let rows = order::ordered(keys, &mut self.evaluator, self.source);
        Some(MadeOrder {
            keys: keys.clone(),
            inputs,
            rows: Arc::new(rows),
        })
    }

    /// Notes the long texts that a query searches. Returns the progress while that is not complete.
    fn texts_of(&mut self, query: &Query, target: Option<TargetId>) -> Option<SearchProgress> {
        let source = &self.job.source;
        let clauses = source.text_clauses(query.root());
        if clauses.is_empty() {
            return None;
        }
        self.texts.extend(clauses.iter().copied().cloned());
        let rows = self.candidates(query, &clauses, target);
        let mut searched = rows.clone();
        for clause in &clauses {
            let of = self.source.searched(clause);
            of.iter().for_each(|of| searched.and(&of.searched));
        }
        let progress = SearchProgress {
            searched: searched.count(),
            total: rows.count(),
        };
        if progress.searched == progress.total {
            return None;
        }
        self.awaited.get_or_insert_with(|| AwaitedTexts {
            clauses: clauses.into_iter().cloned().collect(),
            rows,
        });
        Some(progress)
    }

    /// The rows that a query can match whatever its clauses of long texts say.
    fn candidates(
        &mut self,
        query: &Query,
        clauses: &[&Clause],
        target: Option<TargetId>,
    ) -> RowSet {
        let table = &self.job.source.input.issues;
        let mut rows = match target {
            Some(target) => {
                let of = table.of_target(target).map(|of| of.positions.as_slice());
                let mut rows = RowSet::none(table.len());
                of.into_iter()
                    .flatten()
                    .for_each(|&at| rows.set(at as usize));
                rows
            }
            None => RowSet::all(table.len()),
        };
        let is_text = |part: &&Expr| part.clauses().iter().any(|clause| clauses.contains(clause));
        let parts = query.parts().iter().filter(|part| !is_text(part));
        parts.for_each(|part| rows.and(&self.evaluator.rows(part, self.source)));
        rows
    }

    /// The findings of a query, in the scope or outside.
    fn found(&mut self, text: &str) -> FoundRows {
        let query = query_of(text, QueryKind::Findings);
        FoundRows {
            is_partial: self.texts_of(&query, None).is_some(),
            rows: self.evaluator.matches(&query, self.source),
        }
    }

    fn tab(&mut self, text: &str, target: Option<TargetId>, scope: Option<&RowSet>) -> TabCount {
        let query = query_of(text, QueryKind::Findings);
        let is_partial = self.texts_of(&query, target).is_some();
        let mut matching = self.evaluator.matches(&query, self.source);
        scope.iter().for_each(|scope| matching.and(scope));
        TabCount {
            count: matching.count(),
            is_partial,
        }
    }
}

impl ViewJob {
    fn groups(&self, by: crate::base::FindingGroupBy) -> Arc<GroupKeys> {
        let table = &self.source.input.issues;
        let made = self.made_groups.iter().find(|keys| keys.fits(by, table));
        made.cloned()
            .unwrap_or_else(|| Arc::new(GroupKeys::of(by, table)))
    }
}

/// Puts retained rows back below the rows above them, in an order that decisions change.
fn in_place<T: Item>(
    retained: &BTreeMap<T::Id, RetainedRow<T::Id>>,
    table: &Table<T>,
    rows: Vec<u32>,
) -> Vec<u32> {
    let place = |id: T::Id| table.position(id).map(|at| at as u32);
    let mut shown = RowSet::none(table.len());
    rows.iter().for_each(|&row| shown.set(row as usize));
    let mut under: HashMap<Option<u32>, Vec<u32>> = HashMap::new();
    let (mut leads, mut held) = (RowSet::none(table.len()), RowSet::none(table.len()));
    for (&id, retained_row) in retained {
        let above = match retained_row {
            RetainedRow::Anywhere => continue,
            RetainedRow::Top => None,
            RetainedRow::Under(above) => place(*above).filter(|&above| shown.has(above as usize)),
        };
        // Without the row above, the order places the row.
        let lost = above.is_none() && *retained_row != RetainedRow::Top;
        if let Some(row) = place(id).filter(|&row| !lost && shown.has(row as usize)) {
            under.entry(above).or_default().push(row);
            above.iter().for_each(|&above| leads.set(above as usize));
            held.set(row as usize);
        }
    }
    let mut placed = Vec::with_capacity(rows.len());
    let mut put = |from: Option<u32>| {
        placed.extend(from);
        if from.is_some_and(|row| !leads.has(row as usize)) {
            return;
        }
        let mut next: Vec<u32> = under.remove(&from).unwrap_or_default();
        while let Some(row) = next.pop() {
            placed.push(row);
            next.extend(under.remove(&Some(row)).unwrap_or_default());
        }
    };
    put(None);
    rows.iter()
        .filter(|&&row| !held.has(row as usize))
        .for_each(|&row| put(Some(row)));
    if placed.len() == rows.len() {
        placed
    } else {
        rows
    }
}
