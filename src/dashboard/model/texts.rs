//! The long texts of findings that queries search, or that the screen shows: they are in files, and are read off the UI
//! thread. Of many findings, other columns that queries need are built there too.

use crate::dashboard::base::{Effect, FindingUse, Pane, SearchedTexts, Tone};
use crate::dashboard::model::review::facts::within_limit;
use crate::dashboard::model::{LOOKED_AT, Model};
use crate::query::{Field, QueryKind, query_of};
use crate::table::Item;
use crate::triage::listed_fields::is_long;
use crate::triage::{Issue, IssueId, ListedFinding};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Model {
    /// The fields of long texts that the filter, the order or a tab of the findings needs; of many findings, all fields.
    pub(crate) fn searched_texts(&self) -> Vec<Field> {
        let (list, tabs) = (&self.lists.findings, &self.settings.tabs.saved);
        let queries = tabs.iter().map(|tab| tab.query.as_str()).chain([list.filter.as_str()]);
        let mut fields: BTreeSet<Field> =
            queries.flat_map(|query| query_of(query, QueryKind::Findings).fields()).collect();
        fields.extend(list.order.iter().map(|key| key.field));
        let are_many = self.data.findings.value().is_some_and(|table| table.len() >= Issue::MANY);
        let is_own = |field: Field| !field.needs_others(QueryKind::Findings);
        fields.into_iter().filter(|&field| is_long(field) || are_many && is_own(field)).collect()
    }

    /// Requests the texts that are searched and were not read yet.
    pub(crate) fn read_texts(&mut self, effects: &mut Vec<Effect>) {
        let Some(table) = self.data.findings.value() else { return };
        if self.findings.reading.as_ref().is_some_and(|reading| Arc::ptr_eq(reading, table)) {
            return;
        }
        let table = Arc::clone(table);
        let fields: Vec<Field> = self.searched_texts().into_iter().filter(|&field| table.awaits(field)).collect();
        if !fields.is_empty() {
            self.findings.reading = Some(Arc::clone(&table));
            if fields.iter().any(|&field| is_long(field)) {
                self.notify(Tone::Plain, "searching the texts of the findings");
            }
            effects.push(Effect::ReadTexts(SearchedTexts { table, fields }));
        }
    }

    /// The texts of these fields were read.
    pub(crate) fn handle_texts_read(&mut self, SearchedTexts { table, fields }: &SearchedTexts) {
        self.findings.reading = None;
        if self.data.findings.value().is_some_and(|now| Arc::ptr_eq(now, table)) {
            self.lists.findings.cache.forget_fields(fields);
            self.show_rows(Pane::Findings);
            self.count_tabs();
        }
    }

    /// Requests the texts of findings that are in files. If there are any, the action continues when they were read.
    pub(crate) fn must_read_findings(
        &self,
        purpose: FindingUse,
        findings: &[Arc<ListedFinding>],
        effects: &mut Vec<Effect>,
    ) -> bool {
        let must = findings.iter().any(|finding| finding.held_texts().is_none());
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
        let unread: Vec<_> =
            self.shown_findings().into_iter().filter(|finding| finding.held_texts().is_none()).collect();
        if self.findings.shown.request(&unread) && !unread.is_empty() {
            effects.push(Effect::ReadFindings(FindingUse::Show, unread));
        }
    }

    /// The findings on the screen: those of the card of a review, else the selected ones of the lists, or of their groups.
    fn shown_findings(&self) -> Vec<Arc<ListedFinding>> {
        let Some(table) = self.data.findings.value() else { return Vec::new() };
        let of_ids = |ids: &mut dyn Iterator<Item = IssueId>| compared(ids.filter_map(|id| table.get(id)));
        if let Some(review) = self.reviewing() {
            return compared(review.facts.issues.iter());
        }
        let (list, board) = (&self.lists.findings, &self.lists.board);
        let group = list.header.and_then(|id| list.groups.get(id));
        let mut shown = match group {
            Some(group) => {
                compared(list.positions_in(group).take(LOOKED_AT).filter_map(|at| table.items().get(at as usize)))
            }
            None => of_ids(&mut list.selected.into_iter()),
        };
        let rows = self.data.board.value().filter(|_| self.navigation.focus.pane == Pane::Board);
        let group = board.header.and_then(|id| board.groups.get(id));
        shown.extend(match (rows, group) {
            (None, _) => Vec::new(),
            (Some(rows), Some(group)) => {
                let ids = board.positions_in(group).take(LOOKED_AT).filter_map(|at| rows.items().get(at as usize));
                of_ids(&mut ids.map(|row| row.id))
            }
            (Some(_), None) => of_ids(&mut board.selected.into_iter()),
        });
        shown
    }
}

/// The findings whose evidence is compared.
fn compared<'a>(issues: impl Iterator<Item = &'a Arc<Issue>>) -> Vec<Arc<ListedFinding>> {
    within_limit(issues).map(|issue| Arc::clone(&issue.finding)).collect()
}
