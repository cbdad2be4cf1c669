//! What payloads brought in: kept with the captures, made good where nobody did, and told as the archive counts it.
//!
//! Whatever is wrong with that, captures are archived on.

use crate::contract::Shared;
use crate::dashboard::data::OobNews;
use crate::dashboard::runtime::archive::{Task, problem};
use crate::oob::{Hit, HitCount, Hits, RowRange, StoreError, Token};
use std::sync::Arc;

impl Task {
    /// Keeps hits in captures that were archived just now, and that these were looked through; where that cannot be, they
    /// are looked through later.
    pub(crate) async fn keep_hits(&mut self, hits: &[Hit], looked: RowRange) {
        loop {
            let Some(store) = self.writable() else { return };
            let kept = store.keep_hits(hits, looked).await;
            if self.is_held(kept.as_ref().err()).await {
                continue;
            }
            self.looking |= !matches!(kept, Ok(true));
            // Otherwise they are told when they are looked through.
            if kept.is_ok() && !hits.is_empty() && self.tell_new_hits().await.is_err() {
                self.looking = true;
            }
            return;
        }
    }

    /// What each payload brought in to a workspace so far.
    pub(crate) async fn recall_hits(&mut self, workspace: &Shared) -> Result<(), StoreError> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let behind = store.is_behind().await;
        let counts = store.counts_of(workspace).await;
        let writable = store.is_writable();
        match (behind, counts) {
            (Ok(behind), Ok(counts)) => {
                self.looking = behind && writable;
                self.tell_hits(counts, !behind);
                Ok(())
            }
            (Err(error), _) | (_, Err(error)) => self.uncounted(error),
        }
    }

    /// The next piece of what nobody looked through for payloads.
    pub(crate) async fn look_through(&mut self) -> Result<(), StoreError> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let told = match store.look_through(&mut self.book).await {
            Ok(looked) => {
                self.looking = !looked.ended;
                self.hear_payloads(looked.payloads);
                self.tell_new_hits().await
            }
            Err(error) => Err(error),
        };
        told.or_else(|error| self.uncounted(error))
    }

    /// An archive that is held is asked again; any other trouble is told, and nothing is counted until others write.
    fn uncounted(&mut self, error: StoreError) -> Result<(), StoreError> {
        if matches!(error, StoreError::Held { .. }) {
            return Err(error);
        }
        tracing::error!(%error, "what payloads brought in cannot be counted");
        self.looking = false;
        self.tell(OobNews::Uncounted(Arc::new(problem(&error))));
        Ok(())
    }

    async fn tell_new_hits(&mut self) -> Result<(), StoreError> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let counts = store.new_counts().await?;
        self.tell_hits(counts, !self.looking);
        Ok(())
    }

    /// What payloads brought in to the workspace worked in; with `all` nothing else came in for any.
    pub(crate) fn tell_hits(&self, counts: Vec<HitCount>, all: bool) {
        let Some((generation, workspace)) = &self.workspace else { return };
        let here = counts.into_iter().filter(|count| count.workspace == *workspace);
        let hits: Vec<(Token, Hits)> = here.map(|count| (count.token, count.hits)).collect();
        if all || !hits.is_empty() {
            self.tell(OobNews::Hits { generation: *generation, hits, all });
        }
    }
}
