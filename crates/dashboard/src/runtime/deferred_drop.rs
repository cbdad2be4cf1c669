//! Freeing large replaced tables on another thread: freeing 100,000 rows takes as long as many
//! frames.

use crate::data::Data;
use scandeck_domain::triage::EarlierCorrelation;
use std::any::Any;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// The large tables of the model, and what the last correlation left. Each is held until it is used
/// nowhere else.
#[derive(Default)]
pub(crate) struct DeferredDrop(Vec<Arc<dyn Any + Send + Sync>>);

impl DeferredDrop {
    /// Adds the tables in use, and frees those that are no longer used.
    pub fn sort_out(&mut self, data: &Data, earlier: Option<&Arc<EarlierCorrelation>>) {
        let earlier = earlier.map(|earlier| Arc::clone(earlier) as _);
        let findings = data.occurrences.value().map(|table| Arc::clone(table) as _);
        let issues = data.findings.value().map(|table| Arc::clone(table) as _);
        for table in findings.into_iter().chain(issues).chain(earlier) {
            if !self
                .0
                .iter()
                .any(|held| std::ptr::addr_eq(Arc::as_ptr(held), Arc::as_ptr(&table)))
            {
                self.0.push(table);
            }
        }
        let spent: Vec<_> = self
            .0
            .extract_if(.., |held| Arc::strong_count(held) == 1)
            .collect();
        if !spent.is_empty() {
            spawn_blocking(move || drop(spent));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_domain::table::Table;
    use scandeck_wire::contract::{Finding, Stamp};

    #[tokio::test]
    async fn replaced_table_is_freed_when_unused() {
        let (mut data, mut spent) = (Data::default(), DeferredDrop::default());
        let table = Arc::new(Table::<scandeck_domain::triage::ListedFinding>::new([
            Finding::default(),
        ]));
        let (held, at) = (
            Arc::downgrade(&table),
            Stamp::parse("2026-11-21 12:00:00").unwrap(),
        );
        data.occurrences.succeed(Arc::clone(&table), at);
        spent.sort_out(&data, None);
        data.occurrences.succeed(Arc::default(), at);
        spent.sort_out(&data, None);
        drop(table);
        assert!(held.upgrade().is_some(), "not freed here");
        spent.sort_out(&data, None);
        while held.upgrade().is_some() {
            tokio::task::yield_now().await;
        }
    }
}
