//! The lists as sources of queries, with the fields that come from other lists.

use crate::data::{AlertState, Data, Payloads};
use crate::model::{Model, PaneItem};
use scandeck_domain::oob::source::is_own;
use scandeck_domain::oob::{Hits, Network, Payload, PayloadBook, TargetHosts, Token};
use scandeck_domain::query::{Column, ColumnBuilder, Field, QueryKind, RowSet, RowSource};
use scandeck_domain::table::{Item, OtherLists, Table};
use scandeck_domain::triage::{FindingKey, TriageState};
use scandeck_wire::contract::{Capture, ScanId, Shared, TargetId};
use scandeck_wire::text::search_form;

/// The data of other lists for queries.
#[derive(Clone, Copy)]
pub struct ListContext<'a> {
    data: &'a Data,
    state: &'a TriageState,
    book: &'a PayloadBook,
    payloads: &'a Payloads,
    alerts: &'a AlertState,
    own: &'a [Network],
    hosts: &'a TargetHosts,
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
        self.alerts.wait(token).is_some()
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
            state: &self.findings.triage.state,
            book: &self.captures.oob.book,
            payloads: &self.captures.payloads,
            alerts: &self.captures.alerts,
            own: self.own_addresses(),
            hosts: &self.captures.oob.hosts,
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
}
