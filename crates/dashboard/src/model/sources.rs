//! The lists as sources of queries, with the fields that come from other lists.

use crate::model::{Model, PaneItem};
use scandeck_domain::query::{Column, ColumnBuilder, Field, QueryKind, RowSet, RowSource};
use scandeck_domain::table::{Item, Table};
use scandeck_domain::triage::{ListContext, OobContext};

/// A table as a source of queries.
pub(crate) struct Listed<'a, T: Item> {
    pub table: &'a Table<T>,
    pub list_context: ListContext<'a>,
    /// Seconds since 1970, by the service's clock.
    pub now: i64,
}

impl<T: PaneItem> RowSource for Listed<'_, T> {
    fn kind(&self) -> QueryKind {
        T::KIND
    }

    fn len(&self) -> usize {
        self.table.len()
    }

    fn ready(&self, field: Field) -> Option<&Column> {
        self.table.column(field)
    }

    fn write_field(&self, row: usize, field: Field, to: &mut ColumnBuilder) {
        self.table.items()[row].write_field(field, &self.list_context, to);
    }

    fn with_text(&self, text: &str) -> RowSet {
        let targets = match T::KIND {
            QueryKind::Scans => self.list_context.targets_named(text),
            _ => Vec::new(),
        };
        self.table.with_text(text, &targets)
    }

    fn now(&self) -> i64 {
        self.now
    }
}

impl Model {
    /// The data of other lists for queries.
    pub(crate) fn list_context(&self) -> ListContext<'_> {
        let (data, captures) = (&self.data, &self.captures);
        ListContext {
            targets: data.targets.value().map(|table| &**table),
            workspaces: data.workspaces.value().map(|table| &**table),
            scans: data.scans.value().map(|table| &**table),
            findings: data.findings.value().map(|table| &**table),
            state: Some(&self.findings.triage.state),
            oob: Some(OobContext {
                book: &captures.oob.book,
                hits: &captures.payloads.hits,
                are_hits_known: captures.payloads.counted,
                waits: &captures.alerts.waits,
                own: self.own_addresses(),
                hosts: &captures.oob.hosts,
                clock_offset: self.connection.clock_offset,
            }),
        }
    }

    /// A table as a source of queries.
    pub(crate) fn listed<'a, T: PaneItem>(&'a self, table: &'a Table<T>) -> Listed<'a, T> {
        Listed {
            table,
            list_context: self.list_context(),
            now: self.service_now().as_second(),
        }
    }
}
