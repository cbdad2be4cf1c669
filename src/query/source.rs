//! A list as the source of a query, and which fields need more than the list itself.

use super::column::{Column, ColumnBuilder};
use super::{Field, QueryKind, RowSet};

/// A list that can be queried.
pub trait RowSource {
    /// Which.
    fn kind(&self) -> QueryKind;
    /// How many rows.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The values of a field, where the list has them ready.
    fn ready(&self, _: Field) -> Option<&Column> {
        None
    }
    /// Puts in what a row has of a field.
    fn write_field(&self, row: usize, field: Field, to: &mut ColumnBuilder);
    /// Which rows have a text, given in lower case, among those that bare words search.
    fn with_text(&self, text: &str) -> RowSet;
    /// Seconds since 1970 that ages are counted from.
    fn now(&self) -> i64;
}

/// Makes the column of a field by asking each row.
pub fn column_of(field: Field, source: &dyn RowSource) -> ColumnBuilder {
    let mut builder = ColumnBuilder::new(field, source.len());
    for row in 0..source.len() {
        source.write_field(row, field, &mut builder);
        builder.end_row();
    }
    builder
}

impl Field {
    /// It does not follow from a row alone: what was decided, or other lists, tell it.
    pub fn needs_others(self, kind: QueryKind) -> bool {
        match kind {
            QueryKind::Findings => {
                self.is_of_decision() || matches!(self, Self::Target | Self::Workspace | Self::Tool | Self::Note)
            }
            QueryKind::Scans => matches!(self, Self::Target | Self::Workspace),
            QueryKind::Targets => matches!(self, Self::Workspace | Self::Risk | Self::Is),
            QueryKind::Captures => {
                matches!(self, Self::Is | Self::Logger | Self::Planted | Self::Technique | Self::Delay | Self::Target)
            }
            QueryKind::Payloads => matches!(self, Self::Hits | Self::Delay | Self::Seen | Self::Is),
            _ => false,
        }
    }

    /// It follows from what persons decided.
    pub fn is_of_decision(self) -> bool {
        matches!(
            self,
            Self::Severity
                | Self::Verdict
                | Self::Reason
                | Self::By
                | Self::Source
                | Self::Decided
                | Self::Until
                | Self::Tag
                | Self::Note
                | Self::Duplicate
                | Self::Changed
                | Self::Decision
        )
    }
}
