//! What can be done with the list of any pane. The registry is in `list/lists.rs`; the feature of a
//! pane has the `impl PaneItem` of its item.

use crate::base::{ListKind, Pane, RowRef, Scope};
use crate::data::Data;
use crate::list::{
    Cursor, HiddenNews, List, Lists, StreamChunk, StreamContext, StreamList, StreamRows, TableRows,
    of, registry,
};
use crate::model::Model;
use scandeck_domain::problem::Problem;
use scandeck_domain::query::complete::complete;
use scandeck_domain::query::{Completion, Evaluator, Query, RowSource, SortKey};
use scandeck_domain::table::{Item, Remote, Table};
use scandeck_wire::contract::Stamp;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The fields that hold the list and the table of an item.
pub(crate) trait Stored: Item + Sized {
    const PANE: Pane;
    fn list(lists: &Lists) -> &List<Self>;
    fn list_mut(lists: &mut Lists) -> &mut List<Self>;
    fn remote(data: &Data) -> &Remote<Arc<Table<Self>>>;
    fn remote_mut(data: &mut Data) -> &mut Remote<Arc<Table<Self>>>;
}

/// Whether an item is in the scope.
pub(crate) type InScope<T> = Box<dyn Fn(&T) -> bool>;

/// Whether an item arrived after a time.
pub(crate) type IsNew<T> = Box<dyn Fn(&T) -> bool>;

/// An item that a pane lists. The defaults are those of a list that needs nothing but its query.
pub(crate) trait PaneItem: Stored {
    /// Whether an item is in the scope; nothing while the scope holds all of them.
    fn in_scope(_: &Scope) -> Option<InScope<Self>> {
        None
    }

    /// Whether an item arrived after a time; nothing for items without a time.
    fn is_new(_: &Model, _since: Stamp) -> Option<IsNew<Self>> {
        None
    }

    /// Sorts the rows of an order that needs data of other lists.
    fn refine(_: &Model, _order: &str, _: &Table<Self>, _rows: &mut [u32]) {}

    /// The JSON of an item as the service sends it; nothing for what it does not send.
    fn json(&self) -> Option<Value> {
        None
    }

    /// Updates the rows after data, filter, scope or order changed.
    fn show(model: &mut Model) {
        model.show_table::<Self>();
    }

    /// The cursor on the rows.
    fn cursor<'a>(lists: &'a mut Lists, data: &'a Data) -> Box<dyn Cursor + 'a> {
        Box::new(TableRows {
            list: Self::list_mut(lists),
            table: Self::remote(data).value().cloned().unwrap_or_default(),
        })
    }
}

macro_rules! store {
    ([] $($pane:ident: $item:ty => $field:ident,)*) => {
        $(impl Stored for $item {
            const PANE: Pane = Pane::$pane;

            fn list(lists: &Lists) -> &List<Self> {
                &lists.$field
            }
            fn list_mut(lists: &mut Lists) -> &mut List<Self> {
                &mut lists.$field
            }
            fn remote(data: &Data) -> &Remote<Arc<Table<Self>>> {
                &data.$field
            }
            fn remote_mut(data: &mut Data) -> &mut Remote<Arc<Table<Self>>> {
                &mut data.$field
            }
        })*
    };
}

registry!(store []);

impl Model {
    /// All items of a list; none while it is loading.
    pub(crate) fn items<T: Stored>(&self) -> &[Arc<T>] {
        T::remote(&self.data)
            .value()
            .map(|table| table.items())
            .unwrap_or_default()
    }

    /// The items of these ids, without those that the list does not have.
    pub(crate) fn items_of<'a, T: Stored>(
        &'a self,
        ids: &'a [i64],
    ) -> impl Iterator<Item = &'a Arc<T>> {
        let table = T::remote(&self.data).value();
        ids.iter().filter_map(move |&id| table?.get(id.into()))
    }

    /// The selected item of a list.
    pub(crate) fn selected_item<T: Stored>(&self) -> Option<&Arc<T>> {
        T::remote(&self.data)
            .value()?
            .get(T::list(&self.lists).selected?)
    }

    /// The cursor on the list of a pane.
    pub fn cursor(&mut self, pane: Pane) -> Box<dyn Cursor + '_> {
        let (lists, data) = (&mut self.lists, &self.data);
        registry!(of [
            pane,
            T => T::cursor(lists, data),
            captures => Box::new(StreamRows { list: &mut lists.captures, stream: &data.captures })
        ])
    }

    /// Updates the rows of a pane after its data, filter, scope or order changed.
    pub fn show_rows(&mut self, pane: Pane) {
        registry!(of [pane, T => T::show(self), captures => self.filter_captures(StreamList::show)]);
    }

    /// Completions at a byte of a query on a list.
    pub(crate) fn completions(&mut self, pane: Pane, text: &str, cursor: usize) -> Vec<Completion> {
        match pane.query_pane() {
            Pane::Findings => self.finding_completions(text, cursor),
            other => self
                .query_list(other, |evaluator, source| {
                    complete(text, cursor, evaluator, source)
                })
                .unwrap_or_default(),
        }
    }

    /// Evaluates a query on a pane's list; none before it is loaded. Findings have a view instead.
    fn query_list<A>(
        &self,
        pane: Pane,
        run: impl FnOnce(&mut Evaluator, &dyn RowSource) -> A,
    ) -> Option<A> {
        registry!(of [
            pane,
            T => {
                let table = T::remote(&self.data).value()?;
                Some(run(&mut Evaluator::default(), &self.listed(table)))
            },
            captures => {
                let (others, now) = (self.list_context(), self.service_now().as_second());
                let context = StreamContext { only: self.navigation.scope.logger, read: None, others: &others, now };
                Some(run(&mut Evaluator::default(), &StreamChunk::newest(&self.data.captures, context)))
            }
        ])
    }

    /// Ids of the rows that match a query, shown or not. Not for captures.
    pub(crate) fn ids_matching(
        &mut self,
        pane: Pane,
        query: &str,
    ) -> Result<BTreeSet<i64>, String> {
        let parsed = Query::parse(query, pane.kind()).map_err(|error| error.to_string())?;
        let rows = match pane.query_pane() {
            Pane::Findings => self.found_by_command(query)?,
            other => self
                .query_list(other, |evaluator, source| {
                    evaluator.matches(&parsed, source)
                })
                .ok_or_else(|| format!("{} are still loading", pane.title()))?,
        };
        Ok(registry!(of [
            pane.query_pane(),
            T => {
                let items = T::remote(&self.data).value().map(|table| table.items()).unwrap_or_default();
                rows.rows().filter_map(|row| items.get(row)).map(|item| item.id().into()).collect()
            },
            captures => BTreeSet::new()
        ]))
    }

    /// From now on the selection of a pane stays on its row, if it has rows. Captures follow their
    /// end until the selection leaves it.
    pub(crate) fn hold(&mut self, pane: Pane) {
        registry!(of [pane, T => T::list_mut(&mut self.lists).hold(), captures => {}]);
    }

    /// If the changed filter of a pane hides the selected row, its first row is selected. Captures
    /// follow their end.
    pub(crate) fn forget_place(&mut self, pane: Pane) {
        registry!(of [pane, T => T::list_mut(&mut self.lists).forget_place(), captures => {}]);
    }

    /// Applies the filter of a list again.
    pub(crate) fn keep_no_rows(&mut self, pane: Pane) {
        let retained = registry!(of [
            pane,
            T => !std::mem::take(&mut T::list_mut(&mut self.lists).retained).is_empty(),
            captures => false
        ]);
        if retained {
            self.show_rows(pane);
        }
    }

    /// A list of the service was read again and is the same.
    pub(crate) fn confirm(&mut self, list: ListKind, at: Stamp) {
        let data = &mut self.data;
        registry!(of [Pane::of_list(list), T => T::remote_mut(data).confirm(at), captures => {}]);
    }

    /// A list of the service could not be read.
    pub(crate) fn fail(&mut self, list: ListKind, problem: Arc<Problem>) {
        let data = &mut self.data;
        if list == ListKind::Findings {
            data.occurrences.fail(Arc::clone(&problem));
        }
        registry!(of [
            Pane::of_list(list),
            T => T::remote_mut(data).fail(problem),
            captures => data.captures.problem = Some(problem)
        ]);
    }
}

impl Lists {
    /// The new rows of a pane that its filter hides.
    pub(crate) fn hidden_news_mut(&mut self, pane: Pane) -> &mut HiddenNews {
        registry!(of [
            pane,
            T => &mut T::list_mut(self).hidden_news,
            captures => &mut self.captures.hidden_news
        ])
    }

    /// Takes over the lists of what all workspaces share.
    pub(crate) fn take_shared(&mut self, earlier: &mut Self) {
        for pane in Pane::ALL.into_iter().filter(|pane| !pane.is_of_workspace()) {
            registry!(of [
                pane,
                T => *T::list_mut(self) = std::mem::take(T::list_mut(earlier)),
                captures => {}
            ]);
        }
    }

    /// The id of the selected row of a pane, as a number.
    pub(crate) fn selected_id(&self, pane: Pane) -> Option<i64> {
        registry!(of [
            pane,
            T => T::list(self).selected.map(i64::from),
            captures => self.captures.selected.map(|id| id.capture.0)
        ])
    }

    /// Selects this row of a pane when it arrives, unless the selection is moved before.
    pub(crate) fn select_when_loaded(&mut self, pane: Pane, row: RowRef) {
        registry!(of [pane, T => T::list_mut(self).select_when_loaded(row.map(Into::into)), captures => {}]);
    }

    /// The selected row of a pane: an item or a group header.
    pub(crate) fn selected_row(&self, pane: Pane) -> Option<RowRef> {
        registry!(of [
            pane,
            T => T::list(self).selected_row().map(|row| row.map(Into::into)),
            captures => self.captures.selected_row().map(|row| row.map(|id| id.capture.0))
        ])
    }

    /// The rows of a pane: items and group headers.
    pub(crate) fn len(&self, pane: Pane) -> usize {
        registry!(of [pane, T => T::list(self).len(), captures => self.captures.len()])
    }

    /// The number of marked rows of a pane, shown or not.
    pub(crate) fn count_marks(&self, pane: Pane) -> usize {
        registry!(of [pane, T => T::list(self).marks.len(), captures => self.captures.marks().len()])
    }

    /// The named order of a pane, and the order by several fields that replaces it.
    pub(crate) fn order_of(&self, pane: Pane) -> (usize, String) {
        let text = |keys: &[SortKey]| {
            keys.iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(",")
        };
        registry!(of [pane, T => (T::list(self).sort, text(&T::list(self).order)), captures => (0, String::new())])
    }

    /// Orders a pane as before a restart.
    pub(crate) fn restore_order(&mut self, pane: Pane, sort: usize, keys: Vec<SortKey>) {
        registry!(of [
            pane,
            T => {
                let list = T::list_mut(self);
                (list.sort, list.order) = (sort.min(T::SORTS.len().saturating_sub(1)), keys);
            },
            captures => {}
        ]);
    }

    /// Orders a pane by several fields. Captures have one order, that of time.
    pub(crate) fn set_order(&mut self, pane: Pane, keys: Vec<SortKey>) {
        registry!(of [pane, T => T::list_mut(self).set_order(keys), captures => {}]);
    }
}

impl Data {
    /// The ids of the rows of a pane. Not for captures.
    pub(crate) fn ids(&self, pane: Pane) -> BTreeSet<i64> {
        registry!(of [
            pane,
            T => T::remote(self).value().into_iter().flat_map(|table| table.items()).map(|item| item.id().into()).collect(),
            captures => BTreeSet::new()
        ])
    }

    /// The number that changes with the rows of a pane.
    pub(crate) fn revision(&self, pane: Pane) -> u64 {
        registry!(of [
            pane,
            T => T::remote(self).value().map_or(0, |table| table.revision()),
            captures => self.captures.revision
        ])
    }

    /// The JSON of a row of a pane. Not for captures.
    pub(crate) fn json(&self, pane: Pane, id: i64) -> Option<Value> {
        registry!(of [
            pane,
            T => T::remote(self).value()?.get(id.into())?.json(),
            captures => None
        ])
    }

    /// Why the rows of a list are not current.
    pub(crate) fn problem(&self, list: ListKind) -> Option<&Problem> {
        registry!(of [
            Pane::of_list(list),
            T => T::remote(self).problem(),
            captures => self.captures.problem.as_deref()
        ])
    }

    /// Whether a list was never read, and no request for it has failed.
    pub(crate) fn is_unread(&self, list: ListKind) -> bool {
        registry!(of [
            Pane::of_list(list),
            T => T::remote(self).value().is_none() && T::remote(self).problem().is_none(),
            captures => false
        ])
    }

    /// The number of rows of a pane, including filtered rows; for findings, the number of present
    /// findings.
    pub(crate) fn count(&self, pane: Pane) -> Option<usize> {
        if pane == Pane::Findings {
            return self
                .findings
                .value()
                .map(|table| table.risks().iter().sum::<u32>() as usize);
        }
        registry!(of [
            pane,
            T => T::remote(self).value().map(|table| table.len()),
            captures => Some(self.captures.rows.len())
        ])
    }
}

impl Pane {
    /// The pane on whose list queries run: the rows of the board are findings.
    pub(crate) fn query_pane(self) -> Self {
        if self == Self::Board {
            Self::Findings
        } else {
            self
        }
    }
}
