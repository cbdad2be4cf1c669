//! Findings with everything that the columns of a query need ([`Column`]: the values of one field),
//! so that they are built without the state of the dashboard. The columns on the screen are another
//! thing: `table/columns.rs` has their titles.

use std::sync::Arc;

use super::state::TriageState;
use super::{AssessedFinding, Assessments, Issue, ListContext};
use crate::query::{Column, ColumnBuilder, Field, QueryKind, RowSet, RowSource};
use crate::table::{Row, Table};
use scandeck_wire::contract::{Scan, Target, Workspace};

/// The inputs of the query columns of findings. All of them are shared.
#[derive(Clone, Debug, Default)]
pub struct FindingColumns {
    /// The findings.
    pub issues: Arc<Table<Issue>>,
    /// Their assessments, by position.
    pub assessments: Arc<Assessments>,
    /// Decisions, for notes.
    pub state: TriageState,
    pub targets: Arc<Table<Target>>,
    pub workspaces: Arc<Table<Workspace>>,
    pub scans: Arc<Table<Scan>>,
}

impl FindingColumns {
    fn others(&self) -> ListContext<'_> {
        ListContext {
            targets: Some(&self.targets),
            workspaces: Some(&self.workspaces),
            scans: Some(&self.scans),
            state: Some(&self.state),
            ..ListContext::default()
        }
    }

    /// Whether the column of a field that was built from these inputs is that of the other inputs.
    pub fn is_current(&self, field: Field, now: &Self) -> bool {
        if !Arc::ptr_eq(&self.issues, &now.issues) {
            return false;
        }
        let has_targets = Arc::ptr_eq(&self.targets, &now.targets);
        match field {
            Field::Target => has_targets,
            Field::Workspace => has_targets && Arc::ptr_eq(&self.workspaces, &now.workspaces),
            Field::Tool => Arc::ptr_eq(&self.scans, &now.scans),
            field if field.is_of_decision() => {
                Arc::ptr_eq(&self.assessments, &now.assessments)
                    && self.state.clock() == now.state.clock()
            }
            _ => true,
        }
    }
}

impl RowSource for FindingColumns {
    fn kind(&self) -> QueryKind {
        QueryKind::Findings
    }

    fn len(&self) -> usize {
        self.issues.len()
    }

    fn ready(&self, field: Field) -> Option<&Column> {
        self.issues.column(field)
    }

    fn write_field(&self, row: usize, field: Field, to: &mut ColumnBuilder) {
        let (issue, others) = (&self.issues.items()[row], &self.others());
        match self.assessments.get(row) {
            Some(assessment) => {
                AssessedFinding { issue, assessment }.write_field(field, others, to);
            }
            None => issue.write_field(field, others, to),
        }
    }

    fn with_text(&self, text: &str) -> RowSet {
        self.issues.with_text(text, &[])
    }

    /// Columns have no ages.
    fn now(&self) -> i64 {
        0
    }
}
