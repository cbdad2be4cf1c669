//! Retained rows. A decided row keeps its place on the screen until the filter is applied again, so
//! that nothing under the cursor moves because of a decision.
//!
//! ```text
//!   decided or undone, here or elsewhere ─► shown? ─► List::retained, with the row above ─► still a row, in its place
//!   r, another filter or scope, leaving the pane, except for the board ─► no row is retained
//! ```
//!
//! Changes by scans apply at once: new, reappeared and absent findings. Only a finding under retest
//! is retained when its scan no longer finds it: a verdict pressed at that moment would decide the
//! row that takes its place.

use crate::list::{List, RetainedRow};
use crate::model::Model;
use jiff::civil::Date;
use scandeck_domain::query::RowSet;
use scandeck_domain::table::{Item, Table};
use scandeck_domain::triage::{Assessment, Assessments, Issue, IssueId, Verdict, VerdictSource};
use scandeck_wire::contract::{Risk, Shared, Stamp};
use std::sync::Arc;

impl Model {
    /// Retains the shown rows of these findings, which were decided.
    pub(crate) fn retain_decided_rows(&mut self, ids: &[IssueId]) {
        if ids.is_empty() {
            return;
        }
        let (lists, data) = (&mut self.lists, &self.data);
        if let Some(table) = data.findings.value() {
            lists.findings.retain_shown(table, ids);
        }
        if let Some(table) = data.board.value() {
            lists.board.retain_shown(table, ids);
        }
    }

    /// Shows these rows until the filter is applied again, even if it hides them.
    pub(crate) fn retain_rows(&mut self, ids: &[IssueId]) {
        for &id in ids {
            Arc::make_mut(&mut self.lists.findings.retained)
                .entry(id)
                .or_insert(RetainedRow::Anywhere);
        }
    }

    /// Retains the shown rows that become absent by the retest of this workspace.
    pub(crate) fn retain_absent_after_retest(
        &mut self,
        before: &Table<Issue>,
        after: &Table<Issue>,
    ) {
        let Some(retest) = self.retest_of(&self.workspace_name()) else {
            return;
        };
        let became_absent = |id: &IssueId| {
            let was_present = before.get(*id).is_some_and(|issue| issue.is_present());
            was_present && after.get(*id).is_some_and(|issue| !issue.is_present())
        };
        let ids: Vec<IssueId> = retest
            .findings
            .iter()
            .map(|finding| finding.id())
            .filter(became_absent)
            .collect();
        self.lists.findings.retain_shown(before, &ids);
    }

    /// Retains the shown rows whose decision changed by a rule or by another change of many
    /// findings.
    pub(crate) fn retain_where_decision_changed(
        &mut self,
        before: &Table<Issue>,
        after: &Table<Issue>,
        assessments: &Assessments,
    ) {
        let changed = |row: &u32| {
            let id = before.items().get(*row as usize)?.id;
            let (was, now) = (
                self.findings.triage.assessments.get(*row as usize)?,
                assessments.get(after.position(id)?)?,
            );
            (decision_of(was) != decision_of(now)).then_some(id)
        };
        let ids: Vec<IssueId> = self
            .lists
            .findings
            .rows
            .iter()
            .filter_map(changed)
            .collect();
        self.lists.findings.retain_shown(before, &ids);
    }
}

/// The decision of persons, rules and the service, without the facts of scans.
#[derive(PartialEq)]
struct ShownDecision<'a> {
    verdict: Verdict,
    source: VerdictSource,
    at: Option<Stamp>,
    severity: Option<Risk>,
    tags: &'a [Shared],
    assignee: Option<&'a Shared>,
    due: Option<Date>,
}

fn decision_of(assessment: &Assessment) -> ShownDecision<'_> {
    ShownDecision {
        verdict: assessment.verdict,
        source: assessment.source,
        at: assessment.at,
        severity: assessment.severity,
        tags: &assessment.tags,
        assignee: assessment.assignee.as_ref(),
        due: assessment.due,
    }
}

impl<T: Item> List<T> {
    /// Retains those of the items that are shown, each below the row above it.
    fn retain_shown(&mut self, table: &Table<T>, ids: &[T::Id]) {
        if ids.is_empty() {
            return;
        }
        let mut decided = RowSet::none(table.len());
        ids.iter()
            .filter_map(|&id| table.position(id))
            .for_each(|at| decided.set(at));
        let id = |row: u32| table.items()[row as usize].id();
        let mut above = None;
        let retained_rows = Arc::make_mut(&mut self.retained);
        for &row in self.rows.iter() {
            if decided.has(row as usize) {
                let retained = retained_rows
                    .entry(id(row))
                    .or_insert(RetainedRow::Anywhere);
                *retained = above.map_or(RetainedRow::Top, |above| RetainedRow::Under(id(above)));
            }
            above = Some(row);
        }
    }
}
