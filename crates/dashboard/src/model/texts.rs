//! The long texts of findings that queries search, or that the screen shows: they are in files, and
//! are read off the UI thread. Queries search them in chunks (`data/text_search.rs`).

use crate::base::{Effect, FindingUse, Pane, TextChunk, Tone};
use crate::model::review::facts::within_limit;
use crate::model::{LOOKED_AT, Model};
use scandeck_domain::query::{Clause, RowSet};
use scandeck_domain::triage::{Issue, IssueId, ListedFinding};
use std::sync::Arc;

impl Model {
    /// Requests the next chunk of long texts that the view waits for.
    pub(super) fn search_texts(&mut self, effects: &mut Vec<Effect>) {
        let Some(view) = &self.findings.view.shown else {
            return;
        };
        let (table, texts) = (&view.source.input.issues, &mut self.findings.texts);
        if view.texts.is_empty() && texts.is_empty() {
            return;
        }
        texts.follow(table);
        texts.want(&view.texts.iter().collect::<Vec<_>>());
        let Some(awaited) = view.awaited.as_ref().filter(|_| !texts.is_searching) else {
            return;
        };
        let own = view.order.as_ref().map(|order| order.rows.as_slice());
        let order = own.unwrap_or_else(|| table.order(view.key.request.list.sort));
        let clauses: Vec<&Clause> = awaited.clauses.iter().collect();
        if let Some(chunk) = texts.next_chunk(&clauses, &awaited.rows, order) {
            texts.is_searching = true;
            effects.push(Effect::SearchTexts(chunk));
        }
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
        self.follow_view();
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

/// The findings whose evidence is compared.
fn compared<'a>(issues: impl Iterator<Item = &'a Arc<Issue>>) -> Vec<Arc<ListedFinding>> {
    within_limit(issues)
        .map(|issue| Arc::clone(&issue.finding))
        .collect()
}
