//! Results that are cached between two queries on a list.

use scandeck_domain::query::{Evaluator, Field, Query, RowSet, RowSource, SortKey, order};
use scandeck_domain::table::{Item, Table};
use std::any::Any;
use std::sync::Arc;

/// Columns and orders of a list, valid for the tables from which they were computed.
#[derive(Clone, Debug, Default)]
pub struct QueryCache {
    pub(crate) evaluator: Evaluator,
    order: Option<(Vec<SortKey>, Arc<Vec<u32>>)>,
    own: AnyTable,
    others: Vec<AnyTable>,
}

/// A table of any type, to be compared by its address.
pub(crate) type AnyTable = Option<Arc<dyn Any + Send + Sync>>;

impl QueryCache {
    /// Drops the results that are not valid for these tables.
    pub(crate) fn fit<T: Item>(
        &mut self,
        own: &Arc<Table<T>>,
        others: Vec<(AnyTable, &'static [Field])>,
    ) {
        let same = |a: &AnyTable, b: &AnyTable| match (a, b) {
            (Some(a), Some(b)) => std::ptr::addr_eq(Arc::as_ptr(a), Arc::as_ptr(b)),
            (None, None) => true,
            _ => false,
        };
        let own: AnyTable = Some(Arc::clone(own) as Arc<dyn Any + Send + Sync>);
        if !same(&self.own, &own) {
            self.evaluator.forget();
            self.order = None;
        }
        for (at, (other, fields)) in others.iter().enumerate() {
            if !self
                .others
                .get(at)
                .is_some_and(|before| same(before, other))
            {
                self.forget_fields(fields);
            }
        }
        self.own = own;
        self.others = others.into_iter().map(|(other, _)| other).collect();
    }

    /// Drops the results and the order that need one of these fields.
    pub(crate) fn forget_fields(&mut self, fields: &[Field]) {
        self.evaluator
            .forget_fields(|field| fields.contains(&field));
        self.forget_order(fields);
    }

    /// Drops the order that needs one of these fields.
    pub(crate) fn forget_order(&mut self, fields: &[Field]) {
        self.order
            .take_if(|(keys, _)| keys.iter().any(|key| fields.contains(&key.field)));
    }

    /// Whether the rows are in the order of these keys already.
    pub(crate) fn has_order(&self, keys: &[SortKey]) -> bool {
        self.order.as_ref().is_some_and(|(of, _)| of == keys)
    }

    /// Takes an order that was built elsewhere.
    pub(crate) fn take_order(&mut self, keys: Vec<SortKey>, order: Arc<Vec<u32>>) {
        self.order = Some((keys, order));
    }

    /// The present order by several fields.
    pub(crate) fn present_order(&self) -> Option<&Arc<Vec<u32>>> {
        self.order.as_ref().map(|(_, order)| order)
    }

    /// The rows that match a query.
    pub(crate) fn matches(&mut self, query: &Query, source: &dyn RowSource) -> RowSet {
        self.evaluator.matches(query, source)
    }

    pub(crate) fn evaluator(&mut self) -> &mut Evaluator {
        &mut self.evaluator
    }

    /// The rows in the order of these keys.
    pub(crate) fn order(&mut self, keys: &[SortKey], source: &dyn RowSource) -> Arc<Vec<u32>> {
        if let Some((_, order)) = self.order.as_ref().filter(|(of, _)| of == keys) {
            return Arc::clone(order);
        }
        let order = Arc::new(order::ordered(keys, &mut self.evaluator, source));
        self.order = Some((keys.to_vec(), Arc::clone(&order)));
        order
    }

    /// Updates the cached decisions on some rows.
    pub(crate) fn update_decisions(&mut self, rows: &[usize], source: &dyn RowSource) {
        self.evaluator
            .update_rows(rows, Field::is_of_decision, source);
        if self
            .order
            .as_ref()
            .is_some_and(|(keys, _)| keys.iter().any(|key| key.field.is_of_decision()))
        {
            self.order = None;
        }
    }
}

/// A table as one of those compared by `QueryCache`.
pub(crate) fn any<T: Item>(table: Option<&Arc<Table<T>>>) -> AnyTable {
    table.map(|table| Arc::clone(table) as Arc<dyn Any + Send + Sync>)
}
