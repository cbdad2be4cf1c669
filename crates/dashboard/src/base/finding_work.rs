//! Work on many findings that the UI thread leaves to others: columns, orders and groups, and the
//! search of long texts.

use crate::base::FindingGroupBy;
use scandeck_domain::query::{Clause, Evaluator, Expr, Field, RowSet, SortKey};
use scandeck_domain::table::{NoOtherLists, Rows, Table};
use scandeck_domain::triage::{AssessedFinding, Assessment, FindingColumns, Issue};
use std::sync::Arc;

/// Columns of findings, with what is made of them.
#[derive(Clone, Debug, Default)]
pub struct ColumnRequest {
    pub input: FindingColumns,
    pub fields: Vec<Field>,
    /// An order by several fields; empty for none.
    pub order: Vec<SortKey>,
    pub groups: Option<FindingGroupBy>,
}

/// The same columns of the same findings.
impl PartialEq for ColumnRequest {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.input.issues, &other.input.issues)
            && (&self.fields, &self.order, self.groups)
                == (&other.fields, &other.order, other.groups)
    }
}

/// Findings whose long texts are searched together.
#[derive(Clone, Debug)]
pub struct TextChunk {
    pub table: Arc<Table<Issue>>,
    /// Clauses of long texts.
    pub clauses: Vec<Clause>,
    /// Positions in the table.
    pub rows: Vec<u32>,
}

/// The same texts of the same findings.
impl PartialEq for TextChunk {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table)
            && (&self.clauses, &self.rows) == (&other.clauses, &other.rows)
    }
}

impl TextChunk {
    /// The matches of each clause, by the index of the row. Texts in files are read.
    pub fn search(&self) -> Vec<RowSet> {
        let assessment = Assessment::default();
        let issues = self
            .rows
            .iter()
            .filter_map(|&row| self.table.items().get(row as usize));
        let rows: Vec<AssessedFinding<'_>> = issues
            .map(|issue| AssessedFinding {
                issue,
                assessment: &assessment,
            })
            .collect();
        let source = Rows {
            rows: &rows,
            others: &NoOtherLists,
            now: 0,
        };
        // Clauses of one field share its column.
        let mut evaluator = Evaluator::default();
        self.clauses
            .iter()
            .map(|clause| evaluator.rows(&Expr::Clause(clause.clone()), &source))
            .collect()
    }
}
