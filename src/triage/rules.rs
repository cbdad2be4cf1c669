//! Which rule finds which row: rules are queries, and decide what no person decided.
//!
//! Queries see what persons and the service say, never what rules do: the order of rules cannot matter to what each
//! finds. Of several that find a row the one written last decides. A query that cannot be read finds nothing.

use std::sync::Arc;

use super::arrange::{Input, judged};
use super::case::{Case, Stance};
use super::event::EventId;
use super::standing::RuleState;
use crate::contract::{ScanId, Shared, TargetId};
use crate::finding::Key;
use crate::query::{Bits, Evaluator, Kind, Query};
use crate::table::{Others, Rows, Table};

/// The rule that decides each row; empty where no rule finds anything.
pub(super) fn deciding(input: &Input, cases: &Table<Case>, stances: &[Arc<Stance>]) -> Vec<Option<EventId>> {
    let mut rules = input.state.rules();
    rules.retain(|rule| !rule.off && input.concerns(&rule.workspace));
    rules.sort_by_key(|rule| (rule.event.clock, rule.event.id));
    let mut deciding = Vec::new();
    for (rule, rows) in found(input, &rules, cases, stances) {
        deciding.resize(cases.len(), None);
        rows.rows().for_each(|row| deciding[row] = Some(rule.id));
    }
    deciding
}

fn found<'r>(
    input: &Input,
    rules: &[&'r RuleState],
    cases: &Table<Case>,
    stances: &[Arc<Stance>],
) -> Vec<(&'r RuleState, Bits)> {
    if rules.is_empty() {
        return Vec::new();
    }
    let rows = judged(cases, stances);
    let source = Rows { rows: &rows, others: input, now: input.now };
    let mut evaluator = Evaluator::default();
    let read = rules.iter().filter_map(|rule| Some((*rule, Query::parse(&rule.query, Kind::Findings).ok()?)));
    read.map(|(rule, query)| (rule, evaluator.matches(&query, &source))).collect()
}

impl Others for Input {
    fn target_name(&self, id: TargetId) -> Option<&Shared> {
        Some(&self.targets.get(id)?.name)
    }

    fn workspace_name(&self, _: TargetId) -> Option<&Shared> {
        Some(&self.workspace).filter(|name| !name.is_empty())
    }

    fn tool(&self, id: ScanId) -> Option<i64> {
        Some(self.scans.get(id)?.tool_id)
    }

    fn notes(&self, key: Key) -> Vec<&Shared> {
        self.state.standing(key).map(|standing| standing.noted().collect()).unwrap_or_default()
    }
}
