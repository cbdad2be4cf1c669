//! Rules: queries that decide findings that nobody decided.
//!
//! Queries see decisions of people and the service, never those of rules, so the order of rules
//! does not matter. If several rules match, the one written last decides. An invalid query matches
//! nothing.

use std::sync::Arc;

use super::correlate::{CorrelationInput, assessed};
use super::event::EventId;
use super::finding_state::RuleState;
use super::issue::{Assessment, Issue};
use crate::finding::FindingKey;
use crate::query::{Evaluator, Query, QueryKind, RowSet};
use crate::table::{OtherLists, Rows, Table};
use scandeck_wire::contract::{Scan, ScanId, Shared, TargetId};

/// The deciding rule of each issue; empty if no rule matches.
pub(super) fn deciding(
    input: &CorrelationInput,
    issues: &Table<Issue>,
    assessments: &[Arc<Assessment>],
) -> Vec<Option<EventId>> {
    let mut rules = input.state.rules();
    rules.retain(|rule| !rule.off && input.concerns(&rule.workspace));
    rules.sort_by_key(|rule| (rule.event.clock, rule.event.id));
    let mut deciding = Vec::new();
    for (rule, rows) in found(input, &rules, issues, assessments) {
        deciding.resize(issues.len(), None);
        rows.rows().for_each(|row| deciding[row] = Some(rule.id));
    }
    deciding
}

fn found<'r>(
    input: &CorrelationInput,
    rules: &[&'r RuleState],
    issues: &Table<Issue>,
    assessments: &[Arc<Assessment>],
) -> Vec<(&'r RuleState, RowSet)> {
    if rules.is_empty() {
        return Vec::new();
    }
    let rows = assessed(issues, assessments);
    let source = Rows {
        rows: &rows,
        others: input,
        now: input.now,
    };
    let mut evaluator = Evaluator::default();
    let read = rules
        .iter()
        .filter_map(|rule| Some((*rule, Query::parse(&rule.query, QueryKind::Findings).ok()?)));
    read.map(|(rule, query)| (rule, evaluator.matches(&query, &source)))
        .collect()
}

impl OtherLists for CorrelationInput {
    fn target_name(&self, id: TargetId) -> Option<&Shared> {
        Some(&self.targets.get(id)?.name)
    }

    fn workspace_name(&self, _: TargetId) -> Option<&Shared> {
        Some(&self.workspace).filter(|name| !name.is_empty())
    }

    fn scan(&self, id: ScanId) -> Option<&Scan> {
        self.scans.get(id).map(|scan| &**scan)
    }

    fn notes(&self, key: FindingKey) -> Vec<&Shared> {
        self.state
            .finding_state(key)
            .map(|finding_state| finding_state.noted().collect())
            .unwrap_or_default()
    }
}
