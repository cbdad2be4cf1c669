//! The long texts of findings that queries search, or that the screen shows: they are in files, and
//! are read off the UI thread. Queries search them in chunks (`data/text_search.rs`).

use crate::base::{Effect, FindingUse, Pane, TextChunk, Tone};
use crate::model::review::facts::within_limit;
use crate::model::{LOOKED_AT, Model};
use scandeck_domain::query::{Clause, Expr, Query, QueryKind, RowSet, query_of};
use scandeck_domain::table::Table;
use scandeck_domain::triage::listed_fields::is_long;
use scandeck_domain::triage::{Issue, IssueId, ListedFinding};
use scandeck_wire::contract::TargetId;
use std::sync::Arc;

impl Model {
    /// Requests the next chunk of long texts that a query searches: for the filter first, then for
    /// the tabs.
    pub(super) fn search_texts(&mut self, queries: &[Query], effects: &mut Vec<Effect>) {
        self.findings.search_progress = None;
        let Some(table) = self.data.findings.value().cloned() else {
            return;
        };
        let all: Vec<&Clause> = queries
            .iter()
            .flat_map(|query| text_clauses(query, &table))
            .collect();
        if all.is_empty() && self.findings.texts.is_empty() {
            return;
        }
        self.findings.texts.follow(&table);
        self.findings.texts.want(&all);
        let of_list = query_of(&self.lists.findings.filter, QueryKind::Findings);
        for query in queries {
            let clauses = text_clauses(query, &table);
            if clauses.is_empty() {
                continue;
            }
            let rows = self.candidates(&table, query, &clauses, self.scope_of(query));
            let texts = &self.findings.texts;
            let (searched, total) = (texts.searched(&clauses, &rows), rows.count());
            if searched == total {
                continue;
            }
            if *query == of_list {
                self.findings.search_progress = Some((searched, total));
            }
            if texts.is_searching {
                return;
            }
            let list = &self.lists.findings;
            let own = list
                .cache
                .present_order()
                .filter(|_| !list.order.is_empty());
            let order = own.map_or_else(|| table.order(list.sort), |order| order.as_slice());
            if let Some(chunk) = texts.next_chunk(&clauses, &rows, order) {
                self.findings.texts.is_searching = true;
                effects.push(Effect::SearchTexts(chunk));
            }
            return;
        }
    }

    /// The rows that a query can match whatever its clauses of long texts say.
    fn candidates(
        &mut self,
        table: &Arc<Table<Issue>>,
        query: &Query,
        clauses: &[&Clause],
        target: Option<TargetId>,
    ) -> RowSet {
        self.with_cache(table, |model, _, cache| {
            let source = model.listed(table);
            let mut rows = match target {
                Some(target) => {
                    let mut rows = RowSet::none(table.len());
                    let of = table
                        .of_target(target)
                        .map(|of| of.positions.as_slice())
                        .unwrap_or_default();
                    of.iter().for_each(|&at| rows.set(at as usize));
                    rows
                }
                None => RowSet::all(table.len()),
            };
            let is_text =
                |part: &&Expr| part.clauses().iter().any(|clause| clauses.contains(clause));
            let parts = query.parts().iter().filter(|part| !is_text(part));
            parts.for_each(|part| rows.and(&cache.evaluator().rows(part, &source)));
            rows
        })
    }

    /// The target to whose findings a query is limited. Commands and the board are not limited to
    /// the scope.
    fn scope_of(&self, query: &Query) -> Option<TargetId> {
        let is_asked = self.findings.columns.asked.as_ref() == Some(query);
        let is_of_board = *query == query_of(&self.lists.board.filter, QueryKind::Findings);
        self.navigation
            .scope
            .target
            .filter(|_| !is_asked && !is_of_board)
    }

    /// Whether the long texts of a query were searched in the findings of the scope.
    pub(crate) fn has_searched(&mut self, query: &Query) -> bool {
        self.has_searched_of(query, self.navigation.scope.target)
    }

    /// Whether the long texts of a query were searched in the findings of a target, or in all.
    pub(crate) fn has_searched_of(&mut self, query: &Query, target: Option<TargetId>) -> bool {
        let Some(table) = self.data.findings.value().cloned() else {
            return true;
        };
        let clauses = text_clauses(query, &table);
        if clauses.is_empty() {
            return true;
        }
        let rows = self.candidates(&table, query, &clauses, target);
        self.findings.texts.searched(&clauses, &rows) == rows.count()
    }

    /// How many findings the filter has searched, and how many it searches, while that is not
    /// complete.
    pub(crate) fn search_progress(&self) -> Option<(usize, usize)> {
        self.findings.search_progress
    }

    /// A chunk of long texts was searched.
    pub(crate) fn handle_texts_searched(&mut self, chunk: &TextChunk, found: Option<Vec<RowSet>>) {
        self.findings.texts.is_searching = false;
        let found = found.unwrap_or_else(|| {
            self.notify(
                Tone::Bad,
                "texts of findings not searched: details are in the log",
            );
            vec![RowSet::none(chunk.rows.len()); chunk.clauses.len()]
        });
        self.findings.texts.take(chunk, &found);
        self.show_searched_findings();
    }

    /// Requests the texts of findings that are in files. If there are any, the action continues
    /// when they were read.
    pub(crate) fn must_read_findings(
        &self,
        purpose: FindingUse,
        findings: &[Arc<ListedFinding>],
        effects: &mut Vec<Effect>,
    ) -> bool {
        let must = findings
            .iter()
            .any(|finding| finding.held_texts().is_none());
        if must {
            effects.push(Effect::ReadFindings(purpose, findings.to_vec()));
        }
        must
    }

    /// Requests the texts that the screen shows.
    pub(crate) fn read_shown_findings(&mut self, effects: &mut Vec<Effect>) {
        if !self.shows_current_detail() {
            return;
        }
        let unread: Vec<_> = self
            .shown_findings()
            .into_iter()
            .filter(|finding| finding.held_texts().is_none())
            .collect();
        if self.findings.shown.request(&unread) && !unread.is_empty() {
            effects.push(Effect::ReadFindings(FindingUse::Show, unread));
        }
    }

    /// The findings on the screen: those of the card of a review, else the selected ones of the
    /// lists, or of their groups.
    fn shown_findings(&self) -> Vec<Arc<ListedFinding>> {
        let Some(table) = self.data.findings.value() else {
            return Vec::new();
        };
        let of_ids =
            |ids: &mut dyn Iterator<Item = IssueId>| compared(ids.filter_map(|id| table.get(id)));
        if let Some(review) = self.reviewing() {
            return compared(review.facts.issues.iter());
        }
        let (list, board) = (&self.lists.findings, &self.lists.board);
        let group = list.header.and_then(|id| list.groups.get(id));
        let mut shown = match group {
            Some(group) => compared(
                list.positions_in(group)
                    .take(LOOKED_AT)
                    .filter_map(|at| table.items().get(at as usize)),
            ),
            None => of_ids(&mut list.selected.into_iter()),
        };
        let rows = self
            .data
            .board
            .value()
            .filter(|_| self.navigation.focus.pane == Pane::Board);
        let group = board.header.and_then(|id| board.groups.get(id));
        shown.extend(match (rows, group) {
            (None, _) => Vec::new(),
            (Some(rows), Some(group)) => {
                let ids = board
                    .positions_in(group)
                    .take(LOOKED_AT)
                    .filter_map(|at| rows.items().get(at as usize));
                of_ids(&mut ids.map(|row| row.id))
            }
            (Some(_), None) => of_ids(&mut board.selected.into_iter()),
        });
        shown
    }
}

/// The clauses of a query whose texts are searched in chunks.
fn text_clauses<'a>(query: &'a Query, table: &Table<Issue>) -> Vec<&'a Clause> {
    let clauses = query.root().clauses().into_iter();
    clauses
        .filter(|clause| is_long(clause.field) && table.awaits(clause.field))
        .collect()
}

/// The findings whose evidence is compared.
fn compared<'a>(issues: impl Iterator<Item = &'a Arc<Issue>>) -> Vec<Arc<ListedFinding>> {
    within_limit(issues)
        .map(|issue| Arc::clone(&issue.finding))
        .collect()
}
