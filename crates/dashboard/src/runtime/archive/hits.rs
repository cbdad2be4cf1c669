//! Hits of payloads: stored with the captures, searched in captures that nobody has searched yet,
//! and reported as the archive counts them. A problem with hits never stops the archiving of
//! captures.

use crate::data::OobNews;
use crate::runtime::archive::backlog::RETRY;
use crate::runtime::archive::{Task, problem};
use scandeck_domain::oob::{Hit, HitCount, Hits, RowRange, StoreError, Token};
use scandeck_wire::contract::Shared;
use std::sync::Arc;
use tokio::time::Instant;

impl Task {
    /// Stores the hits of captures that were just archived, and that these captures were searched.
    /// If that fails, they are searched later.
    pub(crate) async fn store_hits(&mut self, hits: &[Hit], looked: RowRange) {
        loop {
            let Some(store) = self.writable() else { return };
            let stored = store.insert_hits(hits, looked).await;
            if self.is_held(stored.as_ref().err()).await {
                continue;
            }
            self.looking |= !matches!(stored, Ok(true));
            if stored.is_ok() && !hits.is_empty() && self.report_new_hits().await.is_err() {
                self.looking = true;
            }
            return;
        }
    }

    /// Reports the hits of each payload of a workspace.
    pub(crate) async fn recall_hits(&mut self, workspace: &Shared) -> Result<(), StoreError> {
        let Some(store) = &mut self.store else {
            return Ok(());
        };
        let behind = store.is_behind().await;
        let counts = store.counts_of(workspace).await;
        let writable = store.is_writable();
        match (behind, counts) {
            (Ok(behind), Ok(counts)) => {
                self.looking = behind && writable;
                self.report_hits(counts, !behind);
                Ok(())
            }
            (Err(error), _) | (_, Err(error)) => self.uncounted(error),
        }
    }

    /// Searches the next chunk of captures that nobody has searched for payloads.
    pub(crate) async fn search_chunk(&mut self) -> Result<(), StoreError> {
        let Some(store) = &mut self.store else {
            return Ok(());
        };
        let reported = match store.search_chunk(&mut self.book).await {
            Ok(looked) => {
                (self.looking, self.is_uncounted) = (!looked.ended, false);
                self.take_payloads(looked.payloads);
                self.report_new_hits().await
            }
            Err(error) => Err(error),
        };
        reported.or_else(|error| self.uncounted(error))
    }

    /// Returns the error of a locked archive, so that the work is repeated. Reports another error
    /// once; after a temporary one, hits are counted later.
    fn uncounted(&mut self, error: StoreError) -> Result<(), StoreError> {
        if matches!(error, StoreError::Held { .. }) {
            return Err(error);
        }
        self.looking = false;
        self.recount_at = error.is_temporary().then(|| Instant::now() + RETRY);
        if !std::mem::replace(&mut self.is_uncounted, true) {
            tracing::error!(%error, "hits not counted");
            self.report(OobNews::Uncounted(Arc::new(problem(&error))));
        }
        Ok(())
    }

    /// Counts hits again after an error.
    pub(crate) fn count_again(&mut self) -> Result<(), StoreError> {
        self.recount_at = None;
        self.looking = self.writable().is_some();
        Ok(())
    }

    async fn report_new_hits(&mut self) -> Result<(), StoreError> {
        let Some(store) = &mut self.store else {
            return Ok(());
        };
        let counts = store.new_counts().await?;
        self.report_hits(counts, !self.looking);
        Ok(())
    }

    /// Reports hits in the current workspace; with `all` no payload has other hits.
    pub(crate) fn report_hits(&self, counts: Vec<HitCount>, all: bool) {
        let Some((generation, workspace)) = &self.workspace else {
            return;
        };
        let here = counts
            .into_iter()
            .filter(|count| count.workspace == *workspace);
        let hits: Vec<(Token, Hits)> = here.map(|count| (count.token, count.hits)).collect();
        if all || !hits.is_empty() {
            self.report(OobNews::Hits {
                generation: *generation,
                hits,
                all,
            });
        }
    }
}
