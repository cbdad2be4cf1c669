//! Columns, an order and groups of many findings, built off the UI thread.

use crate::base::ColumnRequest;
use crate::list::GroupKeys;
use scandeck_domain::query::source::column_of;
use scandeck_domain::query::{ColumnBuilder, Evaluator, Field, RowSource, order};
use std::sync::Arc;

/// The answer to a request.
#[derive(Clone, Debug, Default)]
pub struct BuiltColumns {
    pub request: ColumnRequest,
    /// Columns that are not part of the table.
    pub columns: Vec<(Field, ColumnBuilder)>,
    pub order: Option<Arc<Vec<u32>>>,
    pub groups: Option<Arc<GroupKeys>>,
}

impl BuiltColumns {
    /// The answer when nothing could be built.
    pub fn none(request: ColumnRequest) -> Self {
        Self {
            request,
            ..Self::default()
        }
    }

    /// Adds a later answer about the same findings.
    pub fn absorb(&mut self, later: Self) {
        self.columns
            .retain(|(field, _)| !later.columns.iter().any(|(of, _)| of == field));
        self.columns.extend(later.columns);
        if later.order.is_some() {
            (self.order, self.request.order) = (later.order, later.request.order);
        }
        self.groups = later.groups.or(self.groups.take());
    }

    /// Builds what was requested. Columns of the findings alone become part of their table.
    pub fn of(request: ColumnRequest) -> Self {
        let (input, mut evaluator) = (&request.input, Evaluator::default());
        let of_others = request
            .fields
            .iter()
            .copied()
            .filter(|&field| input.ready(field).is_none());
        evaluator.add_columns(of_others.map(|field| (field, column_of(field, input))));
        let order = (!request.order.is_empty())
            .then(|| Arc::new(order::ordered(&request.order, &mut evaluator, input)));
        let groups = request
            .groups
            .map(|by| Arc::new(GroupKeys::of(by, &input.issues)));
        let columns = evaluator.into_columns().collect();
        Self {
            columns,
            order,
            groups,
            request,
        }
    }
}
