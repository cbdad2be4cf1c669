//! The search of long texts of findings, which are in files: in chunks, in the order of the list,
//! off the UI thread.
//!
//! ```text
//!   clauses of the query ─► rows that were not searched ─► TextChunk ─► found, searched ─► rows of the list
//!                                      ▲                                      │
//!                                      └───────── the next chunk ◄────────────┘
//! ```
//!
//! A new query replaces the clauses, so that nothing more is read for the one before. New findings
//! keep the results of the unchanged ones.

use crate::base::TextChunk;
use scandeck_domain::query::{Clause, RowSet, SearchedRows};
use scandeck_domain::table::Table;
use scandeck_domain::triage::Issue;
use std::sync::Arc;

/// Least findings of a chunk.
const LEAST: usize = if cfg!(test) { 2 } else { 2_048 };
/// A search has about so many chunks, as each chunk updates the list.
const CHUNKS: usize = 64;
/// Results of earlier queries that are kept.
const MOST_KEPT: usize = 8;

/// The clauses that are searched, and those that were.
#[derive(Clone, Debug, Default)]
pub struct TextSearch {
    table: Arc<Table<Issue>>,
    clauses: Vec<(Clause, SearchedRows)>,
    /// A chunk is being searched.
    pub is_searching: bool,
    /// Raised when a chunk was searched.
    pub revision: u64,
}

impl TextSearch {
    /// Moves the results to other findings; those of new and changed findings are searched again.
    pub fn follow(&mut self, table: &Arc<Table<Issue>>) {
        if Arc::ptr_eq(&self.table, table) {
            return;
        }
        self.clauses = self.results_in(table);
        self.table = Arc::clone(table);
    }

    /// The results in other findings, without those of new and changed findings.
    pub fn results_in(&self, table: &Arc<Table<Issue>>) -> Vec<(Clause, SearchedRows)> {
        if Arc::ptr_eq(&self.table, table) || self.clauses.is_empty() {
            return self.clauses.clone();
        }
        let before = &self.table;
        let places: Vec<Option<u32>> = table.places_in(before).collect();
        let moved = |rows: &RowSet| {
            RowSet::of(places.len(), |row| {
                places[row].is_some_and(|at| rows.has(at as usize))
            })
        };
        let clauses = self.clauses.iter();
        clauses
            .map(|(clause, rows)| {
                let rows = SearchedRows {
                    found: moved(&rows.found),
                    searched: moved(&rows.searched),
                };
                (clause.clone(), rows)
            })
            .collect()
    }

    /// Whether there are no clauses.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// The clauses to search from now on. Of the others, complete results are kept for a while.
    pub fn want(&mut self, clauses: &[&Clause]) {
        let len = self.table.len();
        for &clause in clauses {
            if !self.clauses.iter().any(|(known, _)| known == clause) {
                let none = SearchedRows {
                    found: RowSet::none(len),
                    searched: RowSet::none(len),
                };
                self.clauses.push((clause.clone(), none));
            }
        }
        let is_wanted = |clause: &Clause| clauses.contains(&clause);
        let is_whole = |rows: &SearchedRows| rows.searched.count() == len;
        self.clauses
            .retain(|(clause, rows)| is_wanted(clause) || is_whole(rows));
        let mut excess = self.clauses.len().saturating_sub(clauses.len() + MOST_KEPT);
        self.clauses.retain(|(clause, _)| {
            let is_dropped = excess > 0 && !is_wanted(clause);
            excess -= usize::from(is_dropped);
            !is_dropped
        });
    }

    /// The results of a clause in a table.
    pub fn of(&self, table: &Table<Issue>, clause: &Clause) -> Option<&SearchedRows> {
        let is_of = self.table.revision() == table.revision();
        self.clauses
            .iter()
            .find(|(known, _)| is_of && known == clause)
            .map(|(_, rows)| rows)
    }

    /// How many of these rows were searched for all of these clauses.
    pub fn searched(&self, clauses: &[&Clause], rows: &RowSet) -> usize {
        self.of_all(clauses, rows).count()
    }

    /// The rows of these that were searched for all of these clauses.
    fn of_all(&self, clauses: &[&Clause], rows: &RowSet) -> RowSet {
        let mut searched = rows.clone();
        for clause in clauses {
            match self.of(&self.table, clause) {
                Some(rows) => searched.and(&rows.searched),
                None => searched = RowSet::none(rows.len()),
            }
        }
        searched
    }

    /// The next chunk for clauses among some rows, in this order.
    pub fn next_chunk(
        &self,
        clauses: &[&Clause],
        rows: &RowSet,
        order: &[u32],
    ) -> Option<TextChunk> {
        let searched = self.of_all(clauses, rows);
        let most = LEAST.max(self.table.len() / CHUNKS);
        let is_due = |&&row: &&u32| rows.has(row as usize) && !searched.has(row as usize);
        let rows: Vec<u32> = order.iter().filter(is_due).take(most).copied().collect();
        let clauses: Vec<Clause> = clauses.iter().map(|&clause| clause.clone()).collect();
        (!rows.is_empty()).then(|| TextChunk {
            table: Arc::clone(&self.table),
            clauses,
            rows,
        })
    }

    /// Takes the matches of a chunk, by clause. Those of other findings are dropped, as are those
    /// of earlier queries.
    pub fn take(&mut self, chunk: &TextChunk, found: &[RowSet]) {
        if !Arc::ptr_eq(&chunk.table, &self.table) {
            return;
        }
        self.revision += 1;
        for (clause, matches) in chunk.clauses.iter().zip(found) {
            let Some((_, rows)) = self.clauses.iter_mut().find(|(known, _)| known == clause) else {
                continue;
            };
            for (at, &row) in chunk.rows.iter().enumerate() {
                rows.searched.set(row as usize);
                rows.found.put(row as usize, matches.has(at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_domain::query::{Query, QueryKind};
    use scandeck_domain::triage::IssueId;
    use scandeck_wire::contract::{Evidence, Finding};

    fn issue(id: i64, text: u8) -> Arc<Issue> {
        let text = ["red", "blue", "red and blue"][usize::from(text) % 3];
        let finding = Finding {
            vuln_evidence: Evidence::from_value(&text.into()),
            ..Finding::default()
        };
        Arc::new(Issue {
            id: IssueId(id),
            finding: Arc::new(finding.into()),
            ..Issue::default()
        })
    }

    /// A search is right about the searched rows, whatever happened before.
    fn check(search: &TextSearch, query: &Query) {
        let rows: Vec<u32> = (0..search.table.len() as u32).collect();
        for clause in query.root().clauses() {
            let Some(known) = search.of(&search.table, clause) else {
                continue;
            };
            let whole = TextChunk {
                table: Arc::clone(&search.table),
                clauses: vec![clause.clone()],
                rows: rows.clone(),
            };
            let mut expected = whole.search().remove(0);
            expected.and(&known.searched);
            assert_eq!(known.found, expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn results_of_chunks_equal_those_of_one_search(
            steps in proptest::collection::vec((0..4u8, 0..12i64, 0..3u8), 0..24),
        ) {
            let queries = ["evidence:red", "evidence:blue -evidence:red", "evidence:~\"^.red\" or evidence:and"]
                .map(|text| Query::parse(text, QueryKind::Findings).unwrap());
            let mut issues: Vec<Arc<Issue>> = (0..9).map(|id| issue(id, id as u8)).collect();
            let (mut search, mut query, mut late) = (TextSearch::default(), &queries[0], None);
            for step in steps.into_iter().map(Some).chain(std::iter::repeat_n(None, 16)) {
                match step {
                    // A finding changes, is new, or is gone.
                    Some((0, id, text)) => {
                        issues.retain(|issue| issue.id.0 != id);
                        let at = issues.len().min(id as usize);
                        issues.insert(at, issue(id, text));
                    }
                    Some((1, id, _)) => issues.retain(|issue| issue.id.0 != id),
                    Some((2, _, at)) => query = &queries[usize::from(at)],
                    _ => {}
                }
                let table = match search.table.items().iter().map(Arc::as_ptr).eq(issues.iter().map(Arc::as_ptr)) {
                    true => Arc::clone(&search.table),
                    false => Arc::new(Table::new(issues.iter().cloned())),
                };
                search.follow(&table);
                let clauses = query.root().clauses();
                search.want(&clauses);
                check(&search, query);
                let order: Vec<u32> = (0..table.len() as u32).rev().collect();
                let next = search.next_chunk(&clauses, &RowSet::all(table.len()), &order);
                // The answer arrives a step later, when the findings or the query may be others.
                if let Some(chunk) = std::mem::replace(&mut late, next) {
                    let found = chunk.search();
                    search.take(&chunk, &found);
                }
                check(&search, query);
            }
            let clauses = query.root().clauses();
            let all = RowSet::all(search.table.len());
            proptest::prop_assert_eq!(search.searched(&clauses, &all), search.table.len());
        }
    }
}
