//! The lists as sources of queries, with the fields that come from other lists.

use crate::data::{AlertState, Data, Payloads, TextSearch};
use crate::list::AnyTable;
use crate::list::query_cache::any;
use crate::model::{Model, PaneItem};
use scandeck_domain::oob::source::is_own;
use scandeck_domain::oob::{Hits, Network, Payload, PayloadBook, TargetHosts, Token};
use scandeck_domain::query::{
    Clause, Column, ColumnBuilder, Field, QueryKind, RowSet, RowSource, SearchedRows,
};
use scandeck_domain::table::{Item, OtherLists, Table};
use scandeck_domain::triage::{Assessment, FindingKey, TriageState};
use scandeck_wire::contract::{Capture, ScanId, Shared, TargetId};
use scandeck_wire::text::search_form;
use std::any::Any;
use std::sync::Arc;

/// The data of other lists for queries.
#[derive(Clone, Copy)]
pub struct ListContext<'a> {
    data: &'a Data,
    pub(crate) assessments: &'a [Arc<Assessment>],
    state: &'a TriageState,
    book: &'a PayloadBook,
    payloads: &'a Payloads,
    signals: &'a AlertState,
    own: &'a [Network],
    hosts: &'a TargetHosts,
    pub(crate) texts: &'a TextSearch,
    clock_offset: Option<i64>,
}

impl OtherLists for ListContext<'_> {
    fn target_name(&self, target: TargetId) -> Option<&Shared> {
        self.data
            .targets
            .value()?
            .get(target)
            .map(|target| &target.name)
    }

    fn workspace_name(&self, target: TargetId) -> Option<&Shared> {
        let workspace = self.data.targets.value()?.get(target)?.workspace_id;
        self.data
            .workspaces
            .value()?
            .get(workspace)
            .map(|workspace| &workspace.name)
    }

    fn tool(&self, scan: ScanId) -> Option<i64> {
        self.data.scans.value()?.get(scan).map(|scan| scan.tool_id)
    }

    fn risks(&self, target: TargetId) -> Option<[u32; 5]> {
        self.data
            .findings
            .value()?
            .of_target(target)
            .map(|of| of.risks)
    }

    fn scans(&self, target: TargetId) -> Option<(usize, usize)> {
        let scans = self.data.scans.value()?;
        let Some(of) = scans.of_target(target) else {
            return Some((0, 0));
        };
        let active = of
            .positions
            .iter()
            .filter(|&&at| scans.items()[at as usize].is_active())
            .count();
        Some((of.positions.len(), active))
    }

    fn payload(&self, token: Token) -> Option<&Payload> {
        self.book.get(token).map(|payload| &**payload)
    }

    fn hits(&self, token: Token) -> Option<&Hits> {
        self.payloads.hits.get(&token)
    }

    fn are_hits_known(&self) -> bool {
        self.payloads.counted
    }

    fn is_awaited(&self, token: Token) -> bool {
        self.signals.wait(token).is_some()
    }

    fn targets_of(&self, capture: &Capture) -> Vec<Shared> {
        self.hosts
            .named_in(capture)
            .into_iter()
            .map(|named| named.target)
            .collect()
    }

    fn is_own(&self, capture: &Capture) -> bool {
        is_own(capture, self.own)
    }

    fn clock_offset(&self) -> Option<i64> {
        self.clock_offset
    }

    fn notes(&self, key: FindingKey) -> Vec<&Shared> {
        self.state
            .finding_state(key)
            .map(|finding_state| finding_state.noted().collect())
            .unwrap_or_default()
    }
}

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
        // Columns of many rows that need other lists are added when they were built.
        let is_awaited = self.table.len() >= T::MANY && field.needs_others(T::KIND);
        if is_awaited {
            Some(self.table.blank())
        } else {
            self.table.column_now(field)
        }
    }

    fn searched(&self, clause: &Clause) -> Option<SearchedRows> {
        T::searched(self, clause)
    }

    fn write_field(&self, row: usize, field: Field, to: &mut ColumnBuilder) {
        T::write_listed(self, row, field, to);
    }

    fn with_text(&self, text: &str) -> RowSet {
        let targets = match T::KIND {
            QueryKind::Findings | QueryKind::Scans => self.list_context.targets_named(text),
            _ => Vec::new(),
        };
        self.table.with_text(text, &targets)
    }

    fn now(&self) -> i64 {
        self.now
    }
}

impl ListContext<'_> {
    /// Targets whose name contains a text in its [`search_form`].
    fn targets_named(&self, text: &str) -> Vec<TargetId> {
        let targets = self
            .data
            .targets
            .value()
            .map(|targets| targets.items())
            .unwrap_or_default();
        let named = targets
            .iter()
            .filter(|target| search_form(&target.name).contains(text));
        named.map(|target| target.id).collect()
    }
}

impl Model {
    /// The data of other lists for queries.
    pub(crate) fn list_context(&self) -> ListContext<'_> {
        ListContext {
            data: &self.data,
            assessments: &self.findings.triage.assessments,
            state: &self.findings.triage.state,
            book: &self.captures.oob.book,
            payloads: &self.captures.payloads,
            signals: &self.captures.signals,
            own: self.own_addresses(),
            hosts: &self.captures.oob.hosts,
            texts: &self.findings.texts,
            clock_offset: self.connection.clock_offset,
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

    /// Takes columns of the findings that a worker thread made.
    pub(crate) fn add_columns(&mut self, made: Vec<(Field, ColumnBuilder)>) {
        let Some(table) = self.data.findings.value().cloned() else {
            return;
        };
        self.with_cache(&table, |_, _, cache| cache.evaluator.add_columns(made));
    }

    /// Updates the cached columns of findings whose decision changed.
    pub(crate) fn update_decisions(&mut self, rows: &[usize]) {
        let Some(table) = self.data.findings.value().cloned() else {
            return;
        };
        self.with_cache(&table, |model, _, cache| {
            cache.update_decisions(rows, &model.listed(&table))
        });
        self.findings.triage.revision += 1;
    }

    /// The lists that queries on a kind depend on, each with the fields that need it.
    pub(crate) fn others_of(&self, kind: QueryKind) -> Vec<(AnyTable, &'static [Field])> {
        let data = &self.data;
        match kind {
            QueryKind::Findings | QueryKind::Scans => {
                let scans = if kind == QueryKind::Findings {
                    any(data.scans.value())
                } else {
                    None
                };
                vec![
                    // Bare words search the names of targets too.
                    (
                        any(data.targets.value()),
                        &[Field::Text, Field::Target, Field::Workspace],
                    ),
                    (any(data.workspaces.value()), &[Field::Workspace]),
                    (scans, &[Field::Tool]),
                ]
            }
            QueryKind::Payloads => {
                let hits =
                    Some(Arc::clone(&self.captures.payloads.hits) as Arc<dyn Any + Send + Sync>);
                vec![(hits, &[Field::Hits, Field::Delay, Field::Seen, Field::Is])]
            }
            QueryKind::Targets => vec![
                (any(data.workspaces.value()), &[Field::Workspace]),
                (any(data.scans.value()), &[Field::Is]),
                (any(data.findings.value()), &[Field::Risk, Field::Is]),
            ],
            _ => Vec::new(),
        }
    }
}
