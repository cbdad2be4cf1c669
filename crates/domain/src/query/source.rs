//! A list as the source of a query, and the fields that need more than the list.

use super::column::{Column, ColumnBuilder};
use super::{Clause, Field, QueryKind, RowSet};

/// The rows of a clause that a list searches by itself, in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchedRows {
    /// The rows that match, among the searched ones.
    pub found: RowSet,
    /// The rows that were searched so far.
    pub searched: RowSet,
}

/// A list that can be queried.
pub trait RowSource {
    /// Kind of the list.
    fn kind(&self) -> QueryKind;
    /// Number of rows.
    fn len(&self) -> usize;
    /// True if there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The column of a field, if the list provides it.
    fn ready(&self, _: Field) -> Option<&Column> {
        None
    }
    /// The rows of a clause that the list searches by itself. Rows that were not searched match no
    /// query with this clause.
    fn searched(&self, _: &Clause) -> Option<SearchedRows> {
        None
    }
    /// Writes the values of a field of a row.
    fn write_field(&self, row: usize, field: Field, to: &mut ColumnBuilder);
    /// Rows that contain a lower-case text in the text searched by words without a field.
    fn with_text(&self, text: &str) -> RowSet;
    /// Present time in seconds since 1970, from which ages are computed.
    fn now(&self) -> i64;
}

/// Builds the column of a field row by row.
pub fn column_of(field: Field, source: &dyn RowSource) -> ColumnBuilder {
    column_from(field, source.len(), |row, to| {
        source.write_field(row, field, to)
    })
}

/// Builds a column of these rows, whose values `write` adds. No list of the rows is needed, which
/// may be large.
pub fn column_from(
    field: Field,
    rows: usize,
    write: impl Fn(usize, &mut ColumnBuilder),
) -> ColumnBuilder {
    let mut builder = ColumnBuilder::new(field, rows);
    for row in 0..rows {
        write(row, &mut builder);
        builder.end_row();
    }
    builder
}

impl Field {
    /// True for fields that need decisions or other lists.
    pub fn needs_others(self, kind: QueryKind) -> bool {
        match kind {
            QueryKind::Findings => {
                self.is_of_decision()
                    || matches!(
                        self,
                        Self::Target | Self::Workspace | Self::Tool | Self::Note
                    )
            }
            QueryKind::Scans => matches!(self, Self::Target | Self::Workspace),
            QueryKind::Targets => matches!(self, Self::Workspace | Self::Risk | Self::Is),
            QueryKind::Captures => {
                matches!(
                    self,
                    Self::Is
                        | Self::Logger
                        | Self::Planted
                        | Self::Technique
                        | Self::Delay
                        | Self::Target
                )
            }
            QueryKind::Payloads => matches!(self, Self::Hits | Self::Delay | Self::Seen | Self::Is),
            _ => false,
        }
    }

    /// True for fields that follow from decisions.
    pub fn is_of_decision(self) -> bool {
        matches!(
            self,
            Self::Verdict
                | Self::Reason
                | Self::By
                | Self::Source
                | Self::Decided
                | Self::Until
                | Self::Assignee
                | Self::Due
                | Self::Tag
                | Self::Note
                | Self::Duplicate
                | Self::Changed
                | Self::Decision
        )
    }
}
