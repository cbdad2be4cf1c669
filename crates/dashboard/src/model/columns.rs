//! Columns, orders and groups of many findings: they are built off the UI thread.
//!
//! ```text
//!   filter, order, groups, tabs ─► missing? ─► Effect::BuildColumns ─► Msg::ColumnsBuilt ─► rows
//!   new findings ─► missing? ─► wait for their columns, while the findings before are shown ─► shown
//! ```
//!
//! While columns are missing, the rows of the last filter, order and groups remain
//! (`List::is_behind`), and marks and verdicts wait.

use crate::base::{ColumnRequest, Effect, FindingGroupBy, Generation, Pane};
use crate::list::{BuiltColumns, GroupKeys};
use crate::model::{Modal, Model};
use scandeck_domain::query::complete::{complete, field_at};
use scandeck_domain::query::{Completion, Field, Query, QueryKind, ValueKind, query_of};
use scandeck_domain::table::{Item, Table};
use scandeck_domain::triage::listed_fields::is_long;
use scandeck_domain::triage::{Assessment, Correlated, FindingColumns, Issue};
use scandeck_wire::contract::{Scan, Target, Workspace};
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

/// The lists that are not read: always the same empty ones, so that a column built from them stays
/// current.
static NO_TARGETS: LazyLock<Arc<Table<Target>>> = LazyLock::new(Arc::default);
static NO_WORKSPACES: LazyLock<Arc<Table<Workspace>>> = LazyLock::new(Arc::default);
static NO_SCANS: LazyLock<Arc<Table<Scan>>> = LazyLock::new(Arc::default);

/// The columns that are being built, and the findings that wait for them.
#[derive(Debug, Default)]
pub struct ColumnsState {
    is_building: bool,
    waiting: Option<Box<WaitingFindings>>,
    /// The query of the last command that had to wait for columns or texts.
    pub(crate) asked: Option<Query>,
    /// Groups that a review needs, beside those of the list.
    pub(crate) asked_groups: Option<FindingGroupBy>,
    /// The order of the rows lacks the latest decisions.
    is_order_outdated: bool,
    /// The field whose values are offered while a query is typed.
    pub(crate) completed: Option<Field>,
}

/// New findings whose columns are not complete.
#[derive(Debug)]
struct WaitingFindings {
    generation: Generation,
    correlated: Correlated,
    built: BuiltColumns,
}

impl Model {
    /// The queries of the findings whose results are on the screen, that of the list first.
    pub(crate) fn finding_queries(&self) -> Vec<Query> {
        let tabs = self
            .settings
            .tabs
            .saved
            .iter()
            .map(|tab| tab.query.as_str());
        let texts = [
            self.lists.findings.filter.as_str(),
            self.lists.board.filter.as_str(),
        ]
        .into_iter()
        .chain(tabs);
        let queries = texts
            .filter(|text| !text.is_empty())
            .map(|text| query_of(text, QueryKind::Findings));
        queries.chain(self.findings.columns.asked.clone()).collect()
    }

    /// The fields whose columns these queries and the order need. Long texts are searched in
    /// chunks, but sorted by a column.
    fn needed_fields(&self, queries: &[Query]) -> BTreeSet<Field> {
        let mut fields: BTreeSet<Field> = queries
            .iter()
            .flat_map(Query::fields)
            .filter(|&field| !is_long(field))
            .collect();
        if fields.contains(&Field::Is) {
            fields.insert(Field::Decision);
        }
        fields.extend(self.lists.findings.order.iter().map(|key| key.field));
        fields.retain(|field| !matches!(field.spec().values, ValueKind::Search));
        fields
    }

    /// The fields of columns that new findings take over from the findings before.
    pub(crate) fn searched_fields(&self) -> Vec<Field> {
        let are_many = self
            .data
            .findings
            .value()
            .is_some_and(|table| table.len() >= Issue::MANY);
        let fields = self.needed_fields(&self.finding_queries()).into_iter();
        fields
            .filter(|&field| {
                !field.needs_others(QueryKind::Findings) && (are_many || is_long(field))
            })
            .collect()
    }

    fn column_input(
        &self,
        issues: &Arc<Table<Issue>>,
        assessments: &Arc<Vec<Arc<Assessment>>>,
    ) -> FindingColumns {
        FindingColumns {
            issues: Arc::clone(issues),
            assessments: Arc::clone(assessments),
            state: self.findings.triage.state.clone(),
            targets: self.data.targets.value().unwrap_or(&NO_TARGETS).clone(),
            workspaces: self
                .data
                .workspaces
                .value()
                .unwrap_or(&NO_WORKSPACES)
                .clone(),
            scans: self.data.scans.value().unwrap_or(&NO_SCANS).clone(),
        }
    }

    /// The columns of these fields that the present findings lack.
    fn missing_fields(&self, table: &Table<Issue>, fields: BTreeSet<Field>) -> Vec<Field> {
        let evaluator = &self.lists.findings.cache.evaluator;
        let is_missing = |field: &Field| lacks(table, *field, |field| evaluator.has_column(field));
        fields.into_iter().filter(is_missing).collect()
    }

    /// Whether the rows of the list must wait for columns.
    pub(crate) fn awaits_columns(&self, table: &Arc<Table<Issue>>) -> bool {
        let list = &self.lists.findings;
        table.len() >= Issue::MANY
            && (!self
                .missing_fields(
                    table,
                    self.needed_fields(&[query_of(&list.filter, QueryKind::Findings)]),
                )
                .is_empty()
                || !list.order.is_empty() && !list.cache.has_order(&list.order)
                || self
                    .lists
                    .finding_groups
                    .requested
                    .is_some_and(|by| !self.lists.finding_groups.has_keys(by, table)))
    }

    /// Completions at a byte of a query on a list. Values of many findings are offered when their
    /// column was built.
    pub(crate) fn completions(&mut self, pane: Pane, text: &str, cursor: usize) -> Vec<Completion> {
        if pane.query_pane() == Pane::Findings {
            self.findings.columns.completed =
                field_at(text, cursor, QueryKind::Findings).and_then(offered_column);
        }
        self.query_list(pane, |evaluator, source| {
            complete(text, cursor, evaluator, source)
        })
        .unwrap_or_default()
    }

    /// Whether the columns of a query are complete.
    pub(crate) fn has_columns_of(&mut self, query: &Query) -> bool {
        let Some(table) = self.data.findings.value().cloned() else {
            return true;
        };
        self.with_cache(&table, |_, _, _| ());
        self.missing_fields(&table, self.needed_fields(std::slice::from_ref(query)))
            .is_empty()
    }

    /// The groups of the findings. Those of many findings are requested, and are there when the key
    /// is pressed again.
    pub(crate) fn groups_of(
        &mut self,
        by: FindingGroupBy,
        table: &Arc<Table<Issue>>,
    ) -> Option<Arc<GroupKeys>> {
        let keys = self.lists.finding_groups.keys(by, table);
        self.findings.columns.asked_groups = Some(by).filter(|_| keys.is_none());
        keys
    }

    /// Requests what the queries of the findings lack: columns, and the next chunk of texts.
    pub(crate) fn prepare_queries(&mut self, effects: &mut Vec<Effect>) {
        if !matches!(
            self.overlay.modals.last(),
            Some(Modal::Line(_) | Modal::Command(_))
        ) {
            self.findings.columns.completed = None;
        }
        self.drop_outdated_order();
        let queries = self.finding_queries();
        self.request_columns(&queries, effects);
        self.search_texts(&queries, effects);
    }

    /// After its rows were shown.
    fn drop_outdated_order(&mut self) {
        if std::mem::take(&mut self.findings.columns.is_order_outdated) {
            let fields: Vec<Field> = self
                .lists
                .findings
                .order
                .iter()
                .map(|key| key.field)
                .collect();
            self.lists.findings.cache.forget_order(&fields);
        }
    }

    /// Requests the columns, the order and the groups that the findings lack.
    fn request_columns(&mut self, queries: &[Query], effects: &mut Vec<Effect>) {
        if self.findings.columns.is_building {
            return;
        }
        let request = match (
            &self.findings.columns.waiting,
            self.data.findings.value().cloned(),
        ) {
            (Some(waiting), _) => self.missing_of_waiting(waiting, queries),
            (None, Some(table)) => {
                // Columns of other lists that changed are dropped.
                self.with_cache(&table, |_, _, _| ());
                self.missing_of_list(&table, queries)
            }
            (None, None) => None,
        };
        if let Some(request) = request {
            self.findings.columns.is_building = true;
            effects.push(Effect::BuildColumns(Box::new(request)));
        }
    }

    fn missing_of_list(
        &self,
        table: &Arc<Table<Issue>>,
        queries: &[Query],
    ) -> Option<ColumnRequest> {
        let (list, groups) = (&self.lists.findings, &self.lists.finding_groups);
        let mut fields = self.needed_fields(queries);
        fields.extend(self.findings.columns.completed);
        let fields = self.missing_fields(table, fields);
        let are_many = table.len() >= Issue::MANY;
        let has_order = !are_many || list.order.is_empty() || list.cache.has_order(&list.order);
        let by = groups.requested.or(self.findings.columns.asked_groups);
        let by = by.filter(|&by| are_many && !groups.has_keys(by, table));
        let input = || self.column_input(table, &self.findings.triage.assessments);
        request(fields, has_order, by, list.order.as_slice(), input)
    }

    fn missing_of_waiting(
        &self,
        waiting: &WaitingFindings,
        queries: &[Query],
    ) -> Option<ColumnRequest> {
        let WaitingFindings {
            correlated, built, ..
        } = waiting;
        let (table, list) = (&correlated.issues, &self.lists.findings);
        let has = |field| {
            correlated
                .columns
                .iter()
                .chain(&built.columns)
                .any(|(of, _)| *of == field)
        };
        let fields = self.needed_fields(queries);
        let fields = fields
            .into_iter()
            .filter(|&field| lacks(table, field, has))
            .collect();
        let are_many = table.len() >= Issue::MANY;
        let has_order = !are_many
            || list.order.is_empty()
            || built.order.is_some() && built.request.order == list.order;
        let has_groups = |by| {
            built
                .groups
                .as_ref()
                .is_some_and(|groups| groups.fits(by, table))
        };
        let by = self
            .lists
            .finding_groups
            .requested
            .filter(|&by| are_many && !has_groups(by));
        request(fields, has_order, by, &list.order, || {
            self.column_input(table, &correlated.assessments)
        })
    }

    /// Shows new findings; many of them when their columns are complete.
    pub(crate) fn handle_correlated(&mut self, generation: Generation, correlated: Correlated) {
        self.place(Box::new(WaitingFindings {
            generation,
            correlated,
            built: BuiltColumns::default(),
        }));
    }

    fn place(&mut self, mut waiting: Box<WaitingFindings>) {
        let is_current = waiting.generation == self.connection.generation;
        let is_shown = |table: &Arc<Table<Issue>>| Arc::ptr_eq(table, &waiting.correlated.issues);
        let is_new = !self.data.findings.value().is_some_and(is_shown);
        if is_current
            && is_new
            && self
                .missing_of_waiting(&waiting, &self.finding_queries())
                .is_some()
        {
            self.findings.columns.waiting = Some(waiting);
            return;
        }
        let built = std::mem::take(&mut waiting.built);
        waiting.correlated.columns.extend(built.columns);
        // An order by decisions lacks those that were made since: it is shown, and requested again.
        let has_decided = !self.findings.triage.touched.is_empty();
        let is_outdated = has_decided
            && built
                .request
                .order
                .iter()
                .any(|key| key.field.is_of_decision());
        self.install_correlated(waiting.generation, waiting.correlated);
        if !is_current {
            return;
        }
        self.findings.columns.is_order_outdated = is_outdated && built.order.is_some();
        if let (Some(order), Some(table)) = (built.order, self.data.findings.value().cloned()) {
            self.with_cache(&table, |_, _, cache| {
                cache.take_order(built.request.order, order)
            });
        }
        if let Some(groups) = built.groups {
            self.lists.finding_groups.take(groups);
        }
    }

    /// Columns of findings were built.
    pub(crate) fn handle_columns_built(&mut self, mut built: BuiltColumns) {
        self.findings.columns.is_building = false;
        let of = Arc::clone(&built.request.input.issues);
        if let Some(mut waiting) = self.findings.columns.waiting.take() {
            if Arc::ptr_eq(&waiting.correlated.issues, &of) {
                self.drop_outdated(&mut built, &waiting.correlated.assessments, true);
                waiting.built.absorb(built);
            }
            return self.place(waiting);
        }
        let Some(table) = self
            .data
            .findings
            .value()
            .filter(|table| Arc::ptr_eq(table, &of))
            .cloned()
        else {
            return;
        };
        let assessments = Arc::clone(&self.findings.triage.assessments);
        self.drop_outdated(&mut built, &assessments, false);
        let fields: Vec<Field> = built.request.fields;
        self.with_cache(&table, |_, _, cache| {
            cache.forget_fields(&fields);
            cache.evaluator.add_columns(built.columns);
            if let Some(order) = built.order {
                cache.take_order(built.request.order, order);
            }
        });
        if let Some(groups) = built.groups {
            self.lists.finding_groups.take(groups);
        }
        self.show_searched_findings();
    }

    /// Shows the findings again after something that their queries need has changed.
    pub(crate) fn show_searched_findings(&mut self) {
        self.show_rows(Pane::Findings);
        if !self.lists.board.filter.is_empty() {
            self.show_rows(Pane::Board);
        }
        self.count_tabs();
    }

    /// Drops columns and orders whose other lists, or decisions, changed while they were built.
    /// Decisions on findings that wait are applied when these are shown.
    fn drop_outdated(
        &self,
        built: &mut BuiltColumns,
        assessments: &Arc<Vec<Arc<Assessment>>>,
        waits: bool,
    ) {
        let request = &built.request;
        let now = self.column_input(&request.input.issues, assessments);
        let is_current = |field| request.input.is_current(field, &now);
        built
            .columns
            .retain(|(field, _)| is_current(*field) || waits && field.is_of_decision());
        built.order = built
            .order
            .take()
            .filter(|_| request.order.iter().all(|key| is_current(key.field)));
    }
}

/// The column whose values are offered for a field. Long texts and numbers are not offered.
fn offered_column(field: Field) -> Option<Field> {
    match field.spec().values {
        ValueKind::Flags => Some(Field::Decision),
        ValueKind::Choice(_) | ValueKind::Word | ValueKind::Prose | ValueKind::Risk
            if !is_long(field) =>
        {
            Some(field)
        }
        _ => None,
    }
}

/// Whether a table lacks the column of a field; `has` knows the columns that are not part of it.
fn lacks(table: &Table<Issue>, field: Field, has: impl Fn(Field) -> bool) -> bool {
    match field.needs_others(QueryKind::Findings) {
        true => table.len() >= Issue::MANY && !has(field),
        false => table.awaits(field),
    }
}

fn request(
    fields: Vec<Field>,
    has_order: bool,
    groups: Option<FindingGroupBy>,
    order: &[scandeck_domain::query::SortKey],
    input: impl FnOnce() -> FindingColumns,
) -> Option<ColumnRequest> {
    let order = if has_order {
        Vec::new()
    } else {
        order.to_vec()
    };
    let is_needed = !fields.is_empty() || !has_order || groups.is_some();
    is_needed.then(|| ColumnRequest {
        input: input(),
        fields,
        order,
        groups,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use scandeck_domain::query::Field;

    #[test]
    fn columns_built_while_other_lists_are_unread_stay_current() {
        let mut dashboard = TestDashboard::new();
        let data = &mut dashboard.model.data;
        (data.targets, data.workspaces, data.scans) = Default::default();
        let table = dashboard.model.data.findings.value().unwrap().clone();
        let assessments = dashboard.model.findings.triage.assessments.clone();
        let input = || dashboard.model.column_input(&table, &assessments);
        for field in [Field::Target, Field::Workspace, Field::Tool] {
            assert!(input().is_current(field, &input()), "{field:?}");
        }
    }
}
