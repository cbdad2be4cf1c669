//! The long texts of findings that queries search: they are in files, and are read off the UI thread.

use crate::dashboard::base::{Effect, Pane, SearchedTexts, Tone};
use crate::dashboard::model::Model;
use crate::query::{Field, QueryKind, query_of};
use crate::triage::listed_fields::is_long;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Model {
    /// The fields of long texts that the filter, the order or a tab of the findings needs.
    pub(crate) fn searched_texts(&self) -> Vec<Field> {
        let (list, tabs) = (&self.lists.findings, &self.settings.tabs.saved);
        let queries = tabs.iter().map(|tab| tab.query.as_str()).chain([list.filter.as_str()]);
        let mut fields: BTreeSet<Field> =
            queries.flat_map(|query| query_of(query, QueryKind::Findings).fields()).collect();
        fields.extend(list.order.iter().map(|key| key.field));
        fields.into_iter().filter(|&field| is_long(field)).collect()
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
            self.notify(Tone::Plain, "searching the texts of the findings");
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
}
